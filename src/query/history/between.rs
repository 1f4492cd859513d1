//! Two moments of a history, read: two commits, or a commit and the files as they are now.

use std::path::Path;

use rayon::iter::{IntoParallelIterator, ParallelIterator};

use super::changes::{Changes, Same, compare, versions};
use crate::extract::extract;
use crate::git::{Changed, History, HistoryError};
use crate::languages;
use crate::model::Extraction;
use crate::store::Snapshot;

/// The files that differ between two moments, with their symbols at both.
pub struct Between {
    /// The commit it begins with.
    pub since: String,
    /// The commit it ends with; `None` for the files as they are now.
    pub until: Option<String>,
    files: Vec<(String, [Option<Read>; 2])>,
}

/// A text with its symbols; none where no language reads it.
struct Read {
    content: Vec<u8>,
    extraction: Option<Extraction>,
}

impl Between {
    /// Reads what differs from `since` to `until`, or to the files as the snapshot of `root` holds them. Texts beyond `limit`
    /// bytes count as files without symbols.
    pub fn read(
        history: &History,
        snapshot: &Snapshot,
        root: &Path,
        (since, until): (&str, Option<&str>),
        limit: u64,
    ) -> Result<Self, HistoryError> {
        let since = history.commit(since)?;
        let until = until.map(|until| history.commit(until)).transpose()?;
        let changed = match &until {
            Some(until) => history.changed(&since, until)?,
            None => changed_since(history, &since, snapshot, root)?,
        };
        let mut texts = Vec::with_capacity(changed.len());
        for file in changed {
            let old = file.old.map_or(Ok(None), |content| history.read(content, limit))?;
            let new = match (&until, file.new) {
                // Not every text of the present is in the history.
                (None, Some(_)) => snapshot.file(&file.path).map(|file| file.content().to_owned()),
                (_, content) => content.map_or(Ok(None), |content| history.read(content, limit))?,
            };
            texts.push((file.path, [old, new]));
        }
        let read = |(path, texts): (String, [Option<Vec<u8>>; 2])| {
            let read = texts.map(|text| text.map(|content| Read::of(&path, content)));
            (path, read)
        };
        Ok(Self { since, until, files: texts.into_par_iter().map(read).collect() })
    }

    /// How many files differ.
    pub fn n_files(&self) -> usize {
        self.files.len()
    }

    /// How many of them have symbols at neither moment: too large, or in no language that is read.
    pub fn without_symbols(&self) -> usize {
        let has_none = |read: &Option<Read>| read.as_ref().is_none_or(|read| read.extraction.is_none());
        self.files.iter().filter(|(_, both)| both.iter().all(has_none)).count()
    }

    /// What differs, symbol by symbol.
    pub fn changes(&self) -> Changes<'_> {
        let at = |moment: usize| {
            self.files
                .iter()
                .flat_map(move |(path, both)| both[moment].iter().flat_map(move |read| read.versions(path)))
        };
        compare(at(0).collect(), at(1).collect(), Same::Place)
    }
}

impl Read {
    fn of(path: &str, content: Vec<u8>) -> Self {
        let extraction = languages::of_file(path, &content).map(|(_, spec)| extract(spec, &content));
        Self { content, extraction }
    }

    fn versions<'a>(&'a self, path: &'a str) -> Vec<crate::query::Version<'a>> {
        self.extraction.as_ref().map_or_else(Vec::new, |extraction| versions(path, &self.content, extraction))
    }
}

/// The files that differ between a commit and what is there now, as far as the index holds it.
fn changed_since(
    history: &History,
    since: &str,
    snapshot: &Snapshot,
    root: &Path,
) -> Result<Vec<Changed>, HistoryError> {
    let present = snapshot.files().map(|file| (file.path(), file.content()));
    // Files that a rule leaves out are still there, not removed.
    let is_gone = |path: &str| root.join(path).symlink_metadata().is_err();
    let mut files = history.changed_since(since, present, is_gone)?;
    // A file in no language differs in no symbol, and what is not tracked may be anything.
    files.retain(|file| file.old.is_some() || snapshot.file(&file.path).is_some_and(|file| file.symbol_count() > 0));
    Ok(files)
}
