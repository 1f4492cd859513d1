//! Text of repositories as HTML: escaped, and with every character visible that would hide or reorder others.

use std::ops::Range;

use maud::Render;

/// A text of a repository in a template.
pub(super) struct Visible<'a>(pub(super) &'a str);

impl Render for Visible<'_> {
    fn render_to(&self, page: &mut String) {
        write(page, self.0);
    }
}

/// A text in which some words stand out, in any case of their letters.
pub(super) struct Marked<'a> {
    pub text: &'a str,
    /// Words in small letters.
    pub words: &'a [String],
}

impl Render for Marked<'_> {
    fn render_to(&self, page: &mut String) {
        let lower = self.text.to_ascii_lowercase();
        let mut at = 0;
        let next = |at: usize| {
            let found = self.words.iter().filter_map(|word| Some((lower[at..].find(word.as_str())? + at, word.len())));
            // Of two words that begin at one place, the longer.
            found.min_by_key(|(start, length)| (*start, std::cmp::Reverse(*length)))
        };
        while let Some((start, length)) = next(at) {
            write(page, &self.text[at..start]);
            page.push_str("<mark>");
            write(page, &self.text[start..start + length]);
            page.push_str("</mark>");
            at = start + length;
        }
        write(page, &self.text[at..]);
    }
}

/// A text in which some places stand out, in their order and apart from each other.
pub(super) struct Placed<'a> {
    pub text: &'a str,
    pub places: &'a [Range<usize>],
}

impl Render for Placed<'_> {
    fn render_to(&self, page: &mut String) {
        let mut at = 0;
        for place in self.places {
            write(page, &self.text[at..place.start]);
            page.push_str("<mark>");
            write(page, &self.text[place.clone()]);
            page.push_str("</mark>");
            at = place.end;
        }
        write(page, &self.text[at..]);
    }
}

/// Appends a text to a page.
pub(super) fn write(page: &mut String, text: &str) {
    let mut rest = text;
    while let Some(at) = rest.find(is_special) {
        page.push_str(&rest[..at]);
        let letter = rest[at..].chars().next().expect("one was found here");
        match letter {
            '&' => page.push_str("&amp;"),
            '<' => page.push_str("&lt;"),
            '>' => page.push_str("&gt;"),
            '"' => page.push_str("&quot;"),
            '\'' => page.push_str("&#39;"),
            // The source says what the page does not obey.
            _ => page.push_str(&format!("<span class=\"hidden\">U+{:04X}</span>", u32::from(letter))),
        }
        rest = &rest[at + letter.len_utf8()..];
    }
    page.push_str(rest);
}

/// Appends bytes, with a mark for those that are no text.
pub(super) fn write_bytes(page: &mut String, bytes: &[u8]) {
    for chunk in bytes.utf8_chunks() {
        write(page, chunk.valid());
        if !chunk.invalid().is_empty() {
            page.push('\u{fffd}');
        }
    }
}

/// A text for an attribute, where marks cannot have elements of their own.
pub(super) fn plain(text: &str) -> String {
    text.chars().map(|char| if is_hidden(char) && char != '\n' { '\u{fffd}' } else { char }).collect()
}

fn is_special(char: char) -> bool {
    matches!(char, '&' | '<' | '>' | '"' | '\'') || is_hidden(char)
}

/// Whether a character has no shape and changes how others are shown.
fn is_hidden(char: char) -> bool {
    matches!(
        char,
        '\0'..='\x08'
            | '\x0b'..='\x1f'
            | '\x7f'..='\u{9f}'
            | '\u{ad}'
            | '\u{61c}'
            | '\u{200b}'..='\u{200f}'
            | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{2069}'
            | '\u{feff}'
            | '\u{e0000}'..='\u{e007f}'
    )
}

#[cfg(test)]
mod tests {
    use maud::Render;

    use super::{Marked, plain, write, write_bytes};

    #[test]
    fn words_stand_out_and_are_escaped() {
        let marked = |text: &str, words: &[&str]| {
            let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
            Marked { text, words: &words }.render().into_string()
        };
        assert_eq!(
            marked("openOpener <b>", &["open", "opener", "<"]),
            "<mark>open</mark><mark>Opener</mark> <mark>&lt;</mark>b&gt;"
        );
        assert_eq!(marked("ÄÖ ä", &["ä"]), "ÄÖ <mark>ä</mark>");
        assert_eq!(marked("a", &[]), "a");
    }

    #[test]
    fn nothing_in_a_text_is_markup_or_invisible() {
        let mut page = String::new();
        write(&mut page, "a<b> & \"c\" 'd'\n\te");
        assert_eq!(page, "a&lt;b&gt; &amp; &quot;c&quot; &#39;d&#39;\n\te");
        let mut page = String::new();
        write(&mut page, "x\u{202e}y\u{200b}\x1b[0m");
        let mark = |code: &str| format!("<span class=\"hidden\">U+{code}</span>");
        assert_eq!(page, format!("x{}y{}{}[0m", mark("202E"), mark("200B"), mark("001B")));
        let mut page = String::new();
        write_bytes(&mut page, b"a\xff<");
        assert_eq!(page, "a\u{fffd}&lt;");
        assert_eq!(plain("a\u{202e}b\"\nc"), "a\u{fffd}b\"\nc");
    }
}
