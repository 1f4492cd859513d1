//! Listing of a folder: its entries, its ignore files, and the signs of tools in it.

use std::borrow::Cow;
use std::fs::{self, DirEntry, ReadDir};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::checkout::Checkout;
use super::disk::{FileStamp, Kind, Links};
use super::layers::{Layers, Patterns};
use super::noise;
use super::results::Results;
use super::tools::Tools;
use super::walk::Walker;
use codelode_base::model::{Input, SkipReason, on_disk, spelled};

/// An ignore file that only codelode reads; it outranks the others beside it.
pub(super) const OWN_IGNORE: &str = ".codelodeignore";

/// A folder to enter.
pub(super) struct Folder {
    /// Relative to the root, empty for the root.
    pub(super) path: String,
    /// Stamp from before listing, so that a change during listing is detected later.
    pub(super) stamp: FileStamp,
    pub(super) git: Layers,
    pub(super) ignore: Layers,
    pub(super) checkout: Option<Arc<Checkout>>,
    /// Rule that leaves the folder out, when it is entered only for what a pattern of the caller's brings back.
    pub(super) left_out: Option<SkipReason>,
    /// Canonical path, when a link led to it.
    pub(super) real: Option<PathBuf>,
}

impl Folder {
    /// Subfolder at `path`, with the state inherited from this one. `link` is its canonical path when it is a link.
    pub(super) fn below(&self, path: String, stamp: FileStamp, link: Option<PathBuf>) -> Self {
        let name = path.rsplit('/').next().unwrap_or_default();
        let real = link.or_else(|| self.real.as_ref().map(|real| real.join(name)));
        let (git, ignore, checkout) = (self.git.clone(), self.ignore.clone(), self.checkout.clone());
        Self { stamp, git, ignore, checkout, left_out: self.left_out, real, path }
    }
}

/// An entry of a folder.
pub(super) struct Entry {
    pub(super) name: String,
    pub(super) kind: Kind,
    pub(super) entry: DirEntry,
}

/// State shared by the entries of one folder.
pub(super) struct OpenFolder {
    pub(super) folder: Folder,
    /// Tools whose files lie in this folder.
    pub(super) tools: Tools,
    /// Path of the current entry relative to the base. The folder's part stays, only the name is rewritten.
    pub(super) path: String,
    /// Length of the folder's part of `path`.
    pub(super) stem: usize,
}

impl Walker<'_> {
    /// Lists a folder and reads its ignore files. Returns `None` for an unreadable or excluded folder.
    pub(super) fn list(&self, mut folder: Folder, found: &mut Results) -> Option<(OpenFolder, Vec<Entry>)> {
        let path = on_disk(&self.root, &folder.path);
        let Ok(listed) = fs::read_dir(&path) else {
            found.skip_unreadable(folder.path);
            return None;
        };
        found.inputs.push(Input { is_dir: true, ..folder.stamp.input(folder.path.as_str()) });
        let (entries, signs) = entries(listed, &folder.path, found);
        let mut at = join(&self.prefix, &folder.path);
        at.truncate(at.trim_end_matches('/').len());
        if !folder.path.is_empty() && is_left_out_inside(&folder, &signs, &path, &at) {
            found.skip_uncounted(SkipReason::Noise, &folder.path);
            return None;
        }

        let mut patterns = Patterns::new(&at);
        if let Some(checkout) = self.checkout_inside(&folder, &signs, &path, &at) {
            if folder.checkout.as_ref().is_some_and(|outer| outer.is_sibling_of(&checkout)) {
                found.skip_uncounted(SkipReason::Noise, &folder.path);
                let why = "it is another checkout of the same repository; index it separately";
                found.warnings.push(format!("{} was left out: {why}", folder.path));
                return None;
            }
            // Patterns of the outer repository do not apply inside a nested one.
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
        for (_, name) in
            [(signs.ignore, ".ignore"), (signs.own_ignore, OWN_IGNORE)].iter().filter(|(is_here, _)| *is_here)
        {
            let mut patterns = Patterns::new(&at);
            add(&mut patterns, &path, &folder.path, name, found);
            folder.ignore = folder.ignore.with(patterns.build(&mut found.warnings));
        }

        if !at.is_empty() {
            at.push('/');
        }
        let stem = at.len();
        Some((OpenFolder { folder, tools: signs.tools, path: at, stem }, entries))
    }

    /// Opens the checkout whose root is this folder, unless the folder already belongs to it.
    fn checkout_inside(&self, folder: &Folder, signs: &FolderSigns, path: &Path, at: &str) -> Option<Checkout> {
        let is_known = folder.checkout.as_ref().is_some_and(|checkout| checkout.is_at(at));
        if !signs.repository || is_known {
            return None;
        }
        Checkout::rooted_at(folder.real.as_deref().unwrap_or(path), at)
    }
}

/// Reads the entries of the folder `path`, and the signs in their names.
fn entries(listed: ReadDir, path: &str, found: &mut Results) -> (Vec<Entry>, FolderSigns) {
    let mut entries = Vec::new();
    let mut signs = FolderSigns::default();
    for entry in listed {
        let Ok(entry) = entry else {
            found.skip_unreadable(path.to_owned());
            continue;
        };
        let name = entry.file_name();
        let Some(name) = spelled(name.as_bytes()).map(Cow::into_owned) else {
            found.skip_unreadable(join(path, &name.to_string_lossy()));
            continue;
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
fn add(patterns: &mut Patterns, folder: &Path, path: &str, name: &str, found: &mut Results) {
    let stamp = patterns.add_file(&folder.join(name), Links::Refuse, &mut found.warnings);
    found.inputs.extend(stamp.map(|stamp| stamp.input(join(path, name))));
}

/// Whether the contents of a folder show that it is noise: an environment of installed packages, or a cache.
fn is_left_out_inside(folder: &Folder, signs: &FolderSigns, path: &Path, at: &str) -> bool {
    signs.environment
        || (signs.cache_tag
            && noise::is_cache_tag(&path.join(noise::CACHE_TAG))
            && !folder.checkout.as_ref().is_some_and(|checkout| checkout.tracks_below(at)))
}

/// Signs in the names of a folder's entries.
#[derive(Default)]
struct FolderSigns {
    tools: Tools,
    repository: bool,
    gitignore: bool,
    ignore: bool,
    own_ignore: bool,
    environment: bool,
    cache_tag: bool,
}

impl FolderSigns {
    fn note(&mut self, name: &str, kind: Kind) {
        match name {
            ".git" => self.repository = true,
            // Git does not read these through a link either.
            ".gitignore" => self.gitignore = kind == Kind::File,
            ".ignore" => self.ignore = kind == Kind::File,
            OWN_IGNORE => self.own_ignore = kind == Kind::File,
            noise::CACHE_TAG => self.cache_tag = true,
            _ if noise::marks_environment(name) => self.environment = true,
            _ if kind == Kind::File => self.tools = self.tools.and(Tools::of_sign(name)),
            _ => {}
        }
    }
}

/// Joins a folder, which may be empty or end in `/`, and a name.
fn join(folder: &str, name: &str) -> String {
    if folder.is_empty() || folder.ends_with('/') { format!("{folder}{name}") } else { format!("{folder}/{name}") }
}
