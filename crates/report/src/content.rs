//! What the dataset tells: links, images, kinds of documents. Links are those of the link graph, redirects and links from a page to
//! itself left out.

use std::collections::{HashMap, HashSet};

use dataset::schema::Table;
use dataset::{Column, Layout};
use extract::media_type::Kind;
use graph::{Graph, PageKind, Vertex};
use model::Outcome;
use store::CrawlView;
use weburl::{SiteKey, UrlKey};

use crate::picture::{PageNode, Picture};
use crate::rendering::Rendering;
use crate::statistics::{Images, LinkedPage, Links, Most, Ranked};
use crate::top::{ROWS_MAX, Tally, Top};
use crate::{Both, ReportError, picture};

/// What the dataset tells.
pub(crate) struct Content {
    /// Binary files by kind.
    pub(crate) kinds: Tally,
    /// Pages shown in a browser.
    pub(crate) rendering: Rendering,
    graph: Graph,
    /// How many pages link to each of its vertices.
    links_to: Vec<u32>,
    html_pages: Both<u64>,
    links: Both<u64>,
    links_with_repeats: Both<u64>,
    most_to: Both<u64>,
    linking: Top<UrlKey>,
    most_from: Both<u64>,
    images: Both<u64>,
    srcset_candidates: Both<u64>,
    illustrated: PerPage,
}

/// Counts of the pages of a table, one page after the other.
struct PerPage {
    page: Option<UrlKey>,
    count: u64,
    most: Both<u64>,
    top: Top<UrlKey>,
}

impl PerPage {
    fn new(max: usize) -> Self {
        PerPage { page: None, count: 0, most: Both::default(), top: Top::new(max) }
    }

    /// Begins with a page, if it is another one than before. True if it is.
    fn turn_to(&mut self, page: Option<UrlKey>, seed_sites: &HashSet<SiteKey>) -> bool {
        if page == self.page {
            return false;
        }
        if let Some(done) = std::mem::replace(&mut self.page, page) {
            let count = std::mem::take(&mut self.count);
            self.most.update(seed_sites.contains(&done.site), |most| most.max(count));
            self.top.offer(count, || done);
        }
        true
    }
}

/// Whether a page with this outcome is a binary file: one that repeats another is one too.
fn is_binary(outcome: Option<&str>, kind: &str) -> bool {
    let is_html = || [Kind::Html, Kind::Xhtml].iter().any(|html| html.as_str() == kind);
    outcome == Some(Outcome::Binary.as_str()) || outcome == Some(Outcome::Duplicate.as_str()) && !is_html()
}

impl Content {
    pub(crate) fn read(dataset: &Layout, seed_sites: &HashSet<SiteKey>) -> Result<Self, ReportError> {
        let graph = Graph::open([dataset])?;
        let mut content = Content {
            kinds: Tally::default(),
            rendering: Rendering::default(),
            links_to: vec![0; graph.len()],
            graph,
            html_pages: Both::default(),
            links: Both::default(),
            links_with_repeats: Both::default(),
            most_to: Both::default(),
            linking: Top::new(ROWS_MAX),
            most_from: Both::default(),
            images: Both::default(),
            srcset_candidates: Both::default(),
            illustrated: PerPage::new(1),
        };
        content.read_pages(dataset, seed_sites)?;
        content.count_links(seed_sites);
        content.read_images(dataset, seed_sites)?;
        Ok(content)
    }

    fn read_pages(&mut self, dataset: &Layout, seed_sites: &HashSet<SiteKey>) -> Result<(), ReportError> {
        let columns = [&["url_key", "outcome", "kind", "links"][..], &Rendering::COLUMNS].concat();
        for batch in dataset.batches(Table::Pages, &columns)? {
            let batch = batch?;
            for row in 0..batch.num_rows() {
                let Some(key) = batch.key("url_key", row) else { continue };
                let is_seed_site = seed_sites.contains(&key.site);
                self.rendering.add(&batch, row);
                if let Some(links) = batch.number("links", row) {
                    self.html_pages.add(is_seed_site, 1);
                    self.links_with_repeats.add(is_seed_site, u64::try_from(links).unwrap_or(0));
                }
                let kind = batch.text("kind", row).unwrap_or("other");
                if is_binary(batch.text("outcome", row), kind) {
                    self.kinds.add(kind, is_seed_site);
                }
            }
        }
        Ok(())
    }

    fn count_links(&mut self, seed_sites: &HashSet<SiteKey>) {
        for page in self.graph.vertices() {
            let mut count = 0;
            for target in links_of(&self.graph, page) {
                let links_to = &mut self.links_to[target as usize];
                *links_to = links_to.saturating_add(1);
                count += 1;
            }
            let key = self.graph.key(page);
            let is_seed_site = seed_sites.contains(&key.site);
            self.links.add(is_seed_site, count);
            self.most_from.update(is_seed_site, |most| most.max(count));
            self.linking.offer(count, || key);
        }
        for (key, links_to) in self.graph.keys().iter().zip(&self.links_to) {
            self.most_to.update(seed_sites.contains(&key.site), |most| most.max(u64::from(*links_to)));
        }
    }

    fn read_images(&mut self, dataset: &Layout, seed_sites: &HashSet<SiteKey>) -> Result<(), ReportError> {
        for batch in dataset.batches(Table::Images, &["source_key", "from_srcset"])? {
            let batch = batch?;
            for row in 0..batch.num_rows() {
                let Some(source) = batch.key("source_key", row) else { continue };
                self.illustrated.turn_to(Some(source), seed_sites);
                let is_seed_site = seed_sites.contains(&source.site);
                if batch.flag("from_srcset", row) == Some(true) {
                    self.srcset_candidates.add(is_seed_site, 1);
                } else {
                    self.images.add(is_seed_site, 1);
                    self.illustrated.count += 1;
                }
            }
        }
        self.illustrated.turn_to(None, seed_sites);
        Ok(())
    }

    /// How many pages link to a URL.
    pub(crate) fn links_to(&self, key: UrlKey) -> u64 {
        self.graph.vertex(key).map_or(0, |page| u64::from(self.links_to[page as usize]))
    }

    /// The pages with the links between them, laid out.
    pub(crate) fn picture(&self, popular: Vec<(UrlKey, PageNode)>) -> Picture {
        let place = |(place, (key, _)): (usize, &(UrlKey, PageNode))| Some((self.graph.vertex(*key)?, place));
        let places: HashMap<Vertex, usize> = popular.iter().enumerate().filter_map(place).collect();
        let mut pairs = HashSet::new();
        for (page, from) in &places {
            pairs.extend(links_of(&self.graph, *page).filter_map(|target| Some((*from, *places.get(&target)?))));
        }
        picture::draw(popular.into_iter().map(|(_, page)| page).collect(), &pairs)
    }

    /// The numbers, with the names of the pages that have most.
    pub(crate) fn finish(
        self,
        store: &dyn CrawlView,
        most_linked: Ranked<LinkedPage>,
    ) -> Result<(Images, Links), ReportError> {
        let some = |most: Both<u64>| most.map(|most| (most > 0).then_some(most));
        let images = Images {
            html_pages: self.html_pages,
            images: self.images,
            srcset_candidates: self.srcset_candidates,
            mean_per_page: self.images.per(self.html_pages),
            most_on_a_page: some(self.illustrated.most),
            most: named(store, self.illustrated.top)?.rows.into_iter().next(),
        };
        let links = Links {
            html_pages: self.html_pages,
            links: self.links,
            with_repeats: self.links_with_repeats,
            mean_per_page: self.links.per(self.html_pages),
            most_from_a_page: some(self.most_from),
            most_to_a_page: some(self.most_to),
            most_linked,
            most_linking: named(store, self.linking)?,
        };
        Ok((images, links))
    }
}

pub(crate) fn named(store: &dyn CrawlView, top: Top<UrlKey>) -> Result<Ranked<Most>, ReportError> {
    let (total, kept) = top.finish();
    let mut rows = Vec::new();
    for (count, key) in kept {
        rows.push(Most { count, url: store.get(key)?.map(|entry| entry.candidate.url.to_string()) });
    }
    Ok(Ranked { total, rows })
}

/// Where the links of a page lead, other than to itself; a redirect has none.
fn links_of(graph: &Graph, page: Vertex) -> impl Iterator<Item = Vertex> {
    let is_redirect = graph.kind(page) == PageKind::Redirect;
    graph.targets(page).iter().copied().filter(move |target| *target != page && !is_redirect)
}
