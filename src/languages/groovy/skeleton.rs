//! Groovy as its grammar can read it. It knows neither commands without parentheses nor texts in slashes, default values,
//! or methods whose name is a text, and loses its way in a file. So declarations are left, and of bodies the branches and the
//! methods of anonymous classes.

use super::tokens::{Token, TokenKind, tokens};
use crate::languages::sections::blank;

/// The declarations of a text, at its length. A body is as many `if(a);` as it has branches.
pub(super) fn preprocess(text: &[u8]) -> Option<Vec<u8>> {
    let mut skeleton = Skeleton { text, tokens: tokens(text), made: text.to_vec(), classes: Vec::new(), depth: 0 };
    let mut at = 0;
    while at < skeleton.tokens.len() {
        at = skeleton.statement(at).max(at + 1);
    }
    Some(skeleton.made)
}

const MODIFIERS: &[&[u8]] = &[
    b"public",
    b"protected",
    b"private",
    b"static",
    b"final",
    b"abstract",
    b"synchronized",
    b"transient",
    b"volatile",
    b"native",
    b"default",
    b"strictfp",
    b"sealed",
    b"def",
    b"var",
];
const PRIMITIVE: &[&[u8]] = &[b"void", b"boolean", b"byte", b"char", b"short", b"int", b"long", b"float", b"double"];
const TYPES: &[&[u8]] = &[b"class", b"interface", b"trait", b"enum", b"record"];
const BRANCH: &[u8] = b"if(a);";
const ANONYMOUS: &[u8] = b"class A";
/// Anonymous classes inside each other are read this far.
const DEEPEST: usize = 30;

struct Skeleton<'s> {
    text: &'s [u8],
    tokens: Vec<Token>,
    made: Vec<u8>,
    /// Open types: the places of their closing braces and of their names.
    classes: Vec<(usize, usize)>,
    /// The number of anonymous classes around.
    depth: usize,
}

impl Skeleton<'_> {
    fn word(&self, at: usize) -> &[u8] {
        match self.tokens.get(at) {
            Some(token) if token.kind == TokenKind::Word => &self.text[token.start..token.end],
            _ => b"",
        }
    }

    fn is_mark(&self, at: usize, mark: u8) -> bool {
        self.tokens.get(at).is_some_and(|token| token.kind == TokenKind::Mark(mark))
    }

    /// The next place that is no end of a line.
    fn skip_lines(&self, mut at: usize) -> usize {
        while self.tokens.get(at).is_some_and(|token| token.kind == TokenKind::Line) {
            at += 1;
        }
        at
    }

    /// Reads a statement at the level of a file or of a type; returns the place behind it.
    fn statement(&mut self, start: usize) -> usize {
        if self.classes.last().is_some_and(|(close, _)| *close <= start) {
            self.classes.pop();
            return start + 1;
        }
        if self.tokens[start].kind == TokenKind::Line || self.is_mark(start, b';') {
            return start + 1;
        }
        if matches!(self.word(start), b"import" | b"package") {
            return self.end_of_line(start);
        }
        let (mut at, is_modified) = self.modifiers(start);
        if TYPES.contains(&self.word(at)) && !self.word(at + 1).is_empty() {
            return self.type_declaration(at);
        }
        if self.is_mark(at, b'@') && self.word(at + 1) == b"interface" {
            return self.type_declaration(at + 1);
        }
        if self.is_mark(at, b'<') {
            at = self.behind_type_arguments(at);
        }
        let behind = self.behind_type(at);
        let is_name = |at: usize| {
            self.tokens.get(at).is_some_and(|token| matches!(token.kind, TokenKind::Word | TokenKind::Text))
        };
        let (name, is_typed) = if behind > at && is_name(behind) { (behind, true) } else { (at, false) };
        let is_typed = is_typed && self.is_type(at, behind);
        let is_constructor = self.classes.last().is_some_and(|(_, class)| self.word(*class) == self.word(name));
        if is_name(name) && self.is_mark(name + 1, b'(') && (is_typed || is_modified || is_constructor) {
            return self.method(name);
        }
        if !self.word(name).is_empty() && (is_typed || is_modified) {
            return self.fields(name);
        }
        self.expression(start)
    }

    /// Annotations and modifiers; the place behind them, and whether a modifier is among them.
    fn modifiers(&mut self, mut at: usize) -> (usize, bool) {
        let mut is_modified = false;
        loop {
            if MODIFIERS.contains(&self.word(at)) {
                is_modified = true;
                at += 1;
            } else if self.is_mark(at, b'@') && !matches!(self.word(at + 1), b"" | b"interface") {
                at += 2;
                while self.is_mark(at, b'.') {
                    at += 2;
                }
                if self.is_mark(at, b'(') {
                    at = self.arguments(at);
                }
                at = self.skip_lines(at);
            } else {
                return (at, is_modified);
            }
        }
    }

    /// Arguments of an annotation: of several, or over lines, none is left.
    fn arguments(&mut self, open: usize) -> usize {
        let close = self.tokens[open].close.min(self.tokens.len() - 1);
        let is_plain = |token: &Token| !matches!(token.kind, TokenKind::Mark(b',' | b'[' | b'{') | TokenKind::Line);
        if !self.tokens[open + 1..close.max(open + 1)].iter().all(is_plain) {
            blank(&mut self.made, self.tokens[open].start..self.tokens[close].end);
        }
        close + 1
    }

    fn behind_type_arguments(&self, open: usize) -> usize {
        let (mut at, mut depth) = (open, 0);
        while let Some(token) = self.tokens.get(at) {
            match token.kind {
                TokenKind::Mark(b'<') => depth += 1,
                TokenKind::Mark(b'>') if depth == 1 => return at + 1,
                TokenKind::Mark(b'>') => depth -= 1,
                TokenKind::Word | TokenKind::Mark(b',' | b'.' | b'?' | b'&' | b'[' | b']') => {}
                _ => return open,
            }
            at += 1;
        }
        open
    }

    /// The place behind a type that may begin here: `a.B<C>[]`.
    fn behind_type(&self, start: usize) -> usize {
        if self.word(start).is_empty() {
            return start;
        }
        let mut at = start + 1;
        while self.is_mark(at, b'.') && !self.word(at + 1).is_empty() {
            at += 2;
        }
        if self.is_mark(at, b'<') {
            at = self.behind_type_arguments(at);
        }
        while self.is_mark(at, b'[') && self.is_mark(at + 1, b']') {
            at += 2;
        }
        at
    }

    /// Whether a word begins like a type and no command, as `println name`.
    fn is_type(&self, at: usize, behind: usize) -> bool {
        let is_capital = |at: usize| self.word(at).first().is_some_and(u8::is_ascii_uppercase);
        PRIMITIVE.contains(&self.word(at)) || (at..behind).any(is_capital)
    }

    /// A class, from its keyword on. Its body is read next.
    fn type_declaration(&mut self, keyword: usize) -> usize {
        let start = self.tokens[keyword].start;
        let is_enum = self.word(keyword) == b"enum";
        if self.word(keyword) == b"trait" {
            self.made[start..start + 5].copy_from_slice(b"class");
        }
        let mut at = keyword + 1;
        while at < self.tokens.len() && !self.is_mark(at, b'{') {
            at = if self.is_mark(at, b'(') { self.tokens[at].close + 1 } else { at + 1 };
        }
        let Some(open) = self.tokens.get(at) else { return self.tokens.len() };
        self.classes.push((open.close, keyword + 1));
        if is_enum { self.enumerators(at + 1) } else { at + 1 }
    }

    /// The names of an enum, whose arguments and bodies are left out.
    fn enumerators(&mut self, mut at: usize) -> usize {
        loop {
            at = self.skip_lines(at);
            let name = self.modifiers(at).0;
            let mut behind = name + 1;
            if self.word(name).is_empty() {
                return at;
            }
            for open in *b"({" {
                if self.is_mark(behind, open) {
                    behind = self.leave_out(behind, behind);
                }
            }
            let next = self.skip_lines(behind);
            match self.tokens.get(next).map(|token| token.kind) {
                Some(TokenKind::Mark(b',')) => at = next + 1,
                Some(TokenKind::Mark(b';' | b'}')) => return next,
                _ if next > behind => return next,
                _ => return at,
            }
        }
    }

    /// Blanks from a place to the end of the pair that opens at another; returns the place behind it.
    fn leave_out(&mut self, from: usize, open: usize) -> usize {
        let close = self.tokens[open].close;
        let end = self.tokens.get(close).map_or(self.text.len(), |token| token.end);
        blank(&mut self.made, self.tokens[from].start..end);
        close + 1
    }

    /// A method, from its name on.
    fn method(&mut self, name: usize) -> usize {
        let Token { start, end, kind, .. } = self.tokens[name];
        if kind == TokenKind::Text {
            // The grammar wants a word.
            let bytes = self.made[start..end].iter_mut();
            bytes.filter(|byte| !byte.is_ascii_alphanumeric()).for_each(|byte| *byte = b'_');
        }
        let open = name + 1;
        let close = self.tokens[open].close;
        let Some(last) = self.tokens.get(close) else { return self.tokens.len() };
        blank(&mut self.made, self.tokens[open].end..last.start);
        let mut at = close + 1;
        if self.word(self.skip_lines(at)) == b"throws" {
            at = self.skip_lines(at) + 1;
            while !self.word(at).is_empty() || self.is_mark(at, b'.') || self.is_mark(at, b',') {
                at = self.skip_lines(at + 1).min(if self.is_mark(at, b',') { usize::MAX } else { at + 1 });
            }
        }
        let body = self.skip_lines(at);
        if self.is_mark(body, b'{') {
            return self.body(body);
        }
        self.end(at)
    }

    /// The bodies of anonymous classes in a body, by their braces.
    fn anonymous(&self, open: usize, close: usize) -> Vec<(usize, usize)> {
        let (mut found, mut at) = (Vec::new(), open + 1);
        while self.depth < DEEPEST && at < close {
            let behind = if self.word(at) == b"new" { self.behind_type(at + 1) } else { at };
            let arguments = self.tokens.get(behind).filter(|_| behind > at + 1 && self.is_mark(behind, b'('));
            match arguments.map(|arguments| arguments.close + 1).filter(|body| self.is_mark(*body, b'{')) {
                Some(body) => {
                    at = self.tokens[body].close;
                    found.push((body, at));
                }
                None => at += 1,
            }
        }
        found
    }

    /// The members of an anonymous class.
    fn members(&mut self, open: usize, close: usize) {
        let end = self.tokens.get(close).map_or(self.text.len(), |token| token.start);
        let range = self.tokens[open].end..end;
        // In a block the grammar takes methods only within a class. `new A()` is as long, so it fits.
        let head = range.start - 1 - ANONYMOUS.len()..range.start - 1;
        self.made[head].copy_from_slice(ANONYMOUS);
        self.made[range.start - 1] = b'{';
        self.made[end..self.tokens.get(close).map_or(end, |token| token.end)].fill(b'}');
        self.made[range.clone()].copy_from_slice(&self.text[range]);
        self.depth += 1;
        let mut at = open + 1;
        while at < close.min(self.tokens.len()) {
            at = self.statement(at).max(at + 1);
        }
        self.depth -= 1;
    }

    /// A body, of which the branches and the members of anonymous classes are left.
    fn body(&mut self, open: usize) -> usize {
        let close = self.tokens[open].close;
        let end = self.tokens.get(close).map_or(self.text.len(), |token| token.start);
        let start = self.tokens[open].end;
        blank(&mut self.made, start..end);
        let classes = self.anonymous(open, close);
        let is_of_class = |at: usize| {
            let next = classes.partition_point(|(open, _)| *open <= at);
            next > 0 && at < classes[next - 1].1
        };
        let branches: Vec<usize> = (open + 1..close)
            .filter(|at| self.is_branch(*at) && !is_of_class(*at))
            .map(|at| self.tokens[at].start)
            .collect();
        let places: Vec<_> = classes
            .iter()
            .map(|(open, close)| self.tokens[*open].start..self.tokens.get(*close).map_or(end, |token| token.end))
            .collect();
        let mut left = branches.iter().peekable();
        let (mut at, mut pending) = (start, 0);
        for line in self.text[start..end].split_inclusive(|byte| *byte == b'\n') {
            let stop = at + line.len();
            while left.next_if(|branch| **branch < stop).is_some() {
                pending += 1;
            }
            let next = places.partition_point(|place| place.start < stop);
            let is_taken = next > 0 && at < places[next - 1].end;
            while pending > 0 && !is_taken && at + BRANCH.len() < stop {
                self.made[at..at + BRANCH.len()].copy_from_slice(BRANCH);
                at += BRANCH.len();
                pending -= 1;
            }
            at = stop;
        }
        for (open, close) in classes {
            self.members(open, close);
        }
        close + 1
    }

    fn is_branch(&self, at: usize) -> bool {
        let next = |mark: u8| self.is_mark(at + 1, mark) && self.tokens[at + 1].start == self.tokens[at].end;
        match self.tokens[at].kind {
            TokenKind::Word => matches!(self.word(at), b"if" | b"for" | b"while" | b"case" | b"catch"),
            TokenKind::Mark(mark @ (b'&' | b'|')) => next(mark),
            TokenKind::Mark(b'?') => {
                let is_wildcard = self.is_mark(at - 1, b'<') || self.is_mark(at - 1, b',');
                !is_wildcard && !next(b'.') && !next(b':') && !next(b'[')
            }
            _ => false,
        }
    }

    /// Fields or variables, from the first name on. Their values are left out.
    fn fields(&mut self, mut at: usize) -> usize {
        loop {
            at += 1;
            let is_last = |at: usize| !self.is_mark(at, b',') || self.word(self.skip_lines(at + 1)).is_empty();
            if self.is_mark(at, b'=') {
                let end = self.end_of_value(at);
                let behind = self.tokens[end - 1].end;
                let is_last = is_last(end);
                blank(&mut self.made, self.tokens[at].start..behind);
                if is_last {
                    self.made[behind - 1] = b';';
                    return end;
                }
                at = end;
            } else if is_last(at) {
                return self.end(at);
            }
            at = self.skip_lines(at + 1);
        }
    }

    /// The end of a value: of its line, unless it goes on.
    fn end_of_value(&self, start: usize) -> usize {
        let mut at = start + 1;
        while let Some(token) = self.tokens.get(at) {
            match token.kind {
                TokenKind::Mark(b'(' | b'[' | b'{') => at = token.close,
                TokenKind::Mark(b';' | b',' | b'}' | b')' | b']') => return at,
                TokenKind::Line => {
                    let goes_on = |at: usize| match self.tokens.get(at).map(|token| token.kind) {
                        Some(TokenKind::Mark(mark)) => b".?:+-*/%&|=<>,".contains(&mark),
                        _ => false,
                    };
                    let next = self.skip_lines(at);
                    if !goes_on(at - 1) && !goes_on(next) {
                        return at;
                    }
                    at = next;
                    continue;
                }
                _ => {}
            }
            at += 1;
        }
        self.tokens.len()
    }

    /// Ends a declaration at this place, where a line ends: what is left of the line is left out.
    fn end(&mut self, at: usize) -> usize {
        let end = self.end_of_line(at);
        let (Some(from), to) = (self.tokens.get(at), self.tokens.get(end)) else { return end };
        blank(&mut self.made, from.start..to.map_or(self.text.len(), |token| token.start));
        // A comment may stand before the end of the line.
        let behind = self.tokens[at - 1].end;
        if self.text[behind].is_ascii_whitespace() {
            self.made[behind] = b';';
        }
        end
    }

    /// The end of a line or of the type around it; pairs are skipped.
    fn end_of_line(&self, start: usize) -> usize {
        let mut at = start;
        while let Some(token) = self.tokens.get(at) {
            match token.kind {
                TokenKind::Line | TokenKind::Mark(b';' | b'}') => return at,
                TokenKind::Mark(b'(' | b'[' | b'{') => at = token.close + 1,
                _ => at += 1,
            }
        }
        self.tokens.len()
    }

    /// Any other statement is left out.
    fn expression(&mut self, start: usize) -> usize {
        let end = self.end_of_line(start).max(start + 1);
        let behind = self.tokens.get(end).map_or(self.text.len(), |token| token.start);
        blank(&mut self.made, self.tokens[start].start..behind);
        end
    }
}

#[cfg(test)]
mod tests {
    use super::preprocess;

    /// Lines without the spaces around words.
    fn read(text: &str) -> String {
        let made = preprocess(text.as_bytes()).map_or(String::new(), |made| String::from_utf8(made).unwrap());
        assert_eq!(made.len(), text.len());
        made.lines().map(|line| format!("{}\n", line.split_whitespace().collect::<Vec<_>>().join(" "))).collect()
    }

    #[test]
    fn declarations_are_left() {
        assert_eq!(read("def a = [1,\n  2]\nint b\nprintln b\n"), "def a\n;\nint b;\n");
        assert_eq!(read("class A { String b, c = 'd' }\n"), "class A { String b, c ; }\n");
        assert_eq!(
            read("trait A<T> {\n  A(b) { }\n  B b() throws C, D { c }\n}\n"),
            "class A<T> {\nA( ) { }\nB b() throws C, D { }\n}\n"
        );
        assert_eq!(read("interface A {\n  String b(int c = 1)\n  D e()\n}\n"), "interface A {\nString b( ); D e();}\n");
        assert_eq!(read("enum A {\n  B(1), C { int d() { 1 } }\n  int e\n}\n"), "enum A {\nB , C\nint e;}\n");
    }

    #[test]
    fn commands_and_closures_are_left_out() {
        assert_eq!(read("plugins { id 'java' }\na.b = /c{/\nd 'e' {\n  F g\n}\n"), "\n\n\n\n\n");
        assert_eq!(read("class A {\n  static { b() }\n  @C(d = 1, e = 2) def f\n}\n"), "class A {\n\n@C def f;}\n");
    }

    #[test]
    fn names_in_quotes_become_words() {
        assert_eq!(read("def \"it's #a\"() {\n  expect: b\n}\n"), "def _it_s__a_() {\n\n}\n");
    }

    #[test]
    fn bodies_keep_their_branches() {
        let text = "def a() {\n  if (b && c) { d ?: e?.f }\n  List<?> g = h ? 1 : 2\n  x\n}\n";
        assert_eq!(read(text), "def a() {\nif(a);if(a);\nif(a);\n\n}\n");
    }

    #[test]
    fn methods_of_anonymous_classes_are_left() {
        let text = "def a() {\n  b(new C<D>(1) {\n    public void run() {\n      if (d) e\n    }\n    f g\n    @H\n    String i() { 1 }\n  })\n  if (j) k\n}\n";
        let expected = "def a() {\nclass A{\npublic void run() {\nif(a);\n}\n\n@H\nString i() { }\n}\nif(a);\n}\n";
        assert_eq!(read(text), expected);
        assert_eq!(read("def a() { new B(){}\n}\n"), "def a() { class A{}\n}\n");
        assert_eq!(read("def a() { new B()\n}\n"), "def a() {\n}\n");
        let deep = "def a() { new B() { ".repeat(1_000);
        assert!(read(&deep).starts_with("def a() { class A{ def a() {"));
    }

    #[test]
    fn what_is_not_closed_ends_with_the_text() {
        for text in [
            "class A {",
            "def a(",
            "def a() { if (b",
            "enum A { B(",
            "int a =",
            "@B(",
            "class A",
            "}\nint b\n",
            "@",
            "<",
        ] {
            read(text);
        }
    }
}
