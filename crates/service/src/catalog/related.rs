//! The common start of relation tools: a fresh snapshot, its edges, and the symbol.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::PathBuf;

use serde_json::json;

use super::Caller;
use super::errors::store_error;
use super::indexes::{self, Repo};
use crate::answer::Error;
use codelode_base::model::{SkipReason, on_disk};
use codelode_index::pipeline;
pub use codelode_index::pipeline::are_whole;
use codelode_lang::languages;
use codelode_query::{self as query, Missing};
use codelode_store::{EdgeTable, RankTable, Snapshot, SymbolView};

/// Answers from the relations of a repository. `ask` returns an answer and its files. If a file has changed since
/// indexing, it is asked again.
pub fn answer<T>(
    caller: &Caller<'_>,
    repo: Option<&str>,
    ask: impl Fn(&Repo, &EdgeTable) -> Result<(T, Vec<String>), Error>,
) -> Result<T, Error> {
    let mut repo = indexes::open(caller, repo)?;
    if caller.request.as_indexed && repo.snapshot.edges().is_none() {
        return Err(Error::unavailable("names in this index are not resolved yet; retry later"));
    }
    if !pipeline::can_relate(&repo.snapshot) {
        repo = indexes::renewed(caller, repo)?;
    }
    let ask = |repo: &Repo| {
        let edges = edges(repo)?;
        if !are_whole(edges) {
            let why = "resolving all names takes too long here: some uses are missing";
            caller.note("relations_missing", json!(why));
        }
        if let Some(state) = pipeline::compiler_state(&repo.snapshot, edges).filter(|state| state.stale > 0) {
            let files = if state.stale == 1 { "1 file has" } else { &*format!("{} files have", state.stale) };
            let why =
                format!("{files} changed since the compiler's index was made: names there are resolved without it");
            caller.note("compiler_stale", json!(why));
        }
        ask(repo, edges)
    };
    // Only a comparison of the whole folder proves that there is no result.
    let about = |_: &Repo, (_, paths): &(T, Vec<String>)| (!caller.is_absent()).then(|| paths.clone());
    let (answer, _) = indexes::answered(caller, &mut repo, ask, about)?;
    Ok(answer)
}

/// Opens a repository with readable relations, after comparing its whole folder: for answers about a change.
pub fn open_now(caller: &Caller<'_>, repo: Option<&str>) -> Result<Repo, Error> {
    let repo = indexes::open_now(caller, repo)?;
    if pipeline::can_relate(&repo.snapshot) { Ok(repo) } else { indexes::renewed(caller, repo) }
}

/// Edges of a repository.
pub fn edges(repo: &Repo) -> Result<&EdgeTable, Error> {
    pipeline::relations(&repo.snapshot).map_err(|err| store_error(err, &repo.sidecar))
}

/// The edges of a repository if they are readable, for optional parts of an answer.
pub fn edges_at_hand(repo: &Repo) -> Option<&EdgeTable> {
    pipeline::can_relate(&repo.snapshot).then(|| edges(repo).ok()).flatten()
}

/// Ranks of a repository's symbols.
pub fn ranks(repo: &Repo) -> Result<&RankTable, Error> {
    query::ranks(&repo.snapshot, edges(repo)?).map_err(|err| store_error(err, &repo.sidecar))
}

/// Finds every symbol that an id or a name may mean, grouped by twins.
pub fn all<'a>(repo: &'a Repo, edges: &EdgeTable, id: &str) -> Result<Vec<Vec<SymbolView<'a>>>, Error> {
    match query::meant(&repo.snapshot, &repo.own_id(id)) {
        Ok(symbols) => Ok(twins(repo, edges, symbols)),
        Err(_) => match inherited(repo, id) {
            // The error is the same as for a single symbol.
            none if none.is_empty() => symbol(repo, id).map(|symbol| vec![vec![symbol]]),
            inherited => Ok(twins(repo, edges, inherited)),
        },
    }
}

/// Groups symbols that define the same thing, also where one path is a link to the other.
pub fn twins<'a>(repo: &'a Repo, edges: &EdgeTable, symbols: Vec<SymbolView<'a>>) -> Vec<Vec<SymbolView<'a>>> {
    let mut groups = query::twins(edges, symbols);
    let mut links = Links::of(repo);
    let mut place = 0;
    while place < groups.len() {
        let first = groups[place][0];
        let own = links.target(first.file.path()).and_then(|real| {
            let is_own = |other: &SymbolView<'_>| other.file.path() == real && other.line() == first.line();
            groups.iter().position(|group| group.iter().any(is_own))
        });
        match own.filter(|own| *own != place) {
            Some(own) => {
                let linked = groups.remove(place);
                groups[own - usize::from(own > place)].extend(linked);
            }
            None => place += 1,
        }
    }
    groups
}

/// Files of a repository that are links to others of it, as far as links are followed.
pub struct Links<'r> {
    repo: &'r Repo,
    /// The canonical root, if links are followed.
    root: Option<PathBuf>,
    known: HashMap<String, Option<String>>,
}

impl<'r> Links<'r> {
    /// The links of a repository.
    pub fn of(repo: &'r Repo) -> Self {
        let root = repo.root.as_ref().filter(|_| repo.snapshot.facts().follow_symlinks);
        Self { repo, root: root.and_then(|root| root.canonicalize().ok()), known: HashMap::new() }
    }

    /// The indexed file that the file at a path is a link to, or lies behind a link to a folder.
    pub fn target(&mut self, path: &str) -> Option<String> {
        let root = self.root.as_ref()?;
        if let Some(known) = self.known.get(path) {
            return known.clone();
        }
        let real = on_disk(root, path).canonicalize().ok();
        let inside = real.as_ref().and_then(|real| real.strip_prefix(root).ok()?.to_str());
        let target = inside.filter(|inside| *inside != path && self.repo.snapshot.file(inside).is_some());
        let target = target.map(str::to_owned);
        self.known.insert(path.to_owned(), target.clone());
        target
    }
}

/// The most symbols of one name in one answer.
const MOST_OF_NAME: usize = 10;

/// Finds every symbol that an id or a name may mean, for one answer about all of them; a hint lists them. Fails if
/// there are too many.
pub fn each<'a>(caller: &Caller<'_>, repo: &'a Repo, id: &str) -> Result<Vec<SymbolView<'a>>, Error> {
    match query::meant(&repo.snapshot, &repo.own_id(id)) {
        Ok(symbols) if (1..=MOST_OF_NAME).contains(&symbols.len()) => {
            if symbols.len() > 1 {
                let ids: Vec<String> = symbols.iter().map(SymbolView::id).collect();
                caller.note("hint", json!(format!("{id} is each of {}", ids.join(", "))));
            }
            Ok(symbols)
        }
        _ => symbol(repo, id).map(|only| vec![only]),
    }
}

/// Finds a symbol by id, or by an unambiguous name: its own, or as a member that a class inherits.
pub fn symbol<'a>(repo: &'a Repo, id: &str) -> Result<SymbolView<'a>, Error> {
    query::by_id(&repo.snapshot, &repo.own_id(id))
        .or_else(|missing| match inherited(repo, id)[..] {
            [only] if matches!(missing, Missing::Unknown(_)) => Ok(only),
            _ => Err(missing),
        })
        .map_err(|missing| match missing {
            Missing::Ambiguous(ids) => {
                let message = format!("{:?} matches several symbols; give an id", shown(id));
                Error::ambiguous(message).with("candidates", ids)
            }
            Missing::Unknown(ids) => {
                let (message, nearest) = unknown(repo, id, ids);
                Error::not_found(message).with("nearest", nearest)
            }
        })
}

/// The message for a text that means no symbol, and what it may have meant: symbols, or for a place files.
pub fn unknown(repo: &Repo, id: &str, nearest: Vec<String>) -> (String, Vec<String>) {
    let text = shown(id);
    let place = id.rsplit_once(':').filter(|(path, line)| !path.ends_with(':') && line.parse::<u32>().is_ok());
    if let Some((path, line)) = place {
        let path = repo.relative(path);
        if let Some(file) = repo.snapshot.file(&path) {
            let n_lines = file.lines();
            let message = match line.parse::<u32>().is_ok_and(|line| (1..=n_lines).contains(&line)) {
                true => format!("no symbol is at {text:?}; get_file_content shows the line"),
                false => format!("{path:?} has {n_lines} lines, and none has the number {line}"),
            };
            return (message, nearest);
        }
        let files = query::nearest_files(&repo.snapshot, &path, 3);
        let message = match files.first() {
            Some(first) => format!("no file {path:?} is indexed; did you mean {first:?}?"),
            None => format!("no file {path:?} is indexed; get_file_tree lists files"),
        };
        return (message, files);
    }
    let message = match nearest.first() {
        Some(first) => format!("no symbol has the id {text:?}; did you mean {first:?}?"),
        None => format!("no symbol has the id {text:?}; find it with search_symbols, or in any text with search_text"),
    };
    (message, nearest)
}

/// The beginning of a caller's text, for a message.
pub fn shown(text: &str) -> String {
    text.chars().take(200).collect()
}

/// The kind of a symbol in its language's own word; `None` if that is the general word.
pub fn own_word(symbol: &SymbolView<'_>) -> Option<&'static str> {
    let word = symbol.detail().as_str();
    (word != symbol.kind().as_str()).then_some(word)
}

/// The places of further twins of a symbol; in the same file only the line.
pub fn others_at(twins: &[SymbolView<'_>]) -> Vec<String> {
    let Some((first, others)) = twins.split_first() else { return Vec::new() };
    let place = |symbol: &SymbolView<'_>| match symbol.file.number() == first.file.number() {
        true => format!(":{}", symbol.line()),
        false => format!("{}:{}", symbol.file.path(), symbol.line()),
    };
    others.iter().map(place).collect()
}

/// The symbols that a name or an id may mean.
pub fn named<'a>(repo: &'a Repo, name: &str) -> Vec<SymbolView<'a>> {
    query::meant(&repo.snapshot, &repo.own_id(name)).unwrap_or_else(|_| inherited(repo, name))
}

/// The members that a class inherits under a name, if relations are readable.
fn inherited<'a>(repo: &'a Repo, name: &str) -> Vec<SymbolView<'a>> {
    let is_member = name.contains(['.', ':']) && !name.contains(['/', '#']);
    let edges = edges_at_hand(repo).filter(|_| is_member);
    edges.map(|edges| query::inherited(&repo.snapshot, edges, name)).unwrap_or_default()
}

/// Notes that a name means members inherited by a class.
pub fn note_inherited(caller: &Caller<'_>, repo: &Repo, name: &str, symbols: &[SymbolView<'_>]) {
    if symbols.is_empty() || query::meant(&repo.snapshot, &repo.own_id(name)).is_ok() {
        return;
    }
    let from: Vec<String> = symbols.iter().map(SymbolView::qualified_name).collect();
    caller.note("inherited", json!(format!("{name} is inherited: {}", from.join(", "))));
}

/// Notes languages without symbols or relations, and files that are not checked out. Missing results may be there.
pub fn note_unread(caller: &Caller<'_>, repo: &Repo) {
    let languages = &repo.snapshot.facts().languages;
    let unread = [
        ("no_symbols_for", query::without_symbols(languages)),
        ("no_relations_for", query::without_relations(languages)),
    ];
    let compiled = repo.snapshot.compiled_languages();
    for (note, mut languages) in unread {
        languages.retain(|name, files| compiled.get(&**name).is_none_or(|read| *read < *files));
        if !languages.is_empty() {
            caller.note(note, json!(languages));
        }
    }
    let absent = [SkipReason::Missing, SkipReason::Submodule].map(SkipReason::as_str);
    let skipped = &repo.snapshot.facts().skipped;
    let skipped: BTreeMap<&str, u64> = absent.iter().filter_map(|why| Some((*why, *skipped.get(*why)?))).collect();
    if !skipped.is_empty() {
        caller.note("not_here", json!(skipped));
    }
}

/// The most files named in a note.
const MOST_NAMED: usize = 5;

/// Notes files that were not read to their end and write a searched name. Their uses are unknown.
pub fn note_cut_off(caller: &Caller<'_>, files: &BTreeSet<&str>) {
    if files.is_empty() {
        return;
    }
    let named: Vec<&str> = files.iter().copied().take(MOST_NAMED).collect();
    let more = files.len() - named.len();
    let note = if more > 0 { json!({"files": named, "more": more}) } else { json!({"files": named}) };
    caller.note("not_read_whole", note);
}

/// Notes why there may be uses that do not write the name.
pub fn note_unnamed(caller: &Caller<'_>, reasons: &BTreeSet<String>) {
    if !reasons.is_empty() {
        let named: Vec<&str> = reasons.iter().map(String::as_str).take(MOST_NAMED).collect();
        caller.note("unnamed_uses", json!(named.join("; ")));
    }
}

/// Reasons for files without text in the index, in which a name may still occur.
const NOT_READ: &[SkipReason] = &[
    SkipReason::Binary,
    SkipReason::TooLarge,
    SkipReason::FileLimit,
    SkipReason::Unreadable,
    SkipReason::LfsPointer,
    SkipReason::Utf16,
];

/// Notes the files of a repository that were not read. An empty answer did not search any of them; one with uses is
/// in doubt only for sources.
pub fn note_not_read(caller: &Caller<'_>, repo: &Repo, is_empty: bool) {
    let skipped = &repo.snapshot.facts().skipped;
    let words = NOT_READ.iter().map(|reason| reason.as_str());
    let mut not_read: BTreeMap<&str, u64> = words.filter_map(|why| Some((why, *skipped.get(why)?))).collect();
    if !is_empty && !not_read.is_empty() {
        let is_source = |path: &str| languages::of_path(path).is_some_and(|spec| spec.relating.is_some());
        let unread = repo.snapshot.table().iter().filter_map(|row| Some((row.path, row.state.err()?)));
        let sources = unread.filter(|(path, why)| NOT_READ.contains(why) && is_source(path));
        not_read.retain(|why, _| *why == SkipReason::FileLimit.as_str());
        sources.for_each(|(_, why)| *not_read.entry(why.as_str()).or_default() += 1);
    }
    if !not_read.is_empty() {
        caller.note("not_read", json!(not_read));
    }
}

/// Code files of the folder that are too large for the index, with their text.
pub fn large_sources(caller: &Caller<'_>, repo: &Repo) -> Vec<(String, Vec<u8>)> {
    let found = repo.root.as_deref().map(|root| pipeline::large_sources(root, &repo.snapshot, caller.config));
    found.and_then(Result::ok).unwrap_or_default()
}

/// Fails if names in a symbol's language are not resolved, because silence would look like absence.
pub fn check_language(snapshot: &Snapshot, symbol: &SymbolView<'_>) -> Result<(), Error> {
    if !symbol.file.facts().is_empty() || snapshot.is_compiled(&symbol.file) {
        return Ok(());
    }
    let message = format!("names in {} are not resolved yet; search_text finds mentions", symbol.file.language());
    Err(Error::unavailable(message))
}
