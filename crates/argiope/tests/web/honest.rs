//! Sites whose URLs look like those of traps lose no page with the default settings; what hides its leaves among them ends.

use testweb::honest::{HOST, SECTIONS};
use testweb::{Reply, Request, Web, from_fn};

use crate::crawl::{Crawl, Found, outcome, serve};

/// Crawls a host of a web to the end.
async fn crawl(web: Web, seed: &str, options: &[&str]) -> Found {
    let server = serve(web).await;
    let crawl = Crawl::of(&server, &[seed]).at_once().with(&["--no-sitemaps"]).with(options);
    crawl.run().await;
    crawl.found()
}

async fn loses_nothing(prefix: &str, options: &[&str]) {
    let section = SECTIONS.iter().find(|section| section.prefix == prefix).expect("a section");
    let found = crawl(Web::sandboxes(), &format!("http://{HOST}{}", section.entry), options).await;
    let refused: Vec<_> = found.pages.values().filter(|entry| outcome(entry) != "html").collect();
    assert!(refused.is_empty(), "{}: {:?}", section.note, refused.first());
    assert_eq!(found.pages.len(), section.pages, "{}", section.note);
}

#[tokio::test(flavor = "multi_thread")]
async fn articles_by_three_parameters() {
    loses_nothing("/cms?", &[]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn goods_that_differ_in_number_and_price() {
    loses_nothing("/shop?", &[]).await;
    loses_nothing("/shop?", &["--no-dataset"]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_newspaper_by_days() {
    loses_nothing("/news/", &[]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn documents_by_long_ids() {
    loses_nothing("/documents/", &[]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn comics_without_text() {
    loses_nothing("/comic/", &[]).await;
}

/// The counts that a run leaves behind do not refuse what the next one finds.
#[tokio::test(flavor = "multi_thread")]
async fn articles_in_several_runs() {
    let section = SECTIONS.iter().find(|section| section.prefix == "/cms?").expect("a section");
    let server = serve(Web::sandboxes()).await;
    let first = Crawl::of(&server, &[&format!("http://{HOST}{}", section.entry)]).at_once();
    let first = first.with(&["--no-sitemaps", "--max-queries-per-path", "100"]);
    for pages in ["60", "300", "700", "1100"] {
        first.again(&["--max-pages", pages]).run().await;
    }
    first.again(&["--max-pages", "100000"]).run().await;
    let found = first.found();
    assert_eq!(found.pages.values().filter(|entry| outcome(entry) == "html").count(), section.pages);
}

/// Twenty links to ever new pages, of which one leads on.
fn with_leaves(request: &Request) -> Reply {
    let number =
        |n: u32| request.target.bytes().fold(n, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193));
    let links = |n: u32| format!("<a href=/r/{:x}{}>more</a>", number(n), if n == 0 { '+' } else { '-' });
    let links: String = if request.path().ends_with('-') { String::new() } else { (0..20).map(links).collect() };
    let words: String = (0..40).map(|n| format!("word{:x} ", number(0x9e37_79b9u32.wrapping_mul(n + 1)))).collect();
    Reply::html(format!("<!doctype html><title>Leaves</title><p>{words}</p>{links}"))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_generator_that_hides_among_leaves_ends() {
    let options = ["--robots", "ignore", "--low-yield-window", "100", "--max-low-yield-pages", "200"];
    let found = crawl(Web::new().site("leaves.test", from_fn(with_leaves)), "http://leaves.test/", &options).await;
    let of = |wanted: &str| found.pages.values().filter(|entry| outcome(entry) == wanted).count();
    assert!((2_000..3_000).contains(&of("html")) && of("trap") > 0, "{:?}", found.outcomes());
}
