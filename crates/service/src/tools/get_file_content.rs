//! The text of a file, or some of its lines.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::files::unknown_file;
use super::{Call, Error, Tool, ToolTier, indexes, remotes, tokens};
use crate::catalog::remotes::{Age, is_binary};
use codelode_base::model::utf_8_of;
use codelode_lang::languages;

/// Open, view or read the text of a file, all of the file or a range of lines.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// Id, name or path (default: current).
    #[serde(default)]
    repo: Option<String>,
    /// The file.
    file_path: String,
    /// First line, from 1.
    #[serde(default)]
    start_line: Option<u64>,
    /// Last line.
    #[serde(default)]
    end_line: Option<u64>,
}

/// The lines.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Output {
    file: String,
    language: &'static str,
    start_line: u64,
    end_line: u64,
    /// Number of lines of the whole file.
    line_count: u64,
    content: String,
    /// Invalid UTF-8 is shown as `U+FFFD`.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    lossy: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    truncated: bool,
    /// Number of bytes that did not fit of the last line.
    #[serde(skip_serializing_if = "Option::is_none")]
    bytes_left: Option<usize>,
    /// Requested lines that did not fit.
    #[serde(skip_serializing_if = "Option::is_none")]
    left: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
}

/// See [`Args`].
pub struct GetFileContent;

impl Tool for GetFileContent {
    const NAME: &'static str = "get_file_content";
    const COMMAND: &'static str = "file";
    const POSITIONAL: &'static [&'static str] = &["file_path"];
    const SHOWN: Option<ToolTier> = Some(ToolTier::Core);
    type Args = Args;
    type Output = Output;

    fn run(call: &Call<'_>, args: Args) -> Result<Output, Error> {
        if let (Some(first), Some(last)) = (args.start_line, args.end_line)
            && first > last
        {
            let message = format!("start_line {first} comes after end_line {last}; give the smaller one as start_line");
            return Err(Error::invalid_arguments(message));
        }
        if let Some(remote) = remotes::named_remote(call, args.repo.as_deref()) {
            let opened = remotes::open(call, &remote, None, Age::Kept)?;
            let path = remotes::inside(&opened, &args.file_path);
            let bytes = remotes::content(call, &opened, &path)?;
            let bytes = utf_8_of(&bytes).unwrap_or(bytes);
            if is_binary(&bytes) {
                return Err(Error::invalid_arguments(format!("{path} is not text: {} bytes", bytes.len())));
            }
            call.note("commit", opened.found.commit.as_str());
            let language = languages::of_file(&path, &bytes).map_or("text", |(_, spec)| spec.id);
            return Ok(output(call, &args, path, language, &bytes, None));
        }
        let mut repo = indexes::open(call, args.repo.as_deref())?;
        let path = repo.relative(&args.file_path);
        indexes::ensure_fresh(call, &mut repo, [path.as_str()])?;
        let file = repo.snapshot.file(&path).ok_or_else(|| unknown_file(call, &repo, &path))?;
        Ok(output(call, &args, path.clone(), file.language(), file.content(), Some(u64::from(file.lines()))))
    }
}

/// The requested lines, as many as fit.
fn output(
    call: &Call<'_>,
    args: &Args,
    path: String,
    language: &'static str,
    bytes: &[u8],
    lines: Option<u64>,
) -> Output {
    let text = String::from_utf8_lossy(bytes);
    let lossy = matches!(text, std::borrow::Cow::Owned(_));
    let line_count = lines.unwrap_or_else(|| text.lines().count() as u64);
    let asked_from = args.start_line.unwrap_or(1).clamp(1, line_count.max(1));
    let first = (asked_from + call.offset as u64).min(line_count.max(1));
    let last = args.end_line.unwrap_or(line_count).clamp(first, line_count.max(first));
    let wanted = (last + 1 - first) as usize;

    let mut content = String::new();
    let (mut given, mut spent, mut bytes_left) = (0, 150, None);
    for line in text.split_inclusive('\n').skip(first as usize - 1).take(wanted) {
        // A line costs a little more as JSON than as text: quotes, tabs and the newline are escaped.
        let escaped = serde_json::to_string(line).unwrap_or_default();
        let cost = tokens::estimate(&escaped);
        if spent + cost > call.max_tokens {
            if given == 0 {
                let start = beginning(line, call.max_tokens.saturating_sub(spent));
                content.push_str(start);
                bytes_left = Some(line.len() - start.len());
                given = 1;
            }
            break;
        }
        spent += cost;
        content.push_str(line);
        given += 1;
    }
    let left = (wanted - given) as u64;
    let cut = left > 0 && line_count > 0;
    let line = |number: u64| u32::try_from(number).unwrap_or(u32::MAX);
    call.baseline(&path, (bytes.len(), line(line_count)), (line(first), line(first + given as u64)));
    call.count(given);
    Output {
        file: path,
        language,
        start_line: first,
        end_line: (first + given as u64).saturating_sub(1).max(first),
        line_count,
        content,
        lossy,
        truncated: cut || bytes_left.is_some(),
        bytes_left,
        left: cut.then_some(left),
        next_cursor: cut.then(|| call.cursor(call.offset + given)),
    }
}

/// The beginning of a line that costs so many tokens at most.
fn beginning(line: &str, tokens: usize) -> &str {
    let fits = |end: usize| {
        let escaped = serde_json::to_string(&line[..line.floor_char_boundary(end)]).unwrap_or_default();
        tokens::estimate(&escaped) <= tokens
    };
    // A token has at least one byte.
    let (mut fitting, mut too_long) = (0, line.len() + 1);
    let mut step = tokens.max(1);
    while too_long - fitting > tokens / 16 + 1 {
        let end = (fitting + step).min(too_long - 1).max(fitting + 1);
        match fits(end) {
            true => (fitting, step) = (end, step * 2),
            false => (too_long, step) = (end, ((end - fitting) / 2).max(1)),
        }
    }
    &line[..line.floor_char_boundary(fitting)]
}
