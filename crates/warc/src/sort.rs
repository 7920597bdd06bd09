//! Sorting more lines than memory should hold: sorted runs in files, merged at the end.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Lines, Write};
use std::path::{Path, PathBuf};

use crate::replace::with_suffix;

/// Lines held in memory; an index line has some 300 bytes.
const LINES_IN_MEMORY_MAX: usize = 20_000;

/// Takes lines in any order and gives them back in the order of their bytes.
pub(crate) struct Sorter {
    /// What the names of the files of runs begin with.
    base: PathBuf,
    lines_max: usize,
    lines: Vec<String>,
    runs: Vec<PathBuf>,
}

impl Sorter {
    /// A sorter that puts its files beside `path`.
    pub(crate) fn beside(path: &Path) -> Self {
        Sorter { base: path.to_owned(), lines_max: LINES_IN_MEMORY_MAX, lines: Vec::new(), runs: Vec::new() }
    }

    /// Takes a line, without its end.
    pub(crate) fn push(&mut self, line: String) -> io::Result<()> {
        self.lines.push(line);
        if self.lines.len() >= self.lines_max { self.end_run() } else { Ok(()) }
    }

    /// Writes all lines in order.
    pub(crate) fn write_to(mut self, out: &mut dyn Write) -> io::Result<()> {
        if self.runs.is_empty() {
            self.lines.sort_unstable();
            return self.lines.iter().try_for_each(|line| writeln!(out, "{line}"));
        }
        self.end_run()?;
        let mut runs: Vec<Lines<BufReader<File>>> = Vec::new();
        let mut heads = BinaryHeap::new();
        for path in &self.runs {
            let mut run = BufReader::new(File::open(path)?).lines();
            heads.extend(run.next().transpose()?.map(|line| Reverse((line, runs.len()))));
            runs.push(run);
        }
        while let Some(Reverse((line, run))) = heads.pop() {
            writeln!(out, "{line}")?;
            heads.extend(runs[run].next().transpose()?.map(|line| Reverse((line, run))));
        }
        Ok(())
    }

    fn end_run(&mut self) -> io::Result<()> {
        let path = with_suffix(&self.base, &format!(".run-{}", self.runs.len()));
        self.runs.push(path.clone());
        self.lines.sort_unstable();
        let mut out = io::BufWriter::new(File::create(path)?);
        self.lines.drain(..).try_for_each(|line| writeln!(out, "{line}"))?;
        out.flush()
    }
}

impl Drop for Sorter {
    fn drop(&mut self) {
        for run in &self.runs {
            // A file that stays behind is overwritten by the next sort.
            let _ = fs::remove_file(run);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(lines: usize, lines_max: usize) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("index");
        let mut sorter = Sorter::beside(&path);
        sorter.lines_max = lines_max;
        let all: Vec<String> = (0..lines).map(|n| format!("{} ž", (n * 7919) % 101)).collect();
        for line in &all {
            sorter.push(line.clone()).unwrap();
        }
        let mut out = Vec::new();
        sorter.write_to(&mut out).unwrap();
        let mut expect = all;
        expect.sort_unstable();
        assert_eq!(String::from_utf8(out).unwrap().lines().collect::<Vec<_>>(), expect, "{lines} {lines_max}");
        assert_eq!(dir.path().read_dir().unwrap().count(), 0, "no run is left behind");
    }

    #[test]
    fn lines_come_back_in_order_from_memory_and_from_runs() {
        for (lines, lines_max) in [(0, 3), (1, 3), (3, 3), (10, 3), (9, 3), (500, 7), (500, 1000)] {
            check(lines, lines_max);
        }
    }
}
