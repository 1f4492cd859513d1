//! Patterns of text and of syntax: compiled within limits, refused with a reason, and matching lines cut to a width.
use std::time::Duration;

use super::{Error, nearest};
use codelode_lang::languages::{SMELLS, ids};
use codelode_query::syntax::SyntaxQuery;

/// The longest message about an invalid pattern, in bytes; longer ones are cut to their conclusion.
const LONGEST_PROBLEM: usize = 800;

/// The longest time of a search: a server must stay free for other calls.
pub const BUDGET: Duration = Duration::from_secs(8);

/// The most bytes shown of a line, and those before the match.
pub const WIDEST: usize = 240;
const LEAD: usize = 60;

/// Compiles the pattern or the smell, exactly one of which must be given, for one language or all.
pub fn compile(pattern: Option<&str>, smell: Option<&str>, language: Option<&str>) -> Result<SyntaxQuery, Error> {
    if let Some(language) = language
        && !ids().contains(&language)
    {
        let message = format!("there is no syntax search for {language:?}; the languages are {}", ids().join(", "));
        return Err(Error::invalid_arguments(message));
    }
    match (pattern, smell) {
        (Some(pattern), None) if pattern.len() <= 10_000 => SyntaxQuery::new(pattern, language).map_err(refused),
        (Some(_), None) => Err(Error::invalid_arguments("`pattern` is longer than 10,000 bytes")),
        (None, Some(smell)) => SyntaxQuery::smell(smell, language).map_err(|err| {
            let known: Vec<&str> = SMELLS.iter().map(|(name, _)| *name).collect();
            let near = nearest(smell, known.iter().copied(), 3);
            Error::invalid_arguments(format!("{err}; there are {}", known.join(", "))).with("nearest", near)
        }),
        _ => Err(Error::invalid_arguments("give `pattern`, or `preset` instead of it")),
    }
}

/// The error for a pattern that is not understood.
pub fn refused(problem: String) -> Error {
    Error::invalid_arguments(format!("the pattern cannot be read: {problem}"))
}

/// An error for an invalid pattern, in the parser's words.
pub fn bad_pattern(err: &str) -> Error {
    // The parser shows the pattern and marks a position in it, which helps only if both are short.
    let short: String = match err.len() > LONGEST_PROBLEM {
        true => err.lines().next_back().unwrap_or_default().chars().take(LONGEST_PROBLEM).collect(),
        false => err.to_owned(),
    };
    let err = short.as_str();
    let message = match err {
        _ if err.contains("exceeds size limit") || err.contains("too big") => {
            format!("the pattern needs too much memory; use smaller repetitions: {err}")
        }
        _ if err.contains(r#""\n" is not allowed"#) => {
            "the pattern has a newline; set `multiline` for matches that span lines".to_owned()
        }
        _ => format!("the pattern cannot be read: {err}"),
    };
    Error::invalid_arguments(message)
}

/// A line, or the beginning of a long one.
pub fn narrowed(line: &[u8]) -> String {
    cut(line, 0, WIDEST)
}

/// A text, or `widest` bytes around byte `at` of a longer one.
pub fn cut(text: &[u8], at: usize, widest: usize) -> String {
    if text.len() <= widest {
        return String::from_utf8_lossy(text).into_owned();
    }
    let start = at.saturating_sub(LEAD).min(text.len() - widest);
    let end = start + widest;
    // A character is not cut in two.
    let is_border = |at: &usize| text.get(*at).is_none_or(|byte| byte & 0xc0 != 0x80);
    let start = (start..end).find(is_border).unwrap_or(start);
    let end = (end..text.len()).find(is_border).unwrap_or(text.len());
    let (lead, tail) = (if start > 0 { "…" } else { "" }, if end < text.len() { "…" } else { "" });
    format!("{lead}{}{tail}", String::from_utf8_lossy(&text[start..end]))
}
