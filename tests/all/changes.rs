//! Changed symbols between commits and between repositories, through the real program on real repositories.

use std::fs;
use std::path::Path;

use codelode::extract::extract;
use codelode::languages;
use codelode::query::{Changes, SymbolKey, Version, compare, versions};
use serde_json::{Value, json};

use crate::place::Place;

impl Place {
    /// Indexes the sources.
    pub(crate) fn indexed(&self) {
        assert_eq!(json(self, &self.source(), &["index", ".", "--json"]).0, 0);
    }
}

/// The status of a run in a folder, and its answer.
fn json(place: &Place, folder: &Path, args: &[&str]) -> (i32, Value) {
    let ran = place.run_in(folder, args);
    (ran.status, ran.json())
}

/// The ids in a list of differences, with what each was where that is said.
fn ids(answer: &Value, list: &str) -> Vec<String> {
    let told = |difference: &Value| {
        let id = difference["symbol_id"].as_str().expect("each has an id");
        difference["was"].as_str().map_or_else(|| id.to_owned(), |was| format!("{was} > {id}"))
    };
    let ids: Vec<String> = answer[list].as_array().map_or_else(Vec::new, |list| list.iter().map(told).collect());
    assert_eq!(answer[format!("{list}_count")], ids.len(), "{answer}");
    ids
}

const FIRST: &str = "def kept():\n    return 1\n\n\ndef edited():\n    return kept()\n\n\ndef called_so(value):\n    \
                     total = value * 2 + 7\n    return total\n\n\ndef dropped():\n    return 3\n";
const SECOND: &str = "# A line that moves everything.\ndef kept():\n    return 1\n\n\ndef edited():\n    return kept() + 1\n\n\n\
                      def called_otherwise(value):\n    total = value * 2 + 7\n    return total\n\n\ndef fresh():\n    \
                      return 4\n";

#[test]
fn commits_are_compared_symbol_by_symbol() {
    let place = Place::repository();
    place.write("pkg/a.py", FIRST);
    place.write("pkg/user.py", "from pkg.a import edited\n\n\ndef user():\n    return edited()\n");
    place.write("README.md", "text\n");
    let first = place.commit("a change");
    place.indexed();
    place.write("pkg/a.py", SECOND);
    place.write("README.md", "other text\n");
    let second = place.commit("a change");

    let answer = place.call("get_changed_symbols", json!({}));
    assert_eq!(
        (answer["since_sha"].as_str(), answer["until_sha"].as_str()),
        (Some(&*first), Some(&*second)),
        "{answer}"
    );
    assert_eq!(answer["worktree_counts"], false);
    assert_eq!(answer["changed_files_count"], 2, "{answer}");
    assert_eq!(answer["files_without_symbols"], 1, "{answer}");
    assert_eq!(ids(&answer, "added"), ["pkg/a.py::fresh#function"]);
    assert_eq!(ids(&answer, "removed"), ["pkg/a.py::dropped#function"]);
    assert_eq!(ids(&answer, "modified"), ["pkg/a.py::edited#function"]);
    assert_eq!(ids(&answer, "renamed"), ["pkg/a.py::called_so#function > pkg/a.py::called_otherwise#function"]);

    // The other way round, by other names for the same commits.
    let range = place.call("get_changed_symbols", json!({"since_sha": format!("{first}..HEAD")}));
    assert_eq!(range["changed_files_count"], answer["changed_files_count"], "{range}");
    assert_eq!(range["until_sha"], answer["until_sha"], "{range}");
    let merged = place.call("get_changed_symbols", json!({"since_sha": format!("{first}...HEAD")}));
    assert!(merged["error"].as_str().is_some_and(|error| error.contains("names no commit")), "{merged}");
    let back = place.call("get_changed_symbols", json!({"since_sha": "HEAD", "until_sha": &first[..10]}));
    assert_eq!(ids(&back, "added"), ["pkg/a.py::dropped#function"]);
    assert_eq!(ids(&back, "removed"), ["pkg/a.py::fresh#function"]);

    let args = json!({"since_sha": "HEAD~1", "include_blast_radius": true, "max_blast_depth": 1});
    let blast = place.call("get_changed_symbols", args);
    assert_eq!(blast["modified"][0]["blast_radius"]["files"], json!(["pkg/user.py"]), "{blast}");
    assert_eq!(blast["modified"][0]["blast_radius"]["direct_dependents_count"], 1, "{blast}");
}

#[test]
fn edits_that_are_not_committed_count_only_when_asked_for() {
    let place = Place::repository();
    place.write("a.py", FIRST);
    place.write("b.py", "def gone():\n    return 1\n");
    let first = place.commit("a change");
    place.indexed();
    place.write("a.py", SECOND);
    fs::remove_file(place.source().join("b.py")).expect("it is ours");
    place.write("c.py", "def untracked():\n    return 5\n");

    let answer = place.call("get_changed_symbols", json!({"since_sha": first}));
    assert_eq!(answer["changed_files_count"], 0, "{answer}");
    assert!(answer["_meta"]["hint"].as_str().is_some_and(|hint| hint.contains("WORKTREE")), "{answer}");

    let answer = place.call("get_changed_symbols", json!({"since_sha": first, "until_sha": "WORKTREE"}));
    assert_eq!(answer["worktree_counts"], true);
    assert_eq!(ids(&answer, "added"), ["a.py::fresh#function", "c.py::untracked#function"]);
    assert_eq!(ids(&answer, "removed"), ["a.py::dropped#function", "b.py::gone#function"]);
    assert_eq!(ids(&answer, "modified"), ["a.py::edited#function"]);
}

#[test]
fn a_part_of_a_repository_sees_its_own_files() {
    let place = Place::repository();
    place.write("sub/a.py", FIRST);
    place.write("other/b.py", FIRST);
    place.commit("a change");
    place.write("sub/a.py", SECOND);
    place.write("other/b.py", "");
    place.commit("a change");
    let sub = place.source().join("sub");
    assert_eq!(json(&place, &sub, &["index", ".", "--json"]).0, 0);
    let (status, answer) = json(&place, &sub, &["changed", "HEAD~1", "--json"]);
    assert_eq!((status, &answer["changed_files_count"]), (0, &json!(1)), "{answer}");
    assert_eq!(ids(&answer, "modified"), ["a.py::edited#function"]);
}

#[test]
fn what_cannot_be_compared_says_why() {
    let place = Place::repository();
    place.write("a.py", FIRST);
    place.commit("a change");
    place.indexed();
    let answer = place.call("get_changed_symbols", json!({"since_sha": "no-such-branch"}));
    assert_eq!(answer["code"], "not_found", "{answer}");
    let plain = place.path().join("plain");
    fs::create_dir(&plain).expect("the folder is new");
    fs::write(plain.join("a.py"), FIRST).expect("it is ours");
    assert_eq!(json(&place, &plain, &["index", ".", "--json"]).0, 0);
    let (status, answer) = json(&place, &plain, &["changed", "HEAD", "--json"]);
    assert_eq!((status, answer["code"].as_str()), (2, Some("unavailable")), "{answer}");
    assert!(answer["error"].as_str().is_some_and(|error| error.contains("get_symbol_diff")), "{answer}");
}

#[test]
fn a_long_list_comes_in_pages_that_hold_everything_once() {
    let place = Place::repository();
    place.write("a.py", "");
    place.commit("a change");
    place.indexed();
    let body: String = (0..200).map(|n| format!("def function_{n}():\n    return {n}\n\n\n")).collect();
    place.write("a.py", &body);
    place.commit("a change");
    let count = place.call("get_changed_symbols", json!({"since_sha": "HEAD~1", "count_only": true}));
    assert_eq!(count["count"], 200, "{count}");
    let (mut all, mut pages, mut cursor) = (Vec::new(), 0, Value::Null);
    loop {
        let answer =
            place.call("get_changed_symbols", json!({"since_sha": "HEAD~1", "max_tokens": 1500, "cursor": cursor}));
        assert_eq!(answer["added_count"], 200, "{answer}");
        assert!(answer.get("shortened").is_none(), "{answer}");
        let ids = answer["added"].as_array().expect("there are some").iter().map(|item| item["symbol_id"].to_string());
        all.extend(ids);
        pages += 1;
        cursor = answer["next_cursor"].clone();
        if cursor.is_null() {
            break;
        }
    }
    assert!(pages > 2, "{pages}");
    let n_given = all.len();
    all.sort();
    all.dedup();
    assert_eq!((n_given, all.len()), (200, 200));
}

#[test]
fn two_indexes_are_compared_by_name_and_kind() {
    let place = Place::repository();
    place.write("a.py", FIRST);
    place.write("same.py", "def same():\n    return 1\n");
    place.indexed();
    let other = place.path().join("other");
    fs::create_dir_all(other.join("lib")).expect("the folder is new");
    fs::write(other.join("lib/a.py"), SECOND).expect("it is ours");
    fs::write(other.join("same.py"), "def same():\n    return 1\n").expect("it is ours");
    assert_eq!(json(&place, &other, &["index", ".", "--json"]).0, 0);
    let answer = place.call("get_symbol_diff", json!({"repo_a": place.source(), "repo_b": other}));
    assert_eq!(answer["unchanged_count"], 2, "{answer}");
    assert_eq!(ids(&answer, "added"), ["lib/a.py::fresh#function"]);
    assert_eq!(ids(&answer, "removed"), ["a.py::dropped#function"]);
    assert_eq!(ids(&answer, "modified"), ["a.py::edited#function > lib/a.py::edited#function"]);
    assert_eq!(ids(&answer, "renamed"), ["a.py::called_so#function > lib/a.py::called_otherwise#function"]);
}

fn of<'a>(files: &[(&'a str, &'a str)]) -> Vec<Version<'a>> {
    let of_file = |(path, text): &(&'a str, &'a str)| {
        let (_, spec) = languages::of_file(path, text.as_bytes()).expect("the tests write Python");
        versions(path, text.as_bytes(), &extract(spec, text.as_bytes()))
    };
    files.iter().flat_map(of_file).collect()
}

/// Changed symbols, a line each.
fn told(old: &[(&str, &str)], new: &[(&str, &str)], same: SymbolKey) -> Vec<String> {
    let Changes { added, removed, modified, renamed, .. } = compare(of(old), of(new), same);
    let mut told = Vec::new();
    told.extend(added.iter().map(|version| format!("+ {}", version.id)));
    told.extend(removed.iter().map(|version| format!("- {}", version.id)));
    told.extend(modified.iter().map(|(old, new)| {
        let only = if old.says_the_same(new) { " inside" } else { "" };
        format!("! {}{only}", new.id)
    }));
    told.extend(renamed.iter().map(|(old, new)| format!("{} > {}", old.id, new.id)));
    told
}

const CLASS: &str = "class A:\n    def f(self):\n        return 1\n    def g(self):\n        return self.f()\n";

#[test]
fn what_is_as_it_was_is_not_told() {
    assert_eq!(told(&[("a.py", CLASS)], &[("a.py", &format!("# moved down\n\n{CLASS}"))], SymbolKey::Place), [""; 0]);
}

#[test]
fn a_class_whose_method_changed_says_that_it_is_only_that() {
    let new = CLASS.replace("return 1", "return 2");
    assert_eq!(
        told(&[("a.py", CLASS)], &[("a.py", &new)], SymbolKey::Place),
        ["! a.py::A#class inside", "! a.py::A.f#method"]
    );
}

#[test]
fn another_name_for_the_same_body_is_a_rename_and_a_moved_file_is_many() {
    let new = CLASS.replace("def f(", "def h(");
    let changes = told(&[("a.py", CLASS)], &[("a.py", &new)], SymbolKey::Place);
    assert_eq!(changes, ["! a.py::A#class inside", "a.py::A.f#method > a.py::A.h#method"]);
    let moved = told(&[("a.py", CLASS)], &[("b.py", CLASS)], SymbolKey::Place);
    let all =
        ["a.py::A#class > b.py::A#class", "a.py::A.f#method > b.py::A.f#method", "a.py::A.g#method > b.py::A.g#method"];
    assert_eq!(moved, all);
    let recursive = "def fac(n):\n    return n * fac(n - 1)\n";
    let changes = told(&[("a.py", recursive)], &[("a.py", &recursive.replace("fac", "factorial"))], SymbolKey::Place);
    assert_eq!(changes, ["a.py::fac#function > a.py::factorial#function"]);
}

#[test]
fn what_comes_and_goes_is_told_and_little_text_is_no_rename_elsewhere() {
    let changes = told(&[("a.py", "A = 1\n")], &[("b.py", "B = 1\n")], SymbolKey::Place);
    assert_eq!(changes, ["+ b.py::B#constant", "- a.py::A#constant"]);
}

#[test]
fn between_repositories_the_place_does_not_matter() {
    let changed = "def f():\n    return 2\n";
    assert_eq!(told(&[("a.py", CLASS)], &[("lib/a.py", CLASS)], SymbolKey::Name), [""; 0]);
    let changes = told(&[("a.py", "def f():\n    return 1\n")], &[("lib/b.py", changed)], SymbolKey::Name);
    assert_eq!(changes, ["! lib/b.py::f#function"]);
}

#[test]
fn overloads_are_told_apart_by_their_text() {
    let old = "def f():\n    return 1\ndef f():\n    return 2\n";
    let new = "def f():\n    return 2\ndef f():\n    return 3\n";
    assert_eq!(told(&[("a.py", old)], &[("a.py", new)], SymbolKey::Place), ["! a.py::f#function~2"]);
}

#[test]
fn a_sparse_checkout_has_not_removed_what_it_leaves_out() {
    for extra in [&[][..], &["--sparse-index"]] {
        let place = Place::repository();
        place.write("kept/a.py", "def kept():\n    return 1\n");
        place.write("left/deep/b.py", "def absent():\n    return 1\n");
        place.write("kept/gone.py", "def removed():\n    return 1\n");
        place.commit("a change");
        place.git(&[&["sparse-checkout", "set", "--cone"], extra, &["kept"]].concat());
        assert!(!place.source().join("left").exists());
        place.indexed();
        fs::remove_file(place.source().join("kept/gone.py")).expect("it is there");
        let answer = place.call("get_changed_symbols", json!({"until_sha": "WORKTREE", "since_sha": "HEAD"}));
        assert_eq!(ids(&answer, "removed"), ["kept/gone.py::removed#function"], "{answer}");
        let found = place.call("search_symbols", json!({"query": "absent"}));
        assert_eq!(found["results"], json!([]), "it is not here: {found}");
    }
}

#[test]
fn a_submodule_is_searched_where_it_stands_and_is_no_change_of_the_outer_repository() {
    let inner = Place::repository();
    inner.write("lib.py", "def of_the_module():\n    return 1\n");
    inner.commit("a change");
    let place = Place::repository();
    place.write("app.py", "def outer():\n    return 1\n");
    place.commit("a change");
    let url = inner.source();
    let url = url.to_str().expect("it is text");
    place.git(&["-c", "protocol.file.allow=always", "submodule", "add", "-q", url, "vendored_module"]);
    place.indexed();
    let found = place.call("search_symbols", json!({"query": "of_the_module"}));
    assert_eq!(found["results"][0]["file"], "vendored_module/lib.py", "{found}");
    place.write("app.py", "def outer():\n    return 2\n");
    place.write("vendored_module/lib.py", "def of_the_module():\n    return 2\n");
    let answer = place.call("get_changed_symbols", json!({"until_sha": "WORKTREE", "since_sha": "HEAD"}));
    assert_eq!(ids(&answer, "modified"), ["app.py::outer#function"], "{answer}");
    assert_eq!(ids(&answer, "added"), [""; 0], "{answer}");
    // Within the submodule its own history is meant.
    let within = place.source().join("vendored_module");
    let (_, status) = json(&place, &within, &["call", "--json", "index_folder", &json!({"path": within}).to_string()]);
    assert_eq!(status["file_count"], 1, "{status}");
    let args = json!({"until_sha": "WORKTREE", "since_sha": "HEAD"}).to_string();
    let (_, answer) = json(&place, &within, &["call", "--json", "get_changed_symbols", &args]);
    assert_eq!(ids(&answer, "modified"), ["lib.py::of_the_module#function"], "{answer}");
}

#[test]
fn what_is_new_in_sources_comes_first_and_filters_narrow_it() {
    let place = Place::repository();
    place.write("docs/conf.py", "def setup():\n    return 1\n");
    place.write(
        "pkg/a.py",
        "def edited(a):\n    return a\n\n\ndef body(a):\n    return a\n\n\nclass Box:\n    size = 1\n",
    );
    place.write("tests/test_a.py", "def test_it():\n    return 1\n");
    place.commit("a change");
    place.indexed();
    place.write("docs/conf.py", "def setup():\n    return 2\n\n\ndef extra():\n    return 22\n");
    place.write("build.toml", "[tool.of_others]\nwidth = 120\n");
    place.write(
        "pkg/a.py",
        "def edited(a, b=None):\n    return a\n\n\ndef body(a):\n    return a + 1\n\n\nclass Box:\n    size = 2\n",
    );
    place.write("pkg/z.py", "def fresh():\n    return 3\n");
    place.write("tests/test_a.py", "def test_it():\n    return 2\n\n\ndef test_new():\n    return 4\n");
    place.commit("a change");
    let answer = place.call("get_changed_symbols", json!({"since_sha": "HEAD~1"}));
    assert_eq!(
        ids(&answer, "added"),
        [
            "pkg/z.py::fresh#function",
            "build.toml::tool.of_others#type",
            "docs/conf.py::extra#function",
            "tests/test_a.py::test_new#function"
        ],
        "configuration is not a source"
    );
    let modified = answer["modified"].as_array().expect("some are modified");
    let declared: Vec<&str> = modified
        .iter()
        .filter(|item| item["signature_changed"] == true)
        .filter_map(|item| item["symbol_id"].as_str())
        .collect();
    assert_eq!(declared, ["pkg/a.py::edited#function"]);
    assert!(modified.iter().all(|item| item["change_type"] == "modified"), "{answer}");
    let keys: Vec<&String> = answer.as_object().expect("an object").keys().collect();
    let place_of = |key: &str| keys.iter().position(|known| *known == key);
    assert!(place_of("added") < place_of("modified"), "{keys:?}");

    // A page holds what matters most.
    let first = place.call("get_changed_symbols", json!({"since_sha": "HEAD~1", "max_tokens": 300}));
    assert_eq!(first["added"][0]["symbol_id"], "pkg/z.py::fresh#function", "{first}");
    assert!(!first.to_string().contains("tests/"), "{first}");

    let of_kind = place.call("get_changed_symbols", json!({"since_sha": "HEAD~1", "kind": "class"}));
    assert_eq!((ids(&of_kind, "modified"), ids(&of_kind, "added").len()), (vec!["pkg/a.py::Box#class".to_owned()], 0));
    let below = place.call("get_changed_symbols", json!({"since_sha": "HEAD~1", "file_pattern": "tests/**"}));
    assert_eq!(ids(&below, "added"), ["tests/test_a.py::test_new#function"]);
    assert_eq!(ids(&below, "modified"), ["tests/test_a.py::test_it#function"]);
    let nowhere = place.call("get_changed_symbols", json!({"since_sha": "HEAD~1", "file_pattern": "nope/**"}));
    assert_eq!((ids(&nowhere, "added").len(), ids(&nowhere, "modified").len()), (0, 0));
    assert!(
        nowhere["_meta"]["hint"].as_str().is_some_and(|hint| hint.starts_with("none of the 10 symbols")),
        "{nowhere}"
    );
    let wrong = place.call("get_changed_symbols", json!({"since_sha": "HEAD~1", "kind": "thing"}));
    assert_eq!(wrong["code"], "invalid_arguments", "{wrong}");
}
