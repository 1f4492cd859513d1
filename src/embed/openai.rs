//! Servers that speak OpenAI's interface: OpenAI, Ollama, LM Studio, llama.cpp, vLLM, TEI, Voyage, Jina and others.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use serde_json::{Value, json};

use super::remote::{Remote, below, numbers};
use super::{Error, Provider, Purpose};
use crate::config::{Models, OPENAI, Service};
use crate::net::{Client, Credentials};

/// Prices of OpenAI's own models in dollars for a million tokens, as published in 2025.
const PRICES: &[(&str, f64)] =
    &[("text-embedding-3-small", 0.02), ("text-embedding-3-large", 0.13), ("text-embedding-ada-002", 0.10)];

/// A model of such a server.
pub(super) struct OpenAi {
    remote: Remote,
    model: String,
    base: String,
    batch: usize,
    concurrency: usize,
    price: Option<f64>,
}

/// Whether a server can be asked: OpenAI's own needs a key.
pub(super) fn is_set_up(service: &Service) -> bool {
    service.key.is_some() || !is_openai(service)
}

fn is_openai(service: &Service) -> bool {
    service.base.as_str().trim_end_matches('/') == OPENAI
}

impl OpenAi {
    pub fn new(client: Client, models: &Models, model: &str) -> Self {
        let service = &models.openai;
        let url = below(&service.base, &["embeddings"]);
        let credentials = service.key.as_ref().map(|key| Credentials::bearer(&url, &key.0));
        let known = PRICES.iter().find(|(name, _)| is_openai(service) && *name == model).map(|(_, price)| *price);
        Self {
            remote: Remote { client, url, credentials, timeout: models.embed_timeout },
            model: model.to_owned(),
            base: service.base.to_string(),
            batch: models.embed_batch,
            concurrency: models.embed_concurrency,
            price: models.embed_price.or(known),
        }
    }
}

impl Provider for OpenAi {
    fn name(&self) -> &'static str {
        "openai"
    }

    fn model(&self) -> &str {
        &self.model
    }

    fn identity(&self) -> String {
        format!("openai {} {}", self.base, self.model)
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

    fn embed(&self, texts: &[&str], _: Purpose, cancelled: &Arc<AtomicBool>) -> Result<Vec<Vec<f32>>, Error> {
        let body = |texts: &[&str]| json!({"model": self.model, "input": texts});
        self.remote.embed(texts, &body, &read, cancelled)
    }
}

/// Embeddings of an answer, which may come in any order.
fn read(answer: &Value) -> Option<Vec<Vec<f32>>> {
    let rows = answer.get("data")?.as_array()?;
    let mut vectors = vec![Vec::new(); rows.len()];
    for (place, row) in rows.iter().enumerate() {
        let index = row.get("index").and_then(Value::as_u64).map_or(place, |index| index as usize);
        *vectors.get_mut(index)? = numbers(row.get("embedding")?)?;
    }
    Some(vectors)
}
