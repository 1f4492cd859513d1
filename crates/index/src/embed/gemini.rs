//! Google's Gemini.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use serde_json::{Value, json};

use super::remote::{Remote, numbers};
use super::{Error, Provider, Purpose};
use codelode_base::config::{Models, Secret};
use codelode_net::api::below;
use codelode_net::{Client, Credentials};

/// Dollars per million tokens, as published in 2025.
const PRICES: &[(&str, f64)] = &[("gemini-embedding-001", 0.15)];
/// The most texts per request.
const BATCH: usize = 100;

/// A model of Gemini.
pub(super) struct Gemini {
    remote: Remote,
    model: String,
    base: String,
    batch: usize,
    concurrency: usize,
    price: Option<f64>,
}

impl Gemini {
    pub fn new(client: Client, models: &Models, model: &str, key: &Secret) -> Self {
        let model = model.trim_start_matches("models/");
        let url = below(&models.google.base, &["models", &format!("{model}:batchEmbedContents")]);
        let credentials = Some(Credentials::header(&url, "x-goog-api-key", &key.0));
        let known = PRICES.iter().find(|(name, _)| *name == model).map(|(_, price)| *price);
        Self {
            remote: Remote { client, url, credentials, timeout: models.embed_timeout },
            model: model.to_owned(),
            base: models.google.base.to_string(),
            batch: models.embed_batch.min(BATCH),
            concurrency: models.embed_concurrency,
            price: models.embed_price.or(known),
        }
    }
}

impl Provider for Gemini {
    fn name(&self) -> &'static str {
        "gemini"
    }

    fn model(&self) -> &str {
        &self.model
    }

    fn identity(&self) -> String {
        format!("gemini {} {}", self.base, self.model)
    }

    fn host(&self) -> Option<&str> {
        self.remote.url.host_str()
    }

    fn batch(&self) -> usize {
        self.batch
    }

    fn concurrency(&self) -> usize {
        self.concurrency
    }

    fn price(&self) -> Option<f64> {
        self.price
    }

    fn embed(&self, texts: &[&str], purpose: Purpose, cancelled: &Arc<AtomicBool>) -> Result<Vec<Vec<f32>>, Error> {
        let task = match purpose {
            Purpose::Document => "RETRIEVAL_DOCUMENT",
            Purpose::Question => "CODE_RETRIEVAL_QUERY",
        };
        let name = format!("models/{}", self.model);
        let request = |text: &&str| json!({"model": name, "content": {"parts": [{"text": text}]}, "taskType": task});
        let body = |texts: &[&str]| json!({"requests": texts.iter().map(request).collect::<Vec<_>>()});
        self.remote.embed(texts, &body, &read, purpose, cancelled)
    }
}

fn read(answer: &Value) -> Option<Vec<Vec<f32>>> {
    answer.get("embeddings")?.as_array()?.iter().map(|row| numbers(row.get("values")?)).collect()
}
