//! A thousand pages, of which one in twenty hangs, crashes, takes all memory, opens dialogs without end, computes for ever, or
//! downloads without end: all others are rendered, the browsers' memory stays bounded, and none is left at the end. Fails if that
//! is not so.
//!
//! `cargo run --release -p argiope-render --example thousand -- [PAGES]`

use std::error::Error;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use model::{Headers, Refusal};
use render::{Page, Renderer, Served, Settings, Source, Wanted};
use weburl::{CanonicalRules, CanonicalUrl};

type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

/// One in so many pages misbehaves.
const BAD_EVERY: u64 = 20;
/// How they do, and whether they are given up.
const BAD: [(&str, bool); 6] = [
    ("<script>while (true) {}</script>", true),
    ("<script>for (;;) alert('again')</script>", true),
    ("<script>const a = []; for (;;) a.push(new Array(1e6).fill(Math.random()))</script>", true),
    (
        "<script>const a = []; setInterval(() => { const b = new Uint8Array(1 << 26); b.fill(7); a.push(b) }, 1)</script>",
        true,
    ),
    ("<script>(function next() { Promise.resolve().then(next) })()</script>", true),
    ("<a id=a href=/file.zip download>x</a><script>setInterval(() => a.click(), 1)</script>", false),
];
/// Memory of a browser, in bytes.
const BROWSER_BYTES_MAX: u64 = 1 << 30;
/// The name that the browsers' processes have in their command lines.
const PROFILE: &str = "/argiope-";

/// The same script for every page.
struct Scripts;

impl Source for Scripts {
    fn get(&self, wanted: Wanted) -> Pin<Box<dyn Future<Output = Served> + Send + '_>> {
        let script =
            "const n = location.pathname; document.body.innerHTML += `<p>page</p><a href=\"${n}/next\">next</a>`";
        let headers = Headers(vec![("Content-Type".to_owned(), "text/javascript".to_owned())]);
        Box::pin(async move {
            match wanted.url.ends_with("/a.js") {
                true => Served::Answer { status: 200, headers, body: script.into() },
                false => Served::Refused(Refusal::NoAnswer),
            }
        })
    }
}

/// How a page misbehaves, if it does.
fn badness(number: u64) -> Option<(&'static str, bool)> {
    let kind = usize::try_from(number / BAD_EVERY).unwrap_or(0) % BAD.len();
    (number % BAD_EVERY == BAD_EVERY - 1).then(|| BAD[kind])
}

fn page(number: u64) -> Result<Page> {
    let body = match badness(number) {
        Some((bad, _)) => format!("<body><p>bad</p>{bad}"),
        None => "<body><script src=/a.js></script>".to_owned(),
    };
    Ok(Page {
        url: CanonicalUrl::parse(&format!("http://page.test/{number}"), &CanonicalRules::default())?,
        status: 200,
        headers: Headers(vec![("Content-Type".to_owned(), "text/html".to_owned())]),
        body: body.into(),
    })
}

/// Memory of all browsers in bytes, what processes share not counted, and how many processes they have.
fn browsers() -> (u64, usize) {
    let mut found = (0, 0);
    for entry in std::fs::read_dir("/proc").into_iter().flatten().flatten() {
        let text = |name: &str| std::fs::read(entry.path().join(name)).unwrap_or_default();
        if String::from_utf8_lossy(&text("cmdline")).contains(PROFILE) {
            let statm = String::from_utf8_lossy(&text("statm")).into_owned();
            let field = |at| statm.split(' ').nth(at).and_then(|pages| pages.parse::<u64>().ok()).unwrap_or(0);
            found = (found.0 + field(1).saturating_sub(field(2)) * 4_096, found.1 + 1);
        }
    }
    found
}

#[tokio::main]
#[expect(clippy::disallowed_methods, reason = "a benchmark measures time")]
async fn main() -> Result<()> {
    let pages: u64 = std::env::args().nth(1).map_or(Ok(1_000), |pages| pages.parse())?;
    let settings = Settings {
        page_time_max: Duration::from_secs(5),
        browser_bytes_max: BROWSER_BYTES_MAX,
        ..Settings::new(Settings::find_browser(None)?)
    };
    let renderer = Arc::new(Renderer::new(settings));
    let (peak, is_over) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicBool::new(false)));
    let watch = tokio::spawn({
        let (peak, is_over) = (peak.clone(), is_over.clone());
        async move {
            while !is_over.load(Ordering::Relaxed) {
                peak.fetch_max(browsers().0, Ordering::Relaxed);
                tokio::time::sleep(Duration::from_millis(200)).await;
            }
        }
    });
    let began = Instant::now();
    let mut rendering = tokio::task::JoinSet::new();
    for number in 0..pages {
        let (renderer, page) = (renderer.clone(), page(number)?);
        rendering.spawn(async move { (number, renderer.render(&page, Arc::new(Scripts)).await) });
    }
    let (mut good, mut failed, mut wrong) = (0, 0, Vec::new());
    while let Some(done) = rendering.join_next().await {
        let (number, rendered) = done?;
        match (rendered, badness(number)) {
            (Ok(rendered), None) if rendered.html.contains(&format!("<a href=\"/{number}/next\">next</a>")) => {
                good += 1;
            }
            (Ok(_), Some((_, false))) => good += 1,
            (Err(_), Some((_, true))) => failed += 1,
            (other, _) => wrong.push(format!("{number}: {other:?}")),
        }
    }
    let seconds = began.elapsed().as_secs_f64();
    is_over.store(true, Ordering::Relaxed);
    watch.await?;
    drop(renderer);
    tokio::time::sleep(Duration::from_secs(2)).await;
    let left = browsers().1;
    println!(
        "{good} rendered, {failed} given up, {:.1} pages a second, browsers at most {} MB, {left} processes left",
        pages as f64 / seconds,
        peak.load(Ordering::Relaxed) >> 20
    );
    if !wrong.is_empty() || left > 0 || good + failed != pages {
        return Err(format!("{} went wrong: {:#?}", wrong.len(), &wrong[..wrong.len().min(5)]).into());
    }
    Ok(())
}
