//! Large robots.txt files. The shell reads them beside the step. Their rules stay in memory as far as there is room; the store has the rest.

use std::collections::{BTreeMap, VecDeque};

use foldhash::HashMap;
use frontier::{Failed, Group, Reason, RobotsState, Trouble};
use model::{Failure, FailureKind, RobotsAnswer, RobotsRecord, SiteRecord, Timestamp};
use robots::{RobotsFetch, RobotsTxt};
use weburl::SiteKey;

use super::State;
use super::robots_txt::{FetchedRobots, access, expiry, robots_of, robots_txt_of};
use super::slot::{Front, Leaving, Reading, Slot};
use crate::{Command, Settings};

/// The large rules in memory, by last use.
#[derive(Default)]
pub(super) struct Rulebook {
    held: HashMap<SiteKey, Held>,
    order: BTreeMap<u64, SiteKey>,
    uses: u64,
    bytes: usize,
    /// New files that are being read.
    new: usize,
    /// Sites whose turn waits for their rules, or for room when those are there.
    turns: usize,
    /// The latter. Their rules stay in memory.
    ready: VecDeque<(SiteKey, Group)>,
}

struct Held {
    used: u64,
    bytes: usize,
}

impl Rulebook {
    fn hold(&mut self, site: SiteKey, bytes: usize) {
        self.drop(site);
        self.bytes += bytes;
        self.uses += 1;
        self.held.insert(site, Held { used: self.uses, bytes });
        self.order.insert(self.uses, site);
    }

    /// Notes that a site uses its rules now, if they are large.
    pub(super) fn used(&mut self, site: SiteKey) {
        if let Some(Held { bytes, .. }) = self.held.get(&site) {
            self.hold(site, *bytes);
        }
    }

    /// Keeps the rules of a site in memory until they are used.
    fn pin(&mut self, site: SiteKey) {
        if let Some(Held { used, .. }) = self.held.get(&site) {
            self.order.remove(used);
        }
    }

    /// Notes that the rules of a site have left memory.
    pub(super) fn drop(&mut self, site: SiteKey) {
        if let Some(Held { used, bytes }) = self.held.remove(&site) {
            self.order.remove(&used);
            self.bytes -= bytes;
        }
    }

    /// True if a new file may be read at once. Sites that wait with their turn come first.
    pub(super) fn may_read_new(&self, settings: &Settings) -> bool {
        self.new + self.turns < settings.rules_read_at_once_max
    }

    /// The site whose rules were used longest ago, if the rules take more than `bytes_max`.
    fn beyond(&self, bytes_max: usize) -> Option<SiteKey> {
        self.order.first_key_value().map(|(_, site)| *site).filter(|_| self.bytes > bytes_max)
    }
}

/// Reads a robots.txt, as [`Command::ReadRules`] wants it.
#[must_use]
pub fn read_rules(code: u16, body: &[u8], settings: &Settings) -> RobotsTxt {
    access(RobotsFetch::Status { code, body }, settings).rules
}

/// The store has lost the file, or reading it broke this program.
fn unreadable() -> Failure {
    Failure { kind: FailureKind::Internal, detail: "robots.txt cannot be read".to_owned() }
}

impl State {
    /// Orders the read of a new robots.txt. The record follows, with the sitemaps that it names.
    pub(super) fn read_beside(&mut self, site: SiteKey, had: FetchedRobots) {
        let RobotsAnswer::Status { code, body } = &had.file.answer else { return };
        let read = Command::ReadRules { site, code: *code, body: body.clone() };
        let Some(front) = self.front(site) else { return };
        front.reading = Reading::Fresh(Box::new(had));
        self.rulebook.new += 1;
        self.asked += 1;
        self.commands.push(read);
    }

    /// A new robots.txt that the store does not have yet.
    pub(super) fn unread_robots(&mut self, site: SiteKey) -> Option<RobotsRecord> {
        let front = self.front(site)?;
        match &front.reading {
            Reading::Fresh(had) if had.is_own => Some(had.record(front.state.site(), true)),
            _ => None,
        }
    }

    /// True if the file of one more site may be read whose turn waits for it.
    pub(super) fn may_read_stored(&self) -> bool {
        self.rulebook.turns < self.settings.rules_read_at_once_max
    }

    /// A turn that needs rules from the store. If many sites wait for theirs, the site waits in line, and others of its group have their
    /// turn.
    pub(super) fn visit_with_rules(&mut self, now: Timestamp, site: SiteKey, group: Group) {
        if self.may_read_stored() {
            self.ask_for_rules(site, Some(group));
            return self.prepare(now, site);
        }
        self.line.join(site);
        self.prepare(now, site);
        self.bench.end(group, now);
    }

    /// True if a turn is due. While one more file may be read, those in line for it are called until a turn is due: they have been due for
    /// longer than others, so theirs comes first.
    pub(super) fn is_turn_due(&mut self, now: Timestamp) -> bool {
        loop {
            let called = self.may_read_stored().then(|| self.line.call()).flatten();
            if let Some(site) = called {
                self.prepare(now, site);
            }
            let is_due = self.bench.next_due().is_some_and(|due| due <= now);
            if is_due || called.is_none() {
                return is_due;
            }
        }
    }

    /// Asks the store for the robots.txt of a site. The turn goes on as soon as the rules are there, so the site uses them before they leave
    /// memory.
    pub(super) fn ask_for_rules(&mut self, site: SiteKey, turn: Option<Group>) {
        let Some(front) = self.front(site).filter(|front| !front.reading.is_under_way()) else { return };
        front.reading = Reading::Stored(turn);
        self.asked += 1;
        self.rulebook.turns += usize::from(turn.is_some());
        self.commands.push(Command::FindRules { site });
    }

    /// Takes in the stored file, and orders its read.
    pub(super) fn rules_found(&mut self, now: Timestamp, site: SiteKey, record: Option<&SiteRecord>) {
        match self.front(site).map(|front| &front.reading) {
            Some(Reading::Stored(_)) => {}
            Some(Reading::Earlier) => return self.earlier_robots_found(now, site, record),
            _ => return,
        }
        match record.and_then(|record| record.robots.as_ref()) {
            Some(RobotsRecord { answer: RobotsAnswer::Status { code, body }, .. }) => {
                let (code, body) = (*code, body.clone());
                self.commands.push(Command::ReadRules { site, code, body });
            }
            // It is asked for again, after a while.
            Some(_) | None => self.rules_read(now, site, None),
        }
    }

    /// Takes in the rules.
    pub(super) fn rules_read(&mut self, now: Timestamp, site: SiteKey, rules: Option<RobotsTxt>) {
        let Some(front) = self.front(site).filter(|front| front.reading.is_awaited()) else { return };
        let bytes = rules.as_ref().map_or(0, RobotsTxt::heap_bytes);
        let reading = std::mem::take(&mut front.reading);
        self.asked -= 1;
        self.hold_rules(site, bytes);
        match reading {
            Reading::Fresh(had) => self.fresh_rules_read(now, site, *had, rules),
            Reading::Stored(turn) => self.stored_rules_read(now, site, turn, rules),
            Reading::Nothing | Reading::Earlier | Reading::Done => {}
        }
        self.prepare(now, site);
    }

    fn fresh_rules_read(&mut self, now: Timestamp, site: SiteKey, mut had: FetchedRobots, rules: Option<RobotsTxt>) {
        self.rulebook.new -= 1;
        if rules.is_none() {
            // As if it had not come.
            had.file.answer = RobotsAnswer::Failed(unreadable());
        }
        let own = self.front(site).and_then(|front| robots_txt_of(front.state.site()));
        if let Some(own) = own.filter(|_| had.is_own) {
            // Others may have come to it since it was fetched.
            self.answered(now, &own, &had.file, had.retry_after);
        }
        let robots = match rules {
            Some(rules) => RobotsState::Known { rules, expires_at: expiry(had.at, &self.settings) },
            None => robots_of(&had.file.answer, had.at, &self.settings),
        };
        self.robots_answered(now, site, had, robots);
    }

    fn stored_rules_read(&mut self, now: Timestamp, site: SiteKey, turn: Option<Group>, rules: Option<RobotsTxt>) {
        let politeness = self.settings.site_rules.politeness.clone();
        if let Some(front) = self.front(site) {
            if rules.is_none() {
                let failure = unreadable();
                let failed = Failed { trouble: Trouble::Unreached, failure: &failure, retry_after: None, at: now };
                front.state.failed(&failed, &politeness);
            }
            front.state.rules_read(rules);
            if let Some(before) = front.visited_before {
                // The Crawl-delay is known only now.
                front.state.wait_until(before + front.state.delay(&politeness), Reason::Delay);
            }
        }
        if self.front(site).is_some_and(|front| front.names_sitemaps) {
            self.name_sitemaps(site);
        }
        if let Some(group) = turn {
            self.go_on_with_turn(now, site, group);
        }
    }

    /// Goes on with the turns that have their rules and wait for room, before others begin theirs.
    pub(super) fn go_on_with_turns(&mut self, now: Timestamp) {
        while (self.has_room() || self.begins_nothing())
            && let Some((site, group)) = self.rulebook.ready.pop_front()
        {
            self.rulebook.used(site);
            if let Some(front) = self.front(site) {
                front.reading = Reading::Nothing;
            }
            self.go_on_with_turn(now, site, group);
            self.prepare(now, site);
        }
    }

    /// True if no fetch may begin.
    fn begins_nothing(&self) -> bool {
        self.settings.paused || self.ending.is_some()
    }

    /// Goes on with a turn that waited for rules, if the site may still be visited. It did not count as a fetch, so there may be no room
    /// for one now: then it has the next.
    fn go_on_with_turn(&mut self, now: Timestamp, site: SiteKey, group: Group) {
        let may_begin = !self.begins_nothing() && self.network.quiet_until().is_none_or(|quiet| quiet <= now);
        let is_due = |front: &Front| {
            let stays = front.leaving == Leaving::No && !front.yields && !front.held;
            stays && front.state.due_at() <= now && !front.state.is_aside(now)
        };
        let has_room = self.has_room();
        match self.front(site).filter(|front| may_begin && is_due(front)) {
            Some(front) if !has_room => {
                front.reading = Reading::Done;
                self.rulebook.pin(site);
                return self.rulebook.ready.push_back((site, group));
            }
            Some(_) => self.visit(now, site, group),
            None => self.bench.end(group, now),
        }
        self.rulebook.turns -= 1;
    }

    /// Keeps rules in memory. The rules used longest ago leave it.
    fn hold_rules(&mut self, site: SiteKey, bytes: usize) {
        self.line.leave(site);
        self.rulebook.hold(site, bytes);
        while let Some(oldest) = self.rulebook.beyond(self.settings.rules_bytes_max).filter(|oldest| *oldest != site) {
            self.rulebook.drop(oldest);
            if let Some(Slot::Here(front)) = self.sites.get_mut(&oldest) {
                front.state.store_rules();
            }
            self.weigh(oldest);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rules_used_the_longest_ago_leave_first() {
        let mut rulebook = Rulebook::default();
        for site in 1..=4 {
            rulebook.hold(SiteKey(site), 10);
        }
        rulebook.used(SiteKey(1));
        rulebook.used(SiteKey(9));
        rulebook.drop(SiteKey(3));
        assert_eq!(rulebook.beyond(30), None);
        let mut left = Vec::new();
        while let Some(site) = rulebook.beyond(0) {
            rulebook.drop(site);
            left.push(site.0);
        }
        assert_eq!((left, rulebook.bytes), (vec![2, 4, 1], 0));
    }

    #[test]
    fn rules_stay_that_a_turn_waits_to_use() {
        let mut rulebook = Rulebook::default();
        rulebook.hold(SiteKey(1), 10);
        rulebook.hold(SiteKey(2), 10);
        rulebook.pin(SiteKey(1));
        assert_eq!(rulebook.beyond(0), Some(SiteKey(2)));
        rulebook.drop(SiteKey(2));
        assert_eq!(rulebook.beyond(0), None);
        rulebook.used(SiteKey(1));
        assert_eq!(rulebook.beyond(0), Some(SiteKey(1)));
    }
}
