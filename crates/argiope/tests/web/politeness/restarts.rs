//! Politeness outlives the process: a crawl that is stopped or killed and then resumed at once is as polite as one that
//! was never interrupted.

use std::time::Duration;

use testweb::{Faults, LogEntry, Pages, Server, Web};
use tokio::time::sleep;

use super::{check_village, crawl_of_village, village};
use crate::crawl::{Crawl, serve};
use testkit::judge::{check_gaps, check_robots_first, site_of, visits};

/// Waits until the log is so.
pub(super) async fn wait_for(server: &Server, is_so: impl Fn(&[LogEntry]) -> bool) {
    while !is_so(&server.log()) {
        sleep(Duration::from_millis(1)).await;
    }
}

/// Every time a quarter of the village has been visited, the run is ended.
#[tokio::test(flavor = "multi_thread")]
async fn a_crawl_that_is_stopped_again_and_again() {
    let server = village().await;
    let crawl = crawl_of_village(&server);
    for quarter in 1..4 {
        let running = crawl.begin();
        wait_for(&server, |log| log.len() >= quarter * 20).await;
        running.signal("INT");
        assert_eq!(running.end().await.code, Some(3), "{}", crawl.said());
    }
    crawl.run().await;
    check_village(&server, &crawl);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_crawl_that_is_killed_again_and_again() {
    let server = village().await;
    let crawl = crawl_of_village(&server);
    for quarter in 1..4 {
        let running = crawl.begin();
        wait_for(&server, |log| log.len() >= quarter * 20).await;
        running.kill().await;
    }
    crawl.run().await;
    check_village(&server, &crawl);
}

/// What is known of robots.txt by the time of the stop is not asked for again.
#[tokio::test(flavor = "multi_thread")]
async fn robots_txt_is_asked_for_once_over_all_runs() {
    let server = serve(quiet_site("")).await;
    let crawl = Crawl::of(&server, &["http://quiet.test/"]).with(&["--delay", "150ms", "--no-sitemaps"]);
    for visits in [3, 6] {
        let running = crawl.begin();
        wait_for(&server, |log| log.len() >= visits).await;
        running.signal("INT");
        running.end().await;
    }
    crawl.run().await;
    check_robots_first(&server.log());
    check_gaps(&visits(&server.log()), site_of, Duration::from_millis(150));
}

/// A kill at the first visit of all leaves nothing in the state that could tell of the visit: not even the site.
#[tokio::test(flavor = "multi_thread")]
async fn a_crawl_that_is_killed_at_its_very_first_visit() {
    for (robots_txt, delay) in [("", 600), ("User-agent: *\nCrawl-delay: 0.9\n", 900)] {
        let server = serve(quiet_site(robots_txt)).await;
        let crawl = Crawl::of(&server, &["http://quiet.test/"]);
        let crawl = crawl.with(&["--delay", "600ms", "--ip-delay", "0", "--no-sitemaps", "--max-pages", "2"]);
        let running = crawl.begin();
        wait_for(&server, |log| log.iter().any(|entry| entry.target == "/")).await;
        running.kill().await;
        crawl.run().await;
        check_gaps(&visits(&server.log()), site_of, Duration::from_millis(delay));
    }
}

fn quiet_site(robots_txt: &'static str) -> Web {
    let links: String = (0..8).map(|page| format!("<a href=/{page}>{page}</a>\n")).collect();
    let pages = Pages::new().text("/robots.txt", robots_txt).html("/", links);
    let pages = (0..8).fold(pages, |pages, page| pages.html(format!("/{page}"), format!("page {page}")));
    Web::new().site("quiet.test", Faults::new(pages))
}
