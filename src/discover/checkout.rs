//! Where a walk stands in git: which checkout holds a folder, and what that adds to the ignore files inside the root.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use super::disk::{Links, Stamp};
use super::layers::{Layers, Patterns};
use crate::git::Repository;
use crate::model::Input;

/// A checkout of a repository that holds folders of the walk.
#[derive(Debug)]
pub(super) struct Checkout {
    repository: Repository,
    /// Its root as [`Base`] counts paths.
    at: String,
    /// The index as it was before it was first asked; empty while the outcome does not depend on it.
    asked: OnceLock<Stamp>,
}

impl Checkout {
    /// The checkout that holds `folder`, and its root. Paths start at that root.
    fn around(folder: &Path) -> Option<(Self, PathBuf)> {
        let repository = Repository::open(folder)?;
        let worktree = repository.worktree()?;
        Some((Self { repository, at: String::new(), asked: OnceLock::new() }, worktree))
    }

    /// The checkout whose root is `folder`, when there is one. `at` is that folder as seen from the base.
    pub(super) fn rooted_at(folder: &Path, at: &str) -> Option<Self> {
        let (checkout, worktree) = Self::around(folder)?;
        (worktree == folder).then(|| Self { at: at.to_owned(), ..checkout })
    }

    /// Whether its root is at `at`.
    pub(super) fn is_at(&self, at: &str) -> bool {
        self.at == at
    }

    /// Whether `self` and `other` are two checkouts of one repository.
    pub(super) fn is_sibling_of(&self, other: &Self) -> bool {
        self.repository.common_dir() == other.repository.common_dir()
    }

    /// Whether git tracks anything below `path`.
    pub(super) fn tracks_below(&self, path: &str) -> bool {
        let index = self.repository.index_path();
        self.asked.get_or_init(|| index.metadata().map_or(Stamp::MISSING, |metadata| Stamp::of(&metadata)));
        let relative = path.strip_prefix(&self.at).map_or(path, |rest| rest.trim_start_matches('/'));
        self.repository.tracks_below(relative)
    }

    /// The index, when anything depended on it.
    pub(super) fn asked_index(&self, root: &Path) -> Option<Input> {
        let stamp = self.asked.get()?;
        Some(stamp.input(recorded(root, self.repository.index_path())?))
    }

    /// The patterns that rank below every `.gitignore` of the checkout: the user's own, then the repository's.
    pub(super) fn excludes(&self, root: &Path, inputs: &mut Vec<Input>, warnings: &mut Vec<String>) -> Patterns {
        let mut patterns = global_excludes(&self.at, root, inputs, warnings);
        let exclude = self.repository.common_dir().join("info/exclude");
        add_own(&mut patterns, root, &exclude, inputs, warnings);
        patterns
    }
}

/// The patterns a user excludes everywhere. They come from the user's configuration alone: what a repository configures
/// could name any file.
fn global_excludes(at: &str, root: &Path, inputs: &mut Vec<Input>, warnings: &mut Vec<String>) -> Patterns {
    let mut patterns = Patterns::new(at);
    if let Some(path) = ignore::gitignore::gitconfig_excludes_path() {
        add_own(&mut patterns, root, &path, inputs, warnings);
    }
    patterns
}

/// Adds a file that belongs to the user, not to the source. People keep such files elsewhere and link to them.
fn add_own(patterns: &mut Patterns, root: &Path, path: &Path, inputs: &mut Vec<Input>, warnings: &mut Vec<String>) {
    let stamp = patterns.add_file(path, Links::Follow, warnings);
    inputs.extend(stamp.and_then(|stamp| Some(stamp.input(recorded(root, path)?))));
}

/// How a path is written in an [`Input`]; `None` for one that text cannot write. A link counts as what it leads to, and
/// so as lying outside.
fn recorded(root: &Path, path: &Path) -> Option<String> {
    let inside = path.strip_prefix(root).ok().filter(|_| !path.is_symlink());
    let path = inside.unwrap_or(path).to_str()?;
    Some(if std::path::MAIN_SEPARATOR == '/' { path.to_owned() } else { path.replace('\\', "/") })
}

/// What lies above and around the root.
///
/// Patterns are matched against paths that start at the base: the root of the checkout that holds the root, or the root
/// itself when there is none. So a pattern in a folder above the root means there what it means to git.
#[derive(Debug, Default)]
pub(super) struct Base {
    /// The root as seen from the base, empty or with a `/` at its end.
    pub(super) prefix: String,
    pub(super) checkout: Option<Arc<Checkout>>,
    /// Patterns that git has: global, `info/exclude`, `.gitignore` above the root.
    pub(super) git: Layers,
    /// `.ignore` files above the root, which outrank everything git has.
    pub(super) ignore: Layers,
    pub(super) inputs: Vec<Input>,
    pub(super) warnings: Vec<String>,
}

impl Base {
    /// Looks around `root`, which is canonical.
    pub(super) fn of(root: &Path) -> Self {
        let mut base = Self::default();
        let Some((checkout, worktree)) = Checkout::around(root) else {
            let patterns = global_excludes("", root, &mut base.inputs, &mut base.warnings);
            base.git = base.git.with(patterns.build(&mut base.warnings));
            return base;
        };
        let patterns = checkout.excludes(root, &mut base.inputs, &mut base.warnings);
        base.git = base.git.with(patterns.build(&mut base.warnings));
        base.checkout = Some(Arc::new(checkout));
        let inside = root.strip_prefix(&worktree).unwrap_or(Path::new(""));
        base.add_parents(root, &worktree, inside);
        base
    }

    /// Adds the ignore files of the folders from `worktree` down to the one that holds the root.
    fn add_parents(&mut self, root: &Path, worktree: &Path, inside: &Path) {
        let (outer_git, outer_ignore) = (self.git.clone(), self.ignore.clone());
        let mut folder = worktree.to_path_buf();
        let mut at = String::new();
        for part in inside {
            for (name, layers) in [(".gitignore", &mut self.git), (".ignore", &mut self.ignore)] {
                let path = folder.join(name);
                let mut patterns = Patterns::new(&at);
                let stamp = patterns.add_file(&path, Links::Refuse, &mut self.warnings);
                *layers = layers.with(patterns.build(&mut self.warnings));
                self.inputs.extend(stamp.and_then(|stamp| Some(stamp.input(recorded(root, &path)?))));
            }
            folder.push(part);
            at = if at.is_empty() { String::new() } else { at + "/" } + &part.to_string_lossy();
        }
        // A root that its parents ignore was asked for all the same, so their patterns do not speak of it.
        if self.git.ignores_with_parents(&at) || self.ignore.ignores_with_parents(&at) {
            (self.git, self.ignore) = (outer_git, outer_ignore);
        }
        self.prefix = if at.is_empty() { at } else { at + "/" };
    }
}
