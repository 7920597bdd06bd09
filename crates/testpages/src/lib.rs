//! What benchmarks on real pages share: the pages, and the processor's time as what is measured.
//!
//! The pages are Debian's documentation of Python, PostgreSQL and Java (`python3-doc`, `postgresql-doc-15`, `openjdk-17-doc`) as far as it is there, or the
//! `.html` files below the directories that `ARGIOPE_PAGES` names, with colons between; at most [`PAGES_MAX`] of each, while
//! `ARGIOPE_PAGES_MAX` does not say otherwise.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use criterion::measurement::{Measurement, ValueFormatter, WallTime};
use rustix::time::{ClockId, clock_gettime};

/// Pages of a directory, spread evenly over its files: the whole must be gone through in some tenths of a second.
pub const PAGES_MAX: usize = 400;

const DIRECTORIES: &str =
    "/usr/share/doc/python3-doc/html:/usr/share/doc/postgresql-doc-15/html:/usr/share/doc/openjdk-17-doc/api";

/// The pages of one directory.
pub struct Pages {
    /// What they are called: the name above the directory's own, which is the package's.
    pub name: String,
    /// Each page's bytes.
    pub pages: Vec<Vec<u8>>,
}

impl Pages {
    /// The pages of all directories that are there.
    ///
    /// # Errors
    /// A file cannot be read, or `ARGIOPE_PAGES_MAX` is no number.
    pub fn read() -> io::Result<Vec<Pages>> {
        let directories = std::env::var("ARGIOPE_PAGES").unwrap_or_else(|_| DIRECTORIES.to_owned());
        let pages_max = std::env::var("ARGIOPE_PAGES_MAX").ok().map_or(Ok(PAGES_MAX), |max| max.parse());
        let pages_max = pages_max.map_err(|error| io::Error::other(format!("ARGIOPE_PAGES_MAX: {error}")))?;
        let directories = directories.split(':').map(Path::new).filter(|directory| directory.is_dir());
        directories.map(|directory| Pages::of(directory, pages_max)).collect()
    }

    fn of(directory: &Path, pages_max: usize) -> io::Result<Pages> {
        let (mut files, mut directories): (Vec<PathBuf>, Vec<PathBuf>) = (Vec::new(), vec![directory.to_owned()]);
        while let Some(directory) = directories.pop() {
            for entry in directory.read_dir()? {
                let path = entry?.path();
                if path.is_dir() {
                    directories.push(path);
                } else if path.extension().is_some_and(|extension| extension == "html") {
                    files.push(path);
                }
            }
        }
        files.sort_unstable();
        let step = files.len().div_ceil(pages_max.max(1)).max(1);
        Ok(Pages {
            name: directory.iter().rev().nth(1).unwrap_or_default().to_string_lossy().into_owned(),
            pages: files.iter().step_by(step).map(std::fs::read).collect::<io::Result<_>>()?,
        })
    }

    /// All pages together.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.pages.iter().map(Vec::len).sum()
    }
}

/// The time of the processor on this thread, so that what else runs on the machine counts little.
pub struct ProcessorTime;

impl Measurement for ProcessorTime {
    type Intermediate = Duration;
    type Value = Duration;

    fn start(&self) -> Duration {
        Duration::try_from(clock_gettime(ClockId::ThreadCPUTime)).unwrap_or_default()
    }

    fn end(&self, start: Duration) -> Duration {
        self.start().saturating_sub(start)
    }

    fn add(&self, one: &Duration, other: &Duration) -> Duration {
        *one + *other
    }

    fn zero(&self) -> Duration {
        Duration::ZERO
    }

    fn to_f64(&self, value: &Duration) -> f64 {
        WallTime.to_f64(value)
    }

    fn formatter(&self) -> &dyn ValueFormatter {
        WallTime.formatter()
    }
}
