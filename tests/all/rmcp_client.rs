//! rmcp's own client against the server over HTTP, in each revision that both speak.

use std::fs;
use std::time::{Duration, Instant};

use rmcp::model::{
    CallToolRequest, CallToolRequestParams, ClientConfig, ClientRequest, JsonObject, ProgressNotificationParam,
    ProtocolVersion, ServerResult,
};
use rmcp::service::{NotificationContext, PeerRequestOptions};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::{ClientHandler, ClientLifecycleMode, ClientServiceExt, RoleClient};
use serde_json::{Value, json};
use tokio::sync::mpsc;

use super::client::silent_server;
use super::web::{PATIENCE, Site};

/// A client that passes on each step of progress.
struct Watcher {
    config: ClientConfig,
    steps: mpsc::UnboundedSender<f64>,
}

impl ClientHandler for Watcher {
    fn get_info(&self) -> ClientConfig {
        self.config.clone()
    }

    async fn on_progress(&self, params: ProgressNotificationParam, _context: NotificationContext<RoleClient>) {
        // The test may have ended.
        let _ = self.steps.send(params.progress);
    }
}

fn call(tool: &'static str, arguments: &Value) -> ClientRequest {
    let arguments: JsonObject = arguments.as_object().cloned().unwrap_or_default();
    ClientRequest::CallToolRequest(CallToolRequest::new(CallToolRequestParams::new(tool).with_arguments(arguments)))
}

async fn speak(site: &Site, revision: ProtocolVersion, folder: &str) {
    let (steps, mut seen) = mpsc::unbounded_channel();
    let config = ClientConfig::default().with_protocol_version(revision.clone());
    let lifecycle = match revision < ProtocolVersion::V_2026_07_28 {
        true => ClientLifecycleMode::Initialize,
        false => ClientLifecycleMode::Discover { preferred_versions: vec![revision.clone()] },
    };
    let transport = StreamableHttpClientTransport::from_uri(format!("{}/mcp", site.url()));
    let client = Watcher { config, steps }.serve_with_lifecycle(transport, lifecycle).await.expect("it is let in");
    let tools = client.list_tools(None).await.expect("it lists").tools;
    assert!(tools.iter().any(|tool| tool.name == "search_symbols"), "{revision}: {tools:?}");

    let anew = json!({"path": folder, "incremental": false});
    let ask = |request| client.send_cancellable_request(request, PeerRequestOptions::no_options());
    let made = ask(call("index_folder", &anew)).await.expect("it is sent").await_response().await;
    let Ok(ServerResult::CallToolResult(made)) = made else { panic!("{revision}: {made:?}") };
    assert_ne!(made.is_error, Some(true), "{revision}: {made:?}");
    assert!(seen.recv().await.is_some(), "{revision}: no progress");
    while seen.try_recv().is_ok() {}

    let before = n_cancelled(site);
    // A call that never ends by itself.
    let (silent, url) = silent_server();
    let taken_back = ask(call("index_repo", &json!({"url": url}))).await.expect("it is sent");
    let asked = tokio::task::spawn_blocking(move || silent.accept()).await.expect("it waits").expect("it begins");
    taken_back.cancel(Some("enough".to_owned())).await.expect("it is sent");
    let begun = Instant::now();
    while n_cancelled(site) == before {
        assert!(begun.elapsed() < PATIENCE, "{revision}: the call goes on");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    drop(asked);
    let found = ask(call("search_symbols", &json!({"query": "f17", "repo": folder}))).await.expect("it is sent");
    let found = format!("{:?}", found.await_response().await);
    assert!(found.contains("f17.py::f17#function"), "{revision}: {found}");
    client.cancel().await.expect("it ends");
}

/// Calls that ended because their client took them back.
fn n_cancelled(site: &Site) -> u64 {
    let page = site.client().get("/metrics").body;
    let begin = "codelode_calls_total{tool=\"index_repo\",outcome=\"cancelled\"} ";
    page.lines().find_map(|line| line.strip_prefix(begin)?.parse().ok()).unwrap_or_default()
}

#[test]
fn the_client_of_rmcp_lists_calls_sees_progress_and_calls_off_in_each_revision() {
    // Its HTTP client brings no cryptography of its own. Another test may have chosen it before.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let site = Site::start_with(&["--root", "."], &[("CODELODE_TRUSTED_HOSTS", "127.0.0.1")]);
    let folder = site.folder("many");
    for i in 0..100 {
        fs::write(folder.join(format!("f{i}.py")), format!("def f{i}():\n    return {i}\n")).expect("ours");
    }
    let folder = folder.display().to_string();
    for revision in [
        ProtocolVersion::V_2025_03_26,
        ProtocolVersion::V_2025_06_18,
        ProtocolVersion::V_2025_11_25,
        ProtocolVersion::V_2026_07_28,
    ] {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("there are threads");
        runtime.block_on(speak(&site, revision, &folder));
    }
}
