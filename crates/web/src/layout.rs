//! Frame of every page: head, search box, and the form to sign in.

use maud::{DOCTYPE, Markup, html};

use super::assets;
use super::text::plain;
use codelode_http::StatusCode;

/// A page without its frame.
pub(super) struct Page {
    pub status: StatusCode,
    pub title: String,
    /// Repository of the page, which is searched first.
    pub repo: Option<String>,
    /// Words in the search box.
    pub query: String,
    pub body: Markup,
}

impl Page {
    pub fn new(title: impl Into<String>, body: Markup) -> Self {
        Self { status: StatusCode::OK, title: title.into(), repo: None, query: String::new(), body }
    }

    pub fn of_repo(title: impl Into<String>, repo: &str, body: Markup) -> Self {
        Self { repo: Some(repo.to_owned()), ..Self::new(title, body) }
    }
}

/// A page in its frame.
pub(super) fn whole(page: &Page, is_signed_in: bool) -> Markup {
    let repo = page.repo.as_deref().unwrap_or_default();
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (plain(&page.title)) " · codelode" }
                link rel="stylesheet" href=(assets::address("style.css"));
                script defer src=(assets::address("client.js")) {}
                link rel="icon" href=(assets::address("icon.svg")) type="image/svg+xml";
            }
            body data-repo=(repo) {
                a.skip href="#content" { "Skip to the content" }
                header.top {
                    a.home href="/" {
                        svg viewBox="0 0 16 16" width="20" height="20" aria-hidden="true" {
                            rect width="16" height="16" rx="3" fill="#2f6f5e" {}
                            path d="M6.5 4 3 8l3.5 4M9.5 4 13 8l-3.5 4" fill="none" stroke="#fff" stroke-width="1.7"
                                stroke-linecap="round" stroke-linejoin="round" {}
                        }
                        "codelode"
                    }
                    form.search action="/search" role="search" {
                        input #q type="search" name="q" value=(plain(&page.query)) placeholder=(place(repo))
                            aria-label="Search" autocomplete="off" spellcheck="false" maxlength="1000";
                        @if !repo.is_empty() { input type="hidden" name="repo" value=(repo); }
                        button { "Search" }
                    }
                    @if is_signed_in {
                        form.out method="post" action="/sign-out" { button { "Sign out" } }
                    }
                }
                div #content tabindex="-1" { (page.body) }
            }
        }
    }
}

/// A hint of what is searched: the repository without the digits at the end of its id.
fn place(repo: &str) -> String {
    let name = repo.rsplit('/').next().unwrap_or(repo);
    let is_number = |end: &str| end.len() == 8 && end.bytes().all(|byte| byte.is_ascii_hexdigit());
    let name = name.rsplit_once('-').filter(|(_, end)| is_number(end)).map_or(name, |(name, _)| name);
    match name {
        "" => "Search symbols, text, files".to_owned(),
        name => format!("Search {}: symbols, text, files", plain(name)),
    }
}

/// The form to sign in.
pub(super) fn sign_in(target: &str, problem: Option<&str>) -> Page {
    let body = html! {
        main.plain {
            h1 { "Sign in" }
            p { "This server shows code to those who have a token." }
            @if let Some(problem) = problem { p.problem role="alert" { (problem) } }
            form.token method="post" action="/sign-in" {
                label for="token" { "Token" }
                input #token type="password" name="token" required autocomplete="current-password" maxlength="1000";
                input type="hidden" name="to" value=(target);
                button { "Sign in" }
            }
        }
    };
    Page { status: StatusCode::UNAUTHORIZED, ..Page::new("Sign in", body) }
}
