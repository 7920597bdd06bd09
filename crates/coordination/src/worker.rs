//! The state that all workers share, as a worker uses it.

use std::collections::BTreeMap;
use std::time::Duration;

use model::{ContentDigest, PayloadDigest, Position, Queued, SiteRecord, Visit};
use store::{Batch, Committed, CrawlView, Entry, StoreError};
use weburl::{CanonicalUrl, Site, SiteKey, UrlKey};

use crate::{
    Bids, Epoch, GroupName, Hint, InForce, Member, News, Owned, Placed, Renewed, SeedSite, Spending, WorkerError,
    WorkerId, WrittenSegment,
};

/// A worker on the shared state: its lease, its groups, and commits that are refused once it no longer owns them.
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
    fn renew(&self) -> Result<Renewed, WorkerError>;

    /// Requests to leave: the worker gets no more groups. It hands over its groups, and then calls [`Worker::gone`].
    ///
    /// # Errors
    /// The store failed.
    fn leave(&self) -> Result<(), WorkerError>;

    /// Ends its lease at once. It sends no more requests, visits in its unsealed segments are undone, and its remaining groups are
    /// free for others.
    ///
    /// # Errors
    /// The store failed.
    fn gone(&self) -> Result<(), WorkerError>;

    /// Declares workers dead whose lease ended longer than `grace` ago, but none after the end of its own lease. Undoes the visits in their
    /// unsealed segments, and frees their groups. Any worker may call it at any time; each call continues where an earlier one stopped. What
    /// shared storage has of these segments must be taken out of the archive afterwards ([`Worker::lost_segments`]).
    ///
    /// # Errors
    /// The store failed.
    fn reap(&self, grace: Duration) -> Result<Vec<WorkerId>, WorkerError>;

    /// The live workers, those that leave included.
    ///
    /// # Errors
    /// The store failed.
    fn members(&self) -> Result<Vec<Member>, WorkerError>;

    /// All groups that it owns.
    ///
    /// # Errors
    /// The store failed.
    fn owned(&self) -> Result<Vec<Owned>, WorkerError>;

    /// Groups without an owner, with their bids, at most `max`; those that have waited longest come first.
    ///
    /// # Errors
    /// The store failed.
    fn ownerless(&self, max: usize) -> Result<Vec<Bids>, WorkerError>;

    /// The groups that it owns, with the bids for them.
    ///
    /// # Errors
    /// The store failed.
    fn offers(&self) -> Result<Vec<Bids>, WorkerError>;

    /// Gives groups without an owner to live workers. The owner of a group that had an owner before sends no requests for `quiet`.
    /// Returns how many were given.
    ///
    /// # Errors
    /// The store failed.
    fn assign(&self, groups: &[(GroupName, WorkerId)], quiet: Duration) -> Result<usize, WorkerError>;

    /// Gives a group to another worker. Before that, this worker stops its requests to the group and commits its results.
    /// False if it still owns the group under this epoch, since the other worker is not alive.
    ///
    /// # Errors
    /// The store failed.
    fn hand_over(&self, group: (&GroupName, Epoch), to: WorkerId, quiet: Duration) -> Result<bool, WorkerError>;

    /// Gives up a group that it owns under this epoch: the group has no owner then.
    ///
    /// # Errors
    /// The store failed.
    fn give_up(&self, group: (&GroupName, Epoch)) -> Result<(), WorkerError>;

    /// Bids for groups with their distances, each group once.
    ///
    /// # Errors
    /// The store failed.
    fn bid(&self, groups: &[(GroupName, Duration)]) -> Result<(), WorkerError>;

    /// Groups without an owner, without a bid of this worker, and with fewer than `bidders` bids; with a site of each, at
    /// most `max`.
    ///
    /// # Errors
    /// The store failed.
    fn open_for_bids(&self, bidders: usize, max: usize) -> Result<Vec<(GroupName, Site)>, WorkerError>;

    /// Groups without a bid of this worker, with any owner, ordered by name, after `after`; with a site of each,
    /// at most `max`.
    ///
    /// # Errors
    /// The store failed.
    fn not_bid_for(&self, after: Option<&GroupName>, max: usize) -> Result<Vec<(GroupName, Site)>, WorkerError>;

    /// Pins sites to groups, unless they are pinned already. Returns the group of each.
    ///
    /// # Errors
    /// The store failed.
    fn place(&self, sites: &[(Site, GroupName)]) -> Result<Vec<Placed>, WorkerError>;

    /// Moves a site from a group that it owns to another, and notifies the owner of that group. Before that, nothing of the site is under
    /// way, and the site is due. False if this worker does not own the group under this epoch.
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
    /// and the number of workers, so they share the work.
    ///
    /// # Errors
    /// The store failed.
    fn unplaced(&self, share: (usize, usize), max: usize) -> Result<Vec<Site>, WorkerError>;

    /// Takes the hints about its own sites to whose queues others added URLs, at most `max`. A site may be named twice, or not at all:
    /// a queue that ran empty is read again before its site counts as done.
    ///
    /// # Errors
    /// The store failed.
    fn hints(&self, max: usize) -> Result<Vec<Hint>, WorkerError>;

    /// The sites of its own groups that have a queue, with their groups.
    ///
    /// # Errors
    /// The store failed.
    fn waiting(&self) -> Result<Vec<(SiteKey, GroupName)>, WorkerError>;

    /// The settings in force; `None` if they are those after the change `known`.
    ///
    /// # Errors
    /// The store failed.
    fn in_force(&self, known: Option<i64>) -> Result<Option<InForce>, StoreError>;

    /// Reports that this worker goes by all changes up to this number.
    ///
    /// # Errors
    /// The store failed.
    fn goes_by(&self, changes: i64) -> Result<(), StoreError>;

    /// What the other workers have spent of the budgets of the round, as far as it is committed.
    ///
    /// # Errors
    /// The store failed.
    fn spent_elsewhere(&self) -> Result<Spending, StoreError>;

    /// Commits as [`store::Store::commit`], if it still owns the groups of all sites with visits in the batch.
    ///
    /// A duplicate whose original was lost meanwhile stays in the queue, and its site is among the [`Worker::hints`]. `seeds` is the number
    /// of the last seed ([`Worker::news`]) that was known when the settled URLs of the batch were judged. If there are more seeds now, these
    /// URLs are judged again ([`Worker::unjudged`]).
    ///
    /// # Errors
    /// [`WorkerError::Fenced`]: it does not. [`WorkerError::Lost`]: it was declared dead. Nothing was written.
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

    /// The same for one of its own sites. It omits a robots.txt that another worker recorded in an unsealed segment, which
    /// would be lost with that worker.
    ///
    /// # Errors
    /// The store failed.
    fn own_site(&self, key: SiteKey) -> Result<Option<SiteRecord>, StoreError>;

    /// Sites whose robots.txt has its record in a segment of this worker that is not sealed, with the serial numbers of these segments.
    /// If such a site gets another owner, that one does not rely on the file ([`Worker::own_site`]), and requests it again.
    ///
    /// # Errors
    /// The store failed.
    fn unsealed_robots(&self) -> Result<Vec<(SiteKey, u32)>, WorkerError>;

    /// As [`store::Store::holder`].
    ///
    /// # Errors
    /// The store failed.
    fn holder(&self, content: ContentDigest, label: Option<PayloadDigest>) -> Result<Option<UrlKey>, StoreError>;

    /// The round of the crawl, and the seeds after `last`; 0 is before the first. A seed whose depth becomes 0
    /// later is among them again.
    ///
    /// # Errors
    /// The store failed.
    fn news(&self, last: i64) -> Result<News, StoreError>;

    /// URLs that a worker excluded without knowing all seeds, at most `max`. Any worker may judge them by the seeds it learns of after
    /// this call.
    ///
    /// # Errors
    /// The store failed.
    fn unjudged(&self, max: usize) -> Result<Vec<CanonicalUrl>, StoreError>;

    /// Reports that these URLs were judged again: they stay excluded, except those that `belong` to the crawl and are queued.
    ///
    /// # Errors
    /// The store failed.
    fn judged(&self, urls: &[UrlKey], belong: &[UrlKey]) -> Result<(), StoreError>;

    /// A unique serial number for a segment.
    ///
    /// # Errors
    /// The store failed.
    fn next_serial(&self) -> Result<u32, StoreError>;

    /// Marks one of its segments as final and on shared storage: from now on its visits stay, even if the worker is lost.
    ///
    /// # Errors
    /// [`WorkerError::Lost`]: the worker was declared dead, or wrote no such segment. Its files on shared storage must be removed.
    fn seal(&self, serial: u32) -> Result<(), WorkerError>;

    /// The segments of all workers, by serial number.
    ///
    /// # Errors
    /// The store failed.
    fn segments(&self) -> Result<Vec<WrittenSegment>, StoreError>;

    /// As [`store::CrawlView::taken_back`].
    ///
    /// # Errors
    /// The store failed.
    fn taken_back(&self) -> Result<BTreeMap<u32, Vec<u64>>, StoreError>;

    /// The names of segments whose visits were undone. Their files on shared storage must be removed, and then the segments must be
    /// forgotten ([`Worker::forget`]). Until then every worker sees them.
    ///
    /// # Errors
    /// The store failed.
    fn lost_segments(&self) -> Result<Vec<String>, StoreError>;

    /// Reports that no file of a lost segment is left on shared storage.
    ///
    /// # Errors
    /// The store failed.
    fn forget(&self, lost_segment: &str) -> Result<(), StoreError>;

    /// The secrets of the settings, if there are any.
    ///
    /// # Errors
    /// The store failed.
    fn secrets(&self) -> Result<Option<String>, StoreError>;

    /// The sites of seeds that were named, or got another password, after the number `last`; and the number of the last
    /// one. 0 is before the first.
    ///
    /// # Errors
    /// The store failed.
    fn seed_sites_behind(&self, last: i64) -> Result<(Vec<SeedSite>, i64), StoreError>;
}
