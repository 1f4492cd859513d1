//! A call of a tool: its request, its page and the state of the process.

use serde_json::{Map, Value};

use super::Request;
use crate::answer::Question;
use crate::catalog::{Caller, Context};

/// A call of a tool, with its request and context.
pub struct Call<'a> {
    /// State of the process.
    pub cx: &'a Context,
    /// The token limit of the answer.
    pub max_tokens: usize,
    /// The number of list items already given, from the cursor.
    pub offset: usize,
    /// Only the number of items is requested.
    pub count_only: bool,
    /// The answer is written as compact text.
    pub compact: bool,
    /// The part that all questions share.
    pub question: Question,
    /// The tool's name, and its arguments as they were given.
    pub asked: (&'static str, Map<String, Value>),
    /// Who asks, and of what.
    pub caller: Caller<'a>,
}

impl<'a> Call<'a> {
    /// A call of a tool.
    pub fn new(
        cx: &'a Context,
        request: &'a Request,
        question: Question,
        asked: (&'static str, Map<String, Value>),
    ) -> Self {
        let Question { max_tokens, offset, count_only, compact, .. } = question;
        Self { cx, max_tokens, offset, count_only, compact, question, asked, caller: cx.caller(request) }
    }

    /// A call for text of a skin, without an envelope.
    pub fn of(cx: &'a Context, request: &'a Request) -> Self {
        let mut call = Self::new(cx, request, Question::unbounded(), ("", Map::new()));
        call.caller.asks_for_symbols = false;
        call
    }

    /// A page of at most `limit` items from the cursor on; notes the total.
    pub fn page<T>(&self, items: Vec<T>, limit: usize) -> Vec<T> {
        self.total(items.len());
        items.into_iter().skip(self.offset).take(limit).collect()
    }

    /// Items on a page that usually has this many: more, in proportion, in a budget above the configured one.
    pub fn per_page(&self, usual: usize) -> usize {
        usual.saturating_mul((self.max_tokens / self.cx.config.max_tokens.max(1)).max(1))
    }

    /// A number from 1 to `most`; where another was given, the answer says which is taken.
    pub fn at_most(&self, argument: &str, given: u32, most: u32) -> u32 {
        let taken = given.clamp(1, most);
        if taken != given {
            self.note("hint", format!("`{argument}` must be from 1 to {most}; using {taken}"));
        }
        taken
    }

    /// A cursor for a tool whose answer is not cut in a list: it continues after `given` pieces.
    pub fn cursor(&self, given: usize) -> String {
        self.question.cursor(given)
    }

    /// A cursor for one of several things asked about, given alone in this argument instead of that for several: it
    /// continues after `given` pieces.
    pub fn cursor_alone(&self, several: &str, alone: &str, value: &str, given: usize) -> String {
        let (tool, mut args) = self.asked.clone();
        args.shift_remove(several);
        args.insert(alone.to_owned(), value.into());
        Question::cursor_of(tool, &args, given)
    }
}

/// A call has the request and notes of its caller.
impl<'a> std::ops::Deref for Call<'a> {
    type Target = Caller<'a>;

    fn deref(&self) -> &Caller<'a> {
        &self.caller
    }
}
