//! The archive as the state knows it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use against::{Against, AgainstError, Standing};
use archive::{ArchiveError, ArchiveInState, Orphan, Unknown};
use crawl::opened::Opened;
use model::{PayloadDigest, Timestamp};
use store::Segment;

/// Where the segments lie, and how far each is committed.
pub(crate) struct Archive {
    dir: PathBuf,
    segments: BTreeMap<u32, Segment>,
    pub(crate) known: ArchiveInState,
    /// What earlier archives hold, where the crawl was given some.
    against: Option<Against>,
    payload_bytes_max: u64,
    /// False for a crawl with `--no-archive`.
    pub(crate) is_kept: bool,
    /// The crawl goes on, and then writes the indexes that are missing.
    pub(crate) is_pending: bool,
    /// A crawl writes to it now.
    pub(crate) is_running: bool,
    /// The crawl is one by several workers.
    pub(crate) is_of_workers: bool,
}

impl Archive {
    /// The archive of a crawl.
    ///
    /// # Errors
    /// The state or the settings cannot be read.
    pub(crate) fn of(opened: &Opened) -> anyhow::Result<Self> {
        let segments = opened.view().segments()?;
        let plan = opened.dir.plan_to_read()?;
        let limits = plan.settings.limits;
        let known = ArchiveInState::of(opened.view(), &limits)?;
        Ok(Archive {
            dir: opened.dir.archive(),
            segments: segments.into_iter().map(|segment| (segment.serial, segment)).collect(),
            known,
            against: Against::open(&opened.dir.archive().join(against::DIR))?,
            payload_bytes_max: limits.body_bytes_max,
            is_kept: plan.archive,
            is_pending: opened.view().totals()?.pending > 0,
            is_running: opened.is_running(),
            is_of_workers: opened.is_of_workers()?,
        })
    }

    /// The directory.
    pub(crate) fn dir(&self) -> &Path {
        &self.dir
    }

    /// The segments by serial number.
    pub(crate) fn segments(&self) -> impl Iterator<Item = &Segment> {
        self.segments.values()
    }

    /// The segment with this serial number.
    pub(crate) fn segment(&self, serial: u32) -> Option<&Segment> {
        self.segments.get(&serial)
    }

    /// Where a segment lies.
    pub(crate) fn path(&self, segment: &Segment) -> PathBuf {
        self.dir.join(&segment.name)
    }

    /// True for the segment that is still written to, which has no index yet.
    pub(crate) fn is_written_to(&self, segment: &Segment) -> bool {
        self.is_pending && self.segments.last_key_value().is_some_and(|(serial, _)| *serial == segment.serial)
    }

    /// What the directory has beyond what the state knows.
    pub(crate) fn unknown(&self) -> Result<Vec<Unknown>, ArchiveError> {
        archive::unknown(&self.dir, &self.known)
    }

    /// How earlier archives stand to the record of this URL and date, which should have the payload with this digest.
    pub(crate) fn standing_elsewhere(
        &self,
        digest: PayloadDigest,
        record: (&str, Timestamp),
    ) -> Result<Standing, AgainstError> {
        match &self.against {
            Some(against) => against.standing(digest, record, self.payload_bytes_max),
            None => Ok(Standing::Missing),
        }
    }

    /// What was set aside.
    pub(crate) fn orphans(&self) -> Result<Vec<Orphan>, ArchiveError> {
        archive::orphans(&self.dir)
    }
}
