//! Anchor texts by the URL they lead to.

use std::path::Path;

use dataset::Column;
use dataset::schema::Table;
use sort::{Sorted, Sorter};
use weburl::UrlKey;

use super::key::text_with_port;
use crate::{Crawl, ExportError};

/// The kind of link that has a text of its own.
const ANCHOR: &str = "anchor";
/// What the name of a column begins with; the page's URL follows.
const COLUMN: &str = "anchors:";
/// Bytes of a key.
const KEY: usize = 16;
/// Where the text begins in a record: behind the target, the source and the place among all links.
const TEXT_AT: usize = 2 * KEY + 8;

/// The texts, in the order of the keys of what they lead to, then of the pages they stand on, then as they stand there.
pub(super) struct Anchors(Sorted);

impl Anchors {
    /// Sorts the anchors of a crawl.
    ///
    /// # Errors
    /// The dataset cannot be read, or the runs cannot be written.
    pub(super) fn of(crawl: &Crawl<'_>, target: &Path) -> Result<Self, ExportError> {
        let mut sorter = Sorter::beside(target);
        let mut place: u64 = 0;
        let columns = ["source_key", "source", "target_key", "text", "kind"];
        for batch in crawl.table(Table::Links, &columns)? {
            let batch = batch?;
            for row in 0..batch.num_rows() {
                place += 1;
                let (Some(ANCHOR), Some(text)) = (batch.text("kind", row), batch.text("text", row)) else { continue };
                let (Some(to), Some(from)) = (batch.key("target_key", row), batch.key("source_key", row)) else {
                    continue;
                };
                let from_url = batch.text("source", row).unwrap_or_default();
                let parts: [&[u8]; 6] = [
                    &to.to_bytes(),
                    &from.to_bytes(),
                    &place.to_be_bytes(),
                    text.as_bytes(),
                    from_url.as_bytes(),
                    &u32::try_from(from_url.len()).unwrap_or(u32::MAX).to_be_bytes(),
                ];
                sorter.push(&parts)?;
            }
        }
        Ok(Anchors(sorter.sorted()?))
    }

    /// Gives `each` a column for every page that links to a URL: its name, and the texts joined by a space. URLs must be asked
    /// for in the order of their keys.
    ///
    /// # Errors
    /// The runs cannot be read, or `each` fails.
    pub(super) fn write(
        &mut self,
        to: UrlKey,
        mut each: impl FnMut(&str, &[u8]) -> Result<(), ExportError>,
    ) -> Result<(), ExportError> {
        let to = to.to_bytes();
        while let Some(record) = self.0.next_of(&to)? {
            let Some((mut texts, from_url)) = read(&record) else { continue };
            while let Some(more) = self.0.next_of(&record[..2 * KEY])? {
                if let Some((text, _)) = read(&more) {
                    texts.push(b' ');
                    texts.extend_from_slice(&text);
                }
            }
            each(&format!("{COLUMN}{}", text_with_port(&from_url)), &texts)?;
        }
        Ok(())
    }
}

/// The text and the page of a record.
fn read(record: &[u8]) -> Option<(Vec<u8>, String)> {
    let (rest, length) = record.get(TEXT_AT..)?.split_last_chunk::<4>()?;
    let text_length = rest.len().checked_sub(usize::try_from(u32::from_be_bytes(*length)).ok()?)?;
    let (text, from_url) = rest.split_at(text_length);
    Some((text.to_owned(), String::from_utf8_lossy(from_url).into_owned()))
}
