//! The picker's terminal: reads keys, draws full screens, and restores everything at the end.

use std::cell::Cell;
use std::io;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;

use console::{Alignment, Key, Term, pad_str, truncate_str};
use rustix::termios::{OptionalActions, Termios, tcgetattr, tcsetattr};

use super::choice::{Choice, fitting};
use crate::cli::interrupt;
use crate::cli::visible::visible;
use codelode_service::parts::pick::{Entry, Symbols};

/// From this width on, the source is to the right of the list; otherwise below.
const WIDE: usize = 100;

/// The interval of checks for a resized terminal while waiting for a key.
const LOOK: Duration = Duration::from_millis(50);

/// The alternate screen of the terminal. Standard output is left for the answer.
pub(super) struct Screen {
    terminal: Term,
    /// The terminal's earlier settings.
    before: Termios,
    /// Requests one key. A thread that always waited for keys would keep the terminal in raw mode at the end.
    ask: Sender<()>,
    keys: Receiver<io::Result<Key>>,
    is_asked: Cell<bool>,
    /// Rows and columns at the last drawing.
    size: Cell<(u16, u16)>,
}

impl Screen {
    /// Takes over the terminal behind standard error.
    pub(super) fn open() -> io::Result<Self> {
        let terminal = Term::stderr();
        if !terminal.is_term() {
            return Err(io::Error::other("standard error is none"));
        }
        let before = tcgetattr(io::stderr())?;
        let ((ask, asked), (tell, keys)) = (channel(), channel());
        let keyboard = terminal.clone();
        std::thread::spawn(move || asked.iter().try_for_each(|()| tell.send(keyboard.read_key_raw())));
        let screen = Self { terminal, before, ask, keys, is_asked: Cell::new(false), size: Cell::new((0, 0)) };
        interrupt::HAS_PICKER.store(true, Ordering::Relaxed);
        // Raw mode lasts from key to key. Otherwise the system would handle Ctrl-U itself in between, and echo letters.
        let mut raw = screen.before.clone();
        raw.make_raw();
        raw.output_modes = screen.before.output_modes;
        tcsetattr(io::stderr(), OptionalActions::Drain, &raw)?;
        screen.terminal.write_str("\x1b[?1049h")?;
        Ok(screen)
    }

    /// Waits for a key; `None` if the terminal is resized first.
    pub(super) fn key(&self) -> io::Result<Option<Key>> {
        let is_gone = || io::Error::other("no more keys are read");
        if !self.is_asked.replace(true) {
            self.ask.send(()).map_err(|_| is_gone())?;
        }
        loop {
            match self.keys.recv_timeout(LOOK) {
                Ok(key) => {
                    self.is_asked.set(false);
                    return key.map(Some);
                }
                Err(RecvTimeoutError::Timeout) if self.terminal.size() == self.size.get() => {}
                Err(RecvTimeoutError::Timeout) => return Ok(None),
                Err(RecvTimeoutError::Disconnected) => return Err(is_gone()),
            }
        }
    }

    /// Draws everything; returns the number of rows of the list.
    pub(super) fn draw(&self, choice: &Choice<'_>, symbols: &Symbols) -> io::Result<isize> {
        let (rows, columns) = self.terminal.size();
        self.size.set((rows, columns));
        let (rows, columns) = (usize::from(rows), usize::from(columns));
        let (lines, n_listed) = lines(choice, symbols, columns, rows.saturating_sub(1));
        let prompt = format!("\x1b[1m>\x1b[0m {}", shown(&choice.query));
        let count = format!("{}/{}", choice.n_found, choice.n_all());
        let room = columns.saturating_sub(count.len() + 2);
        let first = format!("{}  \x1b[2m{count}\x1b[0m", pad_str(&prompt, room, Alignment::Left, Some("…")));
        let mut text = format!("\x1b[?25l\x1b[H{first}\x1b[K");
        for line in &lines {
            text.push_str(&format!("\r\n{line}\x1b[K"));
        }
        let cursor = console::measure_text_width(&prompt).min(room) + 1;
        text.push_str(&format!("\x1b[J\x1b[1;{cursor}H\x1b[?25h"));
        self.terminal.write_str(&text)?;
        Ok(n_listed.max(1).cast_signed())
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        // If the terminal is gone, there is nothing to restore.
        let _ = self.terminal.write_str("\x1b[?1049l\x1b[?25h");
        let _ = tcsetattr(io::stderr(), OptionalActions::Drain, &self.before);
        interrupt::HAS_PICKER.store(false, Ordering::Relaxed);
    }
}

/// The lines of the list and of the selected symbol's source, and the number of rows of the list.
fn lines(choice: &Choice<'_>, symbols: &Symbols, columns: usize, rows: usize) -> (Vec<String>, usize) {
    if columns >= WIDE {
        let left = columns * 9 / 20;
        let list = list(choice, left, rows);
        let source = source(choice.picked(), symbols, columns - left - 3, rows);
        let empty = String::new();
        let line = |at: usize| {
            let part = |lines: &[String], width| {
                pad_str(lines.get(at).unwrap_or(&empty), width, Alignment::Left, None).into_owned()
            };
            format!("{} \x1b[2m│\x1b[0m {}", part(&list, left), source.get(at).unwrap_or(&empty))
        };
        return ((0..rows).map(line).collect(), rows);
    }
    let n_listed = (rows / 2).max(1);
    let mut all = list(choice, columns, n_listed);
    all.resize(n_listed, String::new());
    all.push(format!("\x1b[2m{}\x1b[0m", "─".repeat(columns)));
    all.extend(source(choice.picked(), symbols, columns, rows.saturating_sub(n_listed + 1)));
    all.truncate(rows);
    (all, n_listed)
}

/// The rows of the list around the selected one.
fn list(choice: &Choice<'_>, width: usize, rows: usize) -> Vec<String> {
    let first = choice.selected.saturating_sub(rows.saturating_sub(1));
    let row = |(at, entry): (usize, &Entry)| {
        let is_selected = first + at == choice.selected;
        let mark = if is_selected { "\x1b[1;36m▌\x1b[0m " } else { "  " };
        let place = format!("{}:{}", shown(entry.path()), entry.line);
        let name = emphasized(entry.name(), &fitting(&choice.query, entry.name()), is_selected);
        let text = format!("{mark}{name}  \x1b[36m{}\x1b[0m  \x1b[2m{place}\x1b[0m", entry.kind);
        truncate_str(&text, width, "…").into_owned()
    };
    choice.from(first).take(rows).enumerate().map(row).collect()
}

/// A name with its matching letters in another colour.
fn emphasized(name: &str, places: &[u32], is_selected: bool) -> String {
    let base = if is_selected { "\x1b[1m" } else { "" };
    let mut text = base.to_owned();
    for (at, letter) in (0..).zip(name.chars()) {
        let letter = shown(letter.encode_utf8(&mut [0; 4]));
        match places.contains(&at) {
            true => text.push_str(&format!("\x1b[33m{letter}\x1b[0m{base}")),
            false => text.push_str(&letter),
        }
    }
    text.push_str("\x1b[0m");
    text
}

/// The place of a symbol, then the first lines of its source with numbers.
fn source(entry: Option<&Entry>, symbols: &Symbols, width: usize, rows: usize) -> Vec<String> {
    let Some(entry) = entry else { return vec!["\x1b[2mno symbol fits\x1b[0m".to_owned()] };
    let (first, source) = symbols.source(entry);
    let place = format!("\x1b[35m{}\x1b[0m:\x1b[32m{}\x1b[0m", shown(entry.path()), entry.line);
    let mut lines = vec![truncate_str(&place, width, "…").into_owned()];
    for (number, line) in (first..).zip(source.lines().take(rows.saturating_sub(1))) {
        let text = format!("\x1b[2m{number:>5}\x1b[0m {}", shown(&line.replace('\t', "    ")));
        lines.push(truncate_str(&text, width, "…").into_owned());
    }
    lines.truncate(rows);
    lines
}

/// A foreign text without anything that a terminal obeys.
fn shown(text: &str) -> String {
    let plain = text.replace('\x1b', "\\x1b").replace(['\n', '\r'], " ");
    String::from_utf8_lossy(&visible(plain.as_bytes())).into_owned()
}
