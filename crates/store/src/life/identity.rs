//! Identities of a store's files: a file of another store, or of another time, has the same form and valid checksums.

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Error;
use crate::packs::map::MappedFile;

/// Identity of each file by name, see [`MappedFile::identity`]. The name gives kind and number.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Identities(BTreeMap<String, String>);

impl Identities {
    /// Checks that an open file is the one that was written under its name. Files of earlier versions have no
    /// identity.
    pub fn check(&self, file: &MappedFile) -> Result<(), Error> {
        let known = name(file.path()).and_then(|name| self.0.get(name));
        match known.is_none_or(|identity| *identity == file.identity()) {
            true => Ok(()),
            false => Err(file.damaged("it is not the file that was written there")),
        }
    }

    /// Records exactly these files; those known already are not read again.
    pub fn record(&mut self, files: &HashSet<PathBuf>) -> Result<(), Error> {
        let mut before = std::mem::take(&mut self.0);
        for path in files {
            let Some(name) = name(path) else { continue };
            let identity = match before.remove(name) {
                Some(identity) => identity,
                None => MappedFile::open(path)?.identity(),
            };
            self.0.insert(name.to_owned(), identity);
        }
        Ok(())
    }
}

fn name(path: &Path) -> Option<&str> {
    path.file_name()?.to_str()
}
