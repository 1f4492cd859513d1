//! Effects of a repository around or inside the root.

use super::{Source, paths, rules, skipped, walk_at};
use codelode_base::model::SkipReason;

#[test]
fn excludes_of_the_repository_count() {
    let source = Source::with(&["a.py", "b.tmp", "c.tmp"]);
    source.git("", &["init", "-q"]);
    source.write(".git/info/exclude", "*.tmp\n");
    source.write(".gitignore", "!c.tmp\n");
    let walk = source.walk();
    assert_eq!(paths(&walk), [".gitignore", "a.py", "c.tmp"]);
    assert_eq!(skipped(&walk, SkipReason::Noise), 1, "the .git folder");
}

#[test]
fn ignore_files_above_the_root_count_as_they_do_for_git() {
    let source =
        Source::with(&["pkg/app/a.py", "pkg/app/b.tmp", "pkg/app/gen/c.py", "pkg/app/sub/gen/d.py", "pkg/app/e.x"]);
    source.git("", &["init", "-q"]);
    source.write(".gitignore", "*.tmp\n/pkg/app/gen/\n/e.x\n");
    source.write("pkg/.ignore", "app/sub/\n");
    let walk = walk_at(&source.path("pkg/app"), &rules());
    assert_eq!(paths(&walk), ["a.py", "e.x"]);
    assert_eq!(skipped(&walk, SkipReason::Ignored), 3);
}

#[test]
fn without_a_repository_nothing_above_the_root_counts() {
    let source = Source::with(&["pkg/a.py"]);
    source.write(".gitignore", "*.py\n");
    assert_eq!(paths(&walk_at(&source.path("pkg"), &rules())), ["a.py"]);
}

#[test]
fn a_root_that_its_repository_ignores_is_walked_when_asked_for() {
    let source = Source::with(&["scratch/deep/a.py", "scratch/deep/b.log"]);
    source.git("", &["init", "-q"]);
    source.write(".gitignore", "scratch/\n*.py\n");
    source.write("scratch/deep/.gitignore", "*.log\n");
    assert_eq!(paths(&walk_at(&source.path("scratch/deep"), &rules())), [".gitignore", "a.py"]);
}

#[test]
fn build_output_that_git_tracks_is_kept() {
    let source = Source::with(&["Cargo.toml", "target/a.rs", "sub/package.json", "sub/dist/b.js", "sub/build/c.js"]);
    source.git("", &["init", "-q"]);
    source.git("", &["add", "target", "sub/dist"]);
    let walk = source.walk();
    assert_eq!(paths(&walk), ["Cargo.toml", "sub/dist/b.js", "sub/package.json", "target/a.rs"]);
    assert_eq!(skipped(&walk, SkipReason::BuildOutput), 1);
    // The same from inside the repository.
    assert_eq!(paths(&walk_at(&source.path("sub"), &rules())), ["dist/b.js", "package.json"]);
}

#[test]
fn a_pattern_leaves_out_nothing_that_git_tracks() {
    let source =
        Source::with(&["cmd/shop/main.go", "cmd/shop/new.go", "kept.log", "other.log", "shop", "node_modules/a.js"]);
    source.git("", &["init", "-q"]);
    source.write(".gitignore", "shop\n*.log\nnode_modules\n");
    assert_eq!(paths(&source.walk()), [".gitignore"]);
    source.git("", &["add", "-f", "cmd/shop/main.go", "kept.log", "node_modules/a.js"]);
    assert_eq!(paths(&source.walk()), [".gitignore", "cmd/shop/main.go", "kept.log"]);
    // An `.ignore` is meant, whatever git tracks.
    source.write(".ignore", "cmd/shop\n");
    assert_eq!(paths(&source.walk()), [".gitignore", ".ignore", "kept.log"]);
}

#[test]
fn vendored_code_is_left_out_even_when_git_tracks_it() {
    let source = Source::with(&["go.mod", "vendor/a.go", "third_party/b.go"]);
    source.git("", &["init", "-q"]);
    source.git("", &["add", "."]);
    let walk = source.walk();
    assert_eq!(paths(&walk), ["go.mod"]);
    assert_eq!(skipped(&walk, SkipReason::Vendored), 2);
}

#[test]
fn a_repository_inside_stands_for_itself() {
    let source = Source::with(&["a.log", "inner/a.log", "inner/b.tmp", "inner/Cargo.toml", "inner/target/c.rs"]);
    source.git("", &["init", "-q"]);
    source.git("inner", &["init", "-q"]);
    source.git("inner", &["add", "target"]);
    source.write(".gitignore", "*.log\n");
    source.write("inner/.gitignore", "*.tmp\n");
    let kept = [".gitignore", "inner/.gitignore", "inner/Cargo.toml", "inner/a.log", "inner/target/c.rs"];
    assert_eq!(paths(&source.walk()), kept);
}

#[test]
fn repositories_below_a_plain_folder_have_their_excludes() {
    let source = Source::with(&["one/a.py", "one/b.tmp", "two/b.tmp"]);
    source.git("one", &["init", "-q"]);
    source.write("one/.git/info/exclude", "*.tmp\n");
    assert_eq!(paths(&source.walk()), ["one/a.py", "two/b.tmp"]);
}

#[test]
fn another_checkout_of_the_same_repository_is_left_out() {
    let source = Source::with(&["a.py"]);
    source.git("", &["init", "-q"]);
    source.git("", &["add", "."]);
    source.git("", &["commit", "-qm", "first"]);
    source.git("", &["worktree", "add", "-q", "trees/other"]);
    let walk = source.walk();
    assert_eq!(paths(&walk), ["a.py"]);
    assert!(walk.warnings[0].starts_with("trees/other was left out"), "{:?}", walk.warnings);
    assert_eq!(paths(&walk_at(&source.path("trees/other"), &rules())), ["a.py"]);
}

#[test]
fn a_broken_repository_is_no_repository() {
    let source = Source::with(&["a.py", "b.tmp"]);
    source.write(".git", "gitdir: /nowhere/at/all\n");
    source.write(".gitignore", "*.tmp\n");
    assert_eq!(paths(&source.walk()), [".gitignore", "a.py"]);
    let source = Source::with(&["a.py", ".git/HEAD", ".git/config", ".git/objects/x", ".git/refs/x"]);
    assert_eq!(paths(&source.walk()), ["a.py"]);
}
