//! Words of a question, by which the files of a folder without an index are found.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use super::paths;
use codelode_lang::languages;

/// Arguments that hold text to look for.
const TEXTS: &[&str] = &["query", "pattern", "identifier", "identifiers", "class_name", "name"];
/// Arguments that hold a path, or an id that begins with one.
const PLACES: &[&str] = &["symbol_id", "symbol_ids", "file", "file_path", "file_paths"];
/// Tools that say what does not exist, for which an excerpt is no ground.
const OF_ALL: &[&str] = &["check_references", "get_blast_radius", "get_symbol_diff", "get_symbol_importance"];
/// Tools about files that import a file.
const OF_IMPORTS: &[&str] = &["find_importers", "get_dependency_graph"];
/// Tools whose `query` is prose, and the most bytes of it that are used: the rest of a long text adds no words that tell
/// one symbol from another.
const OF_PROSE: &[&str] = &["search_symbols", "get_ranked_context", "search_commits", "search_columns"];
const LONGEST_PROSE: usize = 64 * 1024;
/// Shorter words are in every file.
const SHORTEST: usize = 3;

/// Words that a tool is asked about, the longest first; none for a question about a whole repository.
pub fn of_question(tool: &str, args: &Map<String, Value>) -> Vec<String> {
    if OF_ALL.contains(&tool) {
        return Vec::new();
    }
    let mut words = Vec::new();
    for (key, value) in args {
        let texts = match value {
            Value::String(text) => vec![text.as_str()],
            Value::Array(all) => all.iter().filter_map(Value::as_str).collect(),
            _ => continue,
        };
        for text in texts {
            if TEXTS.contains(&key.as_str()) {
                words.extend(split(text));
            } else if PLACES.contains(&key.as_str()) {
                let (path, name) = text.split_once("::").unwrap_or((text, ""));
                words.push(path.trim_start_matches("./").to_owned());
                // The kind says nothing of the file, nor does an overload.
                words.extend(split(name.split('#').next().unwrap_or_default()));
                if OF_IMPORTS.contains(&tool) {
                    words.extend(imported_as(path));
                }
            }
        }
    }
    words.sort_by(|one, other| other.len().cmp(&one.len()).then_with(|| one.cmp(other)));
    words.dedup();
    words
}

/// Shortens a question in prose, as a pasted log, to its beginning; returns a hint if it does.
pub fn shortened(tool: &str, args: &mut Map<String, Value>) -> Option<String> {
    let Some(Value::String(query)) = args.get_mut("query").filter(|_| OF_PROSE.contains(&tool)) else { return None };
    if query.len() <= LONGEST_PROSE {
        return None;
    }
    let hint = format!("`query` has {} bytes; the first {LONGEST_PROSE} are used", query.len());
    query.truncate(query.floor_char_boundary(LONGEST_PROSE));
    Some(hint)
}

/// Makes paths absolute that lead out of the caller's folder, and returns all absolute ones.
pub fn absolute(args: &mut Map<String, Value>, here: Option<&Path>) -> Vec<PathBuf> {
    let mut all = Vec::new();
    paths::each(args, |text| {
        let (path, name) = text.split_at(text.find("::").unwrap_or(text.len()));
        let bare = path.trim_start_matches("./");
        if let Some(here) = here.filter(|_| bare == ".." || bare.starts_with("../")) {
            *text = format!("{}{name}", paths::normalized(&here.join(path)).display());
        }
        let path = paths::without_line(text.split("::").next().unwrap_or_default());
        all.extend(Some(PathBuf::from(path)).filter(|path| path.is_absolute()));
    });
    all
}

/// Ways in which other files write the path of a file that they import.
fn imported_as(path: &str) -> Vec<String> {
    let mut parts: Vec<&str> = path.split('/').collect();
    let name = parts.pop().unwrap_or_default();
    let stem = name.split('.').next().unwrap_or_default();
    if !languages::stands_for_folder(stem) {
        parts.push(stem);
    }
    let Some((last, above)) = parts.split_last() else { return Vec::new() };
    let whole = above.last().into_iter().flat_map(|above| [".", "/", "::"].map(|mark| format!("{above}{mark}{last}")));
    whole.chain([(*last).to_owned()]).filter(|word| word.len() >= SHORTEST).collect()
}

/// Words of a text.
fn split(text: &str) -> impl Iterator<Item = String> {
    let words = text.split(|letter: char| !letter.is_alphanumeric() && letter != '_');
    words.filter(|word| word.len() >= SHORTEST).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    #[test]
    fn a_long_question_is_cut_between_letters() {
        let mut args = json!({"query": "é".repeat(40_000) + "e"}).as_object().expect("an object").clone();
        let hint = super::shortened("search_symbols", &mut args).expect("it is cut");
        assert_eq!(hint, "`query` has 80001 bytes; the first 65536 are used");
        assert_eq!(args["query"].as_str().map(str::len), Some(65_536));
        assert_eq!(super::shortened("search_symbols", &mut args), None);
    }

    #[test]
    fn words_are_those_of_texts_and_the_names_and_paths_of_ids() {
        let check = |tool: &str, args: serde_json::Value, expected: &[&str]| {
            let args = args.as_object().expect("arguments are an object");
            assert_eq!(super::of_question(tool, args), expected, "{args:?}");
        };
        check("search_symbols", json!({"query": "load an order", "kind": "class"}), &["order", "load"]);
        check("find_references", json!({"identifiers": ["add_all", "of"]}), &["add_all"]);
        let id = json!({"symbol_id": "db/query.py::QuerySet.filter#method~1"});
        check("get_symbol_source", id, &["db/query.py", "QuerySet", "filter"]);
        let importers = ["shop/order.py", "shop::order", "shop.order", "shop/order", "order"];
        check("find_importers", json!({"file_path": "shop/order.py"}), &importers);
        check("find_importers", json!({"file_path": "mod.rs"}), &["mod.rs"]);
        check("get_file_tree", json!({"path_prefix": "src"}), &[]);
        check("check_references", json!({"identifier": "gone"}), &[]);
    }
}
