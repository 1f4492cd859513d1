//! Parallel reading and extraction of files; results arrive on one thread.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use crossbeam_channel::unbounded;

use super::memory::{Gate, MemoryPlan};
use super::{Error, RunControl, tree};
use crate::compilers;
use codelode_base::model::{Extraction, Languages, SkipReason, SourceFile};
use codelode_lang::extract::{extract_within, has_stack, stack_for};
use codelode_lang::languages;
use codelode_source::discover::{self, Rules};
use codelode_store::{CompiledTable, ContentLookup, Prepared};

/// Result of reading a file.
pub(super) enum ReadOutcome {
    Skipped(SkipReason),
    /// Content that the store already holds, by its number.
    Held(u32),
    /// New content, with an error if its symbols could not be extracted.
    New(Box<Prepared>, Option<String>),
}

/// The source of the files.
pub(super) enum Origin<'a> {
    Folder(&'a Path),
    Commit(tree::Reader<'a>),
}

impl Origin<'_> {
    pub fn read(&self, file: &SourceFile, rules: &Rules) -> Result<Vec<u8>, SkipReason> {
        match self {
            Self::Folder(root) => discover::read(root, file, rules),
            Self::Commit(reader) => reader.read(file, rules),
        }
    }
}

/// Context for reading files.
pub(super) struct ReadContext<'a> {
    pub origin: &'a Origin<'a>,
    pub rules: &'a Rules,
    /// Languages that the settings assign to files.
    pub languages: &'a Languages,
    /// Contents that the store already holds.
    pub known: Option<&'a ContentLookup>,
    /// Symbols for languages without a grammar here.
    pub compiled: Option<&'a CompiledTable>,
    pub watcher: &'a RunControl<'a>,
    pub memory: &'a MemoryPlan,
}

impl ReadContext<'_> {
    /// Reads files on all cores. Passes each result to `take` on this thread, with whether the file holds a credential.
    pub fn read_all(
        &self,
        entries: &[SourceFile],
        places: &[usize],
        take: &mut dyn FnMut(usize, ReadOutcome, bool) -> Result<(), Error>,
    ) -> Result<(), Error> {
        if places.is_empty() {
            return Ok(());
        }
        let total = places.len() as u64;
        let cores = std::thread::available_parallelism().map_or(2, usize::from);
        let threads = cores.min(self.memory.threads.unwrap_or(cores)).min(places.len());
        let cancelled = &self.watcher.cancelled;
        let next = AtomicUsize::new(0);
        let stop = AtomicBool::new(false);
        let gate = Gate::new(self.memory.under_way);
        let stack = stack_for(places.iter().map(|place| entries[*place].size).max().unwrap_or_default());
        // The gate bounds the queue.
        let (sender, receiver) = unbounded();
        std::thread::scope(|scope| {
            let work = |stack| {
                let (sender, next, stop, gate) = (sender.clone(), &next, &stop, &gate);
                move || {
                    has_stack(stack);
                    while let Some(place) = places.get(next.fetch_add(1, Ordering::Relaxed)) {
                        if stop.load(Ordering::Relaxed) || cancelled.load(Ordering::Relaxed) {
                            break;
                        }
                        let file = &entries[*place];
                        let ticket = Arc::new(gate.enter(MemoryPlan::weight_of(file.size)));
                        let (read, credential) = self.read_one(file);
                        let read = match read {
                            ReadOutcome::New(prepared, failure) => {
                                ReadOutcome::New(Box::new(prepared.holding(ticket)), failure)
                            }
                            other => other,
                        };
                        // The receiver is gone if writing failed.
                        if sender.send((*place, read, credential)).is_err() {
                            break;
                        }
                    }
                }
            };
            for _ in 0..threads {
                let thread = std::thread::Builder::new().stack_size(stack);
                // Without memory for large stacks, large files get no symbols.
                if thread.spawn_scoped(scope, work(stack)).is_err() {
                    scope.spawn(work(0));
                }
            }
            drop(sender);
            let mut done = 0;
            let mut result = Ok(());
            for (place, read, credential) in &receiver {
                done += 1;
                (self.watcher.progress)(done, Some(total), "indexing");
                result = take(place, read, credential);
                if result.is_err() || cancelled.load(Ordering::Relaxed) {
                    stop.store(true, Ordering::Relaxed);
                    break;
                }
            }
            drop(receiver);
            // Wakes up waiting threads, which then see that the run has stopped.
            gate.open();
            match cancelled.load(Ordering::Relaxed) {
                true => Err(Error::Cancelled),
                false => result,
            }
        })
    }

    /// Reads and extracts one file, and looks for credentials that the user has not allowed.
    fn read_one(&self, file: &SourceFile) -> (ReadOutcome, bool) {
        let content = match self.origin.read(file, self.rules) {
            Ok(content) => content,
            Err(reason) => return (ReadOutcome::Skipped(reason), false),
        };
        let credential = discover::holds_credential(&content) && !self.rules.secrets.allows(&file.path);
        (self.prepare(file, content), credential)
    }

    /// Extracts one file.
    fn prepare(&self, file: &SourceFile, content: Vec<u8>) -> ReadOutcome {
        let hash = Prepared::hash(&content);
        let language = languages::number_of(self.languages, &file.path, &content);
        let compiled = self.compiled.filter(|_| language.is_none());
        let compiled = compiled.and_then(|table| Some((table, table.document(&file.path, &hash)?)));
        // Content that was stored without the compiler's symbols is stored again.
        let is_whole = |known: &ContentLookup, id: u32| compiled.is_none() || known.has_symbols(id);
        let known = self.known.and_then(|known| Some((known, known.find(&file.path, &hash, language)?)));
        if let Some((_, id)) = known.filter(|(known, id)| is_whole(known, *id)) {
            return ReadOutcome::Held(id);
        }
        let path = &file.path;
        let prepare = || {
            let extraction = match language {
                Some(number) => extract_within(languages::of_number(number), &content, &self.memory.limits),
                None => compiled.map_or_else(Extraction::default, |(table, document)| {
                    compilers::symbols(table, document, &content)
                }),
            };
            let lost = match extraction.is_given_up() {
                true => "its text is searchable, its symbols are not",
                false => "some of its symbols or relations are missing",
            };
            let failure = extraction.failure.as_ref().map(|failure| format!("{failure}; {lost}"));
            ReadOutcome::New(Box::new(Prepared::new(path.clone(), content, hash, language, &extraction)), failure)
        };
        catch_unwind(AssertUnwindSafe(prepare)).unwrap_or_else(|_| self.read_plain(file))
    }

    /// Reads only the text of a file, after a bug in extraction.
    fn read_plain(&self, file: &SourceFile) -> ReadOutcome {
        match self.origin.read(file, self.rules) {
            Err(reason) => ReadOutcome::Skipped(reason),
            Ok(content) => {
                let failure =
                    "reading its symbols failed: an internal error; its text is searchable, its symbols are not";
                let nothing = Extraction { failure: Some(failure.into()), ..Extraction::default() };
                let hash = Prepared::hash(&content);
                let language = languages::number_of(self.languages, &file.path, &content);
                let prepared = Prepared::new(file.path.clone(), content, hash, language, &nothing);
                ReadOutcome::New(Box::new(prepared), Some(failure.to_owned()))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pipeline::{Options, index_folder};
    use codelode_base::config::Config;
    use codelode_base::model::unfollowed;
    use codelode_lang::extract::Limits;
    use codelode_store::{FileView, Registry, Snapshot};

    /// Indexes a folder within a time for each file.
    fn indexed(config: &Config, root: &Path, time: std::time::Duration) -> Snapshot {
        let limits = Limits { time, ..Limits::default() };
        let options = Options { limits: Some(limits), ..Options::default() };
        let (cancelled, patience) = (AtomicBool::new(false), std::time::Duration::from_secs(10));
        let watcher = RunControl { progress: &unfollowed, cancelled: &cancelled, patience };
        let report = index_folder(root, config, &options, &watcher).expect("it can be indexed");
        let store = Registry::new(&config.home).store(&report.sidecar.store);
        store.snapshot(&report.sidecar.snapshot).expect("it was just written")
    }

    #[test]
    fn a_file_that_time_ended_is_read_again_by_the_next_run() {
        let place = tempfile::tempdir().expect("there is room for a folder");
        let root = place.path().join("source");
        std::fs::create_dir(&root).expect("the folder is new");
        std::fs::write(root.join("a.py"), "def f(): pass\n".repeat(200)).expect("there is room");
        let config = Config { home: place.path().join("index"), ..Config::default() };
        let symbols = |snapshot: &Snapshot| snapshot.files().map(|file| file.symbol_count()).sum::<u32>();
        let first = indexed(&config, &root, std::time::Duration::ZERO);
        assert!(first.files().all(|file| file.timed_out()) && symbols(&first) < 200);
        let second = indexed(&config, &root, Limits::default().time);
        assert!(!second.files().any(|file: FileView<'_>| file.timed_out()));
        assert_eq!(symbols(&second), 200);
        // A file that was read whole is not read again.
        let third = indexed(&config, &root, std::time::Duration::ZERO);
        assert_eq!(symbols(&third), 200);
    }
}
