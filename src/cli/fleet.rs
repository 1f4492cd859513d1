//! `fleet`: queues repositories, runs workers that index them, and shows their state.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use clap::{Args, Subcommand};
use serde_json::{Value, json};

use super::upkeep::{self, Entry, Upkeep};
use super::{FAILED, FOUND, Global, NOTHING, complain, fail, flags, here, interrupt, note_to, output, server};
use codelode_base::config::{self, Settings};
use codelode_service::catalog::fleet::{
    self, Event, Fate, Organisation, Queue, QueueError, Standing, Submission, Submitter, Wanted, Worker, fleet_error,
    repositories,
};
use codelode_service::tools::{Context, Error, Request};

/// The number of repositories of a file that are submitted at once.
const AT_ONCE: usize = 8;
/// The interval of checks whether the queue is empty.
const LOOK: Duration = Duration::from_millis(500);

/// Index many repositories with many workers: a NATS queue holds the jobs, and indexes are published in a bucket or a
/// folder.
#[derive(Args)]
pub(super) struct Fleet {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    Index(Index),
    Work(Work),
    Status(Status),
    Dead(Dead),
    Drain(Drain),
}

// Servers and queue. This is no doc comment, because that would become the help of every command with these flags.
#[derive(Args)]
struct Servers {
    /// NATS servers, for example nats://host:4222 or tls://host; repeatable [default: the setting `nats`].
    #[arg(long, value_name = "URL", value_delimiter = ',')]
    nats: Option<Vec<String>>,
    /// Name of the queue [default: codelode].
    #[arg(long, value_name = "NAME")]
    queue: Option<String>,
}

/// Queue the newest commit of each repository, unless it is published or queued.
#[derive(Args)]
struct Index {
    /// Git URLs, owner/name on GitHub, or folders that workers can read.
    #[arg(value_name = "REPOSITORY")]
    repositories: Vec<String>,
    /// File of repositories, in the format of `codelode serve --repos`.
    #[arg(long = "repos", value_name = "FILE")]
    file: Option<PathBuf>,
    /// Queue all repositories of an organisation: github:NAME, gitlab:GROUP, https://HOST/api/v4/groups/GROUP;
    /// repeatable.
    #[arg(long, value_name = "ORGANISATION")]
    org: Vec<String>,
    /// Include an organisation's forks.
    #[arg(long, requires = "org")]
    forks: bool,
    /// Include an organisation's archived repositories.
    #[arg(long, requires = "org")]
    archived: bool,
    /// Where indexes are published: a folder, file://, s3://bucket/folder, gs://, az://.
    #[arg(long, value_name = "PLACE")]
    to: String,
    /// Retry commits that failed for good.
    #[arg(long)]
    again: bool,
    /// Check for newer commits at this interval, for example 5m.
    #[arg(long, value_name = "TIME", value_parser = humantime::parse_duration)]
    every: Option<Duration>,
    /// Wait until the queue is empty.
    #[arg(long, conflicts_with = "every")]
    wait: bool,
    #[command(flatten)]
    servers: Servers,
}

/// Work on the queue: fetch, index and publish until stopped. If killed, another worker takes the job.
#[derive(Args)]
struct Work {
    /// Where indexes are published: a folder, file://, s3://bucket/folder, gs://, az://.
    #[arg(long, value_name = "PLACE")]
    to: String,
    /// Stop when no job is left.
    #[arg(long)]
    until_empty: bool,
    /// Attempts before a job fails for good.
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u64).range(1..))]
    attempts: u64,
    /// Pause after a job's first failure; each later pause is four times as long, up to half an hour.
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = humantime::parse_duration)]
    pause: Duration,
    /// Silence after which a worker counts as dead and its job goes to another.
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = humantime::parse_duration)]
    silence: Duration,
    /// Time limit of a job.
    #[arg(long, value_name = "TIME", default_value = "6h", value_parser = humantime::parse_duration)]
    limit: Duration,
    /// Folder for workers' clones and indexes between jobs [default: `workers` in the index directory].
    #[arg(long, value_name = "FOLDER")]
    cache_dir: Option<PathBuf>,
    /// Limit the indexes there, in megabytes [default: 20000].
    #[arg(long, value_name = "MEGABYTES")]
    cache_size: Option<u64>,
    #[command(flatten)]
    servers: Servers,
}

/// Show the numbers of waiting, running and failed jobs, and the live workers.
#[derive(Args)]
struct Status {
    #[command(flatten)]
    servers: Servers,
}

/// List jobs that failed for good, with reasons.
#[derive(Args)]
struct Dead {
    /// Forget these repositories, so that they can be queued again; `*` for all.
    #[arg(long, value_name = "OWNER/NAME")]
    forget: Vec<String>,
    #[command(flatten)]
    servers: Servers,
}

/// Drain a query node: move its repositories to other nodes so it can be stopped.
#[derive(Args)]
struct Drain {
    /// Name of the node, as in `fleet status`.
    #[arg(value_name = "NODE")]
    node: String,
    /// Undo a drain.
    #[arg(long)]
    undo: bool,
    #[command(flatten)]
    servers: Servers,
}

/// Runs a command of a fleet.
pub(super) fn run(global: &Global, how: Fleet) -> u8 {
    match how.what {
        What::Index(how) => with_fleet(global, &how.servers, Settings::default(), None, |cx| index(global, cx, &how)),
        What::Work(how) => {
            let settings = Settings { cache_size: how.cache_size, ..Settings::default() };
            let folder = how.cache_dir.clone().map_or(Folder::Workers, Folder::Given);
            with_fleet(global, &how.servers, settings, Some(folder), |cx| work(global, cx, &how))
        }
        What::Status(how) => with_fleet(global, &how.servers, Settings::default(), None, |cx| status(global, cx)),
        What::Drain(how) => with_fleet(global, &how.servers, Settings::default(), None, |cx| drain(global, cx, &how)),
        What::Dead(how) => with_fleet(global, &how.servers, Settings::default(), None, |cx| dead(global, cx, &how)),
    }
}

/// The index directory of workers.
enum Folder {
    /// A folder of their own, because workers drop indexes and must not drop the user's.
    Workers,
    Given(PathBuf),
}

/// Runs a command with the state of a process, and prints its error.
fn with_fleet(
    global: &Global,
    servers: &Servers,
    settings: Settings,
    folder: Option<Folder>,
    run: impl FnOnce(&Context) -> Result<u8, Error>,
) -> u8 {
    let settings = Settings { nats: servers.nats.clone(), queue: servers.queue.clone(), ..settings };
    let mut flags = flags(global, settings);
    if let Some(Folder::Given(folder)) = &folder {
        flags.index_dir = Some(folder.clone());
    }
    let mut config = match config::load(&flags) {
        Ok(config) => config,
        Err(err) => return fail(&err),
    };
    if matches!(folder, Some(Folder::Workers)) {
        config.home = config.home.join("workers");
    }
    if let Err(problem) = note_to(&config) {
        return complain(&problem);
    }
    let cx = Context::new(config);
    let result = server::refuse(&cx).and_then(|()| run(&cx));
    cx.end();
    result.unwrap_or_else(|err| complain(&err.message))
}

/// Prints an answer: as JSON, or as text for people.
fn show(global: &Global, answer: &Value, text: &str) {
    if global.json {
        output::print_bytes(format!("{answer}\n").as_bytes());
    } else if !global.quiet {
        output::print_bytes(text.as_bytes());
    }
}

/// Puts repositories into the queue.
fn index(global: &Global, cx: &Context, how: &Index) -> Result<u8, Error> {
    if how.repositories.is_empty() && how.file.is_none() && how.org.is_empty() {
        return Err(Error::invalid_arguments("give repositories, a file of them with --repos, or --org"));
    }
    let submitter = Submitter::open(cx, &how.to)?;
    let request = Request { directory: std::env::current_dir().ok(), ..Request::default() };
    loop {
        let began = Instant::now();
        let submitted = submit(cx, &submitter, &request, how);
        let status = match (submitted, how.every) {
            (Ok(submissions), _) => report(global, &submissions),
            // The forge may be reachable again next time.
            (Err(err), Some(_)) => complain(&err.message),
            (Err(err), None) => return Err(err),
        };
        match how.every {
            Some(every) => thread::sleep(every.saturating_sub(began.elapsed())),
            None if how.wait => return emptied(submitter.queue()).map(|()| status),
            None => return Ok(status),
        }
    }
}

/// Waits until the queue is empty.
fn emptied(queue: &Queue) -> Result<(), Error> {
    while queue.left().map_err(fleet_error)? > 0 {
        thread::sleep(LOOK);
    }
    Ok(())
}

/// Submits all repositories in the arguments.
fn submit(cx: &Context, submitter: &Submitter, request: &Request, how: &Index) -> Result<Vec<Submission>, Error> {
    let caller = cx.caller(request);
    let named = |text: &String| Wanted { url: here::local_path(text.clone(), false), ..Wanted::default() };
    let mut wanted: Vec<Wanted> = how.repositories.iter().map(named).collect();
    if let Some(path) = &how.file {
        let entries = upkeep::entries(path).map_err(Error::invalid_arguments)?;
        wanted.extend(entries.iter().map(|(name, entry)| entry.wanted(name)));
    }
    for org in &how.org {
        let all = repositories(&caller, &Organisation::parse(org)?)?;
        let meant = all.into_iter().filter(|one| (how.forks || !one.is_fork) && (how.archived || !one.is_archived));
        wanted.extend(meant.map(|one| Wanted { url: one.url, ..Wanted::default() }));
    }
    Ok(submitter.submit_all(&caller, &wanted, how.again))
}

/// Prints the submissions. Returns 0 if any was queued or is published, else 1.
fn report(global: &Global, submissions: &[Submission]) -> u8 {
    let word = |fate: &Fate| match fate {
        Fate::Published => "published",
        Fate::Queued => "queued",
        Fate::Known => "in the queue",
        Fate::Dead(_) => "dead",
        Fate::Failed(_) => "failed",
    };
    let reason = |fate: &Fate| match fate {
        Fate::Dead(reason) | Fate::Failed(reason) => Some(reason.clone()),
        _ => None,
    };
    let rows: Vec<Value> = submissions
        .iter()
        .map(|one| json!({"repo": one.repo, "commit": one.commit, "state": word(&one.fate), "reason": reason(&one.fate)}))
        .collect();
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    submissions.iter().for_each(|one| *counts.entry(word(&one.fate)).or_default() += 1);
    let mut text = String::new();
    for one in submissions {
        if let Some(reason) = reason(&one.fate) {
            text.push_str(&format!("{}: {}: {reason}\n", one.repo, word(&one.fate)));
        }
    }
    let counted: Vec<String> = counts.iter().map(|(word, n)| format!("{n} {word}")).collect();
    text.push_str(&format!("{} repositories: {}\n", submissions.len(), counted.join(", ")));
    show(global, &json!({"repositories": rows, "counts": counts}), &text);
    let is_bad = |one: &Submission| reason(&one.fate).is_some();
    match submissions {
        [] => NOTHING,
        _ if submissions.iter().any(is_bad) => FAILED,
        _ => FOUND,
    }
}

/// Works until told to end, or until no job is left.
fn work(global: &Global, cx: &Context, how: &Work) -> Result<u8, Error> {
    let queue = fleet::queue(&cx.config)?;
    queue.prepare().map_err(fleet_error)?;
    let ending = Arc::new(AtomicBool::new(false));
    interrupt::IS_SERVER.store(true, Ordering::Relaxed);
    queue.end_on_signal(ending.clone()).map_err(fleet_error)?;
    let worker = Worker {
        cx,
        queue: &queue,
        place: &how.to,
        name: fleet::worker_name(),
        attempts: how.attempts,
        pause: how.pause,
        silence: how.silence.max(Duration::from_secs(1)),
        limit: how.limit,
        most: cx.config.http.cache_size,
        ending: &ending,
    };
    let tell = |event: &Event| {
        let (event, text) = told(event);
        let now = humantime::format_rfc3339_seconds(SystemTime::now());
        show(global, &event, &format!("{now} {text}\n"));
    };
    let is_well = worker.run(how.until_empty, &tell);
    Ok(if is_well { FOUND } else { NOTHING })
}

/// An event, as JSON and as text.
fn told(event: &Event) -> (Value, String) {
    match event {
        Event::Published { job, objects, bytes, files, took } => {
            let megabytes = *bytes as f64 / 1e6;
            let seconds = took.as_secs_f64();
            (
                json!({"event": "published", "job": job, "objects": objects, "bytes": bytes, "files_read": files, "seconds": seconds}),
                format!(
                    "{job}: published, {files} files read, {objects} objects of {megabytes:.1} MB sent in {seconds:.1} s"
                ),
            )
        }
        Event::Needless(job) => {
            (json!({"event": "needless", "job": job}), format!("{job}: this state or a newer one is published"))
        }
        Event::Failed(job, reason, pause) => (
            json!({"event": "failed", "job": job, "reason": reason, "pause_s": pause.as_secs_f64()}),
            format!("{job}: failed, again in {:.0} s: {reason}", pause.as_secs_f64()),
        ),
        Event::Dead(job, reason) => {
            (json!({"event": "dead", "job": job, "reason": reason}), format!("{job}: failed for good: {reason}"))
        }
        Event::Returned(job) => (json!({"event": "returned", "job": job}), format!("{job}: given back")),
        Event::Away(problem) => (json!({"event": "away", "reason": problem}), problem.clone()),
    }
}

/// Prints the state of the queue.
fn status(global: &Global, cx: &Context) -> Result<u8, Error> {
    let queue = fleet::queue(&cx.config)?;
    let mut members = queue.members().map_err(fleet_error)?;
    members.iter_mut().for_each(|member| member.key.clear());
    let status = match queue.status() {
        Ok(status) => Standing { members, ..status },
        // There may be query nodes without any worker.
        Err(QueueError::NoQueue(_)) if !members.is_empty() => Standing { members, ..Standing::default() },
        Err(err) => return Err(fleet_error(err)),
    };
    let mut text = format!(
        "{} waiting, {} at work, {} dead; {} of {} copies of the queue are there\n",
        status.waiting, status.at_work, status.dead, status.copies_there, status.copies
    );
    for tries in &status.tried {
        let reason = tries.reason.as_deref().unwrap_or_default();
        text.push_str(&format!("{}: failed {} times: {reason}\n", tries.repo, tries.failed));
    }
    for worker in &status.workers {
        let job = worker.job.as_deref().unwrap_or("waiting");
        text.push_str(&format!("worker {}: {job}; {} done, {} failed\n", worker.name, worker.done, worker.failed));
    }
    for member in &status.members {
        let state = if member.drained { ", drained" } else { "" };
        text.push_str(&format!("node {} at {}: {} indexes open{state}\n", member.name, member.url, member.held));
    }
    show(global, &serde_json::to_value(&status).unwrap_or_default(), &text);
    Ok(FOUND)
}

/// Drains a node, or undoes that.
fn drain(global: &Global, cx: &Context, how: &Drain) -> Result<u8, Error> {
    let is_known = fleet::queue(&cx.config)?.drain(&how.node, !how.undo).map_err(fleet_error)?;
    if !is_known && !how.undo {
        return Err(Error::not_found(format!(
            "there is no query node {:?}; `codelode fleet status` lists them",
            how.node
        )));
    }
    let said = if how.undo { "gets repositories again" } else { "is drained" };
    show(global, &json!({"node": how.node, "drained": !how.undo}), &format!("{} {said}\n", how.node));
    Ok(FOUND)
}

/// Lists jobs that failed permanently, or forgets them.
fn dead(global: &Global, cx: &Context, how: &Dead) -> Result<u8, Error> {
    let queue = fleet::queue(&cx.config)?;
    let buried = queue.buried().map_err(fleet_error)?;
    if how.forget.is_empty() {
        let mut text = String::new();
        for dead in &buried {
            text.push_str(&format!("{}: tried {} times: {}\n", dead.job.id(), dead.attempts, dead.reason));
        }
        show(global, &json!({"dead": buried}), &text);
        return Ok(if buried.is_empty() { NOTHING } else { FOUND });
    }
    let is_meant = |repo: &String| how.forget.iter().any(|meant| meant == "*" || meant == repo);
    let meant: Vec<&String> = buried.iter().map(|dead| &dead.job.repo).filter(|repo| is_meant(repo)).collect();
    for repo in &meant {
        queue.forget(repo).map_err(fleet_error)?;
    }
    show(global, &json!({"forgotten": meant}), &format!("{} forgotten\n", meant.len()));
    Ok(if meant.is_empty() { NOTHING } else { FOUND })
}

/// Submits the repositories of a file whenever one is due.
pub(super) fn keep(cx: Context, place: &str, upkeep: &Arc<Upkeep>) -> Result<(), String> {
    let submitter = Submitter::open(&cx, place).map_err(|err| err.message)?;
    upkeep.each(AT_ONCE, move |name: &str, entry: &Entry| {
        let request = Request::default();
        let submission = submitter.submit(&cx.caller(&request), &entry.wanted(name));
        match submission.fate {
            Fate::Failed(reason) => tracing::error!(repo = name, "not put into the queue: {reason}"),
            Fate::Dead(reason) => tracing::error!(repo = name, "its newest commit failed for good: {reason}"),
            fate => tracing::info!(target: "access", repo = name, "{fate:?}"),
        }
    })
}
