//! Facts about symbols that are answered when a question asks for them.

use std::cell::RefCell;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;

use super::indexes::Repo;
use super::{Call, Error, nearest};
use crate::catalog::context::{Context, context};
use codelode_store::{SymbolView, word_parts};

/// Names of the facts.
const NAMES: [&str; 13] = [
    "docstring",
    "parent",
    "qualified_name",
    "detail",
    "language",
    "end_line",
    "byte_offset",
    "byte_length",
    "content_hash",
    "complexity",
    "keywords",
    "decorators",
    "ecosystem_context",
];

/// Facts that a question asks for.
#[derive(Default)]
pub struct Fields {
    names: Vec<&'static str>,
    /// Context of the repository at hand, if that is asked for.
    context: RefCell<Option<Arc<Context>>>,
}

/// Facts about a symbol; those that were not asked for are left out.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct Facts {
    /// Documentation without comment markers.
    #[serde(skip_serializing_if = "Option::is_none")]
    docstring: Option<String>,
    /// Id of the enclosing symbol; null for none.
    #[serde(skip_serializing_if = "Option::is_none")]
    parent: Option<Option<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    qualified_name: Option<String>,
    /// Kind in the language's own term.
    #[serde(skip_serializing_if = "Option::is_none")]
    detail: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    language: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    end_line: Option<u32>,
    /// Byte offset of the definition in its file.
    #[serde(skip_serializing_if = "Option::is_none")]
    byte_offset: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    byte_length: Option<usize>,
    /// SHA-256 of the source.
    #[serde(skip_serializing_if = "Option::is_none")]
    content_hash: Option<String>,
    /// Cyclomatic complexity; zero without a body.
    #[serde(skip_serializing_if = "Option::is_none")]
    complexity: Option<u16>,
    /// Words of the name and its enclosing symbols.
    #[serde(skip_serializing_if = "Option::is_none")]
    keywords: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    decorators: Option<Vec<String>>,
    /// Facts from context providers, by provider: dbt, codeowners, openapi.
    #[serde(skip_serializing_if = "Option::is_none")]
    ecosystem_context: Option<Vec<String>>,
}

impl Fields {
    /// Reads the names in an argument.
    pub fn read(asked: Option<&[String]>) -> Result<Self, Error> {
        let known = |name: &String| {
            NAMES.into_iter().find(|known| known == name).ok_or_else(|| {
                let near = nearest(name, NAMES, 1);
                let meant = near.first().map_or(String::new(), |near| format!(" (did you mean {near:?}?)"));
                let shown: String = name.chars().take(100).collect();
                // Quoted, so that a terminal does not take them for flags.
                let names = NAMES.map(|name| format!("{name:?}")).join(", ");
                let message = format!("`fields` has no {shown:?}{meant}; it takes {names}");
                Error::invalid_arguments(message)
            })
        };
        let names = asked.unwrap_or_default().iter().map(known).collect::<Result<_, Error>>()?;
        Ok(Self { names, context: RefCell::default() })
    }

    /// With the kind in the language's own word, for an answer that somebody reads.
    pub fn with_detail(mut self, is_read: bool) -> Self {
        if is_read && !self.names.contains(&"detail") {
            self.names.push("detail");
        }
        self
    }

    /// Prepares for symbols of a repository.
    pub fn know(&self, call: &Call<'_>, repo: &Repo) {
        if self.names.contains(&"ecosystem_context") {
            *self.context.borrow_mut() = Some(context(call, repo));
        }
    }

    /// The facts about a symbol.
    pub fn of(&self, symbol: &SymbolView<'_>) -> Facts {
        let has = |name: &str| self.names.contains(&name);
        let context = self.context.borrow();
        let span = symbol.span();
        Facts {
            docstring: has("docstring").then(|| symbol.docstring()),
            parent: has("parent").then(|| symbol.parent().map(|parent| parent.id())),
            qualified_name: has("qualified_name").then(|| symbol.qualified_name()),
            detail: has("detail").then(|| symbol.detail().as_str()),
            language: has("language").then(|| symbol.file.language()),
            end_line: has("end_line").then(|| symbol.end_line()),
            byte_offset: has("byte_offset").then_some(span.start),
            byte_length: has("byte_length").then(|| span.len()),
            content_hash: has("content_hash").then(|| hash(symbol)),
            complexity: has("complexity").then(|| symbol.complexity()),
            keywords: has("keywords").then(|| keywords(symbol)),
            decorators: has("decorators").then(|| symbol.decorators()),
            ecosystem_context: context.as_ref().map(|context| {
                let path = symbol.file.path();
                [context.at(path, symbol.name_span().start), context.about(path)].concat()
            }),
        }
    }
}

/// The line at which a symbol's source begins, if that is not the line of its name.
pub fn source_line(symbol: &SymbolView<'_>) -> Option<u32> {
    Some(symbol.first_line()).filter(|first| *first != symbol.line())
}

/// SHA-256 of a symbol's source, in hexadecimal.
pub fn hash(symbol: &SymbolView<'_>) -> String {
    symbol.content_hash().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Words of a qualified name in lower case, each once.
fn keywords(symbol: &SymbolView<'_>) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for part in symbol.qualified_name().split(|char: char| !char.is_alphanumeric()) {
        for word in word_parts(part) {
            let word = word.to_lowercase();
            if !words.contains(&word) {
                words.push(word);
            }
        }
    }
    words
}
