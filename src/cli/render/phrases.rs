//! Words of answers for people: headings of lists, labels of single facts, and facts in rows. A key without an entry is
//! printed with spaces for underscores.

use serde_json::{Map, Value};

use super::super::words::command_of;

/// A list: its heading at a terminal, and in a pipe, which has no headings, the word before each entry.
pub(super) struct List {
    key: &'static str,
    pub(super) heading: &'static str,
    pub(super) word: &'static str,
    /// Whether its order is meaningful. Other lists are grouped by file.
    pub(super) is_ranked: bool,
}

const fn list(key: &'static str, heading: &'static str, word: &'static str) -> List {
    List { key, heading, word, is_ranked: false }
}

const fn ranked(key: &'static str, heading: &'static str, word: &'static str) -> List {
    List { key, heading, word, is_ranked: true }
}

const LISTS: &[List] = &[
    list("definitions", "definitions", "definition"),
    list("references", "uses", "use"),
    list("callers", "callers", "caller"),
    list("called_outside_functions", "called outside of functions", "caller"),
    list("callees", "callees", "callee"),
    list("overrides", "overrides", "overrides"),
    list("confirmed", "depend on it", "depends"),
    list("potential", "may depend on it", "may depend"),
    ranked("impact_by_depth", "by distance", "distance"),
    list("class", "class", ""),
    list("ancestors", "bases", "base"),
    list("descendants", "derived", "derived"),
    list("requires", "requires", "requires"),
    list("required_by", "required by", "required by"),
    list("outside", "bases from elsewhere", "outside"),
    list("added", "added", "added"),
    list("modified", "modified", "modified"),
    list("removed", "removed", "removed"),
    list("renamed", "renamed", "renamed"),
    list("symbols", "symbols", "symbol"),
    list("changes", "touched symbols", "touched"),
    list("places", "places to edit", "edit"),
    list("doubts", "in doubt", "doubt"),
    list("changed_tests", "tests that the change touches", "test"),
    list("newly_dead", "nothing uses any more", "dead"),
    ranked("tests", "tests to run, the most direct first", "test"),
    ranked("items", "best answers", ""),
    list("imports", "imports", "import"),
    list("dependencies", "uses", "uses"),
    list("import_references", "imported at", "import"),
    list("content_references", "written at", "mention"),
    ranked("more", "there was no room for", "no room"),
    ranked("most_imported_files", "most imported files", ""),
    ranked("most_central_symbols", "most central symbols", "central"),
    ranked("entry_points", "programs start at", "entry point"),
    ranked("large_types", "largest types", ""),
    ranked("example_queries", "commands to begin with", ""),
];

/// The entry of a list under this key.
pub(super) fn named_list(key: &str) -> Option<&'static List> {
    LISTS.iter().find(|list| list.key == key)
}

/// Heading of a list.
pub(super) fn heading(key: &str) -> String {
    named_list(key).map_or_else(|| words(key), |list| list.heading.to_owned())
}

/// Labels of single facts. An empty label hides a fact that the question or the order already shows.
const LABELS: &[(&str, &str)] = &[
    ("algorithm", ""),
    ("budget_tokens", "tokens allowed"),
    ("calls_may_stay", "calls may stay as they are"),
    ("changed_files_count", "files that differ"),
    ("changed_symbols_count", ""),
    ("confirmed_count", ""),
    ("content_count", "other mentions"),
    ("count", ""),
    ("dead_count", ""),
    ("definitions_left", "more definitions, less used"),
    ("direct_dependents_count", "symbols that use it"),
    ("discovery_ms", ""),
    ("edge_count", ""),
    ("external", "from outside of the repository"),
    ("file_count", "files"),
    ("file_path", ""),
    ("files_not_judged", "files that cannot be judged"),
    ("files_removed", "files removed"),
    ("files_without_symbols", "of them without symbols"),
    ("granularity", ""),
    ("identifier", ""),
    ("import_count", "imports"),
    ("importer_count", "importers"),
    ("included_symbols", "symbols in it"),
    ("excluded_symbols", "no room for"),
    ("indexed_at", "indexed"),
    ("is_referenced", ""),
    ("folder_missing", "its folder is missing"),
    ("is_public", "other packages may use it, too"),
    ("is_sure", "nothing is in doubt"),
    ("is_used", "it is used"),
    ("is_stale", "changed since it was indexed"),
    ("iterations_to_converge", ""),
    ("kind_distribution", "kinds"),
    ("language_distribution", "languages"),
    ("left_out", "no room for"),
    ("less_sure_count", "less sure ones, not shown"),
    ("lifetime_by_tool", "tokens saved by command"),
    ("line_count", "lines"),
    ("live_root_count", "entry points that use begins at"),
    ("min_confidence", ""),
    ("node_count", ""),
    ("overall_risk_score", "risk, from 0 to 1"),
    ("path_prefix", ""),
    ("perhaps_used_count", "perhaps used, not shown"),
    ("possible", "places that may mean it, not shown"),
    ("possible_callers", "calls that may mean it, not shown"),
    ("potential_count", ""),
    ("references_left", "more uses"),
    ("repo_a", "from"),
    ("repo_b", "to"),
    ("resolved_count", "uses"),
    ("session_duration_s", ""),
    ("since_sha", "from"),
    ("skipped", "left out"),
    ("source_root", "folder"),
    ("symbol", "of"),
    ("symbol_count", "symbols"),
    ("symbol_kinds", "kinds"),
    ("tests_count", ""),
    ("symbols_removed", "symbols removed"),
    ("top_keywords", "frequent words"),
    ("total_calls", "calls"),
    ("total_cost_avoided", "cost avoided"),
    ("total_response_tokens", "tokens answered"),
    ("total_tokens_saved", "tokens saved"),
    ("unchanged_count", "unchanged"),
    ("until_sha", "to"),
    ("used_tokens", "tokens used"),
    ("worktree_counts", "with edits that are not committed"),
];

/// The label of a single fact; `None` if people do not need the fact.
pub(super) fn label(key: &str) -> Option<String> {
    match LABELS.iter().find(|(other, _)| *other == key) {
        Some((_, "")) => None,
        Some((_, label)) => Some((*label).to_owned()),
        None => Some(words(key)),
    }
}

/// Facts in rows, with `#` for the value: for one, and for other numbers. An empty text hides the fact.
const FACTS: &[(&str, &str, &str)] = &[
    ("breaks_public_api", "may break users of the package", ""),
    ("caller_count", "# caller", "# callers"),
    ("change", "#", "#"),
    ("change_type", "", ""),
    ("combined_score", "", ""),
    ("centrality_score", "", ""),
    ("complexity", "complexity #", "complexity #"),
    ("confirmed_count", "# file depends on it", "# files depend on it"),
    ("content_hash", "SHA-256 #", "SHA-256 #"),
    ("decorators", "decorated #", "decorated #"),
    ("depth", "", "# steps away"),
    ("description", "#", "#"),
    ("detail", "#", "#"),
    ("direct_dependents_count", "used by # symbol", "used by # symbols"),
    ("edit_distance", "", ""),
    ("file_count", "# file", "# files"),
    ("files", "#", "#"),
    ("fuzzy_similarity", "", ""),
    ("has_importers", "", ""),
    ("imported_by", "imported by # file", "imported by # files"),
    ("importer_count", "# importer", "# importers"),
    ("in_degree", "used by #", "used by #"),
    ("keywords", "words #", "words #"),
    ("match_type", "a similar name", ""),
    ("members", "# member", "# members"),
    ("only_members", "only in its members", ""),
    ("origin", "#", "#"),
    ("out_degree", "uses #", "uses #"),
    ("possible_count", "# possible", "# possible"),
    ("overloads", "", "# of this name"),
    ("rank", "", ""),
    ("reason", "#", "#"),
    ("reasons", "#", "#"),
    ("relatedness_score", "", ""),
    ("relevance_score", "", ""),
    ("risk_score", "risk #", "risk #"),
    ("signature_changed", "signature changed", ""),
    ("stargazers_count", "# star", "# stars"),
    ("tests", "#", "#"),
    ("tested_by", "tested by #", "tested by #"),
    ("tokens", "", ""),
    ("used_by", "used by #", "used by #"),
    ("uses", "# use", "# uses"),
    ("through", "", ""),
    ("via", "through #", "through #"),
    ("was", "was #", "was #"),
    ("way", "by way of #", "by way of #"),
    ("why", "#", "#"),
];

/// A fact of a row in words; `None` if it says nothing.
pub(super) fn fact(key: &str, value: &Value) -> Option<String> {
    if key == "confidence" {
        return sureness(value);
    }
    let text = match value {
        Value::Bool(false) | Value::Null => return None,
        Value::Bool(true) => String::new(),
        Value::Object(inner) => return counts(key, inner).or_else(|| of_object(inner)),
        Value::Number(number) if key == "score" => format!("{:.1}", number.as_f64()?),
        other => short(other)?,
    };
    let phrase = match FACTS.iter().find(|(other, ..)| *other == key) {
        Some((_, one, _)) if text == "1" || text.is_empty() || !value.is_number() => (*one).to_owned(),
        Some((.., many)) => (*many).to_owned(),
        None if text.is_empty() => words(key),
        None => format!("{} #", words(key)),
    };
    Some(phrase.replace('#', &text)).filter(|phrase| !phrase.is_empty())
}

/// The facts of an object inside a row.
fn of_object(inner: &Map<String, Value>) -> Option<String> {
    let facts: Vec<String> = inner.iter().filter_map(|(key, value)| fact(key, value)).collect();
    Some(facts.join(", ")).filter(|facts| !facts.is_empty())
}

/// The certainty of a row, if it is lower than usual.
fn sureness(value: &Value) -> Option<String> {
    match value {
        Value::Number(share) => Some(format!("{:.0} % sure", share.as_f64()? * 100.0)),
        Value::String(how) => match how.as_str() {
            "resolved" => None,
            "name" => Some("only the name is the same".to_owned()),
            "import" => Some("imports its file".to_owned()),
            "compiler" => Some("says the compiler".to_owned()),
            "external" => None,
            other => Some(other.to_owned()),
        },
        _ => None,
    }
}

/// A longer list has one line per entry.
const ONE_LINE: usize = 100;

/// A fact that fits on one line: a text, a number, or a few of them. `None` if empty.
pub(super) fn short(value: &Value) -> Option<String> {
    match value {
        Value::String(text) if text.is_empty() => None,
        Value::String(text) => Some(text.clone()),
        Value::Bool(is_so) => Some(if *is_so { "yes" } else { "no" }.to_owned()),
        Value::Number(number) => Some(number.to_string()),
        Value::Array(items) if !items.is_empty() => {
            let texts: Option<Vec<String>> =
                items.iter().map(|item| if item.is_array() { None } else { short(item) }).collect();
            texts.map(|texts| texts.join(", ")).filter(|text| text.chars().count() <= ONE_LINE)
        }
        _ => None,
    }
}

/// A map of numbers on one line.
pub(super) fn counts(key: &str, map: &Map<String, Value>) -> Option<String> {
    Some(each_count(key, map)?.join(", "))
}

/// The entries of a map of numbers, largest first: `83 python`, `20 html`. Zeros are left out.
pub(super) fn each_count(key: &str, map: &Map<String, Value>) -> Option<Vec<String>> {
    let mut counts: Vec<(&String, f64, &Value)> =
        map.iter().map(|(name, n)| Some((name, n.as_f64()?, n))).collect::<Option<_>>()?;
    counts.retain(|(_, n, _)| *n != 0.0);
    counts.sort_by(|left, right| right.1.total_cmp(&left.1).then(left.0.cmp(right.0)));
    let texts = counts.iter().map(|(name, money, n)| match key.ends_with("cost_avoided") {
        true => format!("${money:.2} {}", name.replace('_', "-")),
        false => format!("{n} {}", words(name)),
    });
    Some(texts.collect())
}

/// A key as words; a tool's name as its command.
pub(super) fn words(key: &str) -> String {
    command_of(key).map_or_else(|| key.replace('_', " "), str::to_owned)
}
