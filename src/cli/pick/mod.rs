//! `codelode pick`: an interactive picker over all symbols of a repository.

mod choice;
mod screen;

use std::sync::{Arc, Mutex};

use clap::Args;
use console::Key;

use self::choice::Choice;
use self::screen::Screen;
use super::progress::Bar;
use super::{FOUND, Global, NOTHING, complain, editor, here, output};
use codelode_service::parts::pick::{Entry, Symbols};
use codelode_service::tools::{Context, Error};

const CTRL_G: char = '\u{7}';
const CTRL_K: char = '\u{b}';
const CTRL_N: char = '\u{e}';
const CTRL_O: char = '\u{f}';
const CTRL_P: char = '\u{10}';
const CTRL_U: char = '\u{15}';
const CTRL_W: char = '\u{17}';

/// Pick a symbol as you type, with its source beside the list. Enter prints its place; --open opens it in $EDITOR.
///
/// Letters match a name in order, with gaps; further words may match the path. Keys: up, down, page up, page down (or
/// Ctrl-P, Ctrl-N) move; Enter takes, Ctrl-O opens in $EDITOR, Ctrl-U and Ctrl-W erase, Escape leaves.
#[derive(Args)]
pub(super) struct Pick {
    /// Initial letters.
    #[arg(value_name = "QUERY")]
    query: Vec<String>,
}

/// Loads the symbols of the repository. If opening fails, `mend` handles the error.
pub(super) fn symbols(
    global: &Global,
    cx: &Context,
    mend: &dyn Fn(Error) -> Result<(), Error>,
) -> Result<Symbols, Error> {
    let repo = global.repo.clone().map(|repo| super::here::local_path(repo, false));
    let bar = Arc::new(Mutex::new(Bar::new(global.quiet)));
    let request = super::request(&bar);
    let once = || codelode_service::parts::pick::open(cx, &request, repo.as_deref());
    let opened = once().or_else(|err| mend(err).and_then(|()| once()));
    bar.lock().expect("drawing does not panic").finish();
    opened
}

/// Lets the user pick a symbol.
pub(super) fn run(global: &Global, how: &Pick, symbols: &Symbols) -> u8 {
    let screen = match Screen::open() {
        Ok(screen) => screen,
        Err(err) => return complain(&format!("pick needs a terminal: {err}; `codelode search` needs none")),
    };
    let picked = choose(&screen, symbols, how.query.join(" "));
    drop(screen);
    let (entry, opens) = match picked {
        Ok(Some(picked)) => picked,
        Ok(None) => return NOTHING,
        Err(err) => return complain(&format!("the terminal is gone: {err}")),
    };
    if opens || global.open.is_some() {
        return editor::open(&symbols.root().join(entry.path()), Some(entry.line.into()));
    }
    output::print_bytes(format!("{}:{}\n", here::path(&symbols.root(), entry.path()).display(), entry.line).as_bytes());
    FOUND
}

/// Reads keys until a symbol is picked, with whether to open it; `None` if the user leaves.
fn choose<'s>(screen: &Screen, symbols: &'s Symbols, query: String) -> std::io::Result<Option<(&'s Entry, bool)>> {
    let mut choice = Choice::new(&symbols.entries, query);
    loop {
        let rows = screen.draw(&choice, symbols)?;
        // The terminal was resized, so the picker is drawn again.
        let Some(key) = screen.key()? else { continue };
        match key {
            Key::Escape | Key::CtrlC | Key::Char(CTRL_G) => return Ok(None),
            key @ (Key::Enter | Key::Char(CTRL_O)) => {
                if let Some(entry) = choice.picked() {
                    return Ok(Some((entry, key != Key::Enter)));
                }
            }
            Key::Backspace => choice.edit(|query| {
                query.pop();
            }),
            Key::Char(CTRL_W) => choice.edit(|query| {
                let kept = query.trim_end().rfind(' ').map_or(0, |space| space + 1);
                query.truncate(kept);
            }),
            Key::Char(CTRL_U) => choice.edit(String::clear),
            Key::ArrowUp | Key::Char(CTRL_P | CTRL_K) => choice.step(-1),
            Key::ArrowDown | Key::Tab | Key::Char(CTRL_N) => choice.step(1),
            Key::PageUp => choice.step(-rows),
            Key::PageDown => choice.step(rows),
            Key::Char(letter) if !letter.is_control() => choice.edit(|query| query.push(letter)),
            _ => {}
        }
    }
}
