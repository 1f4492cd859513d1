//! Page of a folder in a version: of a commit, a tag or a branch.

use maud::{Markup, html};

use super::failure::Failure;
use super::folder::{crumbs_in, described, readme_of};
use super::layout::Page;
use super::links;
use super::margin::history;
use super::routes::{Asked, Reply};
use super::start::grouped;
use super::text::Visible;
use super::view::{Made, View};
use codelode_lang::languages;
use codelode_query::{FolderEntry, History};

/// Entries on one page.
const MOST: usize = 5_000;
/// Digits of a commit in an address.
pub(super) const DIGITS: usize = 16;
/// Digits of a commit for reading.
const SHOWN: usize = 10;

/// Shows a folder in a version.
pub(super) fn folder(asked: &Asked<'_>, view: &View<'_>, version: &str, path: &str) -> Made<Reply> {
    let missing = || {
        let why = format!("The history of {} has no folder {path:?} in the version {version:?}.", view.id());
        Failure::missing(why).instead(links::folder(view.id(), path), "This folder now")
    };
    let history = history(asked, view).map_err(|_| missing())?;
    let commit = history.commit(version).map_err(|_| missing())?;
    let listed = history.folder(&commit, path, MOST).map_err(|_| missing())?;
    let Some((entries, all)) = listed.filter(|(entries, _)| path.is_empty() || !entries.is_empty()) else {
        let is_file = history.file(&commit, path, asked.cx.config.max_file_size).is_ok_and(|text| text.is_some());
        let file = || Reply::Elsewhere(links::version(view.id(), version, path));
        return if is_file { Ok((file(), Vec::new())) } else { Err(missing()) };
    };
    let short = &commit[..commit.len().min(SHOWN)];
    let title = format!("{} at {short}", if path.is_empty() { view.id() } else { path });
    let body = html! {
        main {
            (crumbs_in(view.id(), Some(version), path))
            h1.out-of-sight { "Files of " (Visible(&title)) }
            p.facts {
                "As of commit " a href=(links::change(view.id(), &[("commit", &commit)])) { code { (short) } } ". "
                a href=(links::folder(view.id(), path)) { "This folder now" }
                span.acts { a #permalink href=(permanent(view.id(), &commit, path)) { "Permalink" } }
            }
            div.scrolls tabindex="0" role="region" aria-label="Files" { table.files {
                thead { tr {
                    th scope="col" { "Name" }
                    th scope="col" { "Language" }
                    th.number scope="col" { "Bytes" }
                } }
                tbody { @for entry in &entries { (row(view.id(), version, path, entry)) } }
            } }
            @if all > entries.len() { p.weak { "and " (grouped((all - entries.len()) as u64)) " more" } }
            (readme(asked, view, &history, (version, &commit), path, &entries))
        }
    };
    Ok((Reply::Page(Page::of_repo(title, view.id(), body)), Vec::new()))
}

/// Address of a folder in a commit, which always shows the same.
pub(super) fn permanent(repo: &str, commit: &str, path: &str) -> String {
    links::version(repo, &commit[..commit.len().min(DIGITS)], &slashed(path))
}

/// The path of a folder as it ends in an address.
fn slashed(path: &str) -> String {
    if path.is_empty() { String::new() } else { format!("{path}/") }
}

fn row(repo: &str, version: &str, path: &str, entry: &FolderEntry) -> Markup {
    let whole = format!("{}{}", slashed(path), entry.name);
    let language = languages::of_file(&whole, b"").map_or("", |(_, spec)| spec.id);
    html! {
        tr {
            @if entry.is_folder {
                th scope="row" { a.folder href=(links::version(repo, version, &slashed(&whole))) { (Visible(&entry.name)) } }
                td colspan="2" {}
            } @else {
                th scope="row" { a href=(links::version(repo, version, &whole)) { (Visible(&entry.name)) } }
                td { (language) }
                td.number { @if let Some(size) = entry.size { (grouped(size)) } }
            }
        }
    }
}

/// The description of the folder in that version.
fn readme(
    asked: &Asked<'_>,
    view: &View<'_>,
    history: &History,
    (version, commit): (&str, &str),
    path: &str,
    entries: &[FolderEntry],
) -> Markup {
    let files = entries.iter().filter(|entry| !entry.is_folder).map(|entry| entry.name.as_str());
    let file = readme_of(files).map(|name| format!("{}{name}", slashed(path)));
    let text = |file: &String| history.file(commit, file, asked.cx.config.max_file_size).ok().flatten();
    match file.as_ref().and_then(|file| Some((file, text(file)?))) {
        Some((file, text)) => described(&links::root(view.id(), Some(version)), file, &text),
        None => html! {},
    }
}
