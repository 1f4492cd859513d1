//! Files that import a file.

use std::collections::HashSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::files::unknown_file;
use super::indexes::Repo;
use super::{Call, Error, Tool, ToolTier, related, tokens};
use crate::catalog::context::linking;
use crate::catalog::cross_repo::{self, LinkedImport, User};
use codelode_query as query;
use codelode_store::{EdgeTable, FileView};

/// Find who imports a file, module or package: the files and modules that depend on it.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// Id, name or path (default: current).
    #[serde(default)]
    repo: Option<String>,
    /// The file.
    #[serde(default)]
    file_path: Option<String>,
    /// Several files.
    #[serde(default)]
    file_paths: Option<Vec<String>>,
    /// Include other repositories.
    #[serde(default)]
    #[schemars(extend("x-rare" = true))]
    cross_repo: bool,
    /// Limit of results.
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
    /// The answer for `file_path`.
    One(Importers),
    /// The answer for `file_paths`.
    Many {
        /// One answer for each, in the order asked.
        results: Vec<Importers>,
        /// Files that are not indexed.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        errors: Vec<FileError>,
    },
}

/// A file that is not indexed.
#[derive(Debug, Serialize, JsonSchema)]
pub struct FileError {
    file: String,
    error: String,
}

/// Importers of a file, by path and line.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub struct Importers {
    file_path: String,
    /// Number of files that import it.
    importer_count: usize,
    importers: Vec<Item>,
    /// Number of further lines (for several files).
    #[serde(skip_serializing_if = "is_zero")]
    importers_left: usize,
    /// Cursor for the rest, with only this file as `file_path`.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
}

fn is_zero(n: &usize) -> bool {
    *n == 0
}

/// A line that imports the file.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Item {
    /// Repository of the file, if another.
    #[serde(skip_serializing_if = "Option::is_none")]
    repo: Option<String>,
    file: String,
    line: u32,
    /// Whether other files import this importer in turn.
    has_importers: bool,
}

/// See [`Args`].
pub struct FindImporters;

/// Tokens of an answer besides its importers.
const FRAME: usize = 200;

impl Tool for FindImporters {
    const NAME: &'static str = "find_importers";
    const COMMAND: &'static str = "importers";
    const POSITIONAL: &'static [&'static str] = &["file_paths"];
    const SHOWN: Option<ToolTier> = Some(ToolTier::Core);
    const LIST: Option<&'static str> = Some("importers");
    type Args = Args;
    type Output = Output;

    fn run(call: &Call<'_>, args: Args) -> Result<Output, Error> {
        let paths: Vec<&String> = args.file_path.iter().chain(args.file_paths.iter().flatten()).collect();
        if paths.is_empty() {
            return Err(Error::invalid_arguments("give `file_path`, or `file_paths` for several"));
        }
        let (mut results, errors) = related::answer(call, args.repo.as_deref(), |repo, edges| {
            let (mut results, mut errors) = (Vec::new(), Vec::new());
            let users = if args.cross_repo { cross_repo::users(call, repo, edges)? } else { Vec::new() };
            for path in &paths {
                match importers(call, (repo, &users), edges, path) {
                    Ok(of) => results.push(of),
                    Err(err) if paths.len() == 1 => return Err(err),
                    Err(err) => errors.push(FileError { file: (*path).clone(), error: err.message }),
                }
            }
            call.absent(results.iter().any(|of| of.importer_count == 0));
            let own = results.iter().flat_map(|of| &of.importers).filter(|item| item.repo.is_none());
            let named = own.map(|item| item.file.clone()).collect();
            Ok(((results, errors), named))
        })?;
        call.found(results.iter().any(|of| of.importer_count > 0));
        call.narrow("ask for one file");
        let most = args.max_results as usize;
        if let ([_], Some(_)) = (&results[..], &args.file_path) {
            let one = results.remove(0);
            return Ok(Output::One(Importers { importers: call.page(one.importers, most), ..one }));
        }
        // Each gets what fits into an answer; those that do not fit beside it have the next page.
        let room = call.max_tokens.saturating_sub(FRAME);
        let known = paths.iter().filter(|path| errors.iter().all(|error| error.file != ***path));
        for (of, path) in results.iter_mut().zip(known) {
            let mut left = room;
            let fits = |item: &&Item| {
                let cost = tokens::of_json(item) + 1;
                let fits = cost <= left;
                left = left.saturating_sub(cost);
                fits
            };
            let given = of.importers.iter().take(most).take_while(fits).count();
            of.importers_left = of.importers.len() - given;
            of.importers.truncate(given);
            if of.importers_left > 0 {
                of.next_cursor = Some(call.cursor_alone("file_paths", "file_path", path, given));
            }
        }
        call.list("results");
        Ok(Output::Many { results: call.page(results, usize::MAX), errors })
    }
}

fn importers(
    call: &Call<'_>,
    (repo, users): (&Repo, &[User]),
    edges: &EdgeTable,
    path: &str,
) -> Result<Importers, Error> {
    let path = repo.relative(path);
    let file = repo.snapshot.file(&path).ok_or_else(|| unknown_file(call, repo, &path))?;
    let linking = linking(call, repo);
    let links = || linking.iter().flat_map(|context| context.links());
    let read: HashSet<&str> = links().filter_map(|link| link.to.as_deref()).collect();
    // Files that a provider knows to be used may be of a language without imports, such as YAML.
    if let Some(symbol) = file.symbols().next().filter(|_| !read.contains(&*path)) {
        related::check_language(&repo.snapshot, &symbol)?;
    }
    let item = |from: FileView<'_>, at: u32| {
        let has_importers = read.contains(from.path()) || !edges.importers(from.number()).is_empty();
        Item { repo: None, file: from.path().to_owned(), line: query::line_of(from, at), has_importers }
    };
    let imports = edges.importers(file.number()).iter();
    let imports = imports.filter_map(|import| Some(item(repo.snapshot.file_by_number(import.from)?, import.at)));
    let mut seen = HashSet::new();
    let reads = links().filter(|link| link.to.as_deref() == Some(&*path) && seen.insert(&link.from));
    let reads = reads.filter_map(|link| Some(item(repo.snapshot.file(&link.from)?, link.at)));
    let mut importers: Vec<Item> = imports.chain(reads).collect();
    importers.sort_by(|a, b| (&a.file, a.line).cmp(&(&b.file, b.line)));
    importers.dedup_by(|one, other| (&one.file, one.line) == (&other.file, other.line));
    for user in users.iter().rev() {
        importers.splice(0..0, elsewhere(user, file.number())?);
    }
    let importer_count = importers.chunk_by(|one, other| (&one.repo, &one.file) == (&other.repo, &other.file)).count();
    Ok(Importers { file_path: path, importer_count, importers, ..Importers::default() })
}

/// The lines of another repository that import a file.
fn elsewhere(user: &User, file: u32) -> Result<Vec<Item>, Error> {
    let (repo, edges) = (&user.repo, related::edges(&user.repo)?);
    let imports = user.imports().iter().filter(|import| import.to == file);
    let item = |import: &LinkedImport| {
        let from = repo.snapshot.file_by_number(import.from)?;
        Some(Item {
            repo: Some(repo.sidecar.repo.clone()),
            file: from.path().to_owned(),
            line: query::line_of(from, import.at),
            has_importers: !edges.importers(import.from).is_empty(),
        })
    };
    let mut importers: Vec<Item> = imports.filter_map(item).collect();
    importers.dedup_by(|one, other| (&one.file, one.line) == (&other.file, other.line));
    Ok(importers)
}
