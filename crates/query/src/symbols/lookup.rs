//! Finds a symbol or a file by id, name or path, and suggests similar ones.

use globset::GlobMatcher;

use super::form::bare;
use super::terms;
use codelode_base::model::{Detail, Kind, names_kind, nearness};
use codelode_lang::languages;
use codelode_store::{FileView, Snapshot, SymbolView};

/// The reason why an id did not yield a symbol.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Missing {
    /// Several symbols match: their ids.
    Ambiguous(Vec<String>),
    /// No symbol matches: the nearest ids.
    Unknown(Vec<String>),
}

/// The most candidates in an error.
const CANDIDATES: usize = 5;

/// The symbol with this id, or the only one that [`meant`] finds for another form.
pub fn by_id<'a>(snapshot: &'a Snapshot, id: &str) -> Result<SymbolView<'a>, Missing> {
    let mut found = meant(snapshot, id).map_err(Missing::Unknown)?;
    keep_whole(&mut found, id);
    match found[..] {
        [only] => Ok(only),
        _ => Err(Missing::Ambiguous(found.iter().take(CANDIDATES).map(SymbolView::id).collect())),
    }
}

/// Finds every symbol that a text may mean, by path and place. An `Err` holds the nearest ids.
///
/// The text may be an id, also without kind, overload number or owners (`path::name`). It may be a name (`Job.run`,
/// `run`, and behind its module, `shop.jobs.Job.run`), a place (`path:line`), or an id in the older form with `-` for `/` and `.` in its path. `kind:`, `lang:`,
/// `file:` and `-file:` after it narrow the result.
pub fn meant<'a>(snapshot: &'a Snapshot, text: &str) -> Result<Vec<SymbolView<'a>>, Vec<String>> {
    let narrowed = Narrowed::parse(text);
    let id = narrowed.id.as_str();
    let wanted = Wanted::parse(id);
    let files: Vec<FileView<'a>> = match wanted.path {
        Some(path) => match snapshot.file(path.trim_start_matches("./")) {
            Some(file) => vec![file],
            None => snapshot.files().filter(|file| is_slug(path, file.path())).collect(),
        },
        None => Vec::new(),
    };
    let bearers: Vec<SymbolView<'a>> = match wanted.path {
        Some(_) => files.iter().flat_map(FileView::symbols).filter(|symbol| wanted.fits_name(symbol)).collect(),
        None => named(snapshot, wanted.name),
    };
    let mut found: Vec<SymbolView<'a>> =
        bearers.into_iter().filter(|symbol| wanted.fits_beside_name(symbol) && narrowed.fits(symbol)).collect();
    if wanted.path.is_some() {
        keep_if_any(&mut found, |symbol| symbol.qualified_name() == wanted.name);
    }
    if found.is_empty() {
        found.extend(at_line(snapshot, id));
    }
    // In Rust's form, a type or a module looks like the path of an id.
    if found.is_empty() && files.is_empty() {
        let name = id.split('#').next().unwrap_or(id);
        let mut bearers = named(snapshot, name);
        if bearers.is_empty() {
            bearers = named_with_module(snapshot, name);
        }
        found.extend(bearers.into_iter().filter(|symbol| wanted.fits_beside_name(symbol) && narrowed.fits(symbol)));
    }
    if found.is_empty() { Err(near(snapshot, &wanted, &files)) } else { Ok(found) }
}

/// Keeps symbols whose whole qualified name is the text, if there are any.
pub fn keep_whole(symbols: &mut Vec<SymbolView<'_>>, text: &str) {
    let narrowed = Narrowed::parse(text);
    let name = Wanted::parse(&narrowed.id).name;
    keep_if_any(symbols, |symbol| symbol.qualified_name() == name);
    // An extension has the same name as the type that it extends.
    keep_if_any(symbols, |symbol| symbol.detail() != Detail::Extension);
}

/// Keeps the symbols that fit, if any do.
fn keep_if_any(symbols: &mut Vec<SymbolView<'_>>, fits: impl Fn(&SymbolView<'_>) -> bool) {
    if symbols.iter().any(&fits) {
        symbols.retain(fits);
    }
}

/// A symbol's text and the filter terms after it.
struct Narrowed {
    id: String,
    kinds: Vec<String>,
    languages: Vec<String>,
    files: Vec<GlobMatcher>,
    other_files: Vec<GlobMatcher>,
}

impl Narrowed {
    fn parse(text: &str) -> Self {
        // A path may contain spaces, so the text is only split if it has terms.
        let terms = terms::parse(text);
        let has_terms =
            [&terms.kinds, &terms.languages, &terms.files, &terms.other_files].iter().any(|all| !all.is_empty());
        let globs = |values: &[String]| values.iter().filter_map(|value| terms::file_glob(value).ok()).collect();
        match has_terms && !terms.text.is_empty() {
            true => Self {
                files: globs(&terms.files),
                other_files: globs(&terms.other_files),
                id: terms.text,
                kinds: terms.kinds,
                languages: terms.languages.iter().map(|language| languages::named(language)).collect(),
            },
            false => Self {
                id: text.to_owned(),
                kinds: Vec::new(),
                languages: Vec::new(),
                files: Vec::new(),
                other_files: Vec::new(),
            },
        }
    }

    fn fits(&self, symbol: &SymbolView<'_>) -> bool {
        let path = symbol.file.path();
        (self.kinds.is_empty() || self.kinds.iter().any(|kind| names_kind(kind, symbol.kind(), symbol.detail())))
            && (self.languages.is_empty() || self.languages.iter().any(|language| symbol.file.language() == language))
            && self.files.iter().all(|glob| glob.is_match(path))
            && !self.other_files.iter().any(|glob| glob.is_match(path))
    }
}

/// The innermost symbol at `path:line`, as answers write places.
fn at_line<'a>(snapshot: &'a Snapshot, place: &str) -> Option<SymbolView<'a>> {
    let (path, line) = place.rsplit_once(':')?;
    let (file, line) = (snapshot.file(path.trim_start_matches("./"))?, line.parse::<u32>().ok()?);
    let around = file.symbols().filter(|symbol| symbol.first_line() <= line && line <= symbol.end_line());
    around.max_by_key(|symbol| (symbol.first_line(), symbol.number()))
}

/// The parts of an id.
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
            // A private name of JavaScript begins with `#`, which also separates name and kind.
            None => Self { path, name: rest, kind: None, overload: None },
        }
    }

    fn fits_beside_name(&self, symbol: &SymbolView<'_>) -> bool {
        self.kind.is_none_or(|kind| symbol.kind() == kind)
            && self.overload.is_none_or(|overload| symbol.overload() == overload)
    }

    /// Whether a symbol has this name, with or without owners. The last part is compared first, without decoding.
    fn fits_name(&self, symbol: &SymbolView<'_>) -> bool {
        let own = symbol.name_bytes();
        let may_end = self.name.as_bytes().ends_with(own) || !own.is_ascii();
        may_end && (symbol.qualified_name() == self.name || bears(symbol, self.name))
    }
}

/// Whether `slug` is `path` in the older form.
fn is_slug(slug: &str, path: &str) -> bool {
    slug.len() == path.len()
        && slug.bytes().zip(path.bytes()).all(|(a, b)| if b"/.".contains(&b) { a == b'-' } else { a == b })
}

/// Every symbol whose qualified name equals or ends with this: `run`, `Job.run`, `Job::run`. A part of a document only
/// counts if no code matches.
pub fn named<'a>(snapshot: &'a Snapshot, qualified: &str) -> Vec<SymbolView<'a>> {
    let mut found = named_last(snapshot, qualified);
    found.retain(|symbol| bears(symbol, qualified));
    let is_code = |symbol: &SymbolView<'_>| !symbol.file.spec().is_document;
    if found.iter().any(is_code) {
        found.retain(is_code);
    }
    found
}

/// Symbols behind the module that a name begins with, as imports write it: `shop.cart.total`, `cart::total`, in Go
/// `cart.Total`. A module is a file or its folder.
fn named_with_module<'a>(snapshot: &'a Snapshot, qualified: &str) -> Vec<SymbolView<'a>> {
    let parts: Vec<&str> = qualified.split(['.', ':']).filter(|part| !part.is_empty()).collect();
    let mut found = named_last(snapshot, qualified);
    found.retain(|symbol| {
        let own = symbol.qualified_name();
        let own: Vec<&str> = own.split('.').collect();
        parts.strip_suffix(own.as_slice()).is_some_and(|module| is_module(module, symbol.file.path()))
    });
    found
}

/// Whether a file or its folder is this module. The first of many parts may be the package's name, which no folder has.
fn is_module(module: &[&str], path: &str) -> bool {
    const MANY: usize = 3;
    let module = module.strip_prefix(&["crate"]).unwrap_or(module);
    let without_first = module.get(1..).filter(|_| module.len() >= MANY);
    let mut file: Vec<&str> = path.split('/').collect();
    let name = file.pop().unwrap_or_default();
    let folder = file.clone();
    file.push(name.split_once('.').map_or(name, |(stem, _)| stem));
    let ends = |place: &[&str]| {
        let lies_there = |module: &[&str]| !module.is_empty() && place.ends_with(module);
        lies_there(module) || without_first.is_some_and(lies_there)
    };
    ends(&file) || ends(&folder)
}

/// Whether a symbol's qualified name equals or ends with this.
pub fn bears(symbol: &SymbolView<'_>, qualified: &str) -> bool {
    if !qualified.contains(['.', ':']) {
        return symbol.name() == qualified;
    }
    let (own, qualified) = (symbol.qualified_name(), qualified.replace("::", "."));
    let before = own.strip_suffix(qualified.as_str());
    before.is_some_and(|before| before.is_empty() || before.ends_with('.'))
        || symbol.name() == qualified
        || is_written_with(symbol, &qualified)
}

/// Whether a definition writes this owner before its name, without lying inside it: `fun Booking.close()`.
fn is_written_with(symbol: &SymbolView<'_>, qualified: &str) -> bool {
    let Some((owner, _)) = qualified.rsplit_once('.').filter(|(_, name)| symbol.name() == *name) else { return false };
    let start = symbol.name_span().start as usize;
    let Some(before) = symbol.file.content().get(..start).and_then(|text| text.strip_suffix(b".")) else {
        return false;
    };
    let before = before.strip_suffix(b"?").unwrap_or(before);
    let arguments = before.strip_suffix(b">").and_then(|text| memchr::memrchr(b'<', text));
    let rest = before[..arguments.unwrap_or(before.len())].strip_suffix(owner.as_bytes());
    rest.is_some_and(|rest| !rest.last().is_some_and(|byte| byte.is_ascii_alphanumeric() || b"_.".contains(byte)))
}

/// Every symbol with the last part of a qualified name, by path and place. The order in the index depends on which file
/// was read first.
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

/// Similar ids: the same name elsewhere, then similar names in the same file, then in any file.
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

/// The symbols with the most similar names, best first, code before documents. For a qualified name the last part is
/// searched, and the rest orders the results.
pub fn nearest<'a>(snapshot: &'a Snapshot, name: &str, limit: usize) -> Vec<SymbolView<'a>> {
    let name = bare(name);
    let last = name.rsplit(['.', ':', '/']).next().unwrap_or(name);
    let clause = codelode_store::Clause::new(codelode_store::Field::Trigrams, last, 1.0);
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
        let is_member = |symbol: &SymbolView<'_>| symbol.parent().is_some();
        is_document(&a.1)
            .cmp(&is_document(&b.1))
            .then_with(|| nearer(a, b))
            .then_with(|| is_member(&a.1).cmp(&is_member(&b.1)))
            .then_with(|| by_place(&a.1, &b.1))
    });
    let mut seen = std::collections::HashSet::new();
    like.retain(|(_, symbol)| seen.insert(symbol.name().into_owned()));
    like.into_iter().take(limit).map(|(_, symbol)| symbol).collect()
}

/// The most similar paths, best first: the same file name, then similar spelling.
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
