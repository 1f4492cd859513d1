//! Answers that go on: server-sent events, as they come.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use http_body_util::BodyExt;
use hyper::body::{Body, Bytes, Frame};
use tokio::sync::mpsc;
use tokio::time::{Instant, Interval, interval_at};

use super::{Answer, HeaderValue, Response, header};

/// Events that wait for a client.
const MOST_WAITING: usize = 16;

/// Interval of comments, by which a client that is gone is noticed, and a proxy sees that the stream lives.
const PULSE: Duration = Duration::from_secs(15);

/// A body that is written while its client reads.
struct Events {
    receiver: mpsc::Receiver<Bytes>,
    pulse: Interval,
}

impl Body for Events {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        match self.receiver.poll_recv(cx) {
            Poll::Ready(event) => Poll::Ready(event.map(|event| Ok(Frame::data(event)))),
            Poll::Pending => self.pulse.poll_tick(cx).map(|_| Some(Ok(Frame::data(Bytes::from_static(b": \n\n"))))),
        }
    }
}

/// An answer of events, each written as it is to be sent. It ends when every sender is gone.
pub fn events(receiver: mpsc::Receiver<Bytes>) -> Answer {
    let events = Events { receiver, pulse: interval_at(Instant::now() + PULSE, PULSE) };
    let mut answer = Response::new(events.boxed());
    let headers = answer.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    // A proxy shall not wait for more.
    headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
    answer
}

/// One answer of the events of several, each of which is a stream of events or a message in JSON.
pub fn merged(answers: impl IntoIterator<Item = Answer>) -> Answer {
    let (sender, receiver) = mpsc::channel(MOST_WAITING);
    for answer in answers {
        let is_message = answer.headers().get(header::CONTENT_TYPE).is_some_and(|kind| kind == "application/json");
        let (mut body, sender) = (answer.into_body(), sender.clone());
        tokio::spawn(async move {
            while let Some(Ok(frame)) = body.frame().await {
                let Ok(data) = frame.into_data() else { continue };
                let event = match is_message {
                    true => [b"data: ", &data[..], b"\n\n"].concat().into(),
                    false => data,
                };
                if sender.send(event).await.is_err() {
                    return;
                }
            }
        });
    }
    events(receiver)
}
