//! Files that import a file.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::files::unknown_file;
use super::{Call, Code, Error, Shown, Tool, related};
use crate::query;

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

/// Importers by path.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Output {
    importers: Vec<Item>,
}

/// A file that imports.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Item {
    file: String,
    line: u32,
    /// Whether it is imported itself.
    has_importers: bool,
    /// What it imports, when several files were asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    imports: Option<String>,
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
        let importers = related::answer(call, args.repo.as_deref(), |repo, edges| {
            let mut importers = Vec::new();
            for path in &paths {
                let path = repo.relative(path);
                let file = repo.snapshot.file(&path).ok_or_else(|| unknown_file(call, repo, &path))?;
                if let Some(symbol) = file.symbols().next() {
                    related::check_language(&symbol)?;
                }
                let mut own: Vec<Item> = Vec::new();
                for import in edges.importers(file.number()) {
                    let Some(from) = repo.snapshot.file_by_number(import.from) else { continue };
                    own.push(Item {
                        file: from.path().to_owned(),
                        line: query::line_of(from, import.at),
                        has_importers: !edges.importers(import.from).is_empty(),
                        imports: (paths.len() > 1).then(|| path.clone()),
                    });
                }
                own.sort_by(|a, b| a.file.cmp(&b.file));
                importers.extend(own);
            }
            let named = importers.iter().map(|item| item.file.clone()).collect();
            Ok((importers, named))
        })?;
        call.found(!importers.is_empty());
        call.narrow("ask for one file");
        Ok(Output { importers: call.page(importers, args.max_results as usize) })
    }
}
