//! WordPiece tokenizer: cuts words into the longest pieces of a vocabulary, as `tokenizer.json` defines.

use std::collections::HashMap;
use std::sync::LazyLock;

use regex_syntax::hir::{Class, HirKind};
use serde_json::Value;
use unicode_normalization::UnicodeNormalization;

/// A tokenizer.
#[derive(Debug)]
pub(super) struct Tokenizer {
    vocabulary: HashMap<String, u32>,
    /// The prefix of a piece that continues a word.
    continuing: String,
    /// The longest word that is cut, in characters.
    longest: usize,
    /// The token of a word that no pieces make up.
    unknown: u32,
    steps: Vec<Step>,
}

/// A step that normalizes a text before it is cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Clean,
    SpaceIdeographs,
    StripAccents,
    Lower,
}

impl Tokenizer {
    /// Reads `tokenizer.json`. Fails with a description of an unsupported part.
    pub fn of(json: &Value) -> Result<Self, String> {
        let model = &json["model"];
        let kind = model["type"].as_str().unwrap_or("WordPiece");
        if kind != "WordPiece" {
            return Err(format!("its tokenizer is of type {kind}; only WordPiece is supported"));
        }
        let entries = model["vocab"].as_object().ok_or("its tokenizer has no vocabulary")?;
        let entry = |(piece, number): (&String, &Value)| Some((piece.clone(), u32::try_from(number.as_u64()?).ok()?));
        let vocabulary: Option<HashMap<String, u32>> = entries.iter().map(entry).collect();
        let vocabulary = vocabulary.ok_or("its vocabulary is damaged")?;
        let unknown = model["unk_token"].as_str().unwrap_or("[UNK]");
        let unknown = vocabulary.get(unknown).copied().ok_or("its tokenizer has no token for unknown words")?;
        let mut steps = Vec::new();
        normalizer(&json["normalizer"], &mut steps)?;
        match json["pre_tokenizer"]["type"].as_str() {
            Some("BertPreTokenizer") => {}
            other => return Err(format!("its tokenizer splits words by {other:?}, which is not supported")),
        }
        Ok(Self {
            vocabulary,
            continuing: model["continuing_subword_prefix"].as_str().unwrap_or("##").to_owned(),
            longest: model["max_input_chars_per_word"].as_u64().unwrap_or(100) as usize,
            unknown,
            steps,
        })
    }

    /// The number of a token.
    pub fn token(&self, piece: &str) -> Option<u32> {
        self.vocabulary.get(piece).copied()
    }

    /// The token of unknown words.
    pub fn unknown(&self) -> u32 {
        self.unknown
    }

    /// The largest token number.
    pub fn largest(&self) -> u32 {
        self.vocabulary.values().copied().max().unwrap_or_default()
    }

    /// The tokens of a text, at most `most`.
    pub fn tokens(&self, text: &str, most: usize) -> Vec<u32> {
        let mut text = text.to_owned();
        for step in &self.steps {
            text = step.of(&text);
        }
        let mut tokens = Vec::new();
        for word in words(&text) {
            if tokens.len() >= most {
                break;
            }
            self.cut(word, &mut tokens);
        }
        tokens.truncate(most);
        tokens
    }

    /// Cuts a word into the longest pieces.
    fn cut(&self, word: &str, tokens: &mut Vec<u32>) {
        let before = tokens.len();
        let mut rest = word;
        let mut piece = String::new();
        let is_long = word.chars().count() > self.longest;
        while !rest.is_empty() {
            let start = if rest.len() == word.len() { "" } else { &self.continuing };
            let ends = rest.char_indices().map(|(at, letter)| at + letter.len_utf8()).rev();
            let found = ends.filter(|_| !is_long).find_map(|end| {
                piece.clear();
                piece.push_str(start);
                piece.push_str(&rest[..end]);
                Some((end, *self.vocabulary.get(&piece)?))
            });
            let Some((end, token)) = found else {
                tokens.truncate(before);
                tokens.push(self.unknown);
                return;
            };
            tokens.push(token);
            rest = &rest[end..];
        }
    }
}

/// Adds the steps of a normalizer.
fn normalizer(json: &Value, steps: &mut Vec<Step>) -> Result<(), String> {
    let flag = |name: &str| json[name].as_bool();
    match json["type"].as_str() {
        None => {}
        Some("BertNormalizer") => {
            let lower = flag("lowercase").unwrap_or(true);
            let wanted = [
                (Step::Clean, flag("clean_text").unwrap_or(true)),
                (Step::SpaceIdeographs, flag("handle_chinese_chars").unwrap_or(true)),
                (Step::StripAccents, flag("strip_accents").unwrap_or(lower)),
                (Step::Lower, lower),
            ];
            steps.extend(wanted.into_iter().filter(|(_, wanted)| *wanted).map(|(step, _)| step));
        }
        Some("Lowercase") => steps.push(Step::Lower),
        Some("StripAccents") => steps.push(Step::StripAccents),
        Some("Sequence") => {
            for part in json["normalizers"].as_array().into_iter().flatten() {
                normalizer(part, steps)?;
            }
        }
        Some("NFD" | "NFC") => {}
        Some(other) => return Err(format!("its tokenizer has the normalizer {other}, which is not supported")),
    }
    Ok(())
}

impl Step {
    fn of(self, text: &str) -> String {
        match self {
            Self::Clean => {
                let kept = text.chars().filter(|letter| matches!(letter, '\t' | '\n' | '\r') || !CONTROL.has(*letter));
                kept.filter(|letter| *letter != '\u{fffd}').collect()
            }
            Self::SpaceIdeographs => {
                let mut spaced = String::with_capacity(text.len());
                for letter in text.chars() {
                    match is_ideograph(letter) {
                        true => spaced.extend([' ', letter, ' ']),
                        false => spaced.push(letter),
                    }
                }
                spaced
            }
            Self::StripAccents if text.is_ascii() => text.to_owned(),
            Self::StripAccents => text.nfd().filter(|letter| !MARK.has(*letter)).collect(),
            Self::Lower => text.to_lowercase(),
        }
    }
}

/// The words of a text; each punctuation mark is one.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split_whitespace().flat_map(|mut rest| {
        std::iter::from_fn(move || {
            let first = rest.chars().next()?;
            let end = match is_punctuation(first) {
                true => first.len_utf8(),
                false => rest.find(is_punctuation).unwrap_or(rest.len()),
            };
            let (word, others) = rest.split_at(end);
            rest = others;
            Some(word)
        })
    })
}

fn is_punctuation(letter: char) -> bool {
    letter.is_ascii_punctuation() || !letter.is_ascii() && PUNCTUATION.has(letter)
}

fn is_ideograph(letter: char) -> bool {
    matches!(u32::from(letter),
        0x4e00..=0x9fff | 0x3400..=0x4dbf | 0x20000..=0x2a6df | 0x2a700..=0x2b81f | 0x2b920..=0x2ceaf | 0xf900..=0xfaff | 0x2f800..=0x2fa1f)
}

/// The characters of a Unicode category.
struct Category(Vec<(char, char)>);

static PUNCTUATION: LazyLock<Category> = LazyLock::new(|| Category::of(r"\p{P}"));
static MARK: LazyLock<Category> = LazyLock::new(|| Category::of(r"\p{Mn}"));
static CONTROL: LazyLock<Category> = LazyLock::new(|| Category::of(r"\p{C}"));

impl Category {
    fn of(class: &str) -> Self {
        let parsed = regex_syntax::parse(class).expect("the class is one of Unicode's");
        match parsed.kind() {
            HirKind::Class(Class::Unicode(class)) => {
                Self(class.iter().map(|range| (range.start(), range.end())).collect())
            }
            _ => Self(Vec::new()),
        }
    }

    fn has(&self, letter: char) -> bool {
        let after = self.0.partition_point(|(start, _)| *start <= letter);
        after > 0 && letter <= self.0[after - 1].1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokenizer(pieces: &[&str]) -> Tokenizer {
        let vocabulary: serde_json::Map<String, Value> =
            (0..).zip(pieces).map(|(number, piece)| ((*piece).to_owned(), Value::from(number))).collect();
        let json = serde_json::json!({
            "normalizer": {"type": "BertNormalizer", "lowercase": true, "strip_accents": null},
            "pre_tokenizer": {"type": "BertPreTokenizer"},
            "model": {"type": "WordPiece", "vocab": vocabulary, "unk_token": "[UNK]"},
        });
        Tokenizer::of(&json).expect("it is supported")
    }

    #[test]
    fn words_are_cut_into_the_longest_known_pieces() {
        let pieces = ["[UNK]", "check", "##out", "##o", "##ut", "(", ")", "cart", "grosse", "“", "你", "_", "naive"];
        let tokenizer = tokenizer(&pieces);
        let cut = |text: &str| -> Vec<&str> {
            tokenizer.tokens(text, 64).iter().map(|token| pieces[*token as usize]).collect()
        };
        assert_eq!(cut("Checkout(cart)"), ["check", "##out", "(", "cart", ")"]);
        assert_eq!(cut("check_out"), ["check", "_", "[UNK]"]);
        assert_eq!(cut("“Nai\u{308}ve\u{200b} 你你"), ["“", "naive", "你", "你"]);
        assert_eq!(cut(&"check".repeat(50)), ["[UNK]"]);
        assert_eq!(cut("  \n"), [""; 0]);
        assert_eq!(tokenizer.tokens("cart cart cart", 2).len(), 2);
    }

    #[test]
    fn other_tokenizers_are_refused_by_name() {
        let refused = |json: Value| Tokenizer::of(&json).expect_err("it is not supported");
        assert!(refused(serde_json::json!({"model": {"type": "BPE"}})).contains("BPE"));
        let vocab = serde_json::json!({"[UNK]": 0});
        let strange = serde_json::json!({"model": {"vocab": vocab}, "normalizer": {"type": "Precompiled"}});
        assert!(refused(strange).contains("Precompiled"));
        assert!(refused(serde_json::json!({"model": {"vocab": {}}})).contains("unknown words"));
    }
}
