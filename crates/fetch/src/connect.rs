//! From a site to an open connection: overrides, names, the address rule, proxy, TCP, TLS.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use model::{Failure, FailureKind};
use rustls::pki_types::ServerName;
use stages::{Stage, wait};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::time::Instant;
use tokio_rustls::TlsConnector;
use weburl::Site;

use crate::address::is_globally_routable;
use crate::connection::Connection;
use crate::dns::Dns;
use crate::failure::{self, failure};
use crate::gate::Gate;
use crate::pool::Key;
use crate::request::Form;
use crate::route::{Routes, literal_address};
use crate::{ConfigError, FetchConfig, ProxyUrl, race, tls};

/// Opens connections.
pub(crate) struct Connector {
    dns: Dns,
    routes: Routes,
    proxy: Option<ProxyUrl>,
    deny_private: bool,
    tls: Arc<rustls::ClientConfig>,
    connect_timeout: Duration,
    head_bytes_max: usize,
    gate: Gate,
}

/// Where a request goes, and how.
pub(crate) struct Target {
    pub(crate) key: Key,
    host: String,
    via: Via,
}

/// What lies between us and the server.
#[derive(Debug, PartialEq, Eq)]
enum Via {
    Nothing,
    /// A proxy that is given whole URLs.
    Proxy,
    /// A proxy that connects to this `host:port` and passes all bytes.
    Tunnel(String),
}

impl Target {
    /// The form of requests over `connection`.
    pub(crate) fn form(&self, connection: &Connection) -> Form {
        match self.via {
            _ if connection.is_http2() => Form::Http2,
            Via::Proxy => Form::Absolute,
            Via::Nothing | Via::Tunnel(_) => Form::Origin,
        }
    }

    /// The server's own address, if it is known.
    pub(crate) fn address(&self) -> Option<SocketAddr> {
        (self.via == Via::Nothing).then_some(self.key.peer)
    }
}

impl Connector {
    pub(crate) fn new(config: &FetchConfig) -> Result<Self, ConfigError> {
        Ok(Connector {
            dns: Dns::new(&config.name_servers, config.limits.dns_timeout)?,
            routes: Routes { resolve: config.resolve.clone(), connect_to: config.connect_to.clone() },
            proxy: config.proxy.clone(),
            deny_private: config.deny_private,
            tls: tls::client_config(&config.ca_certs)?,
            connect_timeout: config.limits.connect_timeout,
            head_bytes_max: config.limits.header_bytes_max,
            gate: config.gate.clone(),
        })
    }

    /// The addresses that connections for `site` may go to, the one to be used first: none behind a proxy, which resolves by
    /// itself; else never empty.
    pub(crate) async fn resolve(&self, site: &Site) -> Result<Vec<IpAddr>, Failure> {
        if self.proxy.is_some() {
            // A name is the proxy's to resolve; an address can be judged here.
            return match literal_address(site.host()) {
                Some(address) if self.deny_private && !is_globally_routable(address) => {
                    Err(denied_address(site.host(), address))
                }
                _ => Ok(Vec::new()),
            };
        }
        let elsewhere = self.routes.elsewhere(site.host(), site.port());
        let (host, port) = elsewhere.unwrap_or_else(|| (site.host().to_owned(), site.port()));
        let mut addresses = self.lookup(&host, port).await?;
        if self.deny_private {
            let denied = addresses.iter().find(|address| !is_globally_routable(**address)).copied();
            addresses.retain(|address| is_globally_routable(*address));
            if let (true, Some(address)) = (addresses.is_empty(), denied) {
                return Err(denied_address(&host, address));
            }
        }
        if race::is_needed(&addresses) {
            self.gate.pass().await;
            // Boxed, as connecting is.
            addresses = Box::pin(race::order(addresses, port, self.connect_timeout)).await;
        }
        Ok(addresses)
    }

    async fn lookup(&self, host: &str, port: u16) -> Result<Vec<IpAddr>, Failure> {
        if let Some(given) = self.routes.addresses(host, port) {
            return Ok(given.to_vec());
        }
        match literal_address(host) {
            Some(address) => Ok(vec![address]),
            // Boxed: a fetch is not to carry the resolver along while it waits for a page.
            None => Box::pin(wait(Stage::Resolve, self.dns.lookup(host))).await,
        }
    }

    /// Where a request for `site` goes. `pinned` is the address decided before; behind a proxy it is not looked at.
    pub(crate) async fn target(&self, site: &Site, pinned: Option<IpAddr>) -> Result<Target, Failure> {
        let (host, https) = (site.host().to_owned(), site.is_https());
        if let Some(proxy) = &self.proxy {
            return self.target_by_proxy(site, proxy).await;
        }
        let address = match pinned {
            Some(address) => address,
            None => first(&self.resolve(site).await?, &host)?,
        };
        let port = self.routes.elsewhere(&host, site.port()).map_or(site.port(), |(_, port)| port);
        if self.deny_private && !is_globally_routable(address) {
            return Err(denied_address(&host, address));
        }
        let authority = Some((host.clone(), site.port()));
        let key = Key { https, authority, peer: SocketAddr::new(address, port) };
        Ok(Target { key, host, via: Via::Nothing })
    }

    async fn target_by_proxy(&self, site: &Site, proxy: &ProxyUrl) -> Result<Target, Failure> {
        let elsewhere = self.routes.elsewhere(site.host(), site.port());
        // As curl does: what is led elsewhere goes through a tunnel, plain http too.
        let tunnel = site.is_https() || elsewhere.is_some();
        let (host, port) = elsewhere.unwrap_or_else(|| (site.host().to_owned(), site.port()));
        if let Some(address) = literal_address(&host)
            && self.deny_private
            && !is_globally_routable(address)
        {
            return Err(denied_address(&host, address));
        }
        let address = first(&self.lookup(&proxy.host, proxy.port).await?, &proxy.host)?;
        let authority = tunnel.then(|| (site.host().to_owned(), site.port()));
        let key = Key { https: site.is_https(), authority, peer: SocketAddr::new(address, proxy.port) };
        let via = if tunnel { Via::Tunnel(format!("{host}:{port}")) } else { Via::Proxy };
        Ok(Target { key, host: site.host().to_owned(), via })
    }

    /// A new connection, within `connect_timeout`.
    pub(crate) async fn connect(&self, target: &Target) -> Result<Connection, Failure> {
        self.in_time(target.key.peer, self.open(target)).await
    }

    /// How long TCP takes to connect, within `connect_timeout`.
    pub(crate) async fn round_trip(&self, site: &Site, pinned: Option<IpAddr>) -> Result<Duration, Failure> {
        let peer = self.target(site, pinned).await?.key.peer;
        let begun = Instant::now();
        let connected = async { TcpStream::connect(peer).await.map_err(|error| failure::connect(peer, &error)) };
        self.in_time(peer, connected).await?;
        Ok(begun.elapsed())
    }

    async fn in_time<T>(&self, peer: SocketAddr, act: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
        tokio::time::timeout(self.connect_timeout, act).await.unwrap_or_else(|_| {
            let detail = format!("connect to {peer}: not done within {:?} (connect_timeout)", self.connect_timeout);
            Err(failure(FailureKind::Timeout, detail))
        })
    }

    async fn open(&self, target: &Target) -> Result<Connection, Failure> {
        let peer = target.key.peer;
        let mut stream =
            wait(Stage::Connect, TcpStream::connect(peer)).await.map_err(|error| failure::connect(peer, &error))?;
        // A request is one small packet: it must not wait for another. Where it cannot be set, it is only slower.
        let _ = stream.set_nodelay(true);
        if let (Via::Tunnel(authority), Some(proxy)) = (&target.via, &self.proxy) {
            proxy.tunnel(&mut stream, authority, self.head_bytes_max).await?;
        }
        if target.key.https {
            self.secure(stream, &target.host).await
        } else {
            Ok(Connection::http1(stream, self.head_bytes_max))
        }
    }

    async fn secure<S>(&self, stream: S, host: &str) -> Result<Connection, Failure>
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let name = match literal_address(host) {
            Some(address) => ServerName::IpAddress(address.into()),
            None => ServerName::try_from(host.to_owned())
                .map_err(|_| failure(FailureKind::Tls, format!("TLS: {host} is not a name a certificate can have")))?,
        };
        let connector = TlsConnector::from(Arc::clone(&self.tls));
        let stream =
            wait(Stage::Tls, connector.connect(name, stream)).await.map_err(|error| failure::tls(host, &error))?;
        if stream.get_ref().1.alpn_protocol() == Some(b"h2") {
            Connection::http2(stream, self.head_bytes_max).await
        } else {
            Ok(Connection::http1(stream, self.head_bytes_max))
        }
    }
}

fn first(addresses: &[IpAddr], host: &str) -> Result<IpAddr, Failure> {
    let none = || failure(FailureKind::NameNotFound, format!("no address for name {host}"));
    addresses.first().copied().ok_or_else(none)
}

fn denied_address(host: &str, address: IpAddr) -> Failure {
    let detail = if host.trim_matches(['[', ']']) == address.to_string() {
        format!("{host} is not a public address")
    } else {
        format!("{host} has the address {address}, which is not public")
    };
    failure(FailureKind::AddressDenied, detail)
}
