//! What is known of the robots.txt of a site, in a table of its own.

use model::{Renewal, RobotsAnswer, RobotsRecord, Timestamp, Validators};
use store::StoreError;

use super::{HAS_ETAG, HAS_LAST_MODIFIED, RECORD_VERSION, decode_validators, flag, url};
use crate::bytes::{Decoder, Encoder};
use crate::failure::{decode_failure, encode_failure};
use crate::packed;

const ROBOTS_STATUS: u8 = 0;
const ROBOTS_FAILED: u8 = 1;
/// A status with a body that is not all there was.
const ROBOTS_CUT: u8 = 2;
/// The same two with a body that is compressed.
const ROBOTS_STATUS_PACKED: u8 = 3;
const ROBOTS_CUT_PACKED: u8 = 4;

pub(crate) fn encode_robots(record: &RobotsRecord) -> Vec<u8> {
    let mut to = Encoder::new(RECORD_VERSION);
    to.varint(record.fetched_at.0).varint(u64::from(record.failed_tries));
    match &record.answer {
        RobotsAnswer::Status { code, body } => {
            let packed = packed::pack(body);
            let kind = match (&packed, record.is_cut) {
                (None, false) => ROBOTS_STATUS,
                (None, true) => ROBOTS_CUT,
                (Some(_), false) => ROBOTS_STATUS_PACKED,
                (Some(_), true) => ROBOTS_CUT_PACKED,
            };
            to.byte(kind).varint(u64::from(*code)).prefixed(packed.as_deref().unwrap_or(body));
        }
        RobotsAnswer::Failed(failure) => encode_failure(to.byte(ROBOTS_FAILED), failure),
    }
    if let Some(renewal) = &record.renewal {
        let Renewal { validators: Validators { etag, last_modified }, recorded_at, not_modified, url } = &**renewal;
        to.byte(flag(etag.is_some(), HAS_ETAG) | flag(last_modified.is_some(), HAS_LAST_MODIFIED));
        [etag, last_modified].into_iter().flatten().for_each(|validator| {
            to.text(validator);
        });
        to.varint(recorded_at.0).varint(u64::from(*not_modified));
        if let Some(url) = url {
            to.text(url.as_str());
        }
    }
    to.finish()
}

pub(crate) fn decode_robots(bytes: &[u8]) -> Result<RobotsRecord, StoreError> {
    let mut from = Decoder::new("robots", RECORD_VERSION, bytes)?;
    let (fetched_at, failed_tries) = (Timestamp(from.varint()?), from.narrow()?);
    let kind = from.byte()?;
    let answer = match kind {
        ROBOTS_STATUS | ROBOTS_CUT => {
            RobotsAnswer::Status { code: from.narrow()?, body: from.prefixed()?.to_vec().into() }
        }
        ROBOTS_STATUS_PACKED | ROBOTS_CUT_PACKED => {
            let (code, packed) = (from.narrow()?, from.prefixed()?);
            let body = packed::unpack(packed).ok_or_else(|| from.damaged("a file that does not unpack"))?;
            RobotsAnswer::Status { code, body: body.into() }
        }
        ROBOTS_FAILED => RobotsAnswer::Failed(decode_failure(&mut from)?),
        _ => return Err(from.damaged("unknown answer")),
    };
    // Records without it, and those of earlier programs, end before it.
    let renewal = if from.is_at_end() { None } else { Some(Box::new(decode_renewal(&mut from)?)) };
    from.finish()?;
    let is_cut = matches!(kind, ROBOTS_CUT | ROBOTS_CUT_PACKED);
    Ok(RobotsRecord { fetched_at, failed_tries, answer, is_cut, renewal })
}

fn decode_renewal(from: &mut Decoder<'_>) -> Result<Renewal, StoreError> {
    let flags = from.byte()?;
    let validators = decode_validators(flags, from)?;
    let (recorded_at, not_modified) = (Timestamp(from.varint()?), from.narrow()?);
    // Records of files that no redirect led to, and those of earlier programs, end before it.
    let url = if from.is_at_end() { None } else { Some(url(from)?) };
    Ok(Renewal { validators, recorded_at, not_modified, url })
}
