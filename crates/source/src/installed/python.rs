//! Python's packages: folders named `site-packages`, and the distributions in them.

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};

use super::{Finder, Installed, entries, manifest};
use codelode_base::model::Ecosystem;

/// Names of a project's own environment.
const ENVIRONMENTS: &[&str] = &[".venv", "venv", ".env", "env", ".virtualenv", "virtualenv"];
/// Names of folders of packages.
const SITES: [&str; 2] = ["site-packages", "dist-packages"];
/// Programs that stand for an interpreter.
const INTERPRETERS: &[&str] = &["python3", "python"];

/// Distributions in one folder.
pub(super) struct Site {
    folder: PathBuf,
    distributions: Vec<Distribution>,
    /// Distributions by the top-level modules that they hold.
    by_module: HashMap<String, Vec<usize>>,
}

struct Distribution {
    name: String,
    version: String,
    /// Its modules, as files and folders.
    parts: BTreeSet<String>,
}

/// The distributions that hold a module, in the first environment there is: the project's own, the active one, that of the
/// interpreter.
pub(super) fn find<'a>(finder: &Finder, around: impl Iterator<Item = &'a Path>, module: &str) -> Vec<Installed> {
    let sites = sites(finder, around);
    sites
        .iter()
        .filter_map(|folder| finder.site(folder))
        .map(|site| site.find(module))
        .find(|found| !found.is_empty())
        .unwrap_or_default()
}

/// The distributions that hold a module, in the folder of packages that holds the importing one.
pub(super) fn find_beside(finder: &Finder, folder: &Path, module: &str) -> Vec<Installed> {
    let site = folder.ancestors().find(|above| SITES.iter().any(|name| above.ends_with(name)));
    site.and_then(|folder| finder.site(folder)).map(|site| site.find(module)).unwrap_or_default()
}

/// The folders of packages that a project sees.
fn sites<'a>(finder: &Finder, around: impl Iterator<Item = &'a Path>) -> Vec<PathBuf> {
    let own = around.flat_map(|folder| ENVIRONMENTS.iter().map(|name| folder.join(name)));
    for environment in own.chain(finder.toolchains.environments.iter().cloned()) {
        let mut found = packages_of(&environment);
        if found.is_empty() {
            continue;
        }
        let settings = manifest(&environment.join("pyvenv.cfg")).unwrap_or_default();
        let setting = |name: &str| {
            let mut lines = settings.lines().filter_map(|line| line.split_once('='));
            lines.find(|(key, _)| key.trim() == name).map(|(_, value)| value.trim())
        };
        if setting("include-system-site-packages") == Some("true")
            && let Some(prefix) = setting("home").and_then(|home| Path::new(home).parent())
        {
            found.extend(packages_of(prefix));
        }
        return found;
    }
    interpreter(finder).map(|prefix| packages_of(&prefix)).unwrap_or_default()
}

/// The prefix of the interpreter on the path. It is found by its name, and not asked.
fn interpreter(finder: &Finder) -> Option<PathBuf> {
    let toolchains = &finder.toolchains;
    for folder in &toolchains.programs {
        let pyenv = toolchains.pyenv.as_deref().filter(|pyenv| folder.starts_with(pyenv));
        if let Some(versions) = pyenv.filter(|_| folder.ends_with("shims")) {
            let version = manifest(&versions.join("version"))?;
            return Some(versions.join("versions").join(version.split_whitespace().next()?));
        }
        let program = INTERPRETERS.iter().find_map(|name| folder.join(name).canonicalize().ok());
        if let Some(prefix) = program.as_deref().and_then(Path::parent).and_then(Path::parent) {
            return Some(prefix.to_owned());
        }
    }
    None
}

/// The folders of packages below a prefix: `lib/python3.13/site-packages`, Debian's `dist-packages`.
fn packages_of(prefix: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for lib in ["lib", "lib64"].map(|lib| prefix.join(lib)) {
        let versions = entries(&lib).into_iter().filter(|name| name.starts_with("python3"));
        for version in versions {
            found.extend(SITES.map(|name| lib.join(&version).join(name)));
        }
    }
    if prefix == Path::new("/usr") {
        let local = packages_of(Path::new("/usr/local"));
        found.splice(0..0, local);
    }
    found.push(prefix.join("Lib/site-packages"));
    found.retain(|folder| folder.is_dir());
    found
}

impl Site {
    /// Reads which distributions a folder holds.
    pub fn read(folder: &Path) -> Self {
        let mut site = Self { folder: folder.to_owned(), distributions: Vec::new(), by_module: HashMap::new() };
        for entry in entries(folder) {
            let Some(stem) = entry.strip_suffix(".dist-info").or_else(|| entry.strip_suffix(".egg-info")) else {
                continue;
            };
            let Some((name, version)) = stem.split_once('-') else { continue };
            let version = version.split_once("-py").map_or(version, |(version, _)| version);
            let parts = parts(folder, &folder.join(&entry));
            for part in &parts {
                let module = part.split('/').next().unwrap_or(part);
                let module = module.split_once('.').map_or(module, |(module, _)| module);
                let of_module = site.by_module.entry(module.to_owned()).or_default();
                if of_module.last() != Some(&site.distributions.len()) {
                    of_module.push(site.distributions.len());
                }
            }
            let (name, version) = (name.to_lowercase().replace(['_', '.'], "-"), version.to_owned());
            site.distributions.push(Distribution { name, version, parts });
        }
        site
    }

    fn find(&self, module: &str) -> Vec<Installed> {
        let found = self.by_module.get(module).into_iter().flatten().map(|place| &self.distributions[*place]);
        let installed = |it: &Distribution| {
            let parts = it.parts.iter().cloned().collect();
            Installed::new(Ecosystem::PyPi, &it.name, &it.version, &self.folder, parts)
        };
        found.filter_map(installed).collect()
    }
}

/// The modules of a distribution, by its list of files, or else by its list of modules.
fn parts(site: &Path, info: &Path) -> BTreeSet<String> {
    let mut namespaces: HashMap<String, bool> = HashMap::new();
    let mut is_namespace = |folder: &str| {
        let look = || !["__init__.py", "__init__.pyi"].iter().any(|name| site.join(folder).join(name).exists());
        *namespaces.entry(folder.to_owned()).or_insert_with(look)
    };
    let is_source = |path: &str| path.ends_with(".py") || path.ends_with(".pyi");
    if let Some(record) = manifest(&info.join("RECORD")) {
        let paths = record.lines().filter_map(|line| line.split(',').next()).map(|path| path.trim_matches('"'));
        let paths = paths.filter(|path| is_source(path) && !path.starts_with(['.', '/']) && !path.contains(".."));
        return paths.map(|path| part_of(path, &mut is_namespace).to_owned()).collect();
    }
    let listed = manifest(&info.join("top_level.txt")).unwrap_or_default();
    let forms = |module: &str| [module.to_owned(), format!("{module}.py"), format!("{module}.pyi")];
    let parts = listed.lines().map(str::trim).filter(|line| !line.is_empty() && !line.contains("..")).flat_map(forms);
    parts.filter(|part| site.join(part).exists()).collect()
}

/// The package or module at the top of a path; several distributions share a folder without an `__init__.py`.
fn part_of<'p>(path: &'p str, is_namespace: &mut dyn FnMut(&str) -> bool) -> &'p str {
    let mut ends = path.match_indices('/').map(|(end, _)| &path[..end]);
    ends.find(|folder| !is_namespace(folder)).unwrap_or(path)
}
