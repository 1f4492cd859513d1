//! Rules for one entry of a folder, in order.

use std::fs;
use std::path::Path;

use super::disk::{FileStamp, Kind};
use super::folder::{Entry, Folder, OpenFolder};
use super::package::MAX_ENTRY;
use super::results::{Link, Results};
use super::tools::{ToolOutput, filled};
use super::walk::Walker;
use super::{binary, links, noise};
use codelode_base::model::{SkipReason, on_disk};

impl Walker<'_> {
    /// Judges one entry. It becomes a file, a folder to enter, or a count of skipped entries.
    pub(super) fn decide(&self, entry: Entry, place: &mut OpenFolder, found: &mut Results) -> Option<Folder> {
        place.path.truncate(place.stem);
        place.path.push_str(&entry.name);
        let place = &*place;
        let left_out = match entry.kind {
            Kind::Folder => self.leaves_out_folder(&entry.name, place),
            Kind::File => self.leaves_out_file(&entry.name, place),
            Kind::Link if self.rules.follow_symlinks => self.leaves_out_file(&entry.name, place),
            Kind::Link => Some(SkipReason::Symlink),
            Kind::Other => Some(SkipReason::NotAFile),
        };
        let path = &place.path[self.prefix.len()..];
        let leads = left_out.is_some_and(|reason| {
            let leads =
                || self.leads_on(&entry.name, path, reason) || self.leads_to_tracked(&entry.name, place, reason);
            entry.kind == Kind::Folder && leads()
        });
        if let Some(reason) = left_out.filter(|_| !leads) {
            self.leave_out(reason, &entry, place, found);
            return None;
        }
        if entry.kind == Kind::Link {
            self.follow(place, found);
            return None;
        }
        let Ok(metadata) = entry.entry.metadata() else {
            found.skip_unreadable(path.to_owned());
            return None;
        };
        let stamp = FileStamp::of(&metadata);
        if entry.kind == Kind::Folder {
            let below = place.folder.below(path.to_owned(), stamp, None);
            return Some(Folder { left_out: left_out.or(below.left_out), ..below });
        }
        self.weigh(path, stamp, found);
        None
    }

    /// Counts an entry, and of a folder the files in it; those of build output and vendored code at once.
    fn leave_out(&self, reason: SkipReason, entry: &Entry, place: &OpenFolder, found: &mut Results) {
        let path = &place.path[self.prefix.len()..];
        if entry.kind != Kind::Folder || noise::is_version_control(&entry.name) || self.is_never(path) {
            return found.skip(reason, path);
        }
        if !matches!(reason, SkipReason::BuildOutput | SkipReason::Vendored) {
            return found.skip_uncounted(reason, path);
        }
        let n_files = count_files(&on_disk(&self.root, path), MOST_COUNTED).max(1);
        if reason == SkipReason::BuildOutput
            && place.folder.checkout.is_none()
            && let Ok(metadata) = entry.entry.metadata()
        {
            found.built.push((place.folder.below(path.to_owned(), FileStamp::of(&metadata), None), n_files));
        }
        found.skip_folder(reason, path, n_files);
    }

    /// Whether a pattern of the caller's, with a `!` before it, brings an entry back or a folder that holds it.
    fn includes(&self, path: &str, is_dir: bool) -> bool {
        self.extra.num_whitelists() > 0 && self.extra.matched_path_or_any_parents(path, is_dir).is_whitelist()
    }

    /// Whether a folder that a rule leaves out is entered all the same, for a part that the caller brings back.
    fn leads_on(&self, name: &str, path: &str, rule: SkipReason) -> bool {
        let is_closed = rule == SkipReason::Secret || noise::is_version_control(name) || self.is_never(path);
        !is_closed && self.ways.num_ignores() > 0 && self.ways.matched(path, true).is_ignore()
    }

    /// Whether a folder that a pattern of git's leaves out holds tracked files: patterns are for those that are not, and
    /// `shop`, for a program that is built, is also the folder `cmd/shop`. Output of tools is left out, tracked or not.
    fn leads_to_tracked(&self, name: &str, place: &OpenFolder, rule: SkipReason) -> bool {
        rule == SkipReason::Ignored
            && place.folder.ignore.ignores(&place.path, true) != Some(true)
            && !noise::folder(name)
            && filled(name, place.tools).is_none()
            && place.folder.checkout.as_ref().is_some_and(|checkout| checkout.tracks_below(&place.path))
    }

    fn leaves_out_folder(&self, name: &str, place: &OpenFolder) -> Option<SkipReason> {
        let path = &place.path[self.prefix.len()..];
        if noise::is_version_control(name) || self.is_never(path) {
            return Some(SkipReason::Noise);
        }
        if self.rules.secrets.hides_folder(path) {
            return Some(SkipReason::Secret);
        }
        if self.includes(path, true) {
            return None;
        }
        if place.folder.left_out.is_some() {
            return place.folder.left_out;
        }
        if let Some(reason) = self.ignores(place, true) {
            return Some(reason);
        }
        if place.folder.ignore.ignores(&place.path, true) == Some(false) {
            return None;
        }
        if noise::folder(name) {
            return Some(SkipReason::Noise);
        }
        match filled(name, place.tools) {
            Some(ToolOutput::Vendored) => return Some(SkipReason::Vendored),
            Some(ToolOutput::BuildOutput) => {
                let checkout = place.folder.checkout.as_ref();
                if !checkout.is_some_and(|checkout| checkout.tracks_below(&place.path)) {
                    return Some(SkipReason::BuildOutput);
                }
            }
            None => {}
        }
        None
    }

    fn leaves_out_file(&self, name: &str, place: &OpenFolder) -> Option<SkipReason> {
        let is_included = self.includes(&place.path[self.prefix.len()..], false);
        let is_tracked = |reason: &SkipReason| *reason == SkipReason::Ignored && is_tracked(place);
        let left_out =
            || place.folder.left_out.filter(|reason| !is_tracked(reason)).or_else(|| self.ignores(place, false));
        if let Some(reason) = if is_included { None } else { left_out() } {
            Some(reason)
        } else if noise::file(name) && !is_included {
            Some(SkipReason::Noise)
        } else if self.rules.secrets.hides_file(&place.path[self.prefix.len()..]) {
            Some(SkipReason::Secret)
        } else if binary::file(&place.path) {
            Some(SkipReason::Binary)
        } else {
            None
        }
    }

    /// Whether ignore files or the caller's patterns exclude the entry.
    fn ignores(&self, place: &OpenFolder, is_dir: bool) -> Option<SkipReason> {
        let folder = &place.folder;
        let by_git =
            || folder.git.ignores(&place.path, is_dir).filter(|ignores| !ignores || is_dir || !is_tracked(place));
        if folder.ignore.ignores(&place.path, is_dir).or_else(by_git) == Some(true) {
            return Some(SkipReason::Ignored);
        }
        let path = &place.path[self.prefix.len()..];
        self.extra.matched(path, is_dir).is_ignore().then_some(SkipReason::ExtraIgnored)
    }

    fn is_never(&self, path: &str) -> bool {
        // Joining is costly. Usually there is one such folder, and it lies outside the root.
        !self.never.is_empty() && self.never.contains(&self.root.join(path))
    }

    /// Applies the size limit.
    fn weigh(&self, path: &str, stamp: FileStamp, found: &mut Results) {
        let file = stamp.file(path);
        if stamp.size <= self.rules.max_file_size {
            found.files.push(file);
        } else if stamp.size <= MAX_ENTRY {
            found.large.push(file);
        } else {
            found.skip(SkipReason::TooLarge, path);
        }
    }

    /// Follows the link at hand to a file or to a folder inside the root.
    fn follow(&self, place: &OpenFolder, found: &mut Results) {
        let path = &place.path[self.prefix.len()..];
        let target = match links::resolve(&self.root, &on_disk(&self.root, path), &self.never, &self.rules.secrets) {
            Ok(target) => target,
            Err(SkipReason::Unreadable) => return found.skip_unreadable(path.to_owned()),
            Err(reason) => return found.skip(reason, path),
        };
        let stamp = FileStamp::of(&target.metadata);
        if !target.metadata.is_dir() {
            return self.weigh(path, stamp, found);
        }
        if let Some(reason) = self.leaves_out_folder(&place.path[place.stem..], place) {
            return found.skip(reason, path);
        }
        let holder = place.folder.real.clone().unwrap_or_else(|| on_disk(&self.root, &place.folder.path));
        if holder.starts_with(&target.real) {
            return found.skip(SkipReason::SymlinkEscape, path);
        }
        let nested = place.folder.real.is_some();
        found.links.push(Link { folder: place.folder.below(path.to_owned(), stamp, Some(target.real)), nested });
    }
}

/// Whether git tracks the file at hand.
fn is_tracked(place: &OpenFolder) -> bool {
    place.folder.checkout.as_ref().is_some_and(|checkout| checkout.tracks(&place.path))
}

/// The most files counted in a folder that is left out.
pub const MOST_COUNTED: u64 = 10_000;

/// Number of files in a folder, up to about a limit. Links are not followed.
pub fn count_files(folder: &Path, most: u64) -> u64 {
    let (mut waiting, mut n_files) = (vec![folder.to_owned()], 0);
    while let Some(folder) = waiting.pop().filter(|_| n_files < most) {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => waiting.push(entry.path()),
                _ => n_files += 1,
            }
        }
    }
    n_files
}
