//! The queue in generations. The table of one takes what is found until it has its share; then the next is begun, and the one
//! before only loses what is visited. So what is found is not merged over and over with what was found long before
//! (docs/decisions/0013-generations-of-the-queue.md).

use std::sync::{Arc, PoisonError, RwLock};

use fjall::compaction::Leveled;
use fjall::config::{CompressionPolicy, PinningPolicy};
use fjall::{AbstractTree, CompressionType, Database, Keyspace, KeyspaceCreateOptions};

use crate::{Options, keys};

/// What is written out comes into the first level when there are so many files of it. All of that level, whose files have keys
/// of all its range, is written again then: the more files come at once, the less often. A generation of a million URLs of usual length has
/// fewer, and is written again when what leaves it has come in some more. Each look-up asks the filters of them all, and at 20 the engine
/// begins to hold commits up.
const FRESH_FILES_MAX: u8 = 18;
/// The first level has so many such files as come into it at once: with 576 MB some six million URLs.
const FILE_BYTES: u64 = 32 << 20;
/// How much larger each level is than the one before.
const LEVEL_RATIO: f32 = 8.0;
/// A generation has at least this part of all URLs, so that there are only some ten more of them for each time that there are
/// 2.7 times as many URLs.
const SHARE: u64 = 10;

/// Which table of the queue, by the order in which they were begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Generation(u8);

impl Generation {
    /// The last there may be. It takes what is found for ever.
    const LAST: Generation = Generation(u8::MAX - 1);

    /// A byte that is not 0.
    pub(crate) fn to_byte(self) -> u8 {
        self.0 + 1
    }

    /// The inverse of [`Generation::to_byte`]; `None` for 0.
    pub(crate) fn from_byte(byte: u8) -> Option<Self> {
        byte.checked_sub(1).map(Generation)
    }
}

/// The tables of the queue, the oldest first. There is at least one, and no more than a [`Generation`] can name.
#[derive(Clone)]
pub(crate) struct Generations(Arc<[Keyspace]>);

impl Generations {
    /// The tables with their names.
    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = (Generation, &Keyspace)> {
        (0..=Generation::LAST.0).map(Generation).zip(self.0.iter())
    }

    /// The table of a generation, which must be one of these.
    pub(crate) fn table(&self, generation: Generation) -> &Keyspace {
        &self.0[usize::from(generation.0)]
    }

    /// The generation that takes what is found.
    pub(crate) fn youngest(&self) -> Generation {
        self.iter().last().map_or(Generation(0), |(generation, _)| generation)
    }
}

/// The queue.
pub(crate) struct Queue {
    generations: RwLock<Generations>,
    /// See [`Options::write_buffer_bytes`].
    write_buffer_bytes: u64,
    /// See [`Options::generation_urls`].
    urls_min: u64,
}

impl Queue {
    /// Opens all generations there are, or makes the first.
    pub(crate) fn open(engine: &Database, options: &Options) -> fjall::Result<Self> {
        let write_buffer_bytes = options.write_buffer_bytes;
        let mut tables = vec![make(engine, Generation(0), write_buffer_bytes)?];
        let is_there = |n: &u8| engine.keyspace_exists(&keys::queue_table(*n));
        for generation in (1..=Generation::LAST.0).take_while(is_there).map(Generation) {
            tables.push(make(engine, generation, write_buffer_bytes)?);
        }
        let generations = RwLock::new(Generations(tables.into()));
        Ok(Queue { generations, write_buffer_bytes, urls_min: options.generation_urls })
    }

    /// All current generations. An earlier snapshot finds everything that it shows in them.
    pub(crate) fn generations(&self) -> Generations {
        self.generations.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Begins the next generation if the youngest has its share of all `urls`, or has nearly.
    pub(crate) fn begin_when_full(&self, engine: &Database, urls: u64) -> fjall::Result<()> {
        let generations = self.generations();
        let youngest = generations.youngest();
        let entries = generations.table(youngest).approximate_len() as u64;
        if entries >= self.urls_min.max(urls / SHARE) && youngest != Generation::LAST {
            let table = make(engine, Generation(youngest.0 + 1), self.write_buffer_bytes)?;
            let generations = Generations(generations.0.iter().cloned().chain([table]).collect());
            *self.generations.write().unwrap_or_else(PoisonError::into_inner) = generations;
        }
        Ok(())
    }

    /// See [`Tables::bound_memory`](crate::tables::Tables::bound_memory).
    pub(crate) fn bound_memory(&self) -> fjall::Result<()> {
        self.generations().iter().try_for_each(|(_, table)| bound(table, self.write_buffer_bytes))
    }
}

/// Begins a new part of a table in memory if its part is full.
pub(crate) fn bound(table: &Keyspace, bytes_max: u64) -> fjall::Result<()> {
    if table.tree.active_memtable().size() > bytes_max {
        table.rotate_memtable()?;
    }
    Ok(())
}

/// Opens the table of a generation, or makes it. Most URLs that a crawl finds it never visits: the queue is by far the largest
/// table.
fn make(engine: &Database, generation: Generation, write_buffer_bytes: u64) -> fjall::Result<Keyspace> {
    let (compressed, plain) = (CompressionType::Lz4, CompressionType::None);
    let levels = Leveled::default().with_l0_threshold(FRESH_FILES_MAX).with_table_target_size(FILE_BYTES);
    engine.keyspace(&keys::queue_table(generation.0), || {
        KeyspaceCreateOptions::default()
            .max_memtable_size(write_buffer_bytes)
            .compaction_strategy(Arc::new(levels.with_level_ratio_policy(vec![LEVEL_RATIO])))
            // Who commits knows what is there. The last level, which has most of it, needs no filter. What filters and indexes
            // there are would be read again for each look-up where they do not fit into the cache.
            .expect_point_read_hits(true)
            .filter_block_pinning_policy(PinningPolicy::all(true))
            .index_block_pinning_policy(PinningPolicy::all(true))
            .data_block_compression_policy(CompressionPolicy::new([plain, plain, plain, compressed]))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_generation_is_a_byte_that_is_not_zero() {
        for n in 0..=Generation::LAST.0 {
            let generation = Generation(n);
            assert_ne!(generation.to_byte(), 0);
            assert_eq!(Generation::from_byte(generation.to_byte()), Some(generation));
        }
        assert_eq!(Generation::from_byte(0), None);
    }
}
