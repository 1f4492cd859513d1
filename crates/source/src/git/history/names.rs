//! Branches and tags, the newest first.

use super::History;

/// References that are read: the time of each costs an object.
const MOST_READ: usize = 2_000;

impl History {
    /// Names of branches and tags by the time of their commits, the newest first, at most `most`.
    pub fn names(&self, most: usize) -> Vec<String> {
        let Ok(references) = self.repository.references() else { return Vec::new() };
        let branches = references.local_branches().into_iter().flatten();
        let remote = references.remote_branches().into_iter().flatten();
        let tags = references.tags().into_iter().flatten();
        let known = branches.chain(remote).chain(tags).filter_map(Result::ok).take(MOST_READ);
        let mut dated: Vec<(i64, String)> = known
            .filter_map(|reference| {
                let name = reference.name().shorten().to_string();
                let commit = self.commit(&name).ok()?;
                // The default branch of a remote has a name of its own.
                Some((self.logged(&commit)?.time, name)).filter(|(_, name)| !name.ends_with("/HEAD"))
            })
            .collect();
        dated.sort_by(|one, other| other.0.cmp(&one.0).then_with(|| one.1.cmp(&other.1)));
        dated.dedup_by(|one, other| one.1 == other.1);
        dated.into_iter().map(|(_, name)| name).take(most).collect()
    }
}
