//! Cookies in a file that only its owner reads: one JSON object a line, a line a change, the last of a cookie counts.
//!
//! A line is written before the answer that set its cookie is handed on. So after kill -9 nothing is missing that a recorded page depends on;
//! a last line that broke off belongs to no such page.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use model::Timestamp;

use serde::{Deserialize, Serialize};

use crate::cookie::Cookie;
use crate::jar::Jar;
use crate::stored::Stored;

/// The largest file that is read, in bytes. A file that the crawl wrote is never as large: the crawl replaces it before.
const FILE_BYTES_MAX: u64 = 512 << 20;

/// The crawl replaces the file when changes take more than this many bytes, and more than this many times the bytes of the cookies in force.
const CHANGES_BYTES_MIN: u64 = 1 << 20;
const CHANGES_TIMES_MAX: u64 = 4;

/// The file of a jar.
#[derive(Debug)]
pub struct CookieFile {
    path: PathBuf,
    file: File,
    /// Its bytes when it was last replaced, and those added since then.
    begun: u64,
    added: u64,
}

impl CookieFile {
    /// Reads the cookies of a file into a jar. A file that is missing has none.
    ///
    /// # Errors
    /// It cannot be read, is a symbolic link, or others can read it.
    pub fn read(path: &Path, jar: &mut Jar, now: Timestamp) -> io::Result<()> {
        let mut text = String::new();
        match fresh::open_secret(path) {
            Ok(file) => file.take(FILE_BYTES_MAX).read_to_string(&mut text)?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(error),
        };
        let complete = text.rfind('\n').map_or("", |end| &text[..end]);
        for (index, line) in complete.lines().enumerate() {
            let line: Line<Cookie, Stored> = serde_json::from_str(line)
                .map_err(|_| io::Error::other(format!("line {}: is not as this program writes it", index + 1)))?;
            // One that is refused was kept by an earlier version.
            let _ = match line {
                Line::Cookie(cookie) => jar.put(cookie, now).map(drop),
                Line::Stored(entry) => jar.store(entry),
            };
        }
        Ok(())
    }

    /// A file with what a jar has, in place of what is there, for further cookies.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn of(path: &Path, jar: &Jar, now: Timestamp) -> io::Result<Self> {
        let temporary = CookieFile::temporary(path);
        let all = jar.live(now).map(Line::Cookie).chain(jar.stored().map(Line::Stored));
        let lines = all.map(|one| line(&one)).collect::<io::Result<String>>()?;
        let file = fresh::renamed(&temporary, || {
            let mut file = fresh::create_secret(&temporary)?;
            file.write_all(lines.as_bytes())?;
            file.sync_all()?;
            std::fs::rename(&temporary, path)?;
            Ok(file)
        })?;
        Ok(CookieFile { path: path.to_owned(), file, begun: lines.len() as u64, added: 0 })
    }

    /// The path of the file that is to replace it.
    #[must_use]
    pub fn temporary(path: &Path) -> PathBuf {
        path.with_extension("jsonl.tmp")
    }

    /// Adds a cookie that `jar` has taken.
    ///
    /// # Errors
    /// It cannot be written, or another file is in the place of this one.
    pub fn add(&mut self, cookie: &Cookie, jar: &Jar, now: Timestamp) -> io::Result<()> {
        let line = line(&Line::Cookie(cookie))?;
        self.file.write_all(line.as_bytes())?;
        self.added += line.len() as u64;
        if self.added > CHANGES_BYTES_MIN.max(self.begun * CHANGES_TIMES_MAX) {
            self.is_in_place()?;
            *self = CookieFile::of(&self.path, jar, now)?;
        }
        Ok(())
    }

    /// The directory may have been replaced meanwhile: what is there now belongs to another crawl.
    fn is_in_place(&self) -> io::Result<()> {
        let (ours, there) = (self.file.metadata()?, std::fs::symlink_metadata(&self.path)?);
        match (ours.dev(), ours.ino()) == (there.dev(), there.ino()) {
            true => Ok(()),
            false => Err(io::Error::other("was removed or replaced")),
        }
    }
}

/// What a line has.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Line<C, S> {
    Cookie(C),
    Stored(S),
}

fn line(of: &Line<&Cookie, &Stored>) -> io::Result<String> {
    Ok(serde_json::to_string(of)? + "\n")
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use weburl::{CanonicalRules, CanonicalUrl};

    use super::*;

    const NOW: Timestamp = Timestamp(1_700_000_000_000_000);

    fn url(text: &str) -> CanonicalUrl {
        CanonicalUrl::parse(text, &CanonicalRules::default()).expect(text)
    }

    fn opened(path: &Path) -> (CookieFile, Jar) {
        let mut jar = Jar::default();
        CookieFile::read(path, &mut jar, NOW).expect("read");
        (CookieFile::of(path, &jar, NOW).expect("written"), jar)
    }

    fn set(file: &mut CookieFile, jar: &mut Jar, text: &str) {
        let cookie = jar.receive(&url("https://a.test/"), text, NOW).expect(text).expect("a change");
        file.add(&cookie, jar, NOW).expect("written");
    }

    #[test]
    fn what_was_set_is_there_after_the_process_was_killed() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("cookies.jsonl");
        let (mut file, mut jar) = opened(&path);
        for text in ["a=1", "b=1", "a=2", "b=; Max-Age=0", "c=1; Max-Age=60"] {
            set(&mut file, &mut jar, text);
        }
        // No end of any kind, and the last line broke off.
        file.file.write_all(b"{\"name\":\"d\",").expect("written");
        std::mem::forget(file);
        assert_eq!(opened(&path).1.field(&url("https://a.test/"), NOW).as_deref(), Some("a=2; c=1"));
        assert_eq!(path.metadata().expect("a file").permissions().mode() & 0o777, 0o600);
        // What is in force remains.
        assert_eq!(std::fs::read_to_string(&path).expect("read").lines().count(), 2);
    }

    #[test]
    fn the_file_does_not_grow_with_the_number_of_changes() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("cookies.jsonl");
        let (mut file, mut jar) = opened(&path);
        let long = "x".repeat(3000);
        for number in 0..1000 {
            set(&mut file, &mut jar, &format!("a={number}{long}"));
        }
        let bytes = path.metadata().expect("a file").len();
        assert!(bytes < 2 * CHANGES_BYTES_MIN, "{bytes}");
        assert!(opened(&path).1.field(&url("https://a.test/"), NOW).is_some_and(|field| field.starts_with("a=999x")));
    }

    #[test]
    fn a_file_that_is_not_ours_alone_is_refused() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("cookies.jsonl");
        std::fs::write(&path, "S3CRET\n").expect("written");
        let refused = |path: &Path| CookieFile::read(path, &mut Jar::default(), NOW).expect_err("refused").to_string();
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o644)).expect("set");
        assert!(refused(&path).contains("others of this machine can read it"));
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o600)).expect("set");
        assert_eq!(refused(&path), "line 1: is not as this program writes it");
    }
}
