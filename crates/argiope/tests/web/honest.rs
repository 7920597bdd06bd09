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

/// Documents of a store, more than pages with session ids may repeat others.
const DOCUMENTS: u64 = 120;

fn key_of(n: u64) -> String {
    format!("/show?id={:016x}", 0x8f14_e45f_ceea_167a_u64.wrapping_mul(2 * n + 1))
}

/// A store of documents by ids that look like those of sessions. A first page links to all, and each to the next, if it is a page.
fn store_of(document: fn(u64, &str) -> Reply, request: &Request) -> Reply {
    let link = |n: u64| format!("<a href={}>Next</a>", key_of(n));
    if request.path() == "/" {
        return Reply::html((0..DOCUMENTS).map(link).collect::<String>());
    }
    match (0..DOCUMENTS).find(|n| key_of(*n) == request.target) {
        Some(n) => document(n, &if n + 1 < DOCUMENTS { link(n + 1) } else { String::new() }),
        None => Reply::error(404, "none"),
    }
}

fn of_type(content_type: &'static str, body: String) -> Reply {
    Reply::new(200).header("Content-Type", content_type).body(body)
}

/// The words that all pages of a site have.
const MENU: &str =
    "<nav>Home News Articles Documents Films About us Contact Imprint Privacy Search the whole site</nav>";

/// The page with a number, which may have such a link to the next.
type PageOf = fn(u64, &str) -> Reply;

#[tokio::test(flavor = "multi_thread")]
async fn what_has_few_words_or_none_repeats_nothing() {
    let kinds: [(&str, PageOf, &str); 6] = [
        ("documents", |n, _| of_type("application/pdf", format!("%PDF-1.4 {n}")), "binary"),
        ("pages of few words", |n, next| Reply::html(format!("<h1>Stone {n}</h1>{next}")), "html"),
        ("pages that lead to no other", |n, _| Reply::html(format!("{MENU}<h1>Stone</h1><!-- {n} -->")), "html"),
        (
            "measurements",
            |n, next| {
                let values: String = (1..7).map(|at| format!("<td>{}.{}", (n * at * 7919) % 31, at * n % 10)).collect();
                Reply::html(format!("{MENU}<h1>Weather</h1><table>{values}</table>{next}"))
            },
            "html",
        ),
        ("films", |n, next| Reply::html(format!("{MENU}<video src=/films/{n}.mp4></video>{next}")), "html"),
        (
            "words in a frame",
            |n, next| {
                let name: String = n.to_string().bytes().map(|digit| char::from(digit + b'a' - b'0')).collect();
                Reply::html(format!("{MENU}<h1>{name}</h1>{next}"))
            },
            "html",
        ),
    ];
    for (name, document, expect) in kinds {
        for options in [&[][..], &["--no-dataset"]] {
            let web = Web::new().site("store.test", from_fn(move |request| store_of(document, request)));
            let found = crawl(web, "http://store.test/", &[&["--robots", "ignore"], options].concat()).await;
            let had =
                found.pages.values().filter(|entry| outcome(entry) == expect && entry.candidate.depth > 0).count();
            assert_eq!(had as u64, DOCUMENTS, "{name} {options:?}: {:?}", found.outcomes());
        }
    }
}

/// What the site itself lists is no trap, though all of it is alike.
#[tokio::test(flavor = "multi_thread")]
async fn what_a_sitemap_lists_is_fetched() {
    let site = from_fn(|request| match request.path() {
        "/robots.txt" => Reply::text("Sitemap: http://store.test/sitemap.xml\n"),
        "/sitemap.xml" => {
            let urls = (0..DOCUMENTS).map(|n| format!("<url><loc>http://store.test{}</loc></url>", key_of(n)));
            let urls: String = urls.collect();
            let xmlns = "http://www.sitemaps.org/schemas/sitemap/0.9";
            of_type("application/xml", format!("<?xml version=\"1.0\"?><urlset xmlns=\"{xmlns}\">{urls}</urlset>"))
        }
        _ => Reply::html("<p>A page like all others"),
    });
    let server = serve(Web::new().site("store.test", site)).await;
    let crawl = Crawl::of(&server, &["http://store.test/"]).at_once();
    crawl.run().await;
    let outcomes = crawl.found();
    assert_eq!(
        outcomes.pages.values().filter(|entry| outcome(entry) == "trap").count(),
        0,
        "{:?}",
        outcomes.outcomes()
    );
    assert_eq!(outcomes.pages.values().filter(|entry| entry.candidate.url.query().is_some()).count() as u64, DOCUMENTS);
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
