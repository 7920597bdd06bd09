//! Reading a body: payload as it came, body as it is meant, and every limit on both.

use std::sync::Arc;

use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::body::{Body, Incoming};
use model::Truncation;
use stages::{Stage, time, wait};
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::{Instant, timeout_at};

use crate::budget::Share;
use crate::coding::Decoder;
use crate::failure;
use crate::pace::Pace;

/// A body is decoded in steps of this size.
const STEP_BYTES: usize = 16 * 1024;

/// So much of a payload a decoder is given at a time: the ratio of what it has decoded is judged by what it was given.
const GIVEN_BYTES: usize = 4 * 1024;

/// The first growth of a buffer, where nobody says how much is to come.
const GROWTH_BYTES: usize = 16 * 1024;

/// The first growth of a buffer if so much is said to come: nearly all pages fit, and are moved no more.
const GROWTH_BYTES_TOLD: usize = 256 * 1024;

/// By how many times what has come a buffer grows after that, as far as so much is said to come.
const GROWTH_TOLD: usize = 7;

/// Up to this size a body may be as repetitive as it likes: the decompression ratio is for the large ones.
const RATIO_FREE_BYTES: usize = 64 * 1024;

/// A body on its way in.
pub(crate) struct Collector {
    payload: Vec<u8>,
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
}

/// Why a body ends before its end, and in words.
struct Cut(Truncation, String);

/// A body that has come.
#[derive(Debug)]
pub(crate) struct Collected {
    /// As received, without transfer coding.
    pub(crate) payload: Bytes,
    /// Decoded; the same bytes as the payload where there was no coding.
    pub(crate) body: Bytes,
    /// Set where the payload, or what it decodes to, is not all there was. The connection is of no use then.
    pub(crate) truncated: Option<Truncation>,
    /// What was odd.
    pub(crate) notes: Vec<String>,
}

impl Collected {
    /// A body that is not read; the note says why.
    pub(crate) fn unwanted(note: String) -> Self {
        Collected {
            payload: Bytes::new(),
            body: Bytes::new(),
            truncated: Some(Truncation::Unwanted),
            notes: vec![note],
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
            payload: Vec::new(),
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
        }
    }

    /// Reads to the end, or to the first limit.
    pub(crate) async fn collect(mut self, incoming: Incoming) -> Collected {
        let received = self.receive(incoming).await;
        let decoded = self.decode_rest().await;
        self.finish(decoded.and(received))
    }

    async fn receive(&mut self, mut incoming: Incoming) -> Result<(), Cut> {
        loop {
            if let Some(reason) = self.pace.verdict(Instant::now()) {
                return Err(Cut(Truncation::Time, reason));
            }
            let Ok(frame) = timeout_at(self.pace.next_check(), wait(Stage::Transfer, incoming.frame())).await else {
                continue;
            };
            let Some(frame) = frame else { return Ok(()) };
            if let Ok(data) = frame.map_err(|error| broken(&error))?.into_data() {
                let expected = incoming.size_hint().exact().and_then(|left| usize::try_from(left).ok());
                self.take(&data, expected).await?;
            }
        }
    }

    async fn take(&mut self, data: &[u8], expected_after: Option<usize>) -> Result<(), Cut> {
        self.pace.received(data.len());
        let kept = &data[..data.len().min(self.bytes_max - self.payload.len())];
        let waited = self.share.grow(kept.len()).await;
        self.pace.waited(waited);
        append(&mut self.payload, kept, expected_after.map(|bytes| bytes.min(self.bytes_max)));
        if !self.decoder.as_ref().is_some_and(|decoder| decoder.awaits_whole(self.payload.len())) {
            self.decode().await?;
        }
        if kept.len() < data.len() {
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
        let member = self.decoder.as_ref().and_then(|decoder| decoder.member(&self.payload));
        let body_bytes_max = self.bytes_max.min(self.bytes_max_by_ratio(self.payload.len()));
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
            let given_bytes = self.payload.len().min((self.read_bytes / GIVEN_BYTES + 1) * GIVEN_BYTES);
            let mut source = &self.payload[self.read_bytes..given_bytes];
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
        append(&mut self.body, kept, None);
        let reason = if kept.len() < decoded.len() {
            format!("longer than {} bytes when decoded", self.bytes_max)
        } else if self.body.len() > self.bytes_max_by_ratio(payload_bytes) {
            format!("decompression ratio over {}", self.ratio_max)
        } else {
            return Ok(());
        };
        Err(Cut(Truncation::Length, reason))
    }

    /// What so much of a payload may decode to.
    fn bytes_max_by_ratio(&self, payload_bytes: usize) -> usize {
        RATIO_FREE_BYTES.max(payload_bytes.saturating_mul(self.ratio_max))
    }

    fn finish(mut self, end: Result<(), Cut>) -> Collected {
        let ended_early = self.decoder.is_some_and(|decoder| !decoder.at_end()) && !self.payload.is_empty();
        let truncated = match end {
            Err(Cut(truncation, reason)) => {
                self.notes.push(reason);
                Some(truncation)
            }
            Ok(()) => {
                self.notes.extend(ended_early.then(|| "compressed data ended early".to_owned()));
                None
            }
        };
        let permit = self.share.finish(self.payload.len() + self.body.len());
        let payload = held(self.payload, permit.clone());
        let body = if self.coded { held(self.body, permit) } else { payload.clone() };
        Collected { payload, body, truncated, notes: self.notes }
    }
}

fn broken(error: &hyper::Error) -> Cut {
    let reason = if failure::is_disconnect(error) {
        "connection ended within the body".to_owned()
    } else {
        format!("broken body: {}", failure::chain(error))
    };
    Cut(Truncation::Disconnect, reason)
}

/// Appends without growing the buffer much beyond what is known to come.
fn append(buffer: &mut Vec<u8>, bytes: &[u8], expected_after: Option<usize>) {
    if buffer.capacity() - buffer.len() < bytes.len() {
        let growth = match expected_after {
            Some(expected) => buffer.len().saturating_mul(GROWTH_TOLD).max(GROWTH_BYTES_TOLD).min(expected),
            None => buffer.len().max(GROWTH_BYTES),
        };
        buffer.reserve_exact(bytes.len().saturating_add(growth));
    }
    buffer.extend_from_slice(bytes);
}

/// Bytes that give their part of the budget back when the last who holds them lets go.
fn held(mut bytes: Vec<u8>, permit: Option<Arc<OwnedSemaphorePermit>>) -> Bytes {
    struct Held(Vec<u8>, #[expect(dead_code, reason = "held, not read")] Option<Arc<OwnedSemaphorePermit>>);
    impl AsRef<[u8]> for Held {
        fn as_ref(&self) -> &[u8] {
            &self.0
        }
    }
    if bytes.is_empty() {
        return Bytes::new();
    }
    if bytes.capacity() - bytes.len() > bytes.len() / 4 {
        bytes.shrink_to_fit();
    }
    Bytes::from_owner(Held(bytes, permit))
}

#[cfg(test)]
mod tests;
