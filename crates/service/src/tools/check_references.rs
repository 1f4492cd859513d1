//! Whether a name is used anywhere.

use std::collections::{BTreeMap, HashSet};
use std::time::{Duration, Instant};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::indexes::Repo;
use super::{Call, Error, Tool, ToolTier, related};
use codelode_base::model::Role;
use codelode_query::{self as query, UseSite};
use codelode_store::{EdgeTable, FileView};

/// Check whether anything refers to a name anywhere, before an identifier is deleted: imports, uses, mentions.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// Id, name or path (default: current).
    #[serde(default)]
    repo: Option<String>,
    /// The name.
    #[serde(default)]
    identifier: Option<String>,
    /// Several names.
    #[serde(default)]
    identifiers: Option<Vec<String>>,
    /// Include comments and strings.
    #[serde(default = "yes")]
    search_content: bool,
    /// Limit of text lines per name.
    #[serde(default = "twenty")]
    #[schemars(extend("x-hidden" = "client"))]
    max_content_results: u32,
}

fn yes() -> bool {
    true
}

fn twenty() -> u32 {
    20
}

/// One name, or each of several.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum Output {
    /// The answer for `identifier`.
    One(Box<Checked>),
    /// The answer for `identifiers`.
    Many {
        /// One answer for each name, in the order asked.
        results: Vec<Checked>,
    },
}

/// References to a name.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Checked {
    identifier: String,
    is_referenced: bool,
    /// Number of symbols with this name.
    definitions: usize,
    /// Number of resolved uses, imports excluded.
    resolved_count: usize,
    import_count: usize,
    /// `path:line` of each import of the name.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    import_references: Vec<String>,
    /// Lines with the name, definitions and imports excluded.
    #[serde(skip_serializing_if = "Option::is_none")]
    content_count: Option<usize>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    content_references: Vec<InFile>,
}

/// A file that mentions the name.
#[derive(Debug, Serialize, JsonSchema)]
pub struct InFile {
    file: String,
    matches: Vec<Line>,
}

/// A line with the name.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Line {
    line: u32,
    text: String,
    /// `resolved`: a use of such a definition; `name`: only the spelling matches.
    confidence: &'static str,
}

/// See [`Args`].
pub struct CheckReferences;

/// Names that are still waiting then are given back unchecked.
const LONGEST: Duration = Duration::from_secs(5);
/// The most imports listed.
const MOST_IMPORTS: usize = 20;
/// The most characters of a line.
const TEXT: usize = 100;

impl Tool for CheckReferences {
    const NAME: &'static str = "check_references";
    const COMMAND: &'static str = "check";
    const POSITIONAL: &'static [&'static str] = &["identifiers"];
    const SHOWN: Option<ToolTier> = Some(ToolTier::Full);
    const LIST: Option<&'static str> = Some("content_references");
    type Args = Args;
    type Output = Output;

    fn run(call: &Call<'_>, args: Args) -> Result<Output, Error> {
        let mut names: Vec<&str> =
            args.identifier.iter().chain(args.identifiers.iter().flatten()).map(String::as_str).collect();
        let mut seen = HashSet::new();
        names.retain(|name| seen.insert(*name));
        if names.is_empty() {
            return Err(Error::invalid_arguments("give `identifier`, or `identifiers` for several"));
        }
        let mut results = related::answer(call, args.repo.as_deref(), |repo, edges| {
            let end = Instant::now() + LONGEST;
            // At least one, so that asking for the rest leads somewhere.
            let in_time = names.iter().enumerate().take_while(|(place, _)| *place == 0 || Instant::now() < end);
            let results: Vec<Checked> = in_time.map(|(_, name)| check(repo, edges, name, &args)).collect();
            let defined: Vec<_> = names.iter().flat_map(|name| related::named(repo, name)).collect();
            let mut cut_off = query::cut_off(&repo.snapshot, &defined);
            let unknown = names.iter().filter(|name| related::named(repo, name).is_empty());
            cut_off.extend(unknown.flat_map(|name| query::cut_off_with(&repo.snapshot, name)));
            related::note_cut_off(call, &cut_off);
            let files = results.iter().flat_map(|checked| &checked.content_references).map(|file| file.file.clone());
            let files = files.collect();
            let is_absent = results.iter().any(|checked| !checked.is_referenced);
            if is_absent {
                related::note_unread(call, repo);
            }
            related::note_not_read(call, repo, is_absent);
            call.absent(is_absent);
            Ok((results, files))
        })?;
        call.found(results.iter().any(|checked| checked.is_referenced));
        call.narrow("give search_content false, or fewer names");
        if results.len() < names.len() {
            call.note("timed_out", true);
            call.note("not_checked", &names[results.len()..]);
        }
        if let ([_], Some(_)) = (&results[..], &args.identifier) {
            let one = results.remove(0);
            let content_references = call.page(one.content_references, usize::MAX);
            return Ok(Output::One(Box::new(Checked { content_references, ..one })));
        }
        call.list("results");
        Ok(Output::Many { results: call.page(results, usize::MAX) })
    }
}

fn check(repo: &Repo, edges: &EdgeTable, name: &str, args: &Args) -> Checked {
    let snapshot = &repo.snapshot;
    let definitions = related::named(repo, name);
    // An id is written nowhere, and the name in it is.
    let of_id = definitions.first().filter(|symbol| !query::bears(symbol, name)).map(|symbol| symbol.name());
    let written = of_id.as_deref().unwrap_or(name);
    let own: HashSet<(u32, u32)> =
        definitions.iter().map(|symbol| (symbol.file.number(), symbol.name_span().start)).collect();
    let uses: Vec<UseSite<'_>> =
        definitions.iter().flat_map(|symbol| query::uses(snapshot, edges, symbol.number())).collect();
    let (mut imports, uses): (Vec<UseSite<'_>>, Vec<UseSite<'_>>) =
        uses.into_iter().partition(|place| place.edge.role() == Role::Import);
    imports.sort_by_key(|place| (place.file.path(), place.line));
    let key = |place: &UseSite<'_>| (place.edge.file, place.edge.at);
    let imported: HashSet<(u32, u32)> = imports.iter().map(key).collect();
    let resolved: HashSet<(u32, u32)> = uses.iter().map(key).collect();
    let mut import_references: Vec<String> =
        imports.iter().map(|place| format!("{}:{}", place.file.path(), place.line)).collect();
    import_references.dedup();
    let import_count = import_references.len();
    import_references.truncate(MOST_IMPORTS);
    let mut content_references = Vec::new();
    let (mut content_count, mut left) = (0, args.max_content_results as usize);
    if args.search_content {
        for mentioned in query::mentions(snapshot, written) {
            let file = mentioned.file;
            let mut lines: BTreeMap<u32, Line> = BTreeMap::new();
            let mut count = query::LineCount::default();
            for at in mentioned.at {
                let place = (file.number(), at);
                if own.contains(&place) || imported.contains(&place) {
                    continue;
                }
                let is_resolved = resolved.contains(&place);
                let line = count.line_of(file.content(), at);
                let entry =
                    lines.entry(line).or_insert_with(|| Line { line, text: text(file, at), confidence: "name" });
                if is_resolved {
                    entry.confidence = "resolved";
                }
            }
            content_count += lines.len();
            let matches: Vec<Line> = lines.into_values().take(left).collect();
            left -= matches.len();
            if !matches.is_empty() {
                content_references.push(InFile { file: file.path().to_owned(), matches });
            }
        }
    }
    Checked {
        identifier: name.to_owned(),
        is_referenced: !resolved.is_empty() || import_count + content_count > 0,
        definitions: definitions.len(),
        resolved_count: resolved.len(),
        import_count,
        import_references,
        content_count: args.search_content.then_some(content_count),
        content_references,
    }
}

/// The line's text, trimmed.
fn text(file: FileView<'_>, at: u32) -> String {
    query::line_text(file, at).chars().take(TEXT).collect()
}
