//! Steps of long work, logged with their time.

use std::time::Instant;

/// A step of the work. Its time is logged when it ends, at level debug.
pub struct Phase {
    name: &'static str,
    started: Instant,
}

impl Phase {
    /// Begins a step.
    pub fn begin(name: &'static str) -> Self {
        Self { name, started: Instant::now() }
    }
}

impl Drop for Phase {
    fn drop(&mut self) {
        let ms = self.started.elapsed().as_micros() as f64 / 1000.0;
        tracing::debug!(target: "codelode", ms, "{} ended", self.name);
    }
}
