//! Changes of a crawl by several workers: made by its servers, followed by its workers.

use coordination::{InForce, Spending, WorkerId};
use model::Timestamp;
use store::StoreError;

use super::control::Control;
use super::duration;
use crate::numbers::limit;
use crate::rows::Columns;
use crate::session::{Parameters, Session};

const IN_FORCE: &str = "SELECT changes, coalesce(in_force, settings) FROM crawl WHERE changes IS DISTINCT FROM $1";
// The lock of the row gives the numbers in the order of commits.
const CHANGE: &str = "WITH changed AS (
        UPDATE crawl SET in_force = coalesce($2, in_force), changes = changes + cardinality($4::text[]) WHERE changes = $1 RETURNING changes),
    added AS (
        INSERT INTO change (number, at, change) SELECT $1 + c.place, $3, c.change
            FROM changed, unnest($4::text[]) WITH ORDINALITY AS c(change, place) RETURNING number)
    SELECT number FROM added ORDER BY number DESC LIMIT 1";
// That very call was made before, and its answer lost.
const IS_MADE: &str = "SELECT $1::bigint + cardinality($3::text[]) FROM change
    WHERE number > $1::bigint AND number <= $1::bigint + cardinality($3::text[])
    HAVING array_agg(change ORDER BY number) = $3::text[] AND bool_and(at = $2)";
const CHANGES: &str = "SELECT at, change FROM (SELECT * FROM change ORDER BY number DESC LIMIT $1) c ORDER BY number";
const GOES_BY: &str = "UPDATE worker SET changes = $2 WHERE worker = $1";
const GOING_BY: &str = "SELECT count(*) FILTER (WHERE changes >= $1), count(*) FILTER (WHERE changes < $1)
    FROM worker WHERE state <> 'dead' AND lease_until > clock_timestamp()";

// Of all workers but one. What is counted of a segment ends with it.
const SPENT: &str = "SELECT m.round, coalesce(sum(s.pages), 0)::bigint, coalesce(sum(s.bytes), 0)::bigint,
        greatest(extract(epoch FROM clock_timestamp() - greatest(c.began_at, to_timestamp(m.round_began_at / 1e6))), 0)::float8
    FROM meta m JOIN crawl c ON true
    LEFT JOIN (spent s JOIN segment g ON g.serial = s.segment AND g.worker IS DISTINCT FROM $1) ON s.round = m.round
    GROUP BY m.round, m.round_began_at, c.began_at";

/// How many live workers go by a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GoingBy {
    /// Those that do.
    pub going: u64,
    /// Those that do not yet.
    pub behind: u64,
}

impl Control {
    /// As [`coordination::Worker::in_force`].
    ///
    /// # Errors
    /// The store failed.
    pub fn in_force(&self, known: Option<i64>) -> Result<Option<InForce>, StoreError> {
        in_force(self.session(), known)
    }

    /// Makes changes after the one of this number, all or none: the settings from now on, if they change settings, and their texts. Returns the
    /// number of the last; `None` if another change was made meanwhile: nothing was written then.
    ///
    /// # Errors
    /// The store failed.
    pub fn change(
        &self,
        after: i64,
        settings: Option<&str>,
        at: Timestamp,
        changes: &[String],
    ) -> Result<Option<i64>, StoreError> {
        let at = i64::try_from(at.0).unwrap_or(i64::MAX);
        let parameters: Parameters =
            vec![Box::new(after), Box::new(settings.map(str::to_owned)), Box::new(at), Box::new(changes.to_vec())];
        let doing = "changing the crawl";
        let mut rows = self.session().query(doing, CHANGE, parameters)?;
        if rows.is_empty() {
            let parameters: Parameters = vec![Box::new(after), Box::new(at), Box::new(changes.to_vec())];
            rows = self.session().query(doing, IS_MADE, parameters)?;
        }
        rows.first().map(|row| Columns::of("change", row).next()).transpose()
    }

    /// What all workers have spent of the budgets of the round.
    ///
    /// # Errors
    /// The store failed.
    pub fn spent(&self) -> Result<Spending, StoreError> {
        spent(self.session(), None)
    }

    /// The last changes, at most `max`, the oldest first: the time of each, and its text.
    ///
    /// # Errors
    /// The store failed.
    pub fn changes(&self, max: usize) -> Result<Vec<(Timestamp, String)>, StoreError> {
        let rows = self.session().query("reading the changes", CHANGES, vec![Box::new(limit(max))])?;
        let changes = rows.iter().map(|row| {
            let mut columns = Columns::of("change", row);
            let at: i64 = columns.next()?;
            Ok((Timestamp(u64::try_from(at).unwrap_or_default()), columns.next()?))
        });
        changes.collect()
    }

    /// How many live workers go by the change of this number.
    ///
    /// # Errors
    /// The store failed.
    pub fn going_by(&self, change: i64) -> Result<GoingBy, StoreError> {
        let rows = self.session().query("asking who goes by a change", GOING_BY, vec![Box::new(change)])?;
        let Some(row) = rows.first() else { return Ok(GoingBy { going: 0, behind: 0 }) };
        let mut columns = Columns::of("worker", row);
        let mut count = || Ok::<_, StoreError>(u64::try_from(columns.next::<i64>()?).unwrap_or_default());
        Ok(GoingBy { going: count()?, behind: count()? })
    }
}

pub(super) fn in_force(session: &Session, known: Option<i64>) -> Result<Option<InForce>, StoreError> {
    let rows = session.query("reading the settings in force", IN_FORCE, vec![Box::new(known)])?;
    let in_force = rows.first().map(|row| {
        let mut columns = Columns::of("crawl", row);
        Ok(InForce { changes: columns.next()?, settings: columns.next()? })
    });
    in_force.transpose()
}

/// What workers have spent of the budgets, all of them but `without`.
pub(super) fn spent(session: &Session, without: Option<WorkerId>) -> Result<Spending, StoreError> {
    let parameters: Parameters = vec![Box::new(without.map(|worker| worker.0))];
    let rows = session.query("counting what is spent of the budgets", SPENT, parameters)?;
    let Some(row) = rows.first() else { return Ok(Spending::default()) };
    let mut columns = Columns::of("spent", row);
    let round = columns.narrow::<i32, _>()?;
    let mut count = || Ok::<_, StoreError>(u64::try_from(columns.next::<i64>()?).unwrap_or_default());
    let (pages, bytes) = (count()?, count()?);
    Ok(Spending { round, pages, bytes, lasts: duration(&mut columns)? })
}

pub(super) fn goes_by(session: &Session, worker: WorkerId, changes: i64) -> Result<(), StoreError> {
    session.query("going by a change", GOES_BY, vec![Box::new(worker.0), Box::new(changes)])?;
    Ok(())
}
