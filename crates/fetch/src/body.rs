//! Reading a body: payload as it came, body as it is meant, and every limit on both.

use std::sync::Arc;

use bytes::Bytes;
use model::Truncation;
use stages::{Stage, time, wait};
use tokio::time::{Instant, timeout_at};

use crate::budget::{Kept, Share};
use crate::coding::Decoder;
use crate::connection::Connection;
use crate::pace::Pace;
use crate::pieces::Pieces;
use crate::room::Room;

/// A body is decoded in steps of this size.
const STEP_BYTES: usize = 16 * 1024;

/// So much of a payload a decoder is given at a time: the ratio of what it has decoded is judged by what it was given.
const GIVEN_BYTES: usize = 4 * 1024;

/// Up to this size a body may be as repetitive as it likes: the decompression ratio is for the large ones.
const RATIO_FREE_BYTES: usize = 64 * 1024;

/// A body on its way in.
pub(crate) struct Collector {
    payload: Pieces,
    body: Vec<u8>,
    decoder: Option<Decoder>,
    /// So much of the payload the decoder has read.
    read_bytes: usize,
    /// The room into which it decodes step by step.
    step: Vec<u8>,
    coded: bool,
    bytes_max: usize,
    ratio_max: usize,
    share: Share,
    pace: Pace,
    notes: Vec<String>,
    is_undecoded: bool,
}

/// Why a body ends before its end, and in words.
pub(crate) struct Cut(Truncation, String);

/// A body that has come.
#[derive(Debug)]
pub(crate) struct Collected {
    /// As received, without transfer coding.
    pub(crate) payload: Bytes,
    /// Decoded; the same bytes as the payload without coding.
    pub(crate) body: Bytes,
    /// Set if the payload, or what it decodes to, is not all there was. The connection is of no use then.
    pub(crate) truncated: Option<Truncation>,
    /// What was odd.
    pub(crate) notes: Vec<String>,
    /// The content coding is broken.
    pub(crate) is_undecoded: bool,
}

impl Collected {
    /// A body that is not read; the note says why.
    pub(crate) fn unwanted(note: String) -> Self {
        Collected {
            payload: Bytes::new(),
            body: Bytes::new(),
            truncated: Some(Truncation::Unwanted),
            notes: vec![note],
            is_undecoded: false,
        }
    }
}

impl Collector {
    /// `encodings` are the values of Content-Encoding; `bytes_max` bounds payload and body alike.
    pub(crate) fn new<'a>(
        encodings: impl Iterator<Item = &'a str>,
        bytes_max: u64,
        ratio_max: u32,
        share: Share,
        pace: Pace,
    ) -> Self {
        let (decoder, notes) = match Decoder::for_fields(encodings) {
            Ok(decoder) => (decoder, Vec::new()),
            Err(unknown) => (None, vec![unknown.0]),
        };
        Collector {
            payload: Pieces::default(),
            body: Vec::new(),
            coded: decoder.is_some(),
            decoder,
            read_bytes: 0,
            step: Vec::new(),
            bytes_max: usize::try_from(bytes_max).unwrap_or(usize::MAX),
            ratio_max: usize::try_from(ratio_max).unwrap_or(usize::MAX),
            share,
            pace,
            notes,
            is_undecoded: false,
        }
    }

    /// Reads the body of the last answer over `connection` to its end, or to the first limit.
    pub(crate) async fn collect(&mut self, connection: &mut Connection) -> Result<(), Cut> {
        let received = self.receive(connection).await;
        let decoded = self.decode_rest().await;
        decoded.and(received)
    }

    async fn receive(&mut self, connection: &mut Connection) -> Result<(), Cut> {
        loop {
            if let Some(reason) = self.pace.verdict(Instant::now()) {
                return Err(Cut(Truncation::Time, reason));
            }
            let before = self.payload.len();
            let reading = wait(Stage::Transfer, connection.read(&mut self.payload));
            let Ok(read) = timeout_at(self.pace.next_check(), reading).await else { continue };
            self.taken(before).await?;
            if !read.map_err(|broken| Cut(Truncation::Disconnect, broken.0))? {
                return Ok(());
            }
        }
    }

    /// Judges and decodes what was appended to the payload, which had so many bytes before.
    async fn taken(&mut self, before: usize) -> Result<(), Cut> {
        self.pace.received(self.payload.len() - before);
        let is_longer = self.payload.len() > self.bytes_max;
        self.payload.truncate(self.bytes_max);
        let waited = self.share.grow(self.payload.len() - before).await;
        self.pace.waited(waited);
        if !self.decoder.as_ref().is_some_and(|decoder| decoder.awaits_whole(self.payload.len())) {
            self.decode().await?;
        }
        if is_longer {
            return Err(Cut(Truncation::Length, format!("longer than {} bytes", self.bytes_max)));
        }
        Ok(())
    }

    /// Decodes what was put off until all has come that comes.
    async fn decode_rest(&mut self) -> Result<(), Cut> {
        if self.read_bytes == self.payload.len() || self.decode_whole().await {
            return Ok(());
        }
        self.decode().await
    }

    /// Decodes the payload at once; false where it must be decoded step by step.
    async fn decode_whole(&mut self) -> bool {
        let body_bytes_max = self.bytes_max.min(self.bytes_max_by_ratio(self.payload.len()));
        let payload = self.payload.whole();
        let member = self.decoder.as_ref().and_then(|decoder| decoder.member(payload));
        let Some(member) = member.filter(|member| member.length <= body_bytes_max) else { return false };
        // Where the stream must decode it after all, that is counted twice until the body is finished.
        self.share.grow(member.length).await;
        let is_decoded = time(Stage::Decode, || member.decode(&mut self.body));
        if is_decoded {
            self.decoder = None;
        }
        is_decoded
    }

    /// Decodes what of the payload is not read yet, step by step.
    async fn decode(&mut self) -> Result<(), Cut> {
        let Some(mut decoder) = self.decoder.take() else { return Ok(()) };
        let mut step = std::mem::take(&mut self.step);
        step.resize(STEP_BYTES, 0);
        loop {
            let payload = self.payload.whole();
            let given_bytes = payload.len().min((self.read_bytes / GIVEN_BYTES + 1) * GIVEN_BYTES);
            let mut source = &payload[self.read_bytes..given_bytes];
            let decoded = time(Stage::Decode, || decoder.decode(&mut source, &mut step));
            self.read_bytes = given_bytes - source.len();
            match decoded {
                Ok(0) if source.is_empty() && given_bytes < self.payload.len() => {}
                Ok(0) => break,
                Ok(length) => {
                    let waited = self.share.grow(length).await;
                    self.pace.waited(waited);
                    self.take_decoded(&step[..length], given_bytes)?;
                }
                Err(broken) => {
                    self.notes.push(broken.0);
                    self.is_undecoded = true;
                    return Ok(());
                }
            }
        }
        (self.decoder, self.step) = (Some(decoder), step);
        Ok(())
    }

    /// Keeps decoded bytes, up to a limit. So much of the payload they are of at most.
    fn take_decoded(&mut self, decoded: &[u8], payload_bytes: usize) -> Result<(), Cut> {
        let kept = &decoded[..decoded.len().min(self.bytes_max - self.body.len())];
        self.body.extend_from_slice(kept);
        if kept.len() < decoded.len() {
            Err(Cut(Truncation::Length, format!("longer than {} bytes when decoded", self.bytes_max)))
        } else if self.body.len() > self.bytes_max_by_ratio(payload_bytes) {
            Err(Cut(Truncation::Ratio, format!("decompression ratio over {}", self.ratio_max)))
        } else {
            Ok(())
        }
    }

    /// What so much of a payload may decode to.
    fn bytes_max_by_ratio(&self, payload_bytes: usize) -> usize {
        RATIO_FREE_BYTES.max(payload_bytes.saturating_mul(self.ratio_max))
    }

    /// What has come, with how it ended.
    pub(crate) fn finish(mut self, end: Result<(), Cut>) -> Collected {
        let ended_early = self.decoder.is_some_and(|decoder| !decoder.at_end()) && !self.payload.is_empty();
        let truncated = match end {
            Err(Cut(truncation, reason)) => {
                self.notes.push(reason);
                Some(truncation)
            }
            Ok(()) => {
                self.notes.extend(ended_early.then(|| "compressed data ended early".to_owned()));
                self.is_undecoded |= ended_early;
                None
            }
        };
        let kept = self.share.finish(self.payload.len() + self.body.len());
        let payload = held(self.payload.into_whole(), kept.clone());
        let body = if self.coded { held(self.body.into(), kept) } else { payload.clone() };
        Collected { payload, body, truncated, notes: self.notes, is_undecoded: self.is_undecoded }
    }
}

/// Bytes that give their part of the budget back when the last who holds them lets go.
fn held(mut bytes: Room, kept: Arc<Kept>) -> Bytes {
    struct Held(Room, #[expect(dead_code, reason = "held, not read")] Arc<Kept>);
    impl AsRef<[u8]> for Held {
        fn as_ref(&self) -> &[u8] {
            self.0.as_slice()
        }
    }
    if bytes.as_slice().is_empty() {
        return Bytes::new();
    }
    bytes.shrink();
    Bytes::from_owner(Held(bytes, kept))
}

#[cfg(test)]
mod tests;
