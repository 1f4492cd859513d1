//! Writer of a store: new files first, then the segments, and last the manifest that names them.

use std::collections::BTreeSet;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tantivy::IndexWriter;
use tantivy::indexer::UserOperation;

use super::content_lookup::ContentLookup;
use super::manifest::{Manifest, PackFacts, SnapshotFacts};
use super::prepared::Prepared;
use super::snapshot::{find_file, open_packs};
use super::upkeep::leftovers;
use crate::packs::grams::grams;
use crate::packs::pack::{self, Pack, PackFile, PackWriter};
use crate::search::index;
use crate::search::indexing::{self, MergedSegments, SmallSegmentWriter, Waiting};
use crate::search::segments::Segments;
use crate::tables::DERIVED;
use crate::tables::compiled::{self, Compiled, CompiledTable};
use crate::tables::files::{self, Entry};
use crate::{CONTENT, Error, Snapshot, SymbolId, lock};
use codelode_base::model::Input;
use codelode_lang::languages::language_name;

/// Buffer size of tantivy in bytes, for many files and for few. With few files, allocating large tables would take
/// longer than filling them.
const SEGMENT_MEMORY: usize = 100_000_000;
const SMALL_SEGMENT_MEMORY: usize = 15_000_000;
/// Maximum number of files that count as few.
const FEW_FILES: usize = 100;
/// Maximum number of files waiting for removal from the search index.
const MOST_GARBAGE: usize = 64;
/// Unreferenced files are kept while their total size is below this fraction of the live files.
const KEPT_GARBAGE: u64 = 6;
/// Exclusive writer of a store. Dropped without a commit, it leaves the store unchanged.
pub struct Writer {
    dir: PathBuf,
    _lock: File,
    manifest: Manifest,
    packs: Vec<(PackFacts, Pack)>,
    next_file: u32,
    pack: Option<PackWriter>,
    segments: Segments,
    segment_memory: usize,
    /// Number of grams of four bytes gathered before they are written.
    most_grams: usize,
    /// Writer of added definitions while they are few.
    few: Option<SmallSegmentWriter>,
    are_few: bool,
    index: Option<IndexWriter<Waiting>>,
    /// Whether there are files that no manifest names yet.
    has_written: bool,
    /// Checksum of the occurrences of compilers that are new.
    compiled: Option<u64>,
    /// Whether nothing may be left of files that no snapshot has.
    is_alone: bool,
}

impl Drop for Writer {
    fn drop(&mut self) {
        if self.has_written {
            // On a full disk, the remains of this attempt would leave less room for the next.
            (self.pack, self.few, self.index) = (None, None, None);
            sweep(&self.dir, &Manifest::read_any(&self.dir).unwrap_or_else(Manifest::empty));
        }
    }
}

impl Writer {
    /// Starts a commit to a folder, when no other process writes there.
    pub fn begin(dir: &Path, wait: Duration) -> Result<Self, Error> {
        Self::over(dir, lock(dir, wait)?)
    }

    /// Starts a rebuild. A store that cannot be read completely is built anew beside the old files, which stay until
    /// the new ones are published: an earlier version may still answer from them.
    pub(crate) fn begin_anew(dir: &Path, wait: Duration) -> Result<Self, Error> {
        let lock = lock(dir, wait)?;
        let whole = Manifest::read(dir).and_then(|manifest| {
            open_packs(dir, &manifest)?;
            let names = manifest.snapshots.keys();
            names.into_iter().try_for_each(|name| Snapshot::open(dir, manifest.clone(), name)?.verify())
        });
        match whole {
            Ok(()) | Err(Error::Missing(_)) => Self::over(dir, lock),
            Err(err @ Error::Newer { .. }) => Err(err),
            Err(err) => {
                tracing::info!("rebuilding the index at {}: {err}", dir.display());
                let old = Manifest::read_any(dir).unwrap_or_else(Manifest::empty);
                sweep(dir, &old);
                Self::upon(dir, lock, Manifest { generation: last_number(dir), ..Manifest::empty() })
            }
        }
    }

    /// Starts a commit over what a folder holds, whose lock is held.
    pub fn over(dir: &Path, lock: File) -> Result<Self, Error> {
        let manifest = match Manifest::read(dir) {
            Err(Error::Missing(_)) => {
                // Numbers start again, so old files are removed instead of overwritten: others may have mapped them.
                let manifest = Manifest::empty();
                sweep(dir, &manifest);
                manifest
            }
            other => other?,
        };
        Self::upon(dir, lock, manifest)
    }

    fn upon(dir: &Path, lock: File, manifest: Manifest) -> Result<Self, Error> {
        let segments_dir = dir.join("index");
        std::fs::create_dir_all(&segments_dir).map_err(Error::io("cannot make the folder", &segments_dir))?;
        let packs = open_packs(dir, &manifest)?;
        // Damaged tables must not be built upon.
        packs.iter().try_for_each(|(_, pack)| pack.check_tables())?;
        let meta = (!manifest.segments.is_null()).then(|| manifest.segments.to_string().into_bytes());
        Ok(Self {
            dir: dir.to_owned(),
            _lock: lock,
            next_file: manifest.next_file,
            packs,
            pack: None,
            segments: Segments::new(segments_dir, meta),
            segment_memory: SMALL_SEGMENT_MEMORY,
            most_grams: usize::MAX,
            few: None,
            are_few: true,
            index: None,
            has_written: false,
            compiled: None,
            is_alone: false,
            manifest,
        })
    }

    /// The same writer, whose commit leaves nothing behind of files that no snapshot has: no text, no symbol, no term.
    pub(super) fn alone(mut self) -> Result<Self, Error> {
        let mut live = FileNumbers::new(self.next_file);
        for facts in self.manifest.snapshots.values() {
            self.held_by(facts)?.for_each(|id| live.insert(id));
        }
        let stored = self.packs.iter().flat_map(|(_, pack)| pack.files()).map(|file| file.id);
        let gone: BTreeSet<u32> = stored.filter(|id| !live.contains(*id)).collect();
        self.manifest.garbage = gone.into_iter().chain(self.manifest.garbage.drain(..)).collect();
        self.is_alone = true;
        Ok(self)
    }

    /// Snapshot that this commit starts from; `None` for a new checkout.
    pub fn base(&self, name: &str) -> Result<Option<Snapshot>, Error> {
        match Snapshot::open(&self.dir, self.manifest.clone(), name) {
            Ok(snapshot) => {
                // All of it is about to be read, and damaged rows must not get new checksums.
                snapshot.table().check_all()?;
                Ok(Some(snapshot))
            }
            Err(Error::NoSnapshot) => Ok(None),
            Err(err) => Err(err),
        }
    }

    /// Number of a checkout's last commit.
    pub fn published(&self, name: &str) -> Option<u64> {
        self.manifest.snapshots.get(name).map(|facts| facts.number)
    }

    /// Announces the number of files and the memory limit in bytes, before the first file is added. The limit is
    /// raised to the minimum that the writer needs, and capped at a useful size.
    pub fn expect(&mut self, files: usize, memory: Option<u64>) {
        self.are_few = files <= FEW_FILES;
        let useful = if self.are_few { SMALL_SEGMENT_MEMORY } else { SEGMENT_MEMORY };
        let memory = memory.map_or(usize::MAX, |bytes| usize::try_from(bytes).unwrap_or(usize::MAX));
        // Terms take three quarters of it, grams the rest.
        self.segment_memory = (memory / 4 * 3).clamp(SMALL_SEGMENT_MEMORY, useful);
        self.most_grams = memory / 16;
    }

    /// Contents that the store holds already, for lookups by any thread.
    pub fn known(&self) -> Result<ContentLookup, Error> {
        // Unreferenced files may still lie in a pack and be missing from the search index.
        let mut findable = FileNumbers::new(self.next_file);
        self.manifest.garbage.iter().for_each(|id| findable.insert(*id));
        for facts in self.manifest.snapshots.values() {
            self.held_by(facts)?.for_each(|id| findable.insert(id));
        }
        let packs: Vec<_> = self.packs.iter().filter(|(facts, _)| facts.content == CONTENT).cloned().collect();
        let by_hash: Vec<([u8; 8], u32)> = packs
            .iter()
            .flat_map(|(_, pack)| pack.files())
            .filter(|file| findable.contains(file.id))
            .map(|file| (pack::first_eight(&file.hash), file.id))
            .collect();
        Ok(ContentLookup::new(by_hash, packs))
    }

    /// Adds a file that the store does not hold. Returns its number.
    pub fn add(&mut self, file: Prepared) -> Result<u32, Error> {
        self.has_written = true;
        let id = self.next_file;
        self.next_file += 1;
        self.pack_writer()?.add(&file.as_number(id))?;
        // The last document is that of the whole file.
        let last = file.documents.len().wrapping_sub(1);
        let numbered = file.documents.into_iter().enumerate().map(|(place, mut document)| {
            let index = if place == last { SymbolId::FILE } else { place as u32 };
            index::number(&mut document, SymbolId { file: id, index });
            Waiting { document, _held: file.held.clone() }
        });
        match self.are_few {
            true => self.add_to_few(numbered)?,
            // All documents are sent at once: waking the indexing thread costs more than a small document.
            false => drop(self.index_writer()?.run(numbered.map(UserOperation::Add))?),
        }
        Ok(id)
    }

    /// Adds occurrences that compilers found, for the snapshot of this commit.
    pub fn add_compiled(&mut self, compiled: &Compiled) -> Result<CompiledTable, Error> {
        self.has_written = true;
        let path = compiled::path(&self.dir, self.manifest.generation + 1);
        let written = File::create(&path).and_then(|file| {
            let mut out = std::io::BufWriter::new(file);
            compiled.write(&mut out)?;
            std::io::Write::flush(&mut out)
        });
        written.map_err(Error::io("cannot write", &path))?;
        self.compiled = Some(compiled.checksum());
        CompiledTable::open(&path)
    }

    fn add_to_few(&mut self, mut documents: impl Iterator<Item = Waiting>) -> Result<(), Error> {
        let mut few = self.few.take().map_or_else(|| SmallSegmentWriter::beside(&self.segments), Ok)?;
        documents.try_for_each(|document| few.add(document))?;
        match few.memory() > SMALL_SEGMENT_MEMORY {
            true => few.finish(&self.segments)?,
            false => self.few = Some(few),
        }
        Ok(())
    }

    /// Publishes a checkout's new snapshot; `entries` must be sorted by path. `facts` needs only the values that the
    /// store cannot count.
    pub fn commit(
        mut self,
        name: &str,
        entries: &[Entry],
        inputs: &[Input],
        facts: SnapshotFacts,
    ) -> Result<SnapshotFacts, Error> {
        self.has_written = true;
        let generation = self.manifest.generation + 1;
        let mut live = FileNumbers::new(self.next_file);
        entries.iter().filter_map(|entry| entry.state.ok()).for_each(|id| live.insert(id));
        let mut others = FileNumbers::new(self.next_file);
        for (_, facts) in self.manifest.snapshots.iter().filter(|(other, _)| *other != name) {
            self.held_by(facts)?.for_each(|id| others.insert(id));
        }

        let mut garbage = Vec::new();
        if let Some(before) = self.manifest.snapshots.get(name) {
            garbage.extend(self.held_by(before)?.filter(|id| !live.contains(*id) && !others.contains(*id)));
        }
        live.join(&others);
        // Files in use again are no garbage.
        self.manifest.garbage.retain(|id| !live.contains(*id));
        self.manifest.garbage.extend(garbage);
        let (kept, gone) = self.sort_garbage(&live);
        let mut wanted = live;
        kept.iter().for_each(|id| wanted.insert(*id));

        // tantivy's part takes longest and is independent, so the rest runs in parallel.
        let added = (self.few.take(), self.index.take());
        let (segments, memory) = (self.segments.clone(), self.segment_memory);
        let identities = self.manifest.files.clone();
        let segments_dir = self.dir.join("index");
        let place = (&*segments_dir, memory);
        let joined = if self.is_alone { MergedSegments::Wasted } else { MergedSegments::Small };
        let mut to_sync = std::thread::scope(|scope| {
            let indexing = scope.spawn(|| indexing::commit(added, &gone, segments, place, &identities, joined));
            let written = self.write_tables(generation, &wanted, entries, inputs);
            indexing.join().expect("tantivy tells of its errors")?;
            written
        })?;
        let written = self.segments.take_written().into_iter().chain([segments_dir]);
        // A merge may have deleted files that it made superfluous.
        to_sync.extend(written.filter_map(|path| File::open(&path).ok().map(|file| (path, file))));

        let mut facts = self.count(entries, SnapshotFacts { number: generation, content: CONTENT, ..facts });
        if let (Some(checksum), Some(compiler)) = (self.compiled, &mut facts.compiler) {
            (compiler.number, compiler.checksum) = (generation, checksum);
            let path = compiled::path(&self.dir, generation);
            let file = File::open(&path).map_err(Error::io("cannot open", &path))?;
            to_sync.push((path, file));
        }
        self.carry_over(&facts, entries);
        self.manifest.snapshots.insert(name.to_owned(), facts.clone());
        self.publish(generation, to_sync)?;
        Ok(facts)
    }

    /// Chooses the unreferenced files to keep in case they return, as after switching branches and back: the newest,
    /// while their total is small beside the live files. Returns the kept files, and those to delete from the search
    /// index. Deletion is batched, because each batch opens every segment, and unreferenced files are invisible
    /// anyway.
    fn sort_garbage(&mut self, live: &FileNumbers) -> (Vec<u32>, Vec<u32>) {
        let files = self.packs.iter().flat_map(|(_, pack)| pack.files().iter().map(move |file| (pack, file)));
        let live_weight: u64 =
            files.filter(|(_, file)| live.contains(file.id)).map(|(pack, file)| pack.weight(file)).sum();
        let mut room = live_weight / KEPT_GARBAGE;
        let mut fits = |id: &u32| {
            let Some((pack, file)) = find_file(&self.packs, *id) else { return false };
            let weight = pack.weight(file);
            room = room.saturating_sub(weight);
            room > 0 && !self.is_alone
        };
        let n_kept = self.manifest.garbage.iter().rev().copied().take_while(|id| fits(id)).count();
        let kept = self.manifest.garbage.split_off(self.manifest.garbage.len() - n_kept);
        let gone = match self.manifest.garbage.len() > MOST_GARBAGE || self.is_alone {
            true => std::mem::take(&mut self.manifest.garbage),
            false => Vec::new(),
        };
        self.manifest.garbage.extend(&kept);
        (kept, gone)
    }

    /// Reuses the edges of another snapshot with the same files, or of the previous one: a new worktree or a touched
    /// file changes no edges.
    fn carry_over(&self, facts: &SnapshotFacts, entries: &[Entry]) {
        let same = |other: &&SnapshotFacts| {
            let counts = |facts: &SnapshotFacts| (facts.content, facts.files, facts.symbols, facts.lines, facts.bytes);
            let ids = || entries.iter().filter_map(|entry| entry.state.ok());
            counts(other) == counts(facts)
                && other.compiler == facts.compiler
                && self.held_by(other).is_ok_and(|held| held.eq(ids()))
        };
        let twins: Vec<u64> = self.manifest.snapshots.values().filter(same).map(|twin| twin.number).collect();
        for path in DERIVED {
            let to = path(&self.dir, facts.number);
            // A commit that was never published may have left one.
            let _ = std::fs::remove_file(&to);
            // Edges that cannot be linked are computed again.
            let _ = twins.iter().any(|twin| std::fs::hard_link(path(&self.dir, *twin), &to).is_ok());
        }
    }

    /// Removes a checkout.
    pub fn forget(mut self, name: &str) -> Result<(), Error> {
        let Some(facts) = self.manifest.snapshots.remove(name) else { return Ok(()) };
        let mut others = FileNumbers::new(self.next_file);
        for facts in self.manifest.snapshots.values() {
            self.held_by(facts)?.for_each(|id| others.insert(id));
        }
        let gone: Vec<u32> = self.held_by(&facts)?.filter(|id| !others.contains(*id)).collect();
        // Earlier garbage still waits for removal.
        self.manifest.garbage.extend(gone);
        self.publish(self.manifest.generation + 1, Vec::new())
    }

    /// Numbers of the files of a checkout.
    fn held_by(&self, facts: &SnapshotFacts) -> Result<impl Iterator<Item = u32> + use<>, Error> {
        let table = files::FileTable::open(&files::path(&self.dir, facts.number))?;
        self.manifest.files.check(table.map())?;
        table.check_all()?;
        Ok(table.held().collect::<Vec<u32>>().into_iter())
    }

    /// Syncs these files and the manifest, publishes the manifest, and removes the files that it no longer names.
    fn publish(&mut self, generation: u64, mut to_sync: Vec<(PathBuf, File)>) -> Result<(), Error> {
        self.manifest.generation = generation;
        self.manifest.next_file = self.next_file;
        self.manifest.packs = self.packs.iter().map(|(facts, _)| facts.clone()).collect();
        if let Some(meta) = self.segments.meta() {
            self.manifest.segments = serde_json::from_slice(&meta).expect("tantivy writes its list as JSON");
        }
        self.manifest.identify(&self.dir)?;
        to_sync.push(self.manifest.stage(&self.dir)?);
        let folder = File::open(&self.dir).map_err(Error::io("cannot open", &self.dir))?;
        to_sync.push((self.dir.clone(), folder));
        debug_assert!(self.is_safe_with(&to_sync), "a manifest names what a power cut may take");
        sync_all(to_sync)?;
        Manifest::publish(&self.dir)?;
        self.has_written = false;
        // File systems keep the order of rename and removal. After a power cut this manifest or the previous one
        // exists with all its files, without another sync.
        sweep(&self.dir, &self.manifest);
        Ok(())
    }

    /// Whether every file that the manifest names is in `to_sync`, or was synced before.
    fn is_safe_with(&self, to_sync: &[(PathBuf, File)]) -> bool {
        let before = Manifest::read(&self.dir).map(|manifest| manifest.committed(&self.dir)).unwrap_or_default();
        let is_synced = |path: &PathBuf| before.contains(path) || to_sync.iter().any(|(synced, _)| synced == path);
        self.manifest.committed(&self.dir).iter().all(is_synced)
    }

    fn pack_writer(&mut self) -> Result<&mut PackWriter, Error> {
        if self.pack.is_none() {
            self.pack = Some(PackWriter::create(pack::path(&self.dir, self.manifest.generation + 1), self.most_grams)?);
        }
        Ok(self.pack.as_mut().expect("it was made above"))
    }

    fn index_writer(&mut self) -> Result<&mut IndexWriter<Waiting>, Error> {
        if self.index.is_none() {
            self.index = Some(indexing::open_writer(self.segments.clone(), self.segment_memory)?);
        }
        Ok(self.index.as_mut().expect("it was made above"))
    }

    /// Copies the live files of the newest packs into the current one, so that packs stay few. A pack is merged when
    /// it is not much larger than the packs after it, or when a third of it is garbage. Each byte is copied a
    /// logarithmic number of times (O'Neil et al. 1996, the log-structured merge tree). Returns the oldest extraction
    /// version among the files of the new pack.
    fn collect_packs(&mut self, live: &FileNumbers) -> Result<u32, Error> {
        self.pack.as_mut().map_or(Ok(()), PackWriter::write_grams)?;
        let mut keep = self.packs.len();
        let mut carried = self.pack.as_ref().map_or(0, PackWriter::bytes);
        // Files of another extraction version are about to be read again: merged with new ones, they would mark these
        // as old.
        let joins = |(facts, _): &(PackFacts, Pack), carried| facts.content == CONTENT && facts.bytes <= 2 * carried;
        while keep > 0 && carried > 0 && joins(&self.packs[keep - 1], carried) {
            carried += self.packs[keep - 1].0.bytes;
            keep -= 1;
        }
        let wasted = |pack: &Pack| {
            let (mut all, mut dead) = (0, 0);
            for file in pack.files() {
                all += pack.weight(file);
                dead += if live.contains(file.id) { 0 } else { pack.weight(file) };
            }
            if self.is_alone { dead > 0 } else { 3 * dead > all }
        };
        keep = self.packs[..keep].iter().position(|(_, pack)| wasted(pack)).unwrap_or(keep);
        let old: Vec<(PackFacts, Pack)> = self.packs.drain(keep..).collect();
        for (_, pack) in &old {
            // Damaged files must not get new checksums.
            pack.verify_tables()?;
            let files = (0..).zip(pack.files());
            for (place, record) in files.filter(|(_, file)| live.contains(file.id)) {
                let content = pack.content(place, record);
                self.pack_writer()?.add(&PackFile {
                    record: *record,
                    path: pack.path(record),
                    content,
                    facts: pack.facts(place, record),
                    symbols: pack.symbols(record),
                    decorators: pack.decorators(record),
                    grams: &grams(content),
                })?;
            }
            pack.damage()?;
        }
        Ok(old.iter().map(|(facts, _)| facts.content).min().unwrap_or(CONTENT).min(CONTENT))
    }

    /// Writes the pack of added files and the table of the checkout's files. Returns the files to sync.
    fn write_tables(
        &mut self,
        generation: u64,
        live: &FileNumbers,
        entries: &[Entry],
        inputs: &[Input],
    ) -> Result<Vec<(PathBuf, File)>, Error> {
        let content = self.collect_packs(live)?;
        let mut to_sync = Vec::new();
        if let Some(pack) = self.pack.take() {
            let files = pack.len() as u32;
            let file = pack.finish()?;
            let path = pack::path(&self.dir, generation);
            let pack = Pack::open(&path)?;
            let first_file = pack.files().first().map_or(self.next_file, |file| file.id);
            let bytes = file.metadata().map_err(Error::io("cannot read", &path))?.len();
            let facts = PackFacts { number: generation, first_file, end_file: self.next_file, bytes, files, content };
            self.packs.push((facts, pack));
            to_sync.push((path, file));
        }
        let path = files::path(&self.dir, generation);
        let table = files::write(&path, entries, inputs)?;
        to_sync.push((path, table));
        Ok(to_sync)
    }

    /// Fills in the counts.
    fn count(&self, entries: &[Entry], mut facts: SnapshotFacts) -> SnapshotFacts {
        for entry in entries {
            let Some((pack, file)) = entry.state.ok().and_then(|id| find_file(&self.packs, id)) else { continue };
            facts.files += 1;
            facts.symbols += u64::from(file.symbols);
            facts.lines += u64::from(file.lines);
            facts.bytes += u64::from(file.content_len);
            let language = match codelode_lang::languages::LANGUAGES.get(file.language as usize) {
                Some(spec) => spec.id,
                None => language_name(pack.path(file)),
            };
            match facts.languages.get_mut(language) {
                Some(count) => *count += 1,
                None => drop(facts.languages.insert(language.to_owned(), 1)),
            }
        }
        facts
    }
}

/// Greatest number of a file in a store: the next one is free.
fn last_number(dir: &Path) -> u64 {
    let number = |entry: std::fs::DirEntry| entry.path().extension()?.to_str()?.parse().ok();
    std::fs::read_dir(dir).into_iter().flatten().flatten().filter_map(number).max().unwrap_or(0)
}

/// A set of file numbers.
struct FileNumbers(Vec<u64>);

impl FileNumbers {
    fn new(size: u32) -> Self {
        Self(vec![0; size.div_ceil(64) as usize])
    }

    fn insert(&mut self, id: u32) {
        if let Some(word) = self.0.get_mut(id as usize / 64) {
            *word |= 1 << (id % 64);
        }
    }

    fn contains(&self, id: u32) -> bool {
        self.0.get(id as usize / 64).is_some_and(|word| word >> (id % 64) & 1 == 1)
    }

    fn join(&mut self, other: &Self) {
        self.0.iter_mut().zip(&other.0).for_each(|(word, other)| *word |= other);
    }
}

/// Syncs files in parallel: the disk takes little longer for all than for one.
fn sync_all(files: Vec<(PathBuf, File)>) -> Result<(), Error> {
    std::thread::scope(|scope| {
        let running: Vec<_> = files
            .iter()
            .map(|(path, file)| scope.spawn(move || file.sync_all().map_err(Error::io("cannot sync", path))))
            .collect();
        running.into_iter().try_for_each(|thread| thread.join().expect("syncing a file does not panic"))
    })
}

/// Removes the files that this manifest does not name: those of older generations, which readers hold open, and
/// leftovers of a crash. Failed removals are left to the next sweep.
fn sweep(dir: &Path, manifest: &Manifest) {
    for path in leftovers(dir, manifest) {
        let _ = std::fs::remove_file(path);
    }
}
