//! A commit as tools read it: without files that may contain a credential, and with texts kept beside the
//! repository's clone.

use std::fs::{self, File};
use std::path::PathBuf;
use std::sync::OnceLock;
use std::sync::atomic::Ordering;
use std::time::SystemTime;

use super::texts::{self, Texts};
use crate::git::cache::{Cache, key, touch};
use crate::git::history::bare::{entries, make_private, remove};
use crate::git::history::contents::Outcome;
use crate::git::{Error, FetchOptions, Remote};
use codelode_base::config::Secrets;
use codelode_base::model::{EntryMode, FIRST, SourceError, SourceTree, TreeEntry, is_text};

/// The number of commits of a repository whose texts are kept; the least recently used goes first.
const MOST: usize = 3;

/// The files of a commit, read from kept texts where possible. Files that may contain a credential are neither listed
/// nor read.
pub struct CommitFiles {
    tree: Box<dyn SourceTree>,
    secrets: Secrets,
    /// Hidden files, once the others were listed.
    hidden: OnceLock<Vec<String>>,
    /// Its contents were fetched from far away and are nowhere else.
    far: bool,
    home: Option<TextFolder>,
    texts: Option<Texts>,
}

/// The place of the texts.
struct TextFolder {
    key: String,
    path: PathBuf,
    /// A shared lock, which keeps the texts.
    _pin: File,
}

impl CommitFiles {
    /// Files without kept texts, read from the tree itself.
    pub fn nothing(tree: Box<dyn SourceTree>, secrets: Secrets) -> Self {
        Self { tree, secrets, hidden: OnceLock::new(), far: false, home: None, texts: None }
    }

    /// Files that may contain a credential.
    pub fn hidden(&self) -> Result<&[String], SourceError> {
        if self.hidden.get().is_none() {
            self.paths()?;
        }
        Ok(self.hidden.get().map(Vec::as_slice).unwrap_or_default())
    }

    fn shown(&self, mut entries: Vec<TreeEntry>) -> Vec<TreeEntry> {
        let hidden = entries.extract_if(.., |entry| self.secrets.hides(&entry.path)).map(|entry| entry.path).collect();
        self.hidden.get_or_init(|| hidden);
        entries
    }

    /// Whether keeping the texts is worthwhile, after this many of the commit's files were read.
    pub fn is_worth_keeping(&self, files: &[TreeEntry], looked_into: usize) -> bool {
        let lacks = match &self.texts {
            None => true,
            Some(texts) if !self.far => !texts.is_sound(),
            Some(_) => self.here(files).iter().any(|entry| !self.is_kept(entry)),
        };
        self.home.is_some() && lacks && if self.far { looked_into > 0 } else { 2 * looked_into >= files.len() }
    }

    fn is_kept(&self, entry: &TreeEntry) -> bool {
        let id = gix::ObjectId::from_hex(entry.id.as_bytes());
        self.texts.as_ref().zip(id.ok()).is_some_and(|(texts, id)| texts.is_sound() && texts.holds(&id))
    }

    /// The files whose contents are on this machine.
    fn here<'a>(&self, files: &'a [TreeEntry]) -> Vec<&'a TreeEntry> {
        let is_here = |entry: &&TreeEntry| {
            entry.mode != EntryMode::Submodule && (self.tree.is_here(entry) || (self.far && self.is_kept(entry)))
        };
        files.iter().filter(is_here).collect()
    }
}

impl Cache {
    /// The same files, read from kept texts where possible. `far` means that the contents are not in a clone.
    pub fn with_texts(
        &self,
        remote: &Remote,
        tree: Box<dyn SourceTree>,
        far: bool,
        secrets: &Secrets,
        options: &FetchOptions<'_>,
    ) -> Result<CommitFiles, Error> {
        if remote.folder().is_some() {
            return Ok(CommitFiles::nothing(tree, secrets.clone()));
        }
        let key = key(&remote.whole());
        let pin = self.lock(&key, "use", false, options)?;
        touch(&pin);
        let path = self.home_of(&key).join("texts").join(tree.commit());
        let texts = Texts::open(&path);
        if texts.is_some() {
            // The time shows which is the oldest; if it cannot be written, nothing can be removed either.
            let _ = File::open(&path).and_then(|file| file.set_modified(SystemTime::now()));
        }
        let home = Some(TextFolder { key, path, _pin: pin });
        Ok(CommitFiles { far, home, texts, ..CommitFiles::nothing(tree, secrets.clone()) })
    }

    /// Keeps the texts of these files for later requests, as far as they are on this machine. Does nothing while
    /// another process writes beside the clone.
    pub fn keep_texts(&self, kept: &CommitFiles, files: &[TreeEntry], options: &FetchOptions<'_>) -> Result<(), Error> {
        let Some(TextFolder { key, path, .. }) = &kept.home else { return Ok(()) };
        let Some(_lock) = self.try_lock(key, "write", true)? else { return Ok(()) };
        let folder = self.home_of(key).join("texts");
        make_private(&folder)?;
        // With the lock held, files with other names are left over from a killed run.
        let mut others: Vec<(SystemTime, PathBuf)> = Vec::new();
        for other in entries(&folder).into_iter().filter(|other| other != path) {
            let is_hash =
                other.file_name().is_some_and(|name| gix::ObjectId::from_hex(name.as_encoded_bytes()).is_ok());
            match fs::metadata(&other).and_then(|facts| facts.modified()) {
                Ok(used) if is_hash => others.push((used, other)),
                _ => remove(&other)?,
            }
        }
        others.sort();
        let too_many = (others.len() + 1).saturating_sub(MOST);
        others.iter().take(too_many).try_for_each(|(_, path)| remove(path))?;
        (options.progress)(0, None, "keeping texts");
        let all = |_: &[u8]| true;
        let wanted: &(dyn Fn(&[u8]) -> bool + Sync) = if kept.far { &all } else { &is_text };
        let written = texts::write(path, kept, &kept.here(files), wanted, &options.cancelled);
        if options.cancelled.load(Ordering::Relaxed) {
            return Err(Error::Cancelled);
        }
        written.map_err(Error::io("cannot write", path))?;
        self.sweep(Some(key));
        Ok(())
    }
}

impl SourceTree for CommitFiles {
    fn commit(&self) -> &str {
        self.tree.commit()
    }

    fn tree(&self) -> &str {
        self.tree.tree()
    }

    fn entries(&self) -> Result<Vec<TreeEntry>, SourceError> {
        self.tree.entries().map(|entries| self.shown(entries))
    }

    fn paths(&self) -> Result<Vec<TreeEntry>, SourceError> {
        self.tree.paths().map(|entries| self.shown(entries))
    }

    fn prepare(&self, wanted: &[&TreeEntry]) -> Result<(), SourceError> {
        if !self.far {
            return self.tree.prepare(wanted);
        }
        let missing: Vec<&TreeEntry> = wanted.iter().copied().filter(|entry| !self.is_kept(entry)).collect();
        if missing.is_empty() { Ok(()) } else { self.tree.prepare(&missing) }
    }

    fn is_here(&self, entry: &TreeEntry) -> bool {
        self.is_kept(entry) || self.tree.is_here(entry)
    }

    fn read(&self, entry: &TreeEntry) -> Result<Vec<u8>, SourceError> {
        let mut content = Vec::new();
        self.read_if(entry, &|_| true, &mut content)?;
        Ok(content)
    }

    fn read_if(
        &self,
        entry: &TreeEntry,
        wanted: &dyn Fn(&[u8]) -> bool,
        buffer: &mut Vec<u8>,
    ) -> Result<bool, SourceError> {
        if self.secrets.hides(&entry.path) {
            return Err(SourceError::Secret { path: entry.path.clone() });
        }
        if let Some(texts) = &self.texts
            && let Ok(id) = gix::ObjectId::from_hex(entry.id.as_bytes())
        {
            match texts.read(&id, FIRST, wanted, buffer) {
                Outcome::Read => return Ok(true),
                Outcome::Unwanted => return Ok(false),
                Outcome::Elsewhere => {}
            }
        }
        self.tree.read_if(entry, wanted, buffer)
    }
}
