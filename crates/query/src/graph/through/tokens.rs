//! Words, texts and marks of a piece of code, with brackets matched, in any language. It says what stands beside a
//! name without a grammar, so that nothing is parsed when a question is asked.

use codelode_lang::languages::Comments;

/// Sort of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sort {
    /// A name, a keyword or a number.
    Word,
    /// A literal in quotes.
    Text,
    /// One byte of punctuation.
    Mark,
}

#[derive(Clone, Copy, Debug)]
struct Token {
    start: u32,
    end: u32,
    sort: Sort,
    /// The token of the matching bracket, if it is one.
    partner: u32,
    /// The innermost bracket that is open before it.
    open: u32,
}

/// No token.
const NONE: u32 = u32::MAX;

/// Words behind `#` on lines that a preprocessor reads.
const DIRECTIVES: &[&[u8]] =
    &[b"if", b"ifdef", b"ifndef", b"elif", b"else", b"endif", b"define", b"undef", b"include", b"pragma", b"region"];

/// Tokens of a piece of a text. Positions are those in the whole text.
pub(super) struct Code<'a> {
    text: &'a [u8],
    tokens: Vec<Token>,
}

impl<'a> Code<'a> {
    /// Reads `text` from `start` to `end`.
    pub fn read(text: &'a [u8], start: usize, end: usize, comments: &Comments) -> Self {
        let mut code = Self { text, tokens: Vec::new() };
        let end = end.min(text.len());
        let mut at = start;
        while at < end {
            at = code.next(at, end, comments).max(at + 1);
        }
        code.match_brackets();
        code
    }

    /// Reads one token, or skips what is none. Returns its end.
    fn next(&mut self, at: usize, end: usize, comments: &Comments) -> usize {
        let rest = &self.text[at..end];
        let byte = rest[0];
        if byte.is_ascii_whitespace() {
            return at + 1;
        }
        let is_directive = || {
            let word = rest[1..].trim_ascii_start();
            let len = word.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
            DIRECTIVES.contains(&&word[..len]) && self.begins_line(at)
        };
        if byte == b'#' && is_directive() {
            return at + line_len(rest);
        }
        if let Some(len) = comment_len(rest, comments) {
            return at + len;
        }
        let (len, sort) = match byte {
            b'"' | b'`' => (text_len(rest), Sort::Text),
            b'\'' => match quote_len(rest, at.checked_sub(1).map(|before| self.text[before])) {
                Some(len) => (len, Sort::Text),
                None => return at + 1,
            },
            b'/' if self.begins_pattern() => (pattern_len(rest), Sort::Text),
            _ if is_word(byte) => (rest.iter().take_while(|byte| is_word(**byte)).count(), Sort::Word),
            _ => (1, Sort::Mark),
        };
        self.tokens.push(Token { start: at as u32, end: (at + len) as u32, sort, partner: NONE, open: NONE });
        at + len
    }

    fn begins_line(&self, at: usize) -> bool {
        self.text[..at].iter().rev().take_while(|byte| **byte != b'\n').all(u8::is_ascii_whitespace)
    }

    /// Whether a slash here begins a regular expression: no value stands before it.
    fn begins_pattern(&self) -> bool {
        self.tokens.last().is_some_and(|last| {
            last.sort == Sort::Mark && b"(,=:[!&|?{};".contains(&self.text[last.start as usize])
                || last.sort == Sort::Word && &self.text[last.start as usize..last.end as usize] == b"return"
        })
    }

    fn match_brackets(&mut self) {
        let mut stack: Vec<u32> = Vec::new();
        for place in 0..self.tokens.len() {
            let byte = self.mark(place);
            if let Some(b')' | b']' | b'}') = byte {
                let fits = |open: &u32| self.mark(*open as usize).is_some_and(|open| Some(closing(open)) == byte);
                // A bracket that nothing closes is left out: a macro may open one.
                if let Some(depth) = stack.iter().rposition(fits) {
                    let open = stack[depth];
                    stack.truncate(depth);
                    self.tokens[open as usize].partner = place as u32;
                    self.tokens[place].partner = open;
                }
            }
            self.tokens[place].open = stack.last().copied().unwrap_or(NONE);
            if let Some(b'(' | b'[' | b'{') = byte {
                stack.push(place as u32);
            }
        }
    }

    /// The number of tokens.
    pub fn len(&self) -> usize {
        self.tokens.len()
    }

    /// The token that begins at a byte.
    pub fn token_at(&self, at: u32) -> Option<usize> {
        self.tokens.binary_search_by_key(&at, |token| token.start).ok()
    }

    /// The first byte of a token.
    pub fn at(&self, token: usize) -> u32 {
        self.tokens.get(token).map_or(NONE, |token| token.start)
    }

    /// The mark that a token is.
    pub fn mark(&self, token: usize) -> Option<u8> {
        self.tokens.get(token).filter(|it| it.sort == Sort::Mark).map(|it| self.text[it.start as usize])
    }

    /// Whether a token is this mark.
    pub fn is(&self, token: usize, mark: u8) -> bool {
        self.mark(token) == Some(mark)
    }

    /// The word that a token is.
    pub fn word(&self, token: usize) -> Option<&'a [u8]> {
        let it = self.tokens.get(token).filter(|it| it.sort == Sort::Word)?;
        Some(&self.text[it.start as usize..it.end as usize])
    }

    /// The literal that a token is, without quotes; a number counts.
    pub fn literal(&self, token: usize) -> Option<&'a [u8]> {
        let it = self.tokens.get(token)?;
        let own = &self.text[it.start as usize..it.end as usize];
        match it.sort {
            Sort::Text => Some(own.get(1..own.len().saturating_sub(1)).unwrap_or_default()),
            Sort::Word => own[0].is_ascii_digit().then_some(own),
            Sort::Mark => None,
        }
    }

    /// Whether a token is a literal in quotes.
    pub fn is_text(&self, token: usize) -> bool {
        self.tokens.get(token).is_some_and(|it| it.sort == Sort::Text)
    }

    /// Whether nothing stands between a token and the next one.
    pub fn touches(&self, token: usize) -> bool {
        self.tokens.get(token).zip(self.tokens.get(token + 1)).is_some_and(|(one, next)| one.end == next.start)
    }

    /// Whether a line ends between a token and the next one.
    pub fn ends_line(&self, token: usize) -> bool {
        let between = self.tokens.get(token).zip(self.tokens.get(token + 1));
        between.is_none_or(|(one, next)| self.text[one.end as usize..next.start as usize].contains(&b'\n'))
    }

    /// The matching bracket.
    pub fn partner(&self, token: usize) -> Option<usize> {
        self.tokens.get(token).map(|it| it.partner).filter(|it| *it != NONE).map(|it| it as usize)
    }

    /// The innermost bracket around a token.
    pub fn opening(&self, token: usize) -> Option<usize> {
        self.tokens.get(token).map(|it| it.open).filter(|it| *it != NONE).map(|it| it as usize)
    }

    /// The number of commas between a bracket and a token directly inside of it.
    pub fn position(&self, open: usize, token: usize) -> usize {
        (open + 1..token).filter(|place| self.is(*place, b',') && self.opening(*place) == Some(open)).count()
    }

    /// Whether a token and the one before it are this pair of adjacent marks.
    pub fn is_pair(&self, last: usize, pair: &[u8; 2]) -> bool {
        last > 0 && self.is(last, pair[1]) && self.is(last - 1, pair[0]) && self.touches(last - 1)
    }

    /// The first token of the name or member whose last word is `token`, with what stands for its address or its type:
    /// `&spi.write`, `this::write`, `(proc) write`.
    pub fn start_of_value(&self, token: usize) -> usize {
        let mut first = token;
        while first > 0 {
            let before = first - 1;
            let joint = match self.mark(before) {
                Some(b'.') => before - usize::from(self.is_pair(before, b"?.")),
                _ if self.is_pair(before, b"::") || self.is_pair(before, b"->") => before - 1,
                Some(b'&' | b'*') if before == 0 || !self.ends_value(before - 1) => {
                    first = before;
                    continue;
                }
                Some(b')') if self.partner(before).is_some_and(|open| self.is_cast(open)) => {
                    first = self.partner(before).unwrap_or(before);
                    continue;
                }
                _ => return first,
            };
            first = joint;
            if let Some(receiver) = joint.checked_sub(1).filter(|it| self.ends_value(*it)) {
                first = self.start_of_receiver(receiver);
            }
        }
        first
    }

    /// The first token of a value that ends with `last`: a word, a call, an element.
    fn start_of_receiver(&self, mut last: usize) -> usize {
        while let Some(open) = self.partner(last) {
            match open.checked_sub(1).filter(|it| self.ends_value(*it)) {
                Some(before) => last = before,
                None => return open,
            }
        }
        last
    }

    /// Whether a value may end with a token.
    fn ends_value(&self, token: usize) -> bool {
        match self.mark(token) {
            Some(mark) => matches!(mark, b')' | b']'),
            None => self.word(token).is_none_or(|word| !matches!(word, b"return" | b"case" | b"in" | b"of")),
        }
    }

    /// Whether a parenthesis holds a type before a value: nothing is called or asked by it.
    fn is_cast(&self, open: usize) -> bool {
        let Some(before) = open.checked_sub(1) else { return false };
        self.mark(before).is_some_and(|mark| b"=,{(:[".contains(&mark))
            && self.partner(open).is_some_and(|close| close > open + 1)
    }

    /// Whether a name that stands as a value is the whole value: nothing is called, asked or added behind it.
    pub fn is_whole(&self, token: usize) -> bool {
        let next = token + 1;
        if next >= self.len() {
            return true;
        }
        match self.mark(next) {
            Some(b',' | b'}' | b']' | b')' | b';') => true,
            Some(b'!') => matches!(self.mark(next + 1), Some(b',' | b'}' | b']' | b')' | b';')),
            Some(b'.') => self.word(next + 1) == Some(b"bind") && self.is(next + 2, b'('),
            Some(mark) => self.ends_line(token) && b"@\\#&}".contains(&mark),
            None => self.ends_line(token) || self.word(next) == Some(b"as"),
        }
    }
}

fn closing(open: u8) -> u8 {
    match open {
        b'(' => b')',
        b'[' => b']',
        _ => b'}',
    }
}

/// Whether a byte may be part of a word.
fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$' || byte > 127
}

/// The length of a line that `\` may continue.
fn line_len(rest: &[u8]) -> usize {
    let mut len = 0;
    for line in rest.split_inclusive(|byte| *byte == b'\n') {
        len += line.len();
        if !line.trim_ascii_end().ends_with(b"\\") {
            break;
        }
    }
    len
}

fn comment_len(rest: &[u8], comments: &Comments) -> Option<usize> {
    for (open, close) in comments.block {
        if rest.starts_with(open.as_bytes()) {
            let found = memchr::memmem::find(&rest[open.len()..], close.as_bytes());
            return Some(found.map_or(rest.len(), |at| open.len() + at + close.len()));
        }
    }
    let is_line = comments.line.iter().any(|mark| rest.starts_with(mark.as_bytes()));
    is_line.then(|| memchr::memchr(b'\n', rest).unwrap_or(rest.len()))
}

/// The length of a text in its quotes, three of which may stand on each side.
fn text_len(rest: &[u8]) -> usize {
    let quote = rest[0];
    let triple = [quote; 3];
    if rest.starts_with(&triple) {
        return memchr::memmem::find(&rest[3..], &triple).map_or(rest.len(), |at| at + 6);
    }
    let mut at = 1;
    while at < rest.len() && rest[at] != quote {
        // Only a template goes on over the end of a line.
        if rest[at] == b'\n' && quote != b'`' {
            return at;
        }
        at += if rest[at] == b'\\' { 2 } else { 1 };
    }
    (at + 1).min(rest.len())
}

/// The length of a text or letter in single quotes; `None` where the quote begins the name of a lifetime or a label.
fn quote_len(rest: &[u8], before: Option<u8>) -> Option<usize> {
    if rest.len() > 2 && rest[1] != b'\\' && rest[2] == b'\'' {
        return Some(3);
    }
    let name = rest[1..].iter().take_while(|byte| is_word(**byte)).count();
    let after = rest.get(1 + name).copied();
    let is_mark = |byte: Option<u8>| matches!(byte, Some(b'&' | b'<'));
    let is_lifetime = name > 0 && after != Some(b'\'') && (is_mark(before) || after == Some(b'>'));
    (!is_lifetime).then(|| text_len(rest))
}

/// The length of a regular expression; of a lone slash where none ends on the line.
fn pattern_len(rest: &[u8]) -> usize {
    let (mut at, mut in_class) = (1, false);
    while at < rest.len() && rest[at] != b'\n' {
        match rest[at] {
            b'\\' => at += 1,
            b'[' => in_class = true,
            b']' => in_class = false,
            b'/' if !in_class => return at + 1,
            _ => {}
        }
        at += 1;
    }
    1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str, comments: &Comments) -> String {
        let code = Code::read(text.as_bytes(), 0, text.len(), comments);
        let own = |it: &Token| &text[it.start as usize..it.end as usize];
        code.tokens.iter().map(own).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn texts_comments_and_directives_are_no_words() {
        let shown = |text: &str| shown(text, &Comments::C);
        assert_eq!(shown("a /* b, */ = \"c, d\"; // e"), "a = \"c, d\" ;");
        assert_eq!(shown("#ifdef A\n{ '{', b },\n#endif"), "{ '{' , b } ,");
        assert_eq!(shown("x = /[/\"]/g, y"), "x = /[/\"]/ g , y");
        assert_eq!(shown("a / b, c / d"), "a / b , c / d");
        assert_eq!(shown("fn f<'a, 'b>(x: &'a str)"), "fn f < a , b > ( x : & a str )");
        assert_eq!(shown("f('two words', 'b')"), "f ( 'two words' , 'b' )");
        assert_eq!(shown("`a ${b}\n(` c"), "`a ${b}\n(` c");
    }

    #[test]
    fn brackets_are_matched_and_positions_counted() {
        let text = "t[] = { { a, (b, c), d } };";
        let code = Code::read(text.as_bytes(), 0, text.len(), &Comments::C);
        let last = code.token_at(text.find('d').unwrap_or(0) as u32).unwrap_or(0);
        let open = code.opening(last).unwrap_or(0);
        assert_eq!((code.position(open, last), code.is(open, b'{')), (2, true));
    }
}
