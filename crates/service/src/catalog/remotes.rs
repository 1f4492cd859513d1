//! Remote repositories for tools: resolves names, keeps clones, and converts errors.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread::{self, JoinHandle};

use tempfile::TempDir;

use super::errors::{git_error, github_error, source_error};
use super::{Caller, github};
use crate::answer::Error;
use codelode_base::config::{CacheMode, Config, Secret};
use codelode_base::model::{EntryMode, SourceError, SourceTree, TreeEntry, nearest};
use codelode_net as net;
use codelode_source::git::{self, Cache, CacheLimits, CommitFiles, FetchAccess, FetchOptions, ResolvedRef, Token};

pub use codelode_source::discover::is_binary;
pub use codelode_source::git::{Age, Remote, RemoteRef};

/// Access to remote repositories. Nothing is opened before its first use.
#[derive(Default)]
pub struct Remotes {
    cache: OnceLock<Result<Arc<Cache>, String>>,
    /// A temporary folder for clones if the index directory is not writable; deleted with the process.
    aside: OnceLock<TempDir>,
    client: OnceLock<net::Client>,
    /// Background jobs that store the texts of commits.
    keeping: Mutex<Vec<(String, JoinHandle<()>)>>,
}

impl Remotes {
    /// The HTTP client.
    pub fn client(&self, config: &Config) -> net::Client {
        let make = || {
            let options = net::Options {
                trusted_hosts: config.trusted_hosts.clone(),
                ca_file: config.ca_file.clone(),
                ..net::Options::default()
            };
            net::Client::new(options)
        };
        self.client.get_or_init(make).clone()
    }

    /// The clone cache.
    pub fn cache(&self, config: &Config) -> Result<&Arc<Cache>, Error> {
        let make = || {
            let git = &config.git;
            let tokens = git.tokens.iter().map(|(host, Secret(token))| (host.clone(), Token(token.clone())));
            let access = FetchAccess {
                client: self.client(config),
                tokens: Arc::new(tokens.collect()),
                ssh_command: git.ssh_command.clone().unwrap_or_else(|| git::SSH_COMMAND.to_owned()),
                max_clone: git.max_clone,
            };
            let keep = CacheLimits { max_bytes: git.cache_size, ..CacheLimits::default() };
            let root = config.home.join("git");
            let (root, mode) = match Cache::can_be_in(&root) {
                // An index directory may be a read-only mount.
                Err(err) if err.is_about_permission() => (self.aside(&err)?, CacheMode::Process),
                _ => (root, git.cache_mode),
            };
            match mode {
                CacheMode::Shared => Ok(Arc::new(Cache::shared(root, access, keep))),
                CacheMode::Process => {
                    Cache::of_process(&root, access, keep).map(Arc::new).map_err(|err| err.to_string())
                }
            }
        };
        let cache = self.cache.get_or_init(make).as_ref();
        cache.map_err(|err| Error::unavailable(format!("clones cannot be kept: {err}")))
    }

    /// Waits for the background jobs of a commit, or of all commits.
    pub fn settle(&self, commit: Option<&str>) {
        let mut keeping = self.keeping.lock().unwrap_or_else(PoisonError::into_inner);
        let done = keeping.extract_if(.., |(of, job)| commit.is_none_or(|commit| of == commit) || job.is_finished());
        let done: Vec<_> = done.collect();
        drop(keeping);
        // A failed job has logged its error already.
        done.into_iter().for_each(|(_, job)| drop(job.join()));
    }

    /// Temporary folder for clones of this process.
    fn aside(&self, why: &git::Error) -> Result<PathBuf, String> {
        tracing::warn!(%why, "clones are kept in the folder for temporary files");
        let folder = tempfile::Builder::new().prefix("codelode-").tempdir().map_err(|err| err.to_string())?;
        Ok(self.aside.get_or_init(|| folder).path().to_owned())
    }
}

/// Parses the repository that a caller names.
pub fn remote(caller: &Caller<'_>, text: &str) -> Result<Remote, Error> {
    let remote = Remote::parse(text, caller.request.directory.as_deref()).map_err(|err| git_error(err.into()))?;
    caller.may_fetch(&remote)?;
    let Some(folder) = remote.folder() else { return Ok(remote) };
    let gone = || {
        let message =
            format!("there is no git repository at {}; give the folder with .git, or a URL", folder.display());
        Error::not_found(message)
    };
    let folder = folder.canonicalize().map_err(|_| gone())?;
    let found = git::Repository::open(&folder).ok_or_else(gone)?;
    Remote::local(&found.worktree().unwrap_or_else(|| found.common_dir())).map_err(|err| git_error(err.into()))
}

/// Runs an operation on the clone cache, with progress for the caller.
pub fn with_cache<T>(
    caller: &Caller<'_>,
    run: impl FnOnce(&Cache, &FetchOptions<'_>) -> Result<T, git::Error>,
) -> Result<T, Error> {
    let tell = caller.request.progress();
    let fetch_options = FetchOptions { progress: &tell, cancelled: caller.request.cancelled.clone() };
    let cache = caller.remotes.cache(caller.config)?;
    run(cache, &fetch_options).map_err(git_error)
}

/// An open commit of a repository, from any source.
pub struct Opened {
    /// Its files.
    pub tree: Arc<CommitFiles>,
    /// The resolved reference.
    pub found: ResolvedRef,
}

/// Opens a commit of a repository from its clone, or over GitHub's API if git fails.
pub fn open(caller: &Caller<'_>, remote: &Remote, reference: Option<&str>, age: Age) -> Result<Opened, Error> {
    let by_git = || {
        let git::Opened { commit, found, .. } =
            open_clone(caller, |cache, fetch_options| cache.open(remote, reference, age, fetch_options))?;
        Ok(Opened { tree: with_texts(caller, remote, Box::new(commit), false)?, found })
    };
    let by_github = |way: &github::GitHubAccess<'_>| {
        let (found, commit) = github::find(way, remote, reference)?;
        let tree = Box::new(github::open(caller, way, commit)?);
        Ok(Opened { tree: with_texts(caller, remote, tree, true)?, found })
    };
    let (opened, failure) = github::either(caller, remote, by_git, by_github)?;
    if let Some(failure) = failure {
        caller.note("read_without_git", failure.message);
    }
    Ok(opened)
}

/// The newest commit of a repository's ref, or of its default branch, without cloning.
#[cfg(feature = "ship")]
pub fn newest_commit(caller: &Caller<'_>, remote: &Remote, reference: Option<&str>) -> Result<ResolvedRef, Error> {
    let by_git = || {
        let located = with_cache(caller, |cache, fetch_options| cache.find(remote, reference, fetch_options))?;
        Ok(located.found)
    };
    let by_github = |way: &github::GitHubAccess<'_>| github::find(way, remote, reference).map(|(found, _)| found);
    Ok(github::either(caller, remote, by_git, by_github)?.0)
}

/// The files of a commit, read from stored texts if there are any.
fn with_texts(
    caller: &Caller<'_>,
    remote: &Remote,
    tree: Box<dyn SourceTree>,
    far: bool,
) -> Result<Arc<CommitFiles>, Error> {
    caller.remotes.settle(Some(tree.commit()));
    with_cache(caller, |cache, fetch_options| {
        cache.with_texts(remote, tree, far, &caller.config.secrets, fetch_options)
    })
    .map(Arc::new)
}

/// Stores the texts of a commit for later calls, if enough of its files were read. It runs in the background, and
/// failures do no harm.
pub fn keep(caller: &Caller<'_>, opened: &Opened, files: &[TreeEntry], looked_into: usize) {
    let remotes = caller.remotes;
    let Some(Ok(cache)) = remotes.cache.get().filter(|_| opened.tree.is_worth_keeping(files, looked_into)) else {
        return;
    };
    let (cache, tree, files) = (Arc::clone(cache), Arc::clone(&opened.tree), files.to_vec());
    let commit = tree.commit().to_owned();
    let job = thread::Builder::new().name("texts".to_owned()).spawn(move || {
        let fetch_options = FetchOptions { progress: &codelode_base::model::unfollowed, cancelled: Arc::default() };
        if let Err(err) = cache.keep_texts(&tree, &files, &fetch_options) {
            tracing::debug!(%err, "the texts of a commit are not kept");
        }
    });
    if let Ok(job) = job {
        remotes.keeping.lock().unwrap_or_else(PoisonError::into_inner).push((commit, job));
    }
}

/// The branches, tags and default branch of a repository. If git fails, GitHub's API is used, which gives no commits of
/// annotated tags.
pub fn refs(caller: &Caller<'_>, remote: &Remote) -> Result<(Option<String>, Vec<RemoteRef>), Error> {
    let by_git = || {
        let refs = with_cache(caller, |cache, fetch_options| cache.refs(remote, fetch_options))?;
        Ok((refs.default.clone(), refs.all))
    };
    let by_github = |way: &github::GitHubAccess<'_>| {
        let found = codelode_source::github::refs(&way.client, way.name, "").map_err(github_error)?;
        let one = |one: codelode_source::github::Ref| match one.object.kind.as_str() {
            "tag" => RemoteRef { name: one.name, commit: String::new(), tag: Some(one.object.sha) },
            _ => RemoteRef { name: one.name, commit: one.object.sha, tag: None },
        };
        let default = codelode_source::github::default_branch(&way.client, way.name).map_err(github_error)?;
        Ok((Some(format!("refs/heads/{default}")), found.into_iter().map(one).collect()))
    };
    let (refs, failure) = github::either(caller, remote, by_git, by_github)?;
    if let Some(failure) = failure {
        caller.note("read_without_git", failure.message);
    }
    Ok(refs)
}

/// Opens a commit by git, with notes about what was fetched.
pub fn open_clone(
    caller: &Caller<'_>,
    open: impl FnOnce(&Cache, &FetchOptions<'_>) -> Result<git::Opened, git::Error>,
) -> Result<git::Opened, Error> {
    let opened = with_cache(caller, open)?;
    if let Some(bytes) = opened.fetched {
        caller.note("fetched_bytes", bytes);
    }
    if let Some(over) = &opened.over {
        caller.note("fetched_over", format!("https was refused, so it came over ssh from {over}"));
    }
    Ok(opened)
}

/// Parses the name of a remote repository without an index: a URL, `github:…`, `owner/name`, `owner/name@ref`.
pub fn named_remote(caller: &Caller<'_>, repo: Option<&str>) -> Option<Remote> {
    let repo = repo?.trim();
    if !names_elsewhere(repo) || super::locate::indexed(caller, repo).is_ok() {
        return None;
    }
    Remote::parse(repo, None).ok().filter(|remote| caller.may_fetch(remote).is_ok())
}

/// Whether a name may mean a remote repository rather than a folder or an index.
fn names_elsewhere(repo: &str) -> bool {
    if std::path::Path::new(repo).is_absolute() || repo.starts_with('.') {
        return false;
    }
    // The ids of folders, and of repositories on other hosts, look like names on GitHub.
    let is_owner = |owner: &str| owner != "local" && owner != "file" && !owner.contains('.');
    // A browser address such as `github.com/owner/name`.
    let is_address = |host: &str, path: &str| host.contains('.') && path.contains('/');
    repo.contains([':', '@'])
        || repo
            .split_once('/')
            .is_some_and(|(owner, name)| is_address(owner, name) || (is_owner(owner) && !name.contains('/')))
}

/// Finds a file of a commit.
fn entry(caller: &Caller<'_>, opened: &Opened, files: &[TreeEntry], path: &str) -> Result<TreeEntry, Error> {
    let found = files.binary_search_by(|entry| entry.path.as_str().cmp(path)).ok().map(|at| files[at].clone());
    match found {
        Some(entry) if entry.mode != EntryMode::Submodule => Ok(entry),
        None if caller.config.secrets.hides(path) => Err(source_error(&SourceError::Secret { path: path.to_owned() })),
        Some(entry) => {
            let message = format!("{path} is a submodule, at commit {}; set its own repository", entry.id);
            Err(Error::not_found(message))
        }
        None => {
            let near = nearest(path, files.iter().map(|entry| entry.path.as_str()), 3);
            let commit = &opened.found.commit;
            let message = format!("there is no file {path:?} in commit {commit}; `get_file_tree` lists what there is");
            Err(Error::not_found(message).with("nearest", near))
        }
    }
}

/// A caller's path, relative to the folder that the repository's name may include.
pub fn inside(opened: &Opened, path: &str) -> String {
    let path = path.trim().trim_start_matches("./").trim_matches('/');
    let folder = opened.found.folder.as_str();
    if folder.is_empty() || path == folder || path.starts_with(&format!("{folder}/")) {
        return path.to_owned();
    }
    if path.is_empty() { folder.to_owned() } else { format!("{folder}/{path}") }
}

/// Reads the content of a file of a commit.
///
/// Links are only followed within the commit.
pub fn content(caller: &Caller<'_>, opened: &Opened, path: &str) -> Result<Vec<u8>, Error> {
    let files = opened.tree.paths().map_err(|err| source_error(&err))?;
    let mut entry = entry(caller, opened, &files, path)?;
    for _ in 0..MOST_LINKS {
        let read = || {
            opened.tree.prepare(&[&entry])?;
            opened.tree.read(&entry)
        };
        let content = read().map_err(|err| source_error(&err))?;
        keep(caller, opened, &files, 1);
        if entry.mode != EntryMode::Symlink {
            return Ok(content);
        }
        let target = String::from_utf8_lossy(&content);
        let led = link_target(&entry.path, &target);
        if let Some(path) = led.as_ref().filter(|path| caller.config.secrets.hides(path)) {
            return Err(source_error(&SourceError::Secret { path: path.clone() }));
        }
        let led = led
            .and_then(|path| files.binary_search_by(|file| file.path.as_str().cmp(&path)).ok())
            .map(|at| files[at].clone())
            .filter(|file| file.mode != EntryMode::Submodule);
        entry = led.ok_or_else(|| {
            let message = format!("{} is a link to {target:?}, which is not a file of the commit", entry.path);
            Error::not_found(message)
        })?;
        caller.note("link_to", entry.path.as_str());
    }
    Err(Error::not_found(format!("{path} is a link through too many others")))
}

/// The most links in a chain.
const MOST_LINKS: usize = 8;

/// The target of a link at `path`; `None` if it is outside the commit.
fn link_target(path: &str, target: &str) -> Option<String> {
    if target.starts_with('/') {
        return None;
    }
    let mut parts: Vec<&str> = path.split('/').collect();
    parts.pop();
    for part in target.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()?),
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::names_elsewhere;

    #[test]
    fn a_link_leads_to_a_path_of_the_same_tree() {
        let led = |path: &str, target: &str| super::link_target(path, target);
        assert_eq!(led("a/b/link", "../c.rs").as_deref(), Some("a/c.rs"));
        assert_eq!(led("link", "./src//lib.rs").as_deref(), Some("src/lib.rs"));
        for (path, target) in [("link", "../x"), ("a/link", "../../x"), ("a/link", "/etc/passwd")] {
            assert_eq!(led(path, target), None, "{path} {target}");
        }
    }

    #[test]
    fn what_could_be_elsewhere_is_no_folder_and_no_id_of_one() {
        for name in [
            "pallets/flask",
            "github:pallets/flask",
            "pallets/flask@main",
            "github.com/pallets/flask",
            "https://git.example/a",
            "git@host:a/b",
        ] {
            assert!(names_elsewhere(name), "{name}");
        }
        for name in [
            "flask",
            "local/flask-01234567",
            "git.example/a-01234567",
            "file/a-01234567",
            "/srv/a",
            "./a/b",
            "../b",
            "a/b/c",
        ] {
            assert!(!names_elsewhere(name), "{name}");
        }
    }
}
