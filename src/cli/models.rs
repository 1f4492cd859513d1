//! `models`: the provider of embeddings that is set up, the vectors that are stored, and how to set one up.

use std::io::{self, IsTerminal};

use clap::Args;
use serde_json::json;

use super::output::{self, Output, Paint};
use super::render::n_of;
use super::{FOUND, Global, NOTHING};
use crate::catalog::models::stored;
use crate::catalog::{Indexes, Models};
use crate::config::Config;

/// Say which model search by meaning uses, which embeddings are stored, and how to set a model up. Asks no server.
///
/// Exit status: 0 a model is set up, 1 none is, 2 error.
#[derive(Args)]
pub(super) struct List {}

/// Ways to set a provider up.
const WAYS: &[(&str, &str)] = &[
    ("a folder on this machine, of Model2Vec or BERT", "CODELODE_EMBED_MODEL=~/models/potion-base-8M"),
    ("OpenAI", "OPENAI_API_KEY=... OPENAI_EMBED_MODEL=text-embedding-3-small"),
    ("Gemini", "GOOGLE_API_KEY=... GOOGLE_EMBED_MODEL=gemini-embedding-001"),
    (
        "Ollama and the like",
        "OPENAI_API_BASE=http://localhost:11434/v1 OPENAI_EMBED_MODEL=nomic-embed-text CODELODE_TRUSTED_HOSTS=localhost",
    ),
];

/// Prints the provider and what is stored.
pub(super) fn run(global: &Global, config: &Config) -> u8 {
    let provider = match Models::default().provider(config) {
        Ok(provider) => provider,
        Err(err) => return super::fail(&err),
    };
    let stored = stored(Indexes::new(config).registry());
    let status = if provider.is_some() { FOUND } else { NOTHING };
    if global.json {
        let provider = provider.map(|it| json!({"provider": it.name(), "model": it.model(), "host": it.host()}));
        output::print_bytes(format!("{}\n", json!({"set_up": provider, "stored": stored})).as_bytes());
        return status;
    }
    let mut out = Output::new(Paint::of(global.color, io::stdout().is_terminal()));
    match &provider {
        Some(it) => {
            let host = it.host().map(|host| format!(", at {host}")).unwrap_or_default();
            out.line(format!("{} of {}{host}", out.paint.name(it.model()), it.name()));
        }
        None => {
            out.line("no model is set up; set one of these in the environment:");
            WAYS.iter().for_each(|(name, set)| out.line(format!("  {name}: {set}")));
            out.line("nothing is downloaded: docs/meaning.md says where models are published");
        }
    }
    for it in &stored {
        let texts = n_of(it.texts as u64, "text", "texts");
        let megabytes = it.bytes.div_ceil(1 << 20);
        out.line(format!(
            "{}: {texts}, {} dimensions, {megabytes} MB, by {}",
            it.repos.join(", "),
            it.dimensions,
            it.model
        ));
    }
    out.print();
    status
}
