//! What is begun now: visits that are due, reads from the store, and the end.

use std::time::Duration;

use frontier::{Group, Next, Reason, RobotsState, Settled, SiteState, Visitor};
use model::{Candidate, Condition, FetchTask, Outcome, Purpose, Queued, TaskId, Timestamp, Validators, Visit, Visited};
use weburl::{CanonicalUrl, SiteKey};

use super::in_parts::Rest;
use super::robots_txt::robots_txt_of;
use super::shares::Share;
use super::{FOUND_OPEN_MAX, Flight, Front, Leaving, RECORDS_OPEN_MAX, SiteSearch, Slot, Start, State, TaskKind};
use crate::requisites::for_page;
use crate::settings::{PAGES_LIMIT, TIME_LIMIT};
use crate::{Command, End, Record, Spent, Waiting};

/// URLs settled without the network before another site has its turn.
const SETTLED_AT_ONCE_MAX: usize = 64;

impl State {
    /// Sees to it that a site has what it needs: its queue read on, its place on the workbench, or its rest.
    pub(super) fn prepare(&mut self, now: Timestamp, site: SiteKey) {
        // Its current size decides how large its window may be.
        self.weigh(site);
        self.prepare_next(now, site);
        self.weigh(site);
    }

    fn prepare_next(&mut self, now: Timestamp, site: SiteKey) {
        let group_by_address = !self.settings.site_rules.politeness.ip_delay.is_zero();
        let pages_are_over = self.pages_are_over();
        let (window, is_too_large) = (self.window(), self.is_too_large());
        let Some(Slot::Here(front)) = self.sites.get_mut(&site) else { return };
        if is_too_large {
            front.state.cut_window(window);
        }
        if front.leaving != Leaving::No {
            self.bench.withdraw(site);
            if front.is_busy() {
                return;
            }
            let group = front.state.address().map(Group::of_address);
            if self.errands.is_under_way_at(group) {
                self.errands.release_later(site);
            } else {
                self.let_go(site);
            }
            return;
        }
        let is_aside = front.state.is_aside(now);
        // What has nothing left to do is not waited for.
        if is_aside && !front.is_finished() {
            if front.is_busy() {
                self.bench.withdraw(site);
            } else {
                self.put_aside(now, site);
            }
            return;
        }
        if front.yields {
            self.bench.withdraw(site);
            if !front.is_busy() {
                self.yield_place(site);
            }
            return;
        }
        if front.turns >= self.settings.turns_in_front_max && self.has_had_its_turns(now, site) {
            return;
        }
        let Some(Slot::Here(front)) = self.sites.get_mut(&site) else { return };
        front.state.begin_sweep(now, &self.settings.site_rules.politeness);
        if front.state.is_aside(now) && !is_aside {
            // It leaves when that is committed.
            return self.record_site(site);
        }
        if front.state.wants_load(window) && !front.loading {
            front.loading = true;
            self.asked += 1;
            let after = front.state.begin_load();
            self.commands.push(Command::Load { site, with_record: false, after, max: window });
        }
        front.held |= pages_are_over && front.waits_with_pages_alone();
        if front.state.has_passed_over_all() && !front.held {
            front.held = true;
            self.looked_through(now, site);
        }
        let Some(Slot::Here(front)) = self.sites.get_mut(&site) else { return };
        let waits_for_rules =
            front.reading.is_under_way() || matches!(front.state.robots(), RobotsState::InFlight { .. });
        let waits = front.resolving || front.held || front.waits_for_share || waits_for_rules || self.line.has(site);
        if front.has_turn() && !waits {
            let due = if front.state.needs_no_network() { now } else { front.state.due_at() };
            let group = group_of(&front.state, group_by_address);
            self.bench.offer_after(site, group, due, front.visit_took);
        } else {
            self.bench.withdraw(site);
        }
        let idle = front.is_finished() || (front.held && !front.state.is_under_way());
        let is_finished = idle && !front.loading && !front.resolving && !front.reading.is_under_way();
        if is_finished && front.parked.is_none() {
            let politeness = &self.settings.site_rules.politeness;
            let longest = front.state.delay(politeness).max(politeness.crawl_delay_max);
            front.visited_before.take_if(|before| *before + longest <= now);
        }
        self.park(site, is_finished);
    }

    /// Begins what is due, asks for more sites, and notices the end.
    pub(super) fn dispatch(&mut self, now: Timestamp) {
        if self.finished {
            return;
        }
        self.check_limits(now);
        self.end_unreached(now);
        self.go_on_with_turns(now);
        let may_begin = !self.was_out_of_patience(now);
        while may_begin && self.ending.is_none() && self.has_room() && self.paced_until <= now {
            if let Some((site, group)) = self.take_found(now) {
                self.visit(now, site, group);
                continue;
            }
            if !self.is_turn_due(now) || !self.network.may_try(now) {
                break;
            }
            match self.bench.pick(now) {
                Some((Visitor::Site(site), group)) => self.visit(now, site, group),
                Some((Visitor::Errand(number), group)) => self.run_errand(now, number, group),
                None => break,
            }
            self.check_limits(now);
        }
        if self.ending.is_none() {
            // What was just begun may have made room.
            self.shed(now);
            if may_begin {
                self.return_from_aside(now);
            }
            self.fill_places(now);
            self.search_sites();
        }
        self.set_alarm(now, may_begin);
        self.notice_end(now);
    }

    /// Brings to front what was found, as far as there is room, and looks for more.
    fn search_sites(&mut self) {
        while let Some(site) = self.sites_found.pop_front() {
            self.bring_to_front(site);
        }
        if self.search == SiteSearch::Exhausted && std::mem::take(&mut self.sites_missed) {
            self.search = SiteSearch::Wanted(None);
        }
        if let SiteSearch::Wanted(after) = self.search
            && (self.make_room(self.settings.sites_in_front_max.div_ceil(2)) || self.has_place_for_strangers())
        {
            self.search = SiteSearch::Reading;
            self.asked += 1;
            self.commands.push(Command::FindSites { after });
        }
    }

    /// True if enough links were judged for one event: the rest, and new fetches, wait for the next.
    fn has_judged_enough(&self) -> bool {
        self.judged >= self.settings.links_at_once || !self.in_parts.is_empty()
    }

    /// True if one more fetch may begin.
    pub(super) fn has_room(&self) -> bool {
        !self.settings.paused
            && !self.has_judged_enough()
            && self.in_flight.len() < self.settings.concurrency
            && self.open.len() < RECORDS_OPEN_MAX
            && self.open_weight.found < FOUND_OPEN_MAX
            && self.open_weight.bytes + self.open_weight.contents < self.settings.limits.in_flight_bytes_max
            && !self.is_budget_under_way()
            && self.spent_by_all().is_none()
    }

    /// The budget of the crawl that is spent after this time.
    fn limit_reached(&self, lasts: Duration) -> Option<&'static str> {
        let (pages, bytes) = (self.counts.pages_in_round(), self.counts.bytes_in_round());
        let spent = self.settings.budgets_spent(&Spent { round: self.round, pages, bytes, lasts });
        let lacks = self.lacks_requisites();
        let mut spent = spent.filter(|name| *name != PAGES_LIMIT || !lacks);
        spent.next()
    }

    /// The budget that several workers have spent together. They wait then, for a larger one or another round: none of them ends the crawl.
    pub(super) fn spent_by_all(&self) -> Option<&'static str> {
        if self.start == Start::Shared { self.limit_reached(self.counts.lasts()) } else { None }
    }

    pub(super) fn check_limits(&mut self, now: Timestamp) {
        if self.start == Start::Shared {
            return;
        }
        if let Some(name) = self.limit_reached(now.since(self.started_at)) {
            if self.ending.is_none() {
                self.ending = Some(End::Limit(name, self.leaves_to_next(now)));
            }
            if name == TIME_LIMIT {
                self.abandon(now);
            }
        }
    }

    /// Ends a run that could reach nothing at all, however long what is under way may take: it would most likely fail as all before.
    pub(super) fn end_unreached(&mut self, now: Timestamp) {
        if self.ending.is_none() && !self.network.was_reached() && self.is_out_of_patience(now) {
            self.ending = Some(End::Waiting(self.leaves_to_next(now)));
            self.abandon(now);
        }
    }

    /// The next time at which something is due without anything happening before.
    fn set_alarm(&mut self, now: Timestamp, has_patience: bool) {
        let may_begin = has_patience && self.has_room() && self.ending.is_none();
        // Where nothing is due, an end is waited for.
        let due = self.next_turn().map(|due| due.max(self.paced_until)).filter(|_| may_begin);
        let back = self.asides.next_due().filter(|due| may_begin && *due > now);
        let probe = may_begin.then(|| self.last_probe_or_earlier(now)).flatten().filter(|at| *at > now);
        let has_end = self.ending.is_none() && self.start != Start::Shared;
        let end = self.settings.time_max.filter(|_| has_end).map(|max| self.started_at + max);
        let at_once = self.has_judged_enough().then_some(now);
        // Where something has answered, an event comes before.
        let may_end = !self.network.was_reached() || self.in_flight.is_empty() && self.asked == 0;
        let ends_at = may_end.then(|| self.patience_ends(now)).flatten().filter(|at| *at > now);
        if let Some(alarm) = [at_once, due, back, probe, end, ends_at].into_iter().flatten().min() {
            self.commands.push(Command::WakeAt(alarm.max(now)));
        }
    }

    fn notice_end(&mut self, now: Timestamp) {
        if !self.in_flight.is_empty() || !self.open.is_empty() || !self.in_parts.is_empty() {
            return;
        }
        let end = match &self.ending {
            Some(end) => end.clone(),
            None => match self.end_by_itself(now) {
                // A pause may be what it waits for.
                Some(end) if end == End::Done || !self.settings.paused => end,
                Some(_) | None => return,
            },
        };
        self.finished = true;
        self.commands.push(Command::Finish(end));
    }

    /// The end of a run that is not stopped from outside; `None` while there is work or something to wait for.
    fn end_by_itself(&mut self, now: Timestamp) -> Option<End> {
        if self.start == Start::Shared || self.asked > 0 {
            return None;
        }
        if let Some((since, probe_at)) = self.network.down_since().zip(self.network.quiet_until()) {
            let is_over = probe_at > self.waits_since(since) + self.patience();
            return is_over.then(|| End::Waiting(self.waiting(self.asides.len(), None)));
        }
        if self.is_out_of_patience(now) {
            return Some(End::Waiting(self.leaves_to_next(now)));
        }
        let is_idle = self.sites_waiting() == 0 && self.has_found_all_sites();
        if !is_idle || self.errands.is_open() || !self.places.nobody_waits() {
            return None;
        }
        match (self.asides.next_due(), self.waits_until(now)) {
            (None, _) => Some(End::Done),
            (Some(_), Some(_)) => None,
            (Some(due), None) => {
                let due = Some(self.dates.of(due));
                Some(End::Waiting(self.waiting(self.asides.len(), due)))
            }
        }
    }

    /// What a run leaves that ends now.
    fn leaves_to_next(&self, now: Timestamp) -> Waiting {
        let sites = self.sites.len() - self.parked.len() + self.asides.len();
        let due = self.asides.next_due().or_else(|| self.first_due()).map(|due| self.dates.of(due.max(now)));
        let has_answers = due.is_none() && self.network.was_reached();
        Waiting { has_answers, ..self.waiting(sites, due) }
    }

    /// True if each site with something to do had a place, or waits for one.
    pub(super) fn has_found_all_sites(&self) -> bool {
        self.search == SiteSearch::Exhausted && self.sites_found.is_empty() && !self.sites_missed
    }

    fn waiting(&self, sites: usize, due: Option<Timestamp>) -> Waiting {
        Waiting { sites: sites as u64, due, has_answers: false, last_failure: self.network.last_failure() }
    }

    /// A site's turn: one fetch, or some outcomes that need none.
    pub(super) fn visit(&mut self, now: Timestamp, site: SiteKey, group: Group) {
        // The site is prepared again when its rules are there.
        let front = self.front(site).filter(|front| !front.reading.is_under_way());
        let Some(front) = front else { return self.bench.end(group, now) };
        if front.wants_name(now) {
            let share = Share::of_names(front.domain);
            let waits = self.must_wait_for_share(Visitor::Site(site), share);
            let Some(front) = self.front(site) else { return self.bench.end(group, now) };
            front.waits_for_share = waits;
            if !waits {
                front.resolving = true;
                let (site, unreachable) = (front.state.site().clone(), front.unreachable.take());
                self.take_share(share);
                self.asked += 1;
                self.commands.push(Command::Resolve { site, unreachable });
            }
            return self.bench.end(group, now);
        }
        let is_on_network = !front.state.needs_no_network();
        if is_on_network && self.waits_for_others(now, site) {
            self.prepare(now, site);
            return self.bench.end(group, now);
        }
        let Some(front) = self.front(site) else { return self.bench.end(group, now) };
        if is_on_network {
            let share = Share::of(front.domain, front.state.address(), front.state.answers());
            if self.must_wait_for_share(Visitor::Site(site), share) {
                if let Some(front) = self.front(site) {
                    front.waits_for_share = true;
                }
                return self.bench.end(group, now);
            }
        }
        self.rulebook.used(site);
        if is_on_network && self.ask_for_truth(now, site, group) {
            return self.prepare(now, site);
        }
        for _ in 0..SETTLED_AT_ONCE_MAX {
            match self.next_of(site, now) {
                Next::Settle(queued, settled) => self.settle(now, site, &queued, settled),
                Next::JudgeAgain(queued) => {
                    self.judge_again(now, site, queued);
                    if self.has_judged_enough() {
                        break;
                    }
                }
                Next::Robots => return self.ask_for_robots(site, group, now),
                Next::ReadRules => return self.visit_with_rules(now, site, group),
                Next::Fetch(queued) => match self.kept_out(&queued.candidate) {
                    Some(settled) => self.settle(now, site, &queued, settled),
                    None => return self.fetch(now, site, group, queued),
                },
                Next::Held(Reason::SiteBudget) => match self.next_kept_out(site) {
                    Some((queued, settled)) => self.settle(now, site, &queued, settled),
                    None => break,
                },
                Next::Held(reason) => {
                    if let Some(front) = self.front(site) {
                        front.held |= reason == Reason::CrawlBudget;
                    }
                    break;
                }
            }
        }
        self.prepare(now, site);
        self.bench.end(group, now);
    }

    fn next_of(&mut self, site: SiteKey, now: Timestamp) -> Next {
        let pages_are_over = self.pages_are_over();
        match self.sites.get_mut(&site) {
            Some(Slot::Here(front)) if pages_are_over && front.waits_with_pages_alone() => {
                Next::Held(Reason::CrawlBudget)
            }
            Some(Slot::Here(front)) => front.state.next(&self.settings.site_rules, now),
            _ => Next::Held(Reason::Nothing),
        }
    }

    /// What [`State::next_of`] would return. Nothing is taken or counted.
    pub(super) fn peek_of(&self, front: &Front, now: Timestamp) -> Next {
        match self.pages_are_over() && front.waits_with_pages_alone() {
            true => Next::Held(Reason::CrawlBudget),
            false => front.state.peek(&self.settings.site_rules, now),
        }
    }

    /// The end of a URL that could be requested, but that the rules of the crawl keep out by now.
    pub(super) fn kept_out(&self, waiting: &Candidate) -> Option<Settled> {
        let excluded = self.settings.excluded_since(waiting, |key| self.seeds.contains(&key));
        let excluded = excluded.map(|rule| Settled::new(Outcome::Excluded, rule.to_string()));
        excluded.or_else(|| self.beyond_bytes(waiting))
    }

    fn settle(&mut self, now: Timestamp, site: SiteKey, queued: &Queued, settled: Settled) {
        let Settled { outcome, reason, limits } = settled;
        let key = queued.candidate.url.key();
        let mut record = Record::of(site);
        record.ends = Some(key.url);
        // What a rule forbids now says nothing of what is there.
        if outcome.is_refused() && queued.again.is_some() {
            record.kept = Some((key, queued.candidate.purpose));
            return self.record(record);
        }
        let visit = Visit {
            attempts: queued.attempts,
            limits,
            judged_at: queued.candidate.judges_from(),
            ..Visit::without_fetch(key, outcome, reason, self.dates.of(now))
        };
        if outcome.is_refused() && outcome != Outcome::Trap {
            // Such a page brings nothing.
            let nothing = self.brings_no_url_yet(&queued.candidate, None);
            self.brought(&queued.candidate, nothing.as_ref());
        }
        record.visit = Some(visit);
        if let Some(last) = queued.again.clone() {
            self.follow(&queued.candidate, last, false, &mut record);
        }
        record.site_record = self.front(site).map(|front| front.state.record());
        self.record(record);
    }

    fn judge_again(&mut self, now: Timestamp, site: SiteKey, queued: Queued) {
        let Some(Visited { outcome, outlinks }) = queued.visited else { return };
        let mut record = Record::of(site);
        let key = queued.candidate.url.key();
        record.ends = Some(key.url);
        record.judged_again = Some((key, queued.candidate.distance()));
        if outcome == Outcome::Redirect {
            for target in outlinks.iter().filter_map(|link| CanonicalUrl::from_canonical(link)) {
                self.judge_redirect(now, &queued.candidate, &target, &mut record, None);
            }
            self.record(record);
        } else {
            self.judge_in_parts(now, queued.candidate, Rest::Kept(outlinks.into_iter()), record, None);
        }
    }

    fn ask_for_robots(&mut self, site: SiteKey, group: Group, now: Timestamp) {
        let Some(front) = self.front(site) else { return self.bench.end(group, now) };
        let Some(url) = robots_txt_of(front.state.site()) else { return self.bench.end(group, now) };
        if front.wants_earlier_robots() {
            self.ask_for_earlier_robots(site);
            self.prepare(now, site);
            return self.bench.end(group, now);
        }
        front.state.robots_asked();
        if self.has_robots_from_errand(now, site, &url) {
            self.prepare(now, site);
            return self.bench.end(group, now);
        }
        let validators = self.robots_condition(site);
        self.send(now, (site, group), url, (Purpose::Robots, validators), TaskKind::Robots);
        self.prepare(now, site);
    }

    fn fetch(&mut self, now: Timestamp, site: SiteKey, group: Group, queued: Queued) {
        let politeness = &self.settings.site_rules.politeness;
        if politeness.connections_per_site > 1 {
            let politeness = politeness.clone();
            if let Some(front) = self.front(site) {
                front.state.wait_until(now + front.state.delay(&politeness), Reason::Delay);
            }
        }
        let (url, purpose) = (queued.candidate.url.clone(), queued.candidate.purpose);
        let validators = self.condition_of(site, &queued);
        self.send(now, (site, group), url, (purpose, validators), TaskKind::Url(Box::new(queued)));
        self.prepare(now, site);
    }

    /// A name for a task.
    pub(super) fn new_task(&mut self) -> TaskId {
        let id = TaskId(self.next_task);
        self.next_task += 1;
        id
    }

    pub(super) fn send(
        &mut self,
        now: Timestamp,
        (site, group): (SiteKey, Group),
        url: CanonicalUrl,
        (purpose, validators): (Purpose, Option<Box<Validators>>),
        asked: TaskKind,
    ) {
        let id = self.new_task();
        // An answer to a HEAD that may pass is for GET to confirm: it may be about HEAD alone.
        let for_page = match &asked {
            TaskKind::Url(queued) if purpose == Purpose::Requisite => {
                for_page(&queued.candidate, self.requisites.referer(&queued.candidate))
            }
            _ => None,
        };
        let is_new = matches!(&asked, TaskKind::Url(queued) if queued.attempts == 0);
        let head_first = self.settings.head_first && purpose == Purpose::Page && is_new;
        let Some(Front { state, domain, turns, earlier_robots, .. }) = self.front(site) else { return };
        *turns += 1;
        state.in_flight += 1;
        let address = state.address();
        let of_robots = earlier_robots.renewal().filter(|_| validators.is_some() && purpose == Purpose::Robots);
        let file = of_robots.and_then(|renewal| renewal.url.clone()).unwrap_or_else(|| url.clone());
        let share = Share::of(*domain, address, state.answers());
        self.take_share(share);
        let condition = validators.map(|validators| Box::new(Condition { validators: *validators, url: file }));
        let is_conditional = condition.is_some();
        self.in_flight.insert(id, Flight { site, group, share, asked, is_conditional, begun: now });
        let task = FetchTask { id, url, purpose, address, head_first, condition, for_page };
        self.commands.push(Command::Fetch(task));
        self.keep_pace(now);
    }

    /// A request begins: the next one waits for the pace of all sites.
    pub(super) fn keep_pace(&mut self, now: Timestamp) {
        self.paced_until = self.paced_until.max(now) + self.settings.pace;
    }
}

fn group_of(state: &SiteState, by_address: bool) -> Group {
    match state.address() {
        Some(address) if by_address && !state.needs_no_network() => Group::of_address(address),
        _ => Group::Site(state.key),
    }
}
