//! What a worker asks of the state that all workers share.

use std::time::Duration;

use model::{ContentDigest, PayloadDigest, Position, Queued, SiteRecord, Visit};
use store::{Batch, Committed, CrawlView, Entry, StoreError};
use weburl::{CanonicalUrl, Site, SiteKey, UrlKey};

use crate::{
    Bids, Epoch, GroupName, LeaseStatus, Member, News, Owned, Placed, SeedSite, WorkerError, WorkerId, WrittenSegment,
};

/// A worker on the shared state: its lease, the groups it owns, and commits that are refused where it owns them no longer.
pub trait Worker: Send + Sync {
    /// The state of the whole crawl after the last commit of any worker.
    ///
    /// # Errors
    /// The store failed.
    fn view(&self) -> Result<Box<dyn CrawlView>, StoreError>;

    /// Its identity.
    #[must_use]
    fn id(&self) -> WorkerId;

    /// The id of the crawl, as [`CrawlView::crawl_id`].
    #[must_use]
    fn crawl_id(&self) -> &str;

    /// How long its lease is.
    #[must_use]
    fn ttl(&self) -> Duration;

    /// Renews the lease: it now lasts until `ttl` after the moment before this was called.
    ///
    /// # Errors
    /// [`WorkerError::Lost`]: it is over.
    fn renew(&self) -> Result<LeaseStatus, WorkerError>;

    /// Is given nothing more from now on. What it owns it hands over, and then goes ([`Worker::gone`]).
    ///
    /// # Errors
    /// The store failed.
    fn leave(&self) -> Result<(), WorkerError>;

    /// Ends its lease at once: it asks nothing more, visits in segments that it has not sealed are undone, and what it still owns is
    /// free for others.
    ///
    /// # Errors
    /// The store failed.
    fn gone(&self) -> Result<(), WorkerError>;

    /// Calls those dead whose lease ended longer than `grace` ago, undoes the visits in segments that they had not sealed, and frees what
    /// they owned. Any worker may, at any time, and each call goes on where one before stopped or was cut off. What lies of the
    /// segments on shared storage is to be removed then ([`Worker::lost_segments`]).
    ///
    /// # Errors
    /// The store failed.
    fn reap(&self, grace: Duration) -> Result<Vec<WorkerId>, WorkerError>;

    /// The workers that are alive, those that leave among them.
    ///
    /// # Errors
    /// The store failed.
    fn members(&self) -> Result<Vec<Member>, WorkerError>;

    /// All that it owns.
    ///
    /// # Errors
    /// The store failed.
    fn owned(&self) -> Result<Vec<Owned>, WorkerError>;

    /// Groups that nobody owns, with their bids, those that have waited longest first; at most `max`.
    ///
    /// # Errors
    /// The store failed.
    fn ownerless(&self, max: usize) -> Result<Vec<Bids>, WorkerError>;

    /// The groups that it owns, with the bids for them.
    ///
    /// # Errors
    /// The store failed.
    fn offers(&self) -> Result<Vec<Bids>, WorkerError>;

    /// Gives groups that nobody owns to workers that are alive. Who gets one that was owned before asks nothing for `quiet`.
    /// Says how many were given.
    ///
    /// # Errors
    /// The store failed.
    fn assign(&self, groups: &[(GroupName, WorkerId)], quiet: Duration) -> Result<usize, WorkerError>;

    /// Gives a group to another worker. Before, it stops asking it, and commits what it has.
    /// False if it does not own the group, or the other is not alive.
    ///
    /// # Errors
    /// The store failed.
    fn hand_over(&self, group: &GroupName, to: WorkerId, quiet: Duration) -> Result<bool, WorkerError>;

    /// Gives up a group: it has no owner then. False if it does not own it.
    ///
    /// # Errors
    /// The store failed.
    fn give_up(&self, group: &GroupName) -> Result<bool, WorkerError>;

    /// Says how far away groups are, each of them once.
    ///
    /// # Errors
    /// The store failed.
    fn bid(&self, groups: &[(GroupName, Duration)]) -> Result<(), WorkerError>;

    /// Groups that nobody owns, that it has not bid for, and for which fewer than `bidders` have bid; with a site of each, at
    /// most `max`.
    ///
    /// # Errors
    /// The store failed.
    fn open_for_bids(&self, bidders: usize, max: usize) -> Result<Vec<(GroupName, Site)>, WorkerError>;

    /// Groups that it has not bid for, whoever owns them, in the order of their names from behind `after`; with a site of each,
    /// at most `max`.
    ///
    /// # Errors
    /// The store failed.
    fn not_bid_for(&self, after: Option<&GroupName>, max: usize) -> Result<Vec<(GroupName, Site)>, WorkerError>;

    /// Pins sites to groups, but for those that are pinned. Says where each is.
    ///
    /// # Errors
    /// The store failed.
    fn place(&self, sites: &[(Site, GroupName)]) -> Result<Vec<Placed>, WorkerError>;

    /// Pins a site of a group that it owns to another, whose owner, if there is one, learns of it. Before, nothing of the site is under
    /// way any more, and the time at which it may be asked next has come. False if it does not own the group under this epoch.
    ///
    /// # Errors
    /// The store failed.
    fn move_site(&self, site: SiteKey, from: (&GroupName, Epoch), to: &GroupName) -> Result<bool, WorkerError>;

    /// The sites of some groups.
    ///
    /// # Errors
    /// The store failed.
    fn sites(&self, groups: &[GroupName]) -> Result<Vec<(SiteKey, GroupName)>, WorkerError>;

    /// Sites with a queue that are not pinned to a group, at most `max`: any worker may place them. `share` is the worker's number
    /// and how many there are, so that they need not all do the same.
    ///
    /// # Errors
    /// The store failed.
    fn unplaced(&self, share: (usize, usize), max: usize) -> Result<Vec<Site>, WorkerError>;

    /// Takes notice of sites of its own in whose queues others put something, at most `max`. Some may be named twice, or not at all:
    /// a queue that ran empty is read again before its site counts as done.
    ///
    /// # Errors
    /// The store failed.
    fn hints(&self, max: usize) -> Result<Vec<(SiteKey, GroupName)>, WorkerError>;

    /// The sites of its own groups that have a queue, with their groups.
    ///
    /// # Errors
    /// The store failed.
    fn waiting(&self) -> Result<Vec<(SiteKey, GroupName)>, WorkerError>;

    /// Whether the crawl is paused.
    ///
    /// # Errors
    /// The store failed.
    fn is_paused(&self) -> Result<bool, WorkerError>;

    /// Commits as [`store::Store::commit`], if it still owns the groups of the sites that the batch has visits of.
    ///
    /// A duplicate whose original was lost meanwhile stays in the queue, and its site is among the [`Worker::hints`]. `seeds` is the number
    /// of the last seed ([`Worker::news`]) by which was judged what the batch settles: where there are more by now, that is
    /// judged again ([`Worker::unjudged`]).
    ///
    /// # Errors
    /// [`WorkerError::Fenced`]: it does not. [`WorkerError::Lost`]: it is called dead. Nothing was written.
    fn commit(&self, fence: &[(GroupName, Epoch)], seeds: i64, batch: &Batch) -> Result<Committed, WorkerError>;

    /// The queue of a site in order, as [`CrawlView::pending`].
    ///
    /// # Errors
    /// The store failed.
    fn pending(&self, site: SiteKey, after: Option<Position>, max: usize) -> Result<Vec<Queued>, StoreError>;

    /// As [`CrawlView::get`].
    ///
    /// # Errors
    /// The store failed.
    fn get(&self, key: UrlKey) -> Result<Option<Entry>, StoreError>;

    /// As [`CrawlView::earlier`].
    ///
    /// # Errors
    /// The store failed.
    fn earlier(&self, key: UrlKey) -> Result<Vec<Visit>, StoreError>;

    /// As [`CrawlView::site`].
    ///
    /// # Errors
    /// The store failed.
    fn site(&self, key: SiteKey) -> Result<Option<SiteRecord>, StoreError>;

    /// The same of a site of its own; without what another worker knew of robots.txt and has recorded in a segment that is not sealed, which
    /// would be lost with that worker.
    ///
    /// # Errors
    /// The store failed.
    fn own_site(&self, key: SiteKey) -> Result<Option<SiteRecord>, StoreError>;

    /// As [`store::Store::holder`].
    ///
    /// # Errors
    /// The store failed.
    fn holder(&self, content: ContentDigest, label: PayloadDigest) -> Result<Option<UrlKey>, StoreError>;

    /// The round of the crawl, and the seeds behind the `last` that is known; 0 is before the first. A seed that comes to be at depth 0
    /// later is among them again.
    ///
    /// # Errors
    /// The store failed.
    fn news(&self, last: i64) -> Result<News, StoreError>;

    /// URLs that were excluded by who did not know all seeds then, at most `max`. Any worker may judge them by those it learns of after
    /// this call.
    ///
    /// # Errors
    /// The store failed.
    fn unjudged(&self, max: usize) -> Result<Vec<CanonicalUrl>, StoreError>;

    /// Says that these URLs were judged again: they stay excluded, but for those that `belong` to the crawl and are put into the queue.
    ///
    /// # Errors
    /// The store failed.
    fn judged(&self, urls: &[UrlKey], belong: &[UrlKey]) -> Result<(), StoreError>;

    /// A serial number for a segment, which nobody else gets.
    ///
    /// # Errors
    /// The store failed.
    fn next_serial(&self) -> Result<u32, StoreError>;

    /// Says that a segment of its own is final and lies on shared storage: from now on its visits stay whatever becomes of the worker.
    ///
    /// # Errors
    /// [`WorkerError::Lost`]: the worker was declared dead, or wrote no such segment. What lies on shared storage is to be removed.
    fn seal(&self, serial: u32) -> Result<(), WorkerError>;

    /// The segments of all workers, by serial number.
    ///
    /// # Errors
    /// The store failed.
    fn segments(&self) -> Result<Vec<WrittenSegment>, StoreError>;

    /// The names of segments whose visits were undone. What lies of them on shared storage is to be removed, then they are to be
    /// forgotten ([`Worker::forget`]). Until then every worker is told of them.
    ///
    /// # Errors
    /// The store failed.
    fn lost_segments(&self) -> Result<Vec<String>, StoreError>;

    /// Says that nothing is left of a lost segment on shared storage.
    ///
    /// # Errors
    /// The store failed.
    fn forget(&self, lost_segment: &str) -> Result<(), StoreError>;

    /// The secrets of the settings, if there are any.
    ///
    /// # Errors
    /// The store failed.
    fn secrets(&self) -> Result<Option<String>, StoreError>;

    /// The sites of seeds that were named, or got another password, behind the `last` number that is known; and the number of the last
    /// one. 0 is before the first.
    ///
    /// # Errors
    /// The store failed.
    fn seed_sites_behind(&self, last: i64) -> Result<(Vec<SeedSite>, i64), StoreError>;
}
