//! A crawl in the browser, asked over HTTP.

use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::time::Duration;

use crawl::CrawlDir;
use model::{Aside, Candidate, Failure, FailureKind, SiteRecord, Timestamp};
use store::Batch;
use testkit::ui::Ui;
use testweb::{Reply, Web, from_fn};
use weburl::CanonicalUrl;

use crate::binary;
use crate::served::Served;

/// What no page may turn into markup.
const HOSTILE: &str = "</title><script>alert(1)</script>\"'><img src=x onerror=alert(2)>";

/// A site whose start page has a hostile title, with pages below `/a/` and `/b/`.
pub(crate) fn web() -> Web {
    let page = |request: &testweb::Request| match request.path() {
        "/" => Reply::html(format!(
            "<title>{}</title><p>A spider writes.<a href=/a/1>first</a><a href='/b/2?q=%3Cb%3E'>second</a><a href=/gone>third</a>",
            HOSTILE.replace('<', "&lt;")
        )),
        "/gone" => Reply::new(404),
        path => Reply::html(format!("<title>{path}</title><p>{HOSTILE} page")),
    };
    Web::new().site("ui.test", from_fn(page))
}

pub(crate) fn crawled(served: &Served, dir: &Path) {
    let dir = dir.to_str().unwrap();
    let mut arguments = vec!["crawl", "http://ui.test/", "-o", dir, "--delay", "0", "--ip-delay", "0", "--no-sitemaps"];
    let flags = served.flags();
    arguments.extend(flags.iter().map(String::as_str));
    binary::run(&arguments).expect_code(0);
}

#[test]
fn a_crawl_that_has_ended_is_shown_and_nothing_becomes_markup() {
    let (served, dirs) = (Served::start(web()), tempfile::tempdir().unwrap());
    let dir = dirs.path().join("crawl");
    crawled(&served, &dir);
    let ui = Ui::start(&dir);
    let overview = ui.page("/");
    for expect in ["Finished: every URL found has its outcome.", "/urls?state=http_error", "http://ui.test/"] {
        assert!(overview.contains(expect), "{expect}: {overview}");
    }
    let latest = overview.split_once("<h2>Latest pages</h2>").unwrap().1.split_once("</section>").unwrap().0;
    assert_eq!(latest.matches("class=\"url\"").count(), 4, "{latest}");
    assert!(latest.contains("<td>http_error</td>") && latest.contains("&lt;script&gt;"), "{latest}");
    let needs = overview.split_once("<h2>Disk and memory</h2>").unwrap().1.split_once("</section>").unwrap().0;
    assert!(needs.contains("The directory has ") && needs.contains(" left."), "{needs}");
    assert!(!needs.contains("in the queue") && !needs.contains("of memory"), "nothing runs: {needs}");
    let sites = ui.page("/sites");
    assert!(sites.contains(">http://ui.test</a>") && sites.contains("active"), "{sites}");
    let urls = ui.page("/urls");
    assert_eq!(urls.matches("class=\"url\"").count(), 4, "{urls}");
    let chosen = ui.page("/urls?site=ui.test&state=http_error&match=*");
    assert!(chosen.contains("http://ui.test/gone") && chosen.matches("class=\"url\"").count() == 1, "{chosen}");
    let story = ui.page("/url?u=http%3A%2F%2Fui.test%2Fgone");
    for expect in ["http_error", "404", "&quot;third&quot; on ", "Links to the page <span class=\"count\">1</span>"] {
        assert!(story.contains(expect), "{expect}: {story}");
    }
    let host = ui.page("/url?u=ui.test");
    assert!(host.contains("robots.txt"), "{host}");
    let found = ui.page("/search?q=spider+WRITES&case=any");
    assert!(found.contains("1 page, 1 occurrence") && found.contains("http://ui.test/</a>"), "{found}");
    for page in [&overview, &sites, &urls, &story, &found, &ui.page("/search?q=alert"), &ui.page("/url?u=%3Cscript%3E")]
    {
        assert!(!page.contains("<script>") && !page.contains("<img"), "{page}");
    }
    let report = ui.page("/report");
    for expect in [
        "aria-current=\"page\">Report",
        "href=\"/urls?state=failed&amp;linked=yes&amp;reported=yes\">1</a>",
        "/report.csv?table=sites",
    ] {
        assert!(report.contains(expect), "{expect}: {report}");
    }
    let failed = ui.page("/urls?state=failed&linked=yes");
    assert!(failed.contains("<th>Linked from</th>"), "{failed}");
    let row = failed.split_once("<tbody>").unwrap().1.split_once("</tbody>").unwrap().0;
    assert!(row.contains(">http://ui.test/gone</a>") && row.contains(">http://ui.test/</a>"), "{row}");
    let sorted = ui.page("/urls?sort=state");
    let states: Vec<usize> =
        ["html", "http_error"].iter().map(|state| sorted.rfind(&format!("<td>{state}</td>")).unwrap()).collect();
    assert!(sorted.matches("class=\"url\"").count() == 4 && states.is_sorted(), "{sorted}");
    let key = export::kvs::key_of(&CanonicalUrl::from_canonical("http://ui.test/gone").unwrap());
    for key in [&key[..], &key[..12]] {
        let found = ui.page(&format!("/urls?key={key}"));
        assert!(found.contains(">http://ui.test/gone</a>") && found.matches("class=\"url\"").count() == 1, "{found}");
        assert_eq!(ui.page(&format!("/urls.jsonl?key={key}")).lines().count(), 1);
    }
    assert!(ui.page("/urls?key=0123456789abcdef").contains("No URL."));
    let by_size = ui.page("/urls?sort=-size");
    let sizes: Vec<u64> = by_size
        .split("<td class=\"number\">")
        .filter_map(|cell| cell.split_once("</td>")?.0.strip_suffix(" B")?.parse().ok())
        .collect();
    assert!(by_size.contains("4 URLs by size. <a href=\"/urls\">"), "{by_size}");
    assert!(sizes.len() > 1 && sizes.is_sorted_by(|one, next| one >= next), "{sizes:?} {by_size}");
    assert!(
        by_size.contains("<th class=\"number\" aria-sort=\"descending\"><a href=\"/urls?sort=size\">Size</a>"),
        "{by_size}"
    );
    assert_eq!(ui.get("/urls?sort=weight").status, 400);
    assert_eq!(ui.page("/urls?status=404&depth=1").matches("class=\"url\"").count(), 1);
    let rank = ui.page("/graph/rank?u=ui.test%2F");
    assert!(rank.contains("PageRank ") && rank.contains(" of "), "{rank}");
    let changes = ui.page("/changes?since=2026-01-01");
    assert!(changes.contains(": 4 URLs visited: ") && changes.contains(">http://ui.test/</a>"), "{changes}");
    assert!(ui.page("/changes").contains("The crawl has one round so far."));
    assert!(ui.page("/search?q=spid.r&regex=yes").contains("1 page, 1 occurrence"));
    let history: serde_json::Value = serde_json::from_str(&ui.page("/history.json")).unwrap();
    assert_eq!(history["pages"].as_array().unwrap().last().unwrap(), 3, "{history}");
    assert_eq!(ui.get("/history.json?from=yesterday").status, 400);
    let file = ui.get("/report.html");
    assert!(file.status == 200 && file.head.contains("default-src 'none'"), "{}", file.head);
    let steer = ui.page("/steer");
    assert!(steer.contains("No crawl is running.") && !steer.contains(">Stop"), "{steer}");
    let late = ui.post(&ui.own(), "what=seeds&to=http%3A%2F%2Fother.test%2F");
    assert!(late.status == 409 && late.body.contains("no crawl runs there"), "{}", late.body);
}

#[test]
fn of_a_large_site_a_part_is_counted_and_sites_in_trouble_come_first() {
    const MORE: usize = 10_001;
    let (served, dirs) = (Served::start(web()), tempfile::tempdir().unwrap());
    let dir = dirs.path().join("crawl");
    crawled(&served, &dir);
    let held = CrawlDir::existing(&dir).unwrap();
    let store = held.open_store(&held.options().unwrap()).unwrap();
    let url = |text: String| CanonicalUrl::from_canonical(&text).unwrap();
    let more = (0..MORE).map(|n| format!("http://ui.test/more/{n}")).chain(["http://trouble.test/".to_owned()]);
    let found = more.map(|text| Candidate::seed(url(text))).collect();
    let reason = Failure { kind: FailureKind::NameServer, detail: "<b>no name server".to_owned() };
    let aside = Aside { until: Timestamp(9), round: 1, reason };
    let sites = (0..3).map(|n| SiteRecord::new(url(format!("http://{n}.test/")).site()));
    let troubled = SiteRecord { aside: Some(aside), ..SiteRecord::new(url("http://trouble.test/".to_owned()).site()) };
    let sites = sites.chain([troubled]).collect();
    store.commit(&Batch { found, sites, ..Batch::default() }).unwrap();
    drop(store);

    let ui = Ui::start(&dir);
    let story = ui.page("/url?u=ui.test");
    assert!(story.contains(" of the first 5000 URLs; the others were not counted"), "{story}");
    let told = binary::run(&["explain", dir.to_str().unwrap(), "ui.test"]).expect_code(0).stdout;
    assert!(told.contains(&format!("frontier {MORE}")) && !told.contains("of the first"), "{told}");
    let waits = (0..MORE).map(|n| ui_path(&format!("http://ui.test/more/{n}"))).take(3);
    let waits: Vec<String> = waits.map(|path| ui.page(&path)).collect();
    assert!(waits.iter().all(|page| page.contains("come before it") || page.contains("comes before it")), "{waits:?}");

    let by_state = ui.page("/sites?sort=state");
    let rows = by_state.split_once("<tbody>").unwrap().1;
    let first = rows.split("</tr>").next().unwrap();
    assert!(first.contains(">http://trouble.test</a>") && first.contains("in trouble until "), "{first}");
    assert!(first.contains("&lt;b&gt;no name server"), "{first}");
    assert_eq!(rows.matches("class=\"url\"").count(), 5, "all sites, each once: {rows}");
    assert!(!ui.page("/sites").split_once("<tbody>").unwrap().1.is_empty());
    assert_eq!(ui.get("/sites?sort=size").status, 400);
    let overview = ui.page("/");
    assert!(overview.contains(">http://trouble.test</a> not before 1970-01-01T"), "{overview}");
}

/// The path of the story of a URL.
fn ui_path(url: &str) -> String {
    format!("/url?u={}", url::form_urlencoded::byte_serialize(url.as_bytes()).collect::<String>())
}

#[test]
fn the_table_is_a_file_too() {
    let (served, dirs) = (Served::start(web()), tempfile::tempdir().unwrap());
    let dir = dirs.path().join("crawl");
    crawled(&served, &dir);
    let ui = Ui::start(&dir);
    let lines = ui.page("/urls.jsonl?state=html");
    let lines: Vec<serde_json::Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 3);
    let start = lines.iter().find(|line| line["url"] == "http://ui.test/").unwrap();
    assert_eq!((&start["title"], &start["status"], &start["depth"]), (&HOSTILE.into(), &200.into(), &0.into()));
    let csv = ui.page("/urls.csv");
    let rows: Vec<&str> = csv.split_terminator("\r\n").collect();
    assert!(rows.len() == 5 && rows[0].starts_with("url,state,status"), "{csv}");
    assert!(csv.contains("http://ui.test/gone,http_error,404,"), "{csv}");
    let (head, parquet) = ui.bytes("/urls.parquet");
    assert!(head.contains("application/vnd.apache.parquet"), "{head}");
    assert!(parquet.starts_with(b"PAR1") && parquet.ends_with(b"PAR1"), "{} bytes", parquet.len());
    let sites = ui.page("/report.csv?table=sites");
    assert!(sites.starts_with("site,seed,pages,") && sites.contains("\r\nhttp://ui.test,yes,4,"), "{sites}");
}

/// Pages of a site whose URLs are long, and the links to such URLs on each but the first.
const LONG_PAGES: usize = 30;
const LONG_LINKS: usize = 300;
/// Its URLs.
pub(crate) const LONG_URLS: usize = LONG_PAGES + (LONG_PAGES - 1) * LONG_LINKS;

/// The site. A file of its URLs has 18 MB: more than the connection and the program hold for a reader.
pub(crate) fn with_long_urls() -> Web {
    let path = "x".repeat(1_990);
    let link = move |page: usize, n: usize| format!("<a href=/{page}/{n}/{path}>x</a>");
    let page = move |request: &testweb::Request| match request.path().trim_start_matches('/') {
        "" => Reply::html((1..LONG_PAGES).map(|page| format!("<a href=/{page}>x</a>")).collect::<String>()),
        page => {
            let links = |page| (0..LONG_LINKS).map(|n| link(page, n)).collect();
            Reply::html(page.parse().map_or_else(|_| String::new(), links))
        }
    };
    Web::new().site("ui.test", from_fn(page))
}

#[test]
fn those_who_do_not_read_their_files_keep_nobody_waiting() {
    /// As many as are answered.
    const READERS: usize = 8;
    let (served, dirs) = (Served::start(with_long_urls()), tempfile::tempdir().unwrap());
    let dir = dirs.path().join("crawl");
    let limit = LONG_PAGES.to_string();
    let arguments = ["crawl", "http://ui.test/", "-o", dir.to_str().unwrap(), "--max-pages", &limit, "--no-sitemaps"];
    let flags = served.flags();
    let flags = flags.iter().map(String::as_str).chain(["--delay", "0", "--ip-delay", "0"]);
    binary::run(&arguments.into_iter().chain(flags).collect::<Vec<_>>()).expect_code(3);
    let ui = Ui::start(&dir);
    let begin = || {
        let mut reader = TcpStream::connect(&ui.address).unwrap();
        write!(reader, "GET /urls.csv HTTP/1.1\r\nHost: {}\r\n\r\n", ui.address).unwrap();
        let mut status = [0; 12];
        reader.read_exact(&mut status).unwrap();
        (reader, String::from_utf8_lossy(&status).into_owned())
    };
    let mut readers: Vec<TcpStream> = Vec::new();
    for _ in 0..READERS {
        let (reader, status) = begin();
        assert_eq!(status, "HTTP/1.1 200");
        readers.push(reader);
    }
    let refused = ui.get("/urls.jsonl");
    assert!(refused.status == 409 && refused.body.contains("8 files are being downloaded"), "{}", refused.body);
    until("the report is counted", || ui.page("/report").contains("/report.csv?table=sites"));
    readers.pop();
    until("one has gone", || begin().1 == "HTTP/1.1 200");
}

#[test]
fn what_cannot_be_shown_is_named() {
    let (served, dirs) = (Served::start(web()), tempfile::tempdir().unwrap());
    let dir = dirs.path().join("crawl");
    crawled(&served, &dir);
    let ui = Ui::start(&dir);
    for (path, status, why) in [
        ("/nothing", 404, "there is no such page"),
        ("/urls?state=fine", 400, "`fine` is no state of a URL; possible are waiting, html"),
        ("/urls.csv?site=a%2Fb", 400, "is no site"),
        ("/urls?site=ui.tset", 404, "no such site in the crawl: ui.tset; nearest: ui.test"),
        ("/urls?site=ui.tset&linked=yes", 404, "nearest: ui.test"),
        ("/urls.jsonl?site=ui.tset", 404, "nearest: ui.test"),
        ("/search?q=page&site=ui.tset", 404, "nearest: ui.test"),
        ("/changes?since=7d&site=ui.tset", 404, "nearest: ui.test"),
        ("/urls?match=%2Fx%2F", 400, "“Pattern” `/x/` matches no URL"),
        ("/urls?key=ba7", 400, "a key has 40 hexadecimal digits"),
        ("/urls.csv?key=http%3A%2F%2Fui.test%2F", 400, "a key has 40 hexadecimal digits"),
        ("/urls.csv?match=%2Fx%2F", 400, "“Pattern” `/x/` matches no URL"),
        ("/search?q=(&regex=yes", 400, "is no regular expression"),
        ("/graph/path?from=http://ui.test/&to=http://ui.test/never", 404, "the crawl knows no such URL"),
        ("/graph/overlap?one=http://ui.test/&other=http://no.test/", 404, "the crawl knows no such URL"),
    ] {
        let answer = ui.get(path);
        assert_eq!(answer.status, status, "{path}");
        assert!(answer.body.contains(why) && answer.head.contains("frame-ancestors 'none'"), "{path}: {}", answer.body);
    }
    let asked = |head: &str| ui.ask(&format!("GET /report HTTP/1.1\r\nHost: {}{head}", ui.address), "").status;
    assert_eq!(asked("\r\nSec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: no-cors\r\nSec-Fetch-Dest: image"), 403);
    assert_eq!(asked("\r\nSec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: navigate\r\nSec-Fetch-Dest: iframe"), 403);
    assert_eq!(asked("\r\nSec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: navigate\r\nSec-Fetch-Dest: document"), 200);
    let refused = ui.ask("GET / HTTP/1.1\r\nHost: evil.test", "");
    assert_eq!(refused.status, 409, "{}", refused.body);
    assert!(
        refused.body.contains("<h1>That did not work</h1>") && refused.body.contains("ask by the address"),
        "{}",
        refused.body
    );
    assert!(refused.head.contains("frame-ancestors 'none'"), "{}", refused.head);
    assert_eq!(ui.get("/report.csv?table=none").status, 404);
    let error = binary::run(&["ui", dir.to_str().unwrap(), "--listen", "0.0.0.0:0"]).expect_code(2).stderr;
    assert!(error.contains("--listen 0.0.0.0:0: other machines could steer the crawl"), "{error}");
    let error = binary::run(&["ui", dirs.path().to_str().unwrap()]).expect_code(1).stderr;
    assert!(error.contains("no crawl"), "{error}");
}

#[test]
fn what_no_screen_reads_is_refused_by_a_page() {
    let (served, dirs) = (Served::start(web()), tempfile::tempdir().unwrap());
    let dir = dirs.path().join("crawl");
    crawled(&served, &dir);
    let ui = Ui::start(&dir);
    let long = format!("what=exclude&to={}", "x".repeat(3 << 20));
    for (refused, status, why) in [
        (ui.post(&ui.own(), &long), 413, "the form is longer than 2097152 bytes: nothing was done"),
        // The address of a form that was refused, opened once more; and a form to a page that takes none.
        (ui.get("/urls/views"), 404, "there is no such page"),
        (ui.post_to("/urls", &ui.own(), "site=a"), 404, "there is no such page"),
    ] {
        assert_eq!(refused.status, status, "{}", refused.head);
        assert!(refused.body.contains(why) && refused.body.contains("<nav "), "{}", refused.body);
        assert!(refused.head.contains("default-src 'self'"), "{}", refused.head);
    }
}

#[test]
fn what_cannot_be_done_is_said_in_the_words_of_the_page() {
    let (served, dirs) = (Served::start(web()), tempfile::tempdir().unwrap());
    let dir = dirs.path().join("crawl");
    crawled(&served, &dir);
    let ui = Ui::start(&dir);
    let said =
        |body: &str| body.split_once("role=\"alert\">").expect(body).1.split_once("</p>").expect(body).0.to_owned();
    for (form, expect) in [
        ("", "no change is chosen: the page Steer has a form for each"),
        ("what=erase&to=x", "no change is chosen: the page Steer has a form for each"),
        ("what=exclude&to=", "Exclude URLs: “Patterns, one a line” is empty"),
        ("what=set", "Change settings: “Lines of crawl.toml” is empty"),
        ("what=exclude&to=/x/", "exclude `/x/` matches no URL"),
        ("what=remove&to=/x/", "remove `/x/` matches no URL"),
        ("what=set&to=max-pages+%3D+0", "max-pages must be more than 0"),
        ("what=set&to=max-pages+%3D+0", "“Go back to defaults” with max-pages takes an earlier one back"),
        ("what=set&to=backoff+%3D+%2210h%22", "backoff 10h is longer than max-backoff 5m"),
        ("what=set&to=delay+%3D+%221000000000000d%22", "`1000000000000d` is longer than 100 years"),
        ("what=delay&to=ui.test%3D1000000000000d", "`1000000000000d` is longer than 100 years"),
        ("what=include&to=*a*", "“Change settings” with a line"),
    ] {
        let answer = ui.post(&ui.own(), form);
        let said = said(&answer.body).replace("&quot;", "\"");
        assert!(answer.status == 400 && said.contains(expect) && !said.contains("--"), "{form}: {said}");
    }
    for (path, expect) in [
        ("/graph/path?from=http://ui.test/&to=", "“To page” is empty"),
        ("/graph/path?to=http://ui.test/", "“From page” is empty"),
        ("/graph/overlap?one=http://ui.test/", "“A page of the other” is empty"),
    ] {
        let answer = ui.get(path);
        assert!(answer.status == 400 && said(&answer.body).contains(expect), "{path}: {}", answer.body);
    }
}

pub(crate) fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    for _ in 0..6_000 {
        if is_so() {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    panic!("it does not come to this: {what}");
}

#[test]
fn several_crawls_are_shown_side_by_side() {
    let (served, dirs) = (Served::start(web()), tempfile::tempdir().unwrap());
    let [one, two] = ["one", "two"].map(|name| dirs.path().join(name));
    crawled(&served, &one);
    crawled(&served, &two);
    let ui = Ui::start_all(&[&one, &two]);
    let all = ui.page("/");
    for expect in ["href=\"/1\">", "href=\"/2\">", "finished", one.to_str().unwrap(), two.to_str().unwrap()] {
        assert!(all.contains(expect), "{expect}: {all}");
    }
    // Every link of a crawl's pages stays within it, and leads to a page.
    let mut seen = BTreeSet::new();
    let mut left = vec!["/2".to_owned()];
    while let Some(path) = left.pop() {
        let is_page = !path.contains("/url?u=") || seen.len() < 20;
        if !is_page || !seen.insert(path.clone()) {
            continue;
        }
        // Files are no text.
        let (head, body) = ui.bytes(&path);
        let body = String::from_utf8_lossy(&body);
        assert!(head.starts_with("HTTP/1.1 200"), "{path}: {body}");
        // Forms send fields with their links.
        for (attribute, is_followed) in [("href", true), ("action", false), ("src", true), ("data-src", false)] {
            for link in body.split(&format!(" {attribute}=\"/")).skip(1) {
                let link = format!("/{}", link.split('"').next().unwrap().replace("&amp;", "&"));
                assert!(link == "/" || link == "/2" || link.starts_with("/2/"), "{path} leads to {link}");
                if link != "/" && is_followed && head.contains("text/html") {
                    left.push(link);
                }
            }
        }
    }
    for screen in ["/2/urls", "/2/report", "/2/steer", "/2/ui.css?v="] {
        let is_seen = seen.iter().any(|link| link == screen || screen.ends_with('=') && link.starts_with(screen));
        assert!(is_seen, "{screen}: {seen:?}");
    }
    // A change is made of that crawl only.
    let told = ui.posted("/2/steer", "what=exclude&to=*%2Fx%2F*&sure=yes");
    assert!(told.starts_with("/2/steer/answer?") && ui.page(&told).contains("exclude */x/*"), "{told}");
    let elsewhere = told.replace("/2/", "/1/");
    assert_eq!(ui.get(&elsewhere).status, 404, "the answer is of that crawl only");
    assert!(ui.page("/2/steer").contains("exclude */x/*") && !ui.page("/1/steer").contains("exclude */x/*"));
    assert_eq!(ui.get("/3").status, 404);
    // What is missing has the navigation of where it was looked for: its links lead somewhere.
    for (path, links) in [
        ("/urls", &["/"][..]),
        ("/3/urls", &["/"]),
        ("/1/none", &["/", "/1", "/1/urls", "/1/steer"]),
        ("/2/steer/none", &["/2/urls"]),
        ("/2/urls/views", &["/2/urls"]),
    ] {
        let answer = ui.get(path);
        let navigation = answer.body.split_once("<nav").expect("navigation").1.split_once("</nav>").expect("its end").0;
        let found: Vec<&str> =
            navigation.split("href=\"").skip(1).map(|link| link.split_once('"').expect("a link").0).collect();
        assert!(answer.status == 404 && links.iter().all(|link| found.contains(link)), "{path}: {found:?}");
        for link in found {
            assert_eq!(ui.get(link).status, 200, "{path}: {link}");
        }
    }
    let foreign = ui.post("\r\nOrigin: http://elsewhere.test", "what=pause&to=&sure=yes");
    assert!(foreign.status == 403 && !foreign.body.contains("href=\"/steer\""), "{}", foreign.body);
}

#[test]
fn a_crawl_that_rests_is_paused_and_resumed() {
    let (served, dirs) = (Served::start(web()), tempfile::tempdir().unwrap());
    let dir = dirs.path().join("crawl");
    crawled(&served, &dir);
    let ui = Ui::start(&dir);
    for (what, button, next) in [("pause", "Pause", "Resume"), ("resume", "Resume", "Pause")] {
        let form = ui.page("/steer");
        assert!(form.contains(&format!("<button>{button}</button>")) && !form.contains("Stop …"), "{form}");
        let made = ui.post(&ui.own(), &format!("what={what}&sure=yes"));
        assert!(made.status == 200 && made.body.contains("it counts when"), "{}", made.body);
        let steered = ui.page("/steer");
        assert!(steered.contains(&format!("<button>{next}</button>")), "{steered}");
        assert_eq!(ui.page("/").contains("<strong>Paused.</strong>"), what == "pause");
        let settings = std::fs::read_to_string(dir.join("crawl.toml")).unwrap();
        assert!(settings.contains(&format!("paused = {}", what == "pause")), "{settings}");
    }
}

#[test]
fn undo_goes_back_to_what_was_and_keeps_what_others_did() {
    let (served, dirs) = (Served::start(web()), tempfile::tempdir().unwrap());
    let dir = dirs.path().join("crawl");
    crawled(&served, &dir);
    let ui = Ui::start(&dir);
    let steer = |change: &[&str]| binary::run(&[&["steer", dir.to_str().unwrap()], change].concat()).expect_code(0);
    // The form of a change in the journal, as a browser sends it.
    let form = |change: &str| {
        let journal = ui.page("/steer");
        let form = journal.split("<form").find(|form| form.contains(&format!("aria-label=\"Undo: {change}\"")));
        let form = form.unwrap_or_else(|| unreachable!("{change}: {journal}"));
        fields(form)
    };
    let look = |change: &str| ui.get(&format!("/steer/undo?{}", form(change)));
    let post = |form: &str| ui.post_to("/steer/undo", &ui.own(), form);
    // Without comments, one of which names the last change and what it replaced.
    let settings = || {
        let settings = std::fs::read_to_string(dir.join("crawl.toml")).unwrap();
        settings.lines().filter(|line| !line.starts_with('#')).collect::<Vec<_>>().join("\n")
    };
    steer(&["exclude", "*/a/*"]);
    steer(&["delay", "4s", "ui.test"]);
    steer(&["delay", "2s", "ui.test"]);
    let shown = look("delay ui.test=2s");
    assert!(shown.status == 200 && shown.body.contains("ui.test=4s"), "{}", shown.body);
    assert!(settings().contains("ui.test=2s"), "shown is not made");
    assert_eq!(post(&fields(&shown.body)).status, 200);
    assert!(settings().contains("ui.test=4s"), "{}", settings());
    // Somebody else changes the crawl while this is shown.
    let shown = look("exclude */a/*");
    assert!(shown.body.contains("unset exclude"), "{}", shown.body);
    steer(&["exclude", "*/private/*"]);
    let conflict = post(&fields(&shown.body));
    assert!(
        conflict.body.contains("Somebody has changed the crawl") && settings().contains("*/a/*"),
        "{}",
        conflict.body
    );
    assert_eq!(post(&fields(&conflict.body)).status, 200);
    assert!(settings().contains("*/private/*") && !settings().contains("*/a/*"), "{}", settings());
    assert!(ui.page("/steer").contains("No undo: nothing of it is in force."));
    // Somebody else changes it after that was confirmed, before it is done.
    steer(&["exclude", "*/b/*"]);
    let shown = look("exclude */b/*");
    let held = CrawlDir::existing(&dir).unwrap();
    let store = held.open_store(&held.options().unwrap()).unwrap();
    let conflict = std::thread::scope(|scope| {
        let posting = scope.spawn(|| post(&fields(&shown.body)));
        std::thread::sleep(Duration::from_secs(1));
        let mut options = held.options().unwrap();
        options.exclude.push("*/late/*".to_owned());
        held.write_options(&options).unwrap();
        drop(store);
        posting.join().unwrap()
    });
    assert!(conflict.body.contains("Somebody has changed the crawl"), "{}", conflict.body);
    assert!(settings().contains("*/late/*") && settings().contains("*/b/*"), "{}", settings());
    assert_eq!(post(&fields(&conflict.body)).status, 200);
    assert!(settings().contains("*/late/*") && !settings().contains("*/b/*"), "{}", settings());
}

/// The hidden fields of the first form in a text, as a browser sends them.
fn fields(form: &str) -> String {
    let form = form.split("</form>").next().unwrap();
    let mut sent = url::form_urlencoded::Serializer::new(String::new());
    for field in form.split("<input type=\"hidden\" name=\"").skip(1) {
        let (name, rest) = field.split_once("\" value=\"").unwrap();
        let value = rest.split_once('"').unwrap().0;
        sent.append_pair(
            name,
            &value.replace("&quot;", "\"").replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&"),
        );
    }
    sent.finish()
}
