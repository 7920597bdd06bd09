//! The links of the pages that one process knows.

use std::collections::{HashMap, HashSet};

use dataset::Layout;
use graph::{Graph, PageKind, Vertex};
use weburl::{SiteKey, UrlKey};

use crate::{Both, ReportError};

/// How many pages link to a URL, and whether it is an HTML page, as far as the process knows.
pub type Linked = (UrlKey, u32, bool);

/// Links of pages.
pub struct OwnLinks {
    graph: Graph,
    /// How many pages link to each of its vertices.
    links_to: Vec<u32>,
    html: HashSet<UrlKey>,
}

impl OwnLinks {
    pub(crate) fn of(datasets: &[Layout]) -> Result<Self, ReportError> {
        let graph = Graph::open(datasets)?;
        let mut links_to = vec![0_u32; graph.len()];
        for page in graph.vertices() {
            for target in links_of(&graph, page) {
                let links_to = &mut links_to[target as usize];
                *links_to = links_to.saturating_add(1);
            }
        }
        Ok(OwnLinks { graph, links_to, html: HashSet::new() })
    }

    /// Takes in that a URL is an HTML page.
    pub(crate) fn is_html(&mut self, key: UrlKey) {
        self.html.insert(key);
    }

    /// Calls `each` with all pages, and how many others each links to.
    pub(crate) fn each_page(&self, mut each: impl FnMut(UrlKey, u64)) {
        for page in self.graph.vertices() {
            each(self.graph.key(page), links_of(&self.graph, page).count() as u64);
        }
    }

    /// How many pages link to a URL.
    pub(crate) fn links_to(&self, key: UrlKey) -> u64 {
        self.graph.vertex(key).map_or(0, |page| u64::from(self.links_to[page as usize]))
    }

    /// How many pages link to the one that most do.
    pub(crate) fn most_to(&self, seed_sites: &HashSet<SiteKey>) -> Both<u64> {
        let mut most = Both::default();
        for (key, links_to) in self.graph.keys().iter().zip(&self.links_to) {
            most.update(seed_sites.contains(&key.site), |most: u64| most.max(u64::from(*links_to)));
        }
        most
    }

    /// How many URLs there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.graph.len()
    }

    /// True if there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The URLs that pages link to, and the HTML pages, in one of `shares` parts, into which all processes divide them alike.
    #[must_use]
    pub fn linked(&self, share: u64, shares: u64) -> Vec<Linked> {
        let all = self.graph.keys().iter().zip(&self.links_to);
        let of_share = all.filter(|(key, _)| key.url % shares.max(1) == share);
        let linked = of_share.map(|(key, links_to)| (*key, *links_to, self.html.contains(key)));
        linked.filter(|(_, links_to, is_html)| *links_to > 0 || *is_html).collect()
    }

    /// The links between some pages, each as the places of both ends.
    #[must_use]
    pub fn among(&self, pages: &[UrlKey]) -> HashSet<(usize, usize)> {
        let place = |(place, key): (usize, &UrlKey)| Some((self.graph.vertex(*key)?, place));
        let places: HashMap<Vertex, usize> = pages.iter().enumerate().filter_map(place).collect();
        let mut pairs = HashSet::new();
        for (page, from) in &places {
            pairs.extend(links_of(&self.graph, *page).filter_map(|target| Some((*from, *places.get(&target)?))));
        }
        pairs
    }
}

/// Where the links of a page lead, other than to itself; a redirect has none.
fn links_of(graph: &Graph, page: Vertex) -> impl Iterator<Item = Vertex> {
    let is_redirect = graph.kind(page) == PageKind::Redirect;
    graph.targets(page).iter().copied().filter(move |target| *target != page && !is_redirect)
}
