//! The program on a terminal of its own: the picker, editors, interrupts.
#![cfg(unix)]

use std::fs::{self, File};
use std::io::{Read, Write};
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, FromRawFd};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use crate::cli::numbers;
use crate::client::PATIENCE;
use crate::models::{Customer, Provider};

/// A program on a pseudo terminal.
struct Terminal {
    keyboard: File,
    /// The side of the program, kept open so that its settings can be read.
    inside: File,
    child: Child,
    printed: Arc<Mutex<Vec<u8>>>,
}

impl Terminal {
    fn start(mut command: Command, columns: u16, rows: u16) -> Self {
        let (mut outside, mut inside) = (0, 0);
        let mut size = libc::winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
        // SAFETY: what it points to lives, and the two files that it opens are nobody else's.
        let (keyboard, inside) = unsafe {
            assert_eq!(
                libc::openpty(
                    &mut outside,
                    &mut inside,
                    std::ptr::null_mut(),
                    std::ptr::null_mut(),
                    std::ptr::from_mut(&mut size)
                ),
                0,
                "no terminal"
            );
            (File::from_raw_fd(outside), File::from_raw_fd(inside))
        };
        let side = || Stdio::from(inside.try_clone().expect("it is open"));
        command.stdin(side()).stdout(side()).stderr(side()).env("TERM", "xterm-256color");
        // SAFETY: all are plain system calls.
        unsafe {
            command.pre_exec(|| {
                // Tests that run in the background of a shell ignore interrupts, and so would their children.
                libc::signal(libc::SIGINT, libc::SIG_DFL);
                match libc::setsid() >= 0 && libc::ioctl(0, libc::TIOCSCTTY, 0) == 0 {
                    true => Ok(()),
                    false => Err(std::io::Error::last_os_error()),
                }
            });
        }
        let child = command.spawn().expect("it is built");
        let mut screen = keyboard.try_clone().expect("it is open");
        let printed = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&printed);
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(n_read @ 1..) = screen.read(&mut bytes) {
                seen.lock().expect("nobody panics").extend_from_slice(&bytes[..n_read]);
            }
        });
        Self { keyboard, inside, child, printed }
    }

    fn resize(&self, columns: u16) {
        let size = libc::winsize { ws_row: 24, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
        // SAFETY: it reads the size, which lives.
        assert_eq!(unsafe { libc::ioctl(self.keyboard.as_raw_fd(), libc::TIOCSWINSZ, std::ptr::from_ref(&size)) }, 0);
    }

    fn press(&mut self, keys: &str) {
        self.keyboard.write_all(keys.as_bytes()).expect("it is open");
    }

    fn printed(&self) -> String {
        String::from_utf8_lossy(&self.printed.lock().expect("nobody panics")).into_owned()
    }

    /// The letters of the last screen that the picker drew.
    fn screen(&self) -> String {
        let printed = self.printed();
        let last = printed.rsplit("\x1b[?25l").next().unwrap_or_default();
        console::strip_ansi_codes(last).into_owned()
    }

    fn wait_for(&self, what: &str, is_there: impl Fn(&Self) -> bool) {
        let begun = Instant::now();
        while !is_there(self) {
            assert!(begun.elapsed() < PATIENCE, "{what} does not come: {:?}", self.printed());
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
    }

    fn shows(&self, text: &str) {
        self.wait_for(text, |terminal| terminal.screen().contains(text));
    }

    fn ended(&mut self) -> ExitStatus {
        let begun = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().expect("it is our child") {
                return status;
            }
            assert!(begun.elapsed() < PATIENCE, "it does not end: {:?}", self.printed());
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
    }

    /// Whether typed letters are shown, and lines waited for, as usual.
    fn is_as_before(&self) -> bool {
        let mut settings = MaybeUninit::<libc::termios>::uninit();
        // SAFETY: it fills the settings, unless it fails.
        let modes = unsafe {
            assert_eq!(libc::tcgetattr(self.inside.as_raw_fd(), settings.as_mut_ptr()), 0, "it is a terminal");
            settings.assume_init().c_lflag
        };
        modes & (libc::ECHO | libc::ICANON) == libc::ECHO | libc::ICANON
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn a_symbol_is_picked_as_one_types() {
    let place = numbers();
    place.found(&["index", "."]);
    for columns in [80, 140] {
        let mut terminal = Terminal::start(place.command(&["pick"]), columns, 24);
        terminal.shows("3/3");
        terminal.press("ccount");
        terminal.shows("1/3");
        terminal.shows("return add(1, 2)");
        // Keys that come while it draws are for the picker too.
        for _ in 0..100 {
            terminal.press("z");
            assert!((0..100).all(|_| !terminal.is_as_before()), "between two keys the system reads them");
        }
        terminal.press("\x15add");
        terminal.shows("Adds two numbers");
        // Another size is drawn at once, without a key.
        terminal.resize(if columns == 80 { 120 } else { 60 });
        terminal.shows(if columns == 80 { " │ " } else { "────" });
        terminal.press("\r");
        assert!(terminal.ended().success());
        terminal.wait_for("the place", |terminal| terminal.printed().ends_with("numbers.py:1\r\n"));
        assert!(terminal.printed().contains("\x1b[?1049l"), "the first screen is back");
        assert!(terminal.is_as_before());
    }
    let mut terminal = Terminal::start(place.command(&["pick", "counter"]), 80, 24);
    terminal.shows("class Counter");
    terminal.press("\x1b[B");
    terminal.shows("▌ Counter.count");
    terminal.press("\x1b");
    assert_eq!(terminal.ended().code(), Some(1));
    assert!(terminal.is_as_before());
    let alone = place.run(&["pick"]);
    assert!(alone.status == 2 && alone.err.contains("needs a terminal"), "{}", alone.err);
}

#[test]
fn reviews_and_plans_are_shown_in_rows() {
    let place = numbers();
    place.found(&["index", "."]);
    let shown = |args: &[&str]| {
        let mut terminal = Terminal::start(place.command(args), 100, 24);
        assert!(terminal.ended().success(), "{args:?}: {}", terminal.printed());
        terminal.wait_for("the end", |terminal| terminal.printed().contains("numbers.py"));
        let printed = terminal.printed();
        assert!(printed.contains("\x1b[3"), "it is coloured: {printed}");
        console::strip_ansi_codes(&printed).replace('\r', "")
    };
    let plan = shown(&["plan-delete", "add"]);
    assert!(plan.contains("places to edit (2)\n  numbers.py\n"), "{plan}");
    assert!(plan.contains("8  return add(1, 2)  call"), "{plan}");
    let plan = shown(&["plan-signature", "add"]);
    assert!(plan.contains("1  def add(a, b):  definition"), "{plan}");
    // A pipe gets a place a line.
    let piped = place.found(&["plan-delete", "add"]);
    assert!(piped.contains("numbers.py:8:16: call: return add(1, 2)\n"), "{piped}");
}

#[test]
fn clients_are_set_up_once_the_person_agrees() {
    let place = numbers();
    let path = place.path().join(".claude.json");
    fs::write(&path, "{}\n").expect("the folder is ours");
    for (answer, is_written) in [("\n", false), ("no\n", false), ("y\n", true)] {
        let mut terminal = Terminal::start(place.command(&["init"]), 100, 24);
        terminal.wait_for("the question", |terminal| terminal.printed().ends_with("? [y/N] "));
        assert!(terminal.printed().contains("+   \"mcpServers\": {"), "the change is shown first");
        terminal.press(answer);
        assert!(terminal.ended().success());
        let text = fs::read_to_string(&path).expect("it is there");
        assert_eq!(text.contains("codelode"), is_written, "{text}");
    }
}

#[test]
fn answers_fit_the_terminal() {
    let place = numbers();
    let long = format!("def compute_{}(first_argument, second_argument): pass\n", "a_name_".repeat(5));
    fs::write(place.source().join(format!("inner/{}.py", "folder_".repeat(4))), &long).expect("the folder is ours");
    place.found(&["index", "."]);
    for n in 0..12 {
        let folder = place.path().join(format!("folder-{n}")).join("deeper/".repeat(n)).join("repository");
        fs::create_dir_all(&folder).expect("the folder is ours");
        fs::write(folder.join("a.py"), "a = 1\n").expect("the folder is ours");
        place.found(&["index", folder.to_str().expect("it is text")]);
    }
    let mut list = Terminal::start(place.command(&["list"]), 80, 24);
    assert!(list.ended().success());
    list.wait_for("the list", |terminal| terminal.printed().matches("\r\n").count() >= 14);
    assert_eq!(list.printed().matches("\r\n").count(), 14, "a line for each: {}", list.printed());
    let mut list = Terminal::start(place.command(&["list"]), 40, 24);
    assert!(list.ended().success());
    list.wait_for("the list", |terminal| terminal.printed().matches("\r\n").count() >= 3 * 13);
    let printed = console::strip_ansi_codes(&list.printed()).into_owned();
    let wide = printed.lines().find(|line| line.trim_end().chars().count() > 40);
    assert_eq!(wide, None, "on a narrow one lines for each: {printed}");
    for columns in [80, 140] {
        for args in [
            &["search", "compute"][..],
            &["refs", "add"],
            &["calls", "Counter.count"],
            &["blast", "add"],
            &["context", "adds two numbers"],
            &["importance"],
            &["related", "add"],
            &["check", "add", "compute"],
            &["bundle", "Counter.count"],
            &["map"],
            &["deps", "numbers.py"],
            &["suggest"],
            &["stats"],
            &["tree"],
            &["outline", "numbers.py"],
            &["list"],
            &["overview"],
            &["help"],
        ] {
            let mut terminal = Terminal::start(place.command(args), columns, 24);
            assert_ne!(terminal.ended().code(), Some(2), "{}", terminal.printed());
            terminal.wait_for("an answer", |terminal| terminal.printed().ends_with("\r\n"));
            let printed = console::strip_ansi_codes(&terminal.printed()).into_owned();
            let wide = printed.lines().find(|line| line.trim_end().chars().count() > usize::from(columns));
            assert_eq!(wide, None, "{args:?}: {printed}");
        }
    }
}

#[test]
fn colours_in_a_repository_are_shown_as_text() {
    let place = numbers();
    place.write("\x1b[31mred.py", "def painted():\n    return '\x1b[1mbold\x1b[0m'\n");
    place.found(&["index", "."]);
    for args in [
        &["search", "painted"][..],
        &["get", "painted"],
        &["outline", "\x1b[31mred.py"],
        &["list"],
        &["tree"],
        &["text", "return"],
        &["text", "--vimgrep", "return"],
        &["text", "--no-heading", "--color", "never", "return"],
        &["text", "--files"],
        &["outline", "\x1b[31mnone.py"],
        &["\x1b[31mnone"],
        &["search", "--\x1b[31mnone"],
        &["search", "a", "--kind", "\x1b[31mnone"],
        &["export", "--format", "ctags"],
        &["export", "--format", "ndjson"],
    ] {
        let mut terminal = Terminal::start(place.command(args), 100, 24);
        terminal.ended();
        terminal.wait_for("an answer", |terminal| terminal.printed().ends_with('\n'));
        let printed = terminal.printed();
        assert!(!printed.contains("\x1b[31mred") && !printed.contains("\x1b[1mbold"), "{args:?}: {printed:?}");
        assert!(!printed.contains("\x1b[31mnone"), "{args:?}: {printed:?}");
    }
}

#[test]
fn hits_open_in_the_editor() {
    let place = numbers();
    place.found(&["index", "."]);
    let editor = place.path().join("vim");
    let told = place.path().join("told");
    fs::write(&editor, format!("#!/bin/sh\necho \"$@\" > '{}'\n", told.display())).expect("the folder is ours");
    let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(&editor, executable).expect("it is ours");
    let file = place.source().canonicalize().expect("it is there").join("numbers.py");
    let opened = |args: &[&str]| {
        let _ = fs::remove_file(&told);
        let mut command = place.command(args);
        let ran = command.env("VISUAL", &editor).output().expect("it runs");
        let said = fs::read_to_string(&told).unwrap_or_default().trim().replace(&*file.to_string_lossy(), "FILE");
        (ran.status.code(), said)
    };
    assert_eq!(opened(&["search", "add", "--open"]), (Some(0), "+1 FILE".to_owned()));
    assert_eq!(opened(&["get", "count", "--open"]), (Some(0), "+7 FILE".to_owned()));
    assert_eq!(opened(&["text", "add", "--open"]), (Some(0), "+1 FILE".to_owned()));
    assert_eq!(opened(&["text", "add", "--open=2"]), (Some(0), "+8 FILE".to_owned()));
    assert_eq!(opened(&["refs", "add", "--open"]), (Some(0), "+8 FILE".to_owned()));
    assert_eq!(opened(&["tree", "--open"]), (Some(0), "FILE".to_owned()));
    assert_eq!(opened(&["outline", "numbers.py", "--open=2"]), (Some(0), "+6 FILE".to_owned()));
    assert_eq!(opened(&["search", "zzzyyyxxx", "--open"]), (Some(1), String::new()));
    assert_eq!(opened(&["text", "zzzyyyxxx", "--open"]), (Some(1), String::new()));
    let mut command = place.command(&["pick", "--open", "ccount"]);
    command.env("VISUAL", &editor);
    let _ = fs::remove_file(&told);
    let mut terminal = Terminal::start(command, 80, 24);
    terminal.shows("return add(1, 2)");
    terminal.press("\r");
    assert!(terminal.ended().success());
    assert!(fs::read_to_string(&told).is_ok_and(|told| told.starts_with("+7 ")));
}

#[test]
fn an_interrupt_leaves_a_clean_terminal() {
    // A run that comes to no end: some answers of the model come, each after a while, and then no more.
    let provider = Provider::that_ends_after(20);
    let customer = Customer::new(&provider.base);
    let mut terminal = Terminal::start(customer.command(&["embed"]), 100, 24);
    terminal.wait_for("the bar", |terminal| terminal.printed().contains("/40"));
    terminal.press("\x03");
    let status = terminal.ended();
    // A shell says 130 for this.
    assert_eq!(status.signal(), Some(2), "{status}");
    terminal.wait_for("the cleared line", |terminal| terminal.printed().ends_with("\r\x1b[2K\x1b[?25h"));
    // It leaves nothing behind that the doctor finds wrong.
    let checked = customer.place.run(&["doctor"]);
    assert!(checked.status == 0 && checked.out.contains("nothing is wrong"), "{} {}", checked.out, checked.err);
}
