//! Only the user leads the crawler to an address that is not public: no page, redirect, robots.txt or sitemap does.

use std::net::TcpListener;

use model::Outcome;
use testweb::{Pages, Reply, Server, Web};

use crate::crawl::{Crawl, serve};

/// An address that no crawl may reach by itself. A connection waits in its queue.
struct Private(TcpListener);

impl Private {
    fn new() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        listener.set_nonblocking(true).expect("a socket");
        Private(listener)
    }

    fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.0.local_addr().expect("an address"))
    }

    /// Whether anybody came since it was asked last.
    fn was_reached(&self) -> bool {
        let reached = self.0.accept().is_ok();
        while self.0.accept().is_ok() {}
        reached
    }
}

/// Sites by name, each of which leads to the private one in another way.
fn leading_to(private: &Private) -> Web {
    let at = |path: &str| private.url(path);
    let index = format!(
        "<sitemapindex xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'><sitemap><loc>{}</loc></sitemap></sitemapindex>",
        at("/indexed.xml")
    );
    let linking = format!(
        "<a href={0}>x</a><a href=/moved>x</a><img src={1}><script src={2}></script><p>text</p>",
        at("/linked"),
        at("/shown.png"),
        at("/script.js")
    );
    Web::new()
        .site("seed.test", Pages::new().reply("/", Reply::redirect(302, at("/latest/meta-data/"))))
        .site("links.test", Pages::new().html("/", linking).reply("/moved", Reply::redirect(302, at("/moved"))))
        .site(
            "robots.test",
            Pages::new().reply("/robots.txt", Reply::redirect(302, at("/robots"))).html("/", "<p>text</p>"),
        )
        .site(
            "maps.test",
            Pages::new()
                .text("/robots.txt", format!("Sitemap: {}\nSitemap: http://maps.test/index.xml\n", at("/declared.xml")))
                .reply("/index.xml", Reply::new(200).header("Content-Type", "application/xml").body(index))
                .html("/", "<p>text</p>"),
        )
}

/// A crawl of these names, each given by hand, since the tests have no public addresses.
fn by_hand(server: &Server, names: &[&str]) -> Crawl {
    let port = server.address().port();
    let seeds: Vec<String> = names.iter().map(|name| format!("http://{name}/")).collect();
    let mut crawl = Crawl::routed(&seeds.iter().map(String::as_str).collect::<Vec<_>>()).at_once();
    for name in names {
        crawl = crawl.with(&["--connect-to", &format!("{name}:80:127.0.0.1:{port}")]);
    }
    crawl.with(&["--scope", "any", "--images", "--requisites", "--max-attempts", "1"])
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_that_the_web_says_leads_to_a_private_address() {
    let names = ["seed.test", "links.test", "robots.test", "maps.test"];
    let private = Private::new();
    let server = serve(leading_to(&private)).await;
    let crawl = by_hand(&server, &names);
    crawl.run().await;
    assert!(!private.was_reached(), "{}", crawl.said());
    let found = crawl.found();
    for path in ["/latest/meta-data/", "/linked", "/moved", "/shown.png", "/script.js", "/declared.xml", "/indexed.xml"]
    {
        let entry = found.pages.get(&private.url(path)).or_else(|| found.sitemaps.get(&private.url(path)));
        let visit = entry.and_then(|entry| entry.visit.as_ref()).unwrap_or_else(|| panic!("{path} has no outcome"));
        assert_eq!(visit.outcome, Outcome::Excluded, "{path}: {}", visit.reason);
        assert!(visit.reason.contains("is not a public address (--deny-private=auto"), "{path}: {}", visit.reason);
    }
    // The same command goes on, and still nobody named the private site.
    crawl.run().await;
    assert!(!private.was_reached(), "resumed: {}", crawl.said());
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_seed_names_needs_no_flag() {
    let private = Private::new();
    let pages =
        || Pages::new().html("/", format!("<a href=/a>x</a><a href={}>x</a>", private.url("/"))).html("/a", "x");
    let server = serve(Web::new().site("127.0.0.1", pages()).site("localhost", pages())).await;
    let port = server.address().port();
    for host in ["127.0.0.1", "localhost"] {
        let (seed, linked) = (format!("http://{host}:{port}/"), format!("http://{host}:{port}/a"));
        let crawl = || Crawl::routed(&[&seed]).at_once().with(&["--scope", "any", "--no-sitemaps"]);
        let usual = crawl();
        usual.run().await;
        let found = usual.found();
        assert_eq!((found.visit(&seed).outcome, found.visit(&linked).outcome), (Outcome::Html, Outcome::Html));
        assert_eq!(found.visit(&private.url("/")).outcome, Outcome::Excluded);
        assert!(!private.was_reached());
        // It goes on, once that site is named too. What was refused has its outcome.
        let named = usual.with(&[&private.url("/named"), "--max-attempts", "1", "--first-byte-timeout", "1s"]);
        named.run().await;
        assert!(private.was_reached(), "{}", named.said());
        let strict = crawl().with(&["--deny-private"]);
        strict.run().await;
        let visit = strict.found().visit(&seed).clone();
        assert_eq!(visit.outcome, Outcome::Excluded);
        assert!(visit.reason.contains("(--deny-private=always)"), "{}", visit.reason);
        let lax = crawl().with(&["--deny-private=never", "--max-attempts", "1", "--first-byte-timeout", "1s"]);
        lax.run().await;
        assert!(private.was_reached(), "{}", lax.said());
    }
}
