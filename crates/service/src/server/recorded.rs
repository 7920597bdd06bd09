//! How the crawl went, minute by minute: each server records it, in `history.jsonl` of the archive, as a crawl of a directory does.
//!
//! Several servers add to one file. What each of them has not yet written is lost if it is killed.

use anyhow::Context;
use crawl::dir::HISTORY;
use crawl::history::{BYTES_MAX, Moment};
use shared_archive::SharedArchive;

/// Moments between two writes of the file: storage takes it as a whole.
const WRITTEN_EVERY: usize = 5;
/// The moments so far.
#[derive(Default)]
pub(super) struct Recorded {
    moments: Vec<Moment>,
    /// Moments that the file may lack.
    unwritten: usize,
    /// The file was read.
    is_read: bool,
}

impl Recorded {
    /// The moments, in the order of time.
    pub(super) fn moments(&self) -> Vec<Moment> {
        self.moments.clone()
    }

    /// Takes in a moment. While no worker is there and nothing changes, the first one says it.
    pub(super) fn add(&mut self, moment: Moment) {
        let is_at_rest = |last: &Moment| {
            (last.pages, last.bytes, last.workers, moment.workers) == (moment.pages, moment.bytes, Some(0), Some(0))
        };
        if !self.moments.last().is_some_and(is_at_rest) {
            self.moments = Moment::bounded([std::mem::take(&mut self.moments), vec![moment]].concat());
            self.unwritten += 1;
        }
    }

    /// Whether the file is to be written. The first moment of a server is written at once.
    pub(super) fn is_due(&self) -> bool {
        self.unwritten >= WRITTEN_EVERY || !self.is_read
    }

    /// Takes in what the file has. Others may have written it.
    fn join(&mut self, text: &str) {
        self.is_read = true;
        self.moments.extend(Moment::of_text(text.as_bytes()));
        self.moments.sort_by_key(|moment| moment.at);
        self.moments.dedup();
        self.moments = Moment::bounded(std::mem::take(&mut self.moments));
    }

    /// Writes the file, joined with what others wrote.
    ///
    /// # Errors
    /// The archive cannot be read or written. It is tried again with the next moment that is due.
    pub(super) fn write(&mut self, archive: &SharedArchive) -> anyhow::Result<()> {
        let bytes_max = usize::try_from(BYTES_MAX).unwrap_or(usize::MAX);
        let text = archive.whole_text(HISTORY, bytes_max).context(HISTORY)?.unwrap_or_default();
        self.join(&text);
        archive.put_text(HISTORY, &Moment::to_text(&self.moments)).context(HISTORY)?;
        self.unwritten = 0;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moment(at: u64, pages: u64, workers: usize) -> Moment {
        let workers = Some(workers);
        Moment { at, pages, bytes: 0, in_flight: None, sites_waiting: None, sites_aside: 0, workers, paused: false }
    }

    #[test]
    fn a_crawl_at_rest_adds_nothing_and_one_that_goes_on_does() {
        let mut recorded = Recorded::default();
        for (at, pages, workers) in [(1, 0, 0), (2, 0, 0), (3, 0, 1), (4, 0, 1), (5, 9, 1), (6, 9, 0), (7, 9, 0)] {
            recorded.add(moment(at, pages, workers));
        }
        assert_eq!(recorded.moments.iter().map(|moment| moment.at).collect::<Vec<_>>(), [1, 3, 4, 5, 6]);
    }

    #[test]
    fn two_servers_write_one_file_and_neither_loses_what_the_other_wrote() -> anyhow::Result<()> {
        let dir = tempfile::tempdir()?;
        let archive = SharedArchive::open(&format!("file://{}", dir.path().display()))?;
        let [mut one, mut other] = [Recorded::default(), Recorded::default()];
        assert!(one.is_due(), "the first moment is written at once");
        one.add(moment(1, 0, 1));
        one.write(&archive)?;
        other.add(moment(2, 5, 1));
        other.write(&archive)?;
        assert!(!other.is_due());
        (3..3 + WRITTEN_EVERY as u64).for_each(|at| one.add(moment(at, at, 1)));
        assert!(one.is_due());
        one.write(&archive)?;
        let text = std::fs::read(dir.path().join(HISTORY))?;
        let moments = Moment::of_text(&text);
        assert_eq!(moments.iter().map(|moment| moment.at).collect::<Vec<_>>(), (1..=7).collect::<Vec<_>>());
        assert_eq!(moments, one.moments());
        Ok(())
    }
}
