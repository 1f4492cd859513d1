//! Summaries of symbols by a model, by the key of the source that they describe.
//!
//! They cost money, so the file only grows: each entry is whole or, after a kill, ignored and written over. An entry
//! without text says that the model had nothing to say.

use std::collections::HashMap;
use std::fs::File;
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use rustc_hash::FxBuildHasher;

use super::vectors::TextKey;
use crate::packs::map::MappedFile;
use crate::{Error, locked};

const MAGIC: [u8; 8] = *b"clsummar";
/// Key, length and checksum before the text of an entry.
const HEAD: usize = 24;
/// Longest text of an entry in bytes.
const LONGEST: usize = 1024;

/// Path of the summaries of a store.
pub fn path(dir: &Path) -> PathBuf {
    dir.join("summaries.all")
}

/// Places of summaries in their file.
type Places = HashMap<TextKey, (u32, u32), FxBuildHasher>;

/// Summaries, open for reading.
#[derive(Clone, Debug)]
pub struct SummaryTable {
    map: MappedFile,
    places: Arc<Places>,
}

impl SummaryTable {
    /// Opens the summaries of a store; `None` without any.
    pub fn open(dir: &Path) -> Option<Self> {
        let map = MappedFile::open(&path(dir)).ok()?;
        let places = map.known(|| Ok(places(map.bytes()).0)).ok()?;
        Some(Self { map, places }).filter(|table| !table.places.is_empty())
    }

    /// Whether the source with this key was summarised.
    pub fn has(&self, key: &TextKey) -> bool {
        self.places.contains_key(key)
    }

    /// Summary of the source with this key; empty when there is none.
    pub fn get(&self, key: &TextKey) -> &str {
        let text = self.places.get(key).and_then(|(from, to)| self.map.bytes().get(*from as usize..*to as usize));
        text.and_then(|text| std::str::from_utf8(text).ok()).unwrap_or_default()
    }

    /// Number of summaries.
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }
}

fn checksum(key: &[u8], text: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(key);
    hasher.update(text);
    hasher.finalize()
}

/// Places of all whole entries, and the end of the last one.
fn places(bytes: &[u8]) -> (Places, usize) {
    let mut places = Places::default();
    if !bytes.starts_with(&MAGIC) {
        return (places, 0);
    }
    let (mut at, mut end) = (MAGIC.len(), MAGIC.len());
    while let Some(head) = bytes.get(at..at + HEAD) {
        let number = |at: usize| u32::from_le_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]);
        let (length, sum) = (number(16) as usize, number(20));
        let from = at + HEAD;
        let Some(text) = bytes.get(from..from + length.min(LONGEST + 1)).filter(|_| length <= LONGEST) else { break };
        at = from + length;
        if sum == checksum(&head[..16], text) {
            let mut key = TextKey::default();
            key.copy_from_slice(&head[..16]);
            places.insert(key, (from as u32, at as u32));
            end = at;
        }
    }
    (places, end)
}

/// Writer of summaries. It holds the lock of their file.
#[derive(Debug)]
pub struct SummaryWriter {
    file: File,
    path: PathBuf,
}

impl SummaryWriter {
    /// Begins to append, after the last whole entry.
    pub fn begin(dir: &Path, wait: Duration) -> Result<Self, Error> {
        let path = path(dir);
        let mut file = locked(&path, wait)?;
        let bytes = std::fs::read(&path).map_err(Error::io("cannot read", &path))?;
        let (_, end) = places(&bytes);
        let begun = file.set_len(end as u64).and_then(|()| file.seek(SeekFrom::Start(end as u64)));
        let begun = begun.and_then(|_| if end == 0 { file.write_all(&MAGIC) } else { Ok(()) });
        begun.map_err(Error::io("cannot write", &path))?;
        Ok(Self { file, path })
    }

    /// Appends summaries, each with the key of its source, and syncs them: each has cost money.
    pub fn append(&mut self, rows: &[(TextKey, String)]) -> Result<(), Error> {
        let mut bytes = Vec::new();
        for (key, text) in rows {
            let text = &text.as_bytes()[..text.floor_char_boundary(LONGEST)];
            bytes.extend(key);
            bytes.extend((text.len() as u32).to_le_bytes());
            bytes.extend(checksum(key, text).to_le_bytes());
            bytes.extend(text);
        }
        let written = self.file.write_all(&bytes).and_then(|()| self.file.sync_data());
        written.map_err(Error::io("cannot write", &self.path))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text_key;

    #[test]
    fn a_kill_costs_the_entry_that_was_being_written_and_no_other() {
        let folder = tempfile::tempdir().expect("there is room");
        let write = |rows: &[(&str, &str)]| {
            let mut writer = SummaryWriter::begin(folder.path(), Duration::ZERO).expect("it is ours");
            assert!(matches!(SummaryWriter::begin(folder.path(), Duration::ZERO), Err(Error::Busy)));
            let rows: Vec<_> = rows.iter().map(|(key, text)| (text_key(key), (*text).to_owned())).collect();
            writer.append(&rows).expect("there is room");
        };
        assert!(SummaryTable::open(folder.path()).is_none());
        write(&[("a", "Adds."), ("b", "")]);
        let whole = std::fs::read(path(folder.path())).expect("it is there");
        let starts = [MAGIC.len(), MAGIC.len() + HEAD + 5, whole.len()];
        for end in 0..=whole.len() {
            std::fs::write(path(folder.path()), &whole[..end]).expect("it is ours");
            let kept = starts.iter().filter(|start| **start <= end).count().saturating_sub(1);
            assert_eq!(SummaryTable::open(folder.path()).map_or(0, |table| table.len()), kept, "{end}");
            write(&[("c", "Closes.")]);
            let table = SummaryTable::open(folder.path()).expect("one was written");
            assert_eq!((table.len(), table.get(&text_key("c"))), (kept + 1, "Closes."), "{end}");
        }
        std::fs::write(path(folder.path()), &whole).expect("it is ours");
        let table = SummaryTable::open(folder.path()).expect("it is whole");
        assert_eq!((table.get(&text_key("a")), table.get(&text_key("b"))), ("Adds.", ""));
        assert!(table.has(&text_key("b")) && !table.has(&text_key("c")));
        let mut spoilt = whole;
        spoilt[MAGIC.len() + HEAD] ^= 1;
        std::fs::write(path(folder.path()), &spoilt).expect("it is ours");
        let table = SummaryTable::open(folder.path()).expect("the other is whole");
        assert!(!table.has(&text_key("a")) && table.has(&text_key("b")));
    }
}
