//! Several workers on one state: who may ask which address, and commits that are refused from whoever may not.
//!
//! What is owned is an *address*, and with it all sites pinned to it, so one process alone decides when it is asked and when
//! each of its sites is. Whoever takes an address over raises its *epoch*; a commit names the addresses it is about
//! with their epochs, and is refused as a whole if one of them has changed ([`WorkerError::Fenced`]). Either the commit comes first and the
//! takeover waits for it, or the takeover comes first and the commit writes nothing. So the state is safe whatever a worker does.
//!
//! The servers asked are protected by time. A worker has a *lease*: it may ask them until `ttl` after the moment *before* it
//! sent the renewal that succeeded, by its own clock, and looks at the clock last thing before each request. The others wait for
//! `grace` after the lease's end before they call it dead, and whoever takes over asks nothing for `quiet` more. `grace` must
//! exceed what clocks may differ over a `ttl`, and `quiet` the delay of the sites.
//!
//! A worker's identity is made when it joins. A process that was started again, or lost its lease, is another worker.

use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use database::Address;
use model::{Position, Queued};
use postgres::Row;
use store::{Batch, Committed, StoreError};
use weburl::{Site, SiteKey};

use crate::Options;
use crate::commit::Writer;
use crate::error::{damaged, is_fenced};
use crate::numbers::{from_ordered, limit, ordered};
use crate::read::Reader;
use crate::rows::Columns;
use crate::schema::Schema;
use crate::session::{Parameters, Role, Session};

const JOIN: &str = "WITH me AS (
        INSERT INTO worker (worker, name, lease_until)
            VALUES (hashtextextended(gen_random_uuid()::text, 0), $1, clock_timestamp() + $2::float8 * interval '1 second')
            RETURNING worker)
    INSERT INTO writer (writer, process, number) SELECT worker, gen_random_uuid(), 0 FROM me
    RETURNING writer, process::text";
const RENEW: &str = "UPDATE worker SET lease_until = clock_timestamp() + $2::float8 * interval '1 second'
    WHERE worker = $1 AND state <> 'dead' RETURNING worker";
const LEAVE: &str = "UPDATE worker SET state = 'leaving' WHERE worker = $1 AND state = 'alive'";
// What the dead left: their bids and hints, and the last answers of commits that nobody will repeat.
const REAP: &str = "WITH dead AS (
        UPDATE worker SET state = 'dead'
            WHERE state <> 'dead' AND lease_until < clock_timestamp() - $1::float8 * interval '1 second' RETURNING worker),
    bids AS (DELETE FROM bid USING dead WHERE bid.worker = dead.worker),
    hints AS (DELETE FROM hint USING dead WHERE hint.owner = dead.worker)
    SELECT worker FROM dead";
// SKIP LOCKED: several that adopt at once share what there is. The owner is asked for in the row that is locked: where another has
// just taken it, the condition is looked at again with the new row, but with the worker found for the old one.
const ADOPT: &str = "WITH alive AS (
        SELECT 1 FROM worker WHERE worker = $1 AND state = 'alive' AND lease_until > clock_timestamp() FOR SHARE),
    picked AS (
        SELECT a.address FROM address a LEFT JOIN worker w ON w.worker = a.owner
            WHERE (a.owner IS NULL OR w.state = 'dead') AND EXISTS (SELECT FROM alive)
            ORDER BY a.address LIMIT $2 FOR UPDATE OF a SKIP LOCKED)
    UPDATE address a SET owner = $1, epoch = a.epoch + 1,
            not_before = clock_timestamp() + $3::float8 * interval '1 second'
        FROM picked WHERE a.address = picked.address
    RETURNING a.address, a.epoch, $3::float8";
const OWNED: &str = "SELECT address, epoch, greatest(extract(epoch FROM not_before - clock_timestamp()), 0)::float8
    FROM address WHERE owner = $1 ORDER BY address";
const HAND_OVER: &str = "WITH target AS (
        SELECT 1 FROM worker WHERE worker = $2 AND state = 'alive' AND lease_until > clock_timestamp() FOR SHARE)
    UPDATE address SET owner = $2, epoch = epoch + 1, not_before = clock_timestamp() + $4::float8 * interval '1 second'
        WHERE address = $3 AND owner = $1 AND EXISTS (SELECT FROM target)
    RETURNING address";
const BID: &str = "INSERT INTO bid (address, worker, rtt_us) VALUES ($2, $1, $3)
    ON CONFLICT (address, worker) DO UPDATE SET rtt_us = least(bid.rtt_us, excluded.rtt_us)";
const PLACE: &str = "SELECT address, owner FROM place($1, $2, $3, $4::float8 * interval '1 second')";
const SITES: &str = "SELECT site_key FROM site WHERE address = $1 ORDER BY site_key LIMIT $2";
// From the first entry of one queue to the first of the next; sites without an address are what nobody takes care of yet.
const UNPLACED: &str = "WITH RECURSIVE waiting AS (
        (SELECT site_key, rank, url_key FROM queue ORDER BY site_key LIMIT 1)
        UNION ALL
        SELECT n.site_key, n.rank, n.url_key FROM waiting w CROSS JOIN LATERAL (
            SELECT q.site_key, q.rank, q.url_key FROM queue q WHERE q.site_key > w.site_key ORDER BY q.site_key LIMIT 1) n)
    SELECT u.url FROM waiting w JOIN url u ON u.site_key = w.site_key AND u.url_key = w.url_key
        WHERE NOT EXISTS (SELECT FROM site s WHERE s.site_key = w.site_key AND s.address IS NOT NULL) LIMIT $1";
const HINTS: &str = "DELETE FROM hint WHERE owner = $1 AND number = ANY (ARRAY(
        SELECT number FROM hint WHERE owner = $1 ORDER BY number LIMIT $2)) RETURNING site_key";

/// A worker's identity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WorkerId(pub i64);

/// How often an address has changed hands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Epoch(pub i64);

/// An address that a worker owns.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Owned {
    /// The address.
    pub address: IpAddr,
    /// What its commits must bear.
    pub epoch: Epoch,
    /// How long it must not be asked yet.
    pub quiet: Duration,
}

/// Where a site is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Placed {
    /// The address it is pinned to.
    pub address: IpAddr,
    /// Who owns that, if there was anybody to give it to.
    pub owner: Option<WorkerId>,
}

/// Why a worker cannot go on as it is.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WorkerError {
    /// Its lease ran out and others were told: it must forget everything and join anew.
    #[error("the lease of this worker ran out, and others took over")]
    Lost,
    /// One of the addresses has another owner. Nothing was written; [`Worker::owned`] says what is still there.
    #[error("an address has another owner by now; nothing was written")]
    Fenced,
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// A worker.
pub struct Worker {
    id: WorkerId,
    ttl: Duration,
    writer: Mutex<Writer>,
    /// Leases are renewed beside commits, not behind them.
    session: Session,
    reader: Reader,
}

impl Worker {
    /// Joins, under a new identity. A single process that has the store open ([`crate::PostgresStore`]) keeps workers out, and they keep it
    /// out.
    ///
    /// # Errors
    /// As [`crate::PostgresStore::open`].
    pub fn join(
        address: &Address,
        schema: &Schema,
        name: &str,
        ttl: Duration,
        options: &Options,
    ) -> Result<Self, StoreError> {
        let doing = "joining the workers";
        let (committing, _) = Session::open(address, schema, Role::Work)?;
        let rows = committing.query(doing, JOIN, vec![Box::new(name.to_owned()) as _, seconds(ttl) as _])?;
        let row = rows.first().ok_or_else(|| damaged("worker", "it cannot be written to"))?;
        let mut columns = Columns::of("worker", row);
        let (id, process) = (columns.next()?, columns.next()?);
        let (session, _) = Session::open(address, schema, Role::Read)?;
        Ok(Worker {
            id: WorkerId(id),
            ttl,
            writer: Mutex::new(Writer::new(committing, id, process, 0, options)),
            session,
            reader: Reader::open(address, schema)?,
        })
    }

    /// Its identity.
    #[must_use]
    pub fn id(&self) -> WorkerId {
        self.id
    }

    /// Renews the lease: it now lasts until `ttl` after the moment before this was called.
    ///
    /// # Errors
    /// [`WorkerError::Lost`]: it is over.
    pub fn renew(&self) -> Result<(), WorkerError> {
        let rows = self.session.query("renewing the lease", RENEW, self.with(vec![seconds(self.ttl)]))?;
        if rows.is_empty() { Err(WorkerError::Lost) } else { Ok(()) }
    }

    /// Is given nothing more from now on. What it owns it hands over, and then goes.
    ///
    /// # Errors
    /// The store failed.
    pub fn leave(&self) -> Result<(), WorkerError> {
        self.session.query("leaving the workers", LEAVE, self.with(Vec::new()))?;
        Ok(())
    }

    /// Calls those dead whose lease ended longer than `grace` ago. Any worker may, at any time.
    ///
    /// # Errors
    /// The store failed.
    pub fn reap(&self, grace: Duration) -> Result<Vec<WorkerId>, WorkerError> {
        let rows = self.session.query("looking for dead workers", REAP, vec![seconds(grace)])?;
        Ok(rows.iter().map(|row| Columns::of("worker", row).next().map(WorkerId)).collect::<Result<_, _>>()?)
    }

    /// Takes over what nobody owns, or somebody who is dead, at most `max` addresses. It must not ask them for `quiet`.
    ///
    /// # Errors
    /// The store failed.
    pub fn adopt(&self, max: usize, quiet: Duration) -> Result<Vec<Owned>, WorkerError> {
        let parameters = self.with(vec![Box::new(limit(max)), seconds(quiet)]);
        let rows = self.session.query("adopting addresses", ADOPT, parameters)?;
        Ok(rows.iter().map(owned).collect::<Result<_, _>>()?)
    }

    /// All that it owns, what was handed over to it among that.
    ///
    /// # Errors
    /// The store failed.
    pub fn owned(&self) -> Result<Vec<Owned>, WorkerError> {
        let rows = self.session.query("reading the addresses", OWNED, self.with(Vec::new()))?;
        Ok(rows.iter().map(owned).collect::<Result<_, _>>()?)
    }

    /// Gives an address to another worker. Before, it stops asking it, and commits what it has.
    /// False if it does not own the address, or the other is not alive.
    ///
    /// # Errors
    /// The store failed.
    pub fn hand_over(&self, address: IpAddr, to: WorkerId, quiet: Duration) -> Result<bool, WorkerError> {
        let parameters = self.with(vec![Box::new(to.0), Box::new(address), seconds(quiet)]);
        Ok(!self.session.query("handing an address over", HAND_OVER, parameters)?.is_empty())
    }

    /// Says how far away an address is.
    ///
    /// # Errors
    /// The store failed.
    pub fn bid(&self, address: IpAddr, round_trip: Duration) -> Result<(), WorkerError> {
        let micros = i64::try_from(round_trip.as_micros()).unwrap_or(i64::MAX);
        self.session.query("bidding for an address", BID, self.with(vec![Box::new(address), Box::new(micros)]))?;
        Ok(())
    }

    /// Pins a site to an address, unless it is pinned, and gives the address to the nearest of those who bid, unless it is
    /// owned. Whoever has it asks nothing for `quiet`.
    ///
    /// # Errors
    /// The store failed.
    pub fn place(&self, site: &Site, address: IpAddr, quiet: Duration) -> Result<Placed, WorkerError> {
        let parameters: Parameters = vec![
            Box::new(ordered(site.key().0)),
            Box::new(site.as_str().to_owned()),
            Box::new(address),
            seconds(quiet),
        ];
        let rows = self.session.query("placing a site", PLACE, parameters)?;
        let row = rows.first().ok_or_else(|| damaged("address", "the site cannot be placed"))?;
        let mut columns = Columns::of("address", row);
        Ok(Placed { address: columns.next()?, owner: columns.next::<Option<i64>>()?.map(WorkerId) })
    }

    /// The sites pinned to an address, at most `max`.
    ///
    /// # Errors
    /// The store failed.
    pub fn sites(&self, address: IpAddr, max: usize) -> Result<Vec<SiteKey>, WorkerError> {
        let parameters = vec![Box::new(address) as _, Box::new(limit(max)) as _];
        let rows = self.session.query("reading the sites of an address", SITES, parameters)?;
        Ok(rows.iter().map(site_key).collect::<Result<_, _>>()?)
    }

    /// Sites with a queue that are not pinned to an address, at most `max`: any worker may place them.
    ///
    /// # Errors
    /// The store failed.
    pub fn unplaced(&self, max: usize) -> Result<Vec<Site>, WorkerError> {
        let rows = self.session.query("looking for sites to place", UNPLACED, vec![Box::new(limit(max))])?;
        Ok(rows.iter().map(|row| Ok(Columns::of("url", row).url()?.site())).collect::<Result<_, StoreError>>()?)
    }

    /// The queue of a site in order, as [`store::Store::pending`].
    ///
    /// # Errors
    /// The store failed.
    pub fn pending(&self, site: SiteKey, after: Option<Position>, max: usize) -> Result<Vec<Queued>, WorkerError> {
        Ok(self.reader.pending(site, after, max)?)
    }

    /// Takes notice of sites of its own in whose queues others put something, at most `max`. Some may be named twice, or not at all:
    /// a queue that ran empty is read again before its site counts as done.
    ///
    /// # Errors
    /// The store failed.
    pub fn hints(&self, max: usize) -> Result<Vec<SiteKey>, WorkerError> {
        let rows = self.session.query("reading hints", HINTS, self.with(vec![Box::new(limit(max))]))?;
        Ok(rows.iter().map(site_key).collect::<Result<_, _>>()?)
    }

    /// Commits as [`store::Store::commit`], if it still owns the addresses of the sites that the batch has visits of.
    ///
    /// # Errors
    /// [`WorkerError::Fenced`]: it does not, and nothing was written.
    pub fn commit(&self, fence: &[(IpAddr, Epoch)], batch: &Batch) -> Result<Committed, WorkerError> {
        let fence: Vec<(IpAddr, i64)> = fence.iter().map(|(address, epoch)| (*address, epoch.0)).collect();
        let mut writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        writer
            .commit(&fence, batch)
            .map_err(|error| if is_fenced(&error) { WorkerError::Fenced } else { WorkerError::Store(error) })
    }

    /// Its own id before other parameters.
    fn with(&self, others: Parameters) -> Parameters {
        let mut parameters: Parameters = vec![Box::new(self.id.0)];
        parameters.extend(others);
        parameters
    }
}

fn seconds(duration: Duration) -> Box<f64> {
    Box::new(duration.as_secs_f64())
}

fn owned(row: &Row) -> Result<Owned, StoreError> {
    let mut columns = Columns::of("address", row);
    let (address, epoch) = (columns.next()?, Epoch(columns.next()?));
    let quiet = Duration::try_from_secs_f64(columns.next()?).map_err(|error| damaged("address", error))?;
    Ok(Owned { address, epoch, quiet })
}

fn site_key(row: &Row) -> Result<SiteKey, StoreError> {
    Columns::of("site", row).next().map(from_ordered).map(SiteKey)
}
