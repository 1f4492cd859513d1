//! Files that import a file.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::files::unknown_file;
use super::indexes::Repo;
use super::{Call, Code, Error, Shown, Tool, related};
use crate::query;
use crate::store::{EdgeTable, Import};

/// Files that import a file or module.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// Id, name or path (default: the current one).
    #[serde(default)]
    repo: Option<String>,
    /// The file.
    #[serde(default)]
    file_path: Option<String>,
    /// Several files.
    #[serde(default)]
    file_paths: Option<Vec<String>>,
    /// At most this many.
    #[serde(default = "most")]
    max_results: u32,
}

fn most() -> u32 {
    200
}

/// Importers of one file, or of each.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum Output {
    /// For `file_path`.
    One(Importers),
    /// For `file_paths`.
    Many {
        /// In the order asked.
        results: Vec<Importers>,
    },
}

/// Importers of a file, by path.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Importers {
    file_path: String,
    importer_count: usize,
    importers: Vec<Item>,
}

/// A file that imports.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Item {
    file: String,
    line: u32,
    /// Whether it is imported itself.
    has_importers: bool,
}

/// See [`Args`].
pub struct FindImporters;

impl Tool for FindImporters {
    const NAME: &'static str = "find_importers";
    const COMMAND: &'static str = "importers";
    const POSITIONAL: &'static [&'static str] = &["file_paths"];
    const SHOWN: Option<Shown> = Some(Shown::Core);
    const LIST: Option<&'static str> = Some("importers");
    type Args = Args;
    type Output = Output;

    fn run(call: &Call<'_>, args: Args) -> Result<Output, Error> {
        let paths: Vec<&String> = args.file_path.iter().chain(args.file_paths.iter().flatten()).collect();
        if paths.is_empty() {
            return Err(Error::new(Code::InvalidArguments, "give `file_path`, or `file_paths` for several"));
        }
        let mut results = related::answer(call, args.repo.as_deref(), |repo, edges| {
            let results: Vec<Importers> =
                paths.iter().map(|path| importers(call, repo, edges, path)).collect::<Result<_, Error>>()?;
            let named = results.iter().flat_map(|of| &of.importers).map(|item| item.file.clone()).collect();
            Ok((results, named))
        })?;
        call.found(results.iter().any(|of| of.importer_count > 0));
        call.narrow("ask for one file");
        let most = args.max_results as usize;
        if let ([_], Some(_)) = (&results[..], &args.file_path) {
            let one = results.remove(0);
            return Ok(Output::One(Importers { importers: call.page(one.importers, most), ..one }));
        }
        results.iter_mut().for_each(|of| of.importers.truncate(most));
        call.list("results");
        Ok(Output::Many { results: call.page(results, usize::MAX) })
    }
}

fn importers(call: &Call<'_>, repo: &Repo, edges: &EdgeTable, path: &str) -> Result<Importers, Error> {
    let path = repo.relative(path);
    let file = repo.snapshot.file(&path).ok_or_else(|| unknown_file(call, repo, &path))?;
    if let Some(symbol) = file.symbols().next() {
        related::check_language(&symbol)?;
    }
    let item = |import: &Import| {
        let from = repo.snapshot.file_by_number(import.from)?;
        let has_importers = !edges.importers(import.from).is_empty();
        Some(Item { file: from.path().to_owned(), line: query::line_of(from, import.at), has_importers })
    };
    let mut importers: Vec<Item> = edges.importers(file.number()).iter().filter_map(item).collect();
    importers.sort_by(|a, b| a.file.cmp(&b.file));
    Ok(Importers { file_path: path, importer_count: importers.len(), importers })
}
