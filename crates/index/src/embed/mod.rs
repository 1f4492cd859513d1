//! Embedding: turns texts into vectors that are near each other if their meanings are.
//!
//! Each [`Provider`] is one file. [`provider`] makes the one in the settings; without one, nothing is sent anywhere.

mod gemini;
#[cfg(feature = "local-models")]
mod local;
mod openai;
mod remote;
#[cfg(test)]
mod tests;

#[cfg(all(any(test, feature = "testing"), feature = "local-models"))]
pub use local::folders::save_table;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use codelode_base::config::{Config, Models};
use codelode_net::api::Failure;
use codelode_net::{Client, Options};

/// The purpose of a text: some models embed questions and documents differently.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// A text to be found.
    Document,
    /// A search query.
    Question,
}

/// An embedding model.
pub trait Provider: Send + Sync {
    /// Name of the provider: `openai`, `gemini`, `local`.
    fn name(&self) -> &'static str;

    /// Name of the model.
    fn model(&self) -> &str;

    /// The identity of the model. Vectors are compared only within one identity.
    fn identity(&self) -> String;

    /// Host that texts are sent to; `None` when they stay on this machine.
    fn host(&self) -> Option<&str>;

    /// Whether it is a table of words, whose vectors are less precise than an encoder's.
    fn is_table(&self) -> bool {
        false
    }

    /// The most texts per call.
    fn batch(&self) -> usize;

    /// The most concurrent calls.
    fn concurrency(&self) -> usize;

    /// Dollars per million tokens, if known.
    fn price(&self) -> Option<f64>;

    /// Embeds texts, in order. It may block for as long as all retries take.
    fn embed(&self, texts: &[&str], purpose: Purpose, cancelled: &Arc<AtomicBool>) -> Result<Vec<Vec<f32>>, Error>;
}

/// The failure of a provider. No message contains a key.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The service failed.
    #[error(transparent)]
    Remote(#[from] Failure),
    /// The folder holds no model that can be used.
    #[error("no model can be read from {folder}: {problem}")]
    Model {
        /// The folder.
        folder: String,
        /// Description of the problem.
        problem: String,
    },
}

impl Error {
    /// Whether the caller has cancelled.
    pub fn is_cancelled(&self) -> bool {
        matches!(self, Self::Remote(failure) if failure.is_cancelled())
    }
}

/// Advice for users without a model: the settings that enable one.
pub const HOW: &str = "set CODELODE_EMBED_MODEL to the folder of a model on this machine; or OPENAI_EMBED_MODEL with OPENAI_API_KEY, or with OPENAI_API_BASE for a server of your own; or \
    GOOGLE_EMBED_MODEL with GOOGLE_API_KEY; `codelode models` says more";

/// Opens the model in a folder.
#[cfg(feature = "local-models")]
fn of_folder(folder: &Path) -> Result<Arc<dyn Provider>, Error> {
    Ok(Arc::new(local::Local::open(folder)?))
}

/// The error of a build without local models.
#[cfg(not(feature = "local-models"))]
fn of_folder(folder: &Path) -> Result<Arc<dyn Provider>, Error> {
    let problem = "this program was built without the feature local-models".to_owned();
    Err(Error::Model { folder: folder.display().to_string(), problem })
}

/// The provider in the settings, a local model first; `None` without one.
pub fn provider(config: &Config) -> Result<Option<Arc<dyn Provider>>, Error> {
    let Models { openai, google, embed_model, .. } = &config.models;
    if let Some(folder) = embed_model {
        return of_folder(folder).map(Some);
    }
    let client = || {
        let (trusted_hosts, ca_file) = (config.trusted_hosts.clone(), config.ca_file.clone());
        Client::new(Options { trusted_hosts, ca_file, silence: config.models.embed_timeout, ..Options::default() })
    };
    if let Some(model) = &openai.embed_model
        && openai.can_be_asked()
    {
        return Ok(Some(Arc::new(openai::OpenAi::new(client(), &config.models, model))));
    }
    if let (Some(model), Some(key)) = (&google.embed_model, &google.key) {
        return Ok(Some(Arc::new(gemini::Gemini::new(client(), &config.models, model, key))));
    }
    Ok(None)
}
