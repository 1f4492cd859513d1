//! Compiler indexes of a run: found beside the sources or given by the user, read once, and reused while unchanged.

use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use super::read::Origin;
use super::run::{Job, Plan};
use super::{Error, Options};
use crate::compilers::{self, ImportCounts, Sources};
use codelode_base::model::{Input, Phase, SourceFile};
use codelode_lang::languages;
use codelode_source::discover;
use codelode_store::{Compiled, CompiledTable, CompilerFacts, Prepared, Snapshot, Writer};

/// The most paths listed in a warning.
const NAMED: usize = 5;

/// The index file that a run would read: the given one, else the one read before, else the one beside the sources.
pub(super) fn seen(origin: &Origin<'_>, options: &Options, before: Option<&CompilerFacts>) -> Option<Input> {
    let Origin::Folder(root) = origin else { return None };
    let path = match (&options.compiler, before) {
        (Some(path), _) => path.strip_prefix(root).unwrap_or(path).to_str()?,
        (None, Some(before)) => before.path.as_str(),
        (None, None) => compilers::BESIDE,
    };
    discover::stamped(root, path)
}

/// Whether the index file needs no reading. A missing file keeps the earlier contents. A given file is read again if it
/// was of no use before.
pub(super) fn is_as_read(seen: Option<&Input>, options: &Options, before: Option<&CompilerFacts>) -> bool {
    match (seen, before) {
        (None, _) => true,
        (Some(_), None) => false,
        (Some(seen), Some(before)) => {
            let is_of_use = before.documents > 0 || options.compiler.is_none();
            is_of_use && (&seen.path, seen.size, seen.mtime_ns) == (&before.path, before.size, before.mtime_ns)
        }
    }
}

/// The compiler index of a run.
#[derive(Default)]
pub(super) struct Compiler {
    /// Facts for the new snapshot.
    pub facts: Option<CompilerFacts>,
    /// The table, if it is new or its symbols are needed.
    pub table: Option<CompiledTable>,
    /// Files to read again for the symbols that it lists in languages without a grammar here.
    pub reread: HashSet<String>,
}

impl Compiler {
    /// Reads the index file if it has changed. Fails if a given file cannot be read.
    pub fn of(
        job: &Job<'_>,
        writer: &mut Writer,
        plan: &mut Plan,
        before: Option<&CompilerFacts>,
    ) -> Result<Self, Error> {
        let seen = if plan.partial { None } else { seen(job.origin, job.options, before) };
        let Some(seen) = seen.filter(|seen| !is_as_read(Some(seen), job.options, before)) else {
            return Ok(Self { facts: before.cloned(), ..Self::default() });
        };
        let _phase = Phase::begin("compiler");
        (job.watcher.progress)(0, None, "reading the compiler's index");
        let (compiled, told) = match read(job, &plan.files, &seen.path) {
            Ok(read) => read,
            Err(why) if job.options.compiler.is_some() => return Err(Error::Compiler(seen.path, why)),
            Err(why) => {
                plan.warnings.push(format!("{} was not used: {why}", seen.path));
                <(Compiled, ImportCounts)>::default()
            }
        };
        plan.warnings.extend(warnings(&seen.path, &told));
        let facts = CompilerFacts {
            path: seen.path,
            size: seen.size,
            mtime_ns: seen.mtime_ns,
            documents: told.documents,
            occurrences: told.occurrences,
            other_text: told.other_text.len() as u64,
            ..CompilerFacts::default()
        };
        let table = writer.add_compiled(&compiled)?;
        let paths = table.documents().iter().map(|document| table.path(document));
        let reread = paths.filter(|path| languages::of_path(path).is_none()).map(str::to_owned).collect();
        Ok(Self { facts: Some(facts), table: Some(table), reread })
    }

    /// Opens the earlier table if files are read in languages without a grammar here.
    pub fn open_for<'f>(
        &mut self,
        before: Option<&Snapshot>,
        mut files: impl Iterator<Item = &'f SourceFile>,
    ) -> Result<(), Error> {
        if self.table.is_none() && self.facts.is_some() && files.any(|file| languages::of_path(&file.path).is_none()) {
            self.table = before.map(Snapshot::compiled).transpose()?.flatten().cloned();
        }
        Ok(())
    }
}

fn read(job: &Job<'_>, files: &[SourceFile], path: &str) -> Result<(Compiled, ImportCounts), String> {
    let Origin::Folder(root) = job.origin else { return Err("it lies in no folder".to_owned()) };
    let bytes = discover::read_bounded(&root.join(path), compilers::LARGEST).map_err(|err| err.to_string())?;
    let (origin, rules) = (job.origin, job.rules);
    let place = |path: &str| files.binary_search_by(|file| file.path.as_str().cmp(path)).ok();
    let text = |path: &str| {
        let text = origin.read(&files[place(path)?], rules).ok()?;
        let hash = Prepared::hash(&text);
        Some((text, hash))
    };
    let beside = Path::new(path).parent().filter(|_| !Path::new(path).is_absolute());
    let sources = Sources {
        root,
        beside: beside.and_then(Path::to_str).unwrap_or_default(),
        has: &|path| place(path).is_some(),
        read: &text,
    };
    // A bug in reading the index must not affect the sources.
    catch_unwind(AssertUnwindSafe(|| compilers::read(&bytes, &sources)))
        .unwrap_or_else(|_| Err("reading it failed: an internal error".to_owned()))
}

/// Warnings about parts of an index that are not used.
fn warnings(path: &str, told: &ImportCounts) -> Vec<String> {
    let mut warnings = Vec::new();
    let all = told.documents + told.other_text.len() as u64 + told.absent;
    if !told.other_text.is_empty() {
        let named: Vec<&str> = told.other_text.iter().take(NAMED).map(String::as_str).collect();
        let more = if told.other_text.len() > NAMED { ", …" } else { "" };
        warnings.push(format!(
            "{path}: {} of {all} documents do not match their files any more ({}{more}); their names are resolved without it",
            told.other_text.len(),
            named.join(", "),
        ));
    }
    if told.absent > 0 {
        warnings.push(format!("{path}: {} of {all} documents belong to files that are not indexed", told.absent));
    }
    warnings
}
