//! `--requisites`: what belongs to a page and what does not, budgets, limits, interruptions. That the files come back from the archive is
//! tested in `export/requisites.rs`.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use model::{Limit, Outcome, Purpose};
use store::Entry;
use testweb::{Pages, Reply, Request, Web, from_fn, furnished};

use crate::crawl::{Crawl, Found, serve};

fn requisites(found: &Found) -> BTreeMap<&str, &Entry> {
    let others = found.sitemaps.iter().map(|(url, entry)| (url.as_str(), entry));
    others.filter(|(_, entry)| entry.candidate.purpose == Purpose::Requisite).collect()
}

fn outcome(entry: &Entry) -> Option<Outcome> {
    entry.visit.as_ref().map(|visit| visit.outcome)
}

#[tokio::test(flavor = "multi_thread")]
async fn what_pages_need_is_recorded_as_such_and_counts_for_no_budget_of_pages() {
    let server = serve(furnished::web()).await;
    let crawl = Crawl::of(&server, &["http://furnished.test/"]).at_once().with(&["--requisites"]);
    crawl.again(&["--max-pages", "1"]).run().await;
    let found = crawl.found();
    let of_first: Vec<String> = furnished::files().into_iter().map(|file| file.url).collect();
    let requisites = requisites(&found);
    for url in of_first.iter().filter(|url| !url.ends_with("/favicon.ico")) {
        let entry = requisites.get(url.as_str()).unwrap_or_else(|| panic!("{url} is missing: {}", crawl.said()));
        assert_eq!(outcome(entry).map(Outcome::is_fetched), Some(true), "{url}");
        let page = found.pages["http://furnished.test/"].candidate.url.key();
        assert_eq!(entry.candidate.found_on, Some(page), "{url}");
    }
    let fetched = found.pages.values().filter(|entry| outcome(entry).is_some_and(Outcome::is_fetched));
    assert_eq!(fetched.count(), 1, "{}", crawl.said());
    assert!(crawl.said().contains("max-pages reached"), "{}", crawl.said());

    let before = server.requests();
    crawl.again(&["--unset", "max-pages"]).run().await;
    let paths: Vec<String> =
        server.log().into_iter().skip(usize::try_from(before).expect("few")).map(|entry| entry.target).collect();
    assert!(!paths.iter().any(|path| path.ends_with(".png") || path.ends_with(".css")), "once: {paths:?}");
    assert!(paths.contains(&"/favicon.ico".to_owned()), "that of the page without an icon: {paths:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_url_that_is_a_page_too_is_a_page() {
    let image = |bytes: &'static [u8]| Reply::new(200).header("Content-Type", "image/png").body(bytes);
    let site = Pages::new()
        .html("/", "<link rel=icon href=data:,><a href=/a>a</a><img src=/late.png><iframe src=/framed></iframe>")
        .html(
            "/a",
            "<link rel=icon href=data:,><a href=/late.png>x</a><a href=http://other.test/i.png>x</a><a href=/b>b</a>",
        )
        .html("/b", "<link rel=icon href=data:,><img src=http://other.test/i.png><img src=/late.png>")
        .html("/framed", "<link rel=icon href=data:,><a href=/behind>x</a>")
        .html("/behind", "<link rel=icon href=data:,>")
        .reply("/late.png", image(b"\x89PNG late"));
    let other = Pages::new().reply("/i.png", image(b"\x89PNG"));
    let server = serve(Web::new().site("a.test", site).site("other.test", other)).await;
    let crawl = Crawl::of(&server, &["http://a.test/"]).at_once().with(&["--requisites"]);
    crawl.run().await;
    let found = crawl.found();
    for path in ["/", "/a", "/b", "/framed", "/behind", "/late.png"] {
        let visit = found.visit(&format!("http://a.test{path}"));
        assert!(visit.outcome.is_fetched(), "{path}: {visit:?}");
    }
    let requisites = requisites(&found);
    let urls: Vec<&str> = requisites.keys().copied().collect();
    assert_eq!(urls, ["http://other.test/i.png"], "a link to it is out of scope, an image is not");
    assert_eq!(outcome(requisites["http://other.test/i.png"]), Some(Outcome::Binary));
}

#[tokio::test(flavor = "multi_thread")]
async fn modules_behind_a_prefix_of_an_import_map_are_fetched() {
    let script = |text: &'static str| Reply::new(200).header("Content-Type", "text/javascript").body(text);
    let map = r#"{"imports": {"three": "/v/three.js", "three/addons/": "/v/jsm/"}}"#;
    let page = format!(
        "<link rel=icon href=data:,><script type=importmap>{map}</script><script type=module src=/app.js></script>\
         <script type=module>import 'three/addons/inline.js'</script>"
    );
    let site = Pages::new()
        .html("/", page)
        .reply("/app.js", script("import 'three'; import { O } from 'three/addons/controls/O.js'"))
        .reply("/v/three.js", script(""))
        .reply("/v/jsm/inline.js", script(""))
        .reply("/v/jsm/controls/O.js", script("import 'three/addons/math/M.js'"))
        .reply("/v/jsm/math/M.js", script(""));
    let server = serve(Web::new().site("a.test", site)).await;
    let crawl = Crawl::of(&server, &["http://a.test/"]).at_once().with(&["--requisites"]);
    crawl.run().await;
    let found = crawl.found();
    let fetched: Vec<_> = requisites(&found).into_iter().map(|(url, entry)| (url, outcome(entry))).collect();
    let modules = ["/app.js", "/v/jsm/controls/O.js", "/v/jsm/inline.js", "/v/jsm/math/M.js", "/v/three.js"];
    let expected = modules.map(|path| format!("http://a.test{path}"));
    assert_eq!(fetched, expected.each_ref().map(|url| (url.as_str(), Some(Outcome::Binary))));
}

#[tokio::test(flavor = "multi_thread")]
async fn files_are_requested_as_browsers_request_them() {
    /// Answers a navigation with a page about the image, and others only where some page shows it.
    fn host(request: &Request) -> Reply {
        match (request.header("accept"), request.header("referer")) {
            (Some(accept), _) if accept.contains("text/html") => Reply::html("<img src=/viewed.png>"),
            (_, Some("http://a.test/")) => Reply::new(200).header("Content-Type", "image/png").body("\x7fPNG"),
            _ => Reply::new(403),
        }
    }
    let image = "<link rel=icon href=data:,><img src=http://images.test";
    let site = Pages::new().html("/", format!("{image}/a.png><iframe src=http://frames.test/></iframe>"));
    let silent = Pages::new().html("/", format!("<meta name=referrer content=no-referrer>{image}/c.png>"));
    let framed = from_fn(|request: &Request| {
        let is_page = request.header("accept").is_some_and(|accept| accept.starts_with("text/html"));
        Reply::html(if is_page { "<img src=/in-frame.png>" } else { "no" })
    });
    let web = Web::new().site("a.test", site).site("b.test", silent).site("images.test", from_fn(host));
    let server = serve(web.site("frames.test", framed)).await;
    let crawl = Crawl::of(&server, &["http://a.test/", "http://b.test/"]).at_once().with(&["--requisites"]);
    crawl.run().await;
    let found = crawl.found();
    let requisites = requisites(&found);
    let status = |url: &str| requisites.get(url).and_then(|entry| entry.visit.as_ref()).map(|visit| visit.status);
    assert_eq!(status("http://images.test/a.png"), Some(200), "{requisites:?}");
    assert_eq!(status("http://images.test/c.png"), Some(403), "its page may not be named");
    assert!(
        requisites.contains_key("http://frames.test/in-frame.png"),
        "a frame is requested as a page: {requisites:?}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_in_xml_are_read_as_xml() {
    let page = |n: u8, prolog: &str, head: &str| {
        let (begin, end) = (r#"<html xmlns="http://www.w3.org/1999/xhtml"><head>"#, "</body></html>");
        let body =
            format!(r#"<link rel="icon" href="data:,"/></head><body><img src="/{n}.png"/><a href="/next{n}">x</a>"#);
        let text = format!(r#"<?xml version="1.0"?>{prolog}{begin}{head}{body}{end}"#);
        Reply::new(200).header("Content-Type", "application/xhtml+xml").body(text)
    };
    let site = Pages::new()
        .html("/", "<link rel=icon href=data:,><a href=/1>1</a><a href=/2>2</a><a href=/3>3</a><a href=/4>4</a>")
        .reply("/1", page(1, r#"<?xml-stylesheet href="/xs.css" type="text/css"?>"#, "<title>x</title>"))
        .reply("/2", page(2, "", r#"<title>x</title><script src="/sc.js"/>"#))
        .reply("/3", page(3, "", r#"<style><![CDATA[ @import "/cdata.css"; ]]></style><title/>"#))
        .reply("/4", page(4, "", "<style/><textarea/>"));
    let server = serve(Web::new().site("a.test", site)).await;
    let crawl = Crawl::of(&server, &["http://a.test/"]).at_once().with(&["--requisites"]);
    crawl.run().await;
    let found = crawl.found();
    let all = requisites(&found);
    let urls: Vec<&str> = all.keys().filter_map(|url| url.strip_prefix("http://a.test")).collect();
    assert_eq!(urls, ["/1.png", "/2.png", "/3.png", "/4.png", "/cdata.css", "/sc.js", "/xs.css"]);
    for n in 1..=4 {
        assert!(found.pages.contains_key(&format!("http://a.test/next{n}")), "{n}: {:?}", found.pages.keys());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn heads_and_style_sheets_of_xml_name_requisites_too() {
    let xslt = r#"<xsl:stylesheet xmlns:xsl="http://www.w3.org/1999/XSL/Transform"><xsl:import href="b.xsl"/></xsl:stylesheet>"#;
    let typed = |content_type: &'static str| Reply::new(200).header("Content-Type", content_type);
    let feed = r#"<?xml version="1.0"?><?xml-stylesheet type="text/xsl" href="/a.xsl"?><rss><channel/></rss>"#;
    let page = "<link rel=icon href=data:,><svg><rect mask='url(/mask.svg#m)'/></svg><a href=/feed.xml>feed</a>";
    let site = Pages::new()
        .reply("/", typed("text/html").header("Link", "</h.css>; rel=stylesheet, </n>; rel=next").body(page))
        .reply("/h.css", typed("text/css").body("@import '/i.css'"))
        .reply("/feed.xml", typed("application/rss+xml").body(feed))
        .reply("/a.xsl", typed("text/xsl").body(xslt));
    let server = serve(Web::new().site("a.test", site)).await;
    let crawl = Crawl::of(&server, &["http://a.test/"]).at_once().with(&["--requisites"]);
    crawl.run().await;
    let found = crawl.found();
    let all = requisites(&found);
    let urls: Vec<&str> = all.keys().filter_map(|url| url.strip_prefix("http://a.test")).collect();
    assert_eq!(urls, ["/a.xsl", "/b.xsl", "/h.css", "/i.css", "/mask.svg"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn rules_and_limits_hold_for_requisites() {
    let images: String = (0..8).map(|n| format!("<img src=/{n}.png>")).collect();
    let site = Pages::new()
        .html("/", format!("<link rel=icon href=data:,><link rel=stylesheet href=/s.css>{images}"))
        .html("/kept", "<link rel=icon href=data:,>")
        .reply(
            "/s.css",
            Reply::new(200).header("Content-Type", "text/css").body("@import url(t.css); @import 'u.css';"),
        );
    let site = (0..8).fold(site, |site, n| {
        site.reply(format!("/{n}.png"), Reply::new(200).header("Content-Type", "image/png").body(vec![n; 1_000]))
    });
    let site = site.text("/robots.txt", "User-agent: *\nDisallow: /1.png\n");
    let server = serve(Web::new().site("a.test", site)).await;

    let few = ["--requisites", "--max-requisites-per-page", "9", "--exclude", "*/2.png"];
    let crawl = Crawl::of(&server, &["http://a.test/"]).at_once().with(&few);
    crawl.run().await;
    let found = crawl.found();
    let of =
        |path: &str| requisites(&found).get(format!("http://a.test{path}").as_str()).and_then(|entry| outcome(entry));
    assert_eq!((of("/1.png"), of("/2.png")), (Some(Outcome::Disallowed), Some(Outcome::Excluded)));
    assert_eq!((of("/s.css"), of("/t.css"), of("/u.css")), (Some(Outcome::Binary), None, None), "9 are taken");
    let style = requisites(&found)["http://a.test/s.css"].visit.clone().expect("visited");
    assert!(style.limits.contains(Limit::Requisites));
    assert!(crawl.said().contains("--max-requisites-per-page"), "{}", crawl.said());

    let light = ["--requisites", "--max-requisite-bytes-per-page", "2500B"];
    let crawl = Crawl::of(&server, &["http://a.test/"]).at_once().with(&light);
    crawl.run().await;
    let found = crawl.found();
    let given_up = requisites(&found).values().filter(|entry| outcome(entry) == Some(Outcome::GivenUp)).count();
    let fetched = requisites(&found).values().filter(|entry| outcome(entry).is_some_and(Outcome::is_fetched)).count();
    assert!(given_up > 0 && (3..=4).contains(&fetched), "{given_up} {fetched}");
    assert!(crawl.said().contains("--max-requisite-bytes-per-page"), "{}", crawl.said());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_crawl_that_is_killed_goes_on_with_what_its_pages_need() {
    let server = serve(furnished::web()).await;
    let crawl = Crawl::of(&server, &["http://furnished.test/"]).with(&[
        "--delay",
        "100ms",
        "--ip-delay",
        "0",
        "--patience",
        "0",
        "--requisites",
    ]);
    for requests in [5, 12, 20] {
        let running = crawl.begin();
        let come = async {
            while server.requests() < requests {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        };
        tokio::time::timeout(Duration::from_secs(120), come).await.expect("requests");
        running.kill().await;
    }
    crawl.run().await;
    let found = crawl.found();
    let known = requisites(&found);
    let mut asked: BTreeMap<String, usize> = BTreeMap::new();
    for entry in server.log() {
        *asked.entry(format!("http://{}{}", entry.host, entry.target)).or_default() += 1;
    }
    for furnished::File { url, .. } in furnished::files() {
        assert_eq!(
            known.get(url.as_str()).and_then(|entry| outcome(entry)).map(Outcome::is_fetched),
            Some(true),
            "{url}"
        );
    }
    // What was in flight at a kill is requested again, one URL of each site.
    let again: usize = furnished::files().iter().map(|file| asked[&file.url] - 1).sum();
    assert!(again <= 2 * 3 * 2, "{asked:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn html_in_place_of_a_file_leads_nowhere() {
    // As servers do that answer every missing file with their application.
    let soft = "<link rel=stylesheet href=css/main.css><link rel=icon href=img/i.png><script src=js/main.js></script>
        <img src=img/logo.png><iframe src=frame/></iframe>Page not found";
    let page = "<link rel=icon href=data:,><link rel=stylesheet href=/missing.css><script src=/missing.js></script>
        <img src=/missing.png><iframe src=http://frames.test/f></iframe><object data=http://frames.test/moved></object>";
    let site = from_fn(move |request| match request.target.as_str() {
        "/robots.txt" => Reply::new(404),
        "/" => Reply::html(page),
        _ => Reply::html(soft),
    });
    let frames = Pages::new()
        .html("/f", "<link rel=icon href=data:,><img src=in-frame.png>")
        .reply("/moved", Reply::redirect(302, "/object"))
        .html("/object", "<link rel=icon href=data:,><img src=in-object.png>");
    let server = serve(Web::new().site("a.test", site).site("frames.test", frames)).await;
    let crawl = Crawl::of(&server, &["http://a.test/"]).at_once().with(&["--requisites", "--no-sitemaps"]);
    crawl.run().await;
    let found = crawl.found();
    let urls: Vec<&str> = requisites(&found).into_keys().collect();
    let expect = ["http://a.test/missing.css", "http://a.test/missing.js", "http://a.test/missing.png"];
    let in_frames =
        ["f", "in-frame.png", "in-object.png", "moved", "object"].map(|path| format!("http://frames.test/{path}"));
    assert_eq!(urls, expect.into_iter().chain(in_frames.iter().map(String::as_str)).collect::<Vec<_>>());
    assert_eq!(outcome(requisites(&found)[expect[0]]), Some(Outcome::Binary));
}

#[tokio::test(flavor = "multi_thread")]
async fn sitemaps_are_read_of_sites_with_pages_only() {
    let page =
        |body: &str| format!("<link rel=icon href=data:,><link rel=stylesheet href=http://cdn.test/s.css>{body}");
    let home = Pages::new()
        .html("/", page("<a href=/second>x</a>"))
        .html("/second", page("<a href=http://cdn.test/page>x</a>"));
    let cdn = Pages::new()
        .text("/robots.txt", "Sitemap: http://cdn.test/list.xml\n")
        .reply("/s.css", Reply::new(200).header("Content-Type", "text/css").body("a {}"))
        .reply("/list.xml", Reply::new(200).header("Content-Type", "text/plain").body("http://cdn.test/listed\n"))
        .html("/page", page(""))
        .html("/listed", page(""));
    let server = serve(Web::new().site("home.test", home).site("cdn.test", cdn)).await;
    for (scope, expect) in [("site", 0), ("any", 1)] {
        let before = usize::try_from(server.requests()).expect("few");
        let crawl = Crawl::of(&server, &["http://home.test/"]).at_once().with(&["--requisites", "--scope", scope]);
        crawl.run().await;
        let asked = |path: &str| {
            let log = server.log();
            log[before..].iter().filter(|entry| entry.host == "cdn.test" && entry.target == path).count()
        };
        assert_eq!((asked("/robots.txt"), asked("/s.css")), (1, 1), "{scope}");
        assert_eq!((asked("/list.xml"), asked("/listed"), asked("/page")), (expect, expect, expect), "{scope}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_limit_of_a_page_counts_each_file_once() {
    let sheets: String = (0..5).map(|n| format!("<link rel=stylesheet href=/{n}.css>")).collect();
    let site = Pages::new().html("/", format!("<link rel=icon href=data:,>{sheets}"));
    let sheet = |n: usize| {
        let shared: String = (0..4).map(|n| format!("p {{ background: url(shared-{n}.png) }}")).collect();
        let body = format!("{shared} q {{ background: url(own-{n}.png) }}");
        Reply::new(200).header("Content-Type", "text/css").body(body)
    };
    let site = (0..5).fold(site, |site, n| site.reply(format!("/{n}.css"), sheet(n)));
    let server = serve(Web::new().site("a.test", site)).await;
    // 5 style sheets, 4 images that all of them need, 5 of their own.
    for (max, is_cut) in [("14", false), ("13", true)] {
        let limit = ["--requisites", "--max-requisites-per-page", max];
        let crawl = Crawl::of(&server, &["http://a.test/"]).at_once().with(&limit);
        crawl.run().await;
        assert_eq!(requisites(&crawl.found()).len().to_string(), max);
        assert_eq!(crawl.said().contains("--max-requisites-per-page"), is_cut, "{}", crawl.said());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn style_sheets_are_read_in_their_encoding_and_without_a_media_type() {
    let names = ["by-header", "by-rule", "by-mark", "without-type"];
    let sheets: String = names.iter().map(|name| format!("<link rel=stylesheet href=/{name}>")).collect();
    let page = format!("<link rel=icon href=data:,>{sheets}<img src=/no-sheet>");
    let cyrillic = |text: &str| [text.as_bytes(), b"a { background: url(/\xf6\xf1.png) }"].concat();
    let wide: Vec<u8> = "\u{feff}@import '/wide.css';".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let css = |kind: &'static str, body: Vec<u8>| Reply::new(200).header("Content-Type", kind).body(body);
    let site = Pages::new()
        .html("/", page)
        .reply("/by-header", css("text/css; charset=windows-1251", cyrillic("")))
        .reply("/by-rule", css("text/css", cyrillic("@charset \"windows-1251\"; @import '/ruled.css';")))
        .reply("/by-mark", css("text/css", wide))
        .reply("/without-type", Reply::new(200).body("a { background: url(/bare.png) }"))
        .reply("/no-sheet", Reply::new(200).body("a { background: url(/no.png) }"));
    let server = serve(Web::new().site("a.test", site)).await;
    let crawl = Crawl::of(&server, &["http://a.test/"]).at_once().with(&["--requisites"]);
    crawl.run().await;
    let found = crawl.found();
    let paths: Vec<&str> =
        requisites(&found).into_keys().filter_map(|url| url.strip_prefix("http://a.test/")).collect();
    let expect = [
        "%D1%86%D1%81.png",
        "bare.png",
        "by-header",
        "by-mark",
        "by-rule",
        "no-sheet",
        "ruled.css",
        "wide.css",
        "without-type",
    ];
    assert_eq!(paths, expect);
}

#[tokio::test(flavor = "multi_thread")]
async fn files_to_which_links_lead_are_fetched_beyond_the_limit_of_pages() {
    let file = |kind: &'static str, body: &'static str| Reply::new(200).header("Content-Type", kind).body(body);
    let site = Pages::new()
        .html(
            "/",
            "<link rel=icon href=data:,><a href=/x.png><img src=/x.png></a><a href=/second>x</a>
                <link rel=stylesheet href=/s.css><a href=/s.css>x</a><a href=/b.png>x</a><a href=/doc>x</a>",
        )
        .html("/second", "<link rel=icon href=data:,><img src=/y.png><a href=/y.png>x</a>")
        .reply("/x.png", file("image/png", "x"))
        .reply("/y.png", file("image/png", "y"))
        .reply("/s.css", file("text/css", "a { background: url(/b.png) }"))
        .reply("/b.png", file("image/png", "b"))
        .reply("/doc", file("application/pdf", "%PDF-1.4"));
    let server = serve(Web::new().site("a.test", site)).await;
    for limit in ["--max-pages", "--max-pages-per-site"] {
        let before = usize::try_from(server.requests()).expect("few");
        let asked = |path: &str| server.log()[before..].iter().filter(|entry| entry.target == path).count();
        let crawl = Crawl::of(&server, &["http://a.test/"]).at_once().with(&["--requisites"]);
        crawl.again(&[limit, "1"]).run().await;
        for path in ["/", "/x.png", "/s.css", "/b.png"] {
            assert_eq!(asked(path), 1, "{limit}: {path} {}", crawl.said());
        }
        assert_eq!(asked("/second") + asked("/doc"), 0, "{limit}: {}", crawl.said());
        crawl.again(&["--unset", &limit[2..]]).run().await;
        for path in ["/", "/x.png", "/s.css", "/b.png", "/second", "/doc", "/y.png"] {
            assert_eq!(asked(path), 1, "{limit}: {path} {}", crawl.said());
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn redirects_that_always_lead_elsewhere_are_as_many_in_each_round() {
    let asked = Arc::new(AtomicUsize::new(0));
    let site = from_fn(move |request| match request.path() {
        "/" => Reply::html("<link rel=icon href=data:,><img src=/picture>"),
        "/picture" => Reply::redirect(302, format!("/picture?{}", asked.fetch_add(1, Ordering::Relaxed))),
        target => Reply::error(404, target),
    });
    let server = serve(Web::new().site("a.test", site)).await;
    let crawl = Crawl::of(&server, &["http://a.test/"]).at_once().with(&["--requisites"]);
    let pictures = || server.log().iter().filter(|entry| entry.target.starts_with("/picture")).count();
    crawl.run().await;
    let first = pictures();
    for round in 2..=4 {
        crawl.again(&["--again"]).run().await;
        assert_eq!(pictures(), round * first, "round {round}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn error_pages_and_xml_have_their_style_sheets() {
    let xml = |media: &'static str, sheet: &str| {
        let body = format!("<?xml version='1.0'?><?xml-stylesheet type='text/css' href='{sheet}'?><svg/>");
        Reply::new(200).header("Content-Type", media).body(body)
    };
    let site = Pages::new()
        .html("/", "<link rel=icon href=data:,><a href=/gone>x</a><a href=/list.xml>x</a><img src=/image.svg>")
        .reply(
            "/gone",
            Reply::new(404)
                .header("Content-Type", "text/html")
                .body("<link rel=icon href=data:,><link rel=stylesheet href=/error.css><a href=/not-followed>x</a>"),
        )
        .reply("/list.xml", xml("application/xml", "/list.css"))
        .reply("/image.svg", xml("image/svg+xml", "/image.css"));
    let sheet = || Reply::new(200).header("Content-Type", "text/css").body("a {}");
    let site = ["/error.css", "/list.css", "/image.css"].into_iter().fold(site, |site, path| site.reply(path, sheet()));
    let server = serve(Web::new().site("a.test", site)).await;
    let crawl = Crawl::of(&server, &["http://a.test/"]).at_once().with(&["--requisites", "--no-sitemaps"]);
    crawl.run().await;
    let found = crawl.found();
    let urls: Vec<&str> = requisites(&found).into_keys().collect();
    let expect = ["error.css", "image.css", "image.svg", "list.css"].map(|path| format!("http://a.test/{path}"));
    assert_eq!(urls, expect, "{}", crawl.said());
    assert!(!found.pages.contains_key("http://a.test/not-followed"), "{}", crawl.said());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_crawl_that_gets_requisites_later_tells_of_the_pages_before() {
    let server = serve(furnished::web()).await;
    let crawl = Crawl::of(&server, &["http://furnished.test/"]).at_once();
    crawl.run().await;
    const TELLS: &str = "pages that were fetched before get theirs when they are visited again (--again)";
    for run in ["the first run with them", "the next"] {
        crawl.again(&["--requisites"]).run().await;
        assert_eq!(crawl.said().matches(TELLS).count(), 1, "{run}: {}", crawl.said());
    }
}
