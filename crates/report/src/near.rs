//! Near duplicates: pages whose texts are almost the same.

use std::collections::{BTreeMap, HashMap, HashSet};

use dataset::near::{RESEMBLANCE_MIN, candidates};
use dataset::originals::{Content, Repeated};
use dataset::schema::Table;
use dataset::{Column, Layout};
use extract::Sketch;
use model::PayloadDigest;
use serde::{Deserialize, Serialize};
use store::CrawlView;
use weburl::{CanonicalUrl, SiteKey, UrlKey};

use crate::part::named;
use crate::statistics::NearDuplicates;
use crate::top::{ROWS_MAX, Top};
use crate::{Both, ReportError};

/// A page with the fingerprint of its text, and a part of the digest of its payload.
pub type Fingerprint = (UrlKey, u64, u64);

/// A text that is compared.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Text {
    key: UrlKey,
    sketch: Sketch,
    content: Option<Content>,
}

/// A page that repeats one of these texts exactly.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Repeat {
    original: UrlKey,
    repeated: Repeated,
    key: UrlKey,
}

/// The fingerprints of the pages of these datasets.
///
/// # Errors
/// A dataset cannot be read.
pub fn fingerprints(datasets: &[Layout]) -> Result<Vec<Fingerprint>, ReportError> {
    let mut pages = Vec::new();
    for dataset in datasets {
        for batch in dataset.batches(Table::Pages, &["url_key", "simhash", "digest"])? {
            let batch = batch?;
            for row in 0..batch.num_rows() {
                if let (Some(key), Some(simhash)) = (batch.key("url_key", row), batch.number("simhash", row)) {
                    let digest = batch.text("digest", row).and_then(PayloadDigest::parse);
                    let begin = digest.and_then(|PayloadDigest(bytes)| bytes.first_chunk().copied());
                    pages.push((key, simhash.cast_unsigned(), begin.map(u64::from_be_bytes).unwrap_or_default()));
                }
            }
        }
    }
    Ok(pages)
}

/// Those of some pages, in the order of their keys, that are in these datasets, and the pages there that repeat one of them.
///
/// # Errors
/// A dataset cannot be read.
pub fn texts(datasets: &[Layout], of: &[UrlKey]) -> Result<(Vec<Text>, Vec<Repeat>), ReportError> {
    let (mut texts, mut repeats) = (Vec::new(), Vec::new());
    let is_of = |key: &UrlKey| of.binary_search(key).is_ok();
    let mut columns = [&["url_key", "text", "duplicate_of"][..], &Content::COLUMNS, &Repeated::COLUMNS].concat();
    columns.sort_unstable();
    columns.dedup();
    for dataset in datasets.iter().filter(|_| !of.is_empty()) {
        for batch in dataset.batches(Table::Pages, &columns)? {
            let batch = batch?;
            for row in 0..batch.num_rows() {
                let Some(key) = batch.key("url_key", row) else { continue };
                if let Some(text) = batch.text("text", row).filter(|_| is_of(&key)) {
                    let (sketch, content) = (Sketch::of_text(text), Content::of_row(&batch, row));
                    texts.push(Text { key, sketch, content });
                }
                let original = batch.text("duplicate_of", row).and_then(CanonicalUrl::from_canonical);
                if let Some(original) = original.map(|original| original.key()).filter(is_of) {
                    repeats.push(Repeat { original, repeated: Repeated::of_row(&batch, row), key });
                }
            }
        }
    }
    Ok((texts, repeats))
}

/// All pages with texts of their own. Fingerprints tell which of them are worth a comparison, the texts of these whether they are near
/// duplicates. The pages are in an order of their contents, and the page that stands for a text is chosen among all that have it. So it
/// changes nothing which of them was recorded first, and has the text in its row. Memory is about 60 bytes a page, and a kilobyte for each
/// that is compared.
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
        pages.dedup_by_key(|(key, ..)| *key);
        pages.sort_unstable_by_key(|(key, fingerprint, digest)| (*fingerprint, *digest, *key));
        let (keys, fingerprints): (Vec<UrlKey>, Vec<u64>) =
            pages.into_iter().map(|(key, fingerprint, _)| (key, fingerprint)).unzip();
        let mut is_compared = vec![false; keys.len()];
        candidates(&fingerprints, |a, b| (is_compared[a], is_compared[b]) = (true, true));
        Fingerprints { keys, fingerprints, is_compared }
    }

    /// The pages whose texts are compared, in the order of their keys.
    #[must_use]
    pub fn compared(&self) -> Vec<UrlKey> {
        let all = self.keys.iter().zip(&self.is_compared);
        let mut compared: Vec<UrlKey> = all.filter(|(_, is_compared)| **is_compared).map(|(key, _)| *key).collect();
        compared.sort_unstable();
        compared
    }

    /// Counts the near duplicates by the texts that are compared, and by the pages that repeat one of them.
    #[must_use]
    pub fn near(&self, texts: Vec<Text>, repeats: &[Repeat], seed_sites: &HashSet<SiteKey>) -> Near {
        let shown = shown(&texts, repeats, seed_sites);
        let sketches: HashMap<UrlKey, Sketch> = texts.into_iter().map(|text| (text.key, text.sketch)).collect();
        let mut groups = Groups::of(self.keys.len());
        candidates(&self.fingerprints, |a, b| {
            let (one, other) = (groups.first_of(a), groups.first_of(b));
            if one == other {
                return;
            }
            let texts = sketches.get(&self.keys[a]).zip(sketches.get(&self.keys[b]));
            if texts.is_some_and(|(a, b)| a.resembles(b, RESEMBLANCE_MIN)) {
                groups.join(one, other);
            }
        });
        let mut members: BTreeMap<usize, Vec<Rank>> = BTreeMap::new();
        for page in (0..self.keys.len()).filter(|page| self.is_compared[*page]) {
            let key = self.keys[page];
            let shown = shown.get(&key).copied().unwrap_or_else(|| rank(key, seed_sites));
            members.entry(groups.first_of(page)).or_default().push(shown);
        }
        let mut groups: Vec<Vec<Rank>> = members.into_values().filter(|group| group.len() > 1).collect();
        groups.iter_mut().for_each(|group| group.sort_unstable());
        groups.sort_unstable();
        let mut near = Near { count: Both::default(), top: Top::new(ROWS_MAX) };
        for group in groups {
            // One stands for all, of a seed site if it can; the others are its near duplicates.
            let [(_, one), others @ ..] = &group[..] else { continue };
            others.iter().for_each(|(is_of_others, _)| near.count.add(!is_of_others, 1));
            near.top.offer(others.len() as u64, || *one);
        }
        near
    }
}

/// Whether a page is on no seed site, and its key: the least of several stands for them.
type Rank = (bool, UrlKey);

fn rank(key: UrlKey, seed_sites: &HashSet<SiteKey>) -> Rank {
    (!seed_sites.contains(&key.site), key)
}

/// The pages by which texts are known that others repeat: by the keys of those that have the texts in their rows.
fn shown(texts: &[Text], repeats: &[Repeat], seed_sites: &HashSet<SiteKey>) -> HashMap<UrlKey, Rank> {
    let contents: HashMap<UrlKey, Content> = texts.iter().filter_map(|text| Some((text.key, text.content?))).collect();
    let mut shown: HashMap<UrlKey, Rank> = HashMap::new();
    for Repeat { original, repeated, key } in repeats {
        // An original may have another content by now.
        if contents.get(original).is_some_and(|content| repeated.fit(content).is_some()) {
            let first = shown.entry(*original).or_insert_with(|| rank(*original, seed_sites));
            *first = (*first).min(rank(*key, seed_sites));
        }
    }
    shown
}

impl Near {
    /// The near duplicates of the pages of these datasets.
    ///
    /// # Errors
    /// A dataset cannot be read.
    pub(crate) fn of(datasets: &[Layout], seed_sites: &HashSet<SiteKey>) -> Result<Self, ReportError> {
        let all = Fingerprints::of(fingerprints(datasets)?);
        let (texts, repeats) = texts(datasets, &all.compared())?;
        Ok(all.near(texts, &repeats, seed_sites))
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
