//! The index in bad times, through the real program: killed, raced, without room, without the right to write, moved,
//! shared, and behind its sources.
//!
//! `CODELODE_KILLS=500 cargo test --test all killed` kills more often than daily work can wait for.

mod contents;
mod killed;
mod places;
mod power;
mod shared;
mod soak;
mod upgrade;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::client::{PATIENCE, Server};
use crate::place::{Place, Ran};
use crate::random::Random;
use codelode::store::{Clause, Error, Field, Registry, Snapshot};

/// Contents of a folder or an index: text by path.
type State = BTreeMap<String, String>;

impl Place {
    /// A place whose sources are so and indexed, and old enough that their times are believed.
    fn holding(state: &State) -> Self {
        let place = Self::new();
        place.rewrite(&State::new(), state);
        place.age();
        place.found(&["index", "."]);
        place
    }

    /// Makes the sources so; they were as in `before`.
    fn rewrite(&self, before: &State, after: &State) {
        for path in before.keys().filter(|path| !after.contains_key(*path)) {
            fs::remove_file(self.source().join(path)).expect("it was written");
        }
        for (path, text) in after.iter().filter(|(path, text)| before.get(*path) != Some(text)) {
            self.write(path, text);
        }
    }

    /// A shell, to be run there; `$codelode` is the program.
    fn shell(&self, script: &str) -> Command {
        let mut command = Command::new("bash");
        command.args(["-c", script]).env("codelode", env!("CARGO_BIN_EXE_codelode"));
        self.at_home(command)
    }

    /// The same in a mount namespace of its own, where anybody may mount and nothing outlives the shell.
    fn mounting_shell(&self, script: &str) -> Command {
        let mut command = Command::new("unshare");
        command.args(["--map-root-user", "--mount", "bash", "-c", script]);
        command.env("codelode", env!("CARGO_BIN_EXE_codelode"));
        self.at_home(command)
    }

    /// Whether this machine lets us mount.
    fn can_mount(&self) -> bool {
        let script = format!("mount -t tmpfs none {:?}", self.path());
        self.mounting_shell(&script).output().is_ok_and(|output| output.status.success())
    }

    /// The newest snapshot of the sources; `None` when they are not indexed.
    fn snapshot(&self) -> Option<Snapshot> {
        snapshot(&self.index(), &self.source())
    }

    /// Contents of the index; nothing when there is none.
    fn held(&self) -> State {
        self.snapshot().map_or_else(State::new, |snapshot| state_of(&snapshot))
    }
}

/// The newest snapshot of a folder, as a reader in another process than the writer gets it.
fn snapshot(index: &Path, root: &Path) -> Option<Snapshot> {
    let registry = Registry::new(index.join("codelode"));
    let sidecar = registry.get(&Registry::local_id(root))?;
    match registry.store(&sidecar.store).snapshot(&sidecar.snapshot) {
        Ok(snapshot) => Some(snapshot),
        Err(Error::Missing(_) | Error::NoSnapshot) => None,
        Err(err) => panic!("a reader is never in the way: {err}"),
    }
}

/// Contents of a snapshot. Its parts must agree: content, symbols, search and counts.
fn state_of(snapshot: &Snapshot) -> State {
    snapshot.verify().expect("its tables are whole");
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_owned()).expect("the tests write text");
    let state: State = snapshot.files().map(|file| (file.path().to_owned(), text(file.content()))).collect();
    assert_eq!(snapshot.facts().files, state.len() as u64);
    let mut written = BTreeSet::new();
    for file in snapshot.files() {
        for symbol in file.symbols() {
            assert_eq!(symbol.source(), symbol.span().of(file.content()), "{}", symbol.id());
            written.insert(symbol.id());
        }
    }
    let clause = Clause::new(Field::Name, "marker", 1.0);
    let found = snapshot.search(&[clause], 100_000, &mut |_| true).expect("what is mapped can be searched");
    let found: BTreeSet<String> =
        found.into_iter().map(|(id, _)| snapshot.symbol(id).expect("it is in this snapshot").id()).collect();
    assert_eq!(found, written, "search and content are of one moment");
    let symbols: BTreeSet<&str> =
        state.values().flat_map(|text| text.lines()).filter_map(|line| line.strip_prefix("def ")).collect();
    assert_eq!(symbols.len(), written.len());
    state
}

/// A module that says which file and which generation it is.
fn module(path: &str, generation: usize) -> String {
    let stem: String = path.chars().map(|c| if c.is_alphanumeric() { c } else { '_' }).collect();
    let filler = format!("    # {}\n", "so that there is something to write ".repeat(1 + generation % 7));
    format!("def marker_{stem}_{generation}(value):\n{filler}    return value + {generation}\n")
}

/// The generation that all files are of.
fn generation_of(state: &State) -> usize {
    let of = |text: &str| text.rsplit(' ').next().and_then(|last| last.trim().parse().ok()).expect("a module ends so");
    let all: BTreeSet<usize> = state.values().map(|text| of(text)).collect();
    assert_eq!(all.len(), 1, "a mix of generations");
    all.into_iter().next().expect("there is one")
}

/// So many modules of one generation.
fn modules(n: usize, generation: usize) -> State {
    let paths = (0..n).map(|n| format!("part_{}/module_{n}.py", n % 3));
    paths.map(|path| (path.clone(), module(&path, generation))).collect()
}

impl Random {
    /// A few files changed, added and removed.
    fn edited(&mut self, state: &State, generation: usize) -> State {
        let mut edited = state.clone();
        for _ in 0..1 + self.below(8) {
            let path = format!("part_{}/module_{}.py", self.below(3), self.below(20));
            match self.below(4) {
                0 => drop(edited.remove(&path)),
                _ => drop(edited.insert(path.clone(), module(&path, generation))),
            }
        }
        edited
    }
}

/// Every file below a folder with its inode, as far as it can be seen while somebody writes.
fn names(folder: &Path) -> BTreeSet<(PathBuf, u64)> {
    use std::os::unix::fs::DirEntryExt;
    let mut all = BTreeSet::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        all.insert((entry.path(), entry.ino()));
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            all.extend(names(&entry.path()));
        }
    }
    all
}

/// Size of all files below a folder.
fn bytes_below(folder: &Path) -> u64 {
    let sizes = names(folder).into_iter().filter_map(|(path, _)| fs::metadata(path).ok());
    sizes.filter(fs::Metadata::is_file).map(|meta| meta.len()).sum()
}

/// Bytes of memory whose counts begin so.
fn bytes_of(process: u32, counts: &str) -> u64 {
    let text = fs::read_to_string(format!("/proc/{process}/smaps_rollup")).expect("it is our child, on Linux");
    let private = text.lines().filter(|line| line.starts_with(counts));
    private.filter_map(|line| line.split_whitespace().nth(1)?.parse::<u64>().ok()).sum::<u64>() * 1024
}

/// A number that a larger run sets.
fn number_of(variable: &str, usual: usize) -> usize {
    std::env::var(variable).ok().and_then(|n| n.parse().ok()).unwrap_or(usual)
}
