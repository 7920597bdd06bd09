//! A page may name as many hosts of somebody else's domain as it likes: their name servers are asked at a rate.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;
use std::sync::{Arc, Mutex};

use testweb::{NameServer, Named, Pages, Reply, Web, from_fn};
use tokio::time::Instant;

use crate::crawl::{Crawl, serve};

/// Names of one domain: more than those that are looked up at once.
const NAMES: usize = 220;
/// Those, and the rate after them.
const AT_ONCE: usize = 100;
const A_SECOND: f64 = 50.0;

#[tokio::test(flavor = "multi_thread")]
async fn names_of_one_domain_are_looked_up_at_a_rate_and_none_is_lost() {
    let hosts: Vec<String> = (0..NAMES).map(|n| format!("h{n}.victim.test")).collect();
    let links: String = hosts.iter().map(|host| format!("<a href='//{host}:PORT/'>{host}</a>")).collect();
    let page = from_fn(move |request| match request.target.as_str() {
        "/" => Reply::html(links.replace("PORT", &request.port.unwrap_or(80).to_string())),
        target => Reply::error(404, target),
    });
    let mut web = Web::new().site("page.test", page);
    for host in &hosts {
        web = web.site(host, Pages::new().html("/", format!("<p>{host}</p>")));
    }
    let server = serve(web).await;
    let asked = Arc::new(Mutex::new(BTreeMap::new()));
    let log = asked.clone();
    let named = move |name: &str| {
        log.lock().expect("no panic").entry(name.to_owned()).or_insert_with(Instant::now);
        Named::At(Ipv4Addr::LOCALHOST)
    };
    let names = NameServer::start(named).await.expect("a free port");
    let port = server.address().port();
    let crawl = Crawl::routed(&[&format!("http://page.test:{port}/")]).at_once().with(&[
        "--dns-servers",
        &names.address().to_string(),
        "--deny-private=never",
        "--scope",
        "any",
        "--no-sitemaps",
    ]);
    let begun = Instant::now();
    crawl.run().await;
    let found = crawl.found();
    let fetched = found.outcomes().values().filter(|outcome| **outcome == "html").count();
    assert_eq!(fetched, NAMES + 1, "{:?}", found.outcomes());
    let asked = asked.lock().expect("no panic");
    let mut times: Vec<Instant> = hosts.iter().map(|host| asked[host]).collect();
    times.sort_unstable();
    // Whatever the machine does, no name comes before its turn.
    for (place, time) in times.iter().enumerate().skip(AT_ONCE) {
        let passed = time.duration_since(begun).as_secs_f64();
        let due = (place + 1 - AT_ONCE) as f64 / A_SECOND;
        assert!(passed >= due, "name {place} after {passed} s");
    }
}
