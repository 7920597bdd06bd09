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

/// The first growth of a buffer.
const GROWTH_BYTES: usize = 16 * 1024;

/// Up to this size a body may be as repetitive as it likes: the decompression ratio is for the large ones.
const RATIO_FREE_BYTES: usize = 64 * 1024;

/// A body on its way in.
pub(crate) struct Collector {
    payload: Vec<u8>,
    body: Vec<u8>,
    /// With the room into which each step decodes.
    decoder: Option<(Decoder, Box<[u8]>)>,
    coded: bool,
    bytes_max: usize,
    ratio_max: usize,
    share: Share,
    pace: Pace,
    truncated: Option<Truncation>,
    notes: Vec<String>,
}

/// A body that has come.
#[derive(Debug)]
pub(crate) struct Collected {
    /// As received, without transfer coding.
    pub(crate) payload: Bytes,
    /// Decoded; the same bytes as the payload where there was no coding.
    pub(crate) body: Bytes,
    /// Set where the payload is not all there was. The connection is of no use then.
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
            decoder: decoder.map(|decoder| (decoder, vec![0; STEP_BYTES].into())),
            bytes_max: usize::try_from(bytes_max).unwrap_or(usize::MAX),
            ratio_max: usize::try_from(ratio_max).unwrap_or(usize::MAX),
            share,
            pace,
            truncated: None,
            notes,
        }
    }

    /// Reads to the end, or to the first limit.
    pub(crate) async fn collect(mut self, mut incoming: Incoming) -> Collected {
        while self.truncated.is_none() {
            if let Some(reason) = self.pace.verdict(Instant::now()) {
                self.truncate(Truncation::Time, reason);
                break;
            }
            let Ok(frame) = timeout_at(self.pace.next_check(), wait(Stage::Transfer, incoming.frame())).await else {
                continue;
            };
            match frame {
                None => break,
                Some(Ok(frame)) => {
                    if let Ok(data) = frame.into_data() {
                        let expected = incoming.size_hint().exact().and_then(|left| usize::try_from(left).ok());
                        self.take(&data, expected.unwrap_or(usize::MAX)).await;
                    }
                }
                Some(Err(error)) if failure::is_disconnect(&error) => {
                    self.truncate(Truncation::Disconnect, "connection ended within the body".to_owned());
                }
                Some(Err(error)) => {
                    self.truncate(Truncation::Disconnect, format!("broken body: {}", failure::chain(&error)));
                }
            }
        }
        self.finish()
    }

    async fn take(&mut self, data: &[u8], expected_after: usize) {
        self.pace.received(data.len());
        let kept = &data[..data.len().min(self.bytes_max - self.payload.len())];
        let waited = self.share.grow(kept.len()).await;
        self.pace.waited(waited);
        append(&mut self.payload, kept, expected_after.min(self.bytes_max));
        self.decode(kept).await;
        if kept.len() < data.len() {
            self.truncate(Truncation::Length, format!("longer than {} bytes", self.bytes_max));
        }
    }

    async fn decode(&mut self, mut source: &[u8]) {
        let Some((mut decoder, mut output)) = self.decoder.take() else { return };
        loop {
            match time(Stage::Decode, || decoder.decode(&mut source, &mut output)) {
                Ok(0) => break self.decoder = Some((decoder, output)),
                Ok(length) => {
                    let waited = self.share.grow(length).await;
                    self.pace.waited(waited);
                    if !self.take_decoded(&output[..length]) {
                        break;
                    }
                }
                Err(broken) => break self.notes.push(broken.0),
            }
        }
    }

    /// Keeps decoded bytes; false where a limit was reached.
    fn take_decoded(&mut self, decoded: &[u8]) -> bool {
        let kept = &decoded[..decoded.len().min(self.bytes_max - self.body.len())];
        append(&mut self.body, kept, usize::MAX);
        if kept.len() < decoded.len() {
            self.truncate(Truncation::Length, format!("longer than {} bytes when decoded", self.bytes_max));
        } else if self.body.len() > RATIO_FREE_BYTES.max(self.payload.len().saturating_mul(self.ratio_max)) {
            self.truncate(Truncation::Length, format!("decompression ratio over {}", self.ratio_max));
        }
        self.truncated.is_none()
    }

    fn truncate(&mut self, truncation: Truncation, note: String) {
        if self.truncated.is_none() {
            self.truncated = Some(truncation);
            self.notes.push(note);
        }
    }

    fn finish(mut self) -> Collected {
        let cut = self.truncated.is_some() || self.payload.is_empty();
        if self.decoder.is_some_and(|(decoder, _)| !decoder.at_end()) && !cut {
            self.notes.push("compressed data ended early".to_owned());
        }
        let permit = self.share.finish(self.payload.len() + self.body.len());
        let payload = held(self.payload, permit.clone());
        let body = if self.coded { held(self.body, permit) } else { payload.clone() };
        Collected { payload, body, truncated: self.truncated, notes: self.notes }
    }
}

/// Appends without growing the buffer much beyond what is known to come.
fn append(buffer: &mut Vec<u8>, bytes: &[u8], expected_after: usize) {
    if buffer.capacity() - buffer.len() < bytes.len() {
        let growth = buffer.len().max(GROWTH_BYTES).min(expected_after);
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
