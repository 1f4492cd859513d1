//! `pack`, `push`, `pull` and `index --from`: indexes made once and opened elsewhere.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use clap::{Arg, ArgMatches, Args, Command};
use serde_json::{Map, Value, json};

use super::progress::Bar;
use super::words::Words;
use super::{FOUND, Global, ask, here, output, request, server, with_context};
use codelode_service::answer::{Error, Request};
use codelode_service::catalog::ship::{self, LATEST, PublishResult, RemoteIndex, ShipOutcome, Target, Unindexed};
use codelode_service::catalog::{Caller, Options};
use codelode_service::tools::ToolSpec;

/// The number of newest tree keys kept in a place.
const KEEP: usize = 50;

/// Pack the index of a repository into a file, for `codelode index --from FILE` on another machine. Updates the index
/// first.
#[derive(Args)]
pub(super) struct Pack {
    /// File to write, usually `.tar.zst`.
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Name of the repository in it [default: from its origin, or its folder].
    #[arg(long, value_name = "OWNER/NAME")]
    name: Option<String>,
}

/// Publish the index of a repository in a shared folder or a bucket, for `codelode index --from` elsewhere. Updates
/// the index first, and sends only missing parts.
#[derive(Args)]
pub(super) struct Push {
    /// Folder (or file:// URL) or bucket: s3://bucket/folder, gs://, az://.
    #[arg(value_name = "PLACE")]
    to: String,
    /// Key of the index there: a name, or `tree-sha` for the commit's tree hash.
    #[arg(long, value_name = "KEY", default_value = "latest")]
    key: String,
    /// Name of the repository there [default: from its origin, or its folder].
    #[arg(long, value_name = "OWNER/NAME")]
    name: Option<String>,
    /// Keep this many of the newest tree keys.
    #[arg(long, value_name = "N", default_value_t = KEEP)]
    keep: usize,
}

/// Replace the index of a folder with a published one, and read only files that differ here.
#[derive(Args)]
pub(super) struct Pull {
    /// Shared folder, bucket, web server, or file from `codelode pack`.
    #[arg(value_name = "FROM")]
    from: String,
    /// Folder to index [default: the current one].
    #[arg(value_name = "PATH")]
    path: Option<String>,
    #[command(flatten)]
    named: Named,
}

// An index among others. This is no doc comment, because that would become the help of every command with these flags.
#[derive(Args)]
struct Named {
    /// Key of the index there: a name, or `tree-sha` [default: the commit's tree, otherwise the newest].
    #[arg(long, value_name = "KEY")]
    key: Option<String>,
    /// Name of the repository there [default: from its origin, or its folder].
    #[arg(long, value_name = "OWNER/NAME")]
    name: Option<String>,
}

/// Packs a repository.
pub(super) fn pack(global: &Global, how: &Pack) -> u8 {
    asked(global, |caller, repo| {
        let ship::Packed { facts, bytes } = ship::pack(caller, repo, how.name.as_deref(), &how.file)?;
        let answer = json!({
            "repo": facts.repo, "file": how.file, "bytes": bytes, "commit": facts.commit, "tree": facts.tree,
            "file_count": facts.file_count, "symbol_count": facts.symbol_count,
        });
        let (files, symbols, size) = (facts.file_count, facts.symbol_count, megabytes(bytes));
        let text = format!("{}: {files} files and {symbols} symbols, {size} in {}", facts.repo, how.file.display());
        Ok((answer, text))
    })
}

/// Publishes the index of a repository.
pub(super) fn push(global: &Global, how: &Push) -> u8 {
    asked(global, |caller, repo| {
        let to = Target { url: &how.to, key: &how.key, keep: how.keep, order: None };
        let pushed = ship::push(caller, repo, how.name.as_deref(), &to)?;
        Ok(told(&pushed, &how.to))
    })
}

/// A publication, as JSON and as text.
fn told(pushed: &PublishResult, to: &str) -> (Value, String) {
    let facts = &pushed.facts;
    let answer = json!({
        "repo": facts.repo, "to": to, "up_to_date": pushed.is_there || pushed.is_late, "objects_sent": pushed.sent,
        "objects_held": pushed.held, "bytes_sent": pushed.bytes, "commit": facts.commit, "tree": facts.tree,
        "file_count": facts.file_count, "symbol_count": facts.symbol_count,
    });
    let text = match pushed.is_there {
        true => format!("{}: this tree is there already", facts.repo),
        false => {
            let size = megabytes(pushed.bytes);
            format!("{}: {} objects sent, {size}; {} were there", facts.repo, pushed.sent, pushed.held)
        }
    };
    (answer, text)
}

/// Prints an answer: as JSON, or as text for people.
fn show(global: &Global, answer: &Value, text: &str) {
    if global.json {
        output::print_bytes(format!("{answer}\n").as_bytes());
    } else if !global.quiet {
        output::print_bytes(format!("{text}\n").as_bytes());
    }
}

/// Runs a command about a repository, and prints its answer as JSON or as text.
fn asked(global: &Global, ask: impl FnOnce(&Caller<'_>, Option<&str>) -> Result<(Value, String), Error>) -> u8 {
    with_context(global, |cx| {
        server::refuse(cx)?;
        let bar = Arc::new(Mutex::new(Bar::new(global.quiet)));
        let request = Request { for_people: true, ..request(&bar) };
        let repo = global.repo.clone().map(|repo| here::local_path(repo, false));
        let answer = ask(&cx.caller(&request), repo.as_deref());
        bar.lock().expect("drawing does not panic").finish();
        let (answer, text) = answer?;
        show(global, &answer, &text);
        Ok(FOUND)
    })
}

fn megabytes(bytes: u64) -> String {
    format!("{:.1} MB", bytes as f64 / 1e6)
}

/// The tools whose commands take `--push`, of which the first also takes `--from`; and the ids of these flags.
const INDEX: &str = "index_folder";
const INDEX_REPO: &str = "index_repo";
const FROM: &str = "ship-from";
const PUSH: &str = "ship-push";
const PUSH_KEY: &str = "push-key";

/// Adds the flags to the commands that index.
pub(super) fn flags(command: Command, spec: &ToolSpec) -> Command {
    if ![INDEX, INDEX_REPO].contains(&spec.name) {
        return command;
    }
    let help = "Publish the new index in a folder or bucket, unless it is there already";
    let push = Arg::new(PUSH).long("push").value_name("PLACE").help(help);
    let help = "Key of the index there: a name, or `tree-sha` [default: latest]";
    let key = Arg::new(PUSH_KEY).long("push-key").value_name("KEY").help(help).requires(PUSH);
    let command = command.arg(push).arg(key);
    if spec.name == INDEX_REPO {
        let help = "Name of the repository there [default: owner/name from its URL]";
        return command.arg(Arg::new("name").long("name").value_name("OWNER/NAME").help(help).requires(PUSH));
    }
    let help = "Start from a published index and read only files that differ here: a file from `codelode pack`, a folder or \
                bucket from `codelode push`, or a web server with one. An existing index is kept";
    let from = Arg::new(FROM).long("from").value_name("FROM").help(help).conflicts_with("no_incremental");
    let either = clap::ArgGroup::new("ship-places").args([FROM, PUSH]).multiple(true);
    Named::augment_args(command.arg(from)).group(either).mut_args(|arg| match arg.get_id().as_str() {
        "key" => arg.requires(FROM),
        "name" => arg.requires("ship-places"),
        _ => arg,
    })
}

fn text(given: &ArgMatches, name: &str) -> Option<String> {
    given.try_get_one::<String>(name).ok().flatten().cloned()
}

/// Starts from a published index, if one is given, so that the command itself has little left to do. `Err` is the exit
/// status of a failure.
pub(super) fn before(global: &Global, arguments: &Map<String, Value>, given: &ArgMatches) -> Result<(), u8> {
    let Some(from) = text(given, FROM) else { return Ok(()) };
    let named = Named { key: text(given, "key"), name: text(given, "name") };
    match take(global, arguments, &from, &named, false) {
        FOUND => Ok(()),
        failed => Err(failed),
    }
}

/// A request to publish the new index.
pub(super) struct Published {
    to: String,
    key: String,
    name: Option<String>,
}

/// The publication that the flags request, if any.
pub(super) fn published(given: &ArgMatches) -> Option<Published> {
    let key = text(given, PUSH_KEY).unwrap_or_else(|| LATEST.to_owned());
    Some(Published { to: text(given, PUSH)?, key, name: text(given, "name") })
}

/// Indexes and publishes, unless the place has this state already.
pub(super) fn index_and_push(global: &Global, spec: &ToolSpec, arguments: Map<String, Value>, how: &Published) -> u8 {
    let argument = |name: &str| arguments.get(name).and_then(Value::as_str).map(str::to_owned);
    let (url, reference, path) = (argument("url"), argument("ref_name"), argument("path"));
    let what = match &url {
        Some(url) => Unindexed::Remote(url, reference.as_deref()),
        None => Unindexed::Folder(path.as_deref()),
    };
    let mut is_there = false;
    let mut name = how.name.clone();
    let checked = with_context(global, |cx| {
        server::refuse(cx)?;
        let request = Request { directory: std::env::current_dir().ok(), ..Request::default() };
        let caller = cx.caller(&request);
        if let (None, Some(url)) = (&name, &url) {
            name = Some(ship::name_of_named(&caller, url)?);
        }
        if let Some(there) = ship::is_published(&caller, &what, name.as_deref(), (&how.to, &how.key))? {
            is_there = true;
            let answer = json!({"repo": there, "to": how.to, "up_to_date": true});
            show(global, &answer, &format!("{there}: {} has this state already", how.to));
        }
        Ok(FOUND)
    });
    if is_there || checked != FOUND {
        return checked;
    }
    let status = ask(global, spec.name, arguments, Words::of(spec.name));
    if status != FOUND {
        return status;
    }
    with_context(global, |cx| {
        let bar = Arc::new(Mutex::new(Bar::new(global.quiet)));
        let request = Request { for_people: true, ..request(&bar) };
        let caller = cx.caller(&request);
        let to = Target { url: &how.to, key: &how.key, keep: KEEP, order: None };
        let pushed = match &url {
            Some(url) => ship::push_indexed(&caller, url, reference.as_deref(), name.as_deref(), &to),
            None => ship::push(&caller, path.as_deref(), name.as_deref(), &to),
        };
        bar.lock().expect("drawing does not panic").finish();
        let (answer, text) = told(&pushed?, &how.to);
        show(global, &answer, &text);
        Ok(FOUND)
    })
}

/// Replaces the index of a folder. Returns the arguments for indexing it afterwards; `Err` is an exit status.
pub(super) fn pull(global: &Global, how: &Pull) -> Result<Map<String, Value>, u8> {
    let path = how.path.clone().or_else(|| global.repo.clone());
    let path = path.map(|path| here::local_path(path, true));
    let arguments: Map<String, Value> = path.map(|path| ("path".to_owned(), path.into())).into_iter().collect();
    match take(global, &arguments, &how.from, &how.named, true) {
        FOUND => Ok(arguments),
        failed => Err(failed),
    }
}

fn take(global: &Global, arguments: &Map<String, Value>, from: &str, named: &Named, anew: bool) -> u8 {
    with_context(global, |cx| {
        server::refuse(cx)?;
        let bar = Arc::new(Mutex::new(Bar::new(global.quiet)));
        let request = Request { for_people: true, ..request(&bar) };
        let (key, name) = (named.key.as_deref(), named.name.as_deref());
        let elsewhere = RemoteIndex { from, name, key, anew };
        let path = arguments.get("path").and_then(Value::as_str);
        let took = ship::index_from(&cx.caller(&request), path, &elsewhere, &options(arguments));
        bar.lock().expect("drawing does not panic").finish();
        let note = match took? {
            ShipOutcome::Indexed => "the folder has an index already, which is kept".to_owned(),
            ShipOutcome::Nothing(why) => format!("{why}; nothing was taken, and every file is read"),
            ShipOutcome::Taken(facts, report) => {
                let (differ, gone) = (report.added.len() + report.changed.len(), report.removed.len());
                format!("taken: {} with {} files; {differ} differ here, {gone} are gone", facts.repo, facts.file_count)
            }
        };
        if !global.quiet {
            output::complain(&format!("{note}\n"));
        }
        Ok(FOUND)
    })
}

/// The indexing options in the command's own flags.
fn options(arguments: &Map<String, Value>) -> Options {
    let texts =
        |key: &str| arguments.get(key).and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
    let included = texts("include").map(|pattern| format!("!{}", pattern.trim_start_matches("./")));
    Options {
        extra_ignore: texts("extra_ignore_patterns").map(str::to_owned).chain(included).collect(),
        follow_symlinks: arguments.get("follow_symlinks").and_then(Value::as_bool).unwrap_or_default(),
        ..Options::default()
    }
}
