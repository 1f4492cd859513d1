//! Files that an index lacks, whole or in part.

use schemars::JsonSchema;
use serde::Serialize;

use super::indexes::open_sidecar;
use super::{Call, Error};
use crate::catalog::runs;
use crate::store::{FileView, Sidecar};

/// Files that a warning names.
const MOST_NAMED: usize = 5;

/// A file that was left out, or a folder with its files.
#[derive(Debug, Serialize, JsonSchema)]
pub struct LeftOut {
    path: String,
    reason: &'static str,
    /// Of a folder: how many files it holds, at most 10000.
    #[serde(skip_serializing_if = "Option::is_none")]
    files: Option<u64>,
}

/// The files that the index of a checkout leaves out.
pub(crate) fn left_out(call: &Call<'_>, sidecar: &Sidecar) -> Result<Vec<LeftOut>, Error> {
    let all = runs::left_out(call, sidecar)?.into_iter();
    Ok(all.map(|left| LeftOut { path: left.path, reason: left.reason.as_str(), files: left.files }).collect())
}

/// Files whose text the parser could not read in full, as a warning; the rest of each is indexed.
pub(crate) fn unread(call: &Call<'_>, sidecar: &Sidecar) -> Result<Option<String>, Error> {
    let repo = open_sidecar(call, sidecar.clone())?;
    // Templates of documents are not of their language until they are filled in.
    let has_errors = |file: &FileView<'_>| (file.has_errors() || file.given_up()) && !file.spec().is_document;
    let files: Vec<&str> = repo.snapshot.files().filter(has_errors).map(|file| file.path()).collect();
    Ok((!files.is_empty()).then(|| {
        let more = files.len().saturating_sub(MOST_NAMED);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let files = files[..files.len().min(MOST_NAMED)].join(", ");
        format!("syntax errors in {files}{more}: symbols are missing there")
    }))
}
