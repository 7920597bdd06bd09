//! Visits of known pages: their requests, the visit of an unchanged page, and whether the site is right about changes.

use frontier::{Group, Reason, Verdict, again, verdict};
use model::{Candidate, Change, FetchOutcome, Fetched, Outcome, Purpose, Queued, Timestamp, Validators, Visit};
use weburl::SiteKey;

use super::slot::{Slot, Truth};
use super::{State, TaskKind};
use crate::Record;

impl State {
    /// A round began while the run goes on. Each site is asked once more whether it tells the truth, and the budgets count from here.
    pub(super) fn round_began(&mut self, now: Timestamp, round: u32) {
        if round != self.round {
            self.round = round;
            self.counts.begin_round();
            self.look_through_again();
            self.open_budgets();
        }
        for slot in self.sites.values_mut() {
            if let Slot::Here(front) = slot {
                (front.is_probed, front.truth) = (false, Truth::Unknown);
            }
        }
        self.prepare_all(now);
    }

    /// The validators with which a URL is asked for. A page that a browser shows is asked for in any case: what it shows may change
    /// though its document does not. So is one whose content the archive has not, and one in which not all was looked for that is wanted now.
    pub(super) fn condition_of(&mut self, site: SiteKey, queued: &Queued) -> Option<Box<Validators>> {
        let may_refer = |last: &&Visit| last.location.is_some() || !self.settings.archive;
        let wanted = self.settings.sought();
        let is_searched = |last: &&Visit| last.kind() != Some(Outcome::Html) || last.sought.covers(wanted);
        let last = queued.again.as_deref().filter(|_| self.settings.render.is_none());
        let last = last.filter(may_refer).filter(is_searched)?;
        let front = self.front(site)?;
        let is_probe = !front.is_probed || front.state.misleads();
        let validators = again::condition(last, is_probe, front.state.pages_fetched());
        front.is_probed |= again::is_test(last);
        Some(Box::new(validators)).filter(|validators| !validators.is_empty())
    }

    /// The visit of a content that is as it was.
    pub(super) fn not_modified(&self, last: &Visit, fetch: &FetchOutcome, at: Timestamp) -> Visit {
        let headers = match &fetch.fetched {
            Fetched::Response(response) => response.headers.clone(),
            Fetched::Failed(_) => Default::default(),
        };
        again::not_modified(last, &headers, at)
    }

    /// Completes a record with what its visit says of the one before. Where a page has changed that was asked for in any case, its site is
    /// asked whether it says so too.
    pub(super) fn follow(&mut self, page: &Candidate, last: Box<Visit>, is_conditional: bool, record: &mut Record) {
        if let (Some(visit), Some(front)) = (&mut record.visit, self.front(record.site)) {
            let misleads = again::follow(visit, &last, !is_conditional);
            let is_whole = !again::is_cut(&last) && !again::is_cut(visit);
            let has_changed = !is_conditional && is_whole && Change::between(Some(&last), visit) == Change::Changed;
            let sent = again::sendable(&last.validators);
            if misleads {
                front.state.set_misleads();
            } else if has_changed
                && !front.state.misleads()
                && !sent.is_empty()
                && matches!(front.truth, Truth::Unknown)
            {
                front.truth = Truth::Wanted(page.url.clone(), Box::new(sent));
            }
        }
        record.last = Some(last);
    }

    /// Asks a site for a page that has changed with the validators that it had before, if that is wanted. True where it does.
    pub(super) fn ask_for_truth(&mut self, now: Timestamp, site: SiteKey, group: Group) -> bool {
        let Some(front) = self.front(site) else { return false };
        let Some((url, validators)) = front.truth_wanted() else { return false };
        let (url, validators) = (url.clone(), Box::new(validators.clone()));
        front.truth = Truth::Asked;
        // It is a visit as others are: the next one waits.
        let politeness = self.settings.site_rules.politeness.clone();
        if let Some(front) = self.front(site) {
            front.state.wait_until(now + front.state.delay(&politeness), Reason::Delay);
        }
        self.send(now, (site, group), url.clone(), (Purpose::Page, Some(validators)), TaskKind::Truth(url));
        true
    }

    /// Takes in the answer: a server that says that nothing has changed is not believed any more.
    pub(super) fn truth_told(&mut self, site: SiteKey, outcome: &FetchOutcome) {
        let politeness = self.settings.site_rules.politeness.clone();
        let is_lie = matches!(&outcome.fetched, Fetched::Response(response) if response.status == 304);
        let at = outcome.finished_at;
        let verdict = verdict::judge(&outcome.fetched, true, self.dates.of(at));
        let Some(front) = self.front(site) else { return };
        match verdict {
            Verdict::Final { reached: true, .. } => {
                front.state.reached((Purpose::Page, 0), outcome.response_time, at, &politeness);
            }
            Verdict::Retry { retry_after: Some(asked), .. } => {
                front.state.leave_alone_until(at + asked.min(politeness.retry_after_max));
            }
            Verdict::Final { .. } | Verdict::Retry { .. } => {}
        }
        front.state.wait_until(at + front.state.delay(&politeness), Reason::Delay);
        if is_lie {
            front.state.set_misleads();
            self.record_site(site);
        }
    }
}
