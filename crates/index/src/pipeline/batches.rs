//! Sends batches of texts to a model, several at once, until one fails or time is up.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;
use std::time::Instant;

/// Options for sending batches.
pub(super) struct Batches {
    /// Texts per request.
    pub size: usize,
    /// Concurrent requests.
    pub concurrency: usize,
    /// No request begins after this time.
    pub until: Option<Instant>,
}

impl Batches {
    /// Sends items in batches, and passes each answer to `take` as it arrives. An error of either ends the run and is
    /// returned. Answers already requested are still taken, because they are paid for.
    pub fn send<T: Sync, A: Send, E: Send>(
        &self,
        items: &[T],
        ask: impl Fn(&[T]) -> Result<A, E> + Sync,
        mut take: impl FnMut(&[T], A) -> Result<(), E>,
    ) -> Option<E> {
        let batches: Vec<&[T]> = items.chunks(self.size.max(1)).collect();
        let (stopped, next) = (AtomicBool::new(false), AtomicUsize::new(0));
        let is_over = || stopped.load(Ordering::Relaxed) || self.until.is_some_and(|until| Instant::now() >= until);
        let mut failure = None;
        std::thread::scope(|scope| {
            // With no buffer, an answer is stored before the next request: a kill would lose paid answers.
            let (sender, arrived) = mpsc::sync_channel(0);
            for _ in 0..self.concurrency.clamp(1, batches.len().max(1)) {
                let (sender, batches, next, is_over, ask) = (sender.clone(), &batches, &next, &is_over, &ask);
                scope.spawn(move || {
                    while let Some(batch) = batches.get(next.fetch_add(1, Ordering::Relaxed)).filter(|_| !is_over()) {
                        let answer = ask(batch);
                        let is_failure = answer.is_err();
                        if sender.send((*batch, answer)).is_err() || is_failure {
                            return;
                        }
                    }
                });
            }
            drop(sender);
            for (batch, answer) in arrived {
                if let Err(err) = answer.and_then(|answer| take(batch, answer)) {
                    stopped.store(true, Ordering::Relaxed);
                    failure.get_or_insert(err);
                }
            }
        });
        failure
    }
}
