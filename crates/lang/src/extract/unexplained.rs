//! Mentions that facts do not explain: a name in code that was not read as a use, such as in an attribute, in the body
//! of a macro or behind a syntax error. Something of that name may be used there. They are found once, when a file is
//! read, and kept with its facts.

use tree_sitter::TreeCursor;

use super::locals::{is_member, is_part};
use crate::facts::{Builder, mentions};
use crate::languages::{Budget, LanguageSpec, WordContext, Words};
use crate::parsing::SyntaxTree;
use codelode_base::model::{Span, Symbol};

/// Places of such mentions in a file, ascending, by its facts.
pub fn unexplained(packed: &[u8]) -> impl Iterator<Item = u32> {
    mentions(packed)
}

/// Records words of a file that stand in its code, or as a call in a text, and are neither a definition, a keyword, a
/// known use nor likely a local name. Where syntax errors are, known uses count, too: a template may stand for anything.
pub(super) fn record(
    (spec, source): (&'static LanguageSpec, &[u8]),
    tree: &SyntaxTree,
    symbols: &[Symbol],
    facts: &mut Builder,
    budget: &Budget,
) {
    let has_errors = tree.root_node().has_error() || !budget.is_left();
    let known = if has_errors { Vec::new() } else { facts.occurrence_starts() };
    let mut known = AscendingRanges { places: &known, next: 0 };
    let mut defined: Vec<u32> = symbols.iter().map(|symbol| symbol.name.start).collect();
    defined.sort_unstable();
    let mut defined = AscendingRanges { places: &defined, next: 0 };
    let local = facts.local_names();
    let words = spec.words();
    let mut walk = WordWalk::new(tree, words, budget);
    for span in (Scan { spec, source, at: 0, line_end: 0 }) {
        let (start, end) = (span.start as usize, span.end as usize);
        let is_call = source.get(end) == Some(&b'(');
        if walk.is_silent_at(span, is_call) || known.hold(span.start) || defined.hold(span.start) {
            continue;
        }
        let word = &source[start..end];
        let is_local = || {
            let name = std::str::from_utf8(word).ok().and_then(|word| facts.known_name(word));
            name.is_some_and(|name| local[name.row()]) && !is_member(source, start)
        };
        if words.is_reserved(word) || !is_call && is_local() {
            continue;
        }
        // A text that is run may call a local function.
        if walk.is_used(span, is_call) && (walk.is_in_text() || !is_local()) {
            facts.mention(span.start);
        }
    }
}

/// Ascending places, asked for in ascending order.
struct AscendingRanges<'p> {
    places: &'p [u32],
    next: usize,
}

impl AscendingRanges<'_> {
    fn hold(&mut self, place: u32) -> bool {
        while self.places.get(self.next).is_some_and(|next| *next < place) {
            self.next += 1;
        }
        self.places.get(self.next) == Some(&place)
    }
}

/// The words of a text that may be names, without lines that are comments. Most mentions are in such, and need no tree.
struct Scan<'s> {
    spec: &'static LanguageSpec,
    source: &'s [u8],
    at: usize,
    line_end: usize,
}

impl Iterator for Scan<'_> {
    type Item = Span;

    fn next(&mut self) -> Option<Span> {
        loop {
            let rest = self.source.get(self.at..)?;
            let start = self.at + rest.iter().position(is_part)?;
            if start >= self.line_end {
                let line_start =
                    memchr::memrchr(b'\n', &self.source[self.at..start]).map_or(self.at, |at| self.at + at + 1);
                let newline = memchr::memchr(b'\n', &self.source[start..]);
                self.line_end = newline.map_or(self.source.len(), |at| start + at + 1);
                if self.is_comment(self.source[line_start..start].trim_ascii_start()) {
                    self.at = self.line_end;
                    continue;
                }
            }
            let length = self.source[start..].iter().position(|byte| !is_part(byte));
            self.at = length.map_or(self.source.len(), |length| start + length);
            // `#name` is another name.
            let is_private = start > 0 && self.source[start - 1] == b'#';
            if !self.source[start].is_ascii_digit() && !is_private {
                return Some(Span::new(start, self.at));
            }
        }
    }
}

impl Scan<'_> {
    /// Whether the start of a line, up to its first word, begins a line comment or goes on with a block comment.
    fn is_comment(&self, start: &[u8]) -> bool {
        let opens = |marker: &&str| start.starts_with(marker.as_bytes());
        let comments = &self.spec.comments;
        comments.line.iter().any(opens) || !comments.block.is_empty() && start.starts_with(b"* ")
    }
}

/// Meaning of a word by the nodes around it.
#[derive(Clone, Copy, Default)]
struct State {
    /// The innermost of [`WordContext::Comment`], [`WordContext::Text`] and [`WordContext::Code`].
    innermost: WordContext,
    /// The node's own meaning.
    own: WordContext,
    /// For a text: whether it stands alone.
    is_statement: bool,
    /// The place of the nearest key.
    key: Option<u32>,
}

/// A walk from word to word of a tree, each after the one before. A node is visited once, and nodes without such
/// words are passed by.
struct WordWalk<'t> {
    words: &'static Words,
    budget: &'t Budget,
    cursor: TreeCursor<'t>,
    /// The states of the nodes above the cursor's, and its own.
    states: Vec<State>,
    /// The end of the range in which words have the state `last`.
    until: usize,
    last: State,
    /// Whether that range is a token of the grammar.
    is_token: bool,
}

impl<'t> WordWalk<'t> {
    fn new(tree: &'t SyntaxTree, words: &'static Words, budget: &'t Budget) -> Self {
        let root = State::default();
        let cursor = tree.walk();
        Self { words, budget, cursor, states: vec![root], until: 0, last: root, is_token: false }
    }

    /// Whether a word is known to be no code without a step: it is in the same comment or text as the one before.
    fn is_silent_at(&self, span: Span, is_call: bool) -> bool {
        let is_text = || self.last.innermost == WordContext::Text && (!is_call || self.last.is_statement);
        (span.end as usize) <= self.until && (self.last.innermost == WordContext::Comment || is_text())
    }

    /// Whether a word is code, or a text calls it: `"return check($1)"`.
    fn is_used(&mut self, span: Span, is_call: bool) -> bool {
        if span.end as usize > self.until {
            self.seek(span.start as usize, span.end as usize);
        }
        let state = self.last;
        match state.innermost {
            _ if self.is_token || state.key == Some(span.start) => false,
            WordContext::Comment => false,
            WordContext::Text => is_call && !state.is_statement,
            _ => true,
        }
    }

    /// Whether the last word is in a text.
    fn is_in_text(&self) -> bool {
        self.last.innermost == WordContext::Text
    }

    /// Goes to the innermost node that holds a range.
    fn seek(&mut self, start: usize, end: usize) {
        loop {
            let node = self.cursor.node();
            let is_root = self.states.len() == 1;
            if !self.budget.work() {
                // The rest counts as code.
                (self.last, self.until, self.is_token) = (State::default(), usize::MAX, false);
                return;
            }
            if !is_root && node.end_byte() <= start {
                if self.cursor.goto_next_sibling() {
                    self.states.pop();
                    self.enter();
                } else {
                    self.cursor.goto_parent();
                    self.states.pop();
                }
                continue;
            }
            if !is_root && (start < node.start_byte() || node.end_byte() < end) {
                // It is between two nodes, or is part of more than one.
                let until = if end <= node.start_byte() { node.start_byte() } else { 0 };
                let around = self.states[self.states.len() - 2];
                (self.last, self.until, self.is_token) = (around, until, false);
                return;
            }
            if self.cursor.goto_first_child() {
                self.enter();
                if self.pass_children(start) {
                    continue;
                }
            }
            let state = self.states.last().copied().unwrap_or_default();
            let is_token = node.child_count() == 0 && !node.is_named();
            let until = if is_root { usize::MAX } else { node.end_byte() };
            (self.last, self.until, self.is_token) = (state, until, is_token);
            return;
        }
    }

    /// Goes to the first child, from the cursor's on, that ends after a place; back to the parent if there is none.
    fn pass_children(&mut self, start: usize) -> bool {
        while self.cursor.node().end_byte() <= start {
            let has_next = self.budget.work() && self.cursor.goto_next_sibling();
            self.states.pop();
            if !has_next {
                self.cursor.goto_parent();
                return false;
            }
            self.enter();
        }
        true
    }

    /// Adds the state of the cursor's node, inside the last one.
    fn enter(&mut self) {
        let node = self.cursor.node();
        let above = self.states.last().copied().unwrap_or_default();
        let own = self.words.around(node.kind_id());
        let mut state = State { own, ..above };
        match own {
            WordContext::Nothing | WordContext::Statement => {}
            WordContext::Key => state.key = Some(node.start_byte() as u32),
            WordContext::Text => {
                state.innermost = own;
                state.is_statement = match above.own {
                    WordContext::Text => above.is_statement,
                    other => other == WordContext::Statement,
                };
            }
            WordContext::Comment | WordContext::Code => state.innermost = own,
        }
        self.states.push(state);
    }
}

#[cfg(test)]
mod tests {
    use super::unexplained;
    use crate::extract::extract;
    use crate::languages::of_file;

    /// The lines with unexplained mentions of `it`.
    fn check(path: &str, source: &str, expected: &[usize]) {
        let spec = of_file(path, b"").expect("it is built in").1;
        let extraction = extract(spec, source.as_bytes());
        let found = unexplained(&extraction.facts).map(|at| at as usize);
        let is_it = |at: &usize| source[*at..].split(|letter: char| !letter.is_alphanumeric()).next() == Some("it");
        let line = |at: usize| source[..at].matches('\n').count() + 1;
        assert_eq!(found.filter(is_it).map(line).collect::<Vec<_>>(), expected, "{source}");
    }

    #[test]
    fn code_that_was_not_read_is_found() {
        check("a.rs", "#[arg(add = Made::new(Own::it))]\nstruct A;\n// it\n/// it()\nfn f() { /* it */ }\n", &[1]);
        check("a.rs", "macro_rules! m { ($e:expr) => { $crate::a::it($e) } }\n", &[]);
        check("A.java", "class A {\n  String a = \"throw it(e);\";\n  String b = \"it\"; // it()\n}\n", &[2]);
        check("a.py", "'''Calls it().'''\ndef f(a):\n    '''it()'''\n    return g(it=a)\n", &[]);
        check("a.ts", "function f(it: number) { return it; }\n/**\n * it()\n */\n", &[]);
    }

    #[test]
    fn texts_call_what_comments_do_not() {
        check("a.py", "a = 'it() it'\nb = f'{x} it {x} it() {x}'\n'it()'\n# it()\nc = 1  # it()\n", &[1, 2]);
        check("a.js", "const a = <p>it() {b}</p>;\nconst c = `it ${x} it(`;\n", &[2]);
        check("a.rs", "m! { a => it, \"it\" /* it() */ it }\nm! { b \"it()\" }\n", &[2]);
    }

    #[test]
    fn a_text_that_is_run_may_call_a_local_function() {
        check("a.py", "def f():\n    def it(): ...\n    it()\n    run('it()', it=it)\n", &[4]);
    }

    #[test]
    fn a_file_with_errors_mentions_what_it_uses_too() {
        check("a.py", "it()\n", &[]);
        check("a.py", "it()\n{{% if (\n", &[1]);
    }

    #[test]
    fn many_words_after_one_node_take_one_look() {
        let text = format!("a = '\\n {}'\n", "it ".repeat(50_000));
        check("a.py", &text, &[]);
    }
}
