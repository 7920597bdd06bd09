//! How many pages a second a crawl shows in a browser, against a plain script that drives Chromium alone on the same pages (`plain.py`).
//!
//! `cargo bench -p argiope --bench rendering -- [PAGES]`, without it 200 pages of each kind. Both have two tabs, and a context for every
//! page. The crawl fetches, records and derives its dataset besides; its pages' clocks run for five seconds, the script takes the
//! document when the load event comes.

use std::error::Error;
use std::io::Write;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use testweb::{Config, Pages, Reply, Server, Web};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

const TABS: &str = "2";
/// How often each is measured, in turn; the median counts.
const RUNS: usize = 5;
/// How long a server takes that is not on this machine.
const SERVER_TIME: Duration = Duration::from_millis(100);

/// Pages that are built by a script of their own.
fn first_visits(pages: usize) -> Pages {
    let own = (0..pages).fold(index(pages), |site, n| {
        site.html(format!("/p/{n}"), format!("<title>{n}</title><body><script src=/own/{n}.js></script>"))
            .reply(format!("/own/{n}.js"), script(&filler(20_000)))
    });
    own.reply("/favicon.ico", Reply::new(404))
}

/// Pages that are built by three scripts that all have, as those of an application.
fn shared_scripts(pages: usize) -> Pages {
    let head = (0..3).map(|n| format!("<script src=/shared/{n}.js></script>")).collect::<String>();
    let all = (0..pages)
        .fold(index(pages), |site, n| site.html(format!("/p/{n}"), format!("<title>{n}</title><body>{head}")));
    let all = (0..2).fold(all, |site, n| site.reply(format!("/shared/{n}.js"), slow(script(&filler(300_000)))));
    all.reply("/shared/2.js", slow(script(&filler(300_000)))).reply("/favicon.ico", Reply::new(404))
}

fn slow(reply: Reply) -> Reply {
    reply.delay(SERVER_TIME)
}

fn index(pages: usize) -> Pages {
    let links = (0..pages).map(|n| format!("<a href=/p/{n}>{n}</a> ")).collect::<String>();
    Pages::new().html("/", links)
}

/// A script of some size that adds a little to the page.
fn filler(bytes: usize) -> String {
    let unused = (0..bytes / 60).map(|n| format!("function unused{n}(a) {{ return a.map(x => x * {n} + 1) }}\n"));
    let adds = "document.body.insertAdjacentHTML('beforeend', `<p>Woven of ${location.pathname}</p>`);";
    unused.chain([adds.to_owned()]).collect()
}

fn script(body: &str) -> Reply {
    let reply = Reply::new(200).header("Content-Type", "text/javascript").header("Cache-Control", "max-age=600");
    reply.body(body.to_owned())
}

#[expect(clippy::disallowed_methods, reason = "a benchmark measures time")]
fn timed(work: impl FnOnce() -> Result<()>) -> Result<f64> {
    let began = Instant::now();
    work()?;
    Ok(began.elapsed().as_secs_f64())
}

fn crawl(server: &Server, pages: usize) -> Result<()> {
    let dir = tempfile::TempDir::new()?;
    let out = dir.path().join("crawl").display().to_string();
    let (to, shown) = (server.connect_to(), (pages + 1).to_string());
    let fixed = ["crawl", "http://app.test/", "-o", &out, "--connect-to", &to, "--progress", "none", "--no-sitemaps"];
    let fast = ["--delay", "0", "--ip-delay", "0", "--connections-per-site", TABS];
    let render = ["--render", "always", "--render-tabs", TABS];
    let argiope = |arguments: &[&str]| Command::new(env!("CARGO_BIN_EXE_argiope")).args(arguments).output();
    let crawled = argiope(&[&fixed[..], &fast, &render].concat())?;
    let found = argiope(&["search", &out, "Woven of /p/", "--json"])?;
    let found: serde_json::Value = serde_json::from_slice(&found.stdout)?;
    match crawled.status.success() && found["pages"] == pages {
        true => Ok(()),
        false => Err(format!("not {shown} pages: {}", String::from_utf8_lossy(&crawled.stderr)).into()),
    }
}

fn plain(server: &Server, pages: usize) -> Result<()> {
    let browser = render::Settings::find_browser(None)?;
    let mut script = Command::new("python3")
        .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/benches/plain.py"))
        .arg(browser)
        .args([server.address().port().to_string().as_str(), TABS])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    let mut urls: String = (0..pages).map(|n| format!("http://app.test/p/{n}\n")).collect();
    urls.push_str("http://app.test/\n");
    script.stdin.take().ok_or("no pipe")?.write_all(urls.as_bytes())?;
    let output = script.wait_with_output()?;
    let printed = String::from_utf8(output.stdout)?;
    match printed.split(' ').next() == Some((pages + 1).to_string().as_str()) {
        true => Ok(()),
        false => Err(format!("not {pages} pages: {printed}").into()),
    }
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_unstable_by(f64::total_cmp);
    times[times.len() / 2]
}

fn main() -> Result<()> {
    let pages = std::env::args().skip(1).find_map(|argument| argument.parse().ok()).unwrap_or(200);
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    for (what, site) in [("first visits", first_visits(pages)), ("shared scripts", shared_scripts(pages))] {
        let server = runtime.block_on(Server::start(Config::new(Web::new().site("app.test", site))))?;
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        for _ in 0..RUNS {
            ours.push(timed(|| crawl(&server, pages))?);
            theirs.push(timed(|| plain(&server, pages))?);
        }
        let rate = |times: &[f64]| (pages + 1) as f64 / median(times.to_vec());
        let ratio = median(ours.iter().zip(&theirs).map(|(ours, theirs)| theirs / ours).collect());
        println!(
            "{what}, {pages} pages: the crawl {:.1} pages/s, the plain script {:.1} pages/s, ratio {ratio:.2}",
            rate(&ours),
            rate(&theirs)
        );
    }
    Ok(())
}
