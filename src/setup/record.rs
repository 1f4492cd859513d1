//! Records of what was written, so that it can be undone byte for byte. They hold only the text that was replaced, since
//! configurations may hold keys and tokens.

use std::fs::{self, File};
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::{Error, Part};

/// Name of the file in codelode's own folder.
const FILE: &str = "clients.json";

/// All records.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Records {
    files: Vec<Record>,
}

/// A file as it was written, and how it was before.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Record {
    /// The file.
    pub path: PathBuf,
    /// Id of the client.
    pub client: String,
    /// Whether it is a file of a project.
    pub is_project: bool,
    /// Parts of the setup in it.
    #[serde(default = "server_alone")]
    pub parts: Vec<Part>,
    /// SHA-256 of the text as written.
    written: String,
    /// The former text; `None` if there was no file.
    former: Option<Patch>,
    /// Folders that were made for it, the innermost first.
    #[serde(default)]
    pub folders: Vec<PathBuf>,
}

/// A part of a text that replaced another.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Patch {
    begin: usize,
    end: usize,
    text: String,
}

impl Records {
    /// Reads the records; none if there is no file, or one that cannot be read.
    pub(super) fn load(home: &Path) -> Self {
        let text = fs::read_to_string(home.join(FILE)).unwrap_or_default();
        serde_json::from_str(&text).unwrap_or_default()
    }

    /// Writes the records.
    pub(super) fn save(&self, home: &Path) -> Result<(), Error> {
        let path = home.join(FILE);
        let failed = |source| Error::Unwritable { path: path.clone(), source };
        if self.files.is_empty() {
            return match fs::remove_file(&path) {
                Err(err) if err.kind() != ErrorKind::NotFound => Err(failed(err)),
                _ => Ok(()),
            };
        }
        fs::create_dir_all(home).map_err(failed)?;
        let mut new = tempfile::NamedTempFile::new_in(home).map_err(failed)?;
        let text = serde_json::to_string_pretty(self).map_err(|err| failed(err.into()))?;
        new.write_all(text.as_bytes()).and_then(|()| new.as_file().sync_all()).map_err(failed)?;
        new.persist(&path).map(drop::<File>).map_err(|err| failed(err.error))
    }

    /// Every record.
    pub(super) fn all(&self) -> &[Record] {
        &self.files
    }

    /// The record of a file.
    pub(super) fn of(&self, path: &Path) -> Option<&Record> {
        self.files.iter().find(|record| record.path == path)
    }

    /// Forgets a file.
    pub(super) fn forget(&mut self, path: &Path) {
        self.files.retain(|record| record.path != path);
    }

    /// Records that a file was changed from one text to another. A second change goes back to the text before the first,
    /// unless somebody else wrote the file in between.
    pub(super) fn add(&mut self, record: Record, before: Option<&str>, after: &str) {
        let earlier = self.of(&record.path).cloned();
        self.forget(&record.path);
        let origin = earlier.filter(|earlier| before.is_some_and(|before| earlier.is_of(before)));
        let (before, folders) = match (origin, before) {
            (Some(origin), Some(now)) => (origin.undone(now), origin.folders),
            (_, before) => (before.map(str::to_owned), record.folders),
        };
        let former = before.map(|before| Patch::between(after, &before));
        self.files.push(Record { written: digest(after), former, folders, ..record });
    }
}

impl Record {
    /// A record of a file, to be added with its texts.
    pub(super) fn new(path: PathBuf, client: &str, is_project: bool, parts: &[Part], folders: Vec<PathBuf>) -> Self {
        let (client, parts) = (client.to_owned(), parts.to_vec());
        Self { path, client, is_project, parts, written: String::new(), former: None, folders }
    }

    /// Whether a text is the one that was written.
    pub(super) fn is_of(&self, text: &str) -> bool {
        self.written == digest(text)
    }

    /// The text before, given the one that was written; `None` if there was no file.
    pub(super) fn undone(&self, text: &str) -> Option<String> {
        let patch = self.former.as_ref()?;
        let parts = text.get(..patch.begin).zip(text.get(patch.end..));
        let (head, tail) = parts.expect("the text is the one that the patch was made for");
        Some(format!("{head}{}{tail}", patch.text))
    }
}

impl Patch {
    /// The change that leads from one text to another.
    fn between(from: &str, to: &str) -> Self {
        let same = |(a, b): &((usize, char), char)| a.1 == *b;
        let begin: usize = from.char_indices().zip(to.chars()).take_while(same).map(|((_, c), _)| c.len_utf8()).sum();
        let (from_rest, to_rest) = (&from[begin..], &to[begin..]);
        let same = |(a, b): &(char, char)| a == b;
        let tail: usize =
            from_rest.chars().rev().zip(to_rest.chars().rev()).take_while(same).map(|(c, _)| c.len_utf8()).sum();
        Self { begin, end: from.len() - tail, text: to_rest[..to_rest.len() - tail].to_owned() }
    }
}

/// Parts in files of records that name none.
fn server_alone() -> Vec<Part> {
    vec![Part::Server]
}

fn digest(text: &str) -> String {
    Sha256::digest(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}
