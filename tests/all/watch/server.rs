//! Servers: those that are told to watch, and those that do so by the way.

use std::fs;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use codelode::watch::KeeperAnswer;
use serde_json::json;

use super::{Running, Watched, function};
use crate::client::{Server, signal};

/// Whether a symbol of this name is found; how fresh the answer calls itself.
fn finds(server: &mut Server, name: &str) -> (bool, String) {
    let answer = server.call("search_symbols", json!({"query": name}));
    let found = answer["results"].as_array().is_some_and(|all| all.iter().any(|one| one["name"] == name));
    (found, answer["_meta"]["freshness"].as_str().unwrap_or_default().to_owned())
}

/// Asks until a checkout is kept by somebody.
fn ask_until_kept(server: &mut Server, place: &Watched) {
    place.until("it is kept", || {
        finds(server, "first");
        place.standing() == Some(KeeperAnswer::Fresh)
    });
}

/// An indexed folder, and a server that waits for what it is asked.
fn served(arguments: &[&str]) -> (Watched, Server) {
    let place = Watched::new();
    place.write("a.py", &function("first"));
    place.write("deep/er/b.py", &function("other"));
    place.found(&["index", "."]);
    let mut command = place.command(&["serve"]);
    command.args(arguments).env("CODELODE_FRESHNESS", "strict");
    (place, Server::start(command))
}

#[test]
fn a_server_watches_beside_its_answers() {
    let place = Watched::new();
    place.write("a.py", &function("first"));
    let mut command = place.command(&["serve", "--watcher", "--watcher-debounce", "20", "--watcher-log"]);
    let mut server =
        Running(command.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().expect("the program is built"));
    place.until("it watches", || place.standing() == Some(KeeperAnswer::Fresh));
    place.write("b.py", &function("second"));
    place.until("the new file is held", || place.held() == place.there());
    let log = || fs::read_to_string(place.config().home.join("watch.log")).unwrap_or_default();
    place.until("it is logged", || log().contains("b.py new"));
    drop(server.0.stdin.take());
    assert!(server.0.wait().expect("it ends with its client").success());
    assert_eq!(place.standing(), None);
    let refused = place.command(&["serve", "--watcher-debounce", "20"]).output().expect("the program is built");
    assert_eq!(refused.status.code(), Some(2), "a flag that would do nothing");
}

#[test]
fn a_server_that_is_asked_again_keeps_what_it_is_asked_about() {
    let (place, mut server) = served(&[]);
    finds(&mut server, "first");
    assert_eq!(place.standing(), None, "whoever asks once wants an answer and nothing else");
    ask_until_kept(&mut server, &place);
    // Changes by others are in the very next answer, however soon it comes.
    for n in 0..20 {
        let (path, name) = (["deep/er/b.py", "new/c.py", "a.py"][n % 3], format!("edited_{n}"));
        place.write(path, &function(&name));
        assert_eq!(finds(&mut server, &name), (true, "fresh".to_owned()), "edit {n} of {path}");
    }
    // Another session asks it as well, and looks at nothing.
    let mut other = Server::start(place.command(&["serve"]));
    place.write("a.py", &function("last"));
    place.until("it knows", || finds(&mut other, "last") == (true, "fresh".to_owned()));
    // With its session it ends, and then the other does it.
    server.close();
    assert_eq!(place.standing(), None);
    ask_until_kept(&mut other, &place);
    other.close();
}

#[test]
fn a_server_that_may_not_watch_looks() {
    for (arguments, variable) in [(&["--watcher=false"][..], "true"), (&[], "false")] {
        let place = Watched::new();
        place.write("a.py", &function("first"));
        place.found(&["index", "."]);
        let mut command = place.command(&["serve"]);
        command.args(arguments).env("CODELODE_FRESHNESS", "strict").env("CODELODE_WATCHER", variable);
        let mut server = Server::start(command);
        for n in 0..3 {
            let name = format!("edited_{n}");
            place.write("a.py", &function(&name));
            place.until("it is found", || finds(&mut server, &name).0);
            if n < 2 {
                thread::sleep(Duration::from_millis(1010));
            }
        }
        assert_eq!(place.standing(), None, "nobody keeps it");
        server.close();
    }
}

#[test]
fn a_server_that_is_stopped_keeps_nobody_from_an_answer() {
    let (place, mut server) = served(&[]);
    ask_until_kept(&mut server, &place);
    signal(server.child.id(), libc::SIGSTOP);
    let mut other = Server::start(place.command(&["serve"]));
    for n in 0..3 {
        let name = format!("edited_{n}");
        place.write("a.py", &function(&name));
        place.until("who looks finds it", || finds(&mut other, &name) == (true, "fresh".to_owned()));
    }
    assert_eq!(place.standing(), Some(KeeperAnswer::Mute));
    signal(server.child.id(), libc::SIGCONT);
    place.until("it answers again", || place.standing() == Some(KeeperAnswer::Fresh));
    assert!(finds(&mut server, "edited_2").0);
    other.close();
    server.close();
}

#[test]
fn a_server_that_may_watch_few_folders_leaves_them_to_others() {
    let place = Watched::new();
    for folder in 0..20 {
        place.write(&format!("{folder}/a.py"), &function("first"));
    }
    place.found(&["index", "."]);
    let limited = |most: u32| {
        let script = format!("echo {most} > /proc/sys/user/max_inotify_watches && exec \"$0\" serve");
        let command = place.command(&[]);
        let mut unshared = Command::new("unshare");
        unshared.args(["-Ur", "sh", "-c", &script, env!("CARGO_BIN_EXE_codelode")]).current_dir(place.source());
        for (name, value) in command.get_envs() {
            match value {
                Some(value) => unshared.env(name, value),
                None => unshared.env_remove(name),
            };
        }
        unshared
    };
    if !limited(9).stdin(Stdio::null()).status().is_ok_and(|status| status.success()) {
        return crate::client::skipped("a limit of its own cannot be set here");
    }
    // Twenty-one folders, and one for itself: a quarter of eighty is too few, a quarter of two hundred is enough.
    let mut server = Server::start(limited(80));
    for n in 0..3 {
        let name = format!("edited_{n}");
        place.write("19/a.py", &function(&name));
        place.until("who looks finds it", || finds(&mut server, &name).0);
        thread::sleep(Duration::from_millis(1010));
    }
    assert_eq!(place.standing(), None, "others may need them more");
    server.close();
    let mut server = Server::start(limited(200));
    ask_until_kept(&mut server, &place);
    server.close();
}
