//! Frame of every page: head, search box, and the form to sign in.

use maud::{DOCTYPE, Markup, html};

use super::assets;
use super::text::plain;
use crate::http::StatusCode;

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
                    a.home href="/" { "codelode" }
                    form.search action="/search" role="search" {
                        input #q type="search" name="q" value=(plain(&page.query)) placeholder="Search symbols, text, files"
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
