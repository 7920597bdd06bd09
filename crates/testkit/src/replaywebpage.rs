//! ReplayWeb.page, which replays a WACZ file in the browser itself: a page with its two scripts, served beside the file.

use std::path::{Path, PathBuf};

use serde_json::json;
use testweb::{Config, Reply, Request, Server, Web};
use tokio::runtime::Runtime;

use crate::browser::Browser;

/// Where `cargo xtask test` unpacks the package.
fn package() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/npm/replaywebpage/package")
}

/// How often the viewer is loaded for a page, at most.
const LOADS_MAX: usize = 4;

/// Gives `of(document)` of the replayed page at a URL, as soon as that, its fonts and its images are there. The viewer has it in frames in frames,
/// below shadow roots.
const WAIT: &str = "async (url, of) => {
    const until = Date.now() + 15000;
    const find = (root) => {
        for (const element of root.querySelectorAll('*')) {
            const inside = element.shadowRoot || (element.tagName == 'IFRAME' && element.contentDocument);
            if (!inside) continue;
            const isPage = inside.location && inside.location.href.endsWith('mp_/' + url);
            if (isPage && inside.readyState == 'complete' && [...inside.images].every((image) => image.complete)) return inside;
            const found = isPage ? null : find(inside);
            if (found) return found;
        }
        return null;
    };
    let page;
    while (!(page = find(document)) && Date.now() < until) await new Promise((next) => setTimeout(next, 20));
    if (page) await page.fonts.ready;
    return page && of(page);
}";

/// The viewer of a file, served until it is dropped.
pub struct ReplayWebPage {
    server: Server,
    _runtime: Runtime,
}

impl ReplayWebPage {
    pub fn serve(wacz: &Path) -> Self {
        let read = |path: PathBuf| {
            std::fs::read(&path).unwrap_or_else(|error| {
                panic!("{}: {error}: `cargo xtask test` unpacks ReplayWeb.page there", path.display())
            })
        };
        let (viewer, worker) = (read(package().join("ui.js")), read(package().join("sw.js")));
        let file = read(wacz.to_owned());
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().expect("a runtime");
        let web = Web::new().site(
            "*",
            testweb::from_fn(move |request: &Request| {
                let script =
                    |body: &[u8]| Reply::new(200).header("Content-Type", "text/javascript").body(body.to_vec());
                match request.path() {
                    "/" => Reply::html(page_with(&request.target)),
                    "/ui.js" | "/replay/ui.js" => script(&viewer),
                    "/replay/sw.js" => script(&worker),
                    "/it.wacz" => part_of(&file, request.header("range").unwrap_or_default()),
                    path => Reply::error(404, path),
                }
            }),
        );
        let server = runtime.block_on(Server::start(Config::new(web))).expect("a free port");
        ReplayWebPage { server, _runtime: runtime }
    }

    /// Shows a page of the file, so that it takes the whole window, and gives the value of a function of its document. On a busy machine
    /// the viewer may miss the start of its service worker, and then shows nothing: it is loaded again, as a person would.
    pub fn show(&self, browser: &mut Browser, url: &str, width: u32, of: &str) -> serde_json::Value {
        let mut value = serde_json::Value::Null;
        for _ in 0..LOADS_MAX {
            browser.open(&format!("http://{}", self.server.address()), &format!("/?{url}"), width, false);
            value = browser.value(&format!("({WAIT})({}, {of})", json!(url)));
            if !value.is_null() {
                break;
            }
        }
        browser.settle();
        value
    }
}

/// The page with the viewer, for the URL behind the question mark.
fn page_with(target: &str) -> String {
    let url = target.split_once('?').map_or("", |(_, url)| url);
    format!(
        "<!DOCTYPE html><link rel=icon href=data:,><script src=/ui.js></script><body style='margin: 0'>\
         <replay-web-page embed=replayonly source=/it.wacz replaybase=/replay/ url='{url}' style='position: fixed; inset: 0'>"
    )
}

/// A part of a file, as `Range` asks for it (RFC 9110, 14.1.2).
fn part_of(file: &[u8], range: &str) -> Reply {
    let reply = |status| Reply::new(status).header("Content-Type", "application/zip").header("Accept-Ranges", "bytes");
    let (from, to) = match range.strip_prefix("bytes=").and_then(|range| range.split_once('-')) {
        None => return reply(200).body(file.to_vec()),
        Some(("", last)) => (file.len().saturating_sub(last.parse().unwrap_or(0)), file.len()),
        Some((from, to)) => (from.parse().unwrap_or(0), to.parse().map_or(file.len(), |to: usize| to + 1)),
    };
    let to = to.min(file.len());
    let field = format!("bytes {from}-{}/{}", to.saturating_sub(1), file.len());
    reply(206).header("Content-Range", field).body(file.get(from..to).unwrap_or_default().to_vec())
}
