//! Files of settings, read whole.

use std::io::Read;
use std::path::Path;

/// Bytes of a file of settings, patterns or certificates, at most.
const FILE_BYTES_MAX: u64 = 64 << 20;

/// The content of a file of limited size.
///
/// # Errors
/// It cannot be read, or is longer.
pub fn read_bytes(path: &Path) -> std::io::Result<Vec<u8>> {
    read_file(&std::fs::File::open(path)?)
}

/// The same of a regular file: neither a pipe, which might have no other end, nor a device.
///
/// # Errors
/// As [`read_bytes`]; or it is something else.
pub(crate) fn read_regular(path: &Path) -> std::io::Result<Vec<u8>> {
    // What a link leads to: the user's own file may be one.
    read_file(&fresh::open_to_read(&std::fs::canonicalize(path)?)?)
}

/// Refuses a content that is longer.
///
/// # Errors
/// The content is longer; the error says so in words.
pub(crate) fn of_limited_size(bytes: &[u8], bytes_max: usize) -> Result<(), String> {
    if bytes.len() > bytes_max { Err(format!("is longer than {bytes_max} bytes")) } else { Ok(()) }
}

fn read_file(file: &std::fs::File) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes)?;
    match bytes.len() as u64 > FILE_BYTES_MAX {
        true => Err(std::io::Error::other(format!("is longer than {FILE_BYTES_MAX} bytes"))),
        false => Ok(bytes),
    }
}

/// The same of a text.
///
/// # Errors
/// As [`read_bytes`]; or it is no text.
pub fn read_text(path: &Path) -> std::io::Result<String> {
    String::from_utf8(read_bytes(path)?).map_err(std::io::Error::other)
}

/// The same of a text in a crawl's directory, which may come from somebody else: of a regular file, and not of what a link leads to.
///
/// # Errors
/// As [`read_text`]; or it is something else.
pub fn read_text_within(path: &Path) -> std::io::Result<String> {
    String::from_utf8(read_file(&fresh::open_to_read(path)?)?).map_err(std::io::Error::other)
}

/// The same of a secret.
///
/// # Errors
/// As [`read_text`]; or others can read it.
pub fn read_secret(path: &Path) -> std::io::Result<String> {
    String::from_utf8(read_file(&fresh::open_secret(path)?)?).map_err(std::io::Error::other)
}
