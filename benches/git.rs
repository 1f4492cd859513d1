//! Cost of remote repositories compared with git and ripgrep: cloned, searched, indexed and updated from servers on
//! this machine, over a daemon's own protocol and over https.
//!
//! Processor time is that of a command and of all its children, without the server's; each figure is the least of
//! several runs. Its system part grows on a machine with other work, most of all if many files are written, so the
//! user part is shown beside the sum.

mod measure;
#[allow(dead_code, reason = "the tests use the rest")]
#[path = "../crates/net/src/test_server.rs"]
mod test_server;

use std::fs;
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use measure::results::{Results, report};
use measure::{corpus, scratch};
use serde_json::Value;
use test_server::{TestServer, git_backend};

/// Further repositories to clone, separated by `:`, each a folder that git can serve.
const REPOSITORIES: &str = "CODELODE_GIT_REPOS";
/// The number of runs of each command.
const RUNS: usize = 7;
/// The number of updates of a repository, one commit each.
const UPDATES: usize = 60;
/// Patterns: a rare name, a frequent word, one without a literal, and one without matches.
const PATTERNS: [&str; 4] = ["ErrUnexpectedEOF", "return", r"[0-9]{7,}", "no_such_name_anywhere"];

fn main() {
    let _results = Results::of("git");
    if !measure::wants("git") {
        return;
    }
    let folder = scratch();
    let served = folder.path().join("served");
    fs::create_dir(&served).expect("the folder is new");
    let mut names = Vec::new();
    if let Some(root) = corpus("go-std") {
        commit_all(&root, &served.join("go-std"));
        names.push("go-std".to_owned());
    }
    let more = std::env::var(REPOSITORIES).unwrap_or_default();
    for path in more.split(':').filter(|path| !path.is_empty()).map(Path::new) {
        let name = format!("repository-{}", names.len());
        let target = path.canonicalize().expect("it is there");
        std::os::unix::fs::symlink(&target, served.join(&name)).expect("the folder is new");
        eprintln!("{name} is {}", target.display());
        names.push(name);
    }
    let servers = Servers::start(&served, folder.path());
    let urls = |name: &str| {
        [
            ("git", format!("git://127.0.0.1:{}/{name}", servers.port)),
            ("https", servers.server.url(&format!("/{name}"))),
        ]
    };
    report!("| repository | over | git: user, CPU s, MB | codelode: user, CPU s, MB | user | CPU | disk |");
    report!("|---|---|---|---|---|---|---|");
    for name in &names {
        for (over, url) in urls(name) {
            clone(name, over, &url, &servers, folder.path());
        }
    }
    report!("\n| looked for, in go-std | rg: ms, CPU ms | codelode: ms, CPU ms | ms | CPU |\n|---|---|---|---|---|");
    search(&urls("go-std")[0].1, &servers, folder.path());
    report!("\n| indexing go-std | over git, ms | over https, ms |\n|---|---|---|");
    let (plain, secure) = (&urls("go-std")[0].1, &urls("go-std")[1].1);
    index(&served.join("go-std"), [plain, secure], &servers, folder.path());
}

/// Makes a repository of a folder.
fn commit_all(root: &Path, to: &Path) {
    measure::copy(root, to, false);
    git(to, &["init", "-q", "-b", "main"]);
    save(to);
    git(to, &["gc", "-q"]);
}

fn save(at: &Path) {
    git(at, &["add", "-A", "-f"]);
    git(at, &["commit", "-q", "-m", "a state"]);
}

/// Runs git, without the machine's configuration.
fn git(at: &Path, arguments: &[&str]) {
    let mut command = Command::new("git");
    command.arg("-C").arg(at).args(["-c", "user.name=a", "-c", "user.email=a@b.c", "-c", "gc.auto=0"]).args(arguments);
    let status = command.envs(NEUTRAL).status().expect("git is installed");
    assert!(status.success(), "git {arguments:?}");
}

const NEUTRAL: [(&str, &str); 2] = [("GIT_CONFIG_GLOBAL", "/dev/null"), ("GIT_CONFIG_NOSYSTEM", "1")];

/// A daemon and a web server for the repositories of a folder.
struct Servers {
    port: u16,
    daemon: Child,
    server: TestServer,
    certificate: PathBuf,
}

impl Servers {
    fn start(served: &Path, folder: &Path) -> Self {
        let port = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr()).expect("a port").port();
        let path = Command::new("git").arg("--exec-path").output().expect("git is installed").stdout;
        let path = String::from_utf8(path).expect("it is text");
        let daemon = Command::new(Path::new(path.trim()).join("git-daemon"))
            .args(["--export-all", "--reuseaddr", "--listen=127.0.0.1"])
            .arg(format!("--port={port}"))
            .arg(format!("--base-path={}", served.display()))
            .envs(NEUTRAL)
            .stderr(Stdio::null())
            .spawn()
            .expect("git has a daemon");
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            std::thread::sleep(Duration::from_millis(10));
        }
        let root = served.to_owned();
        let test_server = TestServer::https(move |asked| git_backend(&root, asked));
        let certificate = folder.join("ca.pem");
        fs::write(&certificate, &test_server.certificate).expect("the folder is ours");
        Self { port, daemon, server: test_server, certificate }
    }

    /// Our own command, over indexes in a folder.
    fn codelode(&self, index_dir: &Path, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_codelode"));
        command.args(arguments).arg("--json").env("CODELODE_INDEX_PATH", index_dir);
        command.env("CODELODE_TRUSTED_HOSTS", "127.0.0.1,localhost").env("CODELODE_CA_FILE", &self.certificate);
        command
    }
}

impl Drop for Servers {
    fn drop(&mut self) {
        let _ = self.daemon.kill().and_then(|()| self.daemon.wait());
    }
}

/// The times of a command, in seconds.
#[derive(Clone, Copy)]
struct Took {
    user: f64,
    cpu: f64,
    wall: f64,
}

/// Runs a command with the shell's own stopwatch, which includes its children.
fn timed(command: &Command, output: Stdio) -> (Took, Vec<u8>) {
    let mut shell = Command::new("bash");
    shell.args(["-c", "TIMEFORMAT='%U %S %R'; time \"$@\" 2>/dev/null", "bash"]).arg(command.get_program());
    shell.args(command.get_args()).stdin(Stdio::null()).stdout(output);
    for (name, value) in command.get_envs() {
        shell.env(name, value.expect("nothing is removed"));
    }
    let done = shell.output().expect("bash is installed");
    // No match is an answer, too.
    assert!(matches!(done.status.code(), Some(0 | 1)), "{command:?}");
    let text = String::from_utf8_lossy(&done.stderr).into_owned();
    let mut seconds = text.split_whitespace().map(|second| second.parse::<f64>().expect("bash tells seconds"));
    let mut next = || seconds.next().expect("bash tells three");
    let (user, system, wall) = (next(), next(), next());
    (Took { user, cpu: user + system, wall }, done.stdout)
}

/// The least of several runs, each after a step that is not measured.
fn least(command: &Command, before: impl Fn()) -> Took {
    let runs = (0..RUNS).map(|_| {
        before();
        timed(command, Stdio::null()).0
    });
    let least = |a: Took, b: Took| Took { user: a.user.min(b.user), cpu: a.cpu.min(b.cpu), wall: a.wall.min(b.wall) };
    runs.reduce(least).expect("there are runs")
}

/// One row: a clone with the names of its files, compared with git's.
fn clone(name: &str, over: &str, url: &str, servers: &Servers, folder: &Path) {
    let (theirs, ours) = (folder.join("theirs"), folder.join("ours"));
    let remove = |path: &Path| {
        let _ = fs::remove_dir_all(path);
    };
    let mut command = Command::new("git");
    command.args(["clone", "-q", "--depth", "1", url]).arg(&theirs).envs(NEUTRAL);
    command.env("GIT_SSL_CAINFO", &servers.certificate);
    let git = least(&command, || remove(&theirs));
    let codelode = servers.codelode(&ours, &["tree", "--repo", url, "--max-depth", "1"]);
    let us = least(&codelode, || remove(&ours));
    let (disk, our_disk) = (room(&theirs) as f64 / 1e6, room(&ours) as f64 / 1e6);
    report!(
        "| {name} | {over} | {:.2}, {:.2}, {disk:.1} | {:.2}, {:.2}, {our_disk:.1} | {:.2} | {:.2} | {:.2} |",
        git.user,
        git.cpu,
        us.user,
        us.cpu,
        us.user / git.user,
        us.cpu / git.cpu,
        our_disk / disk
    );
    remove(&theirs);
    remove(&ours);
}

/// Bytes on the disk of all files below a folder, in whole blocks.
fn room(folder: &Path) -> u64 {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let one = |entry: fs::DirEntry| match entry.metadata() {
        Ok(facts) if facts.is_dir() => room(&entry.path()),
        Ok(facts) => 512 * std::os::unix::fs::MetadataExt::blocks(&facts),
        Err(_) => 0,
    };
    entries.map(one).sum()
}

/// Rows: a search in an existing clone, compared with ripgrep on a checkout; the first search, which keeps the texts
/// of the commit, and the disk space of clone and texts.
fn search(url: &str, servers: &Servers, folder: &Path) {
    let (theirs, ours) = (folder.join("checkout"), folder.join("searched"));
    git(folder, &["clone", "-q", "--depth", "1", url, &theirs.to_string_lossy()]);
    let room_beside = || {
        format!("{:.1} MB, {:.2} of the checkout", room(&ours) as f64 / 1e6, room(&ours) as f64 / room(&theirs) as f64)
    };
    timed(&servers.codelode(&ours, &["tree", "--repo", url, "--max-depth", "1"]), Stdio::null());
    let cloned = room_beside();
    let first = timed(&servers.codelode(&ours, &["grep", url, PATTERNS[3]]), Stdio::null()).0;
    report!("| the first | | {:.0}, {:.0} | | |", first.wall * 1e3, first.cpu * 1e3);
    report!("| disk before, after | | {cloned}; {} | | |", room_beside());
    for pattern in PATTERNS {
        let mut command = Command::new(std::env::var_os("RG").unwrap_or_else(|| "rg".into()));
        command.args(["-n", "-i", "--no-ignore", "--hidden", "-g", "!.git", pattern]).arg(&theirs);
        let rg = least(&command, || {});
        let us = least(&servers.codelode(&ours, &["grep", url, pattern]), || {});
        report!(
            "| `{pattern}` | {:.0}, {:.0} | {:.0}, {:.0} | {:.2} | {:.2} |",
            rg.wall * 1e3,
            rg.cpu * 1e3,
            us.wall * 1e3,
            us.cpu * 1e3,
            us.wall / rg.wall,
            us.cpu / rg.cpu
        );
    }
}

/// Rows: an index that is of the commit already, one that is a commit behind, and the search of a clone that was updated often.
fn index(origin: &Path, urls: [&str; 2], servers: &Servers, folder: &Path) {
    let homes = ["index-git", "index-https"].map(|name| folder.join(name));
    let both = |measure: &dyn Fn(&Command) -> String, command: &[&str]| {
        let one = |at: usize| {
            let arguments: Vec<&str> =
                command.iter().map(|word| if *word == "URL" { urls[at] } else { word }).collect();
            measure(&servers.codelode(&homes[at], &arguments))
        };
        format!("{} | {}", one(0), one(1))
    };
    let once = |command: &Command| {
        let (took, answer) = timed(command, Stdio::piped());
        let answer: Value = serde_json::from_slice(&answer).expect("it answers in JSON");
        assert_eq!(answer["success"], true, "{answer}");
        let inside = answer["duration_seconds"].as_f64().expect("it says how long it took") * 1e3;
        let all = took.wall * 1e3;
        format!("{all:.0}, of it {inside:.0} finding and parsing, {:.0} beyond", all - inside)
    };
    let warm = |command: &Command| {
        let took = least(command, || {});
        format!("{:.0}, {:.0} CPU", took.wall * 1e3, took.cpu * 1e3)
    };
    report!("| for the first time | {} |", both(&once, &["index-repo", "URL"]));
    report!("| nothing changed | {} |", both(&warm, &["index-repo", "URL"]));
    report!("| searched | {} |", both(&warm, &["grep", "URL", PATTERNS[0]]));
    for update in 0..UPDATES {
        fs::write(origin.join("fmt/print.go"), format!("package fmt\n\nfunc Added{update}() {{}}\n"))
            .expect("it is ours");
        save(origin);
        let row = both(&once, &["index-repo", "URL"]);
        if update % (UPDATES / 6) == 0 {
            report!("| {update} commits later, one more | {row} |");
        }
    }
    report!(
        "| searched after {UPDATES} updates | {} |",
        both(&warm, &["grep", "URL", "--ref-name", "main", PATTERNS[0]])
    );
}
