//! Commands of the terminal that ask a server in the place of the indexes here.

use std::process::Output;

use super::web::Site;

/// The program at a terminal elsewhere, with an empty index.
fn run(variables: &[(&str, &str)], arguments: &[&str]) -> Output {
    let home = tempfile::tempdir().expect("there is room for a folder");
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_codelode"));
    command.args(arguments).current_dir(home.path()).envs(variables.iter().copied());
    command.env("CODELODE_INDEX_PATH", home.path().join("index")).env("HOME", home.path());
    command.stdin(std::process::Stdio::null()).output().expect("the program is built")
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&[&output.stdout[..], &output.stderr[..]].concat()).into_owned()
}

#[test]
fn commands_print_of_a_server_what_they_print_here() {
    let site = Site::start(&[]);
    let (url, repo) = (site.url(), site.repo("shop"));
    let at = |arguments: &[&str]| run(&[], &[&["--server", &url, "--repo", &repo], arguments].concat());
    for arguments in [
        &["search", "add"][..],
        &["outline", "numbers.py"],
        &["file", "numbers.py:1-2"],
        &["refs", "numbers.py:1"],
        &["get", "numbers.py::add#function"],
        &["search", "Counter", "--compact"],
    ] {
        let there = at(arguments);
        assert_eq!(there.status.code(), Some(0), "{arguments:?}: {}", said(&there));
        let here = site.run(&[&["--repo", &repo], arguments].concat());
        // Here, paths lead from the current folder.
        let here = here.replace("shop/numbers.py", "numbers.py");
        assert_eq!(String::from_utf8_lossy(&there.stdout), here, "{arguments:?}");
    }
    let lines = at(&["text", "-i", "RETURN ADD"]);
    assert!(said(&lines).contains("return add(1, 2)"), "{}", said(&lines));
    let shapes = at(&["ast", "add($A, $B)", "--language", "python"]);
    assert!(said(&shapes).contains("add(1, 2)"), "{}", said(&shapes));
    let json = at(&["call", "list_repos", "--json"]);
    assert!(said(&json).contains("\"count\":2"), "{}", said(&json));
}

#[test]
fn the_exit_status_is_that_of_the_answer() {
    let site = Site::start(&[]);
    let (url, repo) = (site.url(), site.repo("shop"));
    let status = |arguments: &[&str]| run(&[("CODELODE_SERVER", &url)], arguments).status.code();
    assert_eq!(status(&["search", "add", "--repo", &repo]), Some(0));
    assert_eq!(status(&["search", "no_such_thing_at_all", "--repo", &repo]), Some(1));
    assert_eq!(status(&["search", "add", "--repo", "no/such"]), Some(2));
    for (arguments, problem) in [
        (&["watch"][..], "works on this machine"),
        (&["text", "add", "--replace", "x"], "--replace"),
        (&["search", "add", "--open"], "--open"),
    ] {
        let refused = run(&[], &[&["--server", &url], arguments].concat());
        assert_eq!(refused.status.code(), Some(2));
        assert!(said(&refused).contains(problem), "{}", said(&refused));
    }
    let nobody = run(&[], &["--server", "http://127.0.0.1:1", "search", "add"]);
    assert_eq!(nobody.status.code(), Some(2), "{}", said(&nobody));
}

#[test]
fn a_token_comes_from_the_variable_that_is_named() {
    let secret = "a token that nobody guesses";
    let site = Site::start_with(&["--root", "."], &[("CODELODE_HTTP_TOKEN", secret)]);
    let url = site.url();
    let search = ["--server", &url, "search", "add", "--repo", "shop"];
    let without = run(&[], &search);
    assert!(without.status.code() == Some(2) && said(&without).contains("--token-env"), "{}", said(&without));
    assert_eq!(run(&[("CODELODE_SERVER_TOKEN", secret)], &search).status.code(), Some(0));
    let named = [&search[..], &["--token-env", "OURS"]].concat();
    assert_eq!(run(&[("OURS", secret)], &named).status.code(), Some(0));
    let unset = run(&[], &named);
    assert!(unset.status.code() == Some(2) && said(&unset).contains("OURS"), "{}", said(&unset));
    let wrong = run(&[("OURS", "guessed")], &named);
    assert!(wrong.status.code() == Some(2) && !said(&wrong).contains("guessed"), "{}", said(&wrong));
    // Work that takes long reports its steps on the way.
    let folder = site.folder("unseen").display().to_string();
    let indexed = run(&[("OURS", secret)], &["--server", &url, "--token-env", "OURS", "index", &folder]);
    assert_eq!(indexed.status.code(), Some(0), "{}", said(&indexed));
}
