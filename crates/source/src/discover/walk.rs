//! Parallel walk of a folder. Each folder is listed once, and entries are judged by name before their metadata is
//! read.

use std::collections::HashSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use ignore::gitignore::Gitignore;
use rayon::Scope;

use super::checkout::Base;
use super::disk::FileStamp;
use super::folder::Folder;
use super::layers::{extra, ways};
use super::results::{Link, Results};
use super::{Error, Rules, Walk};
use codelode_base::model::{SkipReason, SourceFile};

/// Walks `root`, in parallel, and applies every rule that needs no content.
pub fn walk(root: &Path, rules: &Rules) -> Result<Walk, Error> {
    let (walker, base) = Walker::new(root, rules)?;
    let mut found = Results::starting_with(&base);
    let mut round = vec![walker.top(&base)?];
    let mut entered = HashSet::new();
    // Folders behind links come in a later round than folders found directly, so that the result does not depend on
    // thread timing.
    while !round.is_empty() {
        found.merge(walker.enter_all(round));
        round = walker.choose_links(&mut found, &mut entered);
        if round.is_empty() && !found.files.iter().any(|file| is_source(&file.path)) {
            // A published package: the built files are all it has.
            for (folder, n_files) in std::mem::take(&mut found.built) {
                found.skipped[SkipReason::BuildOutput as usize] -= n_files;
                found.left_out.retain(|left| left.path != folder.path);
                round.push(folder);
            }
        }
    }
    found.count_folders(&walker.root);
    if let Some(checkout) = &base.checkout {
        found.skip_not_checked_out(&walker.root, checkout.repository());
    }
    Ok(found.finish(&walker.root, rules))
}

/// Whether a file may be a source, by its name: no document, and no settings.
fn is_source(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let Some((stem, ending)) = name.rsplit_once('.').filter(|(stem, _)| !stem.is_empty()) else { return false };
    let tells_nothing = [
        "adoc", "cfg", "css", "csv", "html", "ini", "json", "jsonc", "lock", "map", "md", "rst", "svg", "toml", "txt",
        "xml", "yaml", "yml",
    ];
    !tells_nothing.contains(&ending) && !stem.ends_with(".d")
}

/// Verdict of [`decide`] on a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// A walk would find it.
    File(SourceFile),
    /// A walk would leave it out, or a folder that holds it.
    Skipped(SkipReason),
    /// There is no such file, or it is a folder.
    Missing,
}

/// Predicts the verdict of a walk on the file at `path`, relative to `root`. Only the folders on the way to it are
/// listed. The limit on the number of files does not apply here.
pub fn decide(root: &Path, path: &str, rules: &Rules) -> Result<Decision, Error> {
    let (walker, base) = Walker::new(root, rules)?;
    let mut found = Results::default();
    let mut next = Some(walker.top(&base)?);
    for name in path.split('/') {
        let Some(folder) = next else { return Ok(Decision::Missing) };
        found = Results::default();
        let Some((mut place, entries)) = walker.list(folder, &mut found) else { break };
        let Some(entry) = entries.into_iter().find(|entry| entry.name == name) else { return Ok(Decision::Missing) };
        // Findings from listing concern the neighbours.
        found = Results::default();
        next = walker.decide(entry, &mut place, &mut found).or_else(|| found.links.pop().map(|link| link.folder));
        if found.has_skipped() {
            break;
        }
    }
    let walk = found.finish(&walker.root, &Rules { max_files: None, ..rules.clone() });
    Ok(match (walk.files.into_iter().next(), walk.skipped.into_keys().next()) {
        (Some(file), _) => Decision::File(file),
        (None, Some(reason)) => Decision::Skipped(reason),
        (None, None) => Decision::Missing,
    })
}

/// Constants of a walk.
pub(super) struct Walker<'a> {
    pub(super) rules: &'a Rules,
    /// Canonical root.
    pub(super) root: PathBuf,
    /// The root relative to the base.
    pub(super) prefix: String,
    pub(super) extra: Gitignore,
    /// Folders on the way to what the caller brings back.
    pub(super) ways: Gitignore,
    /// Canonical paths below the root that are never entered.
    pub(super) never: Vec<PathBuf>,
}

impl<'a> Walker<'a> {
    fn new(root: &Path, rules: &'a Rules) -> Result<(Self, Base), Error> {
        let (extra, ways) = (extra(rules)?, ways(rules)?);
        let root = root.canonicalize().map_err(|error| match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Error::Missing(root.to_path_buf()),
            _ => Error::Io { path: root.to_path_buf(), source: error },
        })?;
        if !root.is_dir() {
            return Err(Error::NotAFolder(root));
        }
        let never = rules.never.iter().map(|path| path.canonicalize().unwrap_or_else(|_| path.clone()));
        // A root inside such a folder was requested on purpose: clones are kept beside the index.
        let never = never.filter(|path| path.starts_with(&root) && *path != root).collect();
        let base = Base::of(&root);
        Ok((Self { rules, prefix: base.prefix.clone(), root, extra, ways, never }, base))
    }

    /// The root folder. Listing it is tried first, because an unreadable root is an error.
    fn top(&self, base: &Base) -> Result<Folder, Error> {
        let refused = |source| Error::Io { path: self.root.clone(), source };
        let stamp = FileStamp::of(&self.root.metadata().map_err(refused)?);
        fs::read_dir(&self.root).map_err(refused)?;
        let (git, ignore, checkout) = (base.git.clone(), base.ignore.clone(), base.checkout.clone());
        Ok(Folder { path: String::new(), stamp, git, ignore, checkout, left_out: None, real: None })
    }

    /// Enters folders and everything below them.
    fn enter_all(&self, folders: Vec<Folder>) -> Results {
        let all = Mutex::new(Results::default());
        rayon::scope(|scope| self.spawn(folders, &all, scope));
        all.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    /// Spawns a task for each folder, so a deep tree makes a long queue instead of a deep stack.
    fn spawn<'s>(&'s self, folders: Vec<Folder>, all: &'s Mutex<Results>, scope: &Scope<'s>) {
        for folder in folders {
            scope.spawn(move |scope| {
                let n_found = all.lock().unwrap_or_else(PoisonError::into_inner).files.len();
                if self.rules.stop_after.is_some_and(|most| n_found > most) {
                    return;
                }
                let mut found = Results::default();
                let below = self.enter(folder, &mut found);
                self.spawn(below, all, scope);
                all.lock().unwrap_or_else(PoisonError::into_inner).merge(found);
            });
        }
    }

    /// Judges everything in a folder, and returns the subfolders to enter.
    fn enter(&self, folder: Folder, found: &mut Results) -> Vec<Folder> {
        let Some((mut place, entries)) = self.list(folder, found) else { return Vec::new() };
        entries.into_iter().filter_map(|entry| self.decide(entry, &mut place, found)).collect()
    }

    /// Chooses the folders behind links to enter next. Links in the tree itself are always followed. A link behind
    /// another link is followed only to an unvisited folder: folders linking to each other would otherwise grow the
    /// tree forever.
    fn choose_links(&self, found: &mut Results, entered: &mut HashSet<PathBuf>) -> Vec<Folder> {
        let mut links = std::mem::take(&mut found.links);
        links.sort_by(|one, other| one.folder.path.cmp(&other.folder.path));
        if links.iter().any(|link| link.nested) {
            entered.extend(found.inputs.iter().map(|input| self.root.join(&input.path)));
        }
        let mut chosen = Vec::new();
        for Link { folder, nested } in links {
            let is_new = folder.real.as_ref().is_none_or(|real| entered.insert(real.clone()));
            if nested && !is_new {
                found.skip(SkipReason::SymlinkEscape, &folder.path);
            } else {
                chosen.push(folder);
            }
        }
        chosen
    }
}
