//! An independent walker: plain HTTP/1.1 over blocking sockets, html5ever for HTML, the `url` crate for URLs. It shares
//! no code with the crawler, and finds what a browser's user could reach.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::{Condvar, Mutex};

use html5ever::tendril::TendrilSink;
use html5ever::{ParseOpts, parse_document};
use markup5ever_rcdom::{Handle, NodeData, RcDom};
use url::Url;

use crate::served::Served;

/// Threads that fetch and parse.
const THREADS: usize = 4;

/// Asks for everything that can be reached from `seeds` on their hosts. Returns each URL asked for, with whether it was
/// an HTML page.
pub fn walk(served: &Served, seeds: &[&str]) -> BTreeMap<String, bool> {
    let seeds: Vec<Url> = seeds.iter().map(|seed| Url::parse(seed).unwrap()).collect();
    let hosts: BTreeSet<String> = seeds.iter().map(|seed| seed.host_str().unwrap().to_owned()).collect();
    let walk = Walk::default();
    walk.add(seeds);
    std::thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| walk.work(served, &hosts));
        }
    });
    walk.state.into_inner().unwrap().known
}

/// The HTML pages that are within so many links of a seed on its host, each with the number of links that it has.
pub fn walk_within(served: &Served, seed: &str, depth: u32) -> BTreeMap<String, usize> {
    let seed = Url::parse(seed).unwrap();
    let hosts = BTreeSet::from([seed.host_str().unwrap().to_owned()]);
    let (mut known, mut pages, mut wave) = (BTreeSet::from([seed.to_string()]), BTreeMap::new(), vec![seed]);
    for _ in 0..=depth {
        let mut next = Vec::new();
        for url in wave {
            let (is_html, links) = visit(served, &url);
            if is_html {
                pages.insert(url.to_string(), links.len());
            }
            for mut link in links.into_iter().filter(|link| is_inside(link, &hosts)) {
                link.set_fragment(None);
                if known.insert(link.to_string()) {
                    next.push(link);
                }
            }
        }
        wave = next;
    }
    pages
}

/// Where a walk stands.
#[derive(Default)]
struct Walk {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    queue: VecDeque<Url>,
    known: BTreeMap<String, bool>,
    busy: usize,
}

impl Walk {
    fn add(&self, urls: Vec<Url>) {
        let mut state = self.state.lock().unwrap();
        for mut url in urls {
            url.set_fragment(None);
            if !state.known.contains_key(url.as_str()) {
                state.known.insert(url.to_string(), false);
                state.queue.push_back(url);
            }
        }
        self.changed.notify_all();
    }

    /// Takes one URL after another until nothing is left and nobody is busy who might find more.
    fn work(&self, served: &Served, hosts: &BTreeSet<String>) {
        while let Some(url) = self.take() {
            let (is_html, links) = visit(served, &url);
            self.add(links.into_iter().filter(|link| is_inside(link, hosts)).collect());
            let mut state = self.state.lock().unwrap();
            state.known.insert(url.to_string(), is_html);
            state.busy -= 1;
            self.changed.notify_all();
        }
    }

    fn take(&self) -> Option<Url> {
        let mut state = self.state.lock().unwrap();
        while state.queue.is_empty() && state.busy > 0 {
            state = self.changed.wait(state).unwrap();
        }
        let url = state.queue.pop_front()?;
        state.busy += 1;
        Some(url)
    }
}

fn is_inside(url: &Url, hosts: &BTreeSet<String>) -> bool {
    matches!(url.scheme(), "http" | "https") && url.host_str().is_some_and(|host| hosts.contains(host))
}

/// Fetches a URL. Returns whether it is an HTML page, and what it leads to.
fn visit(served: &Served, url: &Url) -> (bool, Vec<Url>) {
    let target = url.query().map_or(url.path().to_owned(), |query| format!("{}?{query}", url.path()));
    let answer = served.ask(url.host_str().unwrap(), &target);
    let end = answer.windows(4).position(|window| window == b"\r\n\r\n").unwrap();
    let (head, body) = (String::from_utf8_lossy(&answer[..end]).into_owned(), &answer[end + 4..]);
    let header = |name: &str| {
        let lines = head.lines().filter_map(|line| line.split_once(':'));
        lines.filter(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value.trim().to_owned()).next()
    };
    assert_eq!(header("transfer-encoding"), None, "the body would have to be put together: {url}");
    match head.split(' ').nth(1) {
        Some("200") if header("content-type").is_some_and(|value| value.starts_with("text/html")) => {
            (true, links(url, body))
        }
        Some("301" | "302" | "303" | "307" | "308") => {
            (false, header("location").and_then(|to| url.join(&to).ok()).into_iter().collect())
        }
        _ => (false, Vec::new()),
    }
}

/// What a page leads to: `a` and `area`, frames, `link` of the kinds that lead to pages, `meta` refresh.
fn links(url: &Url, body: &[u8]) -> Vec<Url> {
    let dom = parse_document(RcDom::default(), ParseOpts::default()).from_utf8().one(body);
    let mut hrefs = Vec::new();
    let mut base = None;
    let mut open: Vec<Handle> = vec![dom.document.clone()];
    while let Some(node) = open.pop() {
        open.extend(node.children.borrow().iter().cloned());
        let NodeData::Element { name, attrs, template_contents, .. } = &node.data else { continue };
        open.extend(template_contents.borrow().iter().cloned());
        let attributes = attrs.borrow();
        let get = |key: &str| attributes.iter().find(|a| &*a.name.local == key).map(|a| a.value.to_string());
        match &*name.local {
            "base" => base = base.or(get("href")),
            "a" | "area" => hrefs.extend(get("href")),
            "frame" | "iframe" => hrefs.extend(get("src")),
            "link" if leads_to_pages(&get("rel").unwrap_or_default()) => hrefs.extend(get("href")),
            "meta" if get("http-equiv").is_some_and(|value| value.eq_ignore_ascii_case("refresh")) => {
                hrefs.extend(get("content").as_deref().and_then(refresh_target));
            }
            _ => {}
        }
    }
    let base = base.and_then(|href| url.join(&href).ok()).unwrap_or_else(|| url.clone());
    hrefs.iter().filter_map(|href| base.join(href).ok()).collect()
}

fn leads_to_pages(rel: &str) -> bool {
    let kinds = ["canonical", "next", "prev", "alternate"];
    rel.split_ascii_whitespace().any(|word| kinds.contains(&&*word.to_ascii_lowercase()))
}

/// The URL in `5; url=next.html`.
fn refresh_target(content: &str) -> Option<String> {
    let (_, rest) = content.split_once([';', ','])?;
    let (key, url) = rest.split_once('=')?;
    key.trim().eq_ignore_ascii_case("url").then(|| url.trim().trim_matches(['"', '\'']).to_owned())
}
