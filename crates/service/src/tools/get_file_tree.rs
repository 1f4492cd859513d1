//! Folders and files of a repository.

use std::path::Path;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::indexes::{self, Repo};
use super::{Call, Error, Tool, errors, nearest, remotes, tokens};
use crate::catalog::remotes::{Age, Remote};
use codelode_base::model::SourceTree as _;
use codelode_query::{self as query, Node};

/// Show the directory tree: structure or layout of a project, files and folders in a directory, recursively.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// Id, name or path (default: current).
    #[serde(default)]
    repo: Option<String>,
    /// Only below this folder.
    #[serde(default)]
    path_prefix: String,
    /// Limit of levels; fewer above 2,000 tokens, or max_tokens.
    #[serde(default)]
    max_depth: Option<u32>,
}

/// The tree.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Output {
    repo: String,
    path_prefix: String,
    tree: Vec<Item>,
    /// Set if deeper folders show only file counts.
    #[serde(skip_serializing_if = "Option::is_none")]
    depth: Option<u32>,
}

/// A folder or a file.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Item {
    path: String,
    #[serde(rename = "type")]
    sort: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    language: Option<&'static str>,
    /// Number of symbols; absent if none.
    #[serde(skip_serializing_if = "Option::is_none")]
    symbol_count: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    line_count: Option<u32>,
    /// Number of files below a folder shown without its content.
    #[serde(skip_serializing_if = "Option::is_none")]
    file_count: Option<u64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    children: Vec<Item>,
}

impl From<Node> for Item {
    fn from(node: Node) -> Self {
        match node {
            Node::Folder { path, children, files } => Self {
                path,
                sort: "dir",
                language: None,
                symbol_count: None,
                line_count: None,
                file_count: children.is_empty().then_some(files),
                children: children.into_iter().map(Self::from).collect(),
            },
            Node::File { path, language, symbols, lines } => Self {
                path,
                sort: "file",
                language: Some(language),
                symbol_count: Some(symbols).filter(|count| *count > 0),
                line_count: Some(lines),
                file_count: None,
                children: Vec::new(),
            },
        }
    }
}

/// See [`Args`].
pub struct GetFileTree;

/// Tokens of a tree whose depth is not asked for.
const MOST_TOKENS: usize = 2_000;
/// Tokens of an answer around its tree.
const FRAME: usize = 120;
/// The deepest tree.
const DEEPEST: u32 = 64;

impl Tool for GetFileTree {
    const NAME: &'static str = "get_file_tree";
    const COMMAND: &'static str = "tree";
    const POSITIONAL: &'static [&'static str] = &["path_prefix"];
    const LIST: Option<&'static str> = Some("tree");
    type Args = Args;
    type Output = Output;

    fn run(call: &Call<'_>, args: Args) -> Result<Output, Error> {
        if let Some(remote) = remotes::named_remote(call, args.repo.as_deref()) {
            return of_remote(call, &args, &remote);
        }
        let repo = indexes::open_now(call, args.repo.as_deref())?;
        let prefix = repo.relative(&args.path_prefix);
        call.narrow("give path_prefix, or a smaller max_depth");
        let below = |path: &str| prefix.is_empty() || Path::new(path).starts_with(&prefix);
        call.count(repo.snapshot.files().filter(|file| below(file.path())).count());
        let at = |depth: u32| -> Vec<Item> {
            let nodes = query::tree(&repo.snapshot, &prefix, depth as usize);
            nodes.into_iter().map(Item::from).collect()
        };
        let whole = at(args.max_depth.unwrap_or(DEEPEST).clamp(1, DEEPEST));
        if whole.is_empty() && !prefix.is_empty() {
            return Err(nothing_below(&repo, &prefix));
        }
        Ok(fitted(call, &args, repo.sidecar.repo.clone(), prefix.clone(), whole, at))
    }
}

/// The tree with as many levels as fit.
fn fitted(
    call: &Call<'_>,
    args: &Args,
    repo: String,
    path_prefix: String,
    mut tree: Vec<Item>,
    at: impl Fn(u32) -> Vec<Item>,
) -> Output {
    let mut shown = None;
    // A budget that is given for a depth is meant.
    let is_budgeted = args.max_depth.is_some() && call.max_tokens != call.cx.config.max_tokens;
    let most_tokens = if is_budgeted { call.max_tokens } else { MOST_TOKENS.min(call.max_tokens) };
    // One level less is more useful than a tree cut in its middle.
    let fits = |tree: &[Item]| tokens::of_json(&tree) + FRAME <= most_tokens;
    let mut depth = depth_of(&tree);
    while depth > 1 && !fits(&tree) {
        depth -= 1;
        tree = at(depth);
        shown = Some(depth);
    }
    // One level that is still too large comes in pages.
    let mut spent = FRAME;
    let fitting = tree.iter().skip(call.offset).take_while(|item| {
        spent += tokens::of_json(item) + 1;
        spent <= most_tokens
    });
    let most = fitting.count().max(1);
    let tree = call.page(tree, most);
    Output { repo, path_prefix, tree, depth: shown }
}

/// The tree of a commit that is not indexed: paths alone, of all its files.
fn of_remote(call: &Call<'_>, args: &Args, remote: &Remote) -> Result<Output, Error> {
    let opened = remotes::open(call, remote, None, Age::Kept)?;
    let files = opened.tree.paths().map_err(|err| errors::source_error(&err))?;
    call.note("commit", opened.found.commit.as_str());
    let prefix = remotes::inside(&opened, &args.path_prefix);
    let hidden = opened.tree.hidden().map_err(|err| errors::source_error(&err))?;
    let below = |path: &str| match prefix.is_empty() {
        true => true,
        false => path.strip_prefix(prefix.as_str()).is_some_and(|rest| rest.starts_with('/')),
    };
    let paths: Vec<&str> = files.iter().map(|entry| entry.path.as_str()).filter(|path| below(path)).collect();
    let hidden = hidden.iter().filter(|path| below(path)).count();
    if hidden > 0 {
        call.note("secret_files_left_out", hidden);
    }
    if paths.is_empty() {
        let message = format!("there is nothing below {prefix:?} in commit {}", opened.found.commit);
        return Err(Error::not_found(message));
    }
    call.count(paths.len());
    let skip = if prefix.is_empty() { 0 } else { prefix.len() + 1 };
    let at = |depth: u32| items(&paths, skip, depth);
    let whole = at(args.max_depth.unwrap_or(DEEPEST).clamp(1, DEEPEST));
    Ok(fitted(call, args, remote.to_string(), prefix.clone(), whole, at))
}

/// Sorted paths as a tree of this depth; their first `skip` bytes are the same.
fn items(paths: &[&str], skip: usize, depth: u32) -> Vec<Item> {
    let mut found = Vec::new();
    let mut rest = paths;
    while let Some(first) = rest.first() {
        let name = first[skip..].split('/').next().unwrap_or_default();
        let path = &first[..skip + name.len()];
        let is_folder = first.len() > path.len();
        let same = |other: &&str| other.starts_with(path) && other[path.len()..].starts_with('/');
        let n = if is_folder { rest.iter().take_while(|other| same(other)).count() } else { 1 };
        let (inside, after) = rest.split_at(n.max(1));
        let children = if is_folder && depth > 1 { items(inside, path.len() + 1, depth - 1) } else { Vec::new() };
        found.push(Item {
            path: path.to_owned(),
            sort: if is_folder { "dir" } else { "file" },
            language: None,
            symbol_count: None,
            line_count: None,
            file_count: (is_folder && children.is_empty()).then_some(inside.len() as u64),
            children,
        });
        rest = after;
    }
    found
}

/// The error for a prefix without files, with the nearest folders.
fn nothing_below(repo: &Repo, prefix: &str) -> Error {
    let mut folders: Vec<&str> = Vec::new();
    for folder in repo.snapshot.files().filter_map(|file| file.path().rsplit_once('/')).map(|(folder, _)| folder) {
        if folders.last() != Some(&folder) {
            folders.push(folder);
        }
    }
    let near = nearest(prefix, folders, 3);
    let shown: String = prefix.chars().take(200).collect();
    let message = match near.first() {
        Some(first) => format!("nothing is indexed below {shown:?}; did you mean {first:?}?"),
        None => format!("nothing is indexed below {shown:?}; omit path_prefix to see all"),
    };
    Error::not_found(message)
}

fn depth_of(items: &[Item]) -> u32 {
    items.iter().map(|item| 1 + depth_of(&item.children)).max().unwrap_or(0)
}
