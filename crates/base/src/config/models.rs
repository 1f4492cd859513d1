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
    /// Service that summarises, when several are set up: `anthropic`, `gemini`, `openai`.
    pub summary_provider: Option<String>,
    /// Symbols in a request to summarise.
    pub summary_batch: usize,
    /// Requests to summarise at once.
    pub summary_concurrency: usize,
    /// Most tokens of an answer; `None` for as many as its summaries need.
    pub summary_max_tokens: Option<usize>,
    /// Most tokens that a run may send; `None` without a limit.
    pub summary_budget: Option<u64>,
    /// Dollars for a million tokens sent and received, as the user knows them.
    pub summary_price: Option<(f64, f64)>,
    /// Maximum wait for an answer with summaries.
    pub summary_timeout: Duration,
    /// Anthropic.
    pub anthropic: Service,
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
    /// Name of the model that summarises.
    pub model: Option<String>,
}

impl Service {
    fn at(base: &str) -> Self {
        Self { base: Url::parse(base).expect("it is a URL"), key: None, embed_model: None, model: None }
    }

    /// Whether it can be asked: OpenAI's own needs a key.
    pub fn can_be_asked(&self) -> bool {
        self.key.is_some() || !self.is_openai()
    }

    /// Whether it is OpenAI's own.
    pub fn is_openai(&self) -> bool {
        self.base.as_str().trim_end_matches('/') == OPENAI
    }
}

/// Base URL of OpenAI.
pub const OPENAI: &str = "https://api.openai.com/v1";
/// Base URL of Gemini.
const GOOGLE: &str = "https://generativelanguage.googleapis.com/v1beta";
/// Base URL of Anthropic.
const ANTHROPIC: &str = "https://api.anthropic.com/v1";
/// Models that summarise when no other is named: the cheapest of their services.
const ANTHROPIC_MODEL: &str = "claude-haiku-4-5";
const GOOGLE_MODEL: &str = "gemini-2.5-flash-lite";
/// Tokens that a run may send at most: about a dollar's worth.
const BUDGET: u64 = 1_000_000;

impl Default for Models {
    fn default() -> Self {
        Self {
            embed_model: None,
            embed_batch: 50,
            embed_concurrency: 4,
            embed_timeout: Duration::from_secs(60),
            embed_price: None,
            summary_provider: None,
            summary_batch: 10,
            summary_concurrency: 4,
            summary_max_tokens: None,
            summary_budget: Some(BUDGET),
            summary_price: None,
            summary_timeout: Duration::from_secs(120),
            anthropic: Service { model: Some(ANTHROPIC_MODEL.to_owned()), ..Service::at(ANTHROPIC) },
            openai: Service::at(OPENAI),
            google: Service { model: Some(GOOGLE_MODEL.to_owned()), ..Service::at(GOOGLE) },
        }
    }
}

/// Variables with keys, for each service in order of precedence.
const OPENAI_KEY: &[&str] = &["CODELODE_OPENAI_API_KEY", "OPENAI_API_KEY"];
const ANTHROPIC_KEY: &[&str] = &["CODELODE_ANTHROPIC_API_KEY", "ANTHROPIC_API_KEY"];
const GOOGLE_KEY: &[&str] = &["CODELODE_GOOGLE_API_KEY", "GOOGLE_API_KEY"];

impl Models {
    /// Whether a model that embeds is named.
    pub fn embeds(&self) -> bool {
        self.embed_model.is_some() || self.openai.embed_model.is_some() || self.google.embed_model.is_some()
    }

    /// Reads the keys of an environment.
    pub(super) fn read_keys(&mut self, env: &dyn Fn(&str) -> Option<String>) {
        // Other characters could split a header in two.
        let is_safe = |key: &String| !key.is_empty() && key.chars().all(|c| c.is_ascii_graphic());
        let read = |names: &[&str]| {
            let keys = names.iter().filter_map(|name| Some(env(name)?.trim().to_owned()));
            keys.into_iter().find(is_safe).map(Secret)
        };
        self.anthropic.key = read(ANTHROPIC_KEY);
        self.openai.key = read(OPENAI_KEY);
        self.google.key = read(GOOGLE_KEY);
    }
}
