//! Provider context of a repository. It is read on first use, stored beside the index until one of its source files
//! changes, and kept in memory while the snapshot is open.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};

use super::Caller;
use super::indexes::Repo;
use codelode_base::model::Kind;
use codelode_index::enrich::{self, Files, Function};
use codelode_store::{FileView, Snapshot, SummaryWords, SymbolId, SymbolView};

pub use codelode_index::enrich::{Column, Context, Link};

/// The most snapshots whose context is kept.
const MOST: usize = 8;

/// The contexts of open snapshots.
#[derive(Default)]
pub(super) struct Contexts(Mutex<Vec<(Weak<Snapshot>, Arc<Known>)>>);

/// The context of a snapshot, and the search index of its notes if they were searched.
#[derive(Default)]
struct Known {
    context: Arc<Context>,
    notes: OnceLock<Arc<SummaryWords>>,
}

/// The files of a snapshot, as providers read them.
pub(super) struct Held<'a>(pub &'a Snapshot);

impl Files for Held<'_> {
    fn paths(&self) -> Vec<&str> {
        self.0.paths().map(|(path, _)| path).collect()
    }

    fn text(&self, path: &str) -> Option<&[u8]> {
        Some(self.0.file(path)?.content())
    }

    fn hash(&self, path: &str) -> Option<[u8; 32]> {
        Some(*self.0.file(path)?.hash())
    }

    fn code(&self) -> Vec<&str> {
        let is_code = |file: &FileView<'_>| !file.is_test() && !file.is_generated() && !file.spec().is_document;
        self.0.files().filter(is_code).map(|file| file.path()).collect()
    }

    fn functions(&self) -> Vec<Function<'_>> {
        let is_one = |symbol: &SymbolView<'_>| matches!(symbol.kind(), Kind::Function | Kind::Method);
        let mut found = Vec::new();
        // Interface descriptions lie among documentation, and may be generated.
        let is_read = |file: &FileView<'_>| match file.spec().is_document {
            true => !file.exercises(),
            false => !file.is_test() && !file.is_generated(),
        };
        for file in self.0.files().filter(is_read) {
            found.extend(file.symbols().filter(is_one).map(|symbol| Function {
                path: file.path(),
                name: symbol.name(),
                owner: symbol.parent().map(|parent| parent.qualified_name()).unwrap_or_default(),
                at: symbol.name_span().start,
                line: symbol.line(),
                span: symbol.span(),
            }));
        }
        found
    }
}

/// The context of a repository; empty if providers are disabled.
pub fn context(caller: &Caller<'_>, repo: &Repo) -> Arc<Context> {
    known(caller, repo).context.clone()
}

/// The search index of the notes about a repository's files, by providers and by a model.
pub fn notes(caller: &Caller<'_>, repo: &Repo) -> Arc<SummaryWords> {
    let known = known(caller, repo);
    let collect = || {
        let has_told = repo.snapshot.summaries().is_some();
        let mut names: HashMap<&str, Vec<&str>> = HashMap::new();
        known.context.defined().for_each(|(name, file)| names.entry(file).or_default().push(name));
        let noted = repo.snapshot.files().filter_map(|file| {
            let mut text = known.context.notes(file.path()).join("\n");
            text.extend(names.get(file.path()).into_iter().flatten().flat_map(|name| ["\n", *name]));
            if has_told {
                text.push('\n');
                text.push_str(file.told_description());
            }
            let id = SymbolId { file: file.number(), index: SymbolId::FILE };
            (!text.trim().is_empty()).then_some((id, text))
        });
        Arc::new(SummaryWords::of_texts(noted))
    };
    known.notes.get_or_init(collect).clone()
}

fn known(caller: &Caller<'_>, repo: &Repo) -> Arc<Known> {
    if !caller.config.context_providers {
        return Arc::default();
    }
    let contexts = &caller.indexes.contexts.0;
    // Every change is one step, so a panic elsewhere leaves the list intact.
    let lock = || contexts.lock().unwrap_or_else(PoisonError::into_inner);
    let is_it = |of: &Weak<Snapshot>| of.upgrade().is_some_and(|of| Arc::ptr_eq(&of, &repo.snapshot));
    if let Some((_, known)) = lock().iter().find(|(of, _)| is_it(of)) {
        return known.clone();
    }
    let context = Arc::new(stored_or_made(&repo.snapshot));
    let known = Arc::new(Known { context, notes: OnceLock::new() });
    let mut all = lock();
    all.retain(|(of, _)| of.strong_count() > 0);
    all.truncate(MOST - 1);
    all.insert(0, (Arc::downgrade(&repo.snapshot), known.clone()));
    known
}

/// The context stored for this snapshot, or for an earlier one if still valid. Otherwise it is read and stored.
fn stored_or_made(snapshot: &Snapshot) -> Context {
    if !snapshot.paths().any(|(path, _)| enrich::detected(path)) {
        return Context::default();
    }
    let files = Held(snapshot);
    let stored = snapshot.notes(|table| Context::read(table.text(), &files));
    stored.unwrap_or_else(|| {
        let context = Context::of(&files);
        // If storing fails, the next process reads the context again.
        let _ = snapshot.keep_notes(&context.to_bytes(&files));
        context
    })
}

/// The context of a repository with references that only a provider understands, such as dbt's `ref()`; `None` for
/// other repositories.
pub fn linking(caller: &Caller<'_>, repo: &Repo) -> Option<Arc<Context>> {
    let is_one = caller.config.context_providers && repo.snapshot.paths().any(|(path, _)| enrich::is_of_data(path));
    is_one.then(|| context(caller, repo))
}
