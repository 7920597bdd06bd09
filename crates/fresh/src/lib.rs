//! Files that are new, or ours: regular files and real directories, never what a symbolic link leads to.
//!
//! A directory may come from somebody else, and so may a link in it that has the name of a temporary file. Opened in the usual way, such
//! a link has a file emptied that lies anywhere. [`Temporary`] directories go with their process, or with the next one.

mod temporary;

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::Path;

pub use temporary::Temporary;

/// Creates a file that is written under a temporary name. What has that name, a file or a link, is removed before (what a link leads to
/// stays), and the file is created exclusively (`O_EXCL`, open(2)).
///
/// # Errors
/// What has the name cannot be removed, or somebody else creates the file at the same time.
pub fn create(path: &Path) -> io::Result<File> {
    create_with(&mut OpenOptions::new(), path)
}

fn create_with(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => options.read(true).write(true).create_new(true).open(path),
    }
}

/// Creates such a file with this content.
///
/// # Errors
/// As [`create`]; or the content cannot be written.
pub fn write(path: &Path, content: &[u8]) -> io::Result<()> {
    create(path)?.write_all(content)
}

/// Has `write` write a file under a temporary name, and give it its own. Where that fails, nothing is left under the temporary name.
///
/// # Errors
/// That of `write`.
pub fn renamed<T>(temporary: &Path, write: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
    let written = write();
    if written.is_err() {
        // The first error says what is wrong.
        let _ = fs::remove_file(temporary);
    }
    written
}

/// Opens a file that stays, such as a lock or a mark, and creates it where it is missing. Its content stays as it is.
///
/// # Errors
/// As [`open`].
pub fn open_or_create(path: &Path) -> io::Result<File> {
    open(OpenOptions::new().write(true).create(true).truncate(false), path)
}

/// Opens a file that is there to read it.
///
/// # Errors
/// As [`open`].
pub fn open_to_read(path: &Path) -> io::Result<File> {
    open(OpenOptions::new().read(true), path)
}

/// Opens a secret: a file that only its owner can read.
///
/// # Errors
/// As [`open`]; or others can read it.
pub fn open_secret(path: &Path) -> io::Result<File> {
    let file = open_to_read(path)?;
    if is_private(&file)? { Ok(file) } else { Err(refused("others of this machine can read it: `chmod 600` it")) }
}

/// Creates a secret as [`create`] creates a file.
///
/// # Errors
/// As [`create`].
pub fn create_secret(path: &Path) -> io::Result<File> {
    create_with(OpenOptions::new().mode(0o600), path)
}

/// Whether only its owner can read a file.
///
/// # Errors
/// Its permissions cannot be read.
pub fn is_private(file: &File) -> io::Result<bool> {
    Ok(file.metadata()?.permissions().mode() & 0o077 == 0)
}

/// Opens a file that is there to write to it; its content stays.
///
/// # Errors
/// As [`open`].
pub fn open_to_write(path: &Path) -> io::Result<File> {
    open(OpenOptions::new().write(true), path)
}

/// Opens a file with these options, which are not to have custom flags of their own.
///
/// # Errors
/// It is a symbolic link, is no regular file, or cannot be opened so.
pub fn open(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    // Without O_NONBLOCK the opening of a named pipe would wait for its other end. It means nothing to regular files.
    let file = options.custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK).open(path).map_err(named)?;
    if file.metadata()?.is_file() { Ok(file) } else { Err(refused("it is not a regular file")) }
}

/// Makes a directory unless it is there.
///
/// # Errors
/// A symbolic link or a file is in its place, or it cannot be made.
pub fn directory(path: &Path) -> io::Result<()> {
    match fs::create_dir(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => is_directory(path),
        made => made,
    }
}

/// Makes sure that a path leads to a directory and not, by a symbolic link, to one elsewhere.
///
/// # Errors
/// It is not there, is a symbolic link, or is something else.
pub fn is_directory(path: &Path) -> io::Result<()> {
    let kind = fs::symlink_metadata(path)?.file_type();
    match kind.is_dir() {
        true => Ok(()),
        false if kind.is_symlink() => Err(refused(LINK)),
        false => Err(refused("it is not a directory")),
    }
}

const LINK: &str = "it is a symbolic link, which is not followed within a crawl's directory";

/// The system says "too many levels of symbolic links" of a single one.
fn named(error: io::Error) -> io::Error {
    if error.raw_os_error() == Some(libc::ELOOP) { refused(LINK) } else { error }
}

fn refused(why: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, why)
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
    fn a_secret_is_for_its_owner_alone() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("secret");
        for before in [None, Some("with another mode")] {
            if let Some(text) = before {
                fs::write(&path, text).expect("written");
                fs::set_permissions(&path, PermissionsExt::from_mode(0o644)).expect("set");
            }
            create_secret(&path).expect("created").write_all(b"s3cret").expect("written");
            assert!(is_private(&open_secret(&path).expect("ours")).expect("a mode"));
        }
        for mode in [0o640, 0o604, 0o620] {
            fs::set_permissions(&path, PermissionsExt::from_mode(mode)).expect("set");
            let error = open_secret(&path).expect_err("refused").to_string();
            assert_eq!(error, "others of this machine can read it: `chmod 600` it");
        }
    }

    #[test]
    fn only_regular_files_and_real_directories_are_opened() {
        let dir = tempfile::tempdir().expect("a directory");
        let at = |name: &str| dir.path().join(name);
        fs::write(at("mine"), "precious").expect("written");
        symlink(at("mine"), at("link")).expect("a link");
        for opened in [open_to_read(&at("link")), open_to_write(&at("link")), open_or_create(&at("link"))] {
            assert_eq!(opened.expect_err("refused").to_string(), LINK);
        }
        for path in [dir.path(), Path::new("/dev/null")] {
            assert_eq!(open_to_read(path).expect_err("refused").to_string(), "it is not a regular file");
        }
        directory(&at("real")).expect("made");
        directory(&at("real")).expect("it is there");
        symlink(at("real"), at("linked")).expect("a link");
        assert_eq!(directory(&at("linked")).expect_err("refused").to_string(), LINK);
        assert_eq!(directory(&at("mine")).expect_err("refused").to_string(), "it is not a directory");
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
