//! The history of code, through the real program on real repositories: commits by message, author, path and time, and the
//! commits that changed one symbol.

use serde_json::{Value, json};

use crate::place::{Place, git_at};

impl Place {
    /// Commits everything with a message, as an author, at a day of 2024.
    fn commit_as(&self, message: &str, author: &str, day: &str) -> String {
        let (author, date) = (format!("{author} <{author}@example.org>"), format!("2024-{day}T12:00:00Z"));
        self.git(&["add", "-A", "."]);
        git_at(&self.source(), &date, &["commit", "-q", "--author", &author, "-m", message]);
        self.git(&["rev-parse", "HEAD"])
    }

    /// The subjects of commits that were found.
    fn subjects(&self, args: Value) -> Vec<String> {
        let answer = self.call("search_commits", args);
        let commits = answer["commits"].as_array().unwrap_or_else(|| panic!("{answer}"));
        commits.iter().map(|commit| commit["subject"].as_str().expect("text").to_owned()).collect()
    }
}

const PARSER: &str = "def parse_date(text):\n    year, month = text.split('-')\n    return int(year), int(month)\n\n\n\
                      class Reader:\n    def read(self, path):\n        with open(path) as file:\n            return file.read()\n";

/// A history of six commits.
fn place() -> Place {
    let place = Place::repository();
    place.write("lib/parser.py", PARSER);
    place.commit_as("Add the parser of dates", "ann", "01-10");
    place.write("docs/notes.md", "notes\n");
    place.commit_as("docs: write down how releases are made", "bob", "02-10");
    place.write("lib/parser.py", &PARSER.replace("int(month)", "int(month) or 1"));
    place.commit_as("Fix months that are zero (#321)\n\nThe calendar of the old importer had none.", "bob", "03-10");
    let renamed = PARSER.replace("int(month)", "int(month) or 1").replace("parse_date", "read_date");
    place.write("lib/parser.py", &renamed);
    place.commit_as("Name the reader of dates as the others", "ann", "04-10");
    place.git(&["mv", "lib/parser.py", "lib/dates.py"]);
    place.commit_as("Move dates to a module of their own", "ann", "05-10");
    place.write("lib/dates.py", &renamed.replace("read_date(text)", "read_date(text, default)"));
    place.commit_as("Take a default", "cid", "06-10");
    place.indexed();
    place
}

#[test]
fn commits_are_found_by_message_author_path_and_time() {
    let place = place();
    assert_eq!(place.subjects(json!({"query": "month is zero"})), ["Fix months that are zero (#321)"]);
    assert_eq!(place.subjects(json!({"query": "#321"})), ["Fix months that are zero (#321)"]);
    // The body counts as well.
    assert_eq!(place.subjects(json!({"query": "calendar importer"})), ["Fix months that are zero (#321)"]);
    assert_eq!(place.subjects(json!({"author": "BOB@example"})).len(), 2);
    assert_eq!(place.subjects(json!({"path": "docs"})), ["docs: write down how releases are made"]);
    assert_eq!(place.subjects(json!({"path": "lib/*.py", "author": "bob"})), ["Fix months that are zero (#321)"]);
    assert_eq!(
        place.subjects(json!({"since": "2024-05-10", "until": "2024-05-10"})),
        ["Move dates to a module of their own"]
    );
    assert_eq!(place.subjects(json!({"since": "HEAD"})), ["Take a default"]);
    // Without words, the newest come first, page by page.
    let page = place.call("search_commits", json!({"max_results": 2}));
    assert_eq!((&page["result_count"], &page["searched_commits"]), (&json!(2), &json!(6)), "{page}");
    let next = place.subjects(json!({"max_results": 2, "cursor": page["next_cursor"]}));
    assert_eq!(next, ["Name the reader of dates as the others", "Fix months that are zero (#321)"]);
    assert_eq!(place.call("search_commits", json!({"count_only": true}))["count"], 6);
    // Half of the words must be there.
    let nothing = place.call("search_commits", json!({"query": "violin concert of zero"}));
    assert_eq!((&nothing["commits"], &nothing["result_count"]), (&json!([]), &json!(0)), "{nothing}");
    let wrong = place.call("search_commits", json!({"since": "yesteryear"}));
    assert!(wrong["error"].as_str().is_some_and(|error| error.contains("2025-01-31")), "{wrong}");
}

#[test]
fn a_commit_names_the_symbols_that_it_changed() {
    let place = place();
    let commit = |query: &str| place.call("search_commits", json!({"query": query}))["commits"][0].clone();
    let fix = commit("zero");
    assert_eq!(fix["files"], json!(["lib/parser.py"]), "{fix}");
    let changed = json!([{"symbol_id": "lib/parser.py::parse_date#function", "change_type": "modified"}]);
    assert_eq!((&fix["symbols"], &fix["symbols_count"]), (&changed, &json!(1)), "{fix}");
    assert_eq!((&fix["author"], &fix["time"]), (&json!("bob"), &json!("2024-03-10T12:00:00Z")), "{fix}");
    let renamed = &commit("named as the others")["symbols"][0];
    assert_eq!(renamed["was"], "lib/parser.py::parse_date#function", "{renamed}");
    // The first commit added everything, and its id names it.
    let sha = commit("parser of dates")["sha"].as_str().expect("an id").to_owned();
    let first = commit(&sha[..9]);
    assert_eq!((&first["sha"], &first["symbols_count"]), (&json!(sha), &json!(3)), "{first}");
}

#[test]
fn a_symbol_is_followed_through_names_and_files() {
    let place = place();
    let history = |id: &str| place.call("get_symbol_history", json!({"symbol_id": id}));
    let answer = history("read_date");
    let steps: Vec<(&str, &str)> = answer["commits"]
        .as_array()
        .unwrap_or_else(|| panic!("{answer}"))
        .iter()
        .map(|step| (step["change_type"].as_str().expect("text"), step["was"].as_str().unwrap_or("")))
        .collect();
    let expected = [
        ("modified", ""),
        ("renamed", "lib/parser.py::read_date#function"),
        ("renamed", "lib/parser.py::parse_date#function"),
        ("modified", ""),
        ("added", ""),
    ];
    assert_eq!(steps, expected, "{answer}");
    assert_eq!(answer["commits"][0]["signature_changed"], true, "{answer}");
    assert_eq!(
        (&answer["symbol_id"], &answer["uncommitted"]),
        (&json!("lib/dates.py::read_date#function"), &Value::Null)
    );
    // A method that stayed as it was has two: it came, and its file moved.
    let method = history("Reader.read");
    assert_eq!(method["result_count"], 2, "{method}");
    // Edits count as such, and a symbol without a commit has no past.
    place.write("lib/dates.py", &PARSER.replace("parse_date", "read_date").replace("return int", "return 1 + int"));
    place.write("lib/fresh.py", "def fresh():\n    return 1\n");
    place.indexed();
    assert_eq!(history("read_date")["uncommitted"], true);
    let fresh = history("fresh");
    assert_eq!((&fresh["uncommitted"], &fresh["commits"]), (&json!(true), &json!([])), "{fresh}");
}

#[test]
fn both_sides_of_a_merge_are_followed() {
    let place = Place::repository();
    let text = |first: &str, last: &str| {
        format!("def total(values):\n    {first}\n    middle = 1\n    # one\n    # two\n    # three\n    {last}\n")
    };
    place.write("a.py", &text("start = 0", "return start"));
    place.commit_as("Add a total", "ann", "01-01");
    place.git(&["checkout", "-q", "-b", "side"]);
    place.write("a.py", &text("start = 0", "return start + middle"));
    place.commit_as("Return more", "bob", "01-02");
    place.git(&["checkout", "-q", "-"]);
    place.write("a.py", &text("start = 5", "return start"));
    place.commit_as("Start at five", "ann", "01-03");
    git_at(&place.source(), "2024-01-04T12:00:00Z", &["merge", "-q", "-m", "Merge side", "side"]);
    place.indexed();
    let answer = place.call("get_symbol_history", json!({"symbol_id": "total"}));
    let subjects: Vec<&str> =
        answer["commits"].as_array().into_iter().flatten().filter_map(|step| step["subject"].as_str()).collect();
    assert_eq!(subjects, ["Start at five", "Return more", "Add a total"], "{answer}");
}

#[test]
fn a_shallow_clone_says_that_its_history_ends_there() {
    let (full, clone) = (place(), Place::new());
    let from = format!("file://{}", full.source().display());
    clone.git(&["clone", "-q", "--depth", "2", &from, "."]);
    clone.indexed();
    for (tool, args) in
        [("search_commits", json!({"query": "default"})), ("get_symbol_history", json!({"symbol_id": "read_date"}))]
    {
        let answer = clone.call(tool, args);
        assert!(answer["_meta"]["hint"].to_string().contains("history ends here"), "{tool}: {answer}");
    }
    let answer = clone.call("get_changed_symbols", json!({"since_sha": "HEAD~3"}));
    assert!(answer["error"].to_string().contains("shallow"), "{answer}");
    assert!(answer.to_string().contains("git fetch --unshallow"), "{answer}");
    let whole = full.call("search_commits", json!({"query": "default"}));
    assert!(whole["_meta"]["hint"].is_null(), "{whole}");
}
