//! `--resolve` and `--connect-to`, with curl's meaning: names answered by hand, and connections led elsewhere.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::str::FromStr;

/// `HOST:PORT:ADDR[,ADDR]…`: the addresses of HOST when PORT is connected to. HOST `*` stands for every host that
/// has no entry of its own; IPv6 addresses may stand in brackets. Source: curl(1), `--resolve`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resolve {
    host: Option<String>,
    port: u16,
    addresses: Vec<IpAddr>,
}

/// `HOST1:PORT1:HOST2:PORT2`: a connection for HOST1:PORT1 goes to HOST2:PORT2. An empty HOST1 or PORT1 matches any,
/// an empty HOST2 or PORT2 stays as it is. URL, Host header and TLS name do not change. Source: curl(1), `--connect-to`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConnectTo {
    host: Option<String>,
    port: Option<u16>,
    new_host: Option<String>,
    new_port: Option<u16>,
}

/// Why a text is no [`Resolve`] or no [`ConnectTo`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RouteError {
    /// The text has not the parts it should have.
    #[error("`{0}` is not of the form {1}")]
    Form(String, &'static str),
    /// A part is no port number; it is named.
    #[error("`{0}`: `{1}` is not a port between 1 and 65535")]
    Port(String, String),
    /// A part is no IP address; it is named.
    #[error("`{0}`: `{1}` is not an IP address")]
    Address(String, String),
    /// A part is no host; it is named.
    #[error("`{0}`: `{1}` is not a host name or an IP address (IPv6 in brackets)")]
    Host(String, String),
}

const RESOLVE_FORM: &str = "HOST:PORT:ADDR[,ADDR]";
const CONNECT_TO_FORM: &str = "HOST1:PORT1:HOST2:PORT2";

impl FromStr for Resolve {
    type Err = RouteError;

    fn from_str(text: &str) -> Result<Self, RouteError> {
        let form = || RouteError::Form(text.to_owned(), RESOLVE_FORM);
        let (host, rest) = split_host(text).ok_or_else(form)?;
        let (port, addresses) = rest.split_once(':').ok_or_else(form)?;
        let host = if host == "*" { None } else { Some(read_host(text, host)?.ok_or_else(form)?) };
        let port = read_port(text, port)?.ok_or_else(form)?;
        let addresses = addresses.split(',').map(|address| read_address(text, address)).collect::<Result<_, _>>()?;
        Ok(Resolve { host, port, addresses })
    }
}

impl FromStr for ConnectTo {
    type Err = RouteError;

    fn from_str(text: &str) -> Result<Self, RouteError> {
        let form = || RouteError::Form(text.to_owned(), CONNECT_TO_FORM);
        let (host, rest) = split_host(text).ok_or_else(form)?;
        let (port, rest) = rest.split_once(':').ok_or_else(form)?;
        let (new_host, new_port) = split_host(rest).ok_or_else(form)?;
        Ok(ConnectTo {
            host: read_host(text, host)?,
            port: read_port(text, port)?,
            new_host: read_host(text, new_host)?,
            new_port: read_port(text, new_port)?,
        })
    }
}

/// All overrides of a crawl.
#[derive(Clone, Debug, Default)]
pub(crate) struct Routes {
    pub(crate) resolve: Vec<Resolve>,
    pub(crate) connect_to: Vec<ConnectTo>,
}

impl Routes {
    /// Where a connection for `host:port` goes; `None` if it goes there. The first entry that matches decides.
    pub(crate) fn elsewhere(&self, host: &str, port: u16) -> Option<(String, u16)> {
        self.entry_for(host, port)
            .map(|entry| (entry.new_host.clone().unwrap_or(host.to_owned()), entry.new_port.unwrap_or(port)))
    }

    fn entry_for(&self, host: &str, port: u16) -> Option<&ConnectTo> {
        self.connect_to
            .iter()
            .filter(|entry| entry.host.as_deref().is_none_or(|wanted| wanted.eq_ignore_ascii_case(host)))
            .filter(|entry| entry.port.is_none_or(|wanted| wanted == port))
            .find(|entry| entry.new_host.is_some() || entry.new_port.is_some())
    }

    /// Whether the user gave by hand where a connection for `host:port` goes: its addresses, or another host for it.
    pub(crate) fn is_by_hand(&self, host: &str, port: u16) -> bool {
        let entry = self.entry_for(host, port);
        let (host, port) = (host, entry.and_then(|entry| entry.new_port).unwrap_or(port));
        entry.is_some_and(|entry| entry.new_host.is_some()) || self.addresses(host, port).is_some()
    }

    /// The addresses given by hand for `host:port`. The last entry decides, one for the host before one for all.
    pub(crate) fn addresses(&self, host: &str, port: u16) -> Option<&[IpAddr]> {
        let of_port = || self.resolve.iter().rev().filter(move |entry| entry.port == port);
        of_port()
            .find(|entry| entry.host.as_deref().is_some_and(|wanted| wanted.eq_ignore_ascii_case(host)))
            .or_else(|| of_port().find(|entry| entry.host.is_none()))
            .map(|entry| entry.addresses.as_slice())
    }
}

/// The address that a host of a URL is, where it is one: `127.0.0.1`, `[::1]`.
pub(crate) fn literal_address(host: &str) -> Option<IpAddr> {
    match host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        Some(inner) => inner.parse::<Ipv6Addr>().ok().map(IpAddr::V6),
        None => host.parse::<Ipv4Addr>().ok().map(IpAddr::V4),
    }
}

/// Splits at the colon after the host; one within brackets does not count.
fn split_host(text: &str) -> Option<(&str, &str)> {
    let colon = if text.starts_with('[') { text.find("]:")? + 1 } else { text.find(':')? };
    Some((&text[..colon], &text[colon + 1..]))
}

/// A host; `None` if it is empty.
fn read_host(whole: &str, host: &str) -> Result<Option<String>, RouteError> {
    if host.is_empty() {
        return Ok(None);
    }
    let is_name = host.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._".contains(&byte));
    if literal_address(host).is_some() || (is_name && !host.starts_with('-')) {
        return Ok(Some(host.to_ascii_lowercase()));
    }
    Err(RouteError::Host(whole.to_owned(), host.to_owned()))
}

/// A port; `None` if it is empty.
fn read_port(whole: &str, port: &str) -> Result<Option<u16>, RouteError> {
    if port.is_empty() {
        return Ok(None);
    }
    match port.parse() {
        Ok(number) if number > 0 => Ok(Some(number)),
        _ => Err(RouteError::Port(whole.to_owned(), port.to_owned())),
    }
}

/// An address, IPv6 in brackets or without.
fn read_address(whole: &str, address: &str) -> Result<IpAddr, RouteError> {
    literal_address(address)
        .or_else(|| address.parse().ok())
        .ok_or_else(|| RouteError::Address(whole.to_owned(), address.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn routes(resolve: &[&str], connect_to: &[&str]) -> Routes {
        Routes {
            resolve: resolve.iter().map(|text| text.parse().expect(text)).collect(),
            connect_to: connect_to.iter().map(|text| text.parse().expect(text)).collect(),
        }
    }

    #[test]
    fn resolve_answers_for_its_host_and_port_only() {
        let check = |entries: &[&str], host: &str, port: u16, expect: Option<&[&str]>| {
            let routes = routes(entries, &[]);
            let got = routes.addresses(host, port).map(|all| all.iter().map(IpAddr::to_string).collect::<Vec<_>>());
            assert_eq!(got, expect.map(|all| all.iter().map(ToString::to_string).collect()), "{entries:?} {host}");
        };
        check(&["a.test:80:127.0.0.1"], "a.test", 80, Some(&["127.0.0.1"]));
        check(&["A.Test:80:127.0.0.1"], "a.test", 80, Some(&["127.0.0.1"]));
        check(&["a.test:80:127.0.0.1"], "a.test", 443, None);
        check(&["a.test:80:127.0.0.1"], "b.test", 80, None);
        check(&["a.test:80:127.0.0.1,[::1],10.0.0.1"], "a.test", 80, Some(&["127.0.0.1", "::1", "10.0.0.1"]));
        check(&["a.test:80:::1"], "a.test", 80, Some(&["::1"]));
        check(&["[::1]:80:127.0.0.2"], "[::1]", 80, Some(&["127.0.0.2"]));
        check(&["*:80:127.0.0.1"], "anything", 80, Some(&["127.0.0.1"]));
        check(&["a.test:80:127.0.0.1", "*:80:127.0.0.2"], "a.test", 80, Some(&["127.0.0.1"]));
        check(&["a.test:80:127.0.0.1", "a.test:80:127.0.0.3"], "a.test", 80, Some(&["127.0.0.3"]));
    }

    #[test]
    fn connect_to_leads_what_matches_elsewhere() {
        let check = |entries: &[&str], host: &str, port: u16, expect: Option<(&str, u16)>| {
            let got = routes(&[], entries).elsewhere(host, port);
            assert_eq!(got, expect.map(|(host, port)| (host.to_owned(), port)), "{entries:?} {host}:{port}");
        };
        check(&["a.test:80:b.test:8080"], "a.test", 80, Some(("b.test", 8080)));
        check(&["a.test:80:b.test:8080"], "a.test", 81, None);
        check(&["a.test:80:b.test:8080"], "c.test", 80, None);
        check(&["::b.test:8080"], "a.test", 80, Some(("b.test", 8080)));
        check(&["a.test::b.test:"], "a.test", 99, Some(("b.test", 99)));
        check(&[":443::8443"], "a.test", 443, Some(("a.test", 8443)));
        check(&["[::1]:80:[::2]:81"], "[::1]", 80, Some(("[::2]", 81)));
        check(&["a.test:80::", "::b.test:1"], "a.test", 80, Some(("b.test", 1)));
        check(&["::b.test:1", "a.test:80:c.test:2"], "a.test", 80, Some(("b.test", 1)));
    }

    #[test]
    fn what_is_given_by_hand_is_known() {
        let check = |resolve: &[&str], connect_to: &[&str], host: &str, port: u16, expect: bool| {
            assert_eq!(routes(resolve, connect_to).is_by_hand(host, port), expect, "{resolve:?} {connect_to:?} {host}");
        };
        check(&["a.test:80:10.0.0.1"], &[], "a.test", 80, true);
        check(&["a.test:80:10.0.0.1"], &[], "a.test", 81, false);
        check(&["a.test:80:10.0.0.1"], &[], "b.test", 80, false);
        check(&["*:80:10.0.0.1"], &[], "b.test", 80, true);
        check(&[], &["::10.0.0.1:"], "a.test", 80, true);
        check(&[], &["::b.test:"], "a.test", 80, true);
        check(&[], &[":80::8080"], "a.test", 80, false);
        check(&["a.test:8080:10.0.0.1"], &[":80::8080"], "a.test", 80, true);
        check(&["a.test:80:10.0.0.1"], &[":80::8080"], "a.test", 80, false);
    }

    #[test]
    fn what_cannot_be_read_is_named() {
        let resolve = |text: &str| text.parse::<Resolve>().expect_err(text).to_string();
        assert_eq!(resolve("a.test"), "`a.test` is not of the form HOST:PORT:ADDR[,ADDR]");
        assert_eq!(resolve("a.test:80"), "`a.test:80` is not of the form HOST:PORT:ADDR[,ADDR]");
        assert_eq!(resolve("a.test:http:1.1.1.1"), "`a.test:http:1.1.1.1`: `http` is not a port between 1 and 65535");
        assert_eq!(resolve("a.test:0:1.1.1.1"), "`a.test:0:1.1.1.1`: `0` is not a port between 1 and 65535");
        assert_eq!(resolve("a.test:80:b.test"), "`a.test:80:b.test`: `b.test` is not an IP address");
        assert_eq!(resolve("a.test:80:"), "`a.test:80:`: `` is not an IP address");
        assert!(resolve("-a.test:80:1.1.1.1").contains("`-a.test` is not a host name"));
        let connect_to = |text: &str| text.parse::<ConnectTo>().expect_err(text).to_string();
        assert_eq!(connect_to("a:80:b"), "`a:80:b` is not of the form HOST1:PORT1:HOST2:PORT2");
        assert!(connect_to("a:80:b:65536").contains("`65536` is not a port"));
        assert!(connect_to("a b:80:c:1").contains("`a b` is not a host name"));
        assert!(connect_to("[::1:80:c:1").contains("is not of the form"));
    }
}
