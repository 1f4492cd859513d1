//! Uses of a symbol.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::files::unknown_file;
use super::filters::path_glob;
use super::indexes::Repo;
use super::possible::{self, LookedAt, Possible, shortened};
use super::{Call, Error, Tool, ToolTier, related, tokens};
use crate::catalog::context::{self, linking};
use crate::catalog::cross_repo::{self, Link, User};
use codelode_query::{self as query, LineCount, UseSite};
use codelode_store::{EdgeTable, Snapshot, SymbolView};

/// Find usages of a symbol in the project: who uses, references or instantiates it, all places where a variable or
/// function is used. Prefer it to search_text.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// Id, name or path (default: current).
    #[serde(default)]
    repo: Option<String>,
    /// Its name.
    #[serde(default)]
    identifier: Option<String>,
    /// Several names.
    #[serde(default)]
    identifiers: Option<Vec<String>>,
    /// Its id.
    #[serde(default)]
    symbol_id: Option<String>,
    /// File of its definition, with `line`.
    #[serde(default)]
    #[schemars(extend("x-rare" = true))]
    file: Option<String>,
    /// Line of its definition, with `file`.
    #[serde(default)]
    #[schemars(extend("x-rare" = true))]
    line: Option<u32>,
    /// Folder or glob.
    #[serde(default)]
    #[schemars(extend("x-rare" = true))]
    scope: Option<String>,
    /// Also where only the name matches.
    #[serde(default)]
    include_possible: bool,
    /// Include other repositories.
    #[serde(default)]
    #[schemars(extend("x-rare" = true))]
    cross_repo: bool,
    /// Limit of results.
    #[serde(default = "hundred")]
    max_results: u32,
}

fn hundred() -> u32 {
    100
}

/// Uses of one symbol or name, or of each of several names.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum Output {
    /// For `identifier`, `symbol_id`, or `file` and `line`.
    One(Box<Uses>),
    /// The answer for `identifiers`.
    Many {
        /// One answer for each, in the order asked.
        results: Vec<Uses>,
    },
}

/// Uses by definition, path and line.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub struct Uses {
    /// The name asked about (for several).
    #[serde(skip_serializing_if = "Option::is_none")]
    identifier: Option<String>,
    definitions: Vec<Defined>,
    /// External packages that define the name, if the repository does not.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    external: Vec<String>,
    /// Number of further definitions, with fewer uses.
    #[serde(skip_serializing_if = "is_zero")]
    definitions_left: usize,
    references: Vec<Item>,
    /// Number of further uses (for several names).
    #[serde(skip_serializing_if = "is_zero")]
    references_left: usize,
    /// Cursor for the rest, with only this name as `identifier`.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
    /// In a compact answer: the files searched for uses.
    #[serde(skip_serializing_if = "Option::is_none")]
    looked_at: Option<LookedAt>,
    /// Number of further places that may use it: the name on a receiver of unknown type.
    #[serde(skip_serializing_if = "is_zero")]
    possible: usize,
    #[serde(flatten)]
    unsure: Possible,
    /// Names that are defined nowhere here.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    not_found: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    nearest: Vec<String>,
}

impl Uses {
    /// Numbers several definitions, and keeps the most used of very many, so that the uses are not crowded out. Returns
    /// the number of each.
    fn keep_most_used(&mut self) -> Vec<Option<usize>> {
        let mut places: Vec<Option<usize>> = (0..self.definitions.len()).map(Some).collect();
        if self.definitions.len() > MOST_DEFINITIONS {
            let mut order: Vec<usize> = (0..self.definitions.len()).collect();
            order.sort_by_key(|place| std::cmp::Reverse(self.definitions[*place].uses));
            self.definitions_left = order.split_off(MOST_DEFINITIONS).len();
            places = (0..places.len()).map(|place| order.iter().position(|kept| *kept == place)).collect();
            self.definitions = order.iter().map(|place| self.definitions[*place].clone()).collect();
        }
        if places.len() > 1 {
            self.definitions.iter_mut().enumerate().for_each(|(number, defined)| defined.number = Some(number));
        }
        places
    }
}

fn is_zero(n: &usize) -> bool {
    *n == 0
}

/// A definition with its facts.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Defined {
    /// Number that `of` of its uses refers to (for several definitions).
    #[serde(skip_serializing_if = "Option::is_none")]
    number: Option<usize>,
    id: String,
    /// Kind in the language's own term, if different.
    #[serde(skip_serializing_if = "Option::is_none")]
    detail: Option<&'static str>,
    line: u32,
    /// Other places that define the same symbol: overloads, platform variants, parts of a class, a declaration.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    also_at: Vec<String>,
    uses: usize,
}

impl Defined {
    /// The first of some twins, and where the others stand.
    fn of(twins: &[SymbolView<'_>], uses: usize) -> Self {
        let first = &twins[0];
        let (detail, also_at) = (related::own_word(first), related::others_at(twins));
        Self { number: None, id: first.id(), detail, line: first.line(), also_at, uses }
    }
}

/// A place that uses the symbol.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Item {
    /// Repository that imports it, if another.
    #[serde(skip_serializing_if = "Option::is_none")]
    repo: Option<String>,
    file: String,
    line: u32,
    column: u32,
    text: String,
    /// call, import, base, type, write, decorator, or reference for anything else.
    kind: &'static str,
    /// The name written there, if another: an import alias, which a rename keeps, or an embedded field.
    #[serde(rename = "as", skip_serializing_if = "Option::is_none")]
    written: Option<String>,
    /// The symbol around the use, or the one that it decorates.
    #[serde(rename = "in", skip_serializing_if = "Option::is_none")]
    within: Option<String>,
    /// `number` of the definition (for several).
    #[serde(skip_serializing_if = "Option::is_none")]
    of: Option<usize>,
    /// `resolved`: means this definition; `compiler`: confirmed by a compiler's index; `import`: its file imports the
    /// definition's; `name`: only the name matches; `external`: imported from outside the repository.
    confidence: &'static str,
}

/// See [`Args`].
pub struct FindReferences;

/// Tokens of an answer besides its references.
const FRAME: usize = 200;
/// The most definitions of one name.
const MOST_DEFINITIONS: usize = 20;

impl Tool for FindReferences {
    const NAME: &'static str = "find_references";
    const COMMAND: &'static str = "refs";
    const POSITIONAL: &'static [&'static str] = &["identifier"];
    const SHOWN: Option<ToolTier> = Some(ToolTier::Lean);
    const ALWAYS_LOADED: bool = true;
    const LIST: Option<&'static str> = Some("references");
    type Args = Args;
    type Output = Output;

    fn run(call: &Call<'_>, args: Args) -> Result<Output, Error> {
        let also = args.identifiers.is_some().then_some(&args.identifier);
        let names = args.identifiers.iter().flatten().chain(also.into_iter().flatten());
        let mut asked: Vec<Option<&str>> = names.map(|name| Some(name.as_str())).collect();
        let is_one = asked.is_empty() || args.symbol_id.is_some();
        if is_one {
            asked = vec![args.identifier.as_deref()];
        }
        let mut results = related::answer(call, args.repo.as_deref(), |repo, edges| {
            let (mut results, mut paths) = (Vec::new(), Vec::new());
            // Each of several gets what fits into an answer; those that do not fit beside it have the next page.
            let room = (!is_one).then(|| call.max_tokens.saturating_sub(FRAME));
            let users = if args.cross_repo { cross_repo::users(call, repo, edges)? } else { Vec::new() };
            let (mut cut_off, mut unnamed) = (BTreeSet::new(), BTreeSet::new());
            for name in &asked {
                let (uses, files) =
                    find(call, (repo, &users), edges, &args, (*name, room), (&mut cut_off, &mut unnamed))?;
                results.push(uses);
                paths.extend(files);
            }
            related::note_cut_off(call, &cut_off);
            related::note_unnamed(call, &unnamed);
            let is_absent = results.iter().any(|uses| uses.references.is_empty());
            if is_absent {
                related::note_unread(call, repo);
            }
            related::note_not_read(call, repo, is_absent);
            call.absent(is_absent);
            Ok((results, paths))
        })?;
        call.narrow("give symbol_id, or file and line");
        if is_one {
            return Ok(Output::One(Box::new(results.remove(0))));
        }
        call.found(results.iter().any(|uses| !uses.references.is_empty()));
        for (uses, name) in results.iter_mut().zip(asked) {
            uses.identifier = name.map(str::to_owned);
            if let (Some(name), 1..) = (name, uses.references_left) {
                let given = uses.references.len();
                uses.next_cursor = Some(call.cursor_alone("identifiers", "identifier", name, given));
            }
        }
        call.list("results");
        Ok(Output::Many { results: call.page(results, usize::MAX) })
    }
}

fn find<'r>(
    call: &Call<'_>,
    (repo, users): (&'r Repo, &[User]),
    edges: &EdgeTable,
    args: &Args,
    (name, room): (Option<&str>, Option<usize>),
    (cut_off, unnamed): (&mut BTreeSet<&'r str>, &mut BTreeSet<String>),
) -> Result<(Uses, Vec<String>), Error> {
    let (symbols, not_found) = meant(call, repo, args, name)?;
    let Some(first) = symbols.first() else {
        cut_off.extend(not_found.iter().flat_map(|name| query::cut_off_with(&repo.snapshot, name)));
        if let Some(linked) = not_found.first().and_then(|name| linked(call, repo, name, args.max_results)) {
            return Ok(linked);
        }
        if let Some(uses) = uses_outside(call, (repo, edges), args, name, room) {
            return Ok(uses);
        }
        let near = not_found.iter().flat_map(|name| query::nearest(&repo.snapshot, name, 3));
        let nearest = near.map(|symbol| symbol.id()).collect();
        return Ok((Uses { not_found, nearest, ..Uses::default() }, Vec::new()));
    };
    // One that is resolved is an answer.
    if let Err(unresolved) = related::check_language(&repo.snapshot, first)
        && symbols.iter().all(|symbol| related::check_language(&repo.snapshot, symbol).is_err())
    {
        // A key of a manifest often has the name of the package that the code uses.
        return uses_outside(call, (repo, edges), args, name, room).ok_or(unresolved);
    }
    cut_off.extend(query::cut_off(&repo.snapshot, &symbols));
    unnamed.extend(query::unnamed_uses(&repo.snapshot, edges, &symbols));
    if let Some(name) = name.filter(|_| args.symbol_id.is_none() && args.line.is_none()) {
        related::note_inherited(call, repo, name, &symbols);
    }
    let glob = args.scope.as_deref().map(path_glob).transpose()?;
    let is_wanted = |place: &UseSite<'_>| glob.as_ref().is_none_or(|glob| glob.is_match(place.file.path()));
    let mut outside = 0;
    let mut output = Uses { not_found, ..Uses::default() };
    // Only those on the page are made into items: there may be a million uses.
    let mut references: Vec<Reference<'_>> = Vec::new();
    let mut paths: Vec<String> = vec![first.file.path().to_owned()];
    let groups = related::twins(repo, edges, symbols);
    let mut links = related::Links::of(repo);
    for (place, twins) in groups.iter().enumerate() {
        let of = (groups.len() > 1).then_some(place);
        let mut uses = uses_of(&repo.snapshot, edges, twins);
        uses.retain(|(_, place)| links.target(place.file.path()).is_none());
        let all = uses.len();
        uses.retain(|(_, place)| is_wanted(place));
        outside += all - uses.len();
        output.definitions.push(Defined::of(twins, uses.len()));
        for (symbol, place) in &uses {
            let written = query::written_as(place, symbol);
            references.push(Reference { written, of, ..Reference::at(*place, place.edge.how().as_str()) });
        }
    }
    // The question is about those: its own uses, of which there may be many, come after them.
    references.splice(0..0, users.iter().flat_map(|user| elsewhere(user, &groups)));
    let places = output.keep_most_used();
    for reference in &mut references {
        reference.of = reference.of.and_then(|place| places.get(place).copied().flatten());
    }
    let mut names: BTreeMap<String, Vec<SymbolView<'_>>> = BTreeMap::new();
    for symbol in groups.iter().flatten() {
        names.entry(symbol.name().into_owned()).or_default().push(*symbol);
    }
    let mut unsure = Vec::new();
    for definitions in names.values() {
        let possible = possible::places(repo, edges, definitions, false);
        if args.include_possible {
            let is_of = |file: u32| definitions.iter().any(|symbol| symbol.file.number() == file);
            let imports = |file: u32| edges.imports(file).iter().any(|import| is_of(import.to));
            let confidence = |place: &UseSite<'_>| if imports(place.edge.file) { "import" } else { "name" };
            references.extend(possible.iter().map(|place| Reference::at(*place, confidence(place))));
        } else {
            unsure.extend(possible);
        }
    }
    references.retain(|reference| is_wanted(&reference.place));
    unsure.retain(is_wanted);
    if let (Some(pattern), 1..) = (&args.scope, outside) {
        call.note("elsewhere", json!(format!("{outside} more uses outside of {pattern}")));
    }
    output.looked_at = (call.compact || call.request.for_people).then(|| LookedAt::of(repo, &groups.concat()));
    output.possible = unsure.len();
    output.unsure = Possible::of(repo, &unsure);
    paths.extend(output.unsure.files());
    let (output, files) = paged(call, repo, args, references, output, room);
    paths.extend(files);
    paths.sort();
    paths.dedup();
    Ok((output, paths))
}

/// A use.
struct Reference<'a> {
    /// Its repository, if another.
    repo: Option<&'a Repo>,
    place: UseSite<'a>,
    /// The name written there, if another.
    written: Option<Cow<'a, str>>,
    /// The place of its definition among several.
    of: Option<usize>,
    confidence: &'static str,
}

impl<'a> Reference<'a> {
    fn at(place: UseSite<'a>, confidence: &'static str) -> Self {
        Self { repo: None, place, written: None, of: None, confidence }
    }
}

/// Uses of twins, by path and place, each once and with one of those that it means.
fn uses_of<'a>(
    snapshot: &'a Snapshot,
    edges: &'a EdgeTable,
    twins: &[SymbolView<'a>],
) -> Vec<(SymbolView<'a>, UseSite<'a>)> {
    let of_one = |symbol: &SymbolView<'a>| {
        query::uses(snapshot, edges, symbol.number()).into_iter().map(|place| (*symbol, place)).collect::<Vec<_>>()
    };
    let mut uses: Vec<(SymbolView<'a>, UseSite<'a>)> = twins.iter().flat_map(of_one).collect();
    if twins.len() > 1 {
        uses.sort_by_key(|(_, place)| (place.file.path(), place.edge.at));
        uses.dedup_by_key(|(_, place)| (place.edge.file, place.edge.at));
    }
    uses
}

/// Uses of symbols in another repository.
fn elsewhere<'a>(user: &'a User, groups: &[Vec<SymbolView<'_>>]) -> Vec<Reference<'a>> {
    let is_meant = |link: &Link, symbol: &SymbolView<'_>| link.to.contains(&symbol.number());
    let of = |link: &Link| groups.iter().position(|twins| twins.iter().any(|symbol| is_meant(link, symbol)));
    let used = user.uses().iter().filter_map(|link| Some((link, of(link)?)));
    let (mut lines, mut last) = (LineCount::default(), None);
    let place = |(link, of): (&'a Link, usize)| {
        let file = user.repo.snapshot.file_by_number(link.edge.file)?;
        if last.replace(file.number()) != Some(file.number()) {
            lines = LineCount::default();
        }
        let place = UseSite { file, edge: &link.edge, line: lines.line_of(file.content(), link.edge.at) };
        let of = (groups.len() > 1).then_some(of);
        Some(Reference { repo: Some(&user.repo), of, ..Reference::at(place, link.edge.how().as_str()) })
    };
    used.filter_map(place).collect()
}

/// Uses of a name that comes from outside of the repository; `None` where there are none.
fn uses_outside(
    call: &Call<'_>,
    (repo, edges): (&Repo, &EdgeTable),
    args: &Args,
    name: Option<&str>,
    room: Option<usize>,
) -> Option<(Uses, Vec<String>)> {
    let (uses, external) = query::outside_uses(&repo.snapshot, edges, name.filter(|_| args.file.is_none())?);
    let references = uses.iter().map(|used| Reference::at(used.place(), "external")).collect();
    let output = Uses { external: external.into_iter().collect(), ..Uses::default() };
    (!uses.is_empty()).then(|| paged(call, repo, args, references, output, room))
}

/// Adds the page of references that was asked for, or as many as have room beside those of other names. Returns the
/// files of all.
fn paged(
    call: &Call<'_>,
    repo: &Repo,
    args: &Args,
    references: Vec<Reference<'_>>,
    mut output: Uses,
    room: Option<usize>,
) -> (Uses, Vec<String>) {
    let own = references.iter().filter(|reference| reference.repo.is_none());
    let files: BTreeSet<&str> = own.map(|reference| reference.place.file.path()).collect();
    let paths = files.into_iter().map(str::to_owned).collect();
    let most = args.max_results as usize;
    let item = |reference: &Reference<'_>| item(repo, reference);
    let Some(room) = room else {
        call.found(!references.is_empty());
        output.references = call.page(references, most).iter().map(item).collect();
        return (output, paths);
    };
    let mut left = room.saturating_sub(tokens::of_json(&output));
    let fits = |item: &Item| {
        let cost = tokens::of_json(item) + 1;
        let fits = cost <= left;
        left = left.saturating_sub(cost);
        fits
    };
    output.references = references.iter().take(most).map(item).take_while(fits).collect();
    output.references_left = references.len() - output.references.len();
    (output, paths)
}

/// Uses of what a name means in an ecosystem, such as a model of dbt; `None` where it means nothing.
fn linked(call: &Call<'_>, repo: &Repo, name: &str, most: u32) -> Option<(Uses, Vec<String>)> {
    let context = linking(call, repo)?;
    let links: Vec<&context::Link> = context.links().filter(|link| link.name == name).collect();
    let files: BTreeSet<&str> = context.defined().filter(|(other, _)| *other == name).map(|(_, file)| file).collect();
    if links.is_empty() && files.is_empty() {
        return None;
    }
    let uses = |file: &str| links.iter().filter(|link| link.to.as_deref() == Some(file)).count();
    let defined = |file: &&str| Defined {
        number: None,
        id: (*file).to_owned(),
        detail: None,
        line: 1,
        also_at: Vec::new(),
        uses: uses(file),
    };
    let mut output = Uses { definitions: files.iter().map(defined).collect(), ..Uses::default() };
    let places = output.keep_most_used();
    let numbers: Vec<Option<usize>> = match files.len() {
        1 => vec![None],
        _ => places,
    };
    let number =
        |link: &context::Link| numbers.get(files.iter().position(|file| link.to.as_deref() == Some(file))?).copied()?;
    let item = |link: &&context::Link| {
        let file = repo.snapshot.file(&link.from)?;
        Some(Item {
            repo: None,
            file: link.from.to_string(),
            line: query::line_of(file, link.at),
            column: query::column_of(file, link.at),
            text: shortened(query::line_text(file, link.at)),
            kind: "import",
            written: None,
            within: None,
            of: number(link),
            confidence: "resolved",
        })
    };
    call.found(!links.is_empty());
    output.references = call.page(links, most as usize).iter().filter_map(item).collect();
    let paths = output.references.iter().map(|item| item.file.clone()).chain(files.into_iter().map(str::to_owned));
    let paths: BTreeSet<String> = paths.collect();
    Some((output, paths.into_iter().collect()))
}

/// The requested symbols, and requested names that no symbol has.
fn meant<'a>(
    call: &Call<'_>,
    repo: &'a Repo,
    args: &Args,
    name: Option<&str>,
) -> Result<(Vec<SymbolView<'a>>, Vec<String>), Error> {
    if let Some(id) = &args.symbol_id {
        return Ok((vec![related::symbol(repo, id)?], Vec::new()));
    }
    if let (Some(file), Some(line)) = (&args.file, args.line) {
        let path = repo.relative(file);
        let file = repo.snapshot.file(&path).ok_or_else(|| unknown_file(call, repo, &path))?;
        let symbol = query::symbol_near(file, name, line);
        let missing = || {
            let what = name.map_or("nothing".to_owned(), |name| format!("no {name:?}"));
            Error::not_found(format!("{what} is defined at {path}:{line}; get_file_outline lists the definitions"))
        };
        return Ok((vec![symbol.ok_or_else(missing)?], Vec::new()));
    }
    let Some(name) = name else {
        let message = "give `identifier`, `identifiers`, `symbol_id`, or `file` and `line`";
        return Err(Error::invalid_arguments(message));
    };
    let mut symbols = related::named(repo, name);
    let not_found = if symbols.is_empty() { vec![name.to_owned()] } else { Vec::new() };
    if let Some(file) = &args.file {
        let path = repo.relative(file);
        symbols.retain(|symbol| symbol.file.path() == path);
    }
    symbols.sort_by_key(|symbol| (symbol.file.path(), symbol.line()));
    Ok((symbols, not_found))
}

fn item(repo: &Repo, reference: &Reference<'_>) -> Item {
    let Reference { repo: other, place, written, of, confidence } = reference;
    let role = place.edge.role();
    let decorated = query::decorated(place);
    let around = || place.edge.from().and_then(|symbol| other.unwrap_or(repo).snapshot.symbol(symbol));
    Item {
        repo: other.map(|other| other.sidecar.repo.clone()),
        file: place.file.path().to_owned(),
        line: place.line,
        column: place.column(),
        text: shortened(place.text()),
        kind: if decorated.is_some() { "decorator" } else { role.as_str() },
        written: written.as_ref().map(Cow::to_string),
        within: decorated.or_else(around).map(|symbol| symbol.qualified_name()),
        of: *of,
        confidence,
    }
}
