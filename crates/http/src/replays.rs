//! Streams of events that a client can go on with after its connection broke off, for a while also when they have ended.

use std::collections::{HashMap, VecDeque};
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use http_body_util::BodyExt;
use http_body_util::combinators::BoxBody;
use hyper::body::{Body, Bytes, Frame};
use tokio::runtime::Handle;

use super::{Answer, HeaderValue, Response, header};

/// Time for which a stream that has ended is kept.
const KEPT: Duration = Duration::from_secs(60);
/// Bytes that are kept of ended streams, of all sessions; the oldest make room.
const MOST_BYTES: usize = 16 << 20;
/// Last events that are kept of a stream.
const MOST_EVENTS: usize = 64;

/// Streams of sessions, each by the name that ids of its events have after a slash.
#[derive(Default)]
pub struct Replays(Mutex<Table>);

#[derive(Default)]
struct Table {
    streams: HashMap<Key, Arc<Stream>>,
    /// Ended streams, with their bytes, in the order in which they ended.
    ended: VecDeque<(Instant, Key, usize)>,
    bytes: usize,
}

/// A session, and a stream in it.
type Key = (Arc<str>, u64);

/// A stream, which one reader at a time reads from its source.
struct Stream(Mutex<State>);

struct State {
    /// Last events, by their number.
    events: VecDeque<(usize, Bytes)>,
    /// `None` when it has ended.
    source: Option<BoxBody<Bytes, Infallible>>,
    /// Number of the newest reader; those before it end.
    newest: usize,
    waiting: Option<Waker>,
}

/// The body of an answer: events from the first one that its client lacks.
struct Reader {
    replays: Arc<Replays>,
    session: Arc<str>,
    stream: Arc<Stream>,
    number: usize,
    next: usize,
}

impl Replays {
    /// An answer in a session whose events, if it has some, can be asked for again.
    pub fn kept(self: &Arc<Self>, session: Arc<str>, answer: Answer) -> Answer {
        if answer.headers().get(header::CONTENT_TYPE).is_none_or(|kind| kind != "text/event-stream") {
            return answer;
        }
        let (parts, source) = answer.into_parts();
        let state = State { events: VecDeque::new(), source: Some(source), newest: 0, waiting: None };
        let stream = Arc::new(Stream(Mutex::new(state)));
        let reader = Reader { replays: self.clone(), session, stream, number: 0, next: 0 };
        Response::from_parts(parts, reader.boxed())
    }

    /// The events of a session after the one with this id, and those to come; `None` if they are not kept.
    pub fn after(self: &Arc<Self>, session: &Arc<str>, id: &str) -> Option<Answer> {
        let (event, name) = parsed(id)?;
        let stream = {
            let mut table = lock(&self.0);
            table.forget_old();
            table.streams.get(&(session.clone(), name))?.clone()
        };
        let mut answer = Response::new(stream.read(self, session, Some(event + 1)).boxed());
        let headers = answer.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
        headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
        Some(answer)
    }
}

impl Table {
    fn end(&mut self, key: Key, bytes: usize) {
        self.bytes += bytes;
        self.ended.push_back((Instant::now(), key, bytes));
        self.forget_old();
    }

    fn forget_old(&mut self) {
        while self.ended.front().is_some_and(|(at, ..)| self.bytes > MOST_BYTES || at.elapsed() >= KEPT) {
            let (_, key, bytes) = self.ended.pop_front().expect("there is a first one");
            self.streams.remove(&key);
            self.bytes -= bytes;
        }
    }
}

impl Stream {
    /// Reads it from an event on, else from those to come, in the place of the reader before.
    fn read(self: &Arc<Self>, replays: &Arc<Replays>, session: &Arc<str>, from: Option<usize>) -> Reader {
        let mut state = lock(&self.0);
        state.newest += 1;
        if let Some(before) = state.waiting.take() {
            before.wake();
        }
        let next = from.unwrap_or_else(|| state.events.back().map_or(0, |(number, _)| number + 1));
        let (replays, session) = (replays.clone(), session.clone());
        Reader { replays, session, stream: self.clone(), number: state.newest, next }
    }
}

impl Reader {
    /// Keeps an event. It is named before it is sent, so that no client knows an id that is not known here.
    fn keep(&self, state: &mut State, bytes: &Bytes) -> Option<usize> {
        let (number, name) = parsed(id_of(bytes)?)?;
        if state.events.is_empty() {
            lock(&self.replays.0).streams.insert((self.session.clone(), name), self.stream.clone());
        }
        if state.events.len() == MOST_EVENTS {
            state.events.pop_front();
        }
        state.events.push_back((number, bytes.clone()));
        Some(number)
    }

    /// Notes that the source has ended.
    fn end(&self, state: &mut State) {
        state.source = None;
        let Some((_, name)) = state.events.back().and_then(|(_, bytes)| parsed(id_of(bytes)?)) else { return };
        let bytes = state.events.iter().map(|(_, bytes)| bytes.len()).sum();
        lock(&self.replays.0).end((self.session.clone(), name), bytes);
    }
}

impl Body for Reader {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let stream = self.stream.clone();
        let mut state = lock(&stream.0);
        if state.newest != self.number {
            return Poll::Ready(None);
        }
        if let Some((number, bytes)) = state.events.iter().find(|(number, _)| *number >= self.next).cloned() {
            self.next = number + 1;
            return Poll::Ready(Some(Ok(Frame::data(bytes))));
        }
        let Some(source) = &mut state.source else { return Poll::Ready(None) };
        match Pin::new(source).poll_frame(cx) {
            Poll::Pending => {
                state.waiting = Some(cx.waker().clone());
                Poll::Pending
            }
            Poll::Ready(Some(Ok(frame))) => {
                if let Some(number) = frame.data_ref().and_then(|bytes| self.keep(&mut state, bytes)) {
                    self.next = number + 1;
                }
                Poll::Ready(Some(Ok(frame)))
            }
            Poll::Ready(None) => {
                self.end(&mut state);
                Poll::Ready(None)
            }
        }
    }
}

impl Drop for Reader {
    /// The events that a client is not there for are kept as well.
    fn drop(&mut self) {
        let goes_on = {
            let state = lock(&self.stream.0);
            state.newest == self.number && state.source.is_some()
        };
        if let (true, Ok(runtime)) = (goes_on, Handle::try_current()) {
            let mut rest = self.stream.read(&self.replays, &self.session, None);
            runtime.spawn(async move { while rest.frame().await.is_some() {} });
        }
    }
}

/// Number of an event, and the stream that it is of.
fn parsed(id: &str) -> Option<(usize, u64)> {
    let (number, name) = id.split_once('/')?;
    Some((number.parse().ok()?, name.parse().ok()?))
}

/// The id in the text of an event.
fn id_of(event: &[u8]) -> Option<&str> {
    let line = event.split(|byte| *byte == b'\n').find_map(|line| line.strip_prefix(b"id: "))?;
    std::str::from_utf8(line).ok()
}

fn lock<T>(state: &Mutex<T>) -> MutexGuard<'_, T> {
    // A panic leaves events and table whole.
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use tokio::sync::mpsc;

    use super::super::events;
    use super::*;

    /// A stream, and its other end.
    fn stream(replays: &Arc<Replays>, session: &Arc<str>) -> (Answer, mpsc::Sender<Bytes>) {
        let (sender, receiver) = mpsc::channel(200);
        (replays.kept(session.clone(), events(receiver)), sender)
    }

    fn send(sender: &mpsc::Sender<Bytes>, id: &str) {
        sender.try_send(format!("data: {{}}\nid: {id}\n\n").into()).expect("there is room");
    }

    async fn ids(answer: Answer) -> Vec<String> {
        let whole = answer.into_body().collect().await.expect("no error is possible").to_bytes();
        let text = std::str::from_utf8(&whole).expect("text");
        text.lines().filter_map(|line| line.strip_prefix("id: ")).map(str::to_owned).collect()
    }

    fn run(test: impl Future<Output = ()>) {
        tokio::runtime::Builder::new_current_thread().enable_all().build().expect("there are threads").block_on(test);
    }

    #[test]
    fn events_are_read_again_after_the_last_one_while_it_runs_and_after_its_end() {
        run(async {
            let (replays, session) = (Arc::new(Replays::default()), Arc::from("ours"));
            let (answer, sender) = stream(&replays, &session);
            let mut body = answer.into_body();
            send(&sender, "0/7");
            assert!(body.frame().await.is_some());
            drop(body);
            send(&sender, "1/7");
            let resumed = replays.after(&session, "0/7").expect("it is kept");
            send(&sender, "2/7");
            drop(sender);
            assert_eq!(ids(resumed).await, ["1/7", "2/7"]);
            assert_eq!(ids(replays.after(&session, "0/7").expect("it is kept")).await, ["1/7", "2/7"]);
            assert!(ids(replays.after(&session, "2/7").expect("it is kept")).await.is_empty());
            for unknown in ["0/8", "0", "", "x/7", "0/7/1", "99999999999999999999/7"] {
                assert!(replays.after(&session, unknown).is_none(), "{unknown}");
            }
            assert!(replays.after(&Arc::from("another's"), "0/7").is_none());
        });
    }

    #[test]
    fn a_later_reader_takes_the_place_of_one_that_still_waits() {
        run(async {
            let (replays, session) = (Arc::new(Replays::default()), Arc::from("ours"));
            let (answer, sender) = stream(&replays, &session);
            let mut first = answer.into_body();
            send(&sender, "0/1");
            assert!(first.frame().await.is_some());
            let waiting = tokio::spawn(async move { first.frame().await.is_none() });
            tokio::task::yield_now().await;
            let second = replays.after(&session, "0/1").expect("it is kept");
            assert!(waiting.await.expect("it ends"), "the first one ends");
            send(&sender, "1/1");
            drop(sender);
            assert_eq!(ids(second).await, ["1/1"]);
        });
    }

    #[test]
    fn memory_is_bounded_by_events_bytes_and_time() {
        run(async {
            let (replays, session) = (Arc::new(Replays::default()), Arc::<str>::from("ours"));
            let (answer, sender) = stream(&replays, &session);
            (0..100).for_each(|number| send(&sender, &format!("{number}/1")));
            drop(sender);
            assert_eq!(ids(answer).await.len(), 100);
            let again = ids(replays.after(&session, "0/1").expect("it is kept")).await;
            assert_eq!((again.len(), &*again[0]), (MOST_EVENTS, "36/1"));
            for name in 2..40 {
                let (answer, sender) = stream(&replays, &session);
                let large = format!("data: {}\nid: 0/{name}\n\n", "x".repeat(1 << 20));
                sender.try_send(large.into()).expect("there is room");
                drop(sender);
                ids(answer).await;
            }
            assert!(lock(&replays.0).bytes <= MOST_BYTES);
            assert!(replays.after(&session, "0/1").is_none(), "the oldest made room");
            assert!(replays.after(&session, "0/39").is_some());
            let old = Instant::now().checked_sub(KEPT).expect("the machine runs for so long");
            lock(&replays.0).ended.iter_mut().for_each(|(at, ..)| *at = old);
            assert!(replays.after(&session, "0/39").is_none());
            let table = lock(&replays.0);
            assert!(table.streams.is_empty() && table.bytes == 0);
        });
    }
}
