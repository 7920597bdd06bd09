//! Politeness from the server's side: judged by the log of what arrived when. Only lower bounds are judged, so that a slow
//! machine changes nothing.

mod lookups;
mod once;
mod redirected;
mod restarts;
mod retries;

use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use testweb::{Config, Faults, Pages, Reply, Server, Site, Web};

use crate::crawl::{Crawl, serve};
use testkit::judge::{address_of, check_gaps, check_robots_first, overlapping_max, site_of, visits};

/// The sites of the village, three on 127.0.0.1 and two on 127.0.0.2, each by http and https.
const HOSTS: [&str; 5] = ["a.test", "b.test", "c.test", "d.test", "e.test"];
const ON_FIRST_ADDRESS: usize = 3;

const DELAY: Duration = Duration::from_millis(200);
const IP_DELAY: Duration = Duration::from_millis(60);

/// URLs of the village: seven of each host by http, and five of them by https too.
const VILLAGE_URLS: usize = HOSTS.len() * (7 + 5);

/// A site with links to itself and its neighbour, a redirect to the neighbour, an error that passes, a sitemap.
fn house(host: &str, neighbour: &str) -> impl Site {
    let links = [
        "/1".to_owned(),
        "/2".to_owned(),
        "/moved".to_owned(),
        "/busy".to_owned(),
        format!("http://{neighbour}/"),
        format!("https://{host}/"),
        format!("https://{host}/2"),
    ];
    let list: String = links.iter().map(|link| format!("<a href=\"{link}\">{link}</a>\n")).collect();
    let pages = Pages::new()
        .text("/robots.txt", format!("Sitemap: http://{host}/sitemap.txt\n"))
        .text("/sitemap.txt", format!("http://{host}/listed\n"))
        .html("/", format!("{host} {list}"))
        .html("/1", format!("{host} 1"))
        .html("/2", format!("{host} 2 <a href=/1>one</a>"))
        .html("/listed", format!("{host} listed"))
        .html("/landed", format!("{host} landed"))
        .html("/busy", format!("{host} busy no more"))
        .reply("/moved", Reply::redirect(301, format!("http://{neighbour}/landed")));
    Faults::new(pages).latency(Duration::from_millis(5)).fail_first("/busy", 1, Reply::error(503, "/busy"))
}

/// The village on its two addresses.
async fn village() -> Server {
    let neighbours = HOSTS.iter().zip(HOSTS.iter().cycle().skip(1));
    let web = neighbours.fold(Web::new(), |web, (host, neighbour)| web.site(host, house(host, neighbour)));
    let listen =
        [Ipv4Addr::new(127, 0, 0, 1), Ipv4Addr::new(127, 0, 0, 2)].map(|address| SocketAddr::from((address, 0)));
    Server::start(Config { listen: listen.to_vec(), ..Config::new(web) }).await.expect("free ports")
}

/// A crawl of the village. Its second address is reached by `--resolve`, the first by `--connect-to` alone.
fn crawl_of_village(server: &Server) -> Crawl {
    let crawl = Crawl::routed(&["a.test", "c.test", "e.test"]);
    let certificate = crawl.file("ca.pem", server.ca_pem());
    let crawl = crawl.with(&["--scope", "any", "--ca-cert", &certificate, "--backoff", "250ms"]);
    let crawl = crawl.with(&["--delay", "200ms", "--ip-delay", "60ms"]);
    HOSTS.iter().enumerate().fold(crawl, |crawl, (index, host)| {
        let address = server.addresses()[usize::from(index >= ON_FIRST_ADDRESS)];
        let (ip, port) = (address.ip(), address.port());
        [80, 443].iter().fold(crawl, |crawl, from| {
            if index < ON_FIRST_ADDRESS {
                return crawl.with(&["--connect-to", &format!("{host}:{from}:{ip}:{port}")]);
            }
            let crawl = crawl.with(&["--connect-to", &format!("{host}:{from}:{host}:{port}")]);
            crawl.with(&["--resolve", &format!("{host}:{port}:{ip}")])
        })
    })
}

/// Judges a whole crawl of the village, whatever interrupted it.
fn check_village(server: &Server, crawl: &Crawl) {
    let log = server.log();
    check_gaps(&visits(&log), site_of, DELAY);
    check_gaps(&log, address_of, IP_DELAY);
    let found = crawl.found();
    assert_eq!(found.pages.len(), VILLAGE_URLS, "{:?}", found.outcomes());
    assert!(found.outcomes().values().all(|outcome| ["html", "redirect", "duplicate"].contains(outcome)));
}

#[tokio::test(flavor = "multi_thread")]
async fn sites_and_addresses_are_left_alone_between_visits() {
    let server = village().await;
    let crawl = crawl_of_village(&server);
    crawl.run().await;
    check_village(&server, &crawl);
    check_robots_first(&server.log());
}

#[tokio::test(flavor = "multi_thread")]
async fn head_and_get_are_one_visit() {
    let server = village().await;
    let crawl = crawl_of_village(&server).with(&["--head-first"]);
    crawl.run().await;
    check_village(&server, &crawl);
    check_robots_first(&server.log());
    assert!(server.log().iter().any(|entry| entry.method == "HEAD"));
}

/// Each page is there, and a HEAD for it is answered with the status in its path.
fn site_that_fails_on_head() -> impl Site {
    testweb::from_fn(|request| match request.path() {
        "/" => Reply::html(HEAD_STATUSES.map(|status| format!("<a href=/{status}>{status}</a>")).concat()),
        path => match path.trim_start_matches('/').parse() {
            Ok(status) if request.method == "HEAD" => Reply::error(status, path),
            Ok(status) => Reply::html(format!("<title>{status}</title>page {status}")),
            Err(_) => Reply::error(404, path),
        },
    })
}

const HEAD_STATUSES: [u16; 10] = [400, 403, 404, 405, 408, 410, 429, 500, 502, 503];

#[tokio::test(flavor = "multi_thread")]
async fn no_page_is_lost_whose_head_fails() {
    for attempts in ["1", "4"] {
        let server = serve(Web::new().site("head.test", site_that_fails_on_head())).await;
        let crawl = Crawl::of(&server, &["http://head.test/"]).at_once().with(&["--no-sitemaps"]);
        let crawl = crawl.with(&["--head-first", "--max-attempts", attempts]);
        crawl.run().await;
        let (found, log) = (crawl.found(), server.log());
        for status in HEAD_STATUSES {
            let path = format!("/{status}");
            let visit = found.visit(&format!("http://head.test{path}"));
            assert_eq!((visit.status, visit.outcome), (200, model::Outcome::Html), "{status}: {visit:?}");
            let methods: Vec<&str> =
                log.iter().filter(|entry| entry.target == path).map(|entry| &*entry.method).collect();
            assert_eq!(methods, ["HEAD", "GET"], "{status}");
        }
    }
}

/// A web of one site whose pages come late, so that visits without a delay would overlap.
fn late_site(robots_txt: &'static str) -> Web {
    let links: String = (0..12).map(|page| format!("<a href=/{page}>{page}</a>\n")).collect();
    let pages = Pages::new().text("/robots.txt", robots_txt).html("/", links);
    let pages = (0..12).fold(pages, |pages, page| pages.html(format!("/{page}"), format!("page {page}")));
    Web::new().site("late.test", Faults::new(pages).latency(Duration::from_millis(30)))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_site_has_as_many_visits_at_once_as_it_is_allowed() {
    for allowed in [1, 4] {
        let server = serve(late_site("")).await;
        let crawl = Crawl::of(&server, &["http://late.test/"]).at_once().with(&["--no-sitemaps"]);
        crawl.with(&["--connections-per-site", &allowed.to_string()]).run().await;
        let log = server.log();
        assert_eq!(visits(&log).len(), 13);
        assert!(overlapping_max(&log) <= allowed, "{} at once", overlapping_max(&log));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_crawl_delay_that_is_longer_than_the_delay_counts() {
    let server = serve(late_site("User-agent: *\nCrawl-delay: 0.25\n")).await;
    let crawl = Crawl::of(&server, &["http://late.test/"]).with(&["--delay", "50ms", "--no-sitemaps"]);
    crawl.run().await;
    check_gaps(&visits(&server.log()), site_of, Duration::from_millis(250));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_slow_site_is_visited_less_often() {
    let server = serve(late_site("")).await;
    let crawl = Crawl::of(&server, &["http://late.test/"]).at_once().with(&["--delay-factor", "5", "--no-sitemaps"]);
    crawl.run().await;
    check_gaps(&visits(&server.log()), site_of, Duration::from_millis(5 * 30));
}
