//! Repositories with texts that are not saved, in place of what is on disk. Nothing of them is stored.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use super::indexes::{Repo, store_error};
use crate::answer::Error;
use crate::pipeline;
use crate::store::{EdgeTable, Snapshot};

pub use crate::pipeline::Unsaved;

/// A text of an editor. Its identity is that of the allocation: a changed text is another one.
#[derive(Clone, Debug)]
pub struct Text {
    /// Path of its file, without links.
    pub path: PathBuf,
    /// The text, without a byte order mark.
    pub text: Arc<str>,
}

/// Snapshots with unsaved texts, kept for the next request: the newest of each repository.
#[derive(Default)]
pub struct Overlays(Mutex<Vec<Kept>>);

/// A snapshot with the texts that it was made with.
struct Kept {
    repo: String,
    stored: Arc<Snapshot>,
    texts: Vec<Arc<str>>,
    snapshot: Arc<Snapshot>,
    edges: Option<EdgeTable>,
}

/// A snapshot with unsaved texts, and its edges if they were asked for.
type Overlaid = (Arc<Snapshot>, Option<EdgeTable>);

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

impl Overlays {
    /// The snapshot of a repository with these texts; `None` when all are as they are stored.
    pub fn snapshot(&self, repo: &Repo, texts: &[Text]) -> Result<Option<Arc<Snapshot>>, Error> {
        Ok(self.overlay(repo, None, texts)?.map(|(snapshot, _)| snapshot))
    }

    /// The snapshot of a repository with these texts, and its edges made from the stored ones; `None` when all texts
    /// are as they are stored.
    pub fn edges(
        &self,
        repo: &Repo,
        edges: &EdgeTable,
        texts: &[Text],
    ) -> Result<Option<(Arc<Snapshot>, EdgeTable)>, Error> {
        let overlay = self.overlay(repo, Some(edges), texts)?;
        Ok(overlay.and_then(|(snapshot, edges)| Some((snapshot, edges?))))
    }

    fn overlay(&self, repo: &Repo, edges: Option<&EdgeTable>, texts: &[Text]) -> Result<Option<Overlaid>, Error> {
        let changed = changed(repo, texts);
        if changed.is_empty() {
            return Ok(None);
        }
        let unsaved =
            || changed.iter().map(|(path, text)| Unsaved { path: path.clone(), text: text.as_bytes().to_vec() });
        // Concurrent requests wait for the first to parse. A panic leaves the list intact.
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let place = all.iter().position(|kept| kept.repo == repo.sidecar.repo);
        let is_same = |kept: &Kept| {
            let texts = kept.texts.iter().zip(&changed).all(|(kept, (_, text))| Arc::ptr_eq(kept, text));
            Arc::ptr_eq(&kept.stored, &repo.snapshot) && kept.texts.len() == changed.len() && texts
        };
        let place = match place.filter(|place| is_same(&all[*place])) {
            Some(place) => place,
            None => {
                let unsaved: Vec<Unsaved> = unsaved().collect();
                let snapshot = pipeline::with_unsaved(&repo.snapshot, &unsaved);
                let snapshot = Arc::new(snapshot.map_err(|err| store_error(err, &repo.sidecar))?);
                let texts = changed.iter().map(|(_, text)| text.clone()).collect();
                all.retain(|kept| kept.repo != repo.sidecar.repo);
                let (id, stored) = (repo.sidecar.repo.clone(), repo.snapshot.clone());
                all.push(Kept { repo: id, stored, texts, snapshot, edges: None });
                all.len() - 1
            }
        };
        let kept = &mut all[place];
        if let (None, Some(edges)) = (&kept.edges, edges) {
            let unsaved: Vec<Unsaved> = unsaved().collect();
            kept.edges = Some(pipeline::relations_with_unsaved(&repo.snapshot, edges, &kept.snapshot, &unsaved));
        }
        Ok(Some((kept.snapshot.clone(), kept.edges.clone())))
    }
}

/// Paths of the texts that differ from the snapshot, in order.
fn changed(repo: &Repo, texts: &[Text]) -> Vec<(String, Arc<str>)> {
    let Some(root) = &repo.root else { return Vec::new() };
    let changed = texts.iter().filter_map(|text| {
        let path = text.path.strip_prefix(root).ok()?.to_str()?;
        let content = repo.snapshot.file(path)?.content();
        let content = content.strip_prefix(BYTE_ORDER_MARK).unwrap_or(content);
        (content != text.text.as_bytes()).then(|| (path.to_owned(), text.text.clone()))
    });
    let mut changed: Vec<_> = changed.collect();
    changed.sort_by(|a, b| a.0.cmp(&b.0));
    changed.dedup_by(|a, b| a.0 == b.0);
    changed
}
