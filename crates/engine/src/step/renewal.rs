//! robots.txt again: the validators that a request for it sends, and what a 304 says of the file before.
//!
//! The store has that file. It is read before the request, and stays in memory until the answer. Few large files may do so at once: others are
//! requested without validators. Where redirects led to the file, only the request for its own URL bears its validators: a date of one URL, sent for
//! another, might bring a 304 of a file that nobody has.

use frontier::{RobotsState, again};
use model::{FetchOutcome, Fetched, Renewal, RobotsAnswer, RobotsRecord, SiteRecord, Timestamp, Validators};
use weburl::{CanonicalUrl, SiteKey};

use super::State;
use super::robots_txt::is_large;
use super::slot::{Earlier, EarlierFile, Front, Reading};
use crate::{Command, part};

/// A robots.txt is requested without validators once in so many requests, to test whether the server is right about changes.
const PROBED_ONE_IN: u32 = 8;

impl Front {
    /// Whether the site had a robots.txt that must be read before the next request for it.
    pub(super) fn wants_earlier_robots(&self) -> bool {
        let had_one = matches!(self.state.robots(), RobotsState::Known { .. } | RobotsState::Stored { .. });
        had_one && matches!(self.earlier_robots, Earlier::Unread) && !self.reading.is_under_way()
    }
}

impl State {
    /// Asks the store for the robots.txt that a site had before.
    pub(super) fn ask_for_earlier_robots(&mut self, site: SiteKey) {
        let Some(front) = self.front(site) else { return };
        front.reading = Reading::Earlier;
        self.asked += 1;
        self.commands.push(Command::FindRules { site });
    }

    /// Takes it in. The site's turn comes again.
    pub(super) fn earlier_robots_found(&mut self, now: Timestamp, site: SiteKey, record: Option<&SiteRecord>) {
        let robots = record.and_then(|record| record.robots.as_ref());
        let robots = robots.filter(|robots| robots.renewal.is_some());
        let earlier = robots.and_then(|robots| self.earlier_file(robots));
        self.asked -= 1;
        if let Some(front) = self.front(site) {
            (front.reading, front.earlier_robots) = (Reading::Nothing, Earlier::Read(earlier));
        }
        self.prepare(now, site);
    }

    /// A file to refer to. `None` for a large one, if there are as many in memory as there may be.
    fn earlier_file(&self, robots: &RobotsRecord) -> Option<Box<EarlierFile>> {
        let _place = match is_large(&robots.answer, &self.settings) {
            true => Some(self.large_files.place()?),
            false => None,
        };
        Some(Box::new(EarlierFile { record: robots.clone(), _place }))
    }

    /// The validators with which a site's robots.txt is requested; `None` for none.
    pub(super) fn robots_condition(&mut self, site: SiteKey) -> Option<Box<Validators>> {
        let front = self.front(site).filter(|front| !front.state.misleads())?;
        let renewal = front.earlier_robots.renewal()?;
        // Of another site: an errand asks there.
        let is_here = renewal.url.as_ref().is_none_or(|url| url.site() == *front.state.site());
        condition(renewal).filter(|_| is_here)
    }

    /// The file that sites have had before from the site of this URL, where their robots.txt redirects to. Of the first of them that has one.
    pub(super) fn earlier_elsewhere(&mut self, url: &CanonicalUrl, sites: &[SiteKey]) -> Option<Box<EarlierFile>> {
        let is_there = |renewal: &Renewal| renewal.url.as_ref().is_some_and(|of| of.site() == url.site());
        let misleads = self.front(url.key().site).is_some_and(|front| front.state.misleads());
        let site =
            sites.iter().filter(|_| !misleads).copied().find(|site| {
                self.front(*site).and_then(|front| front.earlier_robots.renewal()).is_some_and(is_there)
            })?;
        self.front(site)?.earlier_robots.take()
    }

    /// What the answer to a request says of later ones. A server that gives the validators of another file is not trusted any more.
    pub(super) fn renewal_of(
        &mut self,
        (site, asked): (SiteKey, &CanonicalUrl),
        outcome: &FetchOutcome,
        earlier: Option<&RobotsRecord>,
        is_conditional: bool,
    ) -> Option<Box<Renewal>> {
        let date = self.dates.of(outcome.finished_at);
        let (renewal, misleads) = renewal(asked, outcome, earlier, is_conditional, date);
        if let Some(front) = self.front(site).filter(|_| misleads) {
            front.state.set_misleads();
        }
        renewal.filter(|_| !misleads).map(Box::new)
    }
}

pub(super) fn condition(renewal: &Renewal) -> Option<Box<Validators>> {
    let is_probe = renewal.not_modified % PROBED_ONE_IN == PROBED_ONE_IN - 1;
    Some(Box::new(again::sendable(&renewal.validators))).filter(|validators| !is_probe && !validators.is_empty())
}

/// What an answer of this date to a request for a URL says of later requests, and whether the server misleads.
fn renewal(
    asked: &CanonicalUrl,
    outcome: &FetchOutcome,
    earlier: Option<&RobotsRecord>,
    is_conditional: bool,
    date: Timestamp,
) -> (Option<Renewal>, bool) {
    let Fetched::Response(response) = &outcome.fetched else { return (None, false) };
    let sent = again::validators_of(&response.headers, date);
    let before = earlier.and_then(|earlier| Some((earlier, earlier.renewal.as_deref()?)));
    // What is known of the file of another URL says nothing of this one.
    let before = before.filter(|(_, before)| *before.url.as_ref().unwrap_or(asked) == outcome.url);
    let url = Some(outcome.url.clone());
    match (response.status, before) {
        (304, Some((_, before))) if is_conditional => {
            let validators = Validators {
                etag: sent.etag.or_else(|| before.validators.etag.clone()),
                last_modified: sent.last_modified.or_else(|| before.validators.last_modified.clone()),
            };
            let not_modified = before.not_modified.saturating_add(1);
            (Some(Renewal { validators, recorded_at: before.recorded_at, not_modified, url }), false)
        }
        (200..=299, before) if response.truncated.is_none() && !response.is_undecoded && !part::is_part(response) => {
            let has_changed = |earlier: &RobotsRecord| !matches!(&earlier.answer, RobotsAnswer::Status { body, .. } if *body == response.body);
            let misleads = before.is_some_and(|(earlier, before)| before.validators == sent && has_changed(earlier));
            let recorded_at = outcome.exchanges.last().map_or(date, |exchange| exchange.started_at);
            let renewal = Renewal { validators: sent, recorded_at, not_modified: 0, url };
            (Some(renewal).filter(|renewal| !renewal.validators.is_empty()), misleads)
        }
        _ => (None, false),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use model::{Headers, Response, TaskId};

    use super::*;

    const ROBOTS: &str = "http://a.test/robots.txt";
    const MOVED: &str = "http://a.test/moved.txt";
    const AT: Timestamp = Timestamp(1_800_000_000_000_000);

    fn url(text: &str) -> CanonicalUrl {
        CanonicalUrl::from_canonical(text).expect("a URL")
    }

    fn outcome(status: u16, tag: &str, body: &'static [u8]) -> FetchOutcome {
        let response = Response {
            status,
            headers: Headers(vec![("ETag".to_owned(), tag.to_owned())]),
            body: body.into(),
            truncated: None,
            is_undecoded: false,
            note: None,
        };
        FetchOutcome {
            id: TaskId(1),
            url: url(ROBOTS),
            exchanges: Vec::new(),
            fetched: Fetched::Response(response),
            rendering: None,
            started_at: AT,
            finished_at: AT,
            response_time: Duration::ZERO,
        }
    }

    fn with_tag(tag: &str, recorded_at: u64, not_modified: u32) -> Renewal {
        let validators = Validators { etag: Some(tag.to_owned()), last_modified: None };
        Renewal { validators, recorded_at: Timestamp(recorded_at), not_modified, url: Some(url(ROBOTS)) }
    }

    fn file(body: &'static [u8], renewal: Option<Renewal>) -> RobotsRecord {
        let answer = RobotsAnswer::Status { code: 200, body: body.into() };
        let renewal = renewal.map(Box::new);
        RobotsRecord { fetched_at: Timestamp(5), failed_tries: 0, answer, is_cut: false, renewal }
    }

    #[test]
    fn an_answer_says_how_to_ask_again_and_whether_the_server_misleads() {
        let before = file(b"old", Some(with_tag("a", 7, 2)));
        let new = |tag| Some(with_tag(tag, AT.0, 0));
        for (answer, earlier, is_conditional, expect) in [
            (outcome(200, "a", b"new"), None, false, (new("a"), false)),
            (outcome(200, "", b"new"), None, false, (None, false)),
            (outcome(404, "a", b""), None, false, (None, false)),
            (outcome(206, "a", b"new"), Some(&before), false, (None, false)),
            (outcome(304, "a", b""), Some(&before), true, (Some(with_tag("a", 7, 3)), false)),
            (outcome(304, "", b""), Some(&before), true, (Some(with_tag("a", 7, 3)), false)),
            (outcome(304, "a", b""), Some(&before), false, (None, false)),
            (outcome(304, "a", b""), None, true, (None, false)),
            (outcome(200, "b", b"new"), Some(&before), true, (new("b"), false)),
            (outcome(200, "a", b"old"), Some(&before), false, (new("a"), false)),
            (outcome(200, "a", b"new"), Some(&before), false, (new("a"), true)),
        ] {
            let said = renewal(&url(ROBOTS), &answer, earlier, is_conditional, AT);
            assert_eq!(said, expect, "{answer:?} {is_conditional}");
        }
        // Files of earlier programs were never behind redirects.
        let stored = file(b"old", Some(Renewal { url: None, ..with_tag("a", 7, 2) }));
        let unchanged = renewal(&url(ROBOTS), &outcome(304, "a", b""), Some(&stored), true, AT);
        assert_eq!(unchanged, (Some(with_tag("a", 7, 3)), false));
    }

    #[test]
    fn a_file_behind_a_redirect_is_compared_with_that_of_the_same_url() {
        let of = |renewal: Renewal, at: &str| Renewal { url: Some(url(at)), ..renewal };
        let moved = |status, body| FetchOutcome { url: url(MOVED), ..outcome(status, "a", body) };
        let before = |at| file(b"old", Some(of(with_tag("a", 7, 2), at)));
        for (answer, earlier, expect) in [
            (moved(200, b"new"), before(ROBOTS), (Some(of(with_tag("a", AT.0, 0), MOVED)), false)),
            (moved(200, b"new"), before(MOVED), (Some(of(with_tag("a", AT.0, 0), MOVED)), true)),
            (moved(304, b""), before(MOVED), (Some(of(with_tag("a", 7, 3), MOVED)), false)),
            (moved(304, b""), before(ROBOTS), (None, false)),
            (outcome(304, "a", b""), before(MOVED), (None, false)),
        ] {
            assert_eq!(renewal(&url(ROBOTS), &answer, Some(&earlier), true, AT), expect, "{answer:?}");
        }
    }

    #[test]
    fn each_eighth_request_is_without_validators() {
        let asks = |not_modified| condition(&with_tag("a", 7, not_modified)).is_some();
        assert_eq!((0..16).filter(|times| !asks(*times)).collect::<Vec<_>>(), [7, 15]);
        assert_eq!(condition(&Renewal::default()), None);
        assert_eq!(condition(&with_tag("*", 7, 0)), None, "the state of an earlier version may have it");
    }
}
