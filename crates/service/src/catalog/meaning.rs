//! Search by meaning: the configured provider, the vector of a question, and the vectors of a repository's symbols,
//! which are made on first use.

use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};
use std::time::{Duration, Instant};

use super::Caller;
use super::background::Background;
use super::errors::{provider_error, store_error};
use super::indexes::Repo;
use crate::answer::{Code, Error};
use codelode_base::config::Config;
pub use codelode_index::embed::Provider;
use codelode_index::embed::{self, HOW, Purpose};
use codelode_index::pipeline::{self, EmbedError, Embedded, Embedding, TextsWithoutVector};
use codelode_store::{Meanings, Registry, Sidecar, Snapshot};

/// Maximum wait for another process that embeds the same repository.
const PATIENCE: Duration = Duration::from_secs(10);
/// The longest time that a question spends on missing vectors. A person at a terminal sees the progress, and may stop
/// it.
const LAZILY: Duration = Duration::from_secs(15);
/// The most repositories whose vectors are kept in memory.
const MOST_JOINED: usize = 8;

/// The models of a process. Nothing is opened before its first use.
#[derive(Default)]
pub struct Models {
    provider: Arc<OnceLock<Opened>>,
    joined: Mutex<Vec<CompleteVectors>>,
    pub(super) background: Background,
}

/// An opened provider, or the reason why it cannot be opened.
type Opened = Result<Option<Arc<dyn Provider>>, String>;

/// The vectors of a snapshot without missing ones.
struct CompleteVectors {
    of: Weak<Snapshot>,
    meanings: Arc<Meanings>,
}

impl Models {
    /// The configured provider, if any.
    pub fn provider(&self, config: &Config) -> Result<Option<Arc<dyn Provider>>, Error> {
        opened(&self.provider, config).map_err(Error::unavailable)
    }

    /// Embeds missing texts of a checkout in the background. With `edits`, only if it was embedded before.
    pub(super) fn embed_more(&self, config: &Config, registry: &Registry, sidecar: &Sidecar, edits: bool) {
        let (provider, config) = (self.provider.clone(), config.clone());
        // A job after edits may find nothing embedded and end, so a requested job must follow it.
        self.background.start("embeddings", registry, sidecar, !edits, move |snapshot| {
            let Ok(Some(provider)) = opened(&provider, &config) else { return };
            if let Err(err) = embed_more(snapshot, &provider, edits) {
                tracing::warn!(%err, "not everything is embedded yet");
            }
        });
    }
}

fn opened(provider: &OnceLock<Opened>, config: &Config) -> Opened {
    provider.get_or_init(|| embed::provider(config).map_err(|err| err.to_string())).clone()
}

/// Embeds missing texts of a snapshot. With `edits`, only if some texts in its store have vectors.
fn embed_more(snapshot: &Snapshot, provider: &Arc<dyn Provider>, edits: bool) -> Result<(), EmbedError> {
    let identity = provider.identity();
    if edits && snapshot.vectors(&identity)?.is_none() {
        return Ok(());
    }
    let missing = pipeline::missing(snapshot, &identity, false)?;
    let (progress, cancelled) = (&codelode_base::model::unfollowed, &Arc::default());
    let how = Embedding { provider, batch: None, force: false, until: None, progress, cancelled, patience: PATIENCE };
    pipeline::embed(snapshot, &missing, &how).map(drop).map_err(|(err, _)| err)
}

/// The configured provider. Fails with advice for setting one up.
pub fn provider(caller: &Caller<'_>) -> Result<Arc<dyn Provider>, Error> {
    caller.models.provider(caller.config)?.ok_or_else(|| {
        let message = format!("search by meaning needs an embedding provider and none is set up: {HOW}");
        Error::no_embedding_provider(message)
    })
}

/// Whether the configured provider has embedded a repository, at least in part.
pub fn is_embedded(caller: &Caller<'_>, repo: &Repo) -> bool {
    let provider = caller.config.models.embeds().then(|| caller.models.provider(caller.config).ok().flatten());
    let vectors = provider.flatten().and_then(|provider| repo.snapshot.vectors(&provider.identity()).ok().flatten());
    vectors.is_some_and(|vectors| !vectors.is_empty())
}

/// The vector of a question.
pub fn question(caller: &Caller<'_>, provider: &Arc<dyn Provider>, text: &str) -> Result<Vec<f32>, Error> {
    let vectors =
        provider.embed(&[text], Purpose::Question, &caller.request.cancelled).map_err(|err| provider_error(&err))?;
    vectors.into_iter().next().ok_or_else(|| Error::unavailable("the provider gave no vector"))
}

/// The vectors of a repository's symbols; `None` if there are none. Missing ones are made first, as far as time and the
/// provider allow. `_meta` gives the number still missing.
pub fn meanings(
    caller: &Caller<'_>,
    repo: &Repo,
    provider: &Arc<dyn Provider>,
) -> Result<Option<Arc<Meanings>>, Error> {
    if let Some(meanings) = joined(caller.models, &repo.snapshot) {
        return Ok(Some(meanings));
    }
    let stored = |err| store_error(err, &repo.sidecar);
    let identity = provider.identity();
    let missing = pipeline::missing(&repo.snapshot, &identity, false).map_err(stored)?;
    let mut n_missing = missing.counts.missing;
    if !missing.is_empty() && caller.may_index(&repo.sidecar).is_ok() {
        let until = (!caller.request.for_people).then(|| Instant::now() + LAZILY);
        match run(caller, repo, &missing, &Options { provider, batch: None, force: false, until }) {
            Ok(done) => n_missing = done.missing,
            Err(failure) => {
                let (err, done) = *failure;
                if matches!(err.code, Code::Cancelled | Code::InvalidArguments) {
                    return Err(err);
                }
                n_missing = done.missing;
                caller.note("embedding_warning", err.message);
            }
        }
    }
    if n_missing > 0 {
        caller.note("embeddings_missing", n_missing);
        caller.note("hint", "call embed_repo for the missing embeddings");
    }
    let meanings = pipeline::meanings(&repo.snapshot, &identity).map_err(stored)?.map(Arc::new);
    if let Some(meanings) = meanings.as_ref().filter(|_| n_missing == 0) {
        let mut all = lock(caller.models);
        all.retain(|joined| joined.of.strong_count() > 0);
        all.truncate(MOST_JOINED - 1);
        all.insert(0, CompleteVectors { of: Arc::downgrade(&repo.snapshot), meanings: meanings.clone() });
    }
    Ok(meanings)
}

fn lock(models: &Models) -> std::sync::MutexGuard<'_, Vec<CompleteVectors>> {
    // Every change is one step, so a panic elsewhere leaves the list intact.
    models.joined.lock().unwrap_or_else(PoisonError::into_inner)
}

fn joined(models: &Models, snapshot: &Arc<Snapshot>) -> Option<Arc<Meanings>> {
    let all = lock(models);
    let is_it = |joined: &&CompleteVectors| joined.of.upgrade().is_some_and(|of| Arc::ptr_eq(&of, snapshot));
    all.iter().find(is_it).map(|joined| joined.meanings.clone())
}

/// Options of [`run`].
pub struct Options<'a> {
    /// The provider.
    pub provider: &'a Arc<dyn Provider>,
    /// Texts per request.
    pub batch: Option<usize>,
    /// Whether to embed everything again.
    pub force: bool,
    /// The time when the run ends.
    pub until: Option<Instant>,
}

/// Starts embedding a checkout in the background.
pub fn begin(caller: &Caller<'_>, sidecar: &Sidecar) {
    caller.models.embed_more(caller.config, caller.indexes.registry(), sidecar, false);
}

/// Texts of a repository without a vector. Fails if the caller may not change its index.
pub fn missing(
    caller: &Caller<'_>,
    repo: &Repo,
    provider: &dyn Provider,
    force: bool,
) -> Result<TextsWithoutVector, Error> {
    caller.may_index(&repo.sidecar)?;
    pipeline::missing(&repo.snapshot, &provider.identity(), force).map_err(|err| store_error(err, &repo.sidecar))
}

/// Embeds texts. An error comes with the part done before it.
pub fn run(
    caller: &Caller<'_>,
    repo: &Repo,
    missing: &TextsWithoutVector,
    options: &Options<'_>,
) -> Result<Embedded, Box<(Error, Embedded)>> {
    let tell = caller.request.progress();
    let Options { provider, batch, force, until } = *options;
    let cancelled = &caller.request.cancelled;
    let how = Embedding { provider, batch, force, until, progress: &tell, cancelled, patience: PATIENCE };
    pipeline::embed(&repo.snapshot, missing, &how).map_err(|(err, done)| {
        let err = match err {
            EmbedError::Store(err @ codelode_store::Error::Dimensions { .. }) => {
                Error::invalid_arguments(format!("{err}; call embed_repo with force to recompute all"))
            }
            EmbedError::Store(err) => store_error(err, &repo.sidecar),
            EmbedError::Provider(err) => provider_error(&err),
        };
        Box::new((err, done))
    })
}
