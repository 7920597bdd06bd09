//! The table of images.

use dataset::Column;
use dataset::schema::Table;
use postgres::Transaction;
use postgres::types::Type;
use weburl::UrlKey;

use super::copy::Copy;
use super::{Export, Failed, Shortened};

/// Rows by page and place. The bytes of a fetched image are in the first row about it; those of a `data:` URI in its row.
const JOIN: &str = "
    INSERT INTO image (id, page_id, filename, content_type, data, accessed_time)
    SELECT row_number() OVER (ORDER BY page_key.id, found.place), page_key.id, found.filename,
           coalesce(fetched.content_type, found.content_type),
           CASE WHEN found.key IS NULL THEN found.data
                WHEN row_number() OVER (PARTITION BY found.key ORDER BY page_key.id, found.place) = 1 THEN fetched.data
           END,
           CASE WHEN found.key IS NULL THEN page.accessed_time ELSE fetched.accessed_time END
    FROM found_image found
        JOIN page_key ON page_key.key = found.page_key
        JOIN page ON page.id = page_key.id
        LEFT JOIN fetched_image fetched ON fetched.key = found.key
    ORDER BY 1";

/// Fills the table.
///
/// # Errors
/// The dataset cannot be read, or the database refuses something.
pub(super) fn write(
    export: &Export<'_, '_>,
    into: &mut Transaction<'_>,
    shortened: &mut Shortened,
) -> Result<(), Failed> {
    let columns = [
        ("place", Type::INT8),
        ("page_key", Type::BYTEA),
        ("key", Type::BYTEA),
        ("filename", Type::TEXT),
        ("content_type", Type::TEXT),
        ("data", Type::BYTEA),
    ];
    let mut place: i64 = 0;
    let mut copy = Copy::into(into, "found_image", &columns)?;
    for batch in export.crawl.table(Table::Images, &["source_key", "url_key", "url", "declared_type", "data"])? {
        let batch = batch?;
        for row in 0..batch.num_rows() {
            place += 1;
            let Some(page) = batch.key("source_key", row).map(UrlKey::to_bytes) else { continue };
            let key = batch.key("url_key", row).map(UrlKey::to_bytes);
            let filename = batch.text("url", row).map(|url| shortened.filename(filename(url)));
            let content_type = batch.text("declared_type", row).map(|declared| shortened.content_type(declared));
            copy.row(&[
                &place,
                &&page[..],
                &key.as_ref().map(|key| &key[..]),
                &filename,
                &content_type,
                &batch.bytes("data", row),
            ])?;
        }
    }
    copy.finish()?;
    into.batch_execute("ANALYZE page_key; ANALYZE found_image; ANALYZE fetched_image")?;
    into.batch_execute(JOIN)?;
    Ok(())
}

/// The last part of a URL's path.
fn filename(url: &str) -> &str {
    let path = url.split(['?', '#']).next().unwrap_or(url);
    path.rsplit('/').next().unwrap_or(path)
}
