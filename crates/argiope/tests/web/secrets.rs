//! Secrets: which server learns them, and that nothing the crawl writes has them.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use testweb::{Heard, Pages, Reply, Request, Server, Site, Web, from_fn};

use crate::crawl::{Crawl, serve};

/// What no file, message or record may have.
const SECRET: &str = "S3CRET";

/// The sites whose requests bore a field: each of them or none.
fn sites_with(heard: &Heard, field: &str) -> BTreeSet<String> {
    let mut bearing = heard.bearing(field);
    bearing.retain(|_, (with, _)| *with > 0);
    let some: Vec<_> = bearing.iter().filter(|(_, (with, all))| with < all).collect();
    assert!(some.is_empty(), "{field} went with some requests only: {some:?}");
    bearing.into_keys().collect()
}

fn set(sites: &[&str]) -> BTreeSet<String> {
    sites.iter().map(ToString::to_string).collect()
}

/// A site that answers those alone who know this value of `Authorization`.
fn guarded(authorization: &'static str, pages: Pages) -> impl Site {
    from_fn(move |request: &Request| match request.header("authorization") {
        Some(given) if given == authorization => Site::reply(&pages, request),
        _ => Reply::error(401, &request.target),
    })
}

/// A web that leads from the sites of its seeds to others by each way there is.
fn web(heard: &Heard) -> Web {
    let seed = Pages::new()
        .text("/robots.txt", "Sitemap: http://maps.test/sitemap.xml\n")
        .html("/", "<a href=/moved>m</a><a href=http://other.test/>o</a><img src=http://images.test/i.png>")
        .reply("/moved", Reply::redirect(302, "http://landing.test/"));
    let plain = from_fn(|request: &Request| match request.scheme {
        testweb::Scheme::Http => Reply::redirect(301, format!("https://plain.test{}", request.target)),
        testweb::Scheme::Https => Reply::html("<p>by TLS"),
    });
    // From https to plain http.
    let tls = from_fn(|request: &Request| match request.scheme {
        testweb::Scheme::Https => Reply::redirect(301, format!("http://tls.test{}", request.target)),
        testweb::Scheme::Http => Reply::html("<p>plain"),
    });
    let robots = Pages::new()
        .html("/", "<p>its rules are elsewhere")
        .reply("/robots.txt", Reply::redirect(302, "http://rules.test/robots.txt"));
    let maps = Pages::new().reply(
        "/sitemap.xml",
        Reply::text("<urlset><url><loc>http://maps.test/listed</loc></url></urlset>").header("X", "y"),
    );
    Web::new()
        .site("seed.test", heard.at(seed))
        .site("plain.test", heard.at(plain))
        .site("tls.test", heard.at(tls))
        .site("robots.test", heard.at(robots))
        .site("maps.test", heard.at(maps))
        .site("rules.test", heard.at(Pages::new().text("/robots.txt", "")))
        .site("*", heard.at(Pages::new().html("/", "<p>foreign")))
}

fn trusting(server: &Server, crawl: Crawl) -> Crawl {
    let ca = crawl.file("ca.pem", server.ca_pem());
    crawl.at_once().with(&["--ca-cert", &ca])
}

#[tokio::test(flavor = "multi_thread")]
async fn request_fields_go_to_the_sites_of_seeds_alone() {
    for more in [&[][..], &["--head-first"]] {
        let heard = Heard::default();
        let server = serve(web(&heard)).await;
        let seeds = ["http://seed.test/", "http://plain.test/", "https://tls.test/", "http://robots.test/"];
        let crawl = trusting(&server, Crawl::of(&server, &seeds)).with(&["--scope", "any", "--images"]).with(more);
        let crawl = crawl
            .with(&["--header", "Authorization: Bearer S3CRET", "--header", "Cookie: id=S3CRET"])
            .with(&["--header", "Accept-Language: sl"])
            .with(&["--header-for", "http://other.test/*", "X-Api-Key: S3CRET"]);
        crawl.run().await;
        let foreign =
            ["http://other.test", "http://landing.test", "http://images.test", "http://maps.test", "http://rules.test"];
        let seeds =
            ["http://seed.test", "http://plain.test", "https://plain.test", "https://tls.test", "http://robots.test"];
        let expect = set(&seeds);
        assert_eq!(sites_with(&heard, "authorization"), expect, "{}", crawl.said());
        assert_eq!(sites_with(&heard, "cookie"), expect);
        assert_eq!(sites_with(&heard, "x-api-key"), set(&["http://other.test"]));
        let everywhere = heard.sites();
        assert!(set(&foreign).is_subset(&everywhere) && everywhere.contains("http://tls.test"), "{everywhere:?}");
        assert_eq!(sites_with(&heard, "accept-language"), everywhere);
        assert_eq!(sites_with(&heard, "user-agent"), everywhere);
        assert!(
            crawl.said().contains("https://tls.test/ redirects to http://tls.test, which is not a seed's site"),
            "{}",
            crawl.said()
        );
    }
}

/// All bytes of the files below a directory, and what is gzipped in them.
fn files_of(dir: &Path, contents: &mut BTreeMap<String, Vec<u8>>) {
    for entry in dir.read_dir().expect("a directory") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            files_of(&path, contents);
            continue;
        }
        // A socket is no file to read.
        let Ok(mut bytes) = std::fs::read(&path) else { continue };
        let begins = |bytes: &[u8]| -> Vec<usize> {
            bytes.windows(3).enumerate().filter(|(_, window)| *window == [0x1f, 0x8b, 8]).map(|(at, _)| at).collect()
        };
        for at in begins(&bytes) {
            let (mut unpacked, packed) = (Vec::new(), bytes[at..].to_vec());
            // What only looks like a member is none.
            let _ = flate2::read::GzDecoder::new(&packed[..]).read_to_end(&mut unpacked);
            bytes.extend(unpacked);
        }
        contents.insert(path.display().to_string(), bytes);
    }
}

/// The files below a directory that have a text.
pub fn holding(dir: &Path, text: &str) -> Vec<String> {
    let mut contents = BTreeMap::new();
    files_of(dir, &mut contents);
    let holds = |bytes: &[u8]| bytes.windows(text.len()).any(|window| window == text.as_bytes());
    contents.into_iter().filter(|(_, bytes)| holds(bytes)).map(|(path, _)| path).collect()
}

pub fn argiope(arguments: &[&str]) -> String {
    let ran = Command::new(env!("CARGO_BIN_EXE_argiope")).args(arguments).output().expect("the binary starts");
    let said = format!("{}{}", String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
    assert!(ran.status.success(), "{arguments:?}: {said}");
    said
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_that_a_crawl_writes_has_a_secret() {
    let heard = Heard::default();
    let web = Web::new().site("*", heard.at(Pages::new().html("/", "<a href=/a>a</a>").html("/a", "<p>a")));
    let server = serve(web).await;
    let proxy = server.proxy().replace("http://", "http://pia:S3CRET-P@");
    let crawl = Crawl::routed(&["http://ana:S3CRET-S@user.test/", "http://seed.test/"]).at_once();
    let crawl = crawl.with(&["--proxy", &proxy, "--header", "Cookie: id=S3CRET-C"]).with(&[
        "--header-for",
        "http://user.test/*",
        "X-Api-Key: S3CRET-K",
    ]);
    crawl.run().await;
    // "ana:S3CRET-S" and "pia:S3CRET-P", which the servers did get.
    let (of_seed, of_proxy) = ("YW5hOlMzQ1JFVC1T", "cGlhOlMzQ1JFVC1Q");
    let sent = |field: &str, text: &str| {
        heard.requests().iter().any(|entry| entry.header(field).is_some_and(|value| value.contains(text)))
    };
    assert!(sent("authorization", of_seed) && sent("cookie", "S3CRET-C") && sent("x-api-key", "S3CRET-K"));
    assert!(sent("proxy-authorization", of_proxy));

    let dir = crawl.dir();
    let exports = dir.parent().expect("a home").join("exports");
    std::fs::create_dir(&exports).expect("made");
    let (from, to) = (dir.display().to_string(), |name: &str| exports.join(name).display().to_string());
    let mut said = String::new();
    for (format, name) in
        [("wacz", "crawl.wacz"), ("warc", "crawl.warc.gz"), ("jsonl", "rows.jsonl"), ("cdxj", "index.cdxj")]
    {
        said += &argiope(&["export", &from, format, "-o", &to(name)]);
    }
    for command in [&["check", &from][..], &["status", &from], &["explain", &from, "http://ana:S3CRET-S@user.test/"]] {
        said += &argiope(command);
    }
    said += &crawl.said();
    assert!(!said.contains(SECRET), "{said}");
    assert!(
        crawl.said().contains("used as basic authentication for its site only (http://user.test)"),
        "{}",
        crawl.said()
    );

    let secrets = dir.join("secrets.toml");
    let mode = secrets.metadata().expect("secrets.toml").permissions().mode() & 0o777;
    assert_eq!(mode, 0o600);
    let home = dir.parent().expect("a home");
    assert_eq!(holding(home, SECRET), [secrets.display().to_string()]);
    assert_eq!(holding(home, of_seed), [""; 0]);
    assert_eq!(holding(home, of_proxy), [""; 0]);
    for recorded in ["Cookie: ***", "X-Api-Key: ***", "Authorization: ***"] {
        assert_eq!(holding(&exports, recorded).len(), 2, "{recorded} in the WARC file and in the WACZ");
    }
    let settings = std::fs::read_to_string(dir.join("crawl.toml")).expect("crawl.toml");
    for line in ["header = [\"Cookie: ***\"]", "header-for = [[\"http://user.test/*\", \"X-Api-Key: ***\"]]"] {
        assert!(settings.lines().any(|have| have == line), "{settings}");
    }
}

/// The requests for pages with the value of `Authorization` that each bore.
fn authorized(heard: &Heard) -> Vec<(String, Option<String>)> {
    let pages = heard.requests().into_iter().filter(|entry| entry.target != "/robots.txt");
    pages.map(|entry| (entry.target.clone(), entry.header("authorization").map(str::to_owned))).collect()
}

const CHAIN: [(&str, &str); 3] = [("/", "<a href=/1>1</a>"), ("/1", "<a href=/2>2</a>"), ("/2", "<a href=/3>3</a>")];

fn chain() -> Pages {
    CHAIN.iter().fold(Pages::new(), |pages, (path, html)| pages.html(*path, html.to_string()))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_crawl_goes_on_with_its_secrets_and_not_without() {
    let heard = Heard::default();
    let server = serve(Web::new().site("seed.test", heard.at(chain()))).await;
    let bearer = ["--header", "Authorization: Bearer S3CRET"];
    let crawl = Crawl::of(&server, &[]).at_once().with(&["--no-sitemaps", "--max-pages"]);
    let began = crawl.again(&["1", "http://seed.test/"]).with(&bearer);
    began.run().await;
    crawl.again(&["2"]).run().await;
    let expect = |path: &str| (path.to_owned(), Some("Bearer S3CRET".to_owned()));
    assert_eq!(authorized(&heard), [expect("/"), expect("/1")]);

    let secrets = crawl.dir().join("secrets.toml");
    let kept = std::fs::read(&secrets).expect("secrets.toml");
    std::fs::remove_file(&secrets).expect("removed");
    let ended = crawl.again(&["3"]).begin().end().await;
    assert_eq!(ended.code, Some(2), "{}", crawl.said());
    assert!(crawl.said().contains("give again --header 'Authorization: ***'"), "{}", crawl.said());
    assert_eq!(authorized(&heard).len(), 2, "asked without the field");

    // Others could read it.
    std::fs::write(&secrets, kept).expect("written");
    std::fs::set_permissions(&secrets, PermissionsExt::from_mode(0o644)).expect("set");
    assert_eq!(crawl.again(&["3"]).begin().end().await.code, Some(1));
    assert!(
        crawl.said().contains("secrets.toml: others of this machine can read it: `chmod 600` it"),
        "{}",
        crawl.said()
    );

    std::fs::remove_file(&secrets).expect("removed");
    crawl.again(&["3"]).with(&["--header", "Authorization: Bearer S3CRET-2"]).run().await;
    assert_eq!(authorized(&heard)[2], ("/2".to_owned(), Some("Bearer S3CRET-2".to_owned())));
    assert_eq!(holding(&crawl.dir(), SECRET), [secrets.display().to_string()]);
}

#[tokio::test(flavor = "multi_thread")]
async fn secrets_of_an_old_directory_leave_its_settings() {
    let heard = Heard::default();
    let server = serve(Web::new().site("seed.test", heard.at(chain()))).await;
    let crawl = Crawl::of(&server, &[]).at_once().with(&["--no-sitemaps", "--max-pages"]);
    let began = crawl.again(&["1", "http://seed.test/"]).with(&["--header", "Authorization: Bearer S3CRET"]);
    began.run().await;
    // As the program before wrote it.
    let (settings, secrets) = (crawl.dir().join("crawl.toml"), crawl.dir().join("secrets.toml"));
    let text = std::fs::read_to_string(&settings).expect("crawl.toml");
    std::fs::write(&settings, text.replace("Authorization: ***", "Authorization: Bearer S3CRET")).expect("written");
    std::fs::remove_file(&secrets).expect("removed");

    crawl.again(&["2"]).run().await;
    assert_eq!(authorized(&heard)[1].1.as_deref(), Some("Bearer S3CRET"));
    assert!(crawl.said().contains("argiope: the secrets of header are in"), "{}", crawl.said());
    assert_eq!(holding(&crawl.dir(), SECRET), [secrets.display().to_string()]);
    assert_eq!(secrets.metadata().expect("secrets.toml").permissions().mode() & 0o777, 0o600);
}

#[tokio::test(flavor = "multi_thread")]
async fn user_and_password_of_a_seed_are_for_its_site_alone() {
    let heard = Heard::default();
    // "ana:open sesame"
    const BASIC: &str = "Basic YW5hOm9wZW4gc2VzYW1l";
    let seed = Pages::new()
        .html("/", "<a href=http://bob:S3CRET-B@seed.test/a>a</a><a href=http://bob:S3CRET-B@other.test/>b</a>")
        .html("/a", "<p>a");
    let web = Web::new()
        .site("seed.test", heard.at(guarded(BASIC, seed)))
        .site("*", heard.at(Pages::new().html("/", "<p>other")));
    let server = serve(web).await;
    let crawl = Crawl::of(&server, &[]).at_once().with(&["--scope", "any"]);
    let seeds = crawl.file("seeds", "# by file\nhttp://ana:open%20sesame@seed.test/\n");
    crawl.again(&["--seeds", &seeds]).run().await;
    let found = crawl.found();
    assert_eq!(found.visit("http://seed.test/").status, 200, "{}", crawl.said());
    assert_eq!(found.visit("http://seed.test/a").status, 200);
    assert_eq!(found.visit("http://other.test/").status, 200);
    assert_eq!(sites_with(&heard, "authorization"), set(&["http://seed.test"]));
    assert!(heard.requests().iter().all(|entry| entry.header("authorization").is_none_or(|value| value == BASIC)));
    assert!(!crawl.said().contains("sesame"), "{}", crawl.said());
    assert_eq!(
        crawl.said().lines().filter(|line| line.contains("basic authentication")).count(),
        1,
        "{}",
        crawl.said()
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn no_error_shows_what_was_given_as_a_secret() {
    let server = serve(Web::new()).await;
    for (arguments, expect) in [
        (&["http://ana:S3CRET@seed.test:99999/"][..], "seed `http://***@seed.test:99999/`"),
        (&["http://a%3Ab:S3CRET@seed.test/"], "seed `http://***@seed.test/`: the user name has a colon"),
        (
            &["http://a:S3CRET@x.test/", "http://a:S3CRET2@x.test/"],
            "different user names or passwords for http://x.test",
        ),
        (&["http://x.test/", "--header", "S3CRET"], "--header: one is not `Name: value`"),
        (&["http://x.test/", "--header", "Cookie: S3CRET\u{1}"], "--header `Cookie` has characters"),
        (&["http://x.test/", "--proxy", "https://ana:S3CRET@p.test"], "--proxy `https://***@p.test`"),
        (&["http://x.test/", "--proxy", "ana:S3CRET@p.test"], "--proxy `***@p.test`"),
        (
            &["http://x.test/", "--header-for", "x.test", "Cookie: S3CRET"],
            "--header-for `x.test`: the pattern does not",
        ),
        (&["http://x.test/", "--header-for", "Cookie: S3CRET"], "2 values required"),
    ] {
        let crawl = Crawl::of(&server, arguments);
        assert_eq!(crawl.begin().end().await.code, Some(2), "{arguments:?}: {}", crawl.said());
        assert!(crawl.said().contains(expect), "{expect}: {}", crawl.said());
        assert!(!crawl.said().contains(SECRET), "{}", crawl.said());
    }
    let crawl = Crawl::of(&server, &["http://x.test/"]);
    let config = crawl.file("config", "header = \"Cookie: S3CRET\"\n");
    let crawl = crawl.with(&["--config", &config]);
    assert_eq!(crawl.begin().end().await.code, Some(2));
    assert!(crawl.said().contains("line 1: `header`: header is not a list such as") && !crawl.said().contains(SECRET));
}
