//! The public API of a library: definitions reachable from its entry files. A program has none.

use std::cell::OnceCell;
use std::collections::{HashMap, HashSet};

use rustc_hash::FxHashSet;

use crate::folder;
use crate::graph::{Graph, is_type, open_folders, package_files, scripts};
use codelode_base::model::Marks;
use codelode_lang::languages::{Conventions, ManifestPart, Offers, Package, Public, packages};
use codelode_store::{FileView, SymbolId, SymbolView};

/// Folders below a package's root that may hold its sources.
const SOURCES: &[&str] = &["", "src", "lib"];

/// Parts of a repository that others can use.
pub struct Api<'a> {
    /// Folders of published packages, by the name of the description file.
    packages: HashMap<&'static str, HashSet<String>>,
    /// Contents of package manifests, by the manifest's file name.
    manifests: HashMap<&'static str, Vec<&'a [u8]>>,
    /// `module.path:name` of functions that an installer turns into commands.
    commands: HashSet<(String, String)>,
    /// Numbers of files that a package names as entries, and of files that entries re-export.
    entries: FxHashSet<u32>,
    /// Numbers of files that an installer runs as programs.
    programs: FxHashSet<u32>,
    /// Definitions that entry files name.
    named: FxHashSet<SymbolId>,
    /// Path prefixes below which every file may be imported by name.
    open: Vec<String>,
    /// Exported classes and their bases.
    handed: OnceCell<FxHashSet<SymbolId>>,
}

impl<'a> Api<'a> {
    /// Reads all package manifests of the repository.
    pub fn new(graph: &Graph<'a>) -> Self {
        let mut api = Self {
            packages: HashMap::new(),
            manifests: HashMap::new(),
            commands: HashSet::new(),
            entries: FxHashSet::default(),
            programs: FxHashSet::default(),
            named: FxHashSet::default(),
            open: Vec::new(),
            handed: OnceCell::new(),
        };
        let known = packages();
        for file in graph.snapshot.files() {
            let (folder, name) = file.path().rsplit_once('/').unwrap_or(("", file.path()));
            if let Some(package) = known.iter().find(|package| package.file == name) {
                api.read(graph, file, folder, package);
            }
        }
        api.find_folder_files(graph);
        api.follow(graph);
        api
    }

    /// Reads one package manifest.
    fn read(&mut self, graph: &Graph<'a>, file: FileView<'a>, folder: &str, package: &Package) {
        self.manifests.entry(package.file).or_default().push(file.content());
        let is_published = is_published(file, package);
        if is_published {
            self.packages.entry(package.file).or_default().insert(folder.to_owned());
        }
        match package.names {
            ManifestPart::Nothing => {}
            ManifestPart::Functions { .. } => self.commands.extend(scripts(file)),
            ManifestPart::Files { faces, programs, endings } => {
                self.programs.extend(package_files(file, folder, graph.snapshot, programs, endings));
                let entries = package_files(file, folder, graph.snapshot, faces, endings);
                if !is_published {
                    self.programs.extend(entries);
                    return;
                }
                self.open.extend(open_folders(file, folder));
                let paths = SOURCES.iter().flat_map(|source| {
                    let parts = [folder, *source, "index"].into_iter().filter(|part| !part.is_empty());
                    let start = parts.collect::<Vec<_>>().join("/");
                    endings.iter().map(move |ending| format!("{start}{ending}"))
                });
                // The manifest may name built files only, which are not in the repository. The sources stand in for
                // them.
                let sources = paths.filter_map(|path| Some(graph.snapshot.file(&path)?.number()));
                match entries.is_empty() {
                    true => self.entries.extend(sources),
                    false => self.entries.extend(entries),
                }
            }
        }
    }

    /// Finds a package's folder files, such as `__init__.py`, in languages whose manifests name no files. Of a package
    /// whose folder file hands on no definition, the modules are the API.
    fn find_folder_files(&mut self, graph: &Graph<'a>) {
        let names_files = |package: &Package| matches!(package.names, ManifestPart::Files { .. });
        let mut silent: HashSet<&str> = HashSet::new();
        let importable = graph.snapshot.files().filter(|file| {
            let rules = file.conventions();
            let is_code = !file.facts().is_empty() && rules.offers == Offers::Entries;
            is_code && !rules.packages.iter().any(names_files) && self.in_package(*file)
        });
        let importable: Vec<FileView<'a>> = importable.collect();
        for file in importable.iter().filter(|file| file.conventions().folder_files.contains(&stem(file))) {
            self.entries.insert(file.number());
            let mut targets = graph.edges.in_file(file.number()).iter().flat_map(|edge| graph.edges.targets(edge));
            let is_other = |target: SymbolId| {
                target.file != file.number() && graph.node(target).is_some_and(|node| !graph.is_value(node))
            };
            if !targets.any(is_other) {
                silent.insert(folder(file.path()));
            }
        }
        let is_entry = |file: &&FileView<'a>| {
            let is_open = !matches!(file.conventions().public, Public::Unless(mark) if stem(file).starts_with(mark));
            is_open && !file.exercises() && silent.contains(folder(file.path()))
        };
        self.entries.extend(importable.iter().filter(is_entry).map(FileView::number));
    }

    /// Follows wildcard re-exports of entry files, and notes the definitions that entry files name.
    fn follow(&mut self, graph: &Graph<'a>) {
        let mut waiting: Vec<u32> = self.entries.iter().copied().collect();
        while let Some(entry) = waiting.pop() {
            self.named.extend(graph.edges.in_file(entry).iter().flat_map(|edge| graph.edges.targets(edge)));
            let wildcards = graph.file_marks(entry).map_or(&[][..], |marks| &marks.wildcards);
            let given = graph.edges.imports(entry).iter().filter(|import| wildcards.contains(&import.at));
            waiting.extend(given.map(|import| import.to).filter(|to| self.entries.insert(*to)));
        }
    }

    /// Contents of the package manifests of a language.
    pub fn manifests(&self, rules: &Conventions) -> Vec<&'a [u8]> {
        let texts = rules.packages.iter().filter_map(|package| self.manifests.get(package.file));
        texts.flatten().copied().collect()
    }

    /// Whether a file belongs to a published package.
    fn in_package(&self, file: FileView<'_>) -> bool {
        let rules = file.conventions();
        let holds = |folder: &str| {
            let of = |package: &Package| self.packages.get(package.file).is_some_and(|all| all.contains(folder));
            rules.packages.iter().any(of)
        };
        let mut folders =
            std::iter::successors(Some(file.path()), |path| path.rsplit_once('/').map(|(above, _)| above)).skip(1);
        rules.packages.is_empty() || holds("") || folders.any(holds)
    }

    /// Whether a file belongs to a package that others can install.
    pub fn is_installed(&self, file: FileView<'_>) -> bool {
        !file.conventions().packages.is_empty() && self.in_package(file)
    }

    /// Whether a top-level definition is part of the API.
    pub fn offers(&self, graph: &Graph<'a>, node: u32) -> bool {
        let file = graph.symbols[node as usize].file;
        is_shown(graph, node)
            && match file.conventions().offers {
                Offers::Packages => self.in_package(file),
                Offers::Entries => self.entries.contains(&file.number()) || self.is_open(file.path()),
            }
    }

    fn is_open(&self, path: &str) -> bool {
        self.open.iter().any(|start| path.starts_with(&**start))
    }

    /// Whether a member of a type is part of the API.
    pub fn offers_member(&self, graph: &Graph<'a>, class: &SymbolView<'a>, member: u32) -> bool {
        is_shown(graph, member) && self.handed(graph).contains(&class.number())
    }

    /// Exported types and their bases: users of a derived type also get the members of its bases.
    fn handed(&self, graph: &Graph<'a>) -> &FxHashSet<SymbolId> {
        self.handed.get_or_init(|| {
            let is_handed = |node: &u32| {
                let class = &graph.symbols[*node as usize];
                is_type(class) && (self.offers_around(graph, *node) || self.named.contains(&class.number()))
            };
            let nodes = (0..graph.symbols.len() as u32).filter(is_handed);
            let mut found: FxHashSet<SymbolId> = nodes.map(|node| graph.symbols[node as usize].number()).collect();
            let mut waiting: Vec<SymbolId> = found.iter().copied().collect();
            while let Some(class) = waiting.pop() {
                waiting.extend(graph.edges.bases(class).filter(|base| found.insert(*base)));
            }
            found
        })
    }

    /// Whether a definition and those around it are part of the API.
    pub fn offers_around(&self, graph: &Graph<'a>, class: u32) -> bool {
        let around = |inner: &u32| graph.node(graph.symbols[*inner as usize].parent()?.number());
        std::iter::successors(Some(class), around).all(|own| match graph.symbols[own as usize].has_parent() {
            true => graph.marks(own).has(Marks::PUBLIC),
            false => self.offers(graph, own),
        })
    }

    /// Whether a file is started rather than imported.
    pub fn is_started(&self, graph: &Graph<'_>, file: FileView<'_>) -> bool {
        let rules = file.conventions();
        self.entries.contains(&file.number())
            || self.programs.contains(&file.number())
            || graph.file_marks(file.number()).is_some_and(|marks| marks.is_started)
            || rules.started.is_some_and(|said| file.path().contains(said))
            || rules.packages.iter().any(|package| file.path().ends_with(package.file))
    }

    /// Whether an installer turns a function into a command.
    pub fn is_command(&self, symbol: &SymbolView<'_>) -> bool {
        if self.commands.is_empty() {
            return false;
        }
        let module = module_path(symbol.file);
        let name = symbol.name().into_owned();
        let tails = std::iter::once(0).chain(module.match_indices('.').map(|(dot, _)| dot + 1));
        let mut all = tails.map(|start| (module[start..].to_owned(), name.clone()));
        all.any(|command| self.commands.contains(&command))
    }
}

/// The name of a file without its extensions.
fn stem<'a>(file: &FileView<'a>) -> &'a str {
    file.path().rsplit('/').next().unwrap_or_default().split('.').next().unwrap_or_default()
}

/// Whether a manifest says that its package is published.
fn is_published(file: FileView<'_>, package: &Package) -> bool {
    // A JSON key stands before a colon: `"type": "module"` has no key `module`.
    let says = |text: &&str| {
        let is_key = |at: usize| file.content()[at + text.len()..].trim_ascii_start().starts_with(b":");
        memchr::memmem::find_iter(file.content(), text.as_bytes()).any(|at| !text.ends_with('"') || is_key(at))
    };
    let is_private = || {
        let text: Result<serde_json::Value, _> = serde_json::from_slice(file.content());
        text.is_ok_and(|text| text.get("private").and_then(serde_json::Value::as_bool) == Some(true))
    };
    package.says.is_empty() || package.says.iter().any(says) && !is_private()
}

/// Whether code elsewhere may name a definition: it is public, in a file that is neither internal nor of a program.
fn is_shown(graph: &Graph<'_>, node: u32) -> bool {
    let file = graph.symbols[node as usize].file;
    let is_of_program = graph.file_marks(file.number()).is_some_and(|marks| marks.is_program);
    graph.marks(node).has(Marks::PUBLIC) && !is_of_program && !(file.conventions().is_inner)(file.path())
}

/// The dotted module path of a file, as package manifests write it.
fn module_path(file: FileView<'_>) -> String {
    let endings = file.conventions().packages.iter().flat_map(|package| match package.names {
        ManifestPart::Functions { endings } => endings,
        _ => &[],
    });
    let path = file.path();
    let short = endings.filter_map(|ending| path.strip_suffix(ending)).min_by_key(|path| path.len());
    short.unwrap_or(path).replace('/', ".")
}
