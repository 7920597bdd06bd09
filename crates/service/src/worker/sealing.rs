//! From a sealed segment to a final one: onto shared storage first, then marked in the database.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::Duration;

use anyhow::{Context, anyhow};
use archive::{Sealed, index_path};
use cluster::Life;
use coordination::{WorkerError, WrittenSegment};
use shared_archive::SharedArchive;

use crate::in_line;
use crate::metrics::Tally;
use crawl::CrawlDir;

/// Sealed segments that wait to be uploaded; with more, recording waits.
const WAITING_MAX: usize = 16;

/// How often lost segments are looked for.
const LOOK_EVERY: Duration = Duration::from_secs(2);

/// How long after a failure an upload is tried again.
const RETRY_AFTER: Duration = Duration::from_secs(5);

/// Uploads segments, and removes what lost workers left on shared storage.
pub(super) struct Sealer {
    segments: SyncSender<Sealed>,
    thread: JoinHandle<anyhow::Result<()>>,
}

impl Sealer {
    /// Starts it for the segments of a life in `dir`. A failure ends the life: otherwise it would write what is never sealed.
    pub(super) fn start(
        archive: Arc<SharedArchive>,
        life: Arc<Life>,
        dir: CrawlDir,
        tally: Arc<Tally>,
    ) -> anyhow::Result<Self> {
        let (segments, inbox) = sync_channel(WAITING_MAX);
        let upload = Upload { archive, life, dir, tally };
        let run = move || upload.run(&inbox).inspect_err(|error| upload.life.fail(format!("{error:#}")));
        let thread = std::thread::Builder::new().name("sealing".to_owned()).spawn(run)?;
        Ok(Sealer { segments, thread })
    }

    /// The messages about sealed segments.
    pub(super) fn tell(&self) -> impl FnMut(Sealed) + Send + 'static {
        let segments = self.segments.clone();
        // It ends before its time only with the life: what is sealed then is void.
        move |sealed| drop(segments.send(sealed))
    }

    /// Waits until all reported segments are final. No further ones are reported.
    ///
    /// # Errors
    /// The worker was lost, or an index could not be made.
    pub(super) fn finish(self) -> anyhow::Result<()> {
        drop(self.segments);
        self.thread.join().map_err(|_| anyhow!("internal error: the sealing thread panicked"))?
    }
}

struct Upload {
    archive: Arc<SharedArchive>,
    life: Arc<Life>,
    dir: CrawlDir,
    tally: Arc<Tally>,
}

impl Upload {
    fn run(&self, inbox: &Receiver<Sealed>) -> anyhow::Result<()> {
        loop {
            match inbox.recv_timeout(LOOK_EVERY) {
                Ok(sealed) => self.seal(sealed)?,
                Err(RecvTimeoutError::Timeout) => self.remove_lost()?,
                Err(RecvTimeoutError::Disconnected) => return Ok(()),
            }
        }
    }

    fn seal(&self, sealed: Sealed) -> anyhow::Result<()> {
        let segment = sealed.indexed()?;
        while let Err(error) = self.archive.put_segment(&segment.name, self.dir.root()) {
            self.tally.uploads_failed.fetch_add(1, Ordering::Relaxed);
            console::say!("{}: {error}: trying again", segment.name);
            std::thread::sleep(RETRY_AFTER);
            if self.life.is_over() {
                return Err(WorkerError::Lost.into());
            }
        }
        if let Err(error) = self.life.worker().seal(segment.serial) {
            if matches!(error, WorkerError::Lost) {
                // The worker that called this one dead may have looked before it was there. What was sealed before stays.
                let is_sealed = |known: &WrittenSegment| known.segment.name == segment.name && known.is_sealed;
                if !self.life.worker().segments()?.iter().any(is_sealed) {
                    in_line::set_aside(&self.archive, &segment.name)?;
                }
            }
            return Err(error).with_context(|| format!("sealing {}", segment.name));
        }
        // Questions are answered from the dataset's files; those of the archive are wanted on shared storage only.
        let file = self.dir.archive().join(&segment.name);
        for done in [index_path(&file), file] {
            std::fs::remove_file(&done).with_context(|| format!("cannot remove {}", done.display()))?;
        }
        Ok(())
    }

    /// Removes what lies of lost segments: their visits are undone. One that is whole is set aside, since a later state may have had it as
    /// sealed. If that cannot be done now, it is tried again.
    fn remove_lost(&self) -> anyhow::Result<()> {
        for name in self.life.worker().lost_segments()? {
            match in_line::set_aside(&self.archive, &name) {
                Ok(()) => self.life.worker().forget(&name)?,
                Err(error) => console::say!("{name}: {error:#}"),
            }
        }
        Ok(())
    }
}
