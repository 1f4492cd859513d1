//! Places under stress: writers that race, answers that lie, and the removal of what nobody names.

use std::collections::BTreeSet;
use std::fs;
use std::sync::Mutex;
use std::time::Duration;

use super::super::collect::collect;
use super::super::fetch::fetch;
use super::super::listing::{Facts, LATEST, Listing, key_path, keys_folder};
use super::super::place::{self, PlaceEntry, WriteCondition};
use super::super::push::push;
use super::super::{Error, PublishResult};
use super::{Place, watcher};
use codelode_net as net;

/// A shared folder.
fn shared(place: &Place) -> Box<dyn place::Place> {
    let url = format!("file://{}", place.at("shared").display());
    place::open(&url, &net::Client::new(net::Options::default())).expect("it is a folder")
}

/// Publishes the sources as they are.
fn pushed(place: &Place, to: &dyn place::Place, key: &str, tree: Option<&str>) -> Result<PublishResult, Error> {
    let (copy, contents, facts) = place.copied(tree);
    push(&copy, contents, facts, to, key, &watcher())
}

/// Takes what is published, verified: how many files it has. Nothing is left of it.
fn fetched(place: &Place, from: &dyn place::Place, key: &str) -> Result<Option<u64>, Error> {
    let Some(taken) = fetch(from, "a/b", &[key.to_owned()], &place.registry(), &watcher())? else { return Ok(None) };
    assert!(taken.accept(&place.store(), "name", true, Duration::ZERO)?);
    let snapshot = place.store().snapshot("name")?;
    snapshot.verify()?;
    let files = snapshot.facts().files;
    assert_eq!(snapshot.files().count() as u64, files);
    place.store().remove(Duration::ZERO)?;
    Ok(Some(files))
}

fn write(place: &Place, name: &str, text: &str) {
    fs::write(place.at("source").join(name), text).expect("it is ours");
}

fn objects(place: &Place) -> BTreeSet<String> {
    let entries = fs::read_dir(place.at("shared/a/b/objects")).expect("there are objects");
    entries.map(|entry| entry.expect("it can be listed").file_name().to_string_lossy().into_owned()).collect()
}

#[test]
fn only_what_a_place_lacks_is_sent() {
    let place = Place::new();
    let shared = shared(&place);
    assert_eq!(fetched(&place, &*shared, LATEST).expect("it can be read"), None);
    let first = pushed(&place, &*shared, LATEST, Some("t1")).expect("there is room");
    assert_eq!((first.held, first.is_there), (0, false));
    assert_eq!(fetched(&place, &*shared, LATEST).expect("it is whole"), Some(20));
    let again = pushed(&place, &*shared, LATEST, Some("t1")).expect("there is room");
    assert_eq!((again.sent, again.is_there), (0, true));

    write(&place, "more.py", "def more(): pass\n");
    let second = pushed(&place, &*shared, LATEST, Some("t2")).expect("there is room");
    assert!(second.held > 0 && second.sent < first.sent + second.held, "{second:?}");
    assert_eq!(fetched(&place, &*shared, LATEST).expect("it is whole"), Some(21));
    assert!(matches!(pushed(&place, &*shared, "../x", None), Err(Error::Key(_))));
    assert!(matches!(fetched(&place, &*shared, "../x"), Err(Error::Key(_))));
}

#[test]
fn of_two_writers_one_wins_and_the_other_tries_again() {
    let place = Place::new();
    let others = Place::new();
    write(&others, "other.py", "def other(): pass\n");
    let shared = shared(&place);
    // Publishes between the look and the write of another.
    let racing = FaultyPlace {
        inner: &*shared,
        lie: |path: &str, lies: &mut usize| {
            // The first time for the look, the second time for the write.
            let is_listing = path.starts_with(&keys_folder("a/b"));
            *lies += usize::from(is_listing);
            (is_listing && *lies == 2).then_some(Fault::Overtaken(&others))
        },
        lies: Mutex::new(0),
    };
    let won = pushed(&place, &racing, LATEST, None).expect("the second attempt holds");
    assert!(won.held > 0 || won.sent > 0);
    assert!(*racing.lies.lock().expect("nobody panicked") >= 4, "it tried once only");
    assert_eq!(fetched(&place, &*shared, LATEST).expect("it is whole"), Some(20));

    let (place, others) = (&place, &others);
    std::thread::scope(|scope| {
        for writer in [place, others] {
            let shared = super::places::shared(place);
            scope.spawn(move || {
                for _ in 0..6 {
                    pushed(writer, &*shared, LATEST, None).expect("one of the attempts holds");
                }
            });
        }
        for _ in 0..20 {
            let seen = fetched(place, &*shared, LATEST).expect("it is whole");
            assert!(seen == Some(20) || seen == Some(21), "{seen:?}");
        }
    });
}

#[test]
fn what_no_listing_names_goes_in_two_steps_and_nothing_else() {
    let place = Place::new();
    let shared = shared(&place);
    let day = Duration::ZERO;
    pushed(&place, &*shared, LATEST, None).expect("there is room");
    pushed(&place, &*shared, "tree-1", None).expect("there is room");
    write(&place, "m1.py", "def another(): pass\n");
    pushed(&place, &*shared, LATEST, None).expect("there is room");
    let before = objects(&place);
    // A writer that died has left this, and somebody else that.
    fs::write(place.at("shared/a/b/objects/dead-1.lz4"), "x").expect("it is ours");
    fs::write(place.at("shared/a/b/objects/notes.txt"), "x").expect("it is ours");

    assert_eq!(collect(&*shared, "a/b", 50, super::super::collect::DAY).expect("it can be listed"), 0);
    assert_eq!(objects(&place).len(), before.len() + 2, "all of it is too young");
    assert_eq!(collect(&*shared, "a/b", 50, day).expect("it can be listed"), 0);
    assert_eq!(objects(&place).len(), before.len() + 2, "it is marked only");
    assert!(collect(&*shared, "a/b", 50, day).expect("it can be listed") >= 1);
    assert!(!objects(&place).contains("dead-1.lz4") && objects(&place).contains("notes.txt"));
    for key in [LATEST, "tree-1"] {
        assert_eq!(fetched(&place, &*shared, key).expect("it is whole"), Some(20), "{key}");
    }
    // Keys of trees are kept up to a number, and their objects go with them.
    collect(&*shared, "a/b", 0, day).expect("it can be listed");
    collect(&*shared, "a/b", 0, day).expect("it can be listed");
    collect(&*shared, "a/b", 0, day).expect("it can be listed");
    assert_eq!(fetched(&place, &*shared, "tree-1").expect("it can be read"), None);
    assert_eq!(fetched(&place, &*shared, LATEST).expect("it is whole"), Some(20));

    // A writer leaves alone what is marked: here all objects are, though a listing names them.
    let names = serde_json::to_vec(&objects(&place)).expect("names are text");
    shared.put("a/b/marked/x.json", &names, WriteCondition::Absent).expect("there is room");
    let pushed = pushed(&place, &*shared, LATEST, None).expect("there is room");
    assert_eq!(pushed.held, 0);
    // A listing that nobody can read stops all removal.
    fs::write(place.at("shared/a/b/keys/1.1.x.json"), "{").expect("it is ours");
    let before = objects(&place);
    assert!(collect(&*shared, "a/b", 50, day).is_err());
    assert_eq!(objects(&place), before);
}

#[test]
fn lists_that_lag_behind_lose_nothing() {
    let place = Place::new();
    let shared = shared(&place);
    pushed(&place, &*shared, LATEST, Some("t1")).expect("there is room");
    let stale = Observed { lists: Some(fs_copy(&place)), ..Observed::of(&*shared) };
    // A writer that sees none of what was published since sends it again at worst.
    write(&place, "m1.py", "def another(): pass\n");
    pushed(&place, &*shared, LATEST, Some("t2")).expect("there is room");
    write(&place, "m2.py", "def third(): pass\n");
    pushed(&place, &stale, LATEST, Some("t3")).expect("there is room");
    assert_eq!(fetched(&place, &*shared, LATEST).expect("it is whole"), Some(20));
    // Objects removed by lists of before are named by no listing of today.
    for _ in 0..3 {
        collect(&stale, "a/b", 50, Duration::ZERO).expect("it can be listed");
        assert_eq!(fetched(&place, &*shared, LATEST).expect("it is whole"), Some(20));
    }
}

/// A place that notes what is written, and whose lists may be those of an earlier time.
struct Observed<'a> {
    inner: &'a dyn place::Place,
    puts: Mutex<Vec<String>>,
    /// A copy to list instead.
    lists: Option<tempfile::TempDir>,
}

impl<'a> Observed<'a> {
    fn of(inner: &'a dyn place::Place) -> Self {
        Self { inner, puts: Mutex::default(), lists: None }
    }
}

/// A copy of the shared folder.
fn fs_copy(place: &Place) -> tempfile::TempDir {
    let copy = tempfile::tempdir().expect("there is room");
    let copied = std::process::Command::new("cp").arg("-a").arg(place.at("shared/.")).arg(copy.path()).status();
    assert!(copied.expect("it is there").success());
    copy
}

impl place::Place for Observed<'_> {
    fn shown(&self) -> String {
        self.inner.shown()
    }

    fn get(&self, path: &str, most: u64) -> Result<Option<(Vec<u8>, String)>, Error> {
        self.inner.get(path, most)
    }

    fn put(&self, path: &str, bytes: &[u8], when: WriteCondition<'_>) -> Result<bool, Error> {
        self.puts.lock().expect("nobody panicked").push(path.to_owned());
        self.inner.put(path, bytes, when)
    }

    fn list(&self, folder: &str) -> Result<Vec<PlaceEntry>, Error> {
        let Some(copy) = &self.lists else { return self.inner.list(folder) };
        let url = format!("file://{}", copy.path().display());
        place::open(&url, &net::Client::new(net::Options::default()))?.list(folder)
    }

    fn folders(&self, folder: &str) -> Result<Option<Vec<String>>, Error> {
        self.inner.folders(folder)
    }

    fn remove(&self, path: &str) -> Result<(), Error> {
        self.inner.remove(path)
    }
}

#[test]
fn importers_are_listed_before_the_index_is_and_once() {
    let place = Place::new();
    let shared = shared(&place);
    let importers = |modules: &[&str]| {
        let modules = modules.iter().map(|module| (*module).to_owned()).collect();
        super::super::imports::importers(&*shared, &modules).expect("they can be listed")
    };
    let publish = |imports: &[&str], tree: &str| {
        let (copy, contents, facts) = place.copied(Some(tree));
        let imports = imports.iter().map(|import| (*import).to_owned()).collect();
        let counting = Observed::of(&*shared);
        push(&copy, contents, Facts { imports, ..facts }, &counting, LATEST, &watcher()).expect("there is room");
        let puts = counting.puts.into_inner().expect("nobody panicked");
        let listing = puts.iter().position(|path| path.contains("/keys/")).expect("it is published");
        assert!(puts[listing..].iter().all(|path| !path.starts_with(".imports")), "{puts:?}");
        puts.iter().filter(|path| path.starts_with(".imports")).count()
    };
    let long = format!("golang/{}", "long/".repeat(60));
    assert_eq!(publish(&["pypi/tea.pot", "npm/@tea/pot", "pypi/TeaPot", &long], "t1"), 4);
    for import in ["pypi/tea.pot", "npm/@tea/pot", "pypi/TeaPot", &long] {
        assert_eq!(importers(&[import]).into_iter().collect::<Vec<_>>(), ["a/b"], "{import}");
    }
    assert!(importers(&["pypi/teapot", "npm/tea", "pypi/tea", "golang/long"]).is_empty());
    assert_eq!(publish(&["pypi/tea.pot", "cargo/leaf"], "t2"), 1, "the others are there");
    assert_eq!(importers(&["cargo/leaf", "pypi/none"]).len(), 1);
    assert_eq!(importers(&["npm/@tea/pot"]).len(), 1, "it is looked at in vain");
    // Of too many, none is listed, and all may be meant.
    let many: Vec<String> = (0..6_000).map(|at| format!("cargo/crate{at}")).collect();
    assert_eq!(publish(&many.iter().map(String::as_str).collect::<Vec<_>>(), "t3"), 1);
    assert_eq!(importers(&["maven/anything"]).len(), 1);
}

#[test]
fn a_state_that_was_asked_for_earlier_replaces_no_later_one() {
    let place = Place::new();
    let shared = shared(&place);
    let pushed = |order: Option<u64>, commit: &str| {
        let (copy, contents, facts) = place.copied(Some("one-tree"));
        let facts = Facts { order, commit: Some(commit.to_owned()), ..facts };
        let pushed = push(&copy, contents, facts, &*shared, LATEST, &watcher()).expect("there is room");
        (pushed.is_late, pushed.is_there, pushed.facts.commit.unwrap_or_default())
    };
    let now = |commit: &str| (false, false, commit.to_owned());
    assert_eq!(pushed(Some(5), "five"), now("five"));
    assert_eq!(pushed(Some(4), "four"), (true, false, "five".to_owned()));
    assert_eq!(pushed(Some(5), "five"), (false, true, "five".to_owned()));
    // The same files under another commit are another state, which is to be known by it.
    assert_eq!(pushed(Some(6), "six"), now("six"));
    // By hand there is no order: the last one stays.
    assert_eq!(pushed(None, "by hand"), (false, true, "six".to_owned()), "the tree is there");
    assert_eq!(pushed(Some(7), "seven"), now("seven"));
}

#[test]
fn a_place_that_lies_gives_errors_and_no_wrong_answers() {
    let place = Place::new();
    let shared = shared(&place);
    pushed(&place, &*shared, LATEST, None).expect("there is room");
    let lies: [(&str, Liar); 6] = [
        ("refuses", |_, _| Some(Fault::Refused)),
        ("refuses objects", |path, _| path.contains("objects").then_some(Fault::Refused)),
        ("is too short", |path, _| path.contains("objects").then_some(Fault::Short)),
        ("is too long", |path, _| path.contains("objects").then_some(Fault::Long)),
        ("has lost an object", |path, lies| {
            *lies += usize::from(path.contains("objects"));
            (*lies % 7 == 5).then_some(Fault::Gone)
        }),
        ("cuts the listing", |path, _| path.contains("keys").then_some(Fault::Short)),
    ];
    for (what, lie) in lies {
        let lying = FaultyPlace { inner: &*shared, lie, lies: Mutex::new(0) };
        let seen = fetched(&place, &lying, LATEST);
        assert!(seen.is_err(), "{what}: {seen:?}");
        place.is_clean(what);
    }
    // A listing of another repository under this name.
    let json = fs::read(place.at("shared").join(key_path("a/b", LATEST))).expect("it is there");
    let mut listing = Listing::read(&json, "x").expect("it is whole");
    listing.facts.repo = "a/c".to_owned();
    fs::write(place.at("shared").join(key_path("a/b", LATEST)), listing.to_json()).expect("it is ours");
    assert!(fetched(&place, &*shared, LATEST).is_err());
}

/// A choice of lies by path, with a counter.
type Liar = fn(&str, &mut usize) -> Option<Fault<'static>>;

/// A wrong answer.
enum Fault<'a> {
    Refused,
    Short,
    Long,
    Gone,
    /// Another writer publishes before this write.
    Overtaken(&'a Place),
}

/// A place that lies now and then.
struct FaultyPlace<'a, F> {
    inner: &'a dyn place::Place,
    lie: F,
    lies: Mutex<usize>,
}

impl<'l, F: Fn(&str, &mut usize) -> Option<Fault<'l>> + Send + Sync> FaultyPlace<'_, F> {
    fn lie(&self, path: &str) -> Option<Fault<'l>> {
        (self.lie)(path, &mut self.lies.lock().expect("nobody panicked"))
    }
}

impl<'l, F: Fn(&str, &mut usize) -> Option<Fault<'l>> + Send + Sync> place::Place for FaultyPlace<'_, F> {
    fn shown(&self) -> String {
        "a liar".to_owned()
    }

    fn get(&self, path: &str, most: u64) -> Result<Option<(Vec<u8>, String)>, Error> {
        let lie = self.lie(path);
        let Some((mut bytes, tag)) = self.inner.get(path, most)? else { return Ok(None) };
        match lie {
            Some(Fault::Refused) => return Err(Error::Refused { place: self.shown(), status: 503 }),
            Some(Fault::Gone) => return Ok(None),
            Some(Fault::Short) => bytes.truncate(bytes.len() / 2),
            Some(Fault::Long) => bytes.extend(b"more"),
            _ => {}
        }
        Ok(Some((bytes, tag)))
    }

    fn put(&self, path: &str, bytes: &[u8], when: WriteCondition<'_>) -> Result<bool, Error> {
        if let Some(Fault::Overtaken(other)) = self.lie(path) {
            pushed(other, self.inner, LATEST, None)?;
        }
        self.inner.put(path, bytes, when)
    }

    fn list(&self, folder: &str) -> Result<Vec<PlaceEntry>, Error> {
        self.inner.list(folder)
    }

    fn folders(&self, folder: &str) -> Result<Option<Vec<String>>, Error> {
        self.inner.folders(folder)
    }

    fn remove(&self, path: &str) -> Result<(), Error> {
        self.inner.remove(path)
    }
}
