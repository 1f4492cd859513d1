//! Anthropic's Messages.

use serde_json::{Value, json};

use super::{Completion, Service, Summarizer, number};
use codelode_base::config::Config;
use codelode_net::Credentials;
use codelode_net::api::below;

/// Version of the interface.
const VERSION: &str = "2023-06-01";

static SERVICE: Service = Service {
    name: "anthropic",
    body,
    read,
    prices: &[("claude-haiku-4-5", 1.0, 5.0), ("claude-3-5-haiku", 0.8, 4.0), ("claude-sonnet-4", 3.0, 15.0)],
};

pub(super) fn summarizer(config: &Config) -> Option<Summarizer> {
    let service = &config.models.anthropic;
    let (key, model) = (service.key.as_ref()?, service.model.as_ref()?);
    let url = below(&service.base, &["messages"]);
    let credentials = Some(Credentials::header(&url, "x-api-key", &key.0));
    let headers = vec![("anthropic-version".to_owned(), VERSION.to_owned())];
    Some(Summarizer { credentials, headers, ..Summarizer::new(config, &SERVICE, model, url) })
}

fn body(model: &str, instructions: &str, message: &str, most: usize) -> Value {
    let messages = [json!({"role": "user", "content": message})];
    json!({"model": model, "max_tokens": most, "system": instructions, "messages": messages})
}

fn read(answer: &Value) -> Option<Completion> {
    let parts = answer.get("content")?.as_array()?;
    let text = parts.iter().filter_map(|part| part.get("text")?.as_str()).collect();
    Some(Completion { text, tokens: (number(answer, "/usage/input_tokens"), number(answer, "/usage/output_tokens")) })
}
