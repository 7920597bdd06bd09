//! The counters of URL shapes, which the trap rules judge by, and when they are written.

use model::{Candidate, Outcome, Queued};

use super::low_yield::is_listed;
use super::{Settled, SiteState};
use crate::traps::ShapeRule;
use crate::{Features, Novelty, Shows, TrapRules};

/// Shapes counted a site.
pub(super) const SHAPES_MAX: usize = 10_000;

/// From which count on a shape is written to the store, and then whenever the count has doubled, and when nothing waits in memory any more,
/// after which the site may leave the front. So after a crash a count is more than half of what it was; a smaller one begins again at 0.
pub(super) const SHAPE_COUNT_KEPT_MIN: u32 = 8;

/// A page that brings something new subtracts this from the count of its shape. So if one in five brings something, the shape never reaches its
/// limit.
const TAKEN_OFF_BY_NEW: u32 = 4;

/// How often pages of a shape repeated others.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counted {
    pub(super) count: u32,
    /// The count in the last record.
    pub(super) written: u32,
}

impl SiteState {
    /// All counters that differ from the written ones.
    pub(super) fn unwritten_shapes(&mut self) -> Vec<(u64, u32)> {
        self.shapes_due.clear();
        self.shapes_changed.clear();
        let unwritten = self.shapes.iter_mut().filter(|(_, counted)| counted.count != counted.written);
        unwritten
            .map(|(shape, counted)| {
                counted.written = counted.count;
                (*shape, counted.count)
            })
            .collect()
    }

    pub(super) fn shapes_to_write(&mut self) -> Vec<(u64, u32)> {
        if self.record.aside.is_some() {
            // It leaves the front, and comes back often: small counts matter too.
            return self.unwritten_shapes();
        }
        let mut shapes = std::mem::take(&mut self.shapes_due);
        if self.queue.is_empty() {
            shapes.append(&mut self.shapes_changed);
        }
        let to_write = shapes.into_iter().filter_map(|shape| {
            let counted = self.shapes.get_mut(&shape).filter(|counted| counted.count != counted.written)?;
            counted.written = counted.count;
            Some((shape, counted.count))
        });
        to_write.collect()
    }

    /// How often pages of a shape repeated others.
    #[must_use]
    pub fn shape_count(&self, shape: u64) -> u32 {
        self.shapes.get(&shape).map_or(0, |counted| counted.count)
    }

    /// Takes in what a page shows, and counts it for its shape if it repeats others. What its site lists does not count.
    pub fn judge_novelty(
        &mut self,
        page: &Candidate,
        shape: Option<(u64, ShapeRule)>,
        features: Option<Features>,
        novelty: &mut Novelty,
        traps: &TrapRules,
    ) -> Shows {
        let shows = features.map(|features| novelty.shows(page.url.key().site, features)).unwrap_or_default();
        let Some((shape, rule)) = shape else { return shows };
        let has_new_value = rule == ShapeRule::Queries && novelty.has_new_value(&page.url);
        if is_listed(page) {
            return shows;
        }
        if shows.is_new {
            self.take_off(shape, TAKEN_OFF_BY_NEW);
        } else if shows.counts_for(rule) && has_new_value {
            self.count_shape(traps.simple_shape(&page.url), ShapeRule::SimpleQueries, traps);
        } else if shows.counts_for(rule) {
            self.count_shape(shape, rule, traps);
        }
        shows
    }

    fn take_off(&mut self, shape: u64, by: u32) {
        if let Some(counted) = self.shapes.get_mut(&shape) {
            counted.count = counted.count.saturating_sub(by);
        }
    }

    /// The shape of a URL, with its rule; or the end of the URL if a shape of it has reached its limit. What its site lists, and a further attempt,
    /// have none.
    pub(super) fn judge_shape(&self, waiting: &Queued, traps: &TrapRules) -> Result<Option<(u64, ShapeRule)>, Settled> {
        let url = &waiting.candidate.url;
        let is_judged = waiting.attempts == 0 && !is_listed(&waiting.candidate);
        let Some(own) = traps.shape(url).filter(|_| is_judged) else { return Ok(None) };
        let is_reached = |(shape, rule): &(u64, ShapeRule)| {
            traps.fetched_max(*rule).is_some_and(|max| self.shape_count(*shape) >= max)
        };
        match traps.shapes(url).find(is_reached) {
            Some((_, rule)) => Err(Settled::by(rule.limit(), Outcome::Trap, traps.reason(rule))),
            None => Ok(Some(own)),
        }
    }

    /// Counts a shape, unless its rule is switched off.
    fn count_shape(&mut self, shape: u64, rule: ShapeRule, traps: &TrapRules) {
        let has_room = self.shapes.len() < SHAPES_MAX || self.shapes.contains_key(&shape);
        if traps.fetched_max(rule).is_none() || !has_room {
            return;
        }
        let counted = self.shapes.entry(shape).or_default();
        counted.count += 1;
        if counted.count >= SHAPE_COUNT_KEPT_MIN {
            if counted.count.is_power_of_two() {
                self.shapes_due.push(shape);
            }
            if counted.count == (counted.written + 1).max(SHAPE_COUNT_KEPT_MIN) {
                self.shapes_changed.push(shape);
            }
        }
    }
}
