//! Rights of a caller: which repositories it may see, and what it may do to them.

use std::path::{Component, Path, PathBuf};

use globset::{GlobBuilder, GlobMatcher, GlobSet, GlobSetBuilder};

/// Rights of a caller. By default all, as those of a person at the machine.
#[derive(Clone, Debug)]
pub struct Rights {
    /// Globs of visible repositories; `None` for all.
    pub repos: Option<GlobSet>,
    /// The same globs as they are written, and the paths.
    pub written: Vec<String>,
    /// Visible folders, each with all below it.
    pub folders: Vec<PathBuf>,
    /// Whole ids of visible folders.
    pub folder_ids: Vec<String>,
    /// Globs that a visible folder fits alone.
    pub short_names: Vec<GlobMatcher>,
    /// Whether all folders are visible.
    pub any_folder: bool,
    /// Whether it may index, and name repositories elsewhere, which are fetched.
    pub index: bool,
    /// Whether it may remove indexes.
    pub invalidate: bool,
    /// Folders that it may index by path; `None` for any folder of the machine.
    pub roots: Option<Vec<PathBuf>>,
}

impl Default for Rights {
    fn default() -> Self {
        Self {
            repos: None,
            written: Vec::new(),
            folders: Vec::new(),
            folder_ids: Vec::new(),
            short_names: Vec::new(),
            any_folder: true,
            index: true,
            invalidate: true,
            roots: None,
        }
    }
}

/// Letters of a glob.
const WILD: [char; 5] = ['*', '?', '[', '{', '\\'];
/// Number of digits of the hash at the end of a folder's id.
const FOLDER_HASH: usize = 8;

impl Rights {
    /// Rights to look at the repositories whose ids match these globs. `*` matches any letters, slashes included. An absolute
    /// path means a folder with all below it. A glob that could mean folders by a part of their names is a short name of one:
    /// anybody may call a folder of theirs like that of somebody else.
    pub fn to_see(globs: &[String]) -> Result<Self, String> {
        let broken = |err| format!("has a broken glob: {err}");
        let mut repos = GlobSetBuilder::new();
        let (mut folders, mut folder_ids, mut short_names, mut any_folder) =
            (Vec::new(), Vec::new(), Vec::new(), false);
        for glob in globs {
            if glob.starts_with('/') {
                folders.push(folder(glob)?);
                continue;
            }
            let compiled = GlobBuilder::new(glob).build().map_err(broken)?;
            repos.add(compiled.clone());
            let hash = glob.rsplit_once('-').map_or("", |(_, hash)| hash);
            if matches!(glob.as_str(), "*" | "*/*" | "local/*") {
                any_folder = true;
            } else if glob.contains(WILD) {
                short_names.push(compiled.compile_matcher());
            } else if hash.len() == FOLDER_HASH && hash.bytes().all(|byte| byte.is_ascii_hexdigit()) {
                folder_ids.push(glob.clone());
            } else {
                let whole = format!("{glob}-{}", "[0-9a-f]".repeat(FOLDER_HASH));
                short_names.push(GlobBuilder::new(&whole).build().map_err(broken)?.compile_matcher());
            }
        }
        let is_all = globs.iter().any(|glob| glob == "*");
        let repos = repos.build().map_err(|err| format!("has too many globs: {err}"))?;
        let (repos, written) = ((!is_all).then_some(repos), globs.to_vec());
        let seen = Self { repos, written, folders, folder_ids, short_names, any_folder, ..Self::default() };
        Ok(Self { index: false, invalidate: false, roots: Some(Vec::new()), ..seen })
    }

    /// Whether a repository that is no folder of this machine may be seen, by its id. A right to a repository is one to all
    /// its versions (`name@ref`).
    pub fn sees(&self, repo: &str) -> bool {
        let Some(globs) = &self.repos else { return true };
        let whole = repo.split_once('@').map_or(repo, |(whole, _)| whole);
        globs.is_match(repo) || globs.is_match(whole)
    }

    /// Whether a folder may be seen, by its id and its path.
    pub fn sees_folder(&self, id: &str, path: &Path) -> bool {
        self.repos.is_none()
            || self.any_folder
            || self.folder_ids.iter().any(|known| known == id)
            || self.folders.iter().any(|folder| path.starts_with(folder))
    }

    /// Short names that fit the id of a folder. Each means it if it fits no other.
    pub fn short_names<'r>(&'r self, id: &'r str) -> impl Iterator<Item = &'r GlobMatcher> {
        self.short_names.iter().filter(move |name| name.is_match(id))
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

/// The folder of an absolute path, which is written in one way only.
fn folder(path: &str) -> Result<PathBuf, String> {
    if path.contains(WILD) {
        return Err(format!("names folders by {path:?}; write the path of one, which means all below it"));
    }
    let folder = Path::new(path);
    match folder.components().any(|part| part == Component::ParentDir) {
        true => Err(format!("names a folder by {path:?}; write it without `..`")),
        false => Ok(folder.components().collect()),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

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
        let folder = |globs: &[&str], path: &str| rights(globs).sees_folder("local/shop-01234567", Path::new(path));
        assert!(
            folder(&["/srv/a"], "/srv/a") && folder(&["/srv/a/"], "/srv/a/b/shop") && !folder(&["/srv/a"], "/srv/ab")
        );
        assert!(folder(&["local/shop-01234567"], "/x") && folder(&["local/*"], "/x") && folder(&["*/*"], "/x"));
        assert!(!folder(&["acme/*", "*/shop*", "local/s*", "local/shop"], "/srv/shop"), "a name is not a path");
        let fitting = |glob: &str| rights(&[glob]).short_names("local/shop-01234567").count();
        assert_eq!(
            ["local/s*", "*/shop*", "local/shop", "local/sho", "acme/*", "/srv"].map(fitting),
            [1, 1, 1, 0, 0, 0]
        );
        assert!(["/srv/*", "/srv/../etc"].iter().all(|path| Rights::to_see(&[(*path).to_owned()]).is_err()));
        let (granted, default) = (rights(&["*"]), Rights::default());
        assert!(!granted.index && !granted.invalidate && granted.roots.is_some(), "nothing but seeing is given");
        assert!(default.index && default.invalidate && default.roots.is_none() && default.sees_all());
    }
}
