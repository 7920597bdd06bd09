//! The records of a WARC file, or one of them in full.

mod payload;
mod place;
mod record;

use ::warc::Reader;
use anyhow::anyhow;

use self::place::failed;
use crate::request::Request;

pub use payload::write_payload;
pub use place::Place;
pub use record::{RecordAnswer, Summary, load};

/// The records from the beginning of the file to its end, or to the first damage, which is the last item.
///
/// # Errors
/// The file cannot be opened.
pub fn list(place: &Place) -> anyhow::Result<impl Iterator<Item = anyhow::Result<Summary>>> {
    let mut reader = Reader::new(place.open(0)?, 0);
    let mut is_damaged = false;
    Ok(std::iter::from_fn(move || {
        let next = if is_damaged { None } else { record::next(&mut reader).transpose() }?;
        is_damaged = next.is_err();
        Some(next.map_err(|error| failed(place, error)))
    }))
}

pub(crate) fn answer_request(mut request: Request) -> anyhow::Result<RecordAnswer> {
    let file = request.file()?.ok_or_else(|| anyhow!("\"file\" is missing"))?;
    let offset = request.needed_number("offset")?;
    request.end()?;
    load(&Place { file, offset: Some(offset) }, offset)
}
