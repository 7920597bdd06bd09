//! The graph of sites or of domains: a vertex for each, an edge where a page of one links to a page of another.

use std::collections::{BTreeMap, HashMap};

use dataset::Layout;
use weburl::{CanonicalUrl, SiteKey, UrlKey};

use crate::{Graph, GraphBuilder, GraphError, names};

/// What pages are taken together by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grouping {
    /// Scheme, host and port.
    Site,
    /// The registrable domain, by the Public Suffix List.
    Domain,
}

/// A graph of groups.
pub struct Grouped {
    /// The graph. Links inside a group are none of it.
    pub graph: Graph,
    /// The names of its vertices.
    pub names: HashMap<UrlKey, String>,
}

impl Graph {
    /// The graph of the groups of its vertices. A group was crawled if anything of it was.
    ///
    /// # Errors
    /// The dataset cannot be read.
    pub fn grouped(&self, grouping: Grouping, layout: &Layout) -> Result<Grouped, GraphError> {
        self.grouped_by(grouping, &names([layout], self.examples().into_values())?)
    }

    /// The same where the URL of the first vertex of each site is known, by its key.
    ///
    /// # Errors
    /// There are more groups than a graph can number.
    pub fn grouped_by(&self, grouping: Grouping, urls: &HashMap<UrlKey, String>) -> Result<Grouped, GraphError> {
        let sites = self.examples();
        let mut names = HashMap::new();
        let mut groups: HashMap<SiteKey, UrlKey> = HashMap::with_capacity(sites.len());
        for (site, example) in sites {
            let Some(url) = urls.get(&example).and_then(|url| CanonicalUrl::from_canonical(url)) else { continue };
            let name = match grouping {
                Grouping::Site => url.site().as_str().to_owned(),
                Grouping::Domain => url.domain().to_owned(),
            };
            let key = UrlKey::of(&name, &name);
            groups.insert(site, key);
            names.insert(key, name);
        }
        let mut graph = GraphBuilder::default();
        for vertex in self.vertices() {
            let Some(group) = groups.get(&self.key(vertex).site) else { continue };
            graph.page(*group, self.kind(vertex))?;
            for target in self.targets(vertex) {
                match groups.get(&self.key(*target).site) {
                    Some(other) if other != group => graph.link(*group, *other)?,
                    _ => {}
                }
            }
        }
        Ok(Grouped { graph: graph.finish()?, names })
    }

    /// The first vertex of each site.
    fn examples(&self) -> BTreeMap<SiteKey, UrlKey> {
        let mut sites = BTreeMap::new();
        for key in self.keys() {
            sites.entry(key.site).or_insert(*key);
        }
        sites
    }
}
