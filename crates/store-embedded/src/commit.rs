//! Commits: look up, work out, write the differences.

mod plan;
mod stage;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use stages::{Stage, time};
use store::{Batch, Change, Committed, StoreError};

use crate::codec::{FORMAT_VERSION, Progress};
use crate::keys;
use crate::known::{Fingerprints, KnownTable, PREFETCHED, Remembered, Way};
use crate::read::View;
use crate::tables::Tables;
use crate::witness::Witness;

use plan::{Placed, Plan};

/// What only the committing thread has.
pub(crate) struct Writer {
    /// The format version that the store has. The first commit writes this program's, which keeps those away that know only formats
    /// before it; who only reads leaves it.
    version: u32,
    progress: Progress,
    /// None until the first commit: who only reads has no use for it.
    known: Option<KnownTable>,
    fingerprints: Fingerprints,
    witness: Witness,
    /// Set once a commit has failed; says whether for want of space.
    failed: Option<Failed>,
}

#[derive(Clone, Copy)]
enum Failed {
    Full,
    Otherwise,
}

impl Writer {
    pub(crate) fn new(version: u32, progress: Progress, fingerprints: Fingerprints, witness: Witness) -> Self {
        Writer { version, progress, known: None, fingerprints, witness, failed: None }
    }

    pub(crate) fn commit(&mut self, tables: &Arc<Tables>, batch: &Batch) -> Result<Committed, StoreError> {
        self.check_usable(tables)?;
        let urls = self.progress.totals.urls;
        tables.queue.begin_when_full(&tables.engine, urls).map_err(tables.failed("beginning a table of the queue"))?;
        let view = View::of(tables);
        // In no stage: a stage is measured now and then and counted for all times, and this is done once.
        let known = match self.known.take() {
            Some(known) => known,
            None => view.known(self.fingerprints.clone())?,
        };
        let known = self.known.insert(known);
        let (plan, committed) = time(Stage::Seen, || Plan::of(batch, &view, known))?;
        let mut progress = self.progress.clone();
        progress.sequence += 1;
        let written = time(Stage::Commit, || {
            let mut staged = stage::stage(tables, &view.queue, batch, &plan, &mut progress)?;
            if self.version != FORMAT_VERSION {
                staged.insert(&tables.meta, keys::FORMAT, FORMAT_VERSION.to_be_bytes());
            }
            staged.commit().and_then(|()| tables.bound_memory()).map_err(tables.failed("committing a batch"))
        });
        if let Err(error) = written {
            let is_full = matches!(error, StoreError::Full { .. });
            self.failed = Some(if is_full { Failed::Full } else { Failed::Otherwise });
            return Err(error);
        }
        (self.version, self.progress) = (FORMAT_VERSION, progress);
        if let Some(known) = &mut self.known {
            let remembered = plan.urls.iter().map(|Placed { change: Change { key, before, now }, entered, .. }| {
                let generation = entered.map(|(generation, _)| generation);
                let remembered = Remembered { way: Way::of(&now.standing(*key)), generation };
                (known.fingerprint(*key), before.is_none(), remembered)
            });
            let remembered: Vec<_> = remembered.collect();
            for remembered in remembered.chunks(PREFETCHED) {
                known.prefetch(remembered.iter().map(|(url, ..)| *url));
                for (url, is_new, remembered) in remembered {
                    if *is_new { known.insert(*url, *remembered) } else { known.update(*url, *remembered) }
                }
            }
        }
        // A witness left behind by an error is older, not wrong.
        let _ = self.witness.note(self.progress.sequence);
        Ok(committed)
    }

    fn check_usable(&self, tables: &Tables) -> Result<(), StoreError> {
        match self.failed {
            None => Ok(()),
            Some(Failed::Full) => Err(StoreError::Full { place: tables.dir.display().to_string() }),
            Some(Failed::Otherwise) => Err(StoreError::Backend {
                doing: "committing a batch",
                source: "an earlier commit failed; the store must be opened again".into(),
            }),
        }
    }
}
