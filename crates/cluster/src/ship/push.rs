//! Publication of a shipment: the objects that a place lacks, and last the listing, if nobody was faster.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::hash::{BuildHasher, RandomState};
use std::time::{Duration, Instant};

use rayon::iter::{IndexedParallelIterator, IntoParallelRefIterator, ParallelIterator};

use super::collect::marked;
use super::listing::{ENDING, Facts, LARGEST, Listing, Part, key_path, keys_folder};
use super::parts::StoreParts;
use super::place::{Place, WriteCondition};
use super::{Error, ShipmentControl, imports, is_key};
use codelode_store::StoreCopy;

/// Times that a publication is tried again after another writer was faster.
const ATTEMPTS: usize = 20;
/// Newest listings whose objects are used again.
const MOST_READ: usize = 8;
/// Longest time from the first look at a place to the publication. It is half the time that an object is marked
/// before it is removed, see [`super::collect`].
const LONGEST: Duration = Duration::from_secs(12 * 60 * 60);

/// Result of a publication.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PublishResult {
    /// Facts of the published listing.
    pub facts: Facts,
    /// Objects sent, and their size.
    pub sent: usize,
    /// Bytes of these objects.
    pub bytes: u64,
    /// Objects that the place had.
    pub held: usize,
    /// Whether this tree was there already, so that nothing was published.
    pub is_there: bool,
    /// Whether a state was there that was asked for later, so that nothing was published.
    pub is_late: bool,
}

/// Publishes a copy of a store under a key.
pub(super) fn push(
    copy: &StoreCopy,
    contents: Vec<u8>,
    facts: Facts,
    place: &dyn Place,
    key: &str,
    watcher: &ShipmentControl<'_>,
) -> Result<PublishResult, Error> {
    if !is_key(key) {
        return Err(Error::Key(key.to_owned()));
    }
    let facts = Facts { imports: imports::kept(facts.imports), ..facts };
    let mut cut = StoreParts::of(copy, contents, facts, watcher)?;
    let repo = cut.listing.facts.repo.clone();
    let path = key_path(&repo, key);
    // Names of this run: an object that was removed never comes back under its name.
    let ending = format!("-{:016x}{ENDING}", RandomState::new().hash_one(std::process::id()));
    let mut sent: HashSet<String> = HashSet::new();
    let mut bytes = 0;
    for _ in 0..ATTEMPTS {
        let began = Instant::now();
        watcher.check()?;
        let now = place.get(&path, LARGEST)?;
        let (facts, mut earlier) = (&cut.listing.facts, BTreeSet::new());
        if let Some((json, _)) = &now
            && let Ok(there) = Listing::read(json, &place.shown())
        {
            let is_late = facts.order < there.facts.order && facts.order.is_some();
            let is_of_commit = facts.order.is_none() || there.facts.commit == facts.commit;
            let is_there = facts.tree.is_some() && there.facts.tree == facts.tree && is_of_commit;
            if is_late || is_there {
                let held = there.parts().count();
                return Ok(PublishResult { facts: there.facts, sent: 0, bytes: 0, held, is_there, is_late });
            }
            earlier = there.facts.imports;
        }
        imports::put(place, &repo, &facts.imports, &earlier)?;
        let known = known(place, &repo)?;
        for part in cut.listing.files.iter_mut().flat_map(|file| &mut file.parts) {
            let own = format!("{}{ending}", part.hash);
            part.object = known.get(&part.hash).filter(|_| !sent.contains(&own)).cloned().unwrap_or(own);
        }
        let mut to_send: Vec<(usize, &Part)> = cut.listing.parts().enumerate().collect();
        let held = to_send.len();
        to_send.retain(|(_, part)| part.object.ends_with(&ending) && !sent.contains(&part.object));
        to_send.sort_by(|(_, one), (_, other)| one.object.cmp(&other.object));
        to_send.dedup_by(|(_, one), (_, other)| one.object == other.object);
        let held = held - to_send.len();
        let total = to_send.len() as u64;
        let put = |(at, (index, part)): (usize, &(usize, &Part))| {
            watcher.check()?;
            let object = cut.packed(*index, part)?;
            place.put(&cut.listing.object_path(part), &object, WriteCondition::Always)?;
            (watcher.progress)(at as u64, Some(total), "sending");
            Ok(object.len() as u64)
        };
        let sizes: Result<Vec<u64>, Error> = to_send.par_iter().enumerate().map(put).collect();
        bytes += sizes?.iter().sum::<u64>();
        sent.extend(to_send.iter().map(|(_, part)| part.object.clone()));
        if began.elapsed() > LONGEST {
            return Err(Error::Slow(place.shown()));
        }
        let when = now.as_ref().map_or(WriteCondition::Absent, |(_, tag)| WriteCondition::Is(tag));
        watcher.check()?;
        if place.put(&path, &cut.listing.to_json(), when)? {
            let facts = cut.listing.facts.clone();
            return Ok(PublishResult { facts, sent: sent.len(), bytes, held, is_there: false, is_late: false });
        }
    }
    Err(Error::Contended(place.shown()))
}

/// Objects that may be used again, by their hashes: those of the newest listings, without those that are to be removed.
fn known(place: &dyn Place, repo: &str) -> Result<HashMap<String, String>, Error> {
    // The marks come first: an object that is marked later stays for a day.
    let marked = marked(place, repo)?;
    let mut keys = place.list(&keys_folder(repo))?;
    keys.sort_by_key(|key| key.age);
    let mut known = HashMap::new();
    for key in keys.iter().take(MOST_READ) {
        let Some((json, _)) = place.get(&format!("{}/{}", keys_folder(repo), key.name), LARGEST)? else { continue };
        // Listings of other versions share nothing.
        let Ok(listing) = Listing::read(&json, &place.shown()) else { continue };
        let parts = listing.parts().filter(|part| !marked.contains(&part.object));
        known.extend(parts.map(|part| (part.hash.clone(), part.object.clone())));
    }
    Ok(known)
}
