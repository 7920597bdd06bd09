//! Starting and stopping.

use std::io::ErrorKind;
use std::iter;
use std::net::{Ipv4Addr, SocketAddr};

use testweb::{Config, Pages, Reply, Server, StartError, Step, Web, from_fn};
use tokio::io::AsyncReadExt;
use tokio::net::TcpStream;

use crate::client::{Client, request, serve};

#[tokio::test]
async fn several_addresses_serve_the_same_web() {
    let listen = [[127, 0, 0, 1], [127, 0, 0, 2]].map(|ip| SocketAddr::from((Ipv4Addr::from(ip), 0)));
    let web = Web::new().site("a.test", Pages::new().html("/", "a"));
    let server = Server::start(Config { listen: listen.to_vec(), ..Config::new(web) }).await.unwrap();
    for &address in server.addresses() {
        assert_eq!(Client::connect(address).await.get("a.test", "/").await.status, 200);
    }
    let local: Vec<_> = server.log().iter().map(|entry| entry.local).collect();
    assert_eq!(local, server.addresses());
}

#[tokio::test]
async fn an_address_in_use_is_an_error_that_names_it() {
    let first = serve(Pages::new()).await;
    let config = Config { listen: vec![first.address()], ..Config::new(Web::new()) };
    let error = Server::start(config).await.err().unwrap();
    assert!(matches!(error, StartError::Listen { .. }));
    assert_eq!(error.to_string(), format!("cannot listen on {}", first.address()));
}

#[tokio::test]
async fn shutdown_ends_idle_endless_and_silent_connections() {
    let server = serve(from_fn(|request| match request.path() {
        "/endless" => Reply::new(200).stream(|| iter::repeat("x".into())),
        "/silent" => Reply::raw(|| iter::once(Step::Hang)),
        _ => Reply::text("idle"),
    }))
    .await;
    let mut clients = Vec::new();
    for target in ["/idle", "/endless", "/silent"] {
        let mut client = Client::connect(server.address()).await;
        client.send(&request("GET", "a", target)).await;
        clients.push(client.into_inner());
    }
    while server.requests() < 3 {
        tokio::task::yield_now().await;
    }
    let address = server.address();
    server.shutdown().await;
    assert_eq!(TcpStream::connect(address).await.unwrap_err().kind(), ErrorKind::ConnectionRefused);
    for client in &mut clients {
        // Whatever was on its way comes, then the end.
        let _ = client.read_to_end(&mut Vec::new()).await;
    }
}

#[tokio::test]
async fn dropping_the_server_stops_it() {
    let server = serve(Pages::new()).await;
    let mut kept = Client::connect(server.address()).await;
    kept.get("a", "/").await;
    drop(server);
    assert_eq!(kept.into_inner().read(&mut [0]).await.unwrap(), 0);
}

#[tokio::test]
async fn a_connection_past_the_limit_waits_for_its_turn() {
    let config = Config { connections_max: 1, ..Config::new(Web::new()) };
    let server = Server::start(config).await.unwrap();
    let mut first = Client::connect(server.address()).await;
    first.get("a", "/").await;
    let mut second = Client::connect(server.address()).await;
    second.send(&request("GET", "b", "/")).await;
    first.get("a", "/").await;
    assert_eq!(server.requests(), 2);
    drop(first);
    second.receive(false).await;
    assert_eq!(server.requests(), 3);
}

#[tokio::test]
async fn a_client_that_goes_away_ends_its_stream() {
    let endless = from_fn(|_| Reply::new(200).stream(|| iter::repeat("x".into())));
    let config = Config { connections_max: 1, ..Config::new(Web::new().site("*", endless)) };
    let server = Server::start(config).await.unwrap();
    for _ in 0..3 {
        // The next connection is accepted only when the last one has ended.
        let mut client = Client::connect(server.address()).await;
        client.send(&request("GET", "a", "/")).await;
        assert_eq!(client.receive(true).await.status, 200);
    }
    assert_eq!(server.requests(), 3);
}
