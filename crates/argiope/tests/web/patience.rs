//! Trouble passes: this run or the next fetches what failed for a while, and nothing is final before.

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::time::Duration;

use model::Limit;
use testweb::{Config, NameServer, Named, Reply, Request, Server, Site, Step, Web, from_fn};

use crate::crawl::{Crawl, serve};

/// Pages of a site besides its first.
const PAGES: u32 = 60;

/// A page of a site whose first page links to all others.
fn page(request: &Request) -> Reply {
    match request.target.as_str() {
        "/robots.txt" => Reply::text(""),
        "/" => Reply::html((0..PAGES).map(|n| format!("<a href=/{n}>{n}</a>")).collect::<String>()),
        target => Reply::html(format!("<p>the page {target}</p>")),
    }
}

/// A site of which `is_down` says when it is, by the number of the request.
fn site(is_down: impl Fn(u32, &Request) -> bool + Send + Sync) -> impl Site {
    let requests = AtomicU32::new(0);
    from_fn(
        move |request| {
            if is_down(requests.fetch_add(1, SeqCst), request) { Reply::error(503, "down") } else { page(request) }
        },
    )
}

fn count<'a>(outcomes: &BTreeMap<&str, &'a str>) -> BTreeMap<&'a str, usize> {
    let mut counts = BTreeMap::new();
    outcomes.values().for_each(|outcome| *counts.entry(*outcome).or_default() += 1);
    counts
}

#[tokio::test(flavor = "multi_thread")]
async fn a_site_that_is_down_for_some_requests_loses_nothing() {
    // While its robots.txt is asked for; in the middle of the crawl; while the last pages are fetched.
    for down in [0..4, 20..27, 60..66] {
        let server = serve(Web::new().site("small.test", site(move |n, _| down.contains(&n)))).await;
        let crawl = Crawl::of(&server, &["http://small.test/"]).at_once().with(&["--no-sitemaps"]);
        crawl.run().await;
        assert_eq!(count(&crawl.found().outcomes()), [("html", 61)].into(), "{}", crawl.said());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn of_a_site_that_fails_every_fifth_page_all_others_are_had() {
    let is_well = Arc::new(AtomicU32::new(0));
    let is_broken = {
        let is_well = is_well.clone();
        move |_, request: &Request| {
            is_well.load(SeqCst) == 0 && request.target[1..].parse::<u32>().is_ok_and(|n| n % 5 == 0)
        }
    };
    let server = serve(Web::new().site("flaky.test", site(is_broken))).await;
    let crawl = Crawl::of(&server, &["http://flaky.test/"]).at_once().with(&["--no-sitemaps"]);
    crawl.run().await;
    assert_eq!(count(&crawl.found().outcomes()), [("frontier", 12), ("html", 49)].into(), "{}", crawl.said());
    is_well.store(1, SeqCst);
    crawl.again(&[]).run().await;
    assert_eq!(count(&crawl.found().outcomes()), [("html", 61)].into(), "{}", crawl.said());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_that_always_fails_does_not_keep_the_crawl_open() {
    let server = serve(Web::new().site("small.test", site(|_, request| request.target == "/5"))).await;
    let crawl = Crawl::of(&server, &["http://small.test/"]).at_once().with(&["--no-sitemaps"]);
    assert_eq!(crawl.run().await.code, Some(0));
    assert_eq!(count(&crawl.found().outcomes()), [("html", 60), ("http_error", 1)].into());
    let asked = server.log().iter().filter(|entry| entry.target == "/5").count();
    assert_eq!(asked, 4, "--max-attempts");
}

/// Pages of the site that fails by chance. Of so many, four attempts would lose some.
const PAGES_OF_FLAKY: u32 = 4_000;

/// A site where 18 % of all answers are 503, and those to three of its pages always.
fn fails_by_chance() -> impl Site {
    let requests = AtomicU32::new(0);
    from_fn(move |request| {
        let number = requests.fetch_add(1, SeqCst);
        let drawn = (u64::from(number) + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let drawn = (drawn ^ drawn >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 32;
        let page: Option<u32> = request.target[1..].parse().ok();
        match page {
            Some(7 | 77 | 777) => Reply::error(503, "broken"),
            _ if drawn % 100 < 18 => Reply::error(503, "by chance"),
            None if request.target == "/" => {
                Reply::html((0..PAGES_OF_FLAKY).map(|n| format!("<a href=/{n}>{n}</a>")).collect::<String>())
            }
            None => Reply::text(""),
            Some(page) => Reply::html(format!("<p>the page {page}</p>")),
        }
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn a_site_that_fails_by_chance_yields_all_its_good_pages() {
    let server = serve(Web::new().site("flaky.test", fails_by_chance())).await;
    let crawl = Crawl::of(&server, &["http://flaky.test/"]).at_once().with(&["--no-sitemaps"]);
    assert_eq!(crawl.run().await.code, Some(0), "nothing is left: {}", crawl.said());
    let good = PAGES_OF_FLAKY as usize + 1 - 3;
    assert_eq!(count(&crawl.found().outcomes()), [("html", good), ("http_error", 3)].into(), "{}", crawl.said());
    let asked = |target: &str| server.log().iter().filter(|entry| entry.target == target).count();
    for broken in ["/7", "/77", "/777"] {
        assert!((8..=24).contains(&asked(broken)), "{broken}: {}", asked(broken));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn three_pages_that_always_fail_are_no_trouble_of_their_site() {
    let fails = |target: &str| ["/5", "/15", "/25"].contains(&target);
    let server = serve(Web::new().site("small.test", site(move |_, request| fails(&request.target)))).await;
    let crawl = Crawl::of(&server, &["http://small.test/"]).at_once().with(&["--no-sitemaps"]);
    assert_eq!(crawl.run().await.code, Some(0), "{}", crawl.said());
    assert_eq!(count(&crawl.found().outcomes()), [("html", 58), ("http_error", 3)].into());
    assert_eq!(server.log().iter().filter(|entry| fails(&entry.target)).count(), 12, "--max-attempts each");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_next_run_fetches_what_a_site_in_trouble_did_not_give() {
    let is_up = Arc::new(AtomicU32::new(20));
    let is_down = {
        let is_up = is_up.clone();
        move |n, _: &Request| n >= is_up.load(SeqCst)
    };
    let server = serve(Web::new().site("small.test", site(is_down))).await;
    let crawl = Crawl::of(&server, &["http://small.test/"]).at_once().with(&["--no-sitemaps"]);
    let ended = crawl.begin().end().await;
    assert_eq!(ended.code, Some(3), "{}", crawl.said());
    assert!(crawl.said().contains("42 URLs left, of 1 site in trouble"), "{}", crawl.said());
    assert!(crawl.said().contains(" failed so far, and will be tried again"), "{}", crawl.said());
    assert!(crawl.said().contains("in trouble http://small.test: status 503; asked again from 20"), "{}", crawl.said());
    assert_eq!(count(&crawl.found().outcomes()), [("frontier", 42), ("html", 19)].into());
    is_up.store(u32::MAX, SeqCst);
    crawl.again(&[]).begin().end().await;
    assert_eq!(count(&crawl.found().outcomes()), [("html", 61)].into(), "{}", crawl.said());
}

#[tokio::test(flavor = "multi_thread")]
async fn urls_of_a_spent_budget_are_not_told_as_those_of_a_site_in_trouble() {
    let web = Web::new().site("well.test", site(|_, _| false)).site("down.test", site(|_, _| true));
    let server = serve(web).await;
    let crawl = Crawl::of(&server, &["http://well.test/", "http://down.test/"]).at_once();
    let crawl = crawl.with(&["--no-sitemaps", "--max-pages-per-site", "5"]);
    assert_eq!(crawl.begin().end().await.code, Some(3), "{}", crawl.said());
    let said = crawl.said();
    assert!(said.contains("1 URL left, of 1 site in trouble: the first is due at 20"), "{said}");
    let spent = "56 URLs left, of 1 site whose budget is spent: they wait for a larger --max-pages-per-site";
    assert!(said.contains(spent), "{said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wrong_port_is_told_and_the_same_command_goes_on_when_it_is_right() {
    let port = TcpListener::bind("127.0.0.1:0").expect("a free port").local_addr().expect("an address").port();
    let seed = format!("http://127.0.0.1:{port}/");
    let crawl = Crawl::routed(&[&seed]).at_once();
    assert_eq!(crawl.begin().end().await.code, Some(1));
    let said = crawl.said();
    assert!(said.contains("connection refused; it stays open"), "{said}");
    let listen = vec![([127, 0, 0, 1], port).into()];
    let web = Web::new().site("127.0.0.1", from_fn(page));
    let _server = Server::start(Config { listen, ..Config::new(web) }).await.expect("the port is still free");
    assert_eq!(crawl.again(&[]).begin().end().await.code, Some(0), "{}", crawl.said());
    assert_eq!(count(&crawl.found().outcomes()), [("html", 61)].into());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_reaches_nothing_within_its_time_tells_why_of_each_seed() {
    let port = TcpListener::bind("127.0.0.1:0").expect("a free port").local_addr().expect("an address").port();
    let seeds = [format!("http://127.0.0.1:{port}/"), format!("http://127.0.0.1:{port}/b")];
    let crawl = Crawl::routed(&[&seeds[0], &seeds[1]]).with(&["--max-time", "3s", "--no-sitemaps"]);
    assert_eq!(crawl.begin().end().await.code, Some(3), "{}", crawl.said());
    let said = crawl.said();
    for seed in &seeds {
        let line = said.lines().find(|line| line.contains(&format!("{seed}: "))).expect(&said);
        assert!(line.ends_with(": robots.txt: connection refused; it stays open"), "{said}");
    }
    assert!(said.contains("--max-time reached, 2 URLs left in the frontier"), "{said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_name_that_is_unknown_is_told_and_the_same_command_goes_on_when_it_is_known() {
    let crawl = Crawl::routed(&["http://nobody.invalid/"]).at_once().with(&["--dns-timeout", "2s", "--no-sitemaps"]);
    assert_eq!(crawl.begin().end().await.code, Some(1));
    assert!(crawl.said().contains("http://nobody.invalid/: "), "{}", crawl.said());
    let server = serve(Web::new().site("nobody.invalid", from_fn(page))).await;
    let again = crawl.again(&["--connect-to", &server.connect_to()]);
    assert_eq!(again.begin().end().await.code, Some(0), "{}", crawl.said());
    assert_eq!(count(&crawl.found().outcomes()), [("html", 61)].into());
}

#[tokio::test(flavor = "multi_thread")]
async fn hosts_whose_name_server_fails_for_a_while_stay_open_and_are_fetched_when_it_is_well() {
    const HOSTS: usize = 20;
    let hosts: Vec<String> = (0..HOSTS).map(|n| format!("h{n}.test")).collect();
    let site = |host: String| from_fn(move |_| Reply::html(format!("<p>{host}")));
    let web = hosts.iter().fold(Web::new(), |web, host| web.site(host, site(host.clone())));
    let server = serve(web).await;
    let is_well = Arc::new(AtomicU32::new(0));
    let named = {
        let is_well = is_well.clone();
        move |_: &str| if is_well.load(SeqCst) == 0 { Named::Fails } else { Named::At(Ipv4Addr::LOCALHOST) }
    };
    let names = NameServer::start(named).await.expect("a free port");
    let seeds: Vec<String> = hosts.iter().map(|host| format!("http://{host}:{}/", server.address().port())).collect();
    let seeds: Vec<&str> = seeds.iter().map(String::as_str).collect();
    let options = ["--dns-servers", &names.address().to_string(), "--deny-private=never", "--no-sitemaps"];
    let crawl = Crawl::routed(&seeds).at_once().with(&options);
    assert_eq!(crawl.begin().end().await.code, Some(1), "{}", crawl.said());
    assert_eq!(count(&crawl.found().outcomes()), [("frontier", HOSTS)].into(), "{}", crawl.said());
    let said = crawl.said();
    for seed in &seeds {
        let line = said.lines().find(|line| line.contains(&format!("argiope: {seed}: "))).expect(&said);
        assert!(!line.contains("name h") && line.ends_with("; it stays open"), "{line}");
    }
    assert!(!said.contains("was not reached"), "{said}");
    is_well.store(1, SeqCst);
    assert_eq!(crawl.again(&[]).begin().end().await.code, Some(0), "{}", crawl.said());
    assert_eq!(count(&crawl.found().outcomes()), [("html", HOSTS)].into(), "{}", crawl.said());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_machine_without_network_is_told_within_a_minute_and_the_same_command_goes_on_with_one() {
    let crawl = Crawl::routed(&["http://somebody.test/"]).with(&["--no-sitemaps"]);
    let ended = crawl.begin_without_network().end().await;
    assert_eq!(ended.code, Some(1), "{}", crawl.said());
    assert!(ended.took < Duration::from_secs(75), "{:?}: {}", ended.took, crawl.said());
    let told = "http://somebody.test/: no name server can be reached: this machine may be without network";
    assert!(crawl.said().contains(told), "{}", crawl.said());
    let server = serve(Web::new().site("somebody.test", from_fn(page))).await;
    let again = crawl.again(&["--connect-to", &server.connect_to()]).at_once();
    assert_eq!(again.begin().end().await.code, Some(0), "{}", crawl.said());
    assert_eq!(count(&crawl.found().outcomes()), [("html", 61)].into());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_site_that_is_given_up_ends_all_its_urls() {
    let server = serve(Web::new().site("small.test", site(|n, _| n >= 20))).await;
    let crawl = Crawl::of(&server, &["http://small.test/"]).at_once().with(&["--no-sitemaps", "--give-up-after", "0"]);
    crawl.run().await;
    assert_eq!(count(&crawl.found().outcomes()), [("given_up", 42), ("html", 19)].into(), "{}", crawl.said());
    let said = crawl.said();
    let again = format!(" 42   `argiope crawl -o {} --retry given_up` asks for them again\n", crawl.dir().display());
    assert!(said.contains(&again), "{said}");
    let (_, reason) = said.split_once("\n  given up http://small.test: in trouble for ").expect(&said);
    assert!(reason.lines().next().is_some_and(|line| line.ends_with(": status 503")), "{said}");
}

/// Their first minute ends the run, before either site is in trouble.
#[tokio::test(flavor = "multi_thread")]
async fn seeds_whose_pages_hang_have_their_reasons_and_a_site_on_hold_is_told() {
    let hangs = || {
        from_fn(|request| match request.path() {
            "/robots.txt" => Reply::text(""),
            _ => Reply::html("late").delay(Duration::from_secs(600)),
        })
    };
    let web = Web::new().site("one.test", hangs()).site("two.test", hangs()).site("held.test", hangs());
    let server = serve(web).await;
    let seeds = ["http://one.test/", "http://two.test/", "http://held.test/"];
    let crawl =
        Crawl::of(&server, &seeds).with(&["--hold", "held.test", "--first-byte-timeout", "20s", "--no-sitemaps"]);
    assert_eq!(crawl.begin().end().await.code, Some(1), "{}", crawl.said());
    let said = crawl.said();
    let of = |seed: &str| said.lines().find(|line| line.contains(&format!("{seed}: "))).expect(&said);
    for seed in &seeds[..2] {
        assert!(
            of(seed).contains("no whole head of an answer within 20s") || of(seed).contains(" failed; it stays open"),
            "{said}"
        );
    }
    assert!(of(seeds[2]).ends_with("its site is on hold; it stays open"), "{said}");
    assert!(!said.contains("was not reached") && !said.contains("no site at all"), "{said}");
}

/// An answer whose connection ends before its body is whole.
fn broken_off(body: &'static str) -> Reply {
    let head = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 5000\r\n\r\n";
    Reply::raw(move || [Step::send(head), Step::send(body)].into_iter())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_body_that_breaks_off_is_asked_for_again_and_what_came_of_it_is_kept_at_last() {
    let asked = AtomicU32::new(0);
    let site = from_fn(move |request| match request.target.as_str() {
        "/robots.txt" => Reply::text(""),
        "/" => Reply::html("<a href=/sometimes>x</a><a href=/always>x</a>"),
        "/sometimes" if asked.fetch_add(1, SeqCst) < 2 => broken_off("<p>one"),
        "/sometimes" => Reply::html("<a href=/whole>x</a>"),
        "/always" => broken_off("<a href=/came>x</a><p>two"),
        target => Reply::html(target.to_owned()),
    });
    let server = serve(Web::new().site("small.test", site)).await;
    let crawl = Crawl::of(&server, &["http://small.test/"]).at_once().with(&["--no-sitemaps"]);
    crawl.run().await;
    let found = crawl.found();
    assert_eq!(count(&found.outcomes()), [("html", 5)].into(), "{}", crawl.said());
    let attempts = |path: &str| found.visit(&format!("http://small.test{path}")).attempts;
    assert_eq!(["/sometimes", "/always", "/came", "/whole"].map(attempts), [3, 4, 1, 1]);
    let always = found.visit("http://small.test/always");
    assert_eq!(always.reason, "truncated: connection ended within the body (after 4 attempts)");
    assert!(always.limits.contains(Limit::Disconnect) && crawl.said().contains("limit: bodies of which"));
    assert!(!found.visit("http://small.test/sometimes").limits.contains(Limit::Disconnect));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_robots_txt_whose_coding_is_broken_forbids_until_it_is_whole() {
    let asked = AtomicU32::new(0);
    let site = from_fn(move |request| match request.target.as_str() {
        // Not gzip: what it forbids cannot be read.
        "/robots.txt" if asked.fetch_add(1, SeqCst) < 2 => Reply::text("garbage").header("Content-Encoding", "gzip"),
        "/robots.txt" => Reply::text("User-agent: *\nDisallow: /7"),
        _ => page(request),
    });
    let server = serve(Web::new().site("small.test", site)).await;
    let crawl = Crawl::of(&server, &["http://small.test/"]).at_once().with(&["--no-sitemaps"]);
    crawl.run().await;
    assert_eq!(count(&crawl.found().outcomes()), [("disallowed", 1), ("html", 60)].into(), "{}", crawl.said());
    assert_eq!(server.log().iter().filter(|entry| entry.target == "/7").count(), 0);
}
