//! Differences between two states: four lists, and a page of all of them together. Sources come before tests,
//! documentation and configuration, and additions before other changes.

use schemars::JsonSchema;
use serde::Serialize;

use super::{Call, tokens};
use codelode_lang::languages::{exercises, is_beside, is_document};
use codelode_query::{Changes, Version};

/// Differences. Each list is in the order of files and lines, sources before tests and documentation.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub struct Differences {
    added_count: usize,
    removed_count: usize,
    modified_count: usize,
    renamed_count: usize,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    added: Vec<Difference>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    modified: Vec<Difference>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    removed: Vec<Difference>,
    /// Same text with another name or place.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    renamed: Vec<Difference>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    truncated: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    total: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    left: Option<usize>,
}

/// A changed symbol.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Difference {
    symbol_id: String,
    line: u32,
    /// added, modified, removed or renamed.
    change_type: &'static str,
    /// Whether the declaration changed; code that uses it may have to change, too.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    signature_changed: bool,
    /// Id before the change.
    #[serde(skip_serializing_if = "Option::is_none")]
    was: Option<String>,
    /// Whether only its members changed.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    only_members: bool,
    /// Files and symbols that the change may break.
    #[serde(skip_serializing_if = "Option::is_none")]
    blast_radius: Option<Reach>,
}

/// Dependents of a changed symbol.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Reach {
    /// Number of symbols that use it directly. For a removed one: definitions that still contain its name.
    pub direct_dependents_count: usize,
    /// Number of files that depend on the changed symbol.
    pub confirmed_count: usize,
    /// Files that depend on the changed symbol, nearest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
}

/// The kind of a symbol's change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Change {
    /// New symbol.
    Added,
    /// Changed text.
    Modified,
    /// Removed symbol.
    Removed,
    /// Same text with another name or file.
    Renamed,
}

impl Change {
    /// The word for it in answers.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Added => "added",
            Self::Modified => "modified",
            Self::Removed => "removed",
            Self::Renamed => "renamed",
        }
    }
}

/// Tokens of the frame around the lists.
const FRAME: usize = 200;

/// Whether a file is a test, an example, documentation or configuration, which come after sources.
pub fn is_aside(path: &str) -> bool {
    exercises(path) || is_beside(path) || is_document(path) || [".yml", ".yaml"].iter().any(|end| path.ends_with(end))
}

/// A page of differences from the cursor on, within the budget. `reach` returns the dependents of a symbol, if they
/// are requested.
pub fn page(
    call: &Call<'_>,
    changes: &Changes<'_>,
    reach: &dyn Fn(Change, &Version<'_>) -> Option<Reach>,
) -> Differences {
    let mut page = Differences {
        added_count: changes.added.len(),
        removed_count: changes.removed.len(),
        modified_count: changes.modified.len(),
        renamed_count: changes.renamed.len(),
        ..Differences::default()
    };
    let modified = changes.modified.iter().map(|(was, now)| (Change::Modified, Some(was), now));
    let removed = changes.removed.iter().map(|was| (Change::Removed, None, was));
    let renamed = changes.renamed.iter().map(|(was, now)| (Change::Renamed, Some(was), now));
    let added = changes.added.iter().map(|now| (Change::Added, None, now));
    let total = page.added_count + page.removed_count + page.modified_count + page.renamed_count;
    call.count(total);
    call.found(total > 0);
    if call.count_only {
        return page;
    }
    let mut all: Vec<(Change, Option<&Version<'_>>, &Version<'_>)> =
        added.chain(modified).chain(removed).chain(renamed).collect();
    // Each list is in the order of files and lines already.
    all.sort_by_cached_key(|(change, _, now)| (is_aside(now.file), *change));
    let (mut given, mut spent) = (0, FRAME);
    for (change, was, now) in all.into_iter().skip(call.offset) {
        let difference = Difference {
            symbol_id: now.id.clone(),
            line: now.line,
            change_type: change.as_str(),
            signature_changed: was.is_some_and(|was| change == Change::Modified && was.is_declared_otherwise(now)),
            // In another repository it may have another path; in the same one it does not.
            was: was.filter(|was| was.id != now.id).map(|was| was.id.clone()),
            only_members: change == Change::Modified && was.is_some_and(|was| was.says_the_same(now)),
            blast_radius: reach(change, now),
        };
        spent += tokens::estimate(&serde_json::to_string(&difference).unwrap_or_default()) + 1;
        if spent > call.max_tokens && given > 0 {
            break;
        }
        given += 1;
        match change {
            Change::Modified => page.modified.push(difference),
            Change::Removed => page.removed.push(difference),
            Change::Renamed => page.renamed.push(difference),
            Change::Added => page.added.push(difference),
        }
    }
    let reached = call.offset + given;
    if given > 0 && reached < total {
        page.truncated = true;
        page.total = Some(total);
        page.left = Some(total - reached);
        page.next_cursor = Some(call.cursor(reached));
    }
    page
}
