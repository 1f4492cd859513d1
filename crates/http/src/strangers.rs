//! Tokens that were never right here: how many of them an address may try, so that nobody guesses fast, or keeps busy the
//! forge or the issuer that is asked about them. Tokens that were right once are not held up by an address's other ones.

use std::collections::{HashMap, HashSet};
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use super::tokens::digest;

/// Tries of an address at once, and after that in a second.
const BURST: f64 = 30.0;
const PER_SECOND: f64 = 1.0;
/// Addresses that are remembered; those that may try as often as new ones are forgotten.
const MOST_ADDRESSES: usize = 65_536;
/// Right tokens that are remembered.
const MOST_KNOWN: usize = 4_096;

/// Counts of tries, and tokens that were right.
#[derive(Default)]
pub(super) struct Strangers {
    tries: Mutex<HashMap<IpAddr, Tries>>,
    known: Mutex<HashSet<[u8; 32]>>,
}

/// Tries that an address has left, as of a time.
struct Tries {
    left: f64,
    at: Instant,
}

impl Strangers {
    /// Whether a token may be looked up for an address now. One that was right before may always be.
    pub(super) fn admit(&self, token: &str, from: IpAddr) -> bool {
        if lock(&self.known).contains(&digest(token)) {
            return true;
        }
        self.try_one(network(from), Instant::now())
    }

    /// Notes that a token was right, which costs its address nothing.
    pub(super) fn was_right(&self, token: &str, from: IpAddr) {
        let mut known = lock(&self.known);
        if known.len() >= MOST_KNOWN {
            known.clear();
        }
        let is_new = known.insert(digest(token));
        drop(known);
        if is_new {
            self.costs_nothing(from);
        }
    }

    /// Gives an address back a try.
    pub(super) fn costs_nothing(&self, from: IpAddr) {
        if let Some(tries) = lock(&self.tries).get_mut(&network(from)) {
            tries.left = (tries.left + 1.0).min(BURST);
        }
    }

    fn try_one(&self, from: IpAddr, now: Instant) -> bool {
        let mut all = lock(&self.tries);
        if all.len() >= MOST_ADDRESSES {
            all.retain(|_, tries| tries.left_at(now) < BURST);
        }
        // So many at once are one attack, which is held up as one address is.
        let from = if all.len() >= MOST_ADDRESSES { Ipv6Addr::UNSPECIFIED.into() } else { from };
        let tries = all.entry(from).or_insert(Tries { left: BURST, at: now });
        *tries = Tries { left: tries.left_at(now), at: now };
        let may = tries.left >= 1.0;
        if may {
            tries.left -= 1.0;
        }
        may
    }
}

impl Tries {
    fn left_at(&self, now: Instant) -> f64 {
        (self.left + now.saturating_duration_since(self.at).as_secs_f64() * PER_SECOND).min(BURST)
    }
}

/// An address, or the network that one customer has: of version 6, whoever has one address has many.
pub(super) fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() >> 64 << 64).into(),
        address => address,
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Every change is one step, so a panic leaves a table intact.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn an_address_tries_a_few_tokens_and_then_one_a_second() {
        let strangers = Strangers::default();
        let [one, other]: [IpAddr; 2] = ["192.0.2.1", "192.0.2.2"].map(|text| text.parse().expect("an address"));
        let now = Instant::now();
        let admitted = |from, at| (0..100).filter(|_| strangers.try_one(from, at)).count();
        assert_eq!((admitted(one, now), admitted(one, now)), (30, 0));
        assert_eq!(admitted(other, now), 30, "others are not held up");
        assert_eq!(admitted(one, now + Duration::from_secs(3)), 3);
        assert_eq!(admitted(one, now + Duration::from_secs(3_600)), 30);
        (0..5).for_each(|_| strangers.costs_nothing(one));
        assert_eq!(admitted(one, now + Duration::from_secs(3_600)), 5, "what could not be told costs nothing");
        strangers.was_right("right", one);
        assert!(strangers.admit("right", one) && strangers.admit("right", other));
    }

    #[test]
    fn addresses_of_one_network_are_one_stranger() {
        let network = |text: &str| network(text.parse().expect("an address")).to_string();
        assert_eq!(network("2001:db8:1:2:3:4:5:6"), "2001:db8:1:2::");
        assert_eq!((network("::ffff:192.0.2.1"), network("192.0.2.1")), ("192.0.2.1".into(), "192.0.2.1".into()));
    }
}
