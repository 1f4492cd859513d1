//! Page of a file: its lines, outline, and how many of its names are resolved. A version is another text of the file: a
//! commit's, or the one with a hash.

use maud::{Markup, PreEscaped, html};

use super::failure::Failure;
use super::folder::{crumbs, crumbs_in};
use super::layout::Page;
use super::lines::{self, Beside, Window};
use super::margin::{self, Version};
use super::names::{self, names};
use super::routes::{Asked, Place, Reply};
use super::start::grouped;
use super::text::{Visible, plain};
use super::view::{self, View};
use super::{links, markdown, meanings, panel, versions};
use codelode_lang::languages::{self, LanguageSpec};
use codelode_query::text::colours::{Colour, HighlightedRange};
use codelode_query::text::window::{Pieces, pieces};
use codelode_query::{self as query, History};
use codelode_service::tools::Context;
use codelode_store::FileView;

/// Symbols in an outline.
const MOST_SYMBOLS: usize = 2_000;
/// Digits of a hash in an address, and the fewest that are accepted.
const HASH: usize = versions::DIGITS;
const SHORTEST_HASH: usize = 7;

/// Shows a file, as it is or in a version.
pub(super) fn page(asked: &Asked<'_>, place: &Place) -> Result<Reply, Failure> {
    if place.version.is_none() && asked.number("byte").is_some() {
        return meanings::page(asked, place);
    }
    view::on(asked.cx, &place.repo, |view| {
        let (path, at) = (&*place.path, asked.number("at").unwrap_or(1));
        let now = view.snapshot.file(path);
        if let Some(version) = &place.version {
            let is_now = now.is_some_and(|file| is_hash(version) && hash(file).starts_with(version.as_str()));
            let old = match is_now {
                true => None,
                false => match read(asked.cx, view, version, path) {
                    Ok(past) => Some(past),
                    // It may be a folder there.
                    Err(failure) => return versions::folder(asked, view, version, path).map_err(|_| failure),
                },
            };
            if let Some(past) = old.filter(|past| now.is_none_or(|file| file.content() != past.text)) {
                let title = format!("{path} at {}", &past.version[..past.version.len().min(10)]);
                let body = older(asked, view, path, &past, at);
                return Ok((Reply::Page(Page::of_repo(title, view.id(), body)), Vec::new()));
            }
        }
        let Some(file) = now else {
            let is_folder = !query::tree(view.snapshot, path, 1).is_empty();
            return match is_folder {
                true => Ok((Reply::Elsewhere(links::folder(view.id(), path)), Vec::new())),
                false => view.file(path).map(|_| (Reply::Elsewhere(links::folder(view.id(), "")), Vec::new())),
            };
        };
        let page = Page::of_repo(path, view.id(), current(asked, view, file, place.version.as_deref(), at)?);
        Ok((Reply::Page(page), vec![path.to_owned()]))
    })
}

/// The file's own text, as it is or in a version.
pub(super) fn raw(asked: &Asked<'_>, place: &Place) -> Result<Reply, Failure> {
    const KIND: &str = "text/plain; charset=utf-8";
    view::on(asked.cx, &place.repo, |view| {
        let now = view.snapshot.file(&place.path);
        if let Some(version) = &place.version
            && !now.is_some_and(|file| is_hash(version) && hash(file).starts_with(version.as_str()))
        {
            let past = read(asked.cx, view, version, &place.path)?;
            return Ok((Reply::File(KIND, past.text), Vec::new()));
        }
        Ok((Reply::File(KIND, view.file(&place.path)?.content().to_owned()), vec![place.path.clone()]))
    })
}

/// Leads to the address of the file's present version: of the checked-out commit if it has this text, else of its hash.
pub(super) fn permalink(asked: &Asked<'_>, place: &Place) -> Result<Reply, Failure> {
    view::on(asked.cx, &place.repo, |view| {
        let file = view.file(&place.path)?;
        let commit = view.repo.root.as_deref().and_then(|root| {
            let history = History::open(root, &asked.cx.config.secrets).ok()?;
            let head = history.commit("HEAD").ok()?;
            let text = history.file(&head, &place.path, asked.cx.config.max_file_size).ok()??;
            (text == file.content()).then_some(head)
        });
        let version = commit.unwrap_or_else(|| {
            // The text was never committed: nobody else has it. Where it cannot be kept, the address holds as long as the text.
            let _ = asked.cx.indexes.registry().store(&view.repo.sidecar.store).keep(file);
            hash(file)
        });
        let address = links::version(view.id(), &version[..HASH.min(version.len())], &place.path);
        let at = asked.number("at").map(|at| format!("?at={at}")).unwrap_or_default();
        Ok((Reply::Elsewhere(address + &at), vec![place.path.clone()]))
    })
}

/// A text of a file that is not the present one.
struct Past {
    /// Its commit, or the hash of a text that was never committed.
    version: String,
    is_commit: bool,
    text: Vec<u8>,
}

/// The text of a file in a version.
fn read(cx: &Context, view: &View<'_>, version: &str, path: &str) -> Result<Past, Failure> {
    let missing = || {
        let why =
            format!("Neither the index nor the history of {} has {path:?} in the version {version:?}.", view.id());
        Failure::missing(why).instead(links::file(view.id(), path), "The file as it is now")
    };
    let known = view.repo.sidecar.git_head.as_deref().filter(|head| is_hash(version) && head.starts_with(version));
    let Some(root) = &view.repo.root else {
        // The index of a commit elsewhere holds that commit.
        let (head, file) = known.zip(view.snapshot.file(path)).ok_or_else(missing)?;
        return Ok(Past { version: head.to_owned(), is_commit: true, text: file.content().to_owned() });
    };
    let read = || {
        let history = History::open(root, &cx.config.secrets).ok()?;
        let commit = history.commit(version).ok()?;
        let text = history.file(&commit, path, cx.config.max_file_size).ok()??;
        Some(Past { version: commit, is_commit: true, text })
    };
    let kept = || {
        let store = cx.indexes.registry().store(&view.repo.sidecar.store);
        let (version, text) = store.kept(path, version).filter(|_| is_hash(version))?;
        Some(Past { version, is_commit: false, text })
    };
    read().or_else(kept).ok_or_else(missing)
}

/// BLAKE3 of a file's content, in hex.
fn hash(file: FileView<'_>) -> String {
    file.hash().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Whether a version may be a hash or a commit's id.
pub(super) fn is_hash(text: &str) -> bool {
    text.len() >= SHORTEST_HASH && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// A file as it is.
fn current(
    asked: &Asked<'_>,
    view: &View<'_>,
    file: FileView<'_>,
    named: Option<&str>,
    at: u32,
) -> Result<Markup, Failure> {
    let window = Window::around(file.content(), at);
    let painted = lines::painted(file.content(), &window, &pieces(file, window.span), shown_as(file));
    let names = names(view, file, window.span, &painted.words);
    let version = Version { path: file.path(), content: file.content(), commit: None, file: Some(file) };
    let (beside, problems) = margin::beside(asked, view, &version, &window);
    let panel = panel::panel(asked, view, file.path())?;
    let (resolved, all) = names::coverage(view, file);
    let address = links::file(view.id(), file.path());
    let permalink = links::permalink(view.id(), file.path());
    let is_prose = asked.value("as") == "prose" && markdown::is_markdown(file.path());
    Ok(html! {
        div.reader.with-panel[!asked.value("panel").is_empty()] {
            (outline(view, file))
            main {
                (crumbs(view.id(), file.path()))
                h1.out-of-sight { (Visible(file.path())) }
                p.facts {
                    @if let Some(named) = named { "Version " code { (Visible(named)) } ", as it is now. " }
                    (grouped(file.lines().into())) " lines, " (file.language())
                    @if all > 0 {
                        ", " span title="Names from outside of the repository do not count." {
                            (grouped(resolved as u64)) " of " (grouped(all as u64)) " names resolved"
                        }
                    }
                    @if file.has_errors() { ", with syntax errors" }
                    @if file.is_cut() {
                        ", " span title="It holds more than is read of a file of its size: some names are missing." { "read in part" }
                    }
                    (cut(&painted))
                    span.acts data-copy=(plain(file.path())) data-label="Copy path" {
                        @if markdown::is_markdown(file.path()) {
                            a href=(links::with_query(address.clone(), &[("as", if is_prose { "" } else { "prose" })])) {
                                @if is_prose { "As written" } @else { "As a page" }
                            } " "
                        }
                        (blame(asked, &address))
                        @if all > 0 {
                            a href=(links::picture(view.id(), file.path(), &[("of", "files")])) { "Imports" } " "
                        }
                        (editor(asked, view, file.path()))
                        a #permalink href=(permalink) { "Permalink" } " "
                        a href=(links::raw(view.id(), None, file.path())) { "Raw" }
                    }
                }
                @if is_prose {
                    div.prose.alone { (markdown::shown(&links::root(view.id(), None), file.path(), &String::from_utf8_lossy(file.content()))) }
                } @else {
                (since(asked, view, &address, &problems))
                (text(file.content(), &window, &painted.colours, &names, &beside, &kept(asked, address.clone(), &["blame", "since", "panel", "show"])))
                }
            }
            (panel)
        }
    })
}

/// The language that a file is shown in: its own, or that of others with its extension.
pub(super) fn shown_as(file: FileView<'_>) -> &'static LanguageSpec {
    let own = file.spec();
    if own.is_built() { own } else { languages::of_shown(file.path(), file.content()) }
}

/// An address with these values of the request.
fn kept(asked: &Asked<'_>, address: String, keys: &[&str]) -> String {
    let pairs: Vec<(&str, &str)> = keys.iter().map(|key| (*key, asked.value(key))).collect();
    links::with_query(address, &pairs)
}

/// A link that shows who changed the lines last, or hides it.
fn blame(asked: &Asked<'_>, address: &str) -> Markup {
    let is_shown = !asked.value("blame").is_empty();
    let other = links::with_query(address.to_owned(), &[("blame", if is_shown { "" } else { "1" })]);
    html! {
        a.keeps-line href=(kept(asked, other, &["since", "at", "panel", "show"])) aria-current=[is_shown.then_some("true")] { "Blame" } " "
    }
}

/// A link that opens the file in an editor of this machine.
fn editor(asked: &Asked<'_>, view: &View<'_>, path: &str) -> Markup {
    let template = asked.cx.config.editor_link.as_deref().filter(|_| asked.is_own);
    let place = template
        .zip(view.repo.root.as_deref())
        .and_then(|(link, root)| Some((link, root.join(path).to_str()?.to_owned())));
    let Some((link, place)) = place else { return html! {} };
    let link = link.replace("{path}", &links::encoded(&place, "/"));
    html! {
        a #edit href=(plain(&link.replace("{line}", asked.number("at").unwrap_or(1).to_string().as_str())))
            data-link=(plain(&link)) { "Open in editor" } " "
    }
}

/// The form for a version to compare with, and problems of what is shown.
fn since(asked: &Asked<'_>, view: &View<'_>, address: &str, problems: &[String]) -> Markup {
    html! {
        form.since action=(address) {
            @for key in ["blame", "at", "panel", "show"] {
                @if !asked.value(key).is_empty() { input type="hidden" name=(key) value=(plain(asked.value(key))); }
            }
            label {
                "Changed since "
                input name="since" value=(plain(asked.value("since"))) placeholder="HEAD~1, main, v1.0" list="versions" autocomplete="off";
            }
            // The client fills it when it is asked for.
            datalist #versions data-versions=(links::versions(view.id())) {}
            button { "Show" }
        }
        @for problem in problems { p.problem { (Visible(problem)) } }
    }
}

/// A file in a version that the index does not hold: its names are not resolved.
fn older(asked: &Asked<'_>, view: &View<'_>, path: &str, past: &Past, at: u32) -> Markup {
    let (commit, content) = (past.version.as_str(), past.text.as_slice());
    let window = Window::around(content, at);
    let version = Version { path, content, commit: past.is_commit.then_some(commit), file: None };
    let (beside, problems) = margin::beside(asked, view, &version, &window);
    let painted = lines::painted(content, &window, &Pieces::default(), languages::of_shown(path, content));
    let address = links::version(view.id(), commit, path);
    html! {
        main {
            (crumbs_in(view.id(), past.is_commit.then_some(commit), path))
            h1.out-of-sight { (Visible(path)) }
            p.facts {
                @if past.is_commit {
                    "As of commit " a href=(links::change(view.id(), &[("commit", commit), ("path", path)])) {
                        code { (commit.get(..10).unwrap_or(commit)) }
                    }
                } @else { "A former text, never committed, with the hash " code { (commit.get(..HASH).unwrap_or(commit)) } }
                "; its names are not resolved" (cut(&painted)) ". "
                @if view.snapshot.file(path).is_some() { a href=(links::file(view.id(), path)) { "The file as it is now" } }
                span.acts data-copy=(plain(path)) data-label="Copy path" {
                    (blame(asked, &address))
                    a #permalink href=(links::version(view.id(), &commit[..commit.len().min(HASH)], path)) { "Permalink" } " "
                    a href=(links::raw(view.id(), Some(commit), path)) { "Raw" }
                }
            }
            (since(asked, view, &address, &problems))
            (text(content, &window, &painted.colours, &[], &beside, &kept(asked, address, &["blame", "since"])))
        }
    }
}

/// Says that colours are missing.
fn cut(painted: &HighlightedRange) -> Markup {
    html! {
        @if painted.is_cut {
            ", " span title="Colouring these lines takes longer than a page may: some colours and links are missing." { "coloured in part" }
        }
    }
}

/// Lines of a window, between links to those before and after.
fn text(
    content: &[u8],
    window: &Window,
    colours: &[Option<Colour>],
    names: &[names::Name],
    beside: &Beside,
    address: &str,
) -> Markup {
    let step = |at: u32, name: &str| {
        let there = links::with_query(address.to_owned(), &[("at", &at.to_string())]);
        html! { a.step href={ (there) "#L" (at) } { (name) } }
    };
    let around = html! {
        @if !window.is_whole() {
            p.window {
                @if window.first > 1 { (step(window.first - 1, "Lines before")) " " }
                "Lines " (window.first) "–" (window.last) " of " (grouped(window.of.into()))
                @if window.last < window.of { " " (step(window.last + 1, "Lines after")) }
            }
        }
    };
    html! {
        (around)
        pre.code tabindex="0" { code { (PreEscaped(lines::write(content, window, colours, names, beside))) } }
        (around)
    }
}

/// Symbols of a file, each in the one around it.
fn outline(view: &View<'_>, file: FileView<'_>) -> Markup {
    if file.symbol_count() == 0 {
        return html! {};
    }
    let mut depths: Vec<usize> = Vec::new();
    let rows: Vec<(usize, Markup)> = file
        .symbols()
        .map(|symbol| {
            let parent = symbol.parent().map(|parent| parent.number().index as usize);
            let depth = parent.and_then(|parent| depths.get(parent)).map_or(0, |depth| depth + 1);
            depths.push(depth);
            let name = symbol.name();
            let name = if name.trim().is_empty() { "…".into() } else { name };
            let lines = format!("{}-{}", symbol.line(), symbol.end_line());
            let row = html! {
                a data-l=(lines) class=(names::class(&symbol, false)) href=(links::line_in(view.id(), file, symbol.line()))
                    title=(plain(&symbol.signature(200))) { (Visible(&name)) }
                " " span.weak { (symbol.detail().as_str()) }
            };
            (depth.min(8), row)
        })
        .take(MOST_SYMBOLS)
        .collect();
    html! {
        aside.outline {
            details open {
                summary { "Outline" }
                nav aria-label="Outline" { ul {
                    @for (depth, row) in &rows { li class={ "d" (depth) } { (row) } }
                    @if file.symbol_count() as usize > MOST_SYMBOLS { li { "…" } }
                } }
            }
        }
    }
}
