//! Page of a change: the symbols that a commit changed, or that changed since one, and what that may break.

use std::collections::HashMap;
use std::time::Duration;

use maud::{Markup, PreEscaped, html};

use super::failure::Failure;
use super::folder::crumbs;
use super::layout::Page;
use super::links;
use super::margin::history;
use super::names::class;
use super::routes::{Asked, Reply};
use super::start::{ago, counted, grouped};
use super::text::{Visible, plain};
use super::view::{self, View};
use codelode_http::StatusCode;
use codelode_query::pictures;
use codelode_query::review::{Touched, touched};
use codelode_query::{Between, Bounds, ComparisonEnd, History, HistoryError, LogEntry};
use codelode_store::SymbolView;

/// Files of a list, and symbols of a file.
const MOST: usize = 300;
const MOST_SYMBOLS: usize = 40;
/// Steps that uses are followed in the picture of the page.
const DEPTH: u32 = 2;
/// Changed symbols whose users are in the picture.
const MOST_FOLLOWED: usize = 500;
/// Processor time for reading a commit's files.
const READING: Duration = Duration::from_millis(600);

/// Branches and tags that are proposed.
const MOST_PROPOSED: usize = 50;

/// A change that was read.
pub(super) struct Read {
    between: Between,
    /// The commit, for a change that is one.
    commit: Option<LogEntry>,
}

/// Reads the change that a request names: `commit`, or `since` with an end `until` or the current files.
pub(super) fn read(asked: &Asked<'_>, view: &View<'_>) -> Result<Read, Failure> {
    let unavailable = |why: String| Failure::new(StatusCode::SERVICE_UNAVAILABLE, format!("No change: {why}."));
    let history = history(asked, view).map_err(unavailable)?;
    let found = |err: HistoryError| match err {
        HistoryError::NoCommit(_) | HistoryError::PastEnd(_) => Failure::missing(err.to_string()),
        err => unavailable(err.to_string()),
    };
    let limit = asked.cx.config.max_file_size;
    match asked.value("commit") {
        "" => {
            let root = view.repo.root.as_deref().ok_or_else(|| Failure::missing("Its folder is not here."))?;
            let since = if asked.value("since").is_empty() { "HEAD" } else { asked.value("since") };
            let until = match asked.value("until") {
                "" => ComparisonEnd::Worktree,
                until => ComparisonEnd::Commit(until),
            };
            let between = Between::read(&history, view.snapshot, root, (since, until), limit).map_err(found)?;
            Ok(Read { between, commit: None })
        }
        commit => {
            let logged = logged(&history, commit).map_err(found)?;
            let changed = history.changed_by(&logged).map_err(found)?;
            let bounds = Bounds::within(limit, READING);
            let between = Between::commit(&history, view.snapshot, &logged, changed, &bounds).map_err(found)?;
            Ok(Read { between, commit: Some(logged) })
        }
    }
}

/// Branches and tags to compare with, the newest first.
pub(super) fn versions(asked: &Asked<'_>, repo: &str) -> Result<Reply, Failure> {
    view::on(asked.cx, repo, |view| {
        // A repository without a history has none to compare with.
        let names = history(asked, view).map_or_else(|_| Vec::new(), |history| history.names(MOST_PROPOSED));
        let part = html! { @for name in ["HEAD~1".to_owned()].iter().chain(&names) { option value=(plain(name)) {} } };
        Ok((Reply::Part(part), Vec::new()))
    })
}

fn logged(history: &History, commit: &str) -> Result<LogEntry, HistoryError> {
    let id = history.commit(commit)?;
    history.logged(&id).ok_or_else(|| HistoryError::Unreadable(format!("the commit {id} is not in this clone")))
}

/// The picture of what a change may break.
pub(super) fn picture(view: &View<'_>, read: &Read, depth: u32) -> pictures::Graph {
    let changes = read.between.changes();
    drawn(view, &touched(view.snapshot, &changes), depth)
}

/// Changed symbols that have users to be drawn.
fn followed<'t, 'a>(touched: &'t [Touched<'_, 'a>]) -> impl Iterator<Item = SymbolView<'a>> + use<'t, 'a> {
    touched.iter().filter(|it| !it.is_inside && !it.is_of_test()).filter_map(|it| it.symbol)
}

fn drawn(view: &View<'_>, touched: &[Touched<'_, '_>], depth: u32) -> pictures::Graph {
    let symbols: Vec<SymbolView<'_>> = followed(touched).take(MOST_FOLLOWED).collect();
    let link = |symbol: &SymbolView<'_>| links::line(view.id(), symbol.file.path(), symbol.line());
    pictures::blast(view.snapshot, view.edges, &symbols, depth, &link)
}

/// Shows a change.
pub(super) fn page(asked: &Asked<'_>, repo: &str) -> Result<Page, Failure> {
    view::on(asked.cx, repo, |view| {
        let read = read(asked, view)?;
        let changes = read.between.changes();
        let touched = touched(view.snapshot, &changes);
        let title = match &read.commit {
            Some(commit) => commit.subject().to_owned(),
            None => format!("Changes since {}", asked.value("since")),
        };
        let graph = drawn(view, &touched, DEPTH);
        let pairs = ["commit", "since", "until"].map(|key| (key, asked.value(key)));
        let drawing = links::picture(view.id(), "", &[&[("of", "change")], &pairs[..]].concat());
        let body = html! {
            main.symbol {
                (crumbs(view.id(), ""))
                h1 { (Visible(&title)) }
                (head(view, &read))
                p.facts {
                    (counted(read.between.n_files(), "file")) ", " (counted(touched.len(), "symbol")) " changed"
                    span.acts { a href=(drawing) { "What it may break, as a picture" } }
                }
                @if !read.between.is_whole {
                    p.problem { "It changes more than is read for one page: of some files no symbols are shown." }
                }
                (files(asked, view, &read, &touched))
                @if !graph.edges.is_empty() {
                    section {
                        h2 { "What it may break" }
                        @if followed(&touched).nth(MOST_FOLLOWED).is_some() {
                            p.weak { "By the users of the first " (MOST_FOLLOWED) " symbols that it changed." }
                        }
                        div.scrolls tabindex="0" role="region" aria-label="Picture" {
                            (PreEscaped(pictures::svg(&graph, &format!("Users of {title}"), true)))
                        }
                    }
                }
            }
        };
        Ok((Page::of_repo(title, view.id(), body), Vec::new()))
    })
}

/// Author, time and message of a commit.
fn head(view: &View<'_>, read: &Read) -> Markup {
    let Some(commit) = &read.commit else { return html! {} };
    let rest = commit.message.trim().split_once('\n').map_or("", |(_, rest)| rest.trim());
    html! {
        p.weak {
            (Visible(&commit.author)) ", " (ago(commit.time)) ", " code { (commit.commit.get(..10).unwrap_or(&commit.commit)) }
            @for parent in &commit.parents {
                " " a href=(links::change(view.id(), &[("commit", parent)])) { "parent " (parent.get(..10).unwrap_or(parent)) }
            }
        }
        @if !rest.is_empty() { div.doc { (Visible(rest)) } }
    }
}

/// Changed files with their changed symbols; the file that the request names comes first.
fn files(asked: &Asked<'_>, view: &View<'_>, read: &Read, touched: &[Touched<'_, '_>]) -> Markup {
    let mut all: Vec<(&str, bool, bool)> = read.between.paths().collect();
    all.sort_by_key(|(path, ..)| (*path != asked.value("path"), *path));
    let since = read.between.since.as_str();
    let mut of_file: HashMap<&str, Vec<&Touched<'_, '_>>> = HashMap::new();
    for it in touched.iter().filter(|it| !it.is_inside) {
        of_file.entry(it.version().file).or_default().push(it);
    }
    let address = |path: &str| {
        let file = match &read.between.until {
            Some(until) => links::version(view.id(), until, path),
            None => links::file(view.id(), path),
        };
        links::with_query(file, &[("since", since)])
    };
    html! {
        @for (path, was, is) in all.iter().take(MOST) {
            @let symbols = of_file.get(path).map_or(&[][..], Vec::as_slice);
            h2 {
                @if *is { a href=(address(path)) { (Visible(path)) } }
                @else if since.is_empty() { (Visible(path)) }
                @else { a href=(links::version(view.id(), since, path)) { (Visible(path)) } }
                " " span.weak { @if !*was { "new" } @else if !*is { "removed" } }
            }
            ul.symbols {
                @for it in symbols.iter().take(MOST_SYMBOLS) {
                    @let name = it.version().qualified_name.as_str();
                    li {
                        @if let Some(symbol) = &it.symbol {
                            a class=(class(symbol, false)) href=(links::symbol(view.id(), symbol)) { (Visible(name)) }
                        } @else { code { (Visible(name)) } }
                        " " span class=(plain(&format!("badge {}", it.change.as_str()))) { (it.change.as_str()) }
                    }
                }
                @if symbols.len() > MOST_SYMBOLS { li.weak { "and " (symbols.len() - MOST_SYMBOLS) " more" } }
            }
        }
        @if all.len() > MOST { p.weak { "and " (grouped((all.len() - MOST) as u64)) " more files" } }
        @if all.is_empty() { p { "Nothing is different." } }
    }
}
