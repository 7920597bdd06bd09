//! Brotli (RFC 7932).

use brotli_decompressor::{BrotliDecompressStream, BrotliResult, BrotliState, StandardAlloc};

use super::{Broken, Coding, Step};

pub(super) struct Brotli {
    state: Box<BrotliState<StandardAlloc, StandardAlloc, StandardAlloc>>,
    total_out: usize,
    ended: bool,
}

impl Brotli {
    pub(super) fn new() -> Self {
        let alloc = StandardAlloc::default;
        let mut state = Box::new(BrotliState::new(alloc(), alloc(), alloc()));
        // "Large window brotli" is no content coding, and would let a head of two bytes ask for a window of 1 GiB.
        state.large_window = false;
        Brotli { state, total_out: 0, ended: false }
    }
}

impl Coding for Brotli {
    fn step(&mut self, input: &[u8], output: &mut [u8]) -> Result<Step, Broken> {
        if self.ended {
            return Ok(Step { read: input.len(), written: 0 });
        }
        let (mut input_left, mut read, mut output_left, mut written) = (input.len(), 0, output.len(), 0);
        let result = BrotliDecompressStream(
            &mut input_left,
            &mut read,
            input,
            &mut output_left,
            &mut written,
            output,
            &mut self.total_out,
            &mut self.state,
        );
        match result {
            BrotliResult::ResultSuccess => self.ended = true,
            BrotliResult::ResultFailure if written == 0 => return Err(Broken("cannot be decoded".to_owned())),
            BrotliResult::ResultFailure | BrotliResult::NeedsMoreInput | BrotliResult::NeedsMoreOutput => {}
        }
        Ok(Step { read, written })
    }

    fn at_end(&self) -> bool {
        self.ended
    }
}
