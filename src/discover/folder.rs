//! Listing a folder: what lies in it, and what that says of the folder itself and of everything below it.

use std::fs::{self, DirEntry, ReadDir};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::checkout::Checkout;
use super::disk::{Kind, Links, Stamp};
use super::found::Found;
use super::layers::{Layers, Patterns};
use super::noise;
use super::tools::Tools;
use super::walk::Walker;
use crate::model::{Input, SkipReason};

/// A folder that is to be entered.
pub(super) struct Folder {
    /// Relative to the root, empty for the root.
    pub(super) path: String,
    /// As it was before it is listed, so that a change while it is listed is seen later.
    pub(super) stamp: Stamp,
    pub(super) git: Layers,
    pub(super) ignore: Layers,
    pub(super) checkout: Option<Arc<Checkout>>,
    /// Where it really lies, when a link led to it.
    pub(super) real: Option<PathBuf>,
}

impl Folder {
    /// The folder at `path` in this one, which it takes everything from that holds for both. `link` is where it really
    /// lies, when it is a link.
    pub(super) fn below(&self, path: String, stamp: Stamp, link: Option<PathBuf>) -> Self {
        let name = path.rsplit('/').next().unwrap_or_default();
        let real = link.or_else(|| self.real.as_ref().map(|real| real.join(name)));
        let (git, ignore, checkout) = (self.git.clone(), self.ignore.clone(), self.checkout.clone());
        Self { stamp, git, ignore, checkout, real, path }
    }
}

/// An entry of a folder.
pub(super) struct Entry {
    pub(super) name: String,
    pub(super) kind: Kind,
    pub(super) entry: DirEntry,
}

/// What the entries of one folder have in common.
pub(super) struct Place {
    pub(super) folder: Folder,
    /// The tools at home here.
    pub(super) tools: Tools,
    /// The path of the entry at hand as seen from the base. The folder's part stays, only the name is written anew.
    pub(super) path: String,
    /// How much of `path` is the folder.
    pub(super) stem: usize,
}

impl Walker<'_> {
    /// Lists a folder and reads what its ignore files say. `None` when the folder itself is left out after all.
    pub(super) fn list(&self, mut folder: Folder, found: &mut Found) -> Option<(Place, Vec<Entry>)> {
        let path = self.root.join(&folder.path);
        let Ok(listed) = fs::read_dir(&path) else {
            found.skip_unreadable(folder.path);
            return None;
        };
        found.inputs.push(Input { is_dir: true, ..folder.stamp.input(folder.path.as_str()) });
        let (entries, signs) = entries(listed, &folder.path, found);
        let mut at = join(&self.prefix, &folder.path);
        at.truncate(at.trim_end_matches('/').len());
        if !folder.path.is_empty() && is_left_out_inside(&folder, &signs, &path, &at) {
            found.skip(SkipReason::Noise);
            return None;
        }

        let mut patterns = Patterns::new(&at);
        if let Some(checkout) = self.checkout_inside(&folder, &signs, &path, &at) {
            if folder.checkout.as_ref().is_some_and(|outer| outer.is_sibling_of(&checkout)) {
                found.skip(SkipReason::Noise);
                let why = "it is another checkout of the same repository and can be indexed by itself";
                found.warnings.push(format!("{} was left out: {why}", folder.path));
                return None;
            }
            // What the repository outside says of its files does not reach into one inside.
            patterns = checkout.excludes(&self.root, &mut found.inputs, &mut found.warnings);
            folder.git = Layers::default();
            let checkout = Arc::new(checkout);
            found.checkouts.push(checkout.clone());
            folder.checkout = Some(checkout);
        }
        if signs.gitignore {
            add(&mut patterns, &path, &folder.path, ".gitignore", found);
        }
        folder.git = folder.git.with(patterns.build(&mut found.warnings));
        if signs.ignore {
            let mut patterns = Patterns::new(&at);
            add(&mut patterns, &path, &folder.path, ".ignore", found);
            folder.ignore = folder.ignore.with(patterns.build(&mut found.warnings));
        }

        if !at.is_empty() {
            at.push('/');
        }
        let stem = at.len();
        Some((Place { folder, tools: signs.tools, path: at, stem }, entries))
    }

    /// The checkout whose root a folder is, when it is not the one that holds the folder anyway.
    fn checkout_inside(&self, folder: &Folder, signs: &Signs, path: &Path, at: &str) -> Option<Checkout> {
        let is_known = folder.checkout.as_ref().is_some_and(|checkout| checkout.is_at(at));
        if !signs.repository || is_known {
            return None;
        }
        Checkout::rooted_at(folder.real.as_deref().unwrap_or(path), at)
    }
}

/// Reads the entries of the folder `path`, and what their names tell of it.
fn entries(listed: ReadDir, path: &str, found: &mut Found) -> (Vec<Entry>, Signs) {
    let mut entries = Vec::new();
    let mut signs = Signs::default();
    for entry in listed {
        let Ok(entry) = entry else {
            found.skip_unreadable(path.to_owned());
            continue;
        };
        let name = match entry.file_name().into_string() {
            Ok(name) => name,
            Err(name) => {
                found.skip_unreadable(join(path, &name.to_string_lossy()));
                continue;
            }
        };
        let Ok(kind) = entry.file_type().map(Kind::of) else {
            found.skip_unreadable(join(path, &name));
            continue;
        };
        signs.note(&name, kind);
        entries.push(Entry { name, kind, entry });
    }
    (entries, signs)
}

/// Adds the ignore file `name` of a folder, and records it.
fn add(patterns: &mut Patterns, folder: &Path, path: &str, name: &str, found: &mut Found) {
    let stamp = patterns.add_file(&folder.join(name), Links::Refuse, &mut found.warnings);
    found.inputs.extend(stamp.map(|stamp| stamp.input(join(path, name))));
}

/// Whether what a folder holds shows that it is noise: an environment of installed packages, or a cache.
fn is_left_out_inside(folder: &Folder, signs: &Signs, path: &Path, at: &str) -> bool {
    signs.environment
        || (signs.cache_tag
            && noise::is_cache_tag(&path.join(noise::CACHE_TAG))
            && !folder.checkout.as_ref().is_some_and(|checkout| checkout.tracks_below(at)))
}

/// What the names in a folder tell of it.
#[derive(Default)]
struct Signs {
    tools: Tools,
    repository: bool,
    gitignore: bool,
    ignore: bool,
    environment: bool,
    cache_tag: bool,
}

impl Signs {
    fn note(&mut self, name: &str, kind: Kind) {
        match name {
            ".git" => self.repository = true,
            // Git does not read these through a link either.
            ".gitignore" => self.gitignore = kind == Kind::File,
            ".ignore" => self.ignore = kind == Kind::File,
            noise::CACHE_TAG => self.cache_tag = true,
            _ if noise::marks_environment(name) => self.environment = true,
            _ if kind == Kind::File => self.tools = self.tools.and(Tools::of_sign(name)),
            _ => {}
        }
    }
}

/// Joins a folder, which may be empty or end in `/`, and what lies in it.
fn join(folder: &str, name: &str) -> String {
    if folder.is_empty() || folder.ends_with('/') { format!("{folder}{name}") } else { format!("{folder}/{name}") }
}
