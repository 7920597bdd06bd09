//! What several workers have sealed of a crawl, while they go on.

use std::collections::BTreeSet;

use model::Visit;
use store::{CrawlView, Entry, Layer, Segment, StoreError};
use weburl::UrlKey;

/// A view of one moment that shows no visit whose record is in a segment which is not final: such a visit is undone if its worker is lost, and
/// its record is on no storage that others reach. Such a URL has its visit before, or waits. Totals, sites and queues are those of the moment.
pub(crate) struct SealedView {
    pub(crate) below: Box<dyn CrawlView>,
    /// The serial numbers of the segments that are not final.
    pub(crate) open: BTreeSet<u32>,
}

impl SealedView {
    fn is_sealed(&self, visit: &Visit) -> Result<bool, StoreError> {
        if visit.location.is_some_and(|location| self.open.contains(&location.segment)) {
            return Ok(false);
        }
        // A duplicate is undone with its original.
        let Some(original) = visit.duplicate_of else { return Ok(true) };
        let original = self.below.get(original)?.and_then(|entry| entry.visit);
        Ok(original.is_none_or(|visit| visit.location.is_none_or(|location| !self.open.contains(&location.segment))))
    }

    fn sealed(&self, mut visits: Vec<Visit>) -> Result<Vec<Visit>, StoreError> {
        let are = visits.iter().map(|visit| self.is_sealed(visit)).collect::<Result<Vec<bool>, _>>()?;
        let mut are = are.into_iter();
        visits.retain(|_| are.next().unwrap_or(true));
        Ok(visits)
    }
}

impl Layer for SealedView {
    fn below(&self) -> &dyn CrawlView {
        &*self.below
    }

    fn shown_entry(&self, entry: Entry) -> Result<Entry, StoreError> {
        let Some(visit) = &entry.visit else { return Ok(entry) };
        if self.is_sealed(visit)? {
            return Ok(entry);
        }
        let earlier = self.sealed(self.below.earlier(entry.candidate.url.key())?)?;
        Ok(Entry { visit: earlier.into_iter().next_back(), ..entry })
    }

    fn shown_earlier(&self, key: UrlKey) -> Result<Vec<Visit>, StoreError> {
        let mut earlier = self.sealed(self.below.earlier(key)?)?;
        if let Some(last) = self.below.get(key)?.and_then(|entry| entry.visit)
            && !self.is_sealed(&last)?
        {
            // It is shown as the last one.
            earlier.pop();
        }
        Ok(earlier)
    }

    fn shown_segments(&self) -> Result<Vec<Segment>, StoreError> {
        let mut segments = self.below.segments()?;
        segments.retain(|segment| !self.open.contains(&segment.serial));
        Ok(segments)
    }
}
