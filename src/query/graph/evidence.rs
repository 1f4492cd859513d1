//! Evidence for verdicts of dead code. That no use was found is little where code may be reached in ways that nobody
//! thought of, so a verdict is sure only as far as something speaks for it: the language hides the definition, its name
//! stands nowhere else, its file is in use, nothing registers it, and it is not one of many.

use rustc_hash::{FxHashMap, FxHashSet};

use super::Graph;
use super::entry::{Entries, decorator_name, names_interpreter};
use super::groups::Conditions;
use super::overrides::overridden;
use super::said::{SIGNATURE, has_examples, is_copied, is_documented, is_of_kept, may_be_unused, says_kept};
use super::surroundings::{folder, has_own_names, is_given_to_macro, is_in_macro, is_read_as_data};
use super::tested::{has_own_test, is_beside_tests, is_tested_by, serves_tests};
use super::verdicts::says_testing;
use super::visible::{is_type, is_typed, words_before};
use super::written::written;
use crate::languages::{Public, helps_tests, is_aside, is_for_testing};
use crate::model::{Detail, Kind};
use crate::query::line_of;
use crate::store::{FileView, SymbolView};

/// The certainty that something is dead.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Certainty {
    /// Unused as far as is known, where not all names were resolved.
    HalfKnown,
    /// Only tests use it, but it is in an installable package, and no more than its name hides it from others.
    Tried,
    /// No use was found, and something makes that doubtful.
    Doubtful,
    /// Only dead symbols use it.
    DeadUsers,
    /// Unused here, but visible to others, who may use it, or such that code may find it without its name.
    Offered,
    /// Only tests use it.
    OnlyTests,
    /// Unused, or used only by symbols that it uses itself.
    Unused,
}

impl Certainty {
    /// The certainty as a number from 0 to 1.
    pub fn confidence(self) -> f64 {
        match self {
            Self::HalfKnown => 0.5,
            Self::Tried | Self::Doubtful => 0.6,
            Self::DeadUsers => 0.7,
            Self::Offered => 0.8,
            Self::OnlyTests => 0.9,
            Self::Unused => 1.0,
        }
    }
}

/// A reason to doubt that something is dead, though no use of it was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeadCodeDoubt {
    /// Its name is written at a place that no relation explains: path and line.
    Written(String, u32),
    /// Its file shows code, or is there for something else than the program.
    Aside,
    /// Nothing that is in use loads its file, so that a tool may do so.
    NotLoaded,
    /// Something that is not part of the repository gets to know it: a base, an interface, a decorator.
    Registered,
    /// It is a method that the language lets any code call that has an object.
    Callable,
    /// Its own text says that it is kept for the code of others.
    Kept,
    /// Others get it without its name: as the default of its file, which a tool may load.
    Default,
    /// The tests that use it are part of the program: a file of it imports theirs.
    InProgram,
    /// Another definition in its file bears its name, and both may be one.
    Shared,
    /// A build may put another of its name in its place.
    Conditional,
    /// So many in one place have no use that something may use them all: their number.
    OneOfMany(usize),
    /// Other places define its name, so that one may stand for another: the number of them.
    Namesakes(usize),
    /// It is a class, or a member that is not private: code may find it by reflection.
    Reflected,
    /// So many files of tests use it that it may be there to help them: their number.
    Helper(usize),
    /// Only tests of something else use it, or it puts something back as it was: it may be there to help them.
    Tool,
    /// It is a test by its name, or its documentation has examples that may be run.
    ForTests,
    /// A package that others can install documents it.
    Documented,
    /// Its package lets others import its file by name.
    Importable,
    /// Its file is for those who install its package: only tests and examples use other definitions of it.
    Face,
    /// Only a mark on its name hides it, and others can install its package.
    Marked,
    /// Something uses it that may be used itself.
    OfUser,
    /// Its name is too short to be looked for.
    Short,
    /// Its file was not read to its end, or has syntax errors.
    PartlyRead,
}

/// The most definitions of a file that only tests and examples use, before the file is taken to be there for others.
const MOST_SHOWN: usize = 5;
/// The fewest packages that many use, by which a folder has copies.
const MANY_PACKAGES: usize = 3;
/// The shortest name of which other mentions would be known.
const SHORTEST: usize = 3;
/// The most classes derived from one that are looked at.
const MOST_DERIVED: usize = 50;
/// The most verdicts of one class or file that do not make each other doubtful.
const MOST_OF_CLASS: usize = 3;
const MOST_OF_FILE: usize = 8;

/// The most files of tests that use something because they test it.
const MOST_TESTS: usize = 3;
/// The most other definitions of a name of which one is still looked at for itself.
const MOST_NAMESAKES: usize = 1;

/// Evidence for verdicts, each on a node.
pub(super) struct Evidence<'e, 'g, 'a> {
    graph: &'g Graph<'a>,
    entries: &'e Entries<'g, 'a>,
    /// Whether a node is used, and not by tests alone.
    lives: &'e dyn Fn(u32) -> bool,
    conditions: Conditions<'a>,
    /// Places that define a name, by name; overloads have one.
    places: FxHashMap<&'a [u8], FxHashSet<(u32, Option<u32>)>>,
    /// Files that something in use loads.
    loaded: FxHashSet<u32>,
    /// Folders with copies of packages.
    copies: Vec<&'a str>,
    /// By method defined outside of its type: the type.
    owners: &'e FxHashMap<u32, u32>,
}

impl<'e, 'g, 'a> Evidence<'e, 'g, 'a> {
    /// Gathers what is known of files, where `lives` says whether a node is used and not by tests alone.
    pub fn new(
        graph: &'g Graph<'a>,
        entries: &'e Entries<'g, 'a>,
        owners: &'e FxHashMap<u32, u32>,
        lives: &'e dyn Fn(u32) -> bool,
    ) -> Self {
        let loaded = loaded(graph, entries, lives);
        let mut places: FxHashMap<&'a [u8], FxHashSet<(u32, Option<u32>)>> = FxHashMap::default();
        for node in (0..graph.symbols.len() as u32).filter(|node| !graph.is_value(*node)) {
            let symbol = &graph.symbols[node as usize];
            if !symbol.file.exercises() {
                places.entry(symbol.name_bytes()).or_default().insert(place(graph, owners, node));
            }
        }
        Self {
            graph,
            entries,
            lives,
            conditions: Conditions::new(graph),
            places,
            loaded,
            owners,
            copies: copies(graph),
        }
    }

    /// A reason not to be certain of a verdict on something hidden: code may find it by reflection, it shares its name, or
    /// only a mark on its name hides it from others.
    pub fn caution(&self, node: u32) -> Option<DeadCodeDoubt> {
        let symbol = &self.graph.symbols[node as usize];
        let is_private = || words_before(symbol).split_whitespace().any(|word| word == "private");
        match self.namesakes(node) {
            0 if symbol.kind() == Kind::Class || is_declared(symbol) && !is_private() => Some(DeadCodeDoubt::Reflected),
            0 if self.entries.is_marked(symbol) => Some(DeadCodeDoubt::Marked),
            0 => None,
            count => Some(DeadCodeDoubt::Namesakes(count)),
        }
    }

    /// Whether it is a type of the name of another in its file, beside it or in a macro: uses may mean
    /// either.
    fn is_hiding(&self, node: u32) -> bool {
        let symbol = &self.graph.symbols[node as usize];
        let others = self.places.get(symbol.name_bytes()).into_iter().flatten();
        is_type(symbol) && others.filter(|(file, _)| *file == symbol.file.number()).count() > 1
    }

    /// Whether another of its name stands in the braces of a macro, which may put it there under a condition.
    fn may_be_replaced(&self, node: u32) -> bool {
        let symbol = &self.graph.symbols[node as usize];
        if symbol.file.conventions().conditional_macros.is_empty() || self.namesakes(node) == 0 {
            return false;
        }
        let others = self.places.get(symbol.name_bytes()).into_iter().flatten().map(|(file, _)| *file);
        let mut others =
            others.filter_map(|file| self.graph.snapshot.file_by_number(file)).flat_map(|file| file.symbols());
        others.any(|own| {
            let is_other = own.number() != symbol.number() && own.name_bytes() == symbol.name_bytes();
            is_other && own.kind() == symbol.kind() && is_in_macro(&own, |_| true)
        })
    }

    /// Whether a definition is used that stands for it in another build: that of its name in the file of the same name in the
    /// folder beside its own (`env/node/json.ts`, `env/browser/json.ts`).
    fn has_version(&self, node: u32) -> bool {
        let symbol = &self.graph.symbols[node as usize];
        if symbol.has_parent() || is_typed(symbol) {
            return false;
        }
        let own: Vec<&str> = symbol.file.path().rsplitn(3, '/').collect();
        let is_beside = |path: &str| {
            let other: Vec<&str> = path.rsplitn(3, '/').collect();
            own.len() > 1
                && own.len() == other.len()
                && own[0] == other[0]
                && own[1] != other[1]
                && own[2..] == other[2..]
        };
        let places = self.places.get(symbol.name_bytes()).into_iter().flatten();
        let files = places.filter_map(|(file, _)| self.graph.snapshot.file_by_number(*file));
        let mut others = files.filter(|file| is_beside(file.path())).flat_map(|file| file.symbols());
        others.any(|other| {
            let is_version = other.name_bytes() == symbol.name_bytes() && !other.has_parent();
            is_version && self.graph.node(other.number()).is_some_and(|other| (self.lives)(other))
        })
    }

    /// The files of tests that use it.
    fn testing_files(&self, node: u32) -> Vec<FileView<'a>> {
        let graph = self.graph;
        let users = graph.edges.users(graph.symbols[node as usize].number()).map(|edge| edge.file);
        let users: FxHashSet<u32> = users.collect();
        let files = users.into_iter().filter_map(|file| graph.snapshot.file_by_number(file));
        files.filter(FileView::exercises).collect()
    }

    /// A sign that something that files of tests use is there for them. Dead code that is still tested has tests of its own:
    /// one that bears its name or uses nothing else, in a file that bears the name of its file or lies beside it.
    fn help(&self, symbol: &SymbolView<'_>, tests: &[FileView<'_>]) -> Option<DeadCodeDoubt> {
        let own = symbol.file.path();
        let is_alone = tests.len() == 1 && is_beside_tests(own, tests[0].path());
        match tests.len() {
            0 if !self.is_tested_inside(symbol) => None,
            0 if !has_own_test(self.graph, symbol, self.lives) => Some(DeadCodeDoubt::Tool),
            0 => None,
            _ if may_be_unused(symbol) => Some(DeadCodeDoubt::Tool),
            count if count > MOST_TESTS => Some(DeadCodeDoubt::Helper(count)),
            _ if is_without_object(symbol) && serves_tests(&symbol.name()) => Some(DeadCodeDoubt::Tool),
            // Tests of several folders test several things.
            _ if tests.iter().any(|test| folder(test.path()) != folder(tests[0].path())) => Some(DeadCodeDoubt::Tool),
            _ if !is_alone && !tests.iter().all(|test| is_tested_by(own, test.path())) => Some(DeadCodeDoubt::Tool),
            _ if !has_own_test(self.graph, symbol, self.lives) => Some(DeadCodeDoubt::Tool),
            _ => None,
        }
    }

    /// Whether tests in its own file use it.
    fn is_tested_inside(&self, symbol: &SymbolView<'_>) -> bool {
        let graph = self.graph;
        let mut users = graph.edges.users(symbol.number()).filter(|edge| edge.file == symbol.file.number());
        users.any(|edge| graph.from(edge).is_some_and(|from| self.entries.is_test(&graph.symbols[from as usize])))
    }

    /// The number of other places that define its name, apart from tests.
    fn namesakes(&self, node: u32) -> usize {
        let own = place(self.graph, self.owners, node);
        let all = self.places.get(self.graph.symbols[node as usize].name_bytes()).into_iter().flatten();
        all.filter(|place| **place != own).count()
    }

    /// The doubts about some verdicts.
    pub fn doubts(&self, nodes: &[u32]) -> FxHashMap<u32, DeadCodeDoubt> {
        let announced = |node: u32| match self.graph.symbols[node as usize].kind() {
            Kind::Method => !self.is_hidden(node),
            _ => self.entries.is_public_in_package(&self.graph.symbols[node as usize]),
        };
        let announced: FxHashSet<u32> = nodes.iter().copied().filter(|node| announced(*node)).collect();
        let written = written(self.graph, nodes, &announced);
        let doubt = |node: &u32| {
            let place =
                |(file, at): &(FileView<'_>, u32)| DeadCodeDoubt::Written(file.path().to_owned(), line_of(*file, *at));
            self.doubt(*node).or_else(|| written.get(node).map(place))
        };
        let mut found: FxHashMap<u32, DeadCodeDoubt> =
            nodes.iter().filter_map(|node| Some((*node, doubt(node)?))).collect();
        for (node, count) in self.clusters(nodes) {
            found.entry(node).or_insert(DeadCodeDoubt::OneOfMany(count));
        }
        found
    }

    /// A reason to doubt a verdict, by the definition itself.
    fn doubt(&self, node: u32) -> Option<DeadCodeDoubt> {
        let symbol = &self.graph.symbols[node as usize];
        let file = symbol.file;
        let name = symbol.name_bytes();
        let is_code = matches!(symbol.kind(), Kind::Function | Kind::Method);
        if name.len() < SHORTEST {
            Some(DeadCodeDoubt::Short)
        } else if file.is_partly_read() {
            Some(DeadCodeDoubt::PartlyRead)
        } else if is_aside(file.path())
            || self.copies.iter().any(|folder| is_below(file.path(), folder))
            || !file.exercises() && is_for_testing(file.path())
        {
            Some(DeadCodeDoubt::Aside)
        } else if self.conditions.hold(self.graph, symbol) || self.may_be_replaced(node) || self.has_version(node) {
            Some(DeadCodeDoubt::Conditional)
        } else if self.is_registered(node) {
            Some(DeadCodeDoubt::Registered)
        } else if symbol.kind() == Kind::Method && !(is_typed(symbol) && is_declared(symbol)) && !self.is_hidden(node) {
            Some(DeadCodeDoubt::Callable)
        } else if says_kept(symbol) || is_of_kept(symbol) || says_testing(symbol) || is_copied(file) {
            Some(DeadCodeDoubt::Kept)
        } else if !file.exercises() && (is_code && helps_tests(&symbol.name()) || has_examples(symbol)) {
            Some(DeadCodeDoubt::ForTests)
        } else if is_documented(symbol) && self.entries.is_public_in_package(symbol) {
            Some(DeadCodeDoubt::Documented)
        } else if self.entries.is_open(symbol) {
            Some(DeadCodeDoubt::Importable)
        } else if self.is_of_face(symbol) {
            Some(DeadCodeDoubt::Face)
        } else if is_shared(symbol) || is_overload_for_many(symbol) || self.is_hiding(node) {
            Some(DeadCodeDoubt::Shared)
        } else if is_default(symbol) {
            Some(DeadCodeDoubt::Default)
        } else if self.is_in_program(symbol) {
            Some(DeadCodeDoubt::InProgram)
        } else if let Some(help) = self.help(symbol, &self.testing_files(node)) {
            Some(help)
        } else if self.namesakes(node) > MOST_NAMESAKES {
            Some(DeadCodeDoubt::Namesakes(self.namesakes(node)))
        } else if !(self.loaded.contains(&file.number()) || self.is_hidden(node) && has_own_names(file)) {
            Some(DeadCodeDoubt::NotLoaded)
        } else {
            None
        }
    }

    /// Whether the language keeps others from using it by its name: it is private to its file, type or package.
    pub fn is_hidden(&self, node: u32) -> bool {
        let graph = self.graph;
        let symbol = &graph.symbols[node as usize];
        let rules = symbol.file.conventions();
        let own = !self.entries.is_public(symbol) || (rules.is_inner)(symbol.file.path(), symbol.file.content());
        let inside = |node: u32| {
            let around = &graph.symbols[node as usize];
            matches!(around.kind(), Kind::Function | Kind::Method)
        };
        let is_private = match rules.public {
            Public::All => false,
            // A script without imports and exports shares its names with the others of a page.
            Public::Exported(_) => own && has_own_names(symbol.file),
            _ => own,
        };
        is_private || graph.parent(node).is_some_and(inside)
    }

    /// Whether it is public in an installable package, and its file has many definitions that tests and examples use, and the
    /// package itself does not.
    fn is_of_face(&self, symbol: &SymbolView<'a>) -> bool {
        let graph = self.graph;
        let is_beside = |file: u32| {
            let file = graph.snapshot.file_by_number(file);
            file.is_none_or(|file| file.exercises() || is_aside(file.path()))
        };
        let is_shown = |own: &SymbolView<'_>| {
            let mut users = graph.edges.users(own.number()).map(|edge| edge.file).peekable();
            own.kind() != Kind::Constant && own.parent().is_none() && users.peek().is_some() && users.all(is_beside)
        };
        self.entries.is_public_in_package(symbol) && symbol.file.symbols().filter(is_shown).nth(MOST_SHOWN).is_some()
    }

    /// Whether a file that looks like a test uses it and belongs to the program: `components/test/Runner.vue`.
    fn is_in_program(&self, symbol: &SymbolView<'_>) -> bool {
        let graph = self.graph;
        let exercises = |file: u32| graph.snapshot.file_by_number(file).is_some_and(|file| file.exercises());
        let is_imported = |file: u32| graph.edges.importers(file).iter().any(|import| !exercises(import.from));
        graph.edges.users(symbol.number()).any(|edge| exercises(edge.file) && is_imported(edge.file))
    }

    /// Whether code of others, or code that goes through many, may get to know it.
    fn is_registered(&self, node: u32) -> bool {
        let graph = self.graph;
        let symbol = &graph.symbols[node as usize];
        let rules = symbol.file.conventions();
        let is_decorated = |symbol: &SymbolView<'_>| self.entries.is_decorated(symbol, rules);
        let mut around = std::iter::successors(Some(*symbol), SymbolView::parent);
        let class = self.owners.get(&node).map(|class| graph.symbols[*class as usize]);
        let class = class.or_else(|| symbol.parent().filter(is_type));
        if around.any(|own| is_decorated(&own)) || class.is_some_and(|class| is_decorated(&class)) {
            return true;
        }
        // The caller of a decorated method needs an object: `@BuildStep`.
        if is_type(symbol) && symbol.children().any(|own| own.kind() == Kind::Method && is_decorated(&own)) {
            return true;
        }
        let is_member = symbol.kind() == Kind::Method || class.is_some();
        if self.is_called_by_name(symbol) || is_given_to_macro(symbol) || is_read_as_data(graph, symbol) {
            return true;
        }
        let has_foreign = |class: &SymbolView<'_>| self.entries.is_foreign(class, false);
        let is_foreign = |class: &SymbolView<'_>| {
            has_foreign(class) || symbol.file.conventions().by_shape && has_bases(graph, class)
        };
        if is_type(symbol) && symbol.detail() != Detail::Interface && is_foreign(symbol) {
            return true;
        }
        let is_free = rules.public == Public::Capital && self.entries.is_public(symbol);
        is_member
            && (class.is_none()
                || class.is_some_and(|class| self.is_value_of_base(&class, symbol))
                || graph.filled_in(symbol).is_some()
                || is_free
                || self.is_demanded(node)
                || self.overrides_unknown(symbol)
                // A mark on the name hides it from no base beside which a class has its own as well.
                || self.entries.is_marked(symbol)
                    && class.is_some_and(|class| !has_foreign(&class) && self.is_lent(&class, has_foreign))
                || !self.is_hidden(node)
                    && class.is_some_and(|class| {
                        may_override(symbol) && is_foreign(&class)
                            || is_declared(symbol) && self.is_lent(&class, is_foreign)
                    }))
    }

    /// Whether a class derived from one has an interface of another package, whose methods it may take from that one.
    fn is_lent(&self, class: &SymbolView<'_>, is_foreign: impl Fn(&SymbolView<'_>) -> bool) -> bool {
        let graph = self.graph;
        let derived = graph.edges.derived(class.number()).filter_map(|derived| graph.snapshot.symbol(derived));
        derived.take(MOST_DERIVED).any(|derived| is_foreign(&derived))
    }

    /// Whether a base has a value of its name, which is read as a member of any object: `limit = 3` beside `def limit(self)`.
    fn is_value_of_base(&self, class: &SymbolView<'_>, member: &SymbolView<'_>) -> bool {
        let graph = self.graph;
        let mut seen = FxHashSet::default();
        let mut waiting: Vec<_> = graph.edges.bases(class.number()).collect();
        while let Some(base) = waiting.pop().filter(|_| seen.len() < MOST_DERIVED) {
            let Some(symbol) = graph.snapshot.symbol(base).filter(|_| seen.insert(base)) else { continue };
            let is_same = |own: SymbolView<'_>| {
                own.kind() == Kind::Constant
                    && own.name_bytes() == member.name_bytes()
                    && own.parent().is_some_and(|parent| parent.number() == base)
            };
            if symbol.file.symbols().any(is_same) {
                return true;
            }
            waiting.extend(graph.edges.bases(base));
        }
        false
    }

    /// Whether it says that it overrides a method, and no base in the repository has one of its name: what stands there for
    /// the base of another package leaves its methods out.
    fn overrides_unknown(&self, symbol: &SymbolView<'_>) -> bool {
        let is_mark = |word: &str| word.eq_ignore_ascii_case("override");
        let says = symbol.decorators().iter().any(|decorator| is_mark(decorator_name(decorator)))
            || words_before(symbol).split_whitespace().any(is_mark);
        says && overridden(self.graph.snapshot, self.graph.edges, symbol).is_empty()
    }

    /// Whether an interface lists its name, where types have the methods of an interface without saying so, and it isn't
    /// known whether its type does.
    fn is_demanded(&self, node: u32) -> bool {
        let graph = self.graph;
        let symbol = &graph.symbols[node as usize];
        let class = self.owners.get(&node).copied().or_else(|| graph.parent(node));
        let has = |base: u32| {
            let mut known =
                class.into_iter().flat_map(|class| graph.edges.bases(graph.symbols[class as usize].number()));
            known.any(|own| graph.node(own) == Some(base))
        };
        let lists = |(_, owner): &(u32, Option<u32>)| {
            let listing = owner.filter(|owner| graph.symbols[*owner as usize].detail() == Detail::Interface);
            listing.is_some_and(|listing| Some(listing) != class && !has(listing))
        };
        symbol.file.conventions().public == Public::Capital
            && self.places.get(symbol.name_bytes()).into_iter().flatten().any(lists)
    }

    /// Whether a runner of tests, a container or a reader of data knows it by its name or its signature.
    fn is_called_by_name(&self, symbol: &SymbolView<'_>) -> bool {
        let (rules, name) = (symbol.file.conventions(), symbol.name());
        let is_function = matches!(symbol.kind(), Kind::Function | Kind::Method);
        let is_test =
            |start: &&str| name.strip_prefix(start).is_some_and(|rest| rest.starts_with('_') || start.ends_with('_'));
        let is_setter = || {
            let of_field = rules.setters.and_then(|start| name.strip_prefix(start));
            of_field.is_some_and(|field| field.starts_with(char::is_uppercase))
                && symbol.parent().is_some_and(|class| self.is_given_as_class(&class))
        };
        let is_called = || {
            let signature = symbol.signature(SIGNATURE);
            rules.called_parameters.iter().any(|text| signature.contains(text))
        };
        is_function
            && (rules.tests.iter().any(is_test) || !rules.called_parameters.is_empty() && is_called() || is_setter())
    }

    /// Whether code hands on a class, or one derived from it, without an object: `read(Item.class)`. A logger only takes
    /// its name.
    fn is_given_as_class(&self, class: &SymbolView<'_>) -> bool {
        let graph = self.graph;
        let own = [class.number()].into_iter().chain(graph.edges.derived(class.number()));
        own.flat_map(|class| graph.edges.users(class)).any(|edge| {
            let text = graph.snapshot.file_by_number(edge.file).map_or(&[][..], |file| file.content());
            let (start, end) = (edge.at as usize, edge.at as usize + edge.len());
            let before = text.get(..start).unwrap_or_default();
            let line = &before[memchr::memrchr(b'\n', before).map_or(0, |newline| newline + 1)..];
            let after = text.get(end..).and_then(|after| after.strip_prefix(b".class"));
            let is_whole = after.is_some_and(|after| matches!(after.first(), Some(b')' | b',')));
            is_whole && memchr::memmem::find(line, b"ogger").is_none()
        })
    }

    /// The verdicts that are among many in one class or file, each with the number. A definition that the language hides is used
    /// by its name alone, so that no mechanism goes through many of them; but many types that a file keeps for itself and does
    /// not use are there for the compiler.
    fn clusters(&self, nodes: &[u32]) -> Vec<(u32, usize)> {
        let graph = self.graph;
        let places = |node: u32| {
            let symbol = &graph.symbols[node as usize];
            let class = self.owners.get(&node).copied().or_else(|| graph.parent(node));
            let is_type = symbol.kind() == Kind::Type;
            let of_class = class.filter(|_| !is_type && !self.is_hidden(node)).map(|class| (true, class));
            let is_counted = !is_typed(symbol) && (!is_type || self.is_hidden(node));
            let of_file = Some((false, symbol.file.number())).filter(|_| is_counted);
            [of_class, of_file]
        };
        let mut counts: FxHashMap<(bool, u32), usize> = FxHashMap::default();
        for node in nodes {
            places(*node).into_iter().flatten().for_each(|place| *counts.entry(place).or_default() += 1);
        }
        let is_crowd =
            |(place, count): &((bool, u32), usize)| *count > if place.0 { MOST_OF_CLASS } else { MOST_OF_FILE };
        let crowd = |node: &u32| {
            let mut all = places(*node).into_iter().flatten().map(|place| (place, counts[&place]));
            all.find(is_crowd).map(|(_, count)| (*node, count))
        };
        nodes.iter().filter_map(crowd).collect()
    }
}

/// Folders with several packages that many use, which are copies of theirs.
fn copies<'a>(graph: &Graph<'a>) -> Vec<&'a str> {
    let mut found: FxHashMap<&'a str, FxHashSet<&'a str>> = FxHashMap::default();
    for file in graph.snapshot.files().filter(|file| !file.conventions().well_known.is_empty()) {
        let Some((stem, _)) = file.path().rsplit_once('.') else { continue };
        let of_folder = stem.rsplit_once('/').filter(|(_, name)| file.conventions().folder_files.contains(name));
        let Some((folder, name)) = of_folder.map_or(stem, |(package, _)| package).rsplit_once('/') else { continue };
        if file.conventions().well_known.contains(&name) {
            found.entry(folder).or_default().insert(name);
        }
    }
    found.into_iter().filter(|(_, names)| names.len() >= MANY_PACKAGES).map(|(folder, _)| folder).collect()
}

/// Whether a path lies in a folder.
fn is_below(path: &str, folder: &str) -> bool {
    path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'))
}

/// Whether its file gives it on as its default: `export default function Page() {}`, `export default Page`.
fn is_default(symbol: &SymbolView<'_>) -> bool {
    const GIVES: &[u8] = b"export default ";
    let (content, name) = (symbol.file.content(), symbol.name_bytes());
    let is_named = |at: usize| content[at + GIVES.len()..].starts_with(name);
    matches!(symbol.file.conventions().public, Public::Exported(_))
        && (words_before(symbol).contains("default ")
            || !symbol.has_parent() && memchr::memmem::find_iter(content, GIVES).any(is_named))
}

/// Whether a definition of another kind in the same place has its name: an interface beside a class is one with it.
fn is_shared(symbol: &SymbolView<'_>) -> bool {
    let place = |own: &SymbolView<'_>| own.parent().map(|parent| parent.number());
    let is_twin = |other: &SymbolView<'_>| {
        other.name_bytes() == symbol.name_bytes() && other.kind() != symbol.kind() && place(other) == place(symbol)
    };
    symbol.file.conventions().structural && symbol.file.symbols().any(|other| is_twin(&other))
}

/// Whether a base may call it, where a language lets only some members stand for those of a base.
fn may_override(symbol: &SymbolView<'_>) -> bool {
    !is_declared(symbol) || (symbol.file.conventions().may_override)(&words_before(symbol), &symbol.name())
}

/// Whether it is a function, or a method that is called on a type.
fn is_without_object(symbol: &SymbolView<'_>) -> bool {
    symbol.kind() == Kind::Function || words_before(symbol).split_whitespace().any(|word| word == "static")
}

/// Whether methods of its language are called through declared types alone, and not by their shape.
fn is_declared(symbol: &SymbolView<'_>) -> bool {
    matches!(symbol.file.conventions().public, Public::Word(words) if !words.contains(&"pub"))
}

/// Whether it takes any number of arguments and others of its name stand beside it: which of them is called may depend on
/// types that are not known.
fn is_overload_for_many(symbol: &SymbolView<'_>) -> bool {
    let is_other = |own: SymbolView<'_>| own.number() != symbol.number() && own.name_bytes() == symbol.name_bytes();
    let mut beside = symbol
        .file
        .symbols()
        .filter(|own| own.parent().map(|own| own.number()) == symbol.parent().map(|own| own.number()));
    is_declared(symbol) && symbol.signature(SIGNATURE).contains("...") && beside.any(is_other)
}

/// Where a definition is: its file, and what it belongs to.
fn place(graph: &Graph<'_>, owners: &FxHashMap<u32, u32>, node: u32) -> (u32, Option<u32>) {
    (graph.symbols[node as usize].file.number(), owners.get(&node).copied().or_else(|| graph.parent(node)))
}

fn has_bases(graph: &Graph<'_>, class: &SymbolView<'_>) -> bool {
    graph.edges.bases(class.number()).next().is_some()
}

/// Files that something in use loads: a file that is no test imports them, a live node of another file uses one of
/// theirs, they are the entry of a package, say that they are started, or have a class for whoever goes through the
/// classes derived from one in use.
fn loaded<'a>(graph: &Graph<'a>, entries: &Entries<'_, 'a>, lives: impl Fn(u32) -> bool) -> FxHashSet<u32> {
    let mut found = FxHashSet::default();
    let mut folders: FxHashSet<&str> = FxHashSet::default();
    for file in graph.snapshot.files().filter(|file| !file.facts().is_empty()) {
        let own = graph.edges.in_file(file.number());
        let rules = file.conventions();
        let is_main = |symbol: SymbolView<'_>| is_typed(&symbol) && rules.mains.contains(&&*symbol.name());
        let says = |text: &str| memchr::memmem::find(file.content(), text.as_bytes()).is_some();
        let says_started = rules.started.is_some_and(says);
        let is_plugin = |symbol: SymbolView<'_>| {
            let mut bases = graph.edges.bases(symbol.number()).filter(|base| base.file != file.number());
            matches!(rules.public, Public::Unless(_)) && bases.any(|base| graph.node(base).is_some_and(&lives))
        };
        // A script is run, and a tool that takes what is decorated takes nothing else.
        let is_taken =
            |symbol: SymbolView<'a>| !file.exercises() && !symbol.has_parent() && entries.is_decorated(&symbol, rules);
        let is_run = says_started || names_interpreter(file.content());
        if entries.is_face(file) || is_run || file.symbols().any(|own| is_main(own) || is_plugin(own) || is_taken(own))
        {
            found.insert(file.number());
            folders.insert(folder(file.path()));
        }
        if file.exercises() {
            continue;
        }
        found.extend(
            graph.edges.imports(file.number()).iter().map(|import| import.to).filter(|to| *to != file.number()),
        );
        for edge in own {
            if graph.from(edge).is_some_and(|from| !lives(from)) {
                continue;
            }
            found.extend(graph.edges.targets(edge).map(|target| target.file).filter(|target| *target != file.number()));
        }
    }
    for file in graph.snapshot.files().filter(|file| found.contains(&file.number())) {
        folders.insert(folder(file.path()));
    }
    // Files of a folder are one package in some languages.
    let shares = |file: &FileView<'_>| file.conventions().public == Public::Capital && !file.exercises();
    let together = graph.snapshot.files().filter(|file| shares(file) && folders.contains(folder(file.path())));
    found.extend(together.map(|file| file.number()));
    found
}
