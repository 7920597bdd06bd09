//! Frames: a length and a value.

use std::io::{self, ErrorKind, Read, Write};

use serde::Serialize;
use serde::de::DeserializeOwned;

/// The longest frame that is read, in bytes. A page may have 100,000 links of 2 KiB, which the state keeps where a depth is given.
const FRAME_BYTES_MAX: u32 = 1 << 30;

/// Why the two sides do not understand each other.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WireError {
    /// The stream broke, or ended within a frame.
    #[error(transparent)]
    Io(io::Error),
    /// Nothing came in the time that the stream allows.
    #[error("the crawl has not answered in time")]
    Late,
    /// A frame that is too long, or is no value.
    #[error("unexpected data in place of an answer: {0}")]
    Malformed(String),
    /// The other side is another version of the program.
    #[error("the crawl is run by another version of this program")]
    Version,
}

impl From<io::Error> for WireError {
    fn from(error: io::Error) -> Self {
        // Either, by the system (socket(7)).
        match error.kind() {
            ErrorKind::WouldBlock | ErrorKind::TimedOut => WireError::Late,
            _ => WireError::Io(error),
        }
    }
}

/// Writes a value.
pub(crate) fn write(stream: &mut impl Write, value: &impl Serialize) -> Result<(), WireError> {
    let mut frame = postcard::to_extend(value, vec![0; 4]).map_err(|error| WireError::Malformed(error.to_string()))?;
    let length = u32::try_from(frame.len() - 4).ok().filter(|length| *length <= FRAME_BYTES_MAX);
    let length = length.ok_or_else(|| WireError::Malformed(format!("{} bytes at once", frame.len())))?;
    frame[..4].copy_from_slice(&length.to_le_bytes());
    stream.write_all(&frame)?;
    Ok(stream.flush()?)
}

/// Reads a value; `None` if the other side has ended between two.
pub(crate) fn read<T: DeserializeOwned>(stream: &mut impl Read) -> Result<Option<T>, WireError> {
    let mut length = [0; 4];
    match stream.read_exact(&mut length[..1]) {
        Ok(()) => {}
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => return Ok(None),
        Err(error) => return Err(error.into()),
    }
    stream.read_exact(&mut length[1..])?;
    let length = u32::from_le_bytes(length);
    if length > FRAME_BYTES_MAX {
        return Err(WireError::Malformed(format!("{length} bytes at once")));
    }
    // Memory is taken as bytes come, not as they are announced.
    let mut frame = Vec::new();
    stream.take(u64::from(length)).read_to_end(&mut frame)?;
    if frame.len() != length as usize {
        return Err(io::Error::from(ErrorKind::UnexpectedEof).into());
    }
    postcard::from_bytes(&frame).map(Some).map_err(|error| WireError::Malformed(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_frame_is_an_error_and_takes_no_memory() {
        let too_long = (FRAME_BYTES_MAX + 1).to_le_bytes();
        let announced = FRAME_BYTES_MAX.to_le_bytes();
        for (bytes, expect) in [
            (&b""[..], "nothing"),
            (&[2, 0, 0, 0, 1, b'a'], "a"),
            (&[1, 0], "Io"),
            (&[2, 0, 0, 0, 1], "Io"),
            (&[2, 0, 0, 0, 9, b'a'], "Malformed"),
            (&too_long, "Malformed"),
            (&announced, "Io"),
        ] {
            let found = match read::<String>(&mut &*bytes) {
                Ok(None) => "nothing".to_owned(),
                Ok(Some(text)) => text,
                Err(error) => format!("{error:?}"),
            };
            assert!(found.starts_with(expect), "{bytes:?}: {found}");
        }
    }
}
