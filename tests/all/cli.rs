//! The program at a terminal, or in a pipe: what is typed, what is printed, and how it ends.

use std::fs;
use std::path::Path;
use std::process::Stdio;

use serde_json::Value;

use crate::place::{Place, Ran};

/// A small folder of sources.
pub fn numbers() -> Place {
    let place = Place::new();
    fs::create_dir(place.source().join("inner")).expect("the folder is new");
    place.write("numbers.py", "def add(a, b):\n    \"\"\"Adds two numbers.\"\"\"\n    return a + b\n\n\nclass Counter:\n    def count(self):\n        return add(1, 2)\n");
    place
}

#[test]
fn the_first_search_indexes_the_repository() {
    let place = numbers();
    let ran = place.run(&["search", "add"]);
    assert_eq!(ran.status, 0, "{}", ran.err);
    assert!(ran.out.starts_with("numbers.py:1 add — Adds two numbers. (1 use)\n1:def add(a, b):\n"), "{}", ran.out);
    assert!(ran.out.contains("def add(a, b)"), "{}", ran.out);
    assert!(!ran.out.contains('\x1b') && !ran.err.contains('\x1b'), "a pipe gets no colours and no bar");
    let again = place.run(&["search", "add"]);
    assert_eq!((again.status, again.err.as_str()), (0, ""));
}

#[test]
fn text_takes_the_flags_of_ripgrep_and_prints_as_it_does() {
    let place = numbers();
    fs::write(place.source().join("inner/notes.txt"), "Add nothing\r\nna\u{ef}ve\nadd(\n").expect("the folder is ours");
    let ran = place.run(&["text", "add"]);
    assert_eq!(ran.status, 0, "{}", ran.err);
    assert!(ran.err.contains("for the first time"), "{}", ran.err);
    assert_eq!(ran.out, "inner/notes.txt:3:add(\nnumbers.py:1:def add(a, b):\nnumbers.py:8:        return add(1, 2)\n");
    let printed = |args: &[&str]| place.found(&[&["text"], args].concat());
    assert_eq!(printed(&["-F", "add(", "-g", "*.txt"]), "inner/notes.txt:3:add(\n");
    assert_eq!(printed(&["-c", "-i", "add"]), "inner/notes.txt:2\nnumbers.py:3\n");
    assert_eq!(printed(&["-l", "-t", "py", "add"]), "numbers.py\n");
    assert_eq!(printed(&["-lc", "Adds"]), "numbers.py:1\n", "the last of two counts");
    assert_eq!(printed(&["-cl", "Adds"]), "numbers.py\n");
    assert_eq!(printed(&["-w", "-S", "adds"]), "numbers.py:2:    \"\"\"Adds two numbers.\"\"\"\n");
    assert_eq!(printed(&["-e", "^class", "-A", "1", "numbers.py"]), "6:class Counter:\n7-    def count(self):\n");
    assert_eq!(
        printed(&["-B1", "add\\(1", "./"]),
        "./numbers.py-7-    def count(self):\n./numbers.py:8:        return add(1, 2)\n"
    );
    assert_eq!(printed(&["--color", "always", "na.ve", "inner"]).matches("\x1b[1m\x1b[31mna\u{ef}ve").count(), 1);
    assert_eq!(
        printed(&["-U", "nothing\\r\\nna", "-N"]),
        "inner/notes.txt:Add nothing\r\ninner/notes.txt:na\u{ef}ve\n"
    );
    let messages = printed(&["--json", "class"]);
    let types: Vec<String> = messages
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).expect("each line is JSON")["type"].to_string())
        .collect();
    assert_eq!(types, ["\"begin\"", "\"match\"", "\"end\"", "\"summary\""]);
    let inside = place.run_in(place.source().join("inner"), &["text", "add"]);
    assert_eq!(inside.out, "notes.txt:3:add(\n");

    place.write("new.txt", "freshly written\n");
    assert_eq!(printed(&["freshly"]), "new.txt:1:freshly written\n");
    assert_eq!(place.run(&["text", "never_written"]).status, 1);
    let wrong = place.run(&["text", "("]);
    assert!(wrong.status == 2 && wrong.err.contains("unclosed group"), "{}", wrong.err);
    assert_eq!(place.run(&["text", "x", "nowhere"]).status, 2);
}

#[test]
fn syntax_is_printed_as_ripgrep_prints_matches() {
    let place = numbers();
    place.write("inner/bad.py", "\u{feff}try:\n    add(1, 2)\nexcept:\n    pass\n");
    let printed = |args: &[&str]| place.found(&[&["ast"], args].concat());
    assert_eq!(printed(&["add($A, $B)"]), "inner/bad.py:2:    add(1, 2)\nnumbers.py:8:        return add(1, 2)\n");
    assert_eq!(printed(&["add($$$)", "-l", "-g", "inner/**"]), "inner/bad.py\n");
    assert_eq!(
        printed(&["--preset", "bare_except", "-B1"]),
        "inner/bad.py-2-    add(1, 2)\ninner/bad.py:3:except:\ninner/bad.py:4:    pass\n"
    );
    assert_eq!(place.run(&["ast", "subtract($A)"]).status, 1);
    assert_eq!(place.run(&["ast", "if (", "--language", "python"]).status, 2);
    let broken = place.run(&["ast", "if ("]);
    assert!(broken.status == 2 && broken.err.contains("line 1, column 1"), "{}", broken.err);
}

#[test]
fn what_was_found_decides_the_status() {
    let place = numbers();
    assert_eq!(place.run(&["index", "."]).status, 0);
    assert_eq!(place.run(&["search", "add"]).status, 0);
    assert_eq!(place.run(&["search", "zzzyyyxxx"]).status, 1);
    assert_eq!(place.run(&["get", "numbers.py::nothing#function"]).status, 2);
    assert_eq!(place.run(&["search"]).status, 2);
    assert_eq!(place.run(&["search", "add", "--max-results", "many"]).status, 2);
    assert_eq!(place.run(&["no-such-command"]).status, 2);
    assert_eq!(place.run(&["index", "no/such/folder"]).status, 2);
    assert_eq!(place.run(&["--version"]).status, 0);
}

#[test]
fn errors_go_to_standard_error_with_what_was_perhaps_meant() {
    let place = numbers();
    place.found(&["index", "."]);
    let ran = place.run(&["get", "numbers.py::ad#function"]);
    assert_eq!((ran.status, ran.out.as_str()), (2, ""));
    assert!(ran.err.starts_with("error: "), "{}", ran.err);
    assert!(ran.err.contains("numbers.py::add#function"), "{}", ran.err);
    let ran = place.run(&["serach", "add"]);
    assert!(ran.err.contains("search"), "{}", ran.err);
    for (word, meant) in [("impact", "blast"), ("usages", "refs"), ("callers", "calls"), ("serach", "search")] {
        let ran = place.run(&[word, "add"]);
        assert!(ran.err.contains(&format!("did you mean `{meant}`?")), "{}", ran.err);
    }
    let ran = place.run(&["call", "search_symbol", "{}"]);
    assert!(ran.status == 2 && ran.err.contains("search_symbols"), "{}", ran.err);
    let ran = place.run(&["call", "search_symbols", "{"]);
    assert!(ran.status == 2 && ran.err.contains("JSON"), "{}", ran.err);
}

#[test]
fn answers_can_be_json() {
    let place = numbers();
    place.found(&["index", "."]);
    let found: Value = serde_json::from_str(&place.found(&["--json", "search", "add"])).expect("it is JSON");
    assert_eq!(found["results"][0]["name"], "add");
    let same: Value = serde_json::from_str(&place.found(&["call", "--json", "search_symbols", r#"{"query": "add"}"#]))
        .expect("it is JSON");
    assert_eq!(found["results"], same["results"]);
    let ran = place.run(&["--json", "get", "nothing"]);
    let error: Value = serde_json::from_str(&ran.out).expect("it is JSON");
    assert!(ran.status == 2 && error["code"].is_string(), "{}", ran.out);
}

#[test]
fn source_is_printed_below_its_file_or_behind_it() {
    let place = numbers();
    place.found(&["index", "."]);
    let out = place.found(&["get", "numbers.py::add#function"]);
    assert!(out.starts_with("numbers.py\n1:def add(a, b):\n"), "{out}");
    let out = place.found(&["get", "count"]);
    assert_eq!(out, "numbers.py\nCounter.count\n7:    def count(self):\n8:        return add(1, 2)\n");
    let out = place.found(&["get", "count", "--no-heading"]);
    assert_eq!(out, "numbers.py:7:    def count(self):\nnumbers.py:8:        return add(1, 2)\n");
    // A file is its text, for whoever copies it.
    let text = fs::read_to_string(place.source().join("numbers.py")).expect("it is ours");
    assert_eq!(place.found(&["file", "numbers.py"]), text);
    assert!(place.found(&["list"]).contains("source"));
}

#[test]
fn frequent_flags_have_one_letter() {
    let place = numbers();
    place.write("inner/count.go", "package inner\n\nfunc Count() {}\n");
    place.found(&["index", "."]);
    let names = |args: &[&str]| {
        let out = place.found(&[args, &["--no-heading"]].concat());
        let places = out.lines().map(|line| line.split(' ').next().unwrap_or_default().to_owned());
        places.collect::<Vec<_>>()
    };
    assert_eq!(names(&["search", "count", "-k", "method"]), ["numbers.py:7"]);
    assert_eq!(names(&["search", "count", "-l", "go"]), ["inner/count.go:3"]);
    assert_eq!(names(&["search", "count", "-g", "inner/**"]), ["inner/count.go:3"]);
    assert_eq!(names(&["search", "count", "-n", "1"]).len(), 1);
    let around = place.found(&["get", "count", "-C", "1", "--no-heading"]);
    assert!(around.starts_with("numbers.py-6-class Counter:\nnumbers.py:7:"), "{around}");
    assert_eq!(place.found(&["text", "return a", "-C1", "-n"]).lines().count(), 6);
}

#[test]
fn the_manual_page_names_every_command() {
    let place = numbers();
    let page = place.found(&["man"]);
    assert!(page.contains(".TH codelode 1"), "{page}");
    let list = place.found(&["help"]);
    let commands = list.lines().filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    let commands: Vec<&str> = commands.filter_map(|line| line.split_whitespace().next()).collect();
    assert!(commands.len() > 40, "{list}");
    for command in commands.iter().filter(|command| !command.starts_with('-')) {
        assert!(page.replace('\\', "").contains(&format!("codelode-{command}(1)")), "{command}: {page}");
    }
}

#[test]
fn a_repository_can_be_named_from_elsewhere() {
    let place = numbers();
    place.found(&["index", "."]);
    let mut command = place.command(&["search", "add", "--repo"]);
    let ran = Ran::of(command.arg(place.source()).current_dir(place.path()));
    assert_eq!(ran.status, 0, "{}", ran.err);
    let mut command = place.command(&["search", "add"]);
    let ran = Ran::of(command.current_dir(place.source().join("inner")));
    assert_eq!(ran.status, 0, "{}", ran.err);
    assert!(ran.out.contains("numbers.py:1"), "{}", ran.out);
}

#[test]
fn help_is_made_from_the_schemas() {
    let place = numbers();
    let help = place.found(&["--help"]);
    for word in ["search", "serve", "call", "completions", "--json", "Exit status"] {
        assert!(help.contains(word), "{word} is missing:\n{help}");
    }
    let help = place.found(&["search", "--help"]);
    assert!(help.contains("--max-results <N>") && help.contains("--file-pattern"), "{help}");
    assert_eq!(place.found(&["help", "search"]), help);
    assert!(place.found(&["completions", "bash"]).contains("_codelode"));
}

#[test]
fn wrong_settings_are_refused_by_name() {
    let place = numbers();
    let home = place.path().join("index/codelode");
    fs::create_dir_all(&home).expect("the folder is ours");
    fs::write(home.join("config.toml"), "max_fils = 3\n").expect("the folder is ours");
    let ran = place.run(&["list"]);
    assert_eq!(ran.status, 2);
    assert!(ran.err.contains("max_fils") && ran.err.contains("did you mean `max_files`?"), "{}", ran.err);
    fs::remove_file(home.join("config.toml")).expect("it is there");
    let ran = Ran::of(place.command(&["list"]).env("CODELODE_MAX_FILES", "x"));
    assert!(ran.status == 2 && ran.err.contains("CODELODE_MAX_FILES"), "{}", ran.err);
}

#[test]
fn a_reader_that_goes_away_is_no_fault() {
    let place = numbers();
    let mut child =
        place.command(&["--help"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the program is built");
    drop(child.stdout.take());
    let ran = Ran::from(child.wait_with_output().expect("it ends"));
    assert!(!ran.err.contains("panicked"), "{}", ran.err);
    let mut child = place
        .command(&["search", "add"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program is built");
    drop(child.stdout.take());
    let ran = Ran::from(child.wait_with_output().expect("it ends"));
    assert!(!ran.err.contains("panicked"), "{}", ran.err);
}

#[test]
fn colours_are_for_those_who_ask() {
    let place = numbers();
    place.found(&["index", "."]);
    assert!(!place.found(&["search", "add"]).contains('\x1b'));
    assert!(place.found(&["search", "add", "--color", "always"]).contains('\x1b'));
}

#[test]
fn nothing_is_written_but_in_the_index_directory() {
    let place = numbers();
    place.found(&["search", "add"]);
    let names = |folder: &Path| {
        let mut names: Vec<_> =
            fs::read_dir(folder).expect("it is there").map(|entry| entry.expect("it is there").file_name()).collect();
        names.sort();
        names
    };
    assert_eq!(names(&place.source()), ["inner", "numbers.py"]);
    assert_eq!(names(&place.path()), ["index", "source"]);
    assert_eq!(names(&place.path().join("index")), ["codelode"]);
}

#[test]
fn an_index_is_for_its_owner_alone() {
    use std::os::unix::fs::PermissionsExt;

    let place = numbers();
    let home = place.path().join("index/codelode");
    fs::create_dir_all(&home).expect("the folder is ours");
    fs::set_permissions(&home, fs::Permissions::from_mode(0o755)).expect("it is ours");
    place.found(&["search", "add"]);
    let mode = fs::metadata(&home).expect("it is there").permissions().mode();
    assert_eq!(mode & 0o077, 0, "{mode:o}");
}

#[test]
fn an_answer_that_cannot_be_written_is_an_error() {
    let place = numbers();
    place.found(&["index", "."]);
    let full = fs::File::options().write(true).open("/dev/full").expect("Linux has one");
    let status = place.command(&["search", "add"]).stdout(full).stderr(Stdio::null()).status();
    assert_eq!(status.expect("the program is built").code(), Some(2));
}

#[test]
fn a_wrong_name_of_a_repository_indexes_nothing() {
    let place = numbers();
    for args in [
        &["search", "add", "--repos", "nowhere"][..],
        &["search", "add repo:nowhere"],
        &["search", "add", "--repo", "nowhere"],
    ] {
        let ran = place.run(args);
        assert_eq!(ran.status, 2, "{args:?}: {}", ran.out);
        assert!(ran.err.contains("there is no index \"nowhere\"") && !ran.err.contains("first time"), "{}", ran.err);
    }
    assert_eq!(place.run(&["list"]).out.matches("source-").count(), 0);
    // The same once something is indexed; where we stand is still indexed for whoever names nothing.
    place.found(&["search", "add"]);
    let ran = place.run(&["search", "add repo:nowhere"]);
    assert!(ran.status == 2 && !ran.err.contains("first time"), "{}", ran.err);
}

#[test]
fn whole_disks_and_systems_are_indexed_only_by_name() {
    let place = numbers();
    let in_folder = |folder: &str, args: &[&str]| place.run_in(folder, args);
    for args in [&["search", "add"][..], &["text", "add"], &["index"]] {
        let ran = in_folder("/usr", args);
        assert_eq!(ran.status, 2, "{args:?}: {}", ran.out);
        assert!(ran.err.contains("to index it: codelode index /usr"), "{args:?}: {}", ran.err);
    }
    let ran = in_folder("/", &["index"]);
    assert!(ran.status == 2 && ran.err.contains("codelode index /"), "{}", ran.err);
    // A command outside of every repository means the only one there is.
    place.found(&["index", "."]);
    let ran = in_folder("/", &["search", "add"]);
    assert_eq!(ran.status, 0, "{}", ran.err);
    assert!(ran.out.contains("the only repository that is indexed"), "{}", ran.out);
}

#[test]
fn a_folder_without_an_index_answers_for_itself() {
    let place = numbers();
    place.found(&["index", "."]);
    for name in ["plain", "another"] {
        let folder = place.path().join(name);
        fs::create_dir_all(folder.join("below")).expect("the folder is ours");
        fs::write(folder.join("below/own.py"), format!("def own_{name}():\n    pass\n")).expect("the folder is ours");
        let ask = |args: &[&str]| place.run_in(&folder, args);
        let first = ask(&["search", &format!("own_{name}")]);
        assert_eq!(first.status, 0, "{}", first.err);
        assert!(first.out.contains("below/own.py:1"), "{}", first.out);
        assert_eq!(first.err, "");
        assert_eq!(ask(&["search", "add"]).status, 1, "nothing of another repository");
        assert_eq!(ask(&["text", "return a"]).status, 1, "nothing of another repository");
    }
    // A folder below where one stands narrows the search; the index is of where one stands.
    let folder = place.path().join("whole");
    fs::create_dir_all(folder.join("sub")).expect("the folder is ours");
    fs::write(folder.join("sub/own.py"), "whole_one = 1\n").expect("the folder is ours");
    fs::write(folder.join("other.py"), "whole_one = 2\n").expect("the folder is ours");
    let ask = |args: &[&str]| place.run_in(&folder, args);
    for args in [["text", "whole_one", "sub"], ["ast", "whole_one = $X", "sub"]] {
        let ran = ask(&args);
        assert_eq!((ran.status, &*ran.out), (0, "sub/own.py:1:whole_one = 1\n"), "{args:?} {}", ran.err);
    }
    let indexed: Vec<String> = serde_json::from_str::<serde_json::Value>(&ask(&["list", "--json"]).out)
        .expect("it is JSON")["repos"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|repo| repo["display_name"].as_str().unwrap_or_default().to_owned())
        .collect();
    assert!(indexed.contains(&"whole".to_owned()) && !indexed.contains(&"sub".to_owned()), "{indexed:?}");
    // A path that exists is a path before it is a name.
    let ask = |args: &[&str]| place.run_in(place.path(), args);
    let ran = ask(&["search", "own_another", "--repo", "another/below"]);
    assert!(ran.status == 0 && ran.out.contains("own_another"), "{} {}", ran.out, ran.err);
    let ran = ask(&["outline", "--repo", "no/such/folder"]);
    assert!(ran.status == 2 && !ran.err.contains("first time"), "{}", ran.err);
}

#[test]
fn an_index_is_its_owners_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    let place = numbers();
    assert_eq!(place.run(&["search", "add"]).status, 0);
    let mut folders = vec![place.path().join("index")];
    let mut seen = 0;
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("it was made").flatten() {
            let metadata = entry.metadata().expect("it is there");
            let wanted = if metadata.is_dir() { 0o700 } else { 0o600 };
            assert_eq!(metadata.permissions().mode() & 0o777, wanted, "{}", entry.path().display());
            folders.extend(metadata.is_dir().then(|| entry.path()));
            seen += 1;
        }
    }
    assert!(seen > 5);
}

#[test]
fn paths_are_meant_and_shown_from_where_one_stands() {
    let place = numbers();
    place.write("inner/numbers.py", "def inner_one():\n    return add(1)\n");
    place.found(&["index", "."]);
    let inner = place.source().join("inner");
    let ask = |args: &[&str]| {
        let ran = place.run_in(&inner, args);
        assert_eq!(ran.status, 0, "{args:?}: {}", ran.err);
        ran.out
    };
    assert!(ask(&["search", "inner_one"]).starts_with("numbers.py:1 "));
    assert!(ask(&["search", "Counter"]).starts_with("../numbers.py:6 "));
    // The file that is here, not the one of that name at the root.
    assert!(ask(&["outline", "numbers.py"]).contains("inner_one"));
    assert!(ask(&["outline", "../numbers.py"]).contains("Counter"));
    assert!(ask(&["file", "numbers.py"]).contains("inner_one"));
    assert!(ask(&["get", "numbers.py::inner_one"]).contains("return add(1)"));
    assert!(ask(&["get", "../numbers.py::add#function"]).contains("return a + b"));
    assert!(ask(&["get", "inner/numbers.py::inner_one#function"]).contains("return add(1)"), "as the index writes it");
    assert!(ask(&["get", "numbers.py:2"]).contains("return add(1)"), "a place as answers print it");
    assert!(ask(&["calls", "../numbers.py:1"]).contains("Counter.count"));
    assert!(ask(&["refs", "../numbers.py:1"]).contains("../numbers.py:8"));
    assert_eq!(ask(&["file", "numbers.py:2"]), "    return add(1)\n");
    assert_eq!(ask(&["file", "../numbers.py:6-7"]), "class Counter:\n    def count(self):\n");
    // A way out of the repository never leads to a file in it.
    fs::write(place.path().join("numbers.py"), "def outer():\n    pass\n").expect("the folder is ours");
    for path in ["../../numbers.py", "../../none.py", "/numbers.py/none.py"] {
        let ran = place.run_in(&inner, &["file", path]);
        assert!(!ran.out.contains("Counter") && !ran.out.contains("inner_one"), "{path}: {}", ran.out);
    }
    let ran = place.run(&["file", "../none.py"]);
    assert!(ran.status == 2 && ran.err.contains("is outside"), "{}", ran.err);
    // A file elsewhere says which repository is meant.
    let other = place.path().join("other");
    fs::create_dir(&other).expect("the folder is ours");
    fs::write(other.join("own.py"), "def own():\n    pass\n").expect("the folder is ours");
    let path = other.join("own.py");
    let path = path.to_str().expect("it is text");
    assert!(ask(&["outline", path]).contains("own"));
    let ran = place.run_in("/", &["outline", path]);
    assert!(ran.status == 0 && ran.out.contains("own"), "{}", ran.err);
}

#[test]
fn piped_answers_are_lines_whose_paths_open() {
    let place = numbers();
    let write = |path: &str, text: &str| fs::write(place.source().join(path), text).expect("it is ours");
    write("inner/uses.py", "from numbers import add\n\n\ndef twice():\n    return add(1, 2) + add(3, 4)\n");
    fs::create_dir(place.source().join(".git")).expect("it is ours");
    place.found(&["index", "."]);
    let source = place.source();
    let check = |here: &Path, repo: &[&str], args: &[&str]| {
        let args = [args, repo, &["--no-heading"]].concat();
        let ran = place.run_in(here, &args);
        assert_eq!(ran.status, 0, "{args:?}: {}", ran.err);
        assert!(!ran.out.is_empty(), "{args:?}");
        for line in ran.out.lines() {
            let path = line.split([':', ' ']).next().unwrap_or_default();
            assert!(here.join(path).exists(), "{args:?} in {}: {line}", here.display());
        }
    };
    let commands: [&[&str]; 17] = [
        &["search", "add"],
        &["refs", "add"],
        &["refs", "add", "twice"],
        &["calls", "add"],
        &["calls", "twice", "--direction", "both"],
        &["blast", "add"],
        &["dead", "--min-confidence", "0.5"],
        &["importance"],
        &["tree"],
        &["map"],
        &["check", "add"],
        &["related", "add"],
        &["text", "add"],
        &["get", "add", "twice"],
        &["context", "adds two numbers"],
        &["bundle", "twice"],
        &["hierarchy", "Counter"],
    ];
    for args in commands {
        check(&source, &[], args);
        check(&source.join("inner"), &[], args);
        check(&place.path(), &["--repo", "source"], args);
    }
    check(&source, &[], &["outline", "numbers.py", "inner/uses.py"]);
    check(&source.join("inner"), &[], &["outline", "../numbers.py"]);
    assert_eq!(place.found(&["importers", "numbers.py", "--no-heading"]), "inner/uses.py:1\n");
    assert_eq!(place.found(&["deps", "inner/uses.py"]), "inner/uses.py -> numbers.py\n");
    let inner = place.run_in(source.join("inner"), &["tree"]);
    assert!(inner.out.contains("\nuses.py "), "a tree is of the folder that one stands in");
}

#[test]
fn an_answer_of_a_missing_folder_says_so() {
    let place = numbers();
    place.found(&["index", "."]);
    fs::rename(place.source(), place.path().join("moved")).expect("it is ours");
    let ask = |args: &[&str]| place.run_in("/", args);
    for args in [&["search", "add", "--repo", "source"][..], &["text", "add", "--repo", "source"]] {
        let ran = ask(args);
        let told = format!("{}{}", ran.out, ran.err);
        assert!(ran.status == 0 && told.contains("its folder is not here"), "{args:?}: {told}");
    }
    assert!(ask(&["list"]).out.contains("missing: "));
}

#[test]
fn a_language_behind_l_is_no_path() {
    let place = numbers();
    place.write("a.js", "add(1, 2)\n");
    place.found(&["index", "."]);
    assert_eq!(place.found(&["ast", "add($A, $B)", "-l", "python"]), "numbers.py:8:        return add(1, 2)\n");
    assert_eq!(place.found(&["ast", "-l", "js", "add($A, $B)"]), "a.js:1:add(1, 2)\n");
    assert_eq!(place.found(&["ast", "add($A, $B)", "-l"]), "a.js\nnumbers.py\n");
    assert_eq!(place.found(&["ast", "add($A, $B)", "-l", "numbers.py"]), "numbers.py\n");
    let ran = place.run(&["ast", "add($A, $B)", "-l", "cobol"]);
    assert!(ran.status == 2 && ran.err.contains("cobol is neither a file nor a language"), "{}", ran.err);
}

#[test]
fn what_is_left_out_can_be_listed_and_brought_back() {
    let place = numbers();
    let source = place.source();
    fs::write(source.join("package.json"), "{}\n").expect("the folder is ours");
    fs::write(source.join("run.bat"), "echo off\n").expect("the folder is ours");
    fs::create_dir(source.join("dist")).expect("the folder is ours");
    for name in ["one.js", "two.js"] {
        fs::write(source.join("dist").join(name), "function built() {}\n").expect("the folder is ours");
    }
    let ran = place.run(&["search", "built", "--kind", "function"]);
    assert_eq!(ran.status, 1, "{}", ran.out);
    assert!(ran.out.contains("2 build output") && ran.out.contains("no symbols for: 1 batch"), "{}", ran.out);
    assert_eq!(place.found(&["list", "--skipped"]), "dist/  build output, 2 files\n");
    assert!(place.found(&["index", ".", "--list-skipped"]).contains("dist/  build output, 2 files"));
    place.found(&["index", ".", "--include", "dist/"]);
    assert!(place.found(&["search", "built"]).contains("dist/one.js:1"));
    assert_eq!(place.run(&["list", "--skipped"]).status, 1, "nothing is left out");
    fs::write(source.join("wide.py"), b"\xff\xfed\0e\0f").expect("the folder is ours");
    let ran = place.run(&["search", "wide", "--kind", "function"]);
    assert!(ran.status == 1 && ran.out.contains("1 utf 16"), "{}", ran.out);
    assert_eq!(place.found(&["list", "--skipped"]), "wide.py  utf 16\n");
}

#[test]
fn messages_speak_of_commands() {
    let place = numbers();
    place.found(&["index", "."]);
    let lines: String = (0..400).map(|line| format!("    value_{line} = {line}\n")).collect();
    fs::write(place.source().join("long.py"), format!("def long():\n{lines}")).expect("the folder is ours");
    let schemas = fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/schema/tools")).expect("schemas are here");
    let tools: Vec<String> = schemas
        .map(|entry| {
            entry.expect("it can be listed").path().file_stem().expect("it has a name").to_string_lossy().into()
        })
        .collect();
    let said = |args: &[&str]| {
        let ran = place.run(args);
        let text = format!("{}{}", ran.out, ran.err);
        let mut words = text.split(|letter: char| !letter.is_alphanumeric() && letter != '_');
        let named = words.find(|word| word.contains('_') && tools.iter().any(|tool| tool == word));
        assert_eq!(named, None, "{args:?}: {text}");
        text
    };
    assert!(said(&["outline", "zzz/nothing.md"]).contains("`codelode tree` lists files"));
    assert!(said(&["file", "inner"]).contains("codelode tree"));
    assert!(said(&["get", "zzz_nothing"]).contains("codelode search"));
    assert!(said(&["search", "zzzyyyxxx"]).contains("with --fuzzy, fewer letters"));
    assert!(said(&["search", "add", "--repo", "zzz"]).contains("codelode list"));
    assert!(said(&["index-file", "/etc/hostname"]).contains("codelode index"));
    assert!(said(&["changed"]).contains("codelode diff"));
    assert!(said(&["get", "long", "--max-tokens", "300"]).contains("codelode file long.py --start-line "));
    assert!(said(&["suggest"]).contains("codelode search"));
    said(&["stats"]);
    assert!(said(&["context", "--help"]).contains("codelode search"));
    assert!(said(&["index", "--help"]).contains("the folder you are in"));
    assert!(
        place.run(&["call", "get_file_outline", r#"{"file_path": "zzz/nothing.md"}"#]).err.contains("get_file_tree")
    );
}

#[test]
fn a_wrong_range_and_an_empty_folder_are_told() {
    let place = numbers();
    place.found(&["index", "."]);
    let ran = place.run(&["file", "numbers.py", "--start-line", "5", "--end-line", "2"]);
    assert_eq!((ran.status, ran.out.as_str()), (2, ""));
    assert!(ran.err.contains("--start-line 5 comes after --end-line 2"), "{}", ran.err);
    fs::remove_file(place.source().join("numbers.py")).expect("it is ours");
    let ran = place.run(&["search", "add"]);
    assert!(ran.status == 1 && ran.out.contains("nothing is indexed here"), "{}", ran.out);
    let ran = place.run(&["index", "no/such/folder"]);
    assert!(ran.err.contains("give the path of a folder") && !ran.err.contains("absolute"), "{}", ran.err);
    let short = place.found(&["help"]);
    assert!(short.contains("Find:") && !short.contains("Possible values:"), "{short}");
}

#[test]
fn indexing_ends_with_files_symbols_and_seconds() {
    let place = numbers();
    let out = place.found(&["index", "."]);
    let first = out.lines().next().unwrap_or_default();
    let wanted = regex::Regex::new(r"^\S+  1 file, 3 symbols, [0-9.]+ s$").expect("it is a regex");
    assert!(wanted.is_match(first), "{first}");
}

#[test]
fn config_shows_every_setting_and_its_origin() {
    let place = numbers();
    place.write(".codelode.toml", "tests = [\"qa/\"]\nssh_command = \"evil\"\n");
    let ran = Ran::of(place.command(&["config"]).env("CODELODE_MAX_FILES", "12"));
    assert_eq!(ran.status, 0, "{}", ran.err);
    let line = |key: &str| ran.out.lines().find(|line| line.starts_with(&format!("{key} = "))).expect("it is shown");
    assert!(line("max_files").starts_with("max_files = 12 ") && line("max_files").ends_with("(CODELODE_MAX_FILES)"));
    assert!(line("tests").starts_with("tests = [\"qa/\"]") && line("tests").ends_with("# .codelode.toml"));
    assert!(line("ssh_command").ends_with("# default"), "{}", ran.out);
    assert!(ran.err.contains("`ssh_command` in .codelode.toml was refused"), "{}", ran.err);
    assert!(ran.out.parse::<toml::Table>().is_ok(), "it can be pasted: {}", ran.out);

    let one = place.found(&["config", "tests", "--json"]);
    let one: Value = serde_json::from_str(&one).expect("it is JSON");
    assert_eq!(one["settings"][0]["origins"][0], "project_file");
    assert_eq!(place.run(&["config", "colour"]).status, 2);
}

#[test]
fn the_log_tells_of_every_phase_and_call() {
    let place = numbers();
    let log = place.path().join("log");
    let logged = |args: &[&str], level: &str| {
        let _ = fs::remove_file(&log);
        let mut command = place.command(args);
        let ran = command.env("CODELODE_LOG", level).env("CODELODE_LOG_FILE", &log).output().expect("it runs");
        assert!(ran.status.success(), "{args:?}: {}", String::from_utf8_lossy(&ran.stderr));
        fs::read_to_string(&log).expect("there is a log")
    };
    let check = |args: &[&str], expected: &[&str]| {
        let log = logged(args, "debug");
        for word in expected {
            let line = log.lines().find(|line| line.contains(&format!("{word} ended")) || line.contains(*word));
            assert!(line.is_some_and(|line| line.contains(" ms=")), "{args:?}: no {word} in\n{log}");
        }
    };
    check(&["index", "."], &["discover", "parse", "write", "tool=\"index_folder\""]);
    check(&["importance"], &["resolve", "rank", "tool=\"get_symbol_importance\""]);
    check(&["search", "add"], &["open", "compare", "tool=\"search_symbols\""]);
    check(&["text", "add"], &["open", "text"]);
    assert!(!logged(&["search", "add"], "trace").is_empty());
    assert_eq!(logged(&["search", "add"], "warn"), "");
}
