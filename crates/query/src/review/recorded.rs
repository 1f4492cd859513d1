//! Coverage recordings that tell which test ran which lines: `coverage json --show-contexts` of coverage.py, and lcov
//! with a `TN:` for each test.

use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::io::{self, BufRead, Read};

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, Visitor};

use super::tests::{TestUnit, unit_of};
use super::touched::Touched;
use super::{Target, TestFile};
use codelode_base::model::Kind;
use codelode_store::{FileView, Snapshot};

/// A path with a first and a last line, one-based and inclusive.
pub type Ran<'a> = (&'a str, u32, u32);

/// The lines of some files, with the tests that ran them.
#[derive(Default)]
pub struct Recording {
    /// The names of tests, as their runner writes them.
    names: Vec<String>,
    places: HashMap<String, usize>,
    /// The lines of each file, each with the index of a test that ran it.
    files: HashMap<String, Vec<(u32, usize)>>,
}

impl Recording {
    /// Reads the part of a recording about `wanted` files. Its paths may be relative to `root` or below it.
    ///
    /// # Errors
    ///
    /// If the recording has neither form, or cannot be read.
    pub fn read(mut text: impl BufRead, root: &str, wanted: &BTreeSet<&str>) -> io::Result<Self> {
        let mut recording = Self::default();
        let is_json = loop {
            let byte = match text.fill_buf()? {
                [] => break false,
                [first, ..] => *first,
            };
            if !byte.is_ascii_whitespace() {
                break byte == b'{';
            }
            text.consume(1);
        };
        let reader = Reader { recording: &mut recording, root, wanted };
        if is_json {
            reader.json(text)?
        } else {
            reader.lcov(text)?
        }
        Ok(recording)
    }

    /// The tests that ran any of these lines, and the number of ranges that no test ran.
    pub fn tests(&self, snapshot: &Snapshot, ranges: &[Ran<'_>]) -> (BTreeSet<TestUnit>, usize) {
        let (mut found, mut n_unknown) = (BTreeSet::new(), 0);
        for (file, first, last) in ranges {
            let lines = self.files.get(*file).into_iter().flatten();
            let ran: BTreeSet<usize> =
                lines.filter(|(line, _)| (first..=last).contains(&line)).map(|(_, name)| *name).collect();
            let units: Vec<TestUnit> = ran.into_iter().filter_map(|name| unit(snapshot, &self.names[name])).collect();
            n_unknown += usize::from(units.is_empty());
            found.extend(units);
        }
        (found, n_unknown)
    }

    fn name(&mut self, name: &str) -> usize {
        if let Some(place) = self.places.get(name) {
            return *place;
        }
        let place = self.names.len();
        self.names.push(name.to_owned());
        self.places.insert(name.to_owned(), place);
        place
    }
}

/// The old lines of touched functions, and whether the change also touches code that a recording cannot cover: new
/// code, and code that runs at load time. `paths` are the changed files with code.
pub fn lines_before<'c>(touched: &[Touched<'c, '_>], paths: &[&str]) -> (Vec<Ran<'c>>, bool) {
    let code: Vec<_> = touched.iter().filter(|touched| !touched.is_of_test()).map(|touched| touched.was).collect();
    let functions = code.iter().copied().flatten().filter(|was| is_function(was.kind));
    let lines: Vec<Ran<'c>> = functions
        .map(|was| {
            let last = was.line + count(was.source);
            (was.file, first_inside(was.line, last, was.signature), last)
        })
        .collect();
    let is_beside = |path: &&str| lines.iter().all(|(file, ..)| file != path);
    let is_more = lines.len() < code.len() || paths.iter().any(is_beside);
    (lines, is_more)
}

/// The lines of targets to be edited, without function declarations, which run at load time.
pub fn lines_of<'a>(targets: &[Target<'a>]) -> Vec<Ran<'a>> {
    let of_one = |target: &Target<'a>| match target {
        Target::File(file) => (file.path(), 1, u32::MAX),
        Target::Symbol(symbol) => {
            let (first, last) = (symbol.line(), symbol.end_line());
            let is_function = is_function(symbol.kind());
            let first = if is_function { first_inside(first, last, symbol.signature_source()) } else { first };
            (symbol.file.path(), first, last)
        }
    };
    targets.iter().map(of_one).collect()
}

fn is_function(kind: Kind) -> bool {
    matches!(kind, Kind::Function | Kind::Method)
}

/// The first line of a function after its declaration, which runs at load time.
fn first_inside(first: u32, last: u32, signature: &[u8]) -> u32 {
    (first + count(signature) + 1).min(last)
}

/// The number of line breaks in a text.
fn count(text: &[u8]) -> u32 {
    memchr::memchr_iter(b'\n', text).count() as u32
}

/// Puts recorded tests first. They keep the order of `found`, which tells how direct they are.
pub fn with_recorded(found: Vec<TestFile>, recorded: &BTreeSet<TestUnit>) -> Vec<TestFile> {
    let mut left = recorded.clone();
    let (mut first, mut others) = (Vec::new(), Vec::new());
    for mut file in found {
        let (ran, rest): (Vec<_>, Vec<_>) = file.tests.drain(..).partition(|test| left.remove(&test.unit));
        let is_of_file = |unit: &TestUnit| unit.file == file.file;
        let more: Vec<TestUnit> = left.iter().copied().filter(is_of_file).collect();
        left.retain(|unit| !is_of_file(unit));
        if !ran.is_empty() || !more.is_empty() {
            first.push(TestFile::recorded(file.file, ran, &more));
        }
        if !rest.is_empty() {
            file.tests = rest;
            others.push(file);
        }
    }
    while let Some(unit) = left.first().copied() {
        let of_file: Vec<TestUnit> = left.iter().copied().filter(|other| other.file == unit.file).collect();
        left.retain(|other| other.file != unit.file);
        first.push(TestFile::recorded(unit.file, Vec::new(), &of_file));
    }
    first.append(&mut others);
    first
}

/// The test with a runner's name: `tests/test_cart.py::TestCart::test_total[2]|run`, or
/// `test_cart.TestCart.test_total`.
fn unit(snapshot: &Snapshot, name: &str) -> Option<TestUnit> {
    let name = name.split(['|', '[']).next()?;
    let of_symbol = |file: FileView<'_>, qualified: &str| {
        file.symbols().find(|symbol| symbol.qualified_name() == qualified).and_then(|symbol| unit_of(&symbol))
    };
    if let Some((path, names)) = name.split_once("::") {
        return of_symbol(snapshot.file(path)?, &names.replace("::", "."));
    }
    // A module's name may be relative to the test folder.
    let dots: Vec<usize> = name.match_indices('.').map(|(at, _)| at).collect();
    dots.iter().rev().find_map(|&at| {
        let ending = format!("{}.py", name[..at].replace('.', "/"));
        let is_module =
            |path: &str| path.strip_suffix(&*ending).is_some_and(|rest| rest.is_empty() || rest.ends_with('/'));
        snapshot.files().filter(|file| is_module(file.path())).find_map(|file| of_symbol(file, &name[at + 1..]))
    })
}

/// Reads a recording in one of the two forms.
struct Reader<'r, 'w> {
    recording: &'r mut Recording,
    root: &'w str,
    wanted: &'w BTreeSet<&'w str>,
}

impl Reader<'_, '_> {
    fn path(&self, written: &str) -> Option<String> {
        let below = written.strip_prefix(self.root).map_or(written, |rest| rest.trim_start_matches('/'));
        let path = below.strip_prefix("./").unwrap_or(below);
        self.wanted.contains(path).then(|| path.to_owned())
    }

    fn lcov(self, text: impl BufRead) -> io::Result<()> {
        let (mut test, mut file, mut is_lcov) = (None, None, false);
        for line in text.lines() {
            let line = line?;
            let line = line.trim_end();
            if let Some(name) = line.strip_prefix("TN:") {
                test = (!name.is_empty()).then(|| self.recording.name(name));
            } else if let Some(path) = line.strip_prefix("SF:") {
                (file, is_lcov) = (self.path(path), true);
            } else if let (Some(data), Some(file), Some(test)) = (line.strip_prefix("DA:"), &file, test) {
                let mut parts = data.split(',').map(|part| part.parse::<u32>().unwrap_or(0));
                if let (Some(line), Some(1..)) = (parts.next(), parts.next()) {
                    self.recording.files.entry(file.clone()).or_default().push((line, test));
                }
            }
        }
        if is_lcov { Ok(()) } else { Err(io::Error::other("it is neither coverage.py JSON nor lcov")) }
    }

    fn json(mut self, text: impl Read) -> io::Result<()> {
        let mut reader = serde_json::Deserializer::from_reader(text);
        // The parser's messages quote the input, which may hold a secret.
        let no =
            |err: serde_json::Error| io::Error::other(format!("it is not coverage.py JSON; see line {}", err.line()));
        match reader.deserialize_map(Whole(&mut self)).map_err(no)? {
            true => Ok(()),
            false => Err(io::Error::other(
                "it names no tests: run coverage with a context per test, then `coverage json --show-contexts`",
            )),
        }
    }
}

/// The settings with which coverage.py wrote a recording.
#[derive(Deserialize)]
struct Meta {
    #[serde(default = "shown")]
    show_contexts: bool,
}

/// Older versions write no such setting.
fn shown() -> bool {
    true
}

/// A file in the form of coverage.py.
#[derive(Deserialize)]
struct File {
    #[serde(default)]
    contexts: HashMap<u32, Vec<String>>,
}

/// A whole coverage.py recording. Reading it tells whether it has contexts.
struct Whole<'s, 'r, 'w>(&'s mut Reader<'r, 'w>);

/// Files by path. Only wanted ones are kept, because the rest is by far the largest part.
struct Files<'s, 'r, 'w>(&'s mut Reader<'r, 'w>);

impl<'de> Visitor<'de> for Whole<'_, '_, '_> {
    type Value = bool;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object with `files`")
    }

    fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<bool, M::Error> {
        let mut has_contexts = true;
        while let Some(key) = map.next_key::<String>()? {
            match &*key {
                "meta" => has_contexts = map.next_value::<Meta>()?.show_contexts,
                "files" => map.next_value_seed(Files(self.0))?,
                _ => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        Ok(has_contexts)
    }
}

impl<'de> DeserializeSeed<'de> for Files<'_, '_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Files<'_, '_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("files by their paths")
    }

    fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<(), M::Error> {
        while let Some(written) = map.next_key::<String>()? {
            let Some(path) = self.0.path(&written) else {
                map.next_value::<IgnoredAny>()?;
                continue;
            };
            let file = map.next_value::<File>()?;
            let recording = &mut *self.0.recording;
            let mut lines = Vec::new();
            for (line, names) in file.contexts {
                // A line without a test ran at load time.
                let tests = names.iter().filter(|name| !name.is_empty());
                lines.extend(tests.map(|name| (line, recording.name(name))));
            }
            recording.files.entry(path).or_default().extend(lines);
        }
        Ok(())
    }
}
