//! Memory has its bounds, however many large bodies come at once.

use testweb::{Reply, Request, Web, from_fn};

use crate::crawl::{Crawl, serve};

/// Sites, each with one large body.
const SITES: usize = 32;
/// Its bytes.
const BODY_BYTES: usize = 4_000_000;
/// What a crawl of so many sites with small bodies takes with a debug build, and as much again for what a body takes while it is recorded.
const OTHER_KIB_MAX: u64 = 96 * 1024;

#[tokio::test(flavor = "multi_thread")]
async fn bodies_that_wait_to_be_recorded_count_as_in_flight() {
    // Nothing that is compressed well.
    let body: bytes::Bytes =
        (0..BODY_BYTES as u64).map(|n| (n.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 56) as u8).collect::<Vec<u8>>().into();
    let site = move |request: &Request| match request.target.as_str() {
        "/robots.txt" => Reply::text(""),
        _ => Reply::new(200).header("Content-Type", "application/pdf").body(body.clone()),
    };
    let site = std::sync::Arc::new(site);
    let mut web = Web::new();
    let seeds: Vec<String> = (0..SITES).map(|n| format!("http://s{n}.test/")).collect();
    for n in 0..SITES {
        let site = site.clone();
        web = web.site(&format!("s{n}.test"), from_fn(move |request| site(request)));
    }
    let server = serve(web).await;
    let seeds: Vec<&str> = seeds.iter().map(String::as_str).collect();
    let crawl = Crawl::of(&server, &seeds).at_once().with(&["--no-sitemaps", "--max-in-flight-bytes", "8MB"]);
    let ended = crawl.run().await;
    let fetched = crawl.found().outcomes().values().filter(|outcome| **outcome != "connection_error").count();
    assert_eq!(fetched, SITES);
    // All of them are 128 MB.
    assert!(ended.memory_kib < OTHER_KIB_MAX, "{} KiB", ended.memory_kib);
}
