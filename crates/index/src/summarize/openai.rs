//! Servers with OpenAI's Chat Completions interface.

use serde_json::{Value, json};

use super::{Completion, Service, Summarizer, number};
use codelode_base::config::Config;
use codelode_net::Credentials;
use codelode_net::api::below;

static SERVICE: Service = Service {
    name: "openai",
    body,
    read,
    prices: &[("gpt-4o-mini", 0.15, 0.60), ("gpt-4.1-nano", 0.10, 0.40), ("gpt-4.1-mini", 0.40, 1.60)],
};

pub(super) fn summarizer(config: &Config) -> Option<Summarizer> {
    let service = &config.models.openai;
    let model = service.model.as_ref().filter(|_| service.can_be_asked())?;
    let url = below(&service.base, &["chat", "completions"]);
    let credentials = service.key.as_ref().map(|key| Credentials::bearer(&url, &key.0));
    Some(Summarizer { credentials, ..Summarizer::new(config, &SERVICE, model, url) })
}

fn body(model: &str, instructions: &str, message: &str, most: usize) -> Value {
    let messages = [json!({"role": "system", "content": instructions}), json!({"role": "user", "content": message})];
    json!({"model": model, "max_tokens": most, "messages": messages})
}

fn read(answer: &Value) -> Option<Completion> {
    let text = answer.pointer("/choices/0/message/content")?.as_str()?.to_owned();
    Some(Completion {
        text,
        tokens: (number(answer, "/usage/prompt_tokens"), number(answer, "/usage/completion_tokens")),
    })
}
