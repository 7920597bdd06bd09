//! HTTP/2, which is chosen within TLS.

use std::convert::Infallible;

use bytes::Bytes;
use fetch::{Initiator, PageRequest};
use http::{Request, Response};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};

use model::{FailureKind, FetchTask, Headers, Limits, Method, Truncation};

use crate::client::{assert_failed, fetcher, note, page, response, text};
use crate::server::{Server, serve};
use crate::tls::{Authority, trusting};

async fn service(request: Request<Incoming>) -> Result<Response<Full<Bytes>>, Infallible> {
    let field = |name: &str| request.headers().get(name).map_or("-", |value| value.to_str().unwrap_or("?"));
    let said = format!("{:?} {} {} {}", request.version(), request.uri(), field("host"), field("accept-encoding"));
    let builder = Response::builder().header("x-one", "1").header("set-cookie", "a").header("set-cookie", "b");
    let answer = match request.uri().path() {
        "/large-head" => builder.header("x-large", "x".repeat(20_000)).body(Full::default()),
        "/large" => builder.body(Full::from(vec![b'x'; 1_000_000])),
        "/body" => {
            let said = format!("{} {}", request.method(), field("content-length"));
            let body = request.into_body().collect().await.map(http_body_util::Collected::to_bytes).unwrap_or_default();
            builder.body(Full::from(format!("{said} {}", String::from_utf8_lossy(&body))))
        }
        "/missing" => builder.status(404).body(Full::default()),
        _ => builder.body(Full::from(said)),
    };
    Ok(answer.expect("an answer"))
}

async fn server(authority: &Authority) -> Server {
    let acceptor = authority.acceptor(&["a.test"], &["h2"]);
    serve(move |peer| {
        let acceptor = acceptor.clone();
        async move {
            let Ok(stream) = acceptor.accept(peer.stream).await else { return };
            let io = TokioIo::new(stream);
            let _ = hyper::server::conn::http2::Builder::new(TokioExecutor::new())
                .serve_connection(io, service_fn(service))
                .await;
        }
    })
    .await
}

fn task(server: &Server, path: &str) -> FetchTask {
    page(&format!("https://a.test:{}{path}", server.address.port()))
}

#[tokio::test]
async fn heads_are_written_as_those_of_http_1() {
    let authority = Authority::new();
    let (server, fetcher) = (server(&authority).await, trusting(&authority));
    let outcome = fetcher.fetch(task(&server, "/a?b")).await;
    let port = server.address.port();
    let exchange = &outcome.exchanges[0];
    let expect = format!("HTTP/2.0 https://a.test:{port}/a?b - gzip, br, zstd, deflate");
    assert_eq!(text(&response(&outcome).body), expect);
    let request = text(&exchange.request_head);
    assert!(request.starts_with(&format!("GET /a?b HTTP/1.1\r\nhost: a.test:{port}\r\nuser-agent: ")), "{request}");
    assert!(request.ends_with("\r\naccept-encoding: gzip, br, zstd, deflate\r\n\r\n"), "{request}");
    let head = text(&exchange.response_head);
    assert!(head.starts_with("HTTP/1.1 200 OK\r\nx-one: 1\r\nset-cookie: a\r\nset-cookie: b\r\n"), "{head}");
    assert!(head.ends_with("\r\n\r\n"), "{head}");
    assert_eq!(response(&outcome).headers.all("Set-Cookie").count(), 2);
}

#[tokio::test]
async fn a_page_sends_a_body() {
    let authority = Authority::new();
    let (server, fetcher) = (server(&authority).await, trusting(&authority));
    let task = task(&server, "/body");
    let (of, headers, body) = (task.url.clone(), Headers::default(), Bytes::from_static(b"a=b"));
    let time_max = std::time::Duration::MAX;
    let request =
        PageRequest { initiator: Initiator::Page(&of), method: Method::Post, headers: &headers, body: &body, time_max };
    let outcome = fetcher.fetch_for(task, Some(&request)).await;
    assert_eq!(text(&response(&outcome).body), "POST 3 a=b");
    assert!(text(&outcome.exchanges[0].request_head).starts_with("POST /body HTTP/1.1\r\n"));
    assert_eq!(outcome.exchanges[0].request_body, body);
}

#[tokio::test]
async fn fetches_of_a_site_share_a_connection() {
    let authority = Authority::new();
    let (server, fetcher) = (server(&authority).await, trusting(&authority));
    for (path, status) in [("/", 200), ("/missing", 404), ("/", 200)] {
        assert_eq!(response(&fetcher.fetch(task(&server, path)).await).status, status);
    }
    assert_eq!(server.connections(), 1);
}

#[tokio::test]
async fn limits_hold() {
    let authority = Authority::new();
    let limits = Limits { header_bytes_max: 10_000, body_bytes_max: 10_000, ..Limits::default() };
    let config = fetch::FetchConfig { ca_certs: vec![authority.pem()], limits, ..Default::default() };
    let (server, fetcher) = (server(&authority).await, fetcher(config));
    let outcome = fetcher.fetch(task(&server, "/large")).await;
    assert_eq!((response(&outcome).body.len(), response(&outcome).truncated), (10_000, Some(Truncation::Length)));
    assert_eq!(note(response(&outcome)), "longer than 10000 bytes");
    let outcome = fetcher.fetch(task(&server, "/large-head")).await;
    assert_failed(&outcome, FailureKind::HeadTooLarge, "(header_bytes_max)");
}

#[tokio::test]
async fn a_kept_connection_that_died_is_replaced() {
    let authority = Authority::new();
    let acceptor = authority.acceptor(&["a.test"], &["h2"]);
    // The first connection serves one request and ends when the second comes.
    let server = serve(move |peer| {
        let (acceptor, number) = (acceptor.clone(), peer.number);
        async move {
            let Ok(stream) = acceptor.accept(peer.stream).await else { return };
            let count = std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(0));
            let end = std::sync::Arc::new(tokio::sync::Notify::new());
            let on_end = std::sync::Arc::clone(&end);
            let answer = service_fn(move |request| {
                let (count, end) = (std::sync::Arc::clone(&count), std::sync::Arc::clone(&end));
                async move {
                    if number == 0 && count.fetch_add(1, std::sync::atomic::Ordering::SeqCst) == 1 {
                        end.notify_one();
                        std::future::pending::<()>().await;
                    }
                    service(request).await
                }
            });
            let connection = hyper::server::conn::http2::Builder::new(TokioExecutor::new())
                .serve_connection(TokioIo::new(stream), answer);
            tokio::select! {
                _ = connection => {}
                () = on_end.notified() => {}
            }
        }
    })
    .await;
    let fetcher = trusting(&authority);
    for _ in 0..3 {
        assert_eq!(response(&fetcher.fetch(task(&server, "/")).await).status, 200);
    }
    assert_eq!(server.connections(), 2);
}
