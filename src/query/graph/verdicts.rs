//! Certainty of verdicts on unreached symbols.

use rustc_hash::FxHashMap;

use super::dead::is_judged;
use super::evidence::{Certainty, DeadCodeDoubt, Evidence};
use super::reachability::{POSSIBLE, Reachability, TESTED, UNREACHED};
use super::rings::used_from_outside;
use crate::languages::{helps_tests, is_for_testing};
use crate::model::Kind;
use crate::store::{Edge, FileView, SymbolView};

/// The most lines of comments above a definition that may say that it is for tests.
const MOST_COMMENTS: usize = 20;
/// Words of a comment by which something is for tests.
const SAID: &[&[u8]] = &[b"test only", b"tests only", b"test-only", b"testonly"];
/// Words before "test" in such a comment: `used in a test`, `so that each test starts afresh`.
const BEFORE: &[&[u8]] = &[
    b"for",
    b"in",
    b"by",
    b"from",
    b"during",
    b"between",
    b"a",
    b"any",
    b"each",
    b"every",
    b"unit",
    b"internal",
    b"snapshot",
    b"allow",
    b"allows",
];
const TESTS: &[&[u8]] = &[b"test", b"tests", b"testing"];
/// First words of lines above the first definition of a file.
const OPENINGS: &[&[u8]] = &[b"package ", b"import ", b"from ", b"use "];
/// The most letters of a signature that are read.
const SIGNATURE: usize = 400;

/// Whether something that only tests use is meant for them.
pub(super) fn is_for_tests(symbol: &SymbolView<'_>) -> bool {
    let parameters = symbol.file.conventions().test_parameters;
    let takes = |own: &SymbolView<'_>| {
        let signature = own.signature(SIGNATURE);
        parameters.iter().any(|text| signature.contains(text))
    };
    // Where most functions of a file are given a test, the others are there for tests as well.
    let is_among_such = || {
        let functions = || symbol.file.symbols().filter(|own| matches!(own.kind(), Kind::Function | Kind::Method));
        functions().filter(takes).count() * 2 > functions().count()
    };
    is_for_testing(symbol.file.path())
        || !parameters.is_empty() && (takes(symbol) || is_among_such())
        || helps_tests(&symbol.name())
        || does_nothing(&symbol.name())
        || symbol.decorators().iter().any(|decorator| helps_tests(decorator))
        || says_testing(symbol)
        || is_file_for_tests(symbol.file)
}

/// Whether a name is that of something that stands for another and does nothing, or nothing that lasts: `newInMemoryStore`,
/// `NewNopLogger`.
fn does_nothing(name: &str) -> bool {
    let name = name.replace('_', "").to_ascii_lowercase();
    ["inmemory", "noop", "dummy"].iter().any(|word| name.contains(word)) || name.starts_with("newnop")
}

/// Whether the comments on a definition say that it is for tests.
pub(super) fn says_testing(symbol: &SymbolView<'_>) -> bool {
    let content = symbol.file.content();
    let above = content.get(..symbol.span().start as usize).unwrap_or_default().trim_ascii_end();
    let lines = above.rsplit(|byte| *byte == b'\n').take(MOST_COMMENTS);
    let comments =
        lines.take_while(|line| is_comment(line.trim_ascii_start())).map(|line| line.len() + 1).sum::<usize>();
    let above = &above[above.len() - comments.min(above.len())..];
    // A sentence may go on in the next line.
    speaks_of_tests(above) || speaks_of_tests(symbol.doc_span().of(content))
}

/// Whether the first comments of a file say that it is for tests: `// Raw access, for the sake of testing`. Those right above
/// its first definition are about that.
fn is_file_for_tests(file: FileView<'_>) -> bool {
    let content = file.content();
    let mut is_said = false;
    for line in content.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii).take(MOST_COMMENTS) {
        let is_opening = OPENINGS.iter().any(|word| line.starts_with(word));
        if is_comment(line) {
            let line = line.to_ascii_lowercase();
            is_said |= speaks_of_tests(&line) || memchr::memmem::find(&line, b"of testing").is_some();
        } else if line.is_empty() || is_opening {
            if is_said {
                return true;
            }
        } else {
            return false;
        }
    }
    false
}

fn is_comment(line: &[u8]) -> bool {
    matches!(line.first(), Some(b'/' | b'*' | b'#' | b'@'))
}

fn speaks_of_tests(text: &[u8]) -> bool {
    // Few comments speak of tests.
    let may = [&b"est"[..], b"EST"].iter().any(|part| memchr::memmem::find(text, part).is_some());
    let text = if may { text.to_ascii_lowercase() } else { Vec::new() };
    let words = text.split(|byte| !byte.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let pairs = words.clone().zip(words.skip(1));
    SAID.iter().any(|words| memchr::memmem::find(&text, words).is_some())
        || pairs.into_iter().any(|(word, next)| {
            BEFORE.contains(&word) && TESTS.contains(&next) || word == b"for" && next.starts_with(b"test")
        })
}

impl Reachability<'_, '_> {
    /// The certainty for each dead node, `None` for live ones, and doubts. With `judged`, tests are judged too.
    pub fn certainties(&self, judged: bool) -> (Vec<Option<Certainty>>, FxHashMap<u32, DeadCodeDoubt>) {
        let graph = self.graph;
        let is_dead = |node: u32| self.reached[node as usize] == UNREACHED && !graph.is_value(node);
        // Code inside a dead symbol uses others on behalf of that symbol.
        let outermost = |mut node: u32| {
            while let Some(parent) = graph.parent(node).filter(|parent| is_dead(*parent)) {
                node = parent;
            }
            node
        };
        let mut pairs = Vec::new();
        for user in (0..graph.symbols.len() as u32).filter(|node| is_dead(*node)) {
            for used in self.uses.of(user).iter().filter(|used| is_dead(**used)) {
                pairs.push((outermost(user), outermost(*used)));
            }
        }
        pairs.retain(|(user, used)| user != used);
        let used = used_from_outside(graph.symbols.len(), &pairs);
        let is_offered = |node: u32| self.entries.is_public_in_package(&graph.symbols[node as usize]);
        let is_marked = |node: u32| {
            let symbol = &graph.symbols[node as usize];
            symbol.parent().is_none() && self.entries.is_marked(symbol)
        };
        let certainty = |node: u32| match self.reached[node as usize] {
            TESTED if self.tests[node as usize] || is_for_tests(&graph.symbols[node as usize]) => None,
            // No program uses what is there for tests.
            TESTED
                if self.uses.of(node).iter().any(|used| is_for_testing(graph.symbols[*used as usize].file.path())) =>
            {
                None
            }
            TESTED if is_offered(node) || is_marked(node) => Some(Certainty::Tried),
            TESTED => Some(Certainty::OnlyTests),
            UNREACHED if used[node as usize] => Some(Certainty::DeadUsers),
            UNREACHED if self.strays.contains(&node) => Some(Certainty::HalfKnown),
            UNREACHED if is_offered(node) => Some(Certainty::Offered),
            UNREACHED => Some(Certainty::Unused),
            _ => None,
        };
        let mut certainties: Vec<Option<Certainty>> = (0..graph.symbols.len() as u32).map(certainty).collect();
        self.spare_for_tests(&mut certainties);
        // A use through something public is as little known as that.
        let is_tried = |node: &u32| certainties[*node as usize] == Some(Certainty::Tried);
        let mut waiting: Vec<u32> = (0..graph.symbols.len() as u32).filter(is_tried).collect();
        while let Some(node) = waiting.pop() {
            for used in self.uses.of(node) {
                if certainties[*used as usize] == Some(Certainty::OnlyTests) {
                    certainties[*used as usize] = Some(Certainty::Tried);
                    waiting.push(*used);
                }
            }
        }
        let served: Vec<u32> = (0..graph.symbols.len() as u32)
            .filter(|node| certainties[*node as usize] == Some(Certainty::OnlyTests) && self.serves_tested(*node))
            .collect();
        served.into_iter().for_each(|node| certainties[node as usize] = Some(Certainty::DeadUsers));
        let doubts = self.weigh(judged, &mut certainties);
        self.level_families(&mut certainties);
        (certainties, doubts)
    }

    /// Whether no test uses it by itself, but something that only tests use does.
    fn serves_tested(&self, node: u32) -> bool {
        let graph = self.graph;
        let is_test = |edge: &Edge| {
            let from = graph.from(edge);
            from.is_some_and(|from| self.tests[from as usize])
                || graph.snapshot.file_by_number(edge.file).is_some_and(|file| file.exercises())
        };
        let (own, mut is_served) = (graph.symbols[node as usize].number(), false);
        for edge in graph.edges.users(own) {
            if is_test(edge) {
                return false;
            }
            let mut around = std::iter::successors(graph.from(edge), |inner| graph.parent(*inner));
            is_served |= graph.from(edge).is_some() && around.all(|from| from != node);
        }
        is_served
    }

    /// Takes back that only tests use what serves something meant for tests in the program itself.
    fn spare_for_tests(&self, certainties: &mut [Option<Certainty>]) {
        let graph = self.graph;
        let is_meant = |node: &u32| {
            let (own, symbol) = (*node as usize, &graph.symbols[*node as usize]);
            let is_spared = self.reached[own] == TESTED && !self.tests[own] && certainties[own].is_none();
            is_spared && !is_for_testing(symbol.file.path()) && !graph.is_value(*node)
        };
        let mut waiting: Vec<u32> = (0..graph.symbols.len() as u32).filter(is_meant).collect();
        while let Some(node) = waiting.pop() {
            for used in self.uses.of(node) {
                if certainties[*used as usize] == Some(Certainty::OnlyTests) {
                    certainties[*used as usize] = None;
                    waiting.push(*used);
                }
            }
        }
    }

    /// Lowers the certainty of verdicts for which too little speaks, and of what these use.
    fn weigh(&self, judged: bool, certainties: &mut [Option<Certainty>]) -> FxHashMap<u32, DeadCodeDoubt> {
        let graph = self.graph;
        let of_class = |(class, own): (&u32, &Vec<u32>)| own.iter().map(|node| (*node, *class)).collect::<Vec<_>>();
        let owners: FxHashMap<u32, u32> = self.members.iter().flat_map(of_class).collect();
        let lives = |node: u32| self.reached[node as usize] >= POSSIBLE;
        let evidence = Evidence::new(graph, self.entries, &owners, &lives);
        let is_sure = |node: &u32| certainties[*node as usize].is_some_and(|own| own >= Certainty::Offered);
        let is_outer = |node: &u32| graph.parent(*node).is_none_or(|parent| self.reached[parent as usize] >= POSSIBLE);
        let is_listed = |node: &u32| is_judged(graph, *node) && (judged || !self.tests[*node as usize]);
        let nodes = 0..graph.symbols.len() as u32;
        let sure: Vec<u32> = nodes.filter(is_sure).filter(|node| is_listed(node) && is_outer(node)).collect();
        let mut doubts = evidence.doubts(&sure);
        let mut waiting: Vec<u32> = doubts.keys().copied().collect();
        while let Some(node) = waiting.pop() {
            certainties[node as usize] = Some(Certainty::Doubtful);
            for used in self.uses.of(node) {
                if certainties[*used as usize].is_some_and(|own| own > Certainty::Doubtful) {
                    doubts.entry(*used).or_insert(DeadCodeDoubt::OfUser);
                    certainties[*used as usize] = Some(Certainty::Doubtful);
                    waiting.push(*used);
                }
            }
        }
        for node in sure {
            let own = &mut certainties[node as usize];
            if *own != Some(Certainty::Unused) {
                continue;
            }
            if !evidence.is_hidden(node) {
                *own = Some(Certainty::Offered);
            } else if let Some(doubt) = evidence.caution(node) {
                *own = Some(Certainty::Offered);
                doubts.insert(node, doubt);
            }
        }
        doubts
    }

    /// Makes an override only as certain as the least certain of its family.
    fn level_families(&self, certainties: &mut [Option<Certainty>]) {
        loop {
            let mut is_done = true;
            for (wanted, by) in &self.overrides {
                let family = || by.iter().chain([wanted]).map(|node| *node as usize);
                let Some(least) = family().filter_map(|node| certainties[node]).min() else { continue };
                for node in family() {
                    if certainties[node].is_some_and(|own| own > least) {
                        certainties[node] = Some(least);
                        is_done = false;
                    }
                }
            }
            if is_done {
                return;
            }
        }
    }
}
