//! The statistics are gathered: from the state, the dataset and the graph.

use dataset::Layout;
use store::CrawlView;

use crate::content::Content;
use crate::scan::{self, Scanned};
use crate::statistics::{DOCUMENT_KINDS, Duplicates, Statistics};
use crate::top::ROWS_MAX;
use crate::{ReportError, items, near};

/// The message without a dataset; `{}` stands for the directory.
const MISSING: &str = "images, links and the picture of links are missing: there is no dataset; `argiope derive {}` makes it from \
                       the archive, if there is one";

impl Statistics {
    /// Counts. `directory` names the crawl in advice.
    ///
    /// # Errors
    /// The state or the dataset cannot be read.
    pub fn of(store: &dyn CrawlView, dataset: &Layout, directory: &str) -> Result<Self, ReportError> {
        let seeds = store.seeds()?;
        let seed_sites = seeds.iter().map(|seed| seed.key().site).collect();
        let near = if dataset.exists() { Some(near::near(dataset, store, &seed_sites)?) } else { None };
        let has_pages = store.totals()?.urls > 0;
        let mut content = if dataset.exists() { Some(Content::read(dataset, &seed_sites)?) } else { None };
        let Scanned { overview, mut lists, most_copied, popular } = scan::scan(store, &seed_sites, content.as_ref())?;
        let rendering = content.as_mut().map(|content| std::mem::take(&mut content.rendering).ranked());
        let binary = content.as_mut().map(|content| std::mem::take(&mut content.kinds));
        let (images, links, picture) = match content {
            None => (None, None, None),
            Some(content) => {
                let picture = content.picture(popular);
                let (images, links) = content.finish(store, lists.most_linked)?;
                (Some(images), Some(links), Some(picture))
            }
        };
        let slowest_sites = scan::slowest(store, &seed_sites, &mut lists.limits)?;
        Ok(Statistics {
            limits: lists.limits.ranked(&[]),
            seeds: seeds.iter().take(ROWS_MAX).map(ToString::to_string).collect(),
            missing: (links.is_none() && has_pages).then(|| MISSING.replace("{}", directory)),
            overview,
            sites: lists.sites,
            types: lists.types,
            errors_by_kind: lists.errors_by_kind,
            errors_by_site: lists.errors_by_site,
            disallowed_by_site: lists.disallowed_by_site,
            binary_by_type: binary.unwrap_or(lists.declared_kinds).ranked(&DOCUMENT_KINDS),
            images,
            links,
            duplicates: Duplicates { exact: overview.duplicates, most_copied, near },
            items: items::fields(dataset)?,
            rendering: rendering.unwrap_or_default(),
            status_codes: lists.status_codes,
            content_types: lists.content_types,
            depths: lists.depths,
            freshness: None,
            slowest_sites,
            largest: lists.largest,
            speed: lists.speed,
            picture,
        })
    }
}
