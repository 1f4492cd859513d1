use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use expect_test::{Expect, expect};
use proptest::prelude::*;
use sha2::{Digest, Sha256};

use super::packs::pack;
use super::search::segments;
use super::tables::edges;
use super::*;
use codelode_base::model::{Detail, Extraction, Kind, Marks, SourceFile, Span, Symbol};

/// No other process writes in these tests.
const AT_ONCE: Duration = Duration::ZERO;

/// Text by path.
type State = BTreeMap<String, String>;

fn state(files: &[(&str, &str)]) -> State {
    files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect()
}

/// A store in a folder of its own.
struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().expect("there is room for a folder") }
    }

    fn store(&self) -> Store {
        Store::at(self.folder.path().join("store"))
    }

    /// Gives a checkout these files, as the pipeline does: files already in the store are not added again.
    fn commit(&self, name: &str, files: &State) {
        try_commit(self.store().writer(AT_ONCE), name, files).expect("nothing is in the way");
    }

    fn snapshot(&self, name: &str) -> Snapshot {
        self.store().snapshot(name).expect("it was committed")
    }

    fn manifest(&self) -> Manifest {
        self.store().manifest().expect("something was committed")
    }
}

fn try_commit(writer: Result<Writer, Error>, name: &str, files: &State) -> Result<SnapshotFacts, Error> {
    let mut writer = writer?;
    let known = writer.known().expect("the tables can be read");
    let mut entries = Vec::new();
    for (path, text) in files {
        let hash = Prepared::hash(text.as_bytes());
        let language = codelode_lang::languages::of_file(path, text.as_bytes()).map(|(number, _)| number);
        let number = match known.find(path, &hash, language) {
            Some(number) => number,
            None => writer.add(Prepared::new(path.clone(), text.clone().into_bytes(), hash, language, &read(text)))?,
        };
        let file = SourceFile { path: path.clone(), size: text.len() as u64, mtime_ns: 1, ctime_ns: 1 };
        entries.push(Entry { file, state: Ok(number) });
    }
    writer.commit(name, &entries, &[], SnapshotFacts::default())
}

/// A toy language, so that no test here depends on a grammar: a line `def name` or `class name` begins a symbol, and
/// the indented lines below belong to it.
fn read(text: &str) -> Extraction {
    let mut symbols: Vec<Symbol> = Vec::new();
    let mut open: Vec<(usize, u32)> = Vec::new();
    let mut start = 0;
    for (number, line) in text.split_inclusive('\n').enumerate() {
        let words = line.trim_start_matches(' ');
        let indent = line.len() - words.len();
        let end = start + line.trim_end().len();
        if !words.trim().is_empty() {
            open.retain(|(column, _)| *column < indent);
            for (_, owner) in &open {
                let owner = &mut symbols[*owner as usize];
                (owner.span.end, owner.end_line) = (end as u32, number as u32 + 1);
            }
        }
        let begun = words.strip_prefix("def ").map(|rest| (rest, Kind::Function, Detail::Function));
        let begun = begun.or_else(|| words.strip_prefix("class ").map(|rest| (rest, Kind::Class, Detail::Class)));
        if let Some((rest, kind, detail)) = begun {
            let name = start + line.len() - rest.len();
            let own = Span::new(start + indent, end);
            let parent = open.last().map(|(_, owner)| *owner);
            open.push((indent, symbols.len() as u32));
            symbols.push(Symbol {
                name: Span::new(name, name + rest.trim_end().len()),
                kind,
                detail,
                span: own,
                line: number as u32 + 1,
                end_line: number as u32 + 1,
                signature: own,
                doc: Span::default(),
                decorators: Vec::new(),
                parent,
                container: Span::default(),
                handed: false,
                marks: Marks::default(),
                complexity: 1,
            });
        }
        start += line.len();
    }
    Extraction { symbols, ..Extraction::default() }
}

/// Everything that is promised of a snapshot of these files: exact bytes, whole symbols, and a search that finds those and
/// no other.
fn check(snapshot: &Snapshot, files: &State) {
    snapshot.verify().expect("its tables are whole");
    assert_eq!(snapshot.table().len(), files.len());
    assert_eq!(snapshot.files().count(), files.len());
    let mut all = BTreeMap::new();
    for (path, text) in files {
        let file = snapshot.file(path).unwrap_or_else(|| panic!("{path} is missing"));
        assert_eq!((file.path(), file.content()), (path.as_str(), text.as_bytes()));
        assert!(file.is_intact());
        assert_eq!(file.lines() as usize, text.split_inclusive('\n').count());
        let read = read(text);
        assert_eq!(file.symbols().count(), read.symbols.len());
        for (symbol, expected) in file.symbols().zip(&read.symbols) {
            assert_eq!((symbol.span(), symbol.source()), (expected.span, expected.span.of(text.as_bytes())));
            assert_eq!(symbol.name().as_bytes(), expected.name.of(text.as_bytes()));
            assert_eq!(symbol.content_hash(), <[u8; 32]>::from(Sha256::digest(symbol.source())));
            assert_eq!(symbol.parent().map(|parent| parent.number().index), expected.parent);
            assert!(all.insert(symbol.id(), symbol.name().into_owned()).is_none(), "{} is there twice", symbol.id());
        }
    }
    assert_eq!((snapshot.facts().files, snapshot.facts().symbols), (files.len() as u64, all.len() as u64));
    let id = |number| snapshot.symbol(number).expect("what is found belongs to the snapshot").id();
    for name in all.values().chain([&"nothing".to_owned()]) {
        let found = snapshot.exact(name, usize::MAX, &mut |_| true).expect("it can be searched");
        let expected: BTreeSet<&String> = all.iter().filter(|(_, other)| *other == name).map(|(id, _)| id).collect();
        assert_eq!(found.into_iter().map(id).collect::<BTreeSet<_>>().iter().collect::<BTreeSet<_>>(), expected);
    }
    let found: BTreeSet<String> = words(snapshot, "word").into_iter().collect();
    assert_eq!(found, all.into_keys().collect(), "every symbol here has `word` in its name, and no other is found");
}

/// The ids of the symbols whose names contain a word.
fn words(snapshot: &Snapshot, word: &str) -> Vec<String> {
    let clause = Clause::new(Field::Name, word, 1.0);
    let found = snapshot.search(&[clause], 100_000, &mut |_| true).expect("it can be searched");
    found.into_iter().map(|(number, _)| snapshot.symbol(number).expect("it is in the snapshot").id()).collect()
}

/// A function that names its file and its edit.
fn function(place: usize, edit: usize) -> String {
    format!("def word_{place}_{edit}\n  text of {place} after {edit}\n")
}

/// Commits texts and checks the symbols afterwards, one line each.
fn shows(files: &[(&str, &str)], expected: Expect) {
    let (place, files) = (Place::new(), state(files));
    place.commit("main", &files);
    let snapshot = place.snapshot("main");
    check(&snapshot, &files);
    let line = |symbol: SymbolView<'_>| {
        format!(
            "{}-{} {} {:?}\n",
            symbol.line(),
            symbol.end_line(),
            symbol.id(),
            String::from_utf8_lossy(symbol.source())
        )
    };
    let lines: String = snapshot.files().flat_map(|file| file.symbols()).map(line).collect();
    expected.assert_eq(&lines);
}

#[test]
fn symbols_are_read_back_from_their_places() {
    shows(
        &[
            ("a.x", "class word_A\n  def word_f\n    body\n\ndef word_f\n"),
            ("empty.x", ""),
            ("sub/ü.x", "\u{feff}début\r\ndef word_é\r\n  corps\r\nfin"),
        ],
        expect![[r#"
            1-3 a.x::word_A#class "class word_A\n  def word_f\n    body"
            2-3 a.x::word_A.word_f#function "def word_f\n    body"
            5-5 a.x::word_f#function "def word_f"
            2-3 sub/ü.x::word_é#function "def word_é\r\n  corps"
        "#]],
    );
}

#[test]
fn symbols_of_one_name_are_numbered_in_their_order() {
    shows(
        &[
            ("a.x", "def word\n  1\ndef word\n  2\nclass word\n  def word\nclass word\n  def word\n"),
            ("b.x", "def word\n"),
        ],
        expect![[r#"
            1-2 a.x::word#function~1 "def word\n  1"
            3-4 a.x::word#function~2 "def word\n  2"
            5-6 a.x::word#class~1 "class word\n  def word"
            6-6 a.x::word.word#function~1 "def word"
            7-8 a.x::word#class~2 "class word\n  def word"
            8-8 a.x::word.word#function~2 "def word"
            1-1 b.x::word#function "def word"
        "#]],
    );
}

/// A step in the life of a store: one of two checkouts gets files edited, added and removed, or is forgotten.
#[derive(Clone, Debug)]
enum Step {
    Edit(usize, Vec<(usize, Option<usize>)>),
    Forget(usize),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let edit = (0usize..5, proptest::option::weighted(0.8, 0usize..4));
    let edits = (0usize..2, proptest::collection::vec(edit, 0..5));
    let step = prop_oneof![
        8 => edits.prop_map(|(checkout, edits)| Step::Edit(checkout, edits)),
        1 => (0usize..2).prop_map(Step::Forget),
    ];
    proptest::collection::vec(step, 1..9)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_history_ends_like_a_new_store_of_its_last_state(steps in steps()) {
        let (place, names) = (Place::new(), ["first", "second"]);
        let mut now: [Option<State>; 2] = [None, None];
        for step in steps {
            match step {
                Step::Edit(checkout, edits) => {
                    let files = now[checkout].get_or_insert_default();
                    for (file, content) in edits {
                        // The same content under the same path in every checkout, so that checkouts share files.
                        match content {
                            Some(content) => drop(files.insert(format!("{file}.x"), function(file, content))),
                            None => drop(files.remove(&format!("{file}.x"))),
                        }
                    }
                    place.commit(names[checkout], files);
                }
                Step::Forget(checkout) => {
                    place.store().forget(names[checkout], AT_ONCE).expect("nothing is in the way");
                    now[checkout] = None;
                }
            }
            for (name, files) in names.iter().zip(&now) {
                match files {
                    Some(files) => check(&place.snapshot(name), files),
                    None => assert!(matches!(place.store().snapshot(name), Err(Error::NoSnapshot | Error::Missing(_)))),
                }
            }
        }
        for (name, files) in names.iter().zip(&now) {
            let Some(files) = files else { continue };
            let fresh = Place::new();
            fresh.commit(name, files);
            let (ours, fresh) = (place.snapshot(name), fresh.snapshot(name));
            for word in ["word", "0", "1", "3"] {
                let sorted = |snapshot| words(snapshot, word).into_iter().collect::<BTreeSet<_>>();
                assert_eq!(sorted(&ours), sorted(&fresh));
            }
            let facts = |snapshot: &Snapshot| SnapshotFacts { number: 0, ..snapshot.facts().clone() };
            assert_eq!(facts(&ours), facts(&fresh));
        }
    }
}

/// The files that begin so, and their bytes in all.
fn weigh(dir: &Path, beginning: &str) -> (usize, u64) {
    let entries = fs::read_dir(dir).expect("it is there").map(|entry| entry.expect("so is its entry"));
    let files = entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(beginning));
    files.fold((0, 0), |(n, bytes), file| (n + 1, bytes + file.metadata().expect("it is there").len()))
}

#[test]
fn packs_and_segments_stay_few_over_many_small_commits() {
    let (place, mut files) = (Place::new(), State::new());
    for commit in 0..60 {
        // Some are so small that a pack's tables weigh more than its text.
        let text = function(commit, 0).repeat(1 + commit % 3);
        files.insert(format!("{commit}.x"), text);
        place.commit("main", &files);
        let manifest = place.manifest();
        // Each is more than twice as large as all later ones, so their number grows with the logarithm.
        assert!(manifest.packs.len() <= 7, "{} packs after {commit} commits", manifest.packs.len());
        let n_segments = manifest.segments["segments"].as_array().map_or(0, Vec::len);
        assert!(n_segments <= 10, "{n_segments} segments after {commit} commits");
    }
    check(&place.snapshot("main"), &files);
    let manifest = place.manifest();
    assert_eq!(weigh(place.store().dir(), "pack.").0, manifest.packs.len(), "no pack is left that is not named");
    assert_eq!(weigh(place.store().dir(), "files.").0, 1);
    assert_eq!(weigh(&place.store().dir().join("index"), "").0, segments::files(&manifest.segments).len());
}

#[test]
fn what_no_checkout_names_is_not_found_and_goes_away() {
    let place = Place::new();
    let files = |edit| (0..40).map(|file| (format!("{file}.x"), function(file, edit))).collect::<State>();
    place.commit("main", &files(0));
    let alone = weigh(place.store().dir(), "pack.").1;
    for edit in 1..10 {
        place.commit("main", &files(edit));
        check(&place.snapshot("main"), &files(edit));
        assert!(weigh(place.store().dir(), "pack.").1 < 2 * alone, "edit {edit} left its predecessors behind");
        let n_garbage = place.manifest().garbage.len();
        assert!(n_garbage <= 64 + 40, "{n_garbage} files wait to be removed from the search index");
    }
    let manifest = place.manifest();
    let segments = manifest.segments["segments"].as_array().cloned().unwrap_or_default();
    let documents: u64 = segments.iter().filter_map(|segment| segment["max_doc"].as_u64()).sum();
    assert!(documents < 300, "{documents} documents for 40 symbols");

    // Removed files leave nothing behind, even without new files.
    place.commit("main", &State::new());
    check(&place.snapshot("main"), &State::new());
    assert_eq!(weigh(place.store().dir(), "pack."), (0, 0));
}

#[test]
fn a_snapshot_that_is_held_stays_as_it_was() {
    let place = Place::new();
    let files = |edit: usize| (0..4).map(|file| (format!("{file}.x"), function(file, edit))).collect::<State>();
    place.commit("main", &files(0));
    let held = place.snapshot("main");
    let mut later = Vec::new();
    // Long enough that packs are joined, segments are merged and both are swept.
    for edit in 1..30 {
        place.commit("main", &files(edit));
        if edit % 7 == 0 {
            later.push((edit, place.snapshot("main")));
        }
    }
    place.store().forget("main", AT_ONCE).expect("nothing is in the way");
    assert!(!place.store().dir().exists());
    // None of them was searched before.
    check(&held, &files(0));
    for (edit, snapshot) in later {
        check(&snapshot, &files(edit));
    }
}

#[test]
fn a_checkout_that_is_forgotten_leaves_the_others_whole() {
    let place = Place::new();
    let (first, second) =
        (state(&[("a.x", "def word_a\n"), ("b.x", "def word_b\n")]), state(&[("a.x", "def word_a\n")]));
    place.commit("first", &first);
    let before = weigh(place.store().dir(), "pack.");
    place.commit("second", &second);
    assert_eq!(weigh(place.store().dir(), "pack."), before, "what is shared is stored once");
    place.store().forget("first", AT_ONCE).expect("nothing is in the way");
    check(&place.snapshot("second"), &second);
    assert!(matches!(place.store().snapshot("first"), Err(Error::NoSnapshot)));
    place.store().forget("first", AT_ONCE).expect("there is nothing to forget");
    place.commit("first", &first);
    check(&place.snapshot("first"), &first);
    check(&place.snapshot("second"), &second);
    place.store().forget("second", AT_ONCE).expect("nothing is in the way");
    place.store().forget("first", AT_ONCE).expect("nothing is in the way");
    assert!(!place.store().dir().exists());
}

#[test]
fn what_an_older_version_read_is_read_again_in_every_checkout() {
    let (place, files) = (Place::new(), state(&[("a.x", "def word_a\n"), ("b.x", "def word_b\n")]));
    place.commit("first", &files);
    place.commit("second", &files);
    let mut manifest = place.manifest();
    manifest.packs.iter_mut().for_each(|pack| pack.content = CONTENT - 1);
    manifest.snapshots.values_mut().for_each(|facts| facts.content = CONTENT - 1);
    manifest.stage(place.store().dir()).expect("nothing is in the way");
    Manifest::publish(place.store().dir()).expect("nothing is in the way");

    let number = |name| place.snapshot(name).file("a.x").expect("it is held").number();
    let (old, version) = (number("first"), |name| place.snapshot(name).content_version());
    place.commit("first", &files);
    assert_eq!((version("first"), version("second")), (CONTENT, CONTENT - 1));
    assert_ne!(number("first"), old);
    // The second checkout uses the files that the first has read again.
    place.commit("second", &files);
    assert_eq!((version("second"), number("second")), (CONTENT, number("first")));
    check(&place.snapshot("second"), &files);
}

#[test]
fn one_writes_while_the_others_wait() {
    let place = Place::new();
    let files = state(&[("a.x", "def word_a\n")]);
    let writer = place.store().writer(AT_ONCE).expect("nobody else writes");
    assert!(matches!(place.store().writer(AT_ONCE), Err(Error::Busy)));
    assert!(matches!(place.store().forget("main", AT_ONCE), Err(Error::Busy)));
    // A writer without a commit leaves nothing.
    drop(writer);
    assert!(matches!(place.store().snapshot("main"), Err(Error::Missing(_))));
    place.commit("main", &files);
    check(&place.snapshot("main"), &files);
}

#[test]
fn a_lock_on_a_store_that_was_removed_keeps_nobody_out() {
    let (place, files) = (Place::new(), state(&[("a.x", "def word_a\n")]));
    place.commit("main", &files);
    let store = place.store();
    let remover = lock(store.dir(), AT_ONCE).expect("nobody else writes");
    let (told, waits) = mpsc::channel();
    thread::scope(|scope| {
        let waiting = scope.spawn(|| {
            told.send(()).expect("somebody listens");
            store.writer(Duration::from_secs(60))
        });
        waits.recv().expect("it starts");
        // Time to open the file that is about to lose its name; without it, the test proves less and passes.
        thread::sleep(Duration::from_millis(20));
        fs::rename(store.dir(), place.folder.path().join("gone")).expect("it is ours");
        drop(remover);
        let writer = waiting.join().expect("it does not panic");
        assert!(writer.is_ok());
        assert!(matches!(store.writer(AT_ONCE), Err(Error::Busy)), "two may write at once");
        try_commit(writer, "main", &files).expect("nothing is in the way");
    });
    check(&place.snapshot("main"), &files);
}

/// Copies a folder that holds files and folders of files.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("there is room");
    for entry in fs::read_dir(from).expect("it is there").map(|entry| entry.expect("so is its entry")) {
        match entry.path().is_dir() {
            true => copy(&entry.path(), &to.join(entry.file_name())),
            false => drop(fs::copy(entry.path(), to.join(entry.file_name())).expect("there is room")),
        }
    }
}

/// The files of a folder and the folders in it, relative to it.
fn names(dir: &Path, inside: &Path) -> Vec<PathBuf> {
    let mut names = Vec::new();
    for entry in fs::read_dir(dir.join(inside)).expect("it is there").map(|entry| entry.expect("so is its entry")) {
        let name = inside.join(entry.file_name());
        match entry.path().is_dir() {
            true => names.extend(self::names(dir, &name)),
            false => names.push(name),
        }
    }
    names.sort();
    names
}

#[test]
fn a_commit_that_ends_at_any_moment_leaves_the_old_state_or_the_new() {
    let place = Place::new();
    let old = state(&[("a.x", "def word_a\n"), ("b.x", "def word_b\n"), ("c.x", "def word_c\n")]);
    let new = state(&[("a.x", "def word_a_2\n"), ("c.x", "def word_c\n"), ("d.x", "def word_d\n")]);
    place.commit("main", &old);
    let (dir, before) = (place.store().dir().to_owned(), place.folder.path().join("before"));
    copy(&dir, &before);
    place.commit("main", &new);
    let brought: Vec<PathBuf> =
        names(&dir, Path::new("")).into_iter().filter(|name| !before.join(name).exists()).collect();
    assert!(brought.len() >= 8, "a pack, a table and a segment: {brought:?}");

    // This many of its files were written, and the next one in part.
    for n_written in 0..=brought.len() {
        for published in [false, true].into_iter().filter(|published| !published || n_written == brought.len()) {
            let cut = Store::at(place.folder.path().join(format!("cut {n_written} {published}")));
            copy(&before, cut.dir());
            for name in &brought[..n_written] {
                fs::copy(dir.join(name), cut.dir().join(name)).expect("there is room");
            }
            if let Some(name) = brought.get(n_written) {
                let bytes = fs::read(dir.join(name)).expect("it is there");
                fs::write(cut.dir().join(name), &bytes[..bytes.len() / 2]).expect("there is room");
            }
            // The manifest comes last; files of the previous one are not swept yet.
            let manifest = fs::read(dir.join("manifest.json")).expect("it is there");
            match published {
                true => fs::write(cut.dir().join("manifest.json"), manifest),
                false => fs::write(cut.dir().join("manifest.json.new"), &manifest[..manifest.len() / 2]),
            }
            .expect("there is room");
            let expected = if published { &new } else { &old };
            check(&cut.snapshot("main").expect("it opens"), expected);
            for files in [&new, &old] {
                try_commit(cut.writer(AT_ONCE), "main", files).expect("the next run succeeds");
                check(&cut.snapshot("main").expect("it opens"), files);
            }
            let manifest = cut.manifest().expect("it was published");
            assert_eq!(weigh(cut.dir(), "pack.").0, manifest.packs.len(), "the leftovers are swept");
            assert_eq!(weigh(&cut.dir().join("index"), "").0, segments::files(&manifest.segments).len());
        }
    }
}

#[test]
fn another_version_is_refused_and_written_over_when_asked() {
    let (place, files) = (Place::new(), state(&[("a.x", "def word_a\n")]));
    place.commit("main", &files);
    let path = place.store().dir().join("manifest.json");
    let good = fs::read_to_string(&path).expect("it is there");
    let tantivy = serde_json::to_string(&place.manifest().tantivy).expect("it is text");
    let newer = good.replacen(&format!("\"format\":{}", super::FORMAT), "\"format\":999", 1);
    fs::write(&path, &newer).expect("it is ours");
    for refused in [
        place.store().snapshot("main").err(),
        place.store().writer(AT_ONCE).err(),
        place.store().writer_anew(AT_ONCE).err(),
    ] {
        assert!(matches!(refused, Some(Error::Newer { found: 999, .. })), "{refused:?}");
    }
    assert_eq!(fs::read_to_string(&path).expect("it is there"), newer, "what is newer is never written over");
    for spoilt in [
        good.replacen(&format!("\"format\":{}", super::FORMAT), "\"format\":1", 1),
        good.replacen(&tantivy, "\"tantivy v0.1\"", 1),
    ] {
        assert_ne!(spoilt, good);
        fs::write(&path, spoilt).expect("it is ours");
        let refused = |err: Option<Error>| assert!(matches!(err, Some(Error::Outdated { .. })), "{err:?}");
        refused(place.store().snapshot("main").err());
        refused(place.store().writer(AT_ONCE).err());
        try_commit(place.store().writer_anew(AT_ONCE), "main", &files).expect("nothing is in the way");
        check(&place.snapshot("main"), &files);
    }
}

#[test]
fn writing_anew_keeps_what_is_whole() {
    let place = Place::new();
    let (first, second) = (state(&[("a.x", "def word_a\n")]), state(&[("b.x", "def word_b\n")]));
    place.commit("first", &first);
    place.commit("second", &second);
    try_commit(place.store().writer_anew(AT_ONCE), "first", &first).expect("nothing is in the way");
    check(&place.snapshot("first"), &first);
    check(&place.snapshot("second"), &second);
}

/// A way to spoil a file's bytes.
type Spoil = fn(&mut Vec<u8>);

#[test]
fn damage_is_an_error_and_can_be_repaired() {
    const WAYS: [(&str, Spoil); 6] = [
        ("empty", |bytes| bytes.clear()),
        ("half", |bytes| bytes.truncate(bytes.len() / 2)),
        ("all but a byte", |bytes| bytes.truncate(bytes.len() - 1)),
        ("all but eight bytes", |bytes| bytes.truncate(bytes.len().saturating_sub(8))),
        ("another beginning", |bytes| bytes[..8].iter_mut().for_each(|byte| *byte ^= 0xff)),
        ("another end", |bytes| bytes.iter_mut().rev().take(8).for_each(|byte| *byte ^= 0xff)),
    ];
    let place = Place::new();
    let files = state(&[("a.x", "def word_a\n  some text\n"), ("b.x", "def word_b\n")]);
    place.commit("main", &files);
    let dir = place.store().dir().to_owned();
    let mut n_refused = 0;
    for name in names(&dir, Path::new("")).into_iter().filter(|name| !name.ends_with("lock")) {
        for (how, spoil) in WAYS {
            let spoilt = Store::at(place.folder.path().join("spoilt"));
            copy(&dir, spoilt.dir());
            let mut bytes = fs::read(dir.join(&name)).expect("it is there");
            spoil(&mut bytes);
            fs::write(spoilt.dir().join(&name), bytes).expect("it is ours");
            match spoilt.snapshot("main").and_then(|snapshot| snapshot.verify().map(|()| snapshot)) {
                Err(Error::Damaged { .. } | Error::Io { .. } | Error::Index(_) | Error::Outdated { .. }) => {
                    n_refused += 1
                }
                Err(err) => panic!("{}, {how}: {err}", name.display()),
                // Unused parts may be damaged: answers are right or there are none.
                Ok(snapshot) => check(&snapshot, &files),
            }
            let repaired = try_commit(spoilt.writer_anew(AT_ONCE), "main", &files);
            repaired.unwrap_or_else(|err| panic!("{}, {how}: cannot be repaired: {err}", name.display()));
            check(&spoilt.snapshot("main").expect("it opens"), &files);
            fs::remove_dir_all(spoilt.dir()).expect("it is ours");
        }
    }
    assert!(n_refused > 30, "only {n_refused} were noticed");
    // A file that the manifest names but that is missing is damage, and no reason to wait for a newer manifest.
    fs::remove_file(pack::path(&dir, 1)).expect("it is there");
    assert!(matches!(place.store().snapshot("main"), Err(Error::Damaged { .. })));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_flipped_byte_of_ours_is_survived(at in any::<prop::sample::Index>(), file in 0usize..3, flip in 1u8..) {
        thread_local! {
            static PLACE: (Place, State) = {
                let (place, files) = (Place::new(), state(&[("a.x", "class word_a\n  def word_f\n"), ("b.x", "def word_b\n")]));
                place.commit("main", &files);
                (place, files)
            };
        }
        PLACE.with(|(place, files)| {
            let dir = place.store().dir().to_owned();
            let path = dir.join(["manifest.json", "pack.1", "files.1"][file]);
            let good = fs::read(&path).expect("it is there");
            let mut bytes = good.clone();
            bytes[at.index(good.len())] ^= flip;
            // As everywhere: never written in place, because a reader may have mapped the file.
            let replace = |bytes: &[u8]| {
                fs::write(dir.join("new"), bytes).expect("it is ours");
                fs::rename(dir.join("new"), &path).expect("it is ours");
            };
            replace(&bytes);
            if let Ok(snapshot) = place.store().snapshot("main") {
                // Any result is accepted, but reading it must not panic.
                for symbol in snapshot.files().flat_map(|file| file.symbols()) {
                    let _ = (symbol.id(), symbol.source(), symbol.signature(80), symbol.docstring(), symbol.decorators());
                }
                snapshot.table().iter().chain(snapshot.table().inputs()).for_each(|row| drop(row.to_entry()));
                let _ = snapshot.exact("word_a", 10, &mut |_| true);
                let texts_are_right = || files.iter().all(|(path, text)| {
                    snapshot.file(path).is_some_and(|file| file.content() == text.as_bytes())
                });
                // Tables are checked by `verify`; text is checked file by file.
                let intact = || snapshot.files().all(|file| file.is_intact());
                if file == 2 && snapshot.verify().is_ok() {
                    assert!(texts_are_right());
                }
                if file == 1 && snapshot.verify().is_ok() && intact() {
                    check_shown(&snapshot, files);
                }
            }
            replace(&good);
        });
    }
}

/// Every symbol that is shown is as it was written.
fn check_shown(snapshot: &Snapshot, files: &State) {
    for (path, text) in files {
        let file = snapshot.file(path).expect("the tables are whole");
        for (symbol, expected) in file.symbols().zip(&read(text).symbols) {
            assert_eq!(symbol.source(), expected.span.of(text.as_bytes()));
        }
    }
}

#[test]
fn what_comes_back_soon_is_not_stored_again() {
    let place = Place::new();
    let text = |file, edit| (format!("{file}.x"), function(file, edit));
    let main: State = (0..200).map(|file| text(file, 0)).collect();
    let mut branch: State = (0..20).map(|file| text(file, 1)).collect();
    branch.extend((20..200).map(|file| text(file, 0)));
    place.commit("main", &main);
    place.commit("main", &branch);
    let n_files = place.manifest().next_file;
    for _ in 0..4 {
        place.commit("main", &main);
        check(&place.snapshot("main"), &main);
        place.commit("main", &branch);
        check(&place.snapshot("main"), &branch);
    }
    // Work on the branch does not make it forgotten either.
    branch.extend([text(199, 2)]);
    place.commit("main", &branch);
    place.commit("main", &main);
    check(&place.snapshot("main"), &main);
    assert_eq!(place.manifest().next_file, n_files + 1);
}

#[test]
fn what_comes_back_late_is_found_again() {
    let place = Place::new();
    let files = |edit| (0..200).map(|file| (format!("{file}.x"), function(file, edit))).collect::<State>();
    let few: State = files(0).into_iter().take(80).chain(files(1).into_iter().skip(80)).collect();
    for state in [files(0), few.clone(), files(1), files(0), few, files(2), files(0)] {
        place.commit("main", &state);
        check(&place.snapshot("main"), &state);
    }
}

#[test]
fn the_same_files_have_the_same_relations() {
    let place = Place::new();
    let files: State = (0..20).map(|file| (format!("{file}.x"), function(file, 0))).collect();
    place.commit("main", &files);
    let main = place.snapshot("main");
    main.keep_edges(Edges::default()).expect("there is room");
    place.commit("worktree", &files);
    assert!(place.snapshot("worktree").edges().is_some());
    place.commit("main", &files);
    assert!(place.snapshot("main").edges().is_some());
    let mut edited = files.clone();
    edited.insert("0.x".to_owned(), function(0, 1));
    place.commit("worktree", &edited);
    assert!(place.snapshot("worktree").edges().is_none());
    assert!(place.snapshot("main").edges().is_some());

    // The source of derived tables is kept until they are made, and no longer.
    place.commit("main", &edited);
    assert!(place.snapshot("main").earlier_edges().is_some());
    place.snapshot("worktree").keep_edges(Edges::default()).expect("there is room");
    assert_eq!(edges::numbers(place.store().dir()), [place.snapshot("worktree").facts().number]);
}
