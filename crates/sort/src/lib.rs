//! Sorting more records than memory should hold: sorted runs in files without a name, merged at the end.
//!
//! A record is bytes, and the order is that of the bytes; who sorts puts the key first. The files of the runs have no name, so
//! that nothing stays behind, however the process ends. The last run needs no file.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::vec;

/// Memory of the records that wait to become a run, in bytes, unless it is set.
const MEMORY_BYTES_MAX: usize = 32 << 20;
/// Runs that are merged at once; so many of one size make one of the next.
const RUNS_MAX: usize = 64;
/// The greatest record, in bytes.
const RECORD_BYTES_MAX: usize = 1 << 30;

/// A run cannot be written or read.
#[derive(Debug, thiserror::Error)]
#[error("sorting in {}: {source}", dir.display())]
pub struct SortError {
    /// Where the runs lie.
    dir: PathBuf,
    source: io::Error,
}

impl From<SortError> for io::Error {
    fn from(error: SortError) -> Self {
        io::Error::new(error.source.kind(), error)
    }
}

/// Takes records in any order.
pub struct Sorter {
    dir: PathBuf,
    memory_bytes_max: usize,
    /// The records that wait, one behind the other.
    bytes: Vec<u8>,
    /// Where each of them lies: its begin and its end.
    spans: Vec<(usize, usize)>,
    /// Runs by size: those of a level are made of `RUNS_MAX` of the one before.
    levels: Vec<Vec<File>>,
}

/// Gives records back in order.
pub struct Sorted {
    dir: PathBuf,
    runs: Vec<Run>,
    heads: BinaryHeap<Reverse<(Vec<u8>, usize)>>,
}

enum Run {
    Written(BufReader<File>),
    InMemory { bytes: Vec<u8>, spans: vec::IntoIter<(usize, usize)> },
}

impl Sorter {
    /// A sorter whose files lie on the disk of `target`, or where the system keeps temporary files if nothing can be written
    /// there.
    #[must_use]
    pub fn beside(target: &Path) -> Self {
        let dir = target.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let dir = if tempfile::tempfile_in(dir).is_ok() { dir.to_owned() } else { std::env::temp_dir() };
        Sorter { dir, memory_bytes_max: MEMORY_BYTES_MAX, bytes: Vec::new(), spans: Vec::new(), levels: Vec::new() }
    }

    /// The same with other memory for the records that wait to become a run, in bytes.
    #[must_use]
    pub fn with_memory(self, memory_bytes_max: usize) -> Self {
        Sorter { memory_bytes_max, ..self }
    }

    /// Takes a record that has these parts, one behind the other.
    ///
    /// # Errors
    /// A run cannot be written.
    pub fn push(&mut self, parts: &[&[u8]]) -> Result<(), SortError> {
        let begin = self.bytes.len();
        parts.iter().for_each(|part| self.bytes.extend_from_slice(part));
        self.spans.push((begin, self.bytes.len()));
        if self.bytes.len() + size_of_val(&self.spans[..]) < self.memory_bytes_max {
            return Ok(());
        }
        self.end_run().map_err(|source| SortError { dir: self.dir.clone(), source })
    }

    /// Gives the records in order.
    ///
    /// # Errors
    /// A run cannot be read.
    pub fn sorted(mut self) -> Result<Sorted, SortError> {
        self.sort_waiting();
        let Sorter { dir, bytes, spans, levels, .. } = self;
        let last = Run::InMemory { bytes, spans: spans.into_iter() };
        let runs = levels.into_iter().flatten().map(Run::of).chain([last]).collect();
        Sorted::merging(runs, dir.clone()).map_err(|source| SortError { dir, source })
    }

    fn sort_waiting(&mut self) {
        let bytes = &self.bytes;
        self.spans.sort_unstable_by(|a, b| bytes[a.0..a.1].cmp(&bytes[b.0..b.1]));
    }

    fn end_run(&mut self) -> io::Result<()> {
        self.sort_waiting();
        let bytes = &self.bytes;
        let records = self.spans.drain(..).map(|(begin, end)| Ok(&bytes[begin..end]));
        let run = write_run(&self.dir, records)?;
        self.bytes.clear();
        self.add(run, 0)
    }

    /// Adds a run to its level; a level that is full becomes a run of the next.
    fn add(&mut self, run: File, level: usize) -> io::Result<()> {
        if self.levels.len() == level {
            self.levels.push(Vec::new());
        }
        self.levels[level].push(run);
        if self.levels[level].len() < RUNS_MAX {
            return Ok(());
        }
        let runs = std::mem::take(&mut self.levels[level]).into_iter().map(Run::of).collect();
        let mut merging = Sorted::merging(runs, self.dir.clone())?;
        let merged = write_run(&self.dir, std::iter::from_fn(|| merging.next_record().transpose()))?;
        self.add(merged, level + 1)
    }
}

fn write_run<R: AsRef<[u8]>>(dir: &Path, records: impl Iterator<Item = io::Result<R>>) -> io::Result<File> {
    let mut out = BufWriter::new(tempfile::tempfile_in(dir)?);
    for record in records {
        let record = record?;
        out.write_all(&(record.as_ref().len() as u64).to_le_bytes())?;
        out.write_all(record.as_ref())?;
    }
    let mut file = out.into_inner().map_err(io::IntoInnerError::into_error)?;
    file.rewind()?;
    Ok(file)
}

impl Run {
    fn of(file: File) -> Self {
        Run::Written(BufReader::new(file))
    }

    fn next(&mut self) -> io::Result<Option<Vec<u8>>> {
        let file = match self {
            Run::Written(file) => file,
            Run::InMemory { bytes, spans } => return Ok(spans.next().map(|(begin, end)| bytes[begin..end].to_vec())),
        };
        let mut length = [0; 8];
        match file.read_exact(&mut length) {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
            read => read?,
        }
        let length = usize::try_from(u64::from_le_bytes(length)).ok().filter(|length| *length <= RECORD_BYTES_MAX);
        let mut record = vec![0; length.ok_or(io::ErrorKind::InvalidData)?];
        file.read_exact(&mut record)?;
        Ok(Some(record))
    }
}

impl Sorted {
    fn merging(runs: Vec<Run>, dir: PathBuf) -> io::Result<Self> {
        let mut sorted = Sorted { dir, runs, heads: BinaryHeap::new() };
        for run in 0..sorted.runs.len() {
            sorted.read_from(run)?;
        }
        Ok(sorted)
    }

    fn read_from(&mut self, run: usize) -> io::Result<()> {
        self.heads.extend(self.runs[run].next()?.map(|record| Reverse((record, run))));
        Ok(())
    }

    fn next_record(&mut self) -> io::Result<Option<Vec<u8>>> {
        let Some(Reverse((record, run))) = self.heads.pop() else { return Ok(None) };
        self.read_from(run)?;
        Ok(Some(record))
    }

    /// The next record, without taking it.
    #[must_use]
    pub fn peek(&self) -> Option<&[u8]> {
        self.heads.peek().map(|Reverse((record, _))| &record[..])
    }

    /// Takes the next record if it begins with `key`. Records with lesser keys are ignored.
    ///
    /// # Errors
    /// A run cannot be read.
    pub fn next_of(&mut self, key: &[u8]) -> Result<Option<Vec<u8>>, SortError> {
        while let Some(record) = self.peek() {
            match record[..key.len().min(record.len())].cmp(key) {
                std::cmp::Ordering::Less => drop(self.next().transpose()?),
                std::cmp::Ordering::Equal => return self.next().transpose(),
                std::cmp::Ordering::Greater => return Ok(None),
            }
        }
        Ok(None)
    }
}

impl Iterator for Sorted {
    type Item = Result<Vec<u8>, SortError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_record().map_err(|source| SortError { dir: self.dir.clone(), source }).transpose()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sorter(memory_bytes_max: usize) -> (Sorter, tempfile::TempDir) {
        let dir = tempfile::tempdir().unwrap();
        let sorter = Sorter::beside(&dir.path().join("target")).with_memory(memory_bytes_max);
        (sorter, dir)
    }

    fn check(records: u32, memory_bytes_max: usize) {
        let (mut sorter, dir) = sorter(memory_bytes_max);
        let all: Vec<Vec<u8>> = (0..records).map(|n| format!("{} ž", (n * 7919) % 1009).into_bytes()).collect();
        for record in &all {
            let (a, b) = record.split_at(1);
            sorter.push(&[a, b]).unwrap();
        }
        let sorted: Vec<Vec<u8>> = sorter.sorted().unwrap().map(Result::unwrap).collect();
        let mut expect = all;
        expect.sort_unstable();
        assert!(sorted == expect, "{records} {memory_bytes_max}");
        assert_eq!(dir.path().read_dir().unwrap().count(), 0, "no run has a name");
    }

    #[test]
    fn records_come_back_in_order() {
        for (records, memory_bytes_max) in [(0, 100), (1, 100), (10, 100), (500, 100), (500, 100_000), (5_000, 1)] {
            check(records, memory_bytes_max);
        }
    }

    #[test]
    fn records_are_found_by_what_they_begin_with() {
        let (mut sorter, _dir) = sorter(1);
        for record in ["b1", "a1", "d", "b2", "", "e"] {
            sorter.push(&[record.as_bytes()]).unwrap();
        }
        let mut sorted = sorter.sorted().unwrap();
        let mut next_of = |key: &str| sorted.next_of(key.as_bytes()).unwrap().map(|r| String::from_utf8(r).unwrap());
        assert_eq!(next_of("b").as_deref(), Some("b1"));
        assert_eq!(next_of("b").as_deref(), Some("b2"));
        assert_eq!(next_of("b"), None);
        assert_eq!(next_of("c"), None);
        assert_eq!(next_of("e").as_deref(), Some("e"));
        assert_eq!(next_of("f"), None);
    }
}
