//! Entry points: symbols that are used, or may be used, from outside the repository without their name in its code.

use std::cell::{OnceCell, RefCell};
use std::collections::{HashMap, HashSet};

use globset::{Glob, GlobSet, GlobSetBuilder};
use rustc_hash::{FxHashMap, FxHashSet};

use super::Graph;
use super::published::{bundled_files, open_folders, package_files};
use super::visible::{
    Exports, exported, given_to, in_interface, is_from_elsewhere, is_part, is_type, is_within, looks_up, words_before,
};
use crate::languages::{Conventions, Framework, ManifestPart, OfferedMethod, Package, Public, packages};
use crate::model::{Detail, How, Kind, Role};
use crate::query::graph::relations::base_text;
use crate::query::symbols::rank::in_test_module;
use crate::store::{FileView, SymbolId, SymbolView};

/// Number of ancestors that are looked at for a class. With more, one is taken to be external: that excuses its members.
const MOST_ANCESTORS: usize = 100;

/// The parts of a repository that are visible from outside.
pub(super) struct Entries<'g, 'a> {
    graph: &'g Graph<'a>,
    patterns: &'g GlobSet,
    /// Folders of published packages, by the name of the description file.
    packages: HashMap<&'static str, HashSet<String>>,
    /// `module.path:name` of functions that installers turn into commands.
    scripts: HashSet<(String, String)>,
    /// Files, by number, that a package description names or that re-export names to the outside.
    faces: FxHashSet<u32>,
    /// Classes, and the files of classes, that a package hands out: those of its faces, and what these import.
    handed_out: (FxHashSet<SymbolId>, FxHashSet<u32>),
    /// By file: the frameworks that use symbols of it.
    frameworks: FxHashMap<u32, Vec<&'static Framework>>,
    /// By file: the names that it imports from outside the repository.
    strangers: FxHashMap<u32, FxHashSet<&'a [u8]>>,
    /// By class: its bases outside the repository, as written.
    outside: FxHashMap<SymbolId, Vec<String>>,
    /// By class: whether it has a base outside the repository, and whether by an imported name. Cached, because every
    /// member asks.
    foreign: RefCell<FxHashMap<SymbolId, [Option<bool>; 2]>>,
    /// Whether a class looks up members by a name in a variable.
    looking: RefCell<FxHashMap<SymbolId, bool>>,
    exports: Exports<'a>,
    /// Paths below which every file may be imported by name.
    open: Vec<String>,
    /// Bases of public classes, looked for when the first one is asked for.
    under_public: OnceCell<FxHashSet<SymbolId>>,
    /// Paths, without extension, of modules that are compiled for tests only.
    test_modules: Vec<String>,
    /// By name: the texts of package manifests.
    manifests: HashMap<&'static str, Vec<&'a [u8]>>,
}

impl<'g, 'a> Entries<'g, 'a> {
    /// Reads the package descriptions and imports of a repository.
    pub fn new(graph: &'g Graph<'a>, patterns: &'g GlobSet) -> Self {
        let snapshot = graph.snapshot;
        let mut entries = Self {
            graph,
            patterns,
            packages: HashMap::new(),
            scripts: HashSet::new(),
            faces: FxHashSet::default(),
            handed_out: Default::default(),
            frameworks: FxHashMap::default(),
            strangers: FxHashMap::default(),
            outside: FxHashMap::default(),
            foreign: RefCell::default(),
            looking: RefCell::default(),
            exports: Exports::default(),
            open: Vec::new(),
            under_public: OnceCell::new(),
            test_modules: graph.symbols.iter().filter_map(test_module).collect(),
            manifests: HashMap::new(),
        };
        let packages = packages();
        for file in snapshot.files() {
            let (folder, name) = file.path().rsplit_once('/').unwrap_or(("", file.path()));
            if file.conventions().bundlers.iter().any(|start| name.starts_with(start)) {
                let endings = file.conventions().packages.iter().find_map(|package| match package.names {
                    ManifestPart::Files { endings, .. } => Some(endings),
                    _ => None,
                });
                entries.faces.extend(bundled_files(file, folder, snapshot, endings.unwrap_or_default()));
            }
            let Some(package) = packages.iter().find(|package| package.file == name) else { continue };
            entries.manifests.entry(package.file).or_default().push(file.content());
            match package.names {
                ManifestPart::Nothing => {}
                ManifestPart::Functions { .. } => entries.scripts.extend(scripts(file)),
                ManifestPart::Files { faces, endings, .. } => {
                    entries.faces.extend(package_files(file, folder, snapshot, faces, endings));
                    entries.open.extend(open_folders(file, folder, graph.snapshot));
                }
            }
            if is_published(file, package) {
                entries.packages.entry(package.file).or_default().insert(folder.to_owned());
            }
        }
        entries.find_faces();
        entries.find_frameworks();
        snapshot.files().for_each(|file| entries.find_outside(file));
        entries
    }

    /// Finds the names and bases that a file has from outside the repository.
    fn find_outside(&mut self, file: FileView<'a>) {
        let graph = self.graph;
        for edge in graph.edges.in_file(file.number()) {
            if edge.role() == Role::Import && edge.how() == How::Outside {
                let at = edge.at as usize;
                let name = file.content().get(at..at + edge.len()).unwrap_or_default();
                self.strangers.entry(edge.file).or_default().insert(name);
            } else if let (Role::Base, Some(class)) = (edge.role(), edge.from())
                // A base that is a variable may be anything, an external class too.
                && graph.edges.targets(edge).filter_map(|target| graph.node(target)).all(|target| graph.is_value(target))
            {
                self.outside.entry(class).or_default().push(base_text(file.content(), edge));
            }
        }
    }

    /// Finds files whose public names are meant for others: by their own name, or because such a file re-exports all
    /// their names.
    fn find_faces(&mut self) {
        let graph = self.graph;
        let mut waiting: Vec<FileView<'a>> = Vec::new();
        for file in graph.snapshot.files().filter(|file| !file.facts().is_empty()) {
            let rules = file.conventions();
            let stem = file.path().rsplit('/').next().unwrap_or_default().split('.').next().unwrap_or_default();
            if self.faces.contains(&file.number())
                || rules.faces.contains(&stem)
                || rules.facades && !file.exercises() && file.symbols().all(|symbol| symbol.kind() == Kind::Constant)
            {
                self.faces.insert(file.number());
                waiting.push(file);
            }
            // `window.Shop = Shop`, where `Shop` is all of a file: scripts of others find it there.
            for import in graph.edges.imports(file.number()).iter().filter(|_| !rules.globals.is_empty()) {
                let name = namespace(line_at(file.content(), import.at));
                let gives = |global: &&str| given_to(file.content(), global).any(|value| Some(value) == name);
                let given = name.filter(|_| rules.globals.iter().any(gives));
                let shown = given.and_then(|_| graph.snapshot.file_by_number(import.to));
                waiting.extend(shown.filter(|shown| self.faces.insert(shown.number())));
            }
        }
        while let Some(face) = waiting.pop() {
            let wildcards = face.conventions().wildcards;
            for import in graph.edges.imports(face.number()) {
                let Some(file) = graph.snapshot.file_by_number(import.to) else { continue };
                let gives = |line: &[u8]| {
                    wildcards.iter().any(|words| memchr::memmem::find(line, words.as_bytes()).is_some())
                        || namespace(line).is_some_and(|name| exported(face.content()).contains(name))
                };
                let hands_on = lines_that_import(face.content(), import.at).any(gives);
                if hands_on && self.faces.insert(import.to) {
                    waiting.push(file);
                }
            }
        }
        let (classes, files) = &mut self.handed_out;
        for face in &self.faces {
            files.insert(*face);
            files.extend(graph.edges.imports(*face).iter().map(|import| import.to));
            let named = graph.edges.in_file(*face).iter().flat_map(|edge| graph.edges.targets(edge));
            classes.extend(named);
        }
        // Members of a base are members of what is derived from it.
        let mut waiting: Vec<SymbolId> = classes.iter().copied().collect();
        for class in graph.symbols.iter().filter(|symbol| is_type(symbol) && files.contains(&symbol.file.number())) {
            waiting.push(class.number());
        }
        while let Some(class) = waiting.pop() {
            waiting.extend(graph.edges.bases(class).filter(|base| classes.insert(*base)));
        }
    }

    /// Whether others get a class by the files that its package names. Packages that name none offer every file.
    fn is_handed_out(&self, class: &SymbolView<'_>, rules: &Conventions) -> bool {
        let names_files = rules.packages.iter().any(|package| matches!(package.names, ManifestPart::Files { .. }));
        let (classes, files) = &self.handed_out;
        !names_files || classes.contains(&class.number()) || files.contains(&class.file.number())
    }

    /// Finds files that a framework or a tool loads by itself.
    fn find_frameworks(&mut self) {
        let graph = self.graph;
        let mut matchers: HashMap<&str, Vec<(GlobSet, &'static Framework)>> = HashMap::new();
        for file in graph.snapshot.files().filter(|file| !file.facts().is_empty()) {
            let language = file.language();
            let of_language = matchers.entry(language).or_insert_with(|| {
                file.conventions().frameworks.iter().map(|framework| (globs(framework.files), framework)).collect()
            });
            let own: Vec<_> =
                of_language.iter().filter(|(files, _)| files.is_match(file.path())).map(|(_, one)| *one).collect();
            if !own.is_empty() {
                self.frameworks.insert(file.number(), own);
            }
        }
    }

    /// Whether a file belongs to a published package.
    fn in_package(&self, file: FileView<'_>, rules: &Conventions) -> bool {
        let mut folder = file.path();
        while let Some((above, _)) = folder.rsplit_once('/') {
            folder = above;
            let holds = |package: &Package| self.packages.get(package.file).is_some_and(|all| all.contains(folder));
            if rules.packages.iter().any(holds) {
                return true;
            }
        }
        rules.packages.is_empty()
            || rules.packages.iter().any(|package| self.packages.get(package.file).is_some_and(|all| all.contains("")))
    }

    /// Whether a test runner, a benchmark or an example uses it, though its file is none of theirs.
    pub fn is_test(&self, symbol: &SymbolView<'_>) -> bool {
        let mut around = Some(*symbol);
        while let Some(own) = around {
            if is_marked_as_test(&own) || is_in_marked_block(&own) {
                return true;
            }
            around = own.parent();
        }
        in_test_module(symbol) || self.test_modules.iter().any(|module| is_of_module(symbol.file.path(), module))
    }

    /// Whether a library may call a method through an interface that its class does not name.
    pub fn may_be_asked_for(&self, member: &SymbolView<'_>) -> bool {
        let rules = member.file.conventions();
        let manifests = || rules.packages.iter().filter_map(|package| self.manifests.get(package.file)).flatten();
        let (name, manifests) = (member.name(), manifests().copied().collect::<Vec<&[u8]>>());
        member.kind() == Kind::Method
            && (rules.asked_for)(&OfferedMethod { name: &name, content: member.file.content(), manifests: &manifests })
    }

    /// Whether a test runner runs symbols of that name.
    pub fn is_run_by_tests(&self, symbol: &SymbolView<'_>) -> bool {
        let (rules, name) = (symbol.file.conventions(), symbol.name());
        rules.tests.iter().any(|start| name.starts_with(start)) || self.is_decorated(symbol, rules)
    }

    /// Whether this symbol is an entry point from outside.
    pub fn is_root(&self, symbol: &SymbolView<'a>) -> bool {
        self.is_run(symbol) || is_top(symbol) && self.is_offered(symbol, symbol.file.conventions())
    }

    /// Whether something that does not write its name runs it: a runner, an installer, a framework, the language.
    pub fn is_run(&self, symbol: &SymbolView<'a>) -> bool {
        let rules = symbol.file.conventions();
        let name = symbol.name();
        let is_top = is_top(symbol);
        (rules.mains.contains(&&*name) && matches!(symbol.kind(), Kind::Function | Kind::Method))
            || (is_top && self.is_decorated(symbol, rules))
            || (is_top && self.is_script(symbol))
            || (is_top && (rules.is_implied)(&name))
            || (is_top && self.is_of_framework(symbol, rules))
            || is_directed(symbol, rules)
            || is_within(symbol, rules.open_blocks)
            || (is_top && symbol.kind() == Kind::Class && self.is_foreign(symbol, true))
            || self.is_named(symbol)
    }

    /// Whether a pattern of the caller matches it or its file.
    fn is_named(&self, symbol: &SymbolView<'_>) -> bool {
        if self.patterns.is_empty() {
            return false;
        }
        // `path::Class.method#method`, with its kind or without.
        let id = symbol.id();
        let without_kind = id.rsplit_once('#').map_or(id.as_str(), |(name, _)| name);
        let names = [symbol.file.path(), &symbol.qualified_name(), without_kind, &id];
        names.into_iter().any(|name| self.patterns.is_match(name))
    }

    /// Whether a member of a used class may be called from outside the repository.
    pub fn is_called_from_outside(&self, class: &SymbolView<'a>, member: &SymbolView<'a>) -> bool {
        let rules = member.file.conventions();
        let name = member.name();
        (rules.is_implied)(&name)
            || member.detail() == Detail::Constructor
            || self.is_decorated(member, rules)
            || (may_override(member, rules) && self.is_decorated(class, rules))
            || (may_override(member, rules) && self.is_foreign(class, false))
            // From inside, members that are said to be private are found, too.
            || (member.kind() == Kind::Method && !name.starts_with('#') && self.looks_up_own(class, rules))
            || self.is_in_foreign_block(member)
            || self.is_in_registered_block(member, rules)
            || is_mark(member)
            || (self.is_handed_out(class, rules) && self.is_for_others(member, Some(class)))
    }

    /// Whether a class itself looks up members by a name in a variable.
    fn looks_up_own(&self, class: &SymbolView<'a>, rules: &Conventions) -> bool {
        if rules.lookups.is_empty() {
            return false;
        }
        *self.looking.borrow_mut().entry(class.number()).or_insert_with(|| looks_up(class, rules.lookups))
    }

    /// Whether other packages may use a symbol, or a member of a class.
    pub fn is_for_others(&self, symbol: &SymbolView<'a>, class: Option<&SymbolView<'a>>) -> bool {
        let rules = symbol.file.conventions();
        let is_public = |symbol: &SymbolView<'a>| self.exports.is_public(symbol, rules);
        match class {
            Some(class) => {
                self.in_package(symbol.file, rules)
                    && is_public(symbol)
                    && (is_public(class) || self.has_public_derived(class))
            }
            None => is_top(symbol) && self.is_offered(symbol, rules),
        }
    }

    /// Whether a class is the base of a public one, by which others get its public members: `class Base` in Java.
    fn has_public_derived(&self, class: &SymbolView<'a>) -> bool {
        let is_meant = |rules: &Conventions| matches!(rules.public, Public::Word(words) if !words.contains(&"pub"));
        if !is_meant(class.file.conventions()) {
            return false;
        }
        let found = self.under_public.get_or_init(|| {
            let graph = self.graph;
            let classes = graph.symbols.iter().filter(|symbol| is_type(symbol) && is_meant(symbol.file.conventions()));
            let mut waiting: Vec<SymbolId> =
                classes.filter(|class| self.is_public(class)).map(|class| class.number()).collect();
            let mut found = FxHashSet::default();
            while let Some(class) = waiting.pop() {
                waiting.extend(graph.edges.bases(class).filter(|base| found.insert(*base)));
            }
            found
        });
        found.contains(&class.number())
    }

    /// Whether its language lets other files or packages use it.
    pub fn is_public(&self, symbol: &SymbolView<'a>) -> bool {
        self.exports.is_public(symbol, symbol.file.conventions())
    }

    /// Whether a decorator may register it.
    pub fn is_decorated(&self, symbol: &SymbolView<'_>, rules: &Conventions) -> bool {
        symbol.decorators().iter().any(|decorator| !rules.plain_decorators.contains(&decorator_name(decorator)))
    }

    /// Whether a framework uses it by its name and its file.
    fn is_of_framework(&self, symbol: &SymbolView<'a>, rules: &Conventions) -> bool {
        let own = self.frameworks.get(&symbol.file.number());
        let (name, is_public) = (symbol.name(), self.exports.is_public(symbol, rules));
        own.is_some_and(|own| own.iter().any(|framework| framework.uses(&name, is_public)))
    }

    /// Whether it is usable through its file, though no public file exports it.
    pub fn is_public_in_package(&self, symbol: &SymbolView<'a>) -> bool {
        let rules = symbol.file.conventions();
        let is_hidden = || match rules.public {
            Public::Unless(mark) => {
                symbol.file.path().split('/').any(|part| part.starts_with(mark) && !part.starts_with("__"))
            }
            _ => false,
        };
        let class = symbol.parent().filter(|parent| is_type(parent) && symbol.kind() == Kind::Method);
        let is_open = (is_top(symbol) || class.is_some_and(|class| self.exports.is_public(&class, rules)))
            && !rules.faces.is_empty()
            && self.exports.is_public(symbol, rules);
        is_open && self.in_package(symbol.file, rules) && !is_hidden()
    }

    /// Whether others can import its file by its own path, since its package lets them: `"exports": {"./*": "./dist/*.js"}`.
    pub fn is_open(&self, symbol: &SymbolView<'a>) -> bool {
        let (rules, path) = (symbol.file.conventions(), symbol.file.path());
        matches!(rules.public, Public::Exported(_))
            && self.open.iter().any(|start| path.starts_with(&**start))
            && is_top(symbol)
            && self.exports.is_public(symbol, rules)
    }

    /// Whether a file belongs to a package that others can install, so that a mark on a name hides little.
    pub fn is_installed(&self, file: FileView<'_>) -> bool {
        let rules = file.conventions();
        !rules.packages.is_empty() && self.in_package(file, rules)
    }

    /// Whether the language lets those who install its package use it, but for a mark on its name: `_open`. Two marks in a
    /// class change its name, and what is inside of a function is its own.
    pub fn is_marked(&self, symbol: &SymbolView<'_>) -> bool {
        let Public::Unless(mark) = symbol.file.conventions().public else { return false };
        let name = symbol.name();
        let is_mangled =
            symbol.kind() == Kind::Method && name.strip_prefix(mark).is_some_and(|rest| rest.starts_with(mark));
        let is_inside = || symbol.parent().is_some_and(|own| matches!(own.kind(), Kind::Function | Kind::Method));
        !is_mangled && !is_inside() && self.is_installed(symbol.file)
    }

    /// Whether a library exports it.
    fn is_offered(&self, symbol: &SymbolView<'a>, rules: &Conventions) -> bool {
        let is_for_others = match rules.faces {
            [] => self.in_package(symbol.file, rules),
            _ => self.faces.contains(&symbol.file.number()),
        };
        is_for_others
            && self.exports.is_public(symbol, rules)
            && !(rules.is_inner)(symbol.file.path(), symbol.file.content())
    }

    /// Whether an installer makes a command of it.
    fn is_script(&self, symbol: &SymbolView<'_>) -> bool {
        if self.scripts.is_empty() {
            return false;
        }
        let module = module_path(symbol.file);
        let name = symbol.name();
        let mut tails = vec![module.as_str()];
        tails.extend(module.match_indices('.').map(|(dot, _)| &module[dot + 1..]));
        tails.into_iter().any(|tail| self.scripts.contains(&(tail.to_owned(), name.to_string())))
    }

    /// Whether a class has a base outside the repository, which may call the class's methods, or looks them up by name;
    /// with `imported`, only if that base was imported by name, as those of frameworks are.
    pub fn is_foreign(&self, class: &SymbolView<'_>, imported: bool) -> bool {
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
            if seen.len() > MOST_ANCESTORS {
                return true;
            }
            let outside = self.outside.get(&class);
            let symbol = graph.snapshot.symbol(class);
            let rules = symbol.map(|symbol| symbol.file.conventions());
            let is_reached = |(class, rules): (SymbolView<'a>, &Conventions)| {
                looks_up(&class, rules.lookups) || self.exports.is_given(&class, rules.globals)
            };
            if !imported && symbol.zip(rules).is_some_and(is_reached) {
                return true;
            }
            for base in outside.into_iter().flatten() {
                let mut parts = base.split(['.', ':']).filter(|part| !part.is_empty());
                let first = parts.next().unwrap_or_default();
                let last = parts.next_back().unwrap_or(first);
                let is_plain = rules.is_some_and(|rules| {
                    rules.plain_bases.contains(&last)
                        && (rules.plain_homes.is_empty() || !imports_elsewhere(graph, class, base, rules))
                });
                let stranger = || {
                    self.strangers.get(&class.file).is_some_and(|names| names.contains(&first.as_bytes()))
                        // Exceptions are raised, and their methods not called back.
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

    /// Whether a member is in a block that implements an external trait: `impl Display for Id`.
    fn is_in_foreign_block(&self, member: &SymbolView<'_>) -> bool {
        self.graph.filled_in(member).is_some_and(|base| self.graph.edges.targets(base).len() == 0)
    }

    /// Whether an attribute of its type's block may register it: `#[pymethods] impl Shop { … }`. Of a block for a trait,
    /// it makes no method known that the trait does not.
    fn is_in_registered_block(&self, member: &SymbolView<'_>, rules: &Conventions) -> bool {
        let registers = |text: &[u8]| {
            let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b':');
            let path = &text[..text.iter().position(|byte| !is_part(byte)).unwrap_or(text.len())];
            let name = path.rsplit(|byte| *byte == b':').next().unwrap_or(path);
            !rules.plain_decorators.iter().any(|plain| plain.as_bytes() == name)
        };
        block_attributes(member).any(registers) && self.graph.filled_in(member).is_none()
    }

    /// Whether a file is an entry of its package, or others get its names through one.
    pub fn is_face(&self, file: FileView<'_>) -> bool {
        let rules = file.conventions();
        self.faces.contains(&file.number()) || rules.packages.iter().any(|package| file.path().ends_with(package.file))
    }

    /// Whether a file is started rather than imported.
    pub fn is_started(&self, file: FileView<'_>) -> bool {
        let rules = file.conventions();
        let content = file.content();
        self.faces.contains(&file.number())
            || self.patterns.is_match(file.path())
            || names_interpreter(content)
            || rules.started.is_some_and(|text| memchr::memmem::find(content, text.as_bytes()).is_some())
            || rules.packages.iter().any(|package| file.path().ends_with(package.file))
    }
}

/// Whether a text is a script, which names its interpreter. In Rust, `#![…]` is an attribute.
pub(super) fn names_interpreter(text: &[u8]) -> bool {
    text.strip_prefix(b"#!").is_some_and(|rest| !rest.starts_with(b"["))
}

/// Whether a symbol is inside of no other.
fn is_top(symbol: &SymbolView<'_>) -> bool {
    symbol.parent().is_none() && symbol.container_span().is_empty()
}

/// Whether a definition is marked as part of the tests.
fn is_marked_as_test(symbol: &SymbolView<'_>) -> bool {
    let marks = symbol.file.conventions().test_decorators;
    let is_test = |decorator: &String| {
        marks.contains(&decorator_name(decorator))
            || marks.iter().any(|mark| mark.ends_with(')') && decorator.contains(mark))
    };
    !marks.is_empty() && symbol.decorators().iter().any(is_test)
}

/// Whether the block of its type is marked as part of the tests: `#[cfg(test)] impl Shop { … }`.
fn is_in_marked_block(symbol: &SymbolView<'_>) -> bool {
    let marks = symbol.file.conventions().test_decorators;
    marks.iter().any(|mark| mark.ends_with(')'))
        && block_attributes(symbol).any(|text| marks.iter().any(|mark| text.starts_with(mark.as_bytes())))
}

/// The text of each attribute above the block of a member's type, from its name on: `pymethods] impl Shop { … }`.
fn block_attributes<'a>(symbol: &SymbolView<'a>) -> impl Iterator<Item = &'a [u8]> + use<'a> {
    let start = Some(symbol.container_span()).filter(|container| !container.is_empty()).map(|it| it.start as usize);
    let before = start.and_then(|start| symbol.file.content().get(..start)).unwrap_or_default();
    let lines = before.rsplit(|byte| *byte == b'\n').skip(1).map(<[u8]>::trim_ascii_start);
    let attributes = lines.take_while(|line| line.starts_with(b"#[") || line.starts_with(b"//"));
    attributes.filter_map(|line| line.strip_prefix(b"#["))
}

/// The path, without extension, of a module in a file of its own that is marked as part of the tests.
fn test_module(symbol: &SymbolView<'_>) -> Option<String> {
    if symbol.detail() != Detail::Module || symbol.has_body() || !is_marked_as_test(symbol) {
        return None;
    }
    let folder = folder_of_modules(symbol.file.path());
    Some([folder, &symbol.name()].iter().filter(|part| !part.is_empty()).copied().collect::<Vec<_>>().join("/"))
}

/// The folder of the modules that a file declares: beside it, or one of its own name.
pub(super) fn folder_of_modules(path: &str) -> &str {
    let stem = path.rsplit_once('.').map_or(path, |(stem, _)| stem);
    let (folder, own) = stem.rsplit_once('/').unwrap_or(("", stem));
    if matches!(own, "lib" | "main" | "mod") { folder } else { stem }
}

/// Whether a file belongs to a module with this path.
fn is_of_module(path: &str, module: &str) -> bool {
    path.strip_prefix(module).is_some_and(|rest| rest.starts_with(['.', '/']))
}

/// Whether a class's file imports a base from a module that is not one of the plain ones.
fn imports_elsewhere(graph: &Graph<'_>, class: SymbolId, base: &str, rules: &Conventions) -> bool {
    let file = graph.snapshot.file_by_number(class.file);
    file.is_some_and(|file| is_from_elsewhere(file.content(), base, rules.plain_homes))
}

/// Whether a comment right above exports it to another program: `//export name`.
fn is_directed(symbol: &SymbolView<'_>, rules: &Conventions) -> bool {
    if rules.directives.is_empty() {
        return false;
    }
    let above = symbol.file.content().get(..symbol.span().start as usize).unwrap_or_default();
    let lines = above.trim_ascii_end().rsplit(|byte| *byte == b'\n');
    let mut comments = lines.take_while(|line| line.starts_with(b"//"));
    comments.any(|line| rules.directives.iter().any(|directive| line.starts_with(directive.as_bytes())))
}

/// Whether it is a method of an interface that tells its types from others, and need not be called: `isNode()`.
fn is_mark(member: &SymbolView<'_>) -> bool {
    let name = member.name_span();
    in_interface(member) && member.file.content().get(name.end as usize..member.span().end as usize) == Some(b"()")
}

/// Whether a base outside the repository may call it.
fn may_override(member: &SymbolView<'_>, rules: &Conventions) -> bool {
    (rules.may_override)(&words_before(member), &member.name()) || in_interface(member)
}

/// `@app.route("/")` is `route`, `#[serde(default)]` is `serde`.
pub fn decorator_name(decorator: &str) -> &str {
    let name = decorator.trim_start_matches(['@', '#', '!', '[', ' ']);
    let end = name.find(|c: char| !(c.is_alphanumeric() || "_.:".contains(c))).unwrap_or(name.len());
    name[..end].rsplit(['.', ':']).next().unwrap_or_default()
}

/// Whether a package description says that the package is published.
fn is_published(file: FileView<'_>, package: &Package) -> bool {
    // A key of JSON stands before a colon: `"type": "module"` says nothing of modules.
    let is_key = |after: &[u8]| after.trim_ascii_start().starts_with(b":");
    let says = |text: &&str| {
        let mut found = memchr::memmem::find_iter(file.content(), text.as_bytes());
        found.any(|at| !text.ends_with('"') || is_key(&file.content()[at + text.len()..]))
    };
    package.says.is_empty() || package.says.iter().any(says)
}

/// The module path of a file, with dots, as in package descriptions.
fn module_path(file: FileView<'_>) -> String {
    let endings = file.conventions().packages.iter().flat_map(|package| match package.names {
        ManifestPart::Functions { endings } => endings,
        _ => &[],
    });
    let path = file.path();
    let short = endings.filter_map(|ending| path.strip_suffix(ending)).min_by_key(|path| path.len());
    short.unwrap_or(path).replace('/', ".")
}

/// `module.path:name` entries of a Python package's description.
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

fn globs(patterns: &[&str]) -> GlobSet {
    let mut set = GlobSetBuilder::new();
    for pattern in patterns {
        set.add(Glob::new(pattern).expect("a test of frameworks compiles every glob"));
    }
    set.build().expect("a test of frameworks compiles every glob")
}

/// The line of an import, and the other lines with the same quoted path: a file may be imported more than once.
fn lines_that_import(content: &[u8], at: u32) -> impl Iterator<Item = &[u8]> {
    let line = line_at(content, at);
    let quote = line.iter().rposition(|byte| matches!(byte, b'"' | b'\''));
    let path = quote.and_then(|end| {
        let start = memchr::memrchr(line[end], &line[..end])?;
        Some(&line[start..=end])
    });
    let others = path.into_iter().flat_map(|path| memchr::memmem::find_iter(content, path));
    std::iter::once(line).chain(others.map(|at| line_at(content, at as u32)))
}

/// The name by which a line imports all of a file: `import * as core from './core'`.
fn namespace(line: &[u8]) -> Option<&[u8]> {
    const OPENING: &[u8] = b"import * as ";
    let rest = &line[memchr::memmem::find(line, OPENING)? + OPENING.len()..];
    Some(&rest[..rest.iter().position(|byte| !is_part(*byte)).unwrap_or(rest.len())])
}

/// The line of a byte.
pub(super) fn line_at(content: &[u8], at: u32) -> &[u8] {
    let at = (at as usize).min(content.len());
    let start = memchr::memrchr(b'\n', &content[..at]).map_or(0, |newline| newline + 1);
    let end = memchr::memchr(b'\n', &content[at..]).map_or(content.len(), |newline| at + newline);
    &content[start..end]
}
