//! Places where a name may mean a symbol, as nothing is known of what it belongs to: a few are shown, many are counted
//! by their receivers. And the files that were looked through for all that is told of a symbol.

use std::collections::{BTreeMap, HashMap, HashSet};

use schemars::JsonSchema;
use serde::Serialize;

use super::indexes::Repo;
use codelode_base::model::Role;
use codelode_query::{self as query, UseSite};
use codelode_store::{Edge, EdgeTable, FileView, SymbolId, SymbolView};

/// The most places that are shown without being asked for.
const FEW: usize = 10;
/// The most receivers that are named, and the most characters of a line.
const RECEIVERS: usize = 8;
/// The most other definitions and receivers that calls by the same name are counted for.
const MOST_OTHERS: usize = 4;
const TEXT: usize = 100;

/// Places that may mean a symbol.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub struct Possible {
    /// The places, if at most ten.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    possible_places: Vec<Place>,
    /// If more than ten: counts by receiver, most frequent first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    possible_receivers: Vec<Receiver>,
}

/// A line that may use the symbol.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Place {
    file: String,
    line: u32,
    text: String,
    /// Enclosing symbol, and the line of its definition.
    #[serde(rename = "in", skip_serializing_if = "Option::is_none")]
    within: Option<String>,
    #[serde(rename = "in_line", skip_serializing_if = "Option::is_none")]
    within_line: Option<u32>,
}

/// The expression before the name, as `request` in `request.get()`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Receiver {
    receiver: String,
    count: usize,
}

/// How many files were searched because they may use the symbol.
#[derive(Debug, Serialize, JsonSchema)]
pub struct LookedAt {
    files: usize,
    /// How many of these files are tests.
    tests: usize,
    /// Calls by the same name that are of others, most frequent first; the last counts the rest.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    others: Vec<Other>,
}

/// Calls of another definition with the same name.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Other {
    /// Qualified name of the function that these calls mean, if it is in the repository.
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    /// Receiver of the calls, if their definition is not in the repository.
    #[serde(skip_serializing_if = "Option::is_none")]
    receiver: Option<String>,
    count: usize,
}

impl LookedAt {
    /// The files for some definitions.
    pub fn of(repo: &Repo, definitions: &[SymbolView<'_>]) -> Self {
        let may_use = |file: &FileView<'_>| definitions.iter().any(|symbol| query::may_name(*file, symbol.file));
        let (mut files, mut tests) = (0, 0);
        for file in repo.snapshot.files().filter(may_use) {
            files += 1;
            tests += usize::from(file.is_test());
        }
        Self { files, tests, others: Vec::new() }
    }

    /// With the calls by the name of some definitions that are of others. Of the calls without a known definition,
    /// those that are `possible` may mean these.
    pub fn with_others(
        mut self,
        repo: &Repo,
        edges: &EdgeTable,
        definitions: &[SymbolView<'_>],
        possible: &[UseSite<'_>],
    ) -> Self {
        let Some(first) = definitions.first() else { return self };
        let is_own = |number: SymbolId| definitions.iter().any(|own| own.number() == number);
        let is_other = |edge: &&Edge| edge.role() == Role::Call && !edges.targets(edge).any(is_own);
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        for other in query::named(&repo.snapshot, &first.name()) {
            let count = edges.users(other.number()).filter(is_other).count();
            if count > 0 && !is_own(other.number()) {
                *counts.entry(other.qualified_name()).or_default() += count;
            }
        }
        let may_be_own: HashSet<(u32, u32)> = possible.iter().map(|place| (place.edge.file, place.edge.at)).collect();
        let is_call = |edge: &&Edge| edge.role() == Role::Call && !may_be_own.contains(&(edge.file, edge.at));
        let mut of_receivers: BTreeMap<String, usize> = BTreeMap::new();
        for edge in edges.unbound(first.name_bytes()).filter(is_call) {
            let file = repo.snapshot.file_by_number(edge.file);
            let receiver = file.and_then(|file| query::receiver(file.content(), edge.at));
            *of_receivers.entry(receiver.unwrap_or_default()).or_default() += 1;
        }
        let named = counts.into_iter().map(|(name, count)| Other { name: Some(name), receiver: None, count });
        let unnamed = of_receivers.into_iter();
        let unnamed = unnamed.map(|(receiver, count)| Other { name: None, receiver: Some(receiver), count });
        self.others = named.chain(unnamed).collect();
        self.others.sort_by_key(|other| std::cmp::Reverse(other.count));
        let rest: usize = self.others.iter().skip(MOST_OTHERS).map(|other| other.count).sum();
        self.others.truncate(MOST_OTHERS);
        self.others.extend((rest > 0).then_some(Other { name: None, receiver: None, count: rest }));
        self
    }
}

/// Places that may mean one of some definitions of a name, by path and line; calls alone where those are asked for.
pub fn places<'a>(
    repo: &'a Repo,
    edges: &'a EdgeTable,
    definitions: &[SymbolView<'_>],
    calls_alone: bool,
) -> Vec<UseSite<'a>> {
    let mut places = query::possible_uses(&repo.snapshot, edges, definitions);
    places.retain(|place| !calls_alone || place.edge.role() == Role::Call);
    places
}

impl Possible {
    /// A few places, or the receivers of many.
    pub fn of(repo: &Repo, places: &[UseSite<'_>]) -> Self {
        if places.len() <= FEW {
            let possible_places = places.iter().map(|place| shown(repo, place)).collect();
            return Self { possible_places, ..Self::default() };
        }
        let mut counts: HashMap<String, usize> = HashMap::new();
        for place in places {
            let receiver = query::receiver(place.file.content(), place.edge.at);
            *counts.entry(receiver.unwrap_or_else(|| "no receiver".to_owned())).or_default() += 1;
        }
        let mut receivers: Vec<Receiver> =
            counts.into_iter().map(|(receiver, count)| Receiver { receiver, count }).collect();
        receivers.sort_by(|a, b| b.count.cmp(&a.count).then_with(|| a.receiver.cmp(&b.receiver)));
        if receivers.len() > RECEIVERS {
            let others = receivers.split_off(RECEIVERS - 1);
            let count = others.iter().map(|one| one.count).sum();
            receivers.push(Receiver { receiver: format!("{} others", others.len()), count });
        }
        Self { possible_receivers: receivers, ..Self::default() }
    }

    /// Files whose lines are shown.
    pub fn files(&self) -> impl Iterator<Item = String> + '_ {
        self.possible_places.iter().map(|place| place.file.clone())
    }
}

fn shown(repo: &Repo, place: &UseSite<'_>) -> Place {
    let within = place.edge.from().and_then(|symbol| repo.snapshot.symbol(symbol));
    Place {
        file: place.file.path().to_owned(),
        line: place.line,
        text: shortened(place.text()),
        within_line: within.as_ref().map(SymbolView::line),
        within: within.map(|symbol| symbol.qualified_name()),
    }
}

/// The beginning of a line.
pub fn shortened(mut text: String) -> String {
    if let Some((end, _)) = text.char_indices().nth(TEXT) {
        text.truncate(end);
        text.push('…');
    }
    text
}
