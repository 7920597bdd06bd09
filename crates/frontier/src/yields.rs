//! The trap rule without patterns: does a group of URLs bring only more of itself, to which nothing else links?
//!
//! Real sites end. Several pages link to most of their pages. A generator brings URLs that no other page knows, generation after
//! generation. The rule judges windows of pages. A group that looks like a generator is *low*: most of its URLs wait behind all others of the
//! site. Some *lines* of links are followed into the depth, to see whether they end. A group that stays low for generations is *endless*, and
//! ends: soon where its pages repeat others ([`crate::novelty`]), or where it would be larger than any site; else only after very many pages,
//! since stories in chapters and lists of leaves look so too.
//!
//! Pages beside each other in a chain link to the same ones, as those with a link to the next page and to the one after. So in a group with few
//! pages to a generation of links, and in one whose pages repeat others, only links from outside the group count.

mod group;
mod lines;
mod sample;

#[cfg(test)]
mod tests;

use foldhash::HashMap;
use model::Candidate;
use weburl::CanonicalUrl;

use self::group::{GROUPS_OF_URL, TREES, directory, ends_of_trees};
pub use self::group::{Group, groups_of, is_key_of_group};
pub use self::lines::Lines;
use self::sample::{Linked, Sample};
use crate::{Shows, TrapRules};

/// Groups watched in a site, at most.
const GROUPS_MAX: usize = 64;
/// Pages of other groups for which one page keeps its group among the watched ones.
const PAGES_OF_OTHERS: u32 = 16;

/// The part of a window from which a narrow group is busy. The rule judges a busy group by itself.
const BUSY_PART: u32 = 16;
/// Percentage of a tree's pages in busy groups, from which the tree is not judged.
const IN_BUSY_PERCENT: u32 = 25;

/// New URLs of the group in percent of the pages of a low group, at least: it does not shrink.
const WITHIN_PERCENT: u32 = 50;
/// Percentage of pages that bring new URLs of the group, from which nearly all lead on.
const BRINGING_PERCENT: u32 = 90;
/// Percentage of its new URLs that lie elsewhere, at most.
const ELSEWHERE_PERCENT: u32 = 2;
/// Percentage of its sampled URLs to which another page links, at most.
const LINKED_PERCENT: u32 = 1;
/// The same if nearly all of its pages repeat others.
const LINKED_REPEATS_PERCENT: u32 = 25;
/// Percentage of pages that repeat others, from which nearly all do.
const REPEATS_PERCENT: u32 = 95;
/// Pages to a generation of links in a chain, at most: it leads from each page to the next ones.
const CHAIN_PAGES_A_GENERATION: u32 = 32;
/// Sampled URLs of a group that a verdict needs, at least.
const SAMPLED_MIN: u32 = 12;
/// Sampled URLs of a window in which each page brings one URL, at least.
const SAMPLED_A_WINDOW: u32 = 128;

/// Generations of links over which an endless group stays low, at least. In a real site lists that fill a window are nearer to their leaves.
const GENERATIONS_MIN: u32 = 4;
/// New URLs that each page of a growing group brings, in tenths, at least. A story in chapters brings fewer.
const GROWING_TENTHS: u32 = 15;
/// Pages of a site, at most. A growing group that would have more by its last generation has no end.
const PAGES_OF_SITE_MAX: f64 = 1e7;
/// Factor for the pages of an endless group that neither grows by nearly each page nor repeats itself.
const CHAIN_TIMES: u32 = 10;
/// Percentage of pages that bring new URLs of the group, [`GROWING_TENTHS`] each, from which it may be a real tree.
const TREE_PERCENT: u32 = 40;
/// Generations of links in which no real tree ends.
const TREE_GENERATIONS_MAX: u32 = 24;

/// Windows for which a URL stays in the sample.
const SAMPLE_WINDOWS: u32 = 6;

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
    /// The page repeats others.
    repeats: bool,
    /// It is a copy of another.
    is_copy: bool,
}

/// The verdict on a group of URLs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Yield {
    /// Its pages are useful.
    Fair,
    /// Its last pages brought only more of itself. These lines of it are followed.
    Low(Lines),
    /// It stays low for generations.
    Endless,
}

/// The progress of a low group, as its counter among the shape counters of the site stores it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Share {
    /// URLs fetched of it since it became low, and at least one; 0 if it is not low.
    pub fetched: u32,
    /// It stays low for generations.
    pub is_endless: bool,
}

/// The bit of a counter which says that the group is endless.
const ENDLESS: u32 = 1 << 30;

impl Share {
    /// The value of a counter.
    #[must_use]
    pub const fn of(count: u32) -> Self {
        Share { fetched: count & (ENDLESS - 1), is_endless: count & ENDLESS != 0 }
    }

    /// The counter with this value.
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
    /// For a tree: its pages in busy directories or parameter groups.
    in_busy: u32,
    /// Pages that repeat others.
    repeats: u32,
    /// Copies of others among them.
    copies: u32,
    depth_min: u32,
    depth_max: u32,
}

impl Brought {
    /// No URL yet.
    #[must_use]
    pub fn nothing(page: &CanonicalUrl, shows: Shows) -> Self {
        let trees = ends_of_trees(page.path());
        let (groups, within) = ([0; GROUPS_OF_URL], [0; GROUPS_OF_URL]);
        let (repeats, is_copy) = (shows.repeats(), shows.is_copy());
        let mut brought = Brought { groups, within, all: 0, trees, repeats, is_copy };
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

    /// Notes a link from a page of any site to a URL of this site. `is_fresh`: this link found the URL.
    pub fn link(&mut self, by: &Candidate, to: &CanonicalUrl, is_fresh: bool) {
        self.sample.link(by, to, is_fresh, self.pages);
    }

    /// Notes the end of a page. Gives the verdicts on the groups whose window ends, by key.
    pub fn ended(&mut self, page: &Candidate, brought: &Brought, rules: &TrapRules) -> Vec<(u64, Yield)> {
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
            watched.add(page.depth, within, brought);
            watched.window.in_busy += u32::from(is_in_busy);
            is_in_busy |= watched.window.pages > window / BUSY_PART && !matches!(group, Group::Tree(_));
            let windows = if watched.window.is_of_copies() { 1 } else { windows_of(&group) };
            if watched.window.pages >= window.saturating_mul(windows) {
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

    /// Makes room for a group by dropping one with few pages that was not seen lately.
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

    fn add(&mut self, depth: u32, within: u32, brought: &Brought) {
        for tally in std::iter::once(&mut self.window).chain(&mut self.low) {
            tally.add(depth, within, brought);
        }
    }

    /// The verdict on the group. `None` if narrower groups come first.
    fn end_window(&mut self, key: u64, pages: u32, sample: &Sample, rules: &TrapRules) -> Option<Yield> {
        let window = std::mem::replace(&mut self.window, Tally::since(pages));
        if is_at_least(window.in_busy, window.pages, IN_BUSY_PERCENT) {
            return None;
        }
        // A window alone may have too few of the sample.
        let linked = sample.count(key, self.low.map_or(window.since, |low| low.since));
        let is_low = |tally: &Tally| tally.is_low(linked);
        if !is_low(&window) {
            self.low = None;
            return Some(Yield::Fair);
        }
        let low = self.low.get_or_insert(window);
        let is_endless = is_low(low) && low.is_endless(rules);
        Some(if is_endless { Yield::Endless } else { Yield::Low(Lines::from(&window, rules)) })
    }
}

impl Tally {
    fn since(pages: u32) -> Self {
        Tally { since: pages, depth_min: u32::MAX, ..Tally::default() }
    }

    fn add(&mut self, depth: u32, within: u32, brought: &Brought) {
        self.pages += 1;
        self.bringing += u32::from(within > 0);
        self.within = self.within.saturating_add(within);
        self.all = self.all.saturating_add(brought.all);
        self.repeats += u32::from(brought.repeats);
        self.copies += u32::from(brought.is_copy);
        self.depth_min = self.depth_min.min(depth);
        self.depth_max = self.depth_max.max(depth);
    }

    fn is_of_repeats(&self) -> bool {
        is_at_least(self.repeats, self.pages, REPEATS_PERCENT)
    }

    /// Nearly all are copies: nothing of it is lost if it is judged soon.
    fn is_of_copies(&self) -> bool {
        is_at_least(self.copies, self.pages, REPEATS_PERCENT)
    }

    /// Generations of links between its first pages and its last.
    fn generations(&self) -> u32 {
        self.depth_max.saturating_sub(self.depth_min)
    }

    fn is_chain(&self) -> bool {
        self.pages / (self.generations() + 1) <= CHAIN_PAGES_A_GENERATION
    }

    /// New URLs of the group that a page brings.
    fn growth(&self) -> f64 {
        f64::from(self.within) / f64::from(self.pages.max(1))
    }

    /// True if the pages brought only more of the group, to which nothing else links.
    fn is_low(&self, Linked { sampled, by_any, from_outside }: Linked) -> bool {
        let linked = if self.is_of_repeats() || self.is_chain() { from_outside } else { by_any };
        let linked_max = if self.is_of_repeats() { LINKED_REPEATS_PERCENT } else { LINKED_PERCENT };
        is_at_least(self.within, self.pages, WITHIN_PERCENT)
            && is_at_least(self.within, self.all, 100 - ELSEWHERE_PERCENT)
            && sampled >= SAMPLED_MIN
            && is_at_least(sampled - linked, sampled, 100 - linked_max)
    }

    /// True if that went on for generations, and the group repeats itself, grew beyond the size of a site, or lasted very long.
    fn is_endless(&self, rules: &TrapRules) -> bool {
        let brings = |percent| {
            is_at_least(self.bringing, self.pages, percent)
                && is_at_least(self.within, self.bringing, GROWING_TENTHS * 10)
        };
        let size = f64::from(rules.low_yield_window) * self.growth().powf(self.generations().into());
        let is_too_large = brings(BRINGING_PERCENT) && size > PAGES_OF_SITE_MAX;
        let is_long = self.pages >= rules.low_yield_pages_max.saturating_mul(CHAIN_TIMES)
            && (!brings(TREE_PERCENT) || self.generations() >= TREE_GENERATIONS_MAX);
        self.generations() >= GENERATIONS_MIN && (self.is_of_repeats() || is_too_large || is_long)
    }
}

/// The window of a group as a multiple of a directory's. The rule must find a narrow group before the wider ones around it, which have more
/// to lose.
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

/// True if `part` is at least this many percent of `whole`.
fn is_at_least(part: u32, whole: u32, percent: u32) -> bool {
    u64::from(part) * 100 >= u64::from(whole) * u64::from(percent)
}

/// Sampled URLs have none of these bits in their keys.
#[must_use]
pub fn sample_mask(rules: &TrapRules) -> u64 {
    u64::from((rules.low_yield_window / SAMPLED_A_WINDOW).max(1).next_power_of_two() - 1)
}
