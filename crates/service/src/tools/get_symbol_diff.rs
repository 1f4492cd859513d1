//! Differences between two indexed repositories.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::changes::{self, Differences};
use super::{Call, Error, Tool, indexes};
use codelode_query::{self as query, SymbolKey};
use codelode_store::{FileView, Snapshot};

/// Compare two indexed repositories: symbols added, removed or changed.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// The older one.
    repo_a: String,
    /// The newer one.
    repo_b: String,
}

/// Symbols of `repo_b` that `repo_a` has not are added. Modified first, then removed, renamed and added.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Output {
    repo_a: String,
    repo_b: String,
    unchanged_count: usize,
    #[serde(flatten)]
    differences: Differences,
}

/// See [`Args`].
pub struct GetSymbolDiff;

impl Tool for GetSymbolDiff {
    const NAME: &'static str = "get_symbol_diff";
    const COMMAND: &'static str = "diff";
    const POSITIONAL: &'static [&'static str] = &["repo_a", "repo_b"];
    type Args = Args;
    type Output = Output;

    fn run(call: &Call<'_>, args: Args) -> Result<Output, Error> {
        let a = indexes::open_now(call, Some(&args.repo_a))?;
        let b = indexes::open_now(call, Some(&args.repo_b))?;
        let (old, new) = (&a.snapshot, &b.snapshot);
        // Identical files have no differences, so they are skipped.
        let (before, now) = (only_in(old, new), only_in(new, old));
        let looked_into: u64 = before.iter().map(|file| u64::from(file.symbol_count())).sum();
        let same = old.facts().symbols.saturating_sub(looked_into) as usize;
        let before = before.into_iter().flat_map(query::stored_versions).collect();
        let now = now.into_iter().flat_map(query::stored_versions).collect();
        let changes = query::compare(before, now, SymbolKey::Name);
        Ok(Output {
            repo_a: a.sidecar.repo.clone(),
            repo_b: b.sidecar.repo.clone(),
            unchanged_count: same + changes.unchanged,
            differences: changes::page(call, &changes, &|_, _| None),
        })
    }
}

/// The files that another snapshot does not have with the same path and text.
fn only_in<'a>(snapshot: &'a Snapshot, other: &Snapshot) -> Vec<FileView<'a>> {
    let is_in_both = |file: &FileView<'_>| other.file(file.path()).is_some_and(|there| there.hash() == file.hash());
    snapshot.files().filter(|file| !is_in_both(file)).collect()
}
