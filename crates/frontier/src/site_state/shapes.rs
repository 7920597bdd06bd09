//! The counters of URL shapes, which the trap rules judge by, and when they are written.

use model::{Outcome, Queued};
use weburl::CanonicalUrl;

use super::{Settled, SiteState};
use crate::traps::ShapeRule;
use crate::{Features, Novelty, TrapRules};

/// Shapes counted a site.
pub(super) const SHAPES_MAX: usize = 10_000;

/// From which count on a shape is written to the store, and then whenever the count has doubled, and when nothing waits in memory any more,
/// after which the site may leave the front. So after a crash a count is more than half of what it was; a smaller one begins again at 0.
pub(super) const SHAPE_COUNT_KEPT_MIN: u32 = 8;

/// A page that brings something new subtracts this from the count of its shape: itself, and four that brought nothing. So if one in five brings
/// something, the shape never reaches its limit.
const TAKEN_OFF_BY_NEW: u32 = 5;

/// How often URLs of a shape were fetched without bringing anything new.
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

    /// How often URLs of a shape were fetched without bringing anything new.
    #[must_use]
    pub fn shape_count(&self, shape: u64) -> u32 {
        self.shapes.get(&shape).map_or(0, |counted| counted.count)
    }

    /// The shape of a URL and the rule that counts it, if it is counted.
    #[must_use]
    pub fn counted_shape(&self, url: &CanonicalUrl, traps: &TrapRules) -> Option<(u64, ShapeRule)> {
        let shapes = Some(&self.shapes).filter(|shapes| !shapes.is_empty())?;
        traps.shape(url).filter(|(shape, _)| shapes.contains_key(shape))
    }

    /// Does a page bring something new? Corrects the count of its shape if so. `None`: there are no features to judge by.
    pub fn judge_novelty(
        &mut self,
        url: &CanonicalUrl,
        shape: Option<(u64, ShapeRule)>,
        features: Option<Features>,
        novelty: &mut Novelty,
        traps: &TrapRules,
    ) -> Option<bool> {
        let shows_new = features.map(|features| novelty.brings(url.key().site, features));
        let Some((shape, rule)) = shape else { return shows_new };
        let has_new_value = rule == ShapeRule::Queries && novelty.has_new_value(url);
        if shows_new == Some(true) {
            self.take_off(shape, TAKEN_OFF_BY_NEW);
        } else if has_new_value {
            self.take_off(shape, 1);
            self.count_shape(traps.simple_shape(url), ShapeRule::SimpleQueries, traps);
        }
        shows_new
    }

    fn take_off(&mut self, shape: u64, by: u32) {
        if let Some(counted) = self.shapes.get_mut(&shape) {
            counted.count = counted.count.saturating_sub(by);
        }
    }

    /// The shape for which a fetch of a URL counts, with its rule; or the end of the URL if a shape of it has reached its limit. A further attempt
    /// does not count again.
    pub(super) fn judge_shape(&self, waiting: &Queued, traps: &TrapRules) -> Result<Option<(u64, ShapeRule)>, Settled> {
        let url = &waiting.candidate.url;
        let Some(own) = traps.shape(url).filter(|_| waiting.attempts == 0) else { return Ok(None) };
        let is_reached = |(shape, rule): &(u64, ShapeRule)| {
            traps.fetched_max(*rule).is_some_and(|max| self.shape_count(*shape) >= max)
        };
        match traps.shapes(url).find(is_reached) {
            Some((_, rule)) => Err(Settled::by(rule.limit(), Outcome::Trap, traps.reason(rule))),
            None => Ok(Some(own)),
        }
    }

    /// Counts a shape, unless its rule is switched off.
    pub(super) fn count_shape(&mut self, shape: u64, rule: ShapeRule, traps: &TrapRules) {
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
