//! A progress bar for slow work.

use std::io::{self, IsTerminal};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

use super::interrupt;

/// Shorter work ends before a bar could be read.
const PATIENCE: Duration = Duration::from_millis(100);

/// A bar that appears after [`PATIENCE`], and only on a terminal.
pub(super) struct Bar {
    wanted: bool,
    begun: Option<Instant>,
    bar: Option<ProgressBar>,
}

impl Bar {
    /// No bar yet.
    pub(super) fn new(quiet: bool) -> Self {
        Self { wanted: !quiet && io::stderr().is_terminal(), begun: None, bar: None }
    }

    /// Shows the progress of the work.
    pub(super) fn step(&mut self, done: u64, total: Option<u64>, message: &str) {
        if interrupt::is_over() || !self.wanted || self.begun.get_or_insert_with(Instant::now).elapsed() < PATIENCE {
            return;
        }
        let bar = self.bar.get_or_insert_with(|| {
            interrupt::HAS_BAR.store(true, Ordering::Relaxed);
            let style = style("{spinner} {msg} {human_pos} {elapsed}");
            ProgressBar::no_length().with_style(style).with_message(message.to_owned())
        });
        if let Some(total) = total
            && bar.length() != Some(total)
        {
            bar.set_length(total);
            bar.set_style(style("{msg} {bar:24} {human_pos}/{human_len} {elapsed}"));
        }
        if bar.message() != message {
            bar.set_message(message.to_owned());
        }
        bar.set_position(done);
        // The bar fills its line. An echoed `^C` would wrap, and then the wrong line would be cleared.
        eprint!("\r");
    }

    /// Removes the bar, so that only the answer remains on the terminal.
    pub(super) fn finish(&mut self) {
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
            interrupt::HAS_BAR.store(false, Ordering::Relaxed);
        }
    }
}

/// A style from one of the templates above.
fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).expect("the templates are written here").progress_chars("━╸─")
}
