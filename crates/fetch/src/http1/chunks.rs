//! The chunked transfer coding undone, in bytes that come bit by bit (RFC 9112 §7.1).

use crate::pieces::Pieces;

/// Bytes of all chunk extensions, and of all trailers, which are ignored.
const ASIDE_BYTES_MAX: usize = 16 * 1024;

/// Where in a chunked body we are. Lines may end in LF alone, which leaves no doubt.
#[derive(Debug, Default)]
pub(super) struct Chunks {
    place: Place,
    /// What is left of a chunk.
    left: u64,
    /// Bytes of extensions and trailers so far.
    aside_bytes: usize,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Place {
    /// Before the first digit of a size.
    #[default]
    Begin,
    Size,
    /// After the size, to the end of the line.
    Extension,
    Data,
    /// The line end after a chunk's data.
    DataEnd,
    /// After the last chunk; whether the line has bytes.
    Trailer {
        line_has_bytes: bool,
    },
    End,
}

impl Chunks {
    /// True after the last byte of the body.
    pub(super) fn is_end(&self) -> bool {
        self.place == Place::End
    }

    /// True if all data has come, though perhaps not all trailers.
    pub(super) fn has_all_data(&self) -> bool {
        matches!(self.place, Place::Trailer { .. } | Place::End)
    }

    /// Appends the data in `bytes` to `payload`; returns how many bytes belong to the body: all, or those up to its end.
    ///
    /// # Errors
    /// What is wrong, in words. Data before it is appended.
    pub(super) fn take(&mut self, bytes: &[u8], payload: &mut Pieces) -> Result<usize, &'static str> {
        let mut at = 0;
        while at < bytes.len() && self.place != Place::End {
            if self.place == Place::Data {
                let length = usize::try_from(self.left).unwrap_or(usize::MAX).min(bytes.len() - at);
                payload.append(&bytes[at..at + length], None);
                at += length;
                self.left -= length as u64;
                if self.left == 0 {
                    self.place = Place::DataEnd;
                }
            } else {
                self.step(bytes[at])?;
                at += 1;
            }
        }
        Ok(at)
    }

    fn step(&mut self, byte: u8) -> Result<(), &'static str> {
        self.place = match (self.place, byte) {
            (Place::Begin | Place::Size, _) if byte.is_ascii_hexdigit() => {
                let digit = char::from(byte).to_digit(16).map_or(0, u64::from);
                let size = self.left.checked_mul(16).and_then(|size| size.checked_add(digit));
                self.left = size.ok_or("chunk size too large")?;
                Place::Size
            }
            (Place::Size | Place::Extension, b'\n') if self.left == 0 => Place::Trailer { line_has_bytes: false },
            (Place::Size | Place::Extension, b'\n') => Place::Data,
            (Place::Size, b'\r' | b';' | b' ' | b'\t') => Place::Extension,
            (Place::Begin | Place::Size, _) => return Err("invalid chunk size"),
            (Place::Extension, _) => self.aside(Place::Extension)?,
            (Place::DataEnd, b'\r') => Place::DataEnd,
            (Place::DataEnd, b'\n') => Place::Begin,
            (Place::DataEnd, _) => return Err("chunk longer than its size"),
            (Place::Trailer { line_has_bytes: false }, b'\n') => Place::End,
            (Place::Trailer { .. }, b'\n') => self.aside(Place::Trailer { line_has_bytes: false })?,
            (Place::Trailer { line_has_bytes }, b'\r') => self.aside(Place::Trailer { line_has_bytes })?,
            (Place::Trailer { .. }, _) => self.aside(Place::Trailer { line_has_bytes: true })?,
            (place @ (Place::Data | Place::End), _) => place,
        };
        Ok(())
    }

    fn aside(&mut self, next: Place) -> Result<Place, &'static str> {
        self.aside_bytes += 1;
        if self.aside_bytes > ASIDE_BYTES_MAX { Err("chunk extensions or trailers too long") } else { Ok(next) }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// What a body is read as, in pieces of that many bytes: data, whether it is at its end, how many bytes are
    /// not part of it; or what is wrong.
    fn read(bytes: &[u8], step_bytes: usize) -> (String, Result<(bool, usize), &'static str>) {
        let (mut chunks, mut payload, mut left) = (Chunks::default(), Pieces::default(), bytes.len());
        for piece in bytes.chunks(step_bytes) {
            match chunks.take(piece, &mut payload) {
                Ok(length) => left -= length,
                Err(wrong) => return (String::from_utf8_lossy(payload.whole()).into_owned(), Err(wrong)),
            }
        }
        (String::from_utf8_lossy(payload.whole()).into_owned(), Ok((chunks.is_end(), left)))
    }

    #[test]
    fn chunks_are_read_however_the_bytes_are_cut() {
        let long = format!("1;{}\r\nx\r\n", "e".repeat(ASIDE_BYTES_MAX + 1));
        for (bytes, data, expect) in [
            ("5\r\nhello\r\n0\r\n\r\n", "hello", Ok((true, 0))),
            ("5\r\nhello\r\n6\r\n world\r\n0\r\n\r\nHTTP/1.1", "hello world", Ok((true, 8))),
            ("A\r\n0123456789\r\n00\r\n\r\n", "0123456789", Ok((true, 0))),
            ("5;x=y;z\r\nhello\r\n0;last\r\nTrailer: t\r\nOther: o\r\n\r\n", "hello", Ok((true, 0))),
            ("5 \t\r\nhello\r\n0\r\n\r\n", "hello", Ok((true, 0))),
            ("5\nhello\n0\n\n", "hello", Ok((true, 0))),
            ("0\r\n\r\n", "", Ok((true, 0))),
            ("5\r\nhel", "hel", Ok((false, 0))),
            ("5\r\nhello\r\n0\r\nTrailer", "hello", Ok((false, 0))),
            ("\r\n", "", Err("invalid chunk size")),
            ("-1\r\n", "", Err("invalid chunk size")),
            ("5 hello", "", Ok((false, 0))),
            ("5\r\nhello!\r\n", "hello", Err("chunk longer than its size")),
            ("ffffffffffffffffe\r\n", "", Err("chunk size too large")),
            (&long, "", Err("chunk extensions or trailers too long")),
        ] {
            for step_bytes in 1..bytes.len().min(60) {
                assert_eq!(
                    read(bytes.as_bytes(), step_bytes),
                    (data.to_owned(), expect),
                    "{bytes:.60} by {step_bytes}"
                );
            }
        }
    }

    #[test]
    fn endless_trailers_end() {
        let endless = format!("0\r\n{}", "Trailer: t\r\n".repeat(ASIDE_BYTES_MAX));
        assert_eq!(read(endless.as_bytes(), 1000).1, Err("chunk extensions or trailers too long"));
    }

    proptest! {
        #[test]
        fn what_was_cut_into_chunks_is_put_together(
            data in prop::collection::vec("[a-z\r\n]{1,40}", 0..6),
            step_bytes in 1..20usize,
        ) {
            let mut bytes: String = data.iter().map(|data| format!("{:x}\r\n{data}\r\n", data.len())).collect();
            bytes.push_str("0\r\n\r\n");
            prop_assert_eq!(read(bytes.as_bytes(), step_bytes), (data.concat(), Ok((true, 0))));
        }

        #[test]
        fn any_bytes_are_read_to_an_end_or_an_error(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let (mut chunks, mut payload) = (Chunks::default(), Pieces::default());
            if let Ok(read) = chunks.take(&bytes, &mut payload) {
                prop_assert!(read == bytes.len() || chunks.is_end());
            }
        }
    }
}
