//! Sites as real ones are: pages, where their links lead, and which text they have.

use super::{Page, below, drawn, is_navigation, navigation, number, page};

/// Documentation: an index of chapters with sections, each with the next, the one before, and what it is part of.
pub(super) fn documentation(path: &str) -> Page {
    let section = |n: usize| format!("/docs/{}/{n}.html", n / 40);
    if is_navigation(path) {
        return page(path, navigation().collect());
    }
    let mut links: Vec<String> = match path.strip_prefix("/docs/").and_then(|rest| rest.strip_suffix(".html")) {
        None if path == "/" => (0..100).map(|chapter| format!("/docs/{chapter}/")).collect(),
        None => {
            let chapter = number(path.trim_end_matches('/'), "/docs/").expect("a chapter");
            (0..40).map(|n| section(chapter * 40 + n)).chain(["/".to_owned()]).collect()
        }
        Some(rest) => {
            let n: usize = rest.split_once('/').expect("a section").1.parse().expect("a number");
            let beside = [n.saturating_sub(1), (n + 1).min(3_999)].map(section);
            beside.into_iter().chain([format!("/docs/{}/", n / 40), "/".to_owned()]).collect()
        }
    };
    links.extend(navigation());
    page(path, links)
}

/// A wiki, whose links lead to few pages often and to many seldom.
pub(super) fn wiki(path: &str) -> Page {
    const PAGES: usize = 6_000;
    let target = |n: usize| {
        let uniform = drawn(path, n) as f64 / u64::MAX as f64;
        (uniform.powi(3) * PAGES as f64) as usize
    };
    let own = number(path, "/wiki/").unwrap_or(0);
    let links = (0..15).map(target).chain([(own * 7 + 1) % PAGES]).map(|n| format!("/wiki/{n}"));
    page(path, links.collect())
}

/// A forum: lists of topics one after the other. Nothing else links to a topic, nor to the page to reply to it.
pub(super) fn forum(path: &str) -> Page {
    let list = number(path, "/list?page=").or((path == "/").then_some(0));
    let links = match (list, number(path, "/topic?id=")) {
        (Some(list), _) => {
            let next = (list < 150).then(|| format!("/list?page={}", list + 1));
            (0..30).map(|n| format!("/topic?id={}", list * 30 + n)).chain(next).collect()
        }
        (None, Some(topic)) => vec![format!("/reply?id={topic}"), "/".to_owned()],
        (None, None) => vec![],
    };
    page(path, links)
}

/// Years and months, seventy each, and what happened in them.
pub(super) fn tree(path: &str) -> Page {
    let links = match path.matches('/').count() {
        _ if !path.ends_with('/') => vec![],
        1 => (0..70).map(|n| format!("/{n}/")).collect(),
        2 => (0..70).map(|n| format!("{path}{n}/")).collect(),
        3 => (0..3).map(|n| format!("{path}{n}.html")).collect(),
        _ => vec![],
    };
    page(path, links)
}

/// A list of very many topics. Each links to pages to which nothing else links.
pub(super) fn wide(path: &str) -> Page {
    let links = match (path, number(path, "/t/")) {
        ("/", _) => (0..10).map(|n| format!("/l/{n}")).collect(),
        (_, Some(topic)) => (0..2).map(|n| format!("/p/{topic}.{n}")).collect(),
        _ => {
            number(path, "/l/").map_or(vec![], |list| (0..1_000).map(|n| format!("/t/{}", list * 1_000 + n)).collect())
        }
    };
    page(path, links)
}

/// Directories in directories, and files in them.
pub(super) fn listing(path: &str) -> Page {
    if !path.ends_with('/') {
        return page(path, vec![]);
    }
    let depth = path.matches('/').count();
    let directories = if depth < 9 { 1 + below(3, path, 0) } else { 0 };
    let files = below(5, path, 1);
    let links = (0..directories).map(|n| format!("{path}d{n}/")).chain((0..files).map(|n| format!("{path}f{n}.txt")));
    page(path, links.collect())
}

/// Images one after the other, with next to no text, and the file of each.
pub(super) fn gallery(path: &str) -> Page {
    const IMAGES: usize = 3_000;
    let links = match number(path, "/image/") {
        None if path == "/" => vec!["/image/0".to_owned()],
        None => vec![],
        Some(n) => {
            let next = (n + 1 < IMAGES).then(|| format!("/image/{}", n + 1));
            [format!("/image/{}", n.saturating_sub(1)), format!("/files/{n}.jpg")].into_iter().chain(next).collect()
        }
    };
    (links, 1)
}

/// A story in chapters. Each links to the next and the one before.
pub(super) fn chapters(path: &str) -> Page {
    let n = number(path, "/chapter/").unwrap_or(0);
    let next = (n < 20_000).then(|| format!("/chapter/{}", n + 1));
    page(path, next.into_iter().chain([format!("/chapter/{}", n.saturating_sub(1))]).collect())
}

/// Articles by their numbers, in lists one after the other, and each once more for printing.
pub(super) fn articles(path: &str) -> Page {
    const ARTICLES: usize = 3_000;
    let list = number(path, "/index.php?option=content&view=list&start=").or((path == "/").then_some(0));
    let links = list.map_or(vec!["/".to_owned()], |start| {
        let numbers = start..(start + 20).min(ARTICLES);
        let articles = numbers.flat_map(|n| {
            ["", "&print=1"].map(|print| format!("/index.php?option=content&view=article&id={n}{print}"))
        });
        let next = (start + 20 < ARTICLES).then(|| format!("/index.php?option=content&view=list&start={}", start + 20));
        articles.chain(next).collect()
    });
    page(path.trim_end_matches("&print=1"), links)
}

/// A newspaper of ten years with a page for each day.
pub(super) fn newspaper(path: &str) -> Page {
    let links = match (path.matches('/').count(), path.ends_with('/')) {
        (_, false) => vec!["/".to_owned()],
        (1, _) => (2010..2020).map(|year| format!("/{year}/")).collect(),
        (2, _) => (1..=12).map(|month| format!("{path}{month:02}/")).collect(),
        (3, _) => (1..=28).map(|day| format!("{path}{day:02}/")).collect(),
        _ => (0..2).map(|n| format!("{path}article-{n}")).collect(),
    };
    page(path, links)
}

/// Many stories of that kind.
pub(super) fn stories(path: &str) -> Page {
    let links = match path.strip_prefix("/story/").and_then(|rest| rest.split_once('/')) {
        None => (0..150).map(|story| format!("/story/{story}/0")).collect(),
        Some((story, chapter)) => {
            let next = chapter.parse::<usize>().expect("a chapter") + 1;
            if next < 100 { vec![format!("/story/{story}/{next}")] } else { vec![] }
        }
    };
    page(path, links)
}

/// A pager that ends, with a text of its own on each page.
pub(super) fn pager(path: &str) -> Page {
    const PAGES: usize = 20_000;
    let n = number(path, "/page/").unwrap_or(0);
    let beside = [n.saturating_sub(1), n + 1, n + 2].into_iter().filter(|n| *n < PAGES);
    page(path, beside.map(|n| format!("/page/{n}")).collect())
}

/// Pages of few words, each with links to two more.
pub(super) fn binary_tree(path: &str) -> Page {
    const PAGES: usize = 12_000;
    let n = number(path, "/node/").unwrap_or(1);
    ([2 * n, 2 * n + 1].into_iter().filter(|n| *n <= PAGES).map(|n| format!("/node/{n}")).collect(), 0)
}

/// The same with texts, and three links each.
pub(super) fn ternary_tree(path: &str) -> Page {
    const PAGES: usize = 50_000;
    let n = number(path, "/node/").unwrap_or(0);
    page(path, (3 * n + 1..3 * n + 4).filter(|n| *n < PAGES).map(|n| format!("/node/{n}")).collect())
}

/// Documents by ids that look like those of sessions, with few words or none, each with the next.
pub(super) fn documents(path: &str) -> Page {
    const DOCUMENTS: usize = 400;
    let key = |n: usize| format!("/show?id={:016x}", 0x8f14_e45f_ceea_167a_u64.wrapping_mul(2 * n as u64 + 1));
    let own = (0..DOCUMENTS).find(|n| key(*n) == path);
    let next = own.map_or(0, |own| own + 1);
    ((next < DOCUMENTS).then(|| key(next)).into_iter().collect(), 0)
}
