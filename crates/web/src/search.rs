//! Page of a search: symbols, files and lines of text, of one repository or of all; for a sentence, the code that answers it.

use std::collections::BTreeMap;

use maud::{Markup, html};
use serde_json::{Map, Value, json};

use super::layout::Page;
use super::routes::Asked;
use super::text::{Marked, Placed, Visible};
use super::{context, links, view};
use codelode_lang::languages;
use codelode_query::text::{Case, Pattern};
use codelode_query::{self as query, Form};
use codelode_service::parts::filters::path_glob;
use codelode_service::tools;
use codelode_store::FileView;

/// Results of a sort when all are asked for, and when one is.
const FEW: u32 = 12;
const MANY: u32 = 100;

/// Problem of a search in a repository that is not indexed, or hidden.
const UNKNOWN: &str = "There is no such repository here.";

/// Words of a query that stand out, and links that narrow a search.
const MOST_WORDS: usize = 12;
const MOST_FACETS: usize = 16;

/// Repositories that the form proposes.
const MOST_PROPOSED: usize = 100;

/// Sorts of results, by their names in an address.
const SORTS: [(&str, &str); 5] =
    [("", "All"), ("context", "Context"), ("symbols", "Symbols"), ("files", "Files"), ("text", "Text")];

/// Symbols and files together, which the client shows first, and the slower rest.
const NAMES: &str = "names";
const REST: &str = "rest";

/// Shows the results of a search.
pub(super) fn page(asked: &Asked<'_>) -> Page {
    let (query, repo, sort) = (asked.value("q"), asked.value("repo"), asked.value("in"));
    let body = html! {
        main.results {
            h1.out-of-sight { "Search" }
            (options(asked))
            @if query.trim().is_empty() {
                p { "Give a name, some words, or a text." }
            } @else {
                (results(asked, sort))
            }
        }
    };
    let repo = Some(repo.to_owned()).filter(|repo| !repo.is_empty());
    Page { repo, query: query.to_owned(), ..Page::new(format!("Search {query}"), body) }
}

/// Results of each sort that is asked for.
pub(super) fn results(asked: &Asked<'_>, sort: &str) -> Markup {
    let is_pattern = pattern(asked).is_some();
    let is_sentence = !is_pattern && Form::of(asked.value("q")).is_prose();
    let wanted = |name: &str| match sort {
        // No name is a pattern.
        "" | NAMES | REST if is_pattern => name == "text" && sort != NAMES,
        "" => name != "context" || is_sentence,
        NAMES => matches!(name, "symbols" | "files"),
        REST => name == "text",
        sort => sort == name,
    };
    // As one types, one search finds the code that answers a sentence and the other symbols.
    if sort == NAMES && is_sentence {
        let [context, symbols] = answered(asked);
        return html! {
            (section(asked, "context", true, &context))
            (section(asked, "symbols", true, &symbols))
            (section(asked, "files", true, &files(asked, sort)))
        };
    }
    let others = || {
        [
            ("symbols", wanted("symbols").then(|| found(asked, sort))),
            ("files", wanted("files").then(|| files(asked, sort))),
            ("text", wanted("text").then(|| lines(asked, sort))),
        ]
    };
    let (context, others) = match wanted("context") {
        false => (None, others()),
        // Answering a sentence takes as long as the rest.
        true => std::thread::scope(|scope| {
            let thread = std::thread::Builder::new().name("context".to_owned());
            let context = thread.spawn_scoped(scope, || context::found(asked));
            let others = others();
            let context = context.ok().and_then(|thread| thread.join().ok());
            // Without a thread it comes after the others.
            (Some(context.unwrap_or_else(|| context::found(asked))), others)
        }),
    };
    let parts = [("context", context)].into_iter().chain(others);
    html! {
        @for (name, part) in parts {
            @if let Some(part) = part { (section(asked, name, matches!(sort, "" | NAMES | REST), &part)) }
        }
    }
}

/// Results of one sort; among others its title leads to more.
fn section(asked: &Asked<'_>, name: &str, is_one_of_several: bool, part: &Markup) -> Markup {
    let title = SORTS.iter().find(|(known, _)| *known == name).map_or("", |(_, title)| *title);
    html! {
        section {
            h2 { @if is_one_of_several { a href=(address(asked, name)) { (title) } } @else { (title) } }
            (part)
        }
    }
}

/// The address of the same search for another sort of results.
fn address(asked: &Asked<'_>, sort: &str) -> String {
    changed(asked, &[("in", sort)])
}

/// The address of the same search with some other values.
fn changed(asked: &Asked<'_>, values: &[(&str, &str)]) -> String {
    let keys = ["q", "repo", "language", "file", "regex", "case", "word", "in"];
    let value = |key: &&str| values.iter().find(|(other, _)| other == key).map_or(asked.value(key), |(_, value)| value);
    let pairs: Vec<(&str, &str)> = keys.iter().map(|key| (*key, value(key))).collect();
    links::search(&pairs)
}

fn options(asked: &Asked<'_>) -> Markup {
    let (sort, repo) = (asked.value("in"), asked.value("repo"));
    let switch = |name: &str, label: &str| {
        html! {
            label { input type="checkbox" name=(name) value="1" checked[!asked.value(name).is_empty()]; " " (label) }
        }
    };
    html! {
        nav.facets aria-label="Sorts of results" {
            @for (name, title) in SORTS {
                a href=(address(asked, name)) aria-current=[(name == sort).then_some("true")] { (title) } " "
            }
        }
        form.options action="/search" {
            input type="hidden" name="q" value=(super::text::plain(asked.value("q")));
            input type="hidden" name="in" value=(sort);
            label { "Repository " input name="repo" value=(repo) placeholder="all" list="repos"; }
            datalist #repos {
                @for sidecar in asked.cx.indexes.registry().all().iter().take(MOST_PROPOSED) { option value=(sidecar.repo) {} }
            }
            label { "Language " input name="language" value=(asked.value("language")) placeholder="any"; }
            label { "Files " input name="file" value=(asked.value("file")) placeholder="src/**/*.py"; }
            (switch("regex", "Regular expression"))
            (switch("case", "Case matters"))
            (switch("word", "Whole words"))
            button { "Apply" }
        }
    }
}

/// Calls a tool; `Err` has its message.
pub(super) fn call(asked: &Asked<'_>, tool: &str, mut args: Map<String, Value>) -> Result<Value, String> {
    match asked.value("repo") {
        "" => args.insert("repos".to_owned(), json!(["*"])),
        // A link alone must not have a folder indexed, so a path names nothing here.
        repo if asked.cx.indexes.registry().get(repo).is_none() => return Err(UNKNOWN.to_owned()),
        repo => args.insert("repo".to_owned(), repo.into()),
    };
    for (key, name) in [("language", "language"), ("file", "file_pattern")] {
        if !asked.value(key).is_empty() {
            args.insert(name.to_owned(), asked.value(key).into());
        }
    }
    let request = view::request();
    let envelope = tools::call(asked.cx, tool, args, &request);
    let text = |key: &str| envelope.value[key].as_str().map(str::to_owned);
    if envelope.is_error { Err(text("error").unwrap_or_default()) } else { Ok(envelope.value) }
}

/// Words of the query that stand out in results.
pub(super) fn words(asked: &Asked<'_>) -> Vec<String> {
    let words = asked.value("q").split([' ', '"']).filter(|word| word.len() > 1 && !word.contains(':'));
    words.take(MOST_WORDS).map(str::to_ascii_lowercase).collect()
}

/// Links that narrow a search to a kind, a language or a folder, with the number of results each has here.
fn narrower(asked: &Asked<'_>, what: &str, sort: &str, found: &[Value]) -> Markup {
    let mut kinds: BTreeMap<&str, usize> = BTreeMap::new();
    let mut written: BTreeMap<&str, usize> = BTreeMap::new();
    let mut folders: BTreeMap<&str, usize> = BTreeMap::new();
    for hit in found {
        if !text(hit, "kind").is_empty() {
            *kinds.entry(text(hit, "kind")).or_default() += 1;
        }
        if let Some((_, spec)) = languages::of_file(text(hit, "file"), b"") {
            *written.entry(spec.id).or_default() += 1;
        }
        if let Some((folder, _)) = text(hit, "file").split_once('/') {
            *folders.entry(folder).or_default() += 1;
        }
    }
    let sort = if matches!(sort, NAMES | REST) { "" } else { sort };
    let query = asked.value("q");
    let mut links: Vec<(String, usize, String)> = Vec::new();
    if kinds.len() > 1 {
        let of_kind = |kind: &str| changed(asked, &[("q", &format!("{query} kind:{kind}")), ("in", "symbols")]);
        links.extend(kinds.iter().map(|(kind, count)| ((*kind).to_owned(), *count, of_kind(kind))));
    }
    if written.len() > 1 {
        let of_language = |language: &str| changed(asked, &[("language", language), ("in", sort)]);
        links.extend(written.iter().map(|(language, count)| ((*language).to_owned(), *count, of_language(language))));
    }
    if folders.len() > 1 {
        // A glob would mean others.
        let plain = folders.iter().filter(|(folder, _)| !folder.contains(['*', '?', '[', '{', '\\']));
        let below = |folder: &str| changed(asked, &[("file", &format!("{folder}/**")), ("in", sort)]);
        links.extend(plain.map(|(folder, count)| (format!("{folder}/"), *count, below(folder))));
    }
    html! {
        @if !links.is_empty() {
            nav.facets aria-label={ "Narrower " (what) } {
                @for (name, count, address) in links.iter().take(MOST_FACETS) {
                    a href=(address) { (Visible(name)) " " (count) }
                    " "
                }
            }
        }
    }
}

/// Results of a sort: few beside those of others, or as one types.
fn limit(asked: &Asked<'_>, sort: &str) -> u32 {
    if matches!(sort, "" | NAMES | REST) || !asked.value("few").is_empty() { FEW } else { MANY }
}

pub(super) fn list<'v>(value: &'v Value, key: &str) -> &'v [Value] {
    value[key].as_array().map_or(&[], Vec::as_slice)
}

/// A string of an answer; empty if it is not there.
pub(super) fn text<'v>(value: &'v Value, key: &str) -> &'v str {
    value[key].as_str().unwrap_or_default()
}

/// The repository of a result.
fn repo_of<'v>(asked: &'v Asked<'_>, answer: &'v Value, result: &'v Value) -> &'v str {
    let own = [text(result, "repo"), asked.value("repo"), answer["_meta"]["repo"].as_str().unwrap_or_default()];
    own.into_iter().find(|repo| !repo.is_empty()).unwrap_or_default()
}

pub(super) fn problem(why: &str) -> Markup {
    html! { p.problem { (Visible(why)) } }
}

/// Symbols that a query finds.
fn found(asked: &Asked<'_>, sort: &str) -> Markup {
    match search(asked, sort) {
        Ok(answer) => symbols(asked, sort, &answer, 0),
        Err(why) => problem(&why),
    }
}

/// The symbols that answer a sentence best, with their code, and the others.
fn answered(asked: &Asked<'_>) -> [Markup; 2] {
    let answer = match search(asked, NAMES) {
        Ok(answer) => answer,
        Err(why) => return [problem(&why), problem(&why)],
    };
    let repo_of = |hit: &Value| repo_of(asked, &answer, hit).to_owned();
    let context = context::typed(asked, list(&answer, "results"), text(&answer, "confidence"), repo_of);
    [context, symbols(asked, NAMES, &answer, context::MOST)]
}

fn search(asked: &Asked<'_>, sort: &str) -> Result<Value, String> {
    let mut args = Map::new();
    args.insert("query".to_owned(), asked.value("q").into());
    args.insert("max_results".to_owned(), limit(asked, sort).into());
    call(asked, "search_symbols", args)
}

/// Symbols of an answer after those that are `shown` already. The first of all has its code beneath it.
fn symbols(asked: &Asked<'_>, sort: &str, answer: &Value, shown: usize) -> Markup {
    let found = list(answer, "results");
    if found.is_empty() {
        let near = list(&answer["negative_evidence"], "nearest").iter().filter_map(Value::as_str);
        let near: Vec<&str> = near.collect();
        return html! {
            p.weak { "No symbol." }
            @if !near.is_empty() { p.weak { "Near: " (Visible(&near.join(", "))) } }
        };
    }
    let words = words(asked);
    let code = found.first().filter(|_| shown == 0).and_then(|first| {
        let repo = repo_of(asked, answer, first);
        context::Codes::new(asked).beginning(repo, text(first, "id"))
    });
    html! {
        (narrower(asked, "symbols", sort, found))
        ol.symbols {
            @for (place, hit) in found.iter().enumerate().skip(shown) {
                @let repo = repo_of(asked, answer, hit);
                @let line = hit["line"].as_u64().unwrap_or(1) as u32;
                li {
                    a.hit href=(links::line(repo, text(hit, "file"), line)) {
                        (Marked { text: text(hit, "name"), words: &words })
                    }
                    " " span.kind { (text(hit, "kind")) } " "
                    span.place {
                        @if asked.value("repo").is_empty() { (Visible(repo)) " " }
                        (Visible(text(hit, "file"))) ":" (line)
                    }
                    " " a.place.to-uses href=(links::symbol_by_id(repo, text(hit, "id"))) { "uses" }
                    @if let Some(code) = code.as_ref().filter(|_| place == 0) {
                        (context::snippet(code, &words))
                    } @else {
                        div.line { code { (Marked { text: text(hit, "signature"), words: &words }) } }
                    }
                    @if !text(hit, "summary").is_empty() { div.summary { (Visible(text(hit, "summary"))) } }
                }
            }
        }
    }
}

fn files(asked: &Asked<'_>, sort: &str) -> Markup {
    let registry = asked.cx.indexes.registry();
    let repos = match asked.value("repo") {
        "" => registry.all(),
        repo => registry.get(repo).into_iter().collect(),
    };
    let request = view::request();
    let caller = asked.cx.caller(&request);
    let glob = match asked.value("file") {
        "" => None,
        pattern => match path_glob(pattern) {
            Ok(glob) => Some(glob),
            Err(err) => return problem(&err.message),
        },
    };
    let language = Some(asked.value("language")).filter(|it| !it.is_empty()).map(languages::named);
    let keep = |file: &FileView<'_>| {
        glob.as_ref().is_none_or(|glob| glob.is_match(file.path()))
            && language.as_ref().is_none_or(|language| file.language() == language)
    };
    let mut found: Vec<(u32, String, String)> = Vec::new();
    for sidecar in repos {
        let Ok(repo) = codelode_service::catalog::indexes::open_as_indexed(&caller, Some(&sidecar.repo)) else {
            continue;
        };
        let like = query::files_like(&repo.snapshot, asked.value("q"), &keep, limit(asked, sort) as usize);
        found.extend(like.into_iter().map(|(rank, path)| (rank, sidecar.repo.clone(), path)));
    }
    found.sort();
    found.truncate(limit(asked, sort) as usize);
    let words = words(asked);
    html! {
        @if found.is_empty() { p.weak { "No file." } }
        ol.symbols {
            @for (_, repo, path) in &found {
                li {
                    a.hit href=(links::file(repo, path)) { (Marked { text: path, words: &words }) }
                    @if asked.value("repo").is_empty() { " " span.place { (Visible(repo)) } }
                }
            }
        }
    }
}

/// The regular expression that a query is: `/…/`.
fn pattern<'a>(asked: &'a Asked<'_>) -> Option<&'a str> {
    let inner = asked.value("q").trim().strip_prefix('/')?.strip_suffix('/')?;
    (!inner.is_empty()).then_some(inner)
}

fn lines(asked: &Asked<'_>, sort: &str) -> Markup {
    let is_on = |key: &str| !asked.value(key).is_empty();
    let (query, is_regex) = pattern(asked).map_or((asked.value("q"), is_on("regex")), |inner| (inner, true));
    let mut args = Map::new();
    args.insert("query".to_owned(), query.into());
    args.insert("max_results".to_owned(), limit(asked, sort).into());
    let switches = [("is_regex", is_regex), ("case_sensitive", is_on("case")), ("whole_word", is_on("word"))];
    args.extend(switches.map(|(name, value)| (name.to_owned(), value.into())));
    let answer = match call(asked, "search_text", args) {
        Ok(answer) => answer,
        Err(why) => return problem(&why),
    };
    let pattern = Pattern {
        patterns: vec![query.to_owned()],
        fixed: !is_regex,
        case: if is_on("case") { Case::Sensitive } else { Case::Insensitive },
        word: is_on("word"),
        ..Pattern::default()
    };
    let found = list(&answer, "results");
    let matcher = if found.is_empty() { None } else { pattern.compile().ok() };
    let places = |line: &str| matcher.as_ref().map_or_else(Vec::new, |matcher| matcher.places(line));
    html! {
        (narrower(asked, "text", sort, found))
        @if found.is_empty() { p.weak { "No line." } }
        @for file in found {
            @let (repo, path) = (repo_of(asked, &answer, file), text(file, "file"));
            h3 {
                a href=(links::file(repo, path)) { (Visible(path)) }
                @if asked.value("repo").is_empty() { " " span.place { (Visible(repo)) } }
            }
            ol.uses {
                @for hit in list(file, "matches") {
                    @let line = hit["line"].as_u64().unwrap_or(1) as u32;
                    li { a href=(links::line(repo, path, line)) {
                        span.at { (line) } " " code { (Placed { text: text(hit, "text"), places: &places(text(hit, "text")) }) }
                    } }
                }
            }
        }
        @if let Some(total) = answer["total"].as_u64() {
            p.weak { (total) @if answer["at_least"] == true { " or more" } " in all" }
        }
    }
}
