//! The elements of the encoding: varints, fixed bytes and length-prefixed text.

use store::StoreError;

/// Appends values to a record.
pub(crate) struct Encoder(Vec<u8>);

impl Encoder {
    /// A record that begins with the byte `version`.
    pub(crate) fn new(version: u8) -> Self {
        Encoder(vec![version])
    }

    pub(crate) fn byte(&mut self, byte: u8) -> &mut Self {
        self.0.push(byte);
        self
    }

    /// Seven bits a byte, the lowest first, the high bit set on all but the last (LEB128).
    pub(crate) fn varint(&mut self, mut value: u64) -> &mut Self {
        while value >= 0x80 {
            self.0.push((value & 0x7F) as u8 | 0x80);
            value >>= 7;
        }
        self.byte(value as u8)
    }

    pub(crate) fn fixed(&mut self, bytes: &[u8]) -> &mut Self {
        self.0.extend_from_slice(bytes);
        self
    }

    /// The length as a varint, then the bytes.
    pub(crate) fn prefixed(&mut self, bytes: &[u8]) -> &mut Self {
        self.varint(bytes.len() as u64).fixed(bytes)
    }

    pub(crate) fn text(&mut self, text: &str) -> &mut Self {
        self.prefixed(text.as_bytes())
    }

    pub(crate) fn finish(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.0)
    }
}

/// Reads the values of a record in the order in which they were appended. Any bytes may come in: what does not fit is
/// [`StoreError::Damaged`].
pub(crate) struct Decoder<'a> {
    table: &'static str,
    rest: &'a [u8],
}

impl<'a> Decoder<'a> {
    /// A record of the table `table`, which must begin with the byte `version`.
    pub(crate) fn new(table: &'static str, version: u8, bytes: &'a [u8]) -> Result<Self, StoreError> {
        let mut decoder = Decoder { table, rest: bytes };
        match decoder.byte()? {
            found if found == version => Ok(decoder),
            found => Err(decoder.damaged(&format!("record version {found}, expected {version}"))),
        }
    }

    pub(crate) fn damaged(&self, detail: &str) -> StoreError {
        StoreError::Damaged { table: self.table, detail: detail.to_owned() }
    }

    pub(crate) fn slice(&mut self, length: usize) -> Result<&'a [u8], StoreError> {
        let (taken, rest) = self.rest.split_at_checked(length).ok_or_else(|| self.damaged("it ends early"))?;
        self.rest = rest;
        Ok(taken)
    }

    pub(crate) fn fixed<const LENGTH: usize>(&mut self) -> Result<[u8; LENGTH], StoreError> {
        let mut bytes = [0; LENGTH];
        bytes.copy_from_slice(self.slice(LENGTH)?);
        Ok(bytes)
    }

    pub(crate) fn byte(&mut self) -> Result<u8, StoreError> {
        Ok(self.fixed::<1>()?[0])
    }

    pub(crate) fn varint(&mut self) -> Result<u64, StoreError> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            let bits = u64::from(byte & 0x7F);
            if bits << shift >> shift != bits {
                return Err(self.damaged("a number is too large"));
            }
            value |= bits << shift;
            if byte < 0x80 {
                return Ok(value);
            }
        }
        Err(self.damaged("a number is too long"))
    }

    /// A varint that fits into a narrower type.
    pub(crate) fn narrow<T: TryFrom<u64>>(&mut self) -> Result<T, StoreError> {
        let value = self.varint()?;
        T::try_from(value).map_err(|_| self.damaged("a number is too large"))
    }

    pub(crate) fn prefixed(&mut self) -> Result<&'a [u8], StoreError> {
        let length = self.narrow()?;
        self.slice(length)
    }

    pub(crate) fn text(&mut self) -> Result<&'a str, StoreError> {
        let bytes = self.prefixed()?;
        std::str::from_utf8(bytes).map_err(|_| self.damaged("text that is not UTF-8"))
    }

    /// Whether nothing is left.
    pub(crate) fn is_at_end(&self) -> bool {
        self.rest.is_empty()
    }

    /// Nothing may be left.
    pub(crate) fn finish(self) -> Result<(), StoreError> {
        if self.is_at_end() { Ok(()) } else { Err(self.damaged("bytes behind its end")) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn varints_round_trip_at_their_borders() {
        for value in [0, 1, 0x7F, 0x80, 0x3FFF, 0x4000, u64::from(u32::MAX), u64::MAX - 1, u64::MAX] {
            let bytes = Encoder::new(1).varint(value).finish();
            let mut decoder = Decoder::new("test", 1, &bytes).expect("the version");
            assert_eq!(decoder.varint().expect("a number"), value);
            decoder.finish().expect("the end");
        }
    }

    #[test]
    fn what_does_not_fit_is_damaged() {
        let check = |bytes: &[u8], expect: &str| {
            let read = Decoder::new("test", 1, bytes).and_then(|mut decoder| {
                let text = decoder.text()?.to_owned();
                decoder.finish().map(|()| text)
            });
            let message = read.expect_err(expect).to_string();
            assert_eq!(message, format!("damaged record in test: {expect}"));
        };
        check(&[], "it ends early");
        check(&[2, 0], "record version 2, expected 1");
        check(&[1, 5, b'a'], "it ends early");
        check(&[1, 1, 0xFF], "text that is not UTF-8");
        check(&[1, 1, b'a', 0], "bytes behind its end");
        check(&[1, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 2], "a number is too large");
        check(&[1, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x81, 0], "a number is too long");
    }
}
