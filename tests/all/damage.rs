//! Damage to an index by others: bytes that changed, files that were cut, clocks that went backwards; and the doctor who
//! finds it. An answer is right, or it says what is wrong and what to do.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};

use crate::client::Server;
use crate::place::{Place, Ran};

/// A small repository whose parts use each other, indexed, and every table of it made.
fn made() -> Place {
    let place = Place::of(&[
        (
            "pkg/base.py",
            "class Base:\n    \"\"\"Holds it.\"\"\"\n\n    def method(self):\n        return shared()\n\n\ndef shared():\n    return 1\n",
        ),
        (
            "pkg/user.py",
            "from pkg.base import Base, shared\n\n\nclass User(Base):\n    def run(self):\n        return shared() + self.method()\n",
        ),
        ("pkg/__init__.py", ""),
        ("notes.md", "shared things are written down here\n"),
    ]);
    place.age();
    assert_eq!(place.strict(&["index", "."]).0, 0);
    place.answers();
    place
}

impl Place {
    /// Runs the program, which compares everything with the folder first: its status, and all that it prints.
    fn strict(&self, args: &[&str]) -> (i32, String) {
        let ran = Ran::of(self.command(args).env("CODELODE_FRESHNESS", "strict"));
        (ran.status, ran.out + &ran.err)
    }

    /// A tool's answer, without what differs between calls.
    fn answered(&self, tool: &str, args: &Value) -> Value {
        let (_, text) = self.strict(&["call", "--json", tool, &args.to_string()]);
        let line = text.lines().find(|line| line.starts_with('{')).unwrap_or_else(|| panic!("{tool}: {text}"));
        let mut answer: Value = serde_json::from_str(line).unwrap_or_else(|err| panic!("{tool}: {err}: {text}"));
        answer.as_object_mut().expect("answers are objects").remove("_meta");
        answer
    }

    /// The answers to questions that read every part of an index.
    fn answers(&self) -> Vec<(&'static str, Value)> {
        let ask = |(tool, args): (&'static str, Value)| (tool, self.answered(tool, &args));
        [
            ("search_symbols", json!({"query": "shared"})),
            ("search_text", json!({"query": "shared"})),
            ("get_symbol_source", json!({"symbol_id": "pkg/base.py::Base.method#method"})),
            ("get_file_content", json!({"file_path": "notes.md"})),
            ("get_file_outline", json!({"file_path": "pkg/user.py"})),
            ("find_references", json!({"identifier": "shared"})),
            ("get_symbol_importance", json!({})),
        ]
        .map(ask)
        .into()
    }

    /// The files of the one store.
    fn store(&self) -> Vec<PathBuf> {
        let stores = self.home().join("stores");
        files(&stores).into_iter().filter(|path| !path.ends_with("lock")).collect()
    }

    fn doctor(&self, args: &[&str]) -> (i32, Value) {
        let (status, text) = self.strict(&[&["doctor", "--json", "--quiet"], args].concat());
        (status, serde_json::from_str(&text).unwrap_or_else(|err| panic!("{err}: {text}")))
    }
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut all = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        match entry.path().is_dir() {
            true => all.extend(files(&entry.path())),
            false => all.push(entry.path()),
        }
    }
    all.sort();
    all
}

fn set_time(path: &Path, time: SystemTime) {
    let file = File::options().write(true).open(path).expect("it is ours");
    file.set_modified(time).expect("times can be set");
}

/// As everywhere: never into a file that somebody may have mapped.
fn replace(path: &Path, bytes: &[u8]) {
    let new = path.with_extension("spoilt~");
    fs::write(&new, bytes).expect("it is ours");
    fs::rename(new, path).expect("it is ours");
}

#[test]
fn what_is_spoilt_never_answers_as_if_it_were_whole() {
    let place = made();
    let good = place.answers();
    for (tool, answer) in &good {
        assert!(answer.get("error").is_none(), "{tool}: {answer}");
    }
    // Another process is writing all the while, so nothing can be made anew.
    let lock = File::options().write(true).open(place.store()[0].parent().expect("it lies in a folder").join("lock"));
    let _lock = lock.map(|lock| lock.lock().map(|()| lock)).expect("it is ours").expect("nobody else writes");
    // A run over every byte takes an hour; daily work tries a few of each file, others each time they are chosen.
    let n_bytes = std::env::var("CODELODE_FLIPS").ok().and_then(|n| n.parse().ok()).unwrap_or(2);
    let (mut told, mut untouched) = (0, 0);
    let mut seed = 0x2545_F491_4F6C_DD1D_u64;
    for path in place.store() {
        let bytes = fs::read(&path).expect("it is there");
        let mut wounds: Vec<Vec<u8>> = Vec::new();
        for _ in 0..n_bytes {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            if !bytes.is_empty() {
                let mut flipped = bytes.clone();
                flipped[(seed >> 33) as usize % bytes.len()] ^= 1 << (seed % 8);
                wounds.push(flipped);
            }
        }
        wounds.push(bytes[..bytes.len() * 2 / 3].to_vec());
        for (wound, spoilt) in wounds.iter().enumerate() {
            replace(&path, spoilt);
            let mut says_so = false;
            for ((tool, right), (_, answer)) in good.iter().zip(place.answers()) {
                if &answer == right {
                    continue;
                }
                let rebuild = answer["details"]["rebuild"].as_str();
                let explains = rebuild.is_some_and(|how| answer["error"].as_str().is_some_and(|why| why.contains(how)));
                assert!(explains, "{}, wound {wound}: {tool} answers {answer}", path.display());
                says_so = true;
            }
            // Derived tables, as the edges, were made again.
            if says_so {
                told += 1;
            } else {
                untouched += 1;
            }
            // Relations that were made meanwhile belong to the generation, and are as good as the first.
            replace(&path, &bytes);
        }
        assert_eq!(place.answers(), good, "{} is itself again", path.display());
    }
    println!("{told} wounds were told, {untouched} touched no answer");
    assert!(told > 10, "{told} of {}", told + untouched);
}

#[test]
fn what_is_spoilt_is_made_anew_where_its_folder_is_there() {
    let place = made();
    let good = place.answers();
    let kinds = ["/pack.", "/files.", "/manifest.json", ".term", ".idx"];
    for kind in kinds {
        let path = place.store().into_iter().find(|path| path.to_string_lossy().contains(kind)).expect("there is one");
        let mut bytes = fs::read(&path).expect("it is there");
        bytes.truncate(bytes.len() / 2);
        replace(&path, &bytes);
        let (status, text) = place.strict(&["call", "--json", "search_symbols", r#"{"query": "shared"}"#]);
        let told: Value = serde_json::from_str(text.lines().find(|line| line.starts_with('{')).expect("an answer"))
            .expect("answers are JSON");
        let why = told["_meta"]["rebuilt"].as_str();
        assert!(status == 0 && why.is_some_and(|why| why.contains("is damaged")), "{kind}: {text}");
        // The same as it was, and told of once.
        assert_eq!(place.answers(), good, "{kind}");
        assert_eq!(place.doctor(&[]).0, 0, "{kind}");
    }
    // A run that is asked for finds the same.
    let pack = place.store().into_iter().find(|path| path.to_string_lossy().contains("/pack.")).expect("there is one");
    replace(&pack, b"no pack");
    place.write("notes.md", "shared things are written here\n");
    let (status, text) = place.strict(&["index", "."]);
    assert!(status == 0 && text.contains("so the index was rebuilt"), "{text}");
    assert_eq!(place.doctor(&[]).0, 0);
    // And what an earlier version left is of no more use.
    let manifest = place.store().into_iter().find(|path| path.ends_with("manifest.json")).expect("there is one");
    let text = fs::read_to_string(&manifest).expect("it is text");
    let format = codelode::store::FORMAT;
    let earlier = text.replacen(&format!("\"format\":{format}"), &format!("\"format\":{}", format - 1), 1);
    assert_ne!(earlier, text);
    replace(&manifest, earlier.as_bytes());
    let answer = place.answered("search_symbols", &json!({"query": "shared"}));
    assert_eq!(answer["results"][0]["name"], "shared", "{answer}");
}

#[test]
fn the_doctor_finds_damage_and_mends_it() {
    let place = made();
    let good = place.answers();
    let (status, report) = place.doctor(&[]);
    assert_eq!((status, &report["findings"]), (0, &json!([])), "{report}");
    assert_eq!((&report["repos"], &report["stores"]), (&json!(1), &json!(1)), "{report}");

    let pack = place.store().into_iter().find(|path| path.to_string_lossy().contains("/pack.")).expect("there is one");
    let mut bytes = fs::read(&pack).expect("it is there");
    bytes[20] ^= 1;
    replace(&pack, &bytes);
    let (status, report) = place.doctor(&[]);
    assert_eq!(status, 1, "{report}");
    assert!(report["findings"][0]["what"].as_str().is_some_and(|what| what.contains("is damaged")), "{report}");
    assert_eq!(report["findings"][0]["mended"], false);
    let (status, report) = place.doctor(&["--fix"]);
    assert_eq!((status, &report["findings"][0]["mended"]), (0, &json!(true)), "{report}");
    assert_eq!(place.doctor(&[]).0, 0);
    assert_eq!(place.answers(), good);
}

#[test]
fn the_doctor_clears_away_what_nobody_needs() {
    use std::os::unix::fs::PermissionsExt;
    let place = made();
    let home = place.home();
    let store = place.store()[0].parent().expect("it lies in a folder").to_owned();
    let store = if store.ends_with("index") { store.parent().expect("so does that").to_owned() } else { store };
    for left in ["pack.999", "index/0123.term", "manifest.json.new"] {
        fs::write(store.join(left), "left by a crash").expect("it is ours");
    }
    fs::create_dir(home.join("stores/nobodys")).expect("it is ours");
    fs::write(home.join("repos/broken.json"), "{").expect("it is ours");
    fs::set_permissions(&home, fs::Permissions::from_mode(0o755)).expect("it is ours");
    // A second folder is indexed and removed.
    let second = place.path().join("second");
    fs::create_dir(&second).expect("the folder is new");
    fs::write(second.join("a.py"), "def f():\n    pass\n").expect("it is ours");
    assert_eq!(place.strict(&["index", "../second"]).0, 0);
    fs::remove_dir_all(&second).expect("it is ours");
    fs::set_permissions(&home, fs::Permissions::from_mode(0o755)).expect("it is ours");

    let (status, report) = place.doctor(&[]);
    let told: Vec<&str> =
        report["findings"].as_array().into_iter().flatten().filter_map(|finding| finding["what"].as_str()).collect();
    let expected =
        ["other users can read", "cannot be read", "3 files are left over", "belongs to no indexed folder", "is gone"];
    for what in expected {
        assert!(told.iter().any(|told| told.contains(what)), "{what}: {told:?}");
    }
    assert_eq!((status, told.len()), (1, expected.len()), "{told:?}");
    let (status, report) = place.doctor(&["--fix"]);
    assert_eq!(status, 0, "{report}");
    assert!(!store.join("pack.999").exists() && !home.join("stores/nobodys").exists());
    assert_eq!(place.doctor(&[]).1["findings"], json!([]));
    assert_eq!(place.answered("search_symbols", &json!({"query": "shared"}))["results"][0]["name"], "shared");
}

#[test]
fn clocks_that_go_backwards_hide_no_edit() {
    let place = made();
    let shows = |text: &str| {
        let answer = place.answered("get_file_content", &json!({"file_path": "notes.md"}));
        assert_eq!(answer["content"], text, "{answer}");
    };
    let path = place.source().join("notes.md");
    // An edit of the same size, from a time before the one that is indexed; then from the far future; and back again.
    for (text, time) in [
        ("shared things are written down HERE\n", SystemTime::now() - Duration::from_secs(500_000)),
        ("shared things are WRITTEN down here\n", SystemTime::now() + Duration::from_secs(500_000)),
        ("shared THINGS are written down here\n", SystemTime::now() - Duration::from_secs(1_000_000)),
        ("SHARED things are written down here\n", SystemTime::UNIX_EPOCH),
    ] {
        fs::write(&path, text).expect("it is ours");
        set_time(&path, time);
        shows(text);
    }
    // Written again within the same tick of the clock, after it was read: size and time are the very same.
    for text in ["shared things ARE written down here\n", "shared things are written DOWN here\n"] {
        let now = SystemTime::now() + Duration::from_secs(1);
        fs::write(&path, text).expect("it is ours");
        set_time(&path, now);
        shows(text);
        let twin = text.to_uppercase();
        fs::write(&path, &twin).expect("it is ours");
        set_time(&path, now);
        shows(&twin);
    }
}

#[test]
fn times_that_are_set_back_hide_no_edit() {
    let place = made();
    let path = place.source().join("notes.md");
    let time = fs::metadata(&path).and_then(|meta| meta.modified()).expect("it is there");
    // Of the same size and with the time it had: as `touch -r` leaves it, `cp -p`, or an archive.
    let texts = ["SHARED things are written down here\n", "shared THINGS are written down here\n"];
    for (nth, text) in texts.into_iter().enumerate() {
        match nth {
            0 => fs::write(&path, text).expect("it is ours"),
            _ => replace(&path, text.as_bytes()),
        }
        set_time(&path, time);
        let answer = place.answered("get_file_content", &json!({"file_path": "notes.md"}));
        assert_eq!(answer["content"], text, "{answer}");
    }
    // A new file in a folder whose time is set back.
    let folder = place.source().join("pkg");
    let time = fs::metadata(&folder).and_then(|meta| meta.modified()).expect("it is there");
    place.write("pkg/late.py", "def late():\n    return 1\n");
    File::open(&folder).expect("it is there").set_modified(time).expect("times can be set");
    let answer = place.answered("search_symbols", &json!({"query": "late"}));
    assert_eq!(answer["results"][0]["name"], "late", "{answer}");
}

#[test]
fn a_copy_of_a_folder_and_its_index_is_taken_for_what_it_is() {
    let place = made();
    // As an image holds it: times of changes are kept, the system's own are those of the copy.
    let copy = place.path().join("copy");
    let ran = Command::new("cp").args(["-a"]).arg(place.source()).arg(&copy).status();
    assert!(ran.expect("cp is there").success());
    fs::rename(place.source(), place.path().join("aside")).expect("both are ours");
    fs::rename(&copy, place.source()).expect("both are ours");
    let manifest = place.store().into_iter().find(|path| path.ends_with("manifest.json")).expect("there is one");
    let before = fs::read(&manifest).expect("it is there");
    let answer = place.answered("get_file_content", &json!({"file_path": "notes.md"}));
    assert_eq!(answer["content"], "shared things are written down here\n", "{answer}");
    assert_eq!(fs::read(&manifest).expect("it is there"), before, "nothing was read again");
}

#[test]
fn files_that_are_cut_under_a_server_end_no_server() {
    let place = made();
    let mut server = serve(&place);
    let right = server.call("get_file_content", json!({"file_path": "notes.md"}))["content"].clone();
    assert!(right.is_string());
    for path in place.store().into_iter().filter(|path| !path.ends_with("manifest.json")) {
        File::options().write(true).open(&path).and_then(|file| file.set_len(0)).expect("it is ours");
    }
    let mut n_right = 0;
    for _ in 0..5 {
        let answer = server.call("get_file_content", json!({"file_path": "notes.md"}));
        assert!(answer["content"] == right || answer["details"]["rebuild"].is_string(), "{answer}");
        n_right += usize::from(answer["content"] == right);
    }
    assert!(n_right > 0, "it was made anew");
    assert_eq!(server.call("search_symbols", json!({"query": "shared"}))["results"][0]["name"], "shared");
    server.close();
}

/// Answers of a running server to questions that read each part of an index.
fn served(server: &mut Server) -> Vec<Value> {
    let questions = [
        ("get_file_content", json!({"file_path": "notes.md"})),
        ("get_symbol_source", json!({"symbol_id": "pkg/base.py::Base.method#method"})),
        ("search_symbols", json!({"query": "shared"})),
        ("find_references", json!({"identifier": "shared"})),
        ("get_symbol_importance", json!({})),
    ];
    let ask = |(tool, args): (&str, Value)| {
        let mut answer = server.call(tool, args);
        answer.as_object_mut().expect("answers are objects").remove("_meta");
        answer
    };
    questions.map(ask).into()
}

/// A server on the place's index.
fn serve(place: &Place) -> Server {
    let mut command = place.command(&["serve"]);
    command.env("CODELODE_FRESHNESS", "strict");
    Server::start(command)
}

#[test]
fn bits_flipped_under_a_running_server_are_not_believed() {
    let place = made();
    let mut server = serve(&place);
    let good = served(&mut server);
    for kind in ["pack", "files", "edges", "ranks", ".term", ".idx"] {
        for keeps_time in [false, true] {
            let files = place.store();
            let path = files.iter().find(|path| path.to_string_lossy().contains(kind)).expect("there is one");
            let mut bytes = fs::read(path).expect("it is there");
            let middle = bytes.len() / 2;
            for at in [20, middle, middle + 1] {
                bytes[at] ^= 4;
            }
            let before = fs::metadata(path).and_then(|metadata| metadata.modified()).expect("it is there");
            fs::write(path, &bytes).expect("it is ours");
            if keeps_time {
                set_time(path, before);
            }
            // Files are asked for their times at most this often.
            std::thread::sleep(Duration::from_millis(25));
            for (now, then) in served(&mut server).iter().zip(&good) {
                let is_told = now["details"]["rebuild"].is_string() && now["code"] != "internal";
                assert!(now == then || is_told, "{kind}: {now}");
            }
        }
    }
    assert_eq!(place.strict(&["index", ".", "--no-incremental"]).0, 0);
    for (now, then) in served(&mut server).iter().zip(&good).filter(|(now, _)| now["results"].is_null()) {
        assert_eq!(now, then);
    }
    server.close();
}

#[test]
fn a_file_of_another_store_is_not_taken_for_its_own() {
    let place = made();
    let good = place.answers();
    let other = made();
    other.write("notes.md", "shared things are written down elsewhere\n");
    other.write(
        "pkg/base.py",
        "class Base:\n    def method(self):\n        return 2\n\n\ndef shared():\n    return 2\n",
    );
    assert_eq!(other.strict(&["index", ".", "--no-incremental"]).0, 0);
    other.answers();
    let kinds =
        ["manifest", "pack.", "files.", "edges.", "ranks.", ".term", ".idx", ".pos", ".store", ".fast", ".fieldnorm"];
    for kind in kinds {
        let of = |place: &Place| place.store().into_iter().find(|path| path.to_string_lossy().contains(kind));
        let (own, foreign) = of(&place).zip(of(&other)).expect("both have one");
        replace(&own, &fs::read(foreign).expect("it is there"));
        assert_eq!(place.answers(), good, "{kind}");
        assert_eq!(place.doctor(&[]).0, 0, "{kind}");
    }
}

#[test]
fn a_file_that_is_gone_is_no_answer_though_nothing_can_be_written() {
    let place = made();
    let lock = File::options().write(true).open(place.store()[0].parent().expect("it lies in a folder").join("lock"));
    let _lock = lock.map(|lock| lock.lock().map(|()| lock)).expect("it is ours").expect("nobody else writes");
    fs::remove_file(place.source().join("pkg/user.py")).expect("it is ours");
    for (tool, args) in [
        ("search_symbols", json!({"query": "run"})),
        ("search_text", json!({"query": "shared"})),
        ("get_ranked_context", json!({"query": "run"})),
        ("find_references", json!({"identifier": "shared"})),
        ("get_file_content", json!({"file_path": "pkg/base.py"})),
        ("get_file_tree", json!({})),
        ("get_call_hierarchy", json!({"symbol_id": "pkg/base.py::shared#function"})),
    ] {
        let answer = place.answered(tool, &args);
        assert!(answer.get("error").is_none(), "{tool}: {answer}");
        assert!(!answer.to_string().contains("user.py"), "{tool}: {answer}");
    }
    let answer = place.answered("get_file_content", &json!({"file_path": "pkg/user.py"}));
    assert_eq!(answer["code"], "not_found", "{answer}");
}

#[test]
fn an_older_state_that_another_process_publishes_is_not_called_fresh() {
    let place = made();
    let read = |path: PathBuf| fs::read(&path).map(|bytes| (path, bytes)).expect("it is there");
    let old: Vec<(PathBuf, Vec<u8>)> = place.store().into_iter().map(read).collect();
    let mut command = place.command(&["serve"]);
    command.env("CODELODE_FRESHNESS", "strict").env("CODELODE_WATCHER", "false");
    let mut server = Server::start(command);
    place.write("pkg/new.py", "from pkg.base import shared\n\n\ndef later():\n    return shared()\n");
    let has_new = |answer: &Value| answer["results"].to_string().contains("new.py");
    server.until("search_text", json!({"query": "shared"}), has_new);
    // Its writer had looked before the file was written.
    for (path, bytes) in old.iter().rev() {
        replace(path, bytes);
    }
    let answer = server.call("search_text", json!({"query": "shared"}));
    assert!(has_new(&answer) || answer["_meta"]["freshness"] != "fresh", "{answer}");
    server.until("search_text", json!({"query": "shared"}), has_new);
    server.close();
}

#[test]
fn a_question_right_after_another_sees_what_was_written_between() {
    let place = made();
    let mut server = serve(&place);
    for number in 0..40 {
        // The question before has compared the folder a moment ago.
        server.call("search_symbols", json!({"query": format!("absent_{number}")}));
        let name = format!("between_{number}");
        place.write(&format!("pkg/{name}.py"), &format!("def {name}():\n    return 1\n"));
        let answer = server.call("search_symbols", json!({"query": name, "max_results": 1}));
        let has_new = answer["results"][0]["name"] == name;
        assert!(has_new || answer["_meta"]["freshness"] != "fresh", "{name}: {answer}");
    }
    server.close();
}
