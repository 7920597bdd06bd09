//! What all datasets tell for a report: each process counts its pages, and the first adds up.

use std::collections::HashSet;

use anyhow::Context;
use report::{Fingerprint, Fingerprints, Gathered, GatheredLinks, Linked, MostLinked, Near, OwnLinks, Part, texts};
use weburl::{SiteKey, UrlKey};

use super::answers::PartOfQuery;

/// URLs whose links are added up at a time, of all processes together: about 60 MB as they travel.
const LINKED_AT_ONCE: usize = 1_000_000;
/// Fingerprints of a process that are gathered at a time: about 80 MB as they travel from 16 processes.
const FINGERPRINTS_AT_ONCE: usize = 65_536;
/// Sketches of a process that are gathered at a time, each of up to 3 kB as it travels; and pages that repeat their pages, each of less.
const SKETCHES_AT_ONCE: usize = 4_096;
/// Pages that are looked through for near duplicates: the first process holds 60 bytes for each.
const PAGES_COMPARED_MAX: usize = 10_000_000;
/// Pages whose sketches are compared: the first process holds a kilobyte for each.
const SKETCHES_MAX: usize = 1_000_000;

impl PartOfQuery {
    /// What all processes have, in the first process.
    pub(super) fn contents(&mut self, seed_sites: &[u64]) -> anyhow::Result<Option<Gathered>> {
        let seed_sites: HashSet<SiteKey> = seed_sites.iter().copied().map(SiteKey).collect();
        let (own, links) = Part::of(&self.layouts, &seed_sites)?;
        let mut sum: Option<Part> = None;
        self.peers.gather(own, |parts: Vec<Part>| {
            for part in parts {
                match &mut sum {
                    None => sum = Some(part),
                    Some(sum) => sum.add(part),
                }
            }
        })?;
        let links = self.gathered_links(&links, &seed_sites)?;
        let near = self.near(&seed_sites)?;
        if !self.peers.is_first() {
            return Ok(None);
        }
        let part = sum.context("internal error: nobody has a part")?;
        Ok(Some(Gathered { part, links, near }))
    }

    /// The links of all pages, in the first process.
    fn gathered_links(&mut self, own: &OwnLinks, seed_sites: &HashSet<SiteKey>) -> anyhow::Result<GatheredLinks> {
        let all: usize = self.peers.gather(own.len(), |lengths| lengths.into_iter().sum())?;
        let shares = all.div_ceil(LINKED_AT_ONCE).max(1) as u64;
        let mut most = MostLinked::default();
        for share in 0..shares {
            self.peers.gather(own.linked(share, shares), |parts: Vec<Vec<Linked>>| most.add(parts, seed_sites))?;
        }
        let html: Vec<UrlKey> = self.peers.gather((), |_| most.html())?;
        let own: Vec<(usize, usize)> = own.among(&html).into_iter().collect();
        let mut among = Vec::new();
        self.peers.gather(own, |parts: Vec<Vec<(usize, usize)>>| among.extend(parts.into_iter().flatten()))?;
        among.sort_unstable();
        Ok(GatheredLinks { most, among })
    }

    /// The near duplicates among all pages, in the first process. `None` if there are too many pages to compare.
    fn near(&mut self, seed_sites: &HashSet<SiteKey>) -> anyhow::Result<Option<Near>> {
        let own = report::fingerprints(&self.layouts)?;
        let count: usize = self.peers.gather(own.len(), |lengths| lengths.into_iter().sum())?;
        if count > PAGES_COMPARED_MAX {
            return Ok(None);
        }
        let all: Vec<Fingerprint> = self.collected(&own, FINGERPRINTS_AT_ONCE)?;
        let all = Fingerprints::of(all);
        let compared: Option<Vec<UrlKey>> =
            self.peers.gather((), |_| Some(all.compared()).filter(|compared| compared.len() <= SKETCHES_MAX))?;
        let Some(compared) = compared else { return Ok(None) };
        let (texts, repeats) = texts(&self.layouts, &compared)?;
        let texts = self.collected(&texts, SKETCHES_AT_ONCE)?;
        let repeats = self.collected(&repeats, SKETCHES_AT_ONCE)?;
        Ok(self.peers.is_first().then(|| all.near(texts, &repeats, seed_sites)))
    }

    /// What all processes have, in the first process; so many of each at a time.
    fn collected<T>(&mut self, own: &[T], at_once: usize) -> anyhow::Result<Vec<T>>
    where
        T: Clone + serde::Serialize + serde::de::DeserializeOwned,
    {
        let most: usize = self.peers.gather(own.len(), |lengths| lengths.into_iter().max().unwrap_or_default())?;
        let mut all = Vec::new();
        for from in (0..most).step_by(at_once) {
            let piece: Vec<T> = own.iter().skip(from).take(at_once).cloned().collect();
            self.peers.gather(piece, |pieces: Vec<Vec<T>>| all.extend(pieces.into_iter().flatten()))?;
        }
        Ok(all)
    }
}
