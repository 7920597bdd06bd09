//! Files that are new, or ours: never what a symbolic link leads to.
//!
//! A directory may come from somebody else, and so may a link in it that has the name of a temporary file. Opened in the usual way, such
//! a link has a file emptied that lies anywhere.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// Creates a file that is written under a temporary name. What has that name, a file or a link, is removed before (what a link leads to
/// stays), and the file is created exclusively (`O_EXCL`, open(2)).
///
/// # Errors
/// What has the name cannot be removed, or somebody else creates the file at the same time.
pub fn create(path: &Path) -> io::Result<File> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => OpenOptions::new().read(true).write(true).create_new(true).open(path),
    }
}

/// Creates such a file with this content.
///
/// # Errors
/// As [`create`]; or the content cannot be written.
pub fn write(path: &Path, content: &[u8]) -> io::Result<()> {
    create(path)?.write_all(content)
}

/// Opens a file that stays, such as a lock or a mark, and creates it where it is missing. Its content stays as it is.
///
/// # Errors
/// A symbolic link has the name (`ELOOP`), or the file can neither be opened nor created.
pub fn open_or_create(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create(true).truncate(false).custom_flags(libc::O_NOFOLLOW).open(path)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn what_a_link_leads_to_stays_as_it_is() {
        let dir = tempfile::tempdir().expect("a directory");
        let at = |name: &str| dir.path().join(name);
        fs::write(at("mine"), "precious").expect("written");
        symlink(at("mine"), at("link.tmp")).expect("a link");
        write(&at("link.tmp"), b"new").expect("written");
        assert_eq!(fs::read_to_string(at("link.tmp")).expect("a file"), "new");
        assert!(!at("link.tmp").is_symlink());

        symlink(at("mine"), at("lock")).expect("a link");
        assert!(open_or_create(&at("lock")).is_err());
        symlink(at("nothing"), at("mark")).expect("a link");
        assert!(open_or_create(&at("mark")).is_err() && !at("nothing").exists());
        assert_eq!(fs::read_to_string(at("mine")).expect("a file"), "precious");
    }

    #[test]
    fn what_was_left_under_the_name_is_replaced_and_what_stays_is_kept() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("x");
        for content in ["long", "s"] {
            write(&path, content.as_bytes()).expect("written");
            assert_eq!(fs::read_to_string(&path).expect("a file"), content);
        }
        for _ in 0..2 {
            open_or_create(&path).expect("opened");
        }
        assert_eq!(fs::read_to_string(&path).expect("a file"), "s");
    }
}
