//! What the datasets of several workers tell together, for a report whose state is elsewhere.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

use serde::{Deserialize, Serialize};
use weburl::{SiteKey, UrlKey};

use crate::Both;
use crate::near::Near;
use crate::own_links::Linked;
use crate::part::Part;
use crate::picture::PICTURE_PAGES_MAX;
use crate::top::ROWS_MAX;

/// URLs that are told with how many pages link to them. Some may not be pages of the crawl, and a list has only those.
const LINKED_TOLD: usize = 5 * ROWS_MAX;
/// HTML pages among which the links are told. For some of them the state may have another outcome since, and a picture has the others.
const PICTURED_TOLD: usize = 2 * PICTURE_PAGES_MAX;

/// What datasets tell together.
#[derive(Debug, Serialize, Deserialize)]
pub struct Gathered {
    /// The sums over all pages.
    pub part: Part,
    /// The links of all pages.
    pub links: GatheredLinks,
    /// The near duplicates; `None` where there are too many pages to compare.
    pub near: Option<Near>,
}

/// Links of pages, as far as a report needs them.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct GatheredLinks {
    /// The URLs that most pages link to.
    pub most: MostLinked,
    /// The links between the HTML pages among them, as places in their list.
    pub among: Vec<(usize, usize)>,
}

/// The URLs that most pages link to, found in one pass over all, in whichever order.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct MostLinked {
    any: Vec<(UrlKey, u64)>,
    html: Vec<(UrlKey, u64)>,
    /// The most for any URL.
    most: Both<u64>,
}

impl MostLinked {
    /// Takes in a part of all URLs, as each process knows it. What one of them knows of a URL has to be in the same part as what others know.
    pub fn add(&mut self, parts: Vec<Vec<Linked>>, seed_sites: &HashSet<SiteKey>) {
        let mut sums: HashMap<UrlKey, (u64, bool)> = HashMap::new();
        for (key, links, is_html) in parts.into_iter().flatten() {
            let sum = sums.entry(key).or_default();
            *sum = (sum.0 + u64::from(links), sum.1 || is_html);
        }
        for (key, (links, is_html)) in sums.into_iter().filter(|(_, (links, _))| *links > 0) {
            self.most.update(seed_sites.contains(&key.site), |most| most.max(links));
            self.any.push((key, links));
            if is_html {
                self.html.push((key, links));
            }
        }
        for (list, max) in [(&mut self.any, LINKED_TOLD), (&mut self.html, PICTURED_TOLD)] {
            list.sort_unstable_by_key(|(key, links)| (Reverse(*links), *key));
            list.truncate(max);
        }
    }

    /// The HTML pages among which the links are told.
    #[must_use]
    pub fn html(&self) -> Vec<UrlKey> {
        self.html.iter().map(|(key, _)| *key).collect()
    }

    /// How many pages link to the one that most do.
    pub(crate) fn most(&self) -> Both<u64> {
        self.most
    }

    /// How many pages link to each of the URLs that are told.
    pub(crate) fn links(&self) -> HashMap<UrlKey, u64> {
        self.any.iter().chain(&self.html).copied().collect()
    }
}

impl Gathered {
    /// True if there are too many pages to look for near duplicates among them.
    #[must_use]
    pub fn near_is_missing(&self) -> bool {
        self.near.is_none()
    }
}

impl GatheredLinks {
    /// The links between some of the HTML pages that are told, as places in that list.
    pub(crate) fn pairs(&self, pages: &[UrlKey]) -> HashSet<(usize, usize)> {
        let places: HashMap<UrlKey, usize> = pages.iter().enumerate().map(|(place, key)| (*key, place)).collect();
        let place = |told: usize| places.get(&self.most.html.get(told)?.0).copied();
        self.among.iter().filter_map(|(from, to)| Some((place(*from)?, place(*to)?))).collect()
    }
}
