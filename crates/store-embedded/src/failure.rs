//! Failures as bytes.

use model::{Failure, FailureKind};
use store::StoreError;

use crate::bytes::{Decoder, Encoder};

pub(crate) fn encode_failure(to: &mut Encoder, failure: &Failure) {
    to.byte(failure_code(failure.kind)).text(&failure.detail);
}

pub(crate) fn decode_failure(from: &mut Decoder<'_>) -> Result<Failure, StoreError> {
    let kind = failure_kind(from.byte()?).ok_or_else(|| from.damaged("unknown kind of failure"))?;
    Ok(Failure { kind, detail: from.text()?.to_owned() })
}

/// The byte for a kind of failure. Codes are never reused.
pub(crate) fn failure_code(kind: FailureKind) -> u8 {
    match kind {
        FailureKind::NameNotFound => 1,
        FailureKind::NameServer => 2,
        FailureKind::AddressDenied => 3,
        FailureKind::Connect => 4,
        FailureKind::Tls => 5,
        FailureKind::Timeout => 6,
        FailureKind::Disconnected => 7,
        FailureKind::Protocol => 8,
        FailureKind::HeadTooLarge => 9,
        FailureKind::Busy => 10,
        FailureKind::Internal => 11,
    }
}

/// The inverse of [`failure_code`].
pub(crate) fn failure_kind(code: u8) -> Option<FailureKind> {
    Some(match code {
        1 => FailureKind::NameNotFound,
        2 => FailureKind::NameServer,
        3 => FailureKind::AddressDenied,
        4 => FailureKind::Connect,
        5 => FailureKind::Tls,
        6 => FailureKind::Timeout,
        7 => FailureKind::Disconnected,
        8 => FailureKind::Protocol,
        9 => FailureKind::HeadTooLarge,
        10 => FailureKind::Busy,
        11 => FailureKind::Internal,
        _ => return None,
    })
}
