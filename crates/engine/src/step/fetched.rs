//! What the end of a fetch means.

use std::time::Duration;

use bytes::Bytes;
use foldhash::HashSet;
use frontier::{Failed, Group, Reason, Trouble, Verdict, again, verdict};
use model::{
    Candidate, Exchange, Failure, FailureKind, FetchOutcome, Fetched, Limit, Method, Outcome, Purpose, Queued, TaskId,
    Timestamp, Truncation, Validators, Visit,
};
use weburl::{CanonicalUrl, SiteKey, UrlKey};

use super::in_parts::Rest;
use super::robots_txt::robots_txt_of;
use super::{Flight, Slot, State, TaskKind};
use crate::{Content, Fetch, Finding, Record, announced};

/// How the turn of a URL ended.
struct TurnEnd {
    outcome: Outcome,
    reason: String,
    attempts: u8,
}

impl State {
    /// Takes in the end of a fetch: politeness first, then the outcome.
    pub(super) fn fetched(&mut self, now: Timestamp, fetch: Fetch) {
        let Fetch { outcome, content } = fetch;
        let Some(flight) = self.in_flight.remove(&outcome.id) else { return };
        let Flight { site, group, share, asked, is_conditional, begun } = flight;
        let is_errand = matches!(asked, TaskKind::Errand { .. });
        if let Some(front) = self.front(site).filter(|_| !is_errand) {
            front.visit_took = outcome.finished_at.since(begun);
            front.state.in_flight = front.state.in_flight.saturating_sub(1);
            front.held = false;
        }
        let finished_at = outcome.finished_at;
        match asked {
            TaskKind::Robots => self.robots_fetched(now, site, outcome, is_conditional),
            TaskKind::Truth(_) => self.truth_told(site, &outcome),
            TaskKind::Errand { key, is_counted } => {
                self.errand_fetched(now, (site, group), (key, is_counted), (outcome, is_conditional));
            }
            TaskKind::Url(queued) => {
                self.url_fetched(now, site, (*queued, is_conditional), Fetch { outcome, content });
            }
        }
        self.prepare(now, site);
        self.free(group, finished_at, now);
        self.free_share(now, share);
    }

    /// Takes in the end of a fetch that this program broke.
    pub(super) fn lost(&mut self, now: Timestamp, task: TaskId, detail: String) {
        let Some(Flight { site, asked, .. }) = self.in_flight.get(&task) else { return };
        let url = match asked {
            TaskKind::Url(queued) => Some(queued.candidate.url.clone()),
            TaskKind::Errand { key, .. } => self.errands.url(*key),
            TaskKind::Truth(url) => Some(url.clone()),
            TaskKind::Robots => match self.sites.get(site) {
                Some(Slot::Here(front)) => robots_txt_of(front.state.site()),
                Some(Slot::Loading(_)) | None => None,
            },
        };
        let Some(url) = url else { return };
        self.fetches_lost += 1;
        let outcome = FetchOutcome {
            id: task,
            url,
            exchanges: Vec::new(),
            fetched: Fetched::Failed(Failure { kind: FailureKind::Internal, detail }),
            rendering: None,
            started_at: now,
            finished_at: now,
            response_time: Duration::ZERO,
        };
        self.fetched(now, Fetch { outcome, content: Content::default() });
    }

    /// Frees the group. Requests for robots.txt delay the address too: the server's machine had work.
    fn free(&mut self, group: Group, finished_at: Timestamp, now: Timestamp) {
        let due = match group {
            Group::Address(_) => finished_at + self.settings.site_rules.politeness.ip_delay,
            Group::Site(_) => now,
        };
        self.bench.end(group, due);
    }

    fn url_fetched(&mut self, now: Timestamp, site: SiteKey, (queued, is_conditional): (Queued, bool), fetch: Fetch) {
        let Fetch { outcome, content } = fetch;
        let politeness = self.settings.site_rules.politeness.clone();
        let shares_addresses = self.shares_addresses();
        let verdict = verdict::judge(&outcome.fetched, is_conditional, self.dates.of(outcome.finished_at));
        let Some(front) = self.front(site) else { return };
        let verdict = match (verdict, &outcome.fetched) {
            (Verdict::Final { outcome, reason, reached: false }, Fetched::Failed(failure))
                if front.state.may_pass(failure.kind) =>
            {
                Verdict::Retry { trouble: Trouble::Unreached, retry_after: None, outcome, reason }
            }
            (verdict, _) => verdict,
        };
        let attempts = queued.attempts;
        let is_head = ends_with_head(&outcome);
        let mut wait = front.state.delay(&politeness);
        let vanishes = looks_vanished(&queued, &verdict, &outcome.fetched, &content);
        let (attempts, ending) = match verdict {
            Verdict::Final { outcome: ended, reason, reached } => {
                if reached {
                    let (purpose, response_time) = (queued.candidate.purpose, outcome.response_time);
                    // That a page was requested again since it vanished says nothing of failures.
                    let failures = if vanishes { 0 } else { attempts };
                    front.state.reached((purpose, failures), response_time, outcome.finished_at, &politeness);
                    wait = front.state.delay(&politeness);
                    self.network.reached();
                    self.site_answered(now, site);
                } else {
                    // It fails for all of its URLs alike.
                    front.state.give_up(outcome.finished_at, failure_of(&outcome.fetched, &reason));
                }
                let attempts = attempts.saturating_add(1);
                let is_end = !vanishes || attempts >= politeness.vanished_attempts();
                (attempts, is_end.then_some((ended, reason)))
            }
            Verdict::Retry { trouble, retry_after, outcome: ended, reason } => {
                let failure = failure_of(&outcome.fetched, &reason);
                let at = outcome.finished_at;
                let failed = Failed { trouble, failure: &failure, retry_after, at };
                let attempts = self.url_failed(now, site, (queued.candidate.purpose, attempts), &failed);
                let Some(front) = self.front(site) else { return };
                if shares_addresses && matches!(failure.kind, FailureKind::Connect | FailureKind::Timeout) {
                    front.unreachable = front.state.address();
                } else if failure.kind.is_of_address() {
                    front.state.try_next_address();
                }
                let max = front.state.attempts_max(&politeness);
                // What HEAD alone was answered with is for GET to confirm, also where one attempt is all there is.
                let is_spent = attempts >= max && !is_head;
                (attempts, is_spent.then(|| (ended, with_attempts(reason, attempts))))
            }
        };
        if let Some(front) = self.front(site) {
            front.state.wait_until(outcome.finished_at + wait, Reason::Delay);
        }
        match ending {
            Some((ended, reason)) => {
                let ended = TurnEnd { outcome: ended, reason, attempts };
                self.end_url(now, site, (&queued, is_conditional), outcome, content, ended);
            }
            None => {
                let url = queued.candidate.url.key().url;
                match self.front(site) {
                    Some(front) if vanishes => front.state.leave_vanished(url, attempts, outcome.finished_at),
                    Some(front) => front.state.leave_behind(url, attempts),
                    None => {}
                }
                self.try_again(site, &queued, outcome.exchanges, attempts);
            }
        }
    }

    /// Notes that a URL failed in a way that may pass. Returns the requests that count for it.
    fn url_failed(
        &mut self,
        now: Timestamp,
        site: SiteKey,
        (purpose, attempts): (Purpose, u8),
        failed: &Failed<'_>,
    ) -> u8 {
        let is_network = self.is_fault_of_network(now, site, failed.failure);
        if !is_network {
            self.site_failed(now, site);
        }
        let politeness = &self.settings.site_rules.politeness;
        match self.sites.get_mut(&site) {
            Some(Slot::Here(front)) if is_network => {
                front.state.wait_until(failed.at + politeness.backoff, Reason::BackOff);
                attempts
            }
            Some(Slot::Here(front)) => front.state.url_failed((purpose, attempts), failed, politeness),
            Some(Slot::Loading(_)) | None => attempts,
        }
    }

    fn try_again(&mut self, site: SiteKey, queued: &Queued, exchanges: Vec<Exchange>, attempts: u8) {
        let mut record = Record::of(site);
        record.exchanges = exchanges;
        record.attempts = Some((queued.candidate.url.key(), queued.candidate.purpose, attempts));
        record.site_record = self.front(site).map(|front| front.state.record());
        self.record(record);
    }

    fn end_url(
        &mut self,
        now: Timestamp,
        site: SiteKey,
        (queued, is_conditional): (&Queued, bool),
        mut fetch: FetchOutcome,
        content: Content,
        ended: TurnEnd,
    ) {
        let (source, is_of_application) = (&queued.candidate, content.has_text_of_application());
        let mut record = Record::of(site);
        record.ends = Some(source.url.key().url);
        let mut visit = Visit {
            status: status_of(&fetch.fetched),
            content_type: content.content_type,
            length: content.length,
            digest: content.digest,
            limits: verdict::limits_reached(&fetch.fetched, source.purpose).union(content.limits),
            identity: content.identity,
            wording: content.wording,
            sought: content.sought,
            at: fetched_at(&fetch).unwrap_or_else(|| self.dates.of(fetch.finished_at)),
            attempts: ended.attempts,
            judged_at: source.judges_from(),
            validators: validators_of(&fetch, ended.outcome),
            ..Visit::without_fetch(source.url.key(), ended.outcome, ended.reason, self.dates.of(now))
        };
        if let (Outcome::NotModified, Some(last)) = (visit.outcome, &queued.again) {
            let Visit { judged_at, attempts, at, .. } = visit;
            visit = Visit { judged_at, attempts, ..self.not_modified(last, &fetch, at) };
        }
        let mut rest = None;
        let is_again = queued.again.is_some();
        // What is known was let in before.
        let mut brought = if is_again { None } else { self.brings_no_url_yet(source, content.features) };
        match content.finding {
            Finding::Nothing => {}
            Finding::Part => {
                (visit.outcome, visit.reason) = (Outcome::HttpError, PART.to_owned());
                visit.validators = Validators::default();
            }
            Finding::Document => visit.outcome = Outcome::Binary,
            Finding::Unwanted(reason) => {
                (visit.outcome, visit.reason) = (Outcome::Binary, reason);
                if let Some(exchange) = fetch.exchanges.last_mut() {
                    (exchange.payload, exchange.truncated) = (Bytes::new(), Some(Truncation::Unwanted));
                }
            }
            Finding::Redirect(Err(problem)) => visit.reason = problem,
            Finding::Redirect(Ok(target)) => {
                if target == source.url {
                    push_reason(&mut visit.reason, "it redirects to itself");
                }
                // By its status, or by its scripts.
                visit.outcome = Outcome::Redirect;
                visit.target = Some(target.to_string());
                visit.outlinks = vec![target.to_string()];
                if source.redirects >= self.settings.limits.redirects_max {
                    visit.limits.insert(Limit::Redirects);
                    let max = self.settings.limits.redirects_max;
                    push_reason(&mut visit.reason, &format!("not followed: more than {max} redirects in a row"));
                } else {
                    self.judge_redirect(now, source, &target, &mut record, brought.as_mut());
                }
            }
            Finding::Page(page) => {
                // The server has no file for what an application shows under this URL.
                if visit.outcome == Outcome::HttpError && is_of_application {
                    visit.outcome = Outcome::Html;
                }
                visit.title = page.title;
                visit.target = page.canonical.filter(|url| *url != source.url).map(|url| url.to_string());
                let shared = fetch.rendering.as_ref().map_or(&[][..], |rendering| &rendering.shared);
                let loaded = (content.loaded.into_vec(), shared);
                let judged = self.judge_images(now, source, page.images, loaded, &mut record);
                visit.limits = visit.limits.union(judged);
                if page.nofollow {
                    push_reason(&mut visit.reason, NOFOLLOW);
                }
                let (targets, left) = (page.targets, 0..page.links);
                rest = Some(Rest::Links { targets, left, is_followed: !page.nofollow });
            }
            Finding::Feed { pages, nofollow, announced } => {
                visit.outcome = Outcome::Binary;
                record.announced = announced::news(announced, queued.again.as_deref(), visit.at);
                if nofollow {
                    push_reason(&mut visit.reason, NOFOLLOW);
                }
                rest = Some(Rest::Links { left: 0..pages.len(), targets: pages.into(), is_followed: !nofollow });
            }
            Finding::Sitemap { pages, sitemaps, announced } => {
                visit.outcome = Outcome::Binary;
                record.announced = announced::news(announced, queued.again.as_deref(), visit.at);
                let (entries, limits) = self.entries_to_judge(source, pages, sitemaps);
                visit.limits = visit.limits.union(limits);
                rest = Some(entries);
            }
        }
        if let Some(rendering) = &fetch.rendering {
            self.record_loaded(source, rendering, &mut record);
        }
        visit.limits = visit.limits.union(self.judge_requisites(now, source, content.requisites, &mut record));
        if let Some(document) = content.details.as_ref().and_then(|details| details.document.as_ref()) {
            visit.title = document.title.clone();
        }
        rest = with_more(rest, content.more_links);
        if let Some(rendering) = &fetch.rendering {
            push_reason(&mut visit.reason, &rendering.note(content.gained));
            visit.limits = visit.limits.union(rendering.limits());
            if rendering.document.is_err() {
                visit.outcome = Outcome::RenderError;
            }
        }
        if self.settings.details && source.purpose == Purpose::Page {
            record.visited = Some(Box::new((source.clone(), content.details)));
        }
        if let Some(last) = &queued.again {
            again::fail_if_broken_off(&mut visit, last);
        }
        self.count(site, source, &visit, is_again);
        record.exchanges = fetch.exchanges;
        record.content_bytes = content.bytes;
        record.content = content.digest_of_content;
        record.block_digest = content.block_digest;
        record.rendering = fetch.rendering;
        record.visit = Some(visit);
        if let Some(last) = queued.again.clone() {
            self.follow(source, last, is_conditional, &mut record);
        }
        match rest {
            Some(rest) => self.judge_in_parts(now, source.clone(), rest, record, brought),
            None => {
                self.brought(source, brought.as_ref());
                record.site_record = self.front(site).map(|front| front.state.record());
                self.record(record);
            }
        }
    }

    /// Counts a visit for the budgets. What a site may have of new pages is not spent on known ones.
    fn count(&mut self, site: SiteKey, source: &Candidate, visit: &Visit, is_again: bool) {
        let purpose = source.purpose;
        if purpose == Purpose::Requisite {
            self.count_requisite(source, visit);
        }
        if visit.outcome != Outcome::NotModified {
            self.counts.add_bytes(visit.length);
        }
        let success = visit.outcome.is_fetched();
        if success && purpose == Purpose::Page {
            self.counts.add_page();
        }
        if let Some(front) = self.front(site).filter(|_| !is_again) {
            match purpose {
                Purpose::Sitemap => front.state.count_sitemap(),
                Purpose::Page | Purpose::Robots if success => front.state.count_page(),
                Purpose::Page | Purpose::Robots | Purpose::Requisite => {}
            }
        }
    }
}

/// Why a visit has no content that was answered with a part of one.
const PART: &str = "only a part was sent, although the whole was requested";

/// Why the links of a page or feed are not taken up.
const NOFOLLOW: &str = "links not followed: nofollow";

/// What the server gave with a content to ask for it later.
fn validators_of(fetch: &FetchOutcome, outcome: Outcome) -> Validators {
    match &fetch.fetched {
        Fetched::Response(response) if outcome.is_fetched() => {
            again::validators_of(&response.headers, fetched_at(fetch).unwrap_or(fetch.finished_at))
        }
        Fetched::Response(_) | Fetched::Failed(_) => Validators::default(),
    }
}

/// The links of a page, and more of them behind those, each once.
fn with_more(rest: Option<Rest>, more: Vec<CanonicalUrl>) -> Option<Rest> {
    if more.is_empty() {
        return rest;
    }
    let (mut all, is_followed) = match rest {
        Some(Rest::Links { targets, left, is_followed }) => (targets[left].to_vec(), is_followed),
        None => (Vec::new(), true),
        // Hooks see no sitemaps.
        Some(rest @ (Rest::Kept(_) | Rest::Entries(..))) => return Some(rest),
    };
    let known: HashSet<UrlKey> = all.iter().map(CanonicalUrl::key).collect();
    all.extend(more.into_iter().filter(|url| !known.contains(&url.key())));
    Some(Rest::Links { left: 0..all.len(), targets: all.into(), is_followed })
}

/// Whether a page that is known looks as if it had vanished, by the end of a fetch.
fn looks_vanished(queued: &Queued, verdict: &Verdict, fetched: &Fetched, content: &Content) -> bool {
    let last = queued.again.as_deref().filter(|_| queued.candidate.purpose == Purpose::Page);
    let (Some(last), Verdict::Final { outcome, reached: true, .. }) = (last, verdict) else { return false };
    let (outcome, target) = match &content.finding {
        Finding::Redirect(Ok(target)) => (Outcome::Redirect, Some(target.to_string())),
        Finding::Page(_) if content.has_text_of_application() => (Outcome::Html, None),
        _ => (*outcome, None),
    };
    let found = Visit::without_fetch(last.key, outcome, String::new(), last.at);
    model::looks_vanished(last, &Visit { status: status_of(fetched), target, ..found })
}

fn push_reason(reason: &mut String, more: &str) {
    if !reason.is_empty() {
        reason.push_str("; ");
    }
    reason.push_str(more);
}

/// Whether the answer is one to HEAD, which GET did not follow.
fn ends_with_head(fetch: &FetchOutcome) -> bool {
    let is_answer = matches!(fetch.fetched, Fetched::Response(_));
    is_answer && fetch.exchanges.last().is_some_and(|last| last.method == Method::Head)
}

fn with_attempts(reason: String, attempts: u8) -> String {
    match (reason.is_empty(), attempts) {
        (true, _) => format!("after {attempts} attempts"),
        (false, 1) => reason,
        (false, _) => format!("{reason} (after {attempts} attempts)"),
    }
}

fn status_of(fetched: &Fetched) -> u16 {
    match fetched {
        Fetched::Response(response) => response.status,
        Fetched::Failed(_) => 0,
    }
}

/// The time of the request for the recorded answer, which equals the date of its record; without an answer, the end of the attempt.
fn fetched_at(fetch: &FetchOutcome) -> Option<Timestamp> {
    let last = fetch.exchanges.iter().rev().find(|exchange| exchange.method == Method::Get).or(fetch.exchanges.last());
    last.map(|exchange| exchange.started_at)
}

fn failure_of(fetched: &Fetched, reason: &str) -> Failure {
    match fetched {
        Fetched::Failed(failure) => failure.clone(),
        Fetched::Response(response) => {
            let detail = match (response.status, reason) {
                (status, "") => format!("status {status}"),
                (status @ 400.., reason) => format!("status {status}; {reason}"),
                (_, reason) => reason.to_owned(),
            };
            Failure { kind: FailureKind::Busy, detail }
        }
    }
}

#[cfg(test)]
mod tests {
    use model::{Headers, Response};

    use super::*;

    #[test]
    fn the_failure_of_a_site_that_answers_names_the_status() {
        for (status, reason, expect) in [
            (503, "", "status 503"),
            (503, "Retry-After `soon` cannot be read", "status 503; Retry-After `soon` cannot be read"),
            (200, "truncated: disconnected", "truncated: disconnected"),
        ] {
            let headers = Headers::default();
            let response =
                Response { status, headers, body: Bytes::new(), truncated: None, is_undecoded: false, note: None };
            assert_eq!(failure_of(&Fetched::Response(response), reason).detail, expect);
        }
    }
}
