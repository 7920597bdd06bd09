//! Several workers on one state: which worker may ask which sites, and the refusal of commits from others.
//!
//! What is owned is a *politeness group*: an address with all sites on it, or a site by itself where addresses do not count.
//! So one process alone decides when an address is asked and when each of its sites is. Each change of the owner raises
//! the group's *epoch*; a commit names the groups it is about with their epochs, and is refused as a whole if one of them has changed
//! ([`WorkerError::Fenced`]). Either the commit comes first and the takeover waits for it, or the takeover comes first and the
//! commit writes nothing. So the state is safe whatever a worker does.
//!
//! The servers asked are protected by time. A worker has a *lease*: it may ask them until `ttl` after the moment *before* it
//! sent the renewal that succeeded, by its own clock, and looks at the clock last thing before each request. The others wait for
//! `grace` after the lease's end before they call it dead, and the worker that takes over sends no request for `quiet` more. `grace` must
//! exceed what clocks may differ over a `ttl`, and `quiet` the delay of the sites.
//!
//! A worker's identity is made when it joins. A process that was started again, or lost its lease, is another worker.
//!
//! Who should own a group is not decided here: this says which have no owner and who has bid how much, and takes the decision.

mod control;
mod secrets;
mod segments;
mod statements;
mod steered;
mod visited;

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use coordination::{
    Bid, Bids, Epoch, GroupName, Hint, InForce, Member, News, Owned, Placed, Renewed, SeedSite, Spending, Worker,
    WorkerError, WorkerId, WrittenSegment,
};
use database::Address;
use model::{Candidate, ContentDigest, PayloadDigest, Position, Queued, SiteRecord, Visit};
use postgres::Row;
use store::{Batch, Committed, CrawlView, Entry, StoreError};

use crate::PostgresView;
use weburl::{CanonicalUrl, Site, SiteKey, UrlKey};

use crate::commit::Writer;
use crate::error::{damaged, is_dead, is_fenced};
use crate::numbers::{from_ordered, key, limit, ordered};
use crate::read::Reader;
use crate::rows::Columns;
use crate::schema::Schema;
use crate::session::{Parameters, Role, Session};

pub use control::{
    Control, Counts, Domain, InTrouble, Outcomes, Reach, SegmentPlace, Setup, Shared, SiteStanding, SitesAsked, Window,
};
pub use steered::GoingBy;
pub use visited::Visited;

/// A worker.
pub struct PostgresWorker {
    id: WorkerId,
    crawl_id: String,
    ttl: Duration,
    writer: Mutex<Writer>,
    /// Beside commits, not behind them.
    session: Session,
    /// The lease is renewed behind nothing else.
    renewing: Session,
    /// When the lease ends as it was renewed last: seconds of the clock of the database.
    lease_until: Mutex<f64>,
    reader: Reader,
}

impl PostgresWorker {
    /// Joins, under a new identity. A single process that has the store open ([`crate::PostgresStore`]) keeps workers out, and they keep it
    /// out. `name` is where others reach it.
    ///
    /// # Errors
    /// As [`crate::PostgresStore::open`].
    pub fn join(address: &Address, schema: &Schema, name: &str, ttl: Duration) -> Result<Self, StoreError> {
        let doing = "joining the workers";
        let (committing, crawl_id) = Session::open(address, schema, Role::Work)?;
        let crawl_id = crawl_id.ok_or_else(|| damaged("meta", "no crawl id"))?;
        let (session, _) = Session::open(address, schema, Role::Read)?;
        let (renewing, _) = Session::open(address, schema, Role::Read)?;
        let reader = Reader::open(address, schema)?;
        // Last: the others would count on a worker that has no connections, as long as its lease lasts.
        let rows = committing.query(doing, statements::IDENTITY, Vec::new())?;
        let row = rows.first().ok_or_else(|| damaged("worker", "no identity"))?;
        let mut columns = Columns::of("worker", row);
        let (id, process): (i64, String) = (columns.next()?, columns.next()?);
        let parameters: Parameters =
            vec![Box::new(id), Box::new(name.to_owned()), seconds(ttl), Box::new(process.clone())];
        let rows = committing.query(doing, statements::JOIN, parameters)?;
        let row = rows.first().ok_or_else(|| damaged("worker", "it cannot be written to"))?;
        let lease_until = Columns::of("worker", row).next()?;
        Ok(PostgresWorker {
            id: WorkerId(id),
            crawl_id,
            ttl,
            writer: Mutex::new(Writer::new(committing, id, process, 0)),
            session,
            renewing,
            lease_until: Mutex::new(lease_until),
            reader,
        })
    }

    /// Whether it still owns a group under this epoch. A statement that is repeated finds its own work done, and so does one whose first
    /// try is still under way: it waits for that. So this is looked at behind it.
    fn owns(&self, (group, epoch): (&GroupName, Epoch)) -> Result<bool, WorkerError> {
        let parameters = self.with(vec![Box::new(group.0.clone()), Box::new(epoch.0)]);
        Ok(!self.session.query("looking for the owner of a group", statements::OWNS, parameters)?.is_empty())
    }

    fn lease_until(&self) -> MutexGuard<'_, f64> {
        self.lease_until.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Its own id before other parameters.
    fn with(&self, others: Parameters) -> Parameters {
        let mut parameters: Parameters = vec![Box::new(self.id.0)];
        parameters.extend(others);
        parameters
    }
}

impl Worker for PostgresWorker {
    fn view(&self) -> Result<Box<dyn CrawlView>, StoreError> {
        PostgresView::of_this_moment(&self.reader, &self.crawl_id)
    }

    fn id(&self) -> WorkerId {
        self.id
    }

    fn crawl_id(&self) -> &str {
        &self.crawl_id
    }

    fn ttl(&self) -> Duration {
        self.ttl
    }

    fn renew(&self) -> Result<Renewed, WorkerError> {
        let parameters = self.with(vec![seconds(self.ttl)]);
        let rows = self.renewing.query("renewing the lease", statements::RENEW, parameters)?;
        let Some(row) = rows.first() else { return Err(WorkerError::Lost) };
        let mut columns = Columns::of("worker", row);
        let (is_leaving, lease_until, had_ended) = (columns.next()?, columns.next()?, columns.next()?);
        *self.lease_until() = lease_until;
        Ok(Renewed { is_leaving, had_ended })
    }

    fn leave(&self) -> Result<(), WorkerError> {
        self.session.query("leaving the workers", statements::LEAVE, self.with(Vec::new()))?;
        Ok(())
    }

    fn gone(&self) -> Result<(), WorkerError> {
        self.session.query("leaving the workers", statements::GONE, self.with(Vec::new()))?;
        self.bury()
    }

    fn reap(&self, grace: Duration) -> Result<Vec<WorkerId>, WorkerError> {
        let parameters: Parameters = vec![seconds(grace), Box::new(*self.lease_until())];
        let rows = self.session.query("looking for dead workers", statements::REAP, parameters)?;
        let dead = rows.iter().map(|row| Columns::of("worker", row).next().map(WorkerId)).collect::<Result<_, _>>()?;
        self.bury()?;
        Ok(dead)
    }

    fn members(&self) -> Result<Vec<Member>, WorkerError> {
        Ok(members(&self.session)?)
    }

    fn owned(&self) -> Result<Vec<Owned>, WorkerError> {
        let rows = self.session.query("reading the groups owned", statements::OWNED, self.with(Vec::new()))?;
        Ok(rows.iter().map(owned).collect::<Result<_, _>>()?)
    }

    fn ownerless(&self, max: usize) -> Result<Vec<Bids>, WorkerError> {
        let parameters = vec![Box::new(limit(max)) as _];
        let rows = self.session.query("looking for groups without an owner", statements::OWNERLESS, parameters)?;
        Ok(bids(&rows)?)
    }

    fn offers(&self) -> Result<Vec<Bids>, WorkerError> {
        let rows = self.session.query("reading the bids", statements::OFFERS, self.with(Vec::new()))?;
        Ok(bids(&rows)?)
    }

    fn assign(&self, groups: &[(GroupName, WorkerId)], quiet: Duration) -> Result<usize, WorkerError> {
        let (names, workers): (Vec<String>, Vec<i64>) =
            groups.iter().map(|(group, worker)| (group.0.clone(), worker.0)).unzip();
        let parameters: Parameters = vec![Box::new(names), Box::new(workers), seconds(quiet)];
        Ok(self.session.query("giving groups to workers", statements::ASSIGN, parameters)?.len())
    }

    fn hand_over(&self, group: (&GroupName, Epoch), to: WorkerId, quiet: Duration) -> Result<bool, WorkerError> {
        let (name, epoch) = (group.0.0.clone(), group.1.0);
        let parameters = self.with(vec![Box::new(to.0), Box::new(name), seconds(quiet), Box::new(epoch)]);
        let given = self.session.query("handing a group over", statements::HAND_OVER, parameters)?;
        Ok(!given.is_empty() || !self.owns(group)?)
    }

    fn give_up(&self, (group, epoch): (&GroupName, Epoch)) -> Result<(), WorkerError> {
        let parameters = self.with(vec![Box::new(group.0.clone()), Box::new(epoch.0)]);
        self.session.query("giving a group up", statements::GIVE_UP, parameters)?;
        Ok(())
    }

    fn bid(&self, groups: &[(GroupName, Duration)]) -> Result<(), WorkerError> {
        let micros = |time: &Duration| i64::try_from(time.as_micros()).unwrap_or(i64::MAX);
        let (names, micros): (Vec<String>, Vec<i64>) =
            groups.iter().map(|(group, round_trip)| (group.0.clone(), micros(round_trip))).unzip();
        let parameters = self.with(vec![Box::new(names), Box::new(micros)]);
        self.session.query("bidding for groups", statements::BID, parameters)?;
        Ok(())
    }

    fn open_for_bids(&self, bidders: usize, max: usize) -> Result<Vec<(GroupName, Site)>, WorkerError> {
        let parameters = self.with(vec![Box::new(limit(bidders)), Box::new(limit(max))]);
        let rows = self.session.query("looking for groups to bid for", statements::OPEN_FOR_BIDS, parameters)?;
        Ok(rows.iter().map(group_and_site).collect::<Result<_, _>>()?)
    }

    fn not_bid_for(&self, after: Option<&GroupName>, max: usize) -> Result<Vec<(GroupName, Site)>, WorkerError> {
        let after = after.map_or_else(String::new, |group| group.0.clone());
        let parameters = self.with(vec![Box::new(after), Box::new(limit(max))]);
        let rows = self.session.query("looking for groups to bid for", statements::NOT_BID_FOR, parameters)?;
        Ok(rows.iter().map(group_and_site).collect::<Result<_, _>>()?)
    }

    fn place(&self, sites: &[(Site, GroupName)]) -> Result<Vec<Placed>, WorkerError> {
        let (keys, (texts, groups)): (Vec<i64>, (Vec<String>, Vec<String>)) = sites
            .iter()
            .map(|(site, group)| (ordered(site.key().0), (site.as_str().to_owned(), group.0.clone())))
            .unzip();
        let parameters: Parameters = vec![Box::new(keys), Box::new(texts), Box::new(groups)];
        let rows = self.session.query("placing sites", statements::PLACE, parameters)?;
        Ok(rows.iter().map(placed).collect::<Result<_, _>>()?)
    }

    fn move_site(&self, site: SiteKey, from: (&GroupName, Epoch), to: &GroupName) -> Result<bool, WorkerError> {
        let (group, epoch) = from;
        let parameters: Parameters =
            vec![Box::new(ordered(site.0)), Box::new(group.0.clone()), Box::new(epoch.0), Box::new(to.0.clone())];
        let rows = self.session.query("moving a site", statements::MOVE, self.with(parameters))?;
        let row = rows.first().ok_or_else(|| damaged("site", "a move without an answer"))?;
        Ok(Columns::of("site", row).next()?)
    }

    fn sites(&self, groups: &[GroupName]) -> Result<Vec<(SiteKey, GroupName)>, WorkerError> {
        let names: Vec<String> = groups.iter().map(|group| group.0.clone()).collect();
        let rows = self.session.query("reading the sites of groups", statements::SITES, vec![Box::new(names)])?;
        Ok(rows.iter().map(site_and_group).collect::<Result<_, _>>()?)
    }

    fn unplaced(&self, share: (usize, usize), max: usize) -> Result<Vec<Site>, WorkerError> {
        let parameters: Parameters =
            vec![Box::new(limit(share.1.max(1))), Box::new(limit(share.0)), Box::new(limit(max))];
        let rows = self.session.query("looking for sites to place", statements::UNPLACED, parameters)?;
        Ok(rows.iter().map(|row| site(&mut Columns::of("unplaced", row))).collect::<Result<_, _>>()?)
    }

    fn hints(&self, max: usize) -> Result<Vec<Hint>, WorkerError> {
        let parameters = self.with(vec![Box::new(limit(max))]);
        let rows = self.session.query("reading hints", statements::HINTS, parameters)?;
        Ok(rows.iter().map(hint).collect::<Result<_, _>>()?)
    }

    fn waiting(&self) -> Result<Vec<(SiteKey, GroupName)>, WorkerError> {
        let rows = self.session.query("looking for queues", statements::WAITING, self.with(Vec::new()))?;
        Ok(rows.iter().map(site_and_group).collect::<Result<_, _>>()?)
    }

    fn in_force(&self, known: Option<i64>) -> Result<Option<InForce>, StoreError> {
        steered::in_force(&self.session, known)
    }

    fn goes_by(&self, changes: i64) -> Result<(), StoreError> {
        steered::goes_by(&self.session, self.id, changes)
    }

    fn spent_elsewhere(&self) -> Result<Spending, StoreError> {
        steered::spent(&self.session, Some(self.id))
    }

    fn commit(&self, fence: &[(GroupName, Epoch)], seeds: i64, batch: &Batch) -> Result<Committed, WorkerError> {
        let fence: Vec<(String, i64)> = fence.iter().map(|(group, epoch)| (group.0.clone(), epoch.0)).collect();
        let mut writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        writer.commit(&fence, seeds, batch).map_err(|error| match error {
            error if is_fenced(&error) => WorkerError::Fenced,
            error if is_dead(&error) => WorkerError::Lost,
            error => WorkerError::Store(error),
        })
    }

    fn pending(&self, site: SiteKey, after: Option<Position>, max: usize) -> Result<Vec<Queued>, StoreError> {
        self.reader.pending(site, after, max)
    }

    fn get(&self, key: UrlKey) -> Result<Option<Entry>, StoreError> {
        self.reader.get(key)
    }

    fn earlier(&self, key: UrlKey) -> Result<Vec<Visit>, StoreError> {
        self.reader.earlier(key)
    }

    fn site(&self, key: SiteKey) -> Result<Option<SiteRecord>, StoreError> {
        self.reader.site(key)
    }

    fn own_site(&self, key: SiteKey) -> Result<Option<SiteRecord>, StoreError> {
        self.reader.site_of(self.id.0, key)
    }

    fn unsealed_robots(&self) -> Result<Vec<(SiteKey, u32)>, WorkerError> {
        let doing = "looking for robots.txt files in unsealed segments";
        let rows = self.session.query(doing, statements::UNSEALED_ROBOTS, self.with(Vec::new()))?;
        Ok(rows.iter().map(segments::site_and_serial).collect::<Result<_, _>>()?)
    }

    fn holder(&self, content: ContentDigest, label: Option<PayloadDigest>) -> Result<Option<UrlKey>, StoreError> {
        self.reader.holder(content, label)
    }

    fn news(&self, last: i64) -> Result<News, StoreError> {
        let rows = self.session.query("reading the round and the seeds", statements::NEWS, vec![Box::new(last)])?;
        let mut news = News { round: 1, seeds: Vec::new(), last };
        for row in &rows {
            let mut columns = Columns::of("seed", row);
            news.round = columns.narrow::<i32, _>()?;
            if let Some(number) = columns.next::<Option<i64>>()? {
                news.last = number;
                let depth = u32::try_from(columns.next::<i64>()?).unwrap_or(u32::MAX);
                news.seeds.push(Candidate { depth, ..Candidate::seed(columns.url()?) });
            }
        }
        Ok(news)
    }

    fn unjudged(&self, max: usize) -> Result<Vec<CanonicalUrl>, StoreError> {
        let rows = self.session.query("reading excluded URLs", statements::UNJUDGED, vec![Box::new(limit(max))])?;
        rows.iter().map(|row| Columns::of("url", row).url()).collect()
    }

    fn judged(&self, urls: &[UrlKey], belong: &[UrlKey]) -> Result<(), StoreError> {
        let parameters = keys(urls).into_iter().chain(keys(belong)).collect();
        self.session.query("admitting excluded URLs", statements::JUDGED, parameters)?;
        Ok(())
    }

    fn next_serial(&self) -> Result<u32, StoreError> {
        let rows = self.session.query("numbering a segment", statements::NEXT_SERIAL, Vec::new())?;
        let row = rows.first().ok_or_else(|| damaged("segment", "no serial number"))?;
        let serial: i64 = Columns::of("segment", row).next()?;
        u32::try_from(serial).map_err(|_| damaged("segment", "no serial number is left"))
    }

    fn seal(&self, serial: u32) -> Result<(), WorkerError> {
        let parameters = self.with(vec![Box::new(i64::from(serial))]);
        let sealed = self.session.query("sealing a segment", statements::SEAL, parameters)?;
        if sealed.is_empty() { Err(WorkerError::Lost) } else { Ok(()) }
    }

    fn segments(&self) -> Result<Vec<WrittenSegment>, StoreError> {
        let rows = self.session.query("reading the segments", statements::SEGMENTS, Vec::new())?;
        rows.iter().map(segments::written).collect()
    }

    fn taken_back(&self) -> Result<BTreeMap<u32, Vec<u64>>, StoreError> {
        self.reader.taken_back()
    }

    fn lost_segments(&self) -> Result<Vec<String>, StoreError> {
        let rows = self.session.query("looking for lost segments", statements::LOST_SEGMENTS, Vec::new())?;
        rows.iter().map(|row| Columns::of("segment", row).text()).collect()
    }

    fn forget(&self, lost_segment: &str) -> Result<(), StoreError> {
        let parameters = vec![Box::new(lost_segment.to_owned()) as _];
        self.session.query("forgetting a lost segment", statements::FORGET, parameters)?;
        Ok(())
    }

    fn secrets(&self) -> Result<Option<String>, StoreError> {
        secrets::of_settings(&self.session)
    }

    fn seed_sites_behind(&self, last: i64) -> Result<(Vec<SeedSite>, i64), StoreError> {
        secrets::seed_sites_behind(&self.session, last)
    }
}

fn seconds(duration: Duration) -> Box<f64> {
    Box::new(duration.as_secs_f64())
}

fn duration(columns: &mut Columns<'_>) -> Result<Duration, StoreError> {
    Duration::try_from_secs_f64(columns.next()?).map_err(|error| damaged("politeness_group", error))
}

fn owned(row: &Row) -> Result<Owned, StoreError> {
    let mut columns = Columns::of("politeness_group", row);
    Ok(Owned { group: GroupName(columns.next()?), epoch: Epoch(columns.next()?), quiet: duration(&mut columns)? })
}

/// From a row for each bid, in the order of the groups; a group without a bid has a row with nulls.
fn bids(rows: &[Row]) -> Result<Vec<Bids>, StoreError> {
    let mut all: Vec<Bids> = Vec::new();
    for row in rows {
        let mut columns = Columns::of("bid", row);
        let (group, ownerless) = (GroupName(columns.next()?), duration(&mut columns)?);
        let (worker, micros): (Option<i64>, Option<i64>) = (columns.next()?, columns.next()?);
        if all.last().is_none_or(|last| last.group != group) {
            all.push(Bids { group, ownerless, bids: Vec::new() });
        }
        if let (Some(worker), Some(micros), Some(last)) = (worker, micros, all.last_mut()) {
            let round_trip = Duration::from_micros(u64::try_from(micros).unwrap_or_default());
            last.bids.push(Bid { worker: WorkerId(worker), round_trip });
        }
    }
    Ok(all)
}

/// Keys as two arrays, in their order.
fn keys(urls: &[UrlKey]) -> Parameters {
    let mut urls: Vec<(i64, i64)> = urls.iter().copied().map(key).collect();
    urls.sort_unstable();
    let (sites, urls): (Vec<i64>, Vec<i64>) = urls.into_iter().unzip();
    vec![Box::new(sites), Box::new(urls)]
}

fn members(session: &Session) -> Result<Vec<Member>, StoreError> {
    session.query("reading the workers", statements::MEMBERS, Vec::new())?.iter().map(member).collect()
}

fn member(row: &Row) -> Result<Member, StoreError> {
    let mut columns = Columns::of("worker", row);
    let (id, name, is_leaving) = (WorkerId(columns.next()?), columns.next()?, columns.next()?);
    let groups: i64 = columns.next()?;
    Ok(Member { id, name, is_leaving, groups: u64::try_from(groups).unwrap_or_default() })
}

fn group_and_site(row: &Row) -> Result<(GroupName, Site), StoreError> {
    let mut columns = Columns::of("politeness_group", row);
    Ok((GroupName(columns.next()?), site(&mut columns)?))
}

fn site(columns: &mut Columns<'_>) -> Result<Site, StoreError> {
    let text: String = columns.next()?;
    Site::from_text(&text).ok_or_else(|| damaged("site", format!("{text} is no site")))
}

fn site_and_group(row: &Row) -> Result<(SiteKey, GroupName), StoreError> {
    let mut columns = Columns::of("hint", row);
    Ok((SiteKey(from_ordered(columns.next()?)), GroupName(columns.next()?)))
}

fn hint(row: &Row) -> Result<Hint, StoreError> {
    let mut columns = Columns::of("hint", row);
    let (site, group) = (SiteKey(from_ordered(columns.next()?)), GroupName(columns.next()?));
    Ok(Hint { site, group, of_record: columns.next()? })
}

fn placed(row: &Row) -> Result<Placed, StoreError> {
    let mut columns = Columns::of("politeness_group", row);
    Ok(Placed { group: GroupName(columns.next()?), owner: columns.next::<Option<i64>>()?.map(WorkerId) })
}
