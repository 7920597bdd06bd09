//! A small S3 server on loopback: objects in memory, and requests that fail on order.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::sync::{Arc, Mutex};

use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::header::{AUTHORIZATION, CONTENT_RANGE, ETAG, IF_NONE_MATCH, LAST_MODIFIED, RANGE};
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;
use tokio::runtime::Runtime;

/// The bucket.
pub const BUCKET: &str = "crawls";
/// The header that makes a request one to copy.
const COPY_SOURCE: &str = "x-amz-copy-source";

const ACCESS_KEY: &str = "somebody";
const XML: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";

/// A server, as long as it lives.
pub struct S3 {
    address: SocketAddr,
    pub state: Arc<State>,
    _runtime: Runtime,
}

/// What it has and does.
#[derive(Default)]
pub struct State {
    /// Objects by key.
    pub objects: Mutex<BTreeMap<String, Bytes>>,
    /// The keys that were put, in order: at their end, where they came in parts.
    pub put: Mutex<Vec<String>>,
    /// The lengths of the parts that came.
    pub parts: Mutex<Vec<usize>>,
    /// Parts of uploads that are not complete.
    pub uploads: Mutex<BTreeMap<String, BTreeMap<u32, Bytes>>>,
    /// So many requests fail yet.
    pub failing: AtomicU32,
    /// So many failed.
    pub failed: AtomicU32,
    /// Every request is refused.
    pub refusing: bool,
}

impl S3 {
    pub fn start(state: State) -> Self {
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().expect("threads");
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).expect("a free port");
        let address = listener.local_addr().expect("an address");
        let state = Arc::new(state);
        let served = state.clone();
        runtime.spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let state = served.clone();
                let answer = service_fn(move |request| {
                    let state = state.clone();
                    async move { Ok::<_, Infallible>(state.answer(request).await) }
                });
                tokio::spawn(hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), answer));
            }
        });
        S3 { address, state, _runtime: runtime }
    }

    /// What leads there.
    pub fn variables(&self) -> Vec<(String, String)> {
        let endpoint = format!("http://{}", self.address);
        let variables = [
            ("AWS_ENDPOINT", endpoint.as_str()),
            ("AWS_ALLOW_HTTP", "true"),
            ("AWS_ACCESS_KEY_ID", ACCESS_KEY),
            ("AWS_SECRET_ACCESS_KEY", "secret"),
            ("AWS_REGION", "eu-central-1"),
            ("HOME", "/nowhere"),
        ];
        variables.map(|(key, value)| (key.to_owned(), value.to_owned())).into()
    }
}

impl State {
    async fn answer(&self, request: Request<Incoming>) -> Response<Full<Bytes>> {
        let (head, body) = request.into_parts();
        let body = body.collect().await.expect("a body").to_bytes();
        let signed = head.headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok()).unwrap_or_default();
        assert!(signed.starts_with(&format!("AWS4-HMAC-SHA256 Credential={ACCESS_KEY}/")), "{signed:?}");
        if self.refusing {
            return error(StatusCode::FORBIDDEN, "AccessDenied", "You may not\ndo this.");
        }
        if self.failing.fetch_update(SeqCst, SeqCst, |left| left.checked_sub(1)).is_ok() {
            self.failed.fetch_add(1, SeqCst);
            return error(StatusCode::SERVICE_UNAVAILABLE, "SlowDown", "Not now.");
        }
        let path = head.uri.path().trim_start_matches('/');
        let key = path.strip_prefix(BUCKET).expect("the bucket").trim_start_matches('/').to_owned();
        let query: BTreeMap<String, String> = head.uri.query().map(parameters).unwrap_or_default();
        let upload = query.get("uploadId").cloned();
        match (head.method, upload) {
            (Method::PUT, Some(upload)) => {
                let number = query["partNumber"].parse().expect("a number");
                self.parts.lock().expect("no panic").push(body.len());
                self.uploads.lock().expect("no panic").entry(upload).or_default().insert(number, body);
                ok("")
            }
            (Method::PUT, None) if head.headers.contains_key(COPY_SOURCE) => {
                let source = head.headers[COPY_SOURCE].to_str().expect("text").trim_start_matches('/');
                let source = source.strip_prefix(BUCKET).expect("the bucket").trim_start_matches('/');
                let copied = self.objects.lock().expect("no panic").get(source).cloned();
                let Some(copied) = copied else { return error(StatusCode::NOT_FOUND, "NoSuchKey", "It is not there.") };
                self.keep(key, copied);
                ok("<CopyObjectResult><ETag>\"1\"</ETag></CopyObjectResult>")
            }
            (Method::PUT, None) => {
                let is_there = self.objects.lock().expect("no panic").contains_key(&key);
                if is_there && head.headers.contains_key(IF_NONE_MATCH) {
                    return error(StatusCode::PRECONDITION_FAILED, "PreconditionFailed", "It is there.");
                }
                self.keep(key, body);
                ok("")
            }
            (Method::POST, Some(upload)) => {
                let parts = self.uploads.lock().expect("no panic").remove(&upload).expect("it was begun");
                self.keep(key, parts.into_values().collect::<Vec<_>>().concat().into());
                ok("<CompleteMultipartUploadResult><ETag>\"1\"</ETag></CompleteMultipartUploadResult>")
            }
            (Method::POST, None) if query.contains_key("uploads") => ok(&format!(
                "<InitiateMultipartUploadResult><UploadId>{key}</UploadId></InitiateMultipartUploadResult>"
            )),
            (Method::POST, None) => {
                let text = String::from_utf8_lossy(&body);
                let keys = text.split("<Key>").skip(1).filter_map(|piece| piece.split("</Key>").next());
                let deleted = keys.map(|key| {
                    self.objects.lock().expect("no panic").remove(key);
                    format!("<Deleted><Key>{key}</Key></Deleted>")
                });
                ok(&format!("<DeleteResult>{}</DeleteResult>", deleted.collect::<String>()))
            }
            (Method::DELETE, _) => {
                self.objects.lock().expect("no panic").remove(&key);
                answer(StatusCode::NO_CONTENT, Bytes::new())
            }
            _ if query.contains_key("list-type") => {
                self.list(query.get("prefix").map_or("", String::as_str), query.contains_key("delimiter"))
            }
            _ => match self.objects.lock().expect("no panic").get(&key) {
                Some(object) => match head.headers.get(RANGE).and_then(|range| range.to_str().ok()) {
                    Some(range) => part_of(object, range),
                    None => answer(StatusCode::OK, object.clone()),
                },
                None => error(StatusCode::NOT_FOUND, "NoSuchKey", "It is not there."),
            },
        }
    }

    fn keep(&self, key: String, body: Bytes) {
        self.put.lock().expect("no panic").push(key.clone());
        self.objects.lock().expect("no panic").insert(key, body);
    }

    /// The objects below a prefix, or those right below it.
    fn list(&self, prefix: &str, is_flat: bool) -> Response<Full<Bytes>> {
        let objects = self.objects.lock().expect("no panic");
        let is_listed = |key: &str| key.strip_prefix(prefix).is_some_and(|rest| !is_flat || !rest.contains('/'));
        let contents = objects.iter().filter(|(key, _)| is_listed(key)).map(|(key, body)| {
            let modified = "2026-11-22T00:00:00.000Z";
            let size = body.len();
            format!("<Contents><Key>{key}</Key><Size>{size}</Size><LastModified>{modified}</LastModified></Contents>")
        });
        ok(&format!("<ListBucketResult>{}</ListBucketResult>", contents.collect::<String>()))
    }
}

fn parameters(query: &str) -> BTreeMap<String, String> {
    let decoded = |text: &str| text.replace("%2F", "/").replace("%2f", "/");
    let pairs = query.split('&').map(|pair| pair.split_once('=').unwrap_or((pair, "")));
    pairs.map(|(key, value)| (key.to_owned(), decoded(value))).collect()
}

/// A part of an object (`bytes=FIRST-LAST`). What is behind its end is left out.
fn part_of(object: &Bytes, range: &str) -> Response<Full<Bytes>> {
    let ends = range.strip_prefix("bytes=").and_then(|range| range.split_once('-')).expect("a range");
    let (first, last): (usize, usize) = (ends.0.parse().expect("a number"), ends.1.parse().expect("a number"));
    let last = last.min(object.len() - 1);
    let mut part = answer(StatusCode::PARTIAL_CONTENT, object.slice(first..=last));
    let content_range = format!("bytes {first}-{last}/{}", object.len());
    part.headers_mut().insert(CONTENT_RANGE, content_range.parse().expect("a value"));
    part
}

fn ok(body: &str) -> Response<Full<Bytes>> {
    answer(StatusCode::OK, if body.is_empty() { Bytes::new() } else { format!("{XML}{body}").into() })
}

fn error(status: StatusCode, code: &str, message: &str) -> Response<Full<Bytes>> {
    answer(status, format!("{XML}<Error><Code>{code}</Code><Message>{message}</Message></Error>").into())
}

fn answer(status: StatusCode, body: Bytes) -> Response<Full<Bytes>> {
    let head = Response::builder().status(status).header(ETAG, "\"1\"");
    head.header(LAST_MODIFIED, "Sun, 22 Nov 2026 00:00:00 GMT").body(Full::new(body)).expect("an answer")
}
