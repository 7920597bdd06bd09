//! The DevTools protocol over a pair of pipes: JSON messages, each ended by a zero byte.
//!
//! Spoken here rather than by a library: those there are speak it over a socket on a port, which any user of the machine can connect to
//! and which the browser outlives us by, and generate thousands of types that a new Chromium breaks (decision 6).

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use serde::Deserialize;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::process::{ChildStdin, ChildStdout};
use tokio::sync::{mpsc, oneshot};

use crate::surrogates::replace_lone;
use crate::{BrowserError, RenderFailure};

/// Commands waiting to be written.
const COMMANDS_MAX: usize = 256;
/// Events of a page waiting to be looked at. A page that makes more is not rendered to its end.
const EVENTS_MAX: usize = 4_096;
/// The longest message that is read, in bytes.
const MESSAGE_BYTES_MAX: u64 = 256 << 20;

/// A connection to a browser. It ends with the browser.
#[derive(Clone)]
pub(crate) struct Connection {
    commands: mpsc::Sender<Vec<u8>>,
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    next_id: AtomicU64,
    waiting: Mutex<Waiting>,
}

#[derive(Default)]
struct Waiting {
    /// Commands without an answer so far, by their number.
    answers: HashMap<u64, oneshot::Sender<Value>>,
    /// Who hears the events of a session, what is attached to in a browser context, and what a worker requests of the browser.
    sessions: HashMap<String, mpsc::Sender<Value>>,
    has_ended: bool,
}

/// Whom a message is for. It is read of messages, too, of which the rest cannot be: those that are too deep, for example.
#[derive(Deserialize)]
struct Addressed {
    id: Option<u64>,
    #[serde(rename = "sessionId")]
    session: Option<String>,
}

/// The events of a session, until it is dropped.
pub(crate) struct Events {
    session: String,
    inbox: mpsc::Receiver<Value>,
    shared: Arc<Shared>,
}

impl Connection {
    pub(crate) fn new(stdin: ChildStdin, stdout: ChildStdout) -> Self {
        let (commands, orders) = mpsc::channel(COMMANDS_MAX);
        let shared = Arc::new(Shared::default());
        tokio::spawn(write(stdin, orders));
        tokio::spawn(read(stdout, shared.clone()));
        Connection { commands, shared }
    }

    /// Whether the browser has ended.
    pub(crate) fn has_ended(&self) -> bool {
        self.shared.lock().has_ended
    }

    /// Sends a command to the browser or, with a session, to a page. Gives its result.
    pub(crate) async fn call(
        &self,
        session: Option<&str>,
        method: &'static str,
        parameters: Value,
    ) -> Result<Value, RenderFailure> {
        let (answer, answered) = oneshot::channel();
        let id = self.shared.next_id.fetch_add(1, Ordering::Relaxed);
        {
            let mut waiting = self.shared.lock();
            if waiting.has_ended {
                return Err(BrowserError::Ended.into());
            }
            waiting.answers.insert(id, answer);
        }
        self.send(id, session, method, parameters).await?;
        let mut message = answered.await.map_err(|_| BrowserError::Ended)?;
        match message.get_mut("error") {
            Some(error) => Err(RenderFailure::Protocol { method, answer: error["message"].to_string() }),
            None => Ok(message["result"].take()),
        }
    }

    /// Sends a command without waiting for the answer.
    pub(crate) async fn tell(
        &self,
        session: Option<&str>,
        method: &'static str,
        parameters: Value,
    ) -> Result<(), RenderFailure> {
        let id = self.shared.next_id.fetch_add(1, Ordering::Relaxed);
        self.send(id, session, method, parameters).await
    }

    async fn send(&self, id: u64, session: Option<&str>, method: &str, parameters: Value) -> Result<(), RenderFailure> {
        let mut command = json!({"id": id, "method": method, "params": parameters});
        if let Some(session) = session {
            command["sessionId"] = session.into();
        }
        let mut bytes = command.to_string().into_bytes();
        bytes.push(0);
        Ok(self.commands.send(bytes).await.map_err(|_| BrowserError::Ended)?)
    }

    /// Hears the events of a session from now on, and of the workers that are attached to in its browser context.
    pub(crate) fn events(&self, session: &str, context: &str) -> Events {
        let (events, inbox) = mpsc::channel(EVENTS_MAX);
        let mut waiting = self.shared.lock();
        if !waiting.has_ended {
            waiting.sessions.extend([session, context].map(|name| (name.to_owned(), events.clone())));
        }
        drop(waiting);
        Events { session: session.to_owned(), inbox, shared: self.shared.clone() }
    }
}

impl Events {
    /// Hears the events of another session too.
    pub(crate) fn hear(&self, session: &str) {
        let mut waiting = self.shared.lock();
        if let Some(events) = waiting.sessions.get(&self.session).cloned() {
            waiting.sessions.insert(session.to_owned(), events);
        }
    }

    /// The next event.
    ///
    /// # Errors
    /// The browser ended, or the page made more events than could be looked at.
    pub(crate) async fn next(&mut self) -> Result<Value, RenderFailure> {
        self.inbox.recv().await.ok_or_else(|| BrowserError::Ended.into())
    }
}

impl Drop for Events {
    fn drop(&mut self) {
        self.inbox.close();
        self.shared.lock().sessions.retain(|_, events| !events.is_closed());
    }
}

impl Shared {
    fn lock(&self) -> std::sync::MutexGuard<'_, Waiting> {
        // Nothing is left half done in it by a panic.
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take(&self, message: Value) {
        let mut waiting = self.lock();
        if let Some(id) = message["id"].as_u64() {
            if let Some(answer) = waiting.answers.remove(&id) {
                // Who asked may have given up.
                let _ = answer.send(message);
            }
            return;
        }
        let parameters = &message["params"];
        let names = [&message["sessionId"], &parameters["targetInfo"]["browserContextId"], &parameters["frameId"]];
        let Some(name) = names.into_iter().find_map(Value::as_str) else { return };
        let Some(events) = waiting.sessions.get(name).cloned() else { return };
        if message["method"] == "Target.targetCreated" {
            let worker = parameters["targetInfo"]["targetId"].as_str().unwrap_or_default();
            waiting.sessions.insert(worker.to_owned(), events.clone());
        }
        if events.try_send(message).is_err() {
            waiting.hang_up(&events);
        }
    }

    /// Takes a message that cannot be read, so that nothing waits for it: a command has failed, and the events of a session have ended.
    /// `None` if not even that is known.
    fn take_unread(&self, bytes: &[u8]) -> Option<()> {
        let Addressed { id, session } = serde_json::from_slice(bytes).ok()?;
        if id.is_some() {
            self.take(json!({"id": id, "error": {"message": "what cannot be read"}}));
            return Some(());
        }
        let session = session?;
        let mut waiting = self.lock();
        if let Some(events) = waiting.sessions.get(&session).cloned() {
            waiting.hang_up(&events);
        }
        Some(())
    }

    fn end(&self) {
        let mut waiting = self.lock();
        waiting.has_ended = true;
        waiting.answers.clear();
        waiting.sessions.clear();
    }
}

impl Waiting {
    /// Sends no more events there. Who hears no more of one hears no more of all.
    fn hang_up(&mut self, events: &mpsc::Sender<Value>) {
        self.sessions.retain(|_, other| !other.same_channel(events));
    }
}

async fn write(mut stdin: ChildStdin, mut orders: mpsc::Receiver<Vec<u8>>) {
    while let Some(bytes) = orders.recv().await {
        if stdin.write_all(&bytes).await.is_err() {
            return;
        }
    }
}

async fn read(stdout: ChildStdout, shared: Arc<Shared>) {
    let mut stdout = BufReader::new(stdout);
    let mut bytes = Vec::new();
    loop {
        bytes.clear();
        let read = (&mut stdout).take(MESSAGE_BYTES_MAX).read_until(0, &mut bytes).await;
        if read.is_err() || bytes.pop() != Some(0) {
            return shared.end();
        }
        replace_lone(&mut bytes);
        let taken = match serde_json::from_slice(&bytes) {
            Ok(message) => {
                shared.take(message);
                Some(())
            }
            Err(_) => shared.take_unread(&bytes),
        };
        if taken.is_none() {
            return shared.end();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_waits_for_a_message_that_cannot_be_read() {
        let shared = Arc::new(Shared::default());
        let deep = format!("{}{}", "[".repeat(1_000), "]".repeat(1_000));
        let (answer, mut answered) = oneshot::channel();
        let (events, mut inbox) = mpsc::channel(1);
        shared.lock().answers.insert(7, answer);
        shared.lock().sessions.extend(["page", "worker of it"].map(|name| (name.to_owned(), events.clone())));
        drop(events);
        let message = format!(r#"{{"id":7,"sessionId":"page","result":{deep}}}"#);
        assert!(serde_json::from_str::<Value>(&message).is_err(), "it is too deep");
        assert_eq!(shared.take_unread(message.as_bytes()), Some(()));
        assert_eq!(answered.try_recv().expect("an answer")["error"]["message"], "what cannot be read");
        assert_eq!(inbox.try_recv(), Err(mpsc::error::TryRecvError::Empty), "the page goes on");

        let event = format!(r#"{{"method":"Fetch.requestPaused","params":{deep},"sessionId":"worker of it"}}"#);
        assert_eq!(shared.take_unread(event.as_bytes()), Some(()));
        assert_eq!(inbox.try_recv(), Err(mpsc::error::TryRecvError::Disconnected), "the page has ended");

        for lost in ["", "{", r#"{"id":"#, r#"{"method":"Target.targetCreated"}"#] {
            assert_eq!(shared.take_unread(lost.as_bytes()), None, "{lost}");
        }
    }
}
