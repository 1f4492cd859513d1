//! One layer of settings, from a file, the environment or the command line. Every setting is optional.

use std::path::{Path, PathBuf};
use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use url::Url;

use super::fleet;
use super::{
    CacheMode, Config, Error, Format, Freshness, GitHubMode, LEAST_MEMORY, PathMap, Secrets, Surface, Transport,
};
use crate::model::{Languages, Patterns};

/// Settings from the command line.
#[derive(Clone, Debug, Default)]
pub struct Flags {
    /// The index directory; codelode uses its own folder there.
    pub index_dir: Option<PathBuf>,
    /// All other settings.
    pub settings: Settings,
}

/// Environment variables of a setting.
pub struct Variable {
    /// Names in order of precedence; the later ones are those of predecessors of codelode.
    pub names: &'static [&'static str],
    /// Description of the setting, for `--help` and documentation.
    pub sets: &'static str,
    /// Parses the text into the settings, or describes the problem.
    pub(super) put: fn(&mut Settings, &str) -> Result<(), String>,
}

/// Variables of the index directory, which is needed to find the file.
pub(super) const INDEX_DIRECTORY: Variable =
    Variable { names: &["CODELODE_INDEX_PATH", "CODE_INDEX_PATH"], sets: "the index directory", put: |_, _| Ok(()) };

/// Owner of a setting.
#[allow(non_camel_case_types, reason = "the table of settings names them")]
enum SettingOwner {
    /// The user, or the file of a project.
    project,
    /// The user alone: it runs a program, names a host, leads out of the project, or is the user's own taste.
    user,
}

/// A setting, for lists of them.
pub struct Key {
    /// Its name.
    pub name: &'static str,
    /// Whether the file of a project may set it.
    pub is_for_projects: bool,
    /// Its value in a configuration.
    pub(super) show: fn(&Config) -> Value,
}

/// Declares each setting once: documentation; whether a `project` may set it or only the `user`; key and type; its names in the
/// environment and how their text is read; where the value goes, with `?` where it may be refused; and where it is shown from.
macro_rules! settings {
    ($($(#[$doc:meta])* $who:ident $key:ident: $type:ty = [$($name:literal),+] $read:ident, |$config:ident, $value:ident| $take:expr, $show:expr;)*) => {
        /// Settings of codelode, as in `config.toml` in the index directory.
        #[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
        #[serde(default, deny_unknown_fields)]
        pub struct Settings {
            $($(#[$doc])* pub $key: Option<$type>,)*
        }

        impl Settings {
            /// The keys that are set.
            pub(super) fn given(&self) -> impl Iterator<Item = &'static str> {
                let given = [$(self.$key.is_some().then_some(stringify!($key)),)*];
                given.into_iter().flatten()
            }
        }

        /// Every setting of [`Settings`].
        pub static KEYS: &[Key] = &[
            $(Key {
                name: stringify!($key),
                is_for_projects: matches!(SettingOwner::$who, SettingOwner::project),
                show: |$config| json!($show),
            },)*
        ];

        /// Every variable that is read.
        pub static VARIABLES: &[Variable] = &[
            INDEX_DIRECTORY,
            $(Variable {
                names: &[$($name),+],
                sets: stringify!($key),
                put: |settings, text| {
                    settings.$key = Some($read(text)?);
                    Ok(())
                },
            },)*
        ];

        impl Config {
            /// Applies the given settings; an error has the key and the problem of its value.
            pub(super) fn set(&mut self, settings: Settings) -> Result<(), (&'static str, String)> {
                $(if let Some(value) = settings.$key {
                    let take: fn(&mut Self, $type) -> Result<(), String> = |$config, $value| {
                        $take;
                        Ok(())
                    };
                    take(self, value).map_err(|problem| (stringify!($key), problem))?;
                })*
                Ok(())
            }
        }
    };
}

settings! {
    /// Size limit of an indexed file, in bytes.
    // Places in files are numbers of 32 bits.
    project max_file_size: u64 = ["CODELODE_MAX_FILE_SIZE"] number,
        |config, size| config.max_file_size = size.min(u32::MAX.into()),
        config.max_file_size;
    /// Limit of files indexed per folder; 0 for no limit.
    project max_files: usize = ["CODELODE_MAX_FILES", "JCODEMUNCH_MAX_INDEX_FILES"] number,
        |config, n_files| config.max_files = (n_files > 0).then_some(n_files),
        config.max_files.unwrap_or(0);
    /// Ignore patterns added for every folder, in gitignore syntax.
    project extra_ignore: Vec<String> = ["CODELODE_EXTRA_IGNORE", "JCODEMUNCH_EXTRA_IGNORE_PATTERNS"] list,
        |config, paths| config.extra_ignore = patterns(paths)?,
        config.whole(|from| &from.extra_ignore, &config.extra_ignore);
    /// Files to index although an ignore file or a rule excludes them, in gitignore syntax. Secrets stay excluded.
    project include: Vec<String> = ["CODELODE_INCLUDE"] list,
        |config, paths| config.include = patterns(paths)?,
        config.whole(|from| &from.include, &config.include);
    /// Files that are tests, examples or benchmarks, in gitignore syntax; a leading `!` marks files that are not.
    project tests: Vec<String> = ["CODELODE_TESTS"] list,
        |config, paths| config.roles.tests = patterns(paths)?,
        config.whole(|from| &from.tests, &config.roles.tests);
    /// Generated files, in gitignore syntax.
    project generated: Vec<String> = ["CODELODE_GENERATED"] list,
        |config, paths| config.roles.generated = patterns(paths)?,
        config.whole(|from| &from.generated, &config.roles.generated);
    /// Files copied from other projects, in gitignore syntax.
    project vendored: Vec<String> = ["CODELODE_VENDORED"] list,
        |config, paths| config.roles.vendored = patterns(paths)?,
        config.whole(|from| &from.vendored, &config.roles.vendored);
    /// Globs of paths and qualified names that dead-code search treats as used.
    project entry_points: Vec<String> = ["CODELODE_ENTRY_POINTS"] list,
        |config, names| config.roles.entry_points = globs(names)?,
        config.whole(|from| &from.entry_points, &config.roles.entry_points);
    /// Language of files with unusual names: `pattern=language`, for example `*.inc=php`; `=text` for no symbols.
    project languages: Vec<String> = ["CODELODE_LANGUAGES"] list,
        |config, pairs| config.roles.languages = languages(pairs)?,
        config.whole(|from| &from.languages, &config.roles.languages);
    /// Globs of files to index and show although they may hold a credential, for example `.env` or
    /// `tests/certs/*.pem`.
    user allow_secrets: Vec<String> = ["CODELODE_ALLOW_SECRETS"] list,
        |config, patterns| config.secrets = Secrets::except(patterns)?.without(&config.secrets.named())?,
        config.secrets.patterns();
    /// Names or paths of files that only look like credentials, for example `locales/auth.json`. A project cannot
    /// list key files or `.env`.
    project not_secret: Vec<String> = ["CODELODE_NOT_SECRET"] list,
        |config, names| config.secrets = config.secrets.clone().without(&names)?,
        config.secrets.named();
    /// Local folders for sources indexed on another machine: `stored=local`; the first match wins.
    user path_map: Vec<String> = ["CODELODE_PATH_MAP", "JCODEMUNCH_PATH_MAP"] list,
        |config, pairs| config.path_map = PathMap::of_pairs(&pairs)?,
        config.path_map.pairs();
    /// Keep absolute paths out of answers.
    user redact_source_root: bool = ["CODELODE_REDACT_SOURCE_ROOT", "JCODEMUNCH_REDACT_SOURCE_ROOT"] yes_or_no,
        |config, redact| config.redact_source_root = redact,
        config.redact_source_root;
    /// `relaxed` answers at once and marks stale results; `strict` waits up to 500 ms for changes to be read.
    user freshness: Freshness = ["CODELODE_FRESHNESS", "CODELODE_FRESHNESS_MODE", "JCODEMUNCH_FRESHNESS_MODE"] word,
        |config, freshness| config.freshness = freshness,
        config.freshness;
    /// Tools shown to a client: `lean`, `core`, `full`, or names separated by commas.
    user tools: String = ["CODELODE_TOOLS"] text,
        |config, tools| config.surface = surface(&tools)?,
        config.surface.to_string();
    /// Default answer format: `json`, or `compact`, which costs a model about half the tokens.
    user format: Format = ["CODELODE_FORMAT"] word,
        |config, format| config.format = format,
        config.format;
    /// Default token limit of an answer.
    user max_tokens: usize = ["CODELODE_MAX_TOKENS"] number,
        |config, n_tokens| config.max_tokens = at_least_one(n_tokens)?,
        config.max_tokens;
    /// Memory limit for indexing, in megabytes, at least 80; 0 for as much as is useful. A low limit is slower, and a
    /// file whose syntax tree does not fit is indexed as text only. Memory-mapped files do not count, nor about 100
    /// bytes per symbol in very large repositories.
    user max_memory: u64 = ["CODELODE_MAX_MEMORY"] number,
        |config, megabytes| config.max_memory = memory(megabytes)?,
        config.max_memory.unwrap_or(0) / 1_000_000;
    /// Log file; the default is standard error.
    user log_file: PathBuf = ["CODELODE_LOG_FILE", "JCODEMUNCH_LOG_FILE"] path,
        |config, path| config.log_file = Some(path),
        config.log_file;
    /// Log level: `off`, `error`, `warn`, `info`, `debug` or `trace`, or per module, for example `codelode=debug`.
    user log: String = ["CODELODE_LOG", "JCODEMUNCH_LOG_LEVEL"] small,
        |config, log| config.log = log,
        config.log;
    /// Summarise undocumented symbols with a model, if one is set up. Their code is sent to it.
    user use_ai_summaries: bool = ["CODELODE_USE_AI_SUMMARIES", "JCODEMUNCH_USE_AI_SUMMARIES"] yes_or_no,
        |config, wanted| config.use_ai_summaries = wanted,
        config.use_ai_summaries;
    /// Add facts from context providers: dbt projects, CODEOWNERS, package manifests.
    user context_providers: bool = ["CODELODE_CONTEXT_PROVIDERS", "JCODEMUNCH_CONTEXT_PROVIDERS"] yes_or_no,
        |config, wanted| config.context_providers = wanted,
        config.context_providers;
    /// Whether savings are shared with a community. Nothing is shared, whatever is set.
    #[schemars(skip)]
    user share_savings: bool = ["CODELODE_SHARE_SAVINGS", "JCODEMUNCH_SHARE_SAVINGS"] yes_or_no,
        |config, wanted| config.asks_in_vain(wanted, "share_savings"),
        config.in_vain.contains(&"share_savings");
    /// Folder with a local embedding model.
    user embed_model: PathBuf = ["CODELODE_EMBED_MODEL", "JCODEMUNCH_EMBED_MODEL"] path,
        |config, path| config.models.embed_model = Some(path),
        config.models.embed_model;
    /// Base URL of an OpenAI-compatible server, for example `http://localhost:11434/v1`. Name a private host in
    /// `trusted_hosts`.
    user openai_api_base: String = ["CODELODE_OPENAI_API_BASE", "OPENAI_API_BASE", "OPENAI_BASE_URL"] text,
        |config, url| config.models.openai.base = base_url(&url)?,
        config.models.openai.base.as_str();
    /// Embedding model on that server, for example `text-embedding-3-small`; the key is in `OPENAI_API_KEY`.
    user openai_embed_model: String = ["CODELODE_OPENAI_EMBED_MODEL", "OPENAI_EMBED_MODEL"] text,
        |config, model| config.models.openai.embed_model = named(model),
        config.models.openai.embed_model;
    /// Model on that server for summaries; the key is in `OPENAI_API_KEY`.
    user openai_model: String = ["CODELODE_OPENAI_MODEL", "OPENAI_MODEL"] text,
        |config, model| config.models.openai.model = named(model),
        config.models.openai.model;
    /// Base URL of Anthropic's API.
    user anthropic_api_base: String = ["CODELODE_ANTHROPIC_API_BASE", "ANTHROPIC_API_BASE"] text,
        |config, url| config.models.anthropic.base = base_url(&url)?,
        config.models.anthropic.base.as_str();
    /// Anthropic model for summaries; the key is in `ANTHROPIC_API_KEY`.
    user anthropic_model: String = ["CODELODE_ANTHROPIC_MODEL", "ANTHROPIC_MODEL"] text,
        |config, model| config.models.anthropic.model = named(model),
        config.models.anthropic.model;
    /// Base URL of Gemini's API.
    user google_api_base: String = ["CODELODE_GOOGLE_API_BASE", "GOOGLE_API_BASE"] text,
        |config, url| config.models.google.base = base_url(&url)?,
        config.models.google.base.as_str();
    /// Gemini embedding model, for example `gemini-embedding-001`; the key is in `GOOGLE_API_KEY`.
    user google_embed_model: String = ["CODELODE_GOOGLE_EMBED_MODEL", "GOOGLE_EMBED_MODEL"] text,
        |config, model| config.models.google.embed_model = named(model),
        config.models.google.embed_model;
    /// Gemini model for summaries; the key is in `GOOGLE_API_KEY`.
    user google_model: String = ["CODELODE_GOOGLE_MODEL", "GOOGLE_MODEL"] text,
        |config, model| config.models.google.model = named(model),
        config.models.google.model;
    /// Service for summaries if several are set up: `anthropic`, `gemini` or `openai`. Default: the first of these.
    user summary_provider: String = ["CODELODE_SUMMARY_PROVIDER"] text,
        |config, name| config.models.summary_provider = service(&name)?,
        config.models.summary_provider;
    /// Symbols per summary request.
    user summary_batch_size: usize = ["CODELODE_SUMMARY_BATCH_SIZE", "OPENAI_BATCH_SIZE"] number,
        |config, n_symbols| config.models.summary_batch = n_symbols.clamp(1, 100),
        config.models.summary_batch;
    /// Concurrent summary requests.
    user summary_concurrency: usize = ["CODELODE_SUMMARY_CONCURRENCY", "OPENAI_CONCURRENCY"] number,
        |config, n_requests| config.models.summary_concurrency = n_requests.clamp(1, 64),
        config.models.summary_concurrency;
    /// Token limit of a model's answer with summaries; 0 for no limit.
    user summary_max_tokens: usize = ["CODELODE_SUMMARY_MAX_TOKENS", "OPENAI_MAX_TOKENS"] number,
        |config, n_tokens| config.models.summary_max_tokens = (n_tokens > 0).then_some(n_tokens),
        config.models.summary_max_tokens.unwrap_or(0);
    /// Estimated tokens of code that a run may send for summaries; 0 for no limit. The next run continues.
    user summary_budget: u64 = ["CODELODE_SUMMARY_BUDGET"] number,
        |config, n_tokens| config.models.summary_budget = (n_tokens > 0).then_some(n_tokens),
        config.models.summary_budget.unwrap_or(0);
    /// Price of a million tokens sent and received for summaries, in dollars, for example `1/5`. Used for estimates.
    user summary_price: String = ["CODELODE_SUMMARY_PRICE"] text,
        |config, price| config.models.summary_price = Some(prices(&price)?),
        config.models.summary_price;
    /// Texts per embedding request.
    user embed_batch_size: usize = ["CODELODE_EMBED_BATCH_SIZE"] number,
        |config, n_texts| config.models.embed_batch = n_texts.clamp(1, 2048),
        config.models.embed_batch;
    /// Concurrent embedding requests.
    user embed_concurrency: usize = ["CODELODE_EMBED_CONCURRENCY"] number,
        |config, n_requests| config.models.embed_concurrency = n_requests.clamp(1, 64),
        config.models.embed_concurrency;
    /// Timeout of an embedding request, in seconds.
    user embed_timeout: u64 = ["CODELODE_EMBED_TIMEOUT"] number,
        |config, seconds| config.models.embed_timeout = Duration::from_secs(seconds.max(1)),
        config.models.embed_timeout.as_secs();
    /// Price of a million embedded tokens, in dollars. Used for estimates.
    user embed_price: f64 = ["CODELODE_EMBED_PRICE"] dollars,
        |config, price| config.models.embed_price = Some(price),
        config.models.embed_price;
    /// Hosts that may be private and reached without TLS, by name or address; `*` for all.
    user trusted_hosts: Vec<String> = ["CODELODE_TRUSTED_HOSTS"] list,
        |config, hosts| config.trusted_hosts = hosts,
        config.trusted_hosts;
    /// Additional trusted certificate authorities: a PEM file.
    user ca_file: PathBuf = ["CODELODE_CA_FILE"] path,
        |config, path| config.ca_file = Some(path),
        config.ca_file;
    /// Program to run as `ssh`, with its arguments.
    user ssh_command: String = ["CODELODE_SSH_COMMAND", "GIT_SSH_COMMAND"] text,
        |config, command| config.git.ssh_command = Some(command),
        config.git.ssh_command;
    /// Clones of remote repositories: `shared` by all processes, or one set per `process`.
    user cache_mode: CacheMode = ["CODELODE_CACHE_MODE"] word,
        |config, mode| config.git.cache_mode = mode,
        config.git.cache_mode;
    /// Size limit of one fetch from a repository, in bytes.
    user git_max_clone: u64 = ["CODELODE_GIT_MAX_CLONE"] number,
        |config, bytes| config.git.max_clone = bytes,
        config.git.max_clone;
    /// Size limit of all clones together, in bytes; the least used are removed first.
    user git_cache_size: u64 = ["CODELODE_GIT_CACHE_SIZE"] number,
        |config, bytes| config.git.cache_size = bytes,
        config.git.cache_size;
    /// Watch a folder from its second question on, so that answers need not check for changes.
    user watcher: bool = ["CODELODE_WATCHER"] yes_or_no,
        |config, wanted| config.watcher = wanted,
        config.watcher;
    /// Answer hooks of agents. If off, hooks do nothing.
    user hooks: bool = ["CODELODE_HOOKS"] yes_or_no,
        |config, wanted| config.hooks = wanted,
        config.hooks;
    /// Quiet time before a watcher reads changed files, in milliseconds.
    user watch_debounce_ms: u64 = ["CODELODE_WATCH_DEBOUNCE_MS", "JCODEMUNCH_WATCH_DEBOUNCE_MS"] number,
        |config, debounce| config.watch_debounce = Duration::from_millis(debounce),
        config.watch_debounce.as_millis() as u64;
    /// Seconds between `watch-claude` checks for worktrees.
    user claude_poll_interval: u64 = ["CODELODE_CLAUDE_POLL_INTERVAL", "JCODEMUNCH_CLAUDE_POLL_INTERVAL"] number,
        |config, interval| config.claude_poll_interval = Duration::from_secs(interval.max(1)),
        config.claude_poll_interval.as_secs();
    /// Base URL of GitHub's REST API; `https://<host>/api/v3` for GitHub Enterprise.
    user github_api_url: String = ["CODELODE_GITHUB_API_URL", "GITHUB_API_URL"] text,
        |config, url| config.github.api = base_url(&url)?,
        config.github.api.as_str();
    /// How to read commits on GitHub: `git`, `tarball`, `api`, or `auto` for the first that works.
    user github_mode: GitHubMode = ["CODELODE_GITHUB_MODE"] word,
        |config, mode| config.github.mode = mode,
        config.github.mode;
    /// Transport for clients: `stdio`, `streamable-http` for many clients at once, or `sse` for clients from 2024.
    user transport: Transport = ["CODELODE_TRANSPORT", "JCODEMUNCH_TRANSPORT"] word,
        |config, transport| config.http.transport = transport,
        config.http.transport;
    /// Address or host name that an HTTP server listens on. Beyond loopback it requires tokens.
    user host: String = ["CODELODE_HOST", "JCODEMUNCH_HOST"] text,
        |config, host| config.http.host = host,
        config.http.host;
    /// Editor that pages open files in: a link scheme (`vscode`, `cursor`, `zed` or `idea`) or a full link, for
    /// example `vscode://file{path}:{line}`.
    user editor_link: String = ["CODELODE_EDITOR_LINK"] text,
        |config, editor| config.editor_link = editor_link(&editor)?,
        config.editor_link.as_deref().unwrap_or_default();
    /// Port of an HTTP server; 0 for any free port.
    user port: u16 = ["CODELODE_PORT", "JCODEMUNCH_PORT"] number,
        |config, port| config.http.port = port,
        config.http.port;
    /// File with callers' tokens and rights for an HTTP server; reread when it changes.
    user tokens_file: PathBuf = ["CODELODE_TOKENS_FILE"] path,
        |config, path| config.http.tokens_file = Some(path),
        config.http.tokens_file;
    /// PEM certificates of an HTTP server, its own first; reread when they change.
    user tls_cert: PathBuf = ["CODELODE_TLS_CERT"] path,
        |config, path| config.http.tls_cert = Some(path),
        config.http.tls_cert;
    /// PEM file with the key for that certificate.
    user tls_key: PathBuf = ["CODELODE_TLS_KEY"] path,
        |config, path| config.http.tls_key = Some(path),
        config.http.tls_key;
    /// Folders that callers of an HTTP server may index by path. Default: none.
    user roots: Vec<PathBuf> = ["CODELODE_ROOTS"] paths,
        |config, roots| config.http.roots = roots,
        config.http.roots;
    /// Additional host names that an HTTP server answers to.
    user allowed_hosts: Vec<String> = ["CODELODE_ALLOWED_HOSTS"] list,
        |config, hosts| config.http.allowed_hosts = hosts,
        config.http.allowed_hosts;
    /// Origins of web pages that may call an HTTP server, for example `https://tools.example`. Default: none.
    user allowed_origins: Vec<String> = ["CODELODE_ALLOWED_ORIGINS"] list,
        |config, origins| config.http.allowed_origins = origins,
        config.http.allowed_origins;
    /// Proxies trusted to report a caller's address, for example `10.0.0.7` or `10.0.0.0/8`.
    user trusted_proxies: Vec<String> = ["CODELODE_TRUSTED_PROXIES"] list,
        |config, proxies| config.http.trusted_proxies = proxies,
        config.http.trusted_proxies;
    /// OAuth 2.1 issuer whose tokens an HTTP server accepts: its URL, exactly as in the tokens.
    user oauth_issuer: String = ["CODELODE_OAUTH_ISSUER"] text,
        |config, issuer| config.http.oauth().issuer = base_url(&issuer).map(|_| issuer)?,
        config.http.oauth.as_ref().map(|oauth| &oauth.issuer);
    /// Public URL of an HTTP server: the audience in those tokens.
    user oauth_resource: String = ["CODELODE_OAUTH_RESOURCE"] text,
        |config, resource| config.http.oauth().resource = base_url(&resource).map(|_| resource)?,
        config.http.oauth.as_ref().map(|oauth| &oauth.resource);
    /// URL of the issuer's public keys (JWKS), if its metadata lacks it.
    user oauth_jwks: String = ["CODELODE_OAUTH_JWKS"] text,
        |config, url| config.http.oauth().jwks = Some(base_url(&url)?),
        config.http.oauth.as_ref().and_then(|oauth| oauth.jwks.as_ref()).map(Url::as_str);
    /// REST API of a forge whose tokens an HTTP server accepts (`https://api.github.com`,
    /// `https://gitlab.example/api/v4`). A token opens the repositories that it can read there.
    user forge: String = ["CODELODE_FORGE"] text,
        |config, url| config.http.forge = Some(base_url(&url)?),
        config.http.forge.as_ref().map(Url::as_str);
    /// File of repositories that an HTTP server indexes and keeps up to date; reread when it changes.
    user repos_file: PathBuf = ["CODELODE_REPOS_FILE"] path,
        |config, path| config.http.repos_file = Some(path),
        config.http.repos_file;
    /// Source of shipped indexes to replicate: `s3://bucket/folder`, a folder or a web server.
    user from: String = ["CODELODE_FROM"] text,
        |config, place| config.http.from = Some(place),
        config.http.from;
    /// Size limit of a replica's indexes, in megabytes; the least recently used are removed first.
    user cache_size: u64 = ["CODELODE_CACHE_SIZE"] number,
        |config, megabytes| config.http.cache_size = megabytes.saturating_mul(1_000_000),
        config.http.cache_size / 1_000_000;
    /// NATS servers of a fleet's queue: `nats://a:4222,nats://b:4222` or `tls://…`. Name hosts without TLS in
    /// `trusted_hosts`.
    user nats: Vec<String> = ["CODELODE_NATS"] list,
        |config, urls| config.fleet.servers = fleet::servers(urls)?,
        config.fleet.servers.iter().map(Url::as_str).collect::<Vec<_>>();
    /// NATS credentials file (JWT and key), as `nsc` writes it.
    user nats_credentials: PathBuf = ["CODELODE_NATS_CREDENTIALS"] path,
        |config, path| config.fleet.credentials = Some(path),
        config.fleet.credentials;
    /// Name of a fleet's queue. Several queues can share the servers.
    user queue: String = ["CODELODE_QUEUE"] text,
        |config, name| config.fleet.queue = fleet::queue(name)?,
        config.fleet.queue;
    /// Name of this HTTP server among a fleet's query nodes. Default: not a node.
    user node: String = ["CODELODE_NODE"] text,
        |config, name| config.fleet.node = Some(fleet::node(name)?),
        config.fleet.node;
    /// URL where other nodes reach this one, if not the address it listens on. Name private hosts in `trusted_hosts`.
    user node_url: String = ["CODELODE_NODE_URL"] text,
        |config, url| config.fleet.node_url = Some(base_url(&url)?),
        config.fleet.node_url.as_ref().map(Url::as_str);
    /// Server to query instead of local indexes, for example `https://code.example/mcp`.
    user server: String = ["CODELODE_SERVER"] text,
        |config, url| config.server = Some(base_url(&url)?),
        config.server.as_ref().map(Url::as_str);
}

impl Variable {
    /// The variable that is set, and its value. Empty values count as not set, as is usual.
    pub(super) fn value(&self, env: &dyn Fn(&str) -> Option<String>) -> Option<(&'static str, String)> {
        self.names.iter().find_map(|name| {
            let value = env(name)?.trim().to_owned();
            (!value.is_empty()).then_some((*name, value))
        })
    }
}

/// Name of the variable that sets a key.
pub(super) fn variable(key: &str, env: &dyn Fn(&str) -> Option<String>) -> &'static str {
    let variable = VARIABLES.iter().find(|variable| variable.sets == key);
    variable.and_then(|variable| Some(variable.value(env)?.0)).unwrap_or_default()
}

/// Settings of an environment.
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

/// Settings of a file.
pub(super) fn of_file(path: &Path, text: &str) -> Result<Settings, Error> {
    let malformed = |err: toml::de::Error| Error::Malformed { path: path.to_owned(), problem: err.to_string() };
    // Keys are checked first: serde's own message would list every key instead of the nearest.
    let table: toml::Table = toml::from_str(text).map_err(malformed)?;
    if let Some(key) = table.keys().find(|key| !KEYS.iter().any(|known| known.name == key.as_str())) {
        return Err(Error::UnknownKey { path: path.to_owned(), key: key.clone(), nearest: nearest(key) });
    }
    // Parsing the text instead of the table gives messages with a line.
    toml::from_str(text).map_err(malformed)
}

/// Known key nearest to an unknown one.
pub(super) fn nearest(key: &str) -> Option<&'static str> {
    crate::model::nearest(key, KEYS.iter().map(|known| known.name), 1).first().copied()
}

/// Parses a whole number.
fn number<N: std::str::FromStr>(text: &str) -> Result<N, String> {
    text.replace('_', "").parse().map_err(|_| format!("is {text:?}; give a whole number"))
}

/// Parses an amount of dollars.
fn dollars(text: &str) -> Result<f64, String> {
    let amount =
        text.trim().trim_start_matches('$').parse().ok().filter(|amount: &f64| amount.is_finite() && *amount >= 0.0);
    amount.ok_or_else(|| format!("is {text:?}; give dollars, as 0.02"))
}

/// Parses the price of tokens sent and of tokens received.
fn prices(text: &str) -> Result<(f64, f64), String> {
    let pair = text.split_once('/').and_then(|(sent, received)| Some((dollars(sent).ok()?, dollars(received).ok()?)));
    pair.ok_or_else(|| format!("is {text:?}; give dollars for tokens sent and received, as 1/5"))
}

/// The name of a service that summarises.
fn service(name: &str) -> Result<Option<String>, String> {
    match name.trim().to_lowercase().as_str() {
        "" => Ok(None),
        "google" => Ok(Some("gemini".to_owned())),
        name @ ("anthropic" | "gemini" | "openai") => Ok(Some(name.to_owned())),
        _ => Err(format!("is {name:?}; use anthropic, gemini or openai")),
    }
}

/// A name, unless it is empty.
fn named(name: String) -> Option<String> {
    Some(name.trim().to_owned()).filter(|name| !name.is_empty())
}

/// Parses yes or no, in the usual spellings.
fn yes_or_no(text: &str) -> Result<bool, String> {
    match text.to_ascii_lowercase().as_str() {
        "1" | "true" | "yes" | "on" => Ok(true),
        "0" | "false" | "no" | "off" => Ok(false),
        _ => Err(format!("is {text:?}; use true or false")),
    }
}

/// Splits a list at commas.
fn list(text: &str) -> Result<Vec<String>, String> {
    Ok(text.split(',').map(str::trim).filter(|item| !item.is_empty()).map(str::to_owned).collect())
}

/// Splits a list of paths at commas.
fn paths(text: &str) -> Result<Vec<PathBuf>, String> {
    Ok(list(text)?.into_iter().map(PathBuf::from).collect())
}

/// Takes a path unchanged.
fn path(text: &str) -> Result<PathBuf, String> {
    Ok(text.into())
}

/// Takes a text unchanged.
fn text(text: &str) -> Result<String, String> {
    Ok(text.to_owned())
}

/// Converts a text to lower case.
fn small(text: &str) -> Result<String, String> {
    Ok(text.to_lowercase())
}

/// Parses one of a set of words.
fn word<T: std::str::FromStr<Err = String>>(text: &str) -> Result<T, String> {
    text.parse()
}

/// Checks patterns of paths.
fn patterns(patterns: Vec<String>) -> Result<Vec<String>, String> {
    Patterns::of(&patterns).map(|_| patterns)
}

/// Checks globs.
fn globs(globs: Vec<String>) -> Result<Vec<String>, String> {
    let broken = globs.iter().find_map(|glob| globset::Glob::new(glob).err());
    broken.map_or(Ok(globs), |err| Err(format!("has a broken glob: {err}")))
}

/// Checks pairs of a pattern and a language.
fn languages(pairs: Vec<String>) -> Result<Vec<String>, String> {
    Languages::of(&pairs).map(|_| pairs)
}

fn surface(tools: &str) -> Result<Surface, String> {
    let problem = || format!("is {tools:?}; use lean, core, full or tool names, separated by commas");
    Surface::of(tools).ok_or_else(problem)
}

/// The link that opens a file in an editor, by the editor's scheme or as it is.
fn editor_link(text: &str) -> Result<Option<String>, String> {
    let text = text.trim();
    if text.is_empty() {
        return Ok(None);
    }
    let (scheme, is_whole) = text.split_once("://").map_or((text, false), |(scheme, _)| (scheme, true));
    let is_scheme = scheme.starts_with(|first: char| first.is_ascii_lowercase())
        && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte));
    // A browser would run these, or ask another site.
    let is_refused = scheme.ends_with("script") || ["data", "http", "https", "file"].contains(&scheme);
    if !is_scheme || is_refused || is_whole && !text.contains("{path}") {
        return Err(format!(
            "is {text:?}; give the scheme of an editor, as vscode, or a link with {{path}} and {{line}}"
        ));
    }
    Ok(Some(match scheme {
        _ if is_whole => text.to_owned(),
        "idea" | "pycharm" | "goland" | "webstorm" | "clion" | "rustrover" | "phpstorm" | "rubymine" => {
            format!("{scheme}://open?file={{path}}&line={{line}}")
        }
        "subl" | "txmt" | "mvim" => format!("{scheme}://open?url=file://{{path}}&line={{line}}"),
        _ => format!("{scheme}://file{{path}}:{{line}}"),
    }))
}

fn at_least_one(n_tokens: usize) -> Result<usize, String> {
    if n_tokens == 0 { Err("is 0; an answer needs at least one token".to_owned()) } else { Ok(n_tokens) }
}

fn memory(megabytes: u64) -> Result<Option<u64>, String> {
    if (1..LEAST_MEMORY).contains(&megabytes) {
        return Err(format!("is {megabytes}; indexing takes at least {LEAST_MEMORY} MB, and 0 means no limit"));
    }
    Ok((megabytes > 0).then(|| megabytes.saturating_mul(1_000_000)))
}

fn base_url(text: &str) -> Result<Url, String> {
    let is_plain = |url: &Url| url.username().is_empty() && url.password().is_none();
    let base = Url::parse(text).ok().filter(|url| url.has_host() && url.scheme().starts_with("http") && is_plain(url));
    base.ok_or_else(|| "is not a URL, or holds a password; write https://<host>/<path>, without a key".to_owned())
}

impl std::str::FromStr for Format {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.to_ascii_lowercase().as_str() {
            "json" => Ok(Self::Json),
            "compact" => Ok(Self::Compact),
            _ => Err(format!("is {text:?}; use json or compact")),
        }
    }
}

impl std::str::FromStr for Freshness {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.to_ascii_lowercase().as_str() {
            "relaxed" => Ok(Self::Relaxed),
            "strict" => Ok(Self::Strict),
            _ => Err(format!("is {text:?}; use relaxed or strict")),
        }
    }
}
