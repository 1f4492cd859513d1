//! Marks of a file and of its definitions, and their form on disk.

use super::packed::{put, take};
use codelode_base::model::{Marks, Span};

/// Marks of a file and of its definitions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileMarks {
    /// It imports or exports, so its names are its own. Other scripts of a page share theirs.
    pub is_module: bool,
    /// A build may leave it out.
    pub is_conditional: bool,
    /// It is started: it names its interpreter, or has text that only executable files have.
    pub is_started: bool,
    /// It is part of a program, which nothing imports.
    pub is_program: bool,
    /// Paths of packages that it imports, in languages whose packages have a host: `github.com/pkg/errors`.
    pub packages: Vec<Span>,
    /// Beginnings of names that its code puts together.
    pub beginnings: Vec<Span>,
    /// Places of imports that hand on all names of a file.
    pub wildcards: Vec<u32>,
    /// Marks of its symbols, in source order.
    pub symbols: Vec<Marks>,
}

impl FileMarks {
    fn flags(&mut self) -> [&mut bool; 4] {
        let Self { is_module, is_conditional, is_started, is_program, .. } = self;
        [is_module, is_conditional, is_started, is_program]
    }

    /// Writes the marks, most of them as a byte each.
    pub(super) fn pack(&self, out: &mut Vec<u8>) {
        let mut own = self.clone();
        let flags = own.flags().into_iter().rev().fold(0, |flags, flag| flags << 1 | i32::from(*flag));
        let lens = [self.packages.len(), self.beginnings.len(), self.wildcards.len(), self.symbols.len()];
        put(out, flags);
        lens.into_iter().for_each(|len| put(out, len as i32));
        for name in self.packages.iter().chain(&self.beginnings) {
            put(out, name.start as i32);
            put(out, name.len() as i32);
        }
        self.wildcards.iter().for_each(|at| put(out, *at as i32));
        let mut before = 0;
        for marks in &self.symbols {
            put(out, i32::from(marks.0 ^ before));
            before = marks.0;
        }
    }

    /// Reads what [`FileMarks::pack`] wrote; `None` for other bytes.
    pub(super) fn unpack(mut from: &[u8]) -> Option<Self> {
        let from = &mut from;
        let mut marks = Self::default();
        let flags = take(from)?;
        marks.flags().into_iter().enumerate().for_each(|(bit, flag)| *flag = flags >> bit & 1 == 1);
        let [packages, beginnings, wildcards, symbols] = [take(from)?, take(from)?, take(from)?, take(from)?];
        for (len, spans) in [(packages, &mut marks.packages), (beginnings, &mut marks.beginnings)] {
            for _ in 0..len {
                let start = take(from)? as u32;
                spans.push(Span { start, end: start.saturating_add(take(from)? as u32) });
            }
        }
        for _ in 0..wildcards {
            marks.wildcards.push(take(from)? as u32);
        }
        let mut before = 0;
        for _ in 0..symbols {
            before ^= take(from)? as u16;
            marks.symbols.push(Marks(before));
        }
        Some(marks)
    }
}
