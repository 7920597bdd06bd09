//! The tables of the engine and how each is tuned.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use fjall::config::{BlockSizePolicy, CompressionPolicy, PartitioningPolicy};
use fjall::{AbstractTree, CompressionType, Database, Keyspace, KeyspaceCreateOptions, PersistMode};
use store::StoreError;

use crate::place::Place;
use crate::queue::{Queue, bound};
use crate::torn::Cut;
use crate::{Options, error};

/// Where the engine's files lie in the directory of the store.
pub(crate) const ENGINE_DIR: &str = "engine";
/// The engine's smallest. Full journals beyond it are got rid of by writing out the tables that hold them back, so
/// that opening the store, which replays them, stays fast.
const JOURNALS_BYTES_MAX: u64 = 64 << 20;
/// Open table files. The rest of the process's descriptors are for connections.
const OPEN_FILES_MAX: usize = 128;
/// Bytes kept in memory of each table but the queue before they are written out.
const SMALL_BUFFER_BYTES: u64 = 2 << 20;
/// Block size of tables with long values.
const LARGE_BLOCK_BYTES: u32 = 16 << 10;

/// The engine and its tables.
pub(crate) struct Tables {
    /// URL key to [`store::UrlRecord`], of URLs that were visited, and of those that wait far away ([`crate::known::Way`]). In
    /// the first format of all URLs, which may still be so where the queue has nothing.
    pub(crate) urls: Keyspace,
    /// Site, rank and URL to [`store::UrlRecord`]; to nothing where the table of URLs has the record. A URL is in one generation at most.
    pub(crate) queue: Queue,
    /// URL key to visit.
    pub(crate) visits: Keyspace,
    /// Outcome and URL key to nothing, of the last visits.
    pub(crate) by_outcome: Keyspace,
    /// Whether all visits are in there. Of a store from before format 11 none is.
    pub(crate) has_outcomes: bool,
    /// URL key and date to a visit before the last.
    pub(crate) earlier: Keyspace,
    /// URL key to the visit's outlinks, where there are any.
    pub(crate) outlinks: Keyspace,
    /// Site key to the site's record.
    pub(crate) sites: Keyspace,
    /// Site key and hash to the counter of a shape. In formats 1 to 4 they were in the records of the sites, which is still so until such a
    /// record is written again.
    pub(crate) shapes: Keyspace,
    /// Site key to the record of robots.txt.
    pub(crate) robots: Keyspace,
    /// Content digest to the key of the URL that had it first.
    pub(crate) contents: Keyspace,
    /// The same by the label of the payload alone: of formats 1 to 3. Nothing is written to it.
    pub(crate) holders: Keyspace,
    /// Whether anything is in there.
    pub(crate) has_labels: bool,
    /// Format version, progress, seeds, segments. Every batch writes to it.
    pub(crate) meta: Keyspace,
    /// The engine.
    pub(crate) engine: Database,
    /// The directory of the store.
    pub(crate) dir: PathBuf,
    /// The directory that the engine is in and writes to: the same, or a mirror of it. The last field: it is held longer than the engine.
    place: Arc<Place>,
}

/// What an engine is opened for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Use {
    /// A thread writes tables out, and merges them.
    Commits,
    /// No thread does: it would do in a mirror, for nothing, what the next crawl does.
    Reading,
}

impl Use {
    /// One thread flushes and compacts; a second would spin while the first compacts.
    fn worker_threads(self) -> usize {
        match self {
            Use::Commits => 1,
            Use::Reading => 0,
        }
    }
}

impl Tables {
    /// Opens the engine of the store in `dir`, or makes it. It lies in `place`, which is `dir` or a mirror of it.
    pub(crate) fn open(dir: &Path, place: Place, options: &Options, used: Use) -> Result<Self, StoreError> {
        let place = Arc::new(place);
        let failed = |error| error::engine(dir, &place, "opening the store", error);
        let try_open = || Tables::try_open(dir, &place, options, used);
        match try_open() {
            Err(fjall::Error::JournalRecovery(_)) => {
                let torn = |error| error::system(dir, "cutting a torn batch off the journal", error);
                let cut = Cut::last_byte(&place.path().join(ENGINE_DIR)).map_err(torn)?;
                let opened = try_open();
                if let (Err(_), Some(cut)) = (&opened, cut) {
                    cut.undo().map_err(torn)?;
                }
                opened.map_err(failed)
            }
            opened => opened.map_err(failed),
        }
    }

    pub(crate) fn try_open(dir: &Path, place: &Arc<Place>, options: &Options, used: Use) -> fjall::Result<Self> {
        let engine = Database::builder(place.path().join(ENGINE_DIR))
            .cache_size(options.cache_bytes)
            .worker_threads_unchecked(used.worker_threads())
            .max_journaling_size(JOURNALS_BYTES_MAX)
            .max_cached_files(Some(OPEN_FILES_MAX))
            .manual_journal_persist(true)
            .open()?;
        // A filter or an index of a million entries in one block is too large for the cache: each look-up would read it all.
        let in_parts = PartitioningPolicy::all(true);
        let small = || {
            KeyspaceCreateOptions::default()
                .max_memtable_size(SMALL_BUFFER_BYTES)
                .filter_block_partitioning_policy(in_parts.clone())
                .index_block_partitioning_policy(in_parts.clone())
        };
        let long_values = || {
            small()
                .data_block_size_policy(BlockSizePolicy::all(LARGE_BLOCK_BYTES))
                .data_block_compression_policy(CompressionPolicy::all(CompressionType::Lz4))
        };
        let mut tables = Tables {
            urls: engine.keyspace("urls", small)?,
            queue: Queue::open(&engine, options)?,
            visits: engine.keyspace("visits", small)?,
            by_outcome: engine.keyspace("by-outcome", small)?,
            has_outcomes: false,
            earlier: engine.keyspace("earlier", small)?,
            outlinks: engine.keyspace("outlinks", long_values)?,
            sites: engine.keyspace("sites", small)?,
            shapes: engine.keyspace("shapes", small)?,
            robots: engine.keyspace("robots", long_values)?,
            holders: engine.keyspace("holders", small)?,
            has_labels: false,
            meta: engine.keyspace("meta", small)?,
            contents: engine.keyspace("contents", small)?,
            engine,
            dir: dir.to_owned(),
            place: Arc::clone(place),
        };
        tables.has_labels = !tables.holders.is_empty()?;
        Ok(tables)
    }

    /// Begins a new part of each table in memory whose part is full, of those that get most: the queue, visits, their outlinks, and files of
    /// robots.txt. The engine's own thread does so only between merges, during which they would grow; of parts that wait to be written out the
    /// engine has four, and then holds commits up.
    pub(crate) fn bound_memory(&self) -> fjall::Result<()> {
        self.queue.bound_memory()?;
        [&self.visits, &self.outlinks, &self.robots].into_iter().try_for_each(|table| bound(table, SMALL_BUFFER_BYTES))
    }

    /// A batch that is on disk when its commit returns.
    pub(crate) fn batch(&self) -> fjall::OwnedWriteBatch {
        self.engine.batch().durability(Some(PersistMode::SyncData))
    }

    /// True where a table holds a later batch than the table that every batch writes to: a batch is there by halves.
    pub(crate) fn is_torn(&self) -> bool {
        let meta = self.meta.tree.get_highest_seqno();
        let queue = self.queue.generations();
        let [urls, visits, earlier, outlinks] = [&self.urls, &self.visits, &self.earlier, &self.outlinks];
        let others = [
            urls,
            visits,
            &self.by_outcome,
            earlier,
            outlinks,
            &self.sites,
            &self.shapes,
            &self.robots,
            &self.contents,
            &self.holders,
        ];
        let others = others.into_iter().chain(queue.iter().map(|(_, table)| table));
        others.into_iter().any(|table| table.tree.get_highest_seqno() > meta)
    }

    /// An error of the engine met while `doing` something.
    pub(crate) fn failed(&self, doing: &'static str) -> impl Fn(fjall::Error) -> StoreError {
        move |error| error::engine(&self.dir, &self.place, doing, error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As while the engine's own thread merges.
    #[test]
    fn large_tables_begin_a_new_part_in_memory_though_no_thread_writes_them_out() {
        let dir = tempfile::tempdir().expect("a directory");
        let tables = Tables::open(dir.path(), Place::own(dir.path()), &Options::default(), Use::Reading).expect("open");
        let large = [&tables.visits, &tables.outlinks, &tables.robots];
        for n in 0..40_u8 {
            let mut batch = tables.batch();
            large.into_iter().for_each(|table| batch.insert(table, [n], vec![n; 100_000]));
            batch.commit().and_then(|()| tables.bound_memory()).expect("a commit");
        }
        for table in large {
            assert!(table.tree.active_memtable().size() <= SMALL_BUFFER_BYTES + 100_000, "{:?}", table.name());
            assert_eq!(
                table.get([0]).expect("an answer").map(|value| value.len()),
                Some(100_000),
                "{:?}",
                table.name()
            );
        }
    }
}
