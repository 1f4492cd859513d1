//! Page of a name in a text: what it may mean, where it is bound and used if it is local, or where it comes from.

use std::time::{Duration, Instant};

use maud::{Markup, html};

use super::failure::Failure;
use super::folder::crumbs;
use super::layout::Page;
use super::lines::Window;
use super::links;
use super::routes::{Asked, Place, Reply};
use super::symbol::list;
use super::text::Visible;
use super::view::{self, View};
use codelode_base::model::{How, Span};
use codelode_query::text::colours;
use codelode_query::text::window::pieces;
use codelode_query::{self as query, LineCount};
use codelode_store::{Edge, FileView};

/// Uses of a local name on a page, and characters of a line.
const MOST_USES: usize = 300;
const LINE: usize = 200;
/// Time limit for parsing.
const PARSING: Duration = Duration::from_millis(300);

/// Shows what a name at a byte may mean; leads to its only definition.
pub(super) fn page(asked: &Asked<'_>, place: &Place) -> Result<Reply, Failure> {
    view::on(asked.cx, &place.repo, |view| {
        let file = view.file(&place.path)?;
        let missing = || Failure::missing("There is no name any more at this place.");
        let byte = asked.number("byte").ok_or_else(missing)?;
        let at = query::name_at(view.edges, file, byte);
        let edge = at.and_then(|name| name.edge);
        let own = edge.map(view::span).or_else(|| query::word_at(file, byte)).ok_or_else(missing)?;
        let name = String::from_utf8_lossy(own.of(file.content())).into_owned();
        let targets = edge.map(|edge| view.targets(edge)).unwrap_or_default();
        if let [only] = &targets[..] {
            return Ok((Reply::Elsewhere(links::line(view.id(), only.file.path(), only.line())), Vec::new()));
        }
        let local = if edge.is_none() { local(file, byte) } else { None };
        let body = html! {
            main.symbol {
                (crumbs(view.id(), file.path()))
                h1 { (Visible(&name)) }
                @if let Some((bound, uses)) = local { (bindings(view, file, bound, &uses)) }
                @else if !targets.is_empty() {
                    p { "In " (line_of(view, file, own.start)) " it means any of these:" }
                    (list(view, &targets, false))
                } @else { (unresolved(view, file, own, edge, &name)) }
                p { a href=(links::search(&[("q", &name), ("repo", view.id()), ("word", "1")])) { "Search for this word" } }
            }
        };
        let paths = vec![file.path().to_owned()];
        Ok((Reply::Page(Page::of_repo(name, view.id(), body)), paths))
    })
}

/// The place where the local name at a byte is bound, and its other places.
fn local(file: FileView<'_>, byte: u32) -> Option<(Span, Vec<Span>)> {
    let content = file.content();
    let outermost = file.symbols().map(|symbol| symbol.span()).find(|span| span.start <= byte && byte < span.end);
    let line = LineCount::default().line_of(content, byte);
    let part = outermost.unwrap_or_else(|| Window::around(content, line).span);
    colours::prepare(file.spec());
    let until = Instant::now() + PARSING;
    let words = colours::read(content, part, &pieces(file, part), file.spec(), &|| Instant::now() >= until).words;
    let bound = words.iter().find(|word| word.span.start == byte)?.bound?;
    let is_use = |span: &Span| *span != bound;
    let uses = words.iter().filter(|word| word.bound == Some(bound)).map(|word| word.span).filter(is_use);
    Some((bound, uses.collect()))
}

/// The place where a local name is bound, and where it is used.
fn bindings(view: &View<'_>, file: FileView<'_>, bound: Span, uses: &[Span]) -> Markup {
    let content = file.content();
    let mut lines = LineCount::default();
    let mut row = |span: &Span| {
        let number = lines.line_of(content, span.start);
        let start = memchr::memrchr(b'\n', &content[..span.start as usize]).map_or(0, |newline| newline + 1);
        let end = memchr::memchr(b'\n', &content[start..]).map_or(content.len(), |newline| start + newline);
        let text: String = String::from_utf8_lossy(&content[start..end]).trim().chars().take(LINE).collect();
        html! {
            li { a href=(links::line(view.id(), file.path(), number)) { span.at { (number) } " " code { (Visible(&text)) } } }
        }
    };
    html! {
        p { "A local name, bound here:" }
        ol.uses { (row(&bound)) }
        h2 { "Uses " span.weak { (uses.len()) } }
        ol.uses { @for span in uses.iter().take(MOST_USES) { (row(span)) } }
        @if uses.len() > MOST_USES { p.weak { "and " (uses.len() - MOST_USES) " more" } }
    }
}

/// A name that is bound to no definition here.
fn unresolved(view: &View<'_>, file: FileView<'_>, own: Span, edge: Option<&Edge>, name: &str) -> Markup {
    let found = query::named(view.snapshot, name);
    let import = edge.and_then(|_| query::imports_of(file, &[own.start]).pop());
    let is_outside = edge.is_some_and(|edge| matches!(edge.how(), How::Outside | How::OtherReceiver));
    html! {
        p {
            "In " (line_of(view, file, own.start))
            @if let Some((_, import)) = import { " it comes from outside of the repository, by the import in " (line_of(view, file, import)) "." }
            @else if is_outside { " it comes from outside of the repository, such as from the language itself." }
            @else if found.is_empty() { " it is not resolved, and nothing of this name is defined here: it may come from the language or a package." }
            @else { " it is not resolved. It may mean any of these, of which only the name matches:" }
        }
        @if !is_outside { (list(view, &found, false)) }
    }
}

/// A link to the line of a byte.
fn line_of(view: &View<'_>, file: FileView<'_>, byte: u32) -> Markup {
    let line = query::line_of(file, byte);
    html! { a href=(links::line(view.id(), file.path(), line)) { "line " (line) } }
}
