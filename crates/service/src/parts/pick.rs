//! Symbols for a picker: all of a repository by name, and the source of one.

use std::borrow::Cow;
use std::path::PathBuf;

use super::indexes::{self, Repo};
use super::{Call, Context, Error, Request};
use codelode_store::SymbolId;

/// Symbols of a repository.
pub struct Symbols {
    repo: Repo,
    /// Symbols by path and line; tests after what they test.
    pub entries: Vec<Entry>,
}

/// A symbol to pick.
pub struct Entry {
    /// Qualified name, a space, path.
    pub text: String,
    /// Length of the name in `text`, in bytes.
    pub name_len: usize,
    /// Kind of symbol.
    pub kind: &'static str,
    /// First line of the definition.
    pub line: u32,
    /// Whether its file tests others.
    pub is_test: bool,
    symbol: SymbolId,
}

impl Entry {
    /// Qualified name.
    pub fn name(&self) -> &str {
        &self.text[..self.name_len]
    }

    /// Path below the repository's root.
    pub fn path(&self) -> &str {
        &self.text[self.name_len + 1..]
    }
}

/// Reads the symbols of a repository, as fresh as a search would find them.
pub fn open(cx: &Context, request: &Request, repo: Option<&str>) -> Result<Symbols, Error> {
    let call = Call::of(cx, request);
    let repo = indexes::open(&call, repo)?;
    let mut entries = Vec::new();
    for file in repo.snapshot.files() {
        let is_test = file.is_test();
        for symbol in file.symbols() {
            let name = symbol.qualified_name();
            let (name_len, text) = (name.len(), format!("{name} {}", file.path()));
            let (kind, line) = (symbol.kind().as_str(), symbol.line());
            entries.push(Entry { text, name_len, kind, line, is_test, symbol: symbol.number() });
        }
    }
    entries.sort_by_key(|entry| entry.is_test);
    Ok(Symbols { repo, entries })
}

impl Symbols {
    /// Folder that paths are relative to; the place of indexing if it is not on this machine.
    pub fn root(&self) -> PathBuf {
        self.repo.root.clone().unwrap_or_else(|| self.repo.sidecar.root.clone())
    }

    /// Source of a symbol, with the line that it begins at.
    pub fn source(&self, entry: &Entry) -> (u32, Cow<'_, str>) {
        let symbol = self.repo.snapshot.symbol(entry.symbol);
        symbol.map_or((entry.line, Cow::Borrowed("")), |symbol| (symbol.first_line(), symbol.shown()))
    }
}
