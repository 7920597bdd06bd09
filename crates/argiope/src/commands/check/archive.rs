//! The archive as the state knows it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use store::Segment;

use crate::commands::opened::Opened;

/// Where the segments lie, and how far each is committed.
pub(super) struct Archive {
    dir: PathBuf,
    segments: BTreeMap<u32, Segment>,
    /// False for a crawl with `--no-archive`.
    pub(super) is_kept: bool,
    /// The crawl goes on, and then writes the indexes that are missing.
    pub(super) is_pending: bool,
}

impl Archive {
    /// The archive of a crawl.
    ///
    /// # Errors
    /// The state or the settings cannot be read.
    pub(super) fn of(opened: &Opened) -> anyhow::Result<Self> {
        let segments = opened.store.segments()?;
        Ok(Archive {
            dir: opened.dir.archive(),
            segments: segments.into_iter().map(|segment| (segment.serial, segment)).collect(),
            is_kept: opened.options()?.no_archive != Some(true),
            is_pending: opened.store.totals()?.pending > 0,
        })
    }

    /// The directory.
    pub(super) fn dir(&self) -> &Path {
        &self.dir
    }

    /// The segments by serial number.
    pub(super) fn segments(&self) -> impl Iterator<Item = &Segment> {
        self.segments.values()
    }

    /// The segment with this serial number.
    pub(super) fn segment(&self, serial: u32) -> Option<&Segment> {
        self.segments.get(&serial)
    }

    /// Where a segment lies.
    pub(super) fn path(&self, segment: &Segment) -> PathBuf {
        self.dir.join(&segment.name)
    }

    /// True for the segment that is still written to, which has no index yet.
    pub(super) fn is_written_to(&self, segment: &Segment) -> bool {
        self.is_pending && self.segments.last_key_value().is_some_and(|(serial, _)| *serial == segment.serial)
    }

    /// Segments in the directory that the state does not know: the next crawl removes them.
    pub(super) fn unknown_segments(&self) -> std::io::Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in self.dir.read_dir()? {
            let name = entry?.file_name().to_string_lossy().into_owned();
            let is_segment = name.starts_with("argiope-") && name.ends_with(".warc.gz");
            if is_segment && !self.segments().any(|segment| segment.name == name) {
                names.push(name);
            }
        }
        names.sort_unstable();
        Ok(names)
    }
}
