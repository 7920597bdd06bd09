//! The end of a journal after a loss of power.
//!
//! The pages of a batch that was not synced reach the disk in any order. If the last one did and one before it did not,
//! the engine finds a batch that is whole by its frame and wrong by its checksum, and refuses to open. Only the last
//! batch can be like that, for each is synced before the next begins. Without the last byte of its end mark the engine
//! takes it for what it is, torn, and drops it.

use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// Bytes read at once on the way back over the zeros at the end.
const WINDOW_BYTES: u64 = 64 << 10;

/// A byte that was taken from the end of a journal.
pub(crate) struct Cut {
    journal: PathBuf,
    offset: u64,
    byte: u8,
}

impl Cut {
    /// Takes the last byte written off the newest journal in `engine_dir`; `None` where nothing is written.
    pub(crate) fn last_byte(engine_dir: &Path) -> io::Result<Option<Cut>> {
        let Some(journal) = newest_journal(engine_dir)? else { return Ok(None) };
        let mut file = File::options().read(true).write(true).open(&journal)?;
        let Some((offset, byte)) = last_written(&mut file)? else { return Ok(None) };
        let cut = Cut { journal, offset, byte };
        cut.write(0)?;
        Ok(Some(cut))
    }

    /// Puts the byte back.
    pub(crate) fn undo(&self) -> io::Result<()> {
        self.write(self.byte)
    }

    fn write(&self, byte: u8) -> io::Result<()> {
        let mut file = File::options().write(true).open(&self.journal)?;
        file.seek(SeekFrom::Start(self.offset))?;
        file.write_all(&[byte])?;
        file.sync_data()
    }
}

/// Journals are named by their numbers, `7.jnl`.
fn newest_journal(engine_dir: &Path) -> io::Result<Option<PathBuf>> {
    let mut newest = None;
    for entry in fs::read_dir(engine_dir)? {
        let name = entry?.file_name();
        let number = name.to_str().and_then(|name| name.strip_suffix(".jnl")?.parse::<u64>().ok());
        newest = newest.max(number);
    }
    Ok(newest.map(|number| engine_dir.join(format!("{number}.jnl"))))
}

/// The last byte of a file that is not zero, and where it is.
fn last_written(file: &mut File) -> io::Result<Option<(u64, u8)>> {
    let mut end = file.metadata()?.len();
    let mut window = Vec::new();
    while end > 0 {
        let start = end.saturating_sub(WINDOW_BYTES);
        file.seek(SeekFrom::Start(start))?;
        window.clear();
        file.take(end - start).read_to_end(&mut window)?;
        if let Some((at, byte)) = window.iter().enumerate().rev().find(|(_, byte)| **byte != 0) {
            return Ok(Some((start + at as u64, *byte)));
        }
        end = start;
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_byte_written_is_found_and_put_back() {
        let dir = tempfile::tempdir().expect("a directory");
        assert!(Cut::last_byte(dir.path()).expect("cut").is_none());
        fs::write(dir.path().join("9.jnl"), [1]).expect("write");
        for zeros in [0, 1, WINDOW_BYTES as usize - 1, WINDOW_BYTES as usize, 200_000] {
            let path = dir.path().join("10.jnl");
            let bytes = [&[1, 2, 3], &*vec![0; zeros]].concat();
            fs::write(&path, &bytes).expect("write");
            let cut = Cut::last_byte(dir.path()).expect("cut").expect("a byte");
            assert_eq!(fs::read(&path).expect("read")[..3], [1, 2, 0], "{zeros} zeros");
            cut.undo().expect("undo");
            assert_eq!(fs::read(&path).expect("read"), bytes, "{zeros} zeros");
        }
    }
}
