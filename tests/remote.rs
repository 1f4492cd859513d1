//! Repositories elsewhere, through the binary: indexed ref by ref, searched without an index, and whatever goes wrong.

use std::io::Read as _;
use std::net::TcpListener;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;

/// Runs git in `folder`, free of what the machine configures.
fn git(folder: &Path, arguments: &[&str]) -> String {
    let mut command = Command::new("git");
    command.arg("-C").arg(folder).args(["-c", "user.name=a", "-c", "user.email=a@b.c"]).args(arguments);
    let output = command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1").output();
    let output = output.expect("git is installed where tests run");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

/// A repository with a commit, and a folder for indexes.
struct World {
    origin: TempDir,
    home: TempDir,
}

impl World {
    fn new(files: &[(&str, &str)]) -> Self {
        let world = Self { origin: TempDir::new().expect("room"), home: TempDir::new().expect("room") };
        git(world.root(), &["init", "-q", "-b", "main"]);
        world.commit(files);
        world
    }

    fn root(&self) -> &Path {
        self.origin.path()
    }

    fn commit(&self, files: &[(&str, &str)]) {
        for (path, text) in files {
            let path = self.root().join(path);
            std::fs::create_dir_all(path.parent().expect("a file lies in a folder")).expect("folders can be made");
            std::fs::write(path, text).expect("files can be written");
        }
        git(self.root(), &["add", "."]);
        git(self.root(), &["commit", "-q", "-m", "more"]);
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_codelode"));
        command.args(arguments).arg("--json").current_dir(self.home.path()).stdin(Stdio::null());
        command.env("CODELODE_INDEX_PATH", self.home.path().join("idx")).env("CODELODE_TRUSTED_HOSTS", "127.0.0.1");
        command
    }

    /// The answer of a command.
    fn run(&self, arguments: &[&str]) -> Value {
        let output = self.command(arguments).output().expect("the binary is there");
        serde_json::from_slice(&output.stdout).unwrap_or_else(|err| {
            panic!("{arguments:?}: {err}: {}", String::from_utf8_lossy(&output.stderr));
        })
    }
}

#[test]
fn refs_of_a_repository_are_snapshots_of_one_store() {
    let world = World::new(&[("a.py", "def first(): pass\n"), ("b.py", "def same(): pass\n")]);
    git(world.root(), &["tag", "v1"]);
    world.commit(&[("a.py", "def second(): pass\n")]);
    let url = format!("file://{}", world.root().display());

    let main = world.run(&["index-repo", &url]);
    assert_eq!((&main["file_count"], &main["up_to_date"]), (&Value::from(2), &Value::from(false)));
    assert_eq!(main["git_head"], git(world.root(), &["rev-parse", "HEAD"]));
    assert_eq!(main["tree"], git(world.root(), &["rev-parse", "HEAD^{tree}"]));
    assert_eq!(world.run(&["index-repo", &url])["up_to_date"], true);

    let old = world.run(&["index-repo", &url, "v1"]);
    let (main, old) = (main["repo"].as_str().expect("an id"), old["repo"].as_str().expect("an id"));
    assert_eq!(old, format!("{main}@v1"));
    let stores = world.home.path().join("idx/codelode/stores");
    assert_eq!(stores.read_dir().expect("it is there").count(), 1);
    let names = |repo: &str, query: &str| world.run(&["search", query, "--repo", repo])["results"].to_string();
    assert!(names(main, "second").contains("second") && !names(main, "first").contains("\"first\""));
    assert!(names(old, "first").contains("first") && !names(old, "second").contains("\"second\""));
    assert_eq!(world.run(&["file", "a.py", "--repo", old])["content"], "def first(): pass\n");

    // What a branch gains, its index gains.
    world.commit(&[("c.py", "def third(): pass\n")]);
    let newer = world.run(&["index-repo", &url]);
    let counts = ["files_added", "files_changed", "files_removed"].map(|key| newer[key].as_u64().expect("a count"));
    assert_eq!((counts, &newer["up_to_date"]), ([1, 0, 0], &Value::from(false)));
    assert_eq!(world.run(&["doctor"])["findings"], serde_json::json!([]), "that there is no folder is no fault");
}

#[test]
fn a_damaged_index_says_how_it_is_made_anew() {
    let world = World::new(&[("a.py", "def first(): pass\n")]);
    git(world.root(), &["tag", "v1"]);
    let url = format!("file://{}", world.root().display());
    let main = world.run(&["index-repo", &url])["repo"].as_str().expect("an id").to_owned();
    let old = world.run(&["index-repo", &url, "v1"])["repo"].as_str().expect("an id").to_owned();
    let stores = world.home.path().join("idx/codelode/stores");
    let store = stores.read_dir().expect("it is there").next().expect("there is one").expect("it can be read").path();
    std::fs::write(store.join("manifest.json"), "{").expect("it is ours");

    for (repo, anew) in
        [(&main, format!("{url} --no-incremental")), (&old, format!("{url} refs/tags/v1 --no-incremental"))]
    {
        let refused = world.run(&["search", "first", "--repo", repo]);
        let rebuild = refused["details"]["rebuild"].as_str().unwrap_or_else(|| panic!("{refused}"));
        assert_eq!(rebuild, format!("codelode index-repo {anew}"));
        let arguments: Vec<&str> = rebuild.split(' ').skip(1).collect();
        assert_eq!(world.run(&arguments)["success"], true);
        assert!(world.run(&["search", "first", "--repo", repo])["results"].to_string().contains("first"));
        std::fs::write(store.join("manifest.json"), "{").expect("it is ours");
    }
}

#[test]
fn what_a_commit_does_not_hold_as_text_is_counted_and_named() {
    let world = World::new(&[
        ("kept.py", "x = 1\n"),
        ("lost.py", "y = 2\n"),
        (".gitignore", "ignored.py\n"),
        (".env", "SECRET=1\n"),
        ("go.mod", "module x\n"),
        ("vendor/v.go", "package v\n"),
    ]);
    std::os::unix::fs::symlink("kept.py", world.root().join("link.py")).expect("links can be made");
    std::fs::write(world.root().join("binary.py"), b"a\0b").expect("files can be written");
    std::fs::write(world.root().join("ignored.py"), "z = 3\n").expect("files can be written");
    git(world.root(), &["add", "-f", "ignored.py", "."]);
    let commit = git(world.root(), &["rev-parse", "HEAD"]);
    git(world.root(), &["update-index", "--add", "--cacheinfo", &format!("160000,{commit},sub")]);
    git(world.root(), &["commit", "-q", "-m", "all sorts"]);
    let blob = git(world.root(), &["rev-parse", "HEAD:lost.py"]);
    std::fs::remove_file(world.root().join(".git/objects").join(&blob[..2]).join(&blob[2..])).expect("it is loose");

    let url = world.root().to_str().expect("a plain path");
    let indexed = world.run(&["index-repo", url]);
    let expected = serde_json::json!({
        "binary": 1, "ignored": 1, "missing": 1, "secret": 1, "submodule": 1, "symlink": 1, "vendored": 1,
    });
    assert_eq!(indexed["skipped"], expected);
    assert!(indexed["warnings"].to_string().contains("lost.py"), "{}", indexed["warnings"]);

    let found = world.run(&["grep", url, "= [0-9]"]);
    let paths: Vec<&str> =
        found["matches"].as_array().expect("a list").iter().filter_map(|file| file["path"].as_str()).collect();
    assert_eq!(paths, ["ignored.py", "kept.py"]);
    let left_out = serde_json::json!({"binary": 1, "submodule": 1, "symlink": 1, "unreadable": 1});
    assert_eq!(found["stats"]["left_out"], left_out);
    assert!(found["warnings"].to_string().contains("lost.py"));
}

#[test]
fn a_repository_is_searched_as_it_was_asked() {
    let world = World::new(&[
        ("src/a.rs", "fn one() {}\nfn Two() {}\nlet one = one();\n"),
        ("src/b.py", "one\n"),
        ("target/c.rs", "one\n"),
        ("docs/one.md", "nothing\n"),
    ]);
    let url = world.root().to_str().expect("a plain path");
    let found = |more: &[&str]| -> String {
        let answer = world.run(&[&["grep", url], more].concat());
        let files = answer["matches"].as_array().expect("a list").clone();
        let lines = |file: &Value| -> Vec<String> {
            let path = file["path"].as_str().expect("a path");
            let each = file["line_matches"].as_array().expect("a list");
            each.iter().map(|line| format!("{path}:{} {}", line["line_number"], line["ranges"])).collect()
        };
        format!(
            "{} of {}",
            files.iter().flat_map(lines).collect::<Vec<_>>().join(", "),
            answer["stats"]["total_matches"]
        )
    };
    let all = "src/a.rs:1 [[3,3]], src/a.rs:3 [[4,3],[10,3]], src/b.py:1 [[0,3]], target/c.rs:1 [[0,3]] of 4";
    assert_eq!(found(&["one"]), all);
    assert_eq!(found(&["ONE"]), all);
    assert_eq!(found(&["ONE", "--case-sensitive"]), " of 0");
    assert_eq!(found(&["one()", "--no-use-regex"]), "src/a.rs:1 [[3,5]], src/a.rs:3 [[10,5]] of 2");
    assert_eq!(found(&["one", "--file-extensions", "py"]), "src/b.py:1 [[0,3]] of 1");
    assert_eq!(found(&["one", "--exclude-dirs", "src"]), "target/c.rs:1 [[0,3]] of 1");
    assert_eq!(found(&["one", "--include-globs", "src/*.rs", "--take", "1"]), "src/a.rs:1 [[3,3]] of 2");
    assert_eq!(found(&["one", "--skip", "1", "--take", "2"]), "src/a.rs:3 [[4,3],[10,3]], src/b.py:1 [[0,3]] of 4");
    assert_eq!(world.run(&["grep", url, "one", "--ref-name", "nowhere"])["code"], "not_found");
    assert_eq!(world.run(&["grep", url, "one("])["code"], "invalid_arguments");
}

#[test]
fn a_run_that_was_killed_in_the_middle_costs_nothing_later() {
    let world = World::new(&[("a.py", "x = 1\n")]);
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let port = listener.local_addr().expect("it is bound").port();
    let url = format!("git://127.0.0.1:{port}/.git");
    let mut child = world.command(&["grep", &url, "x"]).stdout(Stdio::null()).spawn().expect("the binary is there");
    let (mut stream, _) = listener.accept().expect("it connects");
    // It has said what it wants and waits for ever.
    stream.read_exact(&mut [0; 4]).expect("it says so");
    child.kill().and_then(|()| child.wait()).expect("it is a child of ours");
    drop((stream, listener));

    let daemon = Path::new(&git(world.root(), &["--exec-path"])).join("git-daemon");
    let mut daemon = Command::new(daemon)
        .args(["--export-all", "--reuseaddr", "--listen=127.0.0.1"])
        .arg(format!("--port={port}"))
        .arg(format!("--base-path={}", world.root().display()))
        .stderr(Stdio::null())
        .spawn()
        .expect("git is installed where tests run");
    let ready = (0..500).any(|_| {
        std::thread::sleep(Duration::from_millis(10));
        std::net::TcpStream::connect(("127.0.0.1", port)).is_ok()
    });
    let found = world.run(&["grep", &url, "x"]);
    daemon.kill().and_then(|()| daemon.wait()).expect("it is a child of ours");
    assert!(ready, "the daemon does not start");
    assert_eq!(found["stats"]["total_matches"], 1, "{found}");
}
