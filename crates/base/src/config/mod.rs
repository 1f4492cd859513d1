//! Configuration, decided once: built-in defaults, then `config.toml` in the index directory, then the environment,
//! then flags. All other modules take their settings from here.

mod error;
mod fleet;
mod git;
mod github;
mod http;
mod location;
mod models;
mod origin;
mod project;
mod secrets;
mod settings;
#[cfg(test)]
mod tests;
mod toolchains;

use std::collections::BTreeMap;
use std::env;
use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use url::Url;

use crate::model::Roles;

pub use error::Error;
pub use fleet::Fleet;
pub use git::{CacheMode, Git, Secret, TOKENS};
pub use github::{GitHub, GitHubMode};
pub use http::{Http, NAMED_TOKENS, OAuth, Transport, caller_token, secret};
pub use models::{Models, OPENAI, Service};
pub use origin::{Origin, SettingValue};
pub use project::PROJECT_FILE;
pub use secrets::Secrets;
pub use settings::{Flags, KEYS, Key, Settings, VARIABLES, Variable};
pub use toolchains::Toolchains;

/// Name of codelode's own folder inside the index directory.
const FOLDER: &str = "codelode";
/// Name of the settings file in that folder.
const FILE: &str = "config.toml";
/// Minimum memory for indexing in megabytes: the smallest search index writer takes 15, reading and parsing the rest.
const LEAST_MEMORY: u64 = 80;

/// The whole configuration.
#[derive(Clone, Debug)]
pub struct Config {
    /// Location of indexes: codelode's own folder inside the index directory.
    pub home: PathBuf,
    /// The same folder of the index directory that was asked for, where indexes are kept elsewhere. It has the settings.
    pub wanted: Option<PathBuf>,
    /// The index directory when it can only be read: its indexes answer where `home` has none.
    pub beneath: Option<PathBuf>,
    /// Message that the index directory cannot be written, and where indexes are kept instead.
    pub elsewhere: Option<String>,
    /// Largest file that is read, in bytes.
    pub max_file_size: u64,
    /// Maximum number of files of a folder; `None` for no limit.
    pub max_files: Option<usize>,
    /// Ignore patterns added for every folder, in gitignore syntax.
    pub extra_ignore: Vec<String>,
    /// Patterns of files to index although a rule leaves them out.
    pub include: Vec<String>,
    /// Roles and languages that the user gives to files.
    pub roles: Roles,
    /// Settings of the project at hand, as far as a project may decide them.
    pub project: Box<Settings>,
    /// Origins of the settings that are not the default.
    pub origins: BTreeMap<&'static str, Vec<Origin>>,
    /// Rule for files that may hold a credential, which are never indexed or shown.
    pub secrets: Secrets,
    /// Mapping of source folders for indexes made elsewhere; the first match wins.
    pub path_map: PathMap,
    /// Keep absolute paths out of answers.
    pub redact_source_root: bool,
    /// Maximum wait of an answer for changed files.
    pub freshness: Freshness,
    /// Tools that a client is shown.
    pub surface: Surface,
    /// Default format of answers.
    pub format: Format,
    /// Default token budget of an answer.
    pub max_tokens: usize,
    /// Memory limit of indexing in bytes, not counting mapped files; `None` for no limit.
    pub max_memory: Option<u64>,
    /// Path of the log; `None` for standard error.
    pub log_file: Option<PathBuf>,
    /// Log filter, as `RUST_LOG` spells it.
    pub log: String,
    /// Whether symbols without documentation are summarised by a model.
    pub use_ai_summaries: bool,
    /// Whether context providers say what they know of files.
    pub context_providers: bool,
    /// Settings without effect in this version, by key or variable.
    pub in_vain: Vec<&'static str>,
    /// Hosts that may be on a private network or lack TLS, by name or address; `*` for all.
    pub trusted_hosts: Vec<String>,
    /// Certificates (PEM) of authorities trusted beside the system's.
    pub ca_file: Option<PathBuf>,
    /// Access to remote repositories, and their clones.
    pub git: Git,
    /// Whether a server watches folders that are queried repeatedly, and updates their indexes.
    pub watcher: bool,
    /// Whether hooks of agents are answered.
    pub hooks: bool,
    /// Quiet time before a watcher reads changes.
    pub watch_debounce: Duration,
    /// Interval for checking repositories for new worktrees.
    pub claude_poll_interval: Duration,
    /// Use of GitHub's REST API.
    pub github: GitHub,
    /// Serving over HTTP.
    pub http: Http,
    /// Queue of jobs for workers.
    pub fleet: Fleet,
    /// Server that commands ask, in the place of the indexes here.
    pub server: Option<Url>,
    /// Address that opens a file in an editor, with `{path}` and `{line}`.
    pub editor_link: Option<String>,
    /// Models that embed and summarise.
    pub models: Models,
    /// Places of installed packages.
    pub toolchains: Toolchains,
}

/// Required freshness of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Freshness {
    /// Answer at once and mark stale results.
    Relaxed,
    /// Wait up to 500 ms for changes to be read.
    Strict,
}

/// Format of an answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Format {
    /// JSON without spaces.
    #[default]
    Json,
    /// The same content as dense text.
    Compact,
}

/// Tools that a client is shown. Every tool can be called by name, shown or not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Surface {
    /// A few common tools, and one that describes and calls any other.
    Lean,
    /// Tools for daily work.
    Core,
    /// Every tool.
    Full,
    /// The listed tools.
    Named(Vec<String>),
}

impl Default for Config {
    /// Built-in defaults with a home in the current directory, which only tests use.
    fn default() -> Self {
        Self {
            home: PathBuf::from(".code-index").join(FOLDER),
            wanted: None,
            beneath: None,
            elsewhere: None,
            max_file_size: 500 * 1024,
            max_files: None,
            extra_ignore: Vec::new(),
            include: Vec::new(),
            roles: Roles::default(),
            project: Box::default(),
            origins: BTreeMap::new(),
            secrets: Secrets::default(),
            path_map: PathMap::default(),
            redact_source_root: false,
            freshness: Freshness::Relaxed,
            surface: Surface::Lean,
            format: Format::default(),
            max_tokens: 8_000,
            max_memory: None,
            log_file: None,
            // rmcp warns of every client mistake, which the client is told anyway.
            log: "warn,rmcp=error".to_owned(),
            use_ai_summaries: false,
            context_providers: true,
            in_vain: Vec::new(),
            trusted_hosts: Vec::new(),
            ca_file: None,
            git: Git::default(),
            watcher: true,
            hooks: true,
            watch_debounce: Duration::from_millis(2000),
            claude_poll_interval: Duration::from_secs(5),
            github: GitHub::default(),
            http: Http::default(),
            fleet: Fleet::default(),
            server: None,
            editor_link: None,
            models: Models::default(),
            toolchains: Toolchains::default(),
        }
    }
}

/// Loads the configuration from the file, the environment of this process and the flags.
pub fn load(flags: &Flags) -> Result<Config, Error> {
    let env = |name: &str| env::var(name).ok();
    let home = home(&env, flags)?;
    let path = home.join(FILE);
    let file = match fs::read_to_string(&path) {
        Ok(text) => Some((path, text)),
        Err(err) if matches!(err.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => None,
        Err(source) => return Err(Error::Unreadable { path, source }),
    };
    let config = apply(home, file.as_ref().map(|(path, text)| (path.as_path(), text.as_str())), &env, flags)?;
    let wanted = config.home.clone();
    let location = location::choose(config.home, &env, user_folder(&env).as_deref(), &env::temp_dir());
    let wanted = (wanted != location.home).then_some(wanted);
    Ok(Config { home: location.home, wanted, beneath: location.beneath, elsewhere: location.why, ..config })
}

/// Builds the configuration without access to the process: the file is a path and its text, the environment a
/// function.
pub fn apply(
    home: PathBuf,
    file: Option<(&Path, &str)>,
    env: &dyn Fn(&str) -> Option<String>,
    flags: &Flags,
) -> Result<Config, Error> {
    let mut config = Config { home, ..Config::default() };
    let user = user_folder(env);
    if let Some(origin) = origin::of_index_directory(env, flags) {
        config.origins.insert(origin::INDEX_DIR, vec![origin]);
    }
    if let Some((path, text)) = file {
        config.layer(settings::of_file(path, text)?, &|_| Origin::UserFile(path.to_owned()))?;
    }
    config.layer(settings::of_environment(env)?, &|key| Origin::Environment(settings::variable(key, env)))?;
    config.git.tokens = git::tokens(env).map_err(|problem| Error::BadValue {
        key: git::ANY_TOKENS.to_owned(),
        place: "the environment".to_owned(),
        problem,
    })?;
    config.http.token = http::token(env);
    config.http.tokens = http::named_tokens(env);
    config.fleet.read_secrets(env);
    config.models.read_keys(env);
    config.toolchains = Toolchains::of(env, user.as_deref());
    config.layer(flags.settings.clone(), &|_| Origin::CommandLine)?;
    let Http { tokens_file, repos_file, tls_cert, tls_key, roots, .. } = &mut config.http;
    let credentials = &mut config.fleet.credentials;
    let files = [&mut config.log_file, &mut config.ca_file, tokens_file, repos_file, tls_cert, tls_key, credentials];
    for path in files.into_iter().flatten().chain(roots).chain(&mut config.models.embed_model) {
        *path = expand(std::mem::take(path), user.as_deref());
    }
    Ok(config)
}

/// Codelode's own folder inside the index directory.
pub fn home(env: &dyn Fn(&str) -> Option<String>, flags: &Flags) -> Result<PathBuf, Error> {
    let user = user_folder(env);
    let named = || settings::INDEX_DIRECTORY.value(env).map(|(_, value)| PathBuf::from(value));
    let directory = match flags.index_dir.clone().or_else(named) {
        Some(directory) if user.is_none() && directory.starts_with("~") => return Err(Error::NoHome),
        Some(directory) => expand(directory, user.as_deref()),
        None => user.ok_or(Error::NoHome)?.join(".code-index"),
    };
    // An absolute path stays valid after a change of directory, and in other processes.
    let directory = std::path::absolute(&directory).map_err(|source| Error::Unreadable { path: directory, source })?;
    Ok(directory.join(FOLDER))
}

/// Home folder of the user. A relative one would be another folder for each folder that a command is run in.
fn user_folder(env: &dyn Fn(&str) -> Option<String>) -> Option<PathBuf> {
    ["HOME", "USERPROFILE"].iter().filter_map(|name| env(name)).map(PathBuf::from).find(|folder| folder.is_absolute())
}

/// Expands a leading `~` as a shell does: settings often come from files that no shell has read.
fn expand(path: PathBuf, user: Option<&Path>) -> PathBuf {
    match (path.strip_prefix("~"), user) {
        (Ok(rest), Some(user)) => join(user, rest),
        _ => path,
    }
}

impl Config {
    /// Path of the user's settings file, whether or not it exists.
    pub fn file(&self) -> PathBuf {
        self.wanted.as_ref().unwrap_or(&self.home).join(FILE)
    }

    /// Codelode's own folders, which are never indexed.
    pub fn folders(&self) -> impl Iterator<Item = PathBuf> {
        [Some(&self.home), self.wanted.as_ref()].into_iter().flatten().cloned()
    }

    /// Applies a layer of settings, which come from `origin`.
    fn layer(&mut self, settings: Settings, origin: &dyn Fn(&'static str) -> Origin) -> Result<(), Error> {
        self.origins.extend(settings.given().map(|key| (key, vec![origin(key)])));
        self.set(settings).map_err(|(key, problem)| Error::BadValue {
            key: key.to_owned(),
            place: origin(key).to_string(),
            problem,
        })
    }

    /// Records a setting that has no effect in this version. Settings that ask for nothing are dropped.
    fn asks_in_vain(&mut self, wanted: bool, setting: &'static str) {
        self.in_vain.retain(|other| *other != setting);
        if wanted {
            self.in_vain.push(setting);
        }
    }
}

impl Surface {
    /// Parses a surface: its name, or a list of tools; `None` for an empty list.
    pub fn of(text: &str) -> Option<Self> {
        match text.trim().to_ascii_lowercase().as_str() {
            "lean" => Some(Self::Lean),
            "core" => Some(Self::Core),
            "full" => Some(Self::Full),
            names => {
                let names: Vec<String> =
                    names.split(',').map(str::trim).filter(|name| !name.is_empty()).map(str::to_owned).collect();
                (!names.is_empty()).then_some(Self::Named(names))
            }
        }
    }
}

impl fmt::Display for Surface {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Lean => f.write_str("lean"),
            Self::Core => f.write_str("core"),
            Self::Full => f.write_str("full"),
            Self::Named(names) => f.write_str(&names.join(",")),
        }
    }
}

/// Pairs of path prefixes: the folder at indexing time, and the folder on this machine.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PathMap(pub Vec<(PathBuf, PathBuf)>);

impl PathMap {
    /// Parses `there1=here1,there2=here2`. Each pair is split at its last `=`, because paths may contain others.
    pub fn of_text(text: &str) -> Result<Self, String> {
        Self::of_pairs(&text.split(',').map(str::to_owned).collect::<Vec<_>>())
    }

    /// Parses pairs, each `there=here`.
    fn of_pairs(pairs: &[String]) -> Result<Self, String> {
        let mut map = Vec::new();
        for pair in pairs.iter().map(|pair| pair.trim()).filter(|pair| !pair.is_empty()) {
            match pair.rsplit_once('=') {
                Some((there, here)) if !there.is_empty() && !here.is_empty() => map.push((there.into(), here.into())),
                _ => return Err(format!("has {pair:?}; write each pair as stored/path=local/path")),
            }
        }
        Ok(Self(map))
    }

    /// The pairs as they are written.
    fn pairs(&self) -> Vec<String> {
        self.0.iter().map(|(there, here)| format!("{}={}", there.display(), here.display())).collect()
    }

    /// Converts a stored path to a path on this machine.
    pub fn to_local(&self, stored: &Path) -> PathBuf {
        let moved =
            self.0.iter().find_map(|(there, here)| stored.strip_prefix(there).ok().map(|rest| join(here, rest)));
        moved.unwrap_or_else(|| stored.to_owned())
    }

    /// Converts a path on this machine to its stored form.
    pub fn to_stored(&self, local: &Path) -> PathBuf {
        let moved = self.0.iter().find_map(|(there, here)| local.strip_prefix(here).ok().map(|rest| join(there, rest)));
        moved.unwrap_or_else(|| local.to_owned())
    }
}

/// Joins paths, without the slash that joining an empty path leaves behind.
fn join(base: &Path, rest: &Path) -> PathBuf {
    if rest.as_os_str().is_empty() { base.to_owned() } else { base.join(rest) }
}

/// Value of an environment variable that is set and not empty.
pub fn variable(name: &str) -> Option<String> {
    env::var(name).ok().filter(|value| !value.is_empty())
}

/// Home folder of the user, as the environment names it.
pub fn user() -> Option<PathBuf> {
    user_folder(&variable)
}

/// Whether the user disables colours: <https://no-color.org>.
pub fn no_color() -> bool {
    env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty())
}

/// The user's editor, perhaps with arguments of its own.
pub fn editor() -> String {
    let variable = |name: &str| env::var(name).ok().filter(|value| !value.trim().is_empty());
    variable("VISUAL").or_else(|| variable("EDITOR")).unwrap_or_else(|| "vi".to_owned())
}

/// File where an agent's hooks log each worktree; `None` for a user without a home folder.
pub fn worktrees_file() -> Option<PathBuf> {
    let variable = |name: &str| env::var(name).ok().filter(|value| !value.is_empty());
    let folder = variable("CLAUDE_CONFIG_DIR").map(PathBuf::from);
    let folder = folder.or_else(|| Some(user_folder(&variable)?.join(".claude")))?;
    Some(folder.join("jcodemunch-worktrees.jsonl"))
}

/// Whether a folder is the user's home.
pub fn is_home(folder: &Path) -> bool {
    own_folder().is_some_and(|home| home == folder)
}

/// Whether a folder is the user's home, or contains it.
pub fn holds_home(folder: &Path) -> bool {
    own_folder().is_some_and(|home| home.starts_with(folder))
}

/// Home folder of the user, without links.
fn own_folder() -> Option<PathBuf> {
    let home = user_folder(&|name| env::var(name).ok())?;
    Some(home.canonicalize().unwrap_or(home))
}
