//! Revisits of robots.txt. No visit of the state has their originals: only the archive tells whether they are there.

use std::collections::{BTreeMap, HashSet};

use store::Segment;
use warc::{Header, RecordType};

use crate::archive::damaged;
use crate::{Crawl, ExportError};

/// What the name of most of these files is. Redirects may lead to others.
const PATH: &str = "/robots.txt";

/// The revisits that say of no payload that they repeat it, as those of robots.txt, and the records to which they refer.
#[derive(Debug, Default)]
pub(crate) struct Unlisted {
    /// The responses that were read, of URLs that end so: few, beside all of an archive.
    seen: HashSet<Box<str>>,
    /// How many revisits refer to records that were not read before.
    sought: BTreeMap<String, u64>,
}

impl Unlisted {
    /// Takes note of a response.
    pub(crate) fn see(&mut self, response: &Header) {
        let is_robots = response.target_uri().is_some_and(|url| url.ends_with(PATH));
        if let Some(id) = response.record_id().filter(|_| is_robots) {
            self.seen.insert(id.into());
        }
    }

    /// Whether this is such a revisit. Then [`Unlisted::lost`] tells in the end whether its original is there.
    pub(crate) fn may_have_original_of(&mut self, revisit: &Header) -> bool {
        let (digest, original) = (revisit.get("WARC-Payload-Digest"), revisit.get("WARC-Refers-To"));
        let Some(original) = original.filter(|_| digest.is_none()) else { return false };
        if !self.seen.contains(original) {
            *self.sought.entry(original.to_owned()).or_default() += 1;
        }
        true
    }

    /// How many revisits have no original in the archive. It is read again if there are any whose originals did not lie before them.
    pub(crate) fn lost(mut self, crawl: &Crawl<'_>, segments: Vec<Segment>) -> Result<u64, ExportError> {
        for segment in segments {
            if self.sought.is_empty() {
                break;
            }
            let mut open = crawl.open_segment(segment)?;
            while open.read < open.segment.length {
                let failed = |error| damaged(&open.path, &error);
                let Some(record) = open.reader.next_record().map_err(failed)? else { break };
                let header = record.header();
                if let (Some(RecordType::Response), Some(id)) = (header.record_type(), header.record_id()) {
                    self.sought.remove(id);
                }
                let location = record.finish().map_err(failed)?;
                open.read = location.offset + location.length;
            }
        }
        Ok(self.sought.values().sum())
    }
}
