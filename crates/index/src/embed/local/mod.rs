//! Models in a local folder, as they are published: Model2Vec tables and BERT-like encoders in safetensors, with their
//! tokenizer. Nothing is downloaded or sent.

mod bert;
#[cfg(any(test, feature = "testing"))]
pub(super) mod folders;
mod matrix;
mod pieces;
mod table;
mod tensors;
#[cfg(test)]
mod tests;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::Value;

use super::{Error, Provider, Purpose};
use bert::Bert;
use codelode_net as net;
use codelode_net::api::Failure;
use pieces::Tokenizer;
use table::Table;
use tensors::Tensors;

/// Texts per call. More would not fit the processor's caches.
const BATCH: usize = 16;
/// Version of the conversion from text to vector. A new version makes new vectors.
const VERSION: u32 = 1;

/// A model in a folder.
#[derive(Debug)]
pub(super) struct Local {
    name: String,
    identity: String,
    /// The prompt before documents, and before questions.
    prompts: [String; 2],
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    Table(Table),
    Encoder(Bert),
}

impl Local {
    /// Opens the model in a folder.
    pub fn open(folder: &Path) -> Result<Self, Error> {
        let failed = |problem| Error::Model { folder: folder.display().to_string(), problem };
        if !folder.is_dir() {
            let problem = "there is no such folder, and nothing is downloaded; `codelode models` says how to get one";
            return Err(failed(problem.to_owned()));
        }
        Self::read(folder).map_err(failed)
    }

    fn read(folder: &Path) -> Result<Self, String> {
        // sentence-transformers may put a table one folder deeper.
        let deeper = folder.join("0_StaticEmbedding");
        let place = if deeper.join("model.safetensors").is_file() { &deeper } else { folder };
        let tensors = Tensors::read(&place.join("model.safetensors"))?;
        let text = std::fs::read(place.join("tokenizer.json")).map_err(|err| format!("tokenizer.json: {err}"))?;
        let json: Value = serde_json::from_slice(&text).map_err(|err| format!("tokenizer.json: {err}"))?;
        let tokenizer = Tokenizer::of(&json)?;
        let read = |name: &str| -> (Vec<u8>, Value) {
            let text = std::fs::read(folder.join(name)).unwrap_or_default();
            let json = serde_json::from_slice(&text).unwrap_or_default();
            (text, json)
        };
        let (config_text, config) = read("config.json");
        let (prompts_text, sentences) = read("config_sentence_transformers.json");
        let kind = if Table::is_it(&tensors) {
            Kind::Table(Table::of(&tensors, tokenizer, &config)?)
        } else if Bert::is_it(&tensors) {
            Kind::Encoder(Bert::of(&tensors, tokenizer, &config, folder)?)
        } else {
            return Err("its tensors are neither a table of Model2Vec nor an encoder of BERT's kind".to_owned());
        };
        let mut hash = blake3::Hasher::new();
        for part in [tensors.bytes(), &text, &config_text, &prompts_text] {
            hash.update(&(part.len() as u64).to_le_bytes()).update(part);
        }
        let name = std::fs::canonicalize(folder).ok();
        let name = name.as_deref().and_then(Path::file_name).map(|name| name.to_string_lossy().into_owned());
        let name = name.unwrap_or_else(|| "model".to_owned());
        let prompt = |name: &str| sentences["prompts"][name].as_str().unwrap_or_default().to_owned();
        // The identity is by content, so that a copy in another folder has the same vectors.
        let identity = format!("local {VERSION} {}", &hash.finalize().to_hex()[..32]);
        Ok(Self { name, identity, prompts: [prompt("document"), prompt("query")], kind })
    }
}

impl Provider for Local {
    fn name(&self) -> &'static str {
        "local"
    }

    fn model(&self) -> &str {
        &self.name
    }

    fn identity(&self) -> String {
        self.identity.clone()
    }

    fn host(&self) -> Option<&str> {
        None
    }

    fn is_table(&self) -> bool {
        matches!(self.kind, Kind::Table(_))
    }

    fn batch(&self) -> usize {
        BATCH
    }

    fn concurrency(&self) -> usize {
        std::thread::available_parallelism().map_or(1, usize::from)
    }

    fn price(&self) -> Option<f64> {
        None
    }

    fn embed(&self, texts: &[&str], purpose: Purpose, cancelled: &Arc<AtomicBool>) -> Result<Vec<Vec<f32>>, Error> {
        if cancelled.load(Ordering::Relaxed) {
            return Err(Failure::from(net::Error::Cancelled).into());
        }
        let prompt = &self.prompts[usize::from(purpose == Purpose::Question)];
        let texts: Vec<String> = texts.iter().map(|text| format!("{prompt}{}", words_apart(text))).collect();
        Ok(match &self.kind {
            Kind::Table(table) => texts.iter().map(|text| table.embed(text)).collect(),
            Kind::Encoder(bert) => bert.embed(&texts.iter().map(String::as_str).collect::<Vec<_>>()),
        })
    }
}

/// A text with a space before each capital inside a word, because tokenizers for prose know `send packet` but not
/// `sendPacket`.
fn words_apart(text: &str) -> String {
    let mut apart = String::with_capacity(text.len() + 16);
    let mut before = ' ';
    for letter in text.chars() {
        if before.is_lowercase() && letter.is_uppercase() {
            apart.push(' ');
        }
        apart.push(letter);
        before = letter;
    }
    apart
}
