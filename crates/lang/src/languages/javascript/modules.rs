//! Module resolution of JavaScript and TypeScript: relative files, packages of a workspace with the exports of their
//! `package.json`, and the paths of a `tsconfig.json`.

use std::cell::{OnceCell, RefCell};

use rustc_hash::FxHashMap;
use serde_json::Value;

use super::super::Distribution;
use super::lower::{CALL, CONSTRUCT, ELEMENT};
use crate::facts::{
    ClassNames, Effect, IterationItem, Module, Modules, OutsideCalls, Project, ROOT, ScopeId, Semantics, folder,
};
use codelode_base::model::Ecosystem;

/// Name resolution of JavaScript and TypeScript.
pub static SEMANTICS: Semantics = Semantics {
    class_names: ClassNames::Never,
    looks_down: false,
    includes: false,
    call: &[CALL],
    element: &[(ELEMENT, false), ("[Symbol.iterator]", true)],
    each: IterationItem::Pair,
    enter: &[],
    constructor: "constructor",
    constructs: CONSTRUCT,
    any_key: ELEMENT,
    lends: false,
    shallowest: false,
    gives_argument: false,
    typed: false,
    outside_calls: OutsideCalls::Inferred,
    calls_tell: false,
    default_export: "default",
    splits_types: true,
    functions: &[
        ("from", Effect::Same),
        ("assign", Effect::Same),
        ("freeze", Effect::Same),
        ("create", Effect::Same),
        ("structuredClone", Effect::Same),
        ("values", Effect::Values),
        ("entries", Effect::Pairs),
        ("resolve", Effect::Same),
    ],
    methods: &[
        ("filter", Effect::Same),
        ("slice", Effect::Same),
        ("splice", Effect::Same),
        ("concat", Effect::Same),
        ("reverse", Effect::Same),
        ("sort", Effect::Same),
        ("toSorted", Effect::Same),
        ("toReversed", Effect::Same),
        ("flat", Effect::Same),
        ("set", Effect::Same),
        ("add", Effect::Same),
        ("catch", Effect::Same),
        ("finally", Effect::Same),
        ("find", Effect::Element),
        ("findLast", Effect::Element),
        ("pop", Effect::Element),
        ("shift", Effect::Element),
        ("at", Effect::Element),
        ("get", Effect::Element),
        ("next", Effect::Element),
        ("map", Effect::Map),
        ("flatMap", Effect::Map),
        ("then", Effect::Map),
        ("keys", Effect::Keys),
        ("values", Effect::Values),
        ("entries", Effect::Pairs),
    ],
    above: &[],
    other_methods: None,
    modules: |project| Box::new(ScriptModules::new(project)),
};

/// Endings that an import may leave out, the likelier first.
const ENDINGS: &[&str] = &[".ts", ".tsx", ".js", ".jsx", ".d.ts", ".mts", ".cts", ".mjs", ".cjs", ".d.mts", ".d.cts"];
/// Source endings for a written ending: TypeScript imports its files by the names of the compiled ones.
const MADE: &[(&str, &[&str])] = &[
    (".js", &[".ts", ".tsx", ".js", ".jsx", ".d.ts"]),
    (".jsx", &[".tsx", ".jsx"]),
    (".mjs", &[".mts", ".mjs", ".d.mts"]),
    (".cjs", &[".cts", ".cjs", ".d.cts"]),
    (".d.ts", &[".d.ts", ".ts", ".tsx", ".js"]),
];
/// Fields of a `package.json` that name its main module, the likelier to be source first.
const MAINS: &[&str] = &["source", "module", "main", "types", "typings", "browser"];
/// Fields of a `package.json` that name other packages.
const DEPENDENCIES: [&str; 4] = ["dependencies", "devDependencies", "peerDependencies", "optionalDependencies"];
/// Modules of the platform that have parts: `fs/promises`.
const PLATFORM: &[&str] = &[
    "fs",
    "util",
    "stream",
    "path",
    "timers",
    "dns",
    "readline",
    "assert",
    "inspector",
    "bun",
    "cloudflare",
    "vscode",
];
/// The longest chain of configurations that extend each other.
const MOST_EXTENDED: usize = 8;

/// The most scripts that share their global names. More are the test data of a compiler rather than those of one page.
const MOST_SCRIPTS: usize = 500;

/// A `package.json`.
struct Package<'a> {
    folder: &'a str,
    json: Value,
}

/// The paths of a `tsconfig.json`.
#[derive(Default)]
struct Paths {
    /// The folder in which bare names are searched.
    base: Option<String>,
    /// Patterns and their targets, from the root.
    patterns: Vec<(String, Vec<String>)>,
}

/// Modules by the text of imports.
type Answers = FxHashMap<Box<str>, Option<Module>>;

struct ScriptModules<'a> {
    project: &'a Project<'a>,
    packages: Vec<Package<'a>>,
    by_name: FxHashMap<String, usize>,
    by_folder: FxHashMap<&'a str, usize>,
    configured: FxHashMap<&'a str, Paths>,
    /// Modules found so far, by the folder of the importing file.
    found: RefCell<FxHashMap<&'a str, Answers>>,
    /// The scopes of all scripts; empty if there are too many.
    scripts: OnceCell<Vec<(u32, ScopeId)>>,
    /// Packages that declare types in a file beside their sources: the file of sources, and that of types.
    declared: OnceCell<Vec<(Module, Module)>>,
}

impl<'a> ScriptModules<'a> {
    fn new(project: &'a Project<'a>) -> Self {
        let mut modules = Self {
            project,
            packages: Vec::new(),
            by_name: FxHashMap::default(),
            by_folder: FxHashMap::default(),
            configured: FxHashMap::default(),
            found: RefCell::default(),
            scripts: OnceCell::new(),
            declared: OnceCell::new(),
        };
        for path in project.paths {
            let within = folder(path);
            match path.rsplit('/').next().unwrap_or(path) {
                "package.json" => {
                    let Some(json) = read(project, path) else { continue };
                    let place = modules.packages.len();
                    if let Some(name) = json.get("name").and_then(Value::as_str) {
                        modules.by_name.entry(name.to_owned()).or_insert(place);
                    }
                    modules.by_folder.insert(within, place);
                    modules.packages.push(Package { folder: within, json });
                }
                "tsconfig.json" | "jsconfig.json" => {
                    let paths = paths(project, path, 0);
                    if paths.base.is_some() || !paths.patterns.is_empty() {
                        modules.configured.entry(within).or_insert(paths);
                    }
                }
                _ => {}
            }
        }
        modules
    }

    /// The file at a path that may lack its ending.
    fn file(&self, path: &str) -> Option<Module> {
        for (ending, made) in MADE.iter().filter(|(ending, _)| path.ends_with(ending)) {
            let stem = &path[..path.len() - ending.len()];
            if let Some(found) = made.iter().find_map(|ending| self.project.find(&format!("{stem}{ending}"))) {
                return Some(found);
            }
        }
        let with_ending = || ENDINGS.iter().find_map(|ending| self.project.find(&format!("{path}{ending}")));
        self.project.find(path).or_else(with_ending)
    }

    /// The module at a path: a file, or a folder with an index or a package.
    fn module(&self, path: &str) -> Option<Module> {
        let index = || self.file(&join(path, "index"));
        let package = || self.by_folder.get(path).and_then(|package| self.main(&self.packages[*package]));
        if path.is_empty() {
            return package().or_else(index);
        }
        self.file(path).or_else(package).or_else(index)
    }

    /// The module that a package's target names.
    fn target(&self, package: &Package<'_>, target: &str) -> Option<Module> {
        let path = join(package.folder, target);
        if let Some(found) = self.file(&path).or_else(|| self.file(&join(&path, "index"))) {
            return Some(found);
        }
        // Built files are missing, but their sources exist: `dist/esm/a.js` from `src/a.ts`, `dist/lib/a.js` from
        // `lib/a.ts`.
        let parts: Vec<&str> = target.split('/').filter(|part| *part != "." && !part.is_empty()).collect();
        let below = |top: &str| {
            (1..parts.len()).find_map(|from| self.file(&join(package.folder, &join(top, &parts[from..].join("/")))))
        };
        below("src").or_else(|| below(""))
    }

    fn main(&self, package: &Package<'_>) -> Option<Module> {
        let exported = package.json.get("exports").and_then(|exports| self.entry(package, exports, "."));
        let named = || MAINS.iter().filter_map(|field| package.json.get(field)?.as_str());
        exported.or_else(|| named().find_map(|target| self.target(package, target))).or_else(|| {
            let usual = ["index", "src/index", "lib/index", "src/main"];
            usual.iter().find_map(|path| self.file(&join(package.folder, path)))
        })
    }

    /// The file that declares the types of a package, if it is written and not built.
    fn types(&self, package: &Package<'_>) -> Option<Module> {
        let exports = package.json.get("exports");
        let exported = exports.and_then(|all| all.get(".").unwrap_or(all).get("types"));
        let said = [exported, package.json.get("types"), package.json.get("typings")];
        let mut said = said.into_iter().flatten().filter_map(Value::as_str);
        said.find_map(|target| self.project.find(&join(package.folder, target)))
    }

    /// The entry for a key in a package's `exports` or `imports`.
    fn entry(&self, package: &Package<'_>, entries: &Value, key: &str) -> Option<Module> {
        let of_keys = entries.as_object().filter(|keys| keys.keys().any(|key| key.starts_with(['.', '#'])));
        let Some(keys) = of_keys else {
            return if key == "." { self.conditions(package, entries, "", 0) } else { None };
        };
        if let Some(exact) = keys.get(key) {
            return self.conditions(package, exact, "", 0);
        }
        keys.iter().find_map(|(pattern, value)| {
            let star = matched(pattern, key)?;
            self.conditions(package, value, star, 0)
        })
    }

    /// The first existing target, under any condition.
    fn conditions(&self, package: &Package<'_>, value: &Value, star: &str, depth: usize) -> Option<Module> {
        match value {
            Value::String(target) => self.target(package, &target.replace('*', star)),
            Value::Array(values) if depth < MOST_EXTENDED => {
                values.iter().find_map(|value| self.conditions(package, value, star, depth + 1))
            }
            Value::Object(values) if depth < MOST_EXTENDED => {
                values.values().find_map(|value| self.conditions(package, value, star, depth + 1))
            }
            _ => None,
        }
    }

    fn look(&self, file: u32, own: &str, spec: &str) -> Option<Module> {
        if spec.is_empty() {
            return Some(file);
        }
        // `./shader.glsl?raw`
        let spec = spec.split('?').next().unwrap_or(spec);
        if spec == "." || spec == ".." || spec.starts_with("./") || spec.starts_with("../") {
            return self.module(&join(own, spec));
        }
        let above = || std::iter::successors(Some(own), |at| (!at.is_empty()).then(|| folder(at)));
        if spec.starts_with('#') {
            let package = above().find_map(|at| self.by_folder.get(at))?;
            let package = &self.packages[*package];
            if let Some(found) = self.entry(package, package.json.get("imports")?, spec) {
                return Some(found);
            }
        }
        if let Some(found) = above().find_map(|at| self.configured.get(at)).and_then(|paths| self.by_paths(paths, spec))
        {
            return Some(found);
        }
        let depth = if spec.starts_with('@') { 2 } else { 1 };
        let end = spec.match_indices('/').nth(depth - 1).map_or(spec.len(), |(at, _)| at);
        let package = &self.packages[*self.by_name.get(&spec[..end])?];
        let Some(within) = spec.get(end + 1..).filter(|within| !within.is_empty()) else { return self.whole(package) };
        let exports = package.json.get("exports");
        exports
            .and_then(|exports| self.entry(package, exports, &format!("./{within}")))
            .or_else(|| self.target(package, within))
            .or_else(|| ["src", "lib"].iter().find_map(|at| self.module(&join(package.folder, &join(at, within)))))
    }

    fn by_paths(&self, paths: &Paths, spec: &str) -> Option<Module> {
        for (pattern, targets) in &paths.patterns {
            let star = if pattern == spec { Some("") } else { matched(pattern, spec) };
            let Some(star) = star else { continue };
            if let Some(found) = targets.iter().find_map(|target| self.module(&target.replace('*', star))) {
                return Some(found);
            }
        }
        paths.base.as_ref().and_then(|base| self.module(&join(base, spec)))
    }
}

impl ScriptModules<'_> {
    /// Packages whose types are declared beside their sources, each once; their modules come after that of all scripts.
    fn declared(&self) -> &[(Module, Module)] {
        self.declared.get_or_init(|| {
            let both = |package| self.main(package).zip(self.types(package)).filter(|(main, types)| main != types);
            self.packages.iter().filter_map(both).collect()
        })
    }

    /// The module that a package is to those that import it by its name: its sources, with the types that it declares.
    fn whole(&self, package: &Package<'_>) -> Option<Module> {
        let main = self.main(package)?;
        let types = self.types(package);
        let place = self.declared().iter().position(|(one, other)| *one == main && Some(*other) == types);
        Some(place.map_or(main, |place| self.of_scripts() + 1 + place as Module))
    }

    /// Number of the module of all scripts, after those of the files.
    fn of_scripts(&self) -> Module {
        self.project.files.len() as Module
    }

    /// Whether packages say on which others they depend, and none says this one.
    fn is_undeclared(&self, name: &str) -> bool {
        let mut declared = self.packages.iter().flat_map(|package| DEPENDENCIES.map(|key| package.json.get(key)));
        let says_any = declared.clone().any(|names| names.is_some());
        says_any && !declared.any(|names| names.is_some_and(|names| names.get(name).is_some()))
    }

    fn is_script(&self, file: u32) -> bool {
        !self.project.files[file as usize].facts().modules.is_empty()
    }

    fn scripts(&self) -> &[(u32, ScopeId)] {
        self.scripts.get_or_init(|| {
            let all = 0..self.project.files.len() as u32;
            let scripts: Vec<(u32, ScopeId)> =
                all.filter(|file| self.is_script(*file)).map(|file| (file, ROOT)).collect();
            if scripts.len() <= MOST_SCRIPTS { scripts } else { Vec::new() }
        })
    }
}

impl Modules for ScriptModules<'_> {
    fn find(&self, file: u32, _scope: ScopeId, spec: &str) -> Option<Module> {
        let own = folder(self.project.files[file as usize].path);
        if spec.is_empty() {
            return Some(file);
        }
        if let Some(known) = self.found.borrow().get(own).and_then(|known| known.get(spec)) {
            return *known;
        }
        let found = self.look(file, own, spec);
        self.found.borrow_mut().entry(own).or_default().insert(spec.into(), found);
        found
    }

    fn of(&self, file: u32, _scope: ScopeId) -> Module {
        if self.is_script(file) { self.of_scripts() } else { file }
    }

    fn scopes(&self, module: Module) -> Vec<(u32, ScopeId)> {
        match module.checked_sub(self.of_scripts()) {
            None => vec![(module, ROOT)],
            Some(0) => self.scripts().to_vec(),
            Some(place) => {
                let both = self.declared().get(place as usize - 1);
                both.map_or_else(Vec::new, |(main, types)| vec![(*main, ROOT), (*types, ROOT)])
            }
        }
    }

    fn may_be_own(&self, spec: &str) -> bool {
        let name = package(spec);
        let first = spec.split('/').next().unwrap_or(spec);
        let is_platforms = spec.contains(':') || PLATFORM.contains(&first);
        // Short names of modules may be those of the platform.
        let is_long = spec.contains(['/', '-']) && !is_platforms;
        name.is_empty() || is_long && self.is_undeclared(name)
    }

    fn apart(&self, module: Module) -> Vec<Module> {
        let place = module.checked_sub(self.of_scripts() + 1);
        let both = place.and_then(|place| self.declared().get(place as usize));
        both.map_or_else(Vec::new, |(main, types)| vec![*main, *types])
    }

    fn child(&self, _module: Module, _name: &str) -> Option<Module> {
        None
    }
}

/// The text that the `*` of a pattern matches.
fn matched<'t>(pattern: &str, text: &'t str) -> Option<&'t str> {
    let (before, after) = pattern.split_once('*')?;
    text.strip_prefix(before)?.strip_suffix(after)
}

/// A path below a folder, without `.` and `..`.
fn join(folder: &str, path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in folder.split('/').chain(path.split('/')) {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    parts.join("/")
}

/// The paths that a configuration sets, or those it extends, or those it refers to.
fn paths(project: &Project<'_>, path: &str, depth: usize) -> Paths {
    let Some(json) = read(project, path).filter(|_| depth < MOST_EXTENDED) else { return Paths::default() };
    let within = folder(path);
    let options = json.get("compilerOptions");
    let base = options.and_then(|options| options.get("baseUrl")?.as_str()).map(|base| join(within, base));
    let of_base = base.clone().unwrap_or_else(|| within.to_owned());
    let mut patterns = Vec::new();
    for (pattern, targets) in options.and_then(|options| options.get("paths")?.as_object()).into_iter().flatten() {
        let targets = targets.as_array().into_iter().flatten().filter_map(Value::as_str);
        patterns.push((pattern.clone(), targets.map(|target| join(&of_base, target)).collect()));
    }
    // An exact pattern comes first, then the longest one.
    patterns.sort_by_key(|(pattern, _): &(String, _)| (pattern.contains('*'), std::cmp::Reverse(pattern.len())));
    let mut found = Paths { base, patterns };
    let extended = match json.get("extends") {
        Some(Value::Array(all)) => all.iter().filter_map(Value::as_str).collect(),
        Some(Value::String(one)) => vec![one.as_str()],
        _ => Vec::new(),
    };
    let references = json.get("references").and_then(Value::as_array).into_iter().flatten();
    let references = references.filter_map(|one| one.get("path")?.as_str());
    for other in extended.into_iter().rev().chain(references) {
        if !found.patterns.is_empty() {
            break;
        }
        let other = join(within, other);
        let names = [other.clone(), format!("{other}.json"), format!("{other}/tsconfig.json")];
        let Some(name) = names.iter().find(|name| name.ends_with(".json") && (project.read)(name).is_some()) else {
            continue;
        };
        let inherited = paths(project, name, depth + 1);
        found.base = found.base.or(inherited.base);
        found.patterns = inherited.patterns;
    }
    found
}

/// Reads JSON with comments and trailing commas.
fn read(project: &Project<'_>, path: &str) -> Option<Value> {
    let text = (project.read)(path)?;
    serde_json::from_slice(text).ok().or_else(|| serde_json::from_slice(&plain(text)).ok())
}

/// JSON without its comments and trailing commas.
fn plain(text: &[u8]) -> Vec<u8> {
    let mut plain: Vec<u8> = Vec::with_capacity(text.len());
    let mut at = text.strip_prefix(b"\xef\xbb\xbf").map_or(0, |_| 3);
    while at < text.len() {
        let rest = &text[at..];
        let len = match rest[0] {
            b'"' => {
                let mut end = 1;
                while end < rest.len() && rest[end] != b'"' {
                    end += if rest[end] == b'\\' { 2 } else { 1 };
                }
                let len = (end + 1).min(rest.len());
                plain.extend_from_slice(&rest[..len]);
                len
            }
            b'/' if rest.starts_with(b"//") => memchr::memchr(b'\n', rest).unwrap_or(rest.len()),
            b'/' if rest.starts_with(b"/*") => {
                memchr::memmem::find(&rest[2..], b"*/").map_or(rest.len(), |end| end + 4)
            }
            byte => {
                if byte == b']' || byte == b'}' {
                    let kept = plain.trim_ascii_end().len();
                    if plain[..kept].ends_with(b",") {
                        plain.truncate(kept - 1);
                    }
                }
                plain.push(byte);
                1
            }
        };
        at += len;
    }
    plain
}

/// Kinds of statements that import.
pub const STATEMENTS: &[(&str, &str)] =
    &[("import_statement", ""), ("lexical_declaration", ""), ("variable_declaration", "")];
/// The same of TypeScript.
pub const TYPED_STATEMENTS: &[(&str, &str)] =
    &[("import_statement", ""), ("import_alias", ""), ("lexical_declaration", ""), ("variable_declaration", "")];

/// Where scripts take their packages from.
pub const DISTRIBUTION: Distribution = Distribution { ecosystem: Ecosystem::Npm, is_standard };

/// Whether a package comes with the platform.
pub fn is_standard(package: &str) -> bool {
    package.contains(':') || BUILT_IN.contains(&package)
}

/// Modules of Node.js, without those that its documentation calls deprecated.
#[rustfmt::skip]
const BUILT_IN: &[&str] = &[
    "assert", "async_hooks", "buffer", "child_process", "cluster", "console", "constants", "crypto", "dgram",
    "diagnostics_channel", "dns", "domain", "events", "fs", "http", "http2", "https", "inspector", "module", "net", "os",
    "path", "perf_hooks", "process", "punycode", "querystring", "readline", "repl", "stream", "string_decoder", "timers",
    "tls", "tty", "url", "util", "v8", "vm", "wasi", "worker_threads", "zlib",
];

/// Package of a module: `lodash` of `lodash/fp`, `@babel/core` of `@babel/core/lib`. A path is in the project.
pub fn package(path: &str) -> &str {
    if path.starts_with(['.', '/', '#', '~']) || path.starts_with("@/") {
        return "";
    }
    let parts = if path.starts_with('@') { 2 } else { 1 };
    path.match_indices('/').nth(parts - 1).map_or(path, |(at, _)| &path[..at])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_trailing_commas_are_no_part_of_json() {
        let text = b"{ // one\n \"a\": [\"//x\", /* two */ \"b\\\"\",],\n}";
        assert_eq!(plain(text), b"{ \n \"a\": [\"//x\",  \"b\\\"\"]}");
    }

    #[test]
    fn paths_are_joined_without_dots() {
        assert_eq!(join("a/b", "../c/./d"), "a/c/d");
        assert_eq!(join("a", ".."), "");
    }
}
