//! gzip (RFC 1952) and deflate, which the web sends with a zlib head (RFC 1950) and without (RFC 1951).

use flate2::{Decompress, FlushDecompress, Status};

use super::{Broken, Coding, Step};

/// Base-2 logarithm of the window that every gzip and zlib stream may use.
const WINDOW_BITS: u8 = 15;

/// The first byte of a gzip member (RFC 1952 §2.3.1).
const GZIP_MAGIC: u8 = 0x1f;

/// What is around the deflate data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    /// A gzip head, and maybe more members after the first.
    Gzip,
    /// A zlib head or nothing: the first byte tells.
    Deflate,
}

pub(super) struct Inflate {
    format: Format,
    state: State,
    broken: Option<Broken>,
}

enum State {
    Unread,
    Within(Decompress),
    Ended,
}

impl Inflate {
    pub(super) fn new(format: Format) -> Self {
        Inflate { format, state: State::Unread, broken: None }
    }

    /// The decoder for data that begins with `first`.
    fn open(&self, first: u8) -> Decompress {
        match self.format {
            Format::Gzip => Decompress::new_gzip(WINDOW_BITS),
            // A zlib head begins with the method, 8, and a window of at most 7 (RFC 1950 §2.2). Deflate data beginning
            // so would be a stored block with padding that is not zero, which nobody writes.
            Format::Deflate => Decompress::new(first & 0x0f == 8 && first >> 4 <= 7),
        }
    }
}

impl Coding for Inflate {
    fn step(&mut self, input: &[u8], output: &mut [u8]) -> Result<Step, Broken> {
        if let Some(broken) = self.broken.take() {
            return Err(broken);
        }
        let Some(&first) = input.first() else { return self.inflate(input, output) };
        match self.state {
            State::Unread => self.state = State::Within(self.open(first)),
            State::Ended if self.format == Format::Gzip && first == GZIP_MAGIC => {
                self.state = State::Within(self.open(first));
            }
            // What follows the end is padding or dirt: browsers ignore it too.
            State::Ended => return Ok(Step { read: input.len(), written: 0 }),
            State::Within(_) => {}
        }
        self.inflate(input, output)
    }

    fn at_end(&self) -> bool {
        matches!(self.state, State::Ended)
    }
}

impl Inflate {
    fn inflate(&mut self, input: &[u8], output: &mut [u8]) -> Result<Step, Broken> {
        let State::Within(stream) = &mut self.state else { return Ok(Step { read: 0, written: 0 }) };
        let (read, written) = (stream.total_in(), stream.total_out());
        let status = stream.decompress(input, output, FlushDecompress::None);
        let bytes = |after: u64, before: u64| usize::try_from(after - before).unwrap_or(usize::MAX);
        let step = Step { read: bytes(stream.total_in(), read), written: bytes(stream.total_out(), written) };
        match status {
            Ok(Status::StreamEnd) => self.state = State::Ended,
            Ok(Status::Ok | Status::BufError) => {}
            Err(error) => {
                let broken = Broken(error.message().unwrap_or("cannot be decoded").to_owned());
                if step.written == 0 {
                    return Err(broken);
                }
                // What came before the damage is good: it goes out first.
                self.broken = Some(broken);
            }
        }
        Ok(step)
    }
}
