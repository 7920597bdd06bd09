//! Crawls behind a login: which server gets which cookie, that they last, and that nothing the crawl writes has one.

use std::os::unix::fs::PermissionsExt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use testweb::{Heard, Pages, Reply, Request, Server, Site, Web, from_fn};

use crate::crawl::{Crawl, serve};
use crate::secrets::{argiope, holding};

/// What no file, message or record may have.
const SECRET: &str = "S3CRET";

/// The value of a cookie in a request.
fn cookie<'r>(request: &'r Request, name: &str) -> Option<&'r str> {
    let pairs = request.header("cookie")?.split("; ").filter_map(|pair| pair.split_once('='));
    pairs.filter(|(of, _)| *of == name).map(|(_, value)| value).next()
}

/// A file that only its owner reads, beside the crawl's directory.
fn secret_file(crawl: &Crawl, name: &str, content: &str) -> String {
    let path = crawl.file(name, content);
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o600)).expect("set");
    path
}

/// A site that shows its pages to those alone who bear `consent` and `session`. Its front page sets a third cookie, without which there is no
/// other page.
fn walled(pages: Pages) -> impl Site {
    from_fn(move |request: &Request| {
        let has_session = cookie(request, "session") == Some("S3CRET-A") && cookie(request, "consent") == Some("yes");
        match request.target.as_str() {
            "/robots.txt" => Reply::text(""),
            _ if !has_session => Reply::html("<p>Accept our cookies <a href=/accept>here</a>"),
            "/" => Site::reply(&pages, request).header("Set-Cookie", "seen=S3CRET-B; Path=/; HttpOnly"),
            _ if cookie(request, "seen") == Some("S3CRET-B") => Site::reply(&pages, request),
            _ => Reply::error(403, &request.target),
        }
    })
}

const COOKIES_TXT: &str = "# Netscape HTTP Cookie File\n\
    .wall.test\tTRUE\t/\tFALSE\t0\tsession\tS3CRET-A\n\
    wall.test\tFALSE\t/\tFALSE\t4102444800\tconsent\tyes\n\
    wall.test\tFALSE\t/\tFALSE\t1000000000\told\tS3CRET-O\n\
    #HttpOnly_other.test\tFALSE\t/never\tFALSE\t0\tid\tS3CRET-N\n";

const STORAGE_STATE: &str = r#"{"cookies": [
    {"name":"session","value":"S3CRET-A","domain":".wall.test","path":"/","expires":-1,"httpOnly":true,"secure":false,"sameSite":"Lax"},
    {"name":"consent","value":"yes","domain":"wall.test","path":"/","expires":4102444800.5,"httpOnly":false,"secure":false,"sameSite":"Strict"}
], "origins": []}"#;

fn wall(heard: &Heard) -> Web {
    let pages = Pages::new()
        .html("/", "<a href=/a>a</a><a href=http://other.test/>o</a><a href=http://www.wall.test/>w</a>")
        .html("/a", "<p>members only <a href=/b>b</a>")
        .html("/b", "<p>more");
    let other = Pages::new().reply("/", Reply::html("<p>other").header("Set-Cookie", "x=1; Domain=wall.test"));
    Web::new()
        .site("wall.test", heard.at(walled(pages)))
        .site("www.wall.test", heard.at(Pages::new().html("/", "<p>www")))
        .site("*", heard.at(other))
}

#[tokio::test(flavor = "multi_thread")]
async fn cookies_of_a_browser_lead_past_a_wall_and_nothing_that_is_written_has_one() {
    for (name, content) in [("cookies.txt", COOKIES_TXT), ("state.json", STORAGE_STATE)] {
        let heard = Heard::default();
        let server = serve(wall(&heard)).await;
        let crawl = Crawl::of(&server, &["http://wall.test/"]).at_once().with(&["--scope", "any"]);
        let file = secret_file(&crawl, name, content);
        crawl.again(&["--cookies", &file]).run().await;
        let found = crawl.found();
        for url in ["http://wall.test/", "http://wall.test/a", "http://wall.test/b", "http://other.test/"] {
            assert_eq!(found.visit(url).status, 200, "{url}: {}", crawl.said());
        }
        assert!(!found.pages.contains_key("http://wall.test/accept"), "{}", crawl.said());

        // Each site got its own, and nothing from others.
        for request in heard.requests() {
            let sent = request.header("cookie").unwrap_or_default();
            let is_ours = request.host == "wall.test" || request.host == "www.wall.test";
            assert!(is_ours || sent.is_empty(), "{} got {sent}", request.host);
            assert!(!sent.contains("consent") || request.host == "wall.test", "{} got {sent}", request.host);
            assert!(!sent.contains("x=1") && !sent.contains("old"), "{} got {sent}", request.host);
        }
        assert_eq!(heard.bearing("cookie").get("http://www.wall.test").map(|(with, _)| *with > 0), Some(true));

        std::fs::remove_file(file).expect("removed");
        let (dir, home) = (crawl.dir(), crawl.dir().parent().expect("a home").to_owned());
        let exports = home.join("exports");
        std::fs::create_dir(&exports).expect("made");
        let from = dir.display().to_string();
        for (format, name) in [("wacz", "crawl.wacz"), ("warc", "crawl.warc.gz"), ("jsonl", "rows.jsonl")] {
            argiope(&["export", &from, format, "-o", &exports.join(name).display().to_string()]);
        }
        argiope(&["check", &from]);
        let jar = dir.join("cookies.jsonl");
        assert_eq!(jar.metadata().expect("cookies.jsonl").permissions().mode() & 0o777, 0o600);
        assert_eq!(holding(&home, SECRET), [jar.display().to_string()]);
        for recorded in ["Cookie: ***", "Set-Cookie: seen=***; Path=/; HttpOnly", "argiope-redacted: "] {
            assert_eq!(holding(&exports, recorded).len(), 2, "{recorded} in the WARC file and in the WACZ");
        }
        let said = crawl.said();
        assert!(said.contains("--cookies: 2 cookies sent") || said.contains("--cookies: 3 cookies sent"), "{said}");
        assert_eq!(said.contains("1 more have expired"), name == "cookies.txt", "{said}");
        assert!(!said.contains(SECRET), "{said}");
    }
}

/// A chain of so many pages, each of which only they get who bear what the page before, or a later one, has set.
fn chain(pages: Arc<AtomicUsize>) -> impl Site {
    from_fn(move |request: &Request| {
        let Some(number) = request.target.strip_prefix('/').and_then(|path| path.parse::<usize>().ok()) else {
            return Reply::text("");
        };
        let borne = cookie(request, "at").and_then(|value| value.strip_prefix("S3CRET-")?.parse::<usize>().ok());
        if number > 0 && borne.is_none_or(|borne| borne < number) {
            return Reply::error(403, &request.target);
        }
        let next = number + 1;
        let link = if next < pages.load(Ordering::Relaxed) {
            format!("<a href=/{next}>next</a>")
        } else {
            "<p>end".to_owned()
        };
        let at = next.max(borne.unwrap_or(0));
        Reply::html(link).header("Set-Cookie", format!("at=S3CRET-{at}; Path=/; Max-Age=3600"))
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn what_servers_set_is_there_after_kill_9() {
    const PAGES_A_KILL: usize = 10;
    // No run ends by itself before it is killed.
    let pages = Arc::new(AtomicUsize::new(usize::MAX));
    let heard = Heard::default();
    let server = serve(Web::new().site("seed.test", heard.at(chain(pages.clone())))).await;
    let crawl = Crawl::of(&server, &["http://seed.test/0"]).at_once().with(&["--no-sitemaps", "--cookie-jar"]);
    for kill in 1..=4 {
        let running = crawl.begin();
        while heard.requests().len() < kill * PAGES_A_KILL {
            tokio::time::sleep(std::time::Duration::from_millis(1)).await;
        }
        running.kill().await;
    }
    let pages_max = heard.requests().len() + PAGES_A_KILL;
    pages.store(pages_max, Ordering::Relaxed);
    crawl.run().await;
    let found = crawl.found();
    for number in 0..pages_max {
        assert_eq!(found.visit(&format!("http://seed.test/{number}")).status, 200, "{number}: {}", crawl.said());
    }
    let jar = crawl.dir().join("cookies.jsonl");
    assert_eq!(holding(&crawl.dir(), SECRET), [jar.display().to_string()]);
}

async fn refused(server: &Server, arguments: &[&str], content: Option<(&str, u32)>, expect: &str) {
    let crawl = Crawl::of(server, &["http://seed.test/"]).at_once().with(arguments);
    let crawl = match content {
        Some((content, mode)) => {
            let file = crawl.file("cookies", content);
            std::fs::set_permissions(&file, PermissionsExt::from_mode(mode)).expect("set");
            crawl.with(&["--cookies", &file])
        }
        None => crawl,
    };
    assert_eq!(crawl.begin().end().await.code, Some(2), "{}", crawl.said());
    assert!(crawl.said().contains(expect) && !crawl.said().contains(SECRET), "{expect}: {}", crawl.said());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_cannot_be_used_is_named_and_not_shown() {
    let heard = Heard::default();
    let server = serve(Web::new().site("*", heard.at(Pages::new().html("/", "<p>x")))).await;
    refused(&server, &[], Some((COOKIES_TXT, 0o644)), "others of this machine can read it: `chmod 600` it").await;
    refused(&server, &[], Some(("S3CRET", 0o600)), "line 1: has not the seven columns").await;
    refused(&server, &["--cookie-jar=false"], Some((COOKIES_TXT, 0o600)), "--cookies needs the jar").await;
    let suffix = ".test\tTRUE\t/\tFALSE\t0\tid\tS3CRET";
    refused(&server, &[], Some((suffix, 0o600)), "the cookie `id` of test is for a whole public suffix").await;
    refused(&server, &["--cookies", "/nowhere"], None, "--cookies /nowhere: No such file").await;
    assert_eq!(heard.requests().len(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_crawl_without_a_jar_sends_no_cookie_and_one_whose_jar_is_gone_says_so() {
    let heard = Heard::default();
    let server = serve(Web::new().site("seed.test", heard.at(chain(Arc::new(AtomicUsize::new(3)))))).await;
    let crawl = Crawl::of(&server, &["http://seed.test/0"]).at_once().with(&["--no-sitemaps"]);
    crawl.run().await;
    assert_eq!(crawl.found().visit("http://seed.test/1").status, 403);
    assert!(heard.requests().iter().all(|request| request.header("cookie").is_none()));
    assert!(!crawl.dir().join("cookies.jsonl").exists());

    let crawl = Crawl::of(&server, &["http://seed.test/0"]).at_once().with(&["--no-sitemaps", "--max-pages"]);
    crawl.again(&["1", "--cookie-jar"]).run().await;
    std::fs::remove_file(crawl.dir().join("cookies.jsonl")).expect("removed");
    assert_eq!(crawl.again(&["2"]).begin().end().await.code, Some(2), "{}", crawl.said());
    assert!(crawl.said().contains("the cookies of this crawl are gone"), "{}", crawl.said());
    crawl.again(&["2", "--cookie-jar=false"]).run().await;
    assert_eq!(crawl.found().visit("http://seed.test/1").status, 403);
}
