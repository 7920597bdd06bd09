//! Servers written by hand, byte for byte, so that a test can say exactly what goes wrong.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

/// A server on a free port of 127.0.0.1, until it is dropped.
pub struct Server {
    pub address: SocketAddr,
    connections: Arc<AtomicUsize>,
    requests: Arc<Mutex<Vec<String>>>,
    task: JoinHandle<()>,
}

/// One connection, seen from the server.
pub struct Peer<S = TcpStream> {
    pub stream: S,
    /// Counted from 0.
    pub number: usize,
    requests: Arc<Mutex<Vec<String>>>,
}

/// Runs `handler` for each connection.
pub async fn serve<F, H>(handler: F) -> Server
where
    F: Fn(Peer) -> H + Send + Sync + 'static,
    H: Future<Output = ()> + Send + 'static,
{
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let address = listener.local_addr().expect("an address");
    let (connections, requests) = (Arc::new(AtomicUsize::new(0)), Arc::new(Mutex::new(Vec::new())));
    let (counter, log) = (Arc::clone(&connections), Arc::clone(&requests));
    let task = tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let number = counter.fetch_add(1, Ordering::SeqCst);
            tokio::spawn(handler(Peer { stream, number, requests: Arc::clone(&log) }));
        }
    });
    Server { address, connections, requests, task }
}

/// Answers every request on every connection with `bytes`.
pub async fn answers(bytes: impl AsRef<[u8]>) -> Server {
    let bytes: Arc<[u8]> = bytes.as_ref().into();
    serve(move |mut peer| {
        let bytes = Arc::clone(&bytes);
        async move { while peer.request().await.is_some() && peer.send(&bytes).await {} }
    })
    .await
}

/// Answers one request with `bytes` and closes.
pub async fn answers_once(bytes: impl AsRef<[u8]>) -> Server {
    let bytes: Arc<[u8]> = bytes.as_ref().into();
    serve(move |mut peer| {
        let bytes = Arc::clone(&bytes);
        async move {
            peer.request().await;
            peer.send(&bytes).await;
        }
    })
    .await
}

/// Answers one request with `first` and then `again` without end.
pub async fn answers_endlessly(first: &'static str, again: &'static str) -> Server {
    serve(move |mut peer| async move {
        peer.request().await;
        let mut open = peer.send(first).await;
        while open {
            open = peer.send(again).await;
        }
    })
    .await
}

impl Server {
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// Connections accepted so far.
    pub fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }

    /// Heads of the requests so far.
    pub fn requests(&self) -> Vec<String> {
        self.requests.lock().expect("not poisoned").clone()
    }

    /// First lines of the requests so far.
    pub fn request_lines(&self) -> Vec<String> {
        self.requests().iter().map(|head| head.lines().next().unwrap_or_default().to_owned()).collect()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Peer {
    /// The same connection with TLS on it; `None` if the client does not like it.
    pub async fn secured(self, acceptor: &TlsAcceptor) -> Option<Peer<TlsStream<TcpStream>>> {
        let stream = acceptor.accept(self.stream).await.ok()?;
        Some(Peer { stream, number: self.number, requests: self.requests })
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> Peer<S> {
    /// Reads a request's head; `None` when the client has closed.
    pub async fn request(&mut self) -> Option<String> {
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            head.push(self.stream.read_u8().await.ok()?);
        }
        let head = String::from_utf8(head).expect("a request in UTF-8");
        self.requests.lock().expect("not poisoned").push(head.clone());
        Some(head)
    }

    /// Sends; false when the client has closed.
    pub async fn send(&mut self, bytes: impl AsRef<[u8]>) -> bool {
        self.stream.write_all(bytes.as_ref()).await.is_ok() && self.stream.flush().await.is_ok()
    }
}
