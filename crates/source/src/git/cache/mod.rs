//! Clones of remote repositories, kept and shared by all processes.
//!
//! Below the cache's folder are `repos/<key>` with a bare shallow clone, the known refs and the texts of searched
//! commits, `locks/` with two files for each that are never removed, `aside/<key>` for unfinished clones, and
//! `trash/` for clones being removed. A writer holds the key's `write` lock, a reader its `use` lock, shared, and a
//! clone is only removed under both. Objects are only ever added to a clone, so readers and a writer do not wait for
//! each other.

pub(super) mod commit_files;
pub(super) mod packs;
pub(super) mod texts;

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use super::Error;
use super::history::bare::{clean, entries, init, make_private, remove, size_of};
use super::history::commit::{Commit, open};
use super::history::revision::commit_id;
use super::history::sound::Depth;
use super::transport::fetch::{FetchAccess, FetchOptions, local_refs};
use super::transport::refs::{Refs, ResolvedRef, is_fixed, short_name};
use super::transport::remote::{Place, Remote, short_hash};

/// Limits on the size and age of clones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CacheLimits {
    /// Bytes of all clones together; the least recently used go first.
    pub max_bytes: u64,
    /// The time after which an unused clone is removed.
    pub unused: Duration,
    /// The time after which a branch is looked up again; tags and commits never change.
    pub refresh: Duration,
}

impl Default for CacheLimits {
    fn default() -> Self {
        let day = Duration::from_secs(24 * 3600);
        Self { max_bytes: 10 << 30, unused: 7 * day, refresh: day }
    }
}

/// The required freshness of a commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Age {
    /// The server's current state.
    Now,
    /// The state at the last lookup, if that is recent enough.
    Kept,
}

/// A readable commit, and the facts of fetching it.
#[derive(Debug)]
pub struct Opened {
    /// Its files.
    pub commit: Commit,
    /// The requested ref and folder.
    pub found: ResolvedRef,
    /// Bytes fetched for it; `None` if it was here already.
    pub fetched: Option<u64>,
    /// The ssh address it was fetched from, if https was refused.
    pub over: Option<String>,
}

/// The current meaning of a name on its server.
#[derive(Clone, Debug)]
pub struct Located {
    /// The ref and its commit.
    pub found: ResolvedRef,
    /// The address that answered: over ssh if https was refused.
    used: Remote,
}

impl Located {
    /// The meaning of a name, as it was found earlier.
    pub fn earlier(found: ResolvedRef, remote: &Remote) -> Self {
        Self { found, used: remote.whole() }
    }
}

/// The clones in a folder.
pub struct Cache {
    root: PathBuf,
    access: FetchAccess,
    keep: CacheLimits,
    swept: AtomicBool,
    /// The lock held for the process's life, if the folder is its own.
    own: Option<File>,
}

/// The wanted commit.
enum WantedCommit {
    /// A commit of this freshness.
    Aged(Age),
    /// The commit of a lookup just made.
    Located(Located),
}

/// The state of a clone, in a JSON file beside it.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct State {
    /// The address that it was cloned from.
    url: String,
    /// Meanings of names at the last lookup.
    names: BTreeMap<String, RefMeaning>,
    /// Commits that are here completely.
    commits: BTreeSet<String>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct RefMeaning {
    reference: String,
    commit: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    folder: String,
    /// Milliseconds since 1970.
    asked: u64,
}

/// The longest wait for another process that fetches the same repository.
const PATIENCE: Duration = Duration::from_secs(600);
const STATE: &str = "state.json";
const CLONE: &str = "repo.git";

impl Cache {
    /// The clones below a folder, shared with every process.
    pub fn shared(root: PathBuf, access: FetchAccess, keep: CacheLimits) -> Self {
        Self { root, access, keep, swept: AtomicBool::new(false), own: None }
    }

    /// The clones of this process alone, in a folder of its own below `root` that is removed when the cache is
    /// dropped.
    pub fn of_process(root: &Path, access: FetchAccess, keep: CacheLimits) -> Result<Self, Error> {
        let all = root.join("processes");
        make_private(&all)?;
        let nanos = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos());
        let name = format!("{}-{nanos:x}", std::process::id());
        let path = all.join(format!("{name}.lock"));
        let lock = File::create_new(&path).map_err(Error::io("cannot make", &path))?;
        lock.lock().map_err(Error::io("cannot lock", &path))?;
        Ok(Self { root: all.join(name), access, keep, swept: AtomicBool::new(false), own: Some(lock) })
    }

    /// Whether clones can be stored below a folder.
    pub fn can_be_in(root: &Path) -> Result<(), Error> {
        make_private(root)?;
        tempfile::tempfile_in(root).map(drop).map_err(Error::io("cannot write in", root))
    }

    /// The settings for reaching servers.
    pub fn access(&self) -> &FetchAccess {
        &self.access
    }

    /// The current refs of a repository on its server. Nothing is cloned.
    pub fn refs(&self, remote: &Remote, fetch_options: &FetchOptions<'_>) -> Result<Refs, Error> {
        match remote.folder() {
            Some(folder) => local_refs(&folder, &open(&folder, Depth::Everything)?.to_thread_local()),
            None => Ok(self.ask(remote, fetch_options)?.0),
        }
    }

    /// The current commit of `reference`, or of the place in the repository's name, or of the default branch. Nothing
    /// is cloned.
    pub fn find(
        &self,
        remote: &Remote,
        reference: Option<&str>,
        fetch_options: &FetchOptions<'_>,
    ) -> Result<Located, Error> {
        let place = place_of(remote, reference);
        let remote = remote.whole();
        let (refs, used) = match remote.folder() {
            Some(folder) => {
                let refs = local_refs(&folder, &open(&folder, Depth::Everything)?.to_thread_local())?;
                let found = local_meaning(&remote, &folder, &refs, place.as_ref())?;
                return Ok(Located { found, used: remote });
            }
            None => self.ask(&remote, fetch_options)?,
        };
        Ok(Located { found: meaning(&remote, &refs, place.as_ref())?, used })
    }

    /// Opens the commit that [`Cache::find`] would find; fetches it if it is not here.
    pub fn open(
        &self,
        remote: &Remote,
        reference: Option<&str>,
        age: Age,
        fetch_options: &FetchOptions<'_>,
    ) -> Result<Opened, Error> {
        if remote.folder().is_some() {
            let located = self.find(remote, reference, fetch_options)?;
            return self.open_located(remote, reference, located, fetch_options);
        }
        self.open_as(remote, reference, &WantedCommit::Aged(age), fetch_options)
    }

    /// Opens the commit of a lookup just made, without another lookup; fetches it if it is not here.
    pub fn open_located(
        &self,
        remote: &Remote,
        reference: Option<&str>,
        located: Located,
        fetch_options: &FetchOptions<'_>,
    ) -> Result<Opened, Error> {
        if let Some(folder) = remote.folder() {
            let commit = Commit::open(&folder, &located.found.commit)?;
            return Ok(Opened { commit, found: located.found, fetched: None, over: None });
        }
        self.open_as(remote, reference, &WantedCommit::Located(located), fetch_options)
    }

    fn open_as(
        &self,
        remote: &Remote,
        reference: Option<&str>,
        wanted: &WantedCommit,
        fetch_options: &FetchOptions<'_>,
    ) -> Result<Opened, Error> {
        let place = place_of(remote, reference);
        let remote = remote.whole();
        if !self.swept.swap(true, Ordering::Relaxed) {
            self.sweep(None);
        }
        let key = key(&remote);
        match self.open_key(&key, &remote, place.as_ref(), wanted, fetch_options) {
            // A clone that has lost objects is cloned again, once.
            Err(Error::Missing { .. } | Error::Unreadable { .. }) if self.discard(&key) => {
                self.open_key(&key, &remote, place.as_ref(), wanted, fetch_options)
            }
            result => result,
        }
    }

    fn open_key(
        &self,
        key: &str,
        remote: &Remote,
        place: Option<&Place>,
        wanted: &WantedCommit,
        fetch_options: &FetchOptions<'_>,
    ) -> Result<Opened, Error> {
        let began = now();
        let age = if let WantedCommit::Aged(age) = wanted { *age } else { Age::Now };
        let pin = self.lock(key, "use", false, fetch_options)?;
        let name = name_of(place);
        let usable = |state: &State| {
            let meaning = state.names.get(&name).filter(|meaning| state.commits.contains(&meaning.commit))?;
            let kept = is_fixed(&meaning.reference)
                || u128::from(began.saturating_sub(meaning.asked)) < self.keep.refresh.as_millis();
            let new = meaning.asked >= began
                || (age == Age::Now && is_fixed(&meaning.reference) && meaning.reference == meaning.commit);
            (new || (age == Age::Kept && kept)).then(|| meaning.clone())
        };
        let give = |meaning: RefMeaning, pin: File, fetched: Option<u64>, over: Option<String>| {
            let path = self.clone_of(key);
            let found = ResolvedRef { reference: meaning.reference, commit: meaning.commit, folder: meaning.folder };
            let commit = Commit::of(open(&path, Depth::Opening)?, &path, &found.commit, Some(Box::new(pin)))?;
            Ok(Opened { commit, found, fetched, over })
        };
        if let Some(meaning) = usable(&self.state(key)) {
            touch(&pin);
            return give(meaning, pin, None, None);
        }
        let (found, used) = match wanted {
            WantedCommit::Located(Located { found, used }) => (found.clone(), used.clone()),
            WantedCommit::Aged(_) => {
                let (refs, used) = self.ask(remote, fetch_options)?;
                (meaning(remote, &refs, place)?, used)
            }
        };
        if self.state(key).commits.contains(&found.commit) {
            // A process that is fetching now will write what it learns itself.
            if let Ok(Some(_lock)) = self.try_lock(key, "write", true) {
                let mut state = self.state(key);
                state.names.insert(name, meaning_now(&found));
                self.put_state(&self.home_of(key), &state)?;
            }
            touch(&pin);
            return give(meaning_now(&found), pin, None, None);
        }
        let _lock = self.lock(key, "write", true, fetch_options)?;
        if let Some(meaning) = usable(&self.state(key)) {
            return give(meaning, pin, None, None);
        }
        let (meaning, bytes, over) = self.fetch(key, remote, &used, &found, &name, fetch_options)?;
        self.join_packs(key, &pin)?;
        touch(&pin);
        let over = (over.transport != remote.transport).then(|| over.to_string());
        give(meaning, pin, Some(bytes), over)
    }

    /// Asks a server for its refs.
    fn ask(&self, remote: &Remote, fetch_options: &FetchOptions<'_>) -> Result<(Refs, Remote), Error> {
        let scratch = self.scratch()?;
        (fetch_options.progress)(0, None, "asking for refs");
        self.access.list(&scratch.to_thread_local(), remote, fetch_options)
    }

    /// Fetches a commit into the clone of a key, whose `write` lock the caller holds; removes other clones if the
    /// disk is full.
    fn fetch(
        &self,
        key: &str,
        remote: &Remote,
        used: &Remote,
        found: &ResolvedRef,
        name: &str,
        fetch_options: &FetchOptions<'_>,
    ) -> Result<(RefMeaning, u64, Remote), Error> {
        let received = AtomicU64::new(0);
        let told = |bytes: u64, total: Option<u64>, what: &str| {
            received.fetch_max(bytes, Ordering::Relaxed);
            (fetch_options.progress)(bytes, total, what);
        };
        let watched = FetchOptions { progress: &told, cancelled: fetch_options.cancelled.clone() };
        let result = match self.fetch_once(key, remote, used, found, name, &watched) {
            Err(err) if is_full(&err) => {
                self.evict(u64::MAX, Some(key));
                self.fetch_once(key, remote, used, found, name, &watched)
            }
            result => result,
        };
        let result = match result {
            Err(err) if is_full(&err) => {
                let needed = received.load(Ordering::Relaxed);
                Err(Error::Full { folder: self.root.clone(), needed, free: free(&self.root) })
            }
            result => result,
        };
        self.sweep(Some(key));
        result
    }

    fn fetch_once(
        &self,
        key: &str,
        remote: &Remote,
        used: &Remote,
        found: &ResolvedRef,
        name: &str,
        fetch_options: &FetchOptions<'_>,
    ) -> Result<(RefMeaning, u64, Remote), Error> {
        let home = self.home_of(key);
        let there = home.join(CLONE);
        let is_new = !there.is_dir() || open(&there, Depth::Opening).is_err();
        let folder = if is_new { self.root.join("aside").join(key) } else { home.clone() };
        let path = folder.join(CLONE);
        if is_new {
            // With the lock held, an existing folder is left over from a killed run.
            remove(&folder)?;
            make_private(&folder)?;
            init(&path)?;
        } else {
            clean(&path)?;
        }
        let local = format!("refs/c/{}", short_hash(&found.reference));
        let done = (|| {
            let repository = open(&path, Depth::Opening)?.to_thread_local();
            let (bytes, over) = self.access.fetch(&repository, used, &found.reference, &local, fetch_options)?;
            // The branch may have moved since it was listed.
            let repository = open(&path, Depth::Opening)?.to_thread_local();
            let commit = commit_id(&repository, &local);
            let commit = commit.ok_or_else(|| Error::Missing { path: path.clone(), what: found.reference.clone() })?;
            Ok((commit.to_string(), bytes, over))
        })();
        let (commit, bytes, over) = match done {
            Ok(done) => done,
            Err(err) => {
                // An existing clone stays as it was; a new one is useless if incomplete.
                let _ = if is_new { remove(&folder) } else { clean(&path) };
                return Err(err);
            }
        };
        let mut state = if is_new { State::default() } else { self.state(key) };
        state.url = remote.url();
        state.commits.insert(commit.clone());
        let meaning = meaning_now(&ResolvedRef { commit, ..found.clone() });
        state.names.insert(name.to_owned(), meaning.clone());
        self.put_state(&folder, &state)?;
        if is_new {
            remove(&home)?;
            make_private(&self.root.join("repos"))?;
            fs::rename(&folder, &home).map_err(Error::io("cannot move a clone to", &home))?;
        }
        Ok((meaning, bytes, over))
    }

    /// Joins the packs of a clone if no other process reads it. The caller holds its `write` lock beside this pin.
    fn join_packs(&self, key: &str, pin: &File) -> Result<(), Error> {
        // Removing the clone needs the `write` lock first, so it stays while the pin's lock changes.
        if pin.try_lock().is_ok()
            && let Err(err) = packs::join(&self.clone_of(key).join("objects/pack"))
        {
            tracing::warn!(%err, "many packs stay as they are");
        }
        pin.lock_shared().map_err(Error::io("cannot lock", &self.lock_path(key, "use")))
    }

    /// Moves a damaged clone out of the way, unless a process reads it.
    fn discard(&self, key: &str) -> bool {
        let (Ok(Some(_write)), Ok(Some(_use))) = (self.try_lock(key, "write", true), self.try_lock(key, "use", true))
        else {
            return false;
        };
        self.trash(key).is_ok()
    }

    /// Removes leftovers, clones that were not used for long, and the least recently used beyond the limit. Clones in
    /// use, and the clone of `except`, stay.
    pub fn sweep(&self, except: Option<&str>) {
        for entry in entries(&self.root.join("trash")) {
            let _ = remove(&entry);
        }
        for entry in entries(&self.root.join("aside")) {
            let Some(key) = key_in(&entry) else { continue };
            if Some(key.as_str()) != except
                && let Ok(Some(_lock)) = self.try_lock(&key, "write", true)
            {
                let _ = remove(&entry);
            }
        }
        // Private caches of ended processes, which are beside this one if it is private itself.
        let shared = self.root.join("processes");
        sweep_processes(self.root.parent().filter(|_| self.own.is_some()).unwrap_or(&shared));
        self.evict(0, except);
    }

    /// Removes clones that were not used for long, and then the least recently used until the rest fits and `wanted`
    /// bytes are freed.
    fn evict(&self, wanted: u64, except: Option<&str>) {
        let mut clones: Vec<(SystemTime, u64, String)> = entries(&self.root.join("repos"))
            .into_iter()
            .filter_map(|path| {
                let key = key_in(&path)?;
                let used =
                    fs::metadata(self.lock_path(&key, "use")).and_then(|file| file.modified()).unwrap_or(UNIX_EPOCH);
                Some((used, size_of(&path), key))
            })
            .collect();
        clones.sort();
        let mut total: u64 = clones.iter().map(|(_, bytes, _)| bytes).sum();
        let mut freed = 0;
        for (used, bytes, key) in clones {
            let old = used.elapsed().is_ok_and(|age| age > self.keep.unused);
            if (!old && total <= self.keep.max_bytes && freed >= wanted) || Some(key.as_str()) == except {
                continue;
            }
            let (Ok(Some(_write)), Ok(Some(_use))) =
                (self.try_lock(&key, "write", true), self.try_lock(&key, "use", true))
            else {
                continue;
            };
            if self.trash(&key).is_ok() {
                total -= bytes;
                freed += bytes;
            }
        }
    }

    /// Removes the clone of a key whose locks the caller holds; first moves it away in one step.
    fn trash(&self, key: &str) -> Result<(), Error> {
        let trash = self.root.join("trash");
        make_private(&trash)?;
        let nanos = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos());
        let (from, to) = (self.home_of(key), trash.join(format!("{}-{nanos:x}", std::process::id())));
        fs::rename(&from, &to).map_err(Error::io("cannot remove", &from))?;
        remove(&to)
    }

    /// The folder of a repository.
    pub(super) fn home_of(&self, key: &str) -> PathBuf {
        self.root.join("repos").join(key)
    }

    fn clone_of(&self, key: &str) -> PathBuf {
        self.home_of(key).join(CLONE)
    }

    fn state(&self, key: &str) -> State {
        let path = self.home_of(key).join(STATE);
        // A missing or invalid state means that everything is fetched again.
        fs::read(path).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default()
    }

    fn put_state(&self, folder: &Path, state: &State) -> Result<(), Error> {
        let path = folder.join(STATE);
        let bytes = serde_json::to_vec_pretty(state).expect("names and hashes are text");
        let mut file = tempfile::NamedTempFile::new_in(folder).map_err(Error::io("cannot write in", folder))?;
        io::Write::write_all(&mut file, &bytes).map_err(Error::io("cannot write", &path))?;
        file.persist(&path).map_err(|err| Error::io("cannot replace", &path)(err.error))?;
        Ok(())
    }

    /// A bare repository without objects, for lookups.
    fn scratch(&self) -> Result<gix::ThreadSafeRepository, Error> {
        let path = self.root.join("empty.git");
        if !path.join("HEAD").is_file() {
            // Several processes at once write the same.
            init(&path)?;
        }
        open(&path, Depth::Opening)
    }

    fn lock_path(&self, key: &str, sort: &str) -> PathBuf {
        self.root.join("locks").join(format!("{key}.{sort}"))
    }

    fn lock_file(&self, key: &str, sort: &str) -> Result<File, Error> {
        let path = self.lock_path(key, sort);
        make_private(&self.root.join("locks"))?;
        File::options().create(true).truncate(false).write(true).open(&path).map_err(Error::io("cannot open", &path))
    }

    /// A lock, if no other process has it.
    pub(super) fn try_lock(&self, key: &str, sort: &str, exclusive: bool) -> Result<Option<File>, Error> {
        let file = self.lock_file(key, sort)?;
        let result = if exclusive { file.try_lock() } else { file.try_lock_shared() };
        match result {
            Ok(()) => Ok(Some(file)),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(err)) => Err(Error::io("cannot lock", &self.lock_path(key, sort))(err)),
        }
    }

    /// Waits for a lock.
    pub(super) fn lock(
        &self,
        key: &str,
        sort: &str,
        exclusive: bool,
        fetch_options: &FetchOptions<'_>,
    ) -> Result<File, Error> {
        let (until, mut pause) = (Instant::now() + PATIENCE, Duration::from_millis(2));
        loop {
            if let Some(file) = self.try_lock(key, sort, exclusive)? {
                return Ok(file);
            }
            if fetch_options.cancelled.load(Ordering::Relaxed) {
                return Err(Error::Cancelled);
            }
            if Instant::now() >= until {
                return Err(Error::Busy(key.to_owned()));
            }
            (fetch_options.progress)(0, None, "waiting for another process that fetches the same");
            std::thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(100));
        }
    }
}

impl Drop for Cache {
    fn drop(&mut self) {
        if self.own.is_some() {
            let _ = remove(&self.root);
            let _ = fs::remove_file(self.root.with_extension("lock"));
        }
    }
}

/// Removes files of processes that have ended.
fn sweep_processes(folder: &Path) {
    for path in entries(folder).into_iter().filter(|path| path.extension().is_some_and(|ending| ending == "lock")) {
        let Ok(lock) = File::options().write(true).open(&path) else { continue };
        // A starting process has made the file and not yet locked it.
        let young = lock.metadata().and_then(|file| file.modified()).ok().and_then(|at| at.elapsed().ok());
        if young.is_some_and(|age| age > Duration::from_secs(60)) && lock.try_lock().is_ok() {
            let _ = remove(&path.with_extension(""));
            let _ = fs::remove_file(&path);
        }
    }
}

/// The name of a clone's folder: readable and unique.
pub(super) fn key(remote: &Remote) -> String {
    let identity = remote.identity();
    let readable = remote.id(None).replace('/', "-");
    let readable: String = readable.chars().take(80).collect();
    format!("{readable}-{}", &blake3::hash(identity.as_bytes()).to_hex()[..16])
}

/// The key of a folder; `None` for a foreign folder.
fn key_in(path: &Path) -> Option<String> {
    let name = path.file_name()?.to_str()?;
    let hash = name.rsplit('-').next()?;
    let is_dir = path.symlink_metadata().is_ok_and(|metadata| metadata.is_dir());
    (is_dir && hash.len() == 16 && hash.bytes().all(|byte| byte.is_ascii_hexdigit())).then(|| name.to_owned())
}

/// The requested place in a repository.
fn place_of(remote: &Remote, reference: Option<&str>) -> Option<Place> {
    reference.map(|name| Place::Ref(name.to_owned())).or_else(|| remote.place.clone())
}

/// The name of a place in the stored state.
fn name_of(place: Option<&Place>) -> String {
    match place {
        None => "HEAD".to_owned(),
        Some(Place::Ref(name)) => name.clone(),
        Some(Place::Joined(text)) => format!("place:{text}"),
    }
}

fn meaning_now(found: &ResolvedRef) -> RefMeaning {
    let ResolvedRef { reference, commit, folder } = found.clone();
    RefMeaning { reference, commit, folder, asked: now() }
}

/// The ref and commit of a place.
fn meaning(remote: &Remote, refs: &Refs, place: Option<&Place>) -> Result<ResolvedRef, Error> {
    let Some(place) = place else {
        return refs.default_found().ok_or_else(|| match refs.all.is_empty() {
            true => Error::Empty(remote.to_string()),
            // The default branch may not exist yet, or no longer.
            false => Error::NoRef {
                remote: remote.to_string(),
                reference: refs.default.as_deref().map_or("HEAD", short_name).to_owned(),
                nearest: refs.all.iter().take(5).map(|one| short_name(&one.name).to_owned()).collect(),
            },
        });
    };
    refs.place(place).ok_or_else(|| {
        let (Place::Ref(name) | Place::Joined(name)) = place;
        Error::NoRef { remote: remote.to_string(), reference: name.clone(), nearest: refs.nearest(name) }
    })
}

/// The meaning of a place in a repository on this machine, where any revision can be looked up.
fn local_meaning(remote: &Remote, folder: &Path, refs: &Refs, place: Option<&Place>) -> Result<ResolvedRef, Error> {
    match (meaning(remote, refs, place), place) {
        (Err(err), Some(Place::Ref(name))) => {
            let repository = open(folder, Depth::Opening)?.to_thread_local();
            let commit = commit_id(&repository, name).ok_or(err)?.to_string();
            Ok(ResolvedRef { reference: commit.clone(), commit, folder: String::new() })
        }
        (result, _) => result,
    }
}

/// Notes that a clone was used.
pub(super) fn touch(pin: &File) {
    // A process without write access cannot evict either.
    let _ = pin.set_modified(SystemTime::now());
}

/// Whether an error is for want of disk space.
fn is_full(err: &Error) -> bool {
    match err {
        Error::Io { source, .. } => source.kind() == io::ErrorKind::StorageFull,
        Error::Broken { problem, .. } => problem.contains("No space left on device"),
        _ => false,
    }
}

/// Free bytes on the disk of a path.
fn free(path: &Path) -> u64 {
    rustix::fs::statvfs(path).map_or(0, |facts| facts.f_bavail.saturating_mul(facts.f_frsize))
}

/// Milliseconds since 1970.
fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as u64)
}
