//! Arrival of a shipment from a place: its listing, then its objects, several at once.

use rayon::iter::{IntoParallelIterator, ParallelIterator};

use super::listing::{LARGEST, Listing, Part, key_path};
use super::parts::{Arrival, Filling, most_packed};
use super::place::Place;
use super::{Error, ShipmentControl, is_key, is_repo_name};
use codelode_store::Registry;

/// Times that a shipment is begun again when its objects have gone: a newer one has replaced it.
const ATTEMPTS: usize = 3;

/// Takes a repository's store from a place, by the first of these keys that is there. `None` when none is.
pub(super) fn fetch(
    place: &dyn Place,
    repo: &str,
    keys: &[String],
    registry: &Registry,
    watcher: &ShipmentControl<'_>,
) -> Result<Option<Arrival>, Error> {
    if !is_repo_name(repo) {
        return Err(Error::damaged(&place.shown(), format!("{repo:?} is not a name of a repository")));
    }
    if let Some(key) = keys.iter().find(|key| !is_key(key)) {
        return Err(Error::Key(key.clone()));
    }
    let mut attempt = 1;
    loop {
        let mut found = None;
        for key in keys {
            found = place.get(&key_path(repo, key), LARGEST)?;
            if found.is_some() {
                break;
            }
        }
        let Some((json, _)) = found else { return Ok(None) };
        let shown = place.shown();
        let listing = Listing::read(&json, &shown)?;
        if listing.facts.repo != repo {
            return Err(Error::damaged(&shown, format!("it holds {} in place of {repo}", listing.facts.repo)));
        }
        let filling = Filling::begin(&listing, registry, &shown)?;
        let wanted = filling.wanted();
        let total = wanted.len() as u64;
        let take = |part: &Part| {
            watcher.check()?;
            let Some((object, _)) = place.get(&listing.object_path(part), most_packed(part))? else { return Ok(false) };
            filling.put(part, &object)?;
            (watcher.progress)(total - filling.wanted().len() as u64, Some(total), "fetching");
            Ok(true)
        };
        let there: Result<Vec<bool>, Error> = wanted.into_par_iter().map(take).collect();
        if there?.contains(&false) && attempt < ATTEMPTS {
            attempt += 1;
            continue;
        }
        return filling.finish().map(Some);
    }
}
