//! Events, and the commands that answer them.

use std::net::IpAddr;

use bytes::Bytes;
use model::{
    Announcement, Candidate, ContentDigest, Distance, Exchange, Failure, FetchOutcome, FetchTask, Position, Purpose,
    Queued, Rendering, Resolved, SiteRecord, TaskId, Timestamp, Visit,
};
use robots::RobotsTxt;
use store::{Committed, Totals};
use weburl::{CanonicalUrl, Site, SiteKey, UrlKey};

use crate::{Content, Details, Settings, Spent};

/// An event.
#[derive(Debug)]
pub enum Event {
    /// The crawl begins or is resumed.
    Begin {
        /// Seeds that are not in the store yet.
        seeds: Vec<CanonicalUrl>,
        /// Seeds that are.
        known_seeds: Vec<CanonicalUrl>,
        /// The round of the crawl.
        round: u32,
        /// URLs fetched with success before in this round.
        pages: u64,
        /// Payload bytes recorded before in this round.
        bytes: u64,
        /// Requisites in the queue.
        requisites: u64,
    },
    /// The answer to [`Command::FindSites`].
    SitesFound {
        /// Sites with a queue.
        sites: Vec<SiteKey>,
        /// There are no more behind them.
        all: bool,
    },
    /// The answer to [`Command::Load`].
    Loaded {
        /// The site.
        site: SiteKey,
        /// Its record, if it was requested and exists.
        record: Option<Box<SiteRecord>>,
        /// The next entries of its queue.
        queue: Vec<Queued>,
        /// There are no more behind them.
        all: bool,
    },
    /// The answer to [`Command::Resolve`].
    Resolved {
        /// The site.
        site: SiteKey,
        /// Its addresses, and how long they hold.
        found: Result<Resolved, Failure>,
    },
    /// The answer to [`Command::Resolve`] for a site at an address that this run does not own: the site is released.
    Elsewhere {
        /// The site.
        site: SiteKey,
        /// The address at which its new owner requests it; `None` if another worker owns the site already.
        address: Option<IpAddr>,
    },
    /// The answer to [`Command::ReadRobots`].
    RobotsRead {
        /// The URL.
        url: UrlKey,
        /// The site as the store has it.
        record: Option<Box<SiteRecord>>,
    },
    /// The answer to [`Command::FindRules`].
    RulesFound {
        /// The site.
        site: SiteKey,
        /// The site as the store has it.
        record: Option<Box<SiteRecord>>,
    },
    /// The answer to [`Command::ReadRules`].
    RulesRead {
        /// The site.
        site: SiteKey,
        /// Its rules; `None` if they cannot be read.
        rules: Option<RobotsTxt>,
    },
    /// The answer to [`Command::ResolveTarget`].
    TargetResolved {
        /// The URL.
        url: UrlKey,
        /// The addresses of its site at which this run may ask; none behind a proxy, which resolves by itself.
        addresses: Result<Vec<IpAddr>, Failure>,
    },
    /// The answer to [`Command::ResolveTarget`] if only other workers own the addresses of the site.
    TargetElsewhere(UrlKey),
    /// The answer to [`Command::FetchTarget`] if another worker owns the address now: no request was sent.
    NotAsked(TaskId),
    /// The answer to [`Command::Fetch`].
    Fetched(Box<Fetch>),
    /// The answer to [`Command::Fetch`] after an internal error: it counts as a failed attempt.
    Lost {
        /// The task.
        task: TaskId,
        /// What happened, in words.
        detail: String,
    },
    /// The answer to one or more [`Command::Record`], in their order; see [`Event::committed`].
    Committed {
        /// The site and, where the record ended a URL's turn, the URL, of each record committed.
        records: Vec<(SiteKey, Option<u64>)>,
        /// The result of the store.
        committed: Committed,
    },
    /// Sites that this run owns now, or to whose queues other workers added URLs.
    SitesChanged {
        /// The sites.
        sites: Vec<SiteKey>,
        /// Other workers may have sent requests to them just before.
        taken_over: bool,
    },
    /// Sites of this run's own that have a queue: those among them that were taken for done are not.
    SitesWaiting(Vec<SiteKey>),
    /// Seeds from now on, which are in the store; each with the depth at which it begins.
    SeedsAdded(Vec<Candidate>),
    /// A round began in the store: later visits belong to it.
    RoundBegan(u32),
    /// What other workers have spent of the budgets.
    SpentElsewhere(Spent),
    /// Sites to release: they get no new requests. [`Command::Released`] answers for each.
    Release(Vec<SiteKey>),
    /// New settings. The scope, and the settings of files and fetches, stay as they were.
    SettingsChanged(Box<Settings>),
    /// Seeds that are not in the store yet.
    NewSeeds(Vec<CanonicalUrl>),
    /// The time given by [`Command::WakeAt`] has come.
    Wake,
    /// The user wants the crawl to stop.
    Stop,
}

/// The largest number of URLs found in one [`Event::Committed`]. The step handles this many within two milliseconds.
pub const FRESH_AT_ONCE_MAX: usize = 4_096;

impl Event {
    /// The begin of a run on a state with these totals and these known seeds.
    #[must_use]
    pub fn begin(seeds: Vec<CanonicalUrl>, known_seeds: Vec<CanonicalUrl>, totals: &Totals) -> Event {
        let round = totals.round.number;
        let (pages, bytes, requisites) = (totals.pages_in_round(), totals.bytes_of_round, totals.requisites_pending);
        Event::Begin { seeds, known_seeds, round, pages, bytes, requisites }
    }

    /// The answers to a commit. Many URLs come in parts, so other events get their turn in between. The last part has the records: until then
    /// their sites are busy.
    pub fn committed(
        records: Vec<(SiteKey, Option<u64>)>,
        mut committed: Committed,
        fresh_at_once_max: usize,
    ) -> impl Iterator<Item = Event> {
        let parts = committed.fresh.len().div_ceil(fresh_at_once_max.max(1)).max(1);
        let mut fresh = std::mem::take(&mut committed.fresh).into_iter();
        let mut last = Some((records, committed));
        (1..=parts).map(move |part| {
            let (records, others) = last.take_if(|_| part == parts).unwrap_or_default();
            let fresh = fresh.by_ref().take(fresh_at_once_max.max(1)).collect();
            Event::Committed { records, committed: Committed { fresh, ..others } }
        })
    }
}

/// A fetch with its parsed content.
#[derive(Debug)]
pub struct Fetch {
    /// The end of the fetch; the body is gone.
    pub outcome: FetchOutcome,
    /// What is in it.
    pub content: Content,
}

/// A command. Commands to the store are carried out in order.
#[derive(Debug)]
pub enum Command {
    /// Find sites with a queue, from behind a key.
    FindSites {
        /// The last one found before.
        after: Option<SiteKey>,
    },
    /// Read on in a site's queue.
    Load {
        /// The site.
        site: SiteKey,
        /// The site's record is wanted too.
        with_record: bool,
        /// From behind where.
        after: Option<Position>,
        /// Entries, at most.
        max: usize,
    },
    /// Find out a site's addresses.
    Resolve {
        /// The site.
        site: Site,
        /// The address that could not be reached when it was asked last; only where others crawl too.
        unreachable: Option<IpAddr>,
    },
    /// Read what the store has of the site to which other sites redirect their robots.txt: its own robots.txt, and
    /// until when it wants to be left alone.
    ReadRobots {
        /// The URL.
        url: CanonicalUrl,
    },
    /// Find the stored robots.txt of a site, to read its rules again.
    FindRules {
        /// The site.
        site: SiteKey,
    },
    /// Read the rules of a large robots.txt beside the step.
    ReadRules {
        /// The site.
        site: SiteKey,
        /// The status of the answer.
        code: u16,
        /// The file.
        body: Bytes,
    },
    /// Find out the addresses of a site to whose URL the robots.txt of others redirects.
    ResolveTarget {
        /// The URL.
        url: CanonicalUrl,
    },
    /// Fetch such a URL, unless another worker owns the task's address now.
    FetchTarget(FetchTask),
    /// Fetch a URL.
    Fetch(FetchTask),
    /// Record what happened: archive first, then state.
    Record(Box<Record>),
    /// Nothing of this site is under way any more, and all that was is committed.
    Released {
        /// The site.
        site: SiteKey,
        /// Where it is to be asked from now on, if it is let go of because of that ([`Event::Elsewhere`]).
        address: Option<IpAddr>,
    },
    /// Send [`Event::Wake`] at this time, instead of at any time given before.
    WakeAt(Timestamp),
    /// Drop all fetches under way, and all reads: the crawl ends, and does not wait for their answers.
    Abandon,
    /// The crawl has ended.
    Finish(End),
}

/// How a crawl ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// Nothing is left to do.
    Done,
    /// A limit set by the user was reached; it is named, with what it leaves.
    Limit(&'static str, Waiting),
    /// Only sites on hold are left.
    Held,
    /// The user stopped it, with work left.
    Stopped,
    /// Only sites in trouble are left, and patience ends before the next one is due; or no page came.
    Waiting(Waiting),
}

/// The work that an ended run leaves to the next.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Waiting {
    /// Sites in trouble; where the run ends without a page or at a limit, all sites that have something to do.
    pub sites: u64,
    /// When the first site in trouble is due, as a date; `None` if none is in trouble: some have answered, or no site at all can be reached.
    pub due: Option<Timestamp>,
    /// No site is in trouble, and some have answered.
    pub has_answers: bool,
    /// The site that could not be reached last.
    pub last_failure: Option<Unreached>,
}

/// A site that could not be reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unreached {
    /// The site.
    pub site: Site,
    /// What failed, in words.
    pub detail: String,
}

/// Everything to record of one event.
#[derive(Clone, Debug)]
pub struct Record {
    /// The site it concerns.
    pub site: SiteKey,
    /// The URL whose turn it ends.
    pub ends: Option<u64>,
    /// What went over the wire.
    pub exchanges: Vec<Exchange>,
    /// Bytes that the texts and links of the last answer's content take, about.
    pub content_bytes: usize,
    /// The digest of the last answer's content, if it may be a duplicate.
    pub content: Option<ContentDigest>,
    /// The digest of the last answer's block, if it was computed already.
    pub block_digest: Option<warc::Digest>,
    /// The result of rendering the answer.
    pub rendering: Option<Box<Rendering>>,
    /// The last exchange says that nothing has changed since the record of this date, at the same URL. It is of a robots.txt.
    pub unchanged_since: Option<Timestamp>,
    /// The outcome of a URL.
    pub visit: Option<Visit>,
    /// The visit before that, if the URL was visited again.
    pub last: Option<Box<Visit>>,
    /// How that URL was found, and the values of its answer, for observers of the recorder.
    pub visited: Option<Box<(Candidate, Option<Box<Details>>)>>,
    /// URLs settled by what a browser loaded with the page, with the values of their answers: they have rows too.
    pub loaded: Vec<(Candidate, Visit, Option<Box<Details>>)>,
    /// URLs found.
    pub found: Vec<Candidate>,
    /// The crawl has a limit of pages.
    pub pages_are_few: bool,
    /// URLs found and settled at once.
    pub settled: Vec<(Candidate, Visit)>,
    /// A URL to request again, for which purpose, and the number of requests so far.
    pub attempts: Option<(UrlKey, Purpose, u8)>,
    /// A URL that is not visited again after all, for this purpose.
    pub kept: Option<(UrlKey, Purpose)>,
    /// A URL whose links were judged again.
    pub judged_again: Option<(UrlKey, Distance)>,
    /// What the site says of changes of its pages.
    pub announced: Vec<Announcement>,
    /// The site's record.
    pub site_record: Option<SiteRecord>,
    /// URLs that count as seeds from now on.
    pub seeds: Vec<CanonicalUrl>,
}

impl Record {
    /// A record about a site that says nothing yet.
    #[must_use]
    pub fn of(site: SiteKey) -> Self {
        Record {
            site,
            ends: None,
            exchanges: Vec::new(),
            content_bytes: 0,
            content: None,
            block_digest: None,
            rendering: None,
            unchanged_since: None,
            visit: None,
            last: None,
            visited: None,
            loaded: Vec::new(),
            found: Vec::new(),
            pages_are_few: false,
            settled: Vec::new(),
            attempts: None,
            kept: None,
            judged_again: None,
            announced: Vec::new(),
            site_record: None,
            seeds: Vec::new(),
        }
    }

    /// How many URLs it says were found.
    pub(crate) fn found_count(&self) -> usize {
        self.found.len() + self.settled.len() + self.loaded.len()
    }
}

#[cfg(test)]
mod tests {
    use store::Relaxed;

    use super::*;

    #[test]
    fn many_urls_come_in_parts_and_the_records_with_the_last() {
        let url = |n: usize| CanonicalUrl::from_canonical(&format!("http://a.test/{n}")).expect("a URL");
        let records = vec![(url(0).key().site, None)];
        for (found, expect) in
            [(0, vec![(0, 1)]), (2, vec![(2, 1)]), (3, vec![(2, 0), (1, 1)]), (4, vec![(2, 0), (2, 1)])]
        {
            let relaxed = vec![Relaxed { key: url(9).key(), was: Candidate::seed(url(9)).position(), queued: None }];
            let fresh = (0..found).map(|n| Candidate::seed(url(n))).collect();
            let committed = Committed { fresh, relaxed, ..Committed::default() };
            let parts = Event::committed(records.clone(), committed, 2).map(|event| match event {
                Event::Committed { records, committed } => {
                    assert_eq!(records.len(), committed.relaxed.len(), "{found}");
                    (committed.fresh.len(), records.len())
                }
                other => panic!("{other:?}"),
            });
            assert_eq!(parts.collect::<Vec<_>>(), expect, "{found}");
        }
    }
}
