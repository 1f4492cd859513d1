//! Explains a score by its parts in order: adding and multiplying them yields the score.

use std::fmt;

/// A part of a score.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    /// The name of the part.
    pub what: String,
    /// Whether the score is multiplied by the value, instead of increased.
    pub times: bool,
    /// The amount.
    pub value: f32,
}

impl Part {
    /// The score after this part.
    pub fn after(&self, score: f32) -> f32 {
        if self.times { score * self.value } else { score + self.value }
    }
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { what, times, value } = self;
        // Four significant digits, for small and large values alike.
        match *times {
            true if *value < 0.1 => write!(f, "{what} ×{value:.6}"),
            true => write!(f, "{what} ×{value:.4}"),
            false if value.abs() >= 100.0 => write!(f, "{what} {value:+.1}"),
            false => write!(f, "{what} {value:+.3}"),
        }
    }
}

/// A score, with its parts on request.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// The score so far.
    pub score: f32,
    /// Its parts.
    pub parts: Option<Vec<Part>>,
}

impl Tally {
    /// A score that begins with the search terms' part; its fields are computed later, for the few hits shown.
    pub fn new(score: f32, explain: bool) -> Self {
        Self { score, parts: explain.then(Vec::new) }
    }

    /// Adds to the score.
    pub fn add(&mut self, what: &str, value: f32) {
        self.score += value;
        self.note(what, false, value, 0.0);
    }

    /// Multiplies the score.
    pub fn times(&mut self, what: &str, value: f32) {
        self.score *= value;
        self.note(what, true, value, 1.0);
    }

    fn note(&mut self, what: &str, times: bool, value: f32, nothing: f32) {
        if let Some(parts) = self.parts.as_mut().filter(|_| value != nothing) {
            parts.push(Part { what: what.to_owned(), times, value });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_make_up_the_score() {
        let mut tally = Tally::new(2.0, true);
        tally.add("name", 1.0);
        tally.times("test", 0.5);
        tally.times("kind", 1.0);
        tally.times("file", 1.25);
        assert_eq!(tally.score, 1.875);
        let parts = tally.parts.expect("they are kept");
        assert_eq!(parts.iter().fold(2.0, |score, part| part.after(score)), 1.875);
        let shown: Vec<String> = parts.iter().map(Part::to_string).collect();
        assert_eq!(shown, ["name +1.000", "test ×0.5000", "file ×1.2500"]);
        assert!(Tally::new(1.0, false).parts.is_none());
    }
}
