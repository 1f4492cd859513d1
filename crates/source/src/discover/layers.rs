//! Stack of ignore files; deeper files take precedence.

use std::io::ErrorKind;
use std::path::Path;
use std::sync::Arc;

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

use super::disk::{self, FileStamp, Links};
use super::{Error, Rules};

/// Largest ignore file that is read. Compiling patterns costs far more than reading them, and a hostile file could
/// hold millions.
const MAX_BYTES: u64 = 256 * 1024;

/// A stack of ignore files, shared by all folders below. `None` is the empty stack.
#[derive(Clone, Debug, Default)]
pub(super) struct Layers(Option<Arc<Layer>>);

#[derive(Debug)]
struct Layer {
    matcher: Gitignore,
    below: Layers,
}

impl Layers {
    /// This stack with one more matcher on top.
    pub(super) fn with(&self, matcher: Gitignore) -> Self {
        if matcher.is_empty() {
            return self.clone();
        }
        Self(Some(Arc::new(Layer { matcher, below: self.clone() })))
    }

    /// Verdict of the topmost layer that matches `path`: exclude or keep. `None` when no layer matches.
    pub(super) fn ignores(&self, path: &str, is_dir: bool) -> Option<bool> {
        let mut next = &self.0;
        while let Some(layer) = next {
            match layer.matcher.matched(path, is_dir) {
                Match::Ignore(_) => return Some(true),
                Match::Whitelist(_) => return Some(false),
                Match::None => next = &layer.below.0,
            }
        }
        None
    }

    /// Whether a folder or any of its parents is ignored.
    pub(super) fn ignores_with_parents(&self, path: &str) -> bool {
        let ends = path.match_indices('/').map(|(end, _)| end).chain([path.len()]);
        ends.filter(|&end| end > 0).any(|end| self.ignores(&path[..end], true) == Some(true))
    }
}

/// Builder for the patterns of one layer.
pub(super) struct Patterns {
    builder: GitignoreBuilder,
}

impl Patterns {
    /// Creates a builder for patterns relative to the folder `at`.
    pub(super) fn new(at: &str) -> Self {
        Self { builder: GitignoreBuilder::new(at) }
    }

    /// Adds the patterns of a file; later patterns outrank earlier ones. A missing file adds nothing; an unreadable
    /// file or a broken pattern adds a warning. Returns the stamp to record, if it is a plain file or missing.
    pub(super) fn add_file(&mut self, path: &Path, links: Links, warnings: &mut Vec<String>) -> Option<FileStamp> {
        let (bytes, stamp) = match disk::read_small(path, links, MAX_BYTES) {
            Ok(found) => found,
            Err(error) if error.kind() == ErrorKind::NotFound => return Some(FileStamp::MISSING),
            Err(error) => {
                warnings.push(format!("{} was not read: {error}", path.display()));
                let metadata = path.symlink_metadata().ok().filter(|metadata| metadata.is_file());
                return metadata.map(|metadata| FileStamp::of(&metadata));
            }
        };
        self.add_bytes(&path.display().to_string(), &bytes, warnings);
        Some(stamp)
    }

    /// Adds the patterns of a file's content.
    pub(super) fn add_bytes(&mut self, name: &str, bytes: &[u8], warnings: &mut Vec<String>) {
        if bytes.len() as u64 > MAX_BYTES {
            warnings.push(format!("{name} was not read: larger than {MAX_BYTES} bytes"));
            return;
        }
        let text = String::from_utf8_lossy(bytes);
        for (line, pattern) in text.trim_start_matches('\u{feff}').lines().enumerate() {
            if let Err(error) = self.builder.add_line(None, pattern) {
                warnings.push(format!("{name} line {}: {error}", line + 1));
            }
        }
    }

    /// Compiles the patterns.
    pub(super) fn build(self, warnings: &mut Vec<String>) -> Gitignore {
        self.builder.build().unwrap_or_else(|error| {
            warnings.push(format!("ignore patterns were not used: {error}"));
            Gitignore::empty()
        })
    }
}

/// Compiles the caller's patterns. A broken one is an error, because the caller can fix it.
pub(super) fn extra(rules: &Rules) -> Result<Gitignore, Error> {
    compiled(rules.extra_ignore.iter().cloned())
}

/// Compiles patterns of the folders on the way to what the caller brings back: `dist` for `!dist/api.js`.
pub(super) fn ways(rules: &Rules) -> Result<Gitignore, Error> {
    compiled(rules.extra_ignore.iter().filter_map(|pattern| pattern.strip_prefix('!')).flat_map(ways_to))
}

/// Folders above what a pattern matches. A pattern that begins with `**` or is a name alone leads nowhere: every
/// folder would be on its way.
fn ways_to(pattern: &str) -> Vec<String> {
    let parts: Vec<&str> = pattern.trim_matches('/').split('/').collect();
    let mut ways = Vec::new();
    for n_parts in 1..parts.len() {
        match parts[n_parts - 1] {
            "**" if n_parts == 1 => break,
            "**" => {
                ways.push(format!("/{}/", parts[..n_parts].join("/")));
                break;
            }
            _ => ways.push(format!("/{}/", parts[..n_parts].join("/"))),
        }
    }
    ways
}

fn compiled(patterns: impl Iterator<Item = String>) -> Result<Gitignore, Error> {
    let mut builder = GitignoreBuilder::new("");
    builder.allow_unclosed_class(false);
    for pattern in patterns {
        let added = builder.add_line(None, &pattern);
        added.map_err(|source| Error::Pattern { pattern: pattern.clone(), source })?;
    }
    builder.build().map_err(|source| Error::Pattern { pattern: "all patterns together".into(), source })
}
