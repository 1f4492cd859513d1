//! Current branches and tags of a remote repository.

use std::cmp::Reverse;

use globset::{GlobBuilder, GlobMatcher};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::remotes::{self, RemoteRef, remote};
use super::{Call, Error, Tool, ToolTier};

/// List branches and tags (releases) of any remote git repository.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// owner/name, URL or path.
    repository: String,
    /// Part of the name, or a glob.
    #[serde(default)]
    pattern: Option<String>,
    /// Limit of results.
    #[serde(default = "thirty")]
    max_results: u32,
}

fn thirty() -> u32 {
    30
}

/// Refs: the default branch, other branches by name, then tags, the highest version first.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Output {
    repository: String,
    /// Name of the default branch.
    #[serde(skip_serializing_if = "Option::is_none")]
    default: Option<String>,
    refs: Vec<Ref>,
}

/// A branch or a tag.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Ref {
    /// Full name: `refs/heads/main`.
    #[serde(rename = "ref")]
    name: String,
    object: Object,
    /// Commit that an annotated tag points to.
    #[serde(skip_serializing_if = "Option::is_none")]
    commit: Option<String>,
}

/// The object that a ref points to.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Object {
    sha: String,
    /// `commit`, or `tag` for an annotated tag.
    #[serde(rename = "type")]
    sort: &'static str,
}

/// See [`Args`].
pub struct ListRepositoryRefs;

impl Tool for ListRepositoryRefs {
    const NAME: &'static str = "list_repository_refs";
    const COMMAND: &'static str = "remote-refs";
    const POSITIONAL: &'static [&'static str] = &["repository"];
    const SHOWN: Option<ToolTier> = Some(ToolTier::Full);
    const LIST: Option<&'static str> = Some("refs");
    type Args = Args;
    type Output = Output;

    fn run(call: &Call<'_>, args: Args) -> Result<Output, Error> {
        let remote = remote(call, &args.repository)?.whole();
        let (default, refs) = remotes::refs(call, &remote)?;
        let mut refs: Vec<Ref> = refs.into_iter().map(listed).collect();
        if let Some(pattern) = args.pattern.as_deref().filter(|pattern| !pattern.is_empty()) {
            let glob = glob(pattern)?;
            refs.retain(|one| glob.is_match(&one.name) || glob.is_match(short(&one.name)));
        }
        refs.sort_by_cached_key(|one| place(&one.name, default.as_deref()));
        call.narrow("give pattern");
        let refs = call.page(refs, args.max_results as usize);
        Ok(Output { repository: remote.to_string(), default, refs })
    }
}

/// Place of a ref in the list.
fn place(name: &str, default: Option<&str>) -> (bool, bool, Option<Reverse<Version>>, String) {
    let is_tag = name.starts_with("refs/tags/");
    (Some(name) != default, is_tag, is_tag.then(|| Reverse(version(short(name)))), name.to_owned())
}

/// A ref's name without `refs/heads/` or `refs/tags/`.
fn short(name: &str) -> &str {
    name.strip_prefix("refs/").and_then(|rest| rest.split_once('/')).map_or(name, |(_, short)| short)
}

/// Parts of a version in their order: words, the end, numbers. So a release comes after its candidates.
type Version = Vec<(u8, u64, String)>;

fn version(name: &str) -> Version {
    let mut parts = Version::new();
    let is_digit = |char: char| char.is_ascii_digit();
    for part in name.split(['.', '-', '_', '+', '/']) {
        let mut rest = part;
        while let Some(first) = rest.chars().next() {
            let end = rest.find(|char| is_digit(char) != is_digit(first)).unwrap_or(rest.len());
            let (run, after) = rest.split_at(end);
            match run.parse() {
                Ok(number) => parts.push((2, number, String::new())),
                // A `v` before a number says nothing.
                Err(_) if matches!(run, "v" | "V") && !after.is_empty() => {}
                Err(_) => parts.push((0, 0, run.to_owned())),
            }
            rest = after;
        }
    }
    parts.push((1, 0, String::new()));
    parts
}

fn glob(pattern: &str) -> Result<GlobMatcher, Error> {
    let is_glob = pattern.contains(['*', '?', '[', '{']);
    let whole = if is_glob { pattern.to_owned() } else { format!("*{}*", globset::escape(pattern)) };
    let wrong = |err| Error::invalid_arguments(format!("`pattern` {pattern:?} is not a glob: {err}"));
    GlobBuilder::new(&whole).case_insensitive(true).build().map(|glob| glob.compile_matcher()).map_err(wrong)
}

/// A ref in the form of answers.
fn listed(one: RemoteRef) -> Ref {
    let commit = Some(one.commit).filter(|commit| !commit.is_empty());
    match (one.tag, commit) {
        (Some(tag), commit) => Ref { name: one.name, object: Object { sha: tag, sort: "tag" }, commit },
        (None, commit) => {
            Ref { name: one.name, object: Object { sha: commit.unwrap_or_default(), sort: "commit" }, commit: None }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{glob, place};

    #[test]
    fn the_default_branch_and_the_newest_releases_come_first() {
        let mut names = vec![
            "refs/tags/v0.9",
            "refs/tags/v0.10",
            "refs/heads/work",
            "refs/tags/1.0.0-rc1",
            "refs/tags/1.0.0",
            "refs/tags/1.0.0-rc10",
            "refs/heads/main",
            "refs/tags/v2",
            "refs/tags/1.0.0.1",
        ];
        names.sort_by_cached_key(|name| place(name, Some("refs/heads/main")));
        let expected = [
            "refs/heads/main",
            "refs/heads/work",
            "refs/tags/v2",
            "refs/tags/1.0.0.1",
            "refs/tags/1.0.0",
            "refs/tags/1.0.0-rc10",
            "refs/tags/1.0.0-rc1",
            "refs/tags/v0.10",
            "refs/tags/v0.9",
        ];
        assert_eq!(names, expected);
    }

    #[test]
    fn refs_are_chosen_by_a_part_of_their_name_or_a_glob() {
        assert!(glob("0.1").is_ok_and(|glob| glob.is_match("v0.10") && !glob.is_match("v0.2")));
        assert!(glob("v1.*").is_ok_and(|glob| glob.is_match("v1.2") && !glob.is_match("rev1.2")));
        assert!(glob("{").is_err());
    }
}
