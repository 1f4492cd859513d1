//! Connections that are open: so many in all and from an address, and the one that was idle longest makes room.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use tokio::sync::Notify;

/// Connections at once.
const MOST: usize = 4096;
/// Those from one address, unless it is that of a trusted proxy.
const MOST_OF_ONE: usize = 512;

/// All connections of a server.
#[derive(Default)]
pub(super) struct Connections(Mutex<Table>);

#[derive(Default)]
struct Table {
    last: u64,
    open: HashMap<u64, Connection>,
}

struct Connection {
    /// Where it comes from; `None` for a trusted proxy, which has the connections of many.
    from: Option<IpAddr>,
    /// Requests that run, and answers that go on.
    running: usize,
    /// Time since when nothing runs.
    idle_since: Instant,
    end: Arc<Notify>,
}

/// The place of a connection, until it ends.
pub(super) struct Place {
    number: u64,
    all: Arc<Connections>,
    end: Arc<Notify>,
}

/// A request of a connection, until it is answered.
pub(super) struct Running {
    place: Arc<Place>,
    goes_on: bool,
}

impl Connections {
    /// A place for a connection; `None` if there is none, and none that is idle to make room.
    pub(super) fn admit(self: &Arc<Self>, from: Option<IpAddr>) -> Option<Place> {
        let mut table = self.lock();
        let crowded = match table.n_of(from) >= MOST_OF_ONE {
            true if from.is_some() => Some(from),
            _ if table.open.len() >= MOST => Some(table.largest()),
            _ => None,
        };
        if let Some(crowded) = crowded {
            let idlest = table.idlest(|connection| connection.from == crowded);
            // Of an address that has too many, only its own may go.
            let may_be_any = table.n_of(from) < MOST_OF_ONE || from.is_none();
            let leaving = idlest.or_else(|| table.idlest(|_| may_be_any))?;
            if let Some(connection) = table.open.remove(&leaving) {
                connection.end.notify_one();
            }
        }
        table.last += 1;
        let (number, end) = (table.last, Arc::new(Notify::new()));
        let connection = Connection { from, running: 0, idle_since: Instant::now(), end: end.clone() };
        table.open.insert(number, connection);
        Some(Place { number, all: self.clone(), end })
    }

    fn lock(&self) -> MutexGuard<'_, Table> {
        // Every change is one step, so a panic leaves the table intact.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Table {
    fn n_of(&self, from: Option<IpAddr>) -> usize {
        self.open.values().filter(|connection| connection.from == from).count()
    }

    /// The address with the most connections.
    fn largest(&self) -> Option<IpAddr> {
        let mut counts: HashMap<IpAddr, usize> = HashMap::new();
        self.open
            .values()
            .filter_map(|connection| connection.from)
            .for_each(|from| *counts.entry(from).or_default() += 1);
        counts.into_iter().max_by_key(|(_, n)| *n).map(|(from, _)| from)
    }

    /// The connection among some that was idle longest.
    fn idlest(&self, is_one: impl Fn(&Connection) -> bool) -> Option<u64> {
        let idle = self.open.iter().filter(|(_, connection)| connection.running == 0 && is_one(connection));
        idle.min_by_key(|(_, connection)| connection.idle_since).map(|(number, _)| *number)
    }
}

impl Place {
    /// Ends when the connection has to make room.
    pub(super) async fn taken_back(&self) {
        self.end.notified().await;
    }

    /// Notes that a request runs.
    pub(super) fn run(self: &Arc<Self>) -> Running {
        self.change(|connection| connection.running += 1);
        Running { place: self.clone(), goes_on: false }
    }

    fn change(&self, change: impl FnOnce(&mut Connection)) {
        if let Some(connection) = self.all.lock().open.get_mut(&self.number) {
            change(connection);
        }
    }
}

impl Running {
    /// Counts the request as running until its connection ends, since its answer goes on.
    pub(super) fn goes_on(mut self) {
        self.goes_on = true;
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if self.goes_on {
            return;
        }
        self.place.change(|connection| {
            connection.running -= 1;
            connection.idle_since = Instant::now();
        });
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.all.lock().open.remove(&self.number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(nth: u32) -> Option<IpAddr> {
        Some(std::net::Ipv4Addr::from_bits(nth).into())
    }

    fn is_ended(place: &Place) -> bool {
        !place.all.lock().open.contains_key(&place.number)
    }

    #[test]
    fn an_address_that_has_too_many_makes_room_for_itself() {
        let all = Arc::new(Connections::default());
        let other = all.admit(address(2)).expect("there is room");
        let places: Vec<Arc<Place>> =
            (0..MOST_OF_ONE).map(|_| Arc::new(all.admit(address(1)).expect("there is room"))).collect();
        let running = places[0].run();
        let last = all.admit(address(1)).expect("an idle one goes");
        assert!(!is_ended(&other) && !is_ended(&places[0]) && is_ended(&places[1]) && !is_ended(&places[2]));
        let busy: Vec<Running> = places.iter().map(|place| place.run()).collect();
        drop(last);
        let again = all.admit(address(1)).map(Arc::new).inspect(|place| place.run().goes_on());
        assert!(all.admit(address(1)).is_none(), "all of its own are busy");
        assert!(all.admit(address(3)).is_some() && !is_ended(&other));
        drop((running, busy, again));
        assert!(all.admit(address(1)).is_some());
    }

    #[test]
    fn when_all_places_are_taken_the_largest_holder_gives_one() {
        let all = Arc::new(Connections::default());
        let mut places = Vec::new();
        for nth in 0..8 {
            places.extend((0..MOST_OF_ONE - 8).map(|_| all.admit(address(nth)).expect("there is room")));
        }
        let alone = all.admit(address(99)).expect("there is room");
        while all.lock().open.len() < MOST {
            places.push(all.admit(address(1_000 + places.len() as u32)).expect("there is room"));
        }
        let proxied = all.admit(None).expect("an idle one goes");
        let newest = all.admit(address(100)).expect("an idle one goes");
        assert!(!is_ended(&alone) && !is_ended(&proxied) && !is_ended(&newest));
        assert_eq!(all.lock().open.len(), MOST);
    }
}
