//! The `rg` and the `grep` of `codelode shim` beside ripgrep and GNU grep: bytes, exit status and errors are the same, whatever the index knows.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use crate::place::Place;

/// A project of many files with an index, a shim, and a real ripgrep that notes how it was called.
struct Shimmed {
    place: Place,
}

impl Shimmed {
    /// `None` where ripgrep is not installed.
    fn new() -> Option<Self> {
        let path = std::env::var_os("PATH")?;
        let mut programs = std::env::split_paths(&path).map(|folder| folder.join("rg"));
        let Some(real) = programs.find(|path| path.is_file()) else {
            crate::client::skipped("ripgrep is not installed");
            return None;
        };
        let place = Self { place: Place::new() };
        for folder in ["bin", "shim", "source/.git"] {
            fs::create_dir_all(place.path(folder)).expect("there is room");
        }
        let script =
            format!("#!/bin/sh\necho \"$@\" >> '{}'\nexec '{}' \"$@\"\n", place.path("log").display(), real.display());
        place.program("bin/rg", &script);
        let script =
            format!("#!/bin/sh\necho \"$@\" >> '{}'\nexec /usr/bin/grep \"$@\"\n", place.path("log").display());
        place.program("bin/grep", &script);
        for nth in 0..620 {
            let text = format!("def function_{nth}(x):\n    # Total of {nth}\n    return total(x) + {nth}\n");
            place.write(
                &format!("src/module_{nth}.py"),
                if nth % 40 == 0 { &text } else { "def nothing():\n    pass\n" },
            );
        }
        place.write(
            "docs/page.md",
            "# Total\n\nThe total price, and the_total.\n\n\n\nAnother function_1 here.\nlast total",
        );
        place.write("docs/windows.txt", "first total\r\nsecond\r\n");
        place.write(".hidden/total.txt", "hidden total\n");
        place.write("ignored.txt", "ignored total\n");
        place.write(".gitignore", "ignored.txt\n");
        place.write("pyproject.lock", "total = 1\n");
        place.place.write("image.bin", b"\x89PNG\0\0total\n");
        place.codelode(&["index", ".", "--quiet"]);
        place.codelode(&["shim", "--install", &place.path("shim").to_string_lossy()]);
        Some(place)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.place.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        self.place.write(name, text);
    }

    fn program(&self, name: &str, script: &str) {
        fs::write(self.path(name), script).expect("there is room");
        fs::set_permissions(self.path(name), fs::Permissions::from_mode(0o755)).expect("it is ours");
    }

    /// A command in the project, with the noting ripgrep before the system's.
    fn command(&self, program: &Path, args: &[&str]) -> Command {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let folders = [self.path("shim"), self.path("bin")].into_iter().chain(std::env::split_paths(&path));
        let path = std::env::join_paths(folders).expect("no folder has a colon in its name");
        let mut command = Command::new(program);
        command.args(args).env("PATH", path).env_remove("RIPGREP_CONFIG_PATH");
        // As if the project were a large one.
        command.env("CODELODE_SHIM_FROM_FILES", "500");
        self.place.at_home(command)
    }

    fn codelode(&self, args: &[&str]) -> Output {
        let ran = self.command(Path::new(env!("CARGO_BIN_EXE_codelode")), args).output().expect("it is built");
        assert!(ran.status.success(), "{args:?}: {}", String::from_utf8_lossy(&ran.stderr));
        ran
    }

    /// Compares the answers to a command line; returns whether the index was used.
    fn check(&self, line: &str) -> bool {
        let args: Vec<&str> = line.split('|').collect();
        let theirs = self.command(&self.path("bin/rg"), &args).output().expect("it runs");
        fs::write(self.path("log"), "").expect("it is ours");
        let ours = self.command(&self.path("shim/rg"), &args).output().expect("it runs");
        // Files come in any order, as threads finish.
        assert_eq!(sorted(&ours.stdout), sorted(&theirs.stdout), "{line}");
        assert_eq!(sorted(&ours.stderr), sorted(&theirs.stderr), "{line}");
        assert_eq!(ours.status.code(), theirs.status.code(), "{line}");
        let log = fs::read_to_string(self.path("log")).expect("it was written");
        log.lines().all(|line| line.starts_with("--no-config --files"))
    }
}

fn sorted(printed: &[u8]) -> Vec<&[u8]> {
    let mut lines: Vec<&[u8]> = printed.split_inclusive(|byte| *byte == b'\n').collect();
    lines.sort_unstable();
    lines
}

#[test]
fn searches_are_ripgreps_with_and_without_the_index() {
    let Some(place) = Shimmed::new() else { return };
    let served = [
        "total",
        "-n|total",
        "-n|-i|TOTAL",
        "-w|total",
        "-l|total|src",
        "-c|function_1",
        "-o|-n|function_[0-9]+0|.",
        "-F|total(x)",
        "-e|total|-e|price|docs",
        "-n|-A1|-B2|total|src|docs",
        "-C|2|-n|price",
        "-S|Total",
        "-g|*.md|total",
        "-g|!docs|-n|total",
        "--hidden|total",
        "--no-ignore|-l|total",
        "-H|price",
        "-I|total|docs",
        "-m1|total",
        "-q|total",
        "nowhere_at_all",
        "-l|nowhere_at_all|src",
        "return\\s+total\\(",
        "total|./src",
        "total|src/",
        "function_[48]0\\b",
        "-n|--no-heading|--color=never|total",
        "-i|-w|total|docs",
    ];
    for line in served {
        assert!(place.check(line), "the index knows enough for {line}");
    }
    let left = [
        "total|docs/page.md",
        "total|-v",
        "-U|total",
        "--sort|path|total",
        "-r|x|total",
        "--files",
        "total|nowhere",
        "[",
        "-P|total",
        "--type-list",
        "--version",
        "total|src|src/module_0.py",
        ".",
        "",
        "--max-depth|1|total",
        "-ttotal|total",
        "-e",
        "a|.",
        "-uu|total",
        "--pre|cat|total",
        "-z|total",
        "-trust|total",
        "total|-",
    ];
    for line in left {
        assert!(!place.check(line), "{line} is left to ripgrep");
    }
}

#[test]
fn changes_since_the_index_are_seen() {
    let Some(place) = Shimmed::new() else { return };
    place.write("src/module_1.py", "total = 'edited'\n");
    place.write("src/new.py", "total = 'new'\n");
    fs::remove_file(place.path("source/src/module_40.py")).expect("it is there");
    fs::rename(place.path("source/src/module_80.py"), place.path("source/src/module_2.py")).expect("both are ours");
    place.write("docs/.ignore", "windows.txt\n");
    symlink("../docs/page.md", place.path("source/src/link.py")).expect("there is room");
    for line in ["total", "-n|-C1|total", "-c|total|src", "-l|edited"] {
        assert!(place.check(line), "{line}");
    }
    // A file that is no text is for ripgrep to warn of, which its versions do in their own words.
    let half = [&b"total\n"[..], &b"A line of text.\n".repeat(20_000), b"\0\0\n"].concat();
    fs::write(place.path("source/src/half.py"), half).expect("there is room");
    assert!(!place.check("total"));
    // So is a folder that cannot be read.
    fs::remove_file(place.path("source/src/half.py")).expect("it is there");
    fs::set_permissions(place.path("source/docs"), fs::Permissions::from_mode(0o000)).expect("it is ours");
    place.check("total");
    fs::set_permissions(place.path("source/docs"), fs::Permissions::from_mode(0o755)).expect("it is ours");
}

#[test]
fn piped_input_and_outputs_are_as_ripgrep_has_them() {
    let Some(place) = Shimmed::new() else { return };
    let fed = |program: &str| {
        let mut command = place.command(&place.path(program), &["-n", "total"]);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it runs");
        child.stdin.take().expect("it is piped").write_all(b"one\ntotal two\n").expect("it reads");
        child.wait_with_output().expect("it ends")
    };
    assert_eq!(fed("shim/rg").stdout, fed("bin/rg").stdout);
    // Output into a file of the project is not searched for itself.
    let into = |program: &str| {
        let out = fs::File::create(place.path("source/out.txt")).expect("there is room");
        let status = place.command(&place.path(program), &["total"]).stdout(out).status().expect("it runs");
        (status.code(), fs::read(place.path("source/out.txt")).map(|text| sorted(&text).len()).expect("it is there"))
    };
    assert_eq!(into("shim/rg"), into("bin/rg"));
    fs::remove_file(place.path("source/out.txt")).expect("it is there");
    // A reader that stops is no failure.
    let script = "rg total | head -n 1 | wc -l";
    let ran = place.command(Path::new("sh"), &["-c", script]).output().expect("it runs");
    assert_eq!((ran.status.success(), String::from_utf8_lossy(&ran.stdout).trim()), (true, "1"));
    // A configuration of ripgrep is ripgrep's to read.
    fs::write(place.path("config"), "--ignore-case\n").expect("there is room");
    let ran = |program: &str| {
        place.command(&place.path(program), &["-c", "TOTAL"]).env("RIPGREP_CONFIG_PATH", place.path("config")).output()
    };
    let (ours, theirs) = (ran("shim/rg").expect("it runs"), ran("bin/rg").expect("it runs"));
    assert_eq!(sorted(&ours.stdout), sorted(&theirs.stdout));
}

#[test]
fn a_shim_finds_the_real_program_and_not_itself() {
    let Some(place) = Shimmed::new() else { return };
    // A wrapper that looks ripgrep up again finds the shim, and then the next one.
    place.program("bin/rg", "#!/bin/sh\nexec rg \"$@\"\n");
    let ran = place.command(&place.path("shim/rg"), &["-U", "price", "docs"]).output().expect("it runs");
    assert_eq!(String::from_utf8_lossy(&ran.stdout), "docs/page.md:The total price, and the_total.\n");
    // Without the real program the shim says what a shell says.
    let mut alone = place.command(&place.path("shim/rg"), &["total"]);
    let ran = alone.env("PATH", place.path("shim")).output().expect("it runs");
    assert_eq!((ran.status.code(), ran.stdout.len()), (Some(127), 0));
    assert_eq!(String::from_utf8_lossy(&ran.stderr), "rg: command not found\n");
    // A lone wrapper does not go round for ever.
    let only =
        std::env::join_paths([place.path("shim"), place.path("bin"), PathBuf::from("/nowhere")]).expect("no colons");
    place.program("bin/rg", "#!/bin/sh\nrg \"$@\"\n");
    let mut round = place.command(Path::new("/bin/sh"), &["-c", "exec rg -U total"]);
    assert_eq!(round.env("PATH", only).output().expect("it ends").status.code(), Some(127));
}

#[test]
fn links_are_made_and_removed_with_care() {
    let Some(place) = Shimmed::new() else { return };
    let shim = |args: &[&str]| {
        place
            .command(Path::new(env!("CARGO_BIN_EXE_codelode")), &[&["shim"], args].concat())
            .output()
            .expect("it is built")
    };
    let folder = place.path("shim").to_string_lossy().into_owned();
    assert!(shim(&["--install", &folder]).status.success(), "a second time changes nothing");
    assert!(shim(&["--uninstall", &folder]).status.success() && !place.path("shim/rg").exists());
    assert_eq!(shim(&["--uninstall", &folder]).status.code(), Some(2), "there is nothing to remove");
    let taken = place.path("bin").to_string_lossy().into_owned();
    let refused = shim(&["--install", &taken]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("is no link of codelode"));
    assert_eq!(shim(&["--uninstall", &taken]).status.code(), Some(2), "ripgrep itself is never removed");
}

/// Compares the answers of both to a command line of grep, byte by byte; returns whether the index spared files.
fn check_grep(place: &Shimmed, line: &str) -> bool {
    let args: Vec<&str> = line.split(';').collect();
    let theirs = place.command(&place.path("bin/grep"), &args).output().expect("it runs");
    let all = fs::read_to_string(place.path("log")).expect("it was written");
    fs::write(place.path("log"), "").expect("it is ours");
    let ours = place.command(&place.path("shim/grep"), &args).output().expect("it runs");
    let log = fs::read_to_string(place.path("log")).expect("it was written");
    fs::write(place.path("log"), "").expect("it is ours");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert_eq!(text(&ours.stdout), text(&theirs.stdout), "{line}");
    assert_eq!(text(&ours.stderr), text(&theirs.stderr), "{line}");
    assert_eq!(ours.status.code(), theirs.status.code(), "{line}");
    log.contains("/dev/null") && !all.contains("/dev/null")
}

#[test]
fn recursive_searches_are_greps_byte_by_byte() {
    let Some(place) = Shimmed::new() else { return };
    if !Path::new("/usr/bin/grep").exists() {
        return crate::client::skipped("GNU grep is not installed");
    }
    let served = [
        "-rn;total;.",
        "-rn;total",
        "-r;total;src",
        "-rn;total;src/;docs",
        "-rl;total;./src",
        "-rni;TOTAL;--include=*.py;.",
        "-rnw;total;.;--exclude-dir=docs;--exclude-dir=.git",
        "-rn;--include=*.md;--include=*.txt;total",
        "-rho;function_[0-9]*0;src",
        "-rnE;total|price;.",
        "-rnE;-e;price;-e;function_1;.",
        "-rn;total(x);src",
        "-rF;total(x);src",
        "-rn;-A1;-B;2;total;.",
        "-rn;-C2;price;.",
        "-rm1;total;docs;src",
        "-rq;total;.",
        "-r;nowhere_at_all;.",
        "-rn;return *total;src",
        "-rnI;total;.;--color=auto",
        "-rn;function_48\\b;.",
        "-rn;def \\w*_40;.",
        "-rn;one\\|total;.",
        "-rs;total;.;--exclude=*.py",
        "-rn;the\\_total;.",
        "--recursive;--line-number;--regexp=total;src",
    ];
    for line in served {
        assert!(check_grep(&place, line), "the index knows enough for {line}");
    }
    let left = [
        "-rc;total;src",
        "-rL;total;src",
        "-rv;total;src",
        "-Rn;total;.",
        "total;docs/page.md",
        "-rn;total;docs/page.md",
        "-rn;total;src;nowhere",
        "-rnP;total;.",
        "-rnE;(total);.",
        "-rn;[;.",
        "-rn;a;.",
        "-r",
        "--version",
        "-rn;total;-",
        "-rn;total;--exclude-dir=src;src",
        "-rn;--include=*.py;--exclude=module_1*;total",
    ];
    for line in left {
        assert!(!check_grep(&place, line), "{line} is left to grep");
    }
    place.write("src/module_1.py", "total = 'edited'\n");
    place.write("src/new.py", "total = 'new'\n");
    symlink("../docs/page.md", place.path("source/src/link.py")).expect("there is room");
    symlink("../docs", place.path("source/src/linked")).expect("there is room");
    assert!(check_grep(&place, "-rn;total;.") && check_grep(&place, "-rl;edited"));
    fs::set_permissions(place.path("source/src/module_2.py"), fs::Permissions::from_mode(0o000)).expect("it is ours");
    check_grep(&place, "-rn;total;.");
}

#[test]
fn ripgrep_searches_a_small_project_by_itself() {
    let Some(place) = Shimmed::new() else { return };
    fs::write(place.path("log"), "").expect("it is ours");
    let mut command = place.command(&place.path("shim/rg"), &["total"]);
    let ran = command.env_remove("CODELODE_SHIM_FROM_FILES").output().expect("it runs");
    assert!(ran.status.success());
    assert_eq!(fs::read_to_string(place.path("log")).expect("it was written"), "total\n");
}
