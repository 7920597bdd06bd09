//! Depth N is every page within N links of a seed, and each with its exact depth, in whatever order the replies come:
//! what breadth-first search finds on the graph that the test web is computed from.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use testweb::synthetic::{PageId, Settings};
use testweb::{Site, Synthetic, Web, from_fn};

use crate::crawl::{Crawl, serve};

/// Each depth is crawled so often, with other latencies each time.
const RUNS: u64 = 20;

/// Processes at once.
const LANES: u64 = 4;

/// How late one reply in sixteen is. Meanwhile the other sites go on, so that the long way to a page is often the quicker.
const LATENCY: Duration = Duration::from_millis(60);

const SEEDS: [PageId; 3] = [PageId { site: 0, page: 3 }, PageId { site: 3, page: 9 }, PageId { site: 5, page: 0 }];

fn graph() -> Synthetic {
    Synthetic::new(Settings { seed: 7, sites: 8, pages: 240, degree: 3, text_bytes_mean: 20 }).expect("a web")
}

/// The graph's pages, some of them late, others in each run.
fn late(run: u64) -> impl Site {
    let (graph, replies) = (graph(), AtomicU64::new(run << 32));
    from_fn(move |request| {
        let mut bits = replies.fetch_add(1, Ordering::Relaxed).wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        bits ^= bits >> 32;
        graph.reply(request).delay(if bits & 15 == 0 { LATENCY } else { Duration::ZERO })
    })
}

/// What breadth-first search finds within `depth` links of the seeds.
fn expected(depth: u32) -> BTreeMap<String, u32> {
    let graph = graph();
    let depths = graph.breadth_first_depths(&SEEDS);
    let reached = graph.pages().zip(depths).filter_map(|(page, is)| Some((page.url(), is.filter(|is| *is <= depth)?)));
    reached.collect()
}

async fn crawl(depth: u32, run: u64, options: &[&str]) {
    let server = serve(Web::new().site("*", late(run))).await;
    let seeds = SEEDS.map(PageId::url);
    let crawl = Crawl::of(&server, &seeds.each_ref().map(String::as_str)).at_once().with(options);
    let crawl = crawl.with(&["--scope", "any", "--depth", &depth.to_string()]);
    crawl.run().await;
    let found = crawl.found();
    let depths: BTreeMap<String, u32> =
        found.pages.iter().map(|(url, entry)| (url.clone(), entry.candidate.depth)).collect();
    assert_eq!(depths, expected(depth), "depth {depth}, run {run}, {options:?}");
    assert!(found.outcomes().values().all(|outcome| *outcome == "html"));
    let mut asked: Vec<String> = server.log().iter().map(|entry| format!("{}{}", entry.host, entry.target)).collect();
    let all = asked.len();
    asked.sort_unstable();
    asked.dedup();
    assert_eq!(asked.len(), all, "each URL is asked for once, depth {depth}, run {run}, {options:?}");
}

async fn check(options: &'static [&'static str]) {
    let lanes: Vec<_> = (0..LANES).map(|lane| tokio::spawn(lane_of_runs(lane, options))).collect();
    for lane in lanes {
        lane.await.expect("no run fails");
    }
}

async fn lane_of_runs(lane: u64, options: &[&str]) {
    for run in (lane..RUNS).step_by(LANES as usize) {
        for depth in 0..=5 {
            crawl(depth, run, options).await;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn one_fetch_at_a_time_finds_what_breadth_first_search_finds() {
    check(&["--concurrency", "1"]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn sixty_four_fetches_at_a_time_find_what_breadth_first_search_finds() {
    check(&["--concurrency", "64"]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn four_fetches_of_a_site_at_a_time_find_what_breadth_first_search_finds() {
    check(&["--concurrency", "64", "--connections-per-site", "4"]).await;
}

#[test]
fn the_graph_is_one_on_which_depth_matters() {
    let sizes: Vec<usize> = (0..=5).map(|depth| expected(depth).len()).collect();
    assert_eq!(sizes[0], SEEDS.len());
    eprintln!("{sizes:?}");
    assert!(sizes.is_sorted_by(|less, more| less < more), "{sizes:?}");
}
