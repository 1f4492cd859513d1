//! The walk: folders in parallel, each listed once, each entry judged by name and place before the system is asked
//! more.

use std::collections::HashSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use ignore::gitignore::Gitignore;
use rayon::Scope;

use super::checkout::Base;
use super::disk::Stamp;
use super::folder::Folder;
use super::found::{Found, Link};
use super::layers::extra;
use super::{Error, Rules, Walk};
use crate::model::{SkipReason, SourceFile};

/// Walks `root`, in parallel, and applies every rule that needs no content.
pub fn walk(root: &Path, rules: &Rules) -> Result<Walk, Error> {
    let (walker, base) = Walker::new(root, rules)?;
    let mut found = Found::starting_with(&base);
    let mut round = vec![walker.top(&base)?];
    let mut entered = HashSet::new();
    // Folders behind links come in a later round than those found by themselves, so that what is entered does not
    // depend on which thread was faster.
    while !round.is_empty() {
        found.merge(walker.enter_all(round));
        round = walker.choose_links(&mut found, &mut entered);
    }
    Ok(found.finish(&walker.root, rules))
}

/// What [`look`] has to say of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Look {
    /// A walk would find it.
    File(SourceFile),
    /// A walk would leave it out, or a folder that holds it.
    Skipped(SkipReason),
    /// There is no such file, or it is a folder.
    Missing,
}

/// Asks of the file at `path`, relative to `root`, what a walk would say of it. Only the folders on the way to it are
/// listed. The limit on the number of files does not count here, because it is not about one file.
pub fn look(root: &Path, path: &str, rules: &Rules) -> Result<Look, Error> {
    let (walker, base) = Walker::new(root, rules)?;
    let mut found = Found::default();
    let mut next = Some(walker.top(&base)?);
    for name in path.split('/') {
        let Some(folder) = next else { return Ok(Look::Missing) };
        found = Found::default();
        let Some((mut place, entries)) = walker.list(folder, &mut found) else { break };
        let Some(entry) = entries.into_iter().find(|entry| entry.name == name) else { return Ok(Look::Missing) };
        // What listing had to say is about the neighbours.
        found = Found::default();
        next = walker.judge(entry, &mut place, &mut found).or_else(|| found.links.pop().map(|link| link.folder));
        if found.has_skipped() {
            break;
        }
    }
    let walk = found.finish(&walker.root, &Rules { max_files: None, ..rules.clone() });
    Ok(match (walk.files.into_iter().next(), walk.skipped.into_keys().next()) {
        (Some(file), _) => Look::File(file),
        (None, Some(reason)) => Look::Skipped(reason),
        (None, None) => Look::Missing,
    })
}

/// What stays the same through a walk.
pub(super) struct Walker<'a> {
    pub(super) rules: &'a Rules,
    /// Canonical.
    pub(super) root: PathBuf,
    /// The root as seen from the base.
    pub(super) prefix: String,
    pub(super) extra: Gitignore,
    /// Canonical, and below the root.
    pub(super) never: Vec<PathBuf>,
}

impl<'a> Walker<'a> {
    fn new(root: &Path, rules: &'a Rules) -> Result<(Self, Base), Error> {
        let extra = extra(rules)?;
        let root = root.canonicalize().map_err(|error| match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Error::Missing(root.to_path_buf()),
            _ => Error::Io { path: root.to_path_buf(), source: error },
        })?;
        if !root.is_dir() {
            return Err(Error::NotAFolder(root));
        }
        let never = rules.never.iter().map(|path| path.canonicalize().unwrap_or_else(|_| path.clone()));
        // A root inside such a folder was asked for: clones are kept beside the index.
        let never = never.filter(|path| path.starts_with(&root) && *path != root).collect();
        let base = Base::of(&root);
        Ok((Self { rules, prefix: base.prefix.clone(), root, extra, never }, base))
    }

    /// The root as a folder. That it can be listed is asked first, because without it there is no walk.
    fn top(&self, base: &Base) -> Result<Folder, Error> {
        let refused = |source| Error::Io { path: self.root.clone(), source };
        let stamp = Stamp::of(&self.root.metadata().map_err(refused)?);
        fs::read_dir(&self.root).map_err(refused)?;
        let (git, ignore, checkout) = (base.git.clone(), base.ignore.clone(), base.checkout.clone());
        Ok(Folder { path: String::new(), stamp, git, ignore, checkout, real: None })
    }

    /// Enters folders and everything below them.
    fn enter_all(&self, folders: Vec<Folder>) -> Found {
        let all = Mutex::new(Found::default());
        rayon::scope(|scope| self.spawn(folders, &all, scope));
        all.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    /// Every folder is a task of its own, so a deep tree makes a long queue and not a deep stack.
    fn spawn<'s>(&'s self, folders: Vec<Folder>, all: &'s Mutex<Found>, scope: &Scope<'s>) {
        for folder in folders {
            scope.spawn(move |scope| {
                let n_found = all.lock().unwrap_or_else(PoisonError::into_inner).files.len();
                if self.rules.stop_after.is_some_and(|most| n_found > most) {
                    return;
                }
                let mut found = Found::default();
                let below = self.enter(folder, &mut found);
                self.spawn(below, all, scope);
                all.lock().unwrap_or_else(PoisonError::into_inner).merge(found);
            });
        }
    }

    /// Judges everything in a folder, and returns the folders in it that are to be entered.
    fn enter(&self, folder: Folder, found: &mut Found) -> Vec<Folder> {
        let Some((mut place, entries)) = self.list(folder, found) else { return Vec::new() };
        entries.into_iter().filter_map(|entry| self.judge(entry, &mut place, found)).collect()
    }

    /// Takes the folders behind links that are to be entered next. One found in the tree itself always is. One found
    /// behind another link is entered only when nothing has been there yet: otherwise folders that link to each other
    /// would make a tree that grows without end.
    fn choose_links(&self, found: &mut Found, entered: &mut HashSet<PathBuf>) -> Vec<Folder> {
        let mut links = std::mem::take(&mut found.links);
        links.sort_by(|one, other| one.folder.path.cmp(&other.folder.path));
        if links.iter().any(|link| link.nested) {
            entered.extend(found.inputs.iter().map(|input| self.root.join(&input.path)));
        }
        let mut chosen = Vec::new();
        for Link { folder, nested } in links {
            let is_new = folder.real.as_ref().is_none_or(|real| entered.insert(real.clone()));
            if nested && !is_new {
                found.skip(SkipReason::SymlinkEscape);
            } else {
                chosen.push(folder);
            }
        }
        chosen
    }
}
