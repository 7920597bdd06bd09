//! TLS with the server's own authority; HTTP/2 by ALPN.

use std::sync::Arc;

use bytes::Bytes;
use http_body_util::{BodyExt, Empty};
use hyper_util::rt::{TokioExecutor, TokioIo};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use testweb::{Pages, Reply, Scheme, Server, Step, from_fn, hostile};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use crate::client::{Client, serve};

/// A TLS connection to a host, with that protocol, by a client that trusts the server's authority.
async fn connect(server: &Server, host: &str, alpn: &str) -> std::io::Result<TlsStream<TcpStream>> {
    handshake(server, TcpStream::connect(server.address()).await?, host, alpn).await
}

async fn handshake(
    server: &Server,
    stream: TcpStream,
    host: &str,
    alpn: &str,
) -> std::io::Result<TlsStream<TcpStream>> {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_slice(server.ca_pem().as_bytes()).unwrap()).unwrap();
    let mut config = ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = vec![alpn.as_bytes().to_vec()];
    let name = ServerName::try_from(host.to_owned()).unwrap();
    TlsConnector::from(Arc::new(config)).connect(name, stream).await
}

fn site() -> impl testweb::Site {
    let long = "long ".repeat(20_000);
    Pages::new()
        .html("/", "secret")
        .reply("/long", Reply::text(long))
        .reply("/stream", Reply::new(200).stream(|| ["one ", "two"].into_iter().map(Into::into)))
        .reply("/raw", Reply::raw(|| std::iter::once(Step::Reset)))
        .reply("/connection", Reply::text("x").header("Connection", "keep-alive"))
}

#[tokio::test]
async fn http_1_1_over_tls_for_any_name() {
    let server = serve(site()).await;
    for host in ["a.test", "b.example", "127.0.0.1", "localhost"] {
        let mut client = Client::over(connect(&server, host, "http/1.1").await.unwrap());
        assert_eq!(client.get(host, "/").await.text(), "secret", "{host}");
    }
    assert!(server.log().iter().all(|entry| entry.scheme == Scheme::Https));
}

#[tokio::test]
async fn http_2_by_alpn() {
    let server = serve(site()).await;
    let stream = connect(&server, "a.test", "h2").await.unwrap();
    let (mut sender, connection) =
        hyper::client::conn::http2::handshake(TokioExecutor::new(), TokioIo::new(stream)).await.unwrap();
    let driver = tokio::spawn(connection);
    let get =
        |target: &str| http::Request::get(format!("https://A.test:8443{target}")).body(Empty::<Bytes>::new()).unwrap();
    for (target, status, bytes) in
        [("/", 200, 6), ("/long?no", 404, 0), ("/long", 200, 100_000), ("/stream", 200, 7), ("/connection", 200, 1)]
    {
        let response = sender.send_request(get(target)).await.unwrap();
        assert_eq!(response.status(), status, "{target}");
        let body = response.into_body().collect().await.unwrap().to_bytes();
        assert!(status != 200 || body.len() == bytes, "{target}: {} bytes", body.len());
    }
    assert!(sender.send_request(get("/raw")).await.is_err());
    let log = server.log();
    assert_eq!((log[0].protocol, &*log[0].host, log[0].port, &*log[0].target), ("HTTP/2", "a.test", Some(8443), "/"));
    assert!(log.iter().all(|entry| entry.end_us.is_some()));
    server.shutdown().await;
    let _ = driver.await;
}

#[tokio::test]
async fn tls_through_the_proxy() {
    let server = serve(from_fn(|request| Reply::text(format!("{} {}", request.scheme, request.host)))).await;
    let mut client = Client::connect(server.address()).await;
    client.send("CONNECT a.test:443 HTTP/1.1\r\nHost: a.test:443\r\n\r\n").await;
    assert_eq!(client.receive(true).await.status, 200);
    let mut client = Client::over(handshake(&server, client.into_inner(), "a.test", "http/1.1").await.unwrap());
    assert_eq!(client.get("a.test", "/").await.text(), "https a.test");
}

#[tokio::test]
async fn hosts_with_broken_certificates() {
    let server = serve(site()).await;
    for (host, reason) in [
        (hostile::EXPIRED_HOST, "Expired"),
        (hostile::WRONG_NAME_HOST, "NotValidForName"),
        (hostile::UNTRUSTED_HOST, "UnknownIssuer"),
        (hostile::BROKEN_HOST, "AlertReceived"),
    ] {
        let error = connect(&server, host, "h2").await.unwrap_err();
        let said = format!("{error:?}");
        assert!(said.contains(reason), "{host}: {said}");
    }
}
