//! Rights of requests that go on: asked for again while a call runs or a stream is open, and both end with them.

use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use http_body_util::BodyExt;
use http_body_util::combinators::BoxBody;
use hyper::body::{Body, Bytes, Frame, SizeHint};
use tokio::task::JoinHandle;

use super::callers::Refusal;
use super::site::Site;
use super::tokens::Grant;
use super::{Answer, StatusCode};

/// Interval of asking.
pub(super) const EVERY: Duration = Duration::from_secs(5);

/// The token that a request was let in with, and its rights at that time.
#[derive(Clone)]
pub(super) struct Held {
    pub(super) site: Arc<Site>,
    pub(super) token: Arc<str>,
    pub(super) grant: Arc<Grant>,
}

impl Held {
    /// Ends once these rights are gone, with the reason.
    pub(super) async fn lost(self) -> Refusal {
        loop {
            tokio::time::sleep(EVERY).await;
            match self.site.granted(&self.token).await {
                Ok(now) if now.name == self.grant.name && now.rights.cover(&self.grant.rights) => {}
                Ok(_) => return (StatusCode::FORBIDDEN, "rights of this token were taken back".to_owned()),
                Err(refusal) => return refusal,
            }
        }
    }

    /// An answer that ends with the rights if it goes on so long.
    pub(super) fn bounds(self, answer: Answer) -> Answer {
        if answer.body().size_hint().exact().is_some() {
            return answer;
        }
        answer.map(|body| Bounded { body, lost: tokio::spawn(self.lost()), is_over: false }.boxed())
    }
}

/// A body that ends early when rights are lost.
struct Bounded {
    body: BoxBody<Bytes, Infallible>,
    lost: JoinHandle<Refusal>,
    is_over: bool,
}

impl Body for Bounded {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        if self.is_over {
            return Poll::Ready(None);
        }
        match Pin::new(&mut self.lost).poll(cx) {
            Poll::Ready(_) => {
                self.is_over = true;
                Poll::Ready(None)
            }
            Poll::Pending => Pin::new(&mut self.body).poll_frame(cx),
        }
    }

    fn is_end_stream(&self) -> bool {
        self.is_over || self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::default()
    }
}

impl Drop for Bounded {
    fn drop(&mut self) {
        self.lost.abort();
    }
}
