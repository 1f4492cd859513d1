//! Bases of a class, and classes derived from it.

use std::collections::HashMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::fields::{Facts, Fields};
use super::indexes::Repo;
use super::{Call, Error, Tool, ToolTier, related};
use codelode_base::model::Kind;
use codelode_query as query;
use codelode_store::{EdgeTable, SymbolId, SymbolView};

/// Show the inheritance tree of a class, interface or trait: what it inherits (superclasses, parents, ancestors), what
/// inherits it (subclasses, children, descendants).
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// Id, name or path (default: current).
    #[serde(default)]
    repo: Option<String>,
    /// Its id.
    #[serde(default)]
    symbol_id: Option<String>,
    /// Its name, if unique.
    #[serde(default)]
    class_name: Option<String>,
    /// As in search_symbols.
    #[serde(default)]
    #[schemars(extend("x-hidden" = true))]
    fields: Option<Vec<String>>,
}

/// The hierarchy of one class, or of each that a name may mean.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum Output {
    /// The answer for one symbol.
    One(Box<Hierarchy>),
    /// The answer for several symbols of that name.
    Many {
        /// One answer for each symbol, by path and line.
        results: Vec<Hierarchy>,
    },
}

/// Classes above and below one, nearest first.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Hierarchy {
    class: Item,
    ancestors: Vec<Item>,
    descendants: Vec<Item>,
    /// For a trait: its supertraits and subtraits. Each is implemented separately.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    requires: Vec<Item>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    required_by: Vec<Item>,
    /// Bases outside of the repository, its own and those of its ancestors.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    outside: Vec<String>,
}

/// A class above or below it.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Item {
    id: String,
    name: String,
    file: String,
    line: u32,
    /// Other places that define the same class: its parts.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    also_at: Vec<String>,
    /// Steps up or down from the class; absent if one.
    #[serde(skip_serializing_if = "is_near")]
    depth: u32,
    #[serde(flatten)]
    facts: Facts,
}

fn is_near(depth: &u32) -> bool {
    *depth < 2
}

impl Item {
    fn of(symbol: &SymbolView<'_>, depth: u32, fields: &Fields) -> Self {
        let (name, file) = (symbol.name().into_owned(), symbol.file.path().to_owned());
        let (id, line, facts) = (symbol.id(), symbol.line(), fields.of(symbol));
        Self { id, name, file, line, also_at: Vec::new(), depth, facts }
    }

    /// A class with its parts.
    fn of_parts(parts: &[SymbolView<'_>], depth: u32, fields: &Fields) -> Self {
        Self { also_at: related::others_at(parts), ..Self::of(&parts[0], depth, fields) }
    }
}

/// Classes on a page.
const PAGE: usize = 100;

/// See [`Args`].
pub struct GetClassHierarchy;

impl Tool for GetClassHierarchy {
    const NAME: &'static str = "get_class_hierarchy";
    const COMMAND: &'static str = "hierarchy";
    const POSITIONAL: &'static [&'static str] = &["symbol_id"];
    const SHOWN: Option<ToolTier> = Some(ToolTier::Core);
    const LIST: Option<&'static str> = Some("descendants");
    type Args = Args;
    type Output = Output;

    fn run(call: &Call<'_>, args: Args) -> Result<Output, Error> {
        let fields = Fields::read(args.fields.as_deref())?;
        let mut results = related::answer(call, args.repo.as_deref(), |repo, edges| {
            let text = args.symbol_id.as_ref().or(args.class_name.as_ref());
            let text = text.ok_or_else(|| Error::invalid_arguments("give `symbol_id`, or `class_name`"))?;
            fields.know(call, repo);
            let (mut results, mut paths) = (Vec::new(), Vec::new());
            for class in classes(repo, edges, text)? {
                related::check_language(&repo.snapshot, &class)?;
                let hierarchy = hierarchy(repo, edges, &class, &fields);
                paths.extend(hierarchy.paths());
                results.push(hierarchy);
            }
            Ok((results, paths))
        })?;
        call.found(true);
        call.narrow("get the rest with next_cursor");
        if results.len() > 1 {
            call.list("results");
            return Ok(Output::Many { results: call.page(results, usize::MAX) });
        }
        let mut only = results.remove(0);
        only.descendants = call.page(only.descendants, call.per_page(PAGE));
        Ok(Output::One(Box::new(only)))
    }
}

/// The classes above and below a class.
fn hierarchy(repo: &Repo, edges: &EdgeTable, class: &SymbolView<'_>, fields: &Fields) -> Hierarchy {
    let snapshot = &repo.snapshot;
    let ancestors = query::hierarchy(snapshot, edges, class.number(), true);
    let mut descendants = query::hierarchy(snapshot, edges, class.number(), false);
    let bounds = |upwards| query::bounds(snapshot, edges, class.number(), upwards);
    let own = std::iter::once(class.number()).chain(ancestors.iter().map(|(symbol, _)| symbol.number()));
    let mut outside: Vec<String> = own.flat_map(|class| query::outside_bases(snapshot, edges, class)).collect();
    outside.sort();
    outside.dedup();
    let items = |found: Vec<(SymbolView<'_>, u32)>| -> Vec<Item> {
        let depths: HashMap<SymbolId, u32> = found.iter().map(|(symbol, depth)| (symbol.number(), *depth)).collect();
        let classes = query::twins(edges, found.into_iter().map(|(symbol, _)| symbol).collect());
        classes.iter().map(|parts| Item::of_parts(parts, depths[&parts[0].number()], fields)).collect()
    };
    // As near, what is tested comes before its tests.
    descendants.sort_by_key(|(symbol, depth)| (*depth, symbol.file.is_test()));
    Hierarchy {
        class: Item::of(class, 0, fields),
        ancestors: items(ancestors),
        descendants: items(descendants),
        requires: items(bounds(true)),
        required_by: items(bounds(false)),
        outside,
    }
}

impl Hierarchy {
    /// Files that the answer is about.
    fn paths(&self) -> impl Iterator<Item = String> + '_ {
        let bounds = self.requires.iter().chain(&self.required_by);
        let named = self.ancestors.iter().chain(&self.descendants).chain([&self.class]).chain(bounds);
        named.map(|item| item.file.clone())
    }
}

/// The most classes of one name that are answered for.
const MOST_CLASSES: usize = 5;

/// The classes that a text means, of twins the first; in some languages constructors have their name, too, and are
/// ignored.
fn classes<'a>(repo: &'a Repo, edges: &EdgeTable, text: &str) -> Result<Vec<SymbolView<'a>>, Error> {
    let mut found: Vec<SymbolView<'a>> =
        related::all(repo, edges, text)?.into_iter().filter_map(|twins| twins.first().copied()).collect();
    let is_class = |symbol: &SymbolView<'_>| matches!(symbol.kind(), Kind::Class | Kind::Type);
    if found.iter().any(is_class) {
        found.retain(is_class);
    }
    match found.len() {
        // The error lists candidates.
        n if n > MOST_CLASSES => related::symbol(repo, text).map(|only| vec![only]),
        _ => Ok(found),
    }
}
