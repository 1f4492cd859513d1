//! Paths named by patterns, and the parts of a project that settings name so.

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Roles and languages that settings give to files. Patterns use gitignore syntax; the last match decides. Entry
/// points are globs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Roles {
    /// Tests, examples and benchmarks; a leading `!` marks files that only look like them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tests: Vec<String>,
    /// Generated files.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub generated: Vec<String>,
    /// Files copied from other projects.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub vendored: Vec<String>,
    /// Paths and qualified names treated as used.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub entry_points: Vec<String>,
    /// Languages of files, each as `pattern=language`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub languages: Vec<String>,
}

impl Roles {
    /// Whether nothing is named.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// Compiled patterns of paths.
#[derive(Clone, Debug)]
pub struct Patterns(Option<Gitignore>);

impl Patterns {
    /// Compiles patterns; an error describes the first broken one.
    pub fn of(patterns: &[String]) -> Result<Self, String> {
        if patterns.is_empty() {
            return Ok(Self(None));
        }
        let mut builder = GitignoreBuilder::new("");
        builder.allow_unclosed_class(false);
        for pattern in patterns {
            builder.add_line(None, pattern).map_err(|err| format!("has {pattern:?}: {err}"))?;
        }
        builder.build().map(|built| Self(Some(built))).map_err(|err| err.to_string())
    }

    /// Verdict of the last pattern that fits a path or a folder above it; `None` when none fits.
    pub fn says(&self, path: &str) -> Option<bool> {
        match self.0.as_ref()?.matched_path_or_any_parents(path, false) {
            Match::Ignore(_) => Some(true),
            Match::Whitelist(_) => Some(false),
            Match::None => None,
        }
    }
}

/// Compiled languages of [`Roles`].
#[derive(Clone, Debug, Default)]
pub struct Languages(Vec<(Patterns, String)>);

impl Languages {
    /// Compiles pairs, each `pattern=language`; an error describes the first broken one.
    pub fn of(pairs: &[String]) -> Result<Self, String> {
        let compiled = pairs.iter().map(|pair| match pair.rsplit_once('=') {
            Some((pattern, language)) if !pattern.trim().is_empty() && !language.trim().is_empty() => {
                Ok((Patterns::of(&[pattern.trim().to_owned()])?, language.trim().to_lowercase()))
            }
            _ => Err(format!("has {pair:?}; write each as pattern=language")),
        });
        compiled.collect::<Result<_, _>>().map(Self)
    }

    /// Language that the last fitting pattern gives to a path.
    pub fn of_path(&self, path: &str) -> Option<&str> {
        let mut fitting = self.0.iter().rev().filter(|(pattern, _)| pattern.says(path) == Some(true));
        fitting.next().map(|(_, language)| language.as_str())
    }

    /// Languages named, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|(_, language)| language.as_str())
    }
}
