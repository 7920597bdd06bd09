//! Finding the next record behind damage.

use crate::header::is_record;
use crate::member::{MAGIC, Member};
use crate::reader::RECORD_END;
use crate::stream::Form;
use memchr::memmem;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};

/// How much of a file is searched at a time.
const WINDOW_BYTES: usize = 256 * 1024;

/// How many bytes of a gzip member are enough to see whether it holds a record: its header and
/// the first deflate block's code tables.
const PROBE_BYTES: usize = 4 * 1024;

/// Searches for places in a file at which a record seems to begin: a gzip member whose first
/// bytes are `WARC/`, or in a plain file the version line after the end of another record.
///
/// What follows there must still be read to know. A record that was archived inside another (a
/// WARC file somewhere on the web) may be found too when it is not compressed twice.
pub(crate) struct Resync {
    file: File,
    form: Form,
    member: Member,
    window: Vec<u8>,
}

impl Resync {
    /// `file` is read by nobody else. It is searched for members if it begins with one, otherwise
    /// for plain records.
    pub(crate) fn new(mut file: File) -> io::Result<Resync> {
        let mut first = [0];
        let n = file.read(&mut first)?;
        let form = if n == 1 && first == [b'W'] { Form::Plain } else { Form::Gzip };
        Ok(Resync { file, form, member: Member::new(), window: Vec::new() })
    }

    /// Whether a record seems to begin at `position`.
    pub(crate) fn begins_at(&mut self, position: u64) -> io::Result<bool> {
        let before = if self.form == Form::Plain { RECORD_END.len() as u64 } else { 0 };
        let start = position.saturating_sub(before);
        self.fill_window(start, PROBE_BYTES)?;
        Ok(self.record_in_window((position - start) as usize))
    }

    /// The first place from `position` on at which a record seems to begin.
    pub(crate) fn next_from(&mut self, position: u64) -> io::Result<Option<u64>> {
        let pattern = match self.form {
            Form::Plain => memmem::Finder::new(b"\r\n\r\nWARC/"),
            Form::Gzip => memmem::Finder::new(MAGIC),
        };
        let mark = if self.form == Form::Plain { RECORD_END.len() } else { 0 };
        let mut start = position.saturating_sub(mark as u64);
        loop {
            let is_last = self.fill_window(start, WINDOW_BYTES)? < WINDOW_BYTES;
            // Candidates near the window's end are left to the next window, which has all of them.
            let decided = if is_last { self.window.len() } else { WINDOW_BYTES - PROBE_BYTES };
            let mut from = 0;
            while let Some(found) = pattern.find(&self.window[from..]) {
                let candidate = from + found;
                if candidate >= decided {
                    break;
                }
                if self.record_in_window(candidate + mark) {
                    return Ok(Some(start + (candidate + mark) as u64));
                }
                from = candidate + 1;
            }
            if is_last {
                return Ok(None);
            }
            start += decided as u64;
        }
    }

    fn record_in_window(&mut self, at: usize) -> bool {
        let Some(bytes) = self.window.get(at..).filter(|bytes| !bytes.is_empty()) else {
            return false;
        };
        match self.form {
            Form::Plain => {
                let after_end = self.window[..at].ends_with(RECORD_END) || at == 0;
                after_end && bytes.starts_with(b"WARC/")
            }
            Form::Gzip => self.holds_record(at),
        }
    }

    fn holds_record(&mut self, at: usize) -> bool {
        let mut bytes = &self.window[at..(at + PROBE_BYTES).min(self.window.len())];
        if self.member.start(&mut bytes).is_err() {
            return false;
        }
        let mut beginning = [0; 5];
        let mut filled = 0;
        while filled < beginning.len() {
            match self.member.read(&mut bytes, &mut beginning[filled..]) {
                Ok(0) | Err(_) => return false,
                Ok(n) => filled += n,
            }
        }
        is_record(&beginning)
    }

    /// Reads up to `len` bytes from `start`; fewer only at the end of the file.
    fn fill_window(&mut self, start: u64, len: usize) -> io::Result<usize> {
        self.file.seek(SeekFrom::Start(start))?;
        self.window.clear();
        (&mut self.file).take(len as u64).read_to_end(&mut self.window)
    }
}
