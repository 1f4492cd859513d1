//! Files that a change of a symbol may break.

use std::collections::{BTreeMap, HashMap, HashSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::indexes::Repo;
use super::through::CalledThrough;
use super::{Call, Error, Tool, ToolTier, related};
use crate::catalog::context::linking;
use crate::catalog::cross_repo::{self, User};
use codelode_query::{self as query, AffectedFile, Blast, BlastDoubt};
use codelode_store::SymbolId;

/// Assess the impact of a change: what breaks if a function changes, is it safe to modify, which files and symbols
/// depend on it and are affected.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// Id, name or path (default: current).
    #[serde(default)]
    repo: Option<String>,
    /// Its id.
    #[schemars(extend("x-aliases" = ["symbol"]))]
    symbol_id: String,
    /// Limit of steps.
    #[schemars(extend("x-aliases" = ["depth"]))]
    #[serde(default = "three")]
    max_depth: u32,
    /// Include counts and weights per depth.
    #[serde(default)]
    include_depth_scores: bool,
    /// Include other repositories.
    #[serde(default)]
    #[schemars(extend("x-rare" = true))]
    cross_repo: bool,
}

fn three() -> u32 {
    3
}

/// Nearest first.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Output {
    symbol: String,
    /// Number of symbols that use the symbol directly.
    direct_dependents_count: usize,
    /// Methods that it overrides; what uses those may reach it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    overrides: Vec<String>,
    /// 0: nothing depends on it; 0.5: ten files or half of all files; 1: everything. A file at depth d counts
    /// 1/d^0.7.
    overall_risk_score: f64,
    confirmed_count: usize,
    /// Number of files from other repositories, not counted in the risk.
    #[serde(skip_serializing_if = "Option::is_none")]
    cross_repo_count: Option<usize>,
    confirmed: Vec<Item>,
    potential_count: usize,
    /// Files that import the symbol's file, or have its name on a receiver of unknown type.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    potential: Vec<PossibleFile>,
    /// Functions that call a field, table or parameter that holds it. Others may be stored there too, so they do not
    /// count.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    called_through: Vec<CalledThrough>,
    #[serde(skip_serializing_if = "Option::is_none")]
    impact_by_depth: Option<Vec<Layer>>,
}

/// A file that depends on the symbol, directly or through others.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Item {
    /// Repository of the file, if another.
    #[serde(skip_serializing_if = "Option::is_none")]
    repo: Option<String>,
    file: String,
    /// Steps from the symbol to this file; absent if one.
    #[serde(skip_serializing_if = "is_near")]
    depth: u32,
    /// The overridden method that is called instead.
    #[serde(skip_serializing_if = "Option::is_none")]
    via: Option<String>,
    /// Symbols in this file that use the changed one, directly or through others.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    symbols: Vec<String>,
    /// Number of further symbols.
    #[serde(skip_serializing_if = "is_zero")]
    more: usize,
}

/// A file that may depend on the symbol.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PossibleFile {
    file: String,
    /// `through` a field or table that stores it, `import` by its file, or `name` where only the name matches.
    confidence: &'static str,
}

/// Files at one depth.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Layer {
    depth: u32,
    file_count: usize,
    risk_score: f64,
}

fn is_near(depth: &u32) -> bool {
    *depth < 2
}

fn is_zero(n: &usize) -> bool {
    *n == 0
}

/// See [`Args`].
pub struct GetBlastRadius;

/// The deepest level of uses followed.
const DEEPEST: u32 = 10;
/// The most symbols listed of a file.
const MOST_SYMBOLS: usize = 5;
/// The most files listed that are only possibly affected.
const MOST_POTENTIAL: usize = 20;

impl Tool for GetBlastRadius {
    const NAME: &'static str = "get_blast_radius";
    const COMMAND: &'static str = "blast";
    const POSITIONAL: &'static [&'static str] = &["symbol_id"];
    const SHOWN: Option<ToolTier> = Some(ToolTier::Core);
    const LIST: Option<&'static str> = Some("confirmed");
    type Args = Args;
    type Output = Output;

    fn run(call: &Call<'_>, args: Args) -> Result<Output, Error> {
        let depth = call.at_most("max_depth", args.max_depth, DEEPEST);
        let mut output = related::answer(call, args.repo.as_deref(), |repo, edges| {
            let symbol = match related::symbol(repo, &args.symbol_id) {
                Ok(symbol) => symbol,
                Err(unknown) => {
                    return linked(call, repo, &args.symbol_id, depth, args.include_depth_scores).ok_or(unknown);
                }
            };
            related::check_language(&repo.snapshot, &symbol)?;
            related::note_cut_off(call, &query::cut_off(&repo.snapshot, &[symbol]));
            let blast = query::blast(&repo.snapshot, edges, &symbol, depth);
            let overrides = query::overridden(&repo.snapshot, edges, &symbol).iter().map(|above| above.id()).collect();
            let mut output = Output { overrides, ..output(symbol.id(), &blast, args.include_depth_scores) };
            if args.cross_repo {
                let users = cross_repo::users(call, repo, edges)?;
                let dependents = query::dependents(&repo.snapshot, edges, [(symbol.number(), 0)], depth);
                let mut elsewhere = Vec::new();
                for user in &users {
                    elsewhere.extend(affected(user, &dependents.symbols, depth)?);
                }
                output.confirmed_count += elsewhere.len();
                output.cross_repo_count = Some(elsewhere.len());
                output.confirmed.splice(0..0, elsewhere);
                output.confirmed.sort_by_key(|item| item.depth);
            }
            call.absent(output.confirmed.is_empty());
            // Hundreds of files may be affected; only those that define or directly use it are checked.
            let near = output
                .confirmed
                .iter()
                .filter(|item| item.depth == 1 && item.repo.is_none())
                .map(|item| item.file.clone());
            let paths = near.chain([symbol.file.path().to_owned()]).collect();
            Ok((output, paths))
        })?;
        call.found(!output.confirmed.is_empty());
        call.narrow("give a smaller max_depth");
        output.confirmed = call.page(output.confirmed, usize::MAX);
        Ok(output)
    }
}

/// The impact of what a name means in an ecosystem, such as a model of dbt; `None` where it means nothing.
fn linked(call: &Call<'_>, repo: &Repo, name: &str, depth: u32, layers: bool) -> Option<(Output, Vec<String>)> {
    let context = linking(call, repo)?;
    let defining: Vec<&str> = context.defined().filter(|(other, _)| *other == name).map(|(_, file)| file).collect();
    let users = context.users(name, depth);
    if defining.is_empty() && users.is_empty() {
        return None;
    }
    let affected = |(file, depth): &(&str, u32)| {
        let file = repo.snapshot.file(file)?;
        Some(AffectedFile { file, depth: *depth, via: None, symbols: Vec::new() })
    };
    let files: HashSet<&str> = context.links().map(|link| &*link.from).chain(defining.iter().copied()).collect();
    let blast = Blast {
        confirmed: users.iter().filter_map(affected).collect(),
        direct: users.iter().filter(|(_, depth)| *depth == 1).count(),
        files: files.len(),
        ..Blast::default()
    };
    let paths = users.iter().map(|(file, _)| *file).chain(defining).map(str::to_owned).collect();
    Some((output(name.to_owned(), &blast, layers), paths))
}

fn output(symbol: String, blast: &Blast<'_>, layers: bool) -> Output {
    let confirmed = blast.confirmed.iter().map(|affected| Item {
        repo: None,
        file: affected.file.path().to_owned(),
        depth: affected.depth,
        via: affected.via.map(|via| via.qualified_name()),
        symbols: affected.symbols.iter().take(MOST_SYMBOLS).map(|symbol| symbol.qualified_name()).collect(),
        more: affected.symbols.len().saturating_sub(MOST_SYMBOLS),
    });
    let potential = blast.potential.iter().take(MOST_POTENTIAL).map(|(file, doubt)| PossibleFile {
        file: file.path().to_owned(),
        confidence: match doubt {
            BlastDoubt::Through => "through",
            BlastDoubt::Import => "import",
            BlastDoubt::Name => "name",
        },
    });
    let deepest = blast.confirmed.last().map_or(0, |affected| affected.depth);
    let layer = |depth: u32| {
        let file_count = blast.confirmed.iter().filter(|affected| affected.depth == depth).count();
        Layer { depth, file_count, risk_score: rounded(blast.risk_of(query::hop_weight(depth) * file_count as f64)) }
    };
    Output {
        symbol,
        overrides: Vec::new(),
        direct_dependents_count: blast.direct,
        overall_risk_score: rounded(blast.risk()),
        confirmed_count: blast.confirmed.len(),
        cross_repo_count: None,
        confirmed: confirmed.collect(),
        potential_count: blast.potential.len(),
        potential: potential.collect(),
        called_through: blast.through.iter().take(MOST_POTENTIAL).map(CalledThrough::of).collect(),
        impact_by_depth: layers.then(|| (1..=deepest).map(layer).collect()),
    }
}

/// Files of another repository that depend on symbols with these distances, nearest first.
fn affected(user: &User, symbols: &HashMap<SymbolId, u32>, depth: u32) -> Result<Vec<Item>, Error> {
    let (snapshot, edges) = (&user.repo.snapshot, related::edges(&user.repo)?);
    let (mut seeds, mut files): (Vec<(SymbolId, u32)>, BTreeMap<u32, u32>) = (Vec::new(), BTreeMap::new());
    for link in user.uses() {
        let nearest = link.to.iter().filter_map(|symbol| symbols.get(symbol)).min();
        let Some(at) = nearest.map(|nearest| nearest + 1).filter(|at| *at <= depth) else { continue };
        let file = files.entry(link.edge.file).or_insert(at);
        *file = at.min(*file);
        seeds.extend(link.edge.from().map(|symbol| (symbol, at)));
    }
    let dependents = query::dependents(snapshot, edges, seeds, depth);
    for (file, at) in dependents.files {
        let known = files.entry(file).or_insert(at);
        *known = at.min(*known);
    }
    let mut of_file: HashMap<u32, Vec<(u32, SymbolId)>> = HashMap::new();
    for (symbol, at) in dependents.symbols {
        of_file.entry(symbol.file).or_default().push((at, symbol));
    }
    let item = |(file, depth): (u32, u32)| {
        let mut symbols = of_file.remove(&file).unwrap_or_default();
        symbols.sort_unstable();
        let names = symbols.iter().take(MOST_SYMBOLS).filter_map(|(_, symbol)| snapshot.symbol(*symbol));
        Some(Item {
            repo: Some(user.repo.sidecar.repo.clone()),
            file: snapshot.file_by_number(file)?.path().to_owned(),
            depth,
            via: None,
            symbols: names.map(|symbol| symbol.qualified_name()).collect(),
            more: symbols.len().saturating_sub(MOST_SYMBOLS),
        })
    };
    let mut items: Vec<Item> = files.into_iter().filter_map(item).collect();
    items.sort_by(|a, b| (a.depth, &a.file).cmp(&(b.depth, &b.file)));
    Ok(items)
}

fn rounded(score: f64) -> f64 {
    (score * 1000.0).round() / 1000.0
}
