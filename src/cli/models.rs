//! `models`: shows the configured models for embedding and summaries, the stored vectors, and how to set up a model.

use std::io::{self, IsTerminal};

use clap::Args;
use serde_json::json;

use super::output::{self, Output, Paint};
use super::render::n_of;
use super::{FOUND, Global, NOTHING};
use codelode_base::config::Config;
use codelode_service::catalog::models::stored;
use codelode_service::catalog::{Indexes, Models, summaries};

/// Show the models for search by meaning and for summaries, the stored embeddings, and how to set a model up.
/// Contacts no server.
///
/// Exit status: 0 a model is set up, 1 none is, 2 error.
#[derive(Args)]
pub(super) struct List {}

/// Ways to set up a provider.
const WAYS: &[(&str, &str)] = &[
    ("a local folder with a Model2Vec or BERT model", "CODELODE_EMBED_MODEL=~/models/potion-base-8M"),
    ("OpenAI", "OPENAI_API_KEY=... OPENAI_EMBED_MODEL=text-embedding-3-small"),
    ("Gemini", "GOOGLE_API_KEY=... GOOGLE_EMBED_MODEL=gemini-embedding-001"),
    (
        "Ollama and the like",
        "OPENAI_API_BASE=http://localhost:11434/v1 OPENAI_EMBED_MODEL=nomic-embed-text CODELODE_TRUSTED_HOSTS=localhost",
    ),
];

/// Prints the providers and the stored embeddings.
pub(super) fn run(global: &Global, config: &Config) -> u8 {
    let provider = match Models::default().provider(config) {
        Ok(provider) => provider,
        Err(err) => return super::fail(&err),
    };
    let summarizer = summaries::set_up(config);
    let stored = stored(Indexes::new(config).registry());
    let status = if provider.is_some() { FOUND } else { NOTHING };
    if global.json {
        let provider = provider.map(|it| json!({"provider": it.name(), "model": it.model(), "host": it.host()}));
        let summaries = summarizer.map(|it| {
            json!({"provider": it.name(), "model": it.model(), "host": it.host(), "wanted": config.use_ai_summaries})
        });
        let answer = json!({"set_up": provider, "summaries": summaries, "stored": stored});
        output::print_bytes(format!("{answer}\n").as_bytes());
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
    if let Some(it) = summarizer {
        let (model, name, host) = (it.model(), it.name(), it.host());
        let is_wanted = if config.use_ai_summaries { "" } else { "; unused: use_ai_summaries is off" };
        out.line(format!("summaries: {} of {name}, at {host}{is_wanted}", out.paint.name(model)));
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
