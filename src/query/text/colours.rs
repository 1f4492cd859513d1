//! Colours of a text by its syntax: comments, strings, numbers, keywords and types, in every language with a grammar.
//!
//! Grammars name their nodes alike, so one table of words serves them all: no queries are stored or compiled.

use tree_sitter::{Node, TreeCursor};

use super::trees::{IsOver, parse};
use crate::languages::LanguageSpec;
use crate::model::Span;

/// Syntax of a piece of text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Colour {
    /// A comment.
    Comment,
    /// A string, a character, or a regular expression.
    Text,
    /// A number.
    Number,
    /// A word of the language itself.
    Keyword,
    /// A type by its place in the grammar.
    Type,
}

/// The colour of each byte of a part of a text; none for a text without a grammar, or when time runs out.
pub fn colours(content: &[u8], part: Span, spec: &'static LanguageSpec, is_over: IsOver<'_>) -> Vec<Option<Colour>> {
    let mut painted = vec![None; part.len()];
    let text = String::from_utf8_lossy(content);
    // Replaced bytes would move all others.
    if text.len() != content.len() {
        return painted;
    }
    let Some(tree) = parse(&text, spec, is_over) else { return painted };
    let mut cursor = tree.walk();
    loop {
        let node = cursor.node();
        let is_inside = node.start_byte() < part.end as usize && node.end_byte() > part.start as usize;
        let goes_on = is_inside && {
            let of_node = colour(node);
            if let Some(colour) = of_node {
                let start = node.start_byte().max(part.start as usize) - part.start as usize;
                let end = node.end_byte().min(part.end as usize) - part.start as usize;
                painted[start..end].fill(colour);
            }
            of_node.flatten() != Some(Colour::Comment)
        };
        if is_over() || !next(&mut cursor, goes_on) {
            return painted;
        }
    }
}

/// Moves to the next node in source order, into the children of this one or past them.
fn next(cursor: &mut TreeCursor<'_>, into: bool) -> bool {
    if into && cursor.goto_first_child() {
        return true;
    }
    while !cursor.goto_next_sibling() {
        if !cursor.goto_parent() {
            return false;
        }
    }
    true
}

/// The colour that a node gives to its text: `None` leaves the one around it, `Some(None)` takes that away.
fn colour(node: Node<'_>) -> Option<Option<Colour>> {
    let kind = node.kind();
    let has = |words: &[&str]| words.iter().any(|word| kind.contains(word));
    if !node.is_named() {
        let is_word = kind.len() > 1 && kind.bytes().all(|byte| byte.is_ascii_alphabetic() || byte == b'_');
        return is_word.then_some(Some(Colour::Keyword));
    }
    if has(&["comment"]) {
        return Some(Some(Colour::Comment));
    }
    if has(&["interpolation", "substitution", "expansion"]) {
        return Some(None);
    }
    if has(&["string", "heredoc", "char_literal", "rune_literal", "character", "regex"]) && !has(&["type", "concat"]) {
        return Some(Some(Colour::Text));
    }
    if node.child_count() > 0 {
        return None;
    }
    match kind {
        "true" | "false" | "null" | "nil" | "none" | "undefined" | "self" | "this" | "super" | "boolean_literal" => {
            Some(Some(Colour::Keyword))
        }
        _ if has(&["number", "integer", "float", "int_literal", "decimal"]) => Some(Some(Colour::Number)),
        _ if has(&["type_identifier", "primitive_type", "predefined_type", "builtin_type", "void_type"]) => {
            Some(Some(Colour::Type))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::{Colour, colours};
    use crate::languages::of_file;
    use crate::model::Span;

    /// Marks each byte of a text by the first letter of its colour.
    fn check(path: &str, text: &str, expected: &str) {
        let spec = of_file(path, text.as_bytes()).expect("it is built in").1;
        let found = colours(text.as_bytes(), Span::new(0, text.len()), spec, &|| false);
        let letter = |colour: &Option<Colour>| match colour {
            None => '.',
            Some(Colour::Comment) => 'c',
            Some(Colour::Text) => 's',
            Some(Colour::Number) => 'n',
            Some(Colour::Keyword) => 'k',
            Some(Colour::Type) => 't',
        };
        assert_eq!(found.iter().map(letter).collect::<String>(), expected, "\n{text}");
    }

    #[test]
    fn syntax_has_colours_in_every_language() {
        check("a.py", "def f(a): return 'x' # y", "kkk.......kkkkkk.sss.ccc");
        check("a.rs", "let a: u8 = 1; // \"b\"", "kkk....tt...n..cccccc");
        check("a.go", "var s string = `a` // b", "kkk...tttttt...sss.cccc");
        check("a.js", "const a = `x${b}y`, c = null;", "kkkkk.....ss....ss......kkkk.");
        check("A.java", "class A { int a = 2; }", "kkkkk.....kkk.....n...");
    }

    #[test]
    fn a_part_has_its_own_colours_and_plain_text_none() {
        let spec = of_file("a.py", b"").expect("it is built in").1;
        let text = b"'''a\nb'''\nreturn";
        let found = colours(text, Span::new(5, 12), spec, &|| false);
        assert_eq!(found.iter().filter(|colour| **colour == Some(Colour::Text)).count(), 4);
        assert_eq!(found[5..], [Some(Colour::Keyword); 2]);
        assert!(colours(text, Span::new(0, 4), spec, &|| true).iter().all(Option::is_none), "time is up");
        let plain = &crate::languages::LanguageSpec::PLAIN;
        assert!(colours(text, Span::new(0, 4), plain, &|| false).iter().all(Option::is_none));
    }
}
