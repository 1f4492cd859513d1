//! The most imported files of a repository.

use schemars::JsonSchema;
use serde::Serialize;

use super::indexes::Repo;
use super::{Error, related};
use codelode_query as query;

/// The most files listed.
const MOST: usize = 10;

/// A file and its number of importers.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Imported {
    file: String,
    imported_by: usize,
}

impl Imported {
    /// The most imported files.
    pub fn most(repo: &Repo) -> Result<Vec<Self>, Error> {
        let edges = related::edges(repo)?;
        let files = query::imported_files(&repo.snapshot, edges, MOST).into_iter();
        Ok(files.map(|(file, imported_by)| Self { file, imported_by }).collect())
    }
}
