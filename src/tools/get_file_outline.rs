//! Definitions in files, without their text.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::files::unknown_file;
use super::indexes;
use super::{Call, Code, Error, SIGNATURE, SUMMARY, Shown, Tool};
use crate::store::{FileView, SymbolView};

/// Structure of a file: the functions, classes and methods in it with signatures, nested, without their code.
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
}

/// One outline, or one for each file.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum Output {
    /// For `file_path`.
    One(Outline),
    /// For `file_paths`.
    Many {
        /// In the order that was asked.
        results: Vec<Outline>,
        /// Files that are not indexed.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        errors: Vec<FileError>,
    },
}

/// A file's symbols.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Outline {
    file: String,
    language: &'static str,
    line_count: u32,
    /// The grammar met text that it could not read.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    has_errors: bool,
    symbols: Vec<Item>,
}

/// A file that has no outline.
#[derive(Debug, Serialize, JsonSchema)]
pub struct FileError {
    file: String,
    error: String,
}

/// A symbol, and what it holds.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Item {
    id: String,
    kind: &'static str,
    /// In the language's own word, where that says more.
    #[serde(skip_serializing_if = "Option::is_none")]
    detail: Option<&'static str>,
    name: String,
    signature: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    summary: String,
    line: u32,
    end_line: u32,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    decorators: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    children: Vec<Item>,
}

impl Item {
    fn of(symbol: SymbolView<'_>) -> Self {
        let detail = symbol.detail().as_str();
        Self {
            id: symbol.id(),
            kind: symbol.kind().as_str(),
            detail: (detail != symbol.kind().as_str()).then_some(detail),
            name: symbol.name().into_owned(),
            signature: symbol.signature(SIGNATURE),
            summary: symbol.summary(SUMMARY),
            line: symbol.line(),
            end_line: symbol.end_line(),
            decorators: symbol.decorators(),
            children: Vec::new(),
        }
    }
}

/// See [`Args`].
pub struct GetFileOutline;

impl Tool for GetFileOutline {
    const NAME: &'static str = "get_file_outline";
    const COMMAND: &'static str = "outline";
    const POSITIONAL: &'static [&'static str] = &["file_paths"];
    const SHOWN: Option<Shown> = Some(Shown::Lean);
    const LIST: Option<&'static str> = Some("symbols");
    type Args = Args;
    type Output = Output;

    fn run(call: &Call<'_>, args: Args) -> Result<Output, Error> {
        let paths = match (args.file_path, args.file_paths) {
            (Some(_), Some(_)) => {
                return Err(Error::new(Code::InvalidArguments, "give `file_path` or `file_paths`, not both"));
            }
            (None, None) => {
                return Err(Error::new(Code::InvalidArguments, "give `file_path`, or `file_paths` for several"));
            }
            (Some(path), None) => return one(call, args.repo.as_deref(), &path),
            (None, Some(paths)) => paths,
        };
        if let [path] = &paths[..] {
            return one(call, args.repo.as_deref(), path);
        }
        let mut repo = indexes::open(call, args.repo.as_deref())?;
        let paths: Vec<String> = paths.iter().map(|path| repo.relative(path)).collect();
        indexes::ensure_fresh(call, &mut repo, paths.iter().map(String::as_str))?;
        let (mut results, mut errors) = (Vec::new(), Vec::new());
        for path in paths {
            match repo.snapshot.file(&path) {
                Some(file) => results.push(outline(call, file)),
                None => errors.push(FileError { error: unknown_file(call, &repo, &path).message, file: path }),
            }
        }
        call.found(!results.is_empty());
        Ok(Output::Many { results, errors })
    }
}

fn one(call: &Call<'_>, repo: Option<&str>, path: &str) -> Result<Output, Error> {
    let mut repo = indexes::open(call, repo)?;
    let path = repo.relative(path);
    indexes::ensure_fresh(call, &mut repo, [path.as_str()])?;
    let file = repo.snapshot.file(&path).ok_or_else(|| unknown_file(call, &repo, &path))?;
    call.narrow("the rest comes with next_cursor; or ask get_symbol_source for one id");
    let mut outline = outline(call, file);
    outline.symbols = call.page(outline.symbols, usize::MAX);
    call.found(true);
    Ok(Output::One(outline))
}

fn outline(call: &Call<'_>, file: FileView<'_>) -> Outline {
    call.baseline(file.path(), file.content().len() as u64);
    Outline {
        file: file.path().to_owned(),
        language: file.language(),
        line_count: file.lines(),
        has_errors: file.has_errors(),
        symbols: nested(file),
    }
}

/// A file's symbols, each below the one that encloses it.
fn nested(file: FileView<'_>) -> Vec<Item> {
    // Symbols precede the symbols inside them, so a symbol taken from the end already has all its children.
    let mut items: Vec<(Option<u32>, Item)> =
        file.symbols().map(|symbol| (symbol.parent().map(|parent| parent.number().index), Item::of(symbol))).collect();
    let mut top = Vec::new();
    while let Some((parent, mut item)) = items.pop() {
        item.children.reverse();
        match parent.and_then(|parent| items.get_mut(parent as usize)) {
            Some((_, parent)) => parent.children.push(item),
            None => top.push(item),
        }
    }
    top.reverse();
    top
}
