//! What datasets tell of the pages in them: sums, which can be added up over those of several workers. Links are those of the link graph,
//! redirects and links from a page to itself left out.

use std::collections::HashSet;

use dataset::schema::Table;
use dataset::{Column, Layout};
use extract::media_type::Kind;
use model::Outcome;
use serde::{Deserialize, Serialize};
use store::CrawlView;
use weburl::{SiteKey, UrlKey};

use crate::items::Items;
use crate::own_links::OwnLinks;
use crate::rendering::Rendering;
use crate::statistics::{Images, LinkedPage, Links, Most, Ranked};
use crate::top::{ROWS_MAX, Tally, Top};
use crate::{Both, ReportError};

/// Sums over pages.
#[derive(Debug, Serialize, Deserialize)]
pub struct Part {
    /// Binary files by kind.
    pub(crate) kinds: Tally,
    /// Pages shown in a browser.
    pub(crate) rendering: Rendering,
    /// The tables of items.
    pub(crate) items: Items,
    html_pages: Both<u64>,
    links: Both<u64>,
    links_with_repeats: Both<u64>,
    linking: Top<UrlKey>,
    most_from: Both<u64>,
    images: Both<u64>,
    srcset_candidates: Both<u64>,
    most_on_a_page: Both<u64>,
    illustrated: Top<UrlKey>,
}

/// The page whose images are being counted.
#[derive(Default)]
struct Illustrated {
    page: Option<UrlKey>,
    count: u64,
}

/// Whether a page with this outcome is a binary file: one that repeats another is one too.
fn is_binary(outcome: Option<&str>, kind: &str) -> bool {
    let is_html = || [Kind::Html, Kind::Xhtml].iter().any(|html| html.as_str() == kind);
    outcome == Some(Outcome::Binary.as_str()) || outcome == Some(Outcome::Duplicate.as_str()) && !is_html()
}

impl Part {
    /// Counts what these datasets have, of which no page is in two, and returns the links of their pages too.
    ///
    /// # Errors
    /// A dataset cannot be read.
    pub fn of(datasets: &[Layout], seed_sites: &HashSet<SiteKey>) -> Result<(Self, OwnLinks), ReportError> {
        let mut part = Part {
            kinds: Tally::default(),
            rendering: Rendering::default(),
            items: Items::default(),
            html_pages: Both::default(),
            links: Both::default(),
            links_with_repeats: Both::default(),
            linking: Top::new(ROWS_MAX),
            most_from: Both::default(),
            images: Both::default(),
            srcset_candidates: Both::default(),
            most_on_a_page: Both::default(),
            illustrated: Top::new(1),
        };
        let mut own = OwnLinks::of(datasets)?;
        for dataset in datasets {
            part.read_pages(dataset, seed_sites, &mut own)?;
            part.read_images(dataset, seed_sites)?;
            part.items.read(dataset)?;
        }
        own.each_page(|key, links| {
            let is_seed_site = seed_sites.contains(&key.site);
            part.links.add(is_seed_site, links);
            part.most_from.update(is_seed_site, |most| most.max(links));
            part.linking.offer(links, || key);
        });
        Ok((part, own))
    }

    /// Adds those of other pages.
    pub fn add(&mut self, other: Part) {
        self.kinds.add_all(other.kinds);
        self.rendering.add_all(other.rendering);
        self.items.add_all(other.items);
        for (sum, more) in [
            (&mut self.html_pages, other.html_pages),
            (&mut self.links, other.links),
            (&mut self.links_with_repeats, other.links_with_repeats),
            (&mut self.images, other.images),
            (&mut self.srcset_candidates, other.srcset_candidates),
        ] {
            *sum = sum.with(more, u64::saturating_add);
        }
        self.most_from = self.most_from.with(other.most_from, u64::max);
        self.most_on_a_page = self.most_on_a_page.with(other.most_on_a_page, u64::max);
        self.linking.add_all(other.linking);
        self.illustrated.add_all(other.illustrated);
    }

    fn read_pages(
        &mut self,
        dataset: &Layout,
        seed_sites: &HashSet<SiteKey>,
        own: &mut OwnLinks,
    ) -> Result<(), ReportError> {
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
                let (outcome, kind) = (batch.text("outcome", row), batch.text("kind", row).unwrap_or("other"));
                if outcome == Some(Outcome::Html.as_str()) {
                    own.is_html(key);
                }
                if is_binary(outcome, kind) {
                    self.kinds.add(kind, is_seed_site);
                }
            }
        }
        Ok(())
    }

    fn read_images(&mut self, dataset: &Layout, seed_sites: &HashSet<SiteKey>) -> Result<(), ReportError> {
        let mut of = Illustrated::default();
        for batch in dataset.batches(Table::Images, &["source_key", "from_srcset"])? {
            let batch = batch?;
            for row in 0..batch.num_rows() {
                let Some(source) = batch.key("source_key", row) else { continue };
                self.turn_to(&mut of, Some(source), seed_sites);
                let is_seed_site = seed_sites.contains(&source.site);
                if batch.flag("from_srcset", row) == Some(true) {
                    self.srcset_candidates.add(is_seed_site, 1);
                } else {
                    self.images.add(is_seed_site, 1);
                    of.count += 1;
                }
            }
        }
        self.turn_to(&mut of, None, seed_sites);
        Ok(())
    }

    /// Begins with the images of a page, if it is another one than before.
    fn turn_to(&mut self, of: &mut Illustrated, page: Option<UrlKey>, seed_sites: &HashSet<SiteKey>) {
        if page == of.page {
            return;
        }
        let Illustrated { page: done, count } = std::mem::replace(of, Illustrated { page, count: 0 });
        if let Some(done) = done {
            self.most_on_a_page.update(seed_sites.contains(&done.site), |most| most.max(count));
            self.illustrated.offer(count, || done);
        }
    }

    /// The numbers, with the names of the pages that have most. `most_to` is how many pages link to the one that most do.
    pub(crate) fn finish(
        self,
        store: &dyn CrawlView,
        most_to: Both<u64>,
        most_linked: Ranked<LinkedPage>,
    ) -> Result<(Images, Links), ReportError> {
        let some = |most: Both<u64>| most.map(|most| (most > 0).then_some(most));
        let images = Images {
            html_pages: self.html_pages,
            images: self.images,
            srcset_candidates: self.srcset_candidates,
            mean_per_page: self.images.per(self.html_pages),
            most_on_a_page: some(self.most_on_a_page),
            most: named(store, self.illustrated)?.rows.into_iter().next(),
        };
        let links = Links {
            html_pages: self.html_pages,
            links: self.links,
            with_repeats: self.links_with_repeats,
            mean_per_page: self.links.per(self.html_pages),
            most_from_a_page: some(self.most_from),
            most_to_a_page: some(most_to),
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
