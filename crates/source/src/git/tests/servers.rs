//! Real servers on the loopback: git's own CGI behind TLS, its daemon, and servers that fail in every way.

use std::net::TcpListener;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use tempfile::TempDir;

use super::{git, repository};
use crate::git::{Age, Cache, CacheLimits, Error, FetchAccess, FetchOptions, Opened, Remote, Token};
use codelode_base::model::SourceTree as _;
use codelode_net::test_server::{Behaviour, PATIENCE, ReceivedRequest, Reply, TestServer, git_backend as backend};
use codelode_net::{self as net, Client};

/// A folder with clones, and the settings to fill it.
pub(super) struct World {
    pub(super) folder: TempDir,
    pub(super) cache: Cache,
}

pub(in crate::git) fn access(certificate: &str, folder: &Path, tokens: &[(&str, &str)]) -> FetchAccess {
    access_for(certificate, folder, tokens, PATIENCE)
}

/// Access that gives a server up after so long a silence.
pub(in crate::git) fn access_for(
    certificate: &str,
    folder: &Path,
    tokens: &[(&str, &str)],
    silence: Duration,
) -> FetchAccess {
    let ca_file = folder.join("ca.pem");
    std::fs::write(&ca_file, certificate).expect("files can be written");
    let options = net::Options {
        trusted_hosts: vec!["localhost".to_owned(), "127.0.0.1".to_owned()],
        ca_file: (!certificate.is_empty()).then_some(ca_file),
        silence,
        ..net::Options::default()
    };
    let tokens = tokens.iter().map(|(host, token)| ((*host).to_owned(), Token((*token).to_owned()))).collect();
    FetchAccess {
        client: Client::new(options),
        tokens: Arc::new(tokens),
        ssh_command: crate::git::SSH_COMMAND.to_owned(),
        max_clone: 1 << 30,
    }
}

pub(super) fn world(certificate: &str, tokens: &[(&str, &str)]) -> World {
    let folder = TempDir::new().expect("the system has room for a folder");
    let access = access(certificate, folder.path(), tokens);
    let cache = Cache::shared(folder.path().join("git"), access, CacheLimits::default());
    World { folder, cache }
}

pub(in crate::git) fn quiet() -> FetchOptions<'static> {
    FetchOptions { progress: &codelode_base::model::unfollowed, cancelled: Arc::new(AtomicBool::new(false)) }
}

pub(in crate::git) fn remote(url: &str) -> Remote {
    Remote::parse(url, None).expect("it is a name")
}

/// The paths of a commit and the first bytes of each.
pub(in crate::git) fn files(opened: &Opened) -> Vec<(String, String)> {
    let entries = opened.commit.entries().expect("the tree is there");
    entries
        .iter()
        .map(|entry| {
            let bytes = opened.commit.read(entry).expect("its content is there");
            assert_eq!(entry.size, Some(bytes.len() as u64));
            (entry.path.clone(), String::from_utf8_lossy(&bytes).into_owned())
        })
        .collect()
}

pub(in crate::git) fn write(folder: &Path, path: &str, text: &str) {
    std::fs::write(folder.join(path), text).expect("files can be written");
    git(folder, &["add", "."]);
    git(folder, &["commit", "-q", "-m", text]);
}

#[test]
fn a_repository_is_cloned_over_https_and_updated() {
    let origin = repository(&["a.py", "deep/b.py"]);
    git(origin.path(), &["branch", "-m", "main"]);
    let root = origin.path().to_owned();
    let server = TestServer::https(move |asked| backend(&root, asked));
    let world = world(&server.certificate, &[]);
    let remote = remote(&server.url("/.git"));

    let refs = world.cache.refs(&remote, &quiet()).expect("refs are listed");
    assert_eq!(refs.default.as_deref(), Some("refs/heads/main"));
    assert_eq!(refs.all.len(), 1);

    let first = world.cache.open(&remote, None, Age::Kept, &quiet()).expect("it is cloned");
    assert!(first.fetched.is_some_and(|bytes| bytes > 100));
    assert_eq!(first.commit.commit(), git(origin.path(), &["rev-parse", "HEAD"]));
    assert_eq!(files(&first).len(), 2);

    // A recent lookup is not repeated.
    let asked = server.paths().len();
    let again = world.cache.open(&remote, None, Age::Kept, &quiet()).expect("it is here");
    assert_eq!((again.fetched, server.paths().len()), (None, asked));

    write(origin.path(), "c.py", "new");
    git(origin.path(), &["tag", "-a", "v1", "-m", "one"]);
    let kept = world.cache.open(&remote, None, Age::Kept, &quiet()).expect("it is here");
    assert_eq!(kept.commit.commit(), first.commit.commit());
    let newest = world.cache.open(&remote, None, Age::Now, &quiet()).expect("it is updated");
    assert_eq!(newest.commit.commit(), git(origin.path(), &["rev-parse", "HEAD"]));
    assert_eq!(files(&newest).len(), 3);
    let tag = world.cache.open(&remote, Some("v1"), Age::Kept, &quiet()).expect("the same commit");
    assert_eq!((tag.fetched, tag.found.reference.as_str()), (None, "refs/tags/v1"));
    assert_eq!(files(&first).len(), 2);
    assert!(world.folder.path().join("git/repos").read_dir().expect("it is there").count() == 1);
}

#[test]
fn a_token_is_not_told_in_the_clear() {
    let origin = repository(&["a.py"]);
    let root = origin.path().to_owned();
    let server = TestServer::http(move |asked| guarded(&root, asked));
    let host = format!("localhost:{}", server.address.port());
    let world = world("", &[(&host, "s3cr3t-t0ken")]);
    let err = world.cache.refs(&remote(&server.url("/.git")), &quiet()).expect_err("it is not opened");
    assert!(matches!(err, Error::Refused { .. }), "{err:?}");
    assert!(!server.asked().is_empty() && server.asked().iter().all(|asked| asked.header("authorization").is_none()));
}

/// Answers only requests with the token, by basic authentication.
fn guarded(root: &Path, asked: &ReceivedRequest) -> Reply {
    // x-access-token:s3cr3t-t0ken
    match asked.header("authorization") == Some("Basic eC1hY2Nlc3MtdG9rZW46czNjcjN0LXQwa2Vu") {
        true => backend(root, asked),
        false => Reply::new(401, "who are you?").with("www-authenticate", "Basic realm=\"git\""),
    }
}

#[test]
fn a_token_is_told_to_its_host_and_written_nowhere() {
    let origin = repository(&["a.py"]);
    let root = origin.path().to_owned();
    let server = TestServer::https(move |asked| guarded(&root, asked));
    let remote = remote(&server.url("/.git"));
    let host = format!("localhost:{}", server.address.port());

    let world = world(&server.certificate, &[(&host, "s3cr3t-t0ken"), ("other.example", "0ther-t0ken")]);
    let opened = world.cache.open(&remote, None, Age::Kept, &quiet()).expect("the token opens it");
    assert_eq!(files(&opened).len(), 1);
    let mut folders = vec![world.folder.path().to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in folder.read_dir().expect("it is a folder").map(|entry| entry.expect("it can be read").path()) {
            match entry.is_dir() {
                true => folders.push(entry),
                false => {
                    let bytes = std::fs::read(&entry).expect("it can be read");
                    let text = String::from_utf8_lossy(&bytes);
                    assert!(!text.contains("s3cr3t") && !text.contains("czNjcjN0"), "{}", entry.display());
                }
            }
        }
    }

    for tokens in [vec![], vec![(host.as_str(), "wr0ng-t0ken")], vec![("localhost:1", "s3cr3t-t0ken")]] {
        let world = self::world(&server.certificate, &tokens);
        let before = server.asked().len();
        let err = world.cache.refs(&remote, &quiet()).expect_err("it is not opened");
        assert!(matches!(err, Error::Refused { .. }), "{err:?}");
        assert!(!format!("{err} {err:?}").contains("t0ken"), "{err:?}");
        let sent = server.asked()[before..].iter().filter(|asked| asked.header("authorization").is_some()).count();
        assert_eq!(sent > 0, tokens.iter().any(|(name, _)| *name == host), "{tokens:?}");
    }
}

#[test]
fn several_at_once_fetch_once() {
    let origin = repository(&["a.py", "b.py"]);
    let root = origin.path().to_owned();
    let server = TestServer::https(move |asked| {
        std::thread::sleep(Duration::from_millis(50));
        backend(&root, asked)
    });
    let world = world(&server.certificate, &[]);
    let remote = remote(&server.url("/.git"));
    let fetched = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                // A separate cache has separate lock handles, as another process has.
                let access = world.cache.access().clone();
                let cache = Cache::shared(world.folder.path().join("git"), access, CacheLimits::default());
                let opened = cache.open(&remote, None, Age::Kept, &quiet()).expect("it is cloned");
                assert_eq!(files(&opened).len(), 2);
                fetched.fetch_add(usize::from(opened.fetched.is_some()), Ordering::SeqCst);
            });
        }
    });
    assert_eq!(fetched.load(Ordering::SeqCst), 1);
}

#[test]
fn what_a_killed_run_left_is_in_nobodys_way() {
    let origin = repository(&["a.py"]);
    let root = origin.path().to_owned();
    let server = TestServer::https(move |asked| backend(&root, asked));
    let world = world(&server.certificate, &[]);
    let remote = remote(&server.url("/.git"));
    drop(world.cache.open(&remote, None, Age::Kept, &quiet()).expect("it is cloned"));

    let git_folder = world.folder.path().join("git");
    let clone =
        git_folder.join("repos").read_dir().expect("it is there").next().expect("one").expect("readable").path();
    let key = clone.file_name().expect("it has a name").to_owned();
    let inside = clone.join("repo.git");
    for left in ["shallow.lock", "HEAD.lock", "objects/pack/.tmpAbC", "objects/pack/pack-00.pack", "refs/c/x.lock"] {
        std::fs::write(inside.join(left), "half").expect("files can be written");
    }
    std::fs::create_dir_all(git_folder.join("aside").join(&key).join("repo.git")).expect("folders can be made");
    std::fs::create_dir_all(git_folder.join("trash/old/x")).expect("folders can be made");

    write(origin.path(), "b.py", "new");
    let fresh = self::world(&server.certificate, &[]);
    let cache = Cache::shared(git_folder.clone(), fresh.cache.access().clone(), CacheLimits::default());
    let opened = cache.open(&remote, None, Age::Now, &quiet()).expect("it is updated");
    assert_eq!(files(&opened).len(), 2);
    for gone in ["shallow.lock", "HEAD.lock", "objects/pack/.tmpAbC", "objects/pack/pack-00.pack", "refs/c/x.lock"] {
        assert!(!inside.join(gone).exists(), "{gone}");
    }
    assert_eq!(git_folder.join("aside").read_dir().expect("it is there").count(), 0);
    assert_eq!(git_folder.join("trash").read_dir().expect("it is there").count(), 0);
}

#[test]
fn a_server_that_fails_costs_an_error_and_leaves_nothing() {
    let origin = repository(&["a.py"]);
    let behaviour = Arc::new(std::sync::Mutex::new(Behaviour::Honest));
    let (root, how) = (origin.path().to_owned(), behaviour.clone());
    let server = TestServer::https(move |asked| {
        let reply = backend(&root, asked);
        let is_pack = asked.method == "POST" && String::from_utf8_lossy(&asked.body).contains("command=fetch");
        if is_pack { reply.with_behaviour(*how.lock().expect("nobody panics with it")) } else { reply }
    });
    let world = world(&server.certificate, &[]);
    let remote = remote(&server.url("/.git"));
    let git_folder = world.folder.path().join("git");
    let impatient = access_for(&server.certificate, world.folder.path(), &[], Duration::from_secs(2));
    let impatient = Cache::shared(git_folder, impatient, CacheLimits::default());
    for failing in [Behaviour::Breaks, Behaviour::Stalls, Behaviour::Silent, Behaviour::HangsUp] {
        *behaviour.lock().expect("nobody panics with it") = failing;
        let err = impatient.open(&remote, None, Age::Kept, &quiet()).expect_err("no pack comes");
        assert!(matches!(err, Error::Net(_) | Error::Broken { .. }), "{failing:?}: {err:?}");
        for folder in ["repos", "aside"] {
            let left = world.folder.path().join("git").join(folder).read_dir().map_or(0, Iterator::count);
            assert_eq!(left, 0, "{failing:?} left something in {folder}");
        }
    }
    *behaviour.lock().expect("nobody panics with it") = Behaviour::Honest;
    assert_eq!(files(&world.cache.open(&remote, None, Age::Kept, &quiet()).expect("it is cloned")).len(), 1);

    // An existing clone survives a broken update.
    write(origin.path(), "b.py", "new");
    *behaviour.lock().expect("nobody panics with it") = Behaviour::Breaks;
    world.cache.open(&remote, None, Age::Now, &quiet()).expect_err("no pack comes");
    assert_eq!(files(&world.cache.open(&remote, None, Age::Kept, &quiet()).expect("it is here")).len(), 1);
}

#[test]
fn nobody_is_led_inwards() {
    let server = TestServer::https(|_| Reply::redirect(302, "https://10.1.2.3/x/info/refs?service=git-upload-pack"));
    let world = world(&server.certificate, &[]);
    let err = world.cache.refs(&remote(&server.url("/x")), &quiet()).expect_err("the redirect is not followed");
    assert!(matches!(err, Error::Net(net::Error::Private { .. } | net::Error::Redirect { .. })), "{err:?}");
    for url in ["git://10.1.2.3/x", "http://10.1.2.3/x", "https://10.1.2.3/x", "ssh://git@10.1.2.3/x"] {
        let err = world.cache.refs(&remote(url), &quiet()).expect_err("it is not public");
        assert!(matches!(err, Error::Net(net::Error::Private { .. } | net::Error::Scheme { .. })), "{url}: {err:?}");
    }
}

#[test]
fn a_repository_that_moved_is_found() {
    let origin = repository(&["a.py"]);
    let root = origin.path().to_owned();
    let server = TestServer::https(move |asked| match asked.path.strip_prefix("/old") {
        Some(rest) => Reply::redirect(301, format!("/.git{rest}")),
        None => backend(&root, asked),
    });
    let world = world(&server.certificate, &[]);
    let opened = world.cache.open(&remote(&server.url("/old")), None, Age::Kept, &quiet()).expect("it is cloned");
    assert_eq!(files(&opened).len(), 1);
}

#[test]
fn a_daemon_is_asked_where_the_operator_trusts_it() {
    let origin = repository(&["a.py"]);
    let port = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr()).expect("a free port").port();
    // Not through `git`, which would be killed instead of the daemon.
    let mut daemon = Command::new(Path::new(&git(origin.path(), &["--exec-path"])).join("git-daemon"))
        .args(["--export-all", "--reuseaddr", "--listen=127.0.0.1"])
        .arg(format!("--port={port}"))
        .arg(format!("--base-path={}", origin.path().display()))
        .stderr(Stdio::null())
        .spawn()
        .expect("git is installed where tests run");
    let begun = Instant::now();
    while std::net::TcpStream::connect(("127.0.0.1", port)).is_err() {
        assert!(begun.elapsed() < PATIENCE, "the daemon does not start");
        std::thread::sleep(Duration::from_millis(10));
    }
    let world = world("", &[]);
    let opened = world.cache.open(&remote(&format!("git://127.0.0.1:{port}/.git")), None, Age::Kept, &quiet());
    let unknown = world.cache.refs(&remote(&format!("git://127.0.0.1:{port}/none")), &quiet());
    daemon.kill().and_then(|()| daemon.wait()).expect("it is a child of ours");
    assert_eq!(files(&opened.expect("it is cloned")).len(), 1);
    assert!(unknown.is_err());
}

/// A command with ssh's arguments that runs the remote command on this machine.
fn fake_ssh(folder: &Path, root: &Path) -> String {
    let script = format!(
        "while [ \"$1\" = -o ]; do shift 2; done\necho \"$1\" >> {0}/asked\nshift\ncd {1} && exec sh -c \"$*\"",
        folder.display(),
        root.display()
    );
    fake_ssh_that(folder, &script)
}

/// A command in place of ssh that runs a script.
pub(super) fn fake_ssh_that(folder: &Path, script: &str) -> String {
    use std::os::unix::fs::PermissionsExt as _;
    let path = folder.join("ssh");
    std::fs::write(&path, format!("#!/bin/sh\n{script}\n")).expect("files can be written");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).expect("it is ours");
    path.display().to_string()
}

#[test]
fn ssh_is_used_when_it_is_named_and_when_https_is_refused() {
    let origin = repository(&["a.py"]);
    let server = TestServer::https(|_| Reply::new(401, "who are you?").with("www-authenticate", "Basic realm=\"git\""));
    let folder = TempDir::new().expect("the system has room for a folder");
    let ssh_command = fake_ssh(folder.path(), origin.path());
    let access = FetchAccess { ssh_command, ..access(&server.certificate, folder.path(), &[]) };
    let cache = Cache::shared(folder.path().join("git"), access, CacheLimits::default());

    let opened = cache.open(&remote("git@localhost:.git"), None, Age::Kept, &quiet()).expect("ssh serves it");
    assert_eq!((files(&opened).len(), opened.over), (1, None));
    let opened = cache.open(&remote(&server.url("/.git")), None, Age::Kept, &quiet()).expect("ssh serves it");
    assert_eq!((files(&opened).len(), opened.over.as_deref()), (1, Some("git@localhost:.git")));
    let asked = std::fs::read_to_string(folder.path().join("asked")).expect("it was run");
    assert!(asked.lines().all(|who| who == "git@localhost"), "{asked}");
}

#[test]
fn ssh_connects_to_the_address_that_was_checked() {
    let folder = TempDir::new().expect("the system has room for a folder");
    let script = format!("echo \"$@\" >> {}/asked; exit 255", folder.path().display());
    let ssh_command = fake_ssh_that(folder.path(), &script);
    let access = FetchAccess { ssh_command, ..access("", folder.path(), &[]) };
    let cache = Cache::shared(folder.path().join("git"), access, CacheLimits::default());
    for (name, host) in [("git@8.8.8.8:a.git", "8.8.8.8"), ("ssh://git@8.8.8.8:2222/a.git", "[8.8.8.8]:2222")] {
        assert!(cache.refs(&remote(name), &quiet()).is_err());
        let asked = std::fs::read_to_string(folder.path().join("asked")).expect("it was run");
        std::fs::remove_file(folder.path().join("asked")).expect("it is there");
        let pinned = format!("-o HostName=8.8.8.8 -o HostKeyAlias={host} ");
        assert!(asked.lines().all(|line| line.contains(&pinned)), "{asked}");
    }
    // A name that only ssh's own configuration knows may lead anywhere.
    for name in ["git@alias.invalid:a.git", "git@127.0.0.2:a.git"] {
        assert!(cache.refs(&remote(name), &quiet()).is_err());
        assert!(!folder.path().join("asked").exists(), "{name}");
    }
}

#[test]
fn clones_go_by_age_and_by_size_but_never_under_a_reader() {
    let origin = repository(&["a.py"]);
    let (root, other) = (origin.path().to_owned(), origin.path().to_owned());
    let server = TestServer::https(move |asked| backend(&root, asked));
    let second = TestServer::https(move |asked| backend(&other, asked));
    let folder = TempDir::new().expect("the system has room for a folder");
    let bundle = server.certificate.clone() + &second.certificate;
    let (one, two) = (remote(&server.url("/.git")), remote(&second.url("/.git")));
    let git_folder = folder.path().join("git");
    let cache = |keep| Cache::shared(git_folder.clone(), access(&bundle, folder.path(), &[]), keep);
    let count = || git_folder.join("repos").read_dir().expect("it is there").count();

    let roomy = cache(CacheLimits::default());
    let held = roomy.open(&one, None, Age::Kept, &quiet()).expect("it is cloned");
    drop(roomy.open(&two, None, Age::Kept, &quiet()).expect("it is cloned"));
    for foreign in ["repos/notes", "repos/x-0123456789abcdeg"] {
        std::fs::create_dir_all(git_folder.join(foreign)).expect("folders can be made");
    }
    assert_eq!(count(), 4);

    // There is no room for any, but one is being read.
    cache(CacheLimits { max_bytes: 1, ..CacheLimits::default() }).sweep(None);
    assert_eq!(count(), 3);
    assert_eq!(files(&held).len(), 1);
    drop(held);

    // The clone is unused for longer than the limit.
    for lock in git_folder.join("locks").read_dir().expect("it is there") {
        let file = std::fs::File::options().write(true).open(lock.expect("it can be read").path()).expect("it is ours");
        let long_ago = std::time::SystemTime::now() - Duration::from_secs(8 * 24 * 3600);
        file.set_modified(long_ago).expect("it is ours");
    }
    cache(CacheLimits::default()).sweep(None);
    assert_eq!(count(), 2, "what we did not make stays");

    // A removed clone is cloned again.
    assert_eq!(
        files(&cache(CacheLimits::default()).open(&one, None, Age::Kept, &quiet()).expect("it is cloned")).len(),
        1
    );
}

#[test]
fn a_clone_that_lost_its_objects_is_made_anew() {
    let origin = repository(&["a.py"]);
    let root = origin.path().to_owned();
    let server = TestServer::https(move |asked| backend(&root, asked));
    let world = world(&server.certificate, &[]);
    let remote = remote(&server.url("/.git"));
    drop(world.cache.open(&remote, None, Age::Kept, &quiet()).expect("it is cloned"));
    let repos = world.folder.path().join("git/repos");
    let clone = repos.read_dir().expect("it is there").next().expect("one").expect("readable").path();
    std::fs::remove_dir_all(clone.join("repo.git/objects/pack")).expect("it is ours");
    let opened = world.cache.open(&remote, None, Age::Kept, &quiet()).expect("it is cloned again");
    assert_eq!((files(&opened).len(), opened.fetched.is_some()), (1, true));
}

#[test]
fn a_process_can_have_clones_of_its_own_that_go_with_it() {
    let origin = repository(&["a.py"]);
    let root = origin.path().to_owned();
    let server = TestServer::https(move |asked| backend(&root, asked));
    let world = world(&server.certificate, &[]);
    let base = world.folder.path().join("git");
    let own = Cache::of_process(&base, world.cache.access().clone(), CacheLimits::default()).expect("there is room");
    let opened = own.open(&remote(&server.url("/.git")), None, Age::Kept, &quiet()).expect("it is cloned");
    assert_eq!(files(&opened).len(), 1);
    drop(opened);
    drop(own);
    assert_eq!(base.join("processes").read_dir().expect("it is there").count(), 0);
    assert!(!base.join("repos").exists());
}

#[test]
fn a_clone_has_no_history_and_no_hooks() {
    let origin = repository(&["a.py"]);
    write(origin.path(), "b.py", "new");
    let hook = origin.path().join(".git/hooks/post-checkout");
    std::fs::create_dir_all(hook.parent().expect("a folder")).expect("folders can be made");
    std::fs::write(&hook, "#!/bin/sh\ntouch ran\n").expect("files can be written");
    write(origin.path(), ".gitattributes", "* filter=evil text eol=crlf");
    git(origin.path(), &["checkout", "-q", "-b", "other", "HEAD~1"]);
    write(origin.path(), "c.py", "of another branch");
    git(origin.path(), &["tag", "-a", "v1", "-m", "one"]);
    git(origin.path(), &["checkout", "-q", "-"]);
    let root = origin.path().to_owned();
    let server = TestServer::https(move |asked| backend(&root, asked));
    let world = world(&server.certificate, &[]);
    let opened = world.cache.open(&remote(&server.url("/.git")), None, Age::Kept, &quiet()).expect("it is cloned");
    // Contents are as they were committed: no attribute changed them.
    assert!(files(&opened).contains(&("b.py".to_owned(), "new".to_owned())));
    let repos = world.folder.path().join("git/repos");
    let clone = repos.read_dir().expect("it is there").next().expect("one").expect("readable").path().join("repo.git");
    assert_eq!(git(&clone, &["rev-list", "--count", opened.commit.commit()]), "1");
    assert!(!clone.join("hooks").exists());
    // Nor has it other branches or tags than the requested one.
    assert_eq!(git(&clone, &["for-each-ref", "--format=%(objectname)"]), opened.commit.commit());
    let objects = git(&clone, &["cat-file", "--batch-all-objects", "--batch-check=%(objecttype)"]);
    assert_eq!(objects.lines().filter(|kind| *kind == "commit").count(), 1);
}

#[test]
fn a_fetch_can_be_called_off() {
    let origin = repository(&["a.py"]);
    let root = origin.path().to_owned();
    let cancelled = Arc::new(AtomicBool::new(false));
    let flag = cancelled.clone();
    let server = TestServer::https(move |asked| {
        let is_pack = asked.method == "POST" && String::from_utf8_lossy(&asked.body).contains("command=fetch");
        if is_pack {
            flag.store(true, Ordering::SeqCst);
        }
        backend(&root, asked)
    });
    let world = world(&server.certificate, &[]);
    let fetch_options = FetchOptions { progress: &codelode_base::model::unfollowed, cancelled };
    let err = world
        .cache
        .open(&remote(&server.url("/.git")), None, Age::Kept, &fetch_options)
        .expect_err("it was called off");
    assert!(matches!(err, Error::Cancelled), "{err:?}");
}

#[test]
fn what_a_server_does_not_have_is_told_apart() {
    let origin = repository(&["a.py"]);
    git(origin.path(), &["branch", "-m", "trunk"]);
    let root = origin.path().to_owned();
    let server = TestServer::https(move |asked| backend(&root, asked));
    let world = world(&server.certificate, &[]);
    let remote = remote(&server.url("/.git"));
    let open = |name: Option<&str>| {
        let asked = server.asked().len();
        let err = world.cache.open(&remote, name, Age::Now, &quiet()).expect_err("it is not there");
        (err, server.asked().len() - asked)
    };
    let (err, asked) = open(Some(&"1".repeat(40)));
    assert!(matches!(err, Error::NotServed { .. }), "{err:?}");
    assert!(asked <= 5, "what is not there is not asked for again and again: {asked}");
    git(origin.path(), &["symbolic-ref", "HEAD", "refs/heads/none"]);
    let (err, _) = open(None);
    assert!(matches!(&err, Error::NoRef { nearest, .. } if nearest == &["trunk"]), "{err:?}");
    git(origin.path(), &["update-ref", "-d", "refs/heads/trunk"]);
    let (err, _) = open(None);
    assert!(matches!(err, Error::Empty(_)), "{err:?}");
}
