//! robots.txt on other sites, where redirects of robots.txt lead: each is asked for at the turn of its site and of its address, once for
//! all sites that are led there.

mod kept;

use std::net::IpAddr;
use std::time::Duration;

use fetch::ROBOTS_REDIRECTS_MAX;
use frontier::{ASIDE_WAITS, Group, Reason, RobotsState, Trouble, Visitor};
use model::{
    Candidate, Condition, Failure, FailureKind, FetchOutcome, FetchTask, Purpose, RobotsAnswer, RobotsRecord,
    SiteRecord, TaskId, Timestamp, Via,
};
use weburl::{CanonicalUrl, SiteKey, UrlKey};

pub(super) use self::kept::Errands;
use self::kept::{Answered, Errand, Stage, TargetAnswer, Walk};
use super::renewal::condition;
use super::robots_txt::{FetchedRobots, File, Redirect, is_cut, is_final, is_hopeless, retry_after, robots_txt_of};
use super::shares::{Share, domain_of};
use super::{Flight, Start, State, TaskKind};
use crate::{Command, Record};

/// How often a robots.txt that only another worker may ask for is looked for in the store, and after what time again: the other must find
/// out that it is to ask, and wait for its turn.
const LOOKS_MAX: u32 = 60;
const LOOK_AGAIN_AFTER: Duration = Duration::from_secs(2);

impl State {
    /// Uses a site's robots.txt if it is known without a request to the site, or is being requested already. True if so.
    pub(super) fn has_robots_from_errand(&mut self, now: Timestamp, site: SiteKey, url: &CanonicalUrl) -> bool {
        let walk = Walk { site, redirects: 0 };
        match self.errands.answer(url.key(), now) {
            Some(answered) => self.go_on(now, walk, answered),
            None => match self.errands.all.get_mut(&url.key()) {
                Some(Errand { stage: Stage::Asked, waiting, .. }) => waiting.push(walk),
                Some(_) | None => return false,
            },
        }
        true
    }

    /// A site's own request for robots.txt was answered with a redirect to another site.
    pub(super) fn redirected(&mut self, now: Timestamp, site: SiteKey, own: &CanonicalUrl, redirect: Redirect) {
        self.conclude(now, own, TargetAnswer::Redirect(redirect.clone()), now, robots::ROBOTS_CACHE_MAX);
        self.walk(now, Walk { site, redirects: 0 }, redirect);
    }

    /// A site's own request for robots.txt was answered: others may wait for the same, or come to it again after it failed. What they have
    /// asked the store or the name servers for is out of date then, and what comes of it may be too.
    pub(super) fn answered(&mut self, now: Timestamp, own: &CanonicalUrl, file: &File, retry_after: Option<Duration>) {
        let is_final = is_final(&file.answer, &self.settings);
        if self.errands.all.get(&own.key()).is_some_and(|errand| is_final || errand.is_open()) {
            self.conclude_with(now, own, file.clone(), retry_after);
        }
    }

    /// Goes on with an answer: to its end, or to where it leads.
    fn go_on(&mut self, now: Timestamp, walk: Walk, answered: Answered) {
        match answered.answer {
            TargetAnswer::Redirect(redirect) => self.walk(now, walk, redirect),
            TargetAnswer::Is(file) => self.arrive(now, walk, file, (answered.at, answered.until)),
        }
    }

    /// Goes on to where a redirect leads.
    fn walk(&mut self, now: Timestamp, walk: Walk, Redirect { to, status }: Redirect) {
        if walk.redirects >= ROBOTS_REDIRECTS_MAX {
            let unfollowed = RobotsAnswer::Status { code: status, body: bytes::Bytes::new() };
            return self.arrive(now, walk, File { answer: unfollowed, is_cut: false, renewal: None }, (now, now));
        }
        let walk = Walk { redirects: walk.redirects + 1, ..walk };
        match self.errands.answer(to.key(), now) {
            Some(answered) => self.go_on(now, walk, answered),
            None => self.seek(walk, &to),
        }
    }

    /// A site has come to its robots.txt.
    fn arrive(&mut self, now: Timestamp, walk: Walk, file: File, (at, until): (Timestamp, Timestamp)) {
        let is_final = is_final(&file.answer, &self.settings);
        let Some(front) = self.front(walk.site) else { return };
        front.earlier_robots.take();
        // One that was let go of and came back asks by itself.
        if !matches!(front.state.robots(), RobotsState::InFlight { .. }) {
            return;
        }
        let at = if is_final { at } else { now };
        // It is not asked for again before that.
        let retry_after = (!is_final).then(|| until.since(now));
        let had = FetchedRobots { file, at, retry_after, exchanges: Vec::new(), is_own: false };
        self.robots_had(now, walk.site, had);
        self.prepare(now, walk.site);
    }

    /// Has a site wait for a robots.txt that is not known.
    fn seek(&mut self, walk: Walk, url: &CanonicalUrl) {
        let errand = self.errands.entry(url);
        errand.waiting.push(walk);
        if errand.is_open() {
            return;
        }
        let outdated = std::mem::replace(&mut errand.stage, Stage::Sought);
        let is_asked = std::mem::replace(&mut errand.is_sought, true);
        if let Stage::Answered(outdated) = outdated {
            self.errands.bytes -= outdated.answer.bytes();
        }
        self.errands.open += 1;
        if !is_asked {
            self.look_for(url);
        }
    }

    /// Asks the store, and then the name servers.
    fn look_for(&mut self, url: &CanonicalUrl) {
        self.asked += 1;
        self.commands.push(Command::ReadRobots { url: url.clone() });
    }

    /// Takes the stored record of the site of a robots.txt. A request on behalf of the site itself has left it there.
    pub(super) fn robots_read(&mut self, now: Timestamp, key: UrlKey, record: Option<SiteRecord>) {
        if self.sought(key) != Some(true) {
            return;
        }
        let Some(url) = self.errands.url(key) else { return };
        let is_own = robots_txt_of(&url.site()).as_ref() == Some(&url);
        let longest = self.settings.site_rules.politeness.longest_wait();
        let mut record = record.unwrap_or_else(|| SiteRecord::new(url.site()));
        let stored = record.robots.take().map(|robots| self.read_robots(now, key.site, robots));
        let robots = self.unread_robots(key.site).or(stored).filter(|_| is_own);
        record.due_at = record.due_at.min(now + longest);
        let due_at = record.due_at;
        if self.is_on_hold(now, &url) {
            return;
        }
        if let Some(until) = self.aside_until(now, key.site, &record) {
            let detail = format!("its robots.txt is at {}, which is in trouble", url.site());
            let file = File::failed(Failure { kind: FailureKind::Busy, detail });
            return self.conclude(now, &url, TargetAnswer::Is(file), now, until.since(now));
        }
        let holds = |record: &RobotsRecord| {
            let is_final = is_final(&record.answer, &self.settings);
            is_final && record.fetched_at + robots::ROBOTS_CACHE_MAX > now
        };
        match robots.filter(holds) {
            Some(record) => {
                let at = record.fetched_at;
                let renewal = record.renewal.map(|mut renewal| {
                    renewal.url.get_or_insert_with(|| url.clone());
                    renewal
                });
                let file = File { answer: record.answer, is_cut: record.is_cut, renewal };
                self.conclude(now, &url, TargetAnswer::Is(file), at, robots::ROBOTS_CACHE_MAX);
            }
            None => {
                if let Some(errand) = self.errands.all.get_mut(&key) {
                    (errand.is_sought, errand.not_before) = (true, due_at);
                    if self.start != Start::Shared && !self.sites.contains_key(&key.site) {
                        self.errands.records.insert(key.site, Box::new(record));
                    }
                    self.asked += 1;
                    self.commands.push(Command::ResolveTarget { url });
                }
            }
        }
    }

    /// Has the sites try again later whose robots.txt is on a site on hold. False where it is not.
    fn is_on_hold(&mut self, now: Timestamp, url: &CanonicalUrl) -> bool {
        let is_held = self.settings.held_sites.contains(&url.key().site);
        if is_held {
            let detail = format!("its robots.txt is at {}, which is on hold", url.site());
            let file = File::failed(Failure { kind: FailureKind::Busy, detail });
            self.conclude(now, url, TargetAnswer::Is(file), now, LOOK_AGAIN_AFTER);
        }
        is_held
    }

    /// Takes in where the site of a robots.txt is.
    pub(super) fn target_resolved(&mut self, now: Timestamp, key: UrlKey, addresses: Result<Vec<IpAddr>, Failure>) {
        if self.sought(key) != Some(true) {
            return;
        }
        let Some(errand) = self.errands.all.get_mut(&key) else { return };
        match addresses {
            Ok(addresses) => {
                (errand.address, errand.looks, errand.failed_lookups) = (addresses.first().copied(), 0, 0);
                self.offer_errand(now, key);
            }
            Err(failure) => {
                errand.failed_lookups = errand.failed_lookups.saturating_add(1);
                let url = errand.url.clone();
                self.conclude_failed(now, &url, File::failed(failure), None);
            }
        }
    }

    /// A robots.txt lies where only another worker may ask. That worker asks for it for the sake of its site, if the site is in the crawl:
    /// so it is put there, and the sites that wait try again and find it in the store.
    pub(super) fn target_elsewhere(&mut self, now: Timestamp, key: UrlKey) {
        if self.sought(key) == Some(true) {
            self.leave_to_owner(now, key);
        }
    }

    /// A task for which a turn had come was not begun, since the address is another worker's by now.
    pub(super) fn not_asked(&mut self, now: Timestamp, task: TaskId) {
        let Some(flight) = self.in_flight.remove(&task) else { return };
        let Flight { site, group, share, asked: TaskKind::Errand { key, is_counted }, .. } = flight else { return };
        self.free_share(now, share);
        self.end_errand(now, site, group, is_counted);
        self.leave_to_owner(now, key);
        self.prepare(now, site);
        self.bench.end(group, now);
    }

    fn leave_to_owner(&mut self, now: Timestamp, key: UrlKey) {
        let Some(url) = self.errands.url(key) else { return };
        let detail = format!("robots.txt redirects to {url}, whose address another worker asks");
        let walks = self.errands.all.get(&key).and_then(|errand| errand.waiting.first().copied());
        if let (Some(walk), true) = (walks, robots_txt_of(&url.site()).as_ref() == Some(&url)) {
            let candidate = Candidate {
                url: url.clone(),
                depth: 0,
                redirects: 0,
                via: Via::Redirect,
                purpose: Purpose::Robots,
                found_on: None,
            };
            if self.remembered.find(&candidate) {
                let mut record = Record::of(walk.site);
                record.found.push(candidate);
                self.record(record);
            }
        }
        let Some(errand) = self.errands.all.get_mut(&key) else { return };
        errand.looks += 1;
        if errand.looks < LOOKS_MAX {
            errand.stage = Stage::Due;
            let number = self.errands.number(key);
            return self.bench.offer(Visitor::Errand(number), Group::Site(url.site().key()), now + LOOK_AGAIN_AFTER);
        }
        errand.failed_tries = u32::from(self.settings.site_rules.politeness.attempts_max);
        let failure = Failure { kind: FailureKind::Connect, detail };
        self.conclude(now, &url, TargetAnswer::Is(File::failed(failure)), now, Duration::ZERO);
    }

    /// The store or the name servers have answered. Returns whether the answer is still wanted; `None` if it was not requested.
    fn sought(&mut self, key: UrlKey) -> Option<bool> {
        let errand = self.errands.all.get_mut(&key).filter(|errand| errand.is_sought)?;
        errand.is_sought = false;
        self.asked -= 1;
        Some(matches!(errand.stage, Stage::Sought))
    }

    /// Puts an errand on the workbench, beside the sites of its address.
    fn offer_errand(&mut self, now: Timestamp, key: UrlKey) {
        let by_address = !self.settings.site_rules.politeness.ip_delay.is_zero();
        let Some(errand) = self.errands.all.get_mut(&key) else { return };
        errand.stage = Stage::Due;
        let site = errand.url.site().key();
        let group = match errand.address {
            Some(address) if by_address => Group::of_address(address),
            _ => Group::Site(site),
        };
        let not_before = errand.not_before;
        let due = self.front(site).map_or(not_before, |front| front.state.due_at()).max(now);
        let number = self.errands.number(key);
        self.bench.offer(Visitor::Errand(number), group, due);
    }

    /// An errand's turn.
    pub(super) fn run_errand(&mut self, now: Timestamp, number: u64, group: Group) {
        let key = self.errands.numbers.remove(&number);
        let due = key.and_then(|key| self.errands.all.get(&key).map(|errand| (key, errand)));
        let Some((key, Errand { url, stage: Stage::Due, address, .. })) = due else {
            return self.bench.end(group, now);
        };
        let (url, address) = (url.clone(), *address);
        let site = url.site().key();
        if self.is_on_hold(now, &url) {
            return self.bench.end(group, now);
        }
        if let Some(errand) = self.errands.all.get_mut(&key).filter(|errand| errand.looks > 0) {
            // Somebody else may have asked for it by now, or this worker may.
            (errand.stage, errand.is_sought) = (Stage::Sought, true);
            self.look_for(&url);
            return self.bench.end(group, now);
        }
        let is_early = self.front(site).is_some_and(|front| front.state.due_at() > now);
        if is_early {
            self.bench.end(group, now);
            return self.offer_errand(now, key);
        }
        let answers = self.front(site).is_some_and(|front| front.state.answers());
        let share = Share::of(domain_of(&url.site()), address, answers);
        if self.must_wait_for_share(Visitor::Errand(number), share) {
            self.errands.numbers.insert(number, key);
            return self.bench.end(group, now);
        }
        if let Some(errand) = self.errands.all.get_mut(&key) {
            errand.stage = Stage::Asked;
        }
        let is_own = |flight: &Flight| flight.site == site && matches!(flight.asked, TaskKind::Robots);
        if robots_txt_of(&url.site()).as_ref() == Some(&url) && self.in_flight.values().any(is_own) {
            // The site is being asked for the same: its answer is the answer.
            return self.bench.end(group, now);
        }
        let is_counted = self.front(site).is_some_and(|front| {
            front.state.in_flight += 1;
            true
        });
        let id = self.new_task();
        self.take_share(share);
        let asked = TaskKind::Errand { key, is_counted };
        let walks = self.errands.all.get(&key).map(|errand| &errand.waiting[..]).unwrap_or_default();
        let sites: Vec<SiteKey> = walks.iter().map(|walk| walk.site).collect();
        let earlier = self.earlier_elsewhere(&url, &sites);
        let renewal = earlier.as_ref().and_then(|earlier| earlier.record.renewal.as_deref());
        let condition = renewal.and_then(|renewal| {
            let of = renewal.url.clone().unwrap_or_else(|| url.clone());
            Some(Box::new(Condition { validators: *condition(renewal)?, url: of }))
        });
        if let Some(errand) = self.errands.all.get_mut(&key) {
            errand.earlier = earlier;
        }
        let is_conditional = condition.is_some();
        self.in_flight.insert(id, Flight { site, group, share, asked, is_conditional, begun: now });
        self.errands.under_way.push(group);
        let (purpose, head_first) = (Purpose::Robots, false);
        let task = FetchTask { id, url, purpose, address, head_first, condition, for_page: None };
        self.commands.push(Command::FetchTarget(task));
        self.keep_pace(now);
    }

    /// Puts an errand back on the workbench that waited for a share. False where it has been answered meanwhile.
    pub(super) fn errand_goes_on(&mut self, now: Timestamp, number: u64) -> bool {
        let Some(key) = self.errands.numbers.remove(&number) else { return false };
        let is_due = self.errands.all.get(&key).is_some_and(|errand| matches!(errand.stage, Stage::Due));
        if is_due {
            self.offer_errand(now, key);
        }
        is_due
    }

    /// Takes in the end of an errand's fetch.
    pub(super) fn errand_fetched(
        &mut self,
        now: Timestamp,
        (site, group): (SiteKey, Group),
        (key, is_counted): (UrlKey, bool),
        (outcome, is_conditional): (FetchOutcome, bool),
    ) {
        let earlier = self.errands.all.get_mut(&key).and_then(|errand| errand.earlier.take());
        let earlier = earlier.map(|earlier| earlier.record);
        let asked_for = self.errands.url(key).unwrap_or_else(|| outcome.url.clone());
        let renewal = self.renewal_of((site, &asked_for), &outcome, earlier.as_ref(), is_conditional);
        self.end_errand(now, site, group, is_counted);
        let politeness = self.settings.site_rules.politeness.clone();
        let redirect = Redirect::of(&outcome);
        let retry_after = retry_after(&outcome.fetched, self.dates.of(outcome.finished_at));
        let tries = self.errands.all.get(&key).map_or(0, |errand| errand.failed_tries) + 1;
        let asked = retry_after.map(|asked| politeness.backoff_after(Trouble::Unreached, tries, Some(asked)));
        let mut stored = self.errands.records.remove(&site);
        if let Some(front) = self.front(site) {
            front.state.wait_until(outcome.finished_at + front.state.delay(&politeness), Reason::Delay);
            if let Some(asked) = asked {
                front.state.leave_alone_until(outcome.finished_at + asked);
            }
            // A record that is built is written.
            stored = asked.is_some().then(|| Box::new(front.state.record()));
        } else if let (Some(record), Some(asked)) = (&mut stored, asked) {
            record.asked_until = record.asked_until.max(outcome.finished_at + asked);
            record.due_at = record.due_at.max(record.asked_until);
        }
        if !outcome.exchanges.is_empty() || asked.is_some() {
            let mut record = Record::of(site);
            record.exchanges = outcome.exchanges;
            let renewed = renewal.as_ref().filter(|renewal| renewal.not_modified > 0);
            record.unchanged_since = renewed.map(|renewal| renewal.recorded_at);
            // Another run must know of it too, and that it is not the clock that was set back.
            record.site_record = stored
                .filter(|_| asked.is_some())
                .map(|stored| SiteRecord { failures_in_a_row: stored.failures_in_a_row.max(1), ..*stored });
            self.record(record);
        }
        let Some(url) = self.errands.url(key) else { return };
        match redirect {
            Some(redirect) => {
                self.patience.begins(now);
                self.conclude(now, &url, TargetAnswer::Redirect(redirect), now, robots::ROBOTS_CACHE_MAX);
            }
            None => {
                let is_cut = is_cut(&outcome.fetched, self.settings.limits.robots_bytes_max);
                let file = self.file_of(outcome.fetched, is_cut, earlier, renewal);
                if is_final(&file.answer, &self.settings) {
                    self.patience.begins(now);
                }
                self.conclude_with(now, &url, file, retry_after);
            }
        }
    }

    fn end_errand(&mut self, now: Timestamp, site: SiteKey, group: Group, is_counted: bool) {
        if let Some(at) = self.errands.under_way.iter().position(|other| *other == group) {
            self.errands.under_way.swap_remove(at);
        }
        if let Some(front) = self.front(site).filter(|_| is_counted) {
            front.state.in_flight = front.state.in_flight.saturating_sub(1);
        }
        let releases = std::mem::take(&mut self.errands.releases);
        if !releases.is_empty() {
            self.release(now, &releases);
        }
    }

    /// Ends an errand with a result: for as long as a robots.txt holds, or until it may be requested again.
    fn conclude_with(&mut self, now: Timestamp, url: &CanonicalUrl, file: File, retry_after: Option<Duration>) {
        let is_final = is_final(&file.answer, &self.settings);
        let errand = self.errands.entry(url);
        if is_final {
            (errand.failed_tries, errand.failed_lookups) = (0, 0);
            self.conclude(now, url, TargetAnswer::Is(file), now, robots::ROBOTS_CACHE_MAX);
        } else {
            errand.failed_tries = errand.failed_tries.saturating_add(1);
            self.conclude_failed(now, url, file, retry_after);
        }
    }

    /// Ends an errand that failed, which is counted.
    fn conclude_failed(&mut self, now: Timestamp, url: &CanonicalUrl, file: File, retry_after: Option<Duration>) {
        let politeness = &self.settings.site_rules.politeness;
        let tries = self.errands.all.get(&url.key()).map_or(1, Errand::tries);
        let holds = if is_hopeless(&file.answer) {
            ASIDE_WAITS[0]
        } else {
            politeness.backoff_after(Trouble::Unreached, tries, retry_after)
        };
        self.conclude(now, url, TargetAnswer::Is(file), now, holds);
    }

    /// Ends an errand with a result of this time that holds for this long: all sites that wait for it continue.
    fn conclude(&mut self, now: Timestamp, url: &CanonicalUrl, answer: TargetAnswer, at: Timestamp, holds: Duration) {
        let answered = Answered { answer, at, until: at + holds };
        for walk in self.errands.settle(url, answered.clone()) {
            self.go_on(now, walk, answered.clone());
        }
    }
}
