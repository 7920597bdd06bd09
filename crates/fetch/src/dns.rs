//! Names to addresses, by our own resolver with its own cache.
//!
//! The system's resolver would block a thread a lookup and tell no TTLs. This one honours /etc/hosts and the TTLs of the
//! answers, keeps negative answers too, and holds a bounded number of them.

use std::net::SocketAddr;
use std::time::Duration;

use hickory_resolver::config::{
    ConnectionConfig, LookupIpStrategy, NameServerConfig, ResolveHosts, ResolverConfig, ResolverOpts,
};
use hickory_resolver::net::runtime::TokioRuntimeProvider;
use hickory_resolver::net::{DnsError, NetError};
use hickory_resolver::proto::op::Query;
use hickory_resolver::proto::rr::{Name, RecordType};
use hickory_resolver::{Hosts, TokioResolver};
use model::{Failure, FailureKind, Resolved};

use tokio::time::Instant;

use crate::ConfigError;
use crate::failure::failure;

/// Answers kept, the negative ones too.
const CACHE_ENTRIES_MAX: u64 = 65_536;

/// However long a TTL: a long crawl must notice that a site has moved.
const TTL_MAX: Duration = Duration::from_secs(24 * 3600);

/// However short a TTL: a site that is asked once a second is not looked up as often.
const TTL_MIN: Duration = Duration::from_secs(60);

/// How long a negative answer without an SOA record is believed, and the least for those with one (RFC 2308 §5).
pub(crate) const NEGATIVE_TTL_MIN: Duration = Duration::from_secs(60);

/// Times a name server is asked.
const ATTEMPTS: usize = 2;

/// The resolver of a fetcher.
pub(crate) struct Dns {
    resolver: TokioResolver,
    /// /etc/hosts as the resolver has it, to tell what comes from there: it has no TTL.
    hosts: Hosts,
    timeout: Duration,
}

impl Dns {
    /// Asks `name_servers`, or the system's where none are given.
    pub(crate) fn new(name_servers: &[SocketAddr], timeout: Duration) -> Result<Self, ConfigError> {
        let mut builder = match name_servers {
            [] => TokioResolver::builder_tokio().unwrap_or_else(|error| {
                tracing::warn!(%error, "no name servers in the system's settings: only /etc/hosts is used");
                TokioResolver::builder_with_config(ResolverConfig::default(), TokioRuntimeProvider::default())
            }),
            given => {
                let servers = given.iter().map(name_server).collect();
                let config = ResolverConfig::from_parts(None, Vec::new(), servers);
                TokioResolver::builder_with_config(config, TokioRuntimeProvider::default())
            }
        };
        set_options(builder.options_mut(), timeout);
        let resolver = builder.build().map_err(|error| ConfigError::Resolver(error.to_string()))?;
        // Without the file there is nothing in it.
        let hosts = Hosts::from_system().unwrap_or_default();
        Ok(Dns { resolver, hosts, timeout })
    }

    /// The addresses of `name`, of both families (RFC 8305 §3). Never none.
    pub(crate) async fn lookup(&self, name: &str) -> Result<Resolved, Failure> {
        // A name with dots is meant as it stands; the system's search list is for names without.
        let absolute = if name.contains('.') { format!("{name}.") } else { name.to_owned() };
        let absolute = Name::from_ascii(absolute).map_err(|error| {
            failure(FailureKind::NameNotFound, format!("no address for name {name}, which cannot be one: {error}"))
        })?;
        let is_in_hosts = [RecordType::A, RecordType::AAAA]
            .iter()
            .any(|kind| self.hosts.lookup_static_host(&Query::query(absolute.clone(), *kind)).is_some());
        let found = match tokio::time::timeout(self.timeout, self.resolver.lookup_ip(absolute)).await {
            Err(_) => Err(failure(
                FailureKind::NameServer,
                format!("name {name}: no answer from the name servers within {:?} (dns_timeout)", self.timeout),
            )),
            Ok(Ok(found)) if is_in_hosts => Ok(Resolved::by_hand(found.iter().collect())),
            Ok(Ok(found)) => {
                let left = found.valid_until().saturating_duration_since(Instant::now().into_std());
                Ok(Resolved { addresses: found.iter().collect(), holds: left.clamp(TTL_MIN, TTL_MAX) })
            }
            Ok(Err(NetError::Dns(DnsError::NoRecordsFound(_)))) => Ok(Resolved::by_hand(Vec::new())),
            Ok(Err(error)) => Err(failure(FailureKind::NameServer, format!("name {name}: {}", in_words(&error)))),
        }?;
        if found.addresses.is_empty() {
            return Err(failure(FailureKind::NameNotFound, format!("no address for name {name}")));
        }
        Ok(found)
    }
}

/// What went wrong between here and the name servers. The resolver's own words are for programmers.
fn in_words(error: &NetError) -> String {
    match error {
        NetError::NoConnections => {
            "no name server can be reached: this machine may be without network, or its name servers are set wrong"
                .to_owned()
        }
        NetError::Io(error) => format!("no name server can be reached: {error}"),
        NetError::Timeout => "no answer from the name servers".to_owned(),
        other => other.to_string(),
    }
}

fn set_options(options: &mut ResolverOpts, timeout: Duration) {
    options.timeout = timeout / ATTEMPTS as u32;
    options.attempts = ATTEMPTS;
    options.ip_strategy = LookupIpStrategy::Ipv6AndIpv4;
    options.cache_size = CACHE_ENTRIES_MAX;
    options.use_hosts_file = ResolveHosts::Always;
    options.positive_max_ttl = Some(TTL_MAX);
    options.negative_max_ttl = Some(TTL_MAX);
    options.negative_min_ttl = Some(NEGATIVE_TTL_MIN);
}

fn name_server(address: &SocketAddr) -> NameServerConfig {
    let with_port = |mut connection: ConnectionConfig| {
        connection.port = address.port();
        connection
    };
    let connections = vec![with_port(ConnectionConfig::udp()), with_port(ConnectionConfig::tcp())];
    NameServerConfig::new(address.ip(), true, connections)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_without_network_is_told_as_such() {
        let told = in_words(&NetError::NoConnections);
        assert!(told.starts_with("no name server can be reached: this machine may be without network"), "{told}");
    }
}
