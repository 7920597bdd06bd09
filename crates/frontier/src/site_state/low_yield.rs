//! Groups of URLs that bring only more of themselves. Most of their URLs come behind all others of the site; an endless group ends.

use std::collections::BTreeMap;

use model::{Candidate, Limit, Outcome, Purpose, Queued, Via};

use super::{Settled, SiteState};
use crate::yields::{Group, Lines, Share, Yield, groups_of, is_key_of_group};
use crate::{ShapeRule, TrapRules};

/// How often the count of a group is written to the store: each time that so many more of its URLs were fetched.
const COUNT_KEPT_EVERY: u32 = 16;

/// What a fetch counts for, besides the site.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counts {
    /// A low group, with its share after the fetch.
    pub group: Option<(u64, Share)>,
    /// The shape of its URL, and the rule that counts it.
    pub shape: Option<(u64, ShapeRule)>,
}

/// The low groups of a site, by their keys. How many URLs of each were fetched is among the counters of shapes.
#[derive(Debug, Default)]
pub(super) struct LowGroups(BTreeMap<u64, Low>);

/// A low group.
#[derive(Clone, Copy, Debug, Default)]
struct Low {
    /// Windows in which it was low.
    windows: u32,
    /// URLs of it that were taken since most of them are put off.
    taken: u32,
    /// Which are not.
    lines: Lines,
}

/// True if the site itself names a URL, in a sitemap, or the user does.
pub(super) fn is_listed(candidate: &Candidate) -> bool {
    matches!(candidate.via, Via::Seed | Via::Sitemap)
}

impl LowGroups {
    /// How many bytes they take, about.
    pub(super) fn bytes(&self) -> usize {
        self.0.len() * 2 * size_of::<(u64, Low)>()
    }

    /// Those that counters tell of.
    pub(super) fn of(shapes: &[(u64, u32)]) -> Self {
        let low = shapes.iter().filter(|(key, count)| is_key_of_group(*key) && Share::of(*count).fetched > 0);
        LowGroups(low.map(|(key, _)| (*key, Low::default())).collect())
    }
}

impl SiteState {
    /// Applies the verdict on a group, named by its key.
    ///
    /// Most URLs of a low group are put off, so the others lead into the depth. This happens again after twice as many windows. The depth shows
    /// whether the group is endless; the URLs that were put off come later in their order, breadth first.
    pub fn heed_yield(&mut self, group: u64, turns_out: Yield) {
        let groups = &mut self.low_groups.0;
        let lines = match turns_out {
            Yield::Low(lines) => Some(lines),
            Yield::Endless => None,
            Yield::Fair => {
                if groups.remove(&group).is_some() {
                    self.set_share(group, Share::default());
                }
                return;
            }
        };
        let is_endless = lines.is_none();
        let low = groups.entry(group).or_default();
        low.windows += 1;
        if let Some(lines) = lines.filter(|_| low.windows == 1) {
            low.lines = lines;
        }
        if !is_endless && low.windows.is_power_of_two() {
            low.taken = 0;
            self.sweep.takes_put_off = false;
        }
        let share = self.share(group);
        self.set_share(group, Share { fetched: share.fetched.max(1), is_endless });
    }

    /// True if a group, named by its key, seems to bring only more of itself.
    #[must_use]
    pub fn is_low_group(&self, group: u64) -> bool {
        self.low_groups.0.contains_key(&group)
    }

    fn share(&self, group: u64) -> Share {
        Share::of(self.shapes.get(&group).map_or(0, |counted| counted.count))
    }

    /// Sets the counter of a group, to be written with the next record.
    fn set_share(&mut self, group: u64, share: Share) {
        self.shapes.entry(group).or_default().count = share.count();
        self.shapes_due.push(group);
    }

    /// The narrowest low group of a URL, and its share so far. URLs that a seed or a sitemap names belong to none.
    fn low_group<'u>(&self, waiting: &'u Queued, traps: &TrapRules) -> Option<(Group<'u>, Low, Share)> {
        if self.low_groups.0.is_empty() || is_listed(&waiting.candidate) || traps.low_yield_pages_max == 0 {
            return None;
        }
        let is_page =
            waiting.candidate.purpose == Purpose::Page && waiting.visited.is_none() && waiting.again.is_none();
        groups_of(&waiting.candidate.url).filter(|_| is_page).find_map(|group| {
            let key = group.key();
            self.low_groups.0.get(&key).map(|low| (group, *low, self.share(key)))
        })
    }

    /// True if a URL comes behind the others of its site, which have not all had their turn.
    pub(super) fn is_put_off(&self, waiting: &Queued, traps: &TrapRules) -> bool {
        if self.sweep.takes_put_off || waiting.attempts > 0 || self.is_given_up() {
            return false;
        }
        self.low_group(waiting, traps).is_some_and(|(_, low, share)| {
            share.fetched < traps.low_yield_pages_max && !low.lines.keep(&waiting.candidate, low.taken, traps)
        })
    }

    /// The low group for which a fetch of a URL counts, with the count after it; or the end of the URL if the group has had its share. A further
    /// attempt does not count again.
    pub(super) fn judge_yield(&self, waiting: &Queued, traps: &TrapRules) -> Result<Option<(u64, Share)>, Settled> {
        let Some((group, _, share)) = self.low_group(waiting, traps).filter(|_| waiting.attempts == 0) else {
            return Ok(None);
        };
        let max = traps.low_yield_pages_max;
        if share.fetched >= max {
            return Err(Settled::by(Limit::LowYield, Outcome::Trap, traps.reason_of_low_yield(&group)));
        }
        // A group that is not endless goes on.
        let fetched = (share.fetched + 1).min(if share.is_endless { max } else { max - 1 }).max(1);
        Ok(Some((group.key(), Share { fetched, ..share })))
    }

    /// Counts a fetch for a low group.
    pub(super) fn count_yield(&mut self, group: u64, share: Share, traps: &TrapRules) {
        self.low_groups.0.entry(group).and_modify(|low| low.taken += 1);
        if share.fetched.is_multiple_of(COUNT_KEPT_EVERY) || share.fetched == traps.low_yield_pages_max {
            self.shapes_due.push(group);
        }
        let counted = self.shapes.entry(group).or_default();
        if counted.count == counted.written && share.count() != counted.count {
            self.shapes_changed.push(group);
        }
        counted.count = share.count();
    }
}
