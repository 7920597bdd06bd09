//! What is different in a page: blocks of its text, and its links.

use std::collections::BTreeSet;

use export::{HtmlPage, html_of, markdown};
use extract::{Limits, html};
use replay::Replay;
use serde::Serialize;
use similar::{Algorithm, ChangeTag, capture_diff_slices};
use store::Entry;
use weburl::CanonicalUrl;

use super::Pages;

/// The largest number of blocks of a page that are compared; the rest of a longer page is ignored.
const BLOCKS_MAX: usize = 5_000;

/// What is different in a page.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// Blocks of its main text that are gone or new, as Markdown, in the order of the page.
    pub text: Vec<Block>,
    /// URLs that it links to now.
    pub links_added: Vec<String>,
    /// URLs that it links to no more.
    pub links_removed: Vec<String>,
}

/// A block of text that is on one side only.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Block {
    /// It is gone.
    Removed(String),
    /// It is new.
    Added(String),
}

impl Difference {
    /// True if the page shows no difference: the change is in its code.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.text.is_empty() && self.links_added.is_empty() && self.links_removed.is_empty()
    }
}

/// What is different between two visits of a page; `None` where one is no page, or cannot be read.
pub(super) fn between(before: &Entry, now: &Entry, pages: &Pages, replay: &mut Replay<'_>) -> Option<Difference> {
    let mut read = |entry: &Entry| html_of(entry, replay, pages.body_bytes_max).ok().flatten();
    let (before, page) = (read(before)?, read(now)?);
    Some(of_pages(&now.candidate.url, &before, &page, pages))
}

fn of_pages(url: &CanonicalUrl, before: &HtmlPage, now: &HtmlPage, pages: &Pages) -> Difference {
    let text = |page: &HtmlPage| markdown::page(&page.body, page.content_type.as_deref(), url.as_str()).markdown;
    let (links_before, links_now) = (links_of(url, before, pages), links_of(url, now, pages));
    let only = |these: &BTreeSet<String>, others| these.difference(others).cloned().collect();
    Difference {
        text: of_texts(&text(before), &text(now)),
        links_added: only(&links_now, &links_before),
        links_removed: only(&links_before, &links_now),
    }
}

/// The blocks of two texts that are on one side only. An empty line separates them.
pub(super) fn of_texts(before: &str, now: &str) -> Vec<Block> {
    // A page without text has no blocks.
    let blocks = |text| str::split(text, "\n\n").map(str::trim).filter(|block| !block.is_empty());
    let [before, now] = [before, now].map(|text| blocks(text).take(BLOCKS_MAX).collect::<Vec<_>>());
    let operations = capture_diff_slices(Algorithm::Patience, &before, &now);
    let changes = operations.iter().flat_map(|operation| operation.iter_changes(&before, &now));
    let block = |(tag, text): (ChangeTag, &str)| match tag {
        ChangeTag::Equal => None,
        ChangeTag::Delete => Some(Block::Removed(text.to_owned())),
        ChangeTag::Insert => Some(Block::Added(text.to_owned())),
    };
    changes.filter_map(|change| block((change.tag(), change.value()))).collect()
}

/// The URLs to which a page links.
fn links_of(url: &CanonicalUrl, page: &HtmlPage, pages: &Pages) -> BTreeSet<String> {
    let html = html::extract(&page.body, page.content_type.as_deref(), &Limits::default());
    let base = html.base_href.as_deref().and_then(|href| url.join(href, &pages.canonical).ok());
    let base = base.as_ref().unwrap_or(url);
    let links = html.links.iter().filter_map(|link| base.join(&link.href, &pages.canonical).ok());
    links.map(|link| link.to_string()).collect()
}
