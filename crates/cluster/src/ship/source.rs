//! A place as a server of indexes sees it: which repositories it holds, which state of each is the newest, and that state.

use std::collections::BTreeSet;

use super::listing::{Facts, LARGEST, LATEST, Listing, key_path};
use super::parts::Arrival;
use super::place::{self, Place};
use super::{Error, ShipmentControl, fetch, imports, is_repo_name};
use codelode_net as net;
use codelode_store::Registry;

/// A place that is read again and again.
pub struct Source {
    place: Box<dyn Place>,
}

/// The newest state of a repository in a place.
pub struct Newest {
    /// Its facts.
    pub facts: Facts,
    /// A tag that another state has not.
    pub tag: String,
}

impl Source {
    /// Opens a place by its URL, or by the path of a folder.
    pub fn open(url: &str, client: &net::Client) -> Result<Self, Error> {
        Ok(Self { place: place::open(url, client)? })
    }

    /// Its name, for people.
    pub fn shown(&self) -> String {
        self.place.shown()
    }

    /// Names of all repositories; `None` where the place cannot list them, as a web server.
    pub fn repos(&self) -> Result<Option<Vec<String>>, Error> {
        let Some(owners) = self.place.folders("")? else { return Ok(None) };
        let mut repos = Vec::new();
        for owner in owners {
            let names = self.place.folders(&owner)?.unwrap_or_default();
            repos.extend(names.iter().map(|name| format!("{owner}/{name}")).filter(|repo| is_repo_name(repo)));
        }
        Ok(Some(repos))
    }

    /// The newest state of a repository; `None` when there is none that this version reads.
    pub fn newest(&self, repo: &str) -> Result<Option<Newest>, Error> {
        if !is_repo_name(repo) {
            return Ok(None);
        }
        let Some((json, tag)) = self.place.get(&key_path(repo, LATEST), LARGEST)? else { return Ok(None) };
        let listing = Listing::read(&json, &self.shown())?;
        if listing.facts.repo != repo {
            return Err(Error::damaged(&self.shown(), format!("it holds {} in place of {repo}", listing.facts.repo)));
        }
        Ok(Some(Newest { facts: listing.facts, tag }))
    }

    /// Repositories that import one of some modules, or may; each module is an ecosystem, a slash, and its name. `None` where the
    /// place cannot list them.
    pub fn importers(&self, modules: &BTreeSet<String>) -> Result<Option<BTreeSet<String>>, Error> {
        match self.place.folders("")? {
            Some(_) => imports::importers(&*self.place, modules).map(Some),
            None => Ok(None),
        }
    }

    /// The tag of the newest state of a repository, which costs less than the state.
    pub fn tag(&self, repo: &str) -> Result<Option<String>, Error> {
        self.place.tag(&key_path(repo, LATEST), LARGEST)
    }

    /// The newest state of a repository, verified.
    pub fn fetch(
        &self,
        repo: &str,
        registry: &Registry,
        watcher: &ShipmentControl<'_>,
    ) -> Result<Option<Arrival>, Error> {
        fetch::fetch(&*self.place, repo, &[LATEST.to_owned()], registry, watcher)
    }
}
