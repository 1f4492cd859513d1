//! Commits by their names. Objects may say anything, and the library's own way from one to the next trusts them.

use gix::ObjectId;
use gix::objs::Kind;

/// Largest number of tags that lead to each other.
const MOST_TAGS: usize = 16;
/// Largest number of commits that a name such as `HEAD~3` goes back.
const MOST_BACK: usize = 100_000;

/// The commit that a revision names: a commit's id or the beginning of one, a branch, a tag, `HEAD~3`, `main^2`. A full
/// id is looked up as it is.
pub(in crate::git) fn commit_id(repository: &gix::Repository, revision: &str) -> Option<ObjectId> {
    let (name, mut steps) = revision.split_at(revision.find(['~', '^']).unwrap_or(revision.len()));
    let id = match ObjectId::from_hex(name.as_bytes()) {
        Ok(id) => id,
        // A colon begins the name of a file, or a search through messages.
        Err(_) if name.contains(':') => return None,
        Err(_) => repository.rev_parse_single(name).ok()?.detach(),
    };
    let mut id = peel(repository, id, Kind::Commit)?;
    while let Some(kind) = steps.chars().next() {
        let rest = &steps[1..];
        let after = rest.strip_prefix("{}").or(rest.strip_prefix("{commit}")).filter(|_| kind == '^');
        if let Some(after) = after {
            steps = after;
            continue;
        }
        let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        let count = if digits == 0 { 1 } else { rest[..digits].parse().ok()? };
        steps = &rest[digits..];
        match kind {
            '^' if count == 0 => {}
            '^' => id = parent(repository, id, count)?,
            '~' if count <= MOST_BACK => {
                for _ in 0..count {
                    id = parent(repository, id, 1)?;
                }
            }
            _ => return None,
        }
    }
    Some(id)
}

/// The object of this kind that an object stands for: a tag for what it names, a commit for its tree.
pub(in crate::git) fn peel(repository: &gix::Repository, mut id: ObjectId, kind: Kind) -> Option<ObjectId> {
    for _ in 0..MOST_TAGS {
        let object = repository.try_find_object(id).ok()??;
        id = match object.kind {
            found if found == kind => return Some(id),
            Kind::Tag => object.to_tag_ref_iter().target_id().ok()?,
            Kind::Commit => object.try_to_commit_ref_iter()?.tree_id().ok()?,
            Kind::Tree | Kind::Blob => return None,
        };
    }
    None
}

/// A parent of a commit, counted from one.
pub(in crate::git) fn parent(repository: &gix::Repository, id: ObjectId, number: usize) -> Option<ObjectId> {
    let commit = repository.try_find_object(id).ok()??;
    let parent = commit.try_to_commit_ref_iter()?.parent_ids().nth(number - 1)?;
    peel(repository, parent, Kind::Commit)
}
