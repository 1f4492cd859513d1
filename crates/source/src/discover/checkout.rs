//! Git checkout around a folder, and the exclude patterns it adds to the ignore files inside the root.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use super::disk::{FileStamp, Links};
use super::layers::{Layers, Patterns};
use crate::git::Repository;
use codelode_base::model::Input;

/// A checkout of a repository that holds folders of the walk.
#[derive(Debug)]
pub(super) struct Checkout {
    repository: Repository,
    /// Its root, relative to the [`Base`].
    at: String,
    /// Stamp of the git index from before the first query; empty while no decision depends on it.
    asked: OnceLock<FileStamp>,
}

impl Checkout {
    /// Opens the checkout that holds `folder`. Returns it with its root, where paths start.
    fn around(folder: &Path) -> Option<(Self, PathBuf)> {
        let repository = Repository::open(folder)?;
        let worktree = repository.worktree()?;
        Some((Self { repository, at: String::new(), asked: OnceLock::new() }, worktree))
    }

    /// Opens the checkout whose root is `folder`, if there is one. `at` is that folder relative to the base.
    pub(super) fn rooted_at(folder: &Path, at: &str) -> Option<Self> {
        let (checkout, worktree) = Self::around(folder)?;
        (worktree == folder).then(|| Self { at: at.to_owned(), ..checkout })
    }

    /// The repository.
    pub(super) fn repository(&self) -> &Repository {
        &self.repository
    }

    /// Whether the root of this checkout is at `at`.
    pub(super) fn is_at(&self, at: &str) -> bool {
        self.at == at
    }

    /// Whether `self` and `other` are two checkouts of one repository.
    pub(super) fn is_sibling_of(&self, other: &Self) -> bool {
        self.repository.common_dir() == other.repository.common_dir()
    }

    /// Whether git tracks anything below `path`.
    pub(super) fn tracks_below(&self, path: &str) -> bool {
        self.repository.tracks_below(self.asked_of(path))
    }

    /// Whether git tracks the file at `path`.
    pub(super) fn tracks(&self, path: &str) -> bool {
        self.repository.tracks(self.asked_of(path))
    }

    /// Records that a decision depends on the git index, and returns the path from the root of this checkout.
    fn asked_of<'p>(&self, path: &'p str) -> &'p str {
        let index = self.repository.index_path();
        self.asked.get_or_init(|| index.metadata().map_or(FileStamp::MISSING, |metadata| FileStamp::of(&metadata)));
        path.strip_prefix(&self.at).map_or(path, |rest| rest.trim_start_matches('/'))
    }

    /// Git index as an input of the walk, when a decision depended on it.
    pub(super) fn asked_index(&self, root: &Path) -> Option<Input> {
        let stamp = self.asked.get()?;
        Some(stamp.input(recorded(root, self.repository.index_path())?))
    }

    /// Patterns that rank below every `.gitignore` of the checkout: the user's global ones, then the repository's.
    pub(super) fn excludes(&self, root: &Path, inputs: &mut Vec<Input>, warnings: &mut Vec<String>) -> Patterns {
        let mut patterns = global_excludes(&self.at, root, inputs, warnings);
        let common = self.repository.common_dir();
        let exclude = common.join("info/exclude");
        // A link out of the repository could make any text of the disk into patterns.
        match exclude.canonicalize() {
            Ok(real) if !real.starts_with(&common) => {
                warnings.push(format!("{} was not read: it leads out of the repository", exclude.display()));
            }
            _ => add_own(&mut patterns, root, &exclude, inputs, warnings),
        }
        patterns
    }
}

/// Global excludes of the user. They come from the user's configuration alone: a repository's configuration could
/// name any file.
fn global_excludes(at: &str, root: &Path, inputs: &mut Vec<Input>, warnings: &mut Vec<String>) -> Patterns {
    let mut patterns = Patterns::new(at);
    if let Some(path) = ignore::gitignore::gitconfig_excludes_path() {
        add_own(&mut patterns, root, &path, inputs, warnings);
    }
    patterns
}

/// Adds an ignore file of the user. Links are followed, because people keep such files elsewhere and link to them.
fn add_own(patterns: &mut Patterns, root: &Path, path: &Path, inputs: &mut Vec<Input>, warnings: &mut Vec<String>) {
    let stamp = patterns.add_file(path, Links::Follow, warnings);
    inputs.extend(stamp.and_then(|stamp| Some(stamp.input(recorded(root, path)?))));
}

/// Path as recorded in an [`Input`]; `None` when it is not UTF-8. A link counts as outside the root, like its target.
fn recorded(root: &Path, path: &Path) -> Option<String> {
    let inside = path.strip_prefix(root).ok().filter(|_| !path.is_symlink());
    let path = inside.unwrap_or(path).to_str()?;
    Some(if std::path::MAIN_SEPARATOR == '/' { path.to_owned() } else { path.replace('\\', "/") })
}

/// Checkout and ignore files around the root.
///
/// Patterns are matched against paths that start at the base: the root of the enclosing checkout, or the walked root
/// when there is none. So a pattern in a folder above the root means there what it means to git.
#[derive(Debug, Default)]
pub(super) struct Base {
    /// The root relative to the base, empty or with a `/` at its end.
    pub(super) prefix: String,
    pub(super) checkout: Option<Arc<Checkout>>,
    /// Patterns of git: global, `info/exclude`, `.gitignore` above the root.
    pub(super) git: Layers,
    /// `.ignore` files above the root, which outrank git's patterns.
    pub(super) ignore: Layers,
    pub(super) inputs: Vec<Input>,
    pub(super) warnings: Vec<String>,
}

impl Base {
    /// Reads the checkout and ignore files around `root`, which is canonical.
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
        // The user asked for this root even when its parents ignore it, so their patterns do not apply.
        if self.git.ignores_with_parents(&at) || self.ignore.ignores_with_parents(&at) {
            (self.git, self.ignore) = (outer_git, outer_ignore);
        }
        self.prefix = if at.is_empty() { at } else { at + "/" };
    }
}
