//! The answers, each computed by all processes together. Every process does the same, up to what the first has in the end.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use anyhow::Context;
use api::{
    Drawn, DrawnLink, Edge, Found, Link, LinkingResponse, LinksResponse, OverlapResponse, PageRankResponse,
    PathResponse, PictureResponse, Ranked, SearchResponse,
};
use dataset::schema::Table;
use dataset::{Column, DatasetError, Layout};
use graph::{
    Crew, Definition, Graph, Grouped, Grouping, Only, Overlap, Ranks, Search, SiteLinks, Visits, Within, domain_of,
    names, overlap, pagerank, search, site_links,
};
use model::Timestamp;
use weburl::{CanonicalUrl, SiteKey, UrlKey};

use super::QueryError;
use super::peers::Peers;
use super::request::pattern;
use super::{Named, Query, Vertices};
use ask::CONTEXT_CHARS;
use ask::links::{Linking, each_link, linking_pages};
use ask::page::PageRows;
use ask::path::link_text;
use ask::picture::{Among, Picture, Sketch};
use ask::target::domain_name;

/// Links that are named by overlap, each way.
const EDGES_MAX: usize = 10_000;
/// Links told of a page, each way.
const LINKS_MAX: usize = 10_000;

/// A question to this process and all others.
pub(super) struct PartOfQuery {
    /// What this process knows.
    pub(super) layouts: Vec<Layout>,
    pub(super) visits: Visits,
    pub(super) peers: Peers,
}

/// A key as JSON.
type WireKey = (u64, u64);

fn to_wire(key: UrlKey) -> WireKey {
    (key.site.0, key.url)
}

fn from_wire((site, url): WireKey) -> UrlKey {
    UrlKey { site: SiteKey(site), url }
}

impl PartOfQuery {
    /// The answer, in the first process.
    pub(super) fn answer(&mut self, query: &Query, crew: Crew) -> anyhow::Result<Option<serde_json::Value>> {
        let is_first = self.peers.is_first();
        let answer = match query {
            Query::PageRank { url: Some(url), is_normalized, .. } => {
                serde_json::to_value(self.rank(url, definition(*is_normalized), crew)?)
            }
            Query::PageRank { url: None, top, is_normalized, by } => {
                let definition = definition(*is_normalized);
                let ranks = match by {
                    Vertices::Pages => self.ranks(*top, definition, crew)?,
                    Vertices::Sites => self.ranks_of(Grouping::Site, *top, definition, crew)?,
                    Vertices::Domains => self.ranks_of(Grouping::Domain, *top, definition, crew)?,
                };
                serde_json::to_value(ranks)
            }
            Query::Overlap { urls, is_listed } => serde_json::to_value(self.overlap(urls, *is_listed, crew)?),
            Query::Search { text, ignore_case, is_regex, in_main_text, sites, since, limit } => {
                let search = Search {
                    pattern: pattern(text, *ignore_case, *is_regex)?,
                    within: Within::main_text(*in_main_text),
                    only: Only { sites: sites.iter().copied().map(SiteKey).collect(), since: since.map(Timestamp) },
                    limit: Some(*limit),
                    context: Some(CONTEXT_CHARS),
                };
                serde_json::to_value(self.search(search, crew)?)
            }
            Query::Path { ends } => serde_json::to_value(self.path(ends)?),
            Query::Picture { of, max } => {
                let drawn = match of {
                    Vertices::Sites => self.groups_drawn(Grouping::Site, *max, crew)?,
                    Vertices::Domains => self.groups_drawn(Grouping::Domain, *max, crew)?,
                    Vertices::Pages => self.pages_drawn(*max, crew)?,
                };
                serde_json::to_value(drawn.map(picture).unwrap_or_default())
            }
            Query::Links { url } => serde_json::to_value(self.links(url)?),
            Query::Linking { keys, pages_max } => serde_json::to_value(self.linking(keys, *pages_max)?),
            Query::Row { url } => serde_json::to_value(self.row(url)?),
            Query::Piece { .. } => return Err(QueryError::Refused("one worker alone has a piece".to_owned()).into()),
            Query::Contents { seed_sites } => serde_json::to_value(self.contents(seed_sites)?),
        };
        Ok(if is_first { Some(answer?) } else { None })
    }

    /// The URL that is meant, and whether any process knows it.
    fn resolve(
        &mut self,
        named: &Named,
        knows: impl FnMut(&CanonicalUrl) -> anyhow::Result<bool>,
    ) -> anyhow::Result<(CanonicalUrl, bool)> {
        let candidates = named.candidates();
        let own: Vec<bool> = candidates.iter().map(knows).collect::<anyhow::Result<_>>()?;
        let known = self.peers.gather(own, |all| {
            (0..candidates.len()).find(|at| all.iter().any(|known| known.get(*at) == Some(&true)))
        })?;
        let url = candidates.into_iter().nth(known.unwrap_or(0)).context("internal error: no URL was asked for")?;
        Ok((url, known.is_some()))
    }

    fn resolve_vertex(&mut self, named: &Named, graph: &Graph) -> anyhow::Result<(CanonicalUrl, bool)> {
        self.resolve(named, |url| Ok(graph.vertex(url.key()).is_some_and(|vertex| graph.kind(vertex).is_visited())))
    }

    /// The graph of what crawls visited, as far as this process knows it.
    fn graph(&self) -> anyhow::Result<Arc<Graph>> {
        let graph = match self.peers.are_others() {
            true => Graph::open_share_of_visited(&self.layouts, &self.visits)?,
            false => Graph::open_visited(&self.layouts, &self.visits)?,
        };
        Ok(Arc::new(graph))
    }

    /// The URLs of keys, as far as any process has them.
    fn names(&mut self, keys: &BTreeSet<UrlKey>) -> anyhow::Result<HashMap<UrlKey, String>> {
        let own = names(&self.layouts, keys.iter().copied())?;
        let own: Vec<(WireKey, String)> = own.into_iter().map(|(key, name)| (to_wire(key), name)).collect();
        let all = self.peers.gather(own, |all| {
            let all: HashMap<WireKey, String> = all.into_iter().flatten().collect();
            all.into_iter().collect::<Vec<_>>()
        })?;
        Ok(all.into_iter().map(|(key, name)| (from_wire(key), name)).collect())
    }

    /// The rank of a page. Ranks travel as their bits, so that they stay what they are.
    fn rank(&mut self, named: &Named, definition: Definition, crew: Crew) -> anyhow::Result<PageRankResponse> {
        let graph = self.graph()?;
        let (url, _) = self.resolve_vertex(named, &graph)?;
        let ranks = pagerank(&graph, definition, crew)?;
        let own = ranks.values.iter().find(|(key, _)| *key == url.key()).map(|(_, rank)| rank.to_bits());
        // One process at most owns it.
        let rank = self.peers.gather(own, |all| all.into_iter().flatten().next())?.map(f64::from_bits);
        let higher = ranks.values.iter().filter(|(_, other)| rank.is_some_and(|rank| *other > rank)).count() as u64;
        let higher: u64 = self.peers.gather(higher, |all| all.into_iter().sum())?;
        // What has the same rank has the same place.
        let place = rank.map_or(0, |_| higher + 1);
        let ranked = vec![Ranked { place, rank: rank.unwrap_or(0.0), url: url.as_str().to_owned() }];
        Ok(told(&ranks, "pages", ranked))
    }

    /// The highest ranks; of equal ranks the order is that of the keys.
    fn ranks(&mut self, top: usize, definition: Definition, crew: Crew) -> anyhow::Result<PageRankResponse> {
        let graph = self.graph()?;
        let mut ranks = pagerank(&graph, definition, crew)?;
        let top = self.highest(std::mem::take(&mut ranks.values), top)?;
        let names = self.names(&top.iter().map(|(key, _)| *key).collect())?;
        let ranked = (1..).zip(top).map(|(place, (key, rank))| Ranked { place, rank, url: name_of(&names, key) });
        let ranked = ranked.collect();
        Ok(told(&ranks, "pages", ranked))
    }

    /// The highest ranks of groups of pages, in the first process.
    fn ranks_of(
        &mut self,
        grouping: Grouping,
        top: usize,
        definition: Definition,
        crew: Crew,
    ) -> anyhow::Result<PageRankResponse> {
        let Some(Grouped { graph, names }) = self.grouped(grouping, crew)? else {
            return Ok(PageRankResponse::default());
        };
        let mut ranks = pagerank(&Arc::new(graph), definition, Crew::threads(1))?;
        let ranked = (1..).zip(highest(std::mem::take(&mut ranks.values), top));
        let ranked = ranked.map(|(place, (key, rank))| Ranked { place, rank, url: name_of(&names, key) }).collect();
        Ok(told(&ranks, if grouping == Grouping::Site { "sites" } else { "domains" }, ranked))
    }

    /// The highest ranks of all processes.
    fn highest(&mut self, own: Vec<(UrlKey, f64)>, count: usize) -> anyhow::Result<Vec<(UrlKey, f64)>> {
        let bits = |(key, rank): (UrlKey, f64)| (to_wire(key), rank.to_bits());
        let rank = |(key, bits): (WireKey, u64)| (from_wire(key), f64::from_bits(bits));
        let own: Vec<(WireKey, u64)> = highest(own, count).into_iter().map(bits).collect();
        let top: Vec<(WireKey, u64)> = self.peers.gather(own, |all| {
            let all = all.into_iter().flatten().map(rank).collect();
            highest(all, count).into_iter().map(bits).collect()
        })?;
        Ok(top.into_iter().map(rank).collect())
    }

    /// The pages of highest rank as a picture, in the first process. Each process knows the links of its own pages.
    fn pages_drawn(&mut self, max: usize, crew: Crew) -> anyhow::Result<Option<Picture>> {
        let graph = self.graph()?;
        let ranked = pagerank(&graph, Definition::Original, crew)?;
        let ranks = self.highest(ranked.values, max)?;
        let own = Among::of(&graph, ranks.iter().map(|(key, _)| *key));
        let all = [ranked.vertices, ranked.edges].map(|count| usize::try_from(count).unwrap_or(usize::MAX));
        let mut among = Among::none(ranks.len());
        self.peers.gather(own, |parts: Vec<Among>| parts.iter().for_each(|part| among.add(part)))?;
        let names = self.names(&ranks.iter().map(|(key, _)| *key).collect())?;
        Ok(self.peers.is_first().then(|| Sketch { ranks, among, all }.drawn(&names)))
    }

    /// The groups of pages of highest rank as a picture, in the first process.
    fn groups_drawn(&mut self, grouping: Grouping, max: usize, crew: Crew) -> anyhow::Result<Option<Picture>> {
        let Some(Grouped { graph, names }) = self.grouped(grouping, crew)? else { return Ok(None) };
        Ok(Some(Sketch::of(&Arc::new(graph), max)?.drawn(&names)))
    }

    /// The graph of groups of pages, in the first process. A process owns whole sites; the graph of all of them is small.
    fn grouped(&mut self, grouping: Grouping, crew: Crew) -> anyhow::Result<Option<Grouped>> {
        let own = site_links(&self.graph()?, crew)?;
        let sites: Vec<(WireKey, bool)> =
            own.sites.into_iter().map(|(key, is_crawled)| (to_wire(key), is_crawled)).collect();
        let links: Vec<(u64, u64)> = own.links.into_iter().map(|(source, target)| (source.0, target.0)).collect();
        let mut whole = SiteLinks::default();
        // All have to name the sites; the first draws them.
        let keys: Vec<WireKey> = self.peers.gather((sites, links), |parts| {
            for (sites, links) in parts {
                whole.add(SiteLinks {
                    sites: sites.into_iter().map(|(key, is_crawled)| (from_wire(key), is_crawled)).collect(),
                    links: links.into_iter().map(|(source, target)| (SiteKey(source), SiteKey(target))).collect(),
                });
            }
            whole.sites.keys().copied().map(to_wire).collect()
        })?;
        let urls = self.names(&keys.into_iter().map(from_wire).collect())?;
        if !self.peers.is_first() {
            return Ok(None);
        }
        Ok(Some(whole.graph()?.grouped_by(grouping, &urls)?))
    }

    fn overlap(&mut self, urls: &[Named; 2], is_listed: bool, crew: Crew) -> anyhow::Result<OverlapResponse> {
        let graph = self.graph()?;
        let mut roots = Vec::new();
        for named in urls {
            match self.resolve_vertex(named, &graph)? {
                (url, true) => roots.push(url),
                (url, false) => return Err(QueryError::NotVisited(url.to_string()).into()),
            }
        }
        let roots = [&roots[0], &roots[1]];
        let domains = roots.map(domain_name);
        if domain_of(roots[0]) == domain_of(roots[1]) {
            let same = format!("both URLs are in {}: an overlap needs two domains (host and port)", domains[0]);
            return Err(QueryError::Refused(same).into());
        }
        let Overlap { reachable, edges } = overlap(&graph, roots, crew)?;
        let counts = edges.each_ref().map(|edges| edges.len() as u64);
        let listed = edges.map(|edges| {
            let listed = edges.into_iter().take(if is_listed { EDGES_MAX } else { 0 });
            listed.map(|edge| (to_wire(edge.source), to_wire(edge.target))).collect::<Vec<_>>()
        });
        let (reachable, links, edges) = self.peers.gather((reachable, counts, listed), |parts| {
            let (mut reachable, mut links, mut edges) = ([0; 2], [0; 2], [Vec::new(), Vec::new()]);
            for (reached, counts, listed) in parts {
                for (root, listed) in listed.into_iter().enumerate() {
                    reachable[root] += reached[root];
                    links[root] += counts[root];
                    edges[root].extend(listed);
                }
            }
            for edges in &mut edges {
                edges.sort_unstable();
                edges.truncate(EDGES_MAX);
            }
            (reachable, links, edges.concat())
        })?;
        let ends = edges.iter().flat_map(|(source, target)| [from_wire(*source), from_wire(*target)]);
        let names = self.names(&ends.collect())?;
        let name = |key| name_of(&names, from_wire(key));
        let edges = edges.into_iter().map(|(source, target)| Edge { source: name(source), target: name(target) });
        Ok(OverlapResponse {
            overlap: links.iter().sum(),
            domains: domains.to_vec(),
            reachable: reachable.to_vec(),
            links: links.to_vec(),
            edges: edges.collect(),
        })
    }

    fn search(&mut self, asked: Search, crew: Crew) -> anyhow::Result<SearchResponse> {
        let found = search(&self.layouts, asked, crew)?;
        // The first has the answer, which counts if all could read what they have.
        self.peers.gather((), |_| ())?;
        let rows = found.rows.into_iter().map(|row| Found {
            url: row.url,
            occurrences: row.occurrences,
            context: row.context.unwrap_or_default(),
        });
        Ok(SearchResponse { pages: found.pages, occurrences: found.occurrences, found: rows.collect() })
    }

    /// The shortest way by links, of several the one that [`graph::shortest_path`] finds.
    fn path(&mut self, ends: &[Named; 2]) -> anyhow::Result<PathResponse> {
        let graph = Graph::open(&self.layouts)?;
        let mut urls = Vec::new();
        for named in ends {
            match self.resolve(named, |url| Ok(graph.vertex(url.key()).is_some()))? {
                (url, true) => urls.push(url),
                (url, false) => return Err(QueryError::Unknown(url.to_string()).into()),
            }
        }
        let [from, to] = [urls[0].key(), urls[1].key()];
        let mut levels = vec![vec![to_wire(from)]];
        let mut seen = BTreeSet::from([to_wire(from)]);
        while !seen.contains(&to_wire(to)) {
            let next = self.next_level(&graph, levels.last().map_or(&[], Vec::as_slice), &seen)?;
            if next.is_empty() {
                return Err(QueryError::NoPath(urls[0].to_string(), urls[1].to_string()).into());
            }
            seen.extend(next.iter().copied());
            levels.push(next);
        }
        let keys = self.way_back(&graph, &levels, to)?;
        let names = self.names(&keys.iter().copied().collect())?;
        let mut texts = Vec::new();
        for ends in keys.windows(2) {
            let mut own = None;
            for layout in &self.layouts {
                own = own.or(link_text(layout, ends[0], ends[1])?);
            }
            let text: Option<String> = self.peers.gather(own, |all| all.into_iter().flatten().next())?;
            texts.push(text.unwrap_or_default());
        }
        Ok(PathResponse { urls: keys.into_iter().map(|key| name_of(&names, key)).collect(), texts })
    }

    /// The URLs that the pages of a level link to and that no level has yet: in the order of the pages, those of a page by their keys.
    fn next_level(
        &mut self,
        graph: &Graph,
        level: &[WireKey],
        seen: &BTreeSet<WireKey>,
    ) -> anyhow::Result<Vec<WireKey>> {
        let mut own: BTreeMap<WireKey, usize> = BTreeMap::new();
        for (place, key) in level.iter().enumerate() {
            for target in targets(graph, *key).filter(|target| !seen.contains(target)) {
                own.entry(target).or_insert(place);
            }
        }
        let own: Vec<(usize, WireKey)> = own.into_iter().map(|(key, place)| (place, key)).collect();
        self.peers.gather(own, |all| {
            let mut all: Vec<(usize, WireKey)> = all.into_iter().flatten().collect();
            all.sort_unstable();
            let mut taken = BTreeSet::new();
            all.into_iter().map(|(_, key)| key).filter(|key| taken.insert(*key)).collect()
        })
    }

    /// The way from the URL of the first level to one of the last: each page is the first of its level that links to the next.
    fn way_back(&mut self, graph: &Graph, levels: &[Vec<WireKey>], to: UrlKey) -> anyhow::Result<Vec<UrlKey>> {
        let mut way = vec![to_wire(to)];
        for level in levels.iter().rev().skip(1) {
            let next = way[way.len() - 1];
            let own = level.iter().position(|key| targets(graph, *key).any(|target| target == next));
            let place: Option<usize> = self.peers.gather(own, |all| all.into_iter().flatten().min())?;
            way.push(place.map(|place| level[place]).context("internal error: a page of a path has no link to it")?);
        }
        Ok(way.into_iter().rev().map(from_wire).collect())
    }

    /// The rows of a page. One process at most has the row of a page that counts.
    fn row(&mut self, named: &Named) -> anyhow::Result<PageRows> {
        let mut own = PageRows::default();
        for url in named.candidates() {
            for layout in &self.layouts {
                own = own.and(PageRows::of(layout, url.key())?);
            }
        }
        self.peers.gather(own, |parts| parts.into_iter().fold(PageRows::default(), PageRows::and))
    }

    /// The links from a page in their order on it, and those to it in the order of the pages.
    fn links(&mut self, named: &Named) -> anyhow::Result<LinksResponse> {
        let layouts = self.layouts.clone();
        let (url, is_known) = self.resolve(named, |url| Ok(knows(&layouts, url.key())?))?;
        if !is_known {
            return Err(QueryError::Unknown(url.to_string()).into());
        }
        let mut own = [Vec::new(), Vec::new()];
        for (links, column) in own.iter_mut().zip(["source_key", "target_key"]) {
            for layout in &layouts {
                each_link(layout, column, url.key(), |link| {
                    if links.len() < LINKS_MAX {
                        links.push(Link {
                            source: link.source.to_owned(),
                            target: link.target.to_owned(),
                            text: link.text.unwrap_or_default().to_owned(),
                            kind: link.kind.to_owned(),
                            rel: link.rel.unwrap_or_default().to_owned(),
                        });
                    }
                    Ok(())
                })?;
            }
        }
        let [from, to] = self.peers.gather(own, |parts| {
            let mut ways = [Vec::new(), Vec::new()];
            for part in parts {
                ways.iter_mut().zip(part).for_each(|(all, links)| all.extend(links));
            }
            for links in &mut ways {
                // Stable: those of one page stay as they stand on it.
                links.sort_by(|one: &Link, other| one.source.cmp(&other.source));
                links.truncate(LINKS_MAX);
            }
            ways
        })?;
        Ok(LinksResponse { from, to })
    }

    /// The pages that link to URLs, in the order of their keys. Each process knows the links of its own pages.
    fn linking(&mut self, keys: &[WireKey], pages_max: usize) -> anyhow::Result<LinkingResponse> {
        let mut own: BTreeMap<UrlKey, Linking> = BTreeMap::new();
        for layout in &self.layouts {
            let targets = keys.iter().copied().map(from_wire).collect();
            for (key, linking) in linking_pages(layout, targets, pages_max)? {
                own.entry(key).or_default().add(linking, pages_max);
            }
        }
        let own: Vec<Linking> = keys.iter().map(|key| own.get(&from_wire(*key)).cloned().unwrap_or_default()).collect();
        let all = self.peers.gather(own, |parts: Vec<Vec<Linking>>| {
            let mut all = vec![Linking::default(); keys.len()];
            for part in parts {
                all.iter_mut().zip(part).for_each(|(all, own)| all.add(own, pages_max));
            }
            all
        })?;
        let linking = all.into_iter().map(|Linking { links, pages }| api::Linking { links, pages });
        Ok(LinkingResponse { linking: linking.collect() })
    }
}

/// A picture as clients get it.
fn picture(
    Picture { vertices, links, communities, left_out: [vertices_left_out, links_left_out] }: Picture,
) -> PictureResponse {
    let vertices = vertices.into_iter().map(|ask::picture::Drawn { name, rank, linked_by, community, at: [x, y] }| {
        Drawn { name, rank, linked_by, community, x, y }
    });
    PictureResponse {
        vertices: vertices.collect(),
        links: links.into_iter().map(|(source, target)| DrawnLink { source, target }).collect(),
        communities,
        vertices_left_out: vertices_left_out as u64,
        links_left_out: links_left_out as u64,
    }
}

/// What a page links to, as far as this process knows.
fn targets(graph: &Graph, page: WireKey) -> impl Iterator<Item = WireKey> {
    let vertices = graph.vertex(from_wire(page)).map_or(&[][..], |vertex| graph.targets(vertex));
    vertices.iter().map(|target| to_wire(graph.key(*target)))
}

fn told(ranks: &Ranks, by: &str, ranked: Vec<Ranked>) -> PageRankResponse {
    let (rounds, vertices, edges) = (ranks.rounds, ranks.vertices, ranks.edges);
    PageRankResponse { rounds, vertices, edges, ranked, by: by.to_owned() }
}

fn definition(is_normalized: bool) -> Definition {
    if is_normalized { Definition::Normalized } else { Definition::Original }
}

/// The highest ranks, in order.
fn highest(mut ranks: Vec<(UrlKey, f64)>, count: usize) -> Vec<(UrlKey, f64)> {
    let order = |(key, rank): &(UrlKey, f64), (other_key, other): &(UrlKey, f64)| -> Ordering {
        other.total_cmp(rank).then_with(|| key.cmp(other_key))
    };
    if ranks.len() > count {
        ranks.select_nth_unstable_by(count, order);
        ranks.truncate(count);
    }
    ranks.sort_unstable_by(order);
    ranks
}

fn name_of(names: &HashMap<UrlKey, String>, key: UrlKey) -> String {
    names.get(&key).cloned().unwrap_or_else(|| key.to_string())
}

/// Whether there is a row of a page, or a link to it.
fn knows(layouts: &[Layout], key: UrlKey) -> Result<bool, DatasetError> {
    for (table, column) in [(Table::Pages, "url_key"), (Table::Links, "target_key")] {
        for layout in layouts {
            for batch in layout.batches(table, &[column])?.only(column, key) {
                let batch = batch?;
                if (0..batch.num_rows()).any(|row| batch.key(column, row) == Some(key)) {
                    return Ok(true);
                }
            }
        }
    }
    Ok(false)
}
