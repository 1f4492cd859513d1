//! Settings for access to remote repositories, and for their clones.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Settings for access to remote repositories, and for their clones.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Git {
    /// Secrets by lower-case host, with `:port` for non-standard ports. Read from the environment only.
    pub tokens: Vec<(String, Secret)>,
    /// Command to run as `ssh`; `None` for ssh in batch mode.
    pub ssh_command: Option<String>,
    /// Sharing of clones between processes.
    pub cache_mode: CacheMode,
    /// Size limit of one fetch, in bytes.
    pub max_clone: u64,
    /// Size limit of all clones, in bytes.
    pub cache_size: u64,
}

impl Default for Git {
    fn default() -> Self {
        Self {
            tokens: Vec::new(),
            ssh_command: None,
            cache_mode: CacheMode::Shared,
            max_clone: 4 << 30,
            cache_size: 10 << 30,
        }
    }
}

impl Git {
    /// Secret of a host.
    pub fn token(&self, host: &str) -> Option<&Secret> {
        self.tokens.iter().find(|(name, _)| name.eq_ignore_ascii_case(host)).map(|(_, secret)| secret)
    }
}

/// Sharing of clones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CacheMode {
    /// One set for all processes.
    #[default]
    Shared,
    /// One set per process, removed when it exits.
    Process,
}

impl std::str::FromStr for CacheMode {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.to_ascii_lowercase().as_str() {
            "shared" => Ok(Self::Shared),
            "process" => Ok(Self::Process),
            _ => Err(format!("is {text:?}; use shared or process")),
        }
    }
}

/// A token, sent only to its host and never logged.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(pub String);

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(***)")
    }
}

/// Variables with the token of one host, in order of precedence.
pub static TOKENS: &[(&str, &[&str])] = &[
    ("github.com", &["CODELODE_GITHUB_TOKEN", "GITCODE_MCP_GITHUB_TOKEN", "GITHUB_TOKEN", "GH_TOKEN"]),
    ("gitlab.com", &["CODELODE_GITLAB_TOKEN", "GITLAB_TOKEN"]),
    ("codeberg.org", &["CODELODE_CODEBERG_TOKEN", "CODEBERG_TOKEN"]),
    ("bitbucket.org", &["CODELODE_BITBUCKET_TOKEN", "BITBUCKET_TOKEN"]),
];

/// Variable with tokens of any hosts: `host=token,host:port=user:password`.
pub const ANY_TOKENS: &str = "CODELODE_GIT_TOKENS";

/// Reads the tokens of an environment. Errors never show their content.
pub(super) fn tokens(env: &dyn Fn(&str) -> Option<String>) -> Result<Vec<(String, Secret)>, String> {
    let mut tokens = Vec::new();
    let set = |name: &str| env(name).map(|value| value.trim().to_owned()).filter(|value| !value.is_empty());
    for pair in set(ANY_TOKENS).as_deref().unwrap_or_default().split(',').filter(|pair| !pair.trim().is_empty()) {
        match pair.split_once('=').map(|(host, token)| (host.trim(), token.trim())) {
            Some((host, token)) if is_host(host) && is_token(token) => {
                tokens.push((host.to_ascii_lowercase(), Secret(token.to_owned())));
            }
            _ => return Err("is not understood; write host=token, separated by commas".to_owned()),
        }
    }
    for (host, names) in TOKENS {
        // Tokens listed by host take precedence.
        if tokens.iter().all(|(name, _)| name != host)
            && let Some(token) = names.iter().find_map(|name| set(name)).filter(|token| is_token(token))
        {
            tokens.push(((*host).to_owned(), Secret(token)));
        }
    }
    Ok(tokens)
}

fn is_host(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || ".-_:[]".contains(c))
}

/// Whether a text is safe as a token. Other characters could split a header in two.
fn is_token(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_graphic())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(set: &[(&str, &str)]) -> Result<Vec<(String, String)>, String> {
        let env = |name: &str| set.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned());
        Ok(tokens(&env)?.into_iter().map(|(host, secret)| (host, secret.0)).collect())
    }

    #[test]
    fn tokens_come_from_many_names() {
        let pair = |host: &str, token: &str| (host.to_owned(), token.to_owned());
        assert_eq!(
            read(&[("GITHUB_TOKEN", "a"), ("GITCODE_MCP_GITHUB_TOKEN", "b")]),
            Ok(vec![pair("github.com", "b")])
        );
        assert_eq!(read(&[("GITLAB_TOKEN", " c ")]), Ok(vec![pair("gitlab.com", "c")]));
        let set = [("CODELODE_GIT_TOKENS", "Git.Example:8443=u:p, github.com=d"), ("GITHUB_TOKEN", "a")];
        assert_eq!(read(&set), Ok(vec![pair("git.example:8443", "u:p"), pair("github.com", "d")]));
        assert_eq!(read(&[("GITHUB_TOKEN", "two words")]), Ok(vec![]));
    }

    #[test]
    fn what_cannot_be_read_is_not_shown() {
        let problem = read(&[("CODELODE_GIT_TOKENS", "hunter2")]).expect_err("there is no host");
        assert!(!problem.contains("hunter2"));
        assert_eq!(format!("{:?}", Secret("hunter2".to_owned())), "Secret(***)");
    }
}
