//! Through a proxy: whole URLs for http, tunnels for https.

use fetch::{FetchConfig, Fetcher};
use model::{FailureKind, FetchTask};
use tokio::net::TcpStream;

use crate::client::{assert_failed, fetcher, page, response, text, url};
use crate::server::{Server, answers, answers_once, serve};
use crate::tls::Authority;

const OK: &str = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

fn by(proxy: &Server, config: FetchConfig) -> Fetcher {
    let url = format!("http://Aladdin:open%20sesame@{}", proxy.address);
    fetcher(FetchConfig { proxy: Some(url.parse().expect("a proxy")), ..config })
}

fn task(url: &str) -> FetchTask {
    FetchTask { address: None, ..page(url) }
}

/// A proxy that connects every tunnel to `to`.
async fn tunnels_to(to: std::net::SocketAddr) -> Server {
    serve(move |mut peer| async move {
        peer.request().await;
        peer.send("HTTP/1.1 200 Connected\r\nVia: test\r\n\r\n").await;
        let mut server = TcpStream::connect(to).await.expect("the server");
        let _ = tokio::io::copy_bidirectional(&mut peer.stream, &mut server).await;
    })
    .await
}

/// Nobody listens at its first address.
#[tokio::test]
async fn a_proxy_is_used_at_the_address_that_connects() {
    let proxy = answers(OK).await;
    let port = proxy.address.port();
    let config = FetchConfig {
        proxy: Some(format!("http://proxy.test:{port}").parse().expect("a proxy")),
        resolve: vec![format!("proxy.test:{port}:127.0.0.2,127.0.0.1").parse().expect("an entry")],
        ..FetchConfig::default()
    };
    let outcome = fetcher(config).fetch(task("http://nx.invalid/")).await;
    assert_eq!(text(&response(&outcome).body), "ok");
}

#[tokio::test]
async fn http_sends_whole_urls_over_one_connection_and_keeps_the_password_out_of_the_archive() {
    let proxy = answers(OK).await;
    let fetcher = by(&proxy, FetchConfig::default());
    for url in ["http://nx.invalid/a?b", "http://other.invalid:81/", "http://nx.invalid/c"] {
        let outcome = fetcher.fetch(task(url)).await;
        assert_eq!(text(&response(&outcome).body), "ok");
        let exchange = &outcome.exchanges[0];
        assert_eq!(exchange.address, None);
        let recorded = text(&exchange.request_head);
        assert!(recorded.starts_with(&format!("GET {url} HTTP/1.1\r\nHost: ")), "{recorded}");
        assert!(recorded.ends_with("deflate\r\n\r\n") && !recorded.contains("Proxy-Authorization"), "{recorded}");
    }
    assert!(proxy.requests()[0].contains("\r\nProxy-Authorization: Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==\r\n"));
    assert_eq!((proxy.connections(), proxy.requests().len()), (1, 3));
}

#[tokio::test]
async fn https_goes_through_a_tunnel() {
    let authority = Authority::new();
    let acceptor = authority.acceptor(&["a.test"], &["http/1.1"]);
    let server = serve(move |peer| {
        let acceptor = acceptor.clone();
        async move {
            let Some(mut peer) = peer.secured(&acceptor).await else { return };
            while peer.request().await.is_some() && peer.send(OK).await {}
        }
    })
    .await;
    let proxy = tunnels_to(server.address).await;
    let fetcher = by(&proxy, FetchConfig { ca_certs: vec![authority.pem()], ..FetchConfig::default() });
    for _ in 0..2 {
        let outcome = fetcher.fetch(task("https://a.test/x")).await;
        assert_eq!(text(&response(&outcome).body), "ok");
        assert_eq!(outcome.exchanges[0].address, None);
        assert!(text(&outcome.exchanges[0].request_head).starts_with("GET /x HTTP/1.1\r\nHost: a.test\r\n"));
    }
    let connect = "CONNECT a.test:443 HTTP/1.1\r\nHost: a.test:443\r\n\
                   Proxy-Authorization: Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==\r\n\r\n";
    assert_eq!(proxy.requests(), [connect]);
    assert!(!server.requests()[0].contains("Proxy-Authorization"));
}

/// The proxy may know names that we do not.
#[tokio::test]
async fn no_name_is_resolved_behind_a_proxy() {
    let proxy = answers(OK).await;
    let fetcher = by(&proxy, FetchConfig::default());
    assert_eq!(fetcher.resolve(&url("http://known-to-the-proxy.invalid/").site()).await, Ok(Vec::new()));
}

#[tokio::test]
async fn what_is_led_elsewhere_goes_through_a_tunnel() {
    let server = answers(OK).await;
    let proxy = tunnels_to(server.address).await;
    let connect_to = vec!["a.test:80:b.test:8080".parse().expect("connect-to")];
    let fetcher = by(&proxy, FetchConfig { connect_to, ..FetchConfig::default() });
    assert_eq!(text(&response(&fetcher.fetch(task("http://a.test/")).await).body), "ok");
    assert_eq!(proxy.request_lines(), ["CONNECT b.test:8080 HTTP/1.1"]);
    assert!(server.requests()[0].starts_with("GET / HTTP/1.1\r\nHost: a.test\r\n"));
}

#[tokio::test]
async fn proxies_that_refuse_are_failures() {
    for (answer, kind, words) in [
        (
            "HTTP/1.1 407 Proxy Authentication Required\r\n\r\n",
            FailureKind::Connect,
            "HTTP/1.1 407 Proxy Authentication",
        ),
        ("HTTP/1.1 502 Bad Gateway\r\n\r\n", FailureKind::Connect, "refused CONNECT a.test:443: HTTP/1.1 502 Bad"),
        ("SSH-2.0\r\n\r\n", FailureKind::Protocol, "no HTTP answer to CONNECT a.test:443"),
        ("", FailureKind::Connect, "proxy http://***@127.0.0.1"),
    ] {
        let proxy = answers_once(answer).await;
        let outcome = by(&proxy, FetchConfig::default()).fetch(task("https://a.test/")).await;
        assert_failed(&outcome, kind, words);
    }
}
