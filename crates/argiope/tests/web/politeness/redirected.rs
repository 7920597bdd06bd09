//! robots.txt that redirects to another site: the crawler is nobody's amplifier.

use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use testweb::{Config, LogEntry, Pages, Reply, Server, Web, from_fn};

use crate::crawl::{Crawl, serve};
use testkit::judge::{address_of, check_gaps, site_of};

/// Hosts that redirect their robots.txt to the victim.
const HOSTS: usize = 40;

const IP_DELAY: Duration = Duration::from_millis(50);

/// A host that redirects its robots.txt there, and has two pages, one of which the victim's robots.txt forbids.
fn redirecting(host: &str, to: &str) -> Pages {
    Pages::new()
        .reply("/robots.txt", Reply::redirect(302, to.to_owned()))
        .html("/", "<a href=/open>open</a> <a href=/shut>shut</a>")
        .html("/open", format!("{host} open"))
        .html("/shut", format!("{host} shut"))
}

fn requests<'a>(log: &'a [LogEntry], host: &'a str) -> Vec<&'a LogEntry> {
    log.iter().filter(|entry| entry.host == host).collect()
}

fn hosts() -> Vec<String> {
    (0..HOSTS).map(|n| format!("h{n}.test")).collect()
}

/// Many hosts on one address, and the victim on another, that answers with this.
async fn lair(robots_txt: &str, victim: impl testweb::Site + 'static) -> (Server, Vec<String>) {
    let web = hosts().iter().fold(Web::new(), |web, host| web.site(host, redirecting(host, robots_txt)));
    let listen =
        [Ipv4Addr::new(127, 0, 0, 1), Ipv4Addr::new(127, 0, 0, 2)].map(|address| SocketAddr::from((address, 0)));
    let web = web.site("victim.test", victim);
    let server = Server::start(Config { listen: listen.to_vec(), ..Config::new(web) }).await.expect("free ports");
    let seeds = hosts().iter().map(|host| format!("http://{host}/")).collect();
    (server, seeds)
}

/// A crawl of the hosts that redirect, of which only `victim.test` is at the server's second address.
fn crawl(server: &Server, seeds: &[String], ip_delay: &str) -> Crawl {
    let [first, second] = [0, 1].map(|n| server.addresses()[n]);
    let mut crawl = Crawl::routed(&seeds.iter().map(String::as_str).collect::<Vec<_>>());
    crawl = crawl.with(&["--connect-to", &format!("victim.test:80:{}:{}", second.ip(), second.port())]);
    crawl = crawl.with(&["--connect-to", &format!("::{}:{}", first.ip(), first.port())]);
    crawl.with(&[
        "--delay",
        "0",
        "--ip-delay",
        ip_delay,
        "--no-sitemaps",
        "--backoff",
        "50ms",
        "--max-backoff",
        "100ms",
    ])
}

#[tokio::test(flavor = "multi_thread")]
async fn a_target_of_many_robots_txt_is_asked_once_and_its_rules_hold_for_all() {
    let victim = Pages::new().text("/shared.txt", "User-agent: *\nDisallow: /shut\n");
    let (server, seeds) = lair("http://victim.test/shared.txt", victim).await;
    let crawl = crawl(&server, &seeds, "0");
    crawl.run().await;
    let log = server.log();
    assert_eq!(requests(&log, "victim.test").len(), 1, "{:?}", requests(&log, "victim.test"));
    let found = crawl.found();
    let outcomes = found.outcomes();
    for host in hosts() {
        assert_eq!(outcomes[format!("http://{host}/open").as_str()], "html", "{host}");
        assert_eq!(outcomes[format!("http://{host}/shut").as_str()], "disallowed", "{host}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn targets_on_one_address_take_its_turns() {
    // Each host is led to a URL of its own.
    let to = |n: usize| format!("http://victim.test/{n}.txt");
    let web =
        (0..HOSTS).fold(Web::new(), |web, n| web.site(&format!("h{n}.test"), redirecting(&format!("h{n}"), &to(n))));
    let victim = from_fn(|_| Reply::text("User-agent: *\nDisallow: /shut\n"));
    let listen =
        [Ipv4Addr::new(127, 0, 0, 1), Ipv4Addr::new(127, 0, 0, 2)].map(|address| SocketAddr::from((address, 0)));
    let web = web.site("victim.test", victim);
    let server = Server::start(Config { listen: listen.to_vec(), ..Config::new(web) }).await.expect("free ports");
    let seeds: Vec<String> = hosts().iter().take(12).map(|host| format!("http://{host}/")).collect();
    crawl(&server, &seeds, "50ms").run().await;
    let log = server.log();
    assert_eq!(requests(&log, "victim.test").len(), seeds.len());
    check_gaps(&log, address_of, IP_DELAY);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_target_that_does_not_answer_is_not_asked_for_each_site() {
    let victim = from_fn(|request| Reply::error(503, &request.target));
    let (server, seeds) = lair("http://victim.test/robots.txt", victim).await;
    let crawl = crawl(&server, &seeds, "0");
    crawl.run().await;
    let log = server.log();
    let asked = requests(&log, "victim.test").len();
    assert!(asked <= 8, "{asked} requests for {HOSTS} hosts");
    assert!(crawl.found().pages.values().all(|entry| entry.visit.is_none()), "they stay open");
}

/// The target's own site asks for it no second time; nor does it matter who is first.
#[tokio::test(flavor = "multi_thread")]
async fn a_site_and_those_that_redirect_to_it_share_its_robots_txt() {
    let here = || {
        Pages::new()
            .text("/robots.txt", "User-agent: *\nDisallow: /shut\n")
            .html("/", "<a href=/open>open</a> <a href=/shut>shut</a> <a href=http://away.test/>away</a>")
            .html("/open", "open")
    };
    for seeds in [&["http://here.test/", "http://away.test/"][..], &["http://here.test/"], &["http://away.test/"]] {
        let away = redirecting("away", "http://here.test/robots.txt");
        let server = serve(Web::new().site("here.test", here()).site("away.test", away)).await;
        let crawl = Crawl::of(&server, seeds).at_once().with(&["--no-sitemaps", "--scope", "any"]);
        crawl.run().await;
        let log = server.log();
        let asked = requests(&log, "here.test").iter().filter(|entry| entry.target == "/robots.txt").count();
        assert_eq!(asked, 1, "{seeds:?}");
        assert_eq!(crawl.found().outcomes()["http://away.test/shut"], "disallowed", "{seeds:?}");
    }
}

/// RFC 9309 §2.3.1.2: five redirects are followed; what leads further is no robots.txt.
#[tokio::test(flavor = "multi_thread")]
async fn five_redirects_from_site_to_site_are_followed_and_loops_end() {
    let stair = |n: usize| match n {
        0 => Pages::new().text("/robots.txt", "User-agent: *\nDisallow: /shut\n"),
        _ => Pages::new().reply("/robots.txt", Reply::redirect(301, format!("http://s{}.test/robots.txt", n - 1))),
    };
    let pages = |name: &str, site: Pages| {
        site.html("/", format!("{name} <a href=/shut>shut</a>")).html("/shut", format!("{name} shut"))
    };
    let looping =
        |other: &str| Pages::new().reply("/robots.txt", Reply::redirect(302, format!("http://{other}/robots.txt")));
    let web = (0..=6).fold(Web::new(), |web, n| web.site(&format!("s{n}.test"), pages(&n.to_string(), stair(n))));
    let web = web.site("loop.test", pages("loop", looping("back.test"))).site("back.test", looping("loop.test"));
    let server = serve(web).await;
    let seeds = ["http://s5.test/", "http://s6.test/", "http://loop.test/"];
    let crawl = Crawl::of(&server, &seeds).at_once().with(&["--no-sitemaps"]);
    crawl.run().await;
    let found = crawl.found();
    let outcomes = found.outcomes();
    for (host, expect) in [("s5", "disallowed"), ("s6", "html"), ("loop", "html")] {
        assert_eq!(outcomes[format!("http://{host}.test/shut").as_str()], expect, "{host}");
    }
    let log = server.log();
    let robots = log.iter().filter(|entry| entry.target == "/robots.txt");
    let mut asked: Vec<String> = robots.map(site_of).collect();
    let all = asked.len();
    asked.sort();
    asked.dedup();
    assert_eq!(asked.len(), all, "each once");
}
