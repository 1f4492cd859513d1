//! Vectors of texts by one model, in a file that only grows: each row holds a text's key, eight bits for each
//! dimension, and a checksum.
//!
//! A row is durable for other processes as soon as it is written, so a killed process loses nothing that it has
//! received. Rows belong to texts, not to symbols: all checkouts of the repository share them. The end of a killed
//! write is no whole row, and the next writer cuts it off.

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustc_hash::FxBuildHasher;

use super::codes::Codes;
use crate::packs::map::{MappedFile, UNFINISHED};
use crate::packs::pack::{agrees, checksum};
use crate::{Error, locked};

const MAGIC: [u8; 8] = *b"clvector";
/// Version of the layout.
const VERSION: u32 = 1;
/// Bytes before the first row: magic, version, dimensions, length of the identity, identity.
const HEADER: usize = 256;
const NAMED: usize = 20;
/// Bytes of a row before its numbers: key, scale, checksum.
const ROW: usize = 24;
/// Beginning of the names of these files. The rest is never a number alone, as for files of commits.
const PREFIX: &str = "vectors.m";
/// Time between syncs: only a failure of the whole machine loses what was written since.
const SYNC_EVERY: Duration = Duration::from_secs(2);

/// Key of a text: the beginning of its hash.
pub type TextKey = [u8; 16];

/// Key of a text.
pub fn text_key(text: &str) -> TextKey {
    text_key_of(&[text.as_bytes()])
}

/// Key of a text in parts.
pub(crate) fn text_key_of(parts: &[&[u8]]) -> TextKey {
    let mut hasher = blake3::Hasher::new();
    parts.iter().for_each(|part| _ = hasher.update(part));
    let mut key = TextKey::default();
    key.copy_from_slice(&hasher.finalize().as_bytes()[..16]);
    key
}

/// Path of a model's vectors.
pub fn path(dir: &Path, identity: &str) -> PathBuf {
    dir.join(format!("{PREFIX}{:016x}", checksum(identity.as_bytes())))
}

/// Paths of all models' vectors.
pub fn all(dir: &Path) -> Vec<PathBuf> {
    let is_one = |path: &PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        name.strip_prefix(PREFIX).is_some_and(|hash| hash.len() == 16 && !hash.contains('.'))
    };
    let entries = std::fs::read_dir(dir).into_iter().flatten().flatten();
    let mut all: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(is_one).collect();
    all.sort();
    all
}

fn header(identity: &str, dimensions: usize) -> [u8; HEADER] {
    let mut header = [0; HEADER];
    let room = HEADER - NAMED;
    let identity = &identity.as_bytes()[..identity.len().min(room)];
    header[..8].copy_from_slice(&MAGIC);
    header[8..12].copy_from_slice(&VERSION.to_le_bytes());
    header[12..16].copy_from_slice(&(dimensions as u32).to_le_bytes());
    header[16..20].copy_from_slice(&(identity.len() as u32).to_le_bytes());
    header[NAMED..NAMED + identity.len()].copy_from_slice(identity);
    header
}

/// Dimensions and identity of a header.
fn read_header(bytes: &[u8]) -> Option<(usize, String)> {
    let bytes = bytes.get(..HEADER)?;
    let number = |at: usize| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
    let (version, dimensions, length) = (number(8), number(12) as usize, number(16) as usize);
    let identity = bytes.get(NAMED..NAMED.checked_add(length)?)?;
    let is_ours = bytes[..8] == MAGIC && version == VERSION && (1..=1 << 16).contains(&dimensions);
    is_ours.then(|| (dimensions, String::from_utf8_lossy(identity).into_owned()))
}

/// A vector of length one, in eight bits a dimension; times `scale` it is the vector.
fn quantized(vector: &[f32]) -> (f32, Vec<i8>) {
    let length = vector.iter().map(|value| value * value).sum::<f32>().sqrt().max(f32::MIN_POSITIVE);
    let largest = vector.iter().fold(0.0_f32, |largest, value| largest.max(value.abs())).max(f32::MIN_POSITIVE);
    let small = vector.iter().map(|value| (value / largest * 127.0).round() as i8).collect();
    (largest / length / 127.0, small)
}

fn row_checksum(key: &[u8], scale: &[u8], numbers: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    [key, scale, numbers].iter().for_each(|part| hasher.update(part));
    hasher.finalize()
}

/// A model's vectors, open for reading.
#[derive(Clone, Debug)]
pub struct VectorTable {
    map: MappedFile,
    dimensions: usize,
    identity: String,
    rows: Arc<HashMap<TextKey, u32, FxBuildHasher>>,
}

impl VectorTable {
    /// Opens the vectors of a model; `None` without any.
    pub fn open(path: &Path) -> Result<Option<Self>, Error> {
        let map = match MappedFile::open(path) {
            Err(Error::Io { source, .. }) if source.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            other => other?,
        };
        // A killed writer may leave less than a header.
        if map.bytes().len() < HEADER {
            return Ok(None);
        }
        let Some((dimensions, identity)) = read_header(map.bytes()) else {
            return Err(map.damaged("it holds no vectors"));
        };
        let rows = map.known(|| Ok(whole_rows(&map, dimensions)))?;
        Ok(Some(Self { map, dimensions, identity, rows }))
    }

    /// Number of dimensions.
    pub fn dimensions(&self) -> usize {
        self.dimensions
    }

    /// Identity of the model.
    pub fn identity(&self) -> &str {
        &self.identity
    }

    /// Number of texts.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Size of the file in bytes.
    pub fn bytes(&self) -> u64 {
        self.map.bytes().len() as u64
    }

    /// Row of a text.
    pub fn row(&self, key: &TextKey) -> Option<u32> {
        self.rows.get(key).copied()
    }

    /// See `MappedFile::damage`.
    pub fn damage(&self) -> Result<(), Error> {
        self.map.damage()
    }

    /// Likeness of a question to rows: the cosine, -1 to 1. Zero for a row that is not there.
    pub fn likenesses(&self, question: &[f32], rows: &[u32]) -> Vec<f32> {
        use rayon::prelude::*;
        let (own, question) = quantized(question);
        let likeness =
            |row: &u32| self.numbers(*row).map_or(0.0, |(scale, numbers)| dot(&question, numbers) as f32 * own * scale);
        rows.par_iter().with_min_len(4096).map(likeness).collect()
    }

    /// Codes of rows, in their order.
    pub fn codes(&self, rows: &[u32]) -> Codes {
        Codes::of(self.dimensions, rows.len(), |place| Some(self.numbers(*rows.get(place)?)?.1))
    }

    /// Scale and numbers of a row.
    fn numbers(&self, row: u32) -> Option<(f32, &[u8])> {
        let row = row_at(&self.map, self.dimensions, row as usize)?;
        Some((f32::from_le_bytes([row[16], row[17], row[18], row[19]]), &row[ROW..]))
    }
}

fn row_at(bytes: &[u8], dimensions: usize, row: usize) -> Option<&[u8]> {
    let start = HEADER.checked_add(row.checked_mul(ROW + dimensions)?)?;
    bytes.get(start..start.checked_add(ROW + dimensions)?)
}

/// Rows whose checksums agree, by key. Later ones replace earlier ones.
fn whole_rows(map: &MappedFile, dimensions: usize) -> HashMap<TextKey, u32, FxBuildHasher> {
    let count = (map.bytes().len() - HEADER) / (ROW + dimensions);
    let mut rows = HashMap::with_capacity_and_hasher(count, FxBuildHasher);
    for at in 0..count {
        let Some(row) = row_at(map, dimensions, at) else { break };
        let stored = u32::from_le_bytes([row[20], row[21], row[22], row[23]]);
        if agrees(stored, row_checksum(&row[..16], &row[16..20], &row[ROW..])) {
            let mut key = TextKey::default();
            key.copy_from_slice(&row[..16]);
            rows.insert(key, at as u32);
        }
    }
    rows
}

/// Dot product of small numbers.
fn dot(a: &[i8], b: &[u8]) -> i32 {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has the instructions.
        return unsafe { dot_wide(a, b) };
    }
    dot_plain(a, b)
}

/// [`dot_plain`], compiled for wide registers.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn dot_wide(a: &[i8], b: &[u8]) -> i32 {
    dot_plain(a, b)
}

#[inline(always)]
fn dot_plain(a: &[i8], b: &[u8]) -> i32 {
    a.iter().zip(b).map(|(a, b)| i32::from(i16::from(*a) * i16::from(*b as i8))).sum()
}

/// Appends vectors of a model. Only one process does so at a time.
#[derive(Debug)]
pub struct VectorWriter {
    file: File,
    path: PathBuf,
    /// Path that the file takes at the end, when it replaces another.
    replaces: Option<PathBuf>,
    identity: String,
    dimensions: Option<usize>,
    synced: Instant,
}

impl VectorWriter {
    /// Begins to append to a model's vectors, or with `anew` to replace them at the end.
    pub fn begin(dir: &Path, identity: &str, anew: bool, wait: Duration) -> Result<Self, Error> {
        let own = path(dir, identity);
        let (path, replaces) = match anew {
            true => (own.with_extension(format!("{}.{UNFINISHED}", ending(&own))), Some(own)),
            false => (own, None),
        };
        let file = locked(&path, wait)?;
        if anew {
            file.set_len(0).map_err(Error::io("cannot write", &path))?;
        }
        let mut head = Vec::new();
        let read = File::open(&path).and_then(|file| file.take(HEADER as u64).read_to_end(&mut head));
        read.map_err(Error::io("cannot read", &path))?;
        let dimensions = match read_header(&head) {
            Some((dimensions, _)) => Some(dimensions),
            None if head.len() < HEADER => None,
            None => return Err(Error::Damaged { path, what: "it holds no vectors".to_owned() }),
        };
        Ok(Self { file, path, replaces, identity: identity.to_owned(), dimensions, synced: Instant::now() })
    }

    /// Appends vectors with the keys of their texts.
    pub fn append(&mut self, rows: &[(TextKey, Vec<f32>)]) -> Result<(), Error> {
        let Some(given) = rows.first().map(|(_, vector)| vector.len()) else { return Ok(()) };
        let is_first = self.dimensions.is_none();
        let dimensions = *self.dimensions.get_or_insert(given);
        if let Some((_, vector)) = rows.iter().find(|(_, vector)| vector.len() != dimensions) {
            if is_first {
                self.dimensions = None;
            }
            return Err(Error::Dimensions { stored: dimensions, given: vector.len() });
        }
        let mut bytes = Vec::with_capacity(HEADER + rows.len() * (ROW + dimensions));
        if is_first {
            bytes.extend(header(&self.identity, dimensions));
        }
        for (key, vector) in rows {
            let (scale, numbers) = quantized(vector);
            let (scale, numbers) =
                (scale.to_le_bytes(), numbers.iter().map(|number| *number as u8).collect::<Vec<_>>());
            bytes.extend(key);
            bytes.extend(scale);
            bytes.extend(row_checksum(key, &scale, &numbers).to_le_bytes());
            bytes.extend(&numbers);
        }
        let failed = |source| Error::io("cannot write", &self.path)(source);
        let length = self.file.metadata().map_err(failed)?.len();
        let whole = match is_first {
            true => 0,
            false => length - length.saturating_sub(HEADER as u64) % (ROW + dimensions) as u64,
        };
        let file = &mut self.file;
        let wrote = file.set_len(whole).and_then(|()| file.seek(SeekFrom::Start(whole)));
        if let Err(source) = wrote.and_then(|_| file.write_all(&bytes)) {
            // A full disk may have taken a part.
            let _ = file.set_len(whole);
            if is_first {
                self.dimensions = None;
            }
            return Err(Error::io("cannot write", &self.path)(source));
        }
        if self.synced.elapsed() >= SYNC_EVERY {
            self.sync()?;
        }
        Ok(())
    }

    /// Syncs what was written, and puts a replacement in its place.
    pub fn finish(mut self) -> Result<(), Error> {
        self.sync()?;
        match &self.replaces {
            Some(own) => std::fs::rename(&self.path, own).map_err(Error::io("cannot replace", own)),
            None => Ok(()),
        }
    }

    /// Rewrites the file with the rows that `keep` accepts, unless another process is replacing it.
    pub fn compact(mut self, keep: &dyn Fn(&TextKey) -> bool) -> Result<(), Error> {
        self.sync()?;
        let Some(dimensions) = self.dimensions else { return Ok(()) };
        let map = MappedFile::open(&self.path)?;
        let rows = whole_rows(&map, dimensions);
        let mut kept: Vec<u32> = rows.iter().filter(|(key, _)| keep(key)).map(|(_, row)| *row).collect();
        kept.sort_unstable();
        let path = self.path.with_extension(format!("{}.{UNFINISHED}", ending(&self.path)));
        let file = match locked(&path, Duration::ZERO) {
            Err(Error::Busy) => return Ok(()),
            other => other?,
        };
        let failed = |source| Error::io("cannot write", &path)(source);
        file.set_len(0).map_err(failed)?;
        let mut out = BufWriter::new(&file);
        let rows = kept.iter().filter_map(|row| row_at(&map, dimensions, *row as usize));
        let written =
            [&header(&self.identity, dimensions)[..]].into_iter().chain(rows).try_for_each(|row| out.write_all(row));
        written.and_then(|()| out.flush()).and_then(|()| file.sync_data()).map_err(failed)?;
        std::fs::rename(&path, &self.path).map_err(Error::io("cannot replace", &self.path))
    }

    fn sync(&mut self) -> Result<(), Error> {
        self.file.sync_data().map_err(Error::io("cannot sync", &self.path))?;
        self.synced = Instant::now();
        Ok(())
    }
}

fn ending(path: &Path) -> String {
    path.extension().map(|ending| ending.to_string_lossy().into_owned()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(texts: &[(&str, [f32; 3])]) -> Vec<(TextKey, Vec<f32>)> {
        texts.iter().map(|(text, vector)| (text_key(text), vector.to_vec())).collect()
    }

    #[test]
    fn rows_are_found_by_their_texts_and_compared_by_angle() {
        let folder = tempfile::tempdir().expect("there is room");
        let mut writer = VectorWriter::begin(folder.path(), "a model", false, Duration::ZERO).expect("it is ours");
        assert!(VectorTable::open(&path(folder.path(), "a model")).expect("an empty one is none").is_none());
        writer.append(&rows(&[("x", [2.0, 0.0, 0.0]), ("y", [0.0, -0.5, 0.0])])).expect("there is room");
        writer.append(&rows(&[("both", [1.0, 1.0, 0.0])])).expect("there is room");
        let busy = VectorWriter::begin(folder.path(), "a model", false, Duration::ZERO);
        assert!(matches!(busy, Err(Error::Busy)));
        let other = writer.append(&[(text_key("z"), vec![1.0])]);
        assert!(matches!(other, Err(Error::Dimensions { stored: 3, given: 1 })));
        writer.finish().expect("it is ours");

        let table = VectorTable::open(&path(folder.path(), "a model")).expect("it is whole").expect("it is there");
        assert_eq!((table.len(), table.dimensions(), table.identity()), (3, 3, "a model"));
        let at = |text: &str| table.row(&text_key(text)).expect("it was added");
        let likeness = table.likenesses(&[1.0, 0.0, 0.0], &[at("x"), at("y"), at("both"), 99]);
        let expected = [1.0, 0.0, 0.5_f32.sqrt(), 0.0];
        assert!(likeness.iter().zip(expected).all(|(a, b)| (a - b).abs() < 0.01), "{likeness:?}");
        assert_eq!(table.row(&text_key("z")), None);
    }

    #[test]
    fn a_killed_write_costs_its_own_rows_only() {
        let folder = tempfile::tempdir().expect("there is room");
        let own = path(folder.path(), "m");
        let write = |texts: &[(&str, [f32; 3])]| {
            let mut writer = VectorWriter::begin(folder.path(), "m", false, Duration::ZERO).expect("it is ours");
            writer.append(&rows(texts)).and_then(|()| writer.finish()).expect("there is room");
        };
        write(&[("a", [1.0, 0.0, 0.0]), ("b", [0.0, 1.0, 0.0])]);
        let whole = std::fs::read(&own).expect("it is there");
        let row = ROW + 3;
        for end in 0..whole.len() {
            std::fs::write(&own, &whole[..end]).expect("it is ours");
            let kept = end.saturating_sub(HEADER) / row;
            let found = VectorTable::open(&own).expect("a beginning is not a damage");
            assert_eq!(found.map_or(0, |table| table.len()), kept, "{end}");
            write(&[("c", [0.0, 0.0, 1.0])]);
            let table = VectorTable::open(&own).expect("it is whole").expect("it is there");
            assert_eq!((table.len(), table.row(&text_key("c")).is_some()), (kept + 1, true), "{end}");
        }
        let mut spoilt = whole.clone();
        spoilt[HEADER + ROW] ^= 1;
        std::fs::write(&own, &spoilt).expect("it is ours");
        let table = VectorTable::open(&own).expect("a row is left out").expect("it is there");
        assert_eq!((table.row(&text_key("a")), table.row(&text_key("b"))), (None, Some(1)));
    }

    #[test]
    fn rows_of_texts_that_are_gone_are_left_behind() {
        let folder = tempfile::tempdir().expect("there is room");
        let begin = || VectorWriter::begin(folder.path(), "m", false, Duration::ZERO).expect("it is ours");
        let mut writer = begin();
        let all = rows(&[("a", [1.0, 0.0, 0.0]), ("b", [0.0, 1.0, 0.0]), ("c", [0.0, 0.0, 1.0])]);
        writer.append(&all).expect("there is room");
        let open = || VectorTable::open(&path(folder.path(), "m")).expect("it is whole").expect("it is there");
        let before = open();
        writer.compact(&|key| *key != text_key("b")).expect("it is ours");
        let table = open();
        assert_eq!((table.len(), table.row(&text_key("b")), before.len()), (2, None, 3));
        let row = table.row(&text_key("c")).expect("it is kept");
        assert!((table.likenesses(&[0.0, 0.0, 2.0], &[row])[0] - 1.0).abs() < 0.01);
        begin().append(&rows(&[("d", [1.0, 1.0, 0.0])])).expect("it can be added to");
        assert_eq!((open().len(), all.len()), (3, 3));
        assert_eq!(super::all(folder.path()), [path(folder.path(), "m")]);
    }

    #[test]
    fn a_replacement_takes_its_place_at_the_end() {
        let folder = tempfile::tempdir().expect("there is room");
        let begin = |anew| VectorWriter::begin(folder.path(), "m", anew, Duration::ZERO).expect("it is ours");
        let mut writer = begin(false);
        writer.append(&rows(&[("a", [1.0, 0.0, 0.0])])).and_then(|()| writer.finish()).expect("there is room");
        let mut writer = begin(true);
        writer.append(&[(text_key("b"), vec![1.0, 0.0])]).expect("dimensions may be others");
        let open = || VectorTable::open(&path(folder.path(), "m")).expect("it is whole").expect("it is there");
        assert_eq!((open().len(), open().dimensions()), (1, 3));
        writer.finish().expect("it is ours");
        assert_eq!((open().dimensions(), open().row(&text_key("b"))), (2, Some(0)));
        assert_eq!(all(folder.path()), [path(folder.path(), "m")]);
    }
}
