//! The links between sites, out of a graph that no process has whole.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use weburl::{SiteKey, UrlKey};

use crate::linking::{Query, ask};
use crate::rounds::{Crew, Step};
use crate::shard::Shard;
use crate::{Graph, GraphBuilder, GraphError, PageKind};

/// Sites, and the links from one to another.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SiteLinks {
    /// A vertex of each site, which stands for it, and whether anything of the site was crawled.
    pub sites: BTreeMap<UrlKey, bool>,
    /// Each pair of sites of which one has a vertex with an edge to a vertex of the other.
    pub links: BTreeSet<(SiteKey, SiteKey)>,
}

/// The links between the sites of a graph. Of several processes each has a part of the answer: whole sites, with their links.
///
/// # Errors
/// A worker was lost.
pub fn site_links(graph: &Arc<Graph>, crew: Crew) -> Result<SiteLinks, GraphError> {
    let mut all = SiteLinks::default();
    for answer in ask(graph, crew, || Sites)? {
        all.add(answer);
    }
    Ok(all)
}

impl SiteLinks {
    /// Takes in what another process, or thread, has.
    pub fn add(&mut self, other: SiteLinks) {
        for (key, is_crawled) in other.sites {
            // The threads of a process share its sites: the vertex that is known stands for the site.
            match self.sites.range(first_of(key.site)..).next().map(|(known, _)| *known) {
                Some(known) if known.site == key.site => {
                    *self.sites.entry(known).or_default() |= is_crawled;
                }
                _ => drop(self.sites.insert(key, is_crawled)),
            }
        }
        self.links.extend(other.links);
    }

    /// The graph with one vertex for each site.
    ///
    /// # Errors
    /// There are more sites than a graph can number.
    pub fn graph(&self) -> Result<Graph, GraphError> {
        let vertices: BTreeMap<SiteKey, UrlKey> = self.sites.keys().map(|key| (key.site, *key)).collect();
        let mut graph = GraphBuilder::default();
        for (key, is_crawled) in &self.sites {
            graph.page(*key, if *is_crawled { PageKind::Fetched } else { PageKind::Failed })?;
        }
        for (source, target) in &self.links {
            if let (Some(source), Some(target)) = (vertices.get(source), vertices.get(target)) {
                graph.link(*source, *target)?;
            }
        }
        graph.finish()
    }
}

/// The least key of a site.
const fn first_of(site: SiteKey) -> UrlKey {
    UrlKey { site, url: 0 }
}

/// The part of a worker. It has nothing to tell.
struct Sites;

impl Query for Sites {
    type Message = u8;
    type Answer = SiteLinks;

    fn round(&mut self, shard: &Shard, _: Vec<u8>) -> Step<u8, SiteLinks> {
        let mut answer = SiteLinks::default();
        let mut of_site: Option<UrlKey> = None;
        for (vertex, (key, kind)) in (0u32..).zip(shard.keys.iter().zip(&shard.kinds)) {
            // The vertices are in order: those of a site follow each other.
            let first = *of_site.filter(|first| first.site == key.site).get_or_insert(*key);
            of_site = Some(first);
            *answer.sites.entry(first).or_default() |= kind.is_crawled();
            let targets = shard.targets(vertex).iter().map(|slot| shard.key_of(*slot).site);
            answer.links.extend(targets.filter(|site| *site != key.site).map(|site| (key.site, site)));
        }
        Step::End(answer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ten URLs a site.
    fn key(url: u64) -> UrlKey {
        UrlKey { site: SiteKey(url / 10), url }
    }

    #[test]
    fn a_site_links_to_those_that_its_pages_link_to() {
        let mut graph = GraphBuilder::default();
        for (url, kind) in
            [(1, PageKind::Fetched), (2, PageKind::Failed), (11, PageKind::Failed), (21, PageKind::Redirect)]
        {
            graph.page(key(url), kind).unwrap();
        }
        for (source, target) in [(1, 2), (1, 11), (2, 11), (2, 21), (21, 1), (21, 21)] {
            graph.link(key(source), key(target)).unwrap();
        }
        let graph = Arc::new(graph.finish().unwrap());
        for threads in 1..5 {
            let found = site_links(&graph, Crew::threads(threads)).unwrap();
            assert_eq!(found.sites.len(), 3, "{threads}");
            let crawled: Vec<(u64, bool)> = found.sites.iter().map(|(key, crawled)| (key.site.0, *crawled)).collect();
            assert_eq!(crawled, [(0, true), (1, false), (2, true)], "{threads}");
            let links: Vec<(u64, u64)> = found.links.iter().map(|(source, target)| (source.0, target.0)).collect();
            assert_eq!(links, [(0, 1), (0, 2), (2, 0)], "{threads}");
            let sites = found.graph().unwrap();
            assert_eq!((sites.len(), sites.edges()), (3, 3), "{threads}");
        }
    }
}
