//! The part of the graph that one segment of the archive tells of, small enough to be kept beside the dataset.
//!
//! ```text
//! MAGIC  BLAKE3 of the rest (32)
//! stamp (8)  vertices (8)  sites (8)  edges (8)  bytes of the depths (8)  bytes of the gaps (8)
//! a site: key (8), vertices (4)                     in the order of the keys
//! a vertex: the second half of its key (8)
//! a vertex: its kind (1)
//! a vertex: how many edges begin at it (4)
//! a vertex that has edges: its depth
//! an edge: the number of its target, less that of the edge before
//! ```
//!
//! Numbers are little-endian; depths and edges are in groups of 7 bits, the low ones first. An edge takes 2 bytes or 3, and a vertex 13
//! or 14, where its row in the dataset has 32 and a URL. The stamp is that of the table from which the part was made.

use std::collections::HashMap;

use dataset::schema::Table;
use dataset::{Column, Layout};
use weburl::{SiteKey, UrlKey};

use crate::GraphError;
use crate::vertex::{PageKind, Vertex, Visits};

const MAGIC: &[u8; 16] = b"argiope graph 2\n";
/// Bytes of the checksum.
const CHECKSUM: usize = 32;

/// A graph whose vertices are in the order of their keys.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Part {
    pub(crate) keys: Vec<UrlKey>,
    pub(crate) kinds: Vec<PageKind>,
    /// How many edges begin at a vertex.
    pub(crate) degrees: Vec<u32>,
    /// How far vertices with edges are from a seed; of others it is 0.
    depths: Vec<u32>,
    edges: u64,
    /// The targets of the edges, those of a vertex in order and each less the one before.
    gaps: Vec<u8>,
}

impl Part {
    /// Reads what the tables say of a segment, or of the URLs without a record.
    pub(crate) fn read(layout: &Layout, segment: &str) -> Result<Self, GraphError> {
        let mut parts = PartBuilder::default();
        for batch in layout.batches_of(Table::Pages, segment, &["url_key", "outcome", "depth"]) {
            let batch = batch?;
            for row in 0..batch.num_rows() {
                if let (Some(key), Some(outcome)) = (batch.key("url_key", row), batch.text("outcome", row)) {
                    let depth = batch.number("depth", row).and_then(|depth| u32::try_from(depth).ok());
                    parts.page(key, PageKind::of(outcome), depth.unwrap_or(0))?;
                }
            }
        }
        if !layout.file(Table::Links, segment).exists() {
            return Ok(parts.finish());
        }
        for batch in layout.batches_of(Table::Links, segment, &["source_key", "target_key"]) {
            let batch = batch?;
            for row in 0..batch.num_rows() {
                if let (Some(source), Some(target)) = (batch.key("source_key", row), batch.key("target_key", row)) {
                    parts.link(source, target)?;
                }
            }
        }
        Ok(parts.finish())
    }

    /// Adds a vertex, the next in the order of the keys, at which so many edges begin. The depth is not known.
    pub(crate) fn push_vertex(&mut self, key: UrlKey, kind: PageKind, degree: u32) {
        self.keys.push(key);
        self.kinds.push(kind);
        self.degrees.push(degree);
        self.depths.push(0);
    }

    /// Adds the edges of a vertex, the next that has some: the numbers of their targets in order.
    pub(crate) fn push_edges(&mut self, targets: impl Iterator<Item = Vertex>) {
        let mut last = 0;
        for target in targets {
            write_number(target - last, &mut self.gaps);
            last = target;
            self.edges += 1;
        }
    }

    /// The same with no edges but those out of pages whose links were followed.
    pub(crate) fn followed(mut self, visits: &Visits) -> Self {
        let (mut rest, mut kept) = (self.gaps.iter(), Vec::new());
        for vertex in 0..self.keys.len() {
            let degree = self.degrees[vertex];
            let before = rest.as_slice();
            for _ in 0..degree {
                read_number(&mut rest);
            }
            if visits.are_followed(self.keys[vertex], self.kinds[vertex], self.depths[vertex]) {
                kept.extend_from_slice(&before[..before.len() - rest.as_slice().len()]);
            } else {
                self.degrees[vertex] = 0;
                self.edges -= u64::from(degree);
            }
        }
        self.gaps = kept;
        self
    }

    /// Calls `each` with the source and the target of every edge, in order.
    pub(crate) fn each_edge(&self, mut each: impl FnMut(Vertex, Vertex)) {
        let mut gaps = self.gaps.iter();
        for (source, degree) in (0..).zip(&self.degrees) {
            let mut target = 0;
            for _ in 0..*degree {
                target += read_number(&mut gaps);
                each(source, target);
            }
        }
    }

    /// The part as a file has it, with the stamp of what it was made from.
    pub(crate) fn to_bytes(&self, stamp: u64) -> Vec<u8> {
        let mut depths = Vec::new();
        for (depth, _) in self.depths.iter().zip(&self.degrees).filter(|(_, degree)| **degree > 0) {
            write_number(*depth, &mut depths);
        }
        let mut sites: Vec<(SiteKey, u32)> = Vec::new();
        for key in &self.keys {
            match sites.last_mut() {
                Some((site, count)) if *site == key.site => *count += 1,
                _ => sites.push((key.site, 1)),
            }
        }
        let size = 128 + sites.len() * 12 + self.keys.len() * 13 + depths.len() + self.gaps.len();
        let mut bytes = Vec::with_capacity(size);
        bytes.extend_from_slice(MAGIC);
        bytes.extend_from_slice(&[0; CHECKSUM]);
        let (depths_len, gaps_len) = (depths.len() as u64, self.gaps.len() as u64);
        let sizes = [stamp, self.keys.len() as u64, sites.len() as u64, self.edges, depths_len, gaps_len];
        bytes.extend(sizes.iter().flat_map(|size| size.to_le_bytes()));
        for (site, count) in sites {
            bytes.extend_from_slice(&site.0.to_le_bytes());
            bytes.extend_from_slice(&count.to_le_bytes());
        }
        bytes.extend(self.keys.iter().flat_map(|key| key.url.to_le_bytes()));
        bytes.extend(self.kinds.iter().map(|kind| kind.to_byte()));
        bytes.extend(self.degrees.iter().flat_map(|degree| degree.to_le_bytes()));
        bytes.extend_from_slice(&depths);
        bytes.extend_from_slice(&self.gaps);
        let body = MAGIC.len() + CHECKSUM;
        let checksum = blake3::hash(&bytes[body..]);
        bytes[MAGIC.len()..body].copy_from_slice(checksum.as_bytes());
        bytes
    }

    /// Whether what it says of itself is so. A directory may come from somebody else, with files whose checksums are right.
    fn is_sound(&self, vertices: usize) -> bool {
        let mut gaps = self.gaps.iter();
        let mut edges = 0;
        for degree in &self.degrees {
            let mut target: u64 = 0;
            for _ in 0..*degree {
                let Some(gap) = checked_number(&mut gaps) else { return false };
                target += u64::from(gap);
                if target >= vertices as u64 {
                    return false;
                }
            }
            edges += u64::from(*degree);
        }
        let is_ordered = self.keys.len() == vertices && self.keys.is_sorted_by(|one, other| one < other);
        is_ordered && edges == self.edges && gaps.next().is_none()
    }

    /// Reads a file's bytes. `None` if it is damaged, of another version, contradicts itself, or has another stamp: then it has to be made
    /// again.
    pub(crate) fn from_bytes(bytes: &[u8], stamp: u64) -> Option<Self> {
        let rest = bytes.strip_prefix(MAGIC)?;
        let (checksum, body) = rest.split_at_checked(CHECKSUM)?;
        if blake3::hash(body).as_bytes() != checksum {
            return None;
        }
        let mut body = Fields(body);
        if body.number()? != stamp {
            return None;
        }
        let (vertices, sites) = (usize::try_from(body.number()?).ok()?, usize::try_from(body.number()?).ok()?);
        let edges = body.number()?;
        let (depths, gaps) = (usize::try_from(body.number()?).ok()?, usize::try_from(body.number()?).ok()?);
        let sites = body.take(sites.checked_mul(12)?)?;
        let urls = body.take(vertices.checked_mul(8)?)?;
        let mut urls = urls.chunks_exact(8).map(u64_of);
        let mut keys = Vec::with_capacity(vertices);
        for site in sites.chunks_exact(12) {
            let key = SiteKey(u64_of(&site[..8]));
            keys.extend(urls.by_ref().take(u32_of(&site[8..]) as usize).map(|url| UrlKey { site: key, url }));
        }
        let kinds = body.take(vertices)?.iter().map(|byte| PageKind::from_byte(*byte)).collect::<Option<_>>()?;
        let degrees: Vec<u32> = body.take(vertices.checked_mul(4)?)?.chunks_exact(4).map(u32_of).collect();
        let mut known = body.take(depths)?.iter();
        let depth = |degree: &u32| if *degree > 0 { checked_number(&mut known) } else { Some(0) };
        let depths = degrees.iter().map(depth).collect::<Option<_>>()?;
        if known.next().is_some() {
            return None;
        }
        let gaps = body.take(gaps)?.to_vec();
        Some(Part { keys, kinds, degrees, depths, edges, gaps }).filter(|part| part.is_sound(vertices))
    }
}

/// Bytes that are read from front to back.
struct Fields<'a>(&'a [u8]);

impl<'a> Fields<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    fn number(&mut self) -> Option<u64> {
        self.take(8).map(u64_of)
    }
}

fn u64_of(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte))
}

fn u32_of(bytes: &[u8]) -> u32 {
    bytes.iter().rev().fold(0, |number, byte| number << 8 | u32::from(*byte))
}

fn write_number(mut number: u32, bytes: &mut Vec<u8>) {
    while number >= 0x80 {
        bytes.push(number.to_le_bytes()[0] | 0x80);
        number >>= 7;
    }
    bytes.push(number.to_le_bytes()[0]);
}

/// The next number. `None` if it is cut off, or too large.
fn checked_number<'a>(bytes: &mut impl Iterator<Item = &'a u8>) -> Option<u32> {
    let mut number: u64 = 0;
    for shift in [0, 7, 14, 21, 28] {
        let byte = *bytes.next()?;
        number |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return u32::try_from(number).ok();
        }
    }
    None
}

/// The part is sound, so there is a number.
fn read_number<'a>(bytes: &mut impl Iterator<Item = &'a u8>) -> u32 {
    let (mut number, mut shift) = (0, 0);
    for byte in bytes {
        number |= u32::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            break;
        }
        shift += 7;
    }
    number
}

/// Takes pages and links in any order; the fastest where the links of a page come one after the other.
#[derive(Default)]
pub(crate) struct PartBuilder {
    numbers: HashMap<UrlKey, u32>,
    keys: Vec<UrlKey>,
    kinds: Vec<PageKind>,
    depths: Vec<u32>,
    /// Where the targets of a source lie: the source, and the end of its targets.
    runs: Vec<(u32, usize)>,
    targets: Vec<u32>,
}

impl PartBuilder {
    /// Adds a page. Of two depths of one the shorter counts.
    pub(crate) fn page(&mut self, key: UrlKey, kind: PageKind, depth: u32) -> Result<(), GraphError> {
        let number = self.number(key)? as usize;
        self.kinds[number] = self.kinds[number].max(kind);
        self.depths[number] = self.depths[number].min(depth);
        Ok(())
    }

    /// Adds a link.
    pub(crate) fn link(&mut self, source: UrlKey, target: UrlKey) -> Result<(), GraphError> {
        let (source, target) = (self.number(source)?, self.number(target)?);
        if self.runs.last().is_none_or(|(last, _)| *last != source) {
            self.end_run();
            self.runs.push((source, self.targets.len()));
        }
        self.targets.push(target);
        if let Some((_, end)) = self.runs.last_mut() {
            *end = self.targets.len();
        }
        Ok(())
    }

    /// Drops the repeats of the last source.
    fn end_run(&mut self) {
        let begin = self.runs.iter().rev().nth(1).map_or(0, |(_, end)| *end);
        let Some((_, end)) = self.runs.last_mut() else { return };
        let kept = sort_and_dedup(&mut self.targets[begin..]);
        *end = begin + kept;
        self.targets.truncate(begin + kept);
    }

    fn number(&mut self, key: UrlKey) -> Result<u32, GraphError> {
        if let Some(number) = self.numbers.get(&key) {
            return Ok(*number);
        }
        let number = u32::try_from(self.keys.len()).map_err(|_| GraphError::TooLarge)?;
        self.numbers.insert(key, number);
        self.keys.push(key);
        self.kinds.push(PageKind::Linked);
        self.depths.push(u32::MAX);
        Ok(number)
    }

    /// The part, its vertices in order.
    pub(crate) fn finish(mut self) -> Part {
        self.end_run();
        drop(self.numbers);
        let mut order: Vec<u32> = (0..).take(self.keys.len()).collect();
        order.sort_unstable_by_key(|number| self.keys[*number as usize]);
        let mut places = vec![0; order.len()];
        for (place, number) in (0u32..).zip(&order) {
            places[*number as usize] = place;
        }
        let mut begin = 0;
        let mut runs: Vec<(u32, std::ops::Range<usize>)> = Vec::with_capacity(self.runs.len());
        for (source, end) in self.runs {
            runs.push((places[source as usize], begin..end));
            begin = end;
        }
        runs.sort_unstable_by_key(|(source, targets)| (*source, targets.start));
        let mut degrees = vec![0; order.len()];
        let (mut gaps, mut edges, mut list) = (Vec::new(), 0, Vec::new());
        for of_source in runs.chunk_by(|(one, _), (other, _)| one == other) {
            list.clear();
            for (_, targets) in of_source {
                list.extend(self.targets[targets.clone()].iter().map(|target| places[*target as usize]));
            }
            let kept = sort_and_dedup(&mut list);
            degrees[of_source[0].0 as usize] = u32::try_from(kept).unwrap_or(u32::MAX);
            edges += kept as u64;
            let mut last = 0;
            for target in &list[..kept] {
                write_number(target - last, &mut gaps);
                last = *target;
            }
        }
        let keys = order.iter().map(|number| self.keys[*number as usize]).collect();
        let kinds = order.iter().map(|number| self.kinds[*number as usize]).collect();
        let depth = |(number, degree): (&u32, &u32)| if *degree > 0 { self.depths[*number as usize] } else { 0 };
        let depths = order.iter().zip(&degrees).map(depth).collect();
        Part { keys, kinds, degrees, depths, edges, gaps }
    }
}

/// Sorts, and moves each value once to the front. Gives how many those are.
fn sort_and_dedup(values: &mut [u32]) -> usize {
    values.sort_unstable();
    let mut kept = 0;
    for at in 0..values.len() {
        if kept == 0 || values[kept - 1] != values[at] {
            values[kept] = values[at];
            kept += 1;
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(site: u64, url: u64) -> UrlKey {
        UrlKey { site: SiteKey(site), url }
    }

    fn part(links: &[(u64, u64)]) -> Part {
        let mut part = PartBuilder::default();
        part.page(key(9, 9), PageKind::Failed, 3).unwrap();
        for (source, target) in links {
            part.link(key(source % 3, *source), key(target % 3, *target)).unwrap();
        }
        part.finish()
    }

    fn edges(part: &Part) -> Vec<(UrlKey, UrlKey)> {
        let mut edges = Vec::new();
        part.each_edge(|source, target| edges.push((part.keys[source as usize], part.keys[target as usize])));
        edges
    }

    #[test]
    fn an_edge_is_there_once_and_in_order() {
        let made = part(&[(1, 2), (1, 2), (7, 1), (1, 3), (1, 1), (7, 1)]);
        assert!(made.keys.is_sorted() && made.keys.len() == 5);
        assert_eq!(
            edges(&made),
            [(key(1, 1), key(0, 3)), (key(1, 1), key(1, 1)), (key(1, 1), key(2, 2)), (key(1, 7), key(1, 1))]
        );
        assert_eq!((made.edges, made.degrees.iter().sum::<u32>()), (4, 4));
        let failed = made.keys.iter().position(|found| *found == key(9, 9)).unwrap();
        assert_eq!(made.kinds[failed], PageKind::Failed);
    }

    #[test]
    fn bytes_round_trip() {
        for links in [&[][..], &[(1, 2)], &[(1, 200_000), (5, 70), (5, 71), (300, 5)]] {
            let part = part(links);
            let bytes = part.to_bytes(77);
            assert_eq!(Part::from_bytes(&bytes, 77), Some(part));
            assert_eq!(Part::from_bytes(&bytes, 78), None, "the segment has grown");
        }
        let long: Vec<(u64, u64)> = (0..1000).map(|n| (n, n * n)).collect();
        let part = part(&long);
        assert_eq!(Part::from_bytes(&part.to_bytes(1), 1), Some(part));
    }

    #[test]
    fn what_contradicts_itself_is_no_part() {
        let good = || part(&[(1, 2), (2, 3), (7, 1)]);
        let is_read = |part: &Part| Part::from_bytes(&part.to_bytes(5), 5).is_some();
        assert!(is_read(&good()));
        let wrong: [fn(&mut Part); 9] = [
            |part| part.degrees[0] += 1,
            |part| part.degrees[0] = u32::MAX,
            |part| part.edges += 1,
            |part| part.gaps.push(0),
            |part| part.gaps[0] = 0x7f,
            |part| part.gaps = vec![0xff; 9],
            |part| part.keys.swap(0, 1),
            |part| part.gaps.clear(),
            |part| part.depths.clear(),
        ];
        for (number, make_wrong) in wrong.iter().enumerate() {
            let mut part = good();
            make_wrong(&mut part);
            assert!(!is_read(&part), "{number}");
        }
    }

    #[test]
    fn links_that_were_not_followed_are_no_edges() {
        let mut all = PartBuilder::default();
        for (url, kind, depth) in [
            (1, PageKind::Fetched, 1),
            (2, PageKind::Fetched, 2),
            (3, PageKind::Fetched, 2),
            (4, PageKind::Redirect, 2),
            (5, PageKind::Fetched, 300),
        ] {
            all.page(key(0, url), kind, depth).unwrap();
            for target in [1, 9, 700] {
                all.link(key(0, url), key(0, target)).unwrap();
            }
        }
        let all = all.finish();
        let read = || Part::from_bytes(&all.to_bytes(1), 1).unwrap();
        let sources = |visits: &Visits| {
            let part = read().followed(visits);
            assert_eq!(part.degrees.iter().map(|degree| u64::from(*degree)).sum::<u64>(), part.edges);
            let edges = edges(&part);
            let mut sources: Vec<u64> = edges.iter().map(|(source, _)| source.url).collect();
            sources.dedup();
            assert_eq!(edges.len(), 3 * sources.len());
            sources
        };
        assert_eq!(sources(&Visits::default()), [1, 2, 3, 4, 5]);
        let at_two = Visits { bottom: Some(2), ..Visits::default() };
        assert_eq!(sources(&at_two), [1, 4]);
        let followed = [key(0, 3), key(0, 8)].into();
        assert_eq!(sources(&Visits { followed, ..at_two }), [1, 3, 4]);
        assert_eq!(sources(&Visits { bottom: Some(300), ..Visits::default() }), [1, 2, 3, 4]);
    }

    #[test]
    fn damage_is_noticed() {
        let bytes = part(&[(1, 2), (2, 3)]).to_bytes(5);
        for at in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[at] ^= 1;
            assert_eq!(Part::from_bytes(&damaged, 5), None, "byte {at}");
            assert_eq!(Part::from_bytes(&bytes[..at], 5), None, "cut at {at}");
        }
    }
}
