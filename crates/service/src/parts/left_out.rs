//! Files that an index lacks, whole or in part.

use schemars::JsonSchema;
use serde::Serialize;

use super::indexes::open_sidecar;
use super::{Call, Error};
use crate::catalog::runs;
use codelode_store::{FileView, Sidecar, Snapshot};

/// Files that a warning names.
const MOST_NAMED: usize = 5;

/// A file skipped or read in part, or a folder with its files.
#[derive(Debug, Serialize, JsonSchema)]
pub struct LeftOut {
    path: String,
    reason: &'static str,
    /// For a folder: files in it, at most 10000.
    #[serde(skip_serializing_if = "Option::is_none")]
    files: Option<u64>,
}

/// The files that the index of a checkout leaves out.
pub fn left_out(call: &Call<'_>, sidecar: &Sidecar) -> Result<Vec<LeftOut>, Error> {
    let all = runs::left_out(call, sidecar)?.into_iter();
    Ok(all.map(|left| LeftOut { path: left.path, reason: left.reason.as_str(), files: left.files }).collect())
}

/// The files of a snapshot whose reading ended at a limit.
pub fn cut_off(snapshot: &Snapshot) -> Vec<LeftOut> {
    let reason = |file: &FileView<'_>| if file.given_up() { "symbols_not_read" } else { "read_in_part" };
    let row = |file: FileView<'_>| LeftOut { path: file.path().to_owned(), reason: reason(&file), files: None };
    snapshot.files().filter(FileView::is_cut_off).map(row).collect()
}

/// Files that the parser could not read in full, as warnings; the rest of each is indexed.
pub fn unread(call: &Call<'_>, sidecar: &Sidecar) -> Result<Vec<String>, Error> {
    let repo = open_sidecar(call, sidecar.clone())?;
    Ok(why_unread(repo.snapshot.files()))
}

/// Warnings about those of some files that were not read in full.
pub fn why_unread<'a>(files: impl Iterator<Item = FileView<'a>>) -> Vec<String> {
    let (mut wrong, mut cut) = (Vec::new(), Vec::new());
    for file in files.filter(FileView::is_partly_read) {
        // Templates of documents are not of their language until they are filled in.
        match file.is_cut() {
            true => cut.push(file.path()),
            false if file.spec().is_document => {}
            false => wrong.push(file.path()),
        }
    }
    let wrong = named(&wrong).map(|files| format!("syntax errors in {files}: symbols may be missing there"));
    let cut = named(&cut).map(|files| format!("over a limit, so some symbols are missing: {files}"));
    wrong.into_iter().chain(cut).collect()
}

/// The first of some files, and how many more there are.
fn named(files: &[&str]) -> Option<String> {
    let first = files.get(..files.len().min(MOST_NAMED)).filter(|first| !first.is_empty())?.join(", ");
    let more = files.len().saturating_sub(MOST_NAMED);
    Some(if more > 0 { format!("{first} and {more} more") } else { first })
}
