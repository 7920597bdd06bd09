//! What is not HTML: the table of page data, and images that were fetched.

use model::{Outcome, Visit};
use postgres::Transaction;
use postgres::types::Type;

use super::copy::{Copy, time};
use super::{Export, Failed, Shortened, codes};

/// Fills both tables.
///
/// # Errors
/// The crawl cannot be read, or the database refuses something.
pub(super) fn write(
    export: &Export<'_, '_>,
    into: &mut Transaction<'_>,
    shortened: &mut Shortened,
) -> Result<(), Failed> {
    write_documents(export, into, shortened)?;
    write_fetched_images(export, into, shortened)
}

/// A row for every document, those that repeat another among them: each has its bytes, since a filter may leave the first out.
fn write_documents(
    export: &Export<'_, '_>,
    into: &mut Transaction<'_>,
    shortened: &mut Shortened,
) -> Result<(), Failed> {
    let columns =
        [("id", Type::INT4), ("page_id", Type::INT4), ("data_type_code", Type::VARCHAR), ("data", Type::BYTEA)];
    let mut replay = export.crawl.replay();
    let mut copy = Copy::into(into, "page_data", &columns)?;
    let mut data_id: i32 = 0;
    export.pages(&mut |_| {}, |id, selected| {
        if selected.entry.visit.as_ref().and_then(Visit::kind) != Some(Outcome::Binary) {
            return Ok(());
        }
        data_id += 1;
        let body = selected.answer(&mut replay)?.map(|answer| answer.body(export.body_bytes_max()));
        let url = &selected.entry.candidate.url;
        let (declared, bytes) = (selected.row.content_type.as_deref(), body.as_deref().unwrap_or_default());
        let code = codes::data_type(url, declared, bytes, shortened);
        copy.row(&[&data_id, &id, &code, &body])
    })?;
    copy.finish()
}

/// What was fetched and declared as an image, for the pages that show it.
fn write_fetched_images(
    export: &Export<'_, '_>,
    into: &mut Transaction<'_>,
    shortened: &mut Shortened,
) -> Result<(), Failed> {
    let columns =
        [("key", Type::BYTEA), ("content_type", Type::TEXT), ("data", Type::BYTEA), ("accessed_time", Type::TIMESTAMP)];
    let mut replay = export.crawl.replay();
    let mut copy = Copy::into(into, "fetched_image", &columns)?;
    export.pages(&mut |_| {}, |_, selected| {
        let row = &selected.row;
        let declared = row.content_type.as_deref().unwrap_or_default();
        let is_document = selected.entry.visit.as_ref().and_then(Visit::kind) == Some(Outcome::Binary);
        if !is_document || !declared.to_ascii_lowercase().starts_with("image/") {
            return Ok(());
        }
        let body = selected.answer(&mut replay)?.map(|answer| answer.body(export.body_bytes_max()));
        let key = selected.entry.candidate.url.key().to_bytes();
        copy.row(&[&&key[..], &shortened.content_type(declared), &body, &row.at.map(time)])
    })?;
    copy.finish()
}
