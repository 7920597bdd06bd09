//! The configuration of a fetcher, and its errors.

use std::net::SocketAddr;

use cookies::Cookies;
use model::{Limits, MediaRange};

use crate::{ConnectTo, DenyPrivate, Gate, Keyring, ProxyUrl, Resolve};

/// Redirects of robots.txt that are followed (RFC 9309 §2.3.1.2): here within its site, and by the crawl from site to site.
pub const ROBOTS_REDIRECTS_MAX: usize = 5;

/// Default for all idle connections.
const IDLE_MAX: usize = 2_000;

/// The settings of a [`crate::Fetcher`].
#[derive(Clone, Debug)]
pub struct FetchConfig {
    /// All limits on what the web may make us do.
    pub limits: Limits,
    /// The value of `User-Agent`.
    pub user_agent: String,
    /// The value of `Accept`.
    pub accept: String,
    /// More request fields, for every server; one of the same name as a field sent anyway replaces it.
    pub headers: Vec<(String, String)>,
    /// Request fields that only some servers may learn.
    pub keyring: Keyring,
    /// The cookies of the crawl, which answers change; `None` neither sends nor keeps any. With a jar, or for requests that bear a secret,
    /// no recorded head has the value of a cookie.
    pub cookies: Option<Cookies>,
    /// A proxy for all requests. A task's address is not looked at then.
    pub proxy: Option<ProxyUrl>,
    /// Names answered by hand.
    pub resolve: Vec<Resolve>,
    /// Connections led elsewhere.
    pub connect_to: Vec<ConnectTo>,
    /// Certificates trusted besides the system's, each the content of a PEM file.
    pub ca_certs: Vec<Vec<u8>>,
    /// When addresses that are not globally routable are refused. The proxy's and the name servers' own addresses are not asked
    /// about; behind a proxy only hosts that are addresses, and names of this machine, can be judged.
    pub deny_private: DenyPrivate,
    /// Media types besides HTML, XML and text for which a HEAD is followed by GET: `application/pdf`, `image/*`.
    pub head_accepts: Vec<MediaRange>,
    /// Read no body that is declared as an image, sound, video or font, unless it is of these media types, or the ending of
    /// its URL is that of a document. `None` reads all.
    pub media_wanted: Option<Vec<MediaRange>>,
    /// Name servers to ask; none means the system's.
    pub name_servers: Vec<SocketAddr>,
    /// Connections kept open between requests, at most: each is a file to the system.
    pub idle_connections_max: usize,
    /// Redirects of robots.txt within its site that are followed.
    pub robots_redirects_max: usize,
    /// What every request passes before it is sent.
    pub gate: Gate,
}

impl Default for FetchConfig {
    fn default() -> Self {
        FetchConfig {
            limits: Limits::default(),
            user_agent: concat!("argiope/", env!("CARGO_PKG_VERSION")).to_owned(),
            accept: "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8".to_owned(),
            headers: Vec::new(),
            keyring: Keyring::default(),
            cookies: None,
            proxy: None,
            resolve: Vec::new(),
            connect_to: Vec::new(),
            ca_certs: Vec::new(),
            deny_private: DenyPrivate::Never,
            head_accepts: Vec::new(),
            media_wanted: None,
            name_servers: Vec::new(),
            idle_connections_max: IDLE_MAX,
            robots_redirects_max: ROBOTS_REDIRECTS_MAX,
            gate: Gate::default(),
        }
    }
}

/// Why a fetcher cannot be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// A request field has a name or a value that cannot be sent.
    #[error("request field `{0}` has characters that cannot be sent")]
    Field(String),
    /// A request field belongs to the connection, not to the user.
    #[error("request field `{0}` is set by the crawler itself")]
    FieldReserved(String),
    /// A file of certificates cannot be used.
    #[error("CA certificate file number {}: {reason}", index + 1)]
    CaCert {
        /// The place in [`FetchConfig::ca_certs`].
        index: usize,
        /// What is wrong with it.
        reason: String,
    },
    /// The TLS library does not work.
    #[error("TLS cannot be set up: {0}")]
    Tls(#[source] rustls::Error),
    /// The resolver cannot be made.
    #[error("name resolution cannot be set up: {0}")]
    Resolver(String),
}
