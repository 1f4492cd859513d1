//! Pascal as its grammar can read it: without the other sections of conditions that its blocks do not fit into, and without
//! records in the variants of a record.

use std::ops::Range;

/// Conditions and blocks inside each other are followed this far.
const DEEPEST: usize = 250;
/// The most bytes behind the word of a type that are looked at.
const BASES: usize = 1_000;

/// The text that the grammar reads instead, of the same length; `None` if it is the text itself.
///
/// - Of a condition in one line, or one whose sections open blocks that are closed elsewhere, the first section is kept, without
///   the condition: `{$IFDEF A} B = class(C) {$ELSE} B = class(D) {$ENDIF}`.
/// - The fields of a record in a variant become fields of the variant.
pub(super) fn preprocess(text: &[u8]) -> Option<Vec<u8>> {
    let mut scan = Scan { text, made: None, before: b' ', parentheses: 0, blocks: Vec::new(), open: Vec::new() };
    let mut at = 0;
    while let Some(byte) = text.get(at) {
        let rest = &text[at..];
        at += match byte {
            b'{' if rest.starts_with(b"{$") => scan.directive(at),
            b'{' => until(rest, b"}"),
            b'(' if rest.starts_with(b"(*") => until(rest, b"*)"),
            b'/' if rest.starts_with(b"//") => until(rest, b"\n"),
            b'\'' => memchr::memchr2(b'\'', b'\n', &rest[1..]).map_or(rest.len(), |end| end + 2),
            byte if is_word(byte) => scan.word(at),
            byte => {
                scan.mark(*byte);
                1
            }
        };
    }
    scan.made
}

fn is_word(byte: &u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'&')
}

/// The length of a text up to and with an end; all of it if the end is missing.
fn until(text: &[u8], end: &[u8]) -> usize {
    memchr::memmem::find(text, end).map_or(text.len(), |found| found + end.len())
}

/// An open block.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Block {
    Record,
    /// A record within parentheses, whose `end` is left out.
    Variant,
    Other,
}

struct Scan<'s> {
    text: &'s [u8],
    made: Option<Vec<u8>>,
    /// The last byte that is no space.
    before: u8,
    parentheses: usize,
    blocks: Vec<Block>,
    open: Vec<Condition>,
}

/// An open condition.
struct Condition {
    directives: Vec<Range<usize>>,
    /// The blocks and the parentheses that are open before it.
    before: (Vec<Block>, usize),
    /// Those that are open behind its first section.
    first: Option<(Vec<Block>, usize)>,
    is_uneven: bool,
}

impl Scan<'_> {
    fn blank(&mut self, range: Range<usize>) {
        let text = self.text;
        let made = &mut self.made.get_or_insert_with(|| text.to_vec())[range];
        made.iter_mut().filter(|byte| !byte.is_ascii_whitespace()).for_each(|byte| *byte = b' ');
    }

    fn mark(&mut self, byte: u8) {
        match byte {
            b'(' => self.parentheses += 1,
            b')' => self.parentheses = self.parentheses.saturating_sub(1),
            _ => {}
        }
        if !byte.is_ascii_whitespace() {
            self.before = byte;
        }
    }

    /// Reads a word; returns its length.
    fn word(&mut self, at: usize) -> usize {
        let len = self.text[at..].iter().take_while(|byte| is_word(byte)).count();
        let word = self.text[at..at + len].to_ascii_lowercase();
        let before = std::mem::replace(&mut self.before, b'a');
        if before == b'.' || self.blocks.len() >= DEEPEST {
            return len;
        }
        match &word[..] {
            b"record" if self.parentheses > 0 => {
                self.blocks.push(Block::Variant);
                let has_space = self.text.get(at + len).is_some_and(u8::is_ascii_whitespace);
                let type_name: &[u8] = if has_space { b"Single;" } else { b"Byte; " };
                self.blank(at..at + len);
                let made = self.made.iter_mut().flat_map(|made| made[at..].iter_mut());
                made.zip(type_name).for_each(|(old, new)| *old = *new);
                self.before = b';';
            }
            b"packed" if self.parentheses > 0 => self.blank(at..at + len),
            b"record" => self.blocks.push(Block::Record),
            b"class" | b"interface" | b"object" | b"dispinterface"
                if before == b'=' && has_body(&self.text[at + len..]) =>
            {
                self.blocks.push(Block::Other);
            }
            b"case" if self.blocks.last() == Some(&Block::Record) => {}
            b"begin" | b"try" | b"asm" | b"case" => self.blocks.push(Block::Other),
            b"end" => self.end(at..at + len, before),
            _ => {}
        }
        len
    }

    /// Ends a block. That of a record in a variant is left out, with the second of two semicolons.
    fn end(&mut self, word: Range<usize>, before: u8) {
        if self.blocks.pop() != Some(Block::Variant) {
            return;
        }
        let rest = &self.text[word.end..];
        let next = self.text.len() - rest.trim_ascii_start().len();
        self.blank(word);
        if before == b';' && self.text.get(next) == Some(&b';') {
            self.blank(next..next + 1);
        }
        self.before = before;
    }

    /// Reads a directive; returns its length.
    fn directive(&mut self, at: usize) -> usize {
        let len = until(&self.text[at..], b"}");
        let place = at..at + len;
        let name = self.text[at + 2..place.end].iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
        let name = self.text[at + 2..at + 2 + name].to_ascii_lowercase();
        match &name[..] {
            b"if" | b"ifdef" | b"ifndef" | b"ifopt" if self.open.len() < DEEPEST => self.open.push(Condition {
                directives: vec![place],
                before: (self.blocks.clone(), self.parentheses),
                first: None,
                is_uneven: false,
            }),
            b"else" | b"elseif" => self.next_section(place),
            b"endif" | b"ifend" => {
                self.next_section(place);
                self.close();
            }
            _ => {}
        }
        len
    }

    /// Ends a section of a condition.
    fn next_section(&mut self, place: Range<usize>) {
        let Some(condition) = self.open.last_mut() else { return };
        condition.directives.push(place);
        let now = (std::mem::take(&mut self.blocks), self.parentheses);
        condition.is_uneven |= now.0.len() != condition.before.0.len() || now.1 != condition.before.1;
        condition.first.get_or_insert(now);
        (self.blocks, self.parentheses) = condition.before.clone();
    }

    fn close(&mut self) {
        let Some(condition) = self.open.pop() else { return };
        if let Some(first) = condition.first {
            (self.blocks, self.parentheses) = first;
        }
        let [first, .., last] = &condition.directives[..] else { return };
        let is_in_line = !self.text[first.start..last.end].contains(&b'\n');
        if is_in_line || condition.is_uneven {
            self.blank(first.clone());
            self.blank(condition.directives[1].start..last.end);
        }
    }
}

/// Whether a body follows the word of a type: a declaration ahead, and a class of classes, have none.
fn has_body(text: &[u8]) -> bool {
    let text = text[..text.len().min(BASES)].trim_ascii_start();
    let behind = match text.strip_prefix(b"(") {
        Some(bases) => &bases[until(bases, b")")..],
        None => text,
    };
    let behind = behind.trim_ascii_start();
    let is_of = behind.len() > 2 && behind[..2].eq_ignore_ascii_case(b"of") && behind[2].is_ascii_whitespace();
    !behind.starts_with(b";") && !is_of
}

#[cfg(test)]
mod tests {
    use super::preprocess;

    fn check(text: &str, expected: &str) {
        assert_eq!(crate::languages::tests::preprocessed(preprocess, text), format!("{expected}\n"));
    }

    #[test]
    fn the_first_section_of_an_uneven_condition_is_kept() {
        check(
            "{$IFDEF A}\nB = class(C)\n{$ELSE}\nB = class(D)\n{$ENDIF}\n  E: F;\nend;",
            "\nB = class(C)\n\n\n\nE: F;\nend;",
        );
        check("function a(b: {$IF X}C{$ELSE}D{$ENDIF}): E;", "function a(b: C ): E;");
        check(
            "{$IFDEF A}\nif a then begin\n{$ENDIF}\nb;\n{$IFDEF A}\nend;\n{$ENDIF}",
            "\nif a then begin\n\nb;\n\nend;\n",
        );
        for even in [
            "{$IFDEF A}\nB = class(C);\n{$ELSE}\nB = class of D;\n{$ENDIF}",
            "{$IFDEF A}\ncase a of 1: ; end;\n{$ELSE}\nbegin { end } end;\n{$ENDIF}",
            "{$R+}\na := 'begin';\n{$ENDIF}",
            "{$IFDEF A}\nfunction B: C; begin end;\n{$ELSE}\nfunction D: E; begin try finally end; end;\n{$ENDIF}",
        ] {
            check(even, even);
        }
    }

    #[test]
    fn records_in_variants_are_fields_of_the_variant() {
        check(
            "A = record\ncase B of\n0: (C: record D: E; end);\n1: (F: packed record G: H end; I: J);\nend;",
            "A = record\ncase B of\n0: (C: Single;D: E; );\n1: (F: Single;G: H ; I: J);\nend;",
        );
        check("A = record B: record C: D; end; end;", "A = record B: record C: D; end; end;");
    }
}
