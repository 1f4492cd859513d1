//! Python modules: packages, `src` layouts, relative imports, and namespace packages.

use std::cell::RefCell;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::facts::{
    ClassNames, Effect, IterationItem, Module, Modules, OutsideCalls, Project, ScopeId, Semantics, folder,
};

/// Binding rules of Python.
pub static SEMANTICS: Semantics = Semantics {
    class_names: ClassNames::Hidden,
    looks_down: true,
    includes: false,
    call: &["__call__"],
    element: &[("__getitem__", false), ("__iter__", true)],
    each: IterationItem::First,
    enter: &["__enter__", "__aenter__"],
    constructor: "__init__",
    constructs: "",
    any_key: "",
    lends: false,
    shallowest: false,
    gives_argument: false,
    typed: false,
    outside_calls: OutsideCalls::Inferred,
    calls_tell: false,
    default_export: "",
    splits_types: false,
    functions: &[
        ("list", Effect::Same),
        ("set", Effect::Same),
        ("tuple", Effect::Same),
        ("sorted", Effect::Same),
        ("reversed", Effect::Same),
        ("iter", Effect::Same),
        ("next", Effect::Element),
        ("copy", Effect::Same),
        ("deepcopy", Effect::Same),
        ("deque", Effect::Same),
        ("frozenset", Effect::Same),
        ("max", Effect::Element),
        ("min", Effect::Element),
        ("enumerate", Effect::Numbered),
    ],
    methods: &[
        ("copy", Effect::Same),
        ("get", Effect::Element),
        ("pop", Effect::Element),
        ("popleft", Effect::Element),
        ("setdefault", Effect::Element),
        ("values", Effect::Values),
        ("keys", Effect::Keys),
        ("items", Effect::Pairs),
    ],
    above: &[],
    other_methods: None,
    modules: |project| Box::new(PythonModules::new(project)),
};

/// Files that describe a package.
const DESCRIPTIONS: [&str; 3] = ["setup.py", "setup.cfg", "pyproject.toml"];

/// Modules by import path.
type Answers = FxHashMap<Box<str>, Option<Module>>;

/// Modules of one project. A file's module number is its own; folders without an `__init__.py` come after all files.
struct PythonModules<'a> {
    project: &'a Project<'a>,
    folders: Vec<&'a str>,
    numbers: FxHashMap<&'a str, Module>,
    /// Folders where absolute imports start.
    roots: Vec<&'static str>,
    /// Folders, not the root, with the description of a package, which is imported from anywhere.
    projects: FxHashSet<&'a str>,
    /// Their packages: the folder in which each one is.
    packages: FxHashMap<&'a str, &'a str>,
    /// Cache of resolved imports by importing folder, as the same few modules are imported everywhere.
    found: RefCell<FxHashMap<&'a str, Answers>>,
}

impl<'a> PythonModules<'a> {
    fn new(project: &'a Project<'a>) -> Self {
        let (mut folders, mut numbers) = (Vec::new(), FxHashMap::default());
        for file in &project.files {
            let mut at = folder(file.path);
            while !at.is_empty() && !numbers.contains_key(at) {
                numbers.insert(at, (project.files.len() + folders.len()) as Module);
                folders.push(at);
                at = folder(at);
            }
        }
        let mut roots = vec![""];
        roots.extend(["src", "lib"].into_iter().filter(|root| numbers.contains_key(root)));
        let described =
            project.paths.iter().filter(|path| DESCRIPTIONS.contains(&path.rsplit('/').next().unwrap_or(path)));
        let projects: FxHashSet<&str> = described.map(|path| folder(path)).filter(|at| !at.is_empty()).collect();
        let mut packages = FxHashMap::default();
        for path in project.files.iter().map(|file| file.path).filter(|_| !projects.is_empty()) {
            let Some((within, name)) = path.strip_suffix("/__init__.py").and_then(|own| own.rsplit_once('/')) else {
                continue;
            };
            if projects.contains(within) || within.strip_suffix("/src").is_some_and(|own| projects.contains(own)) {
                packages.entry(name).or_insert(within);
            }
        }
        Self { project, folders, numbers, roots, projects, packages, found: RefCell::default() }
    }

    /// Finds a module below a folder: a package, then a file, then a namespace package.
    fn below(&self, base: &str, parts: &[&str]) -> Option<Module> {
        let path = parts.iter().fold(base.to_owned(), |path, part| match path.is_empty() {
            true => (*part).to_owned(),
            false => format!("{path}/{part}"),
        });
        let at = |name: String| self.project.find(&name);
        let package = if path.is_empty() { "__init__.py".to_owned() } else { format!("{path}/__init__.py") };
        at(package)
            .or_else(|| at(format!("{path}.py")))
            .or_else(|| at(format!("{path}.pyi")))
            .or_else(|| self.numbers.get(path.as_str()).copied().filter(|_| !parts.is_empty()))
    }
}

impl PythonModules<'_> {
    fn look(&self, own: &str, spec: &str) -> Option<Module> {
        let dots = spec.len() - spec.trim_start_matches('.').len();
        let parts: Vec<&str> = spec[dots..].split('.').filter(|part| !part.is_empty()).collect();
        if dots > 0 {
            let base = (1..dots).fold(own, |base, _| folder(base));
            return self.below(base, &parts);
        }
        let at_root = self.roots.iter().find_map(|root| self.below(root, &parts));
        // The folder of a project is no package, though it may bear the name of the one inside: `shop/shop/cart.py`.
        let is_project = parts.len() == 1 && self.projects.contains(parts.first()?);
        if at_root.is_some() && !is_project {
            return at_root;
        }
        // Tests and examples import modules from their folder or above, but a sibling `json.py` does not shadow the
        // standard library.
        if STANDARD.binary_search(&parts.first()?).is_ok() {
            return None;
        }
        let mut base = own;
        loop {
            let source = if base.is_empty() { "src".to_owned() } else { format!("{base}/src") };
            if base.is_empty() && is_project {
                break;
            }
            if let Some(found) = self.below(base, &parts).or_else(|| self.below(&source, &parts)) {
                return Some(found);
            }
            if base.is_empty() {
                break;
            }
            base = folder(base);
        }
        let (first, rest) = parts.split_first()?;
        let of_project = self.packages.get(first).and_then(|within| self.below(within, &parts));
        // A build may take the modules of a package from a folder of its sources: `shop.cart` from `shop/src/cart.py`.
        let sources = || {
            let inside = ["src", "lib"].iter().map(|inside| format!("{first}/{inside}"));
            inside.into_iter().find_map(|base| self.below(&base, rest).filter(|_| !rest.is_empty()))
        };
        of_project.or(at_root).or_else(sources)
    }
}

impl Modules for PythonModules<'_> {
    fn find(&self, file: u32, _scope: ScopeId, spec: &str) -> Option<Module> {
        let own = folder(self.project.files[file as usize].path);
        if let Some(known) = self.found.borrow().get(own).and_then(|known| known.get(spec)) {
            return *known;
        }
        let found = self.look(own, spec);
        self.found.borrow_mut().entry(own).or_default().insert(spec.into(), found);
        found
    }

    fn of(&self, file: u32, _scope: ScopeId) -> Module {
        file
    }

    fn scopes(&self, module: Module) -> Vec<(u32, ScopeId)> {
        if (module as usize) < self.project.files.len() { vec![(module, crate::facts::ROOT)] } else { Vec::new() }
    }

    fn child(&self, module: Module, name: &str) -> Option<Module> {
        let folder = match self.project.files.get(module as usize) {
            Some(file) => file.path.strip_suffix("__init__.py").map(|folder| folder.trim_end_matches('/'))?,
            None => self.folders.get(module as usize - self.project.files.len())?,
        };
        self.below(folder, &[name])
    }
}

/// Whether a module comes with Python.
pub fn is_standard(module: &str) -> bool {
    module.starts_with('_') || STANDARD.binary_search(&module).is_ok()
}

/// Modules of the standard library (Python 3.13), sorted.
#[rustfmt::skip]
const STANDARD: &[&str] = &[
    "abc", "aifc", "antigravity", "argparse", "array", "ast", "asynchat", "asyncio", "asyncore", "atexit", "audioop",
    "base64", "bdb", "binascii", "bisect", "builtins", "bz2", "cProfile", "calendar", "cgi", "cgitb", "chunk",
    "cmath", "cmd", "code", "codecs", "codeop", "collections", "colorsys", "compileall", "concurrent", "configparser",
    "contextlib", "contextvars", "copy", "copyreg", "crypt", "csv", "ctypes", "curses", "dataclasses", "datetime",
    "dbm", "decimal", "difflib", "dis", "distutils", "doctest", "email", "encodings", "ensurepip", "enum", "errno",
    "faulthandler", "fcntl", "filecmp", "fileinput", "fnmatch", "fractions", "ftplib", "functools", "gc",
    "genericpath", "getopt", "getpass", "gettext", "glob", "graphlib", "grp", "gzip", "hashlib", "heapq", "hmac",
    "html", "http", "idlelib", "imaplib", "imghdr", "imp", "importlib", "inspect", "io", "ipaddress", "itertools",
    "json", "keyword", "lib2to3", "linecache", "locale", "logging", "lzma", "mailbox", "mailcap", "marshal", "math",
    "mimetypes", "mmap", "modulefinder", "msilib", "msvcrt", "multiprocessing", "netrc", "nis", "nntplib", "nt",
    "ntpath", "nturl2path", "numbers", "opcode", "operator", "optparse", "os", "ossaudiodev", "pathlib", "pdb",
    "pickle", "pickletools", "pipes", "pkgutil", "platform", "plistlib", "poplib", "posix", "posixpath", "pprint",
    "profile", "pstats", "pty", "pwd", "py_compile", "pyclbr", "pydoc", "pydoc_data", "pyexpat", "queue", "quopri",
    "random", "re", "readline", "reprlib", "resource", "rlcompleter", "runpy", "sched", "secrets", "select",
    "selectors", "shelve", "shlex", "shutil", "signal", "site", "smtpd", "smtplib", "sndhdr", "socket",
    "socketserver", "spwd", "sqlite3", "sre_compile", "sre_constants", "sre_parse", "ssl", "stat", "statistics",
    "string", "stringprep", "struct", "subprocess", "sunau", "symtable", "sys", "sysconfig", "syslog", "tabnanny",
    "tarfile", "telnetlib", "tempfile", "termios", "textwrap", "this", "threading", "time", "timeit", "tkinter",
    "token", "tokenize", "tomllib", "trace", "traceback", "tracemalloc", "tty", "turtle", "turtledemo", "types",
    "typing", "unicodedata", "unittest", "urllib", "uu", "uuid", "venv", "warnings", "wave", "weakref", "webbrowser",
    "winreg", "winsound", "wsgiref", "xdrlib", "xml", "xmlrpc", "zipapp", "zipfile", "zipimport", "zlib", "zoneinfo",
];
