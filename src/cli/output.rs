//! Output to a terminal or a pipe: colours only where visible, no foreign control characters, and no panic if the
//! reader has gone.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::io::{self, IsTerminal as _, Write as _};

use super::Color;
use super::visible::visible;
use super::words::Words;

/// A text is never cut to fewer columns than this.
pub(super) const SHORTEST: usize = 24;

/// Paints text, or leaves it plain.
#[derive(Clone, Copy)]
pub(super) struct Paint {
    on: bool,
}

impl Paint {
    /// Colours on request; by default on a terminal, unless its user disables them.
    pub(super) fn of(color: Color, is_terminal: bool) -> Self {
        let on = match color {
            Color::Always => true,
            Color::Never => false,
            Color::Auto => is_terminal && !codelode_base::config::no_color(),
        };
        Self { on }
    }

    /// No colours.
    #[cfg(test)]
    pub(super) fn none() -> Self {
        Self { on: false }
    }

    /// Paths.
    pub(super) fn path(self, text: &str) -> String {
        self.with("35", text)
    }

    /// Line numbers.
    pub(super) fn line(self, line: u64) -> String {
        self.with("32", &line.to_string())
    }

    /// Names of symbols.
    pub(super) fn name(self, text: &str) -> String {
        self.with("1", text)
    }

    /// Kinds of symbols.
    pub(super) fn kind(self, text: &str) -> String {
        self.with("36", text)
    }

    /// The style of notes.
    pub(super) fn dim(self, text: &str) -> String {
        self.with("2", text)
    }

    /// The style of errors.
    pub(super) fn bad(self, text: &str) -> String {
        self.with("1;31", text)
    }

    fn with(self, code: &str, text: &str) -> String {
        if self.on && !text.is_empty() { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }
}

/// An answer being written.
pub(super) struct Output {
    /// The colours.
    pub(super) paint: Paint,
    /// The words for tool messages in the answer.
    pub(super) words: Words,
    /// Facts about the answer, printed with the notes.
    pub(super) asides: Vec<String>,
    /// The number of columns; `None` if it is no terminal.
    width: Option<usize>,
    text: String,
    notes: String,
}

impl Output {
    /// Empty output.
    pub(super) fn new(paint: Paint) -> Self {
        Self {
            paint,
            words: Words::OfTerminal(None),
            asides: Vec::new(),
            width: None,
            text: String::new(),
            notes: String::new(),
        }
    }

    /// Output as on a terminal with `columns` columns.
    #[cfg(test)]
    pub(super) fn with_columns(mut self, columns: usize) -> Self {
        self.width = Some(columns);
        self
    }

    /// Limits lines to the terminal's width, if standard output is a terminal.
    pub(super) fn fitting_terminal(mut self) -> Self {
        let (_, columns) = console::Term::stdout().size();
        self.width = io::stdout().is_terminal().then_some(usize::from(columns));
        self
    }

    /// Cuts a text so that a line with `taken` other columns fits the terminal, but never below [`SHORTEST`].
    pub(super) fn cut(&self, text: &str, taken: usize) -> String {
        match self.width {
            Some(width) => console::truncate_str(text, width.saturating_sub(taken).max(SHORTEST), "…").into_owned(),
            None => text.to_owned(),
        }
    }

    /// Whether standard output is no terminal.
    pub(super) fn is_piped(&self) -> bool {
        self.width.is_none()
    }

    /// Whether a line of `columns` columns fits the terminal; always true without one.
    pub(super) fn fits(&self, columns: usize) -> bool {
        self.width.is_none_or(|width| columns <= width)
    }

    /// The number of columns of the terminal; without one, more than any line has.
    pub(super) fn columns(&self) -> usize {
        self.width.unwrap_or(usize::MAX)
    }

    /// Cuts code after an argument, so that a line with `taken` other columns fits the terminal.
    pub(super) fn cut_code(&self, code: &str, taken: usize) -> String {
        let room = self.columns().saturating_sub(taken).max(SHORTEST);
        if console::measure_text_width(code) <= room {
            return code.to_owned();
        }
        let whole = console::truncate_str(code, room - 1, "");
        // A first argument that takes nearly all the room is cut itself.
        let (mut depth, mut end) = (0_i32, None);
        for (at, letter) in whole.char_indices() {
            match letter {
                '(' | '[' | '{' => depth += 1,
                ')' | ']' | '}' => depth -= 1,
                ' ' if depth == 1 && at > room / 4 && whole[..at].ends_with(',') => end = Some(at + 1),
                _ => {}
            }
        }
        format!("{}…", &whole[..end.unwrap_or(whole.len())])
    }

    /// Adds a line of cells, without empty ones. A cell that does not fit, even without padding, continues below with
    /// `indent`.
    pub(super) fn flow(&mut self, cells: &[String], indent: usize) {
        let mut row = String::new();
        for cell in cells.iter().filter(|cell| !cell.is_empty()) {
            let taken = console::measure_text_width(&row);
            let needed = console::measure_text_width(cell.trim_end());
            match taken {
                0 => row.push_str(cell),
                _ if self.fits(taken + 2 + needed) => row.push_str(&format!("  {cell}")),
                _ if self.fits(console::measure_text_width(row.trim_end()) + 2 + needed) && !row.trim().is_empty() => {
                    row.truncate(row.trim_end().len());
                    row.push_str(&format!("  {cell}"));
                }
                _ => {
                    self.line(&row);
                    row = format!("{}{cell}", " ".repeat(indent));
                }
            }
        }
        if !row.is_empty() {
            self.wrapped(&row, indent + 2);
        }
    }

    /// Adds a line. Words that do not fit the terminal continue below with `indent`.
    pub(super) fn wrapped(&mut self, line: &str, indent: usize) {
        let Some(width) = self.width.filter(|_| !self.fits(console::measure_text_width(line))) else {
            return self.line(line);
        };
        let mut row = String::new();
        for word in line.split_inclusive(' ') {
            let taken = console::measure_text_width(&row) + console::measure_text_width(word.trim_end());
            if taken > width && !row.trim().is_empty() {
                self.line(&row);
                row = " ".repeat(indent);
            }
            row.push_str(word);
        }
        self.line(row);
    }

    /// Cuts the beginning of a path, so that a line with `taken` other columns fits the terminal.
    pub(super) fn cut_path(&self, path: &str, taken: usize) -> String {
        let n_letters = path.chars().count();
        let room = self.width.map_or(n_letters, |width| width.saturating_sub(taken).max(2));
        match n_letters > room {
            true => std::iter::once('…').chain(path.chars().skip(n_letters + 1 - room)).collect(),
            false => path.to_owned(),
        }
    }

    /// Adds a line.
    pub(super) fn line(&mut self, line: impl AsRef<str>) {
        self.text.push_str(line.as_ref().trim_end());
        self.text.push('\n');
    }

    /// Adds text unchanged, with a line end if it has none.
    pub(super) fn raw(&mut self, text: &str) {
        self.text.push_str(text);
        if !text.is_empty() && !text.ends_with('\n') {
            self.text.push('\n');
        }
    }

    /// Puts lines before the text so far.
    pub(super) fn begin_with(&mut self, lines: &[String]) {
        let first: String = lines.iter().map(|line| format!("{line}\n")).collect();
        self.text.insert_str(0, &first);
    }

    /// Writes notes to standard error, so that a pipe only gets the answer.
    pub(super) fn notes(&mut self, notes: Vec<String>, paint: Paint) {
        for note in notes {
            let _ = writeln!(self.notes, "{}", paint.dim(&note));
        }
    }

    /// Adds a line about a failed part. In a pipe, where lines are facts, it goes to standard error.
    pub(super) fn failure(&mut self, line: &str) {
        let shown = self.paint.bad(line);
        match self.is_piped() {
            true => self.notes.push_str(&format!("{shown}\n")),
            false => self.line(shown),
        }
    }

    /// The text so far.
    #[cfg(test)]
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// Prints the answer.
    pub(super) fn print(&self) {
        print_bytes(self.text.as_bytes());
        if !self.notes.is_empty() {
            complain(&self.notes);
        }
    }
}

/// Writes to standard output. A closed pipe is ignored, because its reader has gone. Any other error, such as a full
/// disk, ends the process, because the answer is incomplete.
pub(super) fn print_bytes(bytes: &[u8]) {
    let mut out = io::stdout().lock();
    let shown = if out.is_terminal() { visible(bytes) } else { Cow::Borrowed(bytes) };
    match out.write_all(&shown).and_then(|()| out.flush()) {
        Err(err) if err.kind() != io::ErrorKind::BrokenPipe => {
            complain(&format!("error: cannot write the answer: {err}\n"));
            std::process::exit(i32::from(super::FAILED));
        }
        _ => {}
    }
}

/// Writes to standard error.
pub(super) fn complain(text: &str) {
    let mut out = io::stderr().lock();
    let shown = if out.is_terminal() { visible(text.as_bytes()) } else { Cow::Borrowed(text.as_bytes()) };
    let _ = out.write_all(&shown);
}
