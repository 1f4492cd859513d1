//! HTTP cache of API responses with their ETags, for conditional requests.
//!
//! Write errors are only logged: the cache is an optimisation.

use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::SystemTime;

use sha2::{Digest, Sha256};

/// Responses above this size are not cached.
const LARGEST: usize = 8 << 20;
/// Limit on the whole cache.
const ALL: u64 = 64 << 20;
/// The cache is trimmed on a process's first write, on each write above this size, and on every 64th write.
const SMALL: usize = 256 << 10;
const NOW_AND_THEN: u32 = 64;

/// A cached response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CachedResponse {
    /// The ETag.
    pub etag: String,
    /// URL of the next page.
    pub next: Option<String>,
    /// The response body.
    pub body: Vec<u8>,
}

/// A directory of cached responses.
#[derive(Clone, Debug)]
pub struct Cache {
    folder: PathBuf,
    n_put: Arc<AtomicU32>,
}

impl Cache {
    /// A cache in `folder`, which is created on the first write.
    pub fn new(folder: PathBuf) -> Self {
        Self { folder, n_put: Arc::default() }
    }

    /// The cached response for a key. The token is part of the key, so tokens do not share responses.
    pub fn get(&self, key: &[&str]) -> Option<CachedResponse> {
        let bytes = fs::read(self.path(key)).ok()?;
        let mut rest = bytes.as_slice();
        let mut line = || {
            let end = rest.iter().position(|byte| *byte == b'\n')?;
            let (line, after) = rest.split_at(end);
            rest = &after[1..];
            std::str::from_utf8(line).ok().map(str::to_owned)
        };
        let (etag, next, length) = (line()?, line()?, line()?.parse::<usize>().ok()?);
        let next = Some(next).filter(|next| !next.is_empty());
        (rest.len() == length).then(|| CachedResponse { etag, next, body: rest.to_vec() })
    }

    /// Stores a response.
    pub fn put(&self, key: &[&str], kept: &CachedResponse) {
        if kept.body.len() > LARGEST {
            return;
        }
        if let Err(err) = self.write(key, kept) {
            tracing::debug!(%err, "an answer could not be kept");
        }
    }

    fn write(&self, key: &[&str], kept: &CachedResponse) -> std::io::Result<()> {
        fs::create_dir_all(&self.folder)?;
        let n = self.n_put.fetch_add(1, Ordering::Relaxed);
        if n.is_multiple_of(NOW_AND_THEN) || kept.body.len() > SMALL {
            self.make_room(kept.body.len() as u64);
        }
        let mut file = tempfile::NamedTempFile::new_in(&self.folder)?;
        let next = kept.next.as_deref().unwrap_or_default();
        write!(file, "{}\n{next}\n{}\n", kept.etag, kept.body.len())?;
        file.write_all(&kept.body)?;
        file.persist(self.path(key))?;
        Ok(())
    }

    /// Removes the oldest responses until one of `size` bytes fits.
    fn make_room(&self, size: u64) {
        let Ok(entries) = fs::read_dir(&self.folder) else { return };
        let mut files: Vec<(SystemTime, u64, PathBuf)> = entries
            .filter_map(|entry| {
                let entry = entry.ok()?;
                let meta = entry.metadata().ok().filter(fs::Metadata::is_file)?;
                Some((meta.modified().ok()?, meta.len(), entry.path()))
            })
            .collect();
        let mut total = size + files.iter().map(|(_, size, _)| size).sum::<u64>();
        files.sort();
        for (_, size, path) in files {
            if total <= ALL {
                return;
            }
            // Another process may have removed it already.
            let _ = fs::remove_file(path);
            total -= size;
        }
    }

    /// Path of a cached response: a hash, because one part of the key is a secret.
    fn path(&self, key: &[&str]) -> PathBuf {
        let mut hash = Sha256::new();
        for part in key {
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part.as_bytes());
        }
        self.folder.join(hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect::<String>())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_kept_by_question_and_asker_within_bounds() {
        let folder = tempfile::tempdir().expect("there is room");
        let cache = Cache::new(folder.path().join("github"));
        let kept = |size: usize| CachedResponse {
            etag: "W/\"1\"".to_owned(),
            next: Some("n".to_owned()),
            body: vec![b'\n'; size],
        };
        assert_eq!(cache.get(&["a", "token"]), None);
        cache.put(&["a", "token"], &kept(10));
        assert_eq!(cache.get(&["a", "token"]), Some(kept(10)));
        assert_eq!(cache.get(&["a", "other"]), None);
        assert_eq!(cache.get(&["at", "oken"]), None);
        cache.put(&["large"], &kept(LARGEST + 1));
        assert_eq!(cache.get(&["large"]), None);
        for n in 0..12 {
            cache.put(&["n", &n.to_string()], &kept(LARGEST));
        }
        let total: u64 = fs::read_dir(folder.path().join("github"))
            .and_then(|entries| entries.map(|entry| Ok(entry?.metadata()?.len())).sum())
            .expect("they can be counted");
        assert!(total <= ALL + 1_000, "{total}");
        assert_eq!(cache.get(&["n", "11"]), Some(kept(LARGEST)));
        fs::write(cache.path(&["cut"]), "W/\"1\"\n\n9\nhalf").expect("there is room");
        assert_eq!(cache.get(&["cut"]), None);
    }
}
