//! What the pages about one URL need of the state.

use postgres::Row;
use store::StoreError;
use weburl::UrlKey;

use super::{Control, statements};
use crate::numbers::{from_key, key, limit};
use crate::rows::Columns;
use crate::session::Parameters;

/// Where the WARC file of a segment is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SegmentPlace {
    /// On shared storage.
    Shared,
    /// With the worker of this name, which writes it.
    With(String),
    /// With a worker that is gone: what that had not sealed is visited again.
    Lost,
}

impl Control {
    /// Where a segment is, by its serial number.
    ///
    /// # Errors
    /// The store failed.
    pub fn segment_at(&self, serial: u32) -> Result<SegmentPlace, StoreError> {
        let parameters: Parameters = vec![Box::new(i64::from(serial))];
        let rows = self.session.query("looking for a segment", statements::SEGMENT_AT, parameters)?;
        let Some(row) = rows.first() else { return Ok(SegmentPlace::Lost) };
        let mut columns = Columns::of("segment", row);
        Ok(match (columns.next::<bool>()?, columns.next::<Option<String>>()?) {
            (true, _) => SegmentPlace::Shared,
            (false, Some(worker)) => SegmentPlace::With(worker),
            (false, None) => SegmentPlace::Lost,
        })
    }

    /// The URLs that a visit found to repeat another URL, in order, at most `max`. They may have other contents by now.
    ///
    /// # Errors
    /// The store failed.
    pub fn repeating(&self, original: UrlKey, max: usize) -> Result<Vec<UrlKey>, StoreError> {
        let (site, url) = key(original);
        let parameters: Parameters = vec![Box::new(site), Box::new(url), Box::new(limit(max))];
        let rows = self.session.query("looking for duplicates", statements::REPEATING, parameters)?;
        let read = |row: &Row| {
            let mut columns = Columns::of("visit", row);
            Ok(from_key(columns.next()?, columns.next()?))
        };
        rows.iter().map(read).collect()
    }
}
