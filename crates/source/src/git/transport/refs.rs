//! Branches and tags of a repository, and the meaning of names.

use super::remote::Place;
use codelode_base::model::nearest;

/// A branch or a tag.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RemoteRef {
    /// The full name: `refs/heads/main`, `refs/tags/v1`.
    pub name: String,
    /// The commit, in hex; another object for a rare tag of such.
    pub commit: String,
    /// The tag's own object, if it has one.
    pub tag: Option<String>,
}

/// The refs of a repository.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Refs {
    /// The default branch, as a full name.
    pub default: Option<String>,
    /// The commit of the default branch.
    pub head: Option<String>,
    /// All refs, by name.
    pub all: Vec<RemoteRef>,
}

/// The meaning of a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResolvedRef {
    /// The full ref, or the commit's hash if it was named by that.
    pub reference: String,
    /// The commit, in hex.
    pub commit: String,
    /// The folder or file named with it, without slashes at its ends; empty for the whole repository.
    pub folder: String,
}

impl Refs {
    /// The ref of a name: a full name, a branch, or a tag, in this order.
    pub fn get(&self, name: &str) -> Option<&RemoteRef> {
        let find =
            |full: &str| self.all.binary_search_by(|one| one.name.as_str().cmp(full)).ok().map(|at| &self.all[at]);
        find(name)
            .or_else(|| ["refs/heads/", "refs/tags/", "refs/"].iter().find_map(|kind| find(&format!("{kind}{name}"))))
    }

    /// The meaning of a name: a ref, or a commit's hash, in full or as a prefix of one that a ref points to.
    pub fn find(&self, name: &str) -> Option<ResolvedRef> {
        if let Some(one) = self.get(name) {
            return Some(ResolvedRef {
                reference: one.name.clone(),
                commit: one.commit.clone(),
                folder: String::new(),
            });
        }
        if name == "HEAD" {
            return self.default_found();
        }
        if !name.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return None;
        }
        let name = name.to_ascii_lowercase();
        let whole = matches!(name.len(), 40 | 64);
        let mut begun = self.all.iter().filter(|one| name.len() >= 7 && one.commit.starts_with(&name));
        let commit = if whole { name.clone() } else { begun.next()?.commit.clone() };
        if begun.any(|other| other.commit != commit && !whole) {
            return None;
        }
        Some(ResolvedRef { reference: commit.clone(), commit, folder: String::new() })
    }

    /// The default branch.
    pub fn default_found(&self) -> Option<ResolvedRef> {
        let by_name = self.default.as_deref().and_then(|name| self.get(name));
        let commit = by_name.map(|one| one.commit.clone()).or_else(|| self.head.clone())?;
        Some(ResolvedRef {
            reference: self.default.clone().unwrap_or_else(|| commit.clone()),
            commit,
            folder: String::new(),
        })
    }

    /// The meaning of a place. If it joins a ref and a folder, the longest existing ref wins.
    pub fn place(&self, place: &Place) -> Option<ResolvedRef> {
        let text = match place {
            Place::Ref(name) => return self.find(name),
            Place::Joined(text) => text.trim_matches('/'),
        };
        let ends = text.rmatch_indices('/').map(|(end, _)| end);
        std::iter::once(text.len()).chain(ends).find_map(|end| {
            let folder = text[end..].trim_matches('/').to_owned();
            self.find(&text[..end]).map(|found| ResolvedRef { folder, ..found })
        })
    }

    /// The existing names most similar to a missing one, without the common prefix of refs.
    pub fn nearest(&self, name: &str) -> Vec<String> {
        let short = |one: &RemoteRef| one.name.splitn(3, '/').last().unwrap_or_default().to_owned();
        let all: Vec<String> = self.all.iter().map(short).collect();
        nearest(name, all.iter().map(String::as_str), 5).into_iter().map(str::to_owned).collect()
    }
}

/// Whether a reference is a commit's hash, whose meaning never changes.
pub fn is_fixed(reference: &str) -> bool {
    reference.starts_with("refs/tags/") || !reference.starts_with("refs/")
}

/// A ref without the prefix of its kind.
pub fn short_name(reference: &str) -> &str {
    ["refs/heads/", "refs/tags/", "refs/"].iter().find_map(|kind| reference.strip_prefix(kind)).unwrap_or(reference)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn refs() -> Refs {
        let one = |name: &str, commit: char| RemoteRef {
            name: name.to_owned(),
            commit: commit.to_string().repeat(40),
            tag: None,
        };
        let mut all = vec![
            one("refs/heads/main", 'a'),
            one("refs/heads/feature", 'b'),
            one("refs/heads/feature/x", 'c'),
            one("refs/tags/v1", 'd'),
            one("refs/tags/main", 'e'),
        ];
        all.sort();
        Refs { default: Some("refs/heads/main".to_owned()), head: Some("a".repeat(40)), all }
    }

    fn joined(text: &str) -> Option<(String, String)> {
        refs().place(&Place::Joined(text.to_owned())).map(|found| (found.reference, found.folder))
    }

    #[test]
    fn the_longest_ref_that_there_is_wins() {
        let expect = |reference: &str, folder: &str| Some((reference.to_owned(), folder.to_owned()));
        assert_eq!(joined("feature/x/src"), expect("refs/heads/feature/x", "src"));
        assert_eq!(joined("feature/y/src"), expect("refs/heads/feature", "y/src"));
        assert_eq!(joined("main"), expect("refs/heads/main", ""));
        assert_eq!(joined("v1/a/b.py"), expect("refs/tags/v1", "a/b.py"));
        assert_eq!(joined(&format!("{}/src", "9".repeat(40))), expect(&"9".repeat(40), "src"));
        assert_eq!(joined("none/x"), None);
    }

    #[test]
    fn a_name_is_a_branch_before_it_is_a_tag() {
        let find = |name: &str| refs().find(name).map(|found| found.reference);
        assert_eq!(find("main").as_deref(), Some("refs/heads/main"));
        assert_eq!(find("tags/main").as_deref(), Some("refs/tags/main"));
        assert_eq!(find("refs/tags/main").as_deref(), Some("refs/tags/main"));
        assert_eq!(find("ddddddd"), Some("d".repeat(40)));
        assert_eq!(find("dddddd"), None);
        assert_eq!(find("HEAD").as_deref(), Some("refs/heads/main"));
        assert_eq!(find("nain"), None);
        assert_eq!(refs().nearest("nain"), ["main"]);
    }

    proptest! {
        #[test]
        fn a_split_gives_back_what_was_joined(folder in "[a-z]{1,5}(/[a-z]{1,5}){0,3}", which in 0..3_usize) {
            let name = ["main", "v1", "feature/x"][which];
            let found = refs().place(&Place::Joined(format!("{name}/{folder}"))).expect("the ref is there");
            prop_assert_eq!(format!("{}/{}", short_name(&found.reference), found.folder), format!("{name}/{folder}"));
        }
    }
}
