//! Segments of the dataset with rows of visits that were taken back: a worker was lost with what they repeat, after they were recorded. Their
//! URLs were visited again, or were removed. So the rows of such a segment are derived again.
//!
//! `DIR/dataset/taken-back/SEGMENT` has the number of visits that were taken back when the rows were derived.

use std::collections::BTreeMap;
use std::io::{ErrorKind, Read};
use std::path::PathBuf;

use anyhow::Context;
use dataset::Layout;
use store::{CrawlView, Segment, StoreError};

/// The longest mark, in bytes.
const MARK_BYTES_MAX: u64 = 1 << 10;

/// How many visits were taken back in each segment, as the state has it.
pub(super) struct TakenBack(BTreeMap<u32, Vec<u64>>);

impl TakenBack {
    /// Reads it from the state.
    ///
    /// # Errors
    /// The state cannot be read.
    pub(super) fn of(store: &dyn CrawlView) -> Result<Self, StoreError> {
        Ok(TakenBack(store.taken_back()?))
    }

    /// Whether the rows of a segment may include some of visits that were taken back.
    ///
    /// # Errors
    /// The mark cannot be read.
    pub(super) fn is_in(&self, layout: &Layout, segment: &Segment) -> anyhow::Result<bool> {
        Ok(self.count(segment) != marked(layout, &segment.name)?)
    }

    /// Says that the rows of a segment are without them.
    ///
    /// # Errors
    /// The mark cannot be written.
    pub(super) fn mark(&self, layout: &Layout, segment: &Segment) -> anyhow::Result<()> {
        let count = self.count(segment);
        if count == marked(layout, &segment.name)? {
            return Ok(());
        }
        let path = path(layout, &segment.name);
        let written = std::fs::create_dir_all(path.parent().unwrap_or(&path))
            .and_then(|()| fresh::write(&path, format!("{count}\n").as_bytes()));
        written.with_context(|| path.display().to_string())
    }

    fn count(&self, segment: &Segment) -> usize {
        self.0.get(&segment.serial).map_or(0, Vec::len)
    }
}

/// The number that the mark of a segment has; 0 without one. An unreadable number is none that a state has.
fn marked(layout: &Layout, segment: &str) -> anyhow::Result<usize> {
    let path = path(layout, segment);
    let mut text = String::new();
    match fresh::open_to_read(&path).and_then(|file| file.take(MARK_BYTES_MAX).read_to_string(&mut text)) {
        Ok(_) => Ok(text.trim_end().parse().unwrap_or(usize::MAX)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(0),
        Err(error) => Err(error).with_context(|| path.display().to_string()),
    }
}

fn path(layout: &Layout, segment: &str) -> PathBuf {
    layout.root().join("taken-back").join(segment)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_derived_again_whenever_more_visits_were_taken_back() {
        let root = tempfile::tempdir().expect("a directory");
        let layout = Layout::at(root.path());
        let segment = |serial| Segment { serial, name: format!("{serial}.warc.gz"), length: 9 };
        let check = |offsets: Vec<u64>, serial, expect| {
            let taken_back = TakenBack(BTreeMap::from([(1, offsets)]));
            assert_eq!(taken_back.is_in(&layout, &segment(serial)).expect("read"), expect);
            taken_back.mark(&layout, &segment(serial)).expect("marked");
            assert!(!taken_back.is_in(&layout, &segment(serial)).expect("read"));
        };
        check(vec![], 1, false);
        check(vec![7], 1, true);
        check(vec![7], 1, false);
        check(vec![7, 8], 1, true);
        check(vec![7, 8], 2, false);
        std::fs::write(path(&layout, "1.warc.gz"), "cut o").expect("written");
        check(vec![7, 8], 1, true);
    }
}
