//! Shares of what all callers use together: as many turns for each as leave some to the others.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::Semaphore;

/// Those that are remembered; whoever uses nothing is forgotten.
const MOST: usize = 4096;

/// The turns of each caller, by its name or address.
pub struct Shares {
    each: usize,
    all: Mutex<HashMap<String, Arc<Semaphore>>>,
}

impl Shares {
    /// Shares of so many turns each.
    pub fn new(each: usize) -> Self {
        Self { each, all: Mutex::default() }
    }

    /// The turns of a caller.
    pub fn of(&self, who: &str) -> Arc<Semaphore> {
        // A panic leaves the table whole.
        let mut all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(turns) = all.get(who) {
            return turns.clone();
        }
        if all.len() >= MOST {
            // Those that are waited for are held by others as well.
            all.retain(|_, turns| turns.available_permits() < self.each || Arc::strong_count(turns) > 1);
        }
        all.entry(who.to_owned()).or_insert_with(|| Arc::new(Semaphore::new(self.each))).clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_has_turns_of_its_own_and_those_in_use_are_not_forgotten() {
        let shares = Shares::new(2);
        let held = shares.of("alice").try_acquire_many_owned(2).expect("she has two");
        assert!(shares.of("alice").try_acquire().is_err());
        assert!(shares.of("bob").try_acquire().is_ok());
        for nth in 0..2 * MOST {
            shares.of(&nth.to_string());
        }
        assert!(shares.of("alice").try_acquire().is_err(), "hers are still held");
        drop(held);
        assert!(shares.of("alice").try_acquire().is_ok());
        assert!(shares.all.lock().expect("nobody panics").len() <= MOST + 1);
    }
}
