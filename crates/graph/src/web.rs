//! The link graph of a crawl in memory.

use dataset::Layout;
use weburl::UrlKey;

use crate::part::{Part, PartBuilder};
use crate::vertex::{PageKind, Vertex, Visits};
use crate::{GraphError, cache};

/// The link graph of a crawl: 25 bytes a vertex, 4 bytes an edge.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Graph {
    keys: Vec<UrlKey>,
    kinds: Vec<PageKind>,
    /// Where the edges of a vertex end; they begin where those of the one before end.
    ends: Vec<u64>,
    targets: Vec<Vertex>,
    /// It is to have no vertices but those that were visited.
    is_of_visits: bool,
}

impl Graph {
    /// The graph of one or several datasets. What segments tell is kept beside them, compressed, so that only what is new is read
    /// from the tables; where nothing can be written it is read each time.
    ///
    /// # Errors
    /// A dataset cannot be read.
    pub fn open<'a>(layouts: impl IntoIterator<Item = &'a Layout>) -> Result<Self, GraphError> {
        let mut parts = Vec::new();
        for layout in layouts {
            parts.extend(cache::parts(layout)?);
        }
        Graph::merge(parts)
    }

    /// The graph of what crawls visited, of datasets that have all of it: the URLs that were visited, successfully or not, and the links between
    /// them out of pages whose depth allowed to follow links.
    ///
    /// # Errors
    /// A dataset cannot be read.
    pub fn open_visited<'a>(
        layouts: impl IntoIterator<Item = &'a Layout>,
        visits: &Visits,
    ) -> Result<Self, GraphError> {
        let mut graph = Graph::open_share_of_visited(layouts, visits)?;
        graph.keep_visited(|_| true);
        Ok(graph)
    }

    /// What one of several processes knows of that graph. URLs that are linked to stay in it: another process may have visited them.
    ///
    /// # Errors
    /// A dataset cannot be read.
    pub fn open_share_of_visited<'a>(
        layouts: impl IntoIterator<Item = &'a Layout>,
        visits: &Visits,
    ) -> Result<Self, GraphError> {
        let mut parts = Vec::new();
        for layout in layouts {
            parts.extend(cache::parts(layout)?.into_iter().map(|part| part.followed(visits)));
        }
        let mut in_vain = PartBuilder::default();
        for key in &visits.in_vain {
            in_vain.page(*key, PageKind::Failed, 0)?;
        }
        parts.push(in_vain.finish());
        Ok(Graph { is_of_visits: true, ..Graph::merge(parts)? })
    }

    /// Whether this is a graph of visited pages.
    #[must_use]
    pub fn is_of_visits(&self) -> bool {
        self.is_of_visits
    }

    /// Drops unvisited vertices, and the edges to them, if all is known of a vertex.
    pub(crate) fn keep_visited(&mut self, is_known: impl Fn(UrlKey) -> bool) {
        const DROPPED: Vertex = Vertex::MAX;
        let mut numbers = vec![DROPPED; self.len()];
        let mut kept: Vertex = 0;
        for (vertex, number) in numbers.iter_mut().enumerate() {
            if self.kinds[vertex].is_visited() || !is_known(self.keys[vertex]) {
                *number = kept;
                kept += 1;
            }
        }
        if kept as usize == self.len() {
            return;
        }
        let (mut begin, mut edges) = (0, 0);
        for vertex in 0..numbers.len() {
            let of_vertex = begin..self.ends[vertex] as usize;
            begin = of_vertex.end;
            let number = numbers[vertex] as usize;
            if numbers[vertex] == DROPPED {
                continue;
            }
            for edge in of_vertex {
                let target = numbers[self.targets[edge] as usize];
                if target != DROPPED {
                    self.targets[edges] = target;
                    edges += 1;
                }
            }
            (self.keys[number], self.kinds[number]) = (self.keys[vertex], self.kinds[vertex]);
            self.ends[number] = edges as u64;
        }
        self.keys.truncate(kept as usize);
        self.kinds.truncate(kept as usize);
        self.ends.truncate(kept as usize);
        self.targets.truncate(edges);
    }

    /// One graph of several; a vertex may be in any number of them.
    pub(crate) fn merge(mut parts: Vec<Part>) -> Result<Self, GraphError> {
        let mut keys: Vec<UrlKey> = Vec::with_capacity(parts.iter().map(|part| part.keys.len()).sum());
        parts.iter().for_each(|part| keys.extend_from_slice(&part.keys));
        // Stable, since that sort goes by runs that are in order already.
        keys.sort();
        keys.dedup();
        keys.shrink_to_fit();
        if u32::try_from(keys.len()).is_err() {
            return Err(GraphError::TooLarge);
        }
        let mut kinds = vec![PageKind::Linked; keys.len()];
        let mut degrees = vec![0u64; keys.len()];
        let mut is_split = false;
        for part in &parts {
            for (at, place) in Places::new(&keys, &part.keys).enumerate() {
                kinds[place] = kinds[place].max(part.kinds[at]);
                is_split |= degrees[place] > 0 && part.degrees[at] > 0;
                degrees[place] += u64::from(part.degrees[at]);
            }
        }
        // Where the next edge of a vertex goes; in the end, where its edges end.
        let mut ends = degrees;
        let mut edges = 0;
        for end in &mut ends {
            edges += std::mem::replace(end, edges);
        }
        let mut targets = vec![0; usize::try_from(edges).map_err(|_| GraphError::TooLarge)?];
        for part in parts.drain(..) {
            let places: Vec<Vertex> = Places::new(&keys, &part.keys).map(|place| place as Vertex).collect();
            part.each_edge(|source, target| {
                let next = &mut ends[places[source as usize] as usize];
                targets[*next as usize] = places[target as usize];
                *next += 1;
            });
        }
        let mut graph = Graph { keys, kinds, ends, targets, is_of_visits: false };
        if is_split {
            graph.drop_repeats();
        }
        Ok(graph)
    }

    /// Drops the repeats among the edges of a vertex, whose links came from several segments.
    fn drop_repeats(&mut self) {
        let (mut begin, mut kept) = (0, 0);
        for end in &mut self.ends {
            let of_vertex = begin..*end as usize;
            begin = of_vertex.end;
            self.targets[of_vertex.clone()].sort_unstable();
            let first = kept;
            for at in of_vertex {
                let target = self.targets[at];
                if kept == first || self.targets[kept - 1] != target {
                    self.targets[kept] = target;
                    kept += 1;
                }
            }
            *end = kept as u64;
        }
        self.targets.truncate(kept);
    }

    /// Some vertices, in order, with their edges. `numbers` is as long as the graph, and may hold anything.
    pub(crate) fn part(&self, sources: &[Vertex], numbers: &mut [u32]) -> Part {
        let mut all = sources.to_vec();
        all.extend(sources.iter().flat_map(|source| self.targets(*source)));
        all.sort_unstable();
        all.dedup();
        let mut part = Part::default();
        let mut rest = sources.iter().peekable();
        for (number, vertex) in (0..).zip(&all) {
            numbers[*vertex as usize] = number;
            let (kind, degree) = match rest.next_if_eq(&vertex) {
                Some(source) => (self.kind(*source), self.targets(*source).len() as u32),
                None => (PageKind::Linked, 0),
            };
            part.push_vertex(self.key(*vertex), kind, degree);
        }
        for source in sources {
            part.push_edges(self.targets(*source).iter().map(|target| numbers[*target as usize]));
        }
        part
    }

    /// How many vertices there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// How many edges there are.
    #[must_use]
    pub fn edges(&self) -> usize {
        self.targets.len()
    }

    /// All vertices, in order.
    pub fn vertices(&self) -> impl Iterator<Item = Vertex> + use<> {
        0..self.keys.len() as Vertex
    }

    /// The vertex of a URL.
    #[must_use]
    pub fn vertex(&self, key: UrlKey) -> Option<Vertex> {
        self.keys.binary_search(&key).ok().map(|place| place as Vertex)
    }

    /// The keys of all vertices, in order.
    #[must_use]
    pub fn keys(&self) -> &[UrlKey] {
        &self.keys
    }

    /// The key of a vertex.
    #[must_use]
    pub fn key(&self, vertex: Vertex) -> UrlKey {
        self.keys[vertex as usize]
    }

    /// What is known of a vertex.
    #[must_use]
    pub fn kind(&self, vertex: Vertex) -> PageKind {
        self.kinds[vertex as usize]
    }

    /// Where the edges of a vertex lead, in order.
    #[must_use]
    pub fn targets(&self, vertex: Vertex) -> &[Vertex] {
        let vertex = vertex as usize;
        let begin = vertex.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.targets[begin as usize..self.ends[vertex] as usize]
    }

    /// How many edges lead to each vertex, in order.
    #[must_use]
    pub fn in_degrees(&self) -> Vec<u32> {
        let mut degrees = vec![0; self.len()];
        self.targets.iter().for_each(|target| degrees[*target as usize] += 1);
        degrees
    }
}

/// Where some keys lie among all keys, both in order.
struct Places<'a> {
    all: &'a [UrlKey],
    some: std::slice::Iter<'a, UrlKey>,
    place: usize,
}

impl<'a> Places<'a> {
    fn new(all: &'a [UrlKey], some: &'a [UrlKey]) -> Self {
        Places { all, some: some.iter(), place: 0 }
    }
}

impl Iterator for Places<'_> {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        let key = self.some.next()?;
        while self.all[self.place] < *key {
            self.place += 1;
        }
        Some(self.place)
    }
}

/// Makes a graph of pages and links in any order.
#[derive(Default)]
pub struct GraphBuilder(PartBuilder);

impl GraphBuilder {
    /// Adds a page.
    ///
    /// # Errors
    /// There are more URLs than a graph can number.
    pub fn page(&mut self, key: UrlKey, kind: PageKind) -> Result<(), GraphError> {
        self.0.page(key, kind, 0)
    }

    /// Adds a link.
    ///
    /// # Errors
    /// There are more URLs than a graph can number.
    pub fn link(&mut self, source: UrlKey, target: UrlKey) -> Result<(), GraphError> {
        self.0.link(source, target)
    }

    /// The graph.
    ///
    /// # Errors
    /// There are more URLs than a graph can number.
    pub fn finish(self) -> Result<Graph, GraphError> {
        Graph::merge(vec![self.0.finish()])
    }
}

#[cfg(test)]
mod tests {
    use weburl::SiteKey;

    use super::*;

    fn key(url: u64) -> UrlKey {
        UrlKey { site: SiteKey(url % 2), url }
    }

    fn part(pages: &[(u64, PageKind)], links: &[(u64, u64)]) -> Part {
        let mut part = PartBuilder::default();
        pages.iter().for_each(|(url, kind)| part.page(key(*url), *kind, 0).unwrap());
        links.iter().for_each(|(source, target)| part.link(key(*source), key(*target)).unwrap());
        part.finish()
    }

    #[test]
    fn parts_become_one_graph() {
        let graph = Graph::merge(vec![
            part(&[(1, PageKind::Fetched), (2, PageKind::Failed)], &[(1, 2), (1, 3), (1, 7)]),
            part(&[], &[]),
            part(&[(3, PageKind::Redirect), (2, PageKind::Fetched)], &[(3, 1), (1, 3), (1, 5)]),
        ]);
        let graph = graph.unwrap();
        let vertex = |url| graph.vertex(key(url)).unwrap();
        let targets = |url| graph.targets(vertex(url)).iter().map(|target| graph.key(*target).url).collect::<Vec<_>>();
        assert_eq!((graph.len(), graph.edges()), (5, 5));
        assert_eq!((targets(1), targets(2), targets(3)), (vec![2, 3, 5, 7], vec![], vec![1]));
        assert_eq!(graph.vertex(key(4)), None);
        let kinds = [1, 2, 3, 5].map(|url| graph.kind(vertex(url)));
        assert_eq!(kinds, [PageKind::Fetched, PageKind::Fetched, PageKind::Redirect, PageKind::Linked]);
        assert_eq!(graph.in_degrees().iter().sum::<u32>(), 5);
        assert!(Graph::merge(Vec::new()).unwrap().is_empty());
    }

    #[test]
    fn only_what_was_visited_is_kept() {
        let all = [
            part(
                &[(1, PageKind::Fetched), (3, PageKind::Refused), (4, PageKind::Fetched)],
                &[(1, 2), (1, 3), (1, 4), (1, 7)],
            ),
            part(&[(2, PageKind::Failed), (6, PageKind::Redirect)], &[(6, 1), (6, 3)]),
        ];
        let mut graph = Graph::merge(all.into()).unwrap();
        graph.keep_visited(|key| key.url != 7);
        let url = |vertex: &Vertex| graph.key(*vertex).url;
        let edges: Vec<(u64, u64)> = graph
            .vertices()
            .flat_map(|vertex| graph.targets(vertex).iter().map(move |target| (vertex, *target)))
            .map(|(source, target)| (url(&source), url(&target)))
            .collect();
        let mut urls: Vec<u64> = graph.vertices().map(|vertex| url(&vertex)).collect();
        urls.sort_unstable();
        assert_eq!(urls, [1, 2, 4, 6, 7], "of 7 another may know more");
        assert_eq!(edges, [(6, 1), (1, 2), (1, 4), (1, 7)]);
        graph.keep_visited(|_| true);
        assert_eq!((graph.len(), graph.edges()), (4, 3));
    }

    #[test]
    fn kinds_are_those_of_the_outcomes() {
        for (outcome, kind) in [
            ("html", PageKind::Fetched),
            ("duplicate", PageKind::Fetched),
            ("redirect", PageKind::Redirect),
            ("http_error", PageKind::Failed),
            ("disallowed", PageKind::Refused),
            ("excluded", PageKind::Refused),
            ("given_up", PageKind::Failed),
        ] {
            assert_eq!(PageKind::of(outcome), kind, "{outcome}");
        }
        for kind in PageKind::ALL {
            assert_eq!(PageKind::from_byte(kind.to_byte()), Some(kind));
        }
    }
}
