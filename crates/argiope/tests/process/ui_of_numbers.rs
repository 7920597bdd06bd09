//! The numbers of the report, and their lists.

use std::sync::Arc;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::SeqCst;

use testkit::numbers::assert_all_lead;
use testkit::ui::Ui;
use testweb::{Reply, Web, from_fn};

use crate::binary;
use crate::served::Served;

/// A web with a page of each kind. In the second round one page fails, one is gone, and one has changed.
fn of_all_kinds(round: &Arc<AtomicU32>) -> Web {
    let now = round.clone();
    let page = move |request: &testweb::Request| match (request.path(), now.load(SeqCst)) {
        ("/robots.txt", _) => Reply::text("User-agent: *\nDisallow: /secret"),
        ("/", _) => Reply::html(
            "<title>start</title><a href=/a>a</a><a href=/b>b</a><a href=/copy>c</a><a href=/gone>d</a><a href=/file>e</a>\
             <a href=/secret>f</a><a href=/no/x>g</a><a href=/moved>h</a><a href=/odd>i</a><a href=/long>k</a><a href=/>self</a><a href=/a>again</a><a href=http://other.kinds.test/>j</a>",
        ),
        ("/a", 2) => Reply::new(403),
        ("/b", 2) => Reply::new(404),
        ("/deep", 2) => Reply::html("<p>another text than before"),
        ("/a" | "/copy", _) => Reply::html("<p>the same bytes"),
        ("/b", _) => Reply::html("<p>a page that leads <a href=/deep>deeper</a>"),
        ("/deep", _) => Reply::html("<p>a page <a href=/no/y>out</a>"),
        ("/file", _) => Reply::new(200).header("Content-Type", "application/pdf").body("%PDF-1.4"),
        ("/moved", _) => Reply::new(301).header("Location", "/a"),
        ("/long", _) => Reply::html(format!("<title>{}</title><p>a page with a long title", "long ".repeat(1_000))),
        ("/odd", _) => Reply::new(400),
        _ => Reply::new(404),
    };
    let other = |_: &testweb::Request| Reply::html("<p>another site");
    Web::new().site("kinds.test", from_fn(page)).site("other.kinds.test", from_fn(other))
}

#[test]
fn every_number_of_the_report_leads_to_a_list_with_that_many_rows() {
    let round = Arc::new(AtomicU32::new(1));
    let (served, dirs) = (Served::start(of_all_kinds(&round)), tempfile::tempdir().unwrap());
    let dir = dirs.path().join("crawl");
    let crawl = |arguments: &[&str]| {
        let flags = served.flags();
        let mut all = [&["crawl"], arguments, &["-o", dir.to_str().unwrap()]].concat();
        all.extend(flags.iter().map(String::as_str));
        binary::run(&all).expect_code(0);
    };
    let fast = ["--delay", "0", "--ip-delay", "0", "--no-sitemaps"];
    crawl(&[&["http://kinds.test/", "--scope", "domain", "--exclude", "*/no/*"], &fast[..]].concat());
    for number in [1, 2] {
        if number == 2 {
            round.store(2, SeqCst);
            crawl(&["--again"]);
        }
        let followed = assert_all_lead(&Ui::start(&dir));
        // The web has something of each kind, in both rounds.
        for part in [
            "state=html",
            "state=duplicate",
            "state=binary",
            "state=redirect",
            "state=failed&linked=yes",
            "state=disallowed",
            "state=excluded",
            "seeds=yes",
            "site=",
            "depth=",
            "status=",
            "size_min=0",
            "reached=title",
            "type=text%2Fhtml%3B",
            "type=%28none%29",
            "#sites",
            "#links-to",
            "#links-from",
        ] {
            assert!(followed.iter().any(|(_, link)| link.contains(part)), "round {number}: {part}: {followed:?}");
        }
    }
    // As the table shows it, the failed page is an error now; as the report counts, it is still there.
    let ui = Ui::start(&dir);
    let rows = |query: &str| ui.page(&format!("/urls.jsonl?{query}")).lines().count();
    assert_ne!(rows("state=failed"), rows("state=failed&reported=yes"));
    let refused = ui.get("/urls?seeds=yes&site=other.kinds.test");
    assert!(refused.status == 400 && refused.body.contains("no seed of the crawl lies there"), "{}", refused.body);
    let refused = ui.get("/urls?reached=many");
    assert!(refused.status == 400 && refused.body.contains("the limit: `many`"), "{}", refused.body);
}
