//! The judge of a simulation: it sees what the servers see and what the store keeps, and knows the rules by itself.
//!
//! Invariant: no rule here is decided by code of the crawler. What the wishes say is taken as numbers; what follows from
//! them is computed again, in the plainest way.

mod archive;
mod closure;
mod complete;
mod fair;
mod in_trouble;
mod once;
mod politeness;
mod robots_txt;
mod rounds;

use std::fmt;
use std::net::IpAddr;
use std::path::Path;
use std::time::Duration;

use model::{ContentDigest, Fetched, Purpose, Timestamp, Validators};
use store::{Batch, Entry, Store, StoreError};
use weburl::UrlKey;

use crate::Scenario;
use crate::server::Served;
use crate::time::TrueTime;
use crate::web::Web;

pub(crate) use rounds::Begun;

/// What is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Check {
    /// The delay between two visits of a site.
    Delay,
    /// The delay between two exchanges with an address.
    AddressDelay,
    /// Retry-After and back-off.
    ComeLater,
    /// Connections to a site or an address.
    Connections,
    /// Fetches at once from a domain or an address.
    Share,
    /// robots.txt before anything else.
    RobotsFirst,
    /// robots.txt only once.
    RobotsOnce,
    /// What robots.txt forbids.
    RobotsObeyed,
    /// No URL is fetched again.
    FetchedOnce,
    /// No URL is recorded twice.
    RecordedOnce,
    /// What was acknowledged is there.
    Durable,
    /// Every URL that should be found is, and no other.
    Complete,
    /// Every URL has the depth it should have.
    Depth,
    /// Every URL has the outcome it should have.
    Outcome,
    /// Every payload has one holder.
    Duplicates,
    /// No more pages than asked for.
    Budget,
    /// What is another's is left alone.
    Owned,
    /// Nothing is asked in a pause, and nothing of a site on hold.
    Steered,
    /// The crawl comes to its end.
    Ends,
    /// Nothing grows without bound.
    Bounded,
    /// The archive is whole, and the state points to the right places.
    Archive,
    /// A run waits for sites in trouble as long as it was asked to.
    Patience,
    /// Little is asked while the crawler's own network is out of order.
    Quiet,
    /// A URL has no more attempts than it failed by itself.
    Attempts,
    /// No site waits longer than four times its fair share.
    ///
    /// A site *waits* while all of this is so: the store has acknowledged URLs of it that were never asked for; neither it, nor its domain,
    /// nor any address of it is being asked; all delays since they were asked last are over. Each other visit then passes the site.
    /// It may wait for four rounds, and until the places in front have been filled four times with all sites there are: it must have
    /// waited for more than both to be passed over. A *round* is a request for each site that is of no farm, and one for each place in
    /// front; where there are fewer places than such sites and addresses of a farm, so many requests for each as a site has turns in
    /// front. There are no more places than there are bytes for. Filling a place takes a look-up of its name and some reads and commits,
    /// each as slow as the store may be.
    ///
    /// Judged are sites that always answer: their names are found at once, their robots.txt can be fetched, and no URL of them failed that is
    /// still to be asked for again. Nobody is judged from the first outage on, where there is a budget, where sites are handed over to
    /// others, or where the clock is set, by which a site may seem to wait for longer.
    Fair,
    /// The sites in memory take no more bytes than they may, but for one alone; and the sum that is kept of them is right.
    Front,
    /// What the crawler says of its sites is what it does next.
    Explained,
    /// A round visits every URL that it must, once, and leaves none.
    Revisited,
    /// A request has the validators that its URL once had, and none where the server is known to be wrong about changes.
    Conditional,
    /// After a round a page is known by the content that it has, unless its server lies.
    Current,
    /// A watch leaves a page alone for as long as it should, and the longer the more often it was missing.
    Rested,
}

impl Check {
    /// All checks.
    pub const ALL: [Check; 31] = [
        Check::Delay,
        Check::AddressDelay,
        Check::ComeLater,
        Check::Connections,
        Check::Share,
        Check::RobotsFirst,
        Check::RobotsOnce,
        Check::RobotsObeyed,
        Check::FetchedOnce,
        Check::RecordedOnce,
        Check::Durable,
        Check::Complete,
        Check::Depth,
        Check::Outcome,
        Check::Duplicates,
        Check::Budget,
        Check::Owned,
        Check::Steered,
        Check::Ends,
        Check::Bounded,
        Check::Archive,
        Check::Patience,
        Check::Quiet,
        Check::Attempts,
        Check::Fair,
        Check::Front,
        Check::Explained,
        Check::Revisited,
        Check::Conditional,
        Check::Current,
        Check::Rested,
    ];
}

/// A broken rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// The check that noticed.
    pub check: Check,
    /// When.
    pub at: TrueTime,
    /// What happened.
    pub detail: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} at {}: {}", self.check, self.at, self.detail)
    }
}

/// A request as a server sees it.
#[derive(Clone, Debug)]
pub struct Request {
    /// The URL's site, as text.
    pub site: String,
    /// The URL.
    pub url: String,
    /// Its key.
    pub key: UrlKey,
    /// What it is for.
    pub purpose: Purpose,
    /// The address asked.
    pub address: Option<IpAddr>,
    /// When it begins.
    pub start: TrueTime,
    /// The date that the crawler's machine shows then.
    pub shown: Timestamp,
    /// The time by which the crawler waits.
    pub waited: Timestamp,
    /// The validators that it has.
    pub validators: Option<Validators>,
}

/// The end of a request.
#[derive(Clone, Copy, Debug)]
pub struct RequestEnd {
    /// What it came to.
    pub served: Served,
    /// It fell into an outage.
    pub in_outage: bool,
    /// When.
    pub end: TrueTime,
    /// The time by which the crawler waits then.
    pub waited: Timestamp,
    /// How long it took.
    pub took: Duration,
}

/// Violations kept; more say nothing new.
const VIOLATIONS_MAX: usize = 50;

/// The violations found so far.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    all: Vec<Violation>,
}

impl Findings {
    pub(crate) fn add(&mut self, check: Check, at: TrueTime, detail: impl Into<String>) {
        // All checks that notice something are to be named, but none needs to say it often.
        if self.all.len() < VIOLATIONS_MAX || !self.all.iter().any(|violation| violation.check == check) {
            self.all.push(Violation { check, at, detail: detail.into() });
        }
    }
}

/// The judge.
pub struct Oracle {
    findings: Findings,
    politeness: politeness::Judge,
    robots_txt: robots_txt::Judge,
    once: once::Judge,
    in_trouble: in_trouble::Judge,
    fair: fair::Judge,
    rounds: rounds::Judge,
}

impl Oracle {
    /// A judge of this scenario.
    #[must_use]
    pub fn new(scenario: &Scenario) -> Self {
        Oracle {
            findings: Findings::default(),
            politeness: politeness::Judge::new(&scenario.wishes),
            robots_txt: robots_txt::Judge::new(scenario),
            once: once::Judge::new(scenario),
            in_trouble: in_trouble::Judge::new(scenario),
            fair: fair::Judge::new(scenario),
            rounds: rounds::Judge::default(),
        }
    }

    /// A request begins.
    pub fn begins(&mut self, scenario: &Scenario, request: &Request) {
        self.robots_txt.begins(&scenario.web, request, &mut self.findings);
        if !self.rounds.is_test(request) {
            self.once.begins(request, &mut self.findings);
        }
        self.rounds.begins(request, &mut self.findings);
        self.politeness.begins(request, &mut self.findings);
        self.in_trouble.asks(request.start);
        self.fair.begins(request, &mut self.findings);
    }

    /// A name is asked for.
    pub fn looks_up(&mut self, now: TrueTime) {
        self.in_trouble.asks(now);
    }

    /// A run ends for whose sites in trouble another is to wait.
    pub fn ends_waiting(&mut self, now: TrueTime) {
        self.in_trouble.ends_waiting(now, &mut self.findings);
    }

    /// The crawler is gone in the middle of a commit.
    pub fn commit_torn(&mut self) {
        self.in_trouble.commit_torn();
    }

    /// A request ends.
    pub fn ends(&mut self, scenario: &Scenario, request: &Request, ended: RequestEnd) {
        self.robots_txt.ends(request, ended);
        self.once.ends(&scenario.web, request, ended);
        self.fair.ends(request, ended);
        self.in_trouble.ends(ended);
        let crawl_delay = scenario.web.site_of(&request.url).and_then(|(_, site)| {
            let rules = scenario.web.rules_of(site);
            rules.crawl_delay.filter(|_| scenario.web.has_rules(&site.robots)).map(Duration::from_secs)
        });
        self.politeness.ends(request, ended, crawl_delay);
    }

    /// What the crawler gets for a request.
    pub fn answers(&mut self, request: &Request, fetched: &Fetched) {
        self.rounds.answers(request, fetched);
    }

    /// The store has acknowledged a batch.
    pub fn acknowledged(&mut self, batch: &Batch, exchanges: &[(UrlKey, Timestamp)], now: TrueTime) {
        self.once.acknowledged(batch, now, &mut self.findings);
        self.robots_txt.acknowledged(batch);
        self.in_trouble.acknowledged(batch);
        self.fair.acknowledged(batch);
        self.politeness.acknowledged(exchanges);
        self.rounds.acknowledged(batch);
    }

    /// The crawler is gone. Requests under way end now.
    pub fn crawler_gone(&mut self, now: TrueTime) {
        self.politeness.crawler_gone(now);
    }

    /// The crawler's clock was set forward, while it did not run.
    pub fn clock_set_forward(&mut self) {
        self.politeness.clock_set_forward();
    }

    /// The machine's clock was set forward while the crawler runs, to which it makes no difference.
    pub fn clock_set_forward_in_run(&mut self) {
        self.politeness.clock_set_forward_in_run();
    }

    /// A crawler begins with this store. Its machine shows this date.
    pub fn crawler_begins(&mut self, store: &dyn Store, now: TrueTime, date: Timestamp) {
        self.once.crawler_begins(store, now, &mut self.findings);
        self.in_trouble.crawler_begins(store, now, &mut self.findings);
        self.fair.crawler_begins(store, now);
        self.robots_txt.crawler_begins(store, now, date, &mut self.findings);
        self.rounds.crawler_begins();
    }

    /// Something else than a check of its own went wrong.
    pub fn complain(&mut self, check: Check, now: TrueTime, detail: impl Into<String>) {
        self.findings.add(check, now, detail);
    }

    /// The crawl has ended by itself: judges what is in the store and in the archive.
    pub fn judge_end(
        &mut self,
        scenario: &Scenario,
        store: &dyn Store,
        archive: Option<&Path>,
        interruptions: u32,
        now: TrueTime,
    ) {
        self.once.judge_end(scenario, interruptions, now, &mut self.findings);
        self.in_trouble.judge_end(now, &mut self.findings);
        let failed = self.once.failed();
        let at_end = complete::AtEnd { scenario, store, failed: &failed, interruptions, now };
        if let Err(error) = at_end.judge(&mut self.findings) {
            self.findings.add(Check::Durable, now, format!("the store cannot be read: {error}"));
        }
        if let Some(archive) = archive {
            archive::judge(archive, store, now, &mut self.findings);
        }
    }

    /// A round after the first begins.
    pub fn round_begins(&mut self, web: &Web, store: &dyn Store, begun: &Begun) {
        self.once.round_begins();
        let begins = self.rounds.round_begins(web, store, begun, &mut self.findings);
        self.or_complain(begins, begun.now);
    }

    /// A round after the first has ended: judges what is in the store and in the archive.
    pub fn judge_round(&mut self, web: &Web, store: &dyn Store, archive: Option<&Path>, now: TrueTime) {
        self.in_trouble.judge_end(now, &mut self.findings);
        let ends = self.rounds.judge_end(web, store, now, &mut self.findings);
        self.or_complain(ends, now);
        if let Some(archive) = archive {
            archive::judge(archive, store, now, &mut self.findings);
        }
    }

    fn or_complain(&mut self, judged: Result<(), StoreError>, now: TrueTime) {
        if let Err(error) = judged {
            self.findings.add(Check::Durable, now, format!("the store cannot be read: {error}"));
        }
    }

    /// The violations found.
    #[must_use]
    pub fn into_violations(self) -> Vec<Violation> {
        self.findings.all
    }
}

/// The content of a body in the answer for a URL.
fn content_of(entry: &Entry, body: &[u8]) -> ContentDigest {
    let content = ContentDigest::of(body);
    if entry.candidate.purpose == Purpose::Sitemap { content.apart() } else { content }
}
