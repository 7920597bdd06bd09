//! Connections between the processes of a query. One begins with a hello: the secret of the query, who connects, and what for. On a
//! connection to gather by, messages follow: the length in 8 bytes, the low ones first, and JSON.

use std::io::{self, Read, Write};

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::Secret;

/// Bytes of what is gathered from one process.
pub const MESSAGE_BYTES_MAX: u64 = 256 << 20;
/// Bytes of a hello: the secret, the index of who connects, the purpose.
pub const HELLO_BYTES: usize = 16 + 4 + 1;

/// What a connection is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// The computation's own.
    Dataflow,
    /// The first process gets what the others have, and tells them what it makes of it.
    Gathering,
}

/// What a connection begins with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hello {
    /// The place of who connects among all.
    pub index: usize,
    /// What for.
    pub purpose: Purpose,
}

/// Why a message cannot be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WireError {
    /// The connection is lost.
    #[error(transparent)]
    Lost(#[from] io::Error),
    /// It is not what was expected.
    #[error("unexpected message: {0}")]
    Unexpected(#[from] serde_json::Error),
    /// It is too long.
    #[error("a message of {bytes} bytes, more than {MESSAGE_BYTES_MAX}")]
    TooLong {
        /// How long.
        bytes: u64,
    },
}

impl Hello {
    /// As it is sent.
    #[must_use]
    pub fn to_bytes(self, secret: &Secret) -> [u8; HELLO_BYTES] {
        let purpose = match self.purpose {
            Purpose::Dataflow => 0,
            Purpose::Gathering => 1,
        };
        let mut bytes = [purpose; HELLO_BYTES];
        bytes[..16].copy_from_slice(&secret.0);
        // There are fewer members than that has numbers.
        bytes[16..20].copy_from_slice(&u32::try_from(self.index).unwrap_or(u32::MAX).to_le_bytes());
        bytes
    }

    /// Reads one. `None` if it is none of this query.
    #[must_use]
    pub fn from_bytes(bytes: &[u8; HELLO_BYTES], secret: &Secret) -> Option<Self> {
        // Hashes are compared in constant time.
        if blake3::hash(&bytes[..16]) != blake3::hash(&secret.0) {
            return None;
        }
        let index = bytes[16..20].iter().rev().fold(0, |index, byte| index << 8 | usize::from(*byte));
        let purpose = match bytes[20] {
            0 => Purpose::Dataflow,
            1 => Purpose::Gathering,
            _ => return None,
        };
        Some(Hello { index, purpose })
    }
}

/// Sends a message.
///
/// # Errors
/// The connection is lost; or the message is longer than the other side reads.
pub fn send(out: &mut impl Write, message: &impl Serialize) -> Result<(), WireError> {
    let message = serde_json::to_vec(message)?;
    let bytes = message.len() as u64;
    if bytes > MESSAGE_BYTES_MAX {
        return Err(WireError::TooLong { bytes });
    }
    out.write_all(&bytes.to_le_bytes())?;
    Ok(out.write_all(&message)?)
}

/// Receives a message. Memory grows with what comes, not with what is announced.
///
/// # Errors
/// The connection is lost; or what comes is too long, or something else than expected.
pub fn receive<T: DeserializeOwned>(input: &mut impl Read) -> Result<T, WireError> {
    let mut length = [0; 8];
    input.read_exact(&mut length)?;
    let bytes = u64::from_le_bytes(length);
    if bytes > MESSAGE_BYTES_MAX {
        return Err(WireError::TooLong { bytes });
    }
    let mut message = Vec::new();
    input.take(bytes).read_to_end(&mut message)?;
    if (message.len() as u64) < bytes {
        return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into());
    }
    Ok(serde_json::from_slice(&message)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECRET: Secret = Secret([7; 16]);

    #[test]
    fn a_hello_reads_back_and_another_querys_does_not() {
        for purpose in [Purpose::Dataflow, Purpose::Gathering] {
            let hello = Hello { index: 258, purpose };
            let mut bytes = hello.to_bytes(&SECRET);
            assert_eq!(Hello::from_bytes(&bytes, &SECRET), Some(hello));
            bytes[20] = 2;
            assert_eq!(Hello::from_bytes(&bytes, &SECRET), None);
            assert_eq!(Hello::from_bytes(&hello.to_bytes(&Secret([8; 16])), &SECRET), None);
        }
    }

    #[test]
    fn a_message_is_read_whole_or_not_at_all() {
        let mut bytes = Vec::new();
        send(&mut bytes, &("x", 1)).expect("written");
        let read = |bytes: &[u8]| receive::<(String, u64)>(&mut &*bytes);
        assert_eq!(read(&bytes).expect("read"), ("x".to_owned(), 1));
        for length in 0..bytes.len() {
            assert!(matches!(read(&bytes[..length]), Err(WireError::Lost(_))), "{length}");
        }
        let announced = (MESSAGE_BYTES_MAX + 1).to_le_bytes();
        assert!(matches!(read(&announced), Err(WireError::TooLong { bytes }) if bytes == MESSAGE_BYTES_MAX + 1));
        let other = [&3u64.to_le_bytes()[..], b"[1]"].concat();
        assert!(matches!(read(&other), Err(WireError::Unexpected(_))));
    }
}
