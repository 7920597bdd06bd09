//! Is each page visited once a round, with the right validators, and known as it is afterwards?

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use model::{Fetched, Headers, Outcome, Purpose, Timestamp, Validators};
use store::{Batch, Entry, Store, StoreError};
use weburl::{SiteKey, UrlKey};

use super::{Check, Findings, Request, content_of, robots_txt};
use crate::rounds::{Rounds, waiting_again};
use crate::server::body_of;
use crate::time::TrueTime;
use crate::web::{Reply, Web};

/// The first wait of a page that is gone; it doubles each time it is missed, up to the longest.
const GONE_WAIT: Duration = Duration::from_secs(3_600);
const GONE_WAIT_MAX: Duration = Duration::from_secs(30 * 24 * 3_600);

/// The begin of a round.
pub struct Begun {
    /// How rounds are begun.
    pub rounds: Rounds,
    /// The date that the crawler's machine shows.
    pub date: Timestamp,
    /// The true time.
    pub now: TrueTime,
}

#[derive(Default)]
pub(super) struct Judge {
    /// The current round; 0 before the second.
    number: u32,
    /// How long a page waits after each visit.
    every: Option<Duration>,
    /// The URLs of the round.
    chosen: BTreeMap<UrlKey, String>,
    /// Those of them for which servers were asked.
    asked: BTreeSet<UrlKey>,
    /// The validators that came with each URL.
    given: BTreeMap<UrlKey, Vec<Validators>>,
    /// URLs that came whole in this run.
    whole: BTreeSet<UrlKey>,
    /// Sites that said of a page in this run that it had not changed since a version before the one that had come.
    caught: BTreeSet<SiteKey>,
    /// Sites of which the store has acknowledged that they are not to be believed.
    discredited: BTreeSet<SiteKey>,
    /// Acknowledged visits: when the last one was, and how often in a row a page was not found.
    visited: BTreeMap<UrlKey, (Timestamp, u32)>,
}

impl Judge {
    /// A round begins with what waits in the store.
    pub(super) fn round_begins(
        &mut self,
        web: &Web,
        store: &dyn Store,
        begun: &Begun,
        findings: &mut Findings,
    ) -> Result<(), StoreError> {
        let Begun { rounds, date, now } = *begun;
        self.number = store.totals()?.round.number;
        let waiting = waiting_again(store)?.into_iter().map(|queued| queued.candidate.url);
        self.chosen = waiting.map(|url| (url.key(), url.as_str().to_owned())).collect();
        self.asked.clear();
        self.every = match rounds {
            Rounds::Watch { every, .. } => Some(every),
            Rounds::None | Rounds::Again(_) => None,
        };
        for entry in store.scan(None, usize::MAX)? {
            let url = entry.candidate.url.as_str();
            if self.every.is_some() && self.is_apart_from_page(store, &entry)? {
                let detail = format!("{url} and the page that needs it are not both in round {}", self.number);
                findings.add(Check::Revisited, now, detail);
            }
            // A watch asks a site in trouble for nothing before its wait is over.
            let site = store.site(entry.candidate.url.key().site)?;
            let is_in_trouble = site.is_some_and(|site| site.aside.is_some() && site.due_at > date);
            let may_wait = self.every.is_some() && is_in_trouble;
            if !may_wait && self.is_wanted(web, &entry, date) && !self.chosen.contains_key(&entry.candidate.url.key()) {
                findings.add(Check::Revisited, now, format!("{url} is left out of round {}", self.number));
            }
        }
        Ok(())
    }

    /// Whether a URL must be in the round that begins. Of a watch that is so for pages that are gone.
    fn is_wanted(&self, web: &Web, entry: &Entry, date: Timestamp) -> bool {
        let Some(visit) = entry.visit.as_ref().filter(|visit| visit.status != 0) else { return false };
        let is_reached =
            web.site_of(entry.candidate.url.as_str()).is_some_and(|(_, site)| robots_txt::is_ever_had(web, site));
        match self.every {
            None => entry.candidate.purpose != Purpose::Robots,
            Some(_) => {
                let is_gone = matches!(visit.status, 404 | 410) && entry.candidate.purpose == Purpose::Page;
                is_gone && is_reached && self.waits_until(visit.key).is_some_and(|until| until <= date)
            }
        }
    }

    /// Whether a watch visits one of these and not the other: what a page needs, and the page. A file of a site that gets no request now may
    /// wait.
    fn is_apart_from_page(&self, store: &dyn Store, entry: &Entry) -> Result<bool, StoreError> {
        let Entry { candidate, visit, .. } = entry;
        let page = candidate.found_on.filter(|_| candidate.purpose == Purpose::Requisite);
        let is_between = |outcome: Outcome| candidate.redirects > 0 && outcome == Outcome::Redirect;
        let visited = visit.as_ref().filter(|visit| visit.attempts > 0 && visit.round < self.number);
        let Some(page) = page.filter(|_| visited.is_some_and(|visit| !is_between(visit.outcome))) else {
            return Ok(false);
        };
        let is_chosen = self.chosen.contains_key(&candidate.url.key());
        let site = store.site(candidate.url.key().site)?;
        let is_open = site.is_some_and(|site| site.aside.is_none() && site.given_up.is_none());
        Ok(self.chosen.contains_key(&page) != is_chosen && (is_open || is_chosen))
    }

    /// Until when a watch leaves a URL alone.
    fn waits_until(&self, key: UrlKey) -> Option<Timestamp> {
        let (every, (at, missed)) = self.every.zip(self.visited.get(&key))?;
        let gone = missed.checked_sub(1).map_or(Duration::ZERO, |before| GONE_WAIT * 2_u32.pow(before.min(20)));
        Some(*at + gone.min(GONE_WAIT_MAX).max(every))
    }

    pub(super) fn begins(&mut self, request: &Request, findings: &mut Findings) {
        if request.purpose == Purpose::Robots {
            return;
        }
        let key = request.key;
        let was_asked = !self.asked.insert(key);
        if let Some(sent) = &request.validators {
            self.judge_validators(request, sent, findings);
        }
        let is_first = self.chosen.contains_key(&key) && !was_asked;
        if let Some(until) = self.waits_until(key).filter(|_| is_first && request.purpose == Purpose::Page)
            && request.shown < until
        {
            findings.add(Check::Rested, request.start, format!("{} is visited before {until}", request.url));
        }
    }

    fn judge_validators(&self, request: &Request, sent: &Validators, findings: &mut Findings) {
        let given = self.given.get(&request.key).map_or(&[][..], Vec::as_slice);
        let is_given = |part: fn(&Validators) -> &Option<String>| {
            part(sent).is_none() || given.iter().any(|given| part(given) == part(sent))
        };
        if !is_given(|of| &of.etag) || !is_given(|of| &of.last_modified) {
            findings.add(Check::Conditional, request.start, format!("{} never had {sent:?}", request.url));
        }
        if self.discredited.contains(&request.key.site) {
            let detail = format!("{} is asked for with validators, though its server was wrong", request.url);
            findings.add(Check::Conditional, request.start, detail);
        }
    }

    /// Whether a request may be sent for a URL that has had an answer in this run: to test what its server says of a change.
    pub(super) fn is_test(&self, request: &Request) -> bool {
        let last = self.given.get(&request.key).and_then(|given| given.last());
        request.validators.is_some() && request.validators.as_ref() != last && self.whole.contains(&request.key)
    }

    pub(super) fn answers(&mut self, request: &Request, fetched: &Fetched) {
        let Fetched::Response(response) = fetched else { return };
        if request.purpose == Purpose::Robots {
            return;
        }
        if response.status == 304 && self.is_test(request) {
            self.caught.insert(request.key.site);
        }
        if response.status == 200 && response.truncated.is_none() {
            self.given.entry(request.key).or_default().push(validators_in(&response.headers));
            self.whole.insert(request.key);
        }
    }

    pub(super) fn acknowledged(&mut self, batch: &Batch) {
        for visit in &batch.visits {
            let (at, missed) = self.visited.entry(visit.key).or_insert((visit.at, 0));
            *missed = if visit.outcome.is_fetched() { 0 } else { *missed + 1 };
            *at = visit.at;
        }
        let discredited = batch.sites.iter().filter(|record| record.misleads);
        self.discredited.extend(discredited.map(|record| record.site.key()));
    }

    pub(super) fn crawler_begins(&mut self) {
        self.whole.clear();
        self.caught.clear();
    }

    /// The end of a round after the first.
    pub(super) fn judge_end(
        &self,
        web: &Web,
        store: &dyn Store,
        now: TrueTime,
        findings: &mut Findings,
    ) -> Result<(), StoreError> {
        for url in waiting_again(store)?.into_iter().map(|queued| queued.candidate.url) {
            findings.add(Check::Revisited, now, format!("{url} is left in the queue of round {}", self.number));
        }
        for site in &self.caught {
            if !store.site(*site)?.is_some_and(|record| record.misleads) {
                findings.add(Check::Conditional, now, format!("site {site} is believed, though it was wrong"));
            }
        }
        for (key, url) in &self.chosen {
            let is_reached = web.site_of(url).is_some_and(|(_, site)| robots_txt::is_ever_had(web, site));
            match store.get(*key)? {
                None => findings.add(Check::Durable, now, format!("{url} is lost")),
                Some(entry) if is_reached => self.judge_visit(web, store, &entry, now, findings)?,
                Some(_) => {}
            }
            self.judge_history(store, *key, now, findings)?;
        }
        Ok(())
    }

    fn judge_visit(
        &self,
        web: &Web,
        store: &dyn Store,
        entry: &Entry,
        now: TrueTime,
        findings: &mut Findings,
    ) -> Result<(), StoreError> {
        let url = entry.candidate.url.as_str();
        let visit = entry.visit.as_ref().filter(|visit| visit.round == self.number);
        let Some(visit) = visit.filter(|visit| self.asked.contains(&visit.key)) else {
            findings.add(Check::Revisited, now, format!("{url} is not visited in round {}", self.number));
            return Ok(());
        };
        let reply = web.pages.get(url).map(|page| &page.reply);
        let expected = match reply {
            None | Some(Reply::Status(_)) => visit.outcome == Outcome::HttpError,
            // A part is a page where none ever came whole.
            Some(Reply::Html(html)) if html.breaks_after.is_some() => {
                visit.outcome.is_fetched() || self.given.contains_key(&visit.key)
            }
            Some(reply) if body_of(reply).is_empty() => true,
            Some(_) => visit.outcome.is_fetched(),
        };
        if !expected {
            findings.add(Check::Outcome, now, format!("{url} ended as {} ({}) again", visit.outcome, visit.reason));
        }
        let body =
            reply.filter(|reply| !matches!(reply, Reply::Html(html) if html.breaks_after.is_some())).map(body_of);
        if let Some(body) = body.filter(|body| !body.is_empty() && web.is_honest(url))
            && visit.outcome.is_fetched()
            && visit.payload().is_known()
            && store.holder(content_of(entry, &body), visit.digest)?.is_none()
        {
            findings.add(Check::Current, now, format!("{url} is known by a content that it has no more"));
        }
        Ok(())
    }

    /// No round has two visits of a URL.
    fn judge_history(
        &self,
        store: &dyn Store,
        key: UrlKey,
        now: TrueTime,
        findings: &mut Findings,
    ) -> Result<(), StoreError> {
        let rounds: Vec<u32> = store.earlier(key)?.iter().map(|visit| visit.round).collect();
        let last = store.get(key)?.and_then(|entry| entry.visit).map(|visit| visit.round);
        let all: Vec<u32> = rounds.into_iter().chain(last).collect();
        if all.iter().collect::<BTreeSet<_>>().len() != all.len() {
            findings.add(Check::RecordedOnce, now, format!("URL {key} has visits of the rounds {all:?}"));
        }
        Ok(())
    }
}

fn validators_in(headers: &Headers) -> Validators {
    let value = |name| headers.get(name).map(str::to_owned);
    Validators { etag: value("etag"), last_modified: value("last-modified") }
}
