//! Syntax colours of a text, by its language's highlighting query.

use std::cmp::Reverse;
use std::ops::ControlFlow;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use tree_sitter::{Node, Query, QueryCursor, QueryCursorOptions, QueryCursorState, StreamingIterator as _};

use super::trees::{IsOver, parse, parse_pieces};
use super::window::Pieces;
use super::words::{Word, words};
use codelode_base::model::Span;
use codelode_lang::languages::{LANGUAGES, LanguageSpec};

/// The most unfinished matches, because each needs memory. Further ones are dropped.
const MOST_MATCHES: u32 = 1_024;

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
    /// A type.
    Type,
    /// A function or a macro.
    Function,
    /// A constant.
    Constant,
}

/// Compiles the query of a language once per process, which takes up to a quarter of a second.
pub fn prepare(spec: &'static LanguageSpec) {
    highlights(spec);
}

/// A part of a text with its syntax colours.
#[derive(Debug, Default)]
pub struct HighlightedRange {
    /// The colour of each byte.
    pub colours: Vec<Option<Colour>>,
    /// Words that may name something.
    pub words: Vec<Word>,
    /// Whether a limit of time, memory or unfinished matches was reached, so that colours and words may be missing.
    pub is_cut: bool,
}

/// Highlights `part` of a text. The result is empty for a language without a grammar, or if time runs out. `pieces` are
/// the parts of the text that must be parsed, see [`super::window`]; empty for all of it.
pub fn read(
    content: &[u8],
    part: Span,
    pieces: &Pieces,
    spec: &'static LanguageSpec,
    is_over: IsOver<'_>,
) -> HighlightedRange {
    let mut painted = HighlightedRange { colours: vec![None; part.len()], ..HighlightedRange::default() };
    // Once time is up, the answer stays the same, because callers stop at it.
    let was_over = AtomicBool::new(false);
    let is_over: IsOver<'_> = &|| was_over.load(Relaxed) || is_over() && !was_over.swap(true, Relaxed);
    let text = String::from_utf8_lossy(content);
    // Replaced bytes would shift all positions.
    if text.len() != content.len() {
        return painted;
    }
    let Some(highlights) = highlights(spec) else { return painted };
    let of_pieces = || parse_pieces(&text, &pieces.0, spec, is_over).filter(|tree| !tree.root_node().has_error());
    let tree = if pieces.is_empty() { None } else { of_pieces() };
    let Some(tree) = tree.or_else(|| parse(&text, spec, is_over)) else {
        return HighlightedRange { is_cut: true, ..painted };
    };
    let (found, is_whole) = highlights.find(tree.root_node(), content, part, is_over);
    for (start, end, colour) in found {
        let (first, last) = (part.start as usize, part.end as usize);
        if start < last && end > first {
            painted.colours[start.max(first) - first..end.min(last) - first].fill(colour);
        }
    }
    painted.words = words(tree.root_node(), content, part, &painted.colours, spec, is_over);
    painted.is_cut = was_over.load(Relaxed) || !is_whole;
    painted
}

/// A compiled highlighting query.
struct Highlights {
    query: Query,
    /// The colour of each capture: `None` keeps the surrounding colour, `Some(None)` removes it.
    colours: Vec<Option<Option<Colour>>>,
    /// Whether each pattern has conditions that cannot be checked here, such as whether a name is local.
    doubtful: Vec<bool>,
    /// Whether each capture is of operators, which are keywords if they are words.
    operators: Vec<bool>,
}

/// The compiled highlighting query of a language; `None` if this build leaves the language out.
fn highlights(spec: &'static LanguageSpec) -> Option<&'static Highlights> {
    static ALL: OnceLock<Vec<OnceLock<Option<Highlights>>>> = OnceLock::new();
    let all = ALL.get_or_init(|| LANGUAGES.iter().map(|_| OnceLock::new()).collect());
    let place = LANGUAGES.iter().position(|other| std::ptr::eq(*other, spec))?;
    all[place].get_or_init(|| Highlights::of(spec)).as_ref()
}

impl Highlights {
    fn of(spec: &LanguageSpec) -> Option<Self> {
        let query = Query::new(&spec.language()?, &spec.highlights()).ok()?;
        let colours = query.capture_names().iter().map(|name| of_capture(name)).collect();
        let is_doubtful = |pattern: usize| {
            !query.general_predicates(pattern).is_empty() || !query.property_predicates(pattern).is_empty()
        };
        let doubtful = (0..query.pattern_count()).map(is_doubtful).collect();
        let operators = query.capture_names().iter().map(|name| name.starts_with("operator")).collect();
        Some(Self { query, colours, doubtful, operators })
    }

    /// The coloured ranges of a part of a text, outer before inner and earlier patterns before later ones, and whether
    /// no match was dropped.
    fn find(
        &self,
        root: Node<'_>,
        content: &[u8],
        part: Span,
        is_over: IsOver<'_>,
    ) -> (impl Iterator<Item = (usize, usize, Option<Colour>)> + use<>, bool) {
        let mut cursor = QueryCursor::new();
        cursor.set_byte_range(part.start as usize..part.end as usize);
        cursor.set_match_limit(MOST_MATCHES);
        let mut goes_on =
            |_: &QueryCursorState| if is_over() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) };
        let options = QueryCursorOptions::new().progress_callback(&mut goes_on);
        let mut captures = cursor.captures_with_options(&self.query, root, content, options);
        let mut found = Vec::new();
        while let Some((matched, at)) = captures.next().filter(|_| !is_over()) {
            let capture = matched.captures()[*at];
            let is_word = || content[capture.node.byte_range()].iter().all(u8::is_ascii_alphabetic);
            let colour = match self.operators[capture.index as usize] && is_word() {
                true => Some(Some(Colour::Keyword)),
                false => self.colours[capture.index as usize],
            };
            let colour = colour.filter(|_| !self.doubtful[matched.pattern_index]);
            if let Some(colour) = colour {
                let place = capture.node.byte_range();
                found.push((place.start, Reverse(place.end), matched.pattern_index, colour));
            }
        }
        drop(captures);
        found.sort_by_key(|(start, end, pattern, _)| (*start, *end, *pattern));
        let is_whole = !cursor.did_exceed_match_limit();
        (found.into_iter().map(|(start, Reverse(end), _, colour)| (start, end, colour)), is_whole)
    }
}

/// The colour of a capture, by the first parts of its name.
fn of_capture(name: &str) -> Option<Option<Colour>> {
    let colour = match name.split('.').next().unwrap_or(name) {
        "embedded" | "none" => return Some(None),
        "comment" => Colour::Comment,
        "string" | "character" | "escape" => Colour::Text,
        "number" | "float" => Colour::Number,
        "type" if name == "type.qualifier" => Colour::Keyword,
        "type" | "constructor" => Colour::Type,
        "function" | "method" | "attribute" => Colour::Function,
        "constant" | "boolean" => Colour::Constant,
        "keyword" | "conditional" | "repeat" | "include" | "import" | "exception" | "storageclass" | "preproc" => {
            Colour::Keyword
        }
        "variable" if name == "variable.builtin" => Colour::Keyword,
        _ => return None,
    };
    Some(Some(colour))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fs;
    use std::path::{Path, PathBuf};
    use std::sync::atomic::AtomicU32;
    use std::sync::atomic::Ordering::Relaxed;

    use super::{Colour, HighlightedRange, highlights, read};
    use crate::text::trees::IsOver;
    use crate::text::window::Pieces;
    use codelode_base::model::Span;
    use codelode_lang::languages::{LANGUAGES, LanguageSpec, of_file, of_shown};

    fn colours(content: &[u8], part: Span, spec: &'static LanguageSpec, is_over: IsOver<'_>) -> Vec<Option<Colour>> {
        read(content, part, &Pieces::default(), spec, is_over).colours
    }

    fn letter(colour: &Option<Colour>) -> char {
        match colour {
            None => '.',
            Some(Colour::Comment) => 'c',
            Some(Colour::Text) => 's',
            Some(Colour::Number) => 'n',
            Some(Colour::Keyword) => 'k',
            Some(Colour::Type) => 't',
            Some(Colour::Function) => 'f',
            Some(Colour::Constant) => 'o',
        }
    }

    /// Writes the first letter of each byte's colour.
    fn check(path: &str, text: &str, expected: &str) {
        let spec = of_file(path, text.as_bytes()).expect("it is built in").1;
        let found = colours(text.as_bytes(), Span::new(0, text.len()), spec, &|| false);
        assert_eq!(found.iter().map(letter).collect::<String>(), expected, "\n{text}");
    }

    #[test]
    fn syntax_has_colours_in_every_language() {
        check("a.py", "def f(a): return 'x' # y", "kkk.f.....kkkkkk.sss.ccc");
        check("a.py", "not a is b", "kkk...kk..");
        check("a.rs", "let a: u8 = 1; // \"b\"", "kkk....tt...o..cccccc");
        check("a.go", "var s string = `a` // b", "kkk...tttttt...sss.cccc");
        check("a.js", "const a = `x${b}y`, c = null;", "kkkkk.....ss....ss......oooo.");
        check("a.ts", "const a: Map<string> = f(1);", "kkkkk....ttt.tttttt....f.n..");
        check("a.cc", "class A { int a = 2; };", "kkkkk.t...ttt.....n....");
        check("A.java", "class A { int a = 2; }", "kkkkk.t...ttt.....n...");
        check("a.zig", "const a = other; // b", "kkkkk............cccc");
        check("a.kt", "val a = true // b", "kkk.....oooo.cccc");
        check("a.hs", "f x = 1 -- b", "f.....n.cccc");
        check("a.nix", "{ a = 1; } # b", "......n....ccc");
        check("a.toml", "[a]\nb = 1 # c", ".t..t...n.ccc");
        check("a.css", "a { color: red } /* b */", ".................ccccccc");
        check("a.ml", "let a = \"b\" (* c *)", "kkk.....sss.ccccccc");
        check("a.sol", "contract A { uint b; } // c", "kkkkkkkk.t...tttt......cccc");
    }

    #[test]
    fn every_language_has_several_colours() {
        let room = Path::new(env!("CARGO_MANIFEST_DIR")).join("../lang/src/languages");
        for spec in LANGUAGES.iter().filter(|spec| spec.is_built()) {
            assert!(highlights(spec).is_some(), "the query of {} does not fit", spec.id);
            let entries =
                fs::read_dir(room.join(spec.id)).expect("each has a folder").flatten().map(|entry| entry.path());
            let is_sample = |path: &PathBuf| {
                path.file_stem().is_some_and(|stem| stem == "sample")
                    && path.extension().is_some_and(|end| end != "tags")
            };
            let sample = entries.filter(is_sample).min().expect("each has a sample");
            let text = fs::read(sample).expect("it can be read");
            let found = colours(&text, Span::new(0, text.len()), spec, &|| false);
            let letters: BTreeSet<char> = found.iter().map(letter).collect();
            assert!(letters.len() > 3, "{}: {letters:?}", spec.id);
        }
    }

    #[test]
    fn data_has_colours_where_its_symbols_are_not_read() {
        let text = b"{\"a\": [1, null, \"b\"]}";
        assert!(of_file("data.json", text).is_none());
        let found = colours(text, Span::new(0, text.len()), of_shown("data.json", text), &|| false);
        assert_eq!(found.iter().map(letter).collect::<String>(), ".sss...n..oooo..sss..");
    }

    #[test]
    fn a_text_says_that_its_time_ran_out_at_any_moment() {
        let spec = of_file("a.py", b"").expect("it is built in").1;
        let text = "def f(a):\n    return [a, 'x', 1]  # y\n".repeat(2_000);
        let part = Span::new(0, text.len());
        let looks = AtomicU32::new(0);
        let read_for = |most: u32| {
            looks.store(0, Relaxed);
            let is_over = || looks.fetch_add(1, Relaxed) >= most;
            read(text.as_bytes(), part, &Pieces::default(), spec, &is_over)
        };
        let whole = read_for(u32::MAX);
        assert!(!whole.is_cut && whole.colours.iter().any(Option::is_some));
        let all = looks.load(Relaxed);
        assert!(all > 100, "it looks at the clock {all} times");
        let missing = |cut: &HighlightedRange| cut.colours != whole.colours || cut.words != whole.words;
        for most in [0, 1, all / 4, all / 2, all - 1] {
            let cut = read_for(most);
            assert!(cut.is_cut || !missing(&cut), "{most} of {all} looks");
            assert!(most > all / 2 || missing(&cut), "{most} of {all} looks");
        }
    }

    #[test]
    fn a_part_has_its_own_colours_and_plain_text_none() {
        let spec = of_file("a.py", b"").expect("it is built in").1;
        let text = b"'''a\nb'''\nreturn";
        let found = colours(text, Span::new(5, 12), spec, &|| false);
        assert_eq!(found.iter().filter(|colour| **colour == Some(Colour::Text)).count(), 4);
        assert_eq!(found[5..], [Some(Colour::Keyword); 2]);
        assert!(colours(text, Span::new(0, 4), spec, &|| true).iter().all(Option::is_none), "time is up");
        let plain = &codelode_lang::languages::LanguageSpec::PLAIN;
        assert!(colours(text, Span::new(0, 4), plain, &|| false).iter().all(Option::is_none));
    }
}
