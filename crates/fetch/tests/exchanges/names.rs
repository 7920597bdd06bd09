//! Names and addresses: overrides, DNS and its cache, and addresses that may not be connected to.

use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use fetch::{FetchConfig, Fetcher};
use model::{Failure, FailureKind, FetchTask, Limits};
use tokio::net::UdpSocket;
use weburl::Site;

use crate::client::{LOOPBACK, assert_failed, fetcher, page, plain, response, text};
use crate::server::answers;

const OK: &str = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

/// A name server (RFC 1035 §4.1): the first label of the name says what it answers.
async fn name_server() -> (SocketAddr, Arc<AtomicUsize>) {
    let socket = UdpSocket::bind("127.0.0.1:0").await.expect("a free port");
    let (address, queries) = (socket.local_addr().expect("an address"), Arc::new(AtomicUsize::new(0)));
    let counter = Arc::clone(&queries);
    tokio::spawn(async move {
        let mut packet = [0; 512];
        while let Ok((length, from)) = socket.recv_from(&mut packet).await {
            counter.fetch_add(1, Ordering::SeqCst);
            if let Some(answer) = answer(&packet[..length]) {
                let _ = socket.send_to(&answer, from).await;
            }
        }
    });
    (address, queries)
}

fn answer(query: &[u8]) -> Option<Vec<u8>> {
    let first = &query[13..13 + usize::from(query[12])];
    let name_end = 12 + query[12..].iter().position(|byte| *byte == 0)? + 1;
    let (question, kind) = (&query[12..name_end + 4], query[name_end + 1]);
    let (code, address): (u8, &[u8]) = match (first, kind) {
        (b"four" | b"both", 1) => (0, &[127, 0, 0, 1]),
        (b"both", 28) => (0, &[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]),
        (b"private", 1) => (0, &[10, 0, 0, 1]),
        (b"public", 1) => (0, &[93, 184, 215, 14]),
        (b"six", 28) => (0, &[0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]),
        (b"broken", _) => (2, &[]),
        (b"silent", _) => return None,
        (b"empty" | b"six", _) => (0, &[]),
        _ => (3, &[]),
    };
    let mut packet = vec![query[0], query[1], 0x81, 0x80 | code, 0, 1, 0, u8::from(!address.is_empty()), 0, 0, 0, 0];
    packet.extend(question);
    if !address.is_empty() {
        packet.extend([0xc0, 12, 0, kind, 0, 1, 0, 0, 14, 16, 0, address.len() as u8]);
        packet.extend(address);
    }
    Some(packet)
}

fn site(text: &str) -> Site {
    Site::from_text(text).expect(text)
}

fn asking(server: SocketAddr) -> Fetcher {
    let limits = Limits { dns_timeout: Duration::from_secs(5), ..Limits::default() };
    fetcher(FetchConfig { name_servers: vec![server], limits, ..FetchConfig::default() })
}

#[tokio::test]
async fn names_are_looked_up_and_answers_kept() {
    let (server, queries) = name_server().await;
    let fetcher = asking(server);
    for (name, expect, asked) in [
        ("http://four.test", Ok("127.0.0.1"), 2),
        ("https://four.test:444", Ok("127.0.0.1"), 2),
        ("http://six.test", Ok("2001:db8::1"), 4),
        ("http://six.test", Ok("2001:db8::1"), 4),
        ("http://nx.test", Err(FailureKind::NameNotFound), 6),
        ("http://nx.test", Err(FailureKind::NameNotFound), 6),
        ("http://empty.test", Err(FailureKind::NameNotFound), 8),
        ("http://empty.test", Err(FailureKind::NameNotFound), 8),
    ] {
        let found = fetcher.resolve(&site(name)).await;
        let expect = expect.map(|address| vec![address.parse::<IpAddr>().expect(address)]);
        assert_eq!(found.map_err(|failure| failure.kind), expect, "{name}");
        assert_eq!(queries.load(Ordering::SeqCst), asked, "{name}");
    }
}

#[tokio::test]
async fn name_servers_that_fail_are_told_from_names_that_are_not_there() {
    let (server, _) = name_server().await;
    let limits = Limits { dns_timeout: Duration::from_millis(200), ..Limits::default() };
    let fetcher = fetcher(FetchConfig { name_servers: vec![server], limits, ..FetchConfig::default() });
    for (name, words) in [("http://broken.test", "name broken.test: "), ("http://silent.test", "name silent.test: ")] {
        let failure = fetcher.resolve(&site(name)).await.expect_err(name);
        assert_eq!(failure.kind, FailureKind::NameServer, "{failure:?}");
        assert!(failure.detail.starts_with(words), "{failure:?}");
    }
}

#[tokio::test]
async fn a_name_that_cannot_be_is_not_found_without_asking_anyone() {
    // RFC 6761 §6.4
    let outcome = plain().fetch(FetchTask { address: None, ..page("http://nx.invalid/") }).await;
    assert_failed(&outcome, FailureKind::NameNotFound, "no address for name nx.invalid");
}

#[tokio::test]
async fn addresses_need_no_lookup() {
    let fetcher = plain();
    for (text, expect) in [("http://127.0.0.1:81", "127.0.0.1"), ("https://[::1]", "::1")] {
        assert_eq!(fetcher.resolve(&site(text)).await, Ok(vec![expect.parse().expect(expect)]));
    }
    let localhost = fetcher.resolve(&site("http://localhost")).await.expect("addresses");
    assert!(localhost.contains(&LOOPBACK) && localhost.iter().all(IpAddr::is_loopback), "{localhost:?}");
}

#[tokio::test]
async fn of_two_families_the_address_comes_first_that_connects() {
    let (names, _) = name_server().await;
    let server = answers(OK).await;
    let both = site(&format!("http://both.test:{}", server.address.port()));
    let found = asking(names).resolve(&both).await;
    assert_eq!(found, Ok(vec![LOOPBACK, IpAddr::V6(Ipv6Addr::LOCALHOST)]), "nobody listens on IPv6");
}

#[tokio::test]
async fn overrides_change_where_the_connection_goes_and_nothing_else() {
    let server = answers(OK).await;
    let port = server.address.port();
    let check = async |resolve: &[String], connect_to: &[String], url: &str, host: &str| {
        let config = FetchConfig {
            resolve: resolve.iter().map(|text| text.parse().expect(text)).collect(),
            connect_to: connect_to.iter().map(|text| text.parse().expect(text)).collect(),
            ..FetchConfig::default()
        };
        let fetcher = fetcher(config);
        let site = page(url).url.site();
        assert_eq!(fetcher.resolve(&site).await.expect(url).first(), Some(&LOOPBACK), "{url}");
        for address in [None, Some(LOOPBACK)] {
            let outcome = fetcher.fetch(FetchTask { address, ..page(url) }).await;
            assert_eq!(text(&response(&outcome).body), "ok");
            assert_eq!(outcome.exchanges[0].address, Some(server.address));
            let request = server.requests().pop().expect("a request");
            assert!(request.contains(&format!("\r\nHost: {host}\r\n")), "{request}");
        }
    };
    let resolve = [format!("a.test:{port}:127.0.0.1")];
    check(&resolve, &[], &format!("http://a.test:{port}/"), &format!("a.test:{port}")).await;
    check(&[format!("*:{port}:127.0.0.1")], &[], &format!("http://b.test:{port}/"), &format!("b.test:{port}")).await;
    check(&[], &[format!("a.test:80:127.0.0.1:{port}")], "http://a.test/", "a.test").await;
    check(&[], &[format!("::localhost:{port}")], "http://a.test:99/", "a.test:99").await;
    check(&resolve, &[format!("b.test:80:a.test:{port}")], "http://b.test/", "b.test").await;
    check(
        &["a.test:80:127.0.0.1".to_owned()],
        &[format!(":80::{port}"), ":::".to_owned()],
        "http://127.0.0.1/",
        "127.0.0.1",
    )
    .await;
}

#[tokio::test]
async fn private_addresses_are_refused_wherever_they_come_from() {
    let (server, _) = name_server().await;
    let denying = |resolve: &[&str], connect_to: &[&str], proxy: Option<&str>| {
        fetcher(FetchConfig {
            deny_private: true,
            name_servers: vec![server],
            resolve: resolve.iter().map(|text| text.parse().expect(text)).collect(),
            connect_to: connect_to.iter().map(|text| text.parse().expect(text)).collect(),
            proxy: proxy.map(|text| text.parse().expect(text)),
            ..FetchConfig::default()
        })
    };
    let denied = |failure: Failure, words: &str| {
        assert_eq!(failure.kind, FailureKind::AddressDenied, "{failure:?}");
        assert!(failure.detail.contains(words), "{failure:?}");
    };
    let check = async |fetcher: Fetcher, host: &str, words: &str| {
        denied(fetcher.resolve(&site(&format!("http://{host}"))).await.expect_err(host), words);
        let outcome = fetcher.fetch(FetchTask { address: None, ..page(&format!("http://{host}/")) }).await;
        denied(crate::client::failure(&outcome).clone(), words);
    };
    check(denying(&[], &[], None), "127.0.0.1", "127.0.0.1 is not a public address").await;
    check(denying(&[], &[], None), "[::1]", "[::1] is not a public address").await;
    check(denying(&[], &[], None), "[64:ff9b::a00:1]", "is not a public address").await;
    check(denying(&[], &[], None), "localhost", "localhost has the address ").await;
    check(denying(&[], &[], None), "private.test", "private.test has the address 10.0.0.1, which is not public").await;
    check(denying(&["a.test:80:192.168.1.1"], &[], None), "a.test", "192.168.1.1").await;
    check(denying(&[], &["::127.0.0.1:"], None), "a.test", "127.0.0.1").await;
    check(denying(&[], &[], Some("http://127.0.0.1:1")), "10.1.1.1", "10.1.1.1 is not a public address").await;

    let pinned = denying(&[], &[], None).fetch(page("http://public.test/")).await;
    denied(crate::client::failure(&pinned).clone(), "public.test has the address 127.0.0.1");
    let public = denying(&[], &[], None).resolve(&site("http://public.test")).await;
    assert_eq!(public, Ok(vec!["93.184.215.14".parse().expect("an address")]));
    let mixed = denying(&["a.test:80:10.0.0.1,1.1.1.1"], &[], None).resolve(&site("http://a.test")).await;
    assert_eq!(mixed, Ok(vec!["1.1.1.1".parse().expect("an address")]));
}
