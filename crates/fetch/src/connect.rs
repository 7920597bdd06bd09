//! From a site to an open connection: overrides, names, the address rule, proxy, TCP, TLS.

use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use model::{Failure, FailureKind, Resolved};
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
use crate::lookups::Lookups;
use crate::pool::Key;
use crate::private::{PrivateRule, is_localhost};
use crate::race::Race;
use crate::request::Form;
use crate::route::{Routes, literal_address};
use crate::{ConfigError, FetchConfig, ProxyUrl, tls};

/// Opens connections.
pub(crate) struct Connector {
    dns: Dns,
    lookups: Mutex<Lookups>,
    routes: Routes,
    proxy: Option<ProxyUrl>,
    pub(crate) private: PrivateRule,
    tls: Arc<rustls::ClientConfig>,
    connect_timeout: Duration,
    head_bytes_max: usize,
    race: Race,
    proxy_race: tokio::sync::Mutex<()>,
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
            lookups: Mutex::default(),
            routes: Routes { resolve: config.resolve.clone(), connect_to: config.connect_to.clone() },
            proxy: config.proxy.clone(),
            private: PrivateRule::new(config.deny_private),
            tls: tls::client_config(&config.ca_certs)?,
            connect_timeout: config.limits.connect_timeout,
            head_bytes_max: config.limits.header_bytes_max,
            race: Race::new(config.limits.connect_timeout, config.gate.clone()),
            proxy_race: tokio::sync::Mutex::default(),
        })
    }

    /// How long to wait before [`Connector::resolve`]: nothing where no name server is asked.
    pub(crate) fn lookup_turn(&self, site: &Site, wait_max: Option<Duration>) -> Option<Duration> {
        if self.proxy.is_some() {
            return Some(Duration::ZERO);
        }
        let elsewhere = self.routes.elsewhere(site.host(), site.port());
        let (host, port) = elsewhere.as_ref().map_or((site.host(), site.port()), |(host, port)| (host, *port));
        if self.routes.addresses(host, port).is_some() || literal_address(host).is_some() || is_localhost(host) {
            return Some(Duration::ZERO);
        }
        // What it holds is never half changed.
        let mut lookups = self.lookups.lock().unwrap_or_else(PoisonError::into_inner);
        lookups.turn(host, Instant::now(), wait_max)
    }

    /// The addresses that connections for `site` may go to, the one to be used first: none behind a proxy, which resolves by
    /// itself; else never none. Which of them connects is tried only where `may_try` holds.
    pub(crate) async fn resolve(
        &self,
        site: &Site,
        may_try: impl Fn(IpAddr) -> bool + Send,
    ) -> Result<Resolved, Failure> {
        if self.proxy.is_some() {
            self.judge_by_proxy(site).await?;
            return Ok(Resolved::by_hand(Vec::new()));
        }
        let elsewhere = self.routes.elsewhere(site.host(), site.port());
        let (host, port) = elsewhere.unwrap_or_else(|| (site.host().to_owned(), site.port()));
        let Resolved { addresses, holds } = self.admitted(site, &host, port).await?;
        // Boxed, as connecting is.
        let addresses = Box::pin(self.race.order(addresses, port, may_try)).await;
        Ok(Resolved { addresses, holds })
    }

    /// The addresses of `host`, to which connections for `site` go, as far as the site may have them; never none.
    async fn admitted(&self, site: &Site, host: &str, port: u16) -> Result<Resolved, Failure> {
        let mut found = self.lookup(host, port).await?;
        let Some(private) = found.addresses.iter().copied().find(|address| !is_globally_routable(*address)) else {
            self.private.found_public(site);
            return Ok(found);
        };
        if self.private.allows(self.routes.is_by_hand(site.host(), site.port())) {
            return Ok(found);
        }
        // A name that has both kinds is used as a public one.
        if found.addresses.iter().any(|address| is_globally_routable(*address)) {
            self.private.found_public(site);
            found.addresses.retain(|address| is_globally_routable(*address));
            return Ok(found);
        }
        self.judge(site, host, private).await?;
        Ok(found)
    }

    /// Refuses an address that is not public, unless the site may have one.
    async fn judge(&self, site: &Site, host: &str, address: IpAddr) -> Result<(), Failure> {
        let is_allowed = is_globally_routable(address)
            || self.private.allows(self.routes.is_by_hand(site.host(), site.port()))
            || self.private.grants(site).await;
        if is_allowed { Ok(()) } else { Err(self.private.denied(site, host, Some(address))) }
    }

    /// Judges a site behind a proxy. A name is the proxy's to resolve; an address, and a name of this machine, can be judged here.
    async fn judge_by_proxy(&self, site: &Site) -> Result<(), Failure> {
        let elsewhere = self.routes.elsewhere(site.host(), site.port());
        let host = elsewhere.as_ref().map_or(site.host(), |(host, _)| host);
        match literal_address(host) {
            Some(address) => self.judge(site, host, address).await,
            None if !is_localhost(host) => Ok(()),
            None if self.private.allows(self.routes.is_by_hand(site.host(), site.port())) => Ok(()),
            None if self.private.grants(site).await => Ok(()),
            None => Err(self.private.denied(site, host, None)),
        }
    }

    async fn lookup(&self, host: &str, port: u16) -> Result<Resolved, Failure> {
        if let Some(given) = self.routes.addresses(host, port) {
            return Ok(Resolved::by_hand(given.to_vec()));
        }
        match literal_address(host) {
            Some(address) => Ok(Resolved::by_hand(vec![address])),
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
            Some(address) => {
                // Boxed, and below: few connections come here.
                if !is_globally_routable(address) {
                    Box::pin(self.judge(site, &host, address)).await?;
                }
                address
            }
            None => first(&Box::pin(self.resolve(site, |_| true)).await?.addresses, &host)?,
        };
        let port = self.routes.elsewhere(&host, site.port()).map_or(site.port(), |(_, port)| port);
        let authority = Some((host.clone(), site.port()));
        let key = Key { https, authority, peer: SocketAddr::new(address, port) };
        Ok(Target { key, host, via: Via::Nothing })
    }

    async fn target_by_proxy(&self, site: &Site, proxy: &ProxyUrl) -> Result<Target, Failure> {
        let elsewhere = self.routes.elsewhere(site.host(), site.port());
        // As curl does: what is led elsewhere goes through a tunnel, plain http too.
        let tunnel = site.is_https() || elsewhere.is_some();
        let (host, port) = elsewhere.unwrap_or_else(|| (site.host().to_owned(), site.port()));
        Box::pin(self.judge_by_proxy(site)).await?;
        let address = self.address_of(proxy).await?;
        let authority = tunnel.then(|| (site.host().to_owned(), site.port()));
        let key = Key { https: site.is_https(), authority, peer: SocketAddr::new(address, proxy.port) };
        let via = if tunnel { Via::Tunnel(format!("{host}:{port}")) } else { Via::Proxy };
        Ok(Target { key, host: site.host().to_owned(), via })
    }

    /// The address of the proxy that connects first. Requests wait for one that finds out, since they would all try.
    async fn address_of(&self, proxy: &ProxyUrl) -> Result<IpAddr, Failure> {
        let mut addresses = self.lookup(&proxy.host, proxy.port).await?.addresses;
        if addresses.len() > 1 {
            let _turn = self.proxy_race.lock().await;
            addresses = Box::pin(self.race.order(addresses, proxy.port, |_| true)).await;
        }
        first(&addresses, &proxy.host)
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
