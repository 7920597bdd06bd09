//! A payload that was kept with its content coding, decoded again: the same bytes as when it came.

use crate::coding::Decoder;

/// It is decoded in steps of this size.
const STEP_BYTES: usize = 16 * 1024;

/// Undoes the content coding of a payload (RFC 9110 §8.4), up to `bytes_max` bytes. `encodings` are the values of
/// Content-Encoding. As in a fetch: what comes before damage counts, and with a coding that is not known the payload
/// stays as it is.
#[must_use]
pub fn decode<'a>(encodings: impl Iterator<Item = &'a str>, payload: Vec<u8>, bytes_max: usize) -> Vec<u8> {
    let Ok(Some(mut decoder)) = Decoder::for_fields(encodings) else { return payload };
    let mut body = Vec::new();
    let member = decoder.member(&payload).filter(|member| member.length <= bytes_max);
    if member.is_some_and(|member| member.decode(&mut body)) {
        return body;
    }
    let (mut source, mut step) = (&payload[..], vec![0; STEP_BYTES]);
    while let Ok(length @ 1..) = decoder.decode(&mut source, &mut step) {
        body.extend_from_slice(&step[..length.min(bytes_max - body.len())]);
        if body.len() == bytes_max {
            break;
        }
    }
    body
}

/// Whether a payload begins as its content coding says. One without a coding that is known does.
#[must_use]
pub fn is_coded<'a>(encodings: impl Iterator<Item = &'a str>, mut payload: &[u8]) -> bool {
    match Decoder::for_fields(encodings) {
        Ok(Some(mut decoder)) => decoder.decode(&mut payload, &mut [0; STEP_BYTES]).is_ok(),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn check(encoding: &str, payload: &[u8], bytes_max: usize, expect: &[u8]) {
        assert_eq!(decode([encoding].into_iter(), payload.to_vec(), bytes_max), expect, "{encoding} {bytes_max}");
    }

    #[test]
    fn payloads_are_decoded_as_far_as_they_are_sound() {
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
        gzip.write_all(&[b'a'; 50_000]).expect("memory");
        let gzip = gzip.finish().expect("memory");
        check("gzip", &gzip, 100_000, &[b'a'; 50_000]);
        check("gzip", &gzip, 20_000, &[b'a'; 20_000]);
        check("gzip", b"no gzip", 100, b"");
        for (encoding, payload, expect) in
            [("gzip", &*gzip, true), ("gzip", b"no gzip", false), ("", b"plain", true), ("unheard-of", b"coded", true)]
        {
            assert_eq!(is_coded([encoding].into_iter(), payload), expect, "{encoding}");
        }
        check("gzip", b"", 100, b"");
        check("", b"plain", 100, b"plain");
        check("unheard-of", b"coded", 100, b"coded");
    }
}
