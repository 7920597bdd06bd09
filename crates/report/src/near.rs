//! Near duplicates: pages whose texts are almost the same.

use std::collections::{BTreeMap, HashMap, HashSet};

use dataset::near::{RESEMBLANCE_MIN, candidates};
use dataset::schema::Table;
use dataset::{Column, Layout};
use extract::Sketch;
use store::CrawlView;
use weburl::{SiteKey, UrlKey};

use crate::content::named;
use crate::statistics::NearDuplicates;
use crate::top::{ROWS_MAX, Top};
use crate::{Both, ReportError};

/// Counts them, and the pages that have most. Fingerprints tell which pages are worth a comparison, the texts of these whether they are
/// near duplicates. What comes out does not depend on the order of recording. Memory is about 60 bytes a page, and a kilobyte for each that is
/// compared.
pub(crate) fn near(
    dataset: &Layout,
    store: &dyn CrawlView,
    seed_sites: &HashSet<SiteKey>,
) -> Result<NearDuplicates, ReportError> {
    let mut pages: Vec<(UrlKey, u64)> = Vec::new();
    for batch in dataset.batches(Table::Pages, &["url_key", "simhash"])? {
        let batch = batch?;
        for row in 0..batch.num_rows() {
            if let (Some(key), Some(simhash)) = (batch.key("url_key", row), batch.number("simhash", row)) {
                pages.push((key, simhash.cast_unsigned()));
            }
        }
    }
    pages.sort_unstable();
    pages.dedup_by_key(|(key, _)| *key);
    let fingerprints: Vec<u64> = pages.iter().map(|(_, simhash)| *simhash).collect();
    let mut is_compared = vec![false; pages.len()];
    candidates(&fingerprints, |a, b| (is_compared[a], is_compared[b]) = (true, true));
    let sketches = sketches(dataset, &pages, &is_compared)?;

    let mut groups = Groups::of(pages.len());
    candidates(&fingerprints, |a, b| {
        let (one, other) = (groups.first_of(a), groups.first_of(b));
        if one == other {
            return;
        }
        let texts = sketches.get(&a).zip(sketches.get(&b));
        if texts.is_some_and(|(a, b)| a.resemblance(b) >= RESEMBLANCE_MIN) {
            groups.join(one, other);
        }
    });
    let mut members: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for page in (0..pages.len()).filter(|page| is_compared[*page]) {
        members.entry(groups.first_of(page)).or_default().push(page);
    }
    let is_of_seed = |page: &usize| seed_sites.contains(&pages[*page].0.site);
    let mut count = Both::default();
    let mut top = Top::new(ROWS_MAX);
    for group in members.into_values().filter(|group| group.len() > 1) {
        // One stands for all, of a seed site if it can; the others are its near duplicates.
        let one = group.iter().copied().find(is_of_seed).unwrap_or(group[0]);
        group.iter().filter(|page| **page != one).for_each(|page| count.add(is_of_seed(page), 1));
        top.offer(group.len() as u64 - 1, || pages[one].0);
    }
    Ok(NearDuplicates { near: count, most_resembled: named(store, top)? })
}

/// The sketches of the pages that are compared.
fn sketches(
    dataset: &Layout,
    pages: &[(UrlKey, u64)],
    is_compared: &[bool],
) -> Result<HashMap<usize, Sketch>, ReportError> {
    let mut sketches = HashMap::new();
    if !is_compared.contains(&true) {
        return Ok(sketches);
    }
    for batch in dataset.batches(Table::Pages, &["url_key", "text"])? {
        let batch = batch?;
        for row in 0..batch.num_rows() {
            let Some(key) = batch.key("url_key", row) else { continue };
            let Ok(page) = pages.binary_search_by_key(&key, |(key, _)| *key) else { continue };
            if let Some(text) = batch.text("text", row).filter(|_| is_compared[page]) {
                sketches.insert(page, Sketch::of_text(text));
            }
        }
    }
    Ok(sketches)
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
