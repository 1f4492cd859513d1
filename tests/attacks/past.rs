//! Commits of hostile files.

use std::fs;

use serde_json::json;

use super::sweep::Asker;
use super::{Place, scaled};

/// Asks about a file that is changed and about its commits; every answer comes in time.
fn is_answered(name: &str, texts: impl IntoIterator<Item = String>) {
    let place = Place::with([(name, String::new())]);
    for text in texts {
        place.commit();
        fs::write(place.source().join(name), text).expect("the folder is ours");
    }
    let mut asker = Asker::new(&place, name);
    asker.ask("index_folder", json!({}));
    asker.ask("get_changed_symbols", json!({"since_sha": "HEAD", "until_sha": "WORKTREE"}));
    asker.ask("review_changes", json!({"base": "HEAD"}));
    let log = asker.ask("search_commits", json!({}));
    assert!(log["result_count"] != 0, "{log}");
    let found = asker.ask("search_symbols", json!({"query": "first"}));
    if let Some(id) = found["results"][0]["id"].as_str() {
        let history = asker.ask("get_symbol_history", json!({"symbol_id": id}));
        assert!(history["commits"].is_array(), "{history}");
    }
    let (_, breaches) = asker.end();
    assert!(breaches.is_empty(), "{}", breaches.join("\n"));
}

#[test]
fn many_symbols_of_one_name_are_not_compared_each_with_each() {
    let text = |number: usize| "def first(): 0\n".to_owned() + &format!("def a():{number}\n").repeat(scaled(40_000));
    is_answered("a.py", [text(1), text(2), text(3)]);
}

#[test]
fn commits_of_files_that_take_long_to_read_are_read_for_a_bounded_time() {
    let nested = ":not(".repeat(20_000) + &")".repeat(20_000);
    is_answered("a.css", (0..10).map(|number| format!(".first {{}}\nx = {nested}\n.a{number} {{}}\n")));
}
