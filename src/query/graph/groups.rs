//! Definitions that code reaches as members of a group, without their names: classes that a base collects, all names of
//! a module, and the versions of a definition among which a build chooses.

use rustc_hash::{FxHashMap, FxHashSet};

use super::Graph;
use super::entry::{folder_of_modules, line_at};
use super::visible::{Exports, is_part, is_type, stem, words_before};
use crate::model::{Detail, How, Kind, Role};
use crate::store::{Edge, FileView, Import, SymbolId, SymbolView};

/// The most ancestors of a class that are looked at.
const MOST_ANCESTORS: usize = 100;
/// The most modules shown in a file that are looked for among its imports.
const MOST_SHOWN: usize = 100;
/// The most places where objects of a class are made that are looked at, and the most text before one.
const MOST_MADE: usize = 50;
const FAR: usize = 400;
/// The text in which a name that an object gets is looked for.
const NEAR: usize = 2_000;
/// The beginning of a file that may tie it to a condition.
const HEAD: usize = 4_096;

/// Those of some nodes that belong to a group that code goes through.
pub(super) fn collected<'a>(graph: &Graph<'a>, nodes: &[u32]) -> Vec<u32> {
    let (mut shown, mut given, mut collecting) = (FxHashSet::default(), FxHashSet::default(), FxHashSet::default());
    let (mut read, mut handed_on) = (FxHashSet::default(), FxHashSet::default());
    for file in graph.snapshot.files().filter(|file| !file.facts().is_empty()) {
        let (rules, text) = (file.conventions(), file.content());
        if rules.shows.iter().any(|mark| memchr::memmem::find(text, mark.as_bytes()).is_some()) {
            shown.insert(file.number());
        }
        for module in rules.shows_of.iter().flat_map(|mark| names_after(text, mark)).take(MOST_SHOWN) {
            let imports = graph.edges.imports(file.number()).iter();
            shown.extend(imports.map(|import| import.to).filter(|to| is_called(graph, *to, module)));
        }
        for module in rules.looked_up.iter().flat_map(|mark| names_after(text, mark)).take(MOST_SHOWN) {
            // `getattr(handlers, name)`: a name in quotes is a use of that one.
            let end = module.as_ptr_range().end as usize - text.as_ptr() as usize;
            let asked = text[end..].strip_prefix(b",").unwrap_or_default().trim_ascii_start();
            if !asked.is_empty() && !matches!(asked[0], b'"' | b'\'') {
                let imports = graph.edges.imports(file.number()).iter();
                let named = imports.filter(|import| brings(line_at(text, import.at), module)).map(|import| import.to);
                shown.extend(named.filter(|to| is_called(graph, *to, module)));
            }
        }
        handed_on.extend(handed_modules(graph, file, rules.local_blocks));
        for opening in rules.namespaces {
            handed_on.extend(handed_namespaces(graph, file, opening));
        }
        for mark in rules.reads {
            read.extend(memchr::memmem::find_iter(text, mark).filter_map(|at| path_at(&text[at + mark.len()..])));
        }
        // A base that is a value was made by a call, which may keep what is derived from it.
        let is_value = |target: SymbolId| graph.node(target).is_some_and(|node| graph.is_value(node));
        let bases = graph.edges.in_file(file.number()).iter().filter(|edge| edge.role() == Role::Base);
        given.extend(bases.filter(|edge| graph.edges.targets(edge).any(is_value)).filter_map(Edge::from));
        let marks = rules.collects.iter().filter(|mark| mark.starts_with('.'));
        collecting.extend(marks.flat_map(|mark| names_before(text, mark)));
    }
    let is_shown = |symbol: &SymbolView<'_>| symbol.parent().is_none() && shown.contains(&symbol.file.number());
    let exports = Exports::default();
    let is_handed_on = |symbol: &SymbolView<'a>| {
        let is_there = symbol.parent().is_none() && handed_on.contains(&symbol.file.number());
        is_there && exports.is_public(symbol, symbol.file.conventions())
    };
    // Classes are asked for again by each member and each derived class.
    let (mut handed, mut asked) = (FxHashMap::default(), FxHashMap::default());
    let is_meant = |node: &u32| {
        let symbol = &graph.symbols[*node as usize];
        is_shown(symbol)
            || is_handed_on(symbol)
            || is_read(symbol.file, &read)
            || is_of_handed_class(graph, symbol, &mut handed)
            || is_type(symbol) && is_collected(graph, symbol, &given, &collecting, &mut asked)
    };
    nodes.iter().copied().filter(is_meant).collect()
}

/// Files whose module a file imports as an object and hands on as a whole, by the texts around the object's name in the
/// import: `import * as helpers from "./helpers"` and `Object.assign(proto, helpers)`.
fn handed_namespaces(graph: &Graph<'_>, file: FileView<'_>, (before, after): &(&str, &str)) -> Vec<u32> {
    let text = file.content();
    let name_at = |at: usize| match after.is_empty() {
        true => names_after(&text[at..], before).next().unwrap_or_default(),
        // `const helpers = require("./helpers")`.
        false => &text[text[..at].iter().rposition(|byte| !is_part(*byte)).map_or(0, |before| before + 1)..at],
    };
    let mark = if after.is_empty() { before } else { after };
    let mut found = Vec::new();
    for at in memchr::memmem::find_iter(text, mark.as_bytes()).take(MOST_SHOWN) {
        let name = name_at(at);
        if name.is_empty() || !memchr::memmem::find_iter(text, name).any(|at| is_whole(text, at, name.len())) {
            continue;
        }
        let start = memchr::memrchr(b'\n', &text[..at]).map_or(0, |newline| newline + 1);
        let end = memchr::memchr(b'\n', &text[at..]).map_or(text.len(), |newline| at + newline);
        let imports = graph.edges.imports(file.number()).iter();
        found.extend(imports.filter(|import| (start..end).contains(&(import.at as usize))).map(|import| import.to));
    }
    found
}

/// Files whose module a file imports by its name and hands on as a whole: `from plugins import html`, `register(html)`. In a
/// function such a name may be that of a parameter, so only what is outside of blocks that begin with some words counts.
fn handed_modules(graph: &Graph<'_>, file: FileView<'_>, blocks: &[&str]) -> Vec<u32> {
    if blocks.is_empty() || file.exercises() {
        return Vec::new();
    }
    let text = file.content();
    let is_outer = |at: usize| {
        let lines = text[..at].split_inclusive(|byte| *byte == b'\n').rev();
        let mut outer = lines.filter(|line| !line.first().is_none_or(|byte| b" \t\r\n)]}#".contains(byte)));
        let opening = outer.next().unwrap_or(&text[at..]);
        !blocks.iter().any(|word| opening.starts_with(word.as_bytes()))
    };
    // Names in brackets may stand on lines of their own.
    let statement = |at: u32| {
        let line = line_at(text, at);
        let start = line.as_ptr() as usize - text.as_ptr() as usize;
        let is_open = line.contains(&b'(') && !line.contains(&b')');
        start..start + memchr::memchr(b')', &text[start..]).filter(|_| is_open).unwrap_or(line.len())
    };
    let imports = graph.edges.imports(file.number());
    let is_imported = |at: usize| imports.iter().any(|import| statement(import.at).contains(&at));
    let is_handed = |import: &Import| {
        let module = graph.snapshot.file_by_number(import.to);
        let Some(path) = module.map(|module| stem(module.path())) else { return false };
        let name =
            path.rsplit('/').find(|part| !file.conventions().folder_files.contains(part)).unwrap_or(path).as_bytes();
        let is_given = |at: usize| is_whole(text, at, name.len()) && is_outer(at) && !is_imported(at);
        brings(&text[statement(import.at)], name) && memchr::memmem::find_iter(text, name).any(is_given)
    };
    imports.iter().filter(|import| is_handed(import)).map(|import| import.to).collect()
}

/// Whether a line imports a name itself, rather than something of it: `from shop import cart`, not `from cart import Cart`.
fn brings(line: &[u8], name: &[u8]) -> bool {
    memchr::memmem::find_iter(line, name).any(|at| {
        let is_begun = at == 0 || !is_part(line[at - 1]);
        let after = &line[at + name.len()..];
        let is_ended = after.first().is_none_or(|byte| !is_part(*byte) && *byte != b'.');
        is_begun && is_ended && !after.trim_ascii_start().starts_with(b"import")
    })
}

/// Whether a name stands for a whole object here, and not for a member of it: `f(name)`, `{ ...name }`, `name[key]`.
fn is_whole(text: &[u8], at: usize, length: usize) -> bool {
    let (before, after) = (text[..at].trim_ascii_end(), text[at + length..].trim_ascii_start());
    let stands = !text[..at].last().is_some_and(|byte| is_part(*byte));
    let is_member = before.ends_with(b".") && !before.ends_with(b"...");
    let opens = || before.last().is_some_and(|byte| b"(,[{=:&|?.".contains(byte)) || before.ends_with(b"return");
    let ends = || after.first().is_none_or(|byte| b",)]};".contains(byte) || text[at + length] == b'\n');
    stands && !is_member && (text.get(at + length) == Some(&b'[') || opens() && ends())
}

/// The path in quotes that begins here, without the way up to its folder.
fn path_at(text: &[u8]) -> Option<&str> {
    let path = std::str::from_utf8(&text[..memchr::memchr(b'"', text)?]).ok()?;
    Some(path.rsplit("../").next().unwrap_or(path).trim_start_matches("./"))
}

/// Whether code reads the text of a file, and not by its module.
fn is_read(file: FileView<'_>, read: &FxHashSet<&str>) -> bool {
    let path = file.path();
    !read.is_empty() && (read.contains(path) || path.match_indices('/').any(|(at, _)| read.contains(&path[at + 1..])))
}

/// Whether it is a method of a class that is an argument of unknown code, or of which an object is made as one:
/// `register(Proxy)`, `Printer(Proxy())`.
fn is_of_handed_class(graph: &Graph<'_>, member: &SymbolView<'_>, handed: &mut FxHashMap<SymbolId, bool>) -> bool {
    let rules = member.file.conventions();
    let class = member.parent().filter(|class| rules.by_shape && member.kind() == Kind::Method && is_type(class));
    class.is_some_and(|class| {
        let class = class.number();
        let is_handed = *handed.entry(class).or_insert_with(|| {
            let is_value = |edge: &&Edge| matches!(edge.role(), Role::Call | Role::Reference);
            let values = graph.edges.users(class).filter(is_value);
            values.take(MOST_MADE).any(|edge| is_given(graph, edge))
        });
        is_handed && (rules.may_override)(&words_before(member), &member.name())
    })
}

/// Whether an object that is made here is an argument of unknown code, at once or by the name that it gets.
fn is_given(graph: &Graph<'_>, edge: &Edge) -> bool {
    let content = graph.snapshot.file_by_number(edge.file).map_or(&[][..], |file| file.content());
    let is_argument = |at: usize| {
        let callee = content.get(..at).and_then(callee_around);
        let used = graph.edges.in_file(edge.file);
        callee.is_some_and(|callee| {
            let known = used.binary_search_by_key(&callee, |edge| edge.at).ok().map(|place| used[place].how());
            matches!(known, None | Some(How::Outside | How::NoReceiver | How::OtherReceiver))
        })
    };
    let at = edge.at as usize;
    let name = content.get(..at).map(assigned).unwrap_or_default();
    if name.is_empty() || is_argument(at) {
        return is_argument(at);
    }
    let near = &content[at..content.len().min(at + NEAR)];
    let mut places = memchr::memmem::find_iter(near, name).map(|place| at + place).filter(|place| {
        let follows = content[..*place].trim_ascii_end().last().is_some_and(|byte| matches!(byte, b'(' | b','));
        follows && !content.get(place + name.len()).is_some_and(|byte| is_part(*byte))
    });
    places.any(is_argument)
}

/// The name that gets what is made where a text ends: `proxy = new `.
fn assigned(before: &[u8]) -> &[u8] {
    let before = before.trim_ascii_end();
    let before = before.strip_suffix(b"new").unwrap_or(before).trim_ascii_end();
    let Some(before) = before.strip_suffix(b"=").map(<[u8]>::trim_ascii_end) else { return &[] };
    &before[before.iter().rposition(|byte| !is_part(*byte)).map_or(0, |at| at + 1)..]
}

/// The place of the name of the call whose arguments are open where a text ends.
fn callee_around(before: &[u8]) -> Option<u32> {
    // The next word is no argument, or nothing is called on it.
    const WORDS: &[&[u8]] = &[
        b"",
        b"if",
        b"while",
        b"for",
        b"return",
        b"and",
        b"or",
        b"not",
        b"in",
        b"class",
        b"isinstance",
        b"issubclass",
        b"super",
        b"cast",
        b"type",
        b"len",
        b"print",
    ];
    let mut depth = 0_u32;
    for at in (before.len().saturating_sub(FAR)..before.len()).rev() {
        match before[at] {
            b')' | b']' | b'}' => depth += 1,
            b'(' | b'[' | b'{' if depth > 0 => depth -= 1,
            b';' if depth == 0 => return None,
            b'(' => {
                let start = before[..at].iter().rposition(|byte| !is_part(*byte)).map_or(0, |before| before + 1);
                return (!WORDS.contains(&&before[start..at])).then_some(start as u32);
            }
            _ => {}
        }
    }
    None
}

/// Whether a class above it gets to know its derived classes.
fn is_collected(
    graph: &Graph<'_>,
    class: &SymbolView<'_>,
    given: &FxHashSet<SymbolId>,
    collecting: &FxHashSet<&[u8]>,
    asked: &mut FxHashMap<SymbolId, bool>,
) -> bool {
    if class.file.conventions().collects.is_empty() {
        return false;
    }
    let mut seen: FxHashSet<SymbolId> = FxHashSet::default();
    let mut waiting = vec![class.number()];
    while let Some(class) = waiting.pop().filter(|_| seen.len() < MOST_ANCESTORS) {
        let collects_derived = |base: &SymbolId| {
            let collects = |base: SymbolView<'_>| collecting.contains(base.name_bytes()) || collects(&base);
            *asked.entry(*base).or_insert_with(|| graph.snapshot.symbol(*base).is_some_and(collects))
        };
        let bases: Vec<SymbolId> = graph.edges.bases(class).collect();
        if given.contains(&class) || bases.iter().any(collects_derived) {
            return true;
        }
        waiting.extend(bases.into_iter().filter(|base| seen.insert(*base)));
    }
    false
}

/// Whether a class gets to know the classes derived from it.
fn collects(class: &SymbolView<'_>) -> bool {
    let (rules, text) = (class.file.conventions(), class.source());
    rules.collects.iter().any(|mark| match mark.ends_with('=') {
        true => names_after(text, mark).any(|name| !rules.plain_bases.iter().any(|plain| plain.as_bytes() == name)),
        false => memchr::memmem::find(text, mark.as_bytes()).is_some(),
    })
}

/// The last parts of the dotted names after a mark.
fn names_after<'t>(text: &'t [u8], mark: &str) -> impl Iterator<Item = &'t [u8]> {
    memchr::memmem::find_iter(text, mark).filter_map(move |at| {
        let rest = &text[at + mark.len()..];
        let end = rest.iter().position(|byte| !is_part(*byte) && *byte != b'.').unwrap_or(rest.len());
        rest[..end].rsplit(|byte| *byte == b'.').next().filter(|name| !name.is_empty())
    })
}

/// The names before a mark.
fn names_before<'t>(text: &'t [u8], mark: &str) -> impl Iterator<Item = &'t [u8]> {
    memchr::memmem::find_iter(text, mark).map(|at| {
        let start = text[..at].iter().rposition(|byte| !is_part(*byte)).map_or(0, |before| before + 1);
        &text[start..at]
    })
}

/// Whether a module in this file goes by this name.
fn is_called(graph: &Graph<'_>, file: u32, name: &[u8]) -> bool {
    let Some(file) = graph.snapshot.file_by_number(file) else { return false };
    let stem = file.path().rsplit_once('.').map_or(file.path(), |(stem, _)| stem);
    let mut parts = stem.rsplit('/').skip_while(|part| file.conventions().folder_files.contains(part));
    parts.next().is_some_and(|part| part.as_bytes() == name)
}

/// Those of some nodes that stand under a condition of the build, and of which another version was reached.
pub(super) fn chosen_by_build(graph: &Graph<'_>, nodes: &[u32], is_reached: impl Fn(u32) -> bool) -> Vec<u32> {
    let modules = conditional_modules(graph);
    let is_chosen = |node: &u32| is_conditional(&graph.symbols[*node as usize], &modules);
    let chosen: Vec<u32> = nodes.iter().copied().filter(is_chosen).collect();
    let names: FxHashSet<&[u8]> = chosen.iter().map(|node| graph.symbols[*node as usize].name_bytes()).collect();
    let key = |symbol: &SymbolView<'_>| (version_of(symbol), symbol.kind(), symbol.file.language());
    let versions = (0..graph.symbols.len() as u32)
        .filter(|node| names.contains(graph.symbols[*node as usize].name_bytes()) && is_reached(*node));
    let reached: FxHashSet<_> = versions.map(|node| key(&graph.symbols[node as usize])).collect();
    chosen.into_iter().filter(|node| reached.contains(&key(&graph.symbols[*node as usize]))).collect()
}

/// The name of a definition, with its type if it is a method: versions of one may stand in modules of other names.
fn version_of(symbol: &SymbolView<'_>) -> String {
    let name = symbol.qualified_name();
    let parts = if symbol.kind() == Kind::Method { 2 } else { 1 };
    let start = name.rmatch_indices('.').nth(parts - 1).map_or(0, |(dot, _)| dot + 1);
    name[start..].to_owned()
}

/// Conditions of a build under which definitions stand.
pub(super) struct Conditions<'a> {
    modules: FxHashSet<(&'a str, &'a [u8])>,
    /// Names that have more than one definition.
    shared: FxHashSet<&'a [u8]>,
}

impl<'a> Conditions<'a> {
    /// Reads those of modules.
    pub fn new(graph: &Graph<'a>) -> Self {
        let mut names = FxHashSet::default();
        let shared = graph.symbols.iter().map(SymbolView::name_bytes).filter(|name| !names.insert(*name)).collect();
        Self { modules: conditional_modules(graph), shared }
    }

    /// Whether a build may put something else of its name in the place of a symbol.
    pub fn hold(&self, graph: &Graph<'_>, symbol: &SymbolView<'_>) -> bool {
        let is_version = |other: &SymbolView<'_>| {
            other.name_bytes() == symbol.name_bytes()
                && other.number() != symbol.number()
                && version_of(other) == version_of(symbol)
        };
        self.shared.contains(symbol.name_bytes())
            && is_conditional(symbol, &self.modules)
            && graph.symbols.iter().any(is_version)
    }
}

/// Modules in files of their own that are declared under a condition, by folder and name (`#[cfg(windows)] mod console;`),
/// or have a version for a platform beside them (`console.ts`, `console.browser.ts`).
fn conditional_modules<'a>(graph: &Graph<'a>) -> FxHashSet<(&'a str, &'a [u8])> {
    let declared = graph.symbols.iter().filter(|symbol| symbol.detail() == Detail::Module && is_tied(symbol));
    let mut modules: FxHashSet<_> =
        declared.map(|module| (folder_of_modules(module.file.path()), module.name_bytes())).collect();
    for file in graph.snapshot.files().filter(|file| !file.conventions().platforms.is_empty()) {
        let name = file.path().rsplit('/').next().unwrap_or_default();
        if let [stem, platform, _] = name.split('.').collect::<Vec<_>>()[..]
            && file.conventions().platforms.contains(&platform)
        {
            modules.insert((folder(file), stem.as_bytes()));
        }
    }
    modules
}

/// Whether a build may leave a symbol out: by a condition on itself, on code around it, on its file or its module.
fn is_conditional(symbol: &SymbolView<'_>, modules: &FxHashSet<(&str, &[u8])>) -> bool {
    let conditions = symbol.file.conventions().conditions;
    let content = symbol.file.content();
    let head = &content[..content.len().min(HEAD)];
    let is_said =
        |opening: &&str| !opening.starts_with("#[") && memchr::memmem::find(head, opening.as_bytes()).is_some();
    let path = symbol.file.path();
    // A module holds those in its folder: `other` that in `unix/other/disk.rs`.
    let is_of_module = |(slash, _): (usize, &str)| {
        let name = path[slash + 1..].split(['/', '.']).next().unwrap_or_default();
        modules.contains(&(&path[..slash], name.as_bytes()))
    };
    let name = path.split(['/', '.']).next().unwrap_or_default();
    std::iter::successors(Some(*symbol), SymbolView::parent).any(|own| is_tied(&own))
        || modules.contains(&("", name.as_bytes()))
        || path.match_indices('/').any(is_of_module)
        || conditions.iter().any(is_said)
}

/// Whether a definition has a condition of its own, or stands in a macro that chooses: `cfg_if! { … }`.
fn is_tied(symbol: &SymbolView<'_>) -> bool {
    let rules = symbol.file.conventions();
    let is_condition = |decorator: &String| rules.conditions.iter().any(|opening| decorator.starts_with(opening));
    let before = symbol.file.content().get(..symbol.span().start as usize).unwrap_or_default();
    let is_inside = |opening: &&str| {
        let last = memchr::memmem::find_iter(before, opening.as_bytes()).last();
        last.is_some_and(|at| {
            let text = &before[at..];
            memchr::memchr_iter(b'{', text).count() > memchr::memchr_iter(b'}', text).count()
        })
    };
    !rules.conditions.is_empty() && symbol.decorators().iter().any(is_condition)
        || rules.conditional_macros.iter().any(is_inside)
}

fn folder<'a>(file: FileView<'a>) -> &'a str {
    file.path().rsplit_once('/').map_or("", |(folder, _)| folder)
}
