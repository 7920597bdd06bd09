//! Commits: look up, work out, write the differences.

mod plan;
mod stage;

use stages::{Stage, time};
use store::{Batch, Committed, StoreError};

use crate::codec::Progress;
use crate::known::{Known, PREFETCHED, Way};
use crate::read::View;
use crate::tables::Tables;
use crate::witness::Witness;

use plan::Plan;

/// What only the committing thread has.
pub(crate) struct Writer {
    progress: Progress,
    /// None until the first commit: who only reads has no use for it.
    known: Option<Known>,
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
    pub(crate) fn new(progress: Progress, witness: Witness) -> Self {
        Writer { progress, known: None, witness, failed: None }
    }

    pub(crate) fn commit(&mut self, tables: &Tables, batch: &Batch) -> Result<Committed, StoreError> {
        self.check_usable(tables)?;
        let view = View::of(tables);
        let plan = time(Stage::Seen, || {
            let known = match self.known.take() {
                Some(known) => known,
                None => view.known()?,
            };
            Plan::of(batch, &view, self.known.insert(known))
        })?;
        let mut progress = self.progress.clone();
        progress.sequence += 1;
        let written = time(Stage::Commit, || {
            let staged = stage::stage(tables, batch, &plan, &mut progress)?;
            staged.commit().and_then(|()| tables.bound_memory()).map_err(tables.failed("committing a batch"))
        });
        if let Err(error) = written {
            let is_full = matches!(error, StoreError::Full { .. });
            self.failed = Some(if is_full { Failed::Full } else { Failed::Otherwise });
            return Err(error);
        }
        self.progress = progress;
        let Plan { urls, committed, .. } = plan;
        if let Some(known) = &mut self.known {
            let changed = urls.iter().filter(|(_, url)| url.changed);
            let ways: Vec<_> = changed.map(|(key, url)| (*key, Way::of(&url.now.standing(*key)))).collect();
            for ways in ways.chunks(PREFETCHED) {
                known.prefetch(ways.iter().map(|(key, _)| *key));
                ways.iter().for_each(|(key, way)| known.insert(*key, *way));
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
