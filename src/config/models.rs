//! Settings of models that embed and summarise. Keys come from the environment only.

use std::path::PathBuf;
use std::time::Duration;

use url::Url;

use super::Secret;

/// Settings of models.
#[derive(Clone, Debug, PartialEq)]
pub struct Models {
    /// Folder of a local model that embeds.
    pub embed_model: Option<PathBuf>,
    /// Texts in a request to embed.
    pub embed_batch: usize,
    /// Requests at once.
    pub embed_concurrency: usize,
    /// Maximum wait for an answer.
    pub embed_timeout: Duration,
    /// Dollars for a million tokens that are embedded, as the user knows them.
    pub embed_price: Option<f64>,
    /// A server that speaks OpenAI's interface.
    pub openai: Service,
    /// Google's Gemini.
    pub google: Service,
}

/// A service of models.
#[derive(Clone, Debug, PartialEq)]
pub struct Service {
    /// Base URL.
    pub base: Url,
    /// Key.
    pub key: Option<Secret>,
    /// Name of the model that embeds.
    pub embed_model: Option<String>,
}

impl Service {
    fn at(base: &str) -> Self {
        Self { base: Url::parse(base).expect("it is a URL"), key: None, embed_model: None }
    }
}

/// Base URL of OpenAI.
pub const OPENAI: &str = "https://api.openai.com/v1";
/// Base URL of Gemini.
const GOOGLE: &str = "https://generativelanguage.googleapis.com/v1beta";

impl Default for Models {
    fn default() -> Self {
        Self {
            embed_model: None,
            embed_batch: 50,
            embed_concurrency: 4,
            embed_timeout: Duration::from_secs(60),
            embed_price: None,
            openai: Service::at(OPENAI),
            google: Service::at(GOOGLE),
        }
    }
}

/// Variables with keys, for each service in order of precedence.
const OPENAI_KEY: &[&str] = &["CODELODE_OPENAI_API_KEY", "OPENAI_API_KEY"];
const GOOGLE_KEY: &[&str] = &["CODELODE_GOOGLE_API_KEY", "GOOGLE_API_KEY"];

impl Models {
    /// Reads the keys of an environment.
    pub(super) fn read_keys(&mut self, env: &dyn Fn(&str) -> Option<String>) {
        // Other characters could split a header in two.
        let is_safe = |key: &String| !key.is_empty() && key.chars().all(|c| c.is_ascii_graphic());
        let read = |names: &[&str]| {
            let keys = names.iter().filter_map(|name| Some(env(name)?.trim().to_owned()));
            keys.into_iter().find(is_safe).map(Secret)
        };
        self.openai.key = read(OPENAI_KEY);
        self.google.key = read(GOOGLE_KEY);
    }
}
