//! How a crawl went, minute by minute, over all of its runs: one line a minute in `history.jsonl`. A server of several workers writes the same file
//! into the archive.
//!
//! The file shows people what was when. Nothing else depends on it: a line that cannot be written is left out.

use std::fs::OpenOptions;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use engine::Progress;
use engine::clock::Clock;
use model::Timestamp;
use serde::{Deserialize, Serialize};

use crate::CrawlDir;

/// The time between two lines.
pub const EVERY: Duration = Duration::from_secs(60);
/// Lines of the file: a week. Then every second line of the older half is dropped.
const LINES_MAX: usize = 10_080;
/// Bytes that are read of the file. A line has about a hundred.
pub const BYTES_MAX: u64 = 4 << 20;
const MICROS_A_SECOND: u64 = 1_000_000;

/// A crawl at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Moment {
    /// Seconds since 1970.
    pub at: u64,
    /// URLs fetched with success, over all runs.
    pub pages: u64,
    /// Payload bytes, over all runs.
    pub bytes: u64,
    /// Fetches under way; of several workers, nobody knows them all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_flight: Option<usize>,
    /// Sites that wait for a visit; the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sites_waiting: Option<usize>,
    /// Sites in trouble.
    pub sites_aside: usize,
    /// Live workers, if there are several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workers: Option<usize>,
    /// The run was paused.
    pub paused: bool,
}

impl Moment {
    /// The moments of a crawl, the oldest first; none where there is no file.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn all_of(dir: &CrawlDir) -> std::io::Result<Vec<Self>> {
        read(&dir.history())
    }

    /// The moments in the text of such a file. A crash may have cut a line.
    #[must_use]
    pub fn of_text(text: &[u8]) -> Vec<Self> {
        text.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice(line).ok()).collect()
    }

    /// The text of a file with these moments.
    #[must_use]
    pub fn to_text(moments: &[Self]) -> String {
        let lines = moments.iter().filter_map(|moment| serde_json::to_string(moment).ok());
        lines.flat_map(|line| [line, "\n".to_owned()]).collect()
    }

    /// As many moments as a file has at most: of more, every second one of the older half is dropped.
    #[must_use]
    pub fn bounded(moments: Vec<Self>) -> Vec<Self> {
        if moments.len() < LINES_MAX { moments } else { thinned(&moments).copied().collect() }
    }

    fn of(progress: &Progress, date: Timestamp) -> Self {
        Moment {
            at: date.0 / MICROS_A_SECOND,
            pages: progress.pages,
            bytes: progress.bytes,
            in_flight: Some(progress.in_flight),
            sites_waiting: Some(progress.sites_waiting),
            sites_aside: progress.sites_aside,
            workers: None,
            paused: progress.is_paused,
        }
    }
}

fn read(path: &Path) -> std::io::Result<Vec<Moment>> {
    let mut bytes = Vec::new();
    match fresh::open_to_read(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        file => file?.take(BYTES_MAX).read_to_end(&mut bytes)?,
    };
    Ok(Moment::of_text(&bytes))
}

/// Writes the moments of a run.
pub(crate) struct History {
    path: PathBuf,
    clock: Clock,
    /// Lines of the file.
    lines: usize,
    /// When the last line was written, by the clock of this run.
    noted: Option<Timestamp>,
    /// What the file does not have yet.
    last: Option<Moment>,
}

impl History {
    /// Goes on with the history of a directory.
    pub(crate) fn of(dir: &CrawlDir, clock: Clock) -> Self {
        let path = dir.history();
        let lines = read(&path).map_or(0, |moments| moments.len());
        History { path, clock, lines, noted: None, last: None }
    }

    /// Takes note of how far the run is; a minute after the last line in the file.
    pub(crate) fn note(&mut self, progress: &Progress) {
        let now = self.clock.now();
        self.last = Some(Moment::of(progress, self.clock.date()));
        if self.noted.is_none_or(|noted| now.since(noted) >= EVERY) {
            self.noted = Some(now);
            self.write();
        }
    }

    /// Writes what the run came to.
    pub(crate) fn end(mut self) {
        self.write();
    }

    fn write(&mut self) {
        let Some(moment) = self.last.take() else { return };
        if self.lines >= LINES_MAX {
            self.thin();
        }
        let written = serde_json::to_string(&moment).map_err(std::io::Error::other).and_then(|line| {
            let mut file = fresh::open(OpenOptions::new().append(true).create(true), &self.path)?;
            file.write_all(format!("{line}\n").as_bytes())
        });
        self.lines += usize::from(written.is_ok());
    }

    /// Drops every second line of the older half.
    fn thin(&mut self) {
        let Ok(moments) = read(&self.path) else { return };
        let kept: Vec<Moment> = thinned(&moments).copied().collect();
        let text = Moment::to_text(&kept);
        let next = self.path.with_extension("tmp");
        let replaced = fresh::write(&next, text.as_bytes()).and_then(|()| std::fs::rename(&next, &self.path));
        if replaced.is_ok() {
            self.lines = kept.len();
        }
    }
}

fn thinned(moments: &[Moment]) -> impl Iterator<Item = &Moment> {
    let half = moments.len() / 2;
    moments.iter().enumerate().filter(move |(at, _)| *at >= half || at % 2 == 0).map(|(_, moment)| moment)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moment(at: u64) -> Moment {
        Moment {
            at,
            pages: at,
            bytes: 0,
            in_flight: Some(1),
            sites_waiting: Some(2),
            sites_aside: 0,
            workers: None,
            paused: false,
        }
    }

    #[test]
    fn a_history_goes_on_behind_a_cut_line_and_stays_bounded() {
        let root = tempfile::tempdir().expect("a directory");
        let dir = CrawlDir::at(root.path());
        assert_eq!(Moment::all_of(&dir).expect("none"), []);
        let lines: String =
            (0..LINES_MAX as u64).map(|at| serde_json::to_string(&moment(at)).expect("JSON") + "\n").collect();
        std::fs::write(dir.history(), lines).expect("written");
        let mut history = History::of(&dir, Clock::start());
        history.last = Some(moment(20_000));
        history.end();
        let moments = Moment::all_of(&dir).expect("read");
        assert_eq!(moments.len(), LINES_MAX * 3 / 4 + 1);
        assert_eq!((moments[0], moments[1], moments.last()), (moment(0), moment(2), Some(&moment(20_000))));
        let mut cut = std::fs::read(dir.history()).expect("read");
        cut.truncate(cut.len() - 5);
        std::fs::write(dir.history(), cut).expect("written");
        assert_eq!(Moment::all_of(&dir).expect("read").len(), moments.len() - 1);
    }
}
