//! Does a page bring something new? Its text and images are compared with what other pages of its site had.
//!
//! A trap rule that counts URLs counts the pages that bring nothing new. A shop's lists show the same goods in ever new orders, and a
//! calendar's months are alike; articles, topics and photos differ, whatever their URLs look like.

use foldhash::HashMap;
use weburl::{CanonicalUrl, SiteKey};

use crate::hashing::mixed;

/// What a page may bring.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Features {
    /// Some of the passages of its text, in order.
    pub passages: Vec<u32>,
    /// How many passages the text has.
    pub passages_count: u32,
    /// The images it shows, or the document that it is.
    pub media: Vec<u32>,
}

/// Features remembered, of all sites together: of some forty thousand pages. Newer ones take the places of older ones.
const REMEMBERED: usize = 1 << 20;

/// Passages that a text has besides those of the page before, of which none was there earlier, at least.
const NEW_PASSAGES_MIN: usize = 8;
/// The same in a sample of a text.
const NEW_SAMPLED_MIN: usize = 3;
/// Percentage of the passages besides those of the page before that were not there earlier, at least. Lists of the same things in other
/// orders have fewer.
const NEW_PERCENT: usize = 50;

/// What the pages of sites had.
#[derive(Debug, Default)]
pub struct Novelty {
    /// Marks of the features remembered. Empty until there are some.
    marks: Vec<u32>,
    /// The passages of the last page of each site.
    last: HashMap<SiteKey, Vec<u32>>,
}

impl Novelty {
    /// Takes in what a page of a site has, and tells whether it brings something new. What it shares with the page before belongs to the
    /// frame of its site.
    pub fn brings(&mut self, site: SiteKey, features: Features) -> bool {
        let Features { passages, passages_count, media } = features;
        // Apart from what follows, whose branches nobody can foresee: so the memory is asked for all marks at once.
        let are_new: Vec<bool> = passages.iter().map(|passage| self.remember(site, u64::from(*passage))).collect();
        let mut before = self.last.remove(&site).unwrap_or_default().into_iter().peekable();
        let (mut own, mut new) = (0, 0);
        for (passage, is_new) in passages.iter().zip(are_new) {
            while before.next_if(|other| other < passage).is_some() {}
            let is_own = before.peek() != Some(passage);
            own += usize::from(is_own);
            new += usize::from(is_own && is_new);
        }
        let mut has_new_media = false;
        for medium in media {
            has_new_media |= self.remember(site, 1 << 32 | u64::from(medium));
        }
        // As many as the whole text has, by the sample.
        let of_text = new * usize::try_from(passages_count).unwrap_or(usize::MAX) / passages.len().max(1);
        self.last.insert(site, passages);
        let is_new_text = new >= NEW_SAMPLED_MIN && of_text >= NEW_PASSAGES_MIN && new * 100 >= own * NEW_PERCENT;
        is_new_text || has_new_media
    }

    /// Takes in the parameters of a URL, and tells whether one of them has a value that no earlier URL of the path had.
    pub fn has_new_value(&mut self, url: &CanonicalUrl) -> bool {
        let parameters = url.query().unwrap_or_default().split('&');
        let value = |parameter: &str| 1 << 63 | SiteKey::of(&format!("{}?{parameter}", url.path())).0;
        parameters.fold(false, |is_new, parameter| self.remember(url.key().site, value(parameter)) | is_new)
    }

    /// Forgets the last page of a site.
    pub fn end(&mut self, site: SiteKey) {
        self.last.remove(&site);
    }

    /// Remembers a feature. True if it is new.
    fn remember(&mut self, site: SiteKey, feature: u64) -> bool {
        if self.marks.is_empty() {
            self.marks = vec![0; REMEMBERED];
        }
        let hash = mixed(site.0 ^ feature.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        // Never 0, which says that there is none.
        let mark = (hash >> 32) as u32 | 1;
        std::mem::replace(&mut self.marks[hash as usize % REMEMBERED], mark) != mark
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SITE: SiteKey = SiteKey(7);

    /// A page that has these passages, all of them.
    fn text(passages: impl Iterator<Item = u32>) -> Features {
        let passages: Vec<u32> = passages.collect();
        Features { passages_count: u32::try_from(passages.len()).unwrap(), passages, media: Vec::new() }
    }

    #[test]
    fn what_the_page_before_has_too_does_not_count() {
        let mut novelty = Novelty::default();
        let page = |n: u32| text((0..50).chain(1_000 * n..1_000 * n + 10));
        assert!((1..100).all(|n| novelty.brings(SITE, page(n))), "ten new ones in a large frame");
        assert!(!novelty.brings(SITE, page(50)), "not for the second time");
        assert!(novelty.brings(SiteKey(8), page(50)), "but on another site");
        assert!(!novelty.brings(SITE, text(0..50)), "the frame alone");
        assert!(!novelty.brings(SITE, text((0..50).chain(1_000_000..1_000_007))), "a title alone");
    }

    #[test]
    fn other_orders_of_the_same_things_are_nothing_new() {
        let mut novelty = Novelty::default();
        // Twenty of a hundred things with six passages each, and two passages where they meet.
        let list = |n: u32| {
            let things: Vec<u32> = (0..20).map(|at| (n * 37 + at * (n % 7 + 1)) % 100).collect();
            let meetings = (0..20).flat_map(|at| [n * 40 + at * 2, n * 40 + at * 2 + 1]).map(|n| 10_000 + n);
            let mut all: Vec<u32> =
                things.into_iter().flat_map(|thing| thing * 6..thing * 6 + 6).chain(meetings).collect();
            all.sort_unstable();
            all.dedup();
            text(all.into_iter())
        };
        let brings: Vec<bool> = (0..200).map(|n| novelty.brings(SITE, list(n))).collect();
        assert!(brings[0] && brings[20..].iter().all(|brings| !brings), "{brings:?}");
    }

    #[test]
    fn few_of_a_sample_stand_for_many() {
        let mut novelty = Novelty::default();
        let page = |new: std::ops::Range<u32>| Features { passages_count: 800, ..text((0..60).chain(new)) };
        novelty.brings(SITE, page(100..104));
        assert!(novelty.brings(SITE, page(200..204)) && !novelty.brings(SITE, page(300..302)));
    }

    #[test]
    fn an_image_is_enough() {
        let mut novelty = Novelty::default();
        let page = |images: &[u32]| Features { media: images.to_vec(), ..Features::default() };
        for (images, expect) in [(&[1, 2][..], true), (&[2, 1], false), (&[1, 3], true), (&[3], false), (&[], false)] {
            assert_eq!(novelty.brings(SITE, page(images)), expect, "{images:?}");
        }
    }

    #[test]
    fn what_is_shown_again_and_again_stays_remembered() {
        let mut novelty = Novelty::default();
        for n in 0..100_000 {
            novelty.brings(SiteKey(1 + u64::from(n % 500)), text(n * 30..n * 30 + 30));
            if n % 100 == 0 {
                assert_eq!(novelty.brings(SITE, text(0..40)), n == 0);
            }
        }
    }
}
