//! Long texts, read as issues: a title, then prose, code, logs and traces. The search uses a few words, names and paths
//! of them.

use std::collections::HashMap;

use rustc_hash::FxHashSet;

use super::telling::STOP_WORDS;
use codelode_store::{Error, Snapshot, SymbolView};

/// A longer text is an issue even on one line.
const MANY_WORDS: usize = 60;
/// A shorter text is no issue even on several lines.
const FEW_WORDS: usize = 12;
/// The number of searched words below the title.
const WORDS: usize = 16;
/// The number of most frequent words from which these are chosen.
const WEIGHED: usize = 300;
/// A word in a larger share of all definitions is too common to search.
const COMMON: f32 = 0.1;
/// The most words of a title.
const TITLE: usize = 30;

/// A long text, split into its parts.
pub struct Issue {
    /// The first line with text, without marks.
    pub title: String,
    /// Words below the title in lower case with their counts, most frequent first.
    words: Vec<(String, u32)>,
    /// Names in code marks, or written like identifiers.
    names: FxHashSet<String>,
    /// Paths in the text; those in traces are cut to the repository's root.
    paths: Vec<String>,
    /// Frames of traces: path and function name.
    frames: Vec<(String, String)>,
}

impl Issue {
    /// Reads a text as an issue; `None` if it is short enough for a query.
    pub fn read(text: &str) -> Option<Self> {
        if !is_issue(text) {
            return None;
        }
        let text = without_comments(text);
        let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
        let first = lines.next()?;
        let title = without_links(first.trim_start_matches(['#', '*', ' ']));
        let words: Vec<&str> = title.split_whitespace().collect();
        // A text on one line begins with its subject.
        let (title, below) = words.split_at(words.len().min(TITLE));
        let mut issue = Self {
            title: title.join(" "),
            words: Vec::new(),
            names: FxHashSet::default(),
            paths: Vec::new(),
            frames: Vec::new(),
        };
        let mut counts: HashMap<String, (u32, usize)> = HashMap::new();
        issue.read_line(&title.join(" "), false, &mut HashMap::new());
        issue.read_line(&below.join(" "), false, &mut counts);
        let mut is_code = false;
        for line in lines {
            if line.starts_with("```") || line.starts_with("~~~") {
                is_code = !is_code;
            } else if !is_heading(line) {
                issue.read_line(&without_links(line), is_code, &mut counts);
            }
        }
        let mut words: Vec<(String, (u32, usize))> = counts.into_iter().collect();
        words.sort_by_key(|(_, (count, first))| (std::cmp::Reverse(*count), *first));
        words.truncate(WEIGHED);
        issue.words = words.into_iter().map(|(word, (count, _))| (word, count)).collect();
        Some(issue)
    }

    fn read_line(&mut self, line: &str, is_code: bool, counts: &mut HashMap<String, (u32, usize)>) {
        if let Some(frame) = frame(line) {
            self.frames.push(frame);
            return;
        }
        let marked = line.split('`').skip(1).step_by(2);
        self.names.extend(marked.filter_map(|name| last_name(name.trim())));
        for word in line.split(|c: char| c.is_whitespace() || "()[]{}<>,;\"'`=".contains(c)) {
            let word = word.trim_matches(|c: char| !c.is_alphanumeric() && c != '_');
            if is_path(word) {
                self.paths.push(word.trim_start_matches("./").to_owned());
            } else if is_written_as_names(word) {
                self.names.extend(last_name(word));
            }
            for part in word.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|part| part.len() > 2) {
                let lower = part.to_lowercase();
                let is_keyword = is_code && KEYWORDS.contains(&&*lower);
                let says_nothing = is_keyword || STOP_WORDS.contains(&&*lower) || part.len() >= 50;
                if !says_nothing && !part.starts_with(|c: char| c.is_ascii_digit()) {
                    let first = counts.len();
                    counts.entry(lower).or_insert((0, first)).0 += 1;
                }
            }
        }
    }

    /// The most significant words below the title: frequent in the text, rare in the code.
    pub fn telling(&self, snapshot: &Snapshot) -> Result<String, Error> {
        let all = snapshot.documents()? as f32;
        let mut weighed: Vec<(f32, &str)> = Vec::new();
        for (word, count) in &self.words {
            let Some(held) = snapshot.frequency(word)? else { continue };
            if held > 0 && (held as f32) < all * COMMON {
                let weight = (1.0 + *count as f32).ln() * (all / held as f32).ln();
                weighed.push((weight, word));
            }
        }
        weighed.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(b.1)));
        Ok(weighed.into_iter().take(WORDS).map(|(_, word)| word).collect::<Vec<_>>().join(" "))
    }

    /// Whether the text names a symbol.
    pub fn names(&self, symbol: &SymbolView<'_>) -> bool {
        self.names.contains(&*symbol.name())
    }

    /// Whether a trace in the text contains a symbol.
    pub fn runs_through(&self, symbol: &SymbolView<'_>) -> bool {
        let name = symbol.name();
        self.frames.iter().any(|(path, function)| *function == name && is_same(path, symbol.file.path()))
    }

    /// Whether the text contains the path of a file.
    pub fn gives(&self, path: &str) -> bool {
        self.paths.iter().chain(self.frames.iter().map(|(path, _)| path)).any(|given| is_same(given, path))
    }
}

/// Whether a text is an issue. In one, `file:` and quotes have no special meaning.
pub fn is_issue(text: &str) -> bool {
    let words = text.split_whitespace().take(MANY_WORDS + 1).count();
    let has_lines = || text.lines().filter(|line| !line.trim().is_empty()).nth(1).is_some();
    words > MANY_WORDS || words > FEW_WORDS && has_lines()
}

/// Keywords of languages, which say nothing about the subject.
const KEYWORDS: &[&str] = &[
    "assert", "async", "await", "break", "class", "const", "def", "elif", "else", "except", "false", "fn", "func",
    "function", "import", "lambda", "let", "mod", "none", "null", "print", "pub", "raise", "return", "self", "static",
    "struct", "super", "test", "this", "throw", "true", "try", "type", "use", "var", "void", "yield",
];

/// Removes HTML comments, which hold the instructions of issue templates.
fn without_comments(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("<!--") {
        kept.push_str(before);
        let Some((_, after)) = after.split_once("-->") else { return kept };
        rest = after;
    }
    kept.push_str(rest);
    kept
}

/// Removes URLs from a line.
fn without_links(line: &str) -> String {
    if !line.contains("://") {
        return line.to_owned();
    }
    let pieces = line.split_inclusive(|c: char| c.is_whitespace() || "()<>[]\"".contains(c));
    pieces.filter(|piece| !piece.contains("://")).collect()
}

/// Whether a line is a heading of a template.
fn is_heading(line: &str) -> bool {
    let is_bold = line.len() > 4 && line.starts_with("**") && line.trim_end_matches(':').ends_with("**");
    line.starts_with('#') && line.trim_start_matches('#').starts_with(' ') || is_bold || line.starts_with("- [")
}

/// A frame of a trace of Python, JavaScript or Java.
fn frame(line: &str) -> Option<(String, String)> {
    let line = line.trim();
    if let Some((path, rest)) = line.strip_prefix("File \"").and_then(|rest| rest.split_once('"')) {
        return Some((path.to_owned(), rest.rsplit_once(" in ")?.1.to_owned()));
    }
    let (called, place) = line.strip_prefix("at ")?.split_once('(')?;
    let path = place.trim_end_matches(|c: char| !c.is_alphabetic());
    (path.contains('.')).then(|| Some((path.to_owned(), last_name(called.trim())?))).flatten()
}

/// The last part of a qualified name; `None` for other text.
fn last_name(text: &str) -> Option<String> {
    let text = text.trim_end_matches("()");
    let name = text.rsplit(['.', ':', '#']).next()?;
    let is_name = name.len() > 2 && name.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '$');
    (is_name && !name.starts_with(|c: char| c.is_ascii_digit())).then(|| name.to_owned())
}

/// Whether a word is written like an identifier.
fn is_written_as_names(word: &str) -> bool {
    let inner = word.get(1..word.len().saturating_sub(1)).unwrap_or_default();
    inner.contains(['_', '.', ':']) && !word.starts_with(|c: char| c.is_ascii_digit())
        || word.chars().zip(word.chars().skip(1)).any(|(a, b)| a.is_lowercase() && b.is_uppercase())
}

/// Whether a word is the path of a source file: `lib/net.py`, `net.py:12`.
fn is_path(word: &str) -> bool {
    let name = word.rsplit('/').next().unwrap_or(word);
    let Some((stem, ending)) = name.split(':').next().unwrap_or(name).rsplit_once('.') else { return false };
    let is_ending = (1..=5).contains(&ending.len()) && ending.chars().all(|c| c.is_ascii_lowercase());
    !stem.is_empty() && is_ending && (word.contains('/') || SOURCES.split(' ').any(|source| source == ending))
}

/// Extensions by which a path without a folder is recognized.
const SOURCES: &str = "c cfg cs go h java js py rs toml ts tsx";

/// Whether a path in the text, perhaps from another machine, is this path.
fn is_same(given: &str, path: &str) -> bool {
    let given = given.split(':').next().unwrap_or(given);
    let ends_with = |long: &str, short: &str| {
        long.strip_suffix(short).is_some_and(|before| before.is_empty() || before.ends_with('/'))
    };
    // An installed package lies in other folders than its source.
    ends_with(path, given) || (path.contains('/') || given == path) && ends_with(given, without_source(path))
}

/// A path without its source folder.
fn without_source(path: &str) -> &str {
    ["src/", "lib/"].iter().find_map(|folder| path.strip_prefix(folder)).unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ISSUE: &str = "\
### Session.close leaks sockets, see https://example.org/issues/12

<!-- Please fill in the template -->
**Describe the bug**
When `Session.close()` is called the adapter keeps its pool open.

```python
from shop.sessions import Session
Session().close()
```

Traceback (most recent call last):
  File \"/usr/lib/python3/site-packages/shop/adapters.py\", line 12, in clear_pool
    at Pool.drain (web/pool.ts:10:4)
See also docs/pools.md, and poolManager.
";

    #[test]
    fn an_issue_is_read_in_its_parts() {
        let issue = Issue::read(ISSUE).expect("it is long");
        assert_eq!(issue.title, "Session.close leaks sockets, see");
        for name in ["close", "poolManager", "sessions"] {
            assert!(issue.names.contains(name), "{name} in {:?}", issue.names);
        }
        assert!(issue.gives("src/shop/adapters.py") && issue.gives("docs/pools.md") && issue.gives("web/pool.ts"));
        assert!(!issue.gives("other/adapters2.py") && !issue.gives("pools.md2"));
        let frames: Vec<&str> = issue.frames.iter().map(|(_, function)| function.as_str()).collect();
        assert_eq!(frames, ["clear_pool", "drain"]);
        let words: Vec<&str> = issue.words.iter().map(|(word, _)| word.as_str()).collect();
        assert!(words.contains(&"adapter") && words.contains(&"pool"), "{words:?}");
        for other in ["template", "https", "example", "describe", "import", "the"] {
            assert!(!words.contains(&other), "{other} in {words:?}");
        }
    }

    #[test]
    fn a_question_is_no_issue() {
        assert!(Issue::read("how does the session close its sockets").is_none());
        assert!(Issue::read("").is_none() && Issue::read("load\nkind:class").is_none());
        assert!(Issue::read(&"word ".repeat(70)).is_some());
    }
}
