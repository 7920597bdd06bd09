//! Secrets and pages in a browser: what a page of a seed's site asks for bears them, as far as it goes to such a site; what a foreign page
//! asks for bears none, wherever it goes.

use std::os::unix::fs::PermissionsExt;

use testkit::python::{python, runs, script as run_python};
use testweb::{Heard, Pages, Reply, Request, Web, from_fn};

use crate::crawls::Crawled;
use crate::requests::files;

fn script(body: &'static str) -> Reply {
    Reply::new(200).header("Content-Type", "text/javascript").body(body)
}

#[test]
fn a_foreign_page_asks_for_nothing_in_the_users_name() {
    asks_for_nothing(&["--header", "Cookie: id=S3CRET"]);
}

#[test]
fn a_foreign_page_asks_for_nothing_with_the_cookies_of_the_jar() {
    let home = tempfile::tempdir().expect("a directory");
    let file = home.path().join("cookies.txt");
    std::fs::write(&file, "seed.test\tFALSE\t/\tFALSE\t0\tid\tS3CRET\n").expect("written");
    std::fs::set_permissions(&file, PermissionsExt::from_mode(0o600)).expect("set");
    asks_for_nothing(&["--cookies", &file.display().to_string()]);
}

/// What these arguments give to the seed's site stays with its pages.
fn asks_for_nothing(arguments: &[&str]) {
    let heard = Heard::default();
    let seed = Pages::new()
        .html("/", "<a href=http://evil.test/>e</a><p id=p><script src=/shared.js></script><script src=http://cdn.test/c.js></script>")
        .reply("/shared.js", script("fetch('/api.json').then(() => { document.getElementById('p').textContent = 'had' })"))
        .reply("/api.json", Reply::new(200).header("Content-Type", "application/json").body("{}"))
        .reply("/private.json", Reply::new(200).header("Content-Type", "application/json").body("{}"));
    let evil = Pages::new().html(
        "/",
        "<p>evil<script src=http://seed.test/shared.js></script>
        <script>fetch('http://seed.test/private.json', { mode: 'no-cors', credentials: 'include' })</script>",
    );
    let web = Web::new()
        .site("seed.test", heard.at(seed))
        .site("evil.test", heard.at(evil))
        .site("cdn.test", heard.at(Pages::new().reply("/c.js", script("1"))));
    // More than a busy machine needs.
    let arguments = [&["--render", "always", "--render-time", "60s", "--scope", "any"], arguments].concat();
    let crawled = Crawled::of(web, "http://seed.test/", &arguments);
    let asked = |host: &str, target: &str| -> Vec<bool> {
        let requests = heard.requests().into_iter().filter(|request| request.host == host && request.target == target);
        requests.map(|request| request.header("cookie").is_some()).collect()
    };
    assert_eq!(asked("seed.test", "/"), [true]);
    assert_eq!(asked("seed.test", "/api.json"), [true], "{:?}", crawled.asked);
    assert_eq!(asked("cdn.test", "/c.js"), [false]);
    assert_eq!(asked("evil.test", "/"), [false]);
    assert_eq!(asked("seed.test", "/private.json"), [false], "for the foreign page");
    let mut shared = asked("seed.test", "/shared.js");
    shared.sort_unstable();
    assert_eq!(shared, [false, true], "the foreign page gets an answer of its own");
}

/// What a button does is not known: a crawl in the user's name presses them, and sends nothing that could change something.
#[test]
fn clicks_post_nothing_in_the_users_name() {
    let post = |name: &str| format!("fetch('/{name}', {{ method: 'POST', body: 'x' }})");
    let page = format!(
        "<p>words</p><button onclick=\"{}\">Delete</button><script>{}</script>",
        post("by-click"),
        post("by-script")
    );
    let posted = |more: &[&str]| {
        let heard = Heard::default();
        let site = Pages::new().html("/", page.clone()).text("/by-click", "x").text("/by-script", "x");
        let web = Web::new().site("seed.test", heard.at(site));
        let arguments = ["--render", "always", "--render-time", "60s"];
        let crawled = Crawled::of(web, "http://seed.test/", &[&arguments, more].concat());
        let posted = heard.requests().into_iter().filter(|request| request.method == "POST");
        let mut posted: Vec<String> = posted.map(|request| request.target).collect();
        posted.sort_unstable();
        let rows = crawled.run("export", &["jsonl"]).stdout;
        (posted, rows.contains("; 1 requests refused (click)"))
    };
    assert_eq!(posted(&[]), (vec!["/by-click".to_owned(), "/by-script".to_owned()], false));
    assert_eq!(posted(&["--header", "Cookie: id=S3CRET"]), (vec!["/by-script".to_owned()], true));
}

/// Requests without credentials bear neither the secret field nor the cookies of the jar, nor those of the page; the others do.
#[test]
fn requests_without_credentials_bear_no_secret() {
    let home = tempfile::tempdir().expect("a directory");
    let file = home.path().join("cookies.txt");
    std::fs::write(&file, ".seed.test\tTRUE\t/\tFALSE\t0\tjar\tS3CRET\n").expect("written");
    std::fs::set_permissions(&file, PermissionsExt::from_mode(0o600)).expect("set");
    let heard = Heard::default();
    let page = "<p>words<script>document.cookie = 'own=1; Domain=seed.test'</script>
        <script>for (const [cors, name] of [['anonymous', 'anonymous'], ['use-credentials', 'credentials']]) {
          const script = document.createElement('script'); script.crossOrigin = cors; script.src = `http://api.seed.test/${name}.js`;
          document.body.append(script) }</script>
        <script>for (const [url, credentials] of [['/omit', 'omit'], ['/same', 'same-origin'], ['http://api.seed.test/omit', 'omit'],
          ['http://api.seed.test/same', 'same-origin'], ['http://api.seed.test/include', 'include']]) fetch(url, { credentials })</script>";
    let open = || {
        let reply = script("1").header("Access-Control-Allow-Origin", "http://seed.test");
        reply.header("Access-Control-Allow-Credentials", "true")
    };
    let seed = Pages::new().html("/", page).text("/omit", "x").text("/same", "x");
    let paths = ["/anonymous.js", "/credentials.js", "/omit", "/same", "/include"];
    let api = paths.iter().fold(Pages::new(), |pages, path| pages.reply(*path, open()));
    let web = Web::new().site("seed.test", heard.at(seed)).site("api.seed.test", heard.at(api));
    let secret = "X-Secret: S3CRET";
    let arguments =
        ["--render", "always", "--render-time", "60s", "--depth", "0", "--cookies", &file.display().to_string()];
    let arguments = [&arguments[..], &["--header-for", "http://seed.test/*", secret]].concat();
    let arguments = [&arguments[..], &["--header-for", "http://api.seed.test/*", secret]].concat();
    Crawled::of(web, "http://seed.test/", &arguments);
    let mut bears: Vec<(String, bool, bool, bool)> = Vec::new();
    for request in
        heard.requests().iter().filter(|request| !request.target.ends_with("robots.txt") && request.target != "/")
    {
        let cookies = request.header("cookie").unwrap_or_default();
        let has = |cookie: &str| cookies.contains(cookie);
        let name = format!("{}{}", request.host, request.target);
        assert!(!cookies.contains("argiope"), "{cookies}");
        bears.push((name, request.header("x-secret").is_some(), has("jar=S3CRET"), has("own=1")));
    }
    bears.sort_unstable();
    let expect = [
        ("api.seed.test/anonymous.js", false),
        ("api.seed.test/credentials.js", true),
        ("api.seed.test/include", true),
        ("api.seed.test/omit", false),
        ("api.seed.test/same", false),
        ("seed.test/omit", false),
        ("seed.test/same", true),
    ];
    let expect = expect.map(|(name, bears)| (name.to_owned(), bears, bears, bears));
    assert_eq!(bears, expect);
}

/// A page with the protection of Angular, axios and Django against forged requests: its scripts copy a cookie.
fn protected(request: &Request) -> Reply {
    const COPIES: &str = r"<p>words<script>
        const token = decodeURIComponent(document.cookie.match(/XSRF-TOKEN=([^;]*)/)[1]);
        const post = (url, headers, body) => fetch(url, { method: 'POST', headers, body }).then(answer => answer.text())
          .then(text => document.body.insertAdjacentHTML('beforeend', `<p>${url} ${text}`));
        post('/json', { 'Content-Type': 'application/json', 'X-XSRF-TOKEN': token }, JSON.stringify({ token, n: 1 }));
        post('/form', {}, new URLSearchParams({ q: 'a b', csrfmiddlewaretoken: token }));
        post('/nested', { 'Content-Type': 'application/json' }, JSON.stringify({ token: JSON.stringify({ token }).replace(/\//g, '\\/') }));
        post('/base64', { 'X-Token': btoa(token) }, btoa('token: ' + token));
        </script>";
    let body = String::from_utf8_lossy(&request.body);
    let is_accepted = match request.target.as_str() {
        "/" => return Reply::html(COPIES).header("Set-Cookie", "XSRF-TOKEN=S3CRET%2Ftoken%3D; Path=/"),
        "/json" => request.header("x-xsrf-token") == Some("S3CRET/token=") && body.contains("S3CRET/token="),
        "/nested" => body == r#"{"token":"{\"token\":\"S3CRET\\/token=\"}"}"#,
        "/base64" => {
            body == "dG9rZW46IFMzQ1JFVC90b2tlbj0=" && request.header("x-token") == Some("UzNDUkVUL3Rva2VuPQ==")
        }
        "/form" => body == "q=a+b&csrfmiddlewaretoken=S3CRET%2Ftoken%3D",
        _ => return Reply::error(404, &request.target),
    };
    // Each answer sets another, as Laravel does.
    let reply = Reply::text(if is_accepted { "is accepted" } else { "is refused" });
    reply.header("Set-Cookie", "XSRF-TOKEN=S3CRET%2Flater%3D; Path=/")
}

#[test]
fn a_cookie_that_a_script_copies_is_in_no_record() {
    let web = Web::new().site("seed.test", from_fn(protected));
    let crawled =
        Crawled::of(web, "http://seed.test/", &["--render", "always", "--render-time", "60s", "--cookie-jar"]);
    let warc = files(&crawled.dir(), ".warc.gz").pop().expect("a segment").display().to_string();
    runs(python(&["warcio"]).args(["-m", "warcio.cli", "check"]).arg(&warc));
    let list = "import sys; from warcio.archiveiterator import ArchiveIterator\n\
                for record in ArchiveIterator(open(sys.argv[1], 'rb')):\n \
                print(record.rec_type, record.rec_headers.get_header('WARC-Target-URI'), record.http_headers, record.content_stream().read())";
    let records = run_python(&["warcio"], list, &[&warc]);
    let index = std::fs::read_to_string(files(&crawled.dir(), ".cdxj").pop().expect("an index")).expect("a file");
    let has = |secret: &str| records.contains(secret) || index.contains(secret);
    assert!(!has("S3CRET") && !has("UzNDUkVUL3Rva2VuPQ") && !has("IFMzQ1JFVC90b2tlbj0"), "{records}\n{index}");
    for recorded in
        [r#"b'{"token":"***","n":1}'"#, "b'q=a+b&csrfmiddlewaretoken=***'", "x-xsrf-token: ***", "argiope-redacted: "]
    {
        let is_there = records.lines().any(|line| line.to_ascii_lowercase().contains(recorded));
        assert!(is_there, "{recorded} is not in\n{records}");
    }
    assert!(index.contains(r#""requestBody": "q=a b&csrfmiddlewaretoken=***""#), "{index}");
    assert_eq!(crawled.run("check", &[]).code, 0);
}

/// An application with double submit, behind a cookie wall: its scripts read cookies that the server set before, and that the user gave.
fn double_submit(request: &Request) -> Reply {
    const MEMBER: &str = r"<p id=o></p><script>
        const of = name => (document.cookie.match(`(?:^|; )${name}=([^;]*)`) || [])[1];
        o.append(of('consent') === 'yes' ? 'let in' : 'kept out', of('session') ? ' told' : ' untold');
        fetch('/api', { method: 'POST', headers: { 'X-XSRF-TOKEN': of('XSRF-TOKEN') } })
          .then(answer => answer.text()).then(text => document.body.append(text));
        </script>";
    let cookies = request.header("cookie").unwrap_or_default();
    match request.target.as_str() {
        "/" => Reply::html("<a href=/member>x</a>")
            .header("Set-Cookie", "XSRF-TOKEN=S3CRET-token; Path=/")
            .header("Set-Cookie", "session=S3CRET-session; Path=/; HttpOnly"),
        "/member" => Reply::html(MEMBER).header("X-Session", "S3CRET-session"),
        "/api"
            if request.header("x-xsrf-token") == Some("S3CRET-token") && cookies.contains("session=S3CRET-session") =>
        {
            Reply::text("accepted")
        }
        "/api" => Reply::text("refused"),
        path => Reply::error(404, path),
    }
}

#[test]
fn scripts_read_the_cookies_of_the_jar_that_are_for_them() {
    let home = tempfile::tempdir().expect("a directory");
    let file = home.path().join("cookies.txt");
    std::fs::write(&file, "seed.test\tFALSE\t/\tFALSE\t0\tconsent\tyes\n").expect("written");
    std::fs::set_permissions(&file, PermissionsExt::from_mode(0o600)).expect("set");
    let web = Web::new().site("seed.test", from_fn(double_submit));
    let cookies = file.display().to_string();
    let arguments = ["--render", "always", "--render-time", "60s", "--cookies", &cookies];
    let crawled = Crawled::of(web, "http://seed.test/", &arguments);
    for text in ["let in untold", "accepted"] {
        assert_eq!(crawled.run("search", &[text, "--json"]).json()["pages"].as_u64(), Some(1), "{text}");
    }
    let warc = files(&crawled.dir(), ".warc.gz").pop().expect("a segment").display().to_string();
    let list = "import sys, gzip; print(gzip.open(sys.argv[1], 'rb').read())";
    let records = run_python(&["warcio"], list, &[&warc]);
    assert!(!records.contains("S3CRET"), "{records}");
    assert!(records.to_ascii_lowercase().contains("x-session: ***"), "{records}");
}
