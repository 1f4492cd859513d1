//! Failures as pages: what is wrong, and where to go on.

use maud::html;

use super::layout::Page;
use super::routes::Reply;
use super::text::Visible;
use codelode_http::StatusCode;
use codelode_service::answer::{Code, Error};
use codelode_store as store;

/// The reason for a page that cannot be shown.
#[derive(Debug)]
pub(super) struct Failure {
    status: StatusCode,
    why: String,
    /// A page to go on with: its address and name.
    instead: Option<(String, &'static str)>,
}

impl Failure {
    pub(super) fn new(status: StatusCode, why: impl Into<String>) -> Self {
        Self { status, why: why.into(), instead: None }
    }

    /// Nothing has this address.
    pub(super) fn missing(why: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, why)
    }

    /// Names a page to go on with.
    pub(super) fn instead(self, address: String, name: &'static str) -> Self {
        Self { instead: Some((address, name)), ..self }
    }
}

impl From<Error> for Failure {
    fn from(err: Error) -> Self {
        let status = match err.code {
            Code::NotFound | Code::NotIndexed => StatusCode::NOT_FOUND,
            Code::InvalidArguments | Code::Ambiguous => StatusCode::BAD_REQUEST,
            Code::AccessDenied => StatusCode::FORBIDDEN,
            Code::Internal => StatusCode::INTERNAL_SERVER_ERROR,
            _ => StatusCode::SERVICE_UNAVAILABLE,
        };
        Self::new(status, err.message)
    }
}

impl From<store::Error> for Failure {
    fn from(err: store::Error) -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, err.to_string())
    }
}

impl From<Failure> for Reply {
    fn from(failure: Failure) -> Self {
        let Failure { status, why, instead } = failure;
        let title = if status == StatusCode::NOT_FOUND { "Not found" } else { "No answer" };
        let body = html! {
            main.plain {
                h1 { (title) }
                p { (Visible(&why)) }
                p {
                    @if let Some((address, name)) = instead {
                        a href=(address) { (name) } " · "
                    }
                    a href="/" { "All repositories" }
                }
            }
        };
        Reply::Page(Page { status, ..Page::new(title, body) })
    }
}
