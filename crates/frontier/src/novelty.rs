//! What does a page bring? Its text, images and payload are compared with what other pages of its site had.
//!
//! A trap rule that counts URLs counts the pages that repeat others. A shop's lists show the same goods in ever new orders, and a
//! calendar's months are alike; articles, topics and photos differ, whatever their URLs look like. A page counts only where something shows
//! that it repeats others: that nothing new is seen on it is no proof.

use foldhash::HashMap;
use weburl::{CanonicalUrl, SiteKey};

use crate::ShapeRule;
use crate::hashing::mixed;

/// What a page may bring.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Features {
    /// Some of the passages of its text, in order.
    pub passages: Vec<u32>,
    /// How many passages the text has.
    pub passages_count: u32,
    /// All words of its text without numbers, as a number.
    pub words: Option<u32>,
    /// The same without those words that are also in its URL and in the like ones that it links to. Of a page that leads on alone.
    pub saying: Option<u32>,
    /// Numbers of its text, in order, but for those of dates and addresses.
    pub numbers: Vec<u32>,
    /// The images it shows, or the document that it is.
    pub media: Vec<u32>,
    /// Its payload.
    pub payload: Option<u32>,
    /// It links to other URLs of its shape.
    pub leads_on: bool,
}

/// What a page shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Shows {
    /// A text or an image that no page of its site had.
    pub is_new: bool,
    /// The payload of another page.
    is_copy: bool,
    /// The words of another page, and not too few of them to tell pages apart. It has no numbers of its own.
    has_words: bool,
    /// Mostly parts of other pages.
    has_parts: bool,
    /// The words of another page besides those that their URLs have.
    has_saying: bool,
    leads_on: bool,
}

impl Shows {
    /// True if it says what another page says.
    #[must_use]
    pub fn repeats(self) -> bool {
        !self.is_new && (self.is_copy || self.has_words)
    }

    /// True if it is a copy of another page, byte for byte.
    #[must_use]
    pub fn is_copy(self) -> bool {
        self.is_copy
    }

    /// True if it counts for a rule: it is a copy, or as other pages of its shape are and leads to more of them. A page of few or other words
    /// that leads to no other is no part of a generator. Pages that differ in their session ids alone have the same words.
    #[must_use]
    pub fn counts_for(self, rule: ShapeRule) -> bool {
        let has_parts = self.has_parts && rule != ShapeRule::Session;
        !self.is_new && (self.is_copy || self.leads_on && (self.has_words || self.has_saying || has_parts))
    }
}

/// Features remembered, of all sites together: of some forty thousand pages. Newer ones take the places of older ones.
const REMEMBERED: usize = 1 << 20;

/// Passages that a text has besides those of the page before, of which none was there earlier, at least. Fewer prove nothing.
const NEW_PASSAGES_MIN: usize = 8;
/// The same in a sample of a text.
const NEW_SAMPLED_MIN: usize = 3;
/// Percentage of the passages besides those of the page before that were not there earlier, at least. Lists of the same things in other
/// orders have fewer.
const NEW_PERCENT: usize = 50;

/// Numbers of its own that a page has which says something by them, at least. A counter of visits and the time that a server took are fewer.
const OWN_NUMBERS_MIN: usize = 3;
/// Numbers in a row by which pages with the same numbers are recognised. Each alone is on some other page sooner or later.
const NUMBERS_IN_A_ROW: usize = 3;

/// What the pages of sites had.
#[derive(Debug, Default)]
pub struct Novelty {
    /// Marks of the features remembered. Empty until there are some.
    marks: Vec<u32>,
    /// The last page of each site.
    last: HashMap<SiteKey, Last>,
}

/// What the last page of a site had.
#[derive(Debug, Default)]
struct Last {
    passages: Vec<u32>,
    numbers: Vec<u32>,
}

impl Novelty {
    /// Takes in what a page of a site has, and tells what it shows. What it shares with the page before belongs to the frame of its site.
    pub fn shows(&mut self, site: SiteKey, features: Features) -> Shows {
        let Features { passages, passages_count, words, saying, numbers, media, payload, leads_on } = features;
        // Apart from what follows, whose branches nobody can foresee: so the memory is asked for all marks at once.
        let are_new: Vec<bool> = passages.iter().map(|passage| self.remember(site, u64::from(*passage))).collect();
        let last = self.last.remove(&site).unwrap_or_default();
        let mut before = last.passages.into_iter().peekable();
        let (mut own, mut new) = (0, 0);
        for (passage, is_new) in passages.iter().zip(are_new) {
            while before.next_if(|other| other < passage).is_some() {}
            let is_own = before.peek() != Some(passage);
            own += usize::from(is_own);
            new += usize::from(is_own && is_new);
        }
        let has_own_numbers = self.has_own_numbers(site, &numbers, &last.numbers);
        let has_new_media = media.into_iter().fold(false, |is_new, medium| self.is_new(site, 1, medium) | is_new);
        let mut is_known = |kind, number: Option<u32>| number.is_some_and(|number| !self.is_new(site, kind, number));
        let (is_copy, has_words, has_saying) = (is_known(2, payload), is_known(3, words), is_known(4, saying));
        // As many as the whole text has, by the sample.
        let count = usize::try_from(passages_count).unwrap_or(usize::MAX);
        let of_text = |sampled: usize| sampled * count / passages.len().max(1);
        let is_mostly_new = new * 100 >= own * NEW_PERCENT;
        let is_new_text = new >= NEW_SAMPLED_MIN && of_text(new) >= NEW_PASSAGES_MIN && is_mostly_new;
        let shows = Shows {
            is_new: !is_copy && (is_new_text || has_new_media),
            is_copy,
            has_words: has_words && count >= NEW_PASSAGES_MIN && !has_own_numbers,
            has_parts: of_text(own) >= NEW_PASSAGES_MIN && !is_mostly_new,
            has_saying,
            leads_on,
        };
        self.last.insert(site, Last { passages, numbers });
        shows
    }

    /// Takes in the numbers of a page, and tells whether several are its own: not on the page before, and not among the same numbers anywhere.
    fn has_own_numbers(&mut self, site: SiteKey, numbers: &[u32], before: &[u32]) -> bool {
        let step = |hash: u32, number: &u32| (hash.rotate_left(5) ^ number).wrapping_mul(0x9e37_79b9);
        let rows = numbers.windows(NUMBERS_IN_A_ROW).map(|row| row.iter().fold(0, step));
        let are_new: Vec<bool> = rows.map(|row| self.is_new(site, 5, row)).collect();
        let Some(last) = are_new.len().checked_sub(1) else { return false };
        let are_new_with =
            |at: usize| are_new[at.saturating_sub(NUMBERS_IN_A_ROW - 1)..=at.min(last)].iter().all(|is_new| *is_new);
        let own = numbers.iter().enumerate().filter(|(at, number)| !before.contains(number) && are_new_with(*at));
        own.count() >= OWN_NUMBERS_MIN
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

    /// Remembers a feature of a kind. True if it is new.
    fn is_new(&mut self, site: SiteKey, kind: u64, feature: u32) -> bool {
        self.remember(site, kind << 32 | u64::from(feature))
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
        Features { passages_count: u32::try_from(passages.len()).unwrap(), passages, ..Features::default() }
    }

    fn brings(novelty: &mut Novelty, site: SiteKey, features: Features) -> bool {
        novelty.shows(site, features).is_new
    }

    #[test]
    fn what_the_page_before_has_too_does_not_count() {
        let mut novelty = Novelty::default();
        let page = |n: u32| text((0..50).chain(1_000 * n..1_000 * n + 10));
        assert!((1..100).all(|n| brings(&mut novelty, SITE, page(n))), "ten new ones in a large frame");
        assert!(!brings(&mut novelty, SITE, page(50)), "not for the second time");
        assert!(brings(&mut novelty, SiteKey(8), page(50)), "but on another site");
        assert!(!brings(&mut novelty, SITE, text(0..50)), "the frame alone");
        assert!(!brings(&mut novelty, SITE, text((0..50).chain(1_000_000..1_000_007))), "a title alone");
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
            Features { leads_on: true, ..text(all.into_iter()) }
        };
        let shows: Vec<Shows> = (0..200).map(|n| novelty.shows(SITE, list(n))).collect();
        assert!(shows[0].is_new && shows[20..].iter().all(|shows| shows.counts_for(ShapeRule::Queries)), "{shows:?}");
    }

    #[test]
    fn few_of_a_sample_stand_for_many() {
        let mut novelty = Novelty::default();
        let page = |new: std::ops::Range<u32>| Features { passages_count: 800, ..text((0..60).chain(new)) };
        brings(&mut novelty, SITE, page(100..104));
        assert!(brings(&mut novelty, SITE, page(200..204)) && !brings(&mut novelty, SITE, page(300..302)));
    }

    #[test]
    fn an_image_is_enough() {
        let mut novelty = Novelty::default();
        let page = |images: &[u32]| Features { media: images.to_vec(), ..Features::default() };
        for (images, expect) in [(&[1, 2][..], true), (&[2, 1], false), (&[1, 3], true), (&[3], false), (&[], false)] {
            assert_eq!(brings(&mut novelty, SITE, page(images)), expect, "{images:?}");
        }
    }

    #[test]
    fn a_page_repeats_others_only_where_something_shows_that() {
        const RULES: [ShapeRule; 2] = [ShapeRule::Session, ShapeRule::Queries];
        let long = |words| Features { words: Some(words), ..text(0..20) };
        let short = |words| Features { words: Some(words), ..text(0..5) };
        let leads_on = |features| Features { leads_on: true, ..features };
        for (features, name, repeats, counts) in [
            (Features::default(), "nothing is known", false, [false; 2]),
            (short(1), "few words", false, [false; 2]),
            (leads_on(short(1)), "few words, and it leads on", false, [false; 2]),
            (
                Features { saying: Some(1), ..leads_on(short(1)) },
                "few words, like others but for the URL",
                false,
                [true; 2],
            ),
            (Features { payload: Some(1), ..short(1) }, "a copy", true, [true; 2]),
            (long(1), "the words of another", true, [false; 2]),
            (leads_on(long(1)), "the words of another, and it leads on", true, [true; 2]),
            (leads_on(Features { words: Some(2), ..text(50..62) }), "the frame and two words", false, [false; 2]),
            (leads_on(text(10..30)), "two halves of others", false, [false, true]),
        ] {
            let mut novelty = Novelty::default();
            for known in [long(1), short(1), text(20..40), text(50..60)] {
                novelty.shows(SITE, Features { saying: Some(1), payload: Some(1), ..known });
            }
            let shows = novelty.shows(SITE, features);
            assert_eq!((shows.repeats(), RULES.map(|rule| shows.counts_for(rule))), (repeats, counts), "{name}");
        }
    }

    #[test]
    fn numbers_of_its_own_are_what_a_page_of_the_same_words_says() {
        let page =
            |numbers: &[u32]| Features { words: Some(1), leads_on: true, numbers: numbers.to_vec(), ..text(0..20) };
        let mut novelty = Novelty::default();
        for (numbers, name, repeats) in [
            (&[][..], "the first", false),
            (&[], "none", true),
            (&[1, 2], "two", true),
            (&[3, 4, 5], "three", false),
            (&[3, 4, 6], "one, besides those of the page before", true),
            (&[5, 1, 2], "each is known, but not together", false),
            (&[6, 7, 8], "three others", false),
            (&[3, 4, 5], "the first again, not behind itself", true),
            (&[6, 7, 8], "and so those", true),
            (&[3, 4, 5, 9, 10], "a counter and a time behind them", true),
            (&[3, 4, 5, 11, 12, 13], "three behind them", false),
            (&[0, 14, 15], "a telephone number", false),
            (&[0, 16, 17], "and, besides it, a counter and a time", true),
        ] {
            assert_eq!(novelty.shows(SITE, page(numbers)).repeats(), repeats, "{name}");
        }
    }

    #[test]
    fn what_is_shown_again_and_again_stays_remembered() {
        let mut novelty = Novelty::default();
        for n in 0..100_000 {
            brings(&mut novelty, SiteKey(1 + u64::from(n % 500)), text(n * 30..n * 30 + 30));
            if n % 100 == 0 {
                assert_eq!(brings(&mut novelty, SITE, text(0..40)), n == 0);
            }
        }
    }
}
