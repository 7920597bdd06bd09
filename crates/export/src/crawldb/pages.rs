//! The table of pages.

use dataset::rows::FRONTIER;
use model::Outcome;
use postgres::Transaction;
use postgres::types::Type;
use replay::RecordedAnswer;

use super::copy::{Copy, time};
use super::sites::Sites;
use super::{Export, Failed, codes, storable};
use crate::Progress;

/// Fills the table, and that of the pages' keys.
///
/// # Errors
/// The crawl cannot be read, or the database refuses something.
pub(super) fn write(
    export: &Export<'_, '_>,
    mut sites: Sites,
    into: &mut Transaction<'_>,
    progress: Progress<'_>,
) -> Result<(), Failed> {
    let mut copy = Copy::into(into, "page_key", &[("key", Type::BYTEA), ("id", Type::INT4)])?;
    export.pages(&mut |_| {}, |id, selected| {
        let key = selected.entry.candidate.url.key().to_bytes();
        copy.row(&[&&key[..], &id])
    })?;
    copy.finish()?;

    let columns = [
        ("id", Type::INT4),
        ("site_id", Type::INT4),
        ("page_type_code", Type::VARCHAR),
        ("url", Type::VARCHAR),
        ("html_content", Type::TEXT),
        ("http_status_code", Type::INT4),
        ("accessed_time", Type::TIMESTAMP),
        ("html_content_hash", Type::TEXT),
    ];
    let mut replay = export.crawl.replay();
    let mut copy = Copy::into(into, "page", &columns)?;
    export.pages(progress, |id, selected| {
        let site = sites.id(selected.entry.candidate.url.key().site)?;
        let row = &selected.row;
        // A duplicate of what is no longer at its original is a page of its own.
        let outcome = selected.entry.visit.as_ref().map(|visit| visit.outcome);
        let is_html = outcome == Some(Outcome::Html);
        let answer = if is_html { selected.answer(&mut replay)? } else { None };
        let html = answer.map(|answer| decoded(&answer, row.content_type.as_deref(), export.body_bytes_max()));
        let status = row.status.map(i32::from);
        let type_code = codes::page_type(outcome.map_or(FRONTIER, Outcome::as_str));
        let digest = row.digest.as_deref().filter(|_| is_html || row.duplicate_of.is_some());
        let html = html.as_deref().map(storable);
        copy.row(&[&id, &site, &type_code, &row.url, &html, &status, &row.at.map(time), &digest])
    })?;
    copy.finish()
}

/// A page as text.
fn decoded(answer: &RecordedAnswer, content_type: Option<&str>, bytes_max: usize) -> String {
    let body = answer.body(bytes_max);
    extract::charset::decide(&body, content_type).encoding.decode(&body).0.into_owned()
}
