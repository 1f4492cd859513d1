//! Callers of a server over HTTP: their rights, turns and counts, for each of their requests.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use super::server::{CALLS_AT_ONCE, RemoteCaller, Server, Turns};
use codelode_http::metrics::{Metrics, Page};
use codelode_http::{Elsewhere, Visit};
use codelode_service::answer::Trace;
use codelode_service::tools::{Code, Context, TOOLS, Views};

/// Calls of one caller that run at once.
const CALLS_OF_ONE: usize = CALLS_AT_ONCE * 3 / 4;

/// Callers that are remembered; those with nothing to do are forgotten.
const MOST_CALLERS: usize = 4096;

/// All callers of a process.
pub(super) struct Guests {
    views: Arc<Views>,
    metrics: Arc<Metrics>,
    /// Turns of all calls.
    turns: Arc<Turns>,
    /// Turns of each caller, by name.
    of_callers: Mutex<HashMap<String, Arc<Turns>>>,
}

/// The caller of a request, until it is answered.
struct Caller {
    visit: Arc<Visit>,
    cx: Arc<Context>,
    turns: Arc<Turns>,
    metrics: Arc<Metrics>,
    _held: Option<Box<dyn Send + Sync>>,
}

impl RemoteCaller for Caller {
    fn context(&self) -> &Arc<Context> {
        &self.cx
    }

    fn turns(&self) -> &Turns {
        &self.turns
    }

    fn default_repo(&self) -> Option<&str> {
        self.visit.grant.as_ref()?.default.as_deref()
    }

    fn token(&self) -> Option<Arc<str>> {
        self.visit.token.clone()
    }

    fn called(&self, tool: &str, outcome: &str, took: Duration, trace: Option<&Trace>) {
        let tool = TOOLS.iter().find(|spec| spec.name == tool).map_or("unknown", |spec| spec.name);
        let outcomes = ["ok", "cancelled"].into_iter().chain(Code::ALL.iter().map(|code| code.as_str()));
        let outcome = outcomes.into_iter().find(|known| *known == outcome).unwrap_or("error");
        self.metrics.call(tool, outcome, took);
        let ms = (took.as_secs_f64() * 100_000.0).round() / 100.0;
        let Visit { id, .. } = &*self.visit;
        let trace = trace.map(Trace::id);
        tracing::info!(target: "access", id, caller = self.visit.caller(), tool, outcome, ms, trace, "call");
    }
}

impl Guests {
    /// Callers of a process.
    pub(super) fn new(views: Arc<Views>, metrics: Arc<Metrics>) -> Self {
        Self { views, metrics, turns: Arc::new(Turns::new(CALLS_AT_ONCE)), of_callers: Mutex::default() }
    }

    /// A server for a session, or for one request.
    pub(super) fn server(&self) -> Server {
        Server::for_guests(self.views.base().clone(), self.turns.clone())
    }

    /// The caller of a request. It holds a value until the request is answered.
    pub(super) fn caller(&self, visit: Arc<Visit>, held: Option<Box<dyn Send + Sync>>) -> Arc<dyn RemoteCaller> {
        let cx = self.views.of(visit.grant.as_ref().map(|grant| (&*grant.name, &grant.rights)));
        let turns = self.turns_of(visit.caller());
        Arc::new(Caller { visit, cx, turns, metrics: self.metrics.clone(), _held: held })
    }

    /// Whether calls can be answered.
    pub(super) fn is_ready(&self) -> bool {
        // An index directory that does not exist yet is made by the first run.
        self.views.base().config.home.try_exists().is_ok()
    }

    /// Adds the number of open sessions, the use of open indexes and the ages of all.
    pub(super) fn measure(&self, page: &mut Page, n_sessions: usize) {
        page.gauge("codelode_open_sessions", "Sessions that are open.", [(Vec::new(), n_sessions as f64)]);
        let n_open = self.views.base().indexes.n_open();
        page.gauge("codelode_open_indexes", "Indexes that are open, for all callers.", [(Vec::new(), n_open as f64)]);
        let looks = ["hit", "miss"].into_iter().zip(self.views.base().indexes.n_hits_and_misses());
        let looks = looks.map(|(outcome, n)| (vec![("outcome", outcome.to_owned())], n as f64));
        page.counter("codelode_index_cache_total", "Looks for an index: found open, or opened.", looks);
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        let all = self.views.base().indexes.registry().all();
        let ages = all.iter().map(|sidecar| {
            let age = now.as_secs_f64() - sidecar.indexed_at as f64;
            (vec![("repo", sidecar.repo.clone())], age.max(0.0).floor())
        });
        self.measure_fleet(page);
        page.gauge("codelode_index_age_seconds", "Seconds since all files were last looked at.", ages);
    }

    /// Adds the nodes of the fleet, and the questions to them.
    fn measure_fleet(&self, page: &mut Page) {
        let Some(peers) = self.views.base().peers() else { return };
        page.gauge(
            "codelode_fleet_nodes",
            "Nodes that live, this one included.",
            [(Vec::new(), peers.n_nodes() as f64)],
        );
        let asked = ["answered", "silent"].into_iter().zip(peers.asked());
        let asked = asked.map(|(outcome, n)| (vec![("outcome", outcome.to_owned())], n as f64));
        page.counter("codelode_fleet_questions_total", "Questions to other nodes, by what became of them.", asked);
    }

    /// Repositories that are held of forges.
    pub(super) fn elsewhere(&self) -> Vec<Elsewhere> {
        let all = self.views.base().indexes.registry().all().into_iter();
        all.filter_map(|sidecar| Some(Elsewhere { url: sidecar.remote?.url, id: sidecar.repo })).collect()
    }

    /// Takes leave of the fleet.
    pub(super) fn leave(&self) {
        if let Some(peers) = self.views.base().peers() {
            peers.leave();
        }
    }

    /// Writes the callers' statistics.
    pub(super) fn flush(&self) {
        self.views.all().iter().for_each(|cx| cx.session.flush());
    }

    fn turns_of(&self, caller: &str) -> Arc<Turns> {
        // A panic leaves the table whole.
        let mut all = self.of_callers.lock().unwrap_or_else(PoisonError::into_inner);
        match all.get(caller) {
            Some(turns) => turns.clone(),
            None => {
                if all.len() >= MOST_CALLERS {
                    all.retain(|_, turns| Arc::strong_count(turns) > 1);
                }
                all.entry(caller.to_owned()).or_insert_with(|| Arc::new(Turns::new(CALLS_OF_ONE))).clone()
            }
        }
    }
}
