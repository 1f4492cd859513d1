//! Settings for GitHub's REST API.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use url::Url;

/// Settings for GitHub's REST API.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GitHub {
    /// Base URL: GitHub's own, or `https://<host>/api/v3` of GitHub Enterprise.
    pub api: Url,
    /// How commits of repositories on GitHub are read.
    pub mode: GitHubMode,
}

impl Default for GitHub {
    fn default() -> Self {
        let api = Url::parse("https://api.github.com/").expect("it is a URL");
        Self { api, mode: GitHubMode::Auto }
    }
}

/// How commits of repositories on GitHub are read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum GitHubMode {
    /// By git; where that fails by an archive, and file by file where that fails, too.
    #[default]
    Auto,
    /// By git.
    Git,
    /// By an archive; file by file only what it lacks.
    Tarball,
    /// File by file.
    Api,
}

impl std::str::FromStr for GitHubMode {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.to_ascii_lowercase().as_str() {
            "auto" => Ok(Self::Auto),
            "git" => Ok(Self::Git),
            "tarball" => Ok(Self::Tarball),
            "api" => Ok(Self::Api),
            _ => Err(format!("is {text:?}; say auto, git, tarball or api")),
        }
    }
}
