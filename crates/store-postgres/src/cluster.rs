//! Several workers on one state: who may ask which sites, and commits that are refused from whoever may not.
//!
//! What is owned is a *politeness group*: an address with all sites on it, or a site by itself where addresses do not count.
//! So one process alone decides when an address is asked and when each of its sites is. Each change of the owner raises
//! the group's *epoch*; a commit names the groups it is about with their epochs, and is refused as a whole if one of them has changed
//! ([`WorkerError::Fenced`]). Either the commit comes first and the takeover waits for it, or the takeover comes first and the
//! commit writes nothing. So the state is safe whatever a worker does.
//!
//! The servers asked are protected by time. A worker has a *lease*: it may ask them until `ttl` after the moment *before* it
//! sent the renewal that succeeded, by its own clock, and looks at the clock last thing before each request. The others wait for
//! `grace` after the lease's end before they call it dead, and whoever takes over asks nothing for `quiet` more. `grace` must
//! exceed what clocks may differ over a `ttl`, and `quiet` the delay of the sites.
//!
//! A worker's identity is made when it joins. A process that was started again, or lost its lease, is another worker.
//!
//! Who should own a group is not decided here: this says which have no owner and who has bid how much, and takes the decision.

mod control;
mod secrets;
mod segments;
mod statements;
mod values;
mod visited;

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

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

pub use control::{Control, Counts, Domain, Outcomes, Reach, Setup, Shared, Window};
pub use secrets::SeedSite;
pub use segments::WrittenSegment;
pub use values::{Bid, Bids, Epoch, GroupName, LeaseStatus, Member, News, Owned, Placed, WorkerError, WorkerId};
pub use visited::Visited;

/// A worker.
pub struct Worker {
    id: WorkerId,
    crawl_id: String,
    ttl: Duration,
    writer: Mutex<Writer>,
    /// Leases are renewed beside commits, not behind them.
    session: Session,
    reader: Reader,
}

impl Worker {
    /// The state of the whole crawl after the last commit of any worker.
    ///
    /// # Errors
    /// As [`crate::PostgresStore::open`].
    pub fn view(&self) -> Result<Box<dyn CrawlView>, StoreError> {
        PostgresView::of_this_moment(&self.reader, &self.crawl_id)
    }

    /// Joins, under a new identity. A single process that has the store open ([`crate::PostgresStore`]) keeps workers out, and they keep it
    /// out. `name` is where others reach it.
    ///
    /// # Errors
    /// As [`crate::PostgresStore::open`].
    pub fn join(address: &Address, schema: &Schema, name: &str, ttl: Duration) -> Result<Self, StoreError> {
        let doing = "joining the workers";
        let (committing, crawl_id) = Session::open(address, schema, Role::Work)?;
        let crawl_id = crawl_id.ok_or_else(|| damaged("meta", "no crawl id"))?;
        let rows =
            committing.query(doing, statements::JOIN, vec![Box::new(name.to_owned()) as _, seconds(ttl) as _])?;
        let row = rows.first().ok_or_else(|| damaged("worker", "it cannot be written to"))?;
        let mut columns = Columns::of("worker", row);
        let (id, process) = (columns.next()?, columns.next()?);
        let (session, _) = Session::open(address, schema, Role::Read)?;
        Ok(Worker {
            id: WorkerId(id),
            crawl_id,
            ttl,
            writer: Mutex::new(Writer::new(committing, id, process, 0)),
            session,
            reader: Reader::open(address, schema)?,
        })
    }

    /// Its identity.
    #[must_use]
    pub fn id(&self) -> WorkerId {
        self.id
    }

    /// The id of the crawl, as [`store::Store::crawl_id`].
    #[must_use]
    pub fn crawl_id(&self) -> &str {
        &self.crawl_id
    }

    /// How long its lease is.
    #[must_use]
    pub fn ttl(&self) -> Duration {
        self.ttl
    }

    /// Renews the lease: it now lasts until `ttl` after the moment before this was called.
    ///
    /// # Errors
    /// [`WorkerError::Lost`]: it is over.
    pub fn renew(&self) -> Result<LeaseStatus, WorkerError> {
        let parameters = self.with(vec![seconds(self.ttl)]);
        let rows = self.session.query("renewing the lease", statements::RENEW, parameters)?;
        let Some(row) = rows.first() else { return Err(WorkerError::Lost) };
        let is_leaving: bool = Columns::of("worker", row).next()?;
        Ok(if is_leaving { LeaseStatus::Leaving } else { LeaseStatus::Alive })
    }

    /// Is given nothing more from now on. What it owns it hands over, and then goes ([`Worker::gone`]).
    ///
    /// # Errors
    /// The store failed.
    pub fn leave(&self) -> Result<(), WorkerError> {
        self.session.query("leaving the workers", statements::LEAVE, self.with(Vec::new()))?;
        Ok(())
    }

    /// Ends its lease at once: it asks nothing more, visits in segments that it has not sealed are undone, and what it still owns is
    /// free for others.
    ///
    /// # Errors
    /// The store failed.
    pub fn gone(&self) -> Result<(), WorkerError> {
        self.session.query("leaving the workers", statements::GONE, self.with(Vec::new()))?;
        self.bury()
    }

    /// Calls those dead whose lease ended longer than `grace` ago, undoes the visits in segments that they had not sealed, and frees what
    /// they owned. Any worker may, at any time, and each call goes on where one before stopped or was cut off. What lies of the
    /// segments on shared storage is to be removed then ([`Worker::lost_segments`]).
    ///
    /// # Errors
    /// The store failed.
    pub fn reap(&self, grace: Duration) -> Result<Vec<WorkerId>, WorkerError> {
        let rows = self.session.query("looking for dead workers", statements::REAP, vec![seconds(grace)])?;
        let dead = rows.iter().map(|row| Columns::of("worker", row).next().map(WorkerId)).collect::<Result<_, _>>()?;
        self.bury()?;
        Ok(dead)
    }

    /// The workers that are alive, those that leave among them.
    ///
    /// # Errors
    /// The store failed.
    pub fn members(&self) -> Result<Vec<Member>, WorkerError> {
        Ok(members(&self.session)?)
    }

    /// All that it owns.
    ///
    /// # Errors
    /// The store failed.
    pub fn owned(&self) -> Result<Vec<Owned>, WorkerError> {
        let rows = self.session.query("reading the groups owned", statements::OWNED, self.with(Vec::new()))?;
        Ok(rows.iter().map(owned).collect::<Result<_, _>>()?)
    }

    /// Groups that nobody owns, with their bids, those that have waited longest first; at most `max`.
    ///
    /// # Errors
    /// The store failed.
    pub fn ownerless(&self, max: usize) -> Result<Vec<Bids>, WorkerError> {
        let parameters = vec![Box::new(limit(max)) as _];
        let rows = self.session.query("looking for groups without an owner", statements::OWNERLESS, parameters)?;
        Ok(bids(&rows)?)
    }

    /// The groups that it owns, with the bids for them.
    ///
    /// # Errors
    /// The store failed.
    pub fn offers(&self) -> Result<Vec<Bids>, WorkerError> {
        let rows = self.session.query("reading the bids", statements::OFFERS, self.with(Vec::new()))?;
        Ok(bids(&rows)?)
    }

    /// Gives groups that nobody owns to workers that are alive. Who gets one that was owned before asks nothing for `quiet`.
    /// Says how many were given.
    ///
    /// # Errors
    /// The store failed.
    pub fn assign(&self, groups: &[(GroupName, WorkerId)], quiet: Duration) -> Result<usize, WorkerError> {
        let (names, workers): (Vec<String>, Vec<i64>) =
            groups.iter().map(|(group, worker)| (group.0.clone(), worker.0)).unzip();
        let parameters: Parameters = vec![Box::new(names), Box::new(workers), seconds(quiet)];
        Ok(self.session.query("giving groups to workers", statements::ASSIGN, parameters)?.len())
    }

    /// Gives a group to another worker. Before, it stops asking it, and commits what it has.
    /// False if it does not own the group, or the other is not alive.
    ///
    /// # Errors
    /// The store failed.
    pub fn hand_over(&self, group: &GroupName, to: WorkerId, quiet: Duration) -> Result<bool, WorkerError> {
        let parameters = self.with(vec![Box::new(to.0), Box::new(group.0.clone()), seconds(quiet)]);
        Ok(!self.session.query("handing a group over", statements::HAND_OVER, parameters)?.is_empty())
    }

    /// Gives up a group: it has no owner then. False if it does not own it.
    ///
    /// # Errors
    /// The store failed.
    pub fn give_up(&self, group: &GroupName) -> Result<bool, WorkerError> {
        let parameters = self.with(vec![Box::new(group.0.clone())]);
        Ok(!self.session.query("giving a group up", statements::GIVE_UP, parameters)?.is_empty())
    }

    /// Says how far away groups are, each of them once.
    ///
    /// # Errors
    /// The store failed.
    pub fn bid(&self, groups: &[(GroupName, Duration)]) -> Result<(), WorkerError> {
        let micros = |time: &Duration| i64::try_from(time.as_micros()).unwrap_or(i64::MAX);
        let (names, micros): (Vec<String>, Vec<i64>) =
            groups.iter().map(|(group, round_trip)| (group.0.clone(), micros(round_trip))).unzip();
        let parameters = self.with(vec![Box::new(names), Box::new(micros)]);
        self.session.query("bidding for groups", statements::BID, parameters)?;
        Ok(())
    }

    /// Groups that nobody owns, that it has not bid for, and for which fewer than `bidders` have bid; with a site of each, at
    /// most `max`.
    ///
    /// # Errors
    /// The store failed.
    pub fn open_for_bids(&self, bidders: usize, max: usize) -> Result<Vec<(GroupName, Site)>, WorkerError> {
        let parameters = self.with(vec![Box::new(limit(bidders)), Box::new(limit(max))]);
        let rows = self.session.query("looking for groups to bid for", statements::OPEN_FOR_BIDS, parameters)?;
        Ok(rows.iter().map(group_and_site).collect::<Result<_, _>>()?)
    }

    /// Groups that it has not bid for, whoever owns them, in the order of their names from behind `after`; with a site of each,
    /// at most `max`.
    ///
    /// # Errors
    /// The store failed.
    pub fn not_bid_for(&self, after: Option<&GroupName>, max: usize) -> Result<Vec<(GroupName, Site)>, WorkerError> {
        let after = after.map_or_else(String::new, |group| group.0.clone());
        let parameters = self.with(vec![Box::new(after), Box::new(limit(max))]);
        let rows = self.session.query("looking for groups to bid for", statements::NOT_BID_FOR, parameters)?;
        Ok(rows.iter().map(group_and_site).collect::<Result<_, _>>()?)
    }

    /// Pins sites to groups, but for those that are pinned. Says where each is.
    ///
    /// # Errors
    /// The store failed.
    pub fn place(&self, sites: &[(Site, GroupName)]) -> Result<Vec<Placed>, WorkerError> {
        let (keys, (texts, groups)): (Vec<i64>, (Vec<String>, Vec<String>)) = sites
            .iter()
            .map(|(site, group)| (ordered(site.key().0), (site.as_str().to_owned(), group.0.clone())))
            .unzip();
        let parameters: Parameters = vec![Box::new(keys), Box::new(texts), Box::new(groups)];
        let rows = self.session.query("placing sites", statements::PLACE, parameters)?;
        Ok(rows.iter().map(placed).collect::<Result<_, _>>()?)
    }

    /// Pins a site of a group that it owns to another, whose owner, if there is one, learns of it. Before, nothing of the site is under
    /// way any more, and the time at which it may be asked next has come. False if it does not own the group under this epoch.
    ///
    /// # Errors
    /// The store failed.
    pub fn move_site(&self, site: SiteKey, from: (&GroupName, Epoch), to: &GroupName) -> Result<bool, WorkerError> {
        let (group, epoch) = from;
        let parameters: Parameters =
            vec![Box::new(ordered(site.0)), Box::new(group.0.clone()), Box::new(epoch.0), Box::new(to.0.clone())];
        let rows = self.session.query("moving a site", statements::MOVE, self.with(parameters))?;
        let row = rows.first().ok_or_else(|| damaged("site", "a move without an answer"))?;
        Ok(Columns::of("site", row).next()?)
    }

    /// The sites of some groups.
    ///
    /// # Errors
    /// The store failed.
    pub fn sites(&self, groups: &[GroupName]) -> Result<Vec<(SiteKey, GroupName)>, WorkerError> {
        let names: Vec<String> = groups.iter().map(|group| group.0.clone()).collect();
        let rows = self.session.query("reading the sites of groups", statements::SITES, vec![Box::new(names)])?;
        Ok(rows.iter().map(site_and_group).collect::<Result<_, _>>()?)
    }

    /// Sites with a queue that are not pinned to a group, at most `max`: any worker may place them. `share` is the worker's number
    /// and how many there are, so that they need not all do the same.
    ///
    /// # Errors
    /// The store failed.
    pub fn unplaced(&self, share: (usize, usize), max: usize) -> Result<Vec<Site>, WorkerError> {
        let parameters: Parameters =
            vec![Box::new(limit(share.1.max(1))), Box::new(limit(share.0)), Box::new(limit(max))];
        let rows = self.session.query("looking for sites to place", statements::UNPLACED, parameters)?;
        Ok(rows.iter().map(|row| site(&mut Columns::of("unplaced", row))).collect::<Result<_, _>>()?)
    }

    /// Takes notice of sites of its own in whose queues others put something, at most `max`. Some may be named twice, or not at all:
    /// a queue that ran empty is read again before its site counts as done.
    ///
    /// # Errors
    /// The store failed.
    pub fn hints(&self, max: usize) -> Result<Vec<(SiteKey, GroupName)>, WorkerError> {
        let parameters = self.with(vec![Box::new(limit(max))]);
        let rows = self.session.query("reading hints", statements::HINTS, parameters)?;
        Ok(rows.iter().map(site_and_group).collect::<Result<_, _>>()?)
    }

    /// The sites of its own groups that have a queue, with their groups.
    ///
    /// # Errors
    /// The store failed.
    pub fn waiting(&self) -> Result<Vec<(SiteKey, GroupName)>, WorkerError> {
        let rows = self.session.query("looking for queues", statements::WAITING, self.with(Vec::new()))?;
        Ok(rows.iter().map(site_and_group).collect::<Result<_, _>>()?)
    }

    /// Whether the crawl is paused.
    ///
    /// # Errors
    /// The store failed.
    pub fn is_paused(&self) -> Result<bool, WorkerError> {
        let rows = self.session.query("asking whether the crawl is paused", statements::IS_PAUSED, Vec::new())?;
        Ok(rows.first().map(|row| Columns::of("crawl", row).next()).transpose()?.unwrap_or(false))
    }

    /// Commits as [`store::Store::commit`], if it still owns the groups of the sites that the batch has visits of.
    ///
    /// A duplicate whose original was lost meanwhile stays in the queue, and its site is among the [`Worker::hints`]. `seeds` is the number
    /// of the last seed ([`Worker::news`]) by which was judged what the batch settles: where there are more by now, that is
    /// judged again ([`Worker::unjudged`]).
    ///
    /// # Errors
    /// [`WorkerError::Fenced`]: it does not. [`WorkerError::Lost`]: it is called dead. Nothing was written.
    pub fn commit(&self, fence: &[(GroupName, Epoch)], seeds: i64, batch: &Batch) -> Result<Committed, WorkerError> {
        let fence: Vec<(String, i64)> = fence.iter().map(|(group, epoch)| (group.0.clone(), epoch.0)).collect();
        let mut writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        writer.commit(&fence, seeds, batch).map_err(|error| match error {
            error if is_fenced(&error) => WorkerError::Fenced,
            error if is_dead(&error) => WorkerError::Lost,
            error => WorkerError::Store(error),
        })
    }

    /// The queue of a site in order, as [`store::Store::pending`].
    ///
    /// # Errors
    /// The store failed.
    pub fn pending(&self, site: SiteKey, after: Option<Position>, max: usize) -> Result<Vec<Queued>, StoreError> {
        self.reader.pending(site, after, max)
    }

    /// As [`store::Store::get`].
    ///
    /// # Errors
    /// The store failed.
    pub fn get(&self, key: UrlKey) -> Result<Option<Entry>, StoreError> {
        self.reader.get(key)
    }

    /// As [`store::CrawlView::earlier`].
    ///
    /// # Errors
    /// The store failed.
    pub fn earlier(&self, key: UrlKey) -> Result<Vec<Visit>, StoreError> {
        self.reader.earlier(key)
    }

    /// As [`store::Store::site`].
    ///
    /// # Errors
    /// The store failed.
    pub fn site(&self, key: SiteKey) -> Result<Option<SiteRecord>, StoreError> {
        self.reader.site(key)
    }

    /// The same of a site of its own; without what another worker knew of robots.txt and has recorded in a segment that is not sealed, which
    /// would be lost with that worker.
    ///
    /// # Errors
    /// The store failed.
    pub fn own_site(&self, key: SiteKey) -> Result<Option<SiteRecord>, StoreError> {
        self.reader.site_of(self.id.0, key)
    }

    /// As [`store::Store::holder`].
    ///
    /// # Errors
    /// The store failed.
    pub fn holder(&self, content: ContentDigest, label: PayloadDigest) -> Result<Option<UrlKey>, StoreError> {
        self.reader.holder(content, label)
    }

    /// The round of the crawl, and the seeds behind the `last` that is known; 0 is before the first. A seed that comes to be at depth 0
    /// later is among them again.
    ///
    /// # Errors
    /// The store failed.
    pub fn news(&self, last: i64) -> Result<News, StoreError> {
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

    /// URLs that were excluded by who did not know all seeds then, at most `max`. Any worker may judge them by those it learns of after
    /// this call.
    ///
    /// # Errors
    /// The store failed.
    pub fn unjudged(&self, max: usize) -> Result<Vec<CanonicalUrl>, StoreError> {
        let rows = self.session.query("reading excluded URLs", statements::UNJUDGED, vec![Box::new(limit(max))])?;
        rows.iter().map(|row| Columns::of("url", row).url()).collect()
    }

    /// Says that these URLs were judged again: they stay excluded, but for those that `belong` to the crawl and are put into the queue.
    ///
    /// # Errors
    /// The store failed.
    pub fn judged(&self, urls: &[UrlKey], belong: &[UrlKey]) -> Result<(), StoreError> {
        let parameters = keys(urls).into_iter().chain(keys(belong)).collect();
        self.session.query("admitting excluded URLs", statements::JUDGED, parameters)?;
        Ok(())
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

fn placed(row: &Row) -> Result<Placed, StoreError> {
    let mut columns = Columns::of("politeness_group", row);
    Ok(Placed { group: GroupName(columns.next()?), owner: columns.next::<Option<i64>>()?.map(WorkerId) })
}
