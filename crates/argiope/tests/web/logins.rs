//! Crawls behind a login: which server gets which cookie, that they last, and that nothing the crawl writes has one.

use std::collections::HashMap;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crawl::CrawlDir;
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
        assert_eq!(said.contains("1 expired, not sent"), name == "cookies.txt", "{said}");
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

/// What people get who are not logged in.
#[derive(Clone, Copy, Debug)]
enum Strangers {
    /// A redirect to the form.
    AreSentToForm,
    /// A redirect to a single sign-on, which leads to the form.
    SignOnElsewhere,
    /// The form in place of the page.
    SeeForm,
}

/// A site of members: a form with a token, a session cookie that holds for so many pages, and pages that strangers do not see.
#[derive(Clone)]
struct Members {
    host: &'static str,
    password: &'static str,
    /// Pages that a session shows before it ends.
    pages_a_session: usize,
    strangers: Strangers,
    sessions: Arc<Mutex<HashMap<String, usize>>>,
    posts: Arc<AtomicUsize>,
    /// No password is right any more.
    is_closed: Arc<AtomicBool>,
}

impl Members {
    fn new(host: &'static str, password: &'static str, pages_a_session: usize) -> Self {
        let strangers = Strangers::AreSentToForm;
        let (sessions, posts, is_closed) = (Arc::default(), Arc::default(), Arc::default());
        Members { host, password, pages_a_session, strangers, sessions, posts, is_closed }
    }

    /// How often its form was sent with the right values.
    fn logins(&self) -> usize {
        self.sessions.lock().expect("no panic").len()
    }

    fn form() -> Reply {
        let form = "<h1>Log in</h1><form method=post action=/session><input type=hidden name=csrf value=T0KEN>\
            <input name=user><input type=password name=password><button>Log in</button></form>";
        Reply::html(form).header("Set-Cookie", "visitor=S3CRET-V; Path=/")
    }

    fn post(&self, request: &Request) -> Reply {
        self.posts.fetch_add(1, Ordering::Relaxed);
        let body = String::from_utf8_lossy(&request.body).into_owned();
        let expect = format!("csrf=T0KEN&user=ana%26co&password={}", self.password);
        let origin = format!("http://{}", request.header("host").unwrap_or_default());
        let is_forged = request.header("origin") != Some(&origin)
            || !request.header("referer").is_some_and(|page| page.starts_with(&format!("{origin}/login")));
        if is_forged
            || self.is_closed.load(Ordering::Relaxed)
            || body != expect
            || cookie(request, "visitor") != Some("S3CRET-V")
        {
            return Reply::html("<p>Wrong user or password").header("X-Body", "none");
        }
        let mut sessions = self.sessions.lock().expect("no panic");
        let id = format!("S3CRET-{}-{}", self.host, sessions.len());
        sessions.insert(id.clone(), 0);
        Reply::redirect(303, "/home").header("Set-Cookie", format!("session={id}; Path=/; HttpOnly"))
    }
}

impl Site for Members {
    fn reply(&self, request: &Request) -> Reply {
        match (request.method.as_str(), request.path()) {
            (_, "/robots.txt") => return Reply::text(""),
            ("POST", "/session") => return self.post(request),
            (_, "/login") => return Members::form(),
            (_, "/sso") => return Reply::redirect(302, "/login/"),
            (_, "/login/") => return Reply::redirect(301, "/login"),
            _ => {}
        }
        let mut sessions = self.sessions.lock().expect("no panic");
        let shown = cookie(request, "session").and_then(|id| sessions.get_mut(id));
        let Some(shown) = shown.filter(|shown| **shown < self.pages_a_session) else {
            return match self.strangers {
                Strangers::AreSentToForm => Reply::redirect(302, format!("/login?next={}", request.path())),
                Strangers::SignOnElsewhere => Reply::redirect(302, format!("/sso?next={}", request.path())),
                Strangers::SeeForm => Members::form(),
            };
        };
        let number = match request.path() {
            "/home" => return Reply::html("<a href=/logout id=out>Log out</a><a href=/0>begin</a>"),
            "/closed" => return Reply::redirect(302, "/login"),
            path => path.trim_start_matches('/').parse::<usize>().unwrap_or(MEMBERS_PAGES),
        };
        *shown += 1;
        match number {
            number if number + 1 < MEMBERS_PAGES => {
                Reply::html(format!("<p>members only {number} <a href=/{}>next</a>", number + 1))
            }
            number if number < MEMBERS_PAGES => {
                Reply::html("<p>members only, the last <a href=/closed>c</a><a href=http://other.test/>o</a>")
            }
            _ => Reply::error(404, &request.target),
        }
    }
}

/// Pages of a site of members, each linked by the one before.
const MEMBERS_PAGES: usize = 12;

const MEMBERS: &str = "[login.members]\n\
    url = \"http://members.test/login\"\n\
    fields = { user = \"ana&co\", password = \"S3CRET-P\" }\n\
    success = { selector = \"a#out\" }\n";

fn members_pages(crawl: &Crawl, host: &str) {
    let found = crawl.found();
    for number in 0..MEMBERS_PAGES {
        let visit = found.visit(&format!("http://{host}/{number}"));
        assert_eq!(visit.status, 200, "{host} {number}: {visit:?} {}", crawl.said());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_form_is_sent_with_its_token_and_again_when_the_session_ends() {
    let heard = Heard::default();
    let members = Members::new("members.test", "S3CRET-P", 5);
    let other = heard.at(Pages::new().html("/", "<p>other"));
    let server = serve(Web::new().site("members.test", heard.at(members.clone())).site("*", other)).await;
    let crawl = Crawl::of(&server, &["http://members.test/home"]).at_once().with(&["--scope", "any"]);
    let crawl = crawl.with(&["--no-sitemaps", "--exclude", "*logout*"]);
    let logins = secret_file(&crawl, "logins.toml", MEMBERS);
    crawl.again(&["--login", &logins]).run().await;
    members_pages(&crawl, "members.test");
    // Twelve pages, five a session.
    assert_eq!(members.logins(), 3, "{}", crawl.said());
    assert!(
        crawl.said().contains("login members: logged in 3 times; 1 page looks as if one were logged out"),
        "{}",
        crawl.said()
    );
    let found = crawl.found();
    assert_eq!(found.visit("http://members.test/closed").status, 302);

    // No other site has seen anything, and nothing that is written has it.
    for request in heard.requests().iter().filter(|request| request.host != "members.test") {
        let sent = format!("{:?} {:?}", request.headers, request.body);
        assert!(!sent.contains(SECRET) && request.method == "GET", "{} {sent}", request.host);
    }
    std::fs::remove_file(logins).expect("removed");
    let home = crawl.dir().parent().expect("a home").to_owned();
    let exports = home.join("exports");
    std::fs::create_dir(&exports).expect("made");
    let from = crawl.dir().display().to_string();
    for (format, name) in [("wacz", "crawl.wacz"), ("warc", "crawl.warc.gz"), ("jsonl", "rows.jsonl")] {
        argiope(&["export", &from, format, "-o", &exports.join(name).display().to_string()]);
    }
    argiope(&["check", &from]);
    let kept = ["cookies.jsonl", "secrets.toml"].map(|name| crawl.dir().join(name).display().to_string());
    assert_eq!(holding(&home, SECRET), kept);
    for never in ["ana%26co", "POST /session"] {
        assert_eq!(holding(&home, never), [""; 0], "{never}");
    }
    assert_eq!(holding(&home, "ana&co"), [crawl.dir().join("secrets.toml").display().to_string()]);
    assert!(!crawl.said().contains(SECRET), "{}", crawl.said());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_that_has_ended_is_recognised_however_strangers_are_met() {
    for strangers in [Strangers::SignOnElsewhere, Strangers::SeeForm] {
        for success in ["success = { selector = \"a#out\" }\n", ""] {
            let members = Members { strangers, ..Members::new("members.test", "S3CRET-P", 5) };
            let server = serve(Web::new().site("members.test", members.clone())).await;
            let crawl = Crawl::of(&server, &["http://members.test/home"]).at_once();
            let crawl = crawl.with(&["--no-sitemaps", "--exclude", "*logout*", "--exclude", "*closed*"]);
            let description = MEMBERS.replace("success = { selector = \"a#out\" }\n", success);
            let logins = secret_file(&crawl, "logins.toml", &description);
            crawl.again(&["--login", &logins]).run().await;
            members_pages(&crawl, "members.test");
            assert_eq!(members.logins(), 3, "{strangers:?}, {success}: {}", crawl.said());
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_home_that_does_not_answer_strangers_at_the_moment_is_not_for_members_only() {
    let members = Members::new("members.test", "S3CRET-P", 5);
    let (shown, refusals) = (members.clone(), AtomicUsize::new(2));
    // The page after the login shows the sign of success to all.
    let site = from_fn(move |request: &Request| match (request.path(), request.header("cookie")) {
        ("/home", None)
            if refusals.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)).is_ok() =>
        {
            Reply::new(503)
        }
        ("/home", _) => Reply::html("<a href=/logout id=out>Log out</a><a href=/0>begin</a>"),
        _ => shown.reply(request),
    });
    let server = serve(Web::new().site("members.test", site)).await;
    let crawl = Crawl::of(&server, &["http://members.test/home"]).at_once();
    let crawl = crawl.with(&["--no-sitemaps", "--exclude", "*logout*", "--exclude", "*closed*"]);
    let logins = secret_file(&crawl, "logins.toml", MEMBERS);
    crawl.again(&["--login", &logins]).run().await;
    members_pages(&crawl, "members.test");
    assert_eq!(members.logins(), 3, "{}", crawl.said());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_redirect_to_what_is_excluded_or_elsewhere_is_not_followed_to_see_where_it_ends() {
    let heard = Heard::default();
    let members = Members::new("members.test", "S3CRET-P", MEMBERS_PAGES);
    let shown = members.clone();
    let site = from_fn(move |request: &Request| match request.path() {
        "/home" if shown.reply(request).status == 200 => {
            let links = "<a href=/leave>leave</a><a href=/away>away</a><a href=/abroad>abroad</a><a href=/0>begin</a>";
            Reply::html(format!("<a id=out></a>{links}"))
        }
        "/abroad" => Reply::redirect(302, "http://elsewhere.test/?from=members"),
        "/leave" => Reply::redirect(302, "/logout?from=leave"),
        "/away" => Reply::redirect(302, "/leave?from=away"),
        "/logout" => {
            shown.sessions.lock().expect("no panic").values_mut().for_each(|pages| *pages = MEMBERS_PAGES);
            Reply::html("<p>Good bye")
        }
        _ => shown.reply(request),
    });
    let web = Web::new().site("members.test", heard.at(site)).site("elsewhere.test", heard.at(Pages::new()));
    let server = serve(web).await;
    let crawl = Crawl::of(&server, &["http://members.test/home"]).at_once();
    let crawl = crawl.with(&["--no-sitemaps", "--exclude", "*logout*", "--exclude", "*closed*"]);
    let logins = secret_file(&crawl, "logins.toml", MEMBERS);
    crawl.again(&["--login", &logins]).run().await;
    assert_eq!(Vec::from_iter(heard.sites()), ["http://members.test"]);
    let asked: Vec<String> = heard.requests().into_iter().map(|request| request.target).collect();
    assert!(asked.iter().any(|target| target == "/abroad"), "{asked:?}");
    assert!(asked.iter().any(|target| target == "/leave?from=away"), "{asked:?}");
    assert!(!asked.iter().any(|target| target.starts_with("/logout")), "{asked:?}");
    members_pages(&crawl, "members.test");
    assert_eq!(members.logins(), 1, "{}", crawl.said());
}

#[tokio::test(flavor = "multi_thread")]
async fn of_many_pages_that_find_the_session_ended_one_logs_in() {
    let members = Members::new("members.test", "S3CRET-P", 3);
    let shown = members.clone();
    // All pages at once, instead of one after the other.
    let star = from_fn(move |request: &Request| match (request.target.as_str(), shown.reply(request)) {
        ("/home", reply) if reply.status == 200 => {
            let links = (0..MEMBERS_PAGES).map(|number| format!("<a href=/{number}>{number}</a>"));
            Reply::html(format!("<a id=out></a>{}", links.collect::<String>()))
        }
        (_, reply) => reply,
    });
    let server = serve(Web::new().site("members.test", star)).await;
    let crawl = Crawl::of(&server, &["http://members.test/home"]).at_once().with(&["--no-sitemaps"]);
    let crawl = crawl.with(&["--connections-per-site", "8", "--exclude", "*closed"]);
    let logins = secret_file(&crawl, "logins.toml", MEMBERS);
    crawl.again(&["--login", &logins]).run().await;
    members_pages(&crawl, "members.test");
    assert_eq!(members.logins(), MEMBERS_PAGES / 3, "{}", crawl.said());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_password_that_is_refused_is_not_sent_again_for_each_page() {
    let members = Members::new("members.test", "S3CRET-P", 3);
    let shown = members.clone();
    let star = from_fn(move |request: &Request| {
        // The password is changed while the crawl runs, whichever page comes first.
        if request.path().trim_start_matches('/').parse::<usize>().is_ok() {
            shown.is_closed.store(true, Ordering::Relaxed);
        }
        match (request.target.as_str(), shown.reply(request)) {
            ("/home", reply) if reply.status == 200 => {
                let links = (0..MEMBERS_PAGES).map(|number| format!("<a href=/{number}>{number}</a>"));
                Reply::html(format!("<a id=out></a>{}", links.collect::<String>()))
            }
            (_, reply) => reply,
        }
    });
    let server = serve(Web::new().site("members.test", star)).await;
    let crawl = Crawl::of(&server, &["http://members.test/home"]).at_once();
    let crawl = crawl.with(&["--no-sitemaps", "--exclude", "*closed", "--max-attempts", "2"]);
    let logins = secret_file(&crawl, "logins.toml", MEMBERS);
    crawl.again(&["--login", &logins]).begin().end().await;
    let (said, posts) = (crawl.said(), members.posts.load(Ordering::Relaxed));
    assert_eq!(posts - members.logins(), 1, "one refusal keeps the others back: {said}");
    assert!(said.contains(", refused 1 time: its pages have failed meanwhile"), "{said}");
    let failed = argiope(&["export", &crawl.dir().display().to_string(), "jsonl", "--all"]);
    assert!(!failed.contains(SECRET), "{failed}");
}

#[tokio::test(flavor = "multi_thread")]
async fn two_sites_and_two_tokens_at_once_each_get_their_own() {
    const API: &str = "Bearer S3CRET-T";
    // "ana:S3CRET-B"
    const BASIC: &str = "Basic YW5hOlMzQ1JFVC1C";
    let heard = Heard::default();
    let (one, two) = (Members::new("one.test", "S3CRET-1", 4), Members::new("two.test", "S3CRET-2", 4));
    let guarded = |authorization: &'static str| {
        from_fn(move |request: &Request| match request.header("authorization") {
            _ if request.target == "/robots.txt" => Reply::text(""),
            Some(given) if given == authorization => Reply::html("<p>data"),
            _ => Reply::error(401, &request.target),
        })
    };
    let web = Web::new()
        .site("one.test", heard.at(one.clone()))
        .site("two.test", heard.at(two.clone()))
        .site("api.test", heard.at(guarded(API)))
        .site("basic.test", heard.at(guarded(BASIC)));
    let server = serve(web).await;
    let seeds = ["http://one.test/home", "http://two.test/home", "http://api.test/", "http://basic.test/"];
    let crawl = Crawl::of(&server, &seeds).at_once().with(&["--exclude", "*logout*"]);
    let token = secret_file(&crawl, "token", "S3CRET-T\n");
    let description = |name: &str, password: &str| {
        MEMBERS
            .replace("members", name)
            .replace("S3CRET-P", password)
            .replace("success = { selector = \"a#out\" }\n", "")
    };
    let text = format!(
        "{}{}[login.api]\nfor = [\"http://api.test/*\"]\nbearer = \"file:{token}\"\n\
         [login.basic]\nfor = [\"http://basic.test/*\"]\nbasic = {{ user = \"ana\", password = \"S3CRET-B\" }}\n",
        description("one", "S3CRET-1"),
        description("two", "S3CRET-2"),
    );
    let logins = secret_file(&crawl, "logins.toml", &text);
    crawl.again(&["--login", &logins, "--max-pages", "8"]).run().await;
    // The descriptions and what they refer to are gone: the crawl has its own.
    std::fs::remove_file(logins).expect("removed");
    std::fs::remove_file(token).expect("removed");
    crawl.again(&["--unset", "max-pages"]).run().await;
    for host in ["one.test", "two.test"] {
        members_pages(&crawl, host);
    }
    let found = crawl.found();
    assert_eq!(found.visit("http://api.test/").status, 200, "{}", crawl.said());
    assert_eq!(found.visit("http://basic.test/").status, 200, "{}", crawl.said());
    for request in heard.requests() {
        let sent = format!("{:?} {:?}", request.headers, request.body);
        for (host, secrets) in [
            ("one.test", &["S3CRET-1", "S3CRET-one.test"][..]),
            ("two.test", &["S3CRET-2", "S3CRET-two.test"]),
            ("api.test", &["S3CRET-T"]),
            ("basic.test", &["YW5hOlMzQ1JFVC1C"]),
        ] {
            let has = secrets.iter().any(|secret| sent.contains(secret));
            assert!(!has || request.host == host, "{} got the secret of {host}", request.host);
        }
    }
    let kept = ["cookies.jsonl", "secrets.toml"].map(|name| crawl.dir().join(name).display().to_string());
    assert_eq!(holding(&crawl.dir(), SECRET), kept);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_site_of_this_machine_is_logged_in_to_where_the_user_names_it() {
    let members = Members::new("127.0.0.1", "S3CRET-P", 100);
    let server = serve(Web::new().site("*", members.clone())).await;
    let home = format!("http://{}", server.address());
    let description = MEMBERS.replace("http://members.test", &home);
    let crawl = Crawl::routed(&[&format!("{home}/0")]).at_once().with(&["--no-sitemaps", "--exclude", "*logout*"]);
    let logins = secret_file(&crawl, "logins.toml", &description);
    for (number, seed) in ["/0", "/1"].into_iter().enumerate() {
        crawl.again(&["--login", &logins, &format!("{home}{seed}")]).run().await;
        members_pages(&crawl, &server.address().to_string());
        assert_eq!(members.logins(), number + 1, "{}", crawl.said());
    }
    // A crawl that began without cookies gets a jar with its login.
    let plain = Crawl::routed(&[&format!("{home}/0")]).at_once().with(&["--no-sitemaps", "--exclude", "*logout*"]);
    plain.run().await;
    let logins = secret_file(&plain, "logins.toml", &description);
    plain.again(&["--login", &logins, &format!("{home}/1")]).run().await;
    assert_eq!(plain.found().visit(&format!("{home}/1")).status, 200, "{}", plain.said());
    assert_eq!(members.logins(), 3, "{}", plain.said());
    // The login alone is named by the user.
    let named = Crawl::of(&server, &["http://members.test/0"]).at_once().with(&["--no-sitemaps"]);
    let logins = secret_file(&named, "logins.toml", &description);
    named.again(&["--login", &logins]).run().await;
    assert_eq!(members.logins(), 4, "{}", named.said());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_login_that_does_not_work_says_why_and_nothing_is_crawled() {
    let members = Members::new("members.test", "S3CRET-P", 5);
    let server = serve(Web::new().site("members.test", members.clone())).await;
    for (replaced, by, expect) in [
        (
            "S3CRET-P",
            "S3CRET-W",
            "login members: http://members.test/session answered with status 200, and it has no element `a#out`",
        ),
        ("password =", "pass =", "login members: the form has no field `pass`: it has csrf, user, password"),
        ("a#out", "a[", "`a[` is no CSS selector"),
        ("password = \"S3CRET-P\"", "password = \"env:NO_SUCH\"", "env:NO_SUCH: there is no such variable"),
    ] {
        let crawl = Crawl::of(&server, &["http://members.test/home"]).at_once();
        let description = MEMBERS.replace(replaced, by);
        let logins = secret_file(&crawl, "logins.toml", &description);
        let ended = crawl.again(&["--login", &logins]).begin().end().await;
        assert!(ended.code == Some(1) || ended.code == Some(2), "{by}: {}", crawl.said());
        assert!(crawl.said().contains(expect) && !crawl.said().contains(SECRET), "{expect}: {}", crawl.said());
        assert!(!crawl.dir().exists(), "{by}: what was made is left");
    }
    // The number of logins is limited, and what is beyond it is a failure with that reason.
    let crawl = Crawl::of(&server, &["http://members.test/home"]).at_once();
    let crawl = crawl.with(&["--max-attempts", "1", "--no-sitemaps", "--exclude", "*logout*"]);
    let logins = secret_file(&crawl, "logins.toml", &format!("{MEMBERS}max-logins = 1\n"));
    crawl.again(&["--login", &logins]).run().await;
    let found = crawl.found();
    assert_eq!(found.visit("http://members.test/4").status, 200, "{}", crawl.said());
    let explained = argiope(&["explain", &crawl.dir().display().to_string(), "http://members.test/5"]);
    assert!(explained.contains("login members: logged out again after 1 login (max-logins)"), "{explained}");
}

/// The round, and the URLs in the queue.
fn round_and_queue(crawl: &Crawl) -> (u32, u64) {
    let dir = CrawlDir::existing(&crawl.dir()).expect("a crawl");
    let view = dir.open_to_read(&dir.options().expect("settings")).expect("a state");
    let totals = view.totals().expect("a state");
    (totals.round.number, totals.pending)
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_failed_login_was_to_begin_has_not_begun() {
    let members = Members::new("members.test", "S3CRET-P", 100);
    let server = serve(Web::new().site("members.test", members.clone())).await;
    let crawl = Crawl::of(&server, &["http://members.test/home", "http://members.test/none"]).at_once();
    let crawl = crawl.with(&["--no-sitemaps", "--exclude", "*logout*"]);
    let right = secret_file(&crawl, "logins.toml", MEMBERS);
    let wrong = secret_file(&crawl, "wrong.toml", &MEMBERS.replace("S3CRET-P", "S3CRET-W"));
    crawl.again(&["--login", &right]).run().await;
    members_pages(&crawl, "members.test");
    let settings = || ["crawl.toml", "secrets.toml"].map(|name| std::fs::read(crawl.dir().join(name)).expect("a file"));
    let before = settings();

    for arguments in [&["--again"][..], &["--retry", "http_error"], &["--again", "--retry", "http_error"]] {
        let ended = crawl.again(arguments).with(&["--login", &wrong]).begin().end().await;
        assert_eq!(ended.code, Some(1), "{arguments:?}: {}", crawl.said());
        assert!(crawl.said().contains("nothing was begun: login members:"), "{arguments:?}: {}", crawl.said());
        assert_eq!(round_and_queue(&crawl), (1, 0), "{arguments:?}");
        assert!(settings() == before, "{arguments:?}");
    }
    members.is_closed.store(true, Ordering::Relaxed);
    // No page is visited again sooner than the time between rounds.
    tokio::time::sleep(Duration::from_millis(1_100)).await;
    let watched = Command::new(env!("CARGO_BIN_EXE_argiope"))
        .arg("watch")
        .arg(crawl.dir())
        .args(["--budget", "6000/min", "--every", "1s", "--rounds", "1"])
        .output()
        .expect("it runs");
    let said = String::from_utf8_lossy(&watched.stderr);
    assert!(!watched.status.success() && said.contains("nothing was begun: login members:"), "{said}");
    assert_eq!(round_and_queue(&crawl), (1, 0));

    members.is_closed.store(false, Ordering::Relaxed);
    let logins = members.logins();
    crawl.again(&["--again", "--login", &right]).run().await;
    assert_eq!(round_and_queue(&crawl), (2, 0), "{}", crawl.said());
    members_pages(&crawl, "members.test");
    assert_eq!(members.logins(), logins + 1, "one session for the whole round: {}", crawl.said());
}
