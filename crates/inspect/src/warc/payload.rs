//! The payload of a record as bytes: transfer coding and content coding undone, in bounded memory.

use std::io::{self, BufRead, BufReader, Read, Write};

use ::warc::{Chunked, HttpHead, Reader, is_chunked};
use anyhow::anyhow;

use super::place::{Place, failed};
use super::record::{http_head, no_record};

/// Bytes handed on at a time.
const COPY_BYTES: usize = 64 << 10;

/// Codings undone one after the other, as many as a fetch undoes.
const CODINGS_MAX: usize = 4;

/// Bytes of a brotli decoder's input buffer.
const BROTLI_BUFFER_BYTES: usize = 16 << 10;

/// Writes the payload of the record at an offset, its codings undone. `unknown` gets the name of a content coding that stays: it is not known.
///
/// # Errors
/// There is no whole record, its payload cannot be decoded to the end, or `out` fails. What can be decoded is written before.
pub fn write_payload(
    place: &Place,
    offset: u64,
    out: &mut impl Write,
    unknown: impl FnOnce(&str),
) -> anyhow::Result<()> {
    let mut reader = Reader::new(place.open(offset)?, offset);
    let record = reader.next_record().map_err(|error| failed(place, error))?;
    let mut record = record.ok_or_else(|| no_record(place, offset))?;
    let head = http_head(&mut record).map_err(|error| failed(place, error))?;
    if !record.fill_buf()?.is_empty() {
        let mut payload = decoded(&mut record, head.as_ref(), unknown)?;
        copy(&mut payload, place, out)?;
    }
    record.finish().map_err(|error| failed(place, error))?;
    Ok(())
}

/// Copies to the end. What can be decoded is written, also where an error follows.
fn copy(payload: &mut dyn Read, place: &Place, out: &mut impl Write) -> anyhow::Result<()> {
    let mut buffer = vec![0; COPY_BYTES];
    loop {
        match payload.read(&mut buffer) {
            Ok(0) => return Ok(()),
            Ok(length) => out.write_all(&buffer[..length])?,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => {
                out.flush()?;
                return Err(anyhow!("{place}: the payload cannot be decoded further: {error}"));
            }
        }
    }
}

/// Undoes the codings that the head names. One that is not known is left, with all before it.
fn decoded<'r>(
    payload: impl BufRead + 'r,
    head: Option<&HttpHead>,
    unknown: impl FnOnce(&str),
) -> io::Result<Box<dyn BufRead + 'r>> {
    let names = |field| head.and_then(|head: &HttpHead| head.get(field)).unwrap_or_default().to_ascii_lowercase();
    let mut payload: Box<dyn BufRead + 'r> = Box::new(payload);
    let begin = payload.fill_buf()?;
    if head.is_some_and(|head| is_chunked(head, begin)) {
        payload = Box::new(BufReader::new(Chunked::new(payload)));
    }
    // They are named in the order in which they were applied.
    for name in names("Content-Encoding").rsplit(',').map(str::trim).take(CODINGS_MAX) {
        payload = match name {
            "" | "identity" => payload,
            "gzip" | "x-gzip" => Box::new(BufReader::new(flate2::bufread::MultiGzDecoder::new(payload))),
            "deflate" => deflate(payload)?,
            "br" => Box::new(BufReader::new(brotli_decompressor::Decompressor::new(payload, BROTLI_BUFFER_BYTES))),
            "zstd" => Box::new(BufReader::new(zstd::stream::read::Decoder::with_buffer(payload)?)),
            name => {
                unknown(name);
                return Ok(payload);
            }
        };
    }
    Ok(payload)
}

/// `deflate` is the zlib format (RFC 9110 §8.4.1.2), but some servers send the bare data without it.
fn deflate<'r>(mut payload: Box<dyn BufRead + 'r>) -> io::Result<Box<dyn BufRead + 'r>> {
    // RFC 1950 §2.2: method 8, and the first two bytes a multiple of 31.
    let is_zlib = matches!(payload.fill_buf()?,
        [method, flags, ..] if method & 0x0f == 8 && u16::from_be_bytes([*method, *flags]).is_multiple_of(31));
    Ok(if is_zlib {
        Box::new(BufReader::new(flate2::bufread::ZlibDecoder::new(payload)))
    } else {
        Box::new(BufReader::new(flate2::bufread::DeflateDecoder::new(payload)))
    })
}
