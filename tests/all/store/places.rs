//! Where an index may lie: on a full disk, where nothing can be written, elsewhere than it was made.

use std::fs;
use std::process::Command;

use codelode::store::Registry;
use serde_json::{Value, json};

use super::{Place, Ran, Server, State, module, modules, names, snapshot, state_of};

#[test]
fn without_room_a_run_says_so_and_the_old_state_answers() {
    let (old, new) = (modules(20, 0), modules(20, 1));
    let place = Place::holding(&old);
    place.rewrite(&old, &new);
    let stores = place.index().join("codelode/stores");
    let files = names(&stores);
    // Files may grow to so many KiB: the first that is too large is another one each time.
    for limit in [0, 1, 2, 3, 4, 5] {
        let script = format!("trap '' XFSZ; ulimit -f {limit}; exec \"$codelode\" index .");
        let ran = Ran::of(&mut place.shell(&script));
        assert_eq!(ran.status, 2, "{limit} KiB: {} {}", ran.out, ran.err);
        assert!(ran.err.contains("File too large"), "{limit} KiB: {}", ran.err);
        assert_eq!(place.held(), old, "{limit} KiB");
        assert_eq!(names(&stores), files, "{limit} KiB: nothing is left that takes room from the next run");
    }
    let script = "trap '' XFSZ; ulimit -f 0; exec \"$codelode\" --json search marker_part_0_module_0_py_0";
    let ran = Ran::of(&mut place.shell(script));
    let answer: Value = serde_json::from_str(&ran.out).unwrap_or_else(|err| panic!("{err}: {} {}", ran.out, ran.err));
    assert_eq!(answer["results"][0]["name"], "marker_part_0_module_0_py_0", "{answer}");
    assert_eq!(answer["_meta"]["freshness"], "stale", "{answer}");
    assert!(answer["_meta"]["stale_because"].as_str().is_some_and(|why| why.contains("too large")), "{answer}");
    // With room again, all is well.
    place.found(&["index", "."]);
    assert_eq!(place.held(), new);
}

#[test]
fn on_a_full_disk_a_run_says_so_and_the_old_state_answers() {
    let (old, new) = (modules(20, 0), modules(20, 1));
    let place = Place::holding(&old);
    if !place.can_mount() {
        return crate::client::skipped("a small file system cannot be mounted");
    }
    place.rewrite(&old, &new);
    let script = r#"
        mkdir disk after && mount -t tmpfs -o size=4m none disk && cp -a index/. disk/ || exit 9
        export CODELODE_INDEX_PATH=$PWD/disk
        dd if=/dev/zero of=disk/ballast bs=4k status=none 2>/dev/null
        cd source
        "$codelode" index . ; echo "index: $?"
        "$codelode" --quiet search marker_part_0_module_0_py_0 >/dev/null; echo "search: $?"
        cd .. && cp -a disk/codelode after/ && rm disk/ballast && cd source
        "$codelode" index . >/dev/null; echo "with room: $?"
        "$codelode" --quiet search marker_part_0_module_0_py_1 >/dev/null; echo "search: $?"
    "#;
    let ran = Ran::of(place.mounting_shell(script).current_dir(place.path()));
    let told: Vec<&str> = ran.out.lines().filter(|line| line.contains(": ")).collect();
    assert_eq!(told, ["index: 2", "search: 0", "with room: 0", "search: 0"], "{} {}", ran.out, ran.err);
    assert!(ran.err.contains("No space left on device") && ran.err.contains("free disk space, or"), "{}", ran.err);
    assert!(!ran.err.contains("rebuild it"), "{}", ran.err);
    let after = snapshot(&place.path().join("after"), &place.source()).expect("the old state is whole");
    assert_eq!(state_of(&after), old);
}

#[test]
fn where_the_index_directory_cannot_be_written_another_is_used_and_said() {
    let place = Place::new();
    place.rewrite(&State::new(), &modules(3, 0));
    fs::write(place.path().join("file"), "in the way").expect("it is ours");
    let run = |args: &[&str]| {
        let mut command = place.command(args);
        command.env("CODELODE_INDEX_PATH", place.path().join("file/index")).env_remove("XDG_STATE_HOME");
        let ran = Ran::of(&mut command);
        assert!(
            ran.status == 0 && ran.err.contains("cannot be written; indexes are kept in"),
            "{} {}",
            ran.out,
            ran.err
        );
        ran.out
    };
    run(&["index", "."]);
    let state_folder = place.path().join(".local/state/code-index");
    let made = snapshot(&state_folder, &place.source()).expect("it is in the user's state folder");
    assert_eq!(state_of(&made), modules(3, 0));
    assert!(run(&["search", "marker_part_0_module_0_py_0"]).contains("module_0.py"));
}

#[test]
fn an_index_directory_that_is_not_used_is_not_indexed_and_its_settings_hold() {
    let place = Place::new();
    place.rewrite(&State::new(), &modules(3, 0));
    let wanted = place.source().join("wanted/codelode");
    fs::create_dir_all(wanted.join("stores")).expect("the folder is new");
    fs::write(wanted.join("stores/notes.txt"), "text_of_another_source").expect("it is ours");
    fs::write(wanted.join("repos"), "in the way").expect("it is ours");
    fs::write(wanted.join("config.toml"), "extra_ignore = ['part_0/']\n").expect("it is ours");
    let run = |args: &[&str]| {
        let mut command = place.command(args);
        command.env("CODELODE_INDEX_PATH", place.source().join("wanted")).env_remove("XDG_STATE_HOME");
        Ran::of(&mut command).out
    };
    let told = run(&["index", "."]);
    assert!(told.contains("new indexes are kept in"), "{told}");
    for (word, is_there) in [("marker_part_1_module_1", true), ("text_of_another_source", false), ("part_0_", false)] {
        let found: Value =
            serde_json::from_str(&run(&["call", "search_text", &json!({"query": word}).to_string(), "--json"]))
                .expect("an answer");
        assert_eq!(found["result_count"] != 0, is_there, "{word}: {found}");
    }
    let settings: Value = serde_json::from_str(&run(&["config", "--json"])).expect("an answer");
    assert_eq!(settings["user_file"], json!(wanted.join("config.toml")), "{settings}");
}

/// A way to run a script.
type Shell = fn(&Place, &str) -> Command;

/// A command that makes the index directory read-only for a shell; `None` where neither way is open.
fn read_only(place: &Place) -> Option<(Shell, &'static str)> {
    if place.can_mount() {
        let mount = "mount --bind \"$CODELODE_INDEX_PATH\" \"$CODELODE_INDEX_PATH\" \
                     && mount -o remount,bind,ro \"$CODELODE_INDEX_PATH\" || exit 9; ";
        return Some((|place, script| place.mounting_shell(script), mount));
    }
    // Permissions bind everybody but root.
    let probe = Ran::of(&mut place.shell("chmod a-w ../index && touch ../index/probe; chmod u+w ../index"));
    let binds = probe.err.contains("denied");
    let chmod = "trap 'chmod -R u+w \"$CODELODE_INDEX_PATH\"' EXIT; chmod -R a-w \"$CODELODE_INDEX_PATH\"; ";
    binds.then_some((|place, script| place.shell(script), chmod))
}

#[test]
fn an_index_that_cannot_be_written_is_read() {
    let (old, new) = (modules(6, 0), modules(6, 1));
    let place = Place::holding(&old);
    let Some((shell, prepare)) = read_only(&place) else {
        return crate::client::skipped("nothing keeps this user from writing");
    };
    let stats = place.index().join("codelode/stats.json");
    let counted = fs::read(&stats).ok();
    let search = format!("{prepare} \"$codelode\" --json search marker_part_1_module_1_py_0");
    let ask = || {
        let ran = Ran::of(&mut shell(&place, &search));
        assert!(!ran.err.contains("panicked"), "{}", ran.err);
        serde_json::from_str::<Value>(&ran.out).unwrap_or_else(|err| panic!("{err}: {} {}", ran.out, ran.err))
    };
    let answer = ask();
    assert_eq!(answer["results"][0]["name"], "marker_part_1_module_1_py_0", "{answer}");
    assert_eq!(answer["_meta"]["freshness"], "fresh", "{answer}");

    place.rewrite(&old, &new);
    let answer = ask();
    assert_eq!(answer["results"][0]["name"], "marker_part_1_module_1_py_0", "{answer}");
    assert_eq!(answer["_meta"]["freshness"], "stale", "{answer}");
    assert!(answer["_meta"]["stale_files"].to_string().contains("part_1/module_1.py"), "{answer}");
    // A server is asked again within the time in which it does not look again: what it could not read is still old.
    let mut server = Server::start(shell(&place, &format!("{prepare} \"$codelode\" serve")));
    for _ in 0..2 {
        let answer = server.call("suggest_queries", json!({}));
        assert_eq!(answer["_meta"]["freshness"], "stale", "{answer}");
    }
    server.close();
    assert_eq!(fs::read(&stats).ok(), counted, "nothing is counted where nothing can be written");

    // A new index is made elsewhere, and takes the place of the old one.
    let ran = Ran::of(&mut shell(&place, &format!("{prepare} \"$codelode\" index .")));
    assert!(ran.status == 0 && ran.out.contains("new indexes are kept in"), "{} {}", ran.out, ran.err);
    let answer = ask();
    assert_eq!(answer["_meta"]["freshness"], "fresh", "{answer}");
    assert_eq!(place.held(), old);
}

#[test]
fn an_index_works_where_it_was_copied_to() {
    let place = Place::holding(&modules(6, 0));
    let (there, here) = (place.source(), place.path().join("elsewhere/moved"));
    fs::create_dir(place.path().join("elsewhere")).expect("the folder is new");
    let copied = place.path().join("copied");
    assert!(Ran::of(Command::new("cp").arg("-a").arg(place.index()).arg(&copied)).status == 0);
    fs::rename(&there, &here).expect("both are ours");
    fs::remove_dir_all(place.index()).expect("it is ours");
    let map = format!("/no/such=/place,{}={}", there.display(), here.display());
    let ask = |tool: &str, args: Value| {
        let mut command = place.command(&["call", "--json", tool, &args.to_string()]);
        command.env("CODELODE_INDEX_PATH", &copied).env("CODELODE_PATH_MAP", &map).current_dir(place.path());
        let ran = Ran::of(&mut command);
        serde_json::from_str::<Value>(&ran.out).unwrap_or_else(|err| panic!("{err}: {} {}", ran.out, ran.err))
    };

    let repo = ask("resolve_repo", json!({"path": here.join("part_0")}));
    assert_eq!(repo["indexed"], true, "{repo}");
    assert_eq!(repo["source_root"], json!(here), "{repo}");
    let found = ask("search_symbols", json!({"repo": here, "query": "marker_part_1_module_1_py_0"}));
    assert_eq!(found["_meta"]["freshness"], "fresh", "{found}");
    let id = &found["results"][0]["id"];
    assert_eq!(id, "part_1/module_1.py::marker_part_1_module_1_py_0#function", "{found}");
    let symbol = ask("get_symbol_source", json!({"repo": here, "symbol_id": id, "verify": true}));
    assert_eq!(symbol["source"], module("part_1/module_1.py", 0).trim_end(), "{symbol}");
    assert_eq!(symbol["_meta"]["content_verified"], true, "{symbol}");

    // An edit is looked for where the sources are now.
    fs::write(here.join("part_1/module_1.py"), module("part_1/module_1.py", 5)).expect("it is ours");
    let found = ask("search_symbols", json!({"repo": here, "query": "marker_part_1_module_1_py_5"}));
    assert_eq!(found["results"][0]["name"], "marker_part_1_module_1_py_5", "{found}");
    assert_eq!(found["_meta"]["freshness"], "fresh", "{found}");
    assert_eq!(Registry::new(copied.join("codelode")).all().len(), 1, "it is still one repository");

    // Without sources, the stored text answers.
    fs::remove_dir_all(&here).expect("it is ours");
    let repo = repo["repo"].clone();
    let symbol = ask("get_symbol_source", json!({"repo": repo, "symbol_id": id}));
    assert_eq!(symbol["code"], "not_found", "that name was edited away: {symbol}");
    let found = ask("search_symbols", json!({"repo": repo, "query": "marker_part_1_module_1_py_5"}));
    let symbol = ask("get_symbol_source", json!({"repo": repo, "symbol_id": found["results"][0]["id"]}));
    assert_eq!(symbol["source"], module("part_1/module_1.py", 5).trim_end(), "{symbol}");
    assert_ne!(symbol["_meta"]["freshness"], "fresh", "nobody can tell: {symbol}");
    let file = ask("get_file_content", json!({"repo": repo, "file_path": "part_2/module_2.py"}));
    assert!(file["content"].as_str().is_some_and(|text| text.contains("marker_part_2_module_2_py_0")), "{file}");
}
