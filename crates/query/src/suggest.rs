//! Starting points in an unknown repository.

use std::collections::{HashMap, HashSet};

use super::graph::{is_of_tests, package_files, scripts};
use codelode_base::model::{Detail, Kind};
use codelode_lang::languages::{ManifestPart, packages};
use codelode_store::{FileView, Snapshot, SymbolView, word_parts};

/// Starting points.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Suggestions {
    /// The most frequent words in names, by the number of files with them, tests left out.
    pub keywords: Vec<String>,
    /// Ids of entry points, or paths of files that a package runs.
    pub entry_points: Vec<String>,
    /// The largest types: id and number of members.
    pub large_types: Vec<(String, u64)>,
}

/// Parts of names that are too common to be keywords.
const COMMON: &[&str] = &[
    "get",
    "set",
    "is",
    "to",
    "new",
    "of",
    "from",
    "with",
    "for",
    "the",
    "on",
    "in",
    "by",
    "has",
    "do",
    "as",
    "and",
    "init",
    "test",
    "self",
    "impl",
    "type",
    "name",
    "value",
    "key",
    "id",
    "str",
    "string",
    "int",
    "data",
    "default",
    "add",
    "object",
    "make",
    "not",
    "or",
    "at",
    "all",
    "no",
    "into",
    "constructor",
    "create",
    "update",
    "fmt",
    "main",
    "func",
    "function",
    "class",
    "method",
    "exports",
    "module",
    "len",
    "next",
];

/// The most suggestions of each kind.
const MOST: usize = 10;

/// Finds starting points.
pub fn suggestions(snapshot: &Snapshot) -> Suggestions {
    let mut words: HashMap<String, u32> = HashMap::new();
    let mut found = Suggestions::default();
    let mut members: Vec<(u64, SymbolView<'_>)> = Vec::new();
    let mut mains = Vec::new();
    let tells = |file: &FileView<'_>| {
        file.symbol_count() > 0 && !file.is_test() && !file.is_generated() && !file.spec().is_document
    };
    for file in snapshot.files().filter(tells) {
        // A list of a thousand constants has a single subject, so each file counts a word once.
        let mut own: HashSet<String> = HashSet::new();
        for symbol in file.symbols().filter(|symbol| !is_of_tests(symbol)) {
            let name = symbol.name();
            // Names reserved by the language say nothing about the subject.
            if symbol.kind() != Kind::Constant && !name.starts_with("__") {
                own.extend(word_parts(&name).into_iter().filter(|word| word.len() > 2).map(str::to_lowercase));
            }
            if starts_a_program(&symbol, &name) {
                mains.push(symbol.id());
            }
            let holds_more = matches!(symbol.kind(), Kind::Class | Kind::Type)
                && !matches!(symbol.detail(), Detail::Module | Detail::Namespace);
            if holds_more && symbol.end_line() > symbol.line() + 20 {
                members.push((u64::from(symbol.end_line() - symbol.line()), symbol));
            }
        }
        own.into_iter().for_each(|word| *words.entry(word).or_default() += 1);
    }
    found.entry_points = commands(snapshot);
    mains.retain(|id| !found.entry_points.contains(id));
    found.entry_points.extend(mains);
    found.entry_points.truncate(MOST);
    let mut words: Vec<(String, u32)> =
        words.into_iter().filter(|(word, _)| !COMMON.contains(&word.as_str())).collect();
    words.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    found.keywords = words.into_iter().take(2 * MOST).map(|(word, _)| word).collect();
    // Equally large types keep the order of their files.
    members.sort_by_key(|(lines, _)| std::cmp::Reverse(*lines));
    found.large_types = members
        .into_iter()
        .take(MOST)
        .map(|(_, symbol)| (symbol.id(), symbol.children().count() as u64))
        .filter(|(_, members)| *members > 0)
        .collect();
    found
}

/// The commands that packages install: functions in Python's `scripts`, files in JavaScript's `bin`.
fn commands(snapshot: &Snapshot) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut add = |command: String| {
        if !found.contains(&command) {
            found.push(command);
        }
    };
    let packages = packages();
    for file in snapshot.files().filter(|file| !file.is_test()) {
        let (folder, name) = file.path().rsplit_once('/').unwrap_or(("", file.path()));
        match packages.iter().find(|package| package.file == name).map(|package| package.names) {
            Some(ManifestPart::Functions { endings }) => {
                let mut named = scripts(file);
                named.sort();
                let function = |(module, name): &(String, String)| function(snapshot, folder, module, name, endings);
                named.iter().filter_map(function).for_each(|symbol| add(symbol.id()));
            }
            Some(ManifestPart::Files { programs, endings, .. }) => {
                let files = package_files(file, folder, snapshot, programs, endings).into_iter();
                let files = files.filter_map(|file| snapshot.file_by_number(file)).filter(|file| !file.is_test());
                files.for_each(|file| add(file.path().to_owned()));
            }
            Some(ManifestPart::Nothing) | None => {}
        }
    }
    found
}

/// The function that `module.path:name` means, relative to a package's folder.
fn function<'a>(
    snapshot: &'a Snapshot,
    folder: &str,
    module: &str,
    name: &str,
    endings: &[&str],
) -> Option<SymbolView<'a>> {
    let path = module.replace('.', "/");
    let before = if folder.is_empty() { String::new() } else { format!("{folder}/") };
    let (before, path) = (&before, &path);
    let places = ["", "src/"]
        .into_iter()
        .flat_map(|source| endings.iter().map(move |ending| format!("{before}{source}{path}{ending}")));
    let files: Vec<FileView<'a>> = places.filter_map(|place| snapshot.file(&place)).collect();
    files.iter().flat_map(FileView::symbols).find(|symbol| symbol.parent().is_none() && symbol.name() == name)
}

/// Whether a symbol is an entry point, by the conventions of its language.
fn starts_a_program(symbol: &SymbolView<'_>, name: &str) -> bool {
    symbol.file.conventions().starts.contains(&(symbol.kind(), name))
}
