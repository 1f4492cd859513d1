//! Symbols that were found: `path:line  kind  name  signature`, in columns, with the summary below.

use serde_json::Value;

use super::super::output::Output;
use super::{adds, number_of, text_of};

/// Columns wider than this are not filled up: one long path shall not push all others off the screen.
const WIDEST: usize = 48;

pub(super) fn show(value: &Value, out: &mut Output) -> bool {
    let Some(hits) = value.get("results").and_then(Value::as_array) else { return false };
    let is_hit = |hit: &Value| said(hit, "file").is_some() && hit.get("line").is_some() && said(hit, "name").is_some();
    if !hits.iter().all(is_hit) {
        return false;
    }
    let place =
        |hit: &Value| format!("{}:{}", said(hit, "file").unwrap_or_default(), number_of(hit, "line").unwrap_or(0));
    let width =
        |texts: &dyn Fn(&Value) -> usize| hits.iter().map(texts).filter(|width| *width <= WIDEST).max().unwrap_or(0);
    let places = width(&|hit| place(hit).chars().count());
    let kinds = width(&|hit| said(hit, "kind").unwrap_or_default().chars().count());
    let names = width(&|hit| said(hit, "name").unwrap_or_default().chars().count());
    let paint = out.paint;
    for hit in hits {
        let text = |key: &str| said(hit, key).unwrap_or_default();
        let filled = |painted: String, plain: &str, width: usize| {
            format!("{painted}{}", " ".repeat(width.saturating_sub(plain.chars().count())))
        };
        let path = format!("{}:{}", paint.path(text("file")), paint.line(number_of(hit, "line").unwrap_or(0)));
        let signature = text("signature").lines().next().unwrap_or_default();
        out.line(format!(
            "{}  {}  {}  {}",
            filled(path, &place(hit), places),
            filled(paint.kind(text("kind")), text("kind"), kinds),
            filled(paint.name(text("name")), text("name"), names),
            signature,
        ));
        if let Some(summary) = adds(text_of(hit, "summary"), signature) {
            out.line(paint.dim(&format!("    {summary}")));
        }
        if let Some(source) = text_of(hit, "source") {
            out.raw(source);
            out.line("");
        }
    }
    true
}

/// What a hit says under a key, or what its id says where an answer that had to be short does not say it again.
fn said<'a>(hit: &'a Value, key: &str) -> Option<&'a str> {
    text_of(hit, key).or_else(|| {
        let (file, rest) = text_of(hit, "id")?.rsplit_once("::")?;
        let (qualified, kind) = rest.rsplit_once('#')?;
        match key {
            "file" => Some(file),
            "kind" => kind.split('~').next(),
            "name" => qualified.rsplit('.').next(),
            _ => None,
        }
    })
}
