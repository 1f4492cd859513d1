//! Bases of a class, and classes derived from it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::fields::{Facts, Fields};
use super::indexes::Repo;
use super::{Call, Error, Tool, ToolTier, related};
use crate::model::Kind;
use crate::query;
use crate::store::SymbolView;

/// Inheritance tree of a class, interface or trait: parents (superclasses, ancestors) and children (subclasses,
/// descendants).
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// Id, name or path (default: the current one).
    #[serde(default)]
    repo: Option<String>,
    /// Its id.
    #[serde(default)]
    symbol_id: Option<String>,
    /// Or its name, when only one bears it.
    #[serde(default)]
    class_name: Option<String>,
    /// As in search_symbols.
    #[serde(default)]
    #[schemars(extend("x-hidden" = true))]
    fields: Option<Vec<String>>,
}

/// Nearest first.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Output {
    class: Item,
    ancestors: Vec<Item>,
    descendants: Vec<Item>,
    /// Of a trait: the traits that it asks for, and those that ask for it. An implementer of one implements the other by itself.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    requires: Vec<Item>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    required_by: Vec<Item>,
    /// Bases of it and its ancestors that are not in the repository.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    outside: Vec<String>,
}

/// A class.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Item {
    id: String,
    name: String,
    file: String,
    line: u32,
    /// How many steps away, from two on.
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
        Self { id: symbol.id(), name, file, line: symbol.line(), depth, facts: fields.of(symbol) }
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
        let mut output = related::answer(call, args.repo.as_deref(), |repo, edges| {
            let class = match (&args.symbol_id, &args.class_name) {
                (Some(id), _) => related::symbol(repo, id)?,
                (None, Some(name)) => class_of_name(repo, name)?,
                (None, None) => return Err(Error::invalid_arguments("give `symbol_id`, or `class_name`")),
            };
            related::check_language(&repo.snapshot, &class)?;
            fields.know(call, repo);
            let of = |upwards| query::hierarchy(&repo.snapshot, edges, class.number(), upwards);
            let (ancestors, mut descendants) = (of(true), of(false));
            let bounds = |upwards| query::bounds(&repo.snapshot, edges, class.number(), upwards);
            let own = std::iter::once(class.number()).chain(ancestors.iter().map(|(symbol, _)| symbol.number()));
            let mut outside: Vec<String> =
                own.flat_map(|class| query::outside_bases(&repo.snapshot, edges, class)).collect();
            outside.sort();
            outside.dedup();
            let items = |found: Vec<(SymbolView<'_>, u32)>| -> Vec<Item> {
                found.iter().map(|(symbol, depth)| Item::of(symbol, *depth, &fields)).collect()
            };
            // As near, what is tested comes before its tests.
            descendants.sort_by_key(|(symbol, depth)| (*depth, symbol.file.is_test()));
            let output = Output {
                class: Item::of(&class, 0, &fields),
                ancestors: items(ancestors),
                descendants: items(descendants),
                requires: items(bounds(true)),
                required_by: items(bounds(false)),
                outside,
            };
            let bounds = output.requires.iter().chain(&output.required_by);
            let named = output.ancestors.iter().chain(&output.descendants).chain([&output.class]).chain(bounds);
            let paths = named.map(|item| item.file.clone()).collect();
            Ok((output, paths))
        })?;
        call.found(true);
        call.narrow("the rest comes with next_cursor");
        output.descendants = call.page(output.descendants, call.per_page(PAGE));
        Ok(output)
    }
}

/// The class of this name; in some languages its constructors have the name, too, and are ignored.
fn class_of_name<'a>(repo: &'a Repo, name: &str) -> Result<SymbolView<'a>, Error> {
    let mut classes = query::named(&repo.snapshot, name);
    classes.retain(|symbol| matches!(symbol.kind(), Kind::Class | Kind::Type));
    match classes[..] {
        [class] => Ok(class),
        // Suggestions are the same as for any id.
        _ => related::symbol(repo, name),
    }
}
