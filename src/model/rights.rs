//! Rights of a caller: which repositories it may see, and what it may do to them.

use std::path::PathBuf;

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};

/// Rights of a caller. By default all, as those of a person at the machine.
#[derive(Clone, Debug)]
pub struct Rights {
    /// Globs of visible repositories; `None` for all.
    pub repos: Option<GlobSet>,
    /// The same globs as they are written.
    pub written: Vec<String>,
    /// Whether it may index, and name repositories elsewhere, which are fetched.
    pub index: bool,
    /// Whether it may remove indexes.
    pub invalidate: bool,
    /// Folders that it may index by path; `None` for any folder of the machine.
    pub roots: Option<Vec<PathBuf>>,
}

impl Default for Rights {
    fn default() -> Self {
        Self { repos: None, written: Vec::new(), index: true, invalidate: true, roots: None }
    }
}

impl Rights {
    /// Rights to look at the repositories whose ids match these globs. `*` matches any letters, slashes included.
    pub fn to_see(globs: &[String]) -> Result<Self, String> {
        let mut repos = GlobSetBuilder::new();
        for glob in globs {
            let glob = GlobBuilder::new(glob).build();
            repos.add(glob.map_err(|err| format!("has a broken glob: {err}"))?);
        }
        let is_all = globs.iter().any(|glob| glob == "*");
        let repos = repos.build().map_err(|err| format!("has too many globs: {err}"))?;
        let (repos, written) = ((!is_all).then_some(repos), globs.to_vec());
        Ok(Self { repos, written, index: false, invalidate: false, roots: Some(Vec::new()) })
    }

    /// Whether a repository may be seen, by its id. A right to a repository is one to all its versions (`name@ref`).
    pub fn sees(&self, repo: &str) -> bool {
        let whole = repo.split_once('@').map_or(repo, |(whole, _)| whole);
        self.repos.as_ref().is_none_or(|globs| globs.is_match(repo) || globs.is_match(whole))
    }

    /// Whether they allow all that others do, as far as their words tell.
    pub fn cover(&self, others: &Self) -> bool {
        let sees = |glob: &String| self.written.contains(glob);
        let roots = self.roots.is_none() || self.roots == others.roots;
        (self.sees_all() || (!others.sees_all() && others.written.iter().all(sees)))
            && self.index >= others.index
            && self.invalidate >= others.invalidate
            && roots
    }

    /// Whether every repository may be seen.
    pub fn sees_all(&self) -> bool {
        self.repos.is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::Rights;

    #[test]
    fn rights_that_are_taken_back_no_longer_cover_those_before() {
        let to_see = |globs: &[&str]| {
            Rights::to_see(&globs.iter().map(|glob| (*glob).to_owned()).collect::<Vec<_>>()).expect("they are globs")
        };
        let (one, both, all) = (to_see(&["a/*"]), to_see(&["a/*", "b/c"]), to_see(&["*"]));
        assert!(both.cover(&one) && all.cover(&both) && all.cover(&all) && one.cover(&one));
        assert!(!one.cover(&both) && !both.cover(&all));
        let may_index = Rights { index: true, ..one.clone() };
        assert!(may_index.cover(&one) && !one.cover(&may_index));
        assert!(Rights::default().cover(&may_index) && !may_index.cover(&Rights::default()));
    }

    #[test]
    fn globs_of_ids_decide_what_is_seen() {
        let rights = |globs: &[&str]| {
            Rights::to_see(&globs.iter().map(|glob| (*glob).to_owned()).collect::<Vec<_>>()).expect("they are globs")
        };
        let sees = |globs: &[&str], repo: &str| rights(globs).sees(repo);
        assert!(sees(&["*"], "local/shop-01234567") && rights(&["a/*", "*"]).sees_all());
        assert!(sees(&["acme/*"], "acme/shop") && !sees(&["acme/*"], "other/acme") && !rights(&["acme/*"]).sees_all());
        assert!(sees(&["acme/shop"], "acme/shop@v1/2") && !sees(&["acme/shop"], "acme/shop2"));
        assert!(sees(&["acme/*@v1"], "acme/shop@v1") && !sees(&["acme/*@v1"], "acme/shop"));
        assert!(!sees(&[], "acme/shop") && !rights(&[]).sees_all());
        assert!(Rights::to_see(&["a[".to_owned()]).is_err());
        let (granted, default) = (rights(&["*"]), Rights::default());
        assert!(!granted.index && !granted.invalidate && granted.roots.is_some(), "nothing but seeing is given");
        assert!(default.index && default.invalidate && default.roots.is_none() && default.sees_all());
    }
}
