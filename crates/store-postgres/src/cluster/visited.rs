//! What the graph of visited pages needs of the state, since the datasets of workers do not tell of it.

use database::Address;
use model::{ArchiveLocation, Timestamp, Visit};
use postgres::Row;
use store::{StoreError, shown_visit};
use weburl::UrlKey;

use super::statements;
use crate::error::damaged;
use crate::numbers::{from_key, from_plain, key, limit};
use crate::rows::{Columns, outcome};
use crate::schema::Schema;
use crate::session::{Parameters, Role, Session};

/// Keys read at once.
const WINDOW: usize = 10_000;

/// A way to the state for who answers a question.
pub struct Visited {
    session: Session,
}

impl Visited {
    /// Opens it.
    ///
    /// # Errors
    /// The database cannot be reached, or does not let us in.
    pub fn open(address: &Address, schema: &Schema) -> Result<Self, StoreError> {
        Ok(Visited { session: Session::open(address, schema, Role::Read)?.0 })
    }

    /// Pages that were visited at the bottom of the crawl and are nearer to a seed by now, so that their links count, in order.
    ///
    /// # Errors
    /// The store failed.
    pub fn followed(&self) -> Result<Vec<UrlKey>, StoreError> {
        self.all("reading whose links were followed", statements::FOLLOWED, (0, 1))
    }

    /// URLs of pages that were visited in vain and have no record in the archive, in order: one share of so many (`0..count`), so that
    /// several who answer need not all read the same.
    ///
    /// # Errors
    /// The store failed.
    pub fn in_vain(&self, share: (usize, usize)) -> Result<Vec<UrlKey>, StoreError> {
        self.all("reading what was visited in vain", &statements::IN_VAIN, share)
    }

    /// Calls `each` with visits that another visit of the same URL has superseded, and the segment that holds each one's record: what it
    /// says is there is not, or was confirmed only ([`store::current_visit`]). Those that were taken back are among them.
    ///
    /// # Errors
    /// The store failed.
    pub fn superseded(&self, each: &mut dyn FnMut(&str, UrlKey)) -> Result<(), StoreError> {
        let doing = "reading which visits were taken back";
        for row in &self.session.query(doing, statements::TAKEN_BACK, Vec::new())? {
            let mut columns = Columns::of("taken_back", row);
            let segment = columns.text()?;
            each(&segment, from_key(columns.next()?, columns.next()?));
        }
        let mut after = (i64::MIN, i64::MIN);
        let mut segments = None;
        loop {
            let parameters: Parameters = vec![Box::new(after.0), Box::new(after.1), Box::new(limit(WINDOW))];
            let doing = "reading which visits are superseded";
            let rows = self.session.query(doing, statements::VISITS_OF_SEVERAL, parameters)?;
            let visits = rows.iter().map(recorded).collect::<Result<Vec<_>, _>>()?;
            let mut urls = 0;
            for visits in visits.chunk_by(|(a, _), (b, _)| a.key == b.key) {
                urls += 1;
                after = key(visits[0].0.key);
                let earlier: Vec<Visit> = visits.iter().map(|(visit, _)| visit.clone()).collect();
                let Some((last, earlier)) = earlier.split_last() else { continue };
                let current = shown_visit(last, earlier).at;
                for (visit, segment) in visits.iter().filter(|(visit, _)| visit.at != current) {
                    segment.iter().for_each(|segment| each(segment, visit.key));
                }
                // The row of a visit whose record a repair found lost may be of any segment.
                let has_lost = visits.iter().any(|(visit, segment)| segment.is_none() && visit.status > 0);
                let here = visits.iter().find(|(visit, _)| visit.at == current).and_then(|(_, here)| here.as_ref());
                if let Some(here) = here.filter(|_| has_lost) {
                    let all = match &segments {
                        Some(all) => all,
                        None => segments.insert(self.segments()?),
                    };
                    all.iter().filter(|segment| *segment != here).for_each(|segment| each(segment, visits[0].0.key));
                }
            }
            if urls < WINDOW {
                return Ok(());
            }
        }
    }

    /// The names of all segments.
    fn segments(&self) -> Result<Vec<String>, StoreError> {
        let rows = self.session.query("reading the segments", statements::NAMES_OF_SEGMENTS, Vec::new())?;
        rows.iter().map(|row| Columns::of("segment", row).next()).collect()
    }

    fn all(
        &self,
        doing: &'static str,
        statement: &'static str,
        (share, count): (usize, usize),
    ) -> Result<Vec<UrlKey>, StoreError> {
        let mut keys = Vec::new();
        loop {
            let (site, url) = keys.last().copied().map_or((i64::MIN, i64::MIN), key);
            let parameters: Parameters = vec![
                Box::new(site),
                Box::new(url),
                Box::new(limit(WINDOW)),
                Box::new(limit(count.max(1))),
                Box::new(limit(share)),
            ];
            let rows = self.session.query(doing, statement, parameters)?;
            keys.extend(rows.iter().map(row_key).collect::<Result<Vec<_>, _>>()?);
            if rows.len() < WINDOW {
                return Ok(keys);
            }
        }
    }
}

/// A visit as far as it says what is at its URL, and the name of the segment that has its record.
fn recorded(row: &Row) -> Result<(Visit, Option<String>), StoreError> {
    let mut columns = Columns::of("visit", row);
    let key = from_key(columns.next()?, columns.next()?);
    let at = Timestamp(from_plain(columns.next()?));
    let outcome = outcome(columns.next()?).ok_or_else(|| damaged("visit", "unknown outcome"))?;
    let status = columns.narrow::<i32, _>()?;
    let (target, digest, segment) = (columns.next()?, columns.digest()?, columns.next::<Option<String>>()?);
    // Where in its segment the record lies does not matter here.
    let location = segment.is_some().then_some(ArchiveLocation { segment: 0, offset: 0, length: 0 });
    let visit = Visit::without_fetch(key, outcome, String::new(), at);
    Ok((Visit { status, target, digest, location, ..visit }, segment))
}

fn row_key(row: &Row) -> Result<UrlKey, StoreError> {
    let mut columns = Columns::of("visit", row);
    Ok(from_key(columns.next()?, columns.next()?))
}
