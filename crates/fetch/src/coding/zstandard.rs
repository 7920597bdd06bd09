//! Zstandard (RFC 8878).

use zstd::stream::raw::{DParameter, Decoder, Operation};

use super::{Broken, Coding, Step};

/// Base-2 logarithm of the largest window a content coding may ask for: 8 MiB (RFC 9659 §3).
const WINDOW_LOG_MAX: u32 = 23;

pub(super) struct Zstandard {
    stream: Decoder<'static>,
    ended: bool,
}

impl Zstandard {
    pub(super) fn new() -> Result<Self, Broken> {
        let broken = |error: std::io::Error| Broken(format!("zstd decoder: {error}"));
        let mut stream = Decoder::new().map_err(broken)?;
        stream.set_parameter(DParameter::WindowLogMax(WINDOW_LOG_MAX)).map_err(broken)?;
        Ok(Zstandard { stream, ended: false })
    }
}

impl Coding for Zstandard {
    fn step(&mut self, input: &[u8], output: &mut [u8]) -> Result<Step, Broken> {
        if self.ended && input.is_empty() {
            return Ok(Step { read: 0, written: 0 });
        }
        let status = self.stream.run_on_buffers(input, output).map_err(|error| Broken(error.to_string()))?;
        // Frames may follow each other (RFC 8878 §3.1): the decoder goes on with the next by itself.
        self.ended = status.remaining == 0;
        Ok(Step { read: status.bytes_read, written: status.bytes_written })
    }

    fn at_end(&self) -> bool {
        self.ended
    }
}
