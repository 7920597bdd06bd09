//! Content coding undone in a stream, in bounded steps (RFC 9110 §8.4).
//!
//! The caller gives bytes as they come and asks for output into a buffer of its own size, so that a few bytes from
//! the web never become many in memory before anyone looks. A gzip payload that is there as a whole says how many they are, and
//! is decoded at once where that is little enough ([`Member`]).

mod brotli;
mod inflate;
mod member;
mod zstandard;

use inflate::Format;
use member::Member;

/// How many codings in a row are undone; the web uses one.
const CODINGS_MAX: usize = 4;

/// A gzip payload is decoded as a whole up to this size, and as a stream beyond it: a thread that serves other connections
/// too does nothing else meanwhile.
const WHOLE_BYTES_MAX: usize = 1024 * 1024;

/// Room between two codings in a row.
const BETWEEN_BYTES: usize = 16 * 1024;

/// The data cannot be decoded further; the words say why.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Broken(pub(crate) String);

/// One coding, which remembers where it is.
trait Coding: Send {
    /// Reads from `input`, writes to `output`. No progress on either side means that more input is needed.
    fn step(&mut self, input: &[u8], output: &mut [u8]) -> Result<Step, Broken>;

    /// True if the data could end here.
    fn at_end(&self) -> bool;
}

/// How far a step went, in bytes.
struct Step {
    read: usize,
    written: usize,
}

/// The codings of one body, undone one after the other.
pub(crate) struct Decoder {
    stages: Vec<Stage>,
}

struct Stage {
    name: String,
    coding: Box<dyn Coding>,
    /// What the stage before has decoded and this one has not read. Empty for the first, which reads the source.
    waiting: Box<[u8]>,
    start: usize,
    end: usize,
}

impl Decoder {
    /// The decoder for the values of Content-Encoding, in their order. `Ok(None)` if there is nothing to decode.
    ///
    /// # Errors
    /// The first coding that is not known, or the one that is too many: then nothing is decoded.
    pub(crate) fn for_fields<'a>(values: impl Iterator<Item = &'a str>) -> Result<Option<Self>, Broken> {
        let mut stages = Vec::new();
        for value in values {
            for name in value.split(',').map(|name| name.trim().to_ascii_lowercase()) {
                if name.is_empty() || name == "identity" {
                    continue;
                }
                if stages.len() == CODINGS_MAX {
                    return Err(Broken(format!("more than {CODINGS_MAX} content codings, not decoded")));
                }
                let coding = coding(&name)?;
                stages.push(Stage { name, coding, waiting: Box::default(), start: 0, end: 0 });
            }
        }
        // They are named in the order in which they were applied; undone they are from the last.
        stages.reverse();
        for stage in stages.iter_mut().skip(1) {
            stage.waiting = vec![0; BETWEEN_BYTES].into();
        }
        Ok((!stages.is_empty()).then_some(Decoder { stages }))
    }

    /// Reads from the front of `source` and writes what comes out to `output`; returns how many bytes that are. With
    /// none, `source` is used up.
    pub(crate) fn decode(&mut self, source: &mut &[u8], output: &mut [u8]) -> Result<usize, Broken> {
        pull(&mut self.stages, source, output)
    }

    /// True if a payload that has come as far as `payload_bytes` should not be decoded before all of it is there.
    pub(crate) fn awaits_whole(&self, payload_bytes: usize) -> bool {
        let is_gzip = matches!(&self.stages[..], [stage] if matches!(stage.name.as_str(), "gzip" | "x-gzip"));
        is_gzip && payload_bytes <= WHOLE_BYTES_MAX
    }

    /// All of a payload, where it can be decoded at once. The bytes are those of [`Decoder::decode`].
    pub(crate) fn member<'a>(&self, payload: &'a [u8]) -> Option<Member<'a>> {
        if self.awaits_whole(payload.len()) { Member::of(payload) } else { None }
    }

    /// True if the decoded data could end here.
    pub(crate) fn at_end(&self) -> bool {
        self.stages.iter().all(|stage| stage.coding.at_end())
    }
}

fn coding(name: &str) -> Result<Box<dyn Coding>, Broken> {
    Ok(match name {
        "gzip" | "x-gzip" => Box::new(inflate::Inflate::new(Format::Gzip)),
        "deflate" => Box::new(inflate::Inflate::new(Format::Deflate)),
        "br" => Box::new(brotli::Brotli::new()),
        "zstd" => Box::new(zstandard::Zstandard::new()?),
        _ => return Err(Broken(format!("content coding `{}` is not known, not decoded", name.escape_debug()))),
    })
}

/// Makes the last of `stages` give output. Recursion goes over the stages, of which there are few.
fn pull(stages: &mut [Stage], source: &mut &[u8], output: &mut [u8]) -> Result<usize, Broken> {
    let Some((stage, before)) = stages.split_last_mut() else { return Ok(0) };
    if before.is_empty() {
        let (read, written) = stage.run(source, output)?;
        *source = &source[read..];
        return Ok(written);
    }
    loop {
        if stage.start == stage.end {
            stage.start = 0;
            stage.end = pull(before, source, &mut stage.waiting)?;
        }
        let waiting = std::mem::take(&mut stage.waiting);
        let outcome = stage.run(&waiting[stage.start..stage.end], output);
        stage.waiting = waiting;
        let (read, written) = outcome?;
        stage.start += read;
        if written > 0 || stage.start < stage.end || stage.end == 0 {
            return Ok(written);
        }
    }
}

impl Stage {
    /// Steps until there is output, or `input` is used up.
    fn run(&mut self, input: &[u8], output: &mut [u8]) -> Result<(usize, usize), Broken> {
        let mut read = 0;
        loop {
            let step = self.coding.step(&input[read..], output);
            let step = step.map_err(|broken| Broken(format!("broken {} data: {}", self.name, broken.0)))?;
            read += step.read;
            if step.written > 0 || step.read == 0 || read == input.len() {
                return Ok((read, step.written));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Whatever comes, decoding ends, and reads all of it or says why not.
    fn check(codings: &str, data: &[u8], step_bytes: usize) {
        let Ok(Some(mut decoder)) = Decoder::for_fields([codings].into_iter()) else { panic!("{codings}") };
        let (mut source, mut output, mut decoded) = (data, vec![0; step_bytes], 0);
        while decoded < 1 << 20 {
            match decoder.decode(&mut source, &mut output) {
                Ok(0) => return assert!(source.is_empty(), "{codings}: {} bytes left", source.len()),
                Ok(length) => decoded += length,
                Err(_) => return,
            }
        }
    }

    fn codings() -> impl Strategy<Value = &'static str> {
        prop::sample::select(vec!["gzip", "deflate", "br", "zstd", "br, gzip", "zstd, br, deflate"])
    }

    proptest! {
        #[test]
        fn any_bytes_are_decoded_to_an_end(
            codings in codings(),
            data in prop::collection::vec(any::<u8>(), 0..300),
            step_bytes in 1..5000usize,
        ) {
            check(codings, &data, step_bytes);
        }

        #[test]
        fn damaged_data_is_decoded_to_an_end(
            text in "[a-e ]{0,400}",
            damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
            step_bytes in 1..5000usize,
        ) {
            let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
            std::io::Write::write_all(&mut gzip, text.as_bytes()).expect("memory");
            let brotli = b"\x1b\x46\x00\x50\x8d\x94\x6e\xe6\x22\x90\x93\xa5\xfa\x75\xd3\x92\x10\x0d\x41\x53\x50\x61";
            let zstd = zstd::encode_all(text.as_bytes(), 3).expect("memory");
            for (coding, mut data) in
                [("gzip", gzip.finish().expect("memory")), ("zstd", zstd), ("br", brotli.to_vec())]
            {
                for (place, byte) in &damage {
                    let place = place.index(data.len());
                    data[place] = *byte;
                }
                check(coding, &data, step_bytes);
            }
        }
    }
}
