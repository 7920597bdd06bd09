//! The committed length of the archive, in a file beside the segments.
//!
//! The file is one line: the crawl's id, and the serial number and committed length of the last segment. It is written after
//! each commit and never synced. After a loss of power it may be older than the state, which is harmless, but never newer. So
//! if it has more than the state, the state is an older one: what the state lacks was committed once,
//! and not left by a crash.

use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::path::Path;

use store::Segment;

use crate::names::serial_of;

/// The file's name in the archive's directory.
pub(super) const FILE: &str = "acknowledged";
/// The longest file that is read, in bytes.
const BYTES_MAX: u64 = 1_024;

/// The committed end of the archive: all segments before this one, and this one up to its length.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Reach {
    pub(super) serial: u32,
    pub(super) length: u64,
}

impl Reach {
    /// The end of these segments; `None` without segments.
    pub(super) fn of(segments: &[Segment]) -> Option<Self> {
        segments.iter().map(|segment| Reach { serial: segment.serial, length: segment.length }).max()
    }
}

/// The content of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Said {
    pub(super) crawl_id: String,
    pub(super) reach: Option<Reach>,
}

impl Said {
    /// Reads the file in the archive's directory; `None` if it is missing or unreadable.
    pub(super) fn read(dir: &Path) -> io::Result<Option<Self>> {
        let mut line = String::new();
        match fresh::open_to_read(&dir.join(FILE)) {
            Ok(file) => file.take(BYTES_MAX).read_to_string(&mut line).map(drop).or_else(ignore_garbage)?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        }
        Ok(Self::parse(&line))
    }

    fn parse(line: &str) -> Option<Self> {
        let mut fields = line.strip_suffix('\n')?.split_ascii_whitespace();
        let (id, serial, length) = (fields.next()?, fields.next()?, fields.next()?);
        let reach = match (serial, length) {
            ("-", "-") => None,
            _ => Some(Reach { serial: serial.parse().ok()?, length: length.parse().ok()? }),
        };
        Some(Said { crawl_id: id.to_owned(), reach })
    }

    /// The line. All lines of a crawl have the same length: a new one overwrites the last.
    fn line(&self) -> String {
        let id = &self.crawl_id;
        match self.reach {
            Some(Reach { serial, length }) => format!("{id} {serial:>10} {length:>20}\n"),
            None => format!("{id} {:>10} {:>20}\n", "-", "-"),
        }
    }
}

/// How much of a segment its crawl has committed, in bytes, by the file beside it; `None` if nothing says less than all of it. The rest may
/// be cut off when the crawl goes on.
///
/// # Errors
/// The file cannot be read.
pub fn committed_bytes(segment: &Path) -> io::Result<Option<u64>> {
    let Some(serial) = segment.file_name().and_then(|name| serial_of(&name.to_string_lossy())) else { return Ok(None) };
    let Some(said) = Said::read(segment.parent().unwrap_or(Path::new("")))? else { return Ok(None) };
    Ok(match said.reach {
        Some(last) if serial < last.serial => None,
        Some(last) if serial == last.serial => Some(last.length),
        Some(_) | None => Some(0),
    })
}

fn ignore_garbage(error: io::Error) -> io::Result<()> {
    if error.kind() == io::ErrorKind::InvalidData { Ok(()) } else { Err(error) }
}

/// The open file.
pub(super) struct Acknowledged {
    file: File,
    said: Said,
}

impl Acknowledged {
    /// Writes the file again, atomically.
    pub(super) fn begin(dir: &Path, said: Said) -> io::Result<Self> {
        let (path, temporary) = (dir.join(FILE), dir.join("acknowledged.tmp"));
        let mut file = fresh::create(&temporary)?;
        file.write_all(said.line().as_bytes())?;
        file.sync_all()?;
        std::fs::rename(&temporary, &path)?;
        File::open(dir)?.sync_all()?;
        Ok(Acknowledged { file, said })
    }

    /// Notes a commit.
    pub(super) fn note(&mut self, segments: &[Segment]) -> io::Result<()> {
        let reach = Reach::of(segments);
        if reach > self.said.reach {
            self.said.reach = reach;
            self.file.rewind()?;
            self.file.write_all(self.said.line().as_bytes())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn segment(serial: u32, length: u64) -> Segment {
        Segment { serial, name: String::new(), length }
    }

    #[test]
    fn what_is_noted_is_read_back() {
        let dir = tempfile::tempdir().expect("a directory");
        assert_eq!(Said::read(dir.path()).expect("readable"), None);
        let said = |reach| Some(Said { crawl_id: "0a1b".to_owned(), reach });
        let mut file = Acknowledged::begin(dir.path(), said(None).expect("some")).expect("made");
        assert_eq!(Said::read(dir.path()).expect("readable"), said(None));
        file.note(&[segment(0, 10), segment(1, u64::MAX)]).expect("noted");
        let reach = Some(Reach { serial: 1, length: u64::MAX });
        assert_eq!(Said::read(dir.path()).expect("readable"), said(reach));
        file.note(&[segment(0, 99)]).expect("noted");
        assert_eq!(Said::read(dir.path()).expect("readable"), said(reach), "it says less");
    }

    #[test]
    fn what_is_committed_of_a_segment_is_known() {
        let dir = tempfile::tempdir().expect("a directory");
        let committed = |name: &str| committed_bytes(&dir.path().join(name)).expect("readable");
        assert_eq!(committed("argiope-20260101000000-00001.warc.gz"), None, "nothing says so");
        let reach = Some(Reach { serial: 1, length: 70 });
        Acknowledged::begin(dir.path(), Said { crawl_id: "0a1b".to_owned(), reach }).expect("made");
        for (name, expect) in [
            ("argiope-20260101000000-00000.warc.gz", None),
            ("argiope-20260101000000-00001.warc.gz", Some(70)),
            ("argiope-20260101000000-00002.warc.gz", Some(0)),
            ("foreign.warc.gz", None),
        ] {
            assert_eq!(committed(name), expect, "{name}");
        }
    }

    #[test]
    fn garbage_says_nothing() {
        let dir = tempfile::tempdir().expect("a directory");
        for garbage in ["", "\n", "id 1", "id 1 2", "id one 2\n", "id 1 -\n"] {
            std::fs::write(dir.path().join(FILE), garbage).expect("a file");
            assert_eq!(Said::read(dir.path()).expect("readable"), None, "{garbage:?}");
        }
        std::fs::write(dir.path().join(FILE), [0xff; 40]).expect("a file");
        assert_eq!(Said::read(dir.path()).expect("readable"), None);
    }
}
