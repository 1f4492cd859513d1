//! Where use begins: symbols that somebody outside of the repository uses, or may use, without a name that is written in it.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};

use globset::GlobSet;
use rustc_hash::{FxHashMap, FxHashSet};

use super::super::rank::in_test_module;
use super::super::relations::base_text;
use super::Graph;
use crate::languages::{Conventions, Public, conventions};
use crate::model::{Detail, How, Kind, Role};
use crate::store::{FileView, Snapshot, SymbolId, SymbolView};

/// What a repository shows to the outside.
pub(super) struct Entries<'g, 'a> {
    graph: &'g Graph<'a>,
    patterns: &'g GlobSet,
    /// Folders that hold what is handed out, by the ending of what makes them so.
    packages: HashMap<&'static str, HashSet<String>>,
    /// `module.path:name` of what installers make commands of.
    scripts: HashSet<(String, String)>,
    /// Files, by number, that a package description names or that hand names on to the outside.
    faces: FxHashSet<u32>,
    /// By file: the names that it imports from outside of the repository.
    strangers: FxHashMap<u32, FxHashSet<&'a [u8]>>,
    /// By class: its bases that are not in the repository, as they are written.
    outside: FxHashMap<SymbolId, Vec<String>>,
    /// By class: whether it derives from such a one, and whether from one imported by name. Asked for each of its members.
    foreign: RefCell<FxHashMap<SymbolId, [Option<bool>; 2]>>,
}

impl<'g, 'a> Entries<'g, 'a> {
    /// Reads what the repository says of itself.
    pub fn new(graph: &'g Graph<'a>, patterns: &'g GlobSet) -> Self {
        let snapshot = graph.snapshot;
        let mut entries = Self {
            graph,
            patterns,
            packages: HashMap::new(),
            scripts: HashSet::new(),
            faces: FxHashSet::default(),
            strangers: FxHashMap::default(),
            outside: FxHashMap::default(),
            foreign: RefCell::default(),
        };
        for file in snapshot.files() {
            let (folder, name) = file.path().rsplit_once('/').unwrap_or(("", file.path()));
            match name {
                "setup.py" | "setup.cfg" | "pyproject.toml" => entries.scripts.extend(scripts(file)),
                "package.json" => {
                    let named = package_files(file, folder, snapshot, FACES);
                    entries.faces.extend(named);
                }
                _ => {}
            }
            for package in ["setup.py", "setup.cfg", "pyproject.toml", "package.json", "go.mod", "lib.rs"] {
                if name == package && is_handed_out(file, name) {
                    entries.packages.entry(package).or_default().insert(folder.to_owned());
                }
            }
        }
        entries.find_faces();
        for edge in graph.edges.all() {
            let Some(file) = snapshot.file_by_number(edge.file) else { continue };
            if edge.role() == Role::Import && edge.how() == How::Outside {
                let at = edge.at as usize;
                let name = file.content().get(at..at + edge.len()).unwrap_or_default();
                entries.strangers.entry(edge.file).or_default().insert(name);
            } else if let (Role::Base, Some(class), 0) = (edge.role(), edge.from(), graph.edges.targets(edge).len()) {
                entries.outside.entry(class).or_default().push(base_text(file.content(), edge));
            }
        }
        entries
    }

    /// Files whose public names are for others: those named so, and those that hand all of their names to such a file.
    fn find_faces(&mut self) {
        let graph = self.graph;
        let mut waiting: Vec<FileView<'a>> = Vec::new();
        for file in graph.snapshot.files().filter(|file| !file.facts().is_empty()) {
            let rules = conventions(file.language());
            let stem = file.path().rsplit('/').next().unwrap_or_default().split('.').next().unwrap_or_default();
            if self.faces.contains(&file.number()) || rules.faces.contains(&stem) {
                self.faces.insert(file.number());
                waiting.push(file);
            }
        }
        while let Some(face) = waiting.pop() {
            let wildcard = conventions(face.language()).wildcard;
            for import in graph.edges.imports(face.number()) {
                let line = line_at(face.content(), import.at);
                let Some(file) = graph.snapshot.file_by_number(import.to) else { continue };
                if memchr::memmem::find(line, wildcard.as_bytes()).is_some() && self.faces.insert(import.to) {
                    waiting.push(file);
                }
            }
        }
    }

    /// Whether a file belongs to something that is handed out to others.
    fn in_package(&self, file: FileView<'_>, rules: &Conventions) -> bool {
        let mut folder = file.path();
        while let Some((above, _)) = folder.rsplit_once('/') {
            folder = above;
            let holds = |package: &&str| self.packages.get(*package).is_some_and(|folders| folders.contains(folder));
            if rules.packages.iter().any(holds) {
                return true;
            }
        }
        rules.packages.is_empty()
            || rules.packages.iter().any(|package| self.packages.get(*package).is_some_and(|all| all.contains("")))
    }

    /// Whether a test runner, a benchmark or an example uses it, though it stands in a file that is none of theirs.
    pub fn is_test(&self, symbol: &SymbolView<'_>) -> bool {
        in_test_module(symbol)
            || symbol.decorators().iter().any(|decorator| {
                let name = decorator_name(decorator);
                matches!(name, "test" | "Test" | "bench" | "rstest" | "ParameterizedTest")
            })
    }

    /// Whether a test runner looks for a symbol of that name.
    pub fn is_run_by_tests(&self, symbol: &SymbolView<'_>) -> bool {
        let (rules, name) = (conventions(symbol.file.language()), symbol.name());
        rules.tests.iter().any(|start| name.starts_with(start)) || self.is_decorated(symbol, rules)
    }

    /// Whether somebody outside begins with this symbol.
    pub fn is_root(&self, symbol: &SymbolView<'_>) -> bool {
        let rules = conventions(symbol.file.language());
        let name = symbol.name();
        let is_top = symbol.parent().is_none() && symbol.container_span().is_empty();
        (rules.mains.contains(&&*name) && matches!(symbol.kind(), Kind::Function | Kind::Method))
            || (is_top && self.is_decorated(symbol, rules))
            || (is_top && self.is_offered(symbol, rules))
            || (is_top && self.is_script(symbol))
            || (is_top && (rules.is_implied)(&name))
            || (is_top && symbol.kind() == Kind::Class && self.is_foreign(symbol, true))
            || self.is_named(symbol)
    }

    /// Whether a pattern of the caller names it or its file.
    fn is_named(&self, symbol: &SymbolView<'_>) -> bool {
        !self.patterns.is_empty()
            && (self.patterns.is_match(symbol.file.path()) || self.patterns.is_match(symbol.qualified_name()))
    }

    /// Whether a member of a class in use is used by something that is not written down here.
    pub fn is_called_from_outside(&self, class: &SymbolView<'_>, member: &SymbolView<'_>) -> bool {
        let rules = conventions(member.file.language());
        let name = member.name();
        (rules.is_implied)(&name)
            || member.detail() == Detail::Constructor
            || self.is_decorated(member, rules)
            || (may_override(member, rules) && self.is_foreign(class, false))
            || self.is_in_foreign_block(member)
            || (self.in_package(member.file, rules) && is_public(member, rules) && is_public(class, rules))
    }

    /// Whether a decorator may hand it to somebody.
    fn is_decorated(&self, symbol: &SymbolView<'_>, rules: &Conventions) -> bool {
        symbol.decorators().iter().any(|decorator| !rules.plain_decorators.contains(&decorator_name(decorator)))
    }

    /// Whether a library offers it.
    fn is_offered(&self, symbol: &SymbolView<'_>, rules: &Conventions) -> bool {
        let is_for_others = match rules.faces {
            [] => self.in_package(symbol.file, rules),
            _ => self.faces.contains(&symbol.file.number()),
        };
        is_for_others && is_public(symbol, rules) && !(rules.is_inner)(symbol.file.path(), symbol.file.content())
    }

    /// Whether an installer makes a command of it.
    fn is_script(&self, symbol: &SymbolView<'_>) -> bool {
        if self.scripts.is_empty() {
            return false;
        }
        let path = symbol.file.path();
        let module =
            path.rsplit_once('.').map_or(path, |(stem, _)| stem).trim_end_matches("/__init__").replace('/', ".");
        let name = symbol.name();
        let mut tails = vec![module.as_str()];
        tails.extend(module.match_indices('.').map(|(dot, _)| &module[dot + 1..]));
        tails.into_iter().any(|tail| self.scripts.contains(&(tail.to_owned(), name.to_string())))
    }

    /// Whether a class derives from one that is not in the repository and may call what the class defines; with `imported`,
    /// only where that base was imported by name, as those of frameworks are.
    fn is_foreign(&self, class: &SymbolView<'_>, imported: bool) -> bool {
        let known = self.foreign.borrow().get(&class.number()).and_then(|known| known[usize::from(imported)]);
        known.unwrap_or_else(|| {
            let is_foreign = self.finds_foreign(class, imported);
            self.foreign.borrow_mut().entry(class.number()).or_default()[usize::from(imported)] = Some(is_foreign);
            is_foreign
        })
    }

    fn finds_foreign(&self, class: &SymbolView<'_>, imported: bool) -> bool {
        let graph = self.graph;
        let mut seen = HashSet::new();
        let mut waiting = vec![class.number()];
        while let Some(class) = waiting.pop().filter(|class| seen.insert(*class)) {
            let rules = graph.snapshot.symbol(class).map(|symbol| conventions(symbol.file.language()));
            for base in self.outside.get(&class).into_iter().flatten() {
                let mut parts = base.split(['.', ':']).filter(|part| !part.is_empty());
                let first = parts.next().unwrap_or_default();
                let last = parts.next_back().unwrap_or(first);
                let is_plain = rules.is_some_and(|rules| rules.plain_bases.contains(&last));
                let stranger = || {
                    self.strangers.get(&class.file).is_some_and(|names| names.contains(&first.as_bytes()))
                        // An exception is raised, not called back.
                        && !last.ends_with("Error")
                        && !last.ends_with("Exception")
                };
                if !is_plain && (!imported || stranger()) {
                    return true;
                }
            }
            waiting.extend(graph.edges.bases(class));
        }
        false
    }

    /// Whether a member stands in a block that fills in a foreign trait: `impl Display for Id`.
    fn is_in_foreign_block(&self, member: &SymbolView<'_>) -> bool {
        self.graph.filled_in(member).is_some_and(|base| self.graph.edges.targets(base).len() == 0)
    }

    /// Whether a file is started rather than imported.
    pub fn is_started(&self, file: FileView<'_>) -> bool {
        let rules = conventions(file.language());
        let content = file.content();
        self.faces.contains(&file.number())
            || self.patterns.is_match(file.path())
            || content.starts_with(b"#!")
            || memchr::memmem::find(content, b"__main__").is_some()
            || rules.packages.iter().any(|package| file.path().ends_with(package))
    }
}

/// What a definition says before its name.
fn words_before(symbol: &SymbolView<'_>) -> String {
    let source = symbol.source();
    let before = source.get(..symbol.name_span().start.saturating_sub(symbol.span().start) as usize);
    String::from_utf8_lossy(before.unwrap_or_default()).into_owned()
}

/// Whether it is a member of what says only what others define.
fn in_interface(symbol: &SymbolView<'_>) -> bool {
    symbol
        .parent()
        .is_some_and(|parent| matches!(parent.detail(), Detail::Interface | Detail::Trait | Detail::Annotation))
}

/// Whether a base that is not in the repository may call it.
fn may_override(member: &SymbolView<'_>, rules: &Conventions) -> bool {
    (rules.may_override)(&words_before(member), &member.name()) || in_interface(member)
}

/// Whether a definition is meant for others.
fn is_public(symbol: &SymbolView<'_>, rules: &Conventions) -> bool {
    let name = symbol.name();
    match rules.public {
        Public::Unless(mark) => !name.starts_with(mark),
        Public::Capital => name.starts_with(char::is_uppercase),
        Public::Word(words) => {
            // Members of what is public say so only where they are not.
            let text = words_before(symbol);
            let says = |word: &&str| text.split(|c: char| c.is_whitespace()).any(|own| own == *word);
            let script_member = words == ["export"] && symbol.parent().is_some();
            let hidden = says(&"private") || name.starts_with('#');
            words.iter().any(says) || in_interface(symbol) || (script_member && !hidden)
        }
    }
}

/// `@app.route("/")` is `route`, `#[serde(default)]` is `serde`.
fn decorator_name(decorator: &str) -> &str {
    let name = decorator.trim_start_matches(['@', '#', '!', '[', ' ']);
    let end = name.find(|c: char| !(c.is_alphanumeric() || "_.:".contains(c))).unwrap_or(name.len());
    name[..end].rsplit(['.', ':']).next().unwrap_or_default()
}

/// Whether what describes a package says that others get it.
fn is_handed_out(file: FileView<'_>, name: &str) -> bool {
    let has = |text: &str| memchr::memmem::find(file.content(), text.as_bytes()).is_some();
    match name {
        "pyproject.toml" => has("[project]") || has("[tool.poetry]"),
        "package.json" => ["\"main\"", "\"module\"", "\"exports\"", "\"bin\""].iter().any(|key| has(key)),
        _ => true,
    }
}

/// `module.path:name`, wherever a Python package's description says it.
pub fn scripts(file: FileView<'_>) -> Vec<(String, String)> {
    let text = String::from_utf8_lossy(file.content());
    let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == '.';
    let mut found = Vec::new();
    for (colon, _) in text.match_indices(':') {
        let before = &text[..colon];
        let module = &before[before.trim_end_matches(is_part).len()..];
        let after = &text[colon + 1..];
        let name = &after[..after.find(|c| !is_part(c)).unwrap_or(after.len())];
        if !module.is_empty() && !name.is_empty() {
            found.push((module.to_owned(), name.split('.').next().unwrap_or(name).to_owned()));
        }
    }
    found
}

/// What a `package.json` calls the files that others use.
const FACES: &[&str] = &["main", "module", "browser", "bin", "exports", "types", "source"];

/// The files that a `package.json` names under some keys.
pub fn package_files(file: FileView<'_>, folder: &str, snapshot: &Snapshot, keys: &[&str]) -> Vec<u32> {
    let Ok(package) = serde_json::from_slice::<serde_json::Value>(file.content()) else { return Vec::new() };
    let mut waiting: Vec<&serde_json::Value> = keys.iter().filter_map(|key| package.get(*key)).collect();
    let mut found = Vec::new();
    while let Some(value) = waiting.pop() {
        match value {
            serde_json::Value::String(path) => {
                let path = path.trim_start_matches("./");
                let path = if folder.is_empty() { path.to_owned() } else { format!("{folder}/{path}") };
                let endings = ["", ".js", ".ts", "/index.js", "/index.ts"];
                found.extend(
                    endings.iter().find_map(|ending| Some(snapshot.file(&format!("{path}{ending}"))?.number())),
                );
            }
            serde_json::Value::Array(all) => waiting.extend(all),
            serde_json::Value::Object(all) => waiting.extend(all.values()),
            _ => {}
        }
    }
    found
}

/// The line that a byte lies in.
fn line_at(content: &[u8], at: u32) -> &[u8] {
    let at = (at as usize).min(content.len());
    let start = memchr::memrchr(b'\n', &content[..at]).map_or(0, |newline| newline + 1);
    let end = memchr::memchr(b'\n', &content[at..]).map_or(content.len(), |newline| at + newline);
    &content[start..end]
}
