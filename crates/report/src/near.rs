//! Near duplicates: pages whose texts are almost the same.

use std::collections::{BTreeMap, HashMap, HashSet};

use dataset::near::{RESEMBLANCE_MIN, candidates};
use dataset::schema::Table;
use dataset::{Column, Layout};
use extract::Sketch;
use serde::{Deserialize, Serialize};
use store::CrawlView;
use weburl::{SiteKey, UrlKey};

use crate::part::named;
use crate::statistics::NearDuplicates;
use crate::top::{ROWS_MAX, Top};
use crate::{Both, ReportError};

/// A page with the fingerprint of its text.
pub type Fingerprint = (UrlKey, u64);

/// The fingerprints of the pages of these datasets.
///
/// # Errors
/// A dataset cannot be read.
pub fn fingerprints(datasets: &[Layout]) -> Result<Vec<Fingerprint>, ReportError> {
    let mut pages = Vec::new();
    for dataset in datasets {
        for batch in dataset.batches(Table::Pages, &["url_key", "simhash"])? {
            let batch = batch?;
            for row in 0..batch.num_rows() {
                if let (Some(key), Some(simhash)) = (batch.key("url_key", row), batch.number("simhash", row)) {
                    pages.push((key, simhash.cast_unsigned()));
                }
            }
        }
    }
    Ok(pages)
}

/// The sketches of those of some pages, in the order of their keys, that are in these datasets.
///
/// # Errors
/// A dataset cannot be read.
pub fn sketches(datasets: &[Layout], of: &[UrlKey]) -> Result<Vec<(UrlKey, Sketch)>, ReportError> {
    let mut sketches = Vec::new();
    for dataset in datasets.iter().filter(|_| !of.is_empty()) {
        for batch in dataset.batches(Table::Pages, &["url_key", "text"])? {
            let batch = batch?;
            for row in 0..batch.num_rows() {
                let Some(key) = batch.key("url_key", row).filter(|key| of.binary_search(key).is_ok()) else { continue };
                sketches.extend(batch.text("text", row).map(|text| (key, Sketch::of_text(text))));
            }
        }
    }
    Ok(sketches)
}

/// All pages, in the order of their keys. Fingerprints tell which of them are worth a comparison, the texts of these whether they are near
/// duplicates. What comes out does not depend on the order of recording. Memory is about 60 bytes a page, and a kilobyte for each that is
/// compared.
pub struct Fingerprints {
    keys: Vec<UrlKey>,
    fingerprints: Vec<u64>,
    is_compared: Vec<bool>,
}

/// How many near duplicates there are, and the pages that have most.
#[derive(Debug, Serialize, Deserialize)]
pub struct Near {
    count: Both<u64>,
    top: Top<UrlKey>,
}

impl Fingerprints {
    /// Takes in all pages.
    #[must_use]
    pub fn of(mut pages: Vec<Fingerprint>) -> Self {
        pages.sort_unstable();
        pages.dedup_by_key(|(key, _)| *key);
        let (keys, fingerprints): (Vec<UrlKey>, Vec<u64>) = pages.into_iter().unzip();
        let mut is_compared = vec![false; keys.len()];
        candidates(&fingerprints, |a, b| (is_compared[a], is_compared[b]) = (true, true));
        Fingerprints { keys, fingerprints, is_compared }
    }

    /// The pages whose texts are compared, in the order of their keys.
    #[must_use]
    pub fn compared(&self) -> Vec<UrlKey> {
        let all = self.keys.iter().zip(&self.is_compared);
        all.filter(|(_, is_compared)| **is_compared).map(|(key, _)| *key).collect()
    }

    /// Counts the near duplicates by the sketches of the pages that are compared.
    #[must_use]
    pub fn near(&self, sketches: Vec<(UrlKey, Sketch)>, seed_sites: &HashSet<SiteKey>) -> Near {
        let place = |(key, sketch)| Some((self.keys.binary_search(&key).ok()?, sketch));
        let sketches: HashMap<usize, Sketch> = sketches.into_iter().filter_map(place).collect();
        let mut groups = Groups::of(self.keys.len());
        candidates(&self.fingerprints, |a, b| {
            let (one, other) = (groups.first_of(a), groups.first_of(b));
            if one == other {
                return;
            }
            let texts = sketches.get(&a).zip(sketches.get(&b));
            if texts.is_some_and(|(a, b)| a.resembles(b, RESEMBLANCE_MIN)) {
                groups.join(one, other);
            }
        });
        let mut members: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for page in (0..self.keys.len()).filter(|page| self.is_compared[*page]) {
            members.entry(groups.first_of(page)).or_default().push(page);
        }
        let is_of_seed = |page: &usize| seed_sites.contains(&self.keys[*page].site);
        let mut near = Near { count: Both::default(), top: Top::new(ROWS_MAX) };
        for group in members.into_values().filter(|group| group.len() > 1) {
            // One stands for all, of a seed site if it can; the others are its near duplicates.
            let one = group.iter().copied().find(is_of_seed).unwrap_or(group[0]);
            group.iter().filter(|page| **page != one).for_each(|page| near.count.add(is_of_seed(page), 1));
            near.top.offer(group.len() as u64 - 1, || self.keys[one]);
        }
        near
    }
}

impl Near {
    /// The near duplicates of the pages of these datasets.
    ///
    /// # Errors
    /// A dataset cannot be read.
    pub(crate) fn of(datasets: &[Layout], seed_sites: &HashSet<SiteKey>) -> Result<Self, ReportError> {
        let all = Fingerprints::of(fingerprints(datasets)?);
        let sketches = sketches(datasets, &all.compared())?;
        Ok(all.near(sketches, seed_sites))
    }

    /// The same with the names of the pages.
    pub(crate) fn named(self, store: &dyn CrawlView) -> Result<NearDuplicates, ReportError> {
        Ok(NearDuplicates { near: self.count, most_resembled: named(store, self.top)? })
    }
}

/// Groups of pages, each named by its first.
struct Groups(Vec<usize>);

impl Groups {
    fn of(pages: usize) -> Self {
        Groups((0..pages).collect())
    }

    fn first_of(&mut self, mut page: usize) -> usize {
        while self.0[page] != page {
            self.0[page] = self.0[self.0[page]];
            page = self.0[page];
        }
        page
    }

    /// Joins two groups, given by their firsts.
    fn join(&mut self, one: usize, other: usize) {
        self.0[one.max(other)] = one.min(other);
    }
}
