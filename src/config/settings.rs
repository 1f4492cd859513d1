//! One layer of settings, as a file, an environment or a command line gives them: everything may be left out.

use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::Deserialize;

use super::{CacheMode, Error, Freshness, GitHubMode};

/// What the command line decides.
#[derive(Clone, Debug, Default)]
pub struct Flags {
    /// The index directory; codelode keeps to its own folder there.
    pub index_dir: Option<PathBuf>,
    /// Everything that can be set elsewhere, too.
    pub settings: Settings,
}

/// The settings of codelode, as `config.toml` in codelode's folder of the index directory holds them.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// Largest file that is indexed, in bytes.
    pub max_file_size: Option<u64>,
    /// How many files of a folder are indexed at most; 0 for no limit.
    pub max_files: Option<usize>,
    /// Further ignore patterns for every folder, in gitignore syntax.
    pub extra_ignore: Option<Vec<String>>,
    /// Globs of files that may be indexed and shown though they may hold a credential, as `.env` or `tests/certs/*.pem`.
    pub allow_secrets: Option<Vec<String>>,
    /// Where an index made on another machine finds its sources here: `stored=local`, the first that fits wins.
    pub path_map: Option<Vec<String>>,
    /// Keep absolute paths out of answers.
    pub redact_source_root: Option<bool>,
    /// `relaxed` answers at once and marks what is stale, `strict` waits up to 500 ms for changes to be read.
    pub freshness: Option<Freshness>,
    /// Which tools a client is shown: `lean`, `core`, `full`, or names separated by commas.
    pub tools: Option<String>,
    /// How many tokens an answer may have when the caller does not say.
    pub max_tokens: Option<usize>,
    /// How much memory indexing may hold at once, in megabytes, at least 80: less makes it slower, and a file whose syntax tree
    /// would not fit keeps its text only. Files that are mapped do not count, nor about 100 bytes for each symbol of very large
    /// repositories. 0 for as much as is useful.
    pub max_memory: Option<u64>,
    /// Where the log goes instead of standard error.
    pub log_file: Option<PathBuf>,
    /// What is logged: `off`, `error`, `warn`, `info`, `debug`, `trace`, also by module, as `codelode=debug`.
    pub log: Option<String>,
    /// Whether symbols without documentation are summarised by a model.
    pub use_ai_summaries: Option<bool>,
    /// Whether context providers (dbt, git blame) enrich an index.
    pub context_providers: Option<bool>,
    /// Hosts that may be on a private network and be reached without TLS, by name or address; `*` for all.
    pub trusted_hosts: Option<Vec<String>>,
    /// A file with certificates (PEM) of authorities that are trusted beside the system's.
    pub ca_file: Option<PathBuf>,
    /// What is run as `ssh`, with its arguments.
    pub ssh_command: Option<String>,
    /// Whether all processes share the clones of repositories elsewhere (`shared`), or each has its own (`process`).
    pub cache_mode: Option<CacheMode>,
    /// The most that is fetched of a repository at once, in bytes.
    pub git_max_clone: Option<u64>,
    /// The most that all clones may take, in bytes; the least used go first.
    pub git_cache_size: Option<u64>,
    /// Whether a server that is asked about a folder again keeps its index fresh from then on, so that nobody has to look.
    pub watcher: Option<bool>,
    /// How long it must be quiet before what a watcher was told is read, in milliseconds.
    pub watch_debounce_ms: Option<u64>,
    /// How often `watch-claude` asks repositories for their worktrees, in seconds.
    pub claude_poll_interval: Option<u64>,
    /// The base URL of GitHub's REST interface; `https://<host>/api/v3` for GitHub Enterprise.
    pub github_api_url: Option<String>,
    /// How commits on GitHub are read: `git`, `tarball`, `api`, or `auto` for the first of them that works.
    pub github_mode: Option<GitHubMode>,
}

/// The keys of [`Settings`].
pub(super) const KEYS: &[&str] = &[
    "max_file_size",
    "max_files",
    "extra_ignore",
    "allow_secrets",
    "path_map",
    "redact_source_root",
    "freshness",
    "tools",
    "max_tokens",
    "max_memory",
    "log_file",
    "log",
    "use_ai_summaries",
    "context_providers",
    "trusted_hosts",
    "ca_file",
    "ssh_command",
    "cache_mode",
    "git_max_clone",
    "git_cache_size",
    "watcher",
    "watch_debounce_ms",
    "claude_poll_interval",
    "github_api_url",
    "github_mode",
];

/// A setting's names in the environment.
pub struct Variable {
    /// The first that is set wins; the later ones are those of the tools that codelode succeeds.
    pub names: &'static [&'static str],
    /// What it sets, for `--help` and documentation.
    pub sets: &'static str,
    /// Puts the text into the settings, or says what is wrong with it.
    put: fn(&mut Settings, &str) -> Result<(), String>,
}

/// The names of the index directory, which is decided before the file can be found.
pub(super) const INDEX_DIRECTORY: Variable =
    Variable { names: &["CODELODE_INDEX_PATH", "CODE_INDEX_PATH"], sets: "the index directory", put: |_, _| Ok(()) };

/// Every variable that is read.
pub static VARIABLES: &[Variable] = &[
    INDEX_DIRECTORY,
    Variable {
        names: &["CODELODE_MAX_FILE_SIZE"],
        sets: "max_file_size",
        put: |settings, text| set(&mut settings.max_file_size, number(text)),
    },
    Variable {
        names: &["CODELODE_MAX_FILES", "JCODEMUNCH_MAX_INDEX_FILES"],
        sets: "max_files",
        put: |settings, text| set(&mut settings.max_files, number(text)),
    },
    Variable {
        names: &["CODELODE_EXTRA_IGNORE", "JCODEMUNCH_EXTRA_IGNORE_PATTERNS"],
        sets: "extra_ignore",
        put: |settings, text| set(&mut settings.extra_ignore, Ok(list(text))),
    },
    Variable {
        names: &["CODELODE_ALLOW_SECRETS"],
        sets: "allow_secrets",
        put: |settings, text| set(&mut settings.allow_secrets, Ok(list(text))),
    },
    Variable {
        names: &["CODELODE_PATH_MAP", "JCODEMUNCH_PATH_MAP"],
        sets: "path_map",
        put: |settings, text| set(&mut settings.path_map, Ok(list(text))),
    },
    Variable {
        names: &["CODELODE_REDACT_SOURCE_ROOT", "JCODEMUNCH_REDACT_SOURCE_ROOT"],
        sets: "redact_source_root",
        put: |settings, text| set(&mut settings.redact_source_root, yes_or_no(text)),
    },
    Variable {
        names: &["CODELODE_FRESHNESS", "CODELODE_FRESHNESS_MODE", "JCODEMUNCH_FRESHNESS_MODE"],
        sets: "freshness",
        put: |settings, text| set(&mut settings.freshness, text.parse()),
    },
    Variable {
        names: &["CODELODE_TOOLS"],
        sets: "tools",
        put: |settings, text| set(&mut settings.tools, Ok(text.to_owned())),
    },
    Variable {
        names: &["CODELODE_MAX_TOKENS"],
        sets: "max_tokens",
        put: |settings, text| set(&mut settings.max_tokens, number(text)),
    },
    Variable {
        names: &["CODELODE_MAX_MEMORY"],
        sets: "max_memory",
        put: |settings, text| set(&mut settings.max_memory, number(text)),
    },
    Variable {
        names: &["CODELODE_LOG_FILE", "JCODEMUNCH_LOG_FILE"],
        sets: "log_file",
        put: |settings, text| set(&mut settings.log_file, Ok(text.into())),
    },
    Variable {
        names: &["CODELODE_LOG", "JCODEMUNCH_LOG_LEVEL"],
        sets: "log",
        put: |settings, text| set(&mut settings.log, Ok(text.to_lowercase())),
    },
    Variable {
        names: &["CODELODE_USE_AI_SUMMARIES", "JCODEMUNCH_USE_AI_SUMMARIES"],
        sets: "use_ai_summaries",
        put: |settings, text| set(&mut settings.use_ai_summaries, yes_or_no(text)),
    },
    Variable {
        names: &["CODELODE_CONTEXT_PROVIDERS", "JCODEMUNCH_CONTEXT_PROVIDERS"],
        sets: "context_providers",
        put: |settings, text| set(&mut settings.context_providers, yes_or_no(text)),
    },
    Variable {
        names: &["CODELODE_TRUSTED_HOSTS"],
        sets: "trusted_hosts",
        put: |settings, text| set(&mut settings.trusted_hosts, Ok(list(text))),
    },
    Variable {
        names: &["CODELODE_CA_FILE"],
        sets: "ca_file",
        put: |settings, text| set(&mut settings.ca_file, Ok(text.into())),
    },
    Variable {
        names: &["CODELODE_SSH_COMMAND", "GIT_SSH_COMMAND"],
        sets: "ssh_command",
        put: |settings, text| set(&mut settings.ssh_command, Ok(text.to_owned())),
    },
    Variable {
        names: &["CODELODE_CACHE_MODE"],
        sets: "cache_mode",
        put: |settings, text| set(&mut settings.cache_mode, text.parse()),
    },
    Variable {
        names: &["CODELODE_GIT_MAX_CLONE"],
        sets: "git_max_clone",
        put: |settings, text| set(&mut settings.git_max_clone, number(text)),
    },
    Variable {
        names: &["CODELODE_GIT_CACHE_SIZE"],
        sets: "git_cache_size",
        put: |settings, text| set(&mut settings.git_cache_size, number(text)),
    },
    Variable {
        names: &["CODELODE_WATCHER"],
        sets: "watcher",
        put: |settings, text| set(&mut settings.watcher, yes_or_no(text)),
    },
    Variable {
        names: &["CODELODE_WATCH_DEBOUNCE_MS", "JCODEMUNCH_WATCH_DEBOUNCE_MS"],
        sets: "watch_debounce_ms",
        put: |settings, text| set(&mut settings.watch_debounce_ms, number(text)),
    },
    Variable {
        names: &["CODELODE_CLAUDE_POLL_INTERVAL", "JCODEMUNCH_CLAUDE_POLL_INTERVAL"],
        sets: "claude_poll_interval",
        put: |settings, text| set(&mut settings.claude_poll_interval, number(text)),
    },
    Variable {
        names: &["CODELODE_GITHUB_API_URL", "GITHUB_API_URL"],
        sets: "github_api_url",
        put: |settings, text| set(&mut settings.github_api_url, Ok(text.to_owned())),
    },
    Variable {
        names: &["CODELODE_GITHUB_MODE"],
        sets: "github_mode",
        put: |settings, text| set(&mut settings.github_mode, text.parse()),
    },
];

impl Variable {
    /// The name that is set, and its value. An empty value counts as not set, as is usual for variables.
    pub(super) fn value(&self, env: &dyn Fn(&str) -> Option<String>) -> Option<(&'static str, String)> {
        self.names.iter().find_map(|name| {
            let value = env(name)?.trim().to_owned();
            (!value.is_empty()).then_some((*name, value))
        })
    }
}

/// The settings of an environment.
pub(super) fn of_environment(env: &dyn Fn(&str) -> Option<String>) -> Result<Settings, Error> {
    let mut settings = Settings::default();
    for variable in VARIABLES {
        let Some((name, value)) = variable.value(env) else { continue };
        (variable.put)(&mut settings, &value).map_err(|problem| Error::BadValue {
            key: name.to_owned(),
            place: "the environment".to_owned(),
            problem,
        })?;
    }
    Ok(settings)
}

/// The settings of a file.
pub(super) fn of_file(path: &Path, text: &str) -> Result<Settings, Error> {
    let malformed = |err: toml::de::Error| Error::Malformed { path: path.to_owned(), problem: err.to_string() };
    // Keys are looked at first: serde's own message would list every key instead of the nearest.
    let table: toml::Table = toml::from_str(text).map_err(malformed)?;
    if let Some(key) = table.keys().find(|key| !KEYS.contains(&key.as_str())) {
        return Err(Error::UnknownKey { path: path.to_owned(), key: key.clone(), nearest: nearest(key) });
    }
    // From the text again and not from the table, so that the message has a line.
    toml::from_str(text).map_err(malformed)
}

/// The known key that a wrong one resembles.
fn nearest(key: &str) -> Option<&'static str> {
    let (score, best) = KEYS
        .iter()
        .map(|known| (strsim::jaro_winkler(key, known), *known))
        .max_by(|(left, _), (right, _)| left.total_cmp(right))?;
    (score > 0.75).then_some(best)
}

/// Puts a value in its place.
fn set<T>(place: &mut Option<T>, value: Result<T, String>) -> Result<(), String> {
    *place = Some(value?);
    Ok(())
}

/// A whole number.
fn number<N: std::str::FromStr>(text: &str) -> Result<N, String> {
    text.replace('_', "").parse().map_err(|_| format!("is {text:?}; give a whole number"))
}

/// Yes or no, in the usual spellings.
fn yes_or_no(text: &str) -> Result<bool, String> {
    match text.to_ascii_lowercase().as_str() {
        "1" | "true" | "yes" | "on" => Ok(true),
        "0" | "false" | "no" | "off" => Ok(false),
        _ => Err(format!("is {text:?}; say true or false")),
    }
}

/// What stands between commas.
fn list(text: &str) -> Vec<String> {
    text.split(',').map(str::trim).filter(|item| !item.is_empty()).map(str::to_owned).collect()
}

impl std::str::FromStr for Freshness {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.to_ascii_lowercase().as_str() {
            "relaxed" => Ok(Self::Relaxed),
            "strict" => Ok(Self::Strict),
            _ => Err(format!("is {text:?}; say relaxed or strict")),
        }
    }
}
