//! ZipNum: a sorted index in gzip members of some lines each, and a second index of where they lie, so that a reader looks up
//! a URL in an index of any length by reading one member.

use std::io::Write;
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;
use sort::Sorted;

use super::package::Package;
use crate::ExportError;

/// Lines in a member; what others write have 3,000 or 1,024.
const MEMBER_LINES: usize = 1_024;

/// The first line of the second index, which says that the lines behind it are the first keys of members.
const HEADER: &str = "!meta 0 {\"format\": \"cdxj-gzip-1.0\", \"filename\": \"index.cdx.gz\"}\n";

/// Writes the lines into the part that was begun, and the second index to `idx`.
pub(super) fn write(
    lines: Sorted,
    package: &mut Package,
    idx: &mut dyn Write,
    target: &Path,
) -> Result<(), ExportError> {
    let failed = |error| ExportError::io(target, error);
    idx.write_all(HEADER.as_bytes()).map_err(failed)?;
    let mut members = Members { package, idx, target, offset: 0, key: String::new(), lines: 0, member: Vec::new() };
    for line in lines {
        members.push(&line?)?;
    }
    members.end()
}

struct Members<'a> {
    package: &'a mut Package,
    idx: &'a mut dyn Write,
    target: &'a Path,
    /// Where the next member begins.
    offset: u64,
    /// The SURT key and date of the first line of this one.
    key: String,
    lines: usize,
    member: Vec<u8>,
}

impl Members<'_> {
    fn push(&mut self, line: &[u8]) -> Result<(), ExportError> {
        if self.lines == 0 {
            let line = String::from_utf8_lossy(line);
            self.key = line.split(" {").next().unwrap_or_default().to_owned();
        }
        self.member.extend_from_slice(line);
        self.member.push(b'\n');
        self.lines += 1;
        if self.lines == MEMBER_LINES { self.end() } else { Ok(()) }
    }

    /// Ends the member, if anything is in it.
    fn end(&mut self) -> Result<(), ExportError> {
        if self.lines == 0 {
            return Ok(());
        }
        let failed = |error| ExportError::io(self.target, error);
        let mut gzip = GzEncoder::new(Vec::new(), Compression::default());
        let packed = gzip.write_all(&self.member).and_then(|()| gzip.finish()).map_err(failed)?;
        self.package.write(&packed)?;
        let (key, offset, length) = (&self.key, self.offset, packed.len());
        let digest = super::package::digest_of(&packed);
        writeln!(self.idx, "{key} {{\"offset\": {offset}, \"length\": {length}, \"digest\": \"{digest}\"}}")
            .map_err(failed)?;
        self.offset += packed.len() as u64;
        self.lines = 0;
        self.member.clear();
        Ok(())
    }
}
