//! Repositories made of any bytes.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::panic::{self, AssertUnwindSafe};
use std::path::Path;
use std::sync::Once;
use std::sync::atomic::AtomicBool;

use flate2::{Compression, write::ZlibEncoder};
use gix::odb::pack;
use sha1::{Digest, Sha1};

use super::cache::packs::join;
use super::history::bare;
use super::history::commit::open;
use super::history::contents::PackBundles;
use super::history::sound::Depth;
use super::{Commit, History, Repository, blame, worktrees};
use codelode_base::config::Secrets;
use codelode_base::model::{FIRST, SourceTree};

/// Parts of the input: a byte that says of which kind it is, its length in two bytes, and its bytes.
fn parts(mut data: &[u8]) -> Vec<(u8, &[u8])> {
    let mut parts = Vec::new();
    while let Some(([kind, low, high], rest)) = data.split_first_chunk() {
        let (part, after) = rest.split_at(usize::from(u16::from_le_bytes([*low, *high])).min(rest.len()));
        parts.push((*kind, part));
        data = after;
    }
    parts
}

fn zlib(parts: &[&[u8]]) -> Vec<u8> {
    let mut packed = ZlibEncoder::new(Vec::new(), Compression::fast());
    for part in parts {
        packed.write_all(part).expect("memory takes everything");
    }
    packed.finish().expect("memory takes everything")
}

/// A pack as a server sends it, indexed as after a fetch; or, by the first byte, with an index beside it. It is read,
/// joined with others and read again.
pub fn packs(data: &[u8]) {
    let Some((first, rest)) = data.split_first() else { return };
    let folder = tempfile::tempdir().expect("there is room for a folder");
    bare::init(folder.path()).expect("the folder is ours");
    let packs = folder.path().join("objects/pack");
    match first % 4 {
        0 => receive(&built(rest), &packs),
        1 => receive(&signed(rest), &packs),
        2 => receive(rest, &packs),
        _ => {
            for ((_, part), ending) in parts(rest).into_iter().zip(["pack", "idx"]) {
                fs::write(packs.join("pack-a").with_extension(ending), part).expect("the folder is ours");
            }
        }
    }
    objects_of(folder.path());
    if first & 4 == 0 {
        return;
    }
    // So many are joined.
    for bundle in bare::entries(&packs) {
        for number in 0..21 {
            let name = bundle.file_name().expect("it was listed").to_string_lossy();
            let _ = fs::copy(&bundle, packs.join(format!("{name}").replacen("pack-", &format!("pack-{number}"), 1)));
        }
    }
    let _ = join(&packs);
    objects_of(folder.path());
}

/// A pack of the entries that the parts are: whole objects, and deltas to one before or to an id.
fn built(data: &[u8]) -> Vec<u8> {
    let parts = parts(data);
    let mut pack = [&b"PACK\0\0\0\x02"[..], &(parts.len() as u32).to_be_bytes()].concat();
    let mut starts = Vec::new();
    for (kind, part) in &parts {
        starts.push(pack.len());
        let mut content = *part;
        let mut base = Vec::new();
        let kind = match kind % 8 {
            0 | 5 => 3,
            6 => {
                let (back, rest) = part.split_first().unwrap_or((&0, &[]));
                let at = starts.len().saturating_sub(1 + usize::from(*back));
                (base, content) = (distance(pack.len() - starts[at]), rest);
                6
            }
            7 => {
                // The id of a part before, as a blob.
                let (which, rest) = part.split_first().unwrap_or((&0, &[]));
                let (_, of) = parts[usize::from(*which) % parts.len()];
                let mut id = Sha1::new();
                id.update(format!("blob {}\0", of.len()));
                id.update(of);
                (base, content) = (id.finalize().to_vec(), rest);
                7
            }
            kind => kind,
        };
        let mut size = content.len();
        let mut head = vec![kind << 4 | (size & 15) as u8];
        size >>= 4;
        while size > 0 {
            *head.last_mut().expect("it has one") |= 128;
            head.push((size & 127) as u8);
            size >>= 7;
        }
        pack.extend([head, base, zlib(&[content])].concat());
    }
    signed(&[&pack[..], &[0; 20]].concat())
}

/// How far back a base is, as packs write it.
fn distance(mut back: usize) -> Vec<u8> {
    let mut bytes = vec![(back & 127) as u8];
    while back > 127 {
        back = (back >> 7) - 1;
        bytes.insert(0, (back & 127) as u8 | 128);
    }
    bytes
}

/// The pack with the right hash at its end.
fn signed(pack: &[u8]) -> Vec<u8> {
    let body = &pack[..pack.len().saturating_sub(20)];
    [body, &Sha1::digest(body)].concat()
}

fn receive(pack: &[u8], folder: &Path) {
    let options = pack::bundle::write::Options {
        thread_limit: Some(1),
        iteration_mode: pack::data::input::Mode::Verify,
        alloc_limit_bytes: Some(1 << 30),
        ..pack::bundle::write::Options::default()
    };
    let none: Option<gix::OdbHandle> = None;
    let (mut progress, kind) = (gix::progress::Discard, gix::hash::Kind::Sha1);
    let stop = AtomicBool::new(false);
    let _ = pack::Bundle::write_to_directory(&mut &*pack, Some(folder), &mut progress, &stop, none, kind, options);
}

/// Reads every object of a bare repository in both ways.
fn objects_of(path: &Path) {
    let packs = path.join("objects/pack");
    let contents = PackBundles::open(&packs);
    let Ok(repository) = open(path, Depth::Everything) else { return };
    let repository = repository.to_thread_local();
    let indexes =
        bare::entries(&packs).into_iter().filter(|path| path.extension().is_some_and(|ending| ending == "idx"));
    for index in indexes.take(3) {
        let Ok(index) = pack::index::File::at(index, gix::hash::Kind::Sha1) else { continue };
        for id in index.iter().map(|entry| entry.oid).take(50) {
            let mut buffer = Vec::new();
            contents.read(&id, FIRST, &|_| true, &mut buffer);
            let _ = (repository.find_header(id), repository.find_object(id).map(|object| object.data.len()));
        }
    }
}

/// A working tree whose objects have the ids that their places say, so that they may hold each other in any way.
struct Made {
    folder: tempfile::TempDir,
    objects: u8,
}

impl Made {
    fn new() -> Self {
        let made = Self { folder: tempfile::tempdir().expect("there is room for a folder"), objects: 0 };
        for folder in ["objects/info", "objects/pack", "refs/heads", "refs/tags"] {
            fs::create_dir_all(made.folder.path().join(".git").join(folder)).expect("the folder is ours");
        }
        made.write("config", b"[core]\n\trepositoryformatversion = 0\n\tbare = false\n");
        made.write("HEAD", &[&b"01".repeat(20)[..], b"\n"].concat());
        made
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn write(&self, name: &str, bytes: &[u8]) {
        fs::write(self.path().join(".git").join(name), bytes).expect("the folder is ours");
    }

    /// Adds an object; gives the byte that its id repeats.
    fn object(&mut self, kind: &str, bytes: &[u8]) -> u8 {
        self.objects = self.objects.saturating_add(1);
        let (first, rest) = (format!("{:02x}", self.objects), format!("{:02x}", self.objects).repeat(19));
        let _ = fs::create_dir(self.path().join(".git/objects").join(&first));
        let head = format!("{kind} {}\0", bytes.len());
        self.write(&format!("objects/{first}/{rest}"), &zlib(&[head.as_bytes(), bytes]));
        self.objects
    }
}

/// Git's own files and loose objects, each of any bytes; the id of the first object is twenty ones, and so on.
pub fn objects(data: &[u8]) {
    let mut made = Made::new();
    for (kind, part) in parts(data).into_iter().take(200) {
        match kind % 16 {
            0 => made.write("config", part),
            1 => made.write("packed-refs", part),
            2 => made.write("index", part),
            3 => made.write("HEAD", part),
            4 => made.write("shallow", part),
            5 => made.write("refs/heads/main", part),
            6 => made.write("objects/info/commit-graph", part),
            7 => made.write("objects/pack/multi-pack-index", part),
            8 | 9 => drop(made.object("commit", part)),
            10 | 11 => drop(made.object("tree", part)),
            12 => drop(made.object("tag", part)),
            _ => drop(made.object("blob", part)),
        }
    }
    let path = made.path();
    if let Some(found) = Repository::open(path) {
        let _ = (found.head(), found.origin(), found.tracks_below(""), found.tracks_below("a"), found.worktree());
    }
    worktrees(path);
    let _ = Commit::open(path, "main").map(|commit| commit.time());
    if let Ok(commit) = Commit::open(path, "HEAD") {
        for entry in commit.entries().unwrap_or_default().iter().take(50) {
            let _ = commit.read(entry);
        }
    }
    if let Ok(history) = History::open(path, &Secrets::default()) {
        for revision in ["HEAD~1", "main", "v1", "0101"] {
            let _ = history.commit(revision).and_then(|old| history.changed(&old, &hex(1)));
        }
    }
}

/// Commits of text files, compared with each other and asked who wrote what. A part of an odd kind is a file, with its
/// name in its first line; one of an even kind ends a commit.
pub fn diffs(data: &[u8]) {
    let mut made = Made::new();
    let (mut files, mut known): (BTreeMap<String, u8>, BTreeMap<Vec<u8>, u8>) = (BTreeMap::new(), BTreeMap::new());
    let mut commits: Vec<u8> = Vec::new();
    for (kind, part) in parts(data).into_iter().chain([(0, &b""[..])]).take(60) {
        if kind % 2 == 1 {
            let text = String::from_utf8_lossy(part);
            let (name, _) = text.split_once('\n').unwrap_or((&text, ""));
            let name: String = name.chars().filter(|c| !matches!(c, '/' | '\0')).collect();
            let content = part.splitn(2, |byte| *byte == b'\n').nth(1).unwrap_or_default();
            if name.is_empty() || content == b"-" {
                files.remove(&name);
                continue;
            }
            let id = *known.entry(content.to_vec()).or_insert_with(|| made.object("blob", content));
            files.insert(name, id);
            continue;
        }
        let mut tree = Vec::new();
        for (name, id) in &files {
            tree.extend_from_slice(format!("100644 {name}\0").as_bytes());
            tree.extend_from_slice(&[*id; 20]);
        }
        let tree = made.object("tree", &tree);
        let parent = commits.last().map_or_else(String::new, |id| format!("parent {}\n", hex(*id)));
        let who = format!("A <a@b.c> {} +0000", 1_700_000_000 + commits.len());
        let text = format!("tree {}\n{parent}author {who}\ncommitter {who}\n\nchange\n", hex(tree));
        commits.push(made.object("commit", text.as_bytes()));
    }
    let Some(last) = commits.last() else { return };
    made.write("HEAD", format!("{}\n", hex(*last)).as_bytes());
    let Ok(history) = History::open(made.path(), &Secrets::default()) else { return };
    for pair in commits.windows(2) {
        let (old, new) = (hex(pair[0]), hex(pair[1]));
        let _ = history.changed_or_renamed(&old, &new);
        for file in history.changed(&old, &new).unwrap_or_default() {
            [file.old, file.new].into_iter().flatten().for_each(|content| drop(history.read(content, 1 << 20)));
        }
    }
    for name in files.keys().take(3) {
        for lines in [None, Some(1..=2), Some(2..=100)] {
            beside_its_own_checks(|| drop(blame(made.path(), "HEAD", name, lines)));
        }
    }
}

/// Runs something in which panics of the library for blame are no finding: it compares its results where debug
/// assertions are on, as they are here, and in no build that is used.
fn beside_its_own_checks(run: impl FnOnce()) {
    static QUIET: Once = Once::new();
    QUIET.call_once(|| {
        let report = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if !info.location().is_some_and(|place| place.file().contains("gix-blame")) {
                report(info);
            }
        }));
    });
    let _ = panic::catch_unwind(AssertUnwindSafe(run));
}

fn hex(id: u8) -> String {
    format!("{id:02x}").repeat(20)
}
