//! Google's Gemini.

use serde_json::{Value, json};

use super::{Completion, Service, Summarizer, number};
use codelode_base::config::Config;
use codelode_net::Credentials;
use codelode_net::api::below;

static SERVICE: Service = Service {
    name: "gemini",
    body,
    read,
    prices: &[
        ("gemini-2.5-flash-lite", 0.10, 0.40),
        ("gemini-2.5-flash", 0.30, 2.50),
        ("gemini-2.0-flash", 0.10, 0.40),
    ],
};

pub(super) fn summarizer(config: &Config) -> Option<Summarizer> {
    let service = &config.models.google;
    let (key, model) = (service.key.as_ref()?, service.model.as_ref()?.trim_start_matches("models/"));
    let url = below(&service.base, &["models", &format!("{model}:generateContent")]);
    let credentials = Some(Credentials::header(&url, "x-goog-api-key", &key.0));
    Some(Summarizer { credentials, ..Summarizer::new(config, &SERVICE, model, url) })
}

fn body(_: &str, instructions: &str, message: &str, most: usize) -> Value {
    json!({
        "systemInstruction": {"parts": [{"text": instructions}]},
        "contents": [{"role": "user", "parts": [{"text": message}]}],
        "generationConfig": {"maxOutputTokens": most, "temperature": 0},
    })
}

fn read(answer: &Value) -> Option<Completion> {
    let parts = answer.pointer("/candidates/0/content/parts")?.as_array()?;
    let text = parts.iter().filter_map(|part| part.get("text")?.as_str()).collect();
    let of = |name: &str| number(answer, &format!("/usageMetadata/{name}"));
    Some(Completion { text, tokens: (of("promptTokenCount"), of("candidatesTokenCount")) })
}
