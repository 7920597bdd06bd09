//! What a text says once an encoding is undone, with the part of the text from which each byte comes.

use data_encoding::BASE64_NOPAD;

/// A text, or what it says in one of its encodings.
pub(crate) struct Written {
    bytes: Vec<u8>,
    /// By bytes, where the part of the text begins from which it comes, and where that ends.
    places: Vec<(usize, usize)>,
}

impl Written {
    pub(crate) fn of(text: &[u8]) -> Self {
        Written { bytes: text.to_vec(), places: (0..text.len()).map(|at| (at, at + 1)).collect() }
    }

    fn with_capacity(bytes: usize) -> Self {
        Written { bytes: Vec::with_capacity(bytes), places: Vec::with_capacity(bytes) }
    }

    /// The bytes, with one form of the space and of the plus sign, which forms send for a space.
    pub(crate) fn folded(&self) -> Vec<u8> {
        self.bytes.iter().map(|byte| if *byte == b'+' { b' ' } else { *byte }).collect()
    }

    /// The part of the text from which so many bytes come.
    pub(crate) fn part(&self, at: usize, length: usize) -> (usize, usize) {
        let places = &self.places[at..at + length];
        let start = places.iter().map(|(start, _)| *start).min().unwrap_or_default();
        (start, places.iter().map(|(_, end)| *end).max().unwrap_or(start))
    }

    /// The text without one layer of percent-encoding and of the escapes of JSON; `None` if it has neither.
    pub(crate) fn unescaped(&self) -> Option<Written> {
        if !self.bytes.iter().any(|byte| matches!(byte, b'%' | b'\\')) {
            return None;
        }
        let mut plain = Written::with_capacity(self.bytes.len());
        let mut at = 0;
        while let Some(rest) = self.bytes.get(at..).filter(|rest| !rest.is_empty()) {
            let (said, length) = escape(rest).unwrap_or((Said::Byte(rest[0]), 1));
            let place = self.part(at, length);
            let mut character = [0; 4];
            let said = match said {
                Said::Byte(byte) => {
                    character[0] = byte;
                    &character[..1]
                }
                Said::Char(said) => said.encode_utf8(&mut character).as_bytes(),
            };
            plain.bytes.extend_from_slice(said);
            plain.places.extend(said.iter().map(|_| place));
            at += length;
        }
        (plain.bytes != self.bytes).then_some(plain)
    }

    /// What is in base64 and in hexadecimal digits, of either form, if it has so many bytes: it may begin at any of the digits. All the
    /// digits that stand together are its part of the text.
    pub(crate) fn decoded(&self, bytes_min: usize) -> Vec<Written> {
        let base64 = self.runs(is_base64, (bytes_min * 4).div_ceil(3));
        let hexadecimal = self.runs(|byte| byte.is_ascii_hexdigit(), bytes_min * 2);
        let base64 = (0..4).filter(|_| !base64.is_empty()).map(|skipped| self.decode(&base64, skipped, of_base64));
        let hexadecimal = (0..2)
            .filter(|_| !hexadecimal.is_empty())
            .map(|skipped| self.decode(&hexadecimal, skipped, of_hexadecimal));
        base64.chain(hexadecimal).collect()
    }

    fn decode(&self, runs: &[(usize, usize)], skipped: usize, decoder: fn(&[u8]) -> Vec<u8>) -> Written {
        let mut plain = Written::with_capacity(0);
        for (start, end) in runs {
            let padding = self.bytes[*end..].iter().take_while(|byte| **byte == b'=').count();
            let place = self.part(*start, end + padding - start);
            plain.bytes.extend(decoder(&self.bytes[start + skipped..*end]));
            // No value reaches from one to the next.
            plain.bytes.push(0);
            plain.places.resize(plain.bytes.len(), place);
        }
        plain
    }

    /// Where so many bytes of a kind or more stand together.
    fn runs(&self, is_of_kind: fn(u8) -> bool, length_min: usize) -> Vec<(usize, usize)> {
        let mut at = 0;
        let runs = self.bytes.chunk_by(|left, right| is_of_kind(*left) == is_of_kind(*right)).map(|run| {
            at += run.len();
            (run, at)
        });
        let fitting =
            runs.filter(|(run, _)| run.len() >= length_min && run.first().is_some_and(|byte| is_of_kind(*byte)));
        fitting.map(|(run, end)| (end - run.len(), end)).collect()
    }
}

/// What an escape says.
enum Said {
    Byte(u8),
    Char(char),
}

/// What the escape at the beginning of a text says, and its length.
fn escape(text: &[u8]) -> Option<(Said, usize)> {
    let byte = |byte| Some((Said::Byte(byte), 2));
    match (text.first()?, text.get(1)?) {
        (b'%', _) => Some((Said::Byte(u8::try_from(hexadecimal(text.get(1..3)?)?).ok()?), 3)),
        (b'\\', b'u') => unit_pair(text),
        (b'\\', b'b') => byte(8),
        (b'\\', b'f') => byte(12),
        (b'\\', b'n') => byte(b'\n'),
        (b'\\', b'r') => byte(b'\r'),
        (b'\\', b't') => byte(b'\t'),
        (b'\\', quoted @ (b'"' | b'\\' | b'/')) => byte(*quoted),
        _ => None,
    }
}

/// The character that one `\uXXXX` says, or two of them together.
fn unit_pair(text: &[u8]) -> Option<(Said, usize)> {
    let unit = |at: usize| {
        let digits = text.get(at..at + 6)?.strip_prefix(b"\\u")?;
        u16::try_from(hexadecimal(digits)?).ok()
    };
    let first = unit(0)?;
    let decoded = |units: &[u16]| char::decode_utf16(units.iter().copied()).next()?.ok();
    match decoded(&[first]) {
        Some(character) => Some((Said::Char(character), 6)),
        None => Some((Said::Char(decoded(&[first, unit(6)?])?), 12)),
    }
}

fn hexadecimal(digits: &[u8]) -> Option<u32> {
    digits.iter().try_fold(0, |number, byte| Some(number * 16 + char::from(*byte).to_digit(16)?))
}

fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'-' | b'_')
}

/// What whole digits of base64 say, of either alphabet.
fn of_base64(digits: &[u8]) -> Vec<u8> {
    let mut digits: Vec<u8> = digits
        .iter()
        .map(|digit| match digit {
            b'-' => b'+',
            b'_' => b'/',
            digit => *digit,
        })
        .collect();
    if digits.len() % 4 == 1 {
        digits.pop();
    }
    // What is cut off has bits that belong to no byte.
    let spare = match (digits.len() % 4, digits.last_mut()) {
        (2, Some(last)) => Some((last, 4)),
        (3, Some(last)) => Some((last, 2)),
        _ => None,
    };
    if let Some((last, bits)) = spare {
        *last = without_low_bits(*last, bits);
    }
    BASE64_NOPAD.decode(&digits).unwrap_or_default()
}

/// A digit of base64 whose lowest bits are zero.
fn without_low_bits(digit: u8, bits: u32) -> u8 {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let value = DIGITS.iter().position(|known| *known == digit).unwrap_or_default();
    DIGITS[value >> bits << bits]
}

fn of_hexadecimal(digits: &[u8]) -> Vec<u8> {
    digits.chunks_exact(2).filter_map(|pair| u8::try_from(hexadecimal(pair)?).ok()).collect()
}
