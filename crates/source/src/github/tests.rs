//! The client against a test server with a real repository.

use std::fs;
use std::path::Path;

use url::Url;

use super::test_server::{Hub, git, git_text};
use super::*;
use codelode_base::model::{EntryMode, SourceError, SourceTree, TreeEntry};
use codelode_net::test_server::{Behaviour, PATIENCE, Reply, TestServer};

const FILES: &[(&str, &str)] = &[
    ("README.md", "# cat\n"),
    ("src/lib.rs", "pub fn meow() {}\n"),
    ("src/deep/er/mod.rs", "mod x;\n"),
    ("src/deep.rs", "// sorts before the folder for git, after it for people\n"),
    ("twin.md", "# cat\n"),
    ("empty", ""),
];

fn options(test_server: &TestServer, home: &Path, token: Option<&str>) -> (net::Options, Options) {
    let ca_file = (!test_server.certificate.is_empty()).then(|| {
        let path = home.join("ca.pem");
        fs::write(&path, &test_server.certificate).expect("there is room");
        path
    });
    let net = net::Options {
        trusted_hosts: vec!["localhost".to_owned()],
        ca_file,
        silence: PATIENCE,
        ..net::Options::default()
    };
    let api = Url::parse(&test_server.url("/")).expect("it is one");
    let token = token.map(str::to_owned);
    (net, Options { api, token, cache: Some(home.join("github")), cancelled: None })
}

pub(super) fn client(test_server: &TestServer, home: &Path) -> Client {
    let (net, options) = options(test_server, home, None);
    Client::new(net::Client::new(net), options)
}

fn cat() -> Name {
    Name::new("octo", "cat").expect("a name")
}

/// Every file as text, `None` for submodules.
fn contents(tree: &Tree) -> Vec<(String, EntryMode, Option<String>)> {
    let read = |entry: TreeEntry| {
        let text = (entry.mode != EntryMode::Submodule)
            .then(|| String::from_utf8(tree.read(&entry).expect("it is there")).expect("tests are text"));
        (entry.path, entry.mode, text)
    };
    tree.entries().expect("it was listed").into_iter().map(read).collect()
}

fn open(client: &Client, repo: &Name, name: Option<&str>, how: ContentSource, home: &Path) -> Result<Tree, Error> {
    let commit = resolve(client, repo, name)?;
    Tree::open(client, repo, commit, how, &home.join("tmp"))
}

#[test]
fn a_commit_is_the_same_by_archive_and_by_blobs() {
    let folder = tempfile::tempdir().expect("there is room");
    let work = folder.path().join("work");
    fs::create_dir_all(work.join("src")).expect("there is room");
    git(&work, &["init", "-q", "-b", "main"]);
    fs::write(work.join("run.sh"), "#!/bin/sh\n").expect("there is room");
    fs::write(work.join("src/a.rs"), "fn a() {}\n").expect("there is room");
    // Attributes change an archive, and not the commit.
    fs::write(work.join("subst.txt"), "$Format:%H$\n").expect("there is room");
    fs::write(work.join("left-out.txt"), "left out\n").expect("there is room");
    fs::write(work.join(".gitattributes"), "subst.txt export-subst\nleft-out.txt export-ignore\n").expect("room");
    git(&work, &["add", "-A"]);
    git(&work, &["update-index", "--chmod=+x", "run.sh"]);
    let link = work.join("target");
    fs::write(&link, "src/a.rs").expect("there is room");
    let id = git_text(&work, &["hash-object", "-w", "target"]);
    git(&work, &["update-index", "--add", "--cacheinfo", &format!("120000,{id},link")]);
    let other = "0123456789abcdef0123456789abcdef01234567";
    git(&work, &["update-index", "--add", "--cacheinfo", &format!("160000,{other},module")]);
    git(&work, &["commit", "-q", "-m", "first"]);
    let hub = Hub::of_work(folder, &work, false);
    let home = tempfile::tempdir().expect("there is room");
    let client = client(&hub.server, home.path());
    let expected = [
        (".gitattributes", EntryMode::File, Some("subst.txt export-subst\nleft-out.txt export-ignore\n")),
        ("left-out.txt", EntryMode::File, Some("left out\n")),
        ("link", EntryMode::Symlink, Some("src/a.rs")),
        ("module", EntryMode::Submodule, None),
        ("run.sh", EntryMode::Executable, Some("#!/bin/sh\n")),
        ("src/a.rs", EntryMode::File, Some("fn a() {}\n")),
        ("subst.txt", EntryMode::File, Some("$Format:%H$\n")),
    ];
    let expected = expected.map(|(path, mode, text)| (path.to_owned(), mode, text.map(str::to_owned)));
    for (how, blobs, archives) in [(ContentSource::Blobs, 6, 0), (ContentSource::Tarball, 2, 1)] {
        let before = (hub.asked("/git/blobs/"), hub.asked("/codeload/"));
        let tree = open(&client, &cat(), None, how, home.path()).expect("it is there");
        assert_eq!(tree.commit(), git_text(&hub.bare, &["rev-parse", "main"]));
        assert_eq!(tree.tree(), git_text(&hub.bare, &["rev-parse", "main^{tree}"]));
        assert_eq!(contents(&tree), expected, "{how:?}");
        assert_eq!(tree.entries().expect("listed")[3].id, other);
        let after = (hub.asked("/git/blobs/"), hub.asked("/codeload/"));
        assert_eq!((after.0 - before.0, after.1 - before.1), (blobs, archives), "{how:?}");
    }
}

#[test]
fn few_files_come_one_by_one_and_many_in_one_archive() {
    let many: Vec<(String, String)> = (0..40).map(|n| (format!("f/{n}.txt"), format!("{n}\n"))).collect();
    let many: Vec<(&str, &str)> = many.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    let hub = Hub::of_files(&many, false);
    let home = tempfile::tempdir().expect("there is room");
    let client = client(&hub.server, home.path());
    let tree = open(&client, &cat(), None, ContentSource::Auto, home.path()).expect("it is there");
    let entries = tree.entries().expect("listed");
    tree.prepare(&entries.iter().take(5).collect::<Vec<_>>()).expect("they come");
    assert_eq!((hub.asked("/git/blobs/"), hub.asked("/codeload/")), (5, 0));
    for entry in &entries[..5] {
        tree.read(entry).expect("it is here");
    }
    assert_eq!((hub.asked("/git/blobs/"), hub.asked("/codeload/")), (5, 0));
    tree.prepare(&entries.iter().collect::<Vec<_>>()).expect("they come");
    assert_eq!(contents(&tree).len(), 40);
    assert_eq!((hub.asked("/git/blobs/"), hub.asked("/codeload/")), (5, 1));
    // No temporary files remain.
    assert_eq!(fs::read_dir(home.path().join("tmp")).expect("it was made").count(), 0);
}

#[test]
fn a_tree_that_is_cut_is_walked_folder_by_folder() {
    let hub = Hub::of_files(FILES, false);
    let home = tempfile::tempdir().expect("there is room");
    let client = client(&hub.server, home.path());
    let whole =
        open(&client, &cat(), None, ContentSource::Blobs, home.path()).expect("it is there").entries().expect("listed");
    assert_eq!(whole.len(), FILES.len());
    for most in [0, 1, 3, 6] {
        hub.set(|conditions| conditions.truncate = Some(most));
        let cut = open(&client, &cat(), None, ContentSource::Blobs, home.path())
            .expect("it is there")
            .entries()
            .expect("listed");
        assert_eq!(cut, whole, "{most}");
    }
}

#[test]
fn a_listing_with_a_hole_is_not_believed() {
    let hub = Hub::of_files(FILES, false);
    let home = tempfile::tempdir().expect("there is room");
    let client = client(&hub.server, home.path());
    for hole in ["README.md", "src", "src/deep/er/mod.rs"] {
        hub.set(|conditions| conditions.hole = Some(hole.to_owned()));
        let err = open(&client, &cat(), None, ContentSource::Blobs, home.path()).expect_err(hole);
        assert!(matches!(err, Error::Malformed(_)), "{hole}: {err:?}");
    }
}

#[test]
fn contents_that_are_missing_or_wrong_are_named() {
    let hub = Hub::of_files(FILES, false);
    let home = tempfile::tempdir().expect("there is room");
    let client = client(&hub.server, home.path());
    let id = |path: &str| git_text(&hub.bare, &["rev-parse", &format!("main:{path}")]);
    let (gone, other) = (id("src/lib.rs"), id("src/deep.rs"));
    hub.set(|conditions| (conditions.missing, conditions.damaged) = (vec![gone], vec![other]));
    let tree = open(&client, &cat(), None, ContentSource::Blobs, home.path()).expect("it is there");
    let entries = tree.entries().expect("listed");
    tree.prepare(&entries.iter().collect::<Vec<_>>()).expect("most come");
    for entry in &entries {
        match (entry.path.as_str(), tree.read(entry)) {
            ("src/lib.rs", Err(SourceError::Missing { path, .. })) => assert_eq!(path, "src/lib.rs"),
            ("src/deep.rs", Err(SourceError::Damaged { path, .. })) => assert_eq!(path, "src/deep.rs"),
            ("src/lib.rs" | "src/deep.rs", other) => panic!("{}: {other:?}", entry.path),
            (path, read) => assert!(read.is_ok(), "{path}: {read:?}"),
        }
    }
}

#[test]
fn an_archive_that_fails_is_replaced_by_blobs_where_that_is_allowed() {
    let hub = Hub::of_files(FILES, false);
    let home = tempfile::tempdir().expect("there is room");
    let client = client(&hub.server, home.path());
    let read_all = |how| {
        let tree = open(&client, &cat(), None, how, home.path()).expect("it is there");
        tree.archive().map(|here| (here, contents(&tree).len()))
    };
    // Contents before the break count, the rest is fetched one by one.
    hub.set(|conditions| conditions.archive = Some(Behaviour::Breaks));
    assert_eq!(read_all(ContentSource::Tarball).expect("the rest is fetched"), (true, FILES.len()));
    let inner = TestServer::http(|_| Reply::new(200, "inside"));
    let place = format!("https://127.0.0.1:{}/secret", inner.address.port());
    hub.set(|conditions| (conditions.archive, conditions.codeload) = (None, Some(place)));
    let err = read_all(ContentSource::Tarball).expect_err("it is sent inwards");
    assert!(matches!(err, Error::Net(net::Error::Private { .. })), "{err:?}");
    assert_eq!(read_all(ContentSource::Auto).expect("blobs are as good"), (false, FILES.len()));
    assert_eq!(inner.connections(), 0);
}

#[test]
fn names_find_commits_and_errors_say_what_is_not_there() {
    let hub = Hub::of_files(FILES, false);
    git(&hub.bare, &["branch", "feature/long/name", "main"]);
    git(&hub.bare, &["tag", "-a", "-m", "one", "v1.0", "main"]);
    let home = tempfile::tempdir().expect("there is room");
    let client = client(&hub.server, home.path());
    let commit = git_text(&hub.bare, &["rev-parse", "main"]);
    for name in [None, Some("main"), Some("feature/long/name"), Some("v1.0"), Some(&commit[..8]), Some(&commit)] {
        assert_eq!(resolve(&client, &cat(), name).expect("it is there").commit, commit, "{name:?}");
    }
    // A repository that was renamed is followed.
    let old = Name::new("octo", "old").expect("a name");
    assert_eq!(resolve(&client, &old, None).expect("it moved").commit, commit);
    let failure =
        |name: &str, of: Option<&str>| resolve(&client, &Name::new("octo", name).expect("a name"), of).expect_err(name);
    assert!(matches!(failure("cat", Some("nope")), Error::NoSuchRef(name) if name == "nope"));
    assert!(matches!(failure("dog", None), Error::NotFound { has_token: false }));
    assert!(matches!(failure("empty", None), Error::Empty));
    for bad in ["", "a b", "../../user", "a..b", "-x^", "a/", "/a", "x@{1}", "a\u{7}"] {
        assert!(matches!(failure("cat", Some(bad)), Error::BadRef(_)), "{bad:?}");
    }
    for (owner, name) in [("", "x"), ("x", ".."), ("a/b", "c"), ("a", "b?c"), ("ä", "b")] {
        assert!(matches!(Name::new(owner, name), Err(Error::BadName(_))), "{owner}/{name}");
    }
}

#[test]
fn lists_are_read_page_by_page() {
    let hub = Hub::of_files(FILES, false);
    for n in 0..7 {
        git(&hub.bare, &["tag", &format!("v{n}")]);
    }
    let home = tempfile::tempdir().expect("there is room");
    let client = client(&hub.server, home.path());
    let names = |refs: Vec<Ref>| refs.into_iter().map(|found| found.name).collect::<Vec<_>>();
    let all = names(refs(&client, &cat(), "").expect("they are listed"));
    assert_eq!(all.len(), 8, "{all:?}");
    assert_eq!((all[0].as_str(), all[7].as_str()), ("refs/heads/main", "refs/tags/v6"));
    assert_eq!(names(refs(&client, &cat(), "v3").expect("it is listed")), ["refs/tags/v3"]);
    assert_eq!(default_branch(&client, &cat()).expect("it is told"), "main");
    // The pages are cached, with the links to the next.
    hub.set(|conditions| conditions.remaining = Some(1));
    assert_eq!(names(refs(&client, &cat(), "").expect("nothing changed")), all);
    assert_eq!(client.rate().expect("it is told").remaining, 1);
}

#[test]
fn a_next_page_elsewhere_is_not_asked_for() {
    let elsewhere = TestServer::http(|_| Reply::new(200, "[]"));
    let place = elsewhere.url("/more");
    let test_server = TestServer::http(move |_| Reply::new(200, "[]").with("link", format!("<{place}>; rel=\"next\"")));
    let home = tempfile::tempdir().expect("there is room");
    assert_eq!(refs(&client(&test_server, home.path()), &cat(), "").expect("an answer"), []);
    assert_eq!(elsewhere.connections(), 0);
    let link =
        "<https://a/?page=1>; rel=\"prev\", <https://a/?page=3>; rel=\"next\", <https://a/?page=9>; rel=\"last\"";
    assert_eq!(next_link(link).as_deref(), Some("https://a/?page=3"));
    assert_eq!(next_link("nonsense"), None);
}

#[test]
fn what_did_not_change_does_not_count() {
    let hub = Hub::of_files(FILES, false);
    let home = tempfile::tempdir().expect("there is room");
    hub.set(|conditions| conditions.remaining = Some(2));
    let first = resolve(&client(&hub.server, home.path()), &cat(), None).expect("there is room in the limit");
    // Another process, and a limit that allows only conditional requests.
    hub.set(|conditions| conditions.remaining = Some(1));
    let client = client(&hub.server, home.path());
    assert_eq!(resolve(&client, &cat(), None).expect("it costs nothing"), first);
    assert_eq!(client.rate().map(|rate| (rate.limit, rate.remaining)), Some((60, 1)));
    git(&hub.bare, &["tag", "v1", "main"]);
    hub.set(|conditions| conditions.remaining = Some(0));
    let err = resolve(&client, &cat(), Some("v1")).expect_err("the limit is reached");
    let Error::Limited(limit) = &err else { panic!("{err:?}") };
    assert_eq!((limit.is_secondary, limit.reset()), (false, Some(1_700_003_600)));
    assert_eq!(
        err.to_string(),
        "GitHub API rate limit exceeded; it resets at 2023-11-14T23:13:20Z; more is allowed with a token in GITHUB_TOKEN"
    );
}

#[test]
fn a_token_opens_what_is_private_and_is_told_to_nobody_else() {
    let hub = Hub::of_files(FILES, true);
    hub.set(|conditions| conditions.token = Some("s3cret".to_owned()));
    let home = tempfile::tempdir().expect("there is room");
    let with = |token: Option<&str>| {
        let (net, options) = options(&hub.server, home.path(), token);
        Client::new(net::Client::new(net), options)
    };
    let elsewhere = TestServer::http(|_| Reply::new(404, ""));
    let place = elsewhere.url("/archive");
    assert!(matches!(resolve(&with(None), &cat(), None), Err(Error::NotFound { has_token: false })));
    let err = resolve(&with(Some("0ther")), &cat(), None).expect_err("it is another");
    assert!(matches!(err, Error::Unauthorized) && !err.to_string().contains("0ther"), "{err:?}");
    let client = with(Some("s3cret"));
    let tree = open(&client, &cat(), None, ContentSource::Tarball, home.path()).expect("it opens");
    assert_eq!(contents(&tree).len(), FILES.len());
    // An answer cached for one token is not used for another.
    assert!(matches!(resolve(&with(None), &cat(), None), Err(Error::NotFound { .. })));
    hub.set(|conditions| conditions.codeload = Some(place));
    let tree = open(&client, &cat(), None, ContentSource::Tarball, home.path()).expect("it opens");
    let err = tree.archive().expect_err("TLS is not left");
    assert!(matches!(err, Error::Net(net::Error::Redirect { .. })), "{err:?}");
    assert_eq!(elsewhere.connections(), 0);
    for entry in fs::read_dir(home.path().join("github")).expect("answers are kept") {
        let path = entry.expect("it can be read").path();
        let text = String::from_utf8_lossy(&fs::read(&path).expect("it can be read")).into_owned();
        assert!(!text.contains("s3cret") && !path.to_string_lossy().contains("s3cret"));
    }
}

#[test]
fn each_refusal_says_what_it_means() {
    let hub = Hub::of_files(&[("a", "a")], false);
    let home = tempfile::tempdir().expect("there is room");
    let client = client(&hub.server, home.path());
    let ask = |status: u16, headers: &[(&str, &str)], message: &str| {
        let body = if message.starts_with('{') { message.to_owned() } else { format!("{{\"message\":{message:?}}}") };
        let refusal = headers.iter().fold(Reply::new(status, body), |reply, (name, value)| reply.with(name, *value));
        hub.set(|conditions| conditions.refusal = Some(refusal));
        resolve(&client, &cat(), None).expect_err("it is refused")
    };
    let used_up = [("x-ratelimit-limit", "60"), ("x-ratelimit-remaining", "0"), ("x-ratelimit-reset", "1700003600")];
    let limited = |err: Error| match err {
        Error::Limited(limit) => (limit.is_secondary, limit.reset(), limit.wait.map(|wait| wait.as_secs())),
        other => panic!("{other:?}"),
    };
    assert!(matches!(ask(401, &[], "Bad credentials"), Error::Unauthorized));
    for status in [403, 429] {
        assert_eq!(limited(ask(status, &used_up, "API rate limit exceeded")), (false, Some(1_700_003_600), None));
        let slow = "You have exceeded a secondary rate limit. Please wait a few minutes before you try again.";
        assert_eq!(limited(ask(status, &[("retry-after", "60")], slow)), (true, None, Some(60)));
        assert_eq!(limited(ask(status, &[], slow)), (true, None, None));
    }
    assert_eq!(limited(ask(403, &[], "You have triggered an abuse detection mechanism.")), (true, None, None));
    assert_eq!(limited(ask(429, &[], "")), (true, None, None));
    let sso = ask(403, &[("x-github-sso", "required; url=https://github.com/orgs/o/sso?x=1")], "Resource protected by");
    assert!(matches!(&sso, Error::Sso { at: Some(at) } if at == "https://github.com/orgs/o/sso?x=1"), "{sso:?}");
    let blocked = ask(403, &[], r#"{"message":"Repository access blocked","block":{"reason":"tos"}}"#);
    assert!(matches!(blocked, Error::Blocked(_)));
    let forbidden = ask(403, &[], "Resource not accessible by personal access token");
    assert!(matches!(&forbidden, Error::Forbidden(why) if why.starts_with("Resource not")), "{forbidden:?}");
    assert!(matches!(ask(404, &[], "Not Found"), Error::NotFound { .. }));
    assert!(matches!(ask(409, &[], "Git Repository is empty."), Error::Empty));
    assert!(matches!(ask(409, &[], "Conflict"), Error::Unexpected { status: 409, .. }));
    assert!(matches!(ask(451, &[], "Repository access blocked"), Error::Legal));
    assert!(matches!(ask(503, &[("retry-after", "9")], ""), Error::Trouble { status: 503, wait: Some(_) }));
    assert!(matches!(ask(418, &[], "no coffee"), Error::Unexpected { status: 418, .. }));
    assert!(matches!(ask(200, &[], "{"), Error::Malformed(_)));
    let long = ask(403, &[], &"x".repeat(5_000));
    assert!(long.to_string().len() < 400, "{long}");
}

#[test]
fn repositories_are_found() {
    let hub = Hub::of_files(&[("a", "a")], false);
    let home = tempfile::tempdir().expect("there is room");
    let client = client(&hub.server, home.path());
    let query = |text: &str, sort, order| Query { text: text.to_owned(), sort, order, per_page: 10, page: 15 };
    let found = search(&client, &query("cat & mouse #1", Sort::Stars, Order::Ascending)).expect("it answers");
    assert_eq!((found.total_count, found.items.len()), (145, 5));
    assert_eq!(found.items[0].full_name, "octo/cat140");
    let asked = hub.server.paths();
    assert_eq!(asked, ["/search/repositories?q=cat+%26+mouse+%231&sort=stars&order=asc&per_page=10&page=15"]);
    search(&client, &query("cat", Sort::Relevance, Order::Ascending)).expect("it answers");
    assert_eq!(hub.server.paths()[1], "/search/repositories?q=cat&per_page=10&page=15");
    assert_eq!(client.rate().expect("it is told").reset, 1_700_003_600);
}

#[test]
fn an_enterprise_server_is_asked_below_its_base() {
    let test_server = TestServer::http(|_| Reply::new(404, ""));
    let home = tempfile::tempdir().expect("there is room");
    for base in ["/api/v3", "/api/v3/"] {
        let (net, mut options) = options(&test_server, home.path(), None);
        options.api = Url::parse(&test_server.url(base)).expect("it is one");
        let client = Client::new(net::Client::new(net), options);
        assert!(resolve(&client, &cat(), Some("main")).is_err());
    }
    assert_eq!(test_server.paths(), ["/api/v3/repos/octo/cat/commits/main"; 2]);
}
