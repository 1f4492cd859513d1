//! The exact text of symbols, within a budget.

use schemars::JsonSchema;
use serde::Serialize;

use super::blame::{Blame, Blaming};
use super::fields::{Facts, Fields, hash, source_line};
use super::indexes::{self, Repo};
use super::packing::Member;
use super::{Call, Error, related, tokens};
use codelode_base::model::Kind;
use codelode_query::{self as query, Missing};
use codelode_store::SymbolView;

/// Symbols to read, by one id or several.
#[derive(Debug, Default)]
pub struct SourceRequest {
    /// The repository; the caller's for none.
    pub repo: Option<String>,
    /// One id.
    pub symbol_id: Option<String>,
    /// Several, instead of one.
    pub symbol_ids: Option<Vec<String>>,
    /// Whether texts are checked against their hashes.
    pub verify: bool,
    /// Number of lines to show before and after.
    pub context_lines: u32,
    /// Show only the lines around this text.
    pub around: Option<String>,
    /// Whether to say who changed the lines last.
    pub blame: bool,
    /// Further facts.
    pub fields: Option<Vec<String>>,
}

/// One symbol, or several and what was wrong with the others.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum Output {
    /// The answer for `symbol_id`.
    One(Box<Symbol>),
    /// The answer for `symbol_ids`.
    Many {
        /// The symbols, in the order of `symbol_ids`.
        symbols: Vec<Symbol>,
        /// Ids that no symbol has.
        errors: Vec<SymbolError>,
    },
}

/// A symbol with its text.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Symbol {
    id: String,
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    detail: Option<&'static str>,
    name: String,
    file: String,
    line: u32,
    /// First line of the source, if decorators put it above `line`.
    #[serde(skip_serializing_if = "Option::is_none")]
    source_line: Option<u32>,
    end_line: u32,
    signature: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    decorators: Vec<String>,
    /// Left out where the source shows it.
    #[serde(skip_serializing_if = "String::is_empty")]
    docstring: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    before: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    source: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    after: Option<String>,
    /// Lines around the text asked for with `around`, in place of the source.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    parts: Vec<Part>,
    /// Members, in place of a source too large for the answer.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    outline: Vec<Member>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    truncated: bool,
    /// The call that gets the part that was cut.
    #[serde(skip_serializing_if = "Option::is_none")]
    rest: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    content_hash: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    content_verified: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    blame: Option<Blame>,
    #[serde(flatten)]
    facts: Facts,
}

/// Lines of the symbol around the text given as `around`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Part {
    line: u32,
    source: String,
}

/// An id that no symbol has.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SymbolError {
    id: String,
    error: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    nearest: Vec<String>,
}

/// The most files that are compared with the disk.
const MOST_CHECKED: usize = 100;

/// Reads symbols.
pub fn sources(call: &Call<'_>, wanted: &SourceRequest) -> Result<Output, Error> {
    let fields = Fields::read(wanted.fields.as_deref())?;
    let (ids, single) = match (&wanted.symbol_id, &wanted.symbol_ids) {
        (Some(_), Some(_)) => {
            return Err(Error::invalid_arguments("give `symbol_id` or `symbol_ids`, not both"));
        }
        (None, None) => {
            return Err(Error::invalid_arguments("give `symbol_id`, or `symbol_ids` for several"));
        }
        (Some(id), None) => (vec![id.clone()], true),
        (None, Some(ids)) if ids.is_empty() => {
            return Err(Error::invalid_arguments("`symbol_ids` is empty; give ids from a search or an outline"));
        }
        (None, Some(ids)) => {
            let mut once: Vec<String> = Vec::new();
            for id in ids {
                if !once.contains(id) {
                    once.push(id.clone());
                }
            }
            (once, false)
        }
    };
    let mut repo = indexes::open(call, wanted.repo.as_deref())?;
    let ids: Vec<String> = ids.iter().map(|id| repo.own_id(id)).collect();
    let paths: Vec<&str> = ids.iter().filter_map(|id| id.rsplit_once("::").map(|(path, _)| path)).collect();
    indexes::ensure_fresh(call, &mut repo, paths.iter().copied())?;
    let found = |repo: &Repo| -> Vec<String> {
        let symbols = ids.iter().filter_map(|id| query::meant(&repo.snapshot, id).ok()).flatten();
        symbols.take(MOST_CHECKED).map(|symbol| symbol.file.path().to_owned()).collect()
    };
    let files = found(&repo);
    // An older id has another form of the path, and a bare name none.
    let others = files.iter().map(String::as_str).filter(|file| !paths.contains(file));
    indexes::ensure_fresh(call, &mut repo, others)?;
    let are_known = |repo: &Repo| Ok(ids.iter().all(|id| query::meant(&repo.snapshot, id).is_ok()));
    indexes::answered(call, &mut repo, are_known, |_, are_known| are_known.then(Vec::new))?;
    if wanted.verify {
        indexes::reread(call, &mut repo, &files)?;
    }
    fields.know(call, &repo);
    let blaming = Blaming::new(call, &repo);
    let symbol_of = |symbol: &SymbolView<'_>| symbol_of(call, symbol, wanted, &fields, &blaming);
    let mut found = Vec::new();
    for id in &ids {
        found.push(lookup(&repo, id));
    }
    if single {
        match found.pop() {
            Some(Ok((symbols, None))) if symbols.len() == 1 => {
                let answer = symbol_of(&symbols[0]);
                call.found(true);
                call.count(1);
                return Ok(Output::One(Box::new(answer)));
            }
            Some(Err(why)) => return Err(Error::not_found(why.error).with("nearest", why.nearest)),
            other => found.extend(other),
        }
    }
    let (mut symbols, mut errors) = (Vec::new(), Vec::new());
    // Each may fill an answer of its own; those that do not fit beside the others go to the next page.
    for one in found {
        match one {
            Ok((several, rest)) => {
                symbols.extend(several.iter().map(&symbol_of));
                errors.extend(rest);
            }
            Err(error) => errors.push(error),
        }
    }
    call.narrow("get the rest with next_cursor");
    let symbols = call.page(symbols, usize::MAX);
    Ok(Output::Many { symbols, errors })
}

/// The most lines of symbols of one name together, and the most candidates named beside them.
const MOST_LINES: u32 = 150;
const CANDIDATES: usize = 8;

/// Symbols that a text may mean, and what is said of those that have no room.
type Found<'a> = (Vec<SymbolView<'a>>, Option<SymbolError>);

/// The symbol of an id; of a name that several have all of them, as far as they are short, tests last.
fn lookup<'a>(repo: &'a Repo, id: &str) -> Result<Found<'a>, SymbolError> {
    let shown = related::shown(id);
    match query::by_id(&repo.snapshot, id) {
        Ok(symbol) => Ok((vec![symbol], None)),
        Err(Missing::Ambiguous(_)) => {
            let mut symbols = query::meant(&repo.snapshot, id).unwrap_or_default();
            query::keep_whole(&mut symbols, id);
            symbols.sort_by_key(|symbol| symbol.file.is_test());
            let mut lines = 0;
            let fitting = symbols.iter().take_while(|symbol| {
                lines += lines_of(symbol);
                lines <= MOST_LINES
            });
            let rest = symbols.split_off(fitting.count().max(1));
            let nearest: Vec<String> = rest.iter().take(CANDIDATES).map(SymbolView::id).collect();
            let error = format!("{} more are called {shown:?}", rest.len());
            Ok((symbols, (!rest.is_empty()).then_some(SymbolError { id: shown, error, nearest })))
        }
        Err(Missing::Unknown(nearest)) => {
            let (error, nearest) = related::unknown(repo, id, nearest);
            Err(SymbolError { id: shown, error, nearest })
        }
    }
}

/// A symbol as shown in the answer, within a budget: a large type as an outline, any other symbol with as many of its
/// first lines as fit.
fn symbol_of(
    call: &Call<'_>,
    symbol: &SymbolView<'_>,
    wanted: &SourceRequest,
    fields: &Fields,
    blaming: &Blaming<'_, '_>,
) -> Symbol {
    let content = symbol.file.content();
    let span = symbol.span();
    let lines = (symbol.line(), symbol.end_line());
    call.baseline(symbol.file.path(), (content.len(), symbol.file.lines()), lines);
    let bytes = symbol.indented_source();
    let source = symbol.shown();
    let start = (span.end as usize).saturating_sub(bytes.len());
    let detail = symbol.detail().as_str();
    let doc = symbol.docstring();
    let inside = doc.lines().next().is_none_or(|first| source.contains(first));
    let context = wanted.context_lines.min(200) as usize;
    let lossy = |bytes: &[u8]| symbol.file.shown(bytes).into_owned();
    let (above, below) = (content.get(..start), content.get(span.end as usize..));
    let mut answer = Symbol {
        id: symbol.id(),
        kind: symbol.kind().as_str(),
        detail: (detail != symbol.kind().as_str()).then_some(detail),
        name: symbol.name().into_owned(),
        file: symbol.file.path().to_owned(),
        line: symbol.line(),
        source_line: source_line(symbol),
        end_line: symbol.end_line(),
        signature: symbol.signature(300),
        decorators: symbol.decorators(),
        docstring: if inside { String::new() } else { doc },
        before: (context > 0).then(|| lossy(last_lines(above.unwrap_or_default(), context))),
        source: None,
        after: (context > 0).then(|| lossy(first_lines(below.unwrap_or_default(), context))),
        parts: Vec::new(),
        outline: Vec::new(),
        truncated: false,
        rest: None,
        content_hash: None,
        content_verified: None,
        blame: wanted.blame.then(|| blaming.of(symbol)),
        facts: fields.of(symbol),
    };
    if wanted.verify {
        answer.content_hash = Some(hash(symbol));
        let intact = symbol.file.is_intact();
        answer.content_verified = Some(intact);
        call.note("content_verified", intact);
    }
    if let Some(text) = &wanted.around {
        (answer.before, answer.after) = (None, None);
        answer.parts = around(&source, symbol.first_line(), text, if context > 0 { context } else { AROUND });
        if answer.parts.is_empty() {
            answer.rest = Some(format!("{text:?} is not in it"));
            answer.source = Some(String::new());
        }
        return answer;
    }
    within(call, symbol, &source, &mut answer);
    answer
}

/// Adds the source to a symbol's answer, or as much of it as the budget has room for.
fn within(call: &Call<'_>, symbol: &SymbolView<'_>, source: &str, answer: &mut Symbol) {
    let frame = serde_json::to_string(answer).unwrap_or_default();
    let room = |frame: usize| call.max_tokens.saturating_sub(frame + 120);
    // A class is read for its members.
    let is_long_type =
        call.compact && matches!(symbol.kind(), Kind::Class | Kind::Type) && lines_of(symbol) > LONG_TYPE;
    // A byte is at most one token, and six bytes if it is escaped.
    if !is_long_type && 6 * source.len() <= room(frame.len()) {
        answer.source = Some(source.to_owned());
        return;
    }
    let room = room(tokens::estimate(&frame));
    let cost = |text: &str| tokens::estimate(&serde_json::to_string(text).unwrap_or_default());
    let is_fitting = cost(source) <= room;
    let member = |child: SymbolView<'_>| Member { id: child.id(), line: child.line(), signature: child.signature(120) };
    if is_long_type || !is_fitting {
        answer.outline = symbol.children().map(member).collect();
    }
    if answer.outline.len() > 1 {
        let (first, last) = (symbol.first_line(), symbol.end_line());
        answer.truncated = true;
        answer.rest =
            Some(format!("too large: an outline; ask for a member's id, or get_file_content lines {first}-{last}"));
        return;
    }
    answer.outline.clear();
    if is_fitting {
        answer.source = Some(source.to_owned());
        return;
    }
    let (mut shown, mut lines, mut spent) = (String::new(), 0, 0);
    for line in source.split_inclusive('\n') {
        spent += cost(line);
        if spent > room {
            break;
        }
        shown.push_str(line);
        lines += 1;
    }
    let (next, last) = (symbol.first_line() + lines, symbol.end_line());
    answer.truncated = true;
    answer.rest = Some(format!("cut; the rest: get_file_content lines {next}-{last}"));
    answer.source = Some(shown);
}

/// The lines of a type from which on a compact answer has its outline.
const LONG_TYPE: u32 = 120;

/// The number of lines of a symbol.
fn lines_of(symbol: &SymbolView<'_>) -> u32 {
    symbol.end_line() + 1 - symbol.first_line().min(symbol.end_line())
}

/// The lines before and after each line that holds a text, and the most lines together.
const AROUND: usize = 6;
const MOST_AROUND: usize = 200;

/// The lines of a source that hold a text, with so many before and after each.
fn around(source: &str, first: u32, text: &str, context: usize) -> Vec<Part> {
    let lines: Vec<&str> = source.split_inclusive('\n').collect();
    let mut parts: Vec<(usize, usize)> = Vec::new();
    for (place, _) in lines.iter().enumerate().filter(|(_, line)| line.contains(text)) {
        let (from, to) = (place.saturating_sub(context), (place + context + 1).min(lines.len()));
        match parts.last_mut().filter(|(_, end)| from <= *end) {
            Some((_, end)) => *end = to,
            None => parts.push((from, to)),
        }
    }
    let mut left = MOST_AROUND;
    let fits = |(from, to): &(usize, usize)| {
        let rest = left.checked_sub(to - from);
        left = rest.unwrap_or(0);
        rest.is_some()
    };
    let fitting: Vec<(usize, usize)> = parts.into_iter().take_while(fits).collect();
    fitting.iter().map(|(from, to)| Part { line: first + *from as u32, source: lines[*from..*to].concat() }).collect()
}

/// The last `count` lines of a text, and the beginning of the line after.
fn last_lines(text: &[u8], count: usize) -> &[u8] {
    let from = memchr::memrchr_iter(b'\n', text).nth(count).map_or(0, |newline| newline + 1);
    &text[from..]
}

/// The rest of the current line, and the `count` lines after it.
fn first_lines(text: &[u8], count: usize) -> &[u8] {
    let to = memchr::memchr_iter(b'\n', text).nth(count).unwrap_or(text.len());
    &text[..to]
}
