//! Where a body ends (RFC 9112 §6).

use super::chunks::Chunks;
use crate::pieces::Pieces;

/// What is left of a body.
#[derive(Debug)]
pub(super) enum Framing {
    /// So many bytes.
    Length(u64),
    /// Chunks.
    Chunked(Chunks),
    /// All that comes until the connection is closed.
    UntilClose,
}

impl Framing {
    /// No body, or nothing left of it.
    pub(super) const NONE: Self = Framing::Length(0);

    /// True after the last byte.
    pub(super) fn is_end(&self) -> bool {
        match self {
            Framing::Length(left) => *left == 0,
            Framing::Chunked(chunks) => chunks.is_end(),
            Framing::UntilClose => false,
        }
    }

    /// True if the connection may be closed, and nothing is missing.
    pub(super) fn may_end(&self) -> bool {
        match self {
            Framing::Length(left) => *left == 0,
            Framing::Chunked(chunks) => chunks.has_all_data(),
            Framing::UntilClose => true,
        }
    }

    /// How many bytes of payload are left, if that was said.
    pub(super) fn left(&self) -> Option<u64> {
        match self {
            Framing::Length(left) => Some(*left),
            Framing::Chunked(_) | Framing::UntilClose => None,
        }
    }

    /// Appends the payload in `bytes` to `payload`; returns how many bytes belong to the body: all, or those up to its end.
    ///
    /// # Errors
    /// What is wrong, in words. Payload before it is appended.
    pub(super) fn take(&mut self, bytes: &[u8], payload: &mut Pieces) -> Result<usize, &'static str> {
        let taken = match self {
            Framing::Chunked(chunks) => return chunks.take(bytes, payload),
            Framing::UntilClose => bytes.len(),
            Framing::Length(left) => {
                let taken = usize::try_from(*left).unwrap_or(usize::MAX).min(bytes.len());
                *left -= taken as u64;
                taken
            }
        };
        payload.append(&bytes[..taken], self.left());
        Ok(taken)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_is_taken_to_its_end() {
        for (mut framing, bytes, payload, taken, is_end, may_end) in [
            (Framing::Length(5), "hello", "hello", 5, true, true),
            (Framing::Length(5), "hello!", "hello", 5, true, true),
            (Framing::Length(6), "hello", "hello", 5, false, false),
            (Framing::NONE, "hello", "", 0, true, true),
            (Framing::UntilClose, "hello", "hello", 5, false, true),
            (Framing::Chunked(Chunks::default()), "1\r\nx\r\n0\r\n\r\n!", "x", 11, true, true),
            (Framing::Chunked(Chunks::default()), "1\r\nx\r\n0\r\n", "x", 9, false, true),
            (Framing::Chunked(Chunks::default()), "1\r\nx\r\n", "x", 6, false, false),
        ] {
            let mut came = Pieces::default();
            assert_eq!(framing.take(bytes.as_bytes(), &mut came), Ok(taken), "{bytes:?}");
            assert_eq!((came.whole(), framing.is_end(), framing.may_end()), (payload.as_bytes(), is_end, may_end));
        }
    }
}
