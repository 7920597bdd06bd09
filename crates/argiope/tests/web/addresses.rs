//! Sites of several addresses, some of which are dead.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use testweb::{Config, Pages, Server, Web};
use tokio::io::AsyncReadExt;
use tokio::net::TcpListener;

use crate::crawl::Crawl;

/// Takes connections on an address, reads what comes, and never answers. Gives the number of the requests.
async fn silent(address: SocketAddr) -> Arc<AtomicUsize> {
    let (listener, requests) = (TcpListener::bind(address).await.expect("a free port"), Arc::new(AtomicUsize::new(0)));
    let counter = Arc::clone(&requests);
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let counter = Arc::clone(&counter);
            tokio::spawn(async move {
                let mut request = [0; 4096];
                while matches!(stream.read(&mut request).await, Ok(length) if length > 0) {
                    counter.fetch_add(1, Ordering::SeqCst);
                }
            });
        }
    });
    requests
}

#[tokio::test(flavor = "multi_thread")]
async fn a_site_whose_first_address_is_silent_is_fetched_from_its_second() {
    let pages = Pages::new().html("/", "<a href=/1>1</a><a href=/2>2</a>").html("/1", "one").html("/2", "two");
    let listen = vec![SocketAddr::from(([127, 0, 0, 3], 0))];
    let server =
        Server::start(Config { listen, ..Config::new(Web::new().site("a.test", pages)) }).await.expect("started");
    let port = server.addresses()[0].port();
    let requests = silent(SocketAddr::from(([127, 0, 0, 2], port))).await;
    let seed = format!("http://a.test:{port}/");
    let crawl = Crawl::routed(&[&seed]).at_once().with(&["--first-byte-timeout", "1s", "--max-attempts", "2"]);
    let crawl = crawl.with(&["--resolve", &format!("a.test:{port}:127.0.0.2,127.0.0.3")]);
    crawl.run().await;
    let found = crawl.found();
    assert_eq!(found.outcomes().values().filter(|outcome| **outcome == "html").count(), 3, "{:?}", found.outcomes());
    assert_eq!(requests.load(Ordering::SeqCst), 1, "the silent address is asked for robots.txt, and then no more");
}
