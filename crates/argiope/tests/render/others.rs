//! What pages shown in a browser may do to others: nothing by a name that changes its address, and little by asking often.

use std::net::{SocketAddr, TcpListener};
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::Value;
use tempfile::TempDir;
use testweb::{Config, LogEntry, NameServer, Named, Pages, Reply, Server, Web};
use tokio::runtime::Runtime;

use testkit::ran::argiope;

/// Where the sites of the tests are, and others that are none of theirs.
const OWN: [u8; 4] = [127, 0, 0, 2];
const OTHER: [u8; 4] = [127, 0, 0, 3];
const NAMED: [u8; 4] = [127, 0, 0, 4];

/// A web on these addresses, all with one port.
struct Served {
    server: Server,
    runtime: Runtime,
    port: u16,
}

impl Served {
    fn new(web: Web, addresses: &[[u8; 4]]) -> Self {
        Served::at(|_| web, addresses)
    }

    /// The same with pages that know the port.
    fn at(web: impl FnOnce(u16) -> Web, addresses: &[[u8; 4]]) -> Self {
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("a runtime");
        let free = TcpListener::bind(SocketAddr::from((OWN, 0))).expect("a free port");
        let port = free.local_addr().expect("an address").port();
        drop(free);
        let listen = addresses.iter().map(|address| SocketAddr::from((*address, port))).collect();
        let config = Config { listen, log_entries_max: 100_000, ..Config::new(web(port)) };
        let server = runtime.block_on(Server::start(config)).expect("the same port");
        Served { server, runtime, port }
    }

    /// Crawls with a browser, and gives the rows of what was found.
    fn crawl(&self, arguments: &[&str]) -> Vec<Value> {
        let root = TempDir::new().expect("a directory");
        let dir = root.path().join("crawl").display().to_string();
        let fixed = ["-o", &dir, "--render", "always", "--no-sitemaps", "--progress", "none", "--delay", "0"];
        let ran = argiope(&[&["crawl"], arguments, &fixed[..], &["--ip-delay", "0", "--render-time", "20s"]].concat());
        assert_eq!(ran.code, 0, "{ran:?}");
        let rows = argiope(&["export", &dir, "jsonl"]).stdout;
        rows.lines().map(|line| serde_json::from_str(line).expect("an object a line")).collect()
    }

    fn asked(&self, host: &str) -> Vec<LogEntry> {
        self.server.log().into_iter().filter(|entry| entry.host.starts_with(host)).collect()
    }
}

#[test]
fn a_page_is_not_led_elsewhere_by_its_own_name() {
    let page = "<p id=a>words</p><script>for (const n of [1, 2, 3, 4])\
                fetch('/own.txt?' + n).then(answer => answer.text()).then(text => document.body.append(' got:' + text))</script>";
    let own = || Pages::new().html("/", page).text("/own.txt?1", "x").text("/own.txt?2", "x").text("/own.txt?3", "x");
    let served = Served::new(Web::new().site("moves.test", own().text("/own.txt?4", "x")), &[OWN]);
    let other = TcpListener::bind(SocketAddr::from((OTHER, served.port))).expect("the same port");
    other.set_nonblocking(true).expect("a socket");
    // Its address when the crawl looks for it, by a query for each family, and another from then on.
    let asked = AtomicUsize::new(0);
    let named = move |_: &str| match asked.fetch_add(1, Ordering::SeqCst) {
        0 | 1 => Named::At(OWN.into()),
        _ => Named::At(OTHER.into()),
    };
    let names = served.runtime.block_on(NameServer::start(named)).expect("a free port");
    let seed = format!("http://moves.test:{}/", served.port);
    served.crawl(&[&seed, "--dns-servers", &names.address().to_string(), "--deny-private=never"]);
    assert!(other.accept().is_err(), "the page was led elsewhere");
    let own = served.asked("moves.test").iter().filter(|entry| entry.target.starts_with("/own.txt")).count();
    assert_eq!(own, 4);
}

/// The tests have no public addresses: that of the seed is allowed since the user named it, and no other is.
#[test]
fn a_script_leads_to_no_private_address() {
    let script = "<script>\
        const quietly = f => { try { const r = f(); r && r.catch && r.catch(() => 0) } catch {} };\
        const add = (name, at) => document.body.append(Object.assign(document.createElement(name), at));\
        for (const host of ['127.0.0.3', 'inner.test']) {\
          const url = 'http://' + host + ':' + location.port + '/';\
          quietly(() => fetch(url, {mode: 'no-cors'}));\
          quietly(() => fetch(url, {method: 'POST', body: 'x', mode: 'no-cors', keepalive: true}));\
          quietly(() => new WebSocket(url.replace('http', 'ws')));\
          quietly(() => navigator.sendBeacon(url, 'x'));\
          for (const name of ['img', 'script', 'iframe']) add(name, {src: url + name});\
        }\
        for (const path of ['/to-literal', '/to-name']) quietly(() => fetch(path));\
        quietly(() => fetch('/own.txt').then(answer => answer.text()).then(text => document.body.append(' got:' + text)));\
        </script>";
    let pages = |port: u16| {
        let moved = |host: &str| Reply::redirect(302, format!("http://{host}:{port}/moved"));
        Pages::new()
            .html("/", format!("<p>words</p>{script}"))
            .text("/own.txt", "x")
            .reply("/to-literal", moved("127.0.0.3"))
            .reply("/to-name", moved("inner.test"))
    };
    let served = Served::at(|port| Web::new().site("app.test", pages(port)), &[OWN]);
    let port = served.port;
    let private = [OTHER, NAMED].map(|address| {
        let listener = TcpListener::bind(SocketAddr::from((address, port))).expect("the same port");
        listener.set_nonblocking(true).expect("a socket");
        listener
    });
    let reached = || private.each_ref().map(|listener| std::iter::from_fn(|| listener.accept().ok()).count() > 0);
    let named = |name: &str| if name.starts_with("inner.test") { Named::At(NAMED.into()) } else { Named::Fails };
    let names = served.runtime.block_on(NameServer::start(named)).expect("a free port");
    let (seed, led) = (format!("http://app.test:{port}/"), format!("app.test:{port}:127.0.0.2"));
    let name_server = names.address().to_string();
    let usual = [&seed, "--resolve", &led, "--dns-servers", &name_server, "--first-byte-timeout", "1s"];
    let got = |rows: &[Value]| {
        let own = served.asked("app.test").iter().filter(|entry| entry.target == "/own.txt").count();
        (own, rows.iter().filter_map(|row| row["reason"].as_str()).collect::<Vec<_>>().join("; "))
    };
    let rows = served.crawl(&usual);
    assert_eq!(reached(), [false, false], "literal, name");
    let (own, reasons) = got(&rows);
    assert_eq!(own, 1, "{reasons}");
    assert!(reasons.contains("no answer"), "{reasons}");
    // The scripts do ask.
    let rows = served.crawl(&[&usual[..], &["--deny-private=never"]].concat());
    assert_eq!(reached(), [true, true], "literal, name: {:?}", got(&rows));
}

#[test]
fn pages_ask_others_no_more_often_than_the_rate_allows() {
    const PAGES: usize = 6;
    const REQUESTS: usize = 400;
    /// The burst, and one for robots.txt.
    const AT_ONCE: f64 = 101.0;
    let mut pages = Pages::new();
    let links: String = (0..PAGES).map(|n| format!("<a href=/{n}>{n}</a>")).collect();
    let script = format!(
        "<script>for (let n = 0; n < {REQUESTS}; n++) fetch('http://victim.test:' + location.port + '/' + location.pathname.slice(1) + n, {{mode: 'no-cors'}}).catch(() => 0)</script>"
    );
    pages = pages.html("/", format!("<p>words</p>{links}"));
    for n in 0..PAGES {
        pages = pages.html(format!("/{n}"), format!("<p>words</p>{script}"));
    }
    let web = Web::new().site("app.test", pages).site("victim.test", Pages::new());
    let served = Served::new(web, &[OWN, OTHER]);
    let port = served.port;
    let rows = served.crawl(&[
        &format!("http://app.test:{port}/"),
        "--resolve",
        &format!("app.test:{port}:127.0.0.2"),
        "--resolve",
        &format!("victim.test:{port}:127.0.0.3"),
        "--render-tabs",
        "3",
    ]);
    let asked = served.asked("victim.test");
    let (first, last) = (asked.first().expect("some").start_us, asked.last().expect("some").start_us);
    let allowed = AT_ONCE + 10.0 * (last - first) as f64 / 1e6;
    assert!(asked.len() as f64 <= allowed && asked.len() < PAGES * REQUESTS / 2, "{} of {allowed}", asked.len());
    let reasons: Vec<&str> = rows.iter().filter_map(|row| row["reason"].as_str()).collect();
    assert!(reasons.iter().any(|reason| reason.ends_with(" requests refused (render_rate)")), "{reasons:?}");
}

#[test]
fn a_page_of_many_things_gets_them_all() {
    const THINGS: usize = 60;
    let things: String = (0..THINGS).map(|n| format!("<script src=/{n}.js></script>")).collect();
    let mut pages = Pages::new().html("/", format!("<p>words</p>{things}"));
    for n in 0..THINGS {
        pages = pages.text(format!("/{n}.js"), "1");
    }
    let served = Served::new(Web::new().site("app.test", pages), &[OWN]);
    let port = served.port;
    let rows = served.crawl(&[&format!("http://app.test:{port}/"), "--resolve", &format!("app.test:{port}:127.0.0.2")]);
    let got = served.asked("app.test").iter().filter(|entry| entry.target.ends_with(".js")).count();
    assert_eq!(got, THINGS);
    assert!(rows.iter().all(|row| !row["reason"].as_str().unwrap_or_default().contains("refused")), "{rows:?}");
}
