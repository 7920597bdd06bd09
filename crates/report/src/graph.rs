//! What the dataset tells: links, images, kinds of documents. Each table is read from front to back; the rows of a page lie
//! together in it.

use std::collections::{HashMap, HashSet};

use dataset::schema::Table;
use dataset::{Column, Layout};
use model::Outcome;
use store::Store;
use weburl::{SiteKey, UrlKey};

use crate::picture::{PageNode, Picture};
use crate::statistics::{Images, LinkedPage, Links, Most, Ranked};
use crate::top::{ROWS_MAX, Tally, Top};
use crate::{Both, ReportError, picture};

/// The kind of row that a redirect has in the table of links.
const REDIRECT: &str = "redirect";

/// What the dataset tells.
pub(crate) struct Graph {
    /// Binary files by kind.
    pub(crate) kinds: Tally,
    /// How many pages link to a URL. The one thing here that grows with the crawl: at most about 60 bytes for each URL linked to.
    links_to: HashMap<UrlKey, u32>,
    html_pages: Both<u64>,
    links: Both<u64>,
    links_with_repeats: Both<u64>,
    most_to: Both<u64>,
    linking: PerPage,
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

impl Graph {
    pub(crate) fn read(dataset: &Layout, seed_sites: &HashSet<SiteKey>) -> Result<Self, ReportError> {
        let mut graph = Graph {
            kinds: Tally::default(),
            links_to: HashMap::new(),
            html_pages: Both::default(),
            links: Both::default(),
            links_with_repeats: Both::default(),
            most_to: Both::default(),
            linking: PerPage::new(ROWS_MAX),
            images: Both::default(),
            srcset_candidates: Both::default(),
            illustrated: PerPage::new(1),
        };
        graph.read_pages(dataset, seed_sites)?;
        graph.read_links(dataset, seed_sites)?;
        graph.read_images(dataset, seed_sites)?;
        for (key, count) in &graph.links_to {
            graph.most_to.update(seed_sites.contains(&key.site), |most| most.max(u64::from(*count)));
        }
        Ok(graph)
    }

    fn read_pages(&mut self, dataset: &Layout, seed_sites: &HashSet<SiteKey>) -> Result<(), ReportError> {
        for batch in dataset.batches(Table::Pages, &["url_key", "outcome", "kind", "links"])? {
            let batch = batch?;
            for row in 0..batch.num_rows() {
                let Some(key) = batch.key("url_key", row) else { continue };
                let is_seed_site = seed_sites.contains(&key.site);
                if batch.number("links", row).is_some() {
                    self.html_pages.add(is_seed_site, 1);
                }
                if batch.text("outcome", row) == Some(Outcome::Binary.as_str()) {
                    self.kinds.add(batch.text("kind", row).unwrap_or("other"), is_seed_site);
                }
            }
        }
        Ok(())
    }

    fn read_links(&mut self, dataset: &Layout, seed_sites: &HashSet<SiteKey>) -> Result<(), ReportError> {
        let mut seen = HashSet::new();
        each_link(dataset, |source, target| {
            let is_seed_site = seed_sites.contains(&source.site);
            if self.linking.turn_to(Some(source), seed_sites) {
                seen.clear();
            }
            self.links_with_repeats.add(is_seed_site, 1);
            if source != target && seen.insert(target) {
                self.links.add(is_seed_site, 1);
                self.linking.count += 1;
                let count = self.links_to.entry(target).or_default();
                *count = count.saturating_add(1);
            }
        })?;
        self.linking.turn_to(None, seed_sites);
        Ok(())
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
        self.links_to.get(&key).copied().map_or(0, u64::from)
    }

    /// The numbers, with the names of the pages that have most.
    pub(crate) fn finish(
        self,
        store: &dyn Store,
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
            most_from_a_page: some(self.linking.most),
            most_to_a_page: some(self.most_to),
            most_linked,
            most_linking: named(store, self.linking.top)?,
        };
        Ok((images, links))
    }
}

pub(crate) fn named(store: &dyn Store, top: Top<UrlKey>) -> Result<Ranked<Most>, ReportError> {
    let (total, kept) = top.finish();
    let mut rows = Vec::new();
    for (count, key) in kept {
        rows.push(Most { count, url: store.get(key)?.map(|entry| entry.candidate.url.to_string()) });
    }
    Ok(Ranked { total, rows })
}

/// The pages with the links between them, laid out.
pub(crate) fn picture(dataset: &Layout, popular: Vec<(UrlKey, PageNode)>) -> Result<Picture, ReportError> {
    let places: HashMap<UrlKey, usize> = popular.iter().enumerate().map(|(at, (key, _))| (*key, at)).collect();
    let mut pairs = HashSet::new();
    each_link(dataset, |source, target| {
        if source != target
            && let (Some(from), Some(to)) = (places.get(&source), places.get(&target))
        {
            pairs.insert((*from, *to));
        }
    })?;
    Ok(picture::draw(popular.into_iter().map(|(_, page)| page).collect(), &pairs))
}

/// Calls `each` with the source and the target of every link that is no redirect.
fn each_link(dataset: &Layout, mut each: impl FnMut(UrlKey, UrlKey)) -> Result<(), ReportError> {
    for batch in dataset.batches(Table::Links, &["source_key", "target_key", "kind"])? {
        let batch = batch?;
        for row in 0..batch.num_rows() {
            if batch.text("kind", row) == Some(REDIRECT) {
                continue;
            }
            if let (Some(source), Some(target)) = (batch.key("source_key", row), batch.key("target_key", row)) {
                each(source, target);
            }
        }
    }
    Ok(())
}
