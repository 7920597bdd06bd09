//! The server: listens, hands connections out, stops when told.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio_rustls::TlsAcceptor;

use crate::Web;
use crate::authority::Authority;
use crate::connection;
use crate::log::{Log, LogEntry, Peer};
use crate::session::Session;

/// Entries of the log kept in memory by default.
pub const LOG_ENTRIES_MAX: usize = 100_000;
/// Connections open at once by default; more wait to be accepted.
pub const CONNECTIONS_MAX: u32 = 10_000;
/// The pause after a failed accept (as when the process has no file descriptor left).
const ACCEPT_PAUSE: Duration = Duration::from_millis(10);

/// What a server serves, and where.
pub struct Config {
    /// The sites.
    pub web: Web,
    /// The addresses to listen on; port 0 takes a free one. Default: 127.0.0.1:0.
    pub listen: Vec<SocketAddr>,
    /// How many requests are kept in the log in memory; later ones are only counted. 0 for none.
    pub log_entries_max: usize,
    /// A file to which each request is written as a line of JSON once it has been answered; its size has no bound.
    pub log_file: Option<PathBuf>,
    /// Connections open at once; more wait to be accepted.
    pub connections_max: u32,
}

/// Why a server could not be started.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// An address could not be listened on.
    #[error("cannot listen on {address}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// What the system said.
        source: io::Error,
    },
    /// The file for the log could not be created.
    #[error("cannot write the log to {path}")]
    LogFile {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The certificate authority could not be made.
    #[error("cannot make a certificate authority: {0}")]
    Authority(String),
}

/// A running server. Dropping it stops it, without waiting.
pub struct Server {
    addresses: Vec<SocketAddr>,
    authority_pem: String,
    log: Arc<Log>,
    stop: watch::Sender<bool>,
    connections: Arc<Semaphore>,
    connections_max: u32,
    listeners: Vec<tokio::task::JoinHandle<()>>,
}

impl Config {
    /// The defaults: one listener on a free port of 127.0.0.1, [`LOG_ENTRIES_MAX`], [`CONNECTIONS_MAX`].
    pub fn new(web: Web) -> Self {
        Config {
            web,
            listen: vec![SocketAddr::from((Ipv4Addr::LOCALHOST, 0))],
            log_entries_max: LOG_ENTRIES_MAX,
            log_file: None,
            connections_max: CONNECTIONS_MAX,
        }
    }
}

impl Server {
    /// Listens on all addresses and starts to serve, on the runtime it is called in.
    pub async fn start(config: Config) -> Result<Server, StartError> {
        let log = Log::new(config.log_entries_max, config.log_file.as_deref())
            .map_err(|source| StartError::LogFile { path: config.log_file.unwrap_or_default(), source })?;
        let authority = Authority::new().map_err(|error| StartError::Authority(error.to_string()))?;
        let authority_pem = authority.pem();
        let tls = authority.server_config().map_err(|error| StartError::Authority(error.to_string()))?;
        let listeners = bind(&config.listen).await?;

        let stop = watch::Sender::new(false);
        let shared = Acceptor {
            web: Arc::new(config.web),
            log: Arc::new(log),
            tls: TlsAcceptor::from(Arc::new(tls)),
            accepted: Arc::default(),
            connections: Arc::new(Semaphore::new(config.connections_max as usize)),
            stop: stop.subscribe(),
        };
        Ok(Server {
            addresses: listeners.iter().map(|(_, address)| *address).collect(),
            authority_pem,
            log: Arc::clone(&shared.log),
            stop,
            connections: Arc::clone(&shared.connections),
            connections_max: config.connections_max,
            listeners: listeners
                .into_iter()
                .map(|(listener, address)| tokio::spawn(shared.clone().run(listener, address)))
                .collect(),
        })
    }

    /// The addresses listened on, in the order of [`Config::listen`].
    pub fn addresses(&self) -> &[SocketAddr] {
        &self.addresses
    }

    /// The first address.
    pub fn address(&self) -> SocketAddr {
        self.addresses.first().copied().unwrap_or_else(|| SocketAddr::from((Ipv4Addr::LOCALHOST, 0)))
    }

    /// The value of curl's `--connect-to` that leads every host and port to the first address.
    pub fn connect_to(&self) -> String {
        format!("::{}", self.address())
    }

    /// The URL of the first address as a proxy.
    pub fn proxy(&self) -> String {
        format!("http://{}", self.address())
    }

    /// The certificate, in PEM, of the authority that signs the certificates of all hosts.
    pub fn ca_pem(&self) -> &str {
        &self.authority_pem
    }

    /// The log so far, by time of arrival.
    pub fn log(&self) -> Vec<LogEntry> {
        self.log.entries()
    }

    /// The time of the log's clock: microseconds since the start.
    pub fn now_us(&self) -> u64 {
        self.log.now_us()
    }

    /// How many requests came so far, whether logged or not.
    pub fn requests(&self) -> u64 {
        self.log.requests()
    }

    /// Stops listening, breaks off every connection, and returns when all are gone.
    pub async fn shutdown(mut self) {
        self.stop.send_replace(true);
        for listener in self.listeners.drain(..) {
            // A listener that panicked is gone as well.
            let _ = listener.await;
        }
        let _ = self.connections.acquire_many(self.connections_max).await;
    }
}

async fn bind(addresses: &[SocketAddr]) -> Result<Vec<(TcpListener, SocketAddr)>, StartError> {
    let mut listeners = Vec::with_capacity(addresses.len());
    for &address in addresses {
        let failed = |source| StartError::Listen { address, source };
        let listener = TcpListener::bind(address).await.map_err(failed)?;
        let bound = listener.local_addr().map_err(failed)?;
        listeners.push((listener, bound));
    }
    Ok(listeners)
}

/// What the listeners share.
#[derive(Clone)]
struct Acceptor {
    web: Arc<Web>,
    log: Arc<Log>,
    tls: TlsAcceptor,
    accepted: Arc<AtomicU64>,
    connections: Arc<Semaphore>,
    stop: watch::Receiver<bool>,
}

impl Acceptor {
    async fn run(self, listener: TcpListener, local: SocketAddr) {
        let mut stop = self.stop.clone();
        tokio::select! {
            () = self.accept(listener, local) => {}
            // Told to stop, or the server was dropped.
            _ = stop.wait_for(|stop| *stop) => {}
        }
    }

    async fn accept(&self, listener: TcpListener, local: SocketAddr) {
        while let Ok(permit) = Arc::clone(&self.connections).acquire_owned().await {
            match listener.accept().await {
                Ok((stream, peer)) => self.serve(stream, local, peer, permit),
                Err(_) => tokio::time::sleep(ACCEPT_PAUSE).await,
            }
        }
    }

    fn serve(&self, stream: TcpStream, local: SocketAddr, peer: SocketAddr, permit: OwnedSemaphorePermit) {
        let connection = self.accepted.fetch_add(1, Ordering::Relaxed);
        let session = Session {
            web: Arc::clone(&self.web),
            log: Arc::clone(&self.log),
            tls: self.tls.clone(),
            peer: Peer { connection, peer, local },
        };
        let mut stop = self.stop.clone();
        tokio::spawn(async move {
            tokio::select! {
                // A connection that fails is the client's business.
                _ = connection::serve(stream, session) => {}
                _ = stop.wait_for(|stop| *stop) => {}
            }
            drop(permit);
        });
    }
}
