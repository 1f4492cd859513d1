//! C and C++ as their grammars can read them. Parts that only a preprocessor understands are replaced by spaces, so that positions
//! stay.

use std::ops::Range;

/// The text that the grammar reads instead, of the same length; `None` if it is the text itself.
///
/// - Sections for C++ are left out: their `extern "C" {` has its other brace in another section.
/// - Of a condition that opens braces which others close, `#if A … if (a) { … #else … if (b) { … #endif`, the first
///   section is kept, without the condition. So it is of a condition amid an expression.
/// - A macro before or behind a declaration is left out, `API int f(void) PURE;`: the grammar takes it for the type.
/// - So is one before the name of a type that is defined, `class API Name {`.
/// - Comments in macros of several lines are left out.
/// - A macro alone in a line, which stands for fields or statements, gets a semicolon; among enumerators it is left out,
///   and so it is at the margin, before a declaration.
/// - A macro around the parameters of a function is left out, `int f __P((int));`.
pub fn preprocess(text: &[u8]) -> Option<Vec<u8>> {
    rewritten(text, false)
}

/// Like [`preprocess`], of C++, whose sections are kept. A raw string with the longest delimiter, which the grammar does not
/// close, gets a shorter one.
pub fn preprocess_cpp(text: &[u8]) -> Option<Vec<u8>> {
    rewritten(text, true)
}

fn rewritten(text: &[u8], is_cpp: bool) -> Option<Vec<u8>> {
    let mut made: Option<Vec<u8>> = None;
    let mut change = |change| {
        let (range, byte) = match change {
            Change::Macro(range) | Change::Cut(range) => (range, b' '),
            Change::End(at) => (at..at + 1, b';'),
            Change::Byte(at, byte) => (at..at + 1, byte),
        };
        let made = &mut made.get_or_insert_with(|| text.to_vec())[range];
        made.iter_mut().filter(|old| byte != b' ' || !matches!(old, b'\n' | b'\r')).for_each(|old| *old = byte);
    };
    scan(text, is_cpp, &mut change);
    if is_cpp {
        raw_strings(text, &mut change);
    }
    made
}

/// The most letters of the delimiter of a raw string.
const DELIMITER: usize = 16;

/// Takes a letter off the longest delimiters of raw strings: `R"0123456789abcdef(text)0123456789abcdef"`.
fn raw_strings(text: &[u8], put: &mut dyn FnMut(Change)) {
    for at in memchr::memmem::find_iter(text, b"R\"") {
        let open = at + 2;
        let is_word =
            text[..at].last().is_some_and(|byte| is_word(&byte) && !matches!(byte, b'u' | b'8' | b'U' | b'L'));
        let Some(delimiter) = text.get(open..open + DELIMITER).filter(|_| !is_word) else { continue };
        let is_delimiter = |byte: &u8| byte.is_ascii_graphic() && !matches!(byte, b'(' | b')' | b'\\' | b'"');
        if text.get(open + DELIMITER) != Some(&b'(') || !delimiter.iter().all(is_delimiter) {
            continue;
        }
        let end = [b")".as_slice(), delimiter, b"\""].concat();
        let Some(close) = memchr::memmem::find(&text[open..], &end).map(|at| open + at) else { continue };
        put(Change::Byte(open + DELIMITER - 1, b'('));
        put(Change::Byte(close, b' '));
        put(Change::Byte(close + 1, b')'));
        for (place, byte) in delimiter[..DELIMITER - 1].iter().enumerate() {
            put(Change::Byte(close + 2 + place, *byte));
        }
    }
}

/// The places of the macros that are left out.
pub fn left_out(text: &[u8], is_cpp: bool) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    scan(text, is_cpp, &mut |change| {
        if let Change::Macro(range) = change {
            found.push(range);
        }
    });
    found
}

/// A change of a text.
enum Change {
    /// A macro is left out.
    Macro(Range<usize>),
    /// Other text is left out.
    Cut(Range<usize>),
    /// A semicolon is put here.
    End(usize),
    /// Another byte is put here.
    Byte(usize, u8),
}

fn scan(text: &[u8], is_cpp: bool, put: &mut dyn FnMut(Change)) {
    let mut open: Vec<Condition> = Vec::new();
    // The last byte of code so far, and whether it is in an enum.
    let (mut before, mut in_enum) = (b';', false);
    // Whether the line begins in a comment, or goes on with a directive.
    let (mut in_comment, mut in_directive) = (false, false);
    // A macro at the margin, until it is known what follows.
    let mut margin: Option<Range<usize>> = None;
    let mut start = 0;
    for line in text.split_inclusive(|byte| *byte == b'\n') {
        let place = start..start + line.len();
        start = place.end;
        let found = if in_comment || in_directive { None } else { directive(line) };
        let goes_on = line.trim_ascii_end().ends_with(b"\\");
        let was_in_directive = in_directive;
        in_directive = goes_on && (in_directive || found.is_some());
        // The grammar ends a macro at a comment, and takes what follows for code.
        let is_macro = in_directive || was_in_directive || found.is_some_and(|(word, _)| word == b"define");
        if is_macro {
            leave_out_comments(line, place.start, in_directive, put);
        }
        if was_in_directive {
            continue;
        }
        let Some((word, rest)) = found else {
            let code = code(line, &mut in_comment);
            if let Some(condition) = open.last_mut() {
                condition.read(code);
            }
            leave_out(code, place.start, put);
            if !code.trim_ascii().is_empty() {
                margin.take().filter(|_| declares(code)).into_iter().for_each(|word| put(Change::Macro(word)));
                let word = code.trim_ascii_end();
                let is_margin =
                    matches!(before, b';' | b'}' | b'{') && word.iter().all(|byte| is_word(&byte)) && is_capital(word);
                margin = is_margin.then(|| place.start..place.start + word.len());
            }
            if let Some(after) = alone(code).filter(|_| matches!(before, b';' | b'{' | b'}')) {
                match in_enum {
                    true if code.trim_ascii_end().ends_with(b")") => {
                        let indent = code.len() - code.trim_ascii_start().len();
                        put(Change::Macro(place.start + indent..place.start + after));
                    }
                    false if line.len() > after => {
                        put(Change::End(place.start + after));
                        before = b';';
                    }
                    _ => {}
                }
            } else if let Some(last) = code.trim_ascii_end().last() {
                in_enum = match last {
                    b'{' => memchr::memmem::find(code, b"enum").is_some(),
                    _ => in_enum && !code.contains(&b'}'),
                };
                // Enumerators go on after a comma.
                before = if in_enum && *last == b',' { b';' } else { *last };
            }
            if margin.is_some() {
                before = b';';
            }
            continue;
        };
        match word {
            b"if" | b"ifdef" | b"ifndef" if open.len() >= DEEPEST => break,
            b"if" | b"ifdef" | b"ifndef" => open.push(Condition {
                is_cpp: !is_cpp && is_for_cpp(word, rest),
                is_never: word == b"if" && rest.trim_ascii() == b"0",
                is_amid: matches!(before, b'=' | b'|' | b'&' | b'+' | b'(' | b'?'),
                has_code: false,
                directives: vec![place],
                nestings: vec![0],
            }),
            b"else" | b"elif" => {
                if let Some(condition) = open.last_mut() {
                    condition.directives.push(place);
                    condition.nestings.push(0);
                    condition.has_code = false;
                }
            }
            b"endif" => {
                let Some(mut condition) = open.pop() else { continue };
                condition.directives.push(place);
                let Some(kept) = condition.kept() else { continue };
                for (place, between) in condition.directives.windows(2).enumerate() {
                    put(Change::Cut(between[0].clone()));
                    if place != kept {
                        put(Change::Cut(between[0].end..between[1].start));
                    }
                }
                condition.directives.last().into_iter().for_each(|last| put(Change::Cut(last.clone())));
                if let Some(outer) = open.last_mut() {
                    outer.add(condition.nestings.get(kept).copied().unwrap_or(0));
                }
            }
            _ => {}
        }
    }
}

/// Leaves out the comments of a line of a macro, which begins at `start`: all of a line that goes on, and else those before
/// more of it.
fn leave_out_comments(line: &[u8], start: usize, goes_on: bool, put: &mut dyn FnMut(Change)) {
    let is_amid = |range: &Range<usize>| goes_on || !line[range.end..].trim_ascii().is_empty();
    for range in comments(line).into_iter().filter(is_amid) {
        put(Change::Cut(start + range.start..start + range.end));
    }
}

/// Leaves out the macros of a line of code, which begins at `start`.
fn leave_out(code: &[u8], start: usize, put: &mut dyn FnMut(Change)) {
    for range in [prefix(code), convention(code), suffix(code)].iter().flatten() {
        put(Change::Macro(start + range.start..start + range.end));
    }
    if let Some((word, close)) = wrapper(code) {
        put(Change::Macro(start + word.start..start + word.end));
        put(Change::Cut(start + close..start + close + 1));
    }
}

/// The most conditions inside each other that are followed.
const DEEPEST: usize = 250;

/// An open condition, `#if` to `#endif`.
struct Condition {
    /// Whether its first section is for C++.
    is_cpp: bool,
    /// Whether its first section is for nothing, `#if 0`.
    is_never: bool,
    /// Whether it is within an expression.
    is_amid: bool,
    /// Whether its last section has code so far.
    has_code: bool,
    directives: Vec<Range<usize>>,
    /// Braces and parentheses that each section leaves open.
    nestings: Vec<i32>,
}

impl Condition {
    /// Takes note of a line of code.
    fn read(&mut self, code: &[u8]) {
        self.add(nesting(code));
        if !self.has_code && !code.trim_ascii().is_empty() {
            self.has_code = true;
            self.is_amid |= continues(code);
        }
    }

    fn add(&mut self, nesting: i32) {
        self.nestings.iter_mut().last().into_iter().for_each(|last| *last += nesting);
    }

    /// The section that is kept alone; `None` if all are.
    fn kept(&self) -> Option<usize> {
        let is_uneven = self.nestings.iter().any(|nesting| *nesting != 0);
        (self.is_cpp || self.is_amid || is_uneven).then_some(usize::from(self.is_cpp || self.is_never))
    }
}

/// Whether a line goes on with an expression or a statement.
fn continues(code: &[u8]) -> bool {
    let code = code.trim_ascii_start();
    [b"&&".as_slice(), b"||", b"| ", b"else "].iter().any(|operator| code.starts_with(operator))
}

/// The number of braces and parentheses that a line leaves open.
fn nesting(code: &[u8]) -> i32 {
    let (mut open, mut quote, mut is_escaped) = (0, 0, false);
    for byte in code {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = true,
            b'"' | b'\'' if quote == 0 => quote = *byte,
            _ if quote == *byte => quote = 0,
            b'{' | b'(' if quote == 0 => open += 1,
            b'}' | b')' if quote == 0 => open -= 1,
            _ => {}
        }
    }
    open
}

/// The word and the rest of a directive.
fn directive(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let line = line.trim_ascii().strip_prefix(b"#")?.trim_ascii_start();
    Some(line.split_at(line.iter().take_while(|byte| byte.is_ascii_lowercase()).count()))
}

/// Whether a condition holds for C++ alone.
fn is_for_cpp(word: &[u8], rest: &[u8]) -> bool {
    let rest = rest.trim_ascii();
    let name = b"__cplusplus".as_slice();
    match word {
        b"ifdef" => rest.starts_with(name),
        b"if" => [b"defined(".as_slice(), b"defined (", b"defined ", b""].iter().any(|before| {
            let rest = rest.strip_prefix(*before).and_then(|rest| rest.trim_ascii_start().strip_prefix(name));
            rest.is_some_and(|rest| memchr::memmem::find(rest, b"||").is_none())
        }),
        _ => false,
    }
}

/// The code of a line, up to a comment at its end; none if the line begins in a comment.
fn code<'s>(line: &'s [u8], in_comment: &mut bool) -> &'s [u8] {
    if *in_comment {
        *in_comment = memchr::memmem::find(line, b"*/").is_none();
        return &[];
    }
    let comment = line.windows(2).position(|pair| matches!(pair, b"/*" | b"//")).unwrap_or(line.len());
    let (code, comment) = line.split_at(comment);
    *in_comment = comment.starts_with(b"/*") && memchr::memmem::find(&comment[2..], b"*/").is_none();
    code
}

/// The comments that a line holds as a whole.
fn comments(line: &[u8]) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(open) = memchr::memmem::find(&line[from..], b"/*").map(|at| from + at)
        && let Some(close) = memchr::memmem::find(&line[open + 2..], b"*/").map(|at| open + at + 4)
    {
        found.push(open..close);
        from = close;
    }
    found
}

/// The end of a macro that an indented line consists of, with its arguments.
fn alone(code: &[u8]) -> Option<usize> {
    let trimmed = code.trim_ascii_end();
    let from = trimmed.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    let word = trimmed[from..].iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count();
    let rest = &trimmed[from + word..];
    let has_arguments = rest.starts_with(b"(") && rest.iter().position(|byte| *byte == b')') == Some(rest.len() - 1);
    (from > 0 && is_capital(&trimmed[from..from + word]) && (rest.is_empty() || has_arguments)).then_some(trimmed.len())
}

fn is_word(byte: &&u8) -> bool {
    byte.is_ascii_alphanumeric() || **byte == b'_'
}

fn is_capital(word: &[u8]) -> bool {
    word.len() > 2 && word.iter().all(|byte| !byte.is_ascii_lowercase()) && word.iter().any(u8::is_ascii_uppercase)
}

/// Types that are words of the language.
const BUILT_IN: &[&[u8]] =
    &[b"void", b"char", b"short", b"int", b"long", b"float", b"double", b"bool", b"unsigned", b"size_t"];

/// The place of a macro before the declaration that a line begins: a word of capitals before at least two others, or before
/// the name of a type.
fn prefix(line: &[u8]) -> Option<Range<usize>> {
    let mut at = 0;
    let mut word = || {
        let from = at + line[at..].iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
        let len = line[from..].iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count();
        at = from + len;
        (len > 0 && !line[from].is_ascii_digit()).then(|| (from, at, &line[from..at]))
    };
    let mut first = word()?;
    let mut is_type = false;
    while matches!(
        first.2,
        b"static" | b"extern" | b"inline" | b"virtual" | b"explicit" | b"constexpr" | b"class" | b"struct"
    ) {
        is_type = matches!(first.2, b"class" | b"struct");
        first = word()?;
    }
    let is_built_in = BUILT_IN.contains(&first.2);
    if !is_capital(first.2) && !is_built_in {
        return None;
    }
    let second = word()?;
    if is_built_in {
        // Behind the type of a function: `int API main(void)`.
        let name = word().filter(|_| is_capital(second.2))?;
        return line[name.1..].trim_ascii_start().starts_with(b"(").then_some(second.0..second.1);
    }
    let rest = line[second.1..].trim_ascii();
    if !is_type && rest.is_empty() && line[0] > b' ' {
        // The name is in the next line.
        return Some(if is_convention(second.2) { second.0..second.1 } else { first.0..first.1 });
    }
    if is_type {
        let is_defined = rest.is_empty() || rest.starts_with(b"{") || rest.starts_with(b"final");
        let has_bases = rest.starts_with(b":") && !rest.starts_with(b"::");
        return (is_defined || has_bases).then_some(first.0..first.1);
    }
    let after = rest.iter().find(|byte| !matches!(byte, b' ' | b'\t' | b'*'))?;
    let follows_word = after.is_ascii_alphabetic() || *after == b'_';
    match follows_word {
        // A calling convention after the type: `DWORD WINAPI run(void)`.
        true if is_convention(second.2) => Some(second.0..second.1),
        true => Some(first.0..first.1),
        false => None,
    }
}

fn is_convention(word: &[u8]) -> bool {
    matches!(word, b"WINAPI" | b"CALLBACK" | b"APIENTRY")
}

/// Whether a line begins with a type and a name, or with more words.
fn declares(code: &[u8]) -> bool {
    let after = &code[code.iter().take_while(is_word).count()..];
    let second = after.trim_ascii_start();
    let second = second.strip_prefix(b"*").map_or(second, |rest| rest.trim_ascii_start());
    code.first().is_some_and(|byte| byte.is_ascii_alphabetic() || *byte == b'_')
        && after.len() < code.len()
        && second.len() < after.len()
        && second.first().is_some_and(|byte| byte.is_ascii_alphabetic() || *byte == b'_')
}

/// The macro around the parameters of a function that a line declares, with its parenthesis, and where that closes.
fn wrapper(code: &[u8]) -> Option<(Range<usize>, usize)> {
    let close = code.trim_ascii_end().strip_suffix(b";")?.trim_ascii_end().strip_suffix(b")")?.len();
    let open = memchr::memchr(b'(', code)?;
    let inside = code.get(open + 1..close)?.trim_ascii();
    let word = code[..open].trim_ascii_end();
    let from = word.len() - word.iter().rev().take_while(is_word).count();
    let before = code[..from].trim_ascii();
    let name = before.iter().rev().take_while(is_word).count();
    let is_declared = before.iter().all(|byte| is_word(&byte) || matches!(byte, b' ' | b'\t' | b'*'))
        && name > 0
        && name < before.len()
        && code[0] > b' ';
    let is_macro = is_capital(&word[from..]) || word[from..].starts_with(b"__");
    (is_declared && is_macro && inside.starts_with(b"(") && inside.ends_with(b")")).then_some((from..open + 1, close))
}

/// The place of a macro before the star of a type of functions: `typedef int (API *name)(void);`.
fn convention(code: &[u8]) -> Option<Range<usize>> {
    if !code.trim_ascii_start().starts_with(b"typedef ") {
        return None;
    }
    let from = memchr::memchr(b'(', code)? + 1;
    let len = code[from..].iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count();
    let is_before_star = code[from + len..].trim_ascii_start().starts_with(b"*");
    (is_before_star && is_capital(&code[from..from + len])).then_some(from..from + len)
}

/// The code without words that may stand behind the parameters of a function.
fn before_qualifiers(mut code: &[u8]) -> &[u8] {
    loop {
        let trimmed = code.trim_ascii_end();
        let words: [&[u8]; 4] = [b"const", b"override", b"final", b"noexcept"];
        let before = words.iter().find_map(|word| trimmed.strip_suffix(*word));
        match before.filter(|before| before.last().is_some_and(|byte| byte.is_ascii_whitespace() || *byte == b')')) {
            Some(before) => code = before,
            None => return trimmed,
        }
    }
}

/// The place of a macro behind the parameters of a function, with its arguments.
fn suffix(code: &[u8]) -> Option<Range<usize>> {
    let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    let declared = code.trim_ascii_end().strip_suffix(b";").filter(|code| memchr::memchr(b'{', code).is_none());
    let end = match declared {
        Some(declared) => declared.len(),
        None => memchr::memchr(b'{', code)?,
    };
    let end = before_qualifiers(&code[..end]).len();
    let mut at = end;
    if code[..end].ends_with(b")") {
        let mut open = 0;
        at = code[..end].iter().rposition(|byte| {
            open += i32::from(*byte == b')') - i32::from(*byte == b'(');
            open == 0
        })?;
    }
    let word = code[..at].trim_ascii_end();
    let from = word.len() - word.iter().rev().take_while(|byte| is_word(byte)).count();
    // Of a field, for a check of locks.
    if word.ends_with(b"GUARDED_BY") {
        return Some(from..end);
    }
    let start = code.trim_ascii_start();
    let (first, rest) = start.split_at(start.iter().take_while(|byte| is_word(byte)).count());
    let is_statement =
        matches!(first, b"" | b"if" | b"while" | b"for" | b"else" | b"switch" | b"return" | b"case" | b"do");
    if is_statement || !rest.first()?.is_ascii_whitespace() && rest[0] != b'*' {
        return None;
    }
    let follows = before_qualifiers(&code[..from]).ends_with(b")");
    (follows && is_capital(&word[from..])).then_some(from..end)
}

#[cfg(test)]
mod tests {
    use super::preprocess;

    fn read(text: &str) -> String {
        crate::languages::tests::preprocessed(preprocess, text)
    }

    #[test]
    fn sections_for_cpp_are_left_out() {
        let text = "#ifdef __cplusplus\nextern \"C\" {\n#endif\nint a;\n#if defined(__cplusplus)\nx\n#if 1\ny\n#endif\n#else\nz\n#endif\n";
        assert_eq!(read(text), "\n\n\nint a;\n\n\n\n\n\n\nz\n\n");
        for kept in ["#ifndef __cplusplus\na\n#endif\n", "#if defined(__cplusplus) || X\na\n#endif\n"] {
            assert_eq!(read(kept), kept);
        }
    }

    #[test]
    fn the_first_of_uneven_sections_is_kept() {
        let text = "void f(void) {\n#ifdef A /* { */\n  if (a) {\n#else\n  if (b) {\n#endif\n  g('{');\n  }\n}\n#if A\nint x;\n#else\nint y;\n#endif\n";
        let expected = "void f(void) {\n\nif (a) {\n\n\n\ng('{');\n}\n}\n#if A\nint x;\n#else\nint y;\n#endif\n";
        assert_eq!(read(text), expected);
        assert_eq!(read("#if 0\n{\n#elif 1\na {\n#else\nb {\n#endif\n}\n"), "\n\n\na {\n\n\n\n}\n");
        let amid = "int a =\n#ifdef A\nA |\n#else\nC |\n#endif\nB;\nint c;\n#ifdef A\nint d;\n#endif\n";
        assert_eq!(read(amid), "int a =\n\nA |\n\n\n\nB;\nint c;\n#ifdef A\nint d;\n#endif\n");
        assert_eq!(read("if (a\n#ifdef A\n  || b\n#endif\n) {}\n"), "if (a\n\n|| b\n\n) {}\n");
        let whole = "#ifdef A\nif (a\n|| b) {}\n#else\nif (c\n|| d) {}\n#endif\n";
        assert_eq!(read(whole), whole);
        let halves = "#ifdef A\nif (a) {\n#endif\nb();\n#ifdef A\n}\n#endif\n";
        assert_eq!(read(halves), "\nif (a) {\n\nb();\n\n}\n\n");
    }

    #[test]
    fn macros_alone_get_a_semicolon() {
        let text = "struct a {\n  FIELDS\n  /* more */\n  MORE(x)\n};\nenum {\n  A,\n  MAP(XX)\n  LAST\n};\nint f(void) {\n  return A +\n    BB;\n  x(\n    LIMIT\n  );\n}\n";
        let expected = "struct a {\nFIELDS; /* more */\nMORE(x);};\nenum {\nA,\n\nLAST\n};\nint f(void) {\nreturn A +\nBB;\nx(\nLIMIT\n);\n}\n";
        assert_eq!(read(text), expected);
    }

    #[test]
    fn comments_in_macros_are_left_out() {
        assert_eq!(
            read("#define A \\\n  /* b */ \\\n  int c; /* d */\n/* e */\n"),
            "#define A \\\n\\\nint c; /* d */\n/* e */\n"
        );
        assert_eq!(read("#define A do { /* b */; } while (0)\nint c;\n"), "#define A do { ; } while (0)\nint c;\n");
        assert_eq!(
            read("#define A 1 /* b */\n#if A /* c */ && B\n#endif\n"),
            "#define A 1 /* b */\n#if A /* c */ && B\n#endif\n"
        );
        let last = "#define A \\\n  f(); /* b */ g()\nint c;\n";
        assert_eq!(read(last), "#define A \\\nf(); g()\nint c;\n");
    }

    #[test]
    fn the_longest_delimiters_of_raw_strings_are_shortened() {
        let read = |text: &str| crate::languages::tests::preprocessed(super::preprocess_cpp, text);
        let text = "auto a = R\"0123456789abcdef(f( \")0123456789abcdef\";\n";
        assert_eq!(read(text), "auto a = R\"0123456789abcde((f( \" )0123456789abcde\";\n");
        for kept in ["auto a = R\"0123456789abcde(f()0123456789abcde\";\n", "auto a = FOR\"0123456789abcdef(f()\";\n"] {
            assert_eq!(read(kept), kept);
        }
    }

    #[test]
    fn macros_before_declarations_are_left_out() {
        for (text, expected) in [
            ("UV_EXTERN int f(void);", "int f(void);"),
            ("static MY_INLINE const char *f(void)", "static const char *f(void)"),
            ("DWORD WINAPI run(void)", "DWORD run(void)"),
            ("MY_API SIZE_TYPE\nrun(void) {", "SIZE_TYPE\nrun(void) {"),
            ("DWORD WINAPI\nrun(void) {", "DWORD\nrun(void) {"),
            ("MY_API\nstruct a *run(void);", "\nstruct a *run(void);"),
            ("int a;\n\nMY_API\n/* b */\nchar* run(void);", "int a;\n\n\n/* b */\nchar* run(void);"),
            ("BOOL\nrun(void) {", "BOOL\nrun(void) {"),
            ("struct {\nint a;\n} NAME;\nint run(void);", "struct {\nint a;\n} NAME;\nint run(void);"),
            ("int a = A +\nLIMIT\nint b;", "int a = A +\nLIMIT\nint b;"),
            ("int run __P((int, char *));", "int run (int, char *) ;"),
            ("int run __P(int);", "int run __P(int);"),
            ("  int run FAIL((int));", "int run FAIL((int));"),
            ("int MY_API main(void)", "int main(void)"),
            ("unsigned LIMIT;", "unsigned LIMIT;"),
            ("int LIMIT main;", "int LIMIT main;"),
            ("  FILE *f;", "FILE *f;"),
            ("void f(int a) PRINTF_LIKE(1, 2);", "void f(int a) ;"),
            ("  int b) PURE;", "int b) ;"),
            ("void f(int a) NOTHROW {", "void f(int a) {"),
            ("  int g() const HOLDS(lock_) { return 1; }", "int g() const { return 1; }"),
            ("  int g() const HOLDS(lock_) override;", "int g() const override;"),
            ("  int g() const override;", "int g() const override;"),
            ("  while (a) EACH(b) {", "while (a) EACH(b) {"),
            ("  EACH(a) CALL(b) {", "EACH(a) CALL(b) {"),
            ("typedef BOOL (PASCAL *NAME)(int a);", "typedef BOOL ( *NAME)(int a);"),
            ("typedef int (*NAME)(int a);", "typedef int (*NAME)(int a);"),
            ("  if (a) FAIL(1);", "if (a) FAIL(1);"),
            ("  EACH(a) CALL(b);", "EACH(a) CALL(b);"),
            ("DWORD size = 1;", "DWORD size = 1;"),
            ("DEFINE_LIST(a) b c", "DEFINE_LIST(a) b c"),
            ("unsigned int x;", "unsigned int x;"),
            ("class MY_API Shop : public Base {", "class Shop : public Base {"),
            ("struct MY_API Item", "struct Item"),
            ("struct STAT state;", "struct STAT state;"),
            ("  std::deque<Item*> items_ GUARDED_BY(lock_);", "std::deque<Item*> items_ ;"),
        ] {
            assert_eq!(read(text), format!("{expected}\n"));
        }
    }
}
