//! Structure of files, without their text.

use std::collections::HashSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::fields::{Facts, Fields};
use super::files::unknown_file;
use super::indexes::{self, Repo};
use super::{Call, Error, SIGNATURE, SUMMARY, Tool, ToolTier, related};
use codelode_base::model::Kind;
use codelode_query as query;
use codelode_store::{FileView, SymbolView};

/// Show the structure of a file: all symbols (functions, classes, methods) that it contains, an overview or table of
/// contents with signatures, without code.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// Id, name or path (default: current).
    #[serde(default)]
    repo: Option<String>,
    /// File, or a symbol for its part alone.
    #[serde(default)]
    file_path: Option<String>,
    /// Several files.
    #[serde(default)]
    file_paths: Option<Vec<String>>,
    /// As in search_symbols.
    #[serde(default)]
    #[schemars(extend("x-rare" = true))]
    fields: Option<Vec<String>>,
}

/// One outline, or one for each file.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum Output {
    /// The outline of `file_path`.
    One(Outline),
    /// The answer for `file_paths`.
    Many {
        /// One answer for each, in the order asked.
        results: Vec<Outline>,
        /// Files that are not indexed.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        errors: Vec<FileError>,
    },
}

/// Symbols of a file. In a file of mostly declarations, signatures and summaries are shortened and constants lack
/// values, so that the outline stays cheaper than the file.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Outline {
    file: String,
    /// Purpose of the file, from its first comment or a model; at most 120 letters.
    #[serde(skip_serializing_if = "String::is_empty")]
    summary: String,
    language: &'static str,
    line_count: u32,
    /// Part of the file has syntax errors.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    has_errors: bool,
    /// Symbols are missing: the file exceeds a limit.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    is_cut: bool,
    /// From the cursor on. A member comes without its class if that was on an earlier page.
    symbols: Vec<Item>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    truncated: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    total: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    left: Option<usize>,
}

/// A file whose outline failed, with the error.
#[derive(Debug, Serialize, JsonSchema)]
pub struct FileError {
    file: String,
    error: String,
}

/// A symbol with its members.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Item {
    id: String,
    kind: &'static str,
    name: String,
    signature: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    summary: String,
    line: u32,
    end_line: u32,
    /// Fields and other values of a type, as declared.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    attributes: Vec<String>,
    #[serde(flatten)]
    facts: Facts,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    children: Vec<Item>,
}

/// Lengths of texts in an outline, in letters.
#[derive(Clone, Copy)]
struct Lengths {
    signature: usize,
    summary: usize,
    attribute: usize,
    /// Whether constants come with their values.
    values: bool,
}

impl Lengths {
    /// Lengths of rows that are read one by one.
    fn brief(self) -> Self {
        Self { signature: self.signature.min(100), summary: self.summary.min(60), ..self }
    }
}

/// Lengths from the richest outline to the poorest.
const LENGTHS: [Lengths; 5] = [
    Lengths { signature: SIGNATURE, summary: SUMMARY, attribute: 60, values: true },
    Lengths { signature: SIGNATURE, summary: 60, attribute: 40, values: true },
    Lengths { signature: 120, summary: 0, attribute: 40, values: false },
    Lengths { signature: 80, summary: 0, attribute: 0, values: false },
    Lengths { signature: 50, summary: 0, attribute: 0, values: false },
];

/// The compact rows of an outline have at most this share of their file's bytes, in percent. A row has fewer bytes to
/// a token than code has, so this is a quarter of its tokens.
const SHARE: usize = 20;
/// Files of fewer bytes, about a thousand tokens, are not cut to their share: a page would hold a handful of rows.
const LARGE: usize = 3_300;

/// Tokens of an answer around its symbols.
const FRAME: usize = 90;
/// The fewest bytes to a token.
const BYTES: usize = 3;

/// Maximum number of attributes in the row of their type.
const MOST_ATTRIBUTES: usize = 200;

/// See [`Args`].
pub struct GetFileOutline;

impl Tool for GetFileOutline {
    const NAME: &'static str = "get_file_outline";
    const COMMAND: &'static str = "outline";
    const POSITIONAL: &'static [&'static str] = &["file_paths"];
    const SHOWN: Option<ToolTier> = Some(ToolTier::Lean);
    type Args = Args;
    type Output = Output;

    fn run(call: &Call<'_>, args: Args) -> Result<Output, Error> {
        let fields = Fields::read(args.fields.as_deref())?.with_detail(call.compact);
        let paths = match (args.file_path, args.file_paths) {
            (Some(_), Some(_)) => {
                return Err(Error::invalid_arguments("give `file_path` or `file_paths`, not both"));
            }
            (None, None) => {
                return Err(Error::invalid_arguments("give `file_path`, or `file_paths` for several"));
            }
            (Some(path), None) => vec![path],
            (None, Some(paths)) => paths,
        };
        let mut repo = indexes::open(call, args.repo.as_deref())?;
        if let Some((path, names)) = in_one_file(&repo, &paths) {
            return one(call, repo, path, &names, &fields);
        }
        let paths: Vec<String> = paths.iter().map(|path| repo.relative(path)).collect();
        indexes::ensure_fresh(call, &mut repo, paths.iter().map(String::as_str))?;
        fields.know(call, &repo);
        let (mut results, mut errors, mut count) = (Vec::new(), Vec::new(), 0);
        for path in paths {
            match repo.snapshot.file(&path) {
                Some(file) => {
                    let rows = rows(call, file, &fields);
                    count += rows.len();
                    results.push(outline(call, file, nested(rows)));
                }
                None => errors.push(FileError { error: unknown_file(call, &repo, &path).message, file: path }),
            }
        }
        call.found(!results.is_empty());
        call.count(count);
        call.list("results");
        call.narrow("ask for one file, then get the rest with next_cursor");
        Ok(Output::Many { results: call.page(results, usize::MAX), errors })
    }
}

/// The file of an outline, with the symbols that alone are wanted of it: a path; a path and names in it (`cart.py Cart`);
/// or a symbol, by its name or id. `None` where several files are meant.
fn in_one_file(repo: &Repo, texts: &[String]) -> Option<(String, Vec<String>)> {
    let (first, others) = texts.split_first()?;
    let path = repo.relative(first);
    let Some(file) = repo.snapshot.file(&path) else {
        let [] = others else { return None };
        let found = related::named(repo, first);
        let only = found.first().filter(|only| found.iter().all(|other| other.file.number() == only.file.number()));
        return Some(only.map_or((path, Vec::new()), |only| {
            (only.file.path().to_owned(), found.iter().map(SymbolView::qualified_name).collect())
        }));
    };
    let is_in_it = |name: &String| {
        repo.snapshot.file(&repo.relative(name)).is_none() && file.symbols().any(|symbol| query::bears(&symbol, name))
    };
    others.iter().all(is_in_it).then(|| (path, others.to_vec()))
}

/// Keeps the rows of symbols of these names, and of what is inside them.
fn keep(rows: &mut Vec<Row>, file: FileView<'_>, names: &[String]) {
    let is_wanted = |symbol: &SymbolView<'_>| names.iter().any(|name| query::bears(symbol, name));
    rows.retain(|row| {
        std::iter::successors(file.symbol(row.index), SymbolView::parent).any(|symbol| is_wanted(&symbol))
    });
}

fn one(call: &Call<'_>, mut repo: Repo, path: String, names: &[String], fields: &Fields) -> Result<Output, Error> {
    indexes::ensure_fresh(call, &mut repo, [path.as_str()])?;
    let file = repo.snapshot.file(&path).ok_or_else(|| unknown_file(call, &repo, &path))?;
    call.narrow("get the rest with next_cursor; or ask get_symbol_source for one id");
    fields.know(call, &repo);
    let mut rows = rows(call, file, fields);
    if !names.is_empty() {
        keep(&mut rows, file, names);
    }
    let total = rows.len();
    call.count(total);
    call.found(true);
    rows.drain(..call.offset.min(total));
    let is_cut = call.compact && names.is_empty() && file.content().len() >= LARGE;
    let room = call.max_tokens.saturating_sub(FRAME + SUMMARY / BYTES).saturating_mul(BYTES);
    let room = if is_cut { room.min(share(file)) } else { room };
    let mut spent = 0;
    let fitting = rows.iter().take_while(|row| {
        spent += row.bytes(call.compact);
        spent <= room
    });
    let given = fitting.count().max(1).min(rows.len());
    rows.truncate(given);
    let mut outline = outline(call, file, nested(rows));
    let reached = call.offset + given;
    if given > 0 && reached < total {
        outline.truncated = true;
        outline.total = Some(total);
        outline.left = Some(total - reached);
        outline.next_cursor = Some(call.cursor(reached));
    }
    Ok(Output::One(outline))
}

fn outline(call: &Call<'_>, file: FileView<'_>, symbols: Vec<Item>) -> Outline {
    call.baseline(file.path(), (file.content().len(), file.lines()), (1, file.lines()));
    Outline {
        file: file.path().to_owned(),
        summary: file.own_description(SUMMARY),
        language: file.language(),
        line_count: file.lines(),
        has_errors: file.has_errors(),
        is_cut: file.is_cut(),
        symbols,
        truncated: false,
        total: None,
        next_cursor: None,
        left: None,
    }
}

/// A symbol before it is nested.
struct Row {
    index: u32,
    /// Index of the enclosing symbol.
    parent: Option<u32>,
    item: Item,
}

impl Row {
    /// About its length in an answer.
    fn bytes(&self, compact: bool) -> usize {
        /// Keys, quotes and braces in JSON.
        const KEYS: usize = 100;
        let Item { id, name, signature, summary, attributes, facts, .. } = &self.item;
        let attributes: usize = attributes.iter().map(|attribute| attribute.len() + 4).sum();
        let facts = serde_json::to_string(facts).map_or(0, |facts| facts.len());
        let others = if compact { AROUND } else { KEYS + id.len() + name.len() };
        // Letters beyond ASCII may have a token each.
        let beyond = |text: &str| text.bytes().filter(|byte| !byte.is_ascii()).count();
        let texts = signature.len() + summary.len() + 2 * (beyond(signature) + beyond(summary));
        texts + attributes + facts + others
    }
}

/// Bytes of a compact row beside its texts: lines, kind, spaces.
const AROUND: usize = 17;

/// The bytes that a file's compact outline may have, without what is around the rows.
fn share(file: FileView<'_>) -> usize {
    let around = FRAME * BYTES + file.path().len() + file.own_description(SUMMARY).len();
    (file.content().len() * SHARE / 100).saturating_sub(around)
}

/// The longest texts that are likely to keep a file's outline to its share, by the lengths of what is written there.
fn lengths(file: FileView<'_>, symbols: &[SymbolView<'_>], folded: &[Vec<usize>], shown: &[usize]) -> Lengths {
    let most = share(file);
    let signature = |place: usize| symbols[place].signature_source().len();
    let fits = |lengths: &&Lengths| {
        let attribute = |place: &usize| match lengths.attribute {
            0 => symbols[*place].name_bytes().len() + 2,
            most => signature(*place).min(most) + 2,
        };
        let row = |place: &usize| {
            let symbol = &symbols[*place];
            let attributes: usize = folded[*place].iter().map(attribute).sum();
            let summary = symbol.doc_source().len().min(lengths.summary);
            AROUND + signature(*place).min(lengths.signature) + summary + attributes
        };
        shown.iter().map(row).sum::<usize>() <= most
    };
    *LENGTHS.iter().find(fits).unwrap_or(&LENGTHS[LENGTHS.len() - 1])
}

/// The symbols of a file in source order.
fn rows(call: &Call<'_>, file: FileView<'_>, fields: &Fields) -> Vec<Row> {
    let symbols: Vec<SymbolView<'_>> = file.symbols().collect();
    let folded = attributes(&symbols);
    let is_folded: HashSet<usize> = folded.iter().flatten().copied().collect();
    let shown: Vec<usize> = (0..symbols.len()).filter(|place| !is_folded.contains(place)).collect();
    // Programs and people get whole texts.
    let lengths = match call.compact && !call.request.for_people {
        true => lengths(file, &symbols, &folded, &shown).brief(),
        false => LENGTHS[0],
    };
    let row = |place: usize| {
        let symbol = &symbols[place];
        Row {
            index: place as u32,
            parent: symbol.parent().map(|parent| parent.number().index),
            item: Item {
                id: symbol.id(),
                kind: symbol.kind().as_str(),
                name: symbol.name().into_owned(),
                signature: signature(symbol, lengths),
                summary: if lengths.summary > 0 { symbol.summary(lengths.summary) } else { String::new() },
                line: symbol.line(),
                end_line: symbol.end_line(),
                attributes: folded[place].iter().map(|at| attribute(&symbols[*at], lengths.attribute)).collect(),
                facts: fields.of(symbol),
                children: Vec::new(),
            },
        }
    };
    shown.into_iter().map(row).collect()
}

/// A symbol's signature, with its whole name; of a constant, where texts are short, the declaration alone.
fn signature(symbol: &SymbolView<'_>, lengths: Lengths) -> String {
    let name = symbol.name_span().end.saturating_sub(symbol.signature_start()) as usize + 2;
    let most = lengths.signature.max(name.min(SIGNATURE));
    if lengths.values || symbol.kind() != Kind::Constant {
        return symbol.signature(most);
    }
    let declared = declared(symbol);
    if declared.chars().count() <= most { declared } else { symbol.signature(most) }
}

/// A declaration without its value.
fn declared(symbol: &SymbolView<'_>) -> String {
    let mut declared = symbol.signature(SIGNATURE);
    let end = declared.split(" = ").next().unwrap_or_default().trim_end_matches([',', ';', ' ', '=']).len();
    declared.truncate(end);
    declared
}

/// For each symbol the attributes that are shown in its row: values that belong to a type and hold nothing themselves.
/// A type with very many has a row for each instead, so that they come in pages.
fn attributes(symbols: &[SymbolView<'_>]) -> Vec<Vec<usize>> {
    let parents: Vec<Option<usize>> =
        symbols.iter().map(|symbol| symbol.parent().map(|parent| parent.number().index as usize)).collect();
    let holders: HashSet<usize> = parents.iter().copied().flatten().collect();
    let mut attributes: Vec<Vec<usize>> = vec![Vec::new(); symbols.len()];
    for (place, parent) in parents.iter().enumerate() {
        if let Some(parent) = *parent
            && symbols[place].kind() == Kind::Constant
            && matches!(symbols[parent].kind(), Kind::Class | Kind::Type)
            && !holders.contains(&place)
        {
            attributes[parent].push(place);
        }
    }
    attributes.iter_mut().filter(|all| all.len() > MOST_ATTRIBUTES).for_each(Vec::clear);
    attributes
}

/// An attribute's declaration without its value, or its name if that is too long.
fn attribute(symbol: &SymbolView<'_>, most: usize) -> String {
    let name = symbol.name().into_owned();
    if most == 0 {
        return name;
    }
    let declared = declared(symbol);
    if declared.contains(&name) && declared.chars().count() <= most { declared } else { name }
}

/// Symbols in source order, each below the one that encloses it.
fn nested(mut rows: Vec<Row>) -> Vec<Item> {
    // Symbols precede what they enclose, so one that is taken from the end has all of its own already.
    let mut top = Vec::new();
    while let Some(Row { parent, mut item, .. }) = rows.pop() {
        item.children.reverse();
        let around = parent.and_then(|parent| rows.binary_search_by_key(&parent, |row| row.index).ok());
        match around {
            Some(around) => rows[around].item.children.push(item),
            None => top.push(item),
        }
    }
    top.reverse();
    top
}
