//! Gate of a session: a message has to wait for `initialize`, and a request needs an id of its own.

use std::collections::HashSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use rmcp::model::{
    CancelledNotification, ClientJsonRpcMessage, ClientNotification, ClientRequest, GetMeta, JsonRpcMessage, RequestId,
    ServerJsonRpcMessage,
};
use serde_json::json;
use tokio::sync::Notify;

use super::message::{INVALID_REQUEST, Message, RUNNING, refusal};

/// The state of a session that decides which messages are let in.
#[derive(Default)]
pub(super) struct Gate {
    /// The client has sent `initialize`.
    is_open: AtomicBool,
    /// Ids of unanswered requests.
    waiting: Mutex<HashSet<RequestId>>,
    done: Notify,
}

impl Gate {
    /// Accepts a message, or refuses it with the reason.
    pub(super) fn admit(&self, message: Box<ClientJsonRpcMessage>) -> Message {
        match &*message {
            JsonRpcMessage::Request(request) => {
                let refused = |problem| Message::Refused(refusal(&json!(request.id), INVALID_REQUEST, problem));
                if matches!(request.request, ClientRequest::InitializeRequest(_)) {
                    self.is_open.store(true, Ordering::Relaxed);
                }
                if !self.is_open.load(Ordering::Relaxed) && !opens(&request.request) {
                    return refused("the session is not open: send `initialize` first");
                }
                if !self.waiting.lock().expect("no panic while it is held").insert(request.id.clone()) {
                    return refused(RUNNING);
                }
            }
            JsonRpcMessage::Notification(notification) => {
                if let ClientNotification::CancelledNotification(CancelledNotification { params, .. }) =
                    &notification.notification
                    && let Some(id) = &params.request_id
                {
                    self.end(id);
                }
            }
            JsonRpcMessage::Response(_) | JsonRpcMessage::Error(_) => {}
        }
        Message::Good(message)
    }

    /// Notes a message to the client: an answer frees the id of its request.
    pub(super) fn sent(&self, message: &ServerJsonRpcMessage) {
        match message {
            JsonRpcMessage::Response(response) => self.end(&response.id),
            JsonRpcMessage::Error(error) => error.id.iter().for_each(|id| self.end(id)),
            JsonRpcMessage::Request(_) | JsonRpcMessage::Notification(_) => {}
        }
    }

    /// Waits until at most this many requests are unanswered.
    pub(super) async fn all_but(&self, most: usize) {
        while self.waiting.lock().expect("no panic while it is held").len() > most {
            self.done.notified().await;
        }
    }

    /// Frees the id of an answered or cancelled request.
    fn end(&self, id: &RequestId) {
        self.waiting.lock().expect("no panic while it is held").remove(id);
        self.done.notify_one();
    }
}

/// Whether a request needs no open session.
fn opens(request: &ClientRequest) -> bool {
    match request {
        ClientRequest::InitializeRequest(_) | ClientRequest::PingRequest(_) => true,
        // Revisions without `initialize` name the version in each request; the server checks it.
        other => other.get_meta().protocol_version().is_some(),
    }
}
