//! A folder of sources with an index directory beside it, where the program is run and its tools are called.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::thread;
use std::time::{Duration, SystemTime};

use codelode::config::Config;
use codelode::tools::{self, Context, Request};
use serde_json::Value;

use crate::client::PATIENCE;

/// Sources, and an index directory beside them.
pub struct Place {
    folder: tempfile::TempDir,
    /// Other programs are out of the program's reach.
    is_alone: bool,
}

impl Place {
    /// Sources without a file.
    pub fn new() -> Self {
        let place = Self { folder: tempfile::tempdir().expect("there is room for a folder"), is_alone: false };
        fs::create_dir(place.source()).expect("the folder is new");
        place
    }

    /// Sources of these files.
    pub fn of<T: AsRef<[u8]>>(files: &[(&str, T)]) -> Self {
        let place = Self::new();
        for (path, text) in files {
            place.write(path, text);
        }
        place
    }

    /// Sources in an empty repository of git. The program, which needs no executable of git, finds none.
    pub fn repository() -> Self {
        let place = Self { is_alone: true, ..Self::new() };
        place.git(&["init", "-q", "-b", "main"]);
        place
    }

    /// The folder of both. Where a temporary folder lies behind a link, an index names the link's target.
    pub fn path(&self) -> PathBuf {
        self.folder.path().canonicalize().expect("the folder is there")
    }

    pub fn source(&self) -> PathBuf {
        self.path().join("source")
    }

    /// The index directory, as a user sets it.
    pub fn index(&self) -> PathBuf {
        self.path().join("index")
    }

    /// The program's own folder in the index directory.
    pub fn home(&self) -> PathBuf {
        self.index().join("codelode")
    }

    /// Settings of a process that uses the same index.
    pub fn config(&self) -> Config {
        Config { home: self.home(), ..Config::default() }
    }

    pub fn write(&self, path: &str, text: &(impl AsRef<[u8]> + ?Sized)) -> &Self {
        let path = self.source().join(path);
        fs::create_dir_all(path.parent().expect("a file lies in a folder")).expect("folders can be made");
        fs::write(path, text).expect("files can be written");
        self
    }

    /// Makes all sources an hour old: files that were written a moment ago are read twice.
    pub fn age(&self) {
        let then = SystemTime::now() - Duration::from_secs(3600);
        let mut folders = vec![self.source()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(&folder).expect("it is there").flatten() {
                if entry.path().is_dir() {
                    folders.push(entry.path());
                } else {
                    let file = File::options().write(true).open(entry.path()).expect("it is ours");
                    file.set_modified(then).expect("times can be set");
                }
            }
            File::open(folder).expect("it is there").set_modified(then).expect("times can be set");
        }
        // The system's own times cannot be set: they grow old by themselves.
        thread::sleep(Duration::from_millis(60));
    }

    /// Runs git in the sources.
    pub fn git(&self, args: &[&str]) -> String {
        git(&self.source(), args)
    }

    /// Commits everything and returns the commit's hash.
    pub fn commit(&self, title: &str) -> String {
        self.git(&["add", "-A", "."]);
        self.git(&["commit", "-q", "-m", title]);
        self.git(&["rev-parse", "HEAD"])
    }

    /// Gives a command the environment of this place, and no setting of the machine.
    pub fn at_home(&self, mut command: Command) -> Command {
        command.current_dir(self.source()).stdin(Stdio::null());
        command.env("HOME", self.path()).env("CODELODE_INDEX_PATH", self.index());
        for name in ["CODELODE_FRESHNESS", "CODELODE_LOG", "CODELODE_PATH_MAP", "CODELODE_TOOLS", "NO_COLOR"] {
            command.env_remove(name);
        }
        command
    }

    /// The program, to be run in the sources.
    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_codelode"));
        command.args(args);
        if self.is_alone {
            command.env("PATH", "/nowhere");
        }
        self.at_home(command)
    }

    /// Runs the program.
    pub fn run(&self, args: &[&str]) -> Ran {
        Ran::of(&mut self.command(args))
    }

    /// Runs the program in another folder.
    pub fn run_in(&self, folder: impl AsRef<Path>, args: &[&str]) -> Ran {
        Ran::of(self.command(args).current_dir(folder))
    }

    /// Runs the program, which must succeed, and returns what it prints.
    pub fn found(&self, args: &[&str]) -> String {
        let ran = self.run(args);
        assert_eq!(ran.status, 0, "{args:?}: {} {}", ran.out, ran.err);
        ran.out
    }

    /// Calls a tool in a process of its own.
    pub fn call(&self, tool: &str, args: Value) -> Value {
        self.run(&["call", "--json", tool, &args.to_string()]).json()
    }

    /// The state of a process that calls tools.
    pub fn context(&self) -> Context {
        Context::new(self.config())
    }

    /// Calls a tool in this process, from the folder of the sources. The answer is no error.
    pub fn ask(&self, cx: &Context, tool: &str, args: Value) -> Value {
        let answer = called(cx, &self.source(), tool, args);
        assert!(!answer.is_error, "{tool}: {}", answer.text);
        answer.value
    }
}

/// Calls a tool in this process, from a folder.
pub fn called(cx: &Context, folder: &Path, tool: &str, args: Value) -> tools::Envelope {
    let Value::Object(args) = args else { panic!("arguments are an object") };
    let request = Request { directory: Some(folder.to_owned()), patience: Some(PATIENCE), ..Request::default() };
    tools::call(cx, tool, args, &request)
}

/// Runs git in a folder, without settings of the machine.
pub fn git(folder: &Path, args: &[&str]) -> String {
    git_at(folder, "2024-01-01T00:00:00Z", args)
}

/// Runs git at a time.
pub fn git_at(folder: &Path, date: &str, args: &[&str]) -> String {
    let mut command = Command::new("git");
    command.arg("-C").arg(folder).args(["-c", "user.name=Ann", "-c", "user.email=ann@b.c"]).args(args);
    command.env("GIT_AUTHOR_DATE", date).env("GIT_COMMITTER_DATE", date);
    let output = command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1").output();
    let output = output.expect("git is installed where tests run");
    assert!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

/// The end of a run: its status, and what it printed.
#[derive(Debug, PartialEq, Eq)]
pub struct Ran {
    pub status: i32,
    pub out: String,
    pub err: String,
}

impl Ran {
    /// Runs a command.
    pub fn of(command: &mut Command) -> Self {
        command.output().expect("the program is there").into()
    }

    /// The output, as JSON.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|err| panic!("{err}: {} {}", self.out, self.err))
    }
}

impl From<Output> for Ran {
    fn from(output: Output) -> Self {
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("it prints text");
        Self { status: output.status.code().unwrap_or(-1), out: text(output.stdout), err: text(output.stderr) }
    }
}
