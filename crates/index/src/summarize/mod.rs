//! Summaries: a model describes a symbol's purpose in one line, if a user has set one up and asks for it.
//!
//! Each `Service` is one file: its request body, and the place of the text in its answers. The questions, and the
//! checks of answers, are in `prompt`.

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

/// Attempts per request.
const ATTEMPTS: u32 = 4;

/// Advice for users without a model: the settings that enable one.
pub const HOW: &str = "set ANTHROPIC_API_KEY, or GOOGLE_API_KEY, or OPENAI_MODEL with OPENAI_API_KEY or with \
    OPENAI_API_BASE for a server of your own";

/// An interface of a service.
struct Service {
    name: &'static str,
    /// Makes a request body from the model, the instructions, the message, and the most tokens of the answer.
    body: fn(&str, &str, &str, usize) -> Value,
    /// Reads the text of an answer, and the tokens of request and answer.
    read: fn(&Value) -> Option<Completion>,
    /// Dollars per million tokens of requests and of answers, as published in 2025, by the beginning of the model's
    /// name.
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

/// Summaries of some items, and the tokens used.
#[derive(Debug, Default)]
pub struct Summaries {
    /// One text per item; `None` if the answer does not name the item.
    pub texts: Vec<Option<String>>,
    /// Tokens of the request and of the answer.
    pub tokens: (u64, u64),
}

/// The model in the settings; `None` without one. Anthropic and Gemini only need a key.
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

    /// Symbols per request.
    pub fn batch(&self) -> usize {
        self.settings.summary_batch
    }

    /// Concurrent requests.
    pub fn concurrency(&self) -> usize {
        self.settings.summary_concurrency
    }

    /// The cost in dollars of these tokens, if prices are known.
    pub fn cost(&self, (sent, received): (u64, u64)) -> Option<f64> {
        let known = self.service.prices.iter().find(|(model, ..)| self.model.starts_with(model));
        let (of_sent, of_received) =
            self.settings.summary_price.or(known.map(|(_, sent, received)| (*sent, *received)))?;
        Some((of_sent * sent as f64 + of_received * received as f64) / 1e6)
    }

    /// Estimated tokens of requests for `letters` characters of code, and of their answers.
    pub fn estimate(&self, n_items: usize, letters: u64) -> (u64, u64) {
        prompt::estimate(n_items, letters, self.batch())
    }

    /// Summarises some items in one request.
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

/// An integer in an answer; zero if missing.
fn number(answer: &Value, place: &str) -> u64 {
    answer.pointer(place).and_then(Value::as_u64).unwrap_or_default()
}
