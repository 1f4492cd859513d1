//! Whole files as hits: those that a query names, then those that it describes.

use super::filters::Filters;
use super::indexes::{self, Repo};
use super::meaning::Meaning;
use super::symbols::ask;
use super::{Call, Error};
use crate::catalog::context;
use codelode_query::{self as query, Confidence, FileHit, Found, Order, Search};
use codelode_store::{FileView, Snapshot};

/// The most files of a repository that are looked at.
const MOST: usize = 1_000;
/// The number of symbols that say which files are meant.
const CONSIDERED: usize = 200;
/// Ranks of names: a file of that name, with or without its ending; a beginning of its name; a part of its path.
const NAMED: u32 = 1;
const BEGUN: u32 = 2;
/// Score of a file that is named; of one that is described, a hundred times what its symbols and its text are worth
/// beside the best ones.
const OF_NAME: u32 = 1_000;
/// Score of the file that defines the name asked for, beside what is called so.
const OF_DEFINITION: u32 = 1_500;
const OF_BEGINNING: u32 = 500;
/// Score of the file whose notes answer best: as much as the best whole text.
const OF_NOTES: f32 = 80.0;

/// The files that answer, best first.
pub struct Files {
    pub found: Vec<FoundFile>,
    /// `High` where a file is named; a description may mean any of them.
    pub confidence: Confidence,
    /// Query words found in no symbol.
    pub unknown: Vec<String>,
}

/// A matching file.
pub struct FoundFile {
    /// The place of its repository.
    pub place: usize,
    pub path: String,
    pub score: u32,
    /// Its symbols that answer.
    pub symbols: Vec<String>,
}

/// Finds files in each repository, with `meaning` by that of their symbols as well. Without words, all that pass the
/// filters, by path.
pub fn found(
    call: &Call<'_>,
    repos: &mut [Repo],
    filters: &Filters,
    search: &Search<'_>,
    meaning: Option<&Meaning>,
) -> Result<Files, Error> {
    let search = Search { with_files: true, limit: CONSIDERED, order: Order::Relevance, ..search.clone() };
    let (mut all, mut unknown): (Vec<FoundFile>, Option<Vec<String>>) = (Vec::new(), None);
    for (place, repo) in repos.iter_mut().enumerate() {
        let about = |_: &Repo, (files, _): &(Vec<FoundFile>, Vec<String>)| {
            let paths: Vec<String> = files.iter().take(CONSIDERED).map(|file| file.path.clone()).collect();
            (!paths.is_empty()).then_some(paths)
        };
        let look = |repo: &Repo| {
            if filters.text.trim().is_empty() {
                return Ok((listed(repo, place, filters), Vec::new()));
            }
            let by_meaning = meaning.map(|meaning| meaning.ask(call, repo, &search)).transpose()?.flatten();
            let found = by_meaning.map_or_else(|| ask(repo, &search), Ok)?;
            let unknown = found.unknown.clone();
            let notes = noted(call, repo, filters);
            Ok((ranked(repo, place, filters, &found, &notes), unknown))
        };
        let (files, words) = indexes::answered(call, repo, look, about)?;
        all.extend(files);
        // A word is known if one of the repositories knows it.
        unknown = Some(match unknown {
            None => words,
            Some(mut known) => {
                known.retain(|word| words.contains(word));
                known
            }
        });
    }
    Ok(Files::of(all, unknown.unwrap_or_default()))
}

impl Files {
    fn of(mut found: Vec<FoundFile>, unknown: Vec<String>) -> Self {
        found.sort_by(|a, b| b.score.cmp(&a.score).then_with(|| (a.place, &a.path).cmp(&(b.place, &b.path))));
        let confidence = match found.first() {
            None => Confidence::None,
            Some(first) if first.score >= OF_NAME => Confidence::High,
            Some(first) if !first.symbols.is_empty() => Confidence::Medium,
            Some(_) => Confidence::Low,
        };
        Self { found, confidence, unknown }
    }
}

fn fits(filters: &Filters, file: &FileView<'_>) -> bool {
    filters.fit(file.path()) && filters.language.as_ref().is_none_or(|wanted| file.language() == wanted)
}

fn listed(repo: &Repo, place: usize, filters: &Filters) -> Vec<FoundFile> {
    let wanted = repo.snapshot.files().filter(|file| fits(filters, file));
    wanted.map(|file| FoundFile { place, path: file.path().to_owned(), score: 0, symbols: Vec::new() }).collect()
}

fn ranked(repo: &Repo, place: usize, filters: &Filters, found: &Found, notes: &[(String, u32)]) -> Vec<FoundFile> {
    let snapshot = &repo.snapshot;
    let described = |hit: &FileHit| {
        let path = snapshot.file_by_number(hit.file)?.path().to_owned();
        let symbols = hit.symbols.iter().filter_map(|symbol| Some(snapshot.symbol(*symbol)?.qualified_name()));
        let score = (hit.score * 100.0).round() as u32;
        Some(FoundFile { place, path, score, symbols: symbols.collect() })
    };
    let answering = found.files.iter().filter(|file| file.score > 0.0);
    let mut files: Vec<FoundFile> = answering.filter_map(described).collect();
    let mut add = |path: String, score: u32| match files.iter_mut().find(|file| file.path == path) {
        Some(file) => file.score += score,
        None => files.push(FoundFile { place, path, score, symbols: Vec::new() }),
    };
    notes.iter().for_each(|(path, score)| add(path.clone(), *score));
    definer(snapshot, filters, found).into_iter().for_each(|path| add(path, OF_DEFINITION));
    for (rank, path) in query::files_like(snapshot, &filters.text, &|file| fits(filters, file), MOST) {
        let score = match rank >> 16 {
            ..=NAMED => OF_NAME,
            BEGUN => OF_BEGINNING,
            _ => 1,
        };
        add(path, score);
    }
    files
}

/// The file that defines a bare name, by its first hit: code that has the name as it is written.
fn definer(snapshot: &Snapshot, filters: &Filters, found: &Found) -> Option<String> {
    let name = filters.text.trim();
    let first = snapshot.symbol(found.hits.first().filter(|_| found.is_named)?.symbol)?;
    let is_meant = first.name() == name && !first.file.is_test() && !first.file.spec().is_document;
    is_meant.then(|| first.file.path().to_owned())
}

/// Files that fit and whose notes answer, with their scores, best first.
fn noted(call: &Call<'_>, repo: &Repo, filters: &Filters) -> Vec<(String, u32)> {
    let found = query::noted(&context::notes(call, repo), &filters.text);
    let best = found.first().map_or(1.0, |(_, score)| score.max(f32::MIN_POSITIVE));
    let file = |(number, score): (u32, f32)| {
        let file = repo.snapshot.file_by_number(number).filter(|file| fits(filters, file))?;
        Some((file.path().to_owned(), (OF_NOTES * score / best).round() as u32))
    };
    found.into_iter().filter_map(file).take(CONSIDERED).collect()
}

/// The files that only their notes lead to, where no symbol answers: models of a dbt project have none.
pub fn by_notes(call: &Call<'_>, repos: &mut [Repo], filters: &Filters) -> Result<Files, Error> {
    let mut found = Vec::new();
    for (place, repo) in repos.iter_mut().enumerate() {
        let look = |repo: &Repo| Ok(noted(call, repo, filters));
        // The search for symbols came before, and has compared the whole folder if it found nothing.
        let about = |_: &Repo, noted: &Vec<(String, u32)>| Some(noted.iter().map(|(path, _)| path.clone()).collect());
        let noted = indexes::answered(call, repo, look, about)?;
        found.extend(noted.into_iter().map(|(path, score)| FoundFile { place, path, score, symbols: Vec::new() }));
    }
    Ok(Files::of(found, Vec::new()))
}
