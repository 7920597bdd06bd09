//! The hostile sandbox does what it says, and lets go when it must.

use std::io::{ErrorKind, Read};
use std::time::Duration;

use testweb::hostile::{ENDLESS_ROBOTS_HOST, HOST, PATHS, SITEMAP_BOMB_HOST, SITEMAPS};
use testweb::{Config, Server, Web};
use tokio::io::AsyncReadExt;
use tokio::net::TcpStream;
use tokio::time::{Instant, timeout};

use crate::client::{Client, get, get_raw, request, start};

async fn server() -> Server {
    start(Web::sandboxes()).await
}

/// A connection on which the target has been asked for.
async fn asked(server: &Server, host: &str, target: &str) -> TcpStream {
    let mut client = Client::connect(server.address()).await;
    client.send(&request("GET", host, target)).await;
    client.into_inner()
}

#[tokio::test]
async fn every_path_lets_go_of_a_client_that_leaves() {
    let config = Config { connections_max: 1, ..Config::new(Web::sandboxes()) };
    let server = Server::start(config).await.unwrap();
    for (path, _) in PATHS {
        // With one connection at a time, each is accepted only when the last is gone.
        let mut stream = asked(&server, HOST, path).await;
        let _ = timeout(Duration::from_millis(20), stream.read(&mut [0; 16])).await;
    }
    assert_eq!(get(&server, HOST, "/robots.txt").await.status, 200);
    assert_eq!(server.requests(), PATHS.len() as u64 + 1);
}

#[tokio::test]
async fn shutdown_ends_every_path() {
    let server = server().await;
    let mut kept = Vec::new();
    for (path, _) in PATHS {
        kept.push(asked(&server, HOST, path).await);
    }
    while server.requests() < PATHS.len() as u64 {
        tokio::task::yield_now().await;
    }
    timeout(Duration::from_secs(5), server.shutdown()).await.unwrap();
}

#[tokio::test]
async fn endless_replies_go_on() {
    let server = server().await;
    for (host, target, bytes) in [
        (HOST, "/endless-body", 30_000_000),
        (HOST, "/endless-headers", 1_000_000),
        (HOST, "/informational", 1_000_000),
        (ENDLESS_ROBOTS_HOST, "/robots.txt", 2_000_000),
    ] {
        asked(&server, host, target).await.read_exact(&mut vec![0; bytes]).await.unwrap();
    }
}

#[tokio::test]
async fn silence_is_kept() {
    let server = server().await;
    let mut stream = asked(&server, HOST, "/silent").await;
    assert!(timeout(Duration::from_millis(100), stream.read_u8()).await.is_err());
}

#[tokio::test]
async fn bytes_drip_one_a_second() {
    let server = server().await;
    let mut stream = asked(&server, HOST, "/drip").await;
    let start = Instant::now();
    let mut got = Vec::new();
    while !got.ends_with(b"\r\n\r\n<") {
        got.push(stream.read_u8().await.unwrap());
    }
    assert!(start.elapsed() >= Duration::from_millis(990), "{:?}", start.elapsed());
}

#[tokio::test]
async fn broken_messages_come_as_they_are() {
    let server = server().await;
    for (target, part) in [
        ("/length-too-long", "Content-Length: 132\r\n"),
        ("/length-too-short", "Content-Length: 65\r\n"),
        ("/two-lengths", "Content-Length: 7\r\n"),
        ("/chunked-garbage", "\r\nspider\r\n"),
        ("/chunk-too-large", "\r\nffffffffffffffff\r\n"),
        ("/chunked-cut", "\r\n42\r\n<!doctype"),
        ("/bad-status-line", "SPIDER/8 OK"),
        ("/bad-header", "\r\nthis line has no colon\r\n"),
        ("/no-head", "<!doctype html>"),
        ("/huge-cookie", "Set-Cookie: id=xxx"),
    ] {
        let (got, error) = get_raw(&server, HOST, target).await;
        let got = String::from_utf8(got).unwrap();
        assert!(got.contains(part) && error.is_none(), "{target}: {error:?} {}", &got[..got.len().min(500)]);
    }
    assert_eq!(get_raw(&server, HOST, "/close").await, (Vec::new(), None));
}

#[tokio::test]
async fn connections_are_reset() {
    let server = server().await;
    let (got, error) = get_raw(&server, HOST, "/reset-at-once").await;
    assert_eq!((got, error), (Vec::new(), Some(ErrorKind::ConnectionReset)));
    let (got, error) = get_raw(&server, HOST, "/reset").await;
    assert_eq!(error, Some(ErrorKind::ConnectionReset));
    assert!(String::from_utf8(got).unwrap().contains("Content-Length: 1000\r\n"));
}

#[tokio::test]
async fn pages_are_what_they_say() {
    let server = server().await;
    let links = get(&server, HOST, "/many-links").await;
    assert_eq!(links.text().matches("<a href=").count(), 10_000);
    assert!(get(&server, HOST, "/long-url").await.body.len() > 1 << 20);
    assert!(std::str::from_utf8(&get(&server, HOST, "/invalid-utf8").await.body).is_err());
    assert_eq!(get(&server, HOST, "/deep").await.text().matches("<div>").count(), 1_000_000);
    for (from, to) in [("/loop/a", "/loop/b"), ("/loop/b", "/loop/a"), ("/r/1", "/r/2"), ("/r/999", "/r/1000")] {
        assert_eq!(get(&server, HOST, from).await.header("location"), Some(to));
    }
}

/// Ten gigabytes are not decoded here; that the stream is whole is tested on a small one beside its code.
#[tokio::test]
async fn bombs_are_small_and_decode_to_much() {
    let server = server().await;
    for (host, target, start) in
        [(HOST, "/gzip-bomb", "<!doctype html>"), (SITEMAP_BOMB_HOST, "/bomb.xml.gz", "<?xml version=\"1.0\"?>")]
    {
        let reply = get(&server, host, target).await;
        assert!(reply.body.len() < 50_000_000, "{target}: {} bytes", reply.body.len());
        let mut decoded = Vec::new();
        flate2::read::GzDecoder::new(&*reply.body).take(30_000_000).read_to_end(&mut decoded).unwrap();
        assert!(decoded.len() == 30_000_000 && decoded.starts_with(start.as_bytes()), "{target}");
    }
}

#[tokio::test]
async fn sitemaps_are_as_large_as_they_say() {
    let server = server().await;
    let robots = get(&server, SITEMAP_BOMB_HOST, "/robots.txt").await;
    for (path, _) in SITEMAPS {
        assert!(robots.text().contains(&format!("Sitemap: http://{SITEMAP_BOMB_HOST}{path}\n")), "{path}");
    }
    for (path, entries) in
        [("/index.xml", 100_000), ("/entries.xml", 1_000_000), ("/child/7.xml", 1), ("/nested/5.xml", 1)]
    {
        let sitemap = get(&server, SITEMAP_BOMB_HOST, path).await;
        assert_eq!(sitemap.text().matches("<loc>").count(), entries, "{path}");
    }
}
