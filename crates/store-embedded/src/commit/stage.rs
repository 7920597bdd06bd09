//! A worked-out batch as one batch of the engine. No key is written twice, since the engine does not order the writes of
//! one batch.

use std::collections::BTreeMap;
use std::collections::BTreeSet;

use fjall::{Keyspace, OwnedWriteBatch, UserKey};
use model::{LimitSet, Visit};
use store::{Batch, Change, Moved, Standing, StoreError};
use weburl::UrlKey;

use super::plan::{Placed, Plan};
use crate::codec::{self, Progress};
use crate::known::Way;
use crate::queue::Generations;
use crate::tables::Tables;
use crate::{keys, totals};

/// Collects the writes of a commit, and counts `progress` up to what is true after it. What enters the queue comes into the youngest
/// generation of `queue`.
pub(crate) fn stage(
    tables: &Tables,
    queue: &Generations,
    batch: &Batch,
    plan: &Plan<'_>,
    progress: &mut Progress,
) -> Result<OwnedWriteBatch, StoreError> {
    let mut stage = Stage { tables, queue, to: tables.batch() };
    if let Some(round) = &batch.round {
        totals::begin_round(&mut progress.totals, round);
    }
    // In key order, the order in which the engine writes best.
    for url in &plan.urls {
        stage.url(url, progress);
    }
    stage.visits(plan);
    stage.moved(plan)?;
    stage.sites(batch, progress)?;
    stage.holders(batch, &plan.writes.lost)?;
    stage.seeds(batch, progress)?;
    stage.segments(batch);
    stage.to.insert(&tables.meta, keys::PROGRESS, codec::encode_progress(progress));
    Ok(stage.to)
}

struct Stage<'a> {
    tables: &'a Tables,
    queue: &'a Generations,
    to: OwnedWriteBatch,
}

impl Stage<'_> {
    fn url(&mut self, url: &Placed, progress: &mut Progress) {
        let Placed { change: Change { key, before, now: record }, left, entered } = url;
        let now = record.standing(*key);
        totals::shift(&mut progress.totals, *before, Some(now));
        self.outcome(*key, *before, now);
        if let Some((generation, place)) = left.filter(|_| left != entered) {
            self.to.remove(self.queue.table(generation), place);
        }
        if let (Some(gone), None) = (before.and_then(|before| before.visit), now.visit) {
            self.to.remove(&self.tables.visits, key.to_bytes());
            if gone.has_outlinks {
                self.to.remove(&self.tables.outlinks, key.to_bytes());
            }
        }
        let encoded = codec::encode_url(record);
        if Way::of(&now).is_record_in_queue() {
            // It may have been there: in the first format, or while the URL was further away.
            if before.is_some() {
                self.to.remove(&self.tables.urls, key.to_bytes());
            }
            if let Some((generation, place)) = entered {
                self.to.insert(self.queue.table(*generation), *place, encoded);
            }
        } else {
            self.to.insert(&self.tables.urls, key.to_bytes(), encoded);
            if let Some((generation, place)) = entered {
                self.to.insert(self.queue.table(*generation), *place, []);
            }
        }
    }

    /// Moves a URL from one outcome to another.
    fn outcome(&mut self, key: UrlKey, before: Option<Standing>, now: Standing) {
        let [before, now] = [before.and_then(|before| before.visit), now.visit].map(|visit| visit.map(|it| it.outcome));
        if before == now || !self.tables.has_outcomes {
            return;
        }
        if let Some(before) = before {
            self.to.remove(&self.tables.by_outcome, keys::by_outcome(before, key));
        }
        if let Some(now) = now {
            self.to.insert(&self.tables.by_outcome, keys::by_outcome(now, key), []);
        }
    }

    fn visits(&mut self, plan: &Plan<'_>) {
        for visit in &plan.writes.earlier {
            self.to.insert(&self.tables.earlier, keys::earlier(visit.key, visit.at), codec::encode_visit(visit));
        }
        for visit in &plan.writes.amended {
            self.to.insert(&self.tables.visits, visit.key.to_bytes(), codec::encode_visit(visit));
        }
        for (key, visit) in &plan.writes.visits {
            let bytes = key.to_bytes();
            self.to.insert(&self.tables.visits, bytes, codec::encode_visit(visit));
            if !visit.outlinks.is_empty() {
                self.to.insert(&self.tables.outlinks, bytes, codec::encode_outlinks(&visit.outlinks));
            } else if plan.had_outlinks(*key) {
                self.to.remove(&self.tables.outlinks, bytes);
            }
        }
    }

    fn moved(&mut self, plan: &Plan<'_>) -> Result<(), StoreError> {
        for Moved { key, at, location } in &plan.writes.moved {
            let place = keys::earlier(*key, *at);
            let before = self.tables.earlier.get(place).map_err(self.tables.failed("looking up a record"))?;
            let Some(before) = before else { continue };
            let visit = Visit { location: *location, ..codec::decode_visit(*key, &before)? };
            self.to.insert(&self.tables.earlier, place, codec::encode_visit(&visit));
        }
        Ok(())
    }

    fn sites(&mut self, batch: &Batch, progress: &mut Progress) -> Result<(), StoreError> {
        let keyed = || batch.sites.iter().map(|record| (record.site.key(), record));
        let mut shapes = BTreeMap::new();
        for (key, record) in keyed().collect::<BTreeMap<_, _>>() {
            let before = self.tables.sites.get(key.to_bytes()).map_err(self.tables.failed("looking up a record"))?;
            progress.totals.sites += u64::from(before.is_none());
            // One of an earlier format.
            let before = before.map(|before| codec::decode_site(&before)).transpose()?;
            shapes.extend(before.into_iter().flat_map(|site| site.shapes).map(|(shape, count)| ((key, shape), count)));
            self.to.insert(&self.tables.sites, key.to_bytes(), codec::encode_site(record, &[]));
        }
        // Of each record, also where several of a site are in the batch.
        let counted = keyed().flat_map(|(key, record)| record.shapes.iter().map(move |shape| (key, shape)));
        shapes.extend(counted.map(|(key, (shape, count))| ((key, *shape), *count)));
        for ((site, shape), count) in shapes {
            self.to.insert(&self.tables.shapes, keys::shape(site, shape), codec::encode_shape(count));
        }
        let robots = keyed().filter_map(|(key, record)| Some((key, record.robots.as_ref()?)));
        for (key, robots) in robots.collect::<BTreeMap<_, _>>() {
            let before = self.tables.robots.get(key.to_bytes()).map_err(self.tables.failed("looking up a record"))?;
            let before = before.map(|before| codec::decode_robots(&before)).transpose()?;
            let before = before.map_or(LimitSet::EMPTY, |before| before.limits());
            progress.totals.shift_limits(before, robots.limits());
            self.to.insert(&self.tables.robots, key.to_bytes(), codec::encode_robots(robots));
        }
        Ok(())
    }

    fn holders(&mut self, batch: &Batch, lost: &BTreeSet<UrlKey>) -> Result<(), StoreError> {
        let mut freed = self.held_by(&self.tables.contents, lost)?;
        let mut staged = BTreeSet::new();
        for (content, holder) in &batch.holders {
            let content = content.as_bytes();
            if staged.insert(content)
                && (freed.remove(&content[..]) || !self.is_there(&self.tables.contents, content)?)
            {
                self.to.insert(&self.tables.contents, *content, holder.to_bytes());
            }
        }
        for content in freed {
            self.to.remove(&self.tables.contents, content);
        }
        for label in self.held_by(&self.tables.holders, lost)? {
            self.to.remove(&self.tables.holders, label);
        }
        Ok(())
    }

    /// What these URLs hold. All of a table is read for that; only a repair has such URLs.
    fn held_by(&self, table: &Keyspace, holders: &BTreeSet<UrlKey>) -> Result<BTreeSet<UserKey>, StoreError> {
        let mut held = BTreeSet::new();
        if holders.is_empty() {
            return Ok(held);
        }
        let holders: BTreeSet<_> = holders.iter().map(|holder| holder.to_bytes()).collect();
        for entry in table.iter() {
            let (content, holder) =
                entry.into_inner().map_err(self.tables.failed("looking for contents that are lost"))?;
            if holders.contains(&holder[..]) {
                held.insert(content);
            }
        }
        Ok(held)
    }

    fn seeds(&mut self, batch: &Batch, progress: &mut Progress) -> Result<(), StoreError> {
        let mut staged = BTreeSet::new();
        for seed in &batch.seeds {
            let mark = keys::is_seed(seed.key());
            if staged.insert(mark) && !self.is_there(&self.tables.meta, &mark)? {
                self.to.insert(&self.tables.meta, mark, []);
                self.to.insert(&self.tables.meta, keys::seed(progress.seeds), codec::encode_seed(seed));
                progress.seeds += 1;
            }
        }
        Ok(())
    }

    fn segments(&mut self, batch: &Batch) {
        let last: BTreeMap<_, _> = batch.segments.iter().map(|segment| (segment.serial, segment)).collect();
        for (serial, segment) in last {
            self.to.insert(&self.tables.meta, keys::segment(serial), codec::encode_segment(segment));
        }
    }

    fn is_there(&self, table: &Keyspace, key: &[u8]) -> Result<bool, StoreError> {
        table.contains_key(key).map_err(self.tables.failed("looking up a record"))
    }
}
