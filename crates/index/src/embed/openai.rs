//! Servers with OpenAI's interface: OpenAI, Ollama, LM Studio, llama.cpp, vLLM, TEI, Voyage, Jina and others.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use serde_json::{Value, json};

use super::remote::{Remote, numbers};
use super::{Error, Provider, Purpose};
use codelode_base::config::Models;
use codelode_net::api::below;
use codelode_net::{Client, Credentials};

/// Dollars per million tokens of OpenAI's own models, as published in 2025.
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

impl OpenAi {
    pub fn new(client: Client, models: &Models, model: &str) -> Self {
        let service = &models.openai;
        let url = below(&service.base, &["embeddings"]);
        let credentials = service.key.as_ref().map(|key| Credentials::bearer(&url, &key.0));
        let known = PRICES.iter().find(|(name, _)| service.is_openai() && *name == model).map(|(_, price)| *price);
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

    fn embed(&self, texts: &[&str], purpose: Purpose, cancelled: &Arc<AtomicBool>) -> Result<Vec<Vec<f32>>, Error> {
        let body = |texts: &[&str]| json!({"model": self.model, "input": texts});
        self.remote.embed(texts, &body, &read, purpose, cancelled)
    }
}

/// Reads the embeddings of an answer, which may come in any order.
fn read(answer: &Value) -> Option<Vec<Vec<f32>>> {
    let rows = answer.get("data")?.as_array()?;
    let mut vectors = vec![Vec::new(); rows.len()];
    for (place, row) in rows.iter().enumerate() {
        let index = row.get("index").and_then(Value::as_u64).map_or(place, |index| index as usize);
        *vectors.get_mut(index)? = numbers(row.get("embedding")?)?;
    }
    Some(vectors)
}
