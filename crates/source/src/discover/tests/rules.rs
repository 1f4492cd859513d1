//! Files left out by name, place and size.

use std::fs;

use super::{Source, paths, rules, skipped, walk_at};
use crate::discover::{Decision, Error, Rules, decide, walk};
use codelode_base::model::SkipReason;

#[test]
fn an_empty_folder_holds_nothing() {
    let walk = Source::with(&[]).walk();
    assert!(walk.files.is_empty() && walk.skipped.is_empty() && walk.warnings.is_empty());
}

#[test]
fn files_come_sorted_with_size_and_time() {
    let source = Source::with(&["b.py", "a/z.py", "a.py"]);
    source.write("a/empty.py", "");
    let walk = source.walk();
    assert_eq!(paths(&walk), ["a.py", "a/empty.py", "a/z.py", "b.py"]);
    assert_eq!(walk.files[0].size, 5);
    assert_eq!(walk.files[1].size, 0);
    assert!(walk.files.iter().all(|file| file.mtime_ns > 1_500_000_000_000_000_000));
}

#[test]
fn hidden_files_are_kept() {
    let walk = Source::with(&[".github/workflows/ci.yml", ".eslintrc.js", ".gitignore", "a.py"]).walk();
    assert_eq!(paths(&walk), [".eslintrc.js", ".github/workflows/ci.yml", ".gitignore", "a.py"]);
}

#[test]
fn ignore_files_work_without_git_and_at_every_level() {
    let source =
        Source::with(&["a.log", "b.txt", "deep/a.log", "deep/keep.log", "deep/c.tmp", "deep/er/c.tmp", "logs/x"]);
    source.write(".gitignore", "# a comment\n*.log\n/logs/\n");
    source.write("deep/.gitignore", "!keep.log\n/c.tmp\n");
    let walk = source.walk();
    assert_eq!(paths(&walk), [".gitignore", "b.txt", "deep/.gitignore", "deep/er/c.tmp", "deep/keep.log"]);
    assert_eq!(skipped(&walk, SkipReason::Ignored), 4);
}

#[test]
fn dot_ignore_outranks_gitignore() {
    let source = Source::with(&["a.log", "b.log", "c.txt"]);
    source.write(".gitignore", "*.log\n");
    source.write(".ignore", "!a.log\nc.txt\n");
    assert_eq!(paths(&source.walk()), [".gitignore", ".ignore", "a.log"]);
}

#[test]
fn a_folder_that_is_ignored_hides_all_it_holds() {
    let source = Source::with(&["data/a.py", "data/deep/b.py"]);
    source.write(".gitignore", "data/\n!data/a.py\n");
    let walk = source.walk();
    assert_eq!(paths(&walk), [".gitignore"]);
    assert_eq!(skipped(&walk, SkipReason::Ignored), 2, "by its files");
}

#[test]
fn an_ignore_file_with_a_mark_of_utf8_and_windows_lines_is_understood() {
    let source = Source::with(&["a.log", "b.txt"]);
    source.write(".gitignore", "\u{feff}*.log\r\n");
    assert_eq!(paths(&source.walk()), [".gitignore", "b.txt"]);
}

#[test]
fn a_broken_pattern_is_a_warning_and_the_others_count() {
    let source = Source::with(&["a.log", "b.tmp"]);
    source.write(".gitignore", "a{b\n*.log\n");
    let walk = source.walk();
    assert_eq!(paths(&walk), [".gitignore", "b.tmp"]);
    assert_eq!(walk.warnings.len(), 1, "{:?}", walk.warnings);
    assert!(walk.warnings[0].contains(".gitignore line 1"), "{:?}", walk.warnings);
}

#[test]
fn a_huge_ignore_file_is_not_compiled() {
    let source = Source::with(&["a.log"]);
    source.write(".gitignore", "*.log\n".repeat(100_000));
    let walk = source.walk();
    assert_eq!(paths(&walk), ["a.log"]);
    assert_eq!(skipped(&walk, SkipReason::TooLarge), 1);
    assert!(walk.warnings[0].contains("was not read"), "{:?}", walk.warnings);
}

#[test]
fn the_callers_patterns_leave_out_more_and_bring_back() {
    let source = Source::with(&["a.py", "b.md", "docs/c.py", "d.log", "src/docs/e.py"]);
    source.write(".gitignore", "*.log\n");
    let extra_ignore = vec!["*.md".to_owned(), "/docs/".to_owned()];
    let walk = source.walk_by(&Rules { extra_ignore, ..rules() });
    assert_eq!(paths(&walk), [".gitignore", "a.py", "src/docs/e.py"]);
    assert_eq!(skipped(&walk, SkipReason::ExtraIgnored), 2);
    assert_eq!(skipped(&walk, SkipReason::Ignored), 1);
    let left_out: Vec<_> = walk.left_out.iter().map(|left| (left.path.as_str(), left.reason)).collect();
    let (extra, ignored) = (SkipReason::ExtraIgnored, SkipReason::Ignored);
    assert_eq!(left_out, [("b.md", extra), ("d.log", ignored), ("docs", extra)]);

    let source = Source::with(&["package.json", "a.js", "dist/b.js", "dist/deep/c.js", "d.log", "dist/.env"]);
    source.write(".gitignore", "*.log\n");
    let walk = source.walk();
    assert_eq!(paths(&walk), [".gitignore", "a.js", "package.json"]);
    assert_eq!(skipped(&walk, SkipReason::BuildOutput), 3, "by its files");
    let extra_ignore = vec!["!dist/".to_owned(), "!d.log".to_owned()];
    let walk = source.walk_by(&Rules { extra_ignore, ..rules() });
    assert_eq!(paths(&walk), [".gitignore", "a.js", "d.log", "dist/b.js", "dist/deep/c.js", "package.json"]);
    assert_eq!(skipped(&walk, SkipReason::Secret), 1, "no pattern brings back a secret");
}

#[test]
fn a_published_package_keeps_what_was_built() {
    let source = Source::with(&["package.json", "readme.md", "index.d.ts", "dist/a.js", "dist/deep/b.js"]);
    assert_eq!(paths(&source.walk()), ["dist/a.js", "dist/deep/b.js", "index.d.ts", "package.json", "readme.md"]);
    assert!(source.walk().skipped.is_empty() && source.walk().left_out.is_empty());
    source.write("src/a.ts", "text\n");
    assert_eq!(skipped(&source.walk(), SkipReason::BuildOutput), 2, "there is what it was built from");
}

#[test]
fn an_ignore_file_of_ones_own_outranks_the_others() {
    let source = Source::with(&["a.py", "b.py", "c.log"]);
    source.write(".gitignore", "*.log\n");
    source.write(".ignore", "b.py\n");
    source.write(".codelodeignore", "a.py\n!b.py\n!c.log\n");
    assert_eq!(paths(&source.walk()), [".codelodeignore", ".gitignore", ".ignore", "b.py", "c.log"]);
}

#[test]
fn a_callers_broken_pattern_is_an_error_that_names_it() {
    let source = Source::with(&[]);
    let broken = Rules { extra_ignore: vec!["fine".to_owned(), "a[b".to_owned()], ..rules() };
    match walk(&source.root(), &broken) {
        Err(Error::Pattern { pattern, .. }) => assert_eq!(pattern, "a[b"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn noise_is_counted_by_its_files() {
    let source = Source::with(&[
        "node_modules/a/index.js",
        "node_modules/b/index.js",
        "pkg/__pycache__/a.py",
        "Cargo.lock",
        "static/jquery.min.js",
        "static/app.js.map",
        "static/app.js",
    ]);
    let walk = source.walk();
    assert_eq!(paths(&walk), ["static/app.js"]);
    assert_eq!(skipped(&walk, SkipReason::Noise), 6);
}

#[test]
fn an_environment_is_known_by_what_it_holds() {
    let source = Source::with(&["venv/pyvenv.cfg", "venv/lib/x.py", "env/pyvenv.cfg", ".venv/notes.py", "a.py"]);
    let walk = source.walk();
    assert_eq!(paths(&walk), [".venv/notes.py", "a.py"]);
    assert_eq!(skipped(&walk, SkipReason::Noise), 3, "by their files");
}

#[test]
fn a_cache_is_known_by_its_tag_and_the_tag_by_its_beginning() {
    let source = Source::with(&["cache/x.py", "fake/CACHEDIR.TAG"]);
    source.write("cache/CACHEDIR.TAG", "Signature: 8a477f597d28d172789f06886806bc55\n");
    assert_eq!(paths(&source.walk()), ["fake/CACHEDIR.TAG"]);
}

#[test]
fn build_output_is_left_out_beside_its_tool() {
    let source = Source::with(&[
        "rust/Cargo.toml",
        "rust/target/debug/a.rs",
        "rust/build/a.rs",
        "js/package.json",
        "js/dist/a.js",
        "js/build/a.js",
        "js/target/a.js",
        "java/pom.xml",
        "java/target/A.java",
        "kt/build.gradle.kts",
        "kt/build/A.kt",
        "py/pyproject.toml",
        "py/build/a.py",
        "py/dist/a.py",
        "net/a.csproj",
        "net/obj/a.cs",
        "net/bin/a.cs",
    ]);
    let walk = source.walk();
    let kept = [
        "java/pom.xml",
        "js/package.json",
        "js/target/a.js",
        "kt/build.gradle.kts",
        "net/a.csproj",
        "py/pyproject.toml",
        "rust/Cargo.toml",
        "rust/build/a.rs",
    ];
    assert_eq!(paths(&walk), kept);
    assert_eq!(skipped(&walk, SkipReason::BuildOutput), 9);
}

#[test]
fn source_that_is_only_called_like_build_output_is_kept() {
    let files =
        ["archive/zip/a.go", "cmd/dist/main.go", "go.mod", "go/build/build.go", "models/vendor/shop.go", "out/a.go"];
    assert_eq!(paths(&Source::with(&files).walk()), files);
}

#[test]
fn vendored_code_is_left_out_beside_its_tool_only() {
    let source =
        Source::with(&["go.mod", "vendor/x/a.go", "third_party/y/b.go", "shop/vendor/c.go", "shop/third_party/d.go"]);
    let walk = source.walk();
    assert_eq!(paths(&walk), ["go.mod", "shop/third_party/d.go", "shop/vendor/c.go"]);
    assert_eq!(skipped(&walk, SkipReason::Vendored), 2);
}

#[test]
fn secrets_are_never_listed() {
    let source = Source::with(&[
        ".env",
        ".env.example",
        "conf/server.pem",
        "conf/id_rsa",
        "conf/id_rsa.pub",
        "secrets.py",
        "secrets.yaml",
        ".ssh/config",
        "credentials.json",
    ]);
    let walk = source.walk();
    assert_eq!(paths(&walk), [".env.example", "conf/id_rsa.pub", "secrets.py"]);
    assert_eq!(skipped(&walk, SkipReason::Secret), 6);
}

#[test]
fn binaries_are_left_out_by_extension() {
    let walk = Source::with(&["logo.PNG", "icon.svg", "a.wasm", "locale/de/LC_MESSAGES/django.mo"]).walk();
    assert_eq!(paths(&walk), ["icon.svg"]);
    assert_eq!(skipped(&walk, SkipReason::Binary), 3);
}

#[test]
fn the_size_limit_is_the_largest_size() {
    let source = Source::with(&[]);
    source.write("fits.py", "a".repeat(100));
    source.write("over.py", "a".repeat(101));
    let walk = source.walk_by(&Rules { max_file_size: 100, ..rules() });
    assert_eq!(paths(&walk), ["fits.py"]);
    assert_eq!(skipped(&walk, SkipReason::TooLarge), 1);
}

#[test]
fn what_a_package_names_may_be_large() {
    let source = Source::with(&[]);
    let large = "a".repeat(101);
    for path in ["lib/main.js", "lib/other.js", "cli.js", "sub/main.js", "outside.js"] {
        source.write(path, &large);
    }
    source.write("package.json", r#"{"main": "lib/main", "bin": {"x": "./cli.js"}}"#);
    source.write("sub/package.json", r#"{"exports": {".": "./main.js"}, "module": "../outside.js"}"#);
    let walk = source.walk_by(&Rules { max_file_size: 100, ..rules() });
    assert_eq!(paths(&walk), ["cli.js", "lib/main.js", "package.json", "sub/main.js", "sub/package.json"]);
    assert_eq!(skipped(&walk, SkipReason::TooLarge), 2);
}

#[test]
fn even_a_package_cannot_ask_for_a_gigabyte() {
    let source = Source::with(&[]);
    source.write("package.json", r#"{"main": "main.js"}"#);
    // A file with a hole takes no room.
    let file = fs::File::create(source.path("main.js")).expect("files can be written");
    file.set_len(1 << 30).expect("the system knows files with holes");
    assert_eq!(paths(&source.walk()), ["package.json"]);
}

#[test]
fn a_limit_on_the_number_of_files_says_what_it_cut() {
    let source = Source::with(&["a.py", "z/b.py", "src/deep/c.py"]);
    let walk = source.walk_by(&Rules { max_files: Some(2), ..rules() });
    assert_eq!(paths(&walk), ["a.py", "src/deep/c.py"]);
    assert_eq!(skipped(&walk, SkipReason::FileLimit), 1);
    assert!(walk.warnings[0].contains("2 of 3"), "{:?}", walk.warnings);
}

#[test]
fn the_index_is_never_entered() {
    let source = Source::with(&["index/deep/a.py", "a.py", "other/index/b.py"]);
    let walk = source.walk_by(&Rules { never: vec![source.path("index")], ..rules() });
    assert_eq!(paths(&walk), ["a.py", "other/index/b.py"]);
    assert_eq!(skipped(&walk, SkipReason::Noise), 1);
    // A file inside the index directory is a normal source if it is requested by name.
    let inside = walk_at(&source.path("index/deep"), &Rules { never: vec![source.path("index")], ..rules() });
    assert_eq!(paths(&inside), ["a.py"]);
}

#[test]
fn a_root_must_be_a_folder() {
    let source = Source::with(&["a.py"]);
    assert!(matches!(walk(&source.path("none"), &rules()), Err(Error::Missing(_))));
    assert!(matches!(walk(&source.path("a.py/none"), &rules()), Err(Error::Missing(_))));
    assert!(matches!(walk(&source.path("a.py"), &rules()), Err(Error::NotAFolder(_))));
}

#[test]
fn deep_and_wide_trees_are_walked() {
    let source = Source::with(&[]);
    let deep = vec!["d"; 600].join("/");
    source.write(&format!("{deep}/a.py"), "text\n");
    for number in 0..2_000 {
        fs::write(source.path(&format!("{number}.py")), "text\n").expect("files can be written");
    }
    assert_eq!(source.walk().files.len(), 2_001);
}

#[test]
fn one_file_is_judged_as_in_a_walk() {
    let source = Source::with(&["src/a.py", "src/b.log", "go.mod", "vendor/x.go", ".env", "a.png", "venv/pyvenv.cfg"]);
    source.write(".gitignore", "*.log\n");
    let walk = source.walk();
    for file in &walk.files {
        let seen = decide(&source.root(), &file.path, &rules()).expect("the root is there");
        assert_eq!(seen, Decision::File(file.clone()));
    }
    for (path, reason) in [
        ("src/b.log", SkipReason::Ignored),
        ("vendor/x.go", SkipReason::Vendored),
        (".env", SkipReason::Secret),
        ("a.png", SkipReason::Binary),
        ("venv/pyvenv.cfg", SkipReason::Noise),
    ] {
        assert_eq!(
            decide(&source.root(), path, &rules()).expect("the root is there"),
            Decision::Skipped(reason),
            "{path}"
        );
    }
    for path in ["", "src", "src/none.py", "src/a.py/x", "../x", "src/../src/a.py", "/etc/passwd", "none/a.py"] {
        assert_eq!(decide(&source.root(), path, &rules()).expect("the root is there"), Decision::Missing, "{path}");
    }
}

#[cfg(unix)]
mod on_unix {
    use std::ffi::OsStr;
    use std::fs::Permissions;
    use std::os::unix::ffi::OsStrExt;
    use std::os::unix::fs::PermissionsExt;

    use super::super::following;
    use super::*;
    use crate::discover::read;

    #[test]
    fn a_folder_that_cannot_be_read_is_named() {
        let source = Source::with(&["closed/a.py", "b.py"]);
        fs::set_permissions(source.path("closed"), Permissions::from_mode(0o000)).expect("the folder is ours");
        // The superuser reads everything.
        if fs::read_dir(source.path("closed")).is_err() {
            let walk = source.walk();
            assert_eq!(paths(&walk), ["b.py"]);
            assert_eq!(skipped(&walk, SkipReason::Unreadable), 1);
            assert_eq!(walk.warnings, ["closed could not be read"]);
        }
        fs::set_permissions(source.path("closed"), Permissions::from_mode(0o700)).expect("the folder is ours");
    }

    #[test]
    fn pipes_are_not_waited_for() {
        let source = Source::with(&["a.py"]);
        for name in ["pipe.py", ".gitignore", "package.json"] {
            let made = std::process::Command::new("mkfifo").arg(source.path(name)).status();
            assert!(made.expect("mkfifo is installed where tests run").success());
        }
        source.write("large.js", "a".repeat(101));
        let walk = source.walk_by(&Rules { max_file_size: 100, ..rules() });
        assert_eq!(paths(&walk), ["a.py"]);
        assert_eq!(skipped(&walk, SkipReason::NotAFile), 3);
    }

    #[test]
    fn names_that_are_not_text_are_spelled() {
        let source = Source::with(&["a.py", "caf\\xe9.py"]);
        let folder = source.root().join(OsStr::from_bytes(b"\xff"));
        if fs::create_dir(&folder).is_err() {
            return; // Some file systems take only text.
        }
        fs::write(folder.join(OsStr::from_bytes(b"caf\xe9.py")), "text\n").expect("it takes any name");
        let walk = source.walk();
        assert_eq!(paths(&walk), ["\\xff/caf\\xe9.py", "a.py"]);
        assert_eq!(walk.warnings, ["caf\\xe9.py could not be read"], "its name is the spelling of another");
        for rules in [rules(), following()] {
            assert_eq!(read(&source.root(), &walk.files[0], &rules).as_deref(), Ok(&b"text\n"[..]));
            let decided = decide(&source.root(), &walk.files[0].path, &rules);
            assert_eq!(decided.ok(), Some(Decision::File(walk.files[0].clone())));
        }
    }

    #[test]
    fn many_warnings_are_counted() {
        let source = Source::with(&["a.py"]);
        for number in 0..30 {
            source.write(&format!("{number:02}\\xff"), "");
        }
        let walk = source.walk();
        assert_eq!(skipped(&walk, SkipReason::Unreadable), 30);
        assert_eq!(walk.warnings.len(), 21);
        assert_eq!(walk.warnings[20], "and 10 more could not be read");
    }

    #[test]
    fn odd_names_are_kept_as_they_are() {
        let files = ["a b.py", "line\nbreak.py", "star*.py", "ünï.py", "日本.py"];
        assert_eq!(paths(&Source::with(&files).walk()), files);
    }
}

#[test]
fn what_the_caller_brings_back_may_lie_in_a_folder_that_is_left_out() {
    let source = Source::with(&[
        "package.json",
        "src/a.js",
        "dist/b.js",
        "dist/c.js",
        "dist/deep/d.js",
        "node_modules/p/e.js",
        "node_modules/q/f.js",
    ]);
    let found = |patterns: &[&str]| {
        let extra_ignore = patterns.iter().map(ToString::to_string).collect();
        paths(&source.walk_by(&Rules { extra_ignore, ..rules() })).join(" ")
    };
    assert_eq!(found(&["!dist/b.js"]), "dist/b.js package.json src/a.js");
    assert_eq!(found(&["!dist/**"]), "dist/b.js dist/c.js dist/deep/d.js package.json src/a.js");
    assert_eq!(found(&["!dist/*.js"]), "dist/b.js dist/c.js package.json src/a.js");
    assert_eq!(found(&["!dist/**/d.js"]), "dist/deep/d.js package.json src/a.js");
    assert_eq!(found(&["!/node_modules/p/"]), "node_modules/p/e.js package.json src/a.js");
    assert_eq!(found(&["!**/b.js"]), "package.json src/a.js", "every folder would be on the way");
    source.write(".codelodeignore", "!dist/\n");
    assert_eq!(found(&[]), ".codelodeignore dist/b.js dist/c.js dist/deep/d.js package.json src/a.js");
}
