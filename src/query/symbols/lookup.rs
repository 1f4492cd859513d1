//! Finds a symbol or a file by an id, a name or a path, and suggests near ones.

use super::form::bare;
use crate::model::{Detail, Kind, nearness};
use crate::store::{FileView, Snapshot, SymbolView};

/// The reason why an id has no symbol.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Missing {
    /// Several symbols match: their ids.
    Ambiguous(Vec<String>),
    /// No symbol matches: the nearest ids.
    Unknown(Vec<String>),
}

/// The number of candidates in an error.
const CANDIDATES: usize = 5;

/// The symbol with this id. Other accepted forms are `path::Qualified.name` without the kind, a unique name with or
/// without its owner (`Job.run`, `run`), `path:line` within it, and the older form whose path has `-` for every `/` and
/// `.`.
pub fn by_id<'a>(snapshot: &'a Snapshot, id: &str) -> Result<SymbolView<'a>, Missing> {
    let wanted = Wanted::parse(id);
    let files: Vec<FileView<'a>> = match wanted.path {
        Some(path) => match snapshot.file(path.trim_start_matches("./")) {
            Some(file) => vec![file],
            None => snapshot.files().filter(|file| is_slug(path, file.path())).collect(),
        },
        None => Vec::new(),
    };
    let fits = |symbol: &SymbolView<'_>| wanted.fits(symbol);
    let found: Vec<SymbolView<'a>> = match wanted.path {
        Some(_) => files.iter().flat_map(FileView::symbols).filter(fits).collect(),
        None => {
            let bearers = named(snapshot, wanted.name).into_iter().filter(|symbol| wanted.fits_beside_name(symbol));
            let (whole, parts): (Vec<_>, Vec<_>) = bearers.partition(fits);
            if whole.is_empty() { parts } else { whole }
        }
    };
    // Extensions have the name of what they extend.
    let is_extension = |symbol: &SymbolView<'_>| symbol.detail() == Detail::Extension;
    let found = match found.iter().all(is_extension) {
        true => found,
        false => found.into_iter().filter(|symbol| !is_extension(symbol)).collect(),
    };
    match found[..] {
        [only] => Ok(only),
        [] => at_line(snapshot, id).ok_or_else(|| Missing::Unknown(near(snapshot, &wanted, &files))),
        _ => Err(Missing::Ambiguous(found.iter().take(CANDIDATES).map(SymbolView::id).collect())),
    }
}

/// The innermost symbol at `path:line`, as answers print places.
fn at_line<'a>(snapshot: &'a Snapshot, place: &str) -> Option<SymbolView<'a>> {
    let (path, line) = place.rsplit_once(':')?;
    let (file, line) = (snapshot.file(path.trim_start_matches("./"))?, line.parse::<u32>().ok()?);
    let around = file.symbols().filter(|symbol| symbol.first_line() <= line && line <= symbol.end_line());
    around.max_by_key(|symbol| (symbol.first_line(), symbol.number()))
}

/// An id in its parts.
struct Wanted<'a> {
    path: Option<&'a str>,
    name: &'a str,
    kind: Option<Kind>,
    overload: Option<u16>,
}

impl<'a> Wanted<'a> {
    fn parse(id: &'a str) -> Self {
        let (path, rest) = id.rsplit_once("::").map_or((None, id), |(path, rest)| (Some(path), rest));
        let (name, ending) = rest.rsplit_once('#').unwrap_or((rest, ""));
        let (kind, overload) = ending.split_once('~').unwrap_or((ending, ""));
        match Kind::parse(kind) {
            Some(kind) => Self { path, name, kind: Some(kind), overload: overload.parse().ok() },
            // A private name of JavaScript begins with the separator of name and kind.
            None => Self { path, name: rest, kind: None, overload: None },
        }
    }

    /// Excludes most other names without decoding them.
    fn may_end_with(&self, name: &[u8]) -> bool {
        self.name.as_bytes().ends_with(name) || !name.is_ascii()
    }

    fn fits_beside_name(&self, symbol: &SymbolView<'_>) -> bool {
        self.kind.is_none_or(|kind| symbol.kind() == kind)
            && self.overload.is_none_or(|overload| symbol.overload() == overload)
    }

    fn fits(&self, symbol: &SymbolView<'_>) -> bool {
        self.fits_beside_name(symbol) && self.may_end_with(symbol.name_bytes()) && symbol.qualified_name() == self.name
    }
}

/// Whether `slug` is `path` in the older form.
fn is_slug(slug: &str, path: &str) -> bool {
    slug.len() == path.len()
        && slug.bytes().zip(path.bytes()).all(|(a, b)| if b"/.".contains(&b) { a == b'-' } else { a == b })
}

/// Every symbol whose qualified name is this or ends with it: `run`, `Job.run`, `Job::run`. A part of a document is meant
/// only if no code has the name.
pub fn named<'a>(snapshot: &'a Snapshot, qualified: &str) -> Vec<SymbolView<'a>> {
    let mut found = named_last(snapshot, qualified);
    found.retain(|symbol| bears(symbol, qualified));
    let is_code = |symbol: &SymbolView<'_>| !symbol.file.spec().is_document;
    if found.iter().any(is_code) {
        found.retain(is_code);
    }
    found
}

/// Whether a symbol's qualified name is this or ends with it.
pub fn bears(symbol: &SymbolView<'_>, qualified: &str) -> bool {
    if !qualified.contains(['.', ':']) {
        return symbol.name() == qualified;
    }
    let (own, qualified) = (symbol.qualified_name(), qualified.replace("::", "."));
    let before = own.strip_suffix(qualified.as_str());
    before.is_some_and(|before| before.is_empty() || before.ends_with('.')) || symbol.name() == qualified
}

/// Every symbol named like the last part of a qualified name, by path and place: the order in an index depends on which
/// file was read first.
fn named_last<'a>(snapshot: &'a Snapshot, qualified: &str) -> Vec<SymbolView<'a>> {
    let last = qualified.rsplit(['.', ':']).next().unwrap_or(qualified);
    let ids = snapshot.exact(last, 1000, &mut |_| true).unwrap_or_default();
    let mut symbols: Vec<SymbolView<'a>> = ids.into_iter().filter_map(|id| snapshot.symbol(id)).collect();
    symbols.sort_by(by_place);
    symbols
}

/// The order of two symbols by path and place.
fn by_place(a: &SymbolView<'_>, b: &SymbolView<'_>) -> std::cmp::Ordering {
    let place = |symbol: &SymbolView<'_>| symbol.name_span().start;
    a.file.path().cmp(b.file.path()).then_with(|| place(a).cmp(&place(b)))
}

/// Similar ids: of the same name elsewhere, then of a similar name in the same file or anywhere.
fn near(snapshot: &Snapshot, wanted: &Wanted<'_>, files: &[FileView<'_>]) -> Vec<String> {
    let mut candidates: Vec<(f64, String)> = Vec::new();
    let last = wanted.name.rsplit(['.', ':']).next().unwrap_or(wanted.name);
    let mut add = |symbol: SymbolView<'_>, bonus: f64| {
        let whole = nearness(wanted.name, &symbol.qualified_name());
        if let Some(similarity) = whole.into_iter().chain(nearness(last, &symbol.name())).reduce(f64::max) {
            candidates.push((similarity + bonus, symbol.id()));
        }
    };
    for symbol in named_last(snapshot, wanted.name) {
        add(symbol, 0.1);
    }
    for symbol in files.iter().flat_map(FileView::symbols) {
        add(symbol, 0.05);
    }
    if candidates.is_empty() {
        let like = nearest(snapshot, last, CANDIDATES);
        return like.iter().map(SymbolView::id).collect();
    }
    candidates.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
    candidates.dedup_by(|a, b| a.1 == b.1);
    candidates.into_iter().take(CANDIDATES).map(|(_, id)| id).collect()
}

/// The symbols with the most similar names, best first: code before documents. Of a qualified name its last part is looked for, and
/// the rest orders what is found.
pub fn nearest<'a>(snapshot: &'a Snapshot, name: &str, limit: usize) -> Vec<SymbolView<'a>> {
    let name = bare(name);
    let last = name.rsplit(['.', ':', '/']).next().unwrap_or(name);
    let clause = crate::store::Clause::new(crate::store::Field::Trigrams, last, 1.0);
    let found = snapshot.search(&[clause], 50, &mut |_| true).unwrap_or_default();
    let near = |symbol: &SymbolView<'_>| {
        let owned = if last == name { 0.0 } else { strsim::normalized_levenshtein(&symbol.qualified_name(), name) };
        Some(nearness(last, &symbol.name())? + owned)
    };
    let found = found.into_iter().filter_map(|(id, _)| snapshot.symbol(id));
    let mut like: Vec<(f64, SymbolView<'a>)> = found.filter_map(|symbol| Some((near(&symbol)?, symbol))).collect();
    let is_document = |symbol: &SymbolView<'_>| symbol.file.spec().is_document;
    let nearer = |a: &(f64, SymbolView<'_>), b: &(f64, SymbolView<'_>)| b.0.total_cmp(&a.0);
    like.sort_by(|a, b| {
        is_document(&a.1).cmp(&is_document(&b.1)).then_with(|| nearer(a, b)).then_with(|| by_place(&a.1, &b.1))
    });
    let mut seen = std::collections::HashSet::new();
    like.retain(|(_, symbol)| seen.insert(symbol.name().into_owned()));
    like.into_iter().take(limit).map(|(_, symbol)| symbol).collect()
}

/// The most similar paths, best first: those with the same file name, then those spelt alike.
pub fn nearest_files(snapshot: &Snapshot, path: &str, limit: usize) -> Vec<String> {
    let last = |path: &str| path.rsplit('/').next().unwrap_or_default().to_owned();
    let name = last(path);
    let near = |own: &str| {
        let of_name = nearness(&name, &last(own)).or_else(|| nearness(path, own))?;
        Some(of_name + 0.5 * strsim::normalized_levenshtein(own, path))
    };
    let files = snapshot.files().filter_map(|file| Some((near(file.path())?, file.path().to_owned())));
    let mut like: Vec<(f64, String)> = files.collect();
    like.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
    like.into_iter().take(limit).map(|(_, path)| path).collect()
}
