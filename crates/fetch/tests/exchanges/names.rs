//! Names and addresses: overrides, DNS and its cache, and addresses that may not be connected to.

use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use fetch::{DenyPrivate, FetchConfig, Fetcher, SeedStatus};
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
            let before = counter.fetch_add(1, Ordering::SeqCst);
            if let Some(answer) = answer(&packet[..length], before) {
                let _ = socket.send_to(&answer, from).await;
            }
        }
    });
    (address, queries)
}

fn answer(query: &[u8], before: usize) -> Option<Vec<u8>> {
    let first = &query[13..13 + usize::from(query[12])];
    let name_end = 12 + query[12..].iter().position(|byte| *byte == 0)? + 1;
    let (question, kind) = (&query[12..name_end + 4], query[name_end + 1]);
    let (code, address): (u8, &[u8]) = match (first, kind) {
        (b"four" | b"both" | b"fleeting" | b"lasting", 1) => (0, &[127, 0, 0, 1]),
        (b"both", 28) => (0, &[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]),
        (b"private", 1) => (0, &[10, 0, 0, 1]),
        (b"public", 1) => (0, &[93, 184, 215, 14]),
        // Public when it is looked up first, by a query for each family, private from then on.
        (b"rebound", 1) if before < 2 => (0, &[93, 184, 215, 14]),
        (b"rebound", 1) => (0, &[10, 0, 0, 1]),
        (b"six", 28) => (0, &[0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]),
        (b"broken", _) => (2, &[]),
        (b"silent", _) => return None,
        (b"empty" | b"six", _) => (0, &[]),
        _ => (3, &[]),
    };
    let mut packet = vec![query[0], query[1], 0x81, 0x80 | code, 0, 1, 0, u8::from(!address.is_empty()), 0, 0, 0, 0];
    packet.extend(question);
    if !address.is_empty() {
        let ttl: u32 = match first {
            b"rebound" => 0,
            b"fleeting" => 5,
            b"lasting" => 30 * 86_400,
            _ => 3_600,
        };
        packet.extend([0xc0, 12, 0, kind, 0, 1]);
        packet.extend(ttl.to_be_bytes());
        packet.extend([0, address.len() as u8]);
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
async fn addresses_hold_as_long_as_their_ttl_says_within_bounds() {
    let (server, _) = name_server().await;
    let config = || FetchConfig { name_servers: vec![server], ..FetchConfig::default() };
    let by_hand = || FetchConfig {
        resolve: vec!["lasting.test:80:127.0.0.1".parse().expect("an entry")],
        connect_to: vec!["elsewhere.test:80:fleeting.test:80".parse().expect("an entry")],
        ..config()
    };
    let (minute, hour, day) = (Duration::from_secs(60), Duration::from_secs(3600), Duration::from_secs(86_400));
    for (config, name, expect) in [
        (config(), "http://fleeting.test", minute),
        (config(), "http://four.test", hour),
        (config(), "http://lasting.test", day),
        (config(), "http://localhost", hour),
        (config(), "http://127.0.0.1", hour),
        (by_hand(), "http://lasting.test", hour),
        (by_hand(), "http://elsewhere.test", minute),
    ] {
        let holds = fetcher(config).look_up(&site(name), |_| true).await.expect(name).holds;
        // Some of it may have passed since the answer came.
        assert!(holds <= expect && holds + minute / 2 >= expect, "{name}: {holds:?}");
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

/// The other address is of this machine too, and nobody listens there.
#[tokio::test]
async fn of_one_family_too_the_address_comes_first_that_connects() {
    let server = answers(OK).await;
    let port = server.address.port();
    let dead: IpAddr = "127.0.0.2".parse().expect("an address");
    let config = || FetchConfig {
        resolve: vec![format!("a.test:{port}:{dead},127.0.0.1").parse().expect("an entry")],
        ..FetchConfig::default()
    };
    let several = site(&format!("http://a.test:{port}"));
    assert_eq!(fetcher(config()).resolve(&several).await, Ok(vec![LOOPBACK, dead]));
    let outcome = fetcher(config()).fetch(FetchTask { address: None, ..page(&format!("http://a.test:{port}/")) }).await;
    assert_eq!(outcome.exchanges[0].address, Some(server.address));
    let refused = FetchTask { address: Some(dead), ..page(&format!("http://a.test:{port}/")) };
    assert_failed(&fetcher(config()).fetch(refused).await, FailureKind::Connect, "127.0.0.2");
    let connections = server.connections();
    let kept = fetcher(config()).look_up(&several, |address| address == dead).await.expect("addresses");
    assert_eq!((kept.addresses, server.connections()), (vec![dead, LOOPBACK], connections), "nothing is tried there");
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
            deny_private: DenyPrivate::Always,
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

/// A fetcher by the rule for crawls, with these seeds.
fn by_seeds(config: FetchConfig, seeds: &'static [&'static str]) -> Fetcher {
    let fetcher = fetcher(FetchConfig { deny_private: DenyPrivate::Auto, ..config });
    fetcher.grants().add(seeds.iter().map(|seed| site(seed).key()));
    let is_named = |site: &Site| seeds.contains(&site.as_str());
    fetcher.grants().ask(Box::new(move |site| if is_named(site) { SeedStatus::New } else { SeedStatus::NotNamed }));
    fetcher
}

#[tokio::test]
async fn a_private_address_is_for_sites_that_a_seed_names() {
    let (server, _) = name_server().await;
    let config = || FetchConfig { name_servers: vec![server], ..FetchConfig::default() };
    let seeds = &["http://127.0.0.1:81", "http://localhost", "http://private.test", "http://public.test"];
    for (text, expect) in [
        ("http://127.0.0.1:81", Ok("127.0.0.1")),
        ("http://127.0.0.1:82", Err("127.0.0.1 is not a public address (--deny-private=auto: no seed named")),
        ("http://[::1]", Err("[::1] is not a public address")),
        ("http://[::ffff:7f00:1]:81", Err("is not a public address")),
        ("http://localhost", Ok("127.0.0.1")),
        ("https://localhost", Ok("127.0.0.1")),
        ("http://localhost:8080", Err("localhost has the address ")),
        ("http://private.test", Ok("10.0.0.1")),
        ("http://private.test:81", Err("no seed named http://private.test:81 by such an address")),
        ("http://public.test", Ok("93.184.215.14")),
        ("http://four.test", Err("--deny-private=never allows it")),
    ] {
        let fetcher = by_seeds(config(), seeds);
        if text.starts_with("https") {
            fetcher.resolve(&site("http://localhost")).await.expect("the seed");
        }
        match (fetcher.resolve(&site(text)).await, expect) {
            (Ok(found), Ok(expect)) => assert!(found.contains(&expect.parse().expect(expect)), "{text}: {found:?}"),
            (Err(failure), Err(words)) => {
                assert_eq!(failure.kind, FailureKind::AddressDenied, "{text}");
                assert!(failure.detail.contains(words), "{failure:?}");
            }
            (found, _) => panic!("{text}: {found:?}"),
        }
    }
}

#[tokio::test]
async fn a_seed_that_was_public_first_is_not_followed_to_a_private_address() {
    let (server, _) = name_server().await;
    let fetcher =
        by_seeds(FetchConfig { name_servers: vec![server], ..FetchConfig::default() }, &["http://rebound.test"]);
    let found = fetcher.resolve(&site("http://rebound.test")).await;
    assert_eq!(found, Ok(vec!["93.184.215.14".parse().expect("an address")]));
    for _ in 0..2 {
        let failure = fetcher.resolve(&site("http://rebound.test")).await.expect_err("it is private by now");
        assert_eq!(failure.kind, FailureKind::AddressDenied, "{failure:?}");
    }
    let pinned = FetchTask { address: Some("10.0.0.1".parse().expect("an address")), ..page("http://rebound.test/") };
    assert_failed(&fetcher.fetch(pinned).await, FailureKind::AddressDenied, "10.0.0.1");
}

#[tokio::test]
async fn what_is_given_by_hand_counts_as_named() {
    let server = answers(OK).await;
    let port = server.address.port();
    let check = async |resolve: &[String], connect_to: &[String], url: &str, is_allowed: bool| {
        let config = FetchConfig {
            resolve: resolve.iter().map(|text| text.parse().expect(text)).collect(),
            connect_to: connect_to.iter().map(|text| text.parse().expect(text)).collect(),
            ..FetchConfig::default()
        };
        let fetcher = by_seeds(config, &[]);
        for address in [None, Some(LOOPBACK)] {
            let outcome = fetcher.fetch(FetchTask { address, ..page(url) }).await;
            match is_allowed {
                true => assert_eq!(text(&response(&outcome).body), "ok"),
                false => assert_failed(&outcome, FailureKind::AddressDenied, "which is not public"),
            }
        }
    };
    check(&[format!("a.test:{port}:127.0.0.1")], &[], &format!("http://a.test:{port}/"), true).await;
    check(&[], &[format!("a.test:80:127.0.0.1:{port}")], "http://a.test/", true).await;
    check(&[], &[format!("a.test:80:localhost:{port}")], "http://a.test/", true).await;
    check(&[], &[format!(":80::{port}")], "http://localhost/", false).await;
    check(&[format!("a.test:{port}:127.0.0.1")], &[], &format!("http://localhost:{port}/"), false).await;
}

#[tokio::test]
async fn behind_a_proxy_addresses_and_names_of_this_machine_are_judged() {
    let proxied = |deny_private| FetchConfig {
        deny_private,
        proxy: Some("http://127.0.0.1:1".parse().expect("a proxy")),
        ..FetchConfig::default()
    };
    let seeds = &["http://127.0.0.1:81", "http://localhost:81"];
    for text in ["http://127.0.0.1:81", "http://localhost:81"] {
        assert_eq!(by_seeds(proxied(DenyPrivate::Auto), seeds).resolve(&site(text)).await, Ok(vec![]), "{text}");
    }
    for text in ["http://127.0.0.1:82", "http://localhost:82", "http://a.localhost", "http://[::1]:81"] {
        let failure = by_seeds(proxied(DenyPrivate::Auto), seeds).resolve(&site(text)).await.expect_err(text);
        assert_eq!(failure.kind, FailureKind::AddressDenied, "{failure:?}");
    }
    for text in ["http://127.0.0.1:81", "http://localhost:81"] {
        let failure = fetcher(proxied(DenyPrivate::Always)).resolve(&site(text)).await.expect_err(text);
        assert_eq!(failure.kind, FailureKind::AddressDenied, "{failure:?}");
    }
}
