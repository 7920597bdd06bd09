//! The statistics are gathered: from the state, and from what datasets tell of the pages.

use std::collections::HashSet;

use dataset::{Layout, first_uncovered};
use store::CrawlView;
use weburl::{SiteKey, UrlKey};

use crate::gathered::{Gathered, GatheredLinks};
use crate::items::Items;
use crate::near::Near;
use crate::own_links::OwnLinks;
use crate::part::Part;
use crate::picture::{self, PageNode};
use crate::scan::{self, Scanned};
use crate::statistics::{DOCUMENT_KINDS, Duplicates, Statistics};
use crate::top::ROWS_MAX;
use crate::{Both, ReportError};

/// The message without a dataset; `{}` stands for the directory.
const MISSING: &str = "images, links and the picture of links are missing: there is no dataset; `argiope derive {}` makes it from \
                       the archive, if there is one";

/// The message with a dataset that has not all rows; `{}` as before.
const BEHIND: &str = "the dataset does not reach to the end of the archive, so images, links and the picture of links lack what is newer: \
                      `argiope derive {}` completes it";

/// What datasets tell.
struct Told {
    part: Part,
    links: Links,
    near: Option<Near>,
}

/// The links that they tell.
enum Links {
    Own(OwnLinks),
    Gathered(GatheredLinks),
}

impl Statistics {
    /// Counts a crawl whose dataset is here, if there is one. `directory` names the crawl in advice. While the crawl goes on and completes its
    /// dataset (`is_running`), that may reach less far than the state.
    ///
    /// # Errors
    /// The state or the dataset cannot be read.
    pub fn of(store: &dyn CrawlView, dataset: &Layout, directory: &str, is_running: bool) -> Result<Self, ReportError> {
        if !dataset.exists() {
            return Statistics::of_state(store, None, Some(MISSING.replace("{}", directory)));
        }
        let segments = store.segments()?;
        let segments = segments.iter().map(|segment| (&*segment.name, segment.length));
        let uncovered = first_uncovered(dataset, segments, is_running)?;
        let seed_sites = seed_sites(store)?;
        let datasets = [dataset.clone()];
        let near = Near::of(&datasets, &seed_sites)?;
        let (part, own) = Part::of(&datasets, &seed_sites)?;
        let told = Told { part, links: Links::Own(own), near: Some(near) };
        count(store, &seed_sites, Some(told), uncovered.map(|_| BEHIND.replace("{}", directory)))
    }

    /// Counts a crawl whose datasets are elsewhere. What they tell was gathered; or it is missing, as the message says.
    ///
    /// # Errors
    /// The state cannot be read.
    pub fn of_state(
        store: &dyn CrawlView,
        gathered: Option<Gathered>,
        missing: Option<String>,
    ) -> Result<Self, ReportError> {
        let told = gathered.map(|Gathered { part, links, near }| Told { part, links: Links::Gathered(links), near });
        count(store, &seed_sites(store)?, told, missing)
    }
}

/// The sites that a seed lies on.
///
/// # Errors
/// The state cannot be read.
pub fn seed_sites(store: &dyn CrawlView) -> Result<HashSet<SiteKey>, ReportError> {
    Ok(store.seeds()?.iter().map(|seed| seed.key().site).collect())
}

fn count(
    store: &dyn CrawlView,
    seed_sites: &HashSet<SiteKey>,
    told: Option<Told>,
    missing: Option<String>,
) -> Result<Statistics, ReportError> {
    let seeds = store.seeds()?;
    let has_pages = store.totals()?.urls > 0;
    let Scanned { overview, mut lists, most_copied, popular } = match told.as_ref().map(|told| &told.links) {
        None => scan::scan(store, seed_sites, None)?,
        Some(Links::Own(own)) => scan::scan(store, seed_sites, Some(&|key| own.links_to(key)))?,
        Some(Links::Gathered(gathered)) => {
            let links = gathered.most.links();
            scan::scan(store, seed_sites, Some(&|key| links.get(&key).copied().unwrap_or_default()))?
        }
    };
    let (mut binary, mut rendering, mut items) = (lists.declared_kinds, Vec::new(), Items::default());
    let (mut images, mut links, mut picture, mut near) = (None, None, None, None);
    if let Some(Told { mut part, links: of_pages, near: found }) = told {
        binary = std::mem::take(&mut part.kinds);
        rendering = std::mem::take(&mut part.rendering).ranked();
        items = std::mem::take(&mut part.items);
        near = found.map(|near| near.named(store)).transpose()?;
        let (keys, nodes): (Vec<UrlKey>, Vec<PageNode>) = popular.into_iter().unzip();
        picture = Some(picture::draw(nodes, &of_pages.among(&keys)));
        let (of_images, of_links) = part.finish(store, of_pages.most_to(seed_sites), lists.most_linked)?;
        (images, links) = (Some(of_images), Some(of_links));
    }
    let of_sites = scan::of_sites(store, seed_sites, &mut lists.limits)?;
    Ok(Statistics {
        limits: lists.limits.ranked(&[]),
        seeds: seeds.iter().take(ROWS_MAX).map(ToString::to_string).collect(),
        missing: missing.filter(|_| has_pages),
        overview,
        sites: lists.sites,
        types: lists.types,
        errors_by_kind: lists.errors_by_kind,
        errors_by_site: lists.errors_by_site,
        disallowed_by_site: lists.disallowed_by_site,
        binary_by_type: binary.ranked(&DOCUMENT_KINDS),
        images,
        links,
        duplicates: Duplicates { exact: overview.duplicates, most_copied, near },
        items: items.ranked(),
        rendering,
        status_codes: lists.status_codes,
        content_types: lists.content_types,
        depths: lists.depths,
        freshness: None,
        sites_in_trouble: of_sites.in_trouble,
        slowest_sites: of_sites.slowest,
        largest: lists.largest,
        speed: lists.speed,
        picture,
    })
}

impl Links {
    /// The links between some pages, as places in the list.
    fn among(&self, pages: &[UrlKey]) -> HashSet<(usize, usize)> {
        match self {
            Links::Own(own) => own.among(pages),
            Links::Gathered(gathered) => gathered.pairs(pages),
        }
    }

    /// How many pages link to the one that most do.
    fn most_to(&self, seed_sites: &HashSet<SiteKey>) -> Both<u64> {
        match self {
            Links::Own(own) => own.most_to(seed_sites),
            Links::Gathered(gathered) => gathered.most.most(),
        }
    }
}
