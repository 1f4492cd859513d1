//! Which repository a call means: the one that it names, or else the one that the caller stands in. A folder without an index
//! is indexed by the first question about it; very large folders, and those of the system, are asked about first.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::json;

use super::indexes::{holds, pipeline_error};
use super::{Call, Code, Error, Request};
use crate::allocator;
use crate::config;
use crate::pipeline::{self, Options, Watcher, owner};
use crate::store::Sidecar;

/// A folder with more files is indexed only when that is asked for.
const MOST_UNASKED: usize = 50_000;
/// How long a question waits for another process that indexes the same folder.
const PATIENCE: Duration = Duration::from_secs(60);
/// Folders that hold a system, or many projects.
const SYSTEM: &[&str] = &[
    "/Applications",
    "/Library",
    "/System",
    "/Users",
    "/Volumes",
    "/bin",
    "/boot",
    "/dev",
    "/etc",
    "/home",
    "/lib",
    "/lib64",
    "/media",
    "/mnt",
    "/nix",
    "/opt",
    "/private",
    "/proc",
    "/root",
    "/run",
    "/sbin",
    "/snap",
    "/srv",
    "/sys",
    "/tmp",
    "/usr",
    "/usr/bin",
    "/usr/include",
    "/usr/lib",
    "/usr/local",
    "/usr/share",
    "/var",
    "/var/lib",
];

/// The checkout that a call means. One without an index is indexed now.
pub fn resolve(call: &Call<'_>, repo: Option<&str>) -> Result<Sidecar, Error> {
    match repo.map(str::trim).filter(|repo| !repo.is_empty()) {
        None => implied(call),
        Some(repo) => match named_path(call.request, repo) {
            Some(path) => at(call, &path),
            None => by_name(call, repo),
        },
    }
}

/// The checkout that a call names, among those that have an index.
pub fn indexed(call: &Call<'_>, repo: &str) -> Result<Sidecar, Error> {
    let repo = repo.trim();
    match named_path(call.request, repo) {
        Some(path) => held(call, &path)?.ok_or_else(|| not_indexed(root_of(&path), "it has no index")),
        None => by_name(call, repo),
    }
}

/// The path that a repository is named by: an absolute one, one that begins with a dot, or one that exists where the caller is.
fn named_path(request: &Request, repo: &str) -> Option<PathBuf> {
    let path = Path::new(repo);
    if repo.is_empty() || path.is_absolute() {
        return path.is_absolute().then(|| path.to_owned());
    }
    let mut places = request.roots.iter().chain(&request.directory).map(|place| place.join(path));
    let existing = places.clone().find(|place| place.exists());
    let is_written_as_one = repo == "." || repo == ".." || repo.starts_with("./") || repo.starts_with("../");
    existing.or_else(|| is_written_as_one.then(|| places.next().unwrap_or_else(|| path.to_owned())))
}

/// The checkout that the caller stands in: the first of its roots, or its working directory. Who stands at home or at the top
/// of everything stands nowhere, and means the only repository there is.
fn implied(call: &Call<'_>) -> Result<Sidecar, Error> {
    let places = call.request.roots.iter().chain(&call.request.directory);
    let mut places = places.filter(|place| !is_nowhere(place)).peekable();
    if let Some(first) = places.peek().copied() {
        let is_known =
            |place: &Path| place.exists() || owner(call.cx.indexes.registry(), &call.cx.config, place).is_some();
        return at(call, places.find(|place| is_known(place)).unwrap_or(first));
    }
    let all = call.cx.indexes.registry().all();
    match &all[..] {
        [only] => {
            call.note("only_indexed", true);
            Ok(only.clone())
        }
        [] => {
            Err(Error::new(Code::NotIndexed, "nothing is indexed yet; name a folder with `repo`, or call index_folder"))
        }
        _ => Err(ambiguous("several repositories are indexed; name one with `repo`", &all.iter().collect::<Vec<_>>())),
    }
}

/// Whether a place says nothing about which project is meant.
fn is_nowhere(place: &Path) -> bool {
    place.parent().is_none() || config::is_home(place)
}

/// The checkout that holds a path, indexed now when it was not.
fn at(call: &Call<'_>, path: &Path) -> Result<Sidecar, Error> {
    match held(call, path)? {
        Some(sidecar) => Ok(sidecar),
        None => index_first(call, path),
    }
}

/// The checkout with an index that holds a path. A repository inside another belongs to the index of that one only where it
/// was not left out there.
fn held(call: &Call<'_>, path: &Path) -> Result<Option<Sidecar>, Error> {
    let config = &call.cx.config;
    let Some(sidecar) = owner(call.cx.indexes.registry(), config, path) else { return Ok(None) };
    let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let outer = config.path_map.to_local(&sidecar.root);
    let inner = project_root(&path).and_then(|inner| inner.strip_prefix(&outer).ok()?.to_str());
    match inner {
        Some(inner) if !inner.is_empty() && !holds(call, &sidecar, inner)? => Ok(None),
        _ => Ok(Some(sidecar)),
    }
}

/// Indexes the folder of a path that no index holds.
fn index_first(call: &Call<'_>, path: &Path) -> Result<Sidecar, Error> {
    let path = path.canonicalize().map_err(|err| {
        let message = format!("cannot open {}: {err}; give the path of a folder", path.display());
        Error::new(Code::NotFound, message)
    })?;
    let root = root_of(&path);
    let config = &call.cx.config;
    if is_odd(root) {
        return Err(not_indexed(root, "it is no single project"));
    }
    let _one_at_a_time = call.cx.indexes.first_run.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    if let Some(sidecar) = held(call, &path)? {
        return Ok(sidecar);
    }
    // Nearly all of a second worktree is there already, however large it is.
    let store = pipeline::sidecar_of(root, config).store;
    let is_sibling = call.cx.indexes.registry().all().iter().any(|other| other.store == store);
    let options = Options { at_most: (!is_sibling).then_some(MOST_UNASKED), ..Options::default() };
    let tell = |done: u64, of: Option<u64>, what: &str| {
        if let Some(progress) = &call.request.progress {
            progress(done, of, what);
        }
    };
    let watcher = Watcher { progress: &tell, cancelled: &call.request.cancelled, patience: PATIENCE };
    let report = match pipeline::index_folder(root, config, &options, &watcher) {
        Err(pipeline::Error::TooMany(most)) => {
            return Err(not_indexed(root, &format!("it holds more than {most} files")));
        }
        other => other.map_err(|err| pipeline_error(err, &pipeline::sidecar_of(root, config)))?,
    };
    call.cx.indexes.close(&report.sidecar.repo);
    allocator::give_back();
    let seconds = ((report.discovery + report.parsing).as_secs_f64() * 10.0).round() / 10.0;
    let (files, symbols) = (report.facts.files, report.facts.symbols);
    call.note("first_indexed", json!({"files": files, "symbols": symbols, "seconds": seconds}));
    Ok(report.sidecar)
}

/// The folder to index for the sake of a path: the project that holds it, else the folder itself.
fn root_of(path: &Path) -> &Path {
    let folder = if path.is_file() { path.parent().unwrap_or(path) } else { path };
    project_root(folder).filter(|root| !is_odd(root)).unwrap_or(folder)
}

/// The folder at or above a path that version control marks as a project's root.
pub fn project_root(path: &Path) -> Option<&Path> {
    path.ancestors().find(|folder| folder.join(".git").exists())
}

/// Whether a folder is hardly meant as a project: everything there is, a user's home, a part of the system.
pub fn is_odd(folder: &Path) -> bool {
    folder.parent().is_none() || config::holds_home(folder) || SYSTEM.iter().any(|odd| Path::new(odd) == folder)
}

/// Refuses to index a folder without being told to, and says how to tell.
pub fn not_indexed(root: &Path, why: &str) -> Error {
    let message = format!("{} is not indexed, {why}; call index_folder with path {root:?}", root.display());
    Error::new(Code::NotIndexed, message).with("root", root.to_string_lossy()).with("why", why)
}

/// The checkout with this id, or the only one that bears this name.
fn by_name(call: &Call<'_>, repo: &str) -> Result<Sidecar, Error> {
    let registry = call.cx.indexes.registry();
    if let Some(sidecar) = registry.get(repo) {
        return Ok(sidecar);
    }
    let all = registry.all();
    let answers_to = |sidecar: &Sidecar| {
        let folder = sidecar.root.file_name().is_some_and(|name| name.to_string_lossy() == repo);
        let bare = sidecar.repo.rsplit('/').next() == Some(repo);
        let origin = sidecar.origin.as_deref().is_some_and(|origin| {
            origin.eq_ignore_ascii_case(repo)
                || origin.rsplit('/').next().is_some_and(|name| name.eq_ignore_ascii_case(repo))
        });
        folder || bare || origin
    };
    let found: Vec<&Sidecar> = all.iter().filter(|sidecar| answers_to(sidecar)).collect();
    match found[..] {
        [only] => Ok(only.clone()),
        [] if all.is_empty() => {
            let message =
                format!("no index is called {repo:?}, nothing is indexed yet; call index_folder or index_repo");
            Err(Error::new(Code::NotIndexed, message))
        }
        [] => {
            // A person remembers the folder's name, not the letters behind it.
            let folder = |sidecar: &Sidecar| {
                let name = sidecar.repo.rsplit('/').next().unwrap_or_default();
                name.rsplit_once('-').map_or(name, |(folder, _)| folder).to_owned()
            };
            let folders: Vec<String> = all.iter().map(folder).collect();
            let near = super::nearest(repo, folders.iter().map(String::as_str), 3);
            let near: Vec<&str> = all
                .iter()
                .zip(&folders)
                .filter(|(_, folder)| near.contains(&folder.as_str()))
                .map(|(sidecar, _)| sidecar.repo.as_str())
                .collect();
            let known: Vec<&str> = all.iter().take(10).map(|sidecar| sidecar.repo.as_str()).collect();
            let message =
                format!("no index is called {repo:?}; give one of `list_repos`, or a path, or call index_folder");
            Err(Error::new(Code::NotIndexed, message).with("nearest", near).with("indexed", known))
        }
        _ => Err(ambiguous(&format!("{repo:?} fits several indexes; give the whole id"), &found)),
    }
}

fn ambiguous(message: &str, found: &[&Sidecar]) -> Error {
    let ids: Vec<&str> = found.iter().take(10).map(|sidecar| sidecar.repo.as_str()).collect();
    Error::new(Code::Ambiguous, message).with("candidates", ids)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::{Path, PathBuf};

    use std::sync::atomic::AtomicBool;

    use serde_json::{Value, json};

    use super::{Options, PATIENCE, Watcher, pipeline};
    use crate::config::Config;
    use crate::tools::{Context, Request, call};

    struct Place {
        folder: tempfile::TempDir,
        cx: Context,
    }

    impl Place {
        fn new() -> Self {
            let folder = tempfile::tempdir().expect("there is room for a folder");
            let config = Config { home: folder.path().join("index"), ..Config::default() };
            Self { cx: Context::new(config), folder }
        }

        /// Makes a folder with one function that is called as the folder, and perhaps a git repository.
        fn source(&self, name: &str, is_repository: bool) -> PathBuf {
            let folder = self.folder.path().join(name);
            fs::create_dir_all(&folder).expect("the folder is ours");
            let function = name.rsplit('/').next().expect("a name has a last part");
            fs::write(folder.join("code.py"), format!("def {function}():\n    pass\n")).expect("the folder is ours");
            if is_repository {
                let status = std::process::Command::new("git").args(["init", "-q"]).arg(&folder).status();
                assert!(status.is_ok_and(|status| status.success()));
            }
            folder
        }

        fn ask(&self, request: &Request, tool: &str, args: Value) -> Value {
            let Value::Object(args) = args else { panic!("arguments are an object") };
            call(&self.cx, tool, args, request).value
        }

        /// The functions that a search without a repository finds.
        fn found(&self, request: &Request) -> Vec<String> {
            let answer = self.ask(request, "search_text", json!({"query": "def"}));
            let matches = answer["results"].as_array().unwrap_or_else(|| panic!("{answer}")).iter();
            let lines = matches.flat_map(|file| file["matches"].as_array().cloned().unwrap_or_default());
            lines.filter_map(|line| Some(line["text"].as_str()?.trim().to_owned())).collect()
        }
    }

    fn within(roots: &[&Path], directory: Option<&Path>) -> Request {
        let roots = roots.iter().map(|root| root.to_path_buf()).collect();
        Request { roots, directory: directory.map(Path::to_owned), ..Request::default() }
    }

    #[test]
    fn a_question_is_about_the_folder_that_the_caller_stands_in() {
        let place = Place::new();
        let (one, two, three) = (place.source("one", false), place.source("two", true), place.source("three", false));
        assert_eq!(place.found(&within(&[], Some(&one))), ["def one():"]);
        let nowhere = within(&[], Some(Path::new("/")));
        assert_eq!(place.found(&nowhere), ["def one():"], "there is only one");
        assert_eq!(place.found(&within(&[&two, &one], Some(&three))), ["def two():"], "the first root counts");
        assert_eq!(place.found(&within(&[Path::new("/"), &three], None)), ["def three():"]);
        let answer = place.ask(&nowhere, "search_text", json!({"query": "def"}));
        assert_eq!(answer["code"], "ambiguous", "{answer}");
        let answer =
            place.ask(&within(&[Path::new("/no/such/root")], Some(&one)), "search_text", json!({"query": "def"}));
        assert_eq!(answer["results"][0]["matches"][0]["text"], "def one():", "{answer}");
        let answer = place.ask(&within(&[Path::new("/no/such/root")], None), "search_text", json!({"query": "def"}));
        assert_eq!(answer["code"], "not_found", "{answer}");
    }

    #[test]
    fn a_repository_that_another_leaves_out_has_an_index_of_its_own() {
        let place = Place::new();
        let outer = place.source("outer", true);
        fs::write(outer.join(".gitignore"), "left_out/\n").expect("the folder is ours");
        let (inner, held) = (place.source("outer/left_out", true), place.source("outer/held", true));
        assert_eq!(place.found(&within(&[&outer], None)), ["def outer():", "def held():"]);
        assert_eq!(place.found(&within(&[&inner], None)), ["def left_out():"]);
        assert_eq!(place.found(&within(&[&held], None)).len(), 2, "it is in the outer index already");
    }

    #[test]
    fn what_removes_an_index_makes_none() {
        let place = Place::new();
        let one = place.source("one", false);
        let answer = place.ask(&within(&[], Some(&one)), "invalidate_cache", json!({"repo": "."}));
        assert_eq!(answer["code"], "not_indexed", "{answer}");
        assert_eq!(place.ask(&Request::default(), "list_repos", json!({}))["count"], 0);
    }

    #[test]
    fn a_large_folder_is_indexed_only_when_that_is_asked_for() {
        let place = Place::new();
        let root = place.source("one", false);
        fs::create_dir(root.join("inner")).expect("the folder is ours");
        for n in 0..4 {
            fs::write(root.join(format!("inner/{n}.py")), "").expect("the folder is ours");
        }
        let index = |at_most| {
            let watcher = Watcher { progress: &|_, _, _| {}, cancelled: &AtomicBool::new(false), patience: PATIENCE };
            pipeline::index_folder(&root, &place.cx.config, &Options { at_most, ..Options::default() }, &watcher)
        };
        assert!(matches!(index(Some(4)), Err(pipeline::Error::TooMany(4))));
        assert_eq!(index(Some(5)).expect("it is not larger").facts.files, 5);
    }
}
