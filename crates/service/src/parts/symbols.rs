//! Search for symbols in one repository or several, and where it looked when it found nothing.

use std::collections::BTreeMap;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;

use super::errors::store_error;
use super::filters::Filters;
use super::indexes::{self, Repo};
use super::{Call, Error, related};
use crate::catalog::peers::{is_pattern, repos_like};
use codelode_lang::languages;
use codelode_query::{self as query, Found, Hit, Order, Search};
use codelode_store::{FileView, Frequencies, Shard, Snapshot};

/// Keys in `_meta` of an answer to another node: scores of the results, to their last bit, and whether one has the name asked for.
pub const SCORES: &str = "scores";
pub const NAMED: &str = "named";

/// Scope of a search that found nothing.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Absence {
    verdict: &'static str,
    scanned_symbols: u64,
    scanned_files: u64,
    /// Files that are not indexed, by reason.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    left_out: BTreeMap<String, u64>,
    /// Files without symbol support, by language; search_text finds text in them.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    no_symbols_for: BTreeMap<String, u64>,
    /// Nearest names, filters ignored.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    nearest: Vec<String>,
    /// A better query.
    ask: String,
}

/// The repositories of a call.
pub fn repositories(call: &Call<'_>, repo: Option<&str>, repos: Option<&[String]>) -> Result<Vec<Repo>, Error> {
    match repos {
        Some(_) if repo.is_some() => Err(Error::invalid_arguments("give `repo` or `repos`, not both")),
        None => Ok(vec![indexes::open(call, repo)?]),
        Some([]) => Err(Error::invalid_arguments("`repos` is empty; name repositories, or \"*\" for all")),
        Some(names) if names.iter().any(|name| name == "*") => {
            let all = call.cx.indexes.registry().all();
            // An unreadable index must not hide the others.
            let (mut repos, mut refused) = (Vec::new(), Vec::new());
            for sidecar in all {
                let id = sidecar.repo.clone();
                match indexes::open_sidecar(call, sidecar) {
                    Ok(repo) => repos.push(repo),
                    Err(err) => refused.push(format!("{id}: {}", err.message)),
                }
            }
            if !refused.is_empty() {
                call.note("not_searched", refused);
            }
            match repos.is_empty() {
                true => Err(Error::not_indexed("nothing is indexed yet; call index_folder first")),
                false => Ok(repos),
            }
        }
        Some(names) if names.iter().any(|name| is_pattern(name)) => {
            let meant = repos_like(call.cx, names);
            let unknown = || Error::not_found("an entry of `repos` is neither indexed nor a pattern; see list_repos");
            let meant = meant.ok_or_else(unknown)?;
            let repos: Vec<Repo> = meant.iter().map(|id| indexes::open(call, Some(id))).collect::<Result<_, _>>()?;
            match repos.is_empty() {
                true => Err(Error::not_found("no repository has that name; see list_repos")),
                false => Ok(repos),
            }
        }
        Some(names) => {
            let (mut repos, mut refused, mut first) = (Vec::<Repo>::new(), Vec::new(), None);
            for name in names {
                match indexes::open(call, Some(name)) {
                    Ok(repo) if repos.iter().all(|other| other.sidecar.repo != repo.sidecar.repo) => repos.push(repo),
                    Ok(_) => {}
                    // Another node asks, which asks others for these; or the caller named none of them.
                    Err(err) if call.request.is_from_node || !call.request.among.is_empty() => {
                        refused.push(format!("{name}: {}", err.message));
                        first.get_or_insert(err);
                    }
                    Err(err) => return Err(err),
                }
            }
            if !refused.is_empty() {
                call.note("not_searched", refused);
            }
            match first {
                Some(err) if repos.is_empty() => Err(err),
                _ => Ok(repos),
            }
        }
    }
}

/// Makes repositories a part of a search over the nodes of a fleet, where another node asks for that.
pub fn as_shard(call: &Call<'_>, repos: &mut [Repo]) -> Result<Option<Arc<Shard>>, Error> {
    let Some(others) = &call.request.frequencies else { return Ok(None) };
    let others = serde_json::from_value::<Frequencies>(others.clone());
    let others = others.map_err(|err| Error::invalid_arguments(format!("frequencies of other nodes: {err}")))?;
    let shard = Arc::new(Shard::beside(others));
    for repo in &mut *repos {
        let part = repo.snapshot.as_shard(shard.clone()).map_err(|err| store_error(err, &repo.sidecar))?;
        repo.snapshot = Arc::new(part);
    }
    let among: Vec<&Snapshot> = repos.iter().map(|repo| &*repo.snapshot).collect();
    Snapshot::tell(&shard, &among).map_err(|err| Error::internal(err.to_string()))?;
    Ok(Some(shard))
}

/// Searches one repository. Ranks are computed only if centrality decides: on request, and in a list without words.
pub fn ask(repo: &Repo, search: &Search<'_>) -> Result<Found, Error> {
    let is_list = search.query.trim().is_empty();
    let ranks = if search.order == Order::Centrality || is_list { Some(related::ranks(repo)?) } else { None };
    let search = Search { ranks, ..search.clone() };
    query::search(&repo.snapshot, &search).map_err(|err| store_error(err, &repo.sidecar))
}

/// The files of hits.
pub fn paths(repo: &Repo, hits: &[Hit]) -> Vec<String> {
    hits.iter().filter_map(|hit| Some(repo.snapshot.symbol(hit.symbol)?.file.path().to_owned())).collect()
}

/// Evidence about a search without answers.
pub fn absence(repos: &[Repo], filters: &Filters, unknown: &[String]) -> Absence {
    let (mut left_out, mut no_symbols_for) = (BTreeMap::<String, u64>::new(), BTreeMap::<String, u64>::new());
    let (mut symbols, mut files, mut near) = (0, 0, Vec::new());
    let mut doubt = None;
    for repo in repos {
        let facts = repo.snapshot.facts();
        let fits = |file: &FileView<'_>| {
            filters.language.as_ref().is_none_or(|language| file.language() == language) && filters.fit(file.path())
        };
        // Looking at every file takes longer than a search, and most are without a filter.
        if filters.language.is_none() && filters.take_all_files() {
            (symbols, files) = (symbols + facts.symbols, files + repo.snapshot.n_files() as u64);
        } else {
            for file in repo.snapshot.files().filter(fits) {
                symbols += u64::from(file.symbol_count());
                files += 1;
            }
        }
        for (reason, count) in &facts.skipped {
            *left_out.entry(reason.clone()).or_default() += count;
        }
        for (language, count) in languages::without_symbols(&facts.languages) {
            if filters.language.as_ref().is_none_or(|wanted| *wanted == language) {
                *no_symbols_for.entry(language).or_default() += count;
            }
        }
        doubt = doubt.or(repo.doubt());
        let known = filters.text.split_whitespace().filter(|word| !unknown.iter().any(|other| other == word));
        let word = known.max_by_key(|word| word.len()).unwrap_or(&filters.text);
        near.extend(query::nearest(&repo.snapshot, word, 3).iter().map(|symbol| symbol.id()));
    }
    near.truncate(5);
    let is_empty = repos.iter().all(|repo| repo.snapshot.files().next().is_none());
    let verdict = match (doubt, files) {
        (Some(doubt), _) => doubt,
        (None, 0) if is_empty => "no_files: nothing is indexed here",
        (None, 0) => "no_file_matches: no file fits language and file_pattern",
        (None, _) if symbols == 0 && !no_symbols_for.is_empty() => {
            "no_symbols: these languages have no symbol support; search_text finds text"
        }
        (None, _) => "not_found",
    };
    let ask = match (files, filters.text.split_whitespace().count()) {
        (0, _) if is_empty => "in a folder with files; none are indexed here",
        (0, _) => "without language and file_pattern",
        (_, 0 | 1) => "with fuzzy, fewer letters, or words that describe it; search_text finds any text",
        _ => "with a name, or words that the code would use; search_text finds any text",
    };
    let ask = ask.to_owned();
    Absence { verdict, scanned_symbols: symbols, scanned_files: files, left_out, no_symbols_for, nearest: near, ask }
}
