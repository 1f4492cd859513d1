//! Settings for GitHub's REST API.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use url::Url;

/// Settings for GitHub's REST API.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GitHub {
    /// Base URL: GitHub's own, or `https://<host>/api/v3` of GitHub Enterprise.
    pub api: Url,
    /// Ways to read commits on GitHub.
    pub mode: GitHubMode,
}

impl Default for GitHub {
    fn default() -> Self {
        let api = Url::parse("https://api.github.com/").expect("it is a URL");
        Self { api, mode: GitHubMode::Auto }
    }
}

/// Ways to read commits on GitHub.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum GitHubMode {
    /// Try git, then an archive, then file by file.
    #[default]
    Auto,
    /// By git.
    Git,
    /// By an archive; files missing from it are read one by one.
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
            _ => Err(format!("is {text:?}; use auto, git, tarball or api")),
        }
    }
}
