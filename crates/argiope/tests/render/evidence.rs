//! What speaks for rendering a page, what it brought, and how both are reported; pictures; what a page may not get.

use std::fs;
use std::net::TcpListener;
use std::path::Path;

use testweb::{Pages, Reply, Web};

use crate::crawls::Crawled;
use testkit::python::script;
use testkit::pywb::{Pywb, get};

/// Text that is enough to be read without scripts.
const WORDS: &str = "Enough words to be read without any script at all, again and again and again. ";

/// Ten pages each of three kinds, all with text and with what scripts could fill.
fn web() -> Web {
    let words = WORDS.repeat(5);
    let links = |dir: &str| (0..10).map(|n| format!("<a href=/{dir}/item{n}.html>{n}</a>")).collect::<String>();
    let mut pages = Pages::new().html("/", format!("{words}{}{}{}", links("gains"), links("same"), links("plain")));
    for n in 0..10 {
        let gains = "<template></template><script>document.body.innerHTML += `<a href=/behind/${location.pathname.at(-6)}>x</a>`</script>";
        pages = pages
            .html(format!("/gains/item{n}.html"), format!("<body>{words}{gains}"))
            .html(format!("/same/item{n}.html"), format!("<body>{words}<template></template><script>1</script>"))
            .html(format!("/plain/item{n}.html"), format!("<body>{words}<script>1</script>"))
            .html(format!("/behind/{n}"), words.clone());
    }
    Web::new().site("app.test", pages)
}

#[test]
fn a_sample_decides_about_pages_of_a_pattern() {
    let crawled =
        Crawled::of(web(), "http://app.test/", &["--render", "auto", "--render-tabs", "1", "--concurrency", "1"]);
    let rows = crawled.rows();
    let rendered = |dir: &str, why: &str| {
        let of_dir = rows.iter().filter(|(path, _)| path.starts_with(&format!("/{dir}/")));
        let reasons = of_dir.filter_map(|(_, row)| row["reason"].as_str());
        reasons.filter(|reason| reason.starts_with(&format!("rendered ({why}"))).count()
    };
    assert_eq!((rendered("gains", "a sample"), rendered("gains", "pages like it showed more")), (1, 9));
    assert_eq!((rendered("same", ""), rendered("same", "a sample")), (3, 3));
    assert_eq!(rendered("plain", ""), 0);
    assert_eq!(rows.keys().filter(|path| path.starts_with("/behind/")).count(), 10);

    let report = crawled.run("report", &["--json"]).json();
    let expect = serde_json::json!([
        {"evidence": "pages like it showed more", "pages": 9, "failed": 0, "links": 9, "text_chars": 18},
        {"evidence": "a sample of pages like it", "pages": 4, "failed": 0, "links": 1, "text_chars": 2},
    ]);
    assert_eq!(report["rendering"], expect);
    let table = crawled.run("report", &[]).stdout;
    assert!(table.contains("Pages shown in a browser"), "{table}");
    let query = "import duckdb, sys\n\
                 rows = duckdb.sql(f\"select rendered_for, count(*), sum(rendered_links) from '{sys.argv[1]}/*.parquet' \
                 where rendered_for is not null group by 1 order by 1\").fetchall()\n\
                 print(rows)";
    let printed = || script(&["duckdb"], query, &[&format!("{}/dataset/pages", crawled.dir())]);
    let written = printed();
    assert_eq!(written, "[('a sample of pages like it', 4, 1), ('pages like it showed more', 9, 9)]\n");
    assert_eq!(crawled.run("derive", &["--all"]).code, 0);
    assert_eq!(printed(), written);
}

/// Files of an application on a server that has none for its routes: it answers 404 with a page that runs the application, or leads to
/// it. And pages that are missing, with a script and an empty element besides what they say.
#[test]
fn a_missing_page_is_shown_if_it_is_an_application() {
    let script = |body: String| Reply::new(200).header("Content-Type", "text/javascript").body(body);
    let missing = |body: &str| {
        let page = Reply::html(body.to_owned());
        Reply { status: 404, ..page }
    };
    let shell = "<!DOCTYPE html><title>App</title><div id=root></div><script src=/app.js></script>";
    let app =
        format!("document.getElementById('root').innerHTML = `<p>{}</p><a href=/route/2>next</a>`", WORDS.repeat(5));
    let pages = Pages::new()
        .html("/", format!("{WORDS}<a href=/route/1>1</a><a href=/moved>2</a><a href=/gone>3</a>"))
        .reply("/app.js", script(app))
        .reply("/route/1", missing(shell))
        .reply("/route/2", missing(shell))
        .reply("/moved", missing("<script>location.replace('/?' + location.pathname)</script>"))
        .reply("/gone", missing(&format!("<p>Not found. {WORDS}<script>1</script>")));
    let web = Web::new().site("app.test", pages);
    let crawled = Crawled::of(web, "http://app.test/", &["--render", "auto", "--render-time", "60s"]);
    let rows = crawled.rows();
    let row = |path: &str| (rows[path]["outcome"].as_str().unwrap_or_default(), rows[path]["status"].as_u64());
    assert_eq!((row("/route/1"), row("/route/2")), (("html", Some(404)), ("html", Some(404))));
    assert_eq!((row("/moved").0, row("/gone").0), ("redirect", "http_error"));
    let reason = rows["/gone"]["reason"].as_str().unwrap_or_default();
    assert!(!reason.contains("rendered"), "{reason}");
}

/// The headings of a page lead to themselves once scripts ran: it is rendered for nothing.
#[test]
fn links_of_a_page_to_itself_are_no_gain() {
    let words = WORDS.repeat(5);
    let anchors = "<template></template><script>for (const n of [1, 2, 3]) document.body.innerHTML += `<a href=#h${n}>#</a><a href=/>home</a>`</script>";
    let page = format!("<body>{words}<a href=/>home</a>{anchors}");
    let links: String = (0..10).map(|n| format!("<a href=/item{n}.html>{n}</a>")).collect();
    let pages = (0..10).fold(Pages::new(), |pages, n| pages.html(format!("/item{n}.html"), page.clone()));
    let web = Web::new().site("app.test", pages.html("/", format!("{words}{links}")));
    let crawled = Crawled::of(
        web,
        "http://app.test/",
        &["--render", "auto", "--render-time", "60s", "--render-tabs", "1", "--concurrency", "1"],
    );
    let rows = crawled.rows();
    let reasons: Vec<&str> =
        rows.values().filter_map(|row| row["reason"].as_str()).filter(|reason| !reason.is_empty()).collect();
    assert_eq!(reasons.len(), 3, "only the sample: {reasons:?}");
    assert!(reasons.iter().all(|reason| reason.contains("0 links")), "{reasons:?}");
}

#[test]
fn what_cannot_be_shown_is_counted_too() {
    let hangs = "<title>Hangs</title><script>while (true) {}</script>";
    let web = Web::new().site("app.test", Pages::new().html("/", hangs));
    let crawled = Crawled::of(web, "http://app.test/", &["--render", "auto", "--render-time", "10s"]);
    let report = crawled.run("report", &["--json"]).json();
    let expect = serde_json::json!([
        {"evidence": "nothing but scripts", "pages": 1, "failed": 1, "links": 0, "text_chars": 0},
    ]);
    assert_eq!(report["rendering"], expect);
}

/// Scripts of the user's that fail or do not end, clicks and pictures beyond their limits: the summary and the report count the pages.
#[test]
fn what_was_not_done_on_pages_is_in_the_summary_and_the_report() {
    let dir = tempfile::tempdir().expect("a directory");
    let file = |name: &str, script: &str| {
        let path = dir.path().join(name);
        fs::write(&path, script).expect("a file");
        path.display().to_string()
    };
    let throws = file("throws.js", "if (location.pathname === '/throws') throw new Error('no such element')");
    let endless = file("endless.js", "if (location.pathname === '/endless') await new Promise(() => {})");
    let buttons =
        "<button onclick='document.body.append(1)'>a</button><button onclick='document.body.append(2)'>b</button>";
    let pages = Pages::new()
        .html("/", format!("{WORDS}<a href=/throws>1</a><a href=/endless>2</a><a href=/clicks>3</a>"))
        .html("/throws", WORDS)
        .html("/endless", WORDS)
        .html("/clicks", format!("{WORDS}{buttons}<p style='height: 5000px'>"));
    let arguments = ["--render", "always", "--behaviour", &throws, "--behaviour", &endless, "--render-clicks", "1"];
    let pictures = ["--screenshots", "full-page", "--max-screenshot-pixels", "2000000", "--render-time", "60s"];
    let crawled =
        Crawled::of(Web::new().site("app.test", pages), "http://app.test/", &[&arguments[..], &pictures].concat());
    let expect = serde_json::json!({"actions": 1, "behaviours": 2, "pictures": 1});
    let status = crawled.run("status", &["--json"]).json();
    assert_eq!(status["limits"], expect, "{status}");
    let shown = crawled.run("status", &[]).stdout;
    assert!(shown.contains("behaviours") && shown.contains("limit: pages on which a --behaviour failed"), "{shown}");
    let report = crawled.run("report", &["--json"]).json();
    let limits = report["limits"]["rows"].as_array().cloned().unwrap_or_default();
    let counts: serde_json::Map<String, serde_json::Value> = limits
        .iter()
        .map(|row| (row["name"].as_str().unwrap_or_default().to_owned(), row["all_sites"].clone()))
        .collect();
    assert_eq!(serde_json::Value::from(counts), expect, "{report}");
    let rows = crawled.rows();
    let reason = rows["/endless"]["reason"].as_str().unwrap_or_default();
    assert!(reason.contains("behaviour endless.js: did not end within"), "{reason}");
}

#[test]
fn pictures_and_print_are_kept_in_the_archive_and_come_back_from_pywb() {
    let arguments = [
        "--render",
        "always",
        "--screenshots",
        "view,full-page,thumbnail",
        "--pdf",
        "--viewport",
        "700x500",
        "--max-pages",
        "1",
    ];
    let crawled = Crawled::of(web(), "http://app.test/", &arguments);
    let list = "import sys, glob; from warcio.archiveiterator import ArchiveIterator\n\
                for path in glob.glob(sys.argv[1] + '/archive/*.warc.gz'):\n \
                for record in ArchiveIterator(open(path, 'rb')):\n  \
                if record.rec_type == 'resource':\n   \
                print(record.rec_headers.get_header('WARC-Target-URI'), record.rec_headers.get_header('Content-Type'),\n    \
                record.content_stream().read()[:4])";
    let printed = script(&["warcio"], list, &[&crawled.dir()]);
    let kinds = [
        ("view", "image/png", r"b'\x89PNG'"),
        ("fullPage", "image/png", r"b'\x89PNG'"),
        ("thumbnail", "image/jpeg", r"b'\xff\xd8\xff\xe0'"),
        ("pdf", "application/pdf", "b'%PDF'"),
    ];
    for (kind, media_type, begin) in kinds {
        assert!(printed.contains(&format!("urn:{kind}:http://app.test/ {media_type} {begin}\n")), "{printed}");
    }
    assert_eq!(crawled.run("check", &[]).code, 0);
    assert_eq!(crawled.run("derive", &["--all"]).code, 0);
    for format in ["cdxj", "wacz"] {
        let target = format!("{}.{format}", crawled.dir());
        let exported = crawled.run("export", &[format, "-o", &target]);
        assert_eq!(exported.code, 0, "{exported:?}");
    }
    let cdxj = fs::read_to_string(format!("{}.cdxj", crawled.dir())).expect("an index");
    let filtered = crawled.run("export", &["cdxj", "--site", "app.test"]).stdout;
    for (kind, ..) in kinds {
        let urn = format!("urn:{kind}:http://app.test/");
        assert!(cdxj.contains(&urn) && filtered.contains(&urn), "{urn}: {cdxj} {filtered}");
    }
    let dir = tempfile::tempdir().expect("a directory");
    let pywb = Pywb::serve(dir.path(), Path::new(&format!("{}.wacz", crawled.dir())));
    for (kind, media_type, _) in kinds {
        let (status, head, body) = get(pywb.port, &format!("/it/2030id_/urn:{kind}:http://app.test/"));
        assert_eq!(status, "200", "{kind}: {head}");
        assert!(head.contains(&format!("content-type: {media_type}")), "{kind}: {head}");
        assert!(body.len() > 500, "{kind}: {} bytes", body.len());
    }
    let ran = crawled.run("export", &["warc", "--since", "9999-01-01", "-o", &format!("{}.warc.gz", crawled.dir())]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let other = fs::read(format!("{}.warc.gz", crawled.dir())).expect("a copy");
    assert!(other.len() < 5_000, "no page, and no picture of one: {} bytes", other.len());
}

#[test]
fn a_page_gets_nothing_private_no_files_and_nothing_excluded() {
    // Whatever connects here is one connection too many.
    let private = TcpListener::bind("127.0.0.1:0").expect("a free port");
    private.set_nonblocking(true).expect("a socket");
    let port = private.local_addr().expect("an address").port();
    let secret = std::env::temp_dir().join("argiope-secret-of-a-test.txt");
    fs::write(&secret, "the secret of the file").expect("a file");
    let asks = format!(
        "<p id=out>{WORDS}</p><script>\
         const say = text => document.body.append(' got:' + text);\
         for (const url of ['http://127.0.0.1:{port}/', 'http://localhost:{port}/', 'http://[::1]:{port}/', \
         'file://{file}', 'http://cdn.test/excluded.txt', 'ftp://127.0.0.1:{port}/'])\
           fetch(url).then(answer => answer.text()).then(say, () => 0);\
         new WebSocket('ws://127.0.0.1:{port}/');\
         for (const src of ['http://127.0.0.1:{port}/frame', 'file://{file}'])\
           {{ const frame = document.createElement('iframe'); frame.src = src; document.body.append(frame); }}\
         fetch('/own.txt').then(answer => answer.text()).then(say);\
         </script>",
        file = secret.display()
    );
    let own = || Pages::new().html("/", asks.clone()).text("/own.txt", "what is its own");
    let excluded = || Reply::new(200).header("Access-Control-Allow-Origin", "*").body("excluded");
    let web = || Web::new().site("app.test", own()).site("cdn.test", Pages::new().reply("/excluded.txt", excluded()));
    let crawl = |more: &[&str]| Crawled::by_proxy(web(), "http://app.test/", &[&["--render", "always"], more].concat());
    let asked = |crawled: &Crawled, host: &str| crawled.asked.keys().any(|asked| asked.contains(host));
    let found = |crawled: &Crawled, text: &str| crawled.run("search", &[text, "--json"]).json()["pages"].as_u64();

    let free = crawl(&["--deny-private=never"]);
    assert!(asked(&free, "127.0.0.1") && asked(&free, "[::1]") && asked(&free, "cdn.test"), "{:?}", free.asked);
    let bound = crawl(&["--exclude", "*cdn.test*"]);
    assert!(!asked(&bound, "127.0.0.1") && !asked(&bound, "[::1]") && !asked(&bound, "cdn.test"), "{:?}", bound.asked);
    assert_eq!((found(&free, "got:excluded"), found(&bound, "got:excluded")), (Some(1), Some(0)));
    for crawled in [free, bound] {
        assert_eq!(found(&crawled, "got:what is its own"), Some(1), "{:?}", crawled.asked);
        assert_eq!(found(&crawled, "the secret of the file"), Some(0));
    }
    let _ = fs::remove_file(&secret);
    assert!(private.accept().is_err(), "the browser connected by itself");
}

#[test]
fn the_delay_of_a_site_counts_from_the_end_of_what_a_page_asks_for() {
    const DELAY_US: u64 = 300_000;
    let asks = "<a href=/1>1</a><a href=/2>2</a><script src=/late.js></script>";
    let late = "setTimeout(() => fetch('/data' + location.pathname).then(answer => answer.text()), 3000)";
    let page = |path: &str| format!("{WORDS}<title>{path}</title>{asks}");
    let pages = Pages::new()
        .html("/", page("/"))
        .html("/1", page("/1"))
        .html("/2", page("/2"))
        .reply("/late.js", Reply::new(200).header("Content-Type", "text/javascript").body(late))
        .text("/data/", "0")
        .text("/data/1", "1")
        .text("/data/2", "2");
    let web = Web::new().site("app.test", pages);
    let crawled = Crawled::of(web, "http://app.test/", &["--render", "always", "--delay", "300ms"]);
    let targets: Vec<&str> = crawled.log.iter().map(|entry| entry.target.as_str()).collect();
    assert_eq!(targets[0], "/robots.txt");
    assert!(targets.contains(&"/data/1") && targets.contains(&"/data/2"), "{targets:?}");
    let (mut ended, mut pages) = (None, 0);
    for entry in &crawled.log[1..] {
        if ["/", "/1", "/2"].contains(&entry.target.as_str()) {
            let gap = ended.map(|ended| entry.start_us - ended);
            assert!(gap.is_none_or(|gap| gap >= DELAY_US), "{} after {gap:?} microseconds: {targets:?}", entry.target);
            pages += 1;
        }
        ended = ended.max(entry.end_us);
    }
    assert_eq!(pages, 3);
}
