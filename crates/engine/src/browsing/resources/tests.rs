//! Pages of a web on this machine, without a browser.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use fetch::FetchConfig;
use model::{Timestamp, Truncation};
use testweb::{Config, Pages, Reply, Request, Server, Web, from_fn};

use super::*;
use crate::clock::Readings;
use crate::step::tests::settings;

const DATE: fn() -> Timestamp = || Timestamp(1_795_000_000_000_000);

/// What the pages of a web share.
async fn shared(web: Web, awake: fn() -> Duration) -> (Arc<Resources>, Server) {
    let server = Server::start(Config::new(web)).await.expect("a free port");
    let connect_to = vec![server.connect_to().parse().expect("a rule")];
    let clock = Clock::reading(Readings { date: DATE, awake });
    let fetcher = Fetcher::new(FetchConfig { connect_to, ..FetchConfig::default() }, Arc::new(DATE));
    let fetcher = Arc::new(fetcher.expect("a fetcher"));
    (Arc::new(Resources::new(fetcher, Arc::new(settings()), clock)), server)
}

fn page(shared: &Arc<Resources>) -> PageResources {
    PageResources::new(shared.clone(), &url("http://app.test/"), None)
}

fn url(text: &str) -> CanonicalUrl {
    CanonicalUrl::parse(text, &CanonicalRules::default()).expect(text)
}

/// The status of what a page gets as a script.
async fn get(page: &PageResources, url: &str) -> Result<u16, Refusal> {
    let (method, kind, time_max) = (Method::Get, Kind::Script, Duration::from_secs(60));
    let (headers, body, url) = (Headers::default(), Bytes::new(), url.to_owned());
    let wanted = Wanted { url, kind, method, headers, body, has_credentials: true, is_after_click: false, time_max };
    match page.get(wanted).await {
        Served::Answer { status, .. } => Ok(status),
        Served::Refused(refusal) => Err(refusal),
    }
}

fn asked(server: &Server, host: &str) -> usize {
    server.log().iter().filter(|entry| entry.host == host).count()
}

#[tokio::test]
async fn a_robots_txt_to_which_many_sites_redirect_is_requested_once() {
    const SITES: usize = 41;
    let site = || {
        let redirect = Reply::redirect(302, "http://victim.test/rules");
        Pages::new().reply("/robots.txt", redirect).text("/open", "x").text("/closed", "x")
    };
    let victim = Pages::new().text("/rules", "User-agent: *\nDisallow: /closed\n");
    let web = Web::new().site("victim.test", victim).site("*.site.test", site());
    let (shared, server) = shared(web, || Duration::ZERO).await;
    let mut pages = tokio::task::JoinSet::new();
    for n in 0..SITES {
        let page = page(&shared);
        pages.spawn(async move {
            let open = get(&page, &format!("http://s{n}.site.test/open")).await;
            let closed = get(&page, &format!("http://s{n}.site.test/closed")).await;
            (open, closed, page.end().robots)
        });
    }
    let mut recorded = 0;
    while let Some(done) = pages.join_next().await {
        let (open, closed, robots) = done.expect("no panic");
        assert_eq!((open, closed), (Ok(200), Err(Refusal::Robots)));
        recorded += robots.iter().filter(|exchange| exchange.url.as_str() == "http://victim.test/rules").count();
    }
    assert_eq!((asked(&server, "victim.test"), recorded), (1, 1));
    assert_eq!(
        server.log().len(),
        1 + 2 * SITES,
        "each site has one request for its file, and one for what is allowed"
    );
}

#[tokio::test]
async fn a_robots_txt_that_failed_is_requested_again_after_a_while() {
    static AWAKE: AtomicU64 = AtomicU64::new(0);
    let tries = AtomicUsize::new(0);
    let victim = from_fn(move |_: &Request| match tries.fetch_add(1, Ordering::SeqCst) {
        0 => Reply::new(503),
        1 => Reply::new(503).header("Retry-After", "60"),
        _ => Reply::text(""),
    });
    let site = Pages::new().reply("/robots.txt", Reply::redirect(302, "http://victim.test/robots.txt"));
    let web = Web::new().site("victim.test", victim).site("*.site.test", site.text("/x", "x"));
    let (shared, server) = shared(web, || Duration::from_secs(AWAKE.load(Ordering::SeqCst))).await;
    for (seconds, requests, expect) in [
        (0, 1, Err(Refusal::Robots)),
        (0, 1, Err(Refusal::Robots)),
        (1, 2, Err(Refusal::Robots)),
        (60, 2, Err(Refusal::Robots)),
        (61, 3, Ok(200)),
        (1_000, 3, Ok(200)),
    ] {
        AWAKE.store(seconds, Ordering::SeqCst);
        for site in ["http://a.site.test/x", "http://b.site.test/x"] {
            assert_eq!(
                (get(&page(&shared), site).await, asked(&server, "victim.test")),
                (expect, requests),
                "{seconds}"
            );
        }
    }
}

#[tokio::test]
async fn the_crawl_tells_where_a_robots_txt_is_and_what_it_says() {
    let (shared, server) = shared(Web::new().site("a.test", Pages::new().text("/x", "x")), || Duration::ZERO).await;
    let outcome = |asked: &str, truncated, (name, value): (&str, &str), (status, body): (u16, &'static str)| {
        let headers = Headers(vec![(name.to_owned(), value.to_owned())]);
        let response = Response { status, headers, body: body.into(), truncated, is_undecoded: false, note: None };
        FetchOutcome {
            id: TaskId(1),
            url: url(asked),
            exchanges: Vec::new(),
            fetched: Fetched::Response(response),
            rendering: None,
            started_at: DATE(),
            finished_at: DATE(),
            response_time: Duration::ZERO,
        }
    };
    let plain = ("content-type", "text/plain");
    // The rest of what broke off may forbid.
    let broken = outcome("http://b.test/robots.txt", Some(Truncation::Disconnect), plain, (200, ""));
    assert_eq!(shared.robots_answer(&broken, None, 0).failed_tries, 1);
    shared.learn(&broken);
    shared.learn(&outcome("http://a.test/robots.txt", None, ("location", "http://b.test/robots.txt"), (302, "")));
    shared.learn(&outcome("http://b.test/robots.txt", None, plain, (200, "User-agent: *\nDisallow: /y\n")));
    assert_eq!(get(&page(&shared), "http://a.test/x").await, Ok(200));
    assert_eq!(get(&page(&shared), "http://a.test/y").await, Err(Refusal::Robots));
    assert_eq!(server.log().len(), 1);
}

#[tokio::test]
async fn what_comes_after_the_end_of_its_page_is_for_no_other_page() {
    let ending: Arc<OnceLock<Arc<PageResources>>> = Arc::default();
    let held = ending.clone();
    let site = from_fn(move |request: &Request| {
        if request.target == "/robots.txt" {
            return Reply::text("");
        }
        if let Some(page) = held.get() {
            page.end();
        }
        Reply::text("1")
    });
    let (shared, server) = shared(Web::new().site("a.test", site), || Duration::ZERO).await;
    let first = Arc::new(page(&shared));
    assert!(ending.set(first.clone()).is_ok());
    let late = "http://a.test/late.js";
    assert_eq!(get(&first, late).await, Err(Refusal::NoAnswer));
    assert_eq!(get(&first, "http://a.test/later.js").await, Err(Refusal::NoAnswer));
    assert_eq!(server.log().iter().map(|entry| &entry.target[..]).collect::<Vec<_>>(), ["/robots.txt", "/late.js"]);
    let second = page(&shared);
    assert_eq!(get(&second, late).await, Ok(200));
    let recorded: Vec<CanonicalUrl> = second.end().files.into_iter().map(|exchange| exchange.url).collect();
    assert_eq!(recorded, [url(late)]);
}

#[test]
fn urls_and_heads_count_in_the_cache() {
    const BYTES: usize = 256 << 10;
    let headers = Headers(vec![("Location".to_owned(), "x".repeat(BYTES))]);
    let (body, note) = (Bytes::new(), None);
    let redirect = Response { status: 302, headers, body, truncated: None, is_undecoded: false, note };
    let mut cache = Cache::default();
    for n in 0..CACHE_BYTES_MAX / BYTES {
        cache.put(&(format!("{n}{}", "y".repeat(BYTES)), None), &redirect);
    }
    // The URL is there twice.
    assert!((2..=CACHE_BYTES_MAX / (3 * BYTES)).contains(&cache.answers.len()), "{}", cache.answers.len());
    assert_eq!(cache.answers.len(), cache.order.len());
    while cache.order.len() > 1 {
        let next = cache.order[0].0.clone();
        cache.forget(&HashSet::from([next.as_str()]));
    }
    assert!(cache.bytes < 4 * BYTES, "{}", cache.bytes);
}
