//! robots.txt again: the validators that a request for it sends, and what a 304 says of the file before.
//!
//! The store has that file. It is read before the request, and stays in memory until the answer. Few large files may do so at once: others are
//! requested without validators.

use frontier::{RobotsState, again};
use model::{FetchOutcome, Fetched, Renewal, RobotsAnswer, RobotsRecord, SiteRecord, Timestamp, Validators};
use weburl::SiteKey;

use super::State;
use super::robots_txt::is_large;
use super::slot::{Earlier, EarlierFile, Front, Reading};
use crate::Command;

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
        let Earlier::Read(Some(earlier)) = &front.earlier_robots else { return None };
        condition(earlier.record.renewal.as_deref()?)
    }

    /// What the answer to a request says of later ones. A server that gives the validators of another file is not trusted any more.
    pub(super) fn renewal_of(
        &mut self,
        site: SiteKey,
        outcome: &FetchOutcome,
        earlier: Option<&RobotsRecord>,
        is_conditional: bool,
    ) -> Option<Box<Renewal>> {
        let (renewal, misleads) = renewal(outcome, earlier, is_conditional, self.dates.of(outcome.finished_at));
        if let Some(front) = self.front(site).filter(|_| misleads) {
            front.state.set_misleads();
        }
        renewal.map(Box::new)
    }
}

fn condition(renewal: &Renewal) -> Option<Box<Validators>> {
    let is_probe = renewal.not_modified % PROBED_ONE_IN == PROBED_ONE_IN - 1;
    Some(Box::new(renewal.validators.clone())).filter(|validators| !is_probe && !validators.is_empty())
}

/// What an answer of this date says of later requests, and whether the server misleads.
fn renewal(
    outcome: &FetchOutcome,
    earlier: Option<&RobotsRecord>,
    is_conditional: bool,
    date: Timestamp,
) -> (Option<Renewal>, bool) {
    let Fetched::Response(response) = &outcome.fetched else { return (None, false) };
    // A redirect leads to a file of another URL, whose record a later answer of this URL could not refer to.
    let is_direct = outcome.exchanges.len() <= 1;
    let sent = again::validators_of(&response.headers, date);
    let before = earlier.and_then(|earlier| Some((earlier, earlier.renewal.as_deref()?)));
    match (response.status, before) {
        (304, Some((_, before))) if is_conditional && is_direct => {
            let validators = Validators {
                etag: sent.etag.or_else(|| before.validators.etag.clone()),
                last_modified: sent.last_modified.or_else(|| before.validators.last_modified.clone()),
            };
            let not_modified = before.not_modified.saturating_add(1);
            (Some(Renewal { validators, recorded_at: before.recorded_at, not_modified }), false)
        }
        (200..=299, before) if is_direct && response.truncated.is_none() && !response.is_undecoded => {
            let has_changed = |earlier: &RobotsRecord| !matches!(&earlier.answer, RobotsAnswer::Status { body, .. } if *body == response.body);
            let misleads = before.is_some_and(|(earlier, before)| before.validators == sent && has_changed(earlier));
            let recorded_at = outcome.exchanges.last().map_or(date, |exchange| exchange.started_at);
            let renewal = Renewal { validators: sent, recorded_at, not_modified: 0 };
            (Some(renewal).filter(|renewal| !renewal.validators.is_empty()), misleads)
        }
        _ => (None, false),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use model::{Headers, Response, TaskId};
    use weburl::CanonicalUrl;

    use super::*;

    const AT: Timestamp = Timestamp(1_800_000_000_000_000);

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
            url: CanonicalUrl::from_canonical("http://a.test/robots.txt").expect("a URL"),
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
        Renewal { validators, recorded_at: Timestamp(recorded_at), not_modified }
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
            (outcome(304, "a", b""), Some(&before), true, (Some(with_tag("a", 7, 3)), false)),
            (outcome(304, "", b""), Some(&before), true, (Some(with_tag("a", 7, 3)), false)),
            (outcome(304, "a", b""), Some(&before), false, (None, false)),
            (outcome(304, "a", b""), None, true, (None, false)),
            (outcome(200, "b", b"new"), Some(&before), true, (new("b"), false)),
            (outcome(200, "a", b"old"), Some(&before), false, (new("a"), false)),
            (outcome(200, "a", b"new"), Some(&before), false, (new("a"), true)),
        ] {
            assert_eq!(renewal(&answer, earlier, is_conditional, AT), expect, "{answer:?} {is_conditional}");
        }
    }

    #[test]
    fn each_eighth_request_is_without_validators() {
        let asks = |not_modified| condition(&with_tag("a", 7, not_modified)).is_some();
        assert_eq!((0..16).filter(|times| !asks(*times)).collect::<Vec<_>>(), [7, 15]);
        assert_eq!(condition(&Renewal::default()), None);
    }
}
