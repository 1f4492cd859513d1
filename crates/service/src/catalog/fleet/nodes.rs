//! Nodes of a fleet that answer together. A node announces itself, learns of the others, and asks them about
//! repositories that they hold.

use std::collections::HashMap;
use std::fs::File;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::Read;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Map, Value, json};
use url::Url;

use super::{fleet_error, queue};
use crate::answer::{Envelope, Error, FREQUENCIES, FROM_NODE, Request, TRACE_PARENT};
use crate::catalog::peers::Peers;
use crate::catalog::{Context, Indexes, tool_call};
use codelode_cluster::fleet::{Member, Placement, Queue};
use codelode_net::{self as net, Client, Credentials};
use codelode_store::{Registry, Sidecar};

/// The intervals of announcing this node, and of learning of others.
const HEARTBEAT: Duration = Duration::from_secs(5);
const LISTEN: Duration = Duration::from_secs(1);
/// The longest wait for another node's answer. Then the next holder is asked.
const ANSWER: Duration = Duration::from_secs(10);
/// The time during which a node that did not answer is asked last.
const MUTE: Duration = Duration::from_secs(10);
/// The largest answer of another node, in bytes.
const LARGEST: u64 = 64 << 20;
/// Estimated index bytes per file and per symbol, which weigh repositories.
const PER_FILE: u64 = 500;
const PER_SYMBOL: u64 = 1_000;

/// The fleet, as one of its nodes sees it.
pub struct Nodes {
    own: Member,
    queue: Queue,
    /// Locked while announcing this node; true once it has left.
    has_left: Mutex<bool>,
    client: Client,
    indexes: Indexes,
    state: Mutex<State>,
    /// The number of answered and of unanswered questions to other nodes.
    asked: [AtomicU64; 2],
}

#[derive(Default)]
struct State {
    members: Vec<Member>,
    placement: Arc<Placement>,
    /// Fingerprint of the nodes and sizes behind the placement.
    of: u64,
    /// Whether the queue's servers are silent, which was logged.
    is_silent: bool,
    /// Nodes that did not answer, with the time.
    mute: HashMap<String, Instant>,
}

impl Nodes {
    /// Joins the fleet under a name and a URL, and keeps track of it in the background.
    pub fn join(cx: &Context, name: String, url: &Url) -> Result<Arc<Self>, Error> {
        let config = &cx.config;
        let own = Member {
            name,
            url: url.to_string(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            since: std::time::UNIX_EPOCH.elapsed().map_or(0, |since| since.as_secs() as i64),
            held: 0,
            drained: false,
            key: new_key().map_err(|err| Error::unavailable(format!("no random bytes: {err}")))?.to_hex().to_string(),
        };
        let options = net::Options {
            trusted_hosts: config.trusted_hosts.clone(),
            ca_file: config.ca_file.clone(),
            connect: Duration::from_secs(2),
            silence: ANSWER,
        };
        let client = Client::new(options);
        let queue = queue(config)?;
        queue.prepare_members().map_err(fleet_error)?;
        let nodes = Arc::new(Self {
            own,
            queue,
            has_left: Mutex::default(),
            client,
            indexes: cx.indexes.clone(),
            state: Mutex::default(),
            asked: Default::default(),
        });
        nodes.hear(true);
        let keeper = nodes.clone();
        let run = move || keeper.keep_up();
        let started = thread::Builder::new().name("nodes".to_owned()).spawn(run);
        started.map_err(|err| Error::unavailable(format!("cannot start a thread: {err}")))?;
        Ok(nodes)
    }

    fn keep_up(&self) {
        let mut said = Instant::now();
        loop {
            thread::sleep(LISTEN);
            let is_due = said.elapsed() >= HEARTBEAT;
            if is_due {
                said = Instant::now();
            }
            self.hear(is_due);
        }
    }

    /// Announces this node if that is due, and learns which others live. While the servers are silent, the last known
    /// nodes stay.
    fn hear(&self, is_due: bool) {
        let say = || {
            let has_left = self.has_left();
            match is_due && !*has_left {
                true => self.queue.join(&Member { held: self.indexes.n_open() as u64, ..self.own.clone() }),
                false => Ok(()),
            }
        };
        let heard = say().and_then(|()| self.queue.members());
        let mut state = self.state();
        match heard {
            Ok(members) => {
                if std::mem::take(&mut state.is_silent) {
                    tracing::warn!("the servers of the fleet answer again");
                }
                state.members = members;
            }
            Err(err) => {
                if !std::mem::replace(&mut state.is_silent, true) {
                    tracing::error!("{err}; using the last known nodes");
                }
                return;
            }
        }
        let mut names: Vec<String> =
            state.members.iter().filter(|member| !member.drained).map(|member| member.name.clone()).collect();
        if names.is_empty() {
            names.push(self.own.name.clone());
        }
        drop(state);
        let mut sizes: Vec<(String, u64)> = self.registry().all().iter().map(sized).collect();
        sizes.sort_unstable();
        let mut hasher = DefaultHasher::new();
        (&names, &sizes).hash(&mut hasher);
        let of = hasher.finish();
        if self.state().of == of {
            return;
        }
        let placement = Arc::new(Placement::new(names, sizes));
        let mut state = self.state();
        (state.placement, state.of) = (placement, of);
    }

    /// All listed repositories, regardless of rights.
    fn registry(&self) -> Registry {
        self.indexes.registry().whole()
    }

    fn has_left(&self) -> MutexGuard<'_, bool> {
        self.has_left.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Each change is one step.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A new random key.
fn new_key() -> std::io::Result<blake3::Hash> {
    let mut bytes = [0; blake3::KEY_LEN];
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(bytes.into())
}

/// The proof to the node with this `key` that the node `name` belongs to the fleet; `None` for a node of an earlier
/// version, which has no key.
fn proof(key: &str, name: &str) -> Option<blake3::Hash> {
    let key = blake3::Hash::from_hex(key).ok()?;
    Some(blake3::keyed_hash(key.as_bytes(), name.as_bytes()))
}

/// A repository with its estimated index size. All nodes compute the same number from the listing.
fn sized(sidecar: &Sidecar) -> (String, u64) {
    (sidecar.repo.clone(), sidecar.file_count * PER_FILE + sidecar.symbol_count * PER_SYMBOL)
}

impl Peers for Nodes {
    fn holders(&self, repo: &str) -> Vec<String> {
        let state = self.state();
        let is_there = |name: &&str| *name == self.own.name || state.members.iter().any(|member| member.name == *name);
        let own = |name: &str| if name == self.own.name { String::new() } else { name.to_owned() };
        let mut holders: Vec<String> = state.placement.holders(repo).filter(is_there).map(own).collect();
        let is_mute = |name: &String| state.mute.get(name).is_some_and(|since| since.elapsed() < MUTE);
        holders.sort_by_key(is_mute);
        holders
    }

    fn n_nodes(&self) -> usize {
        self.state().members.len().max(1)
    }

    fn asked(&self) -> [u64; 2] {
        self.asked.each_ref().map(|count| count.load(Ordering::Relaxed))
    }

    fn is_of_node(&self, mark: &Value) -> bool {
        let (Some(name), Some(told)) = (mark[0].as_str(), mark[1].as_str()) else { return false };
        // Hashes are compared in constant time.
        let told = blake3::Hash::from_hex(told).ok();
        told.zip(proof(&self.own.key, name)).is_some_and(|(told, right)| told == right)
    }

    fn leave(&self) {
        let mut has_left = self.has_left();
        if !std::mem::replace(&mut *has_left, true)
            && let Err(err) = self.queue.part(&self.own.name)
        {
            tracing::warn!("{err}; others forget this node in half a minute");
        }
    }

    fn ask(&self, node: &str, tool: &str, args: &Map<String, Value>, request: &Request) -> Result<Envelope, String> {
        let member = self.state().members.iter().find(|member| member.name == node).cloned();
        let member = member.ok_or_else(|| format!("there is no node {node:?} any more"))?;
        let url = Url::parse(&member.url).map_err(|err| format!("{node} has no address: {err}"))?;
        let mark = proof(&member.key, &self.own.name).map(|proof| json!([self.own.name, proof.to_hex().as_str()]));
        let mut marks = Map::from_iter(mark.map(|mark| (FROM_NODE.to_owned(), mark)));
        marks.extend(request.frequencies.clone().map(|frequencies| (FREQUENCIES.to_owned(), frequencies)));
        let trace = request.trace.as_ref().map(|trace| trace.parent());
        marks.extend(trace.iter().map(|trace| (TRACE_PARENT.to_owned(), trace.as_str().into())));
        let asked = tool_call::request(url.clone(), tool, args, marks);
        let asked = trace.iter().fold(asked, |asked, trace| asked.header(TRACE_PARENT, trace));
        let began = Instant::now();
        let credentials = request.bearer.as_ref().map(|token| Credentials::bearer(&url, token).plain_here());
        let asked = net::Request { credentials, time: ANSWER, limit: LARGEST, ..asked };
        let sent = self.client.send(&asked);
        self.asked[usize::from(sent.is_err())].fetch_add(1, Ordering::Relaxed);
        let (trace, ms) = (request.trace.as_ref().map(|trace| trace.id()), began.elapsed().as_millis() as u64);
        tracing::info!(target: "access", node, tool, ms, trace, answered = sent.is_ok(), "asked a node");
        match &sent {
            Ok(_) => drop(self.state().mute.remove(node)),
            Err(_) => drop(self.state().mute.insert(node.to_owned(), Instant::now())),
        }
        let mut answer = sent.map_err(|err| err.to_string())?;
        let mut text = String::new();
        answer.body.read_to_string(&mut text).map_err(|err| format!("the answer of {node} broke off: {err}"))?;
        let is_stream = answer.header("content-type").is_some_and(|kind| kind.starts_with("text/event-stream"));
        let mut data =
            text.lines().filter_map(|line| line.strip_prefix("data:")).map(str::trim).filter(|data| !data.is_empty());
        let message = if is_stream { data.next_back().unwrap_or_default() } else { text.as_str() };
        let status = answer.status;
        let message: Value =
            serde_json::from_str(message).map_err(|_| format!("{node} answers with status {status}"))?;
        tool_call::envelope(&message).map_err(|why| format!("{node} answers: {why}"))
    }
}
