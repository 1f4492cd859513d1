//! `serve`: serves the tools to one client over standard streams, or to many over HTTP.

use std::path::PathBuf;
use std::sync::Arc;
#[cfg(feature = "http")]
use std::sync::atomic::Ordering;

use clap::Args;

#[cfg(feature = "http")]
use super::upkeep::Upkeep;
use super::{FOUND, Global, complain, fail, flags, log_to, tokens, watch};
use codelode_base::allocator;
use codelode_base::config::{self, Format, Freshness, Settings, Transport};
#[cfg(feature = "http")]
use codelode_base::model::Rights;
use codelode_mcp as mcp;
use codelode_service::tools::Context;
#[cfg(feature = "http")]
use codelode_service::tools::Views;

/// Serve the tools to MCP clients.
#[derive(Args, Default)]
pub(super) struct Serve {
    /// Transport: stdio, streamable-http for many clients at once, or sse for clients from 2024 [default: stdio].
    #[arg(long, value_name = "HOW")]
    transport: Option<Transport>,
    /// Tools to show: lean, core, full, or names separated by commas [default: lean].
    #[arg(long, value_name = "TOOLS")]
    tools: Option<String>,
    /// Default answer format: json or compact [default: json].
    #[arg(long, value_name = "FORMAT")]
    format: Option<Format>,
    /// Wait for changed files before answering: relaxed or strict [default: relaxed].
    #[arg(long, value_name = "MODE")]
    freshness_mode: Option<Freshness>,
    /// Log file; the default is standard error.
    #[arg(long, value_name = "FILE")]
    log_file: Option<PathBuf>,
    /// Log level: off, error, warn, info, debug or trace [default: warn].
    #[arg(long, value_name = "LEVEL")]
    log: Option<String>,
    #[command(flatten)]
    network: Network,
    #[command(flatten)]
    watcher: watch::Watcher,
}

/// Serving over HTTP.
#[derive(Args, Default)]
#[command(next_help_heading = "Over HTTP")]
struct Network {
    /// Listen on this address; any but loopback needs tokens [default: 127.0.0.1].
    #[arg(long, value_name = "HOST")]
    host: Option<String>,
    /// Port; 0 for any free one [default: 8901].
    #[arg(long, value_name = "PORT")]
    port: Option<u16>,
    /// File with callers' tokens and rights.
    #[arg(long = "tokens", value_name = "FILE")]
    tokens_file: Option<PathBuf>,
    /// PEM certificates for TLS, the server's own first [default: no TLS].
    #[arg(long, value_name = "FILE")]
    tls_cert: Option<PathBuf>,
    /// PEM key for the certificate.
    #[arg(long, value_name = "FILE")]
    tls_key: Option<PathBuf>,
    /// Let callers index folders below this one by path; repeatable [default: none].
    #[arg(long, value_name = "FOLDER")]
    root: Option<Vec<PathBuf>>,
    /// Additional host name of the server, for example code.example; repeatable.
    #[arg(long, value_name = "HOST")]
    allow_host: Option<Vec<String>>,
    /// Allow calls from web pages of this origin, for example https://tools.example; repeatable [default: none].
    #[arg(long, value_name = "ORIGIN")]
    allow_origin: Option<Vec<String>>,
    /// Accept tokens of the forge with this REST API, for example https://api.github.com or
    /// https://gitlab.example/api/v4.
    #[arg(long, value_name = "URL")]
    forge: Option<String>,
    /// File of repositories (folders, git URLs) to index and keep up to date. On a replica, workers of the queue
    /// `nats` index them.
    #[arg(long = "repos", value_name = "FILE")]
    repos_file: Option<PathBuf>,
    /// Serve as a replica of published indexes (s3://bucket/folder, a folder, a web server): fetch each when first
    /// needed, and again when a newer one is published.
    #[arg(long, value_name = "PLACE")]
    from: Option<String>,
    /// Folder for a replica's fetched indexes, instead of the index directory.
    #[arg(long, value_name = "FOLDER", requires = "from")]
    cache_dir: Option<PathBuf>,
    /// Limit a replica's indexes, in megabytes [default: 20000].
    #[arg(long, value_name = "MEGABYTES")]
    cache_size: Option<u64>,
    /// Join a fleet as a query node with this name. Nodes find one another over `nats` and share questions about many
    /// repositories.
    #[arg(long, value_name = "NAME", requires = "from")]
    node: Option<String>,
    /// URL where other nodes reach this one, for example https://node-3.internal:8901/mcp [default: where it
    /// listens].
    #[arg(long, value_name = "URL", requires = "node")]
    node_url: Option<String>,
    /// Trust this proxy to report callers' addresses, for example 10.0.0.7 or 10.0.0.0/8; repeatable.
    #[arg(long, value_name = "ADDRESS")]
    trust_proxy: Option<Vec<String>>,
    /// Accept tokens of this OAuth 2.1 issuer, with the scopes in the tokens file.
    #[arg(long, value_name = "URL", requires = "oauth_resource")]
    oauth_issuer: Option<String>,
    /// Public URL of this server: the audience in those tokens.
    #[arg(long, value_name = "URL")]
    oauth_resource: Option<String>,
    /// URL of the issuer's keys [default: from its metadata].
    #[arg(long, value_name = "URL")]
    oauth_jwks: Option<String>,
    /// Also show pages to browsers, which sign in with the same tokens.
    #[arg(long)]
    web: bool,
}

/// Serves until the client disconnects, or the process is told to end.
pub(super) fn run(global: &Global, how: Serve) -> u8 {
    let Serve { transport, tools, format, freshness_mode, log_file, log, network, watcher } = how;
    let Network { host, port, tokens_file, tls_cert, tls_key, root, allow_host, allow_origin, .. } = network;
    let Network { forge, repos_file, trust_proxy, oauth_issuer, oauth_resource, oauth_jwks, web, .. } = network;
    let Network { from, cache_dir, cache_size, node, node_url, .. } = network;
    let settings = Settings {
        transport,
        host,
        port,
        tokens_file,
        tls_cert,
        tls_key,
        roots: root,
        allowed_hosts: allow_host,
        allowed_origins: allow_origin,
        forge,
        repos_file,
        from,
        cache_size,
        node,
        node_url,
        trusted_proxies: trust_proxy,
        oauth_issuer,
        oauth_resource,
        oauth_jwks,
        tools,
        format,
        freshness: freshness_mode,
        log_file,
        log,
        max_tokens: tokens(global),
        use_ai_summaries: watcher.use_ai_summaries(),
        ..Settings::default()
    };
    let mut flags = flags(global, settings);
    flags.index_dir = cache_dir.or(flags.index_dir);
    let mut config = match config::load(&flags) {
        Ok(config) => config,
        Err(err) => return fail(&err),
    };
    let is_stdio = config.http.transport == Transport::Stdio;
    if !is_stdio && !config.origins.contains_key("log") {
        config.log.push_str(mcp::LOG_OF_SERVER);
    }
    if let Some(problem) = misfit(&config, web) {
        return complain(problem);
    }
    if let Err(problem) = mcp::surface::check(&config.surface).and_then(|()| log_to(&config)) {
        return complain(&problem);
    }
    let door = match is_stdio {
        true => ServeTransport::Streams,
        false => match bind(&config) {
            Ok(door) => door,
            Err(status) => return status,
        },
    };
    let watching = match watcher.start(&config) {
        Ok(watching) => watching,
        Err(problem) => return complain(&problem),
    };
    allocator::take_small_pages();
    let cx = Context::new(config);
    let cx = match watching {
        Some(watching) => cx.kept_by(watching),
        None => cx,
    };
    let served = match door {
        ServeTransport::Streams => mcp::serve(Arc::new(cx)),
        #[cfg(feature = "http")]
        ServeTransport::Http(bound) => {
            super::interrupt::IS_SERVER.store(true, Ordering::Relaxed);
            let kept = match keep(&cx) {
                Ok(kept) => kept,
                Err(problem) => return complain(&problem),
            };
            let cx = match stocked(cx).and_then(|cx| joined(cx, &bound.url())) {
                Ok(cx) => cx,
                Err(problem) => return complain(&problem),
            };
            let roots = codelode_http::tokens::canonical(&cx.config.http.roots);
            let views = Arc::new(Views::new(cx.within(roots)));
            let pages = if web { pages(&views) } else { None };
            // Until now clients are refused, so that clients of a fleet ask another node.
            if let Err(err) = bound.listen() {
                return fail(&err);
            }
            super::output::complain(&format!("serving at {}\n", bound.url()));
            mcp::serve_http(views, *bound, pages, kept)
        }
    };
    match served {
        Ok(()) => FOUND,
        Err(err) => fail(&err),
    }
}

/// A contradiction among the settings, if any.
fn misfit(config: &config::Config, web: bool) -> Option<&'static str> {
    let is_stdio = config.http.transport == Transport::Stdio;
    let (from, repos) = (config.http.from.is_some(), config.http.repos_file.is_some());
    if web && (is_stdio || !cfg!(feature = "web")) {
        return Some("pages need --transport streamable-http and a build with the feature `web`");
    }
    if from && (is_stdio || !cfg!(feature = "ship")) {
        return Some("a replica needs --transport streamable-http and a build with the feature `ship`");
    }
    if config.fleet.node.is_some() && (config.fleet.servers.is_empty() || !from || !cfg!(feature = "fleet")) {
        return Some("a fleet node needs --from, the setting `nats` and a build with the feature `fleet`");
    }
    if from && repos && (config.fleet.servers.is_empty() || !cfg!(feature = "fleet")) {
        return Some(
            "a replica indexes nothing itself, so --repos needs workers: set `nats` in a build with the feature `fleet`, or omit --repos",
        );
    }
    None
}

/// The transport for clients.
enum ServeTransport {
    /// The standard streams.
    Streams,
    /// A port.
    #[cfg(feature = "http")]
    Http(Box<codelode_http::Bound>),
}

/// Pages for browsers.
#[cfg(feature = "web")]
#[expect(clippy::unnecessary_wraps, reason = "a build without pages has none")]
fn pages(views: &Arc<Views>) -> Option<Arc<dyn codelode_http::Pages>> {
    Some(codelode_web::endpoint(views.clone()))
}

#[cfg(all(feature = "http", not(feature = "web")))]
fn pages(_: &Arc<Views>) -> Option<Arc<dyn codelode_http::Pages>> {
    None
}

/// Keeps the repositories of a file up to date, if there is one; a replica leaves that to workers. This does not depend
/// on callers' rights.
#[cfg(feature = "http")]
fn keep(cx: &Context) -> Result<Option<Arc<dyn codelode_http::Kept>>, String> {
    let Some(path) = &cx.config.http.repos_file else { return Ok(None) };
    let upkeep = Upkeep::of(path)?;
    #[cfg(feature = "fleet")]
    if let Some(place) = &cx.config.http.from {
        super::fleet::keep(cx.seen_by("_upkeep", Rights::default()), place, &upkeep)?;
        return Ok(Some(upkeep));
    }
    upkeep.begin(cx.seen_by("_upkeep", Rights::default()))?;
    Ok(Some(upkeep))
}

/// Makes the server a replica of a place, if one is given.
#[cfg(all(feature = "http", feature = "ship"))]
fn stocked(cx: Context) -> Result<Context, String> {
    let Some(from) = &cx.config.http.from else { return Ok(cx) };
    let replica = codelode_service::catalog::replica::Replica::begin(&cx, from, cx.config.http.cache_size);
    let replica = replica.map_err(|err| format!("cannot be a replica of {from}: {}", err.message))?;
    Ok(cx.stocked_by(replica))
}

#[cfg(all(feature = "http", not(feature = "ship")))]
#[expect(clippy::unnecessary_wraps, reason = "a build without places of indexes has nothing to refuse")]
fn stocked(cx: Context) -> Result<Context, String> {
    Ok(cx)
}

/// Makes the server a node of a fleet, if it has a node name.
#[cfg(all(feature = "http", feature = "fleet"))]
fn joined(cx: Context, url: &str) -> Result<Context, String> {
    let Some(node) = cx.config.fleet.node.clone() else { return Ok(cx) };
    let own = || url::Url::parse(url).map_err(|err| format!("{url} is not an address: {err}"));
    let url = cx.config.fleet.node_url.clone().map_or_else(own, Ok)?;
    let nodes = codelode_service::catalog::fleet::Nodes::join(&cx, node, &url);
    let nodes = nodes.map_err(|err| format!("cannot join the fleet: {}", err.message))?;
    Ok(cx.among(nodes))
}

#[cfg(all(feature = "http", not(feature = "fleet")))]
#[expect(clippy::unnecessary_wraps, reason = "a build without fleets has nothing to refuse")]
fn joined(cx: Context, _: &str) -> Result<Context, String> {
    Ok(cx)
}

/// Binds the address for clients.
#[cfg(feature = "http")]
fn bind(config: &config::Config) -> Result<ServeTransport, u8> {
    let bound = codelode_http::bind(config).map_err(|err| fail(&err))?;
    Ok(ServeTransport::Http(Box::new(bound)))
}

#[cfg(not(feature = "http"))]
fn bind(_: &config::Config) -> Result<ServeTransport, u8> {
    Err(complain("this build has no HTTP; build with the feature `http`, or serve over stdio"))
}
