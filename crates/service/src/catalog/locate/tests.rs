//! Resolves the repository of a call by the caller's directory.

use std::fs;
use std::path::{Path, PathBuf};

use std::sync::atomic::AtomicBool;

use serde_json::{Value, json};

use super::{Options, PATIENCE, RunControl, pipeline};
use crate::tools::{Context, Request, call};
use codelode_base::config::Config;

struct Place {
    folder: tempfile::TempDir,
    cx: Context,
}

impl Place {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("there is room for a folder");
        let config = Config { home: folder.path().join("index"), ..Config::default() };
        Self { cx: Context::new(config), folder }
    }

    /// Makes a folder with one function named like the folder, optionally as a git repository.
    fn source(&self, name: &str, is_repository: bool) -> PathBuf {
        let folder = self.folder.path().join(name);
        fs::create_dir_all(&folder).expect("the folder is ours");
        let function = name.rsplit('/').next().expect("a name has a last part");
        fs::write(folder.join("code.py"), format!("def {function}():\n    pass\n")).expect("the folder is ours");
        if is_repository {
            let status = std::process::Command::new("git").args(["init", "-q"]).arg(&folder).status();
            assert!(status.is_ok_and(|status| status.success()));
        }
        folder
    }

    fn ask(&self, request: &Request, tool: &str, args: Value) -> Value {
        let Value::Object(args) = args else { panic!("arguments are an object") };
        call(&self.cx, tool, args, request).value
    }

    /// The functions that a search without a repository finds.
    fn found(&self, request: &Request) -> Vec<String> {
        let answer = self.ask(request, "search_text", json!({"query": "def"}));
        let matches = answer["results"].as_array().unwrap_or_else(|| panic!("{answer}")).iter();
        let lines = matches.flat_map(|file| file["matches"].as_array().cloned().unwrap_or_default());
        lines.filter_map(|line| Some(line["text"].as_str()?.trim().to_owned())).collect()
    }
}

fn within(roots: &[&Path], directory: Option<&Path>) -> Request {
    let roots = roots.iter().map(|root| root.to_path_buf()).collect();
    Request { roots, directory: directory.map(Path::to_owned), ..Request::default() }
}

#[test]
fn a_question_is_about_the_folder_that_the_caller_stands_in() {
    let place = Place::new();
    let (one, two, three) = (place.source("one", false), place.source("two", true), place.source("three", false));
    assert_eq!(place.found(&within(&[], Some(&one))), ["def one():"]);
    let nowhere = within(&[], Some(Path::new("/")));
    assert_eq!(place.found(&nowhere), ["def one():"], "there is only one");
    let marked = |request: &Request| {
        place.ask(request, "search_text", json!({"query": "def"}))["_meta"]["only_indexed"] == json!(true)
    };
    assert!(marked(&nowhere) && !marked(&within(&[], Some(&one))));
    let both = ["def two():", "def one():"];
    assert_eq!(place.found(&within(&[&two, &one], Some(&three))), both, "roots count, and all of them");
    assert_eq!(place.found(&within(&[Path::new("/"), &three], None)), ["def three():"]);
    let answer = place.ask(&nowhere, "search_text", json!({"query": "def"}));
    assert_eq!(answer["code"], "ambiguous", "{answer}");
    let answer = place.ask(&within(&[Path::new("/no/such/root")], Some(&one)), "search_text", json!({"query": "def"}));
    assert_eq!(answer["results"][0]["matches"][0]["text"], "def one():", "{answer}");
    let answer = place.ask(&within(&[Path::new("/no/such/root")], None), "search_text", json!({"query": "def"}));
    assert_eq!(answer["code"], "not_found", "{answer}");
}

#[test]
fn a_repository_that_another_leaves_out_has_an_index_of_its_own() {
    let place = Place::new();
    let outer = place.source("outer", true);
    fs::write(outer.join(".gitignore"), "left_out/\n").expect("the folder is ours");
    let (inner, held) = (place.source("outer/left_out", true), place.source("outer/held", true));
    assert_eq!(place.found(&within(&[&outer], None)), ["def outer():", "def held():"]);
    assert_eq!(place.found(&within(&[&inner], None)), ["def left_out():"]);
    assert_eq!(place.found(&within(&[&held], None)).len(), 2, "it is in the outer index already");
}

#[test]
fn a_path_elsewhere_is_answered_by_the_repository_that_holds_it() {
    let place = Place::new();
    let (one, two, three) = (place.source("one", true), place.source("two", true), place.source("three", true));
    let real = two.canonicalize().expect("it is there").join("code.py");
    let standing = within(&[], Some(&one));
    assert_eq!(place.found(&standing), ["def one():"]);
    for path in [real.to_str().expect("it is text"), "../two/code.py", "./../two/code.py"] {
        let answer = place.ask(&standing, "get_file_content", json!({"file_path": path}));
        assert_eq!(answer["content"], "def two():\n    pass\n", "{path}: {answer}");
        let answer = place.ask(&standing, "get_file_outline", json!({"file_paths": [path]}));
        assert_eq!(answer["symbols"][0]["name"], "two", "{path}: {answer}");
        let answer = place.ask(&standing, "get_symbol_source", json!({"symbol_id": format!("{path}::two")}));
        assert_eq!(answer["name"], "two", "{path}: {answer}");
    }
    // Outside any project, a path alone selects the repository.
    let nowhere = within(&[], Some(Path::new("/")));
    let answer = place.ask(&nowhere, "get_file_content", json!({"file_path": three.join("code.py")}));
    assert_eq!(answer["content"], "def three():\n    pass\n", "{answer}");
    // A missing path selects no other repository.
    for path in ["../code.py", "../../code.py", "../four/code.py", "/no/such/code.py"] {
        let answer = place.ask(&standing, "get_file_content", json!({"file_path": path}));
        assert_eq!(answer["code"], "not_found", "{path}: {answer}");
    }
    for path in ["/etc/passwd", "/etc"] {
        let answer = place.ask(&standing, "get_file_content", json!({"file_path": path}));
        assert_eq!(answer["code"], "not_indexed", "{path}: {answer}");
    }
    // A plain folder is opened by name only.
    let plain = place.source("plain", false);
    let inside = json!({"file_path": "../plain/code.py"});
    let answer = place.ask(&standing, "get_file_content", inside.clone());
    assert_eq!((&answer["code"], &answer["content"]), (&json!("not_indexed"), &Value::Null), "{answer}");
    place.ask(&standing, "index_folder", json!({"path": plain}));
    assert_eq!(place.ask(&standing, "get_file_content", inside)["content"], "def plain():\n    pass\n");
    let named = json!({"file_path": real, "repo": one});
    assert_eq!(place.ask(&standing, "get_file_content", named)["code"], "not_found");
}

#[test]
fn what_removes_an_index_makes_none() {
    let place = Place::new();
    let one = place.source("one", false);
    let answer = place.ask(&within(&[], Some(&one)), "invalidate_cache", json!({"repo": "."}));
    assert_eq!(answer["code"], "not_indexed", "{answer}");
    assert_eq!(place.ask(&Request::default(), "list_repos", json!({}))["count"], 0);
}

#[test]
fn a_large_folder_is_indexed_only_when_that_is_asked_for() {
    let place = Place::new();
    let root = place.source("one", false);
    fs::create_dir(root.join("inner")).expect("the folder is ours");
    for n in 0..4 {
        fs::write(root.join(format!("inner/{n}.py")), "").expect("the folder is ours");
    }
    let index = |at_most| {
        let watcher = RunControl {
            progress: &codelode_base::model::unfollowed,
            cancelled: &AtomicBool::new(false),
            patience: PATIENCE,
        };
        pipeline::index_folder(&root, &place.cx.config, &Options { at_most, ..Options::default() }, &watcher)
    };
    assert!(matches!(index(Some(4)), Err(pipeline::Error::TooMany(4))));
    assert_eq!(index(Some(5)).expect("it is not larger").facts.files, 5);
}
