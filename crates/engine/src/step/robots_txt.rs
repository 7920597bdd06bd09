//! What came of asking for robots.txt.

use std::time::Duration;

use fetch::robots_elsewhere;
use frontier::{Failed, Reason, RobotsState, SiteState, Trouble, Verdict, verdict};
use model::{
    Exchange, Failure, FailureKind, FetchOutcome, Fetched, Renewal, RobotsAnswer, RobotsRecord, Timestamp, Truncation,
};
use robots::{Access, Lifetime, RobotsFetch, RobotsTxt, Unread};
use weburl::{CanonicalUrl, Site, SiteKey};

use super::{Start, State};
use crate::{Record, Settings, part};

/// Where robots.txt lies (RFC 9309 §2.3).
pub(crate) const ROBOTS_PATH: &str = "/robots.txt";

/// Whether that lies at this URL.
pub(crate) fn is_robots_txt(url: &CanonicalUrl) -> bool {
    url.path_and_query() == ROBOTS_PATH
}

/// An answer to a request for robots.txt.
#[derive(Clone)]
pub(super) struct File {
    pub(super) answer: RobotsAnswer,
    /// There is more of it than is read.
    pub(super) is_cut: bool,
    /// What a later request sends, with the URL of the file; `None` where it sends nothing.
    pub(super) renewal: Option<Box<Renewal>>,
}

/// A redirect to another site.
#[derive(Clone)]
pub(super) struct Redirect {
    pub(super) to: CanonicalUrl,
    pub(super) status: u16,
}

impl Redirect {
    /// The redirect that an answer is, if it leads to another site.
    pub(super) fn of(outcome: &FetchOutcome) -> Option<Self> {
        let to = robots_elsewhere(outcome)?;
        match &outcome.fetched {
            Fetched::Response(response) => Some(Redirect { to, status: response.status }),
            Fetched::Failed(_) => None,
        }
    }
}

/// The result of fetching a robots.txt.
pub(super) struct FetchedRobots {
    pub(super) file: File,
    pub(super) at: Timestamp,
    /// After what time the server that was asked wants to be asked again.
    pub(super) retry_after: Option<Duration>,
    pub(super) exchanges: Vec<Exchange>,
    /// It was asked of the site itself.
    pub(super) is_own: bool,
}

impl FetchedRobots {
    /// The record of it as that of a site.
    pub(super) fn record(&self, site: &Site, is_final: bool) -> RobotsRecord {
        let File { answer, is_cut, mut renewal } = self.file.clone();
        if let Some(renewal) = &mut renewal {
            renewal.url.take_if(|url| robots_txt_of(site).as_ref() == Some(url));
        }
        RobotsRecord { fetched_at: self.at, failed_tries: u32::from(!is_final), answer, is_cut, renewal }
    }
}

/// The state of a stored robots.txt, without reading a large one.
pub(super) fn stored_robots(record: Option<&RobotsRecord>, settings: &Settings) -> RobotsState {
    match record {
        Some(record) if is_large(&record.answer, settings) && is_final(&record.answer, settings) => {
            unread(record.fetched_at, settings)
        }
        record => robots_state(record, settings),
    }
}

/// The state of a large robots.txt of this time that has not been read.
pub(super) fn unread(at: Timestamp, settings: &Settings) -> RobotsState {
    RobotsState::Stored { crawl_delay: None, expires_at: expiry(at, settings) }
}

/// True if reading the file would take too long for the step.
pub(super) fn is_large(answer: &RobotsAnswer, settings: &Settings) -> bool {
    matches!(answer, RobotsAnswer::Status { body, .. } if body.len() >= settings.large_robots_bytes)
}

impl State {
    /// Takes in the end of a site's own request.
    pub(super) fn robots_fetched(
        &mut self,
        now: Timestamp,
        site: SiteKey,
        outcome: FetchOutcome,
        is_conditional: bool,
    ) {
        let own = self.front(site).and_then(|front| robots_txt_of(front.state.site()));
        let redirect = Redirect::of(&outcome).filter(|_| !self.settings.robots_once);
        if let (Some(redirect), Some(own)) = (redirect, &own) {
            self.network.reached();
            self.site_answered(now, site);
            let mut record = Record::of(site);
            record.exchanges = outcome.exchanges;
            self.record(record);
            return self.redirected(now, site, own, redirect);
        }
        let earlier = self.front(site).and_then(|front| front.earlier_robots.take());
        let earlier = earlier.map(|earlier| earlier.record);
        let retry_after = retry_after(&outcome.fetched, self.dates.of(outcome.finished_at));
        let asked = own.as_ref().unwrap_or(&outcome.url);
        let renewal = self.renewal_of((site, asked), &outcome, earlier.as_ref(), is_conditional);
        let is_cut = is_cut(&outcome.fetched, self.settings.limits.robots_bytes_max);
        let FetchOutcome { exchanges, fetched, finished_at: at, .. } = outcome;
        let file = self.file_of(fetched, is_cut, earlier, renewal);
        if let Some(own) = own {
            self.answered(now, &own, &file, retry_after);
        }
        self.robots_had(now, site, FetchedRobots { file, at, retry_after, exchanges, is_own: true });
    }

    /// The file of an answer: the earlier one, if it has not changed.
    pub(super) fn file_of(
        &self,
        fetched: Fetched,
        is_cut: bool,
        earlier: Option<RobotsRecord>,
        renewal: Option<Box<Renewal>>,
    ) -> File {
        match earlier.filter(|_| renewal.as_ref().is_some_and(|renewal| renewal.not_modified > 0)) {
            Some(earlier) => File { answer: earlier.answer, is_cut: earlier.is_cut, renewal },
            None => File { answer: answer_of(fetched, &self.settings), is_cut, renewal },
        }
    }

    /// Takes in the answer, as soon as the rules are read.
    pub(super) fn robots_had(&mut self, now: Timestamp, site: SiteKey, had: FetchedRobots) {
        if self.front(site).is_some_and(|front| front.reading.is_under_way()) {
            // An earlier answer is being read.
            return;
        }
        let answer = &had.file.answer;
        let robots = if !is_large(answer, &self.settings) || !is_final(answer, &self.settings) {
            robots_of(answer, had.at, &self.settings)
        } else if self.rulebook.may_read_new(&self.settings) {
            return self.read_beside(site, had);
        } else {
            unread(had.at, &self.settings)
        };
        self.rulebook.drop(site);
        self.robots_answered(now, site, had, robots);
    }

    /// The rules hold, or it is requested again later, or the site cannot be crawled.
    pub(super) fn robots_answered(&mut self, now: Timestamp, site: SiteKey, had: FetchedRobots, robots: RobotsState) {
        let politeness = self.settings.site_rules.politeness.clone();
        let is_had = is_final(&had.file.answer, &self.settings);
        let failure = failure_of(&had.file.answer);
        let FetchedRobots { at, retry_after, is_own, .. } = had;
        let is_network = is_own && self.is_fault_of_network(now, site, &failure);
        match &had.file.answer {
            RobotsAnswer::Status { .. } if is_had && is_own => self.site_answered(now, site),
            _ if is_own && !is_network => self.site_failed(now, site),
            _ => {}
        }
        let shares_addresses = self.shares_addresses();
        let Some(front) = self.front(site) else { return };
        let record = had.record(front.state.site(), is_had);
        let file = record.answer.clone();
        let FetchedRobots { exchanges, file: File { renewal, .. }, .. } = had;
        front.sitemaps_named = false;
        let mut is_kept = true;
        if is_network {
            front.state.robots_unanswered();
            front.state.wait_until(at + politeness.backoff, Reason::BackOff);
            is_kept = false;
        } else if is_had {
            front.state.robots_had(robots);
            let asked = retry_after.unwrap_or_default().min(politeness.retry_after_max);
            front.state.wait_until(at + asked, Reason::BackOff);
        } else if is_hopeless(&record.answer) && !may_pass(&front.state, &failure, is_own) {
            front.state.robots_unanswered();
            front.state.give_up(at, failure);
        } else {
            // A site elsewhere that cannot be asked at all does not hold up one whose earlier file is valid.
            let is_held_up = is_own || !is_hopeless(&record.answer) || !front.state.has_earlier_robots();
            let retry_after = retry_after.filter(|_| is_held_up);
            let failed = Failed { trouble: Trouble::Unreached, failure: &failure, retry_after, at };
            front.state.robots_failed(&failed, &politeness);
            // The store goes on to have the earlier one.
            is_kept = matches!(front.state.robots(), RobotsState::Unknown);
            if !is_own {
                // It is not this site that did not answer.
            } else if shares_addresses {
                front.unreachable = front.state.address();
            } else {
                front.state.try_next_address();
            }
        }
        if let Some(before) = front.visited_before {
            // The Crawl-delay is known only now.
            front.state.wait_until(before + front.state.delay(&politeness), Reason::Delay);
        }
        let mut site_record = front.state.record();
        site_record.robots = is_kept.then_some(record);
        if is_kept {
            self.ahead.renewed(site);
        }
        let mut record = Record::of(site);
        record.exchanges = exchanges;
        let renewed = renewal.filter(|renewal| is_own && renewal.not_modified > 0);
        record.unchanged_since = renewed.map(|renewal| renewal.recorded_at);
        record.site_record = Some(site_record);
        // What is wanted for the sake of other sites alone may be a site of the crawl later.
        if is_had && !is_network && (self.start != Start::Shared || self.has_more_than_robots_waiting(site)) {
            let file = match &file {
                RobotsAnswer::Status { body, .. } => Some(&body[..]),
                RobotsAnswer::Failed(_) => None,
            };
            record.found = self.sitemaps_to_read(site, file);
        }
        self.record(record);
    }
}

/// Whether a failure for which a site would be given up may pass: while an earlier robots.txt is valid (RFC 9309 §2.4), where the name of a site that has
/// answered is unknown by now, and where it is only the name to which the file was redirected.
fn may_pass(state: &SiteState, failure: &Failure, is_own: bool) -> bool {
    let is_elsewhere = !is_own && failure.kind == FailureKind::NameNotFound;
    state.has_earlier_robots() || state.may_pass(failure.kind) || is_elsewhere
}

/// After what time the server wants to be asked again that gave this answer at this date.
pub(crate) fn retry_after(fetched: &Fetched, at: Timestamp) -> Option<Duration> {
    match verdict::judge(fetched, false, at) {
        Verdict::Retry { retry_after, .. } => retry_after,
        Verdict::Final { .. } => None,
    }
}

/// Where a site's robots.txt lies; every site has a URL for it.
pub(crate) fn robots_txt_of(site: &Site) -> Option<CanonicalUrl> {
    CanonicalUrl::from_canonical(&format!("{site}{ROBOTS_PATH}"))
}

/// The robots.txt of a site by its record, from an earlier run or from this one.
#[must_use]
pub fn robots_state(record: Option<&RobotsRecord>, settings: &Settings) -> RobotsState {
    record.map_or(RobotsState::Unknown, |record| robots_of(&record.answer, record.fetched_at, settings))
}

/// The lines of a site's robots.txt for the crawler with this product token that could not be read. Of a file that was not had, there are
/// none.
#[must_use]
pub fn robots_unread(record: Option<&RobotsRecord>, product_token: &str) -> Unread {
    match record.map(|record| &record.answer) {
        Some(RobotsAnswer::Status { code: 200..=299, body }) => robots::unread(body, product_token),
        _ => Unread::default(),
    }
}

/// The rules of an answer that came at this time.
pub(super) fn robots_of(answer: &RobotsAnswer, at: Timestamp, settings: &Settings) -> RobotsState {
    let Access { rules, lifetime } = access(fetch_of(answer), settings);
    match lifetime {
        Lifetime::Final => RobotsState::Known { rules, expires_at: expiry(at, settings) },
        Lifetime::Temporary => RobotsState::Unknown,
    }
}

/// Whether there is more of the file than is read. One byte more is fetched than counts.
pub(super) fn is_cut(fetched: &Fetched, bytes_max: u64) -> bool {
    let Fetched::Response(response) = fetched else { return false };
    response.body.len() as u64 > bytes_max || matches!(response.truncated, Some(Truncation::Length | Truncation::Ratio))
}

pub(super) fn answer_of(fetched: Fetched, settings: &Settings) -> RobotsAnswer {
    match fetched {
        Fetched::Failed(failure) => RobotsAnswer::Failed(failure),
        // A part of a file, or one that broke off, may lack the line that forbids. Where it is not asked for again, what came of it is better than
        // nothing.
        Fetched::Response(response)
            if (response.is_undecoded
                || part::is_part(&response)
                || matches!(response.truncated, Some(Truncation::Time | Truncation::Disconnect)))
                && !settings.robots_once =>
        {
            let detail = match part::is_part(&response) {
                true => "only a part was sent (206)".to_owned(),
                false => response.note.unwrap_or_else(|| "the answer broke off".to_owned()),
            };
            RobotsAnswer::Failed(Failure { kind: FailureKind::Disconnected, detail })
        }
        Fetched::Response(response) => {
            let has_rules = matches!(response.status, 200..=299);
            let body = if has_rules { response.body } else { Default::default() };
            RobotsAnswer::Status { code: response.status, body }
        }
    }
}

fn fetch_of(answer: &RobotsAnswer) -> RobotsFetch<'_> {
    match answer {
        RobotsAnswer::Status { code, body } => RobotsFetch::Status { code: *code, body },
        RobotsAnswer::Failed(_) => RobotsFetch::Unreachable,
    }
}

/// Whether an answer is the site's word, in a crawl with these settings. The file itself is not read for it.
pub(super) fn is_final(answer: &RobotsAnswer, settings: &Settings) -> bool {
    settings.robots_once || fetch_of(answer).lifetime() == Lifetime::Final
}

/// What a site allows after its robots.txt was requested, in a crawl with these settings.
pub(super) fn access(fetch: RobotsFetch<'_>, settings: &Settings) -> Access {
    let is_file = matches!(fetch, RobotsFetch::Status { code: 200..=299, .. });
    if settings.robots_once && !is_file {
        return Access { rules: RobotsTxt::allow_all(), lifetime: Lifetime::Final };
    }
    robots::access(fetch, &settings.product_token)
}

/// The same by an answer that may have broken off.
pub(crate) fn access_by(fetched: Fetched, settings: &Settings) -> Access {
    access(fetch_of(&answer_of(fetched, settings)), settings)
}

/// Until when a robots.txt of this time holds.
pub(crate) fn expiry(at: Timestamp, settings: &Settings) -> Timestamp {
    if settings.robots_once { Timestamp::MAX } else { at + robots::ROBOTS_CACHE_MAX }
}

/// Why it could not be fetched.
fn failure_of(answer: &RobotsAnswer) -> Failure {
    let kind = match answer {
        RobotsAnswer::Failed(failure) => failure.kind,
        RobotsAnswer::Status { .. } => FailureKind::Busy,
    };
    Failure { kind, detail: format!("robots.txt: {answer}") }
}

/// True if another request is useless.
pub(super) fn is_hopeless(answer: &RobotsAnswer) -> bool {
    let RobotsAnswer::Failed(failure) = answer else { return false };
    matches!(failure.kind, FailureKind::Tls | FailureKind::NameNotFound | FailureKind::AddressDenied)
}
