//! Summaries: a model says in one line what a symbol is for, where a user has set one up and asks for them.
//!
//! A `Service` is one file: the body of its requests and the place of the text in its answers. Questions, and
//! checks of their answers, are in `prompt`.

mod anthropic;
mod gemini;
mod openai;
mod prompt;
#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use serde_json::Value;
use url::Url;

use codelode_base::config::{Config, Models};
use codelode_net::api::{Call, Failure};
use codelode_net::{Client, Credentials, Options};

pub use prompt::Item;

/// Attempts for one request.
const ATTEMPTS: u32 = 4;

/// Settings that make a model write summaries, for those who have none.
pub const HOW: &str = "set ANTHROPIC_API_KEY, or GOOGLE_API_KEY, or OPENAI_MODEL with OPENAI_API_KEY or with \
    OPENAI_API_BASE for a server of your own";

/// A sort of service: how it is asked.
struct Service {
    name: &'static str,
    /// Body of a request: the model, the instructions, the message, and the most tokens of the answer.
    body: fn(&str, &str, &str, usize) -> Value,
    /// Text of an answer, with the tokens that the request and the answer had.
    read: fn(&Value) -> Option<Completion>,
    /// Dollars for a million tokens of requests and of answers, as published in 2025, by the beginning of the name.
    prices: &'static [(&'static str, f64, f64)],
}

/// Answer of a model.
struct Completion {
    text: String,
    tokens: (u64, u64),
}

/// A model that writes summaries.
pub struct Summarizer {
    service: &'static Service,
    model: String,
    url: Url,
    client: Client,
    credentials: Option<Credentials>,
    headers: Vec<(String, String)>,
    settings: Models,
}

/// Summaries of some items, and the tokens that they took.
#[derive(Debug, Default)]
pub struct Summaries {
    /// One for each item; `None` for an item that the answer does not name.
    pub texts: Vec<Option<String>>,
    /// Tokens of the request and of the answer.
    pub tokens: (u64, u64),
}

/// The model that the settings name; `None` without one. A key alone is enough for Anthropic and Gemini.
pub fn summarizer(config: &Config) -> Option<Summarizer> {
    let models = &config.models;
    match models.summary_provider.as_deref() {
        Some("anthropic") => anthropic::summarizer(config),
        Some("gemini" | "google") => gemini::summarizer(config),
        Some("openai") => openai::summarizer(config),
        _ => {
            anthropic::summarizer(config).or_else(|| gemini::summarizer(config)).or_else(|| openai::summarizer(config))
        }
    }
}

impl Summarizer {
    fn new(config: &Config, service: &'static Service, model: &str, url: Url) -> Self {
        let options = Options {
            trusted_hosts: config.trusted_hosts.clone(),
            ca_file: config.ca_file.clone(),
            silence: config.models.summary_timeout,
            ..Options::default()
        };
        Self {
            service,
            model: model.to_owned(),
            url,
            client: Client::new(options),
            credentials: None,
            headers: Vec::new(),
            settings: config.models.clone(),
        }
    }

    /// Name of the service.
    pub fn name(&self) -> &'static str {
        self.service.name
    }

    /// Name of the model.
    pub fn model(&self) -> &str {
        &self.model
    }

    /// Host that code is sent to.
    pub fn host(&self) -> &str {
        self.url.host_str().unwrap_or_default()
    }

    /// Symbols of one request.
    pub fn batch(&self) -> usize {
        self.settings.summary_batch
    }

    /// Requests at once.
    pub fn concurrency(&self) -> usize {
        self.settings.summary_concurrency
    }

    /// Dollars for some tokens of requests and of answers, where prices are known.
    pub fn cost(&self, (sent, received): (u64, u64)) -> Option<f64> {
        let known = self.service.prices.iter().find(|(model, ..)| self.model.starts_with(model));
        let (of_sent, of_received) =
            self.settings.summary_price.or(known.map(|(_, sent, received)| (*sent, *received)))?;
        Some((of_sent * sent as f64 + of_received * received as f64) / 1e6)
    }

    /// Estimated tokens of a request for some letters of code, and of the answers.
    pub fn estimate(&self, n_items: usize, letters: u64) -> (u64, u64) {
        prompt::estimate(n_items, letters, self.batch())
    }

    /// Summarises some items by one request.
    pub fn summarize(&self, items: &[Item], cancelled: &Arc<AtomicBool>) -> Result<Summaries, Failure> {
        let most = self.settings.summary_max_tokens.unwrap_or(prompt::most_tokens(items.len()));
        let call = Call {
            url: self.url.clone(),
            headers: self.headers.clone(),
            credentials: self.credentials.clone(),
            body: (self.service.body)(&self.model, prompt::INSTRUCTIONS, &prompt::message(items), most),
            time: self.settings.summary_timeout,
            attempts: ATTEMPTS,
            cancelled: cancelled.clone(),
        };
        let answer = self.client.ask(&call)?;
        let read = (self.service.read)(&answer);
        let Completion { text, tokens } = read.ok_or_else(|| Failure::malformed(&self.url, "it holds no text"))?;
        Ok(Summaries { texts: prompt::read(&text, items.len()), tokens })
    }
}

/// Whole number in an answer; zero when it is missing.
fn number(answer: &Value, place: &str) -> u64 {
    answer.pointer(place).and_then(Value::as_u64).unwrap_or_default()
}
