//! Shipments from strangers: whatever an archive says, nothing is written outside, nothing half is accepted.

mod places;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use serde_json::{Value, json};
use tar::{Builder, EntryType, Header};

use super::listing::Listing;
use super::parts::packed;
use super::{Error, Facts, ShipmentControl, pack, unpack};
use codelode_base::config::Config;
use codelode_index::pipeline::{self, GitHashes};
use codelode_store::{Registry, Store, StoreCopy};

static NEVER: AtomicBool = AtomicBool::new(false);

fn watcher() -> ShipmentControl<'static> {
    ShipmentControl { progress: &codelode_base::model::unfollowed, cancelled: &NEVER }
}

/// A packed repository, and an empty index directory to unpack into.
struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        let place = Self { folder: tempfile::tempdir().expect("there is room") };
        let source = place.at("source");
        fs::create_dir(&source).expect("the folder is ours");
        for at in 0..20 {
            fs::write(source.join(format!("m{at}.py")), format!("def f{at}(): return {at}\n")).expect("it is ours");
        }
        let (copy, contents, facts) = place.copied(None);
        pack(&copy, contents, facts, &place.at("a.tar.zst"), &watcher()).expect("there is room");
        place
    }

    /// A copy of the index of the sources as they are, of this tree.
    fn copied(&self, tree: Option<&str>) -> (StoreCopy, Vec<u8>, Facts) {
        let config = Config { home: self.at("home"), ..Config::default() };
        let patience = Duration::from_secs(10);
        let watcher = pipeline::RunControl { progress: &codelode_base::model::unfollowed, cancelled: &NEVER, patience };
        let report = pipeline::index_folder(&self.at("source"), &config, &Default::default(), &watcher);
        let report = report.expect("it is indexed");
        let registry = Registry::new(&config.home);
        let copy = registry.store(&report.sidecar.store).copy(&report.sidecar.snapshot, &registry);
        let copy = copy.expect("it is whole");
        let contents = GitHashes::names(copy.snapshot());
        let tree = tree.map(str::to_owned);
        (copy, contents, Facts { repo: "a/b".to_owned(), tree, file_count: 20, ..Facts::default() })
    }

    fn at(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn registry(&self) -> Registry {
        Registry::new(self.at("other"))
    }

    fn store(&self) -> Store {
        self.registry().store("there")
    }

    /// Unpacks an archive and puts the store into its place.
    fn take(&self, archive: &Path) -> Result<bool, Error> {
        let taken = unpack(archive, &self.registry(), &watcher())?;
        taken.accept(&self.store(), "name", false, Duration::ZERO)
    }

    /// Takes an archive of these entries, which must be refused without a trace.
    fn refuses(&self, what: &str, entries: &[Entry]) {
        let path = self.at("hostile.tar.zst");
        fs::write(&path, archive(entries)).expect("it is ours");
        let refused = self.take(&path);
        assert!(
            matches!(refused, Err(Error::Damaged { .. } | Error::Store(_) | Error::NoRoom { .. })),
            "{what}: {refused:?}"
        );
        self.is_clean(what);
    }

    /// Nothing is left of an attempt, and nothing was written elsewhere.
    fn is_clean(&self, what: &str) {
        assert!(self.store().manifest().is_err(), "{what}: something is published");
        let left = fs::read_dir(self.at("other/copies")).map_or(0, Iterator::count);
        assert_eq!(left, 0, "{what}: something is left");
        let mut names: Vec<String> = fs::read_dir(self.folder.path())
            .expect("it is there")
            .map(|entry| entry.expect("it can be listed").file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names.retain(|name| !["a.tar.zst", "hostile.tar.zst", "home", "other", "shared", "source"].contains(&&**name));
        assert_eq!(names, [""; 0], "{what}");
    }
}

/// An entry of an archive.
#[derive(Clone)]
struct Entry {
    path: String,
    kind: EntryType,
    content: Vec<u8>,
}

fn entry(path: &str, content: &[u8]) -> Entry {
    Entry { path: path.to_owned(), kind: EntryType::Regular, content: content.to_owned() }
}

/// An archive as `pack` writes it, of any entries.
fn archive(entries: &[Entry]) -> Vec<u8> {
    let mut tar = Builder::new(Vec::new());
    for Entry { path, kind, content } in entries {
        let mut header = Header::new_ustar();
        header.set_entry_type(*kind);
        header.set_size(content.len() as u64);
        // By hand, since the library refuses to write what an attacker would.
        header.as_old_mut().name[..path.len()].copy_from_slice(path.as_bytes());
        if matches!(kind, EntryType::Symlink | EntryType::Link) {
            header.set_link_name("/etc/passwd").expect("it is short");
            header.set_size(0);
        }
        header.set_cksum();
        tar.append(&header, &content[..]).expect("memory takes all bytes");
    }
    let tar = tar.into_inner().expect("memory takes all bytes");
    ruzstd::encoding::compress_to_vec(&tar[..], ruzstd::encoding::CompressionLevel::Fastest)
}

/// The entries of an archive.
fn entries(archive: &Path) -> Vec<Entry> {
    let file = fs::File::open(archive).expect("it is there");
    let mut tar = tar::Archive::new(super::archive::frames(file));
    let read = |entry: std::io::Result<tar::Entry<'_, _>>| {
        let mut entry = entry.expect("it is whole");
        let mut content = Vec::new();
        std::io::Read::read_to_end(&mut entry, &mut content).expect("it is whole");
        let path = entry.path().expect("it has one").to_string_lossy().into_owned();
        Entry { path, kind: EntryType::Regular, content }
    };
    tar.entries().expect("it is one").map(read).collect()
}

/// The same entries with another listing.
fn relisted(entries: &[Entry], change: impl FnOnce(&mut Value)) -> Vec<Entry> {
    let mut listing: Value = serde_json::from_slice(&entries[0].content).expect("it is JSON");
    change(&mut listing);
    let first = Entry { content: listing.to_string().into_bytes(), ..entries[0].clone() };
    std::iter::once(first).chain(entries[1..].iter().cloned()).collect()
}

#[test]
fn a_store_arrives_whole_and_for_its_owner_alone() {
    use std::os::unix::fs::PermissionsExt;
    let place = Place::new();
    let archive = place.at("a.tar.zst");
    let mode = |path: &Path| fs::metadata(path).expect("it is there").permissions().mode() & 0o777;
    assert_eq!(mode(&archive), 0o600);
    assert!(place.take(&archive).expect("it is whole"));
    let snapshot = place.store().snapshot("name").expect("it is there");
    assert_eq!(snapshot.facts().files, 20);
    snapshot.verify().expect("it is whole");
    assert_eq!(mode(&place.at("other")), 0o700);
    assert_eq!(mode(place.store().dir()), 0o700);
    for entry in fs::read_dir(place.store().dir()).expect("it is there").flatten() {
        let expected = if entry.path().is_dir() { 0o700 } else { 0o600 };
        let name = entry.file_name();
        assert!(name == "lock" || mode(&entry.path()) == expected, "{name:?}");
    }
    // Present files are kept.
    let before = place.store().stamp();
    assert!(!place.take(&archive).expect("it is whole"));
    assert_eq!(place.store().stamp(), before);
}

#[test]
fn hostile_archives_are_refused() {
    let place = Place::new();
    let whole = entries(&place.at("a.tar.zst"));
    assert!(archive(&whole).len() > 1000, "there is something to attack");

    place.refuses("nothing", &[]);
    place.refuses("no listing", &whole[1..]);
    place.refuses("a missing object", &whole[..whole.len() - 1]);
    for path in ["../evil", "/tmp/evil", "a/../../evil", "a/b/objects/evil"] {
        let mut more = whole.clone();
        more.push(entry(path, b"evil"));
        place.refuses(path, &more);
    }
    for kind in [EntryType::Symlink, EntryType::Link, EntryType::Char, EntryType::Fifo, EntryType::GNULongName] {
        let mut others = whole.clone();
        others[1].kind = kind;
        place.refuses("an object that is not a file", &others);
        others[0].kind = kind;
        place.refuses("a listing that is not a file", &others);
    }
    let mut others = whole.clone();
    others[1].content = packed(b"other bytes");
    place.refuses("another content", &others);
    // Sixteen megabytes of zeros in some kilobytes, and as many in the archive itself.
    others[1].content = packed(&vec![0; 16 << 20]);
    place.refuses("a bomb in an object", &others);
    others[1].content = vec![0; 1 << 25];
    place.refuses("a bomb in the archive", &others);
    others[1].content = b"no frame at all".to_vec();
    place.refuses("no object", &others);
}

#[test]
fn listings_that_lie_are_refused() {
    let place = Place::new();
    let whole = entries(&place.at("a.tar.zst"));
    for name in
        ["../evil", "/tmp/evil", "index/../../evil", "lock", "index/.x", "", "a b", "index", "manifest.json.new"]
    {
        let named = relisted(&whole, |listing| listing["files"][0]["name"] = json!(name));
        place.refuses(name, &named);
    }
    for bytes in [0, 1, (16 << 20) + 1, u64::MAX] {
        let other = relisted(&whole, |listing| listing["files"][0]["parts"][0]["bytes"] = json!(bytes));
        place.refuses("another length", &other);
    }
    let hash = "0".repeat(64);
    let other = relisted(&whole, |listing| listing["files"][0]["parts"][0]["hash"] = json!(hash));
    place.refuses("another hash", &other);
    let other = relisted(&whole, |listing| {
        let first = listing["files"][0].clone();
        listing["files"].as_array_mut().expect("it is a list").push(first);
    });
    place.refuses("a file twice", &other);
    let other = relisted(&whole, |listing| {
        let mut more = listing["files"][0].clone();
        more["name"] = json!("pack.99");
        listing["files"].as_array_mut().expect("it is a list").push(more);
    });
    place.refuses("a file that the store does not name", &other);
    let other = relisted(&whole, |listing| {
        let part = listing["files"][0]["parts"][0].clone();
        listing["files"][0]["parts"] = json!(vec![part; 100_000]);
    });
    place.refuses("a bomb in the listing", &other);
    let other = relisted(&whole, |listing| {
        let files = listing["files"].as_array_mut().expect("it is a list");
        files.retain(|file| file["name"] != "manifest.json");
    });
    let without: Vec<Entry> = other;
    place.refuses("no manifest", &without);
    let newer = relisted(&whole, |listing| listing["content"] = json!(9999));
    let path = place.at("hostile.tar.zst");
    fs::write(&path, archive(&newer)).expect("it is ours");
    assert!(matches!(place.take(&path), Err(Error::Version { .. })));
    place.is_clean("another version");
    assert!(Listing::read(b"{\"version\":1", "x").is_err());
}

#[test]
fn a_cut_or_changed_archive_is_refused_or_the_same() {
    let place = Place::new();
    let whole = fs::read(place.at("a.tar.zst")).expect("it is there");
    let path = place.at("hostile.tar.zst");
    let mut random = 1_u64;
    let mut next = |below: usize| {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (random >> 33) as usize % below
    };
    for _ in 0..60 {
        let cut = next(whole.len());
        fs::write(&path, &whole[..cut]).expect("it is ours");
        // The end of a tar is zeros, which may be missing.
        match place.take(&path) {
            Err(_) => place.is_clean("a cut archive"),
            Ok(_) => {
                place.store().snapshot("name").and_then(|snapshot| snapshot.verify()).expect("it is whole");
                place.store().remove(Duration::ZERO).expect("it is ours");
            }
        }
        let mut changed = whole.clone();
        let at = next(whole.len());
        changed[at] ^= 1 << next(8);
        fs::write(&path, &changed).expect("it is ours");
        match place.take(&path) {
            Err(_) => place.is_clean("a changed archive"),
            Ok(_) => {
                place.store().snapshot("name").and_then(|snapshot| snapshot.verify()).expect("it is whole");
                place.store().remove(Duration::ZERO).expect("it is ours");
            }
        }
    }
}
