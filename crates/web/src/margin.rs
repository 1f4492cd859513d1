//! Margin of a file's lines: who changed them last, and those that differ from an earlier version.

use std::fmt::Write as _;

use super::lines::{Beside, Window};
use super::links;
use super::routes::Asked;
use super::start::ago;
use super::text;
use super::view::View;
use codelode_query::{Blamed, History, Hunk, changed_lines};
use codelode_service::catalog::blame;
use codelode_store::FileView;

/// Characters of an author's name.
const AUTHOR: usize = 14;
/// Lines that are gone, of a page.
const MOST_GONE: usize = 3_000;

/// A text of a file: the current one, or that of a commit.
pub(super) struct Version<'a> {
    pub path: &'a str,
    pub content: &'a [u8],
    /// The commit; `None` for the current text.
    pub commit: Option<&'a str>,
    /// The file as it is indexed, if this is its text.
    pub file: Option<FileView<'a>>,
}

/// The margin that a request asks for, and why a part of it is missing.
pub(super) fn beside(
    asked: &Asked<'_>,
    view: &View<'_>,
    version: &Version<'_>,
    window: &Window,
) -> (Beside, Vec<String>) {
    let (mut beside, mut problems) = (Beside::default(), Vec::new());
    if !asked.value("since").is_empty() {
        problems.extend(compared(asked, view, version, window, &mut beside).err());
    }
    if !asked.value("blame").is_empty() {
        match blamed(asked, view, version, window) {
            Ok(margin) => beside.margin = margin,
            Err(why) => problems.push(format!("No blame: {why}.")),
        }
    }
    (beside, problems)
}

/// The history of a repository.
pub(super) fn history(asked: &Asked<'_>, view: &View<'_>) -> Result<History, String> {
    let root = view.repo.root.as_deref().ok_or("its folder is not on this machine, so neither is its history")?;
    History::open(root, &asked.cx.config.secrets).map_err(|err| err.to_string())
}

/// Marks the lines that differ from those of the version `since`.
fn compared(
    asked: &Asked<'_>,
    view: &View<'_>,
    version: &Version<'_>,
    window: &Window,
    beside: &mut Beside,
) -> Result<(), String> {
    let history = history(asked, view)?;
    let since = history.commit(asked.value("since")).map_err(|err| err.to_string())?;
    let old = history.file(&since, version.path, asked.cx.config.max_file_size).map_err(|err| err.to_string())?;
    let is_new_file = old.is_none();
    let old = old.unwrap_or_default();
    let starts: Vec<&[u8]> = old.split_inclusive(|byte| *byte == b'\n').collect();
    let mut room = MOST_GONE;
    for Hunk { before, after } in changed_lines(&old, version.content) {
        beside.new.extend((after.start + 1..=after.end).filter(|line| (window.first..=window.last).contains(line)));
        let line = after.start + 1;
        if !(window.first..=window.last + 1).contains(&line) {
            continue;
        }
        let gone = &starts[before.start as usize..before.end as usize];
        let shown = gone.iter().take(room).map(|line| line.trim_ascii_end().to_vec()).collect::<Vec<_>>();
        room -= shown.len();
        beside.gone.entry(line).or_default().extend(shown);
    }
    if is_new_file {
        return Err(format!("The file was not there at {:?}.", asked.value("since")));
    }
    Ok(())
}

/// The margin with the last commit of each line in a window.
fn blamed(asked: &Asked<'_>, view: &View<'_>, version: &Version<'_>, window: &Window) -> Result<Vec<String>, String> {
    let history = history(asked, view)?;
    let commit = history.commit(version.commit.unwrap_or("HEAD")).map_err(|err| err.to_string())?;
    let committed = history.file(&commit, version.path, asked.cx.config.max_file_size);
    let committed = committed.map_err(|err| err.to_string())?.ok_or("no commit has it yet")?;
    let lines = committed_lines(&changed_lines(&committed, version.content), window);
    let known = || lines.iter().flatten().copied();
    let blamed = match known().min().zip(known().max()) {
        Some((first, last)) => blame::of_lines(view.repo, &commit, version.path, first..=last)?,
        None => Vec::new(),
    };
    let of = |line: u32| {
        let place = blamed.partition_point(|entry| *entry.lines.end() < line);
        blamed.get(place).filter(|entry| entry.lines.contains(&line))
    };
    let mut before: Option<Option<&str>> = None;
    let mut margin = Vec::with_capacity(lines.len());
    for (number, line) in (window.first..).zip(lines) {
        let entry = line.and_then(of);
        let commit = entry.map(|entry| entry.commit.as_str());
        let begins = before != Some(commit);
        let mut cell = String::from(if begins { "<span class=\"by first\">" } else { "<span class=\"by\">" });
        if begins {
            write_entry(&mut cell, view, version.path, entry);
        }
        before = Some(commit);
        if let Some(symbol) = version.file.and_then(|file| file.symbols().find(|symbol| symbol.line() == number)) {
            let further = [("show", "history"), ("blame", "1")];
            let link = links::panel(view.id(), version.path, &symbol.id(), number, &further);
            cell.push_str("<a class=\"past\" href=\"");
            text::write(&mut cell, &link);
            cell.push_str("\" aria-label=\"History of ");
            text::write(&mut cell, &text::plain(&symbol.name()));
            cell.push_str("\">↺</a>");
        }
        cell.push_str("</span>");
        margin.push(cell);
    }
    Ok(margin)
}

fn write_entry(cell: &mut String, view: &View<'_>, path: &str, entry: Option<&Blamed>) {
    let Some(entry) = entry else {
        cell.push_str("<em>not committed</em>");
        return;
    };
    cell.push_str("<a href=\"");
    text::write(cell, &links::change(view.id(), &[("commit", &entry.commit), ("path", path)]));
    cell.push_str("\" title=\"");
    let short = &entry.commit[..entry.commit.len().min(10)];
    text::write(cell, &text::plain(&format!("{}\n{} {short}", entry.title, entry.author)));
    cell.push_str("\">");
    let author: String = entry.author.chars().take(AUTHOR).collect();
    text::write(cell, &author);
    _ = write!(cell, "</a> {}", ago(entry.time));
}

/// For each line of a window the line of the committed text, one-based; `None` for one that is not committed.
fn committed_lines(hunks: &[Hunk], window: &Window) -> Vec<Option<u32>> {
    let of = |line: u32| {
        let place = hunks.partition_point(|hunk| hunk.after.end <= line);
        match hunks.get(place) {
            Some(hunk) if hunk.after.contains(&line) => None,
            // Past the last hunk before it, both texts go on alike.
            _ => Some(
                place.checked_sub(1).map_or(line, |last| line - hunks[last].after.end + hunks[last].before.end) + 1,
            ),
        }
    };
    (window.first..=window.last).map(|line| of(line - 1)).collect()
}

#[cfg(test)]
mod tests {
    use super::committed_lines;
    use crate::lines::Window;
    use codelode_query::changed_lines;

    #[test]
    fn lines_are_found_again_in_the_committed_text() {
        let (old, new) = (b"a\nb\nc\nd\n", b"x\na\nc\ny\nd\n");
        let lines = committed_lines(&changed_lines(old, new), &Window::around(new, 1));
        assert_eq!(lines, [None, Some(1), Some(3), None, Some(4)]);
    }
}
