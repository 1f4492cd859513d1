//! Hovers: signature and documentation of the symbol that a link leads to.

use maud::html;

use super::code::shown_as;
use super::failure::Failure;
use super::lines::in_colours;
use super::routes::{Asked, Place, Reply};
use super::text::{Visible, plain};
use super::{links, symbol, view};
use codelode_service::catalog::related;

/// Characters of a signature, and of documentation.
const SIGNATURE: usize = 600;
const DOC: usize = 1_200;

/// The symbol with an id, or of a name that is defined on a line.
pub(super) fn part(asked: &Asked<'_>, place: &Place) -> Result<Reply, Failure> {
    view::on(asked.cx, &place.repo, |view| {
        let symbol = match asked.value("id") {
            "" => {
                let (line, name) = (asked.number("line").unwrap_or(0), asked.value("name"));
                let mut there = view.file(&place.path)?.symbols().filter(|symbol| symbol.line() == line);
                let first = there.next().ok_or_else(|| Failure::missing("Nothing is defined there."))?;
                // A line may define several, and a name may be written otherwise than it is defined.
                [first].into_iter().chain(there).find(|symbol| symbol.name() == name).unwrap_or(first)
            }
            id => related::symbol(view.repo, id)?,
        };
        let doc: String = symbol.docstring().chars().take(DOC).collect();
        let uses = view.edges.users(symbol.number()).count();
        let part = html! {
            pre { code { (in_colours(&symbol.signature(SIGNATURE), shown_as(symbol.file))) } }
            @if !doc.trim().is_empty() { div.doc { (Visible(doc.trim())) } }
            p.weak {
                (symbol.detail().as_str()) " · " (Visible(symbol.file.path())) ":" (symbol.line()) " · "
                a.uses-of data-id=(plain(&symbol.id()))
                    href=(links::panel(view.id(), symbol.file.path(), &symbol.id(), symbol.line(), &[])) { (uses) @if uses == 1 { " use" } @else { " uses" } }
                @if let Some((address, name)) = symbol::picture(view, &symbol) { " · " a.picture-of href=(address) { (name) } }
            }
        };
        Ok((Reply::Part(part), vec![symbol.file.path().to_owned()]))
    })
}
