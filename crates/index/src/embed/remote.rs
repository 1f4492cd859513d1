//! Requests to embedding services: halves batches that are too large, and checks the vectors.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use serde_json::Value;
use url::Url;

use super::{Error, Purpose};
use codelode_net::api::{Call, Failure};
use codelode_net::{Client, Credentials};

/// Attempts for a batch, and for a question, whose caller waits.
const ATTEMPTS: u32 = 5;
const ATTEMPTS_OF_QUESTION: u32 = 2;

/// A service.
#[derive(Clone, Debug)]
pub(super) struct Remote {
    pub client: Client,
    pub url: Url,
    pub credentials: Option<Credentials>,
    pub timeout: Duration,
}

impl Remote {
    /// Sends the request body that `body` makes of `texts`. If the service rejects it as too large, each half is sent
    /// alone.
    pub fn embed(
        &self,
        texts: &[&str],
        body: &dyn Fn(&[&str]) -> Value,
        read: &dyn Fn(&Value) -> Option<Vec<Vec<f32>>>,
        purpose: Purpose,
        cancelled: &Arc<AtomicBool>,
    ) -> Result<Vec<Vec<f32>>, Error> {
        if texts.is_empty() {
            return Ok(Vec::new());
        }
        let call = Call {
            url: self.url.clone(),
            headers: Vec::new(),
            credentials: self.credentials.clone(),
            body: body(texts),
            time: self.timeout,
            attempts: if purpose == Purpose::Question { ATTEMPTS_OF_QUESTION } else { ATTEMPTS },
            cancelled: cancelled.clone(),
        };
        match self.client.ask(&call) {
            Ok(answer) => {
                let vectors = read(&answer);
                let vectors = vectors.ok_or_else(|| Failure::malformed(&self.url, "it holds no embeddings"))?;
                self.check(&vectors, texts.len())?;
                Ok(vectors)
            }
            Err(Failure::Status { status: 413 | 422, .. }) if texts.len() > 1 => {
                let (first, second) = texts.split_at(texts.len() / 2);
                let mut vectors = self.embed(first, body, read, purpose, cancelled)?;
                vectors.extend(self.embed(second, body, read, purpose, cancelled)?);
                Ok(vectors)
            }
            Err(failure) => Err(failure.into()),
        }
    }

    /// Fails if vectors are missing, differ in length, or hold no numbers.
    fn check(&self, vectors: &[Vec<f32>], wanted: usize) -> Result<(), Failure> {
        let dimensions = vectors.first().map_or(0, Vec::len);
        let problem = if vectors.len() != wanted {
            format!("{} embeddings for {wanted} texts", vectors.len())
        } else if dimensions == 0 || vectors.iter().any(|vector| vector.len() != dimensions) {
            "embeddings have unequal lengths".to_owned()
        } else if vectors.iter().any(|vector| vector.iter().any(|value| !value.is_finite())) {
            "an embedding has a value that is not a number".to_owned()
        } else {
            return Ok(());
        };
        Err(Failure::malformed(&self.url, problem))
    }
}

/// Numbers of a JSON list.
pub(super) fn numbers(list: &Value) -> Option<Vec<f32>> {
    list.as_array()?.iter().map(|number| Some(number.as_f64()? as f32)).collect()
}
