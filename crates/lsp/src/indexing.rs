//! Indexing of the workspace's folders in the background, with progress.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crossbeam_channel::Receiver;
use serde_json::{Value, json};

use super::server::Client;
use super::structure;
use super::view::RequestView;
use super::workspace::Workspace;
use codelode_base::allocator;
use codelode_service::answer::Request;
use codelode_service::catalog::related;

/// Pause in typing after which answers are made ready.
const PAUSE: Duration = Duration::from_millis(30);
/// Idle time before free memory is returned to the system.
pub(super) const QUIET: Duration = Duration::from_secs(2);
/// Time between two reports of progress.
const REPORT_EVERY: Duration = Duration::from_millis(100);

/// State of the indexes of the workspace.
#[derive(Default)]
pub(super) struct Indexing {
    /// Whether requests can be answered.
    pub is_done: bool,
    runs: u64,
}

impl Indexing {
    /// Whether a run was begun.
    pub fn has_begun(&self) -> bool {
        self.runs > 0
    }

    /// The number of a new run.
    pub fn begin(&mut self) -> u64 {
        self.runs += 1;
        self.runs
    }
}

/// Indexes each folder and resolves its names, so that the first request finds both done.
pub(super) fn index(workspace: &Workspace, client: &Client, run: u64) {
    for (number, folder) in workspace.folders.iter().enumerate() {
        let Some(place) = folder.real.to_str() else { continue };
        let shown = FolderProgress::begin(workspace, client, &format!("codelode/{run}/{number}"), place);
        let progress = shown.clone();
        let request = Request {
            roots: vec![folder.real.clone()],
            progress: Some(Arc::new(move |done: u64, of: Option<u64>, what: &str| progress.report(done, of, what))),
            ..Request::default()
        };
        let caller = workspace.cx.caller(&request);
        let indexed = related::answer(&caller, Some(place), |_, _| Ok(((), Vec::new())));
        if let Err(err) = &indexed {
            let params = json!({ "type": 2, "message": format!("codelode: {}", err.message) });
            client.send(json!({ "jsonrpc": "2.0", "method": "window/showMessage", "params": params }).to_string());
        }
        shown.end();
    }
}

/// Makes the answers for each state ready before they are asked for: after a pause in typing, or a save. Free memory is
/// returned to the system each time: no answer waits for it.
pub(super) fn prepare_answers(states: &Receiver<Arc<Workspace>>) {
    for mut state in states {
        while let Ok(newer) = states.recv_timeout(PAUSE) {
            state = newer;
        }
        let _released = allocator::work();
        // Requests about a newer state would wait for what an older one no longer needs.
        let is_newest = || states.is_empty();
        for folder in &state.folders {
            let asked = RequestView {
                workspace: &state,
                request: Request { roots: vec![folder.real.clone()], ..Request::default() },
            };
            // A request that needs it meets the same error.
            let ready = || folder.real.to_str().filter(|_| is_newest()).map(|place| asked.prepare(place));
            let _ = catch_unwind(AssertUnwindSafe(ready));
        }
        let request =
            Request { roots: state.folders.iter().map(|folder| folder.real.clone()).collect(), ..Request::default() };
        let asked = RequestView { workspace: &state, request };
        let _ = catch_unwind(AssertUnwindSafe(|| structure::fold_ahead(&asked, &is_newest)));
    }
}

/// Progress of one folder, as far as the client shows it.
#[derive(Clone)]
struct FolderProgress {
    client: Option<Client>,
    token: String,
    last: Arc<Mutex<Instant>>,
    percent: Arc<AtomicU64>,
}

impl FolderProgress {
    fn begin(workspace: &Workspace, client: &Client, token: &str, place: &str) -> Self {
        let client = workspace.options.progress.then(|| client.clone());
        let shown = Self {
            client,
            token: token.to_owned(),
            last: Arc::new(Mutex::new(Instant::now())),
            percent: Arc::default(),
        };
        if let Some(client) = &shown.client {
            let params = json!({ "token": token });
            let method = "window/workDoneProgress/create";
            client.send(json!({ "jsonrpc": "2.0", "id": token, "method": method, "params": params }).to_string());
        }
        let name = place.rsplit('/').next().unwrap_or(place);
        shown.tell(json!({ "kind": "begin", "title": format!("Indexing {name}"), "percentage": 0 }));
        shown
    }

    fn report(&self, done: u64, of: Option<u64>, what: &str) {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if last.elapsed() < REPORT_EVERY {
            return;
        }
        *last = Instant::now();
        let percent = of.filter(|of| *of > 0).map_or(0, |of| (done * 100 / of).min(100));
        // A percentage never falls.
        let percent = self.percent.fetch_max(percent, Ordering::Relaxed).max(percent);
        self.tell(json!({ "kind": "report", "message": what, "percentage": percent }));
    }

    fn end(&self) {
        self.tell(json!({ "kind": "end" }));
    }

    fn tell(&self, value: Value) {
        if let Some(client) = &self.client {
            let params = json!({ "token": self.token, "value": value });
            client.send(json!({ "jsonrpc": "2.0", "method": "$/progress", "params": params }).to_string());
        }
    }
}
