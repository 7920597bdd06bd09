//! What pages bring: whether a group of URLs brings only ever more of itself, which nobody else links to.
//!
//! Real sites end. Their pages are leaves for the most part, or are linked to from several places. Only a generator has nearly all of its
//! pages bring URLs that nobody else knows of, generation after generation. The rule looks at windows of pages: a group that looks so is
//! *low*, and most of its URLs wait behind all others of the site; where it goes on like that for generations it is *endless*, and ends.

mod group;
mod sample;

#[cfg(test)]
mod tests;

use foldhash::HashMap;
use model::Candidate;
use weburl::CanonicalUrl;

use self::group::{GROUPS_OF_URL, TREES, directory, ends_of_trees};
pub use self::group::{Group, groups_of, is_key_of_group};
use self::sample::Sample;
use crate::TrapRules;

/// Groups of a site that are watched.
const GROUPS_MAX: usize = 64;
/// For so many pages of others a group stays among them for each page of its own.
const PAGES_OF_OTHERS: u32 = 16;

/// From which part of a window on a narrow group is busy: it will be judged by itself.
const BUSY_PART: u32 = 16;
/// Of a hundred pages of a tree that is judged, fewer lie in busy groups.
const IN_BUSY_PERCENT: u32 = 25;

/// Of a hundred pages of a low group, so many bring new URLs of the group, at least.
const BRINGING_PERCENT: u32 = 90;
/// Of a hundred new URLs that it brings, so many lie elsewhere, at most.
const ELSEWHERE_PERCENT: u32 = 2;
/// Of a hundred of its URLs, another page links to so many, at most.
const LINKED_PERCENT: u32 = 1;
/// The same where its pages nearly all say the same.
const LINKED_SAME_TEXT_PERCENT: u32 = 25;
/// Of a hundred pages that nearly all say the same, so many do, at least.
const SAME_TEXT_PERCENT: u32 = 95;
/// Bits in which the fingerprints of two texts that are nearly the same differ, at most: a date that changes, and what goes with it, changes
/// three or four.
const SAME_TEXT_BITS: u32 = 6;
/// Texts of a group that the next is compared with.
const TEXTS: usize = 4;
/// URLs of a group in the sample from which something follows, at least.
const SAMPLED_MIN: u32 = 12;
/// Sampled URLs that a window brings of a group which brings one a page, at least.
const SAMPLED_A_WINDOW: u32 = 128;

/// Links from the first to the last page of an endless group, at least, from the window on in which it is low for the first time. Where lists
/// lead to lists, so many that they fill a window, what they list is nearer.
const GENERATIONS_MIN: u32 = 4;
/// An endless group whose pages bring fewer new URLs each, in tenths, does not grow: a story in many chapters looks so too.
const GROWING_TENTHS: u32 = 15;
/// So many times the pages are fetched of a group that does not grow and has a new text on each page.
const CHAIN_TIMES: u32 = 10;

/// In how many windows a URL is looked for that might lead to one of the sample.
const SAMPLE_WINDOWS: u32 = 6;

/// Of how many URLs of a low group one keeps its place, as a power of two; and of twice as many each time that half a window more of it was
/// taken, so that the depth is soon reached where the lists of a real site have their leaves.
const KEPT_BITS_MIN: u32 = 4;
const KEPT_BITS_MAX: u32 = 20;
/// The bits of a key that decide are not those that the sample goes by.
const KEPT_SHIFT: u32 = 24;

/// What the groups of a site bring.
#[derive(Debug)]
pub struct Yields {
    groups: HashMap<u64, Watched>,
    sample: Sample,
    /// Pages that ended.
    pages: u32,
}

/// What a page brought.
#[derive(Clone, Debug)]
pub struct Brought {
    /// The keys of its groups, the narrowest first; 0 where there are no more.
    groups: [u64; GROUPS_OF_URL],
    /// New URLs of each of these groups.
    within: [u32; GROUPS_OF_URL],
    /// New URLs, wherever they are.
    all: u32,
    /// Where the directories end whose trees the page lies in.
    trees: [usize; TREES],
}

/// What a group of URLs turns out to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Yield {
    /// Its pages are of use.
    Fair,
    /// Its last pages brought only more of itself.
    Low,
    /// It goes on so, for generations.
    Endless,
}

/// What a group that brings only more of itself has had, as its counter among those of the site's shapes keeps it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Share {
    /// URLs fetched of it since it is low, and one at least; 0 where it is not.
    pub fetched: u32,
    /// It goes on so, for generations.
    pub is_endless: bool,
}

/// The bit of a counter which says that the group is endless.
const ENDLESS: u32 = 1 << 30;

impl Share {
    /// What a counter says.
    #[must_use]
    pub const fn of(count: u32) -> Self {
        Share { fetched: count & (ENDLESS - 1), is_endless: count & ENDLESS != 0 }
    }

    /// The counter that says so.
    #[must_use]
    pub const fn count(self) -> u32 {
        self.fetched | if self.is_endless { ENDLESS } else { 0 }
    }
}

/// A group that is watched.
#[derive(Debug, Default)]
struct Watched {
    window: Tally,
    /// Since the window in which it was low for the first time.
    low: Option<Tally>,
    /// How many pages of the site had ended before the last of it.
    seen_at: u32,
    /// The fingerprints of its last texts.
    texts: [Option<u64>; TEXTS],
}

/// What some pages brought.
#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    /// How many pages of the site had ended before.
    since: u32,
    pages: u32,
    /// Pages that brought new URLs of the group.
    bringing: u32,
    /// New URLs of the group.
    within: u32,
    /// New URLs.
    all: u32,
    /// Of a directory's tree: pages that lie in directories, or have parameters, of which there are many.
    in_busy: u32,
    /// Pages with nearly the same text as one of those before.
    same_text: u32,
    depth_min: u32,
    depth_max: u32,
}

impl Brought {
    /// Nothing yet.
    #[must_use]
    pub fn nothing(page: &CanonicalUrl) -> Self {
        let trees = ends_of_trees(page.path());
        let mut brought = Brought { groups: [0; GROUPS_OF_URL], within: [0; GROUPS_OF_URL], all: 0, trees };
        brought.groups.iter_mut().zip(groups_of(page)).for_each(|(key, group)| *key = group.key());
        brought
    }

    /// Adds a URL that was new. As [`Group::contains`] has it, but there are many of these: all that the page lies in is compared at once.
    pub fn add(&mut self, page: &CanonicalUrl, found: &CanonicalUrl) {
        self.all += 1;
        if page.key().site != found.key().site {
            return;
        }
        let (own, path) = (page.path(), found.path());
        let mut within = self.within.iter_mut();
        let mut next_is = |is_within: bool| within.next().into_iter().for_each(|count| *count += u32::from(is_within));
        if let Some(query) = page.query() {
            next_is(Group::Parameters { path: own, query }.contains(found));
        }
        let beside = path.strip_prefix(directory(own));
        next_is(beside.is_some_and(|rest| !rest.contains('/')));
        for end in self.trees.into_iter().take_while(|end| *end > 0) {
            next_is(beside.is_some() || path.starts_with(&own[..end]));
        }
    }
}

impl Yields {
    /// Nothing is known of the site yet.
    #[must_use]
    pub fn new(rules: &TrapRules) -> Self {
        Yields { groups: HashMap::default(), sample: Sample::new(sample_mask(rules)), pages: 0 }
    }

    /// Takes notice of a link from a page, of this or another site, to a URL of this site. `is_fresh`: the URL was found by it.
    pub fn link(&mut self, by: &Candidate, to: &CanonicalUrl, is_fresh: bool) {
        self.sample.link(by, to, is_fresh, self.pages);
    }

    /// Takes notice of the end of a page. `text` is the fingerprint of its text, if there is one. Gives what follows of its groups, by their
    /// keys, where a window of them ends.
    pub fn ended(
        &mut self,
        page: &Candidate,
        brought: &Brought,
        text: Option<u64>,
        rules: &TrapRules,
    ) -> Vec<(u64, Yield)> {
        let mut follows = Vec::new();
        let window = rules.low_yield_window.max(1);
        let is_low = |key: &u64| self.groups.get(key).is_some_and(|watched| watched.low.is_some());
        let low = brought.groups.into_iter().find(is_low);
        let mut is_in_busy = false;
        for ((group, key), within) in groups_of(&page.url).zip(brought.groups).zip(brought.within) {
            // The pages of a low group count for no other.
            if low.is_some_and(|low| low != key) {
                continue;
            }
            self.make_room(key);
            let watched = self.groups.entry(key).or_insert_with(|| Watched::since(self.pages));
            watched.seen_at = self.pages;
            watched.add(page.depth, within, brought.all, text);
            watched.window.in_busy += u32::from(is_in_busy);
            is_in_busy |= watched.window.pages > window / BUSY_PART && !matches!(group, Group::Tree(_));
            if watched.window.pages >= window.saturating_mul(windows_of(&group)) {
                let turns_out = watched.end_window(key, self.pages, &self.sample, rules);
                follows.extend(turns_out.map(|turns_out| (key, turns_out)));
            }
            if watched.low.is_some() {
                break;
            }
        }
        self.pages += 1;
        if self.pages.is_multiple_of(window) {
            self.sample.forget_before(self.pages.saturating_sub(window * SAMPLE_WINDOWS), sample_mask(rules));
        }
        follows
    }

    /// Makes room for a group: one of which little is known, and nothing was seen lately, is forgotten.
    fn make_room(&mut self, key: u64) {
        if self.groups.len() < GROUPS_MAX || self.groups.contains_key(&key) {
            return;
        }
        let stays_until = |watched: &Watched| watched.seen_at.saturating_add(watched.window.pages * PAGES_OF_OTHERS);
        let weight = |watched: &Watched| (watched.low.is_some(), stays_until(watched));
        let least = self.groups.iter().min_by_key(|(key, watched)| (weight(watched), **key)).map(|(key, _)| *key);
        if let Some(least) = least {
            self.groups.remove(&least);
        }
    }
}

impl Watched {
    fn since(pages: u32) -> Self {
        Watched { window: Tally::since(pages), ..Watched::default() }
    }

    fn add(&mut self, depth: u32, within: u32, all: u32, text: Option<u64>) {
        let is_near = |other: &Option<u64>| {
            text.zip(*other).is_some_and(|(text, other)| (text ^ other).count_ones() <= SAME_TEXT_BITS)
        };
        let has_same_text = self.texts.iter().any(is_near);
        self.texts.rotate_right(1);
        self.texts[0] = text;
        for tally in std::iter::once(&mut self.window).chain(&mut self.low) {
            tally.add(depth, within, all, has_same_text);
        }
    }

    /// What the group turns out to be. `None` where others are to be judged first.
    fn end_window(&mut self, key: u64, pages: u32, sample: &Sample, rules: &TrapRules) -> Option<Yield> {
        let window = std::mem::replace(&mut self.window, Tally::since(pages));
        if is_at_least(window.in_busy, window.pages, IN_BUSY_PERCENT) {
            return None;
        }
        let is_low = |tally: &Tally| tally.is_low(sample.count(key, tally.since));
        if !is_low(&window) {
            self.low = None;
            return Some(Yield::Fair);
        }
        let low = self.low.get_or_insert(window);
        Some(if is_low(low) && low.is_endless(rules) { Yield::Endless } else { Yield::Low })
    }
}

impl Tally {
    fn since(pages: u32) -> Self {
        Tally { since: pages, depth_min: u32::MAX, ..Tally::default() }
    }

    fn add(&mut self, depth: u32, within: u32, all: u32, has_same_text: bool) {
        self.pages += 1;
        self.bringing += u32::from(within > 0);
        self.within = self.within.saturating_add(within);
        self.all = self.all.saturating_add(all);
        self.same_text += u32::from(has_same_text);
        self.depth_min = self.depth_min.min(depth);
        self.depth_max = self.depth_max.max(depth);
    }

    fn has_same_text(&self) -> bool {
        is_at_least(self.same_text, self.pages, SAME_TEXT_PERCENT)
    }

    /// True where nearly all pages brought only more of the group, which nobody else links to: of `sampled` URLs others link to `linked`.
    fn is_low(&self, (sampled, linked): (u32, u32)) -> bool {
        let linked_max = if self.has_same_text() { LINKED_SAME_TEXT_PERCENT } else { LINKED_PERCENT };
        is_at_least(self.bringing, self.pages, BRINGING_PERCENT)
            && is_at_least(self.within, self.all, 100 - ELSEWHERE_PERCENT)
            && sampled >= SAMPLED_MIN
            && is_at_least(sampled - linked, sampled, 100 - linked_max)
    }

    /// True where that went on for generations, and grew, or said the same all the time, or went on for very long.
    fn is_endless(&self, rules: &TrapRules) -> bool {
        let grows = is_at_least(self.within, self.bringing, GROWING_TENTHS * 10);
        let is_long = self.pages >= rules.low_yield_pages_max.saturating_mul(CHAIN_TIMES);
        self.depth_max.saturating_sub(self.depth_min) >= GENERATIONS_MIN && (grows || self.has_same_text() || is_long)
    }
}

/// Of how many pages a window of a group is, as a multiple of the window of a directory. What is narrow is to be noticed before what it lies in,
/// where there is more to be lost.
fn windows_of(group: &Group<'_>) -> u32 {
    match group {
        Group::Parameters { .. } | Group::Directory(_) => 1,
        Group::Tree(directory) => match directory.matches('/').count() {
            1 => 8,
            2 => 4,
            _ => 2,
        },
    }
}

/// True where `part` is at least so many percent of `whole`.
fn is_at_least(part: u32, whole: u32, percent: u32) -> bool {
    u64::from(part) * 100 >= u64::from(whole) * u64::from(percent)
}

/// The bits that no key has of a URL in a sample.
#[must_use]
pub fn sample_mask(rules: &TrapRules) -> u64 {
    u64::from((rules.low_yield_window / SAMPLED_A_WINDOW).max(1).next_power_of_two() - 1)
}

/// True where a URL of a low group keeps its place in the queue of its site, when so many of the group were taken since others are put off.
#[must_use]
pub fn keeps_its_place(url: u64, taken: u32, rules: &TrapRules) -> bool {
    let bits = KEPT_BITS_MIN.saturating_add(taken / (rules.low_yield_window / 2).max(1)).min(KEPT_BITS_MAX);
    (url >> KEPT_SHIFT).trailing_zeros() >= bits
}
