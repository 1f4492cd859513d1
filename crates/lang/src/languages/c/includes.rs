//! Includes of C and C++: the file that a line means, and the files whose names another file sees.
//!
//! The root scopes of all files are one module, of which a file sees its own part and that of the files it includes.
//! The linked scopes of all files are another.

use std::cell::{OnceCell, RefCell};
use std::rc::Rc;

use rustc_hash::FxHashMap;
use serde_json::Value;

use super::lower::LINKED;
use crate::facts::{
    BindingKind, ClassNames, Declared, Effect, IterationItem, Module, Modules, NameId, Op, OutsideCalls, Project, ROOT,
    ScopeId, Semantics, folder,
};

/// Name resolution of C and C++.
pub static SEMANTICS: Semantics = Semantics {
    class_names: ClassNames::Inherited,
    looks_down: false,
    includes: true,
    call: &["operator()"],
    element: &[("operator[]", false), ("operator*", false)],
    each: IterationItem::Last,
    enter: &[],
    constructor: "new",
    constructs: "",
    any_key: "",
    lends: false,
    shallowest: false,
    gives_argument: false,
    typed: true,
    outside_calls: OutsideCalls::Generic,
    calls_tell: false,
    default_export: "",
    splits_types: false,
    functions: &[],
    // Of C++'s containers.
    methods: &[
        ("at", Effect::Element),
        ("back", Effect::Element),
        ("begin", Effect::Same),
        ("cbegin", Effect::Same),
        ("end", Effect::Same),
        ("find", Effect::Same),
        ("front", Effect::Element),
        ("lower_bound", Effect::Same),
        ("rbegin", Effect::Same),
        ("top", Effect::Element),
        ("upper_bound", Effect::Same),
        ("value", Effect::Element),
    ],
    above: &[],
    other_methods: None,
    modules: |project| Box::new(Includes::new(project)),
};

/// The text that stands for the linked scopes of all files, where others have the path of a file.
pub const PROGRAM: &str = "program";

/// The package that a path of modules leads to: a header by its name. A name that is declared here and defined elsewhere is
/// linked from outside.
pub fn package(path: &str) -> &str {
    match path.strip_prefix(['"', '<']) {
        Some(header) => {
            let folder = header.rfind('/').map_or(0, |slash| slash + 1);
            let members = header[folder..].match_indices('.').nth(1);
            &header[..members.map_or(header.len(), |(at, _)| folder + at)]
        }
        None if path.split('.').next() == Some(PROGRAM) => "linked code",
        None if path.starts_with(INSIDE) => "",
        None => path,
    }
}

/// The text that stands for the namespaces in no other.
pub const INSIDE: &str = "::";

/// The module of the root scopes of all files.
const ALL: Module = 0;
/// The module of the linked scopes of all files.
const LINKED_OF_ALL: Module = 1;
/// The module without names that has the namespaces in no other.
const OUTERMOST: Module = 2;
/// The module of the first file. Behind those of all files are the namespaces.
const FIRST: Module = 3;

/// Folders in which `<header.h>` is searched if several have such a file and no build settings are there.
const ROOTS: &[&str] = &["", "include", "includes", "inc", "src", "source", "lib", "public", "headers", "api"];

/// Headers of the C library, which a project does not replace unless its build settings say so.
#[rustfmt::skip]
const STANDARD: &[&str] = &[
    "assert.h", "complex.h", "ctype.h", "errno.h", "fcntl.h", "fenv.h", "float.h", "inttypes.h", "iso646.h", "limits.h",
    "locale.h", "math.h", "setjmp.h", "signal.h", "stdalign.h", "stdarg.h", "stdatomic.h", "stdbool.h", "stddef.h",
    "stdint.h", "stdio.h", "stdlib.h", "stdnoreturn.h", "string.h", "strings.h", "tgmath.h", "threads.h", "time.h",
    "uchar.h", "unistd.h", "wchar.h", "wctype.h", "windows.h", "pthread.h", "dirent.h", "poll.h", "sched.h", "termios.h",
];

/// The most includers of a header whose includes it is taken to see.
const MOST_INCLUDERS: usize = 100;
/// The most bytes of remembered sets of files.
const MOST_REMEMBERED: usize = 64 << 20;

/// A set of files, a bit for each.
type Files = Rc<[u64]>;

struct Includes<'a> {
    project: &'a Project<'a>,
    /// Files by their name without folders.
    by_name: FxHashMap<&'a str, Vec<u32>>,
    /// Include folders of each compiled file, and of all of them, from `compile_commands.json`.
    folders: FxHashMap<u32, Vec<String>>,
    all_folders: Vec<String>,
    /// The files that a file includes directly.
    direct: RefCell<FxHashMap<u32, Rc<[u32]>>>,
    /// The files that a file includes, and those that a header sees because its includers do.
    seen: RefCell<FxHashMap<(u32, bool), Files>>,
    includers: OnceCell<FxHashMap<u32, Vec<u32>>>,
    /// The numbers of namespaces by their names, and the scopes of each.
    numbers: FxHashMap<&'a str, u32>,
    namespaces: Vec<(&'a str, Vec<(u32, ScopeId)>)>,
}

impl<'a> Includes<'a> {
    fn new(project: &'a Project<'a>) -> Self {
        let mut by_name: FxHashMap<&str, Vec<u32>> = FxHashMap::default();
        for (number, file) in project.files.iter().enumerate() {
            let name = file.path.rsplit('/').next().unwrap_or(file.path);
            by_name.entry(name).or_default().push(number as u32);
        }
        let mut found = Self {
            project,
            by_name,
            folders: FxHashMap::default(),
            all_folders: Vec::new(),
            direct: RefCell::default(),
            seen: RefCell::default(),
            includers: OnceCell::new(),
            numbers: FxHashMap::default(),
            namespaces: Vec::new(),
        };
        for (number, file) in (0..).zip(&project.files) {
            let facts = file.facts();
            for module in facts.modules.iter().filter(|module| module.kind == Declared::Inline) {
                let name = facts.name(module.name);
                let place = *found.numbers.entry(name).or_insert(found.namespaces.len() as u32);
                if place as usize == found.namespaces.len() {
                    found.namespaces.push((name, Vec::new()));
                }
                found.namespaces[place as usize].1.push((number, module.scope));
            }
        }
        for path in project.paths.iter().filter(|path| path.rsplit('/').next() == Some("compile_commands.json")) {
            let commands = (project.read)(path).and_then(|text| serde_json::from_slice(text).ok());
            if let Some(Value::Array(commands)) = commands {
                found.read_commands(&commands);
            }
        }
        found
    }

    /// Reads the include folders of compiler commands. Their paths are those of the machine that wrote them: the root
    /// is where the paths of the files begin to fit.
    fn read_commands(&mut self, commands: &[Value]) {
        let text = |command: &Value, key: &str| command[key].as_str().unwrap_or_default().to_owned();
        let file = |command: &Value| joined(&text(command, "directory"), &text(command, "file"));
        let paths = self.project.paths;
        let root = commands.iter().find_map(|command| {
            let path = file(command);
            let mut starts = path.match_indices('/').map(|(at, _)| at + 1);
            starts.find(|start| paths.binary_search(&&path[*start..]).is_ok()).map(|start| path[..start].to_owned())
        });
        let Some(root) = root else { return };
        for command in commands {
            let from = text(command, "directory");
            let words: Vec<String> = match &command["arguments"] {
                Value::Array(words) => words.iter().filter_map(|word| Some(word.as_str()?.to_owned())).collect(),
                _ => text(command, "command").split_ascii_whitespace().map(|word| word.replace('"', "")).collect(),
            };
            let mut folders = Vec::new();
            let mut words = words.iter();
            while let Some(word) = words.next() {
                let flag = ["-I", "-isystem", "-iquote", "-idirafter"].iter().find_map(|flag| word.strip_prefix(flag));
                let folder = match flag {
                    Some("") => words.next(),
                    Some(_) => Some(word),
                    None => None,
                };
                let Some(folder) = folder else { continue };
                let folder = joined(&from, flag.filter(|flag| !flag.is_empty()).unwrap_or(folder));
                let inside = format!("{folder}/");
                if let Some(inside) = inside.strip_prefix(&root) {
                    folders.push(inside.trim_end_matches('/').to_owned());
                }
            }
            for folder in &folders {
                if !self.all_folders.contains(folder) {
                    self.all_folders.push(folder.clone());
                }
            }
            let path = file(command);
            if let Some(file) = path.strip_prefix(&root).and_then(|path| self.project.find(path)) {
                self.folders.insert(file, folders);
            }
        }
    }

    /// The file that an include means: beside the including file, in the include folders, or else the one whose path
    /// ends so, the nearest first.
    fn look(&self, from: u32, spec: &str) -> Option<u32> {
        let (is_quoted, path) = match spec.strip_prefix('"') {
            Some(path) => (true, path),
            None => (false, spec.strip_prefix('<')?),
        };
        let own = folder(self.project.files[from as usize].path);
        if let Some(found) = Some(()).filter(|()| is_quoted).and_then(|()| self.project.find(&joined(own, path))) {
            return Some(found);
        }
        let folders = self.folders.get(&from).unwrap_or(&self.all_folders);
        if let Some(found) = folders.iter().find_map(|folder| self.project.find(&joined(folder, path))) {
            return Some(found);
        }
        let path = joined("", path.trim_start_matches("../"));
        if !is_quoted && STANDARD.contains(&path.as_str()) {
            return None;
        }
        let ends_so = |file: &&u32| {
            let root = self.project.files[**file as usize].path.strip_suffix(path.as_str());
            root.is_some_and(|root| root.is_empty() || root.ends_with('/'))
        };
        let named: Vec<u32> = self.by_name.get(path.rsplit('/').next()?)?.iter().filter(ends_so).copied().collect();
        let is_rooted = |file: &u32| {
            let folders = self.project.files[*file as usize].path.strip_suffix(path.as_str()).unwrap_or_default();
            ROOTS.contains(&folders.trim_end_matches('/').rsplit('/').next().unwrap_or_default())
        };
        let shared = |file: u32| {
            let other = self.project.files[file as usize].path;
            own.split('/').zip(other.split('/')).take_while(|(a, b)| a == b).count()
        };
        let is_only = named.len() == 1;
        let fitting = named.into_iter().filter(|file| is_quoted || is_only || is_rooted(file));
        fitting.min_by_key(|file| {
            let path = self.project.files[*file as usize].path;
            (std::cmp::Reverse(shared(*file)), path.matches('/').count(), path)
        })
    }

    /// The files that a file includes directly.
    fn direct(&self, file: u32) -> Rc<[u32]> {
        if let Some(found) = self.direct.borrow().get(&file) {
            return found.clone();
        }
        let facts = self.project.files[file as usize].facts();
        let specs = facts.imports.iter().map(|import| facts.expressions[import.expression.row()]);
        let specs = specs.filter(|it| it.op == Op::Module).map(|it| facts.name(NameId(it.a)));
        let found: Rc<[u32]> = specs.filter_map(|spec| self.look(file, spec)).collect();
        self.direct.borrow_mut().insert(file, found.clone());
        found
    }

    /// The files that a file includes, directly or not. For a header, `wide` adds those that its includers include:
    /// a header may use what is included before it.
    fn seen(&self, file: u32, wide: bool) -> Files {
        if let Some(found) = self.seen.borrow().get(&(file, wide)) {
            return found.clone();
        }
        let mut bits = vec![0u64; self.project.files.len().div_ceil(64)];
        let mut waiting = vec![file];
        if wide {
            let mut at = 0;
            while at < waiting.len() && waiting.len() < MOST_INCLUDERS {
                let above = self.includers().get(&waiting[at]).map_or(&[][..], |above| above);
                let new: Vec<u32> = above.iter().filter(|file| !waiting.contains(file)).copied().collect();
                waiting.extend(new);
                at += 1;
            }
        }
        while let Some(file) = waiting.pop() {
            for other in self.direct(file).iter() {
                let (word, bit) = (&mut bits[*other as usize / 64], 1 << (other % 64));
                if *word & bit == 0 {
                    *word |= bit;
                    waiting.push(*other);
                }
            }
        }
        let found: Files = bits.into();
        let mut seen = self.seen.borrow_mut();
        if seen.len() * size_of_val(&*found) > MOST_REMEMBERED {
            seen.clear();
        }
        seen.insert((file, wide), found.clone());
        found
    }

    fn first_namespace(&self) -> Module {
        FIRST + self.project.files.len() as u32
    }

    /// The module of a namespace by its whole name.
    fn namespace(&self, name: &str) -> Option<Module> {
        self.numbers.get(name).map(|number| self.first_namespace() + number)
    }

    /// The files that include each file directly.
    fn includers(&self) -> &FxHashMap<u32, Vec<u32>> {
        self.includers.get_or_init(|| {
            let mut includers: FxHashMap<u32, Vec<u32>> = FxHashMap::default();
            for file in 0..self.project.files.len() as u32 {
                for other in self.direct(file).iter() {
                    includers.entry(*other).or_default().push(file);
                }
            }
            includers
        })
    }
}

/// A path from a folder, without its steps upwards.
fn joined(folder: &str, path: &str) -> String {
    let start = if path.starts_with('/') { "" } else { folder };
    let mut parts: Vec<&str> = Vec::new();
    for part in start.split('/').chain(path.split('/')) {
        match part {
            ".." => drop(parts.pop()),
            "" | "." => {}
            part => parts.push(part),
        }
    }
    let is_absolute = start.starts_with('/') || path.starts_with('/');
    format!("{}{}", if is_absolute { "/" } else { "" }, parts.join("/"))
}

impl Modules for Includes<'_> {
    fn find(&self, file: u32, _scope: ScopeId, spec: &str) -> Option<Module> {
        match spec {
            PROGRAM => Some(LINKED_OF_ALL),
            INSIDE => Some(OUTERMOST),
            _ if spec.starts_with(['"', '<']) => self.look(file, spec).map(|file| FIRST + file),
            _ => self.namespace(spec),
        }
    }

    fn of(&self, _file: u32, _scope: ScopeId) -> Module {
        ALL
    }

    fn scopes(&self, module: Module) -> Vec<(u32, ScopeId)> {
        let files = 0..self.project.files.len() as u32;
        match module {
            ALL => files.map(|file| (file, ROOT)).collect(),
            LINKED_OF_ALL => {
                let has_linked = |file: &u32| self.project.files[*file as usize].facts().scopes.len() > LINKED.row();
                files.filter(has_linked).map(|file| (file, LINKED)).collect()
            }
            OUTERMOST => Vec::new(),
            file if file < self.first_namespace() => vec![(file - FIRST, ROOT)],
            namespace => self.namespaces[(namespace - self.first_namespace()) as usize].1.clone(),
        }
    }

    fn keep_seen(&self, file: u32, bound: &mut Vec<(u32, u32)>) {
        bound.retain(|(other, _)| *other != file);
        for wide in [false, true] {
            if bound.is_empty() || wide && !self.includers().contains_key(&file) {
                break;
            }
            let seen = self.seen(file, wide);
            let is_seen = |(other, _): &(u32, u32)| seen[*other as usize / 64] >> (other % 64) & 1 == 1;
            if bound.iter().any(is_seen) {
                bound.retain(is_seen);
                // A macro replaces what another file declares.
                let kind = |(file, place): &(u32, u32)| {
                    self.project.files[*file as usize].facts().bindings[*place as usize].kind
                };
                if bound.iter().any(|one| kind(one) == BindingKind::Value) {
                    bound.retain(|one| kind(one) != BindingKind::Alias);
                }
                return;
            }
        }
        // A type that a header leaves open is defined in the one file that includes it for that.
        let includers = self.includers().get(&file).map_or(&[][..], |includers| includers);
        bound.retain(|(other, _)| includers.contains(other));
        if bound.iter().any(|(other, _)| *other != bound[0].0) {
            bound.clear();
        }
    }

    fn child(&self, module: Module, name: &str) -> Option<Module> {
        match module {
            OUTERMOST => self.namespace(name),
            _ => {
                let (around, _) = self.namespaces.get(module.checked_sub(self.first_namespace())? as usize)?;
                self.namespace(&format!("{around}::{name}"))
            }
        }
    }
}
