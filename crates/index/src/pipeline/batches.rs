//! Requests to a model: batches of texts, several at once, until one fails or the time is over.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;
use std::time::Instant;

/// How batches are sent.
pub(super) struct Batches {
    /// Texts of one request.
    pub size: usize,
    /// Requests at once.
    pub concurrency: usize,
    /// Time when the last request begins.
    pub until: Option<Instant>,
}

impl Batches {
    /// Sends the batches of some items, and hands each answer to `take` as it arrives. An error of either ends the
    /// run; answers that are under way, and have their price, are still taken. Returns the first error.
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
            // No answer waits to be written while another is asked for: a kill would lose what has its price.
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
