//! `--again`: a round begins, in which known pages are visited again.

use std::collections::{BTreeSet, HashSet};
use std::time::Duration;

use engine::{LOADED_WITH_PAGE, Settings};
use model::{Outcome, Purpose, Round, Timestamp, Visit};
use store::{Batch, CrawlView, Entry, Store, StoreError, Totals};
use weburl::{CanonicalUrl, Pattern, SiteKey, UrlKey};

use crate::Notice;
use crate::chosen::Chosen;
use crate::retry::{Forgiveness, Wanted};

/// URLs looked at, and at most chosen, in one commit.
const ENTRIES_AT_ONCE: usize = 2_048;

/// A redirect leads elsewhere each time if so many of its visits in a row led to as many URLs.
const ELSEWHERE_VISITS: usize = 3;
/// The same if the URLs that it led to, one after the other, were so many different ones, each for as many visits as it took: one that changes daily
/// keeps its target where it is visited twice a day. A page that moved twice has had one less.
const ELSEWHERE_PLACES: usize = 4;

/// Which pages are visited again.
#[derive(Clone, Debug, Default)]
pub struct Again {
    /// Only those whose last visit is at least this long ago. A date in the future counts as one in the past: the clock was set back.
    pub older_than: Option<Duration>,
    /// Only those that match one of these patterns; all without patterns.
    pub only: Vec<Pattern>,
    /// The date.
    pub now: Timestamp,
}

impl Again {
    /// Begins a round, or finds the current one. Each commit chooses URLs from a part of the state. If the process is killed
    /// meanwhile, the next call continues the same round.
    ///
    /// URLs that robots.txt or the rules of the crawl forbade are not chosen, unless they were fetched before. Those that patterns have come to
    /// keep out are not chosen either. New links are followed as in the first round. Sites that were given up are tried again. What a chosen page needs to be shown is chosen with the page that it was
    /// found on.
    ///
    /// # Errors
    /// The state cannot be read or written.
    pub fn begin(&self, store: &dyn Store, settings: &Settings) -> Result<Notice, StoreError> {
        if let Some(going_on) = going_on(store)? {
            return Ok(going_on);
        }
        let mut beginning = Beginning::new(store, settings, self.now)?;
        let choice = Choice::new(self, store, settings, beginning.round.clone())?;
        choice.each_part(&mut |chosen| beginning.choose(chosen).map(|()| true))?;
        if let Some(begun) = beginning.end()? {
            return Ok(begun);
        }
        let too_young = match self.older_than {
            Some(_) => Again { older_than: None, ..self.clone() }.foreseen(store, settings)?.urls,
            None => 0,
        };
        Ok(Notice::RoundOfNothing { too_young, is_by_pattern: !self.only.is_empty() })
    }

    /// What [`Again::begin`] would choose where no round goes on. Nothing changes.
    ///
    /// # Errors
    /// The state cannot be read.
    pub fn foreseen(&self, view: &dyn CrawlView, settings: &Settings) -> Result<Chosen, StoreError> {
        let round = next_round(self.now, &view.totals()?.round);
        let mut chosen = Chosen::of_round(round.number);
        Choice::new(self, view, settings, round)?.each_part(&mut |urls| {
            chosen.count(&urls);
            chosen.on_hold += urls.iter().filter(|key| settings.held_sites.contains(&key.site)).count() as u64;
            Ok(true)
        })?;
        Ok(chosen)
    }

    /// How many URLs are left of the round that goes on and would not be chosen, if one goes on: it visits them all the same. What a page needs
    /// counts with its page. The same choice as at the begin of the round leaves out none.
    ///
    /// # Errors
    /// The state cannot be read.
    pub fn left_out(&self, view: &dyn CrawlView) -> Result<u64, StoreError> {
        let (mut left_out, mut after) = (0, None);
        if self.is_of_all() || going_on(view)?.is_none() {
            return Ok(0);
        }
        loop {
            let entries = view.scan(after, ENTRIES_AT_ONCE)?;
            let Some(last) = entries.last() else { return Ok(left_out) };
            after = Some(last.candidate.url.key());
            let is_left_out = |entry: &&Entry| {
                let visit =
                    entry.visit.as_ref().filter(|_| entry.again && entry.candidate.purpose != Purpose::Requisite);
                visit.is_some_and(|visit| !self.matches(entry, visit, self.now))
            };
            left_out += entries.iter().filter(is_left_out).count() as u64;
        }
    }

    /// Whether nothing limits it.
    fn is_of_all(&self) -> bool {
        self.older_than.is_none() && self.only.is_empty()
    }

    /// Whether a page with this last visit is chosen for a round that begins then.
    fn matches(&self, entry: &Entry, last: &Visit, began_at: Timestamp) -> bool {
        self.older_than.is_none_or(|age| began_at.apart(last.at) >= age)
            && (self.only.is_empty() || self.only.iter().any(|only| only.matches(entry.candidate.url.as_str())))
    }

    /// Whether [`Again::begin`] would change anything.
    ///
    /// # Errors
    /// The state cannot be read.
    pub fn is_due(&self, view: &dyn CrawlView, settings: &Settings) -> Result<bool, StoreError> {
        let last = view.totals()?.round;
        if last.is_choosing || going_on(view)?.is_some() {
            return Ok(last.is_choosing);
        }
        let mut is_due = false;
        Choice::new(self, view, settings, next_round(self.now, &last))?.each_part(&mut |chosen| {
            is_due = !chosen.is_empty();
            Ok(!is_due)
        })?;
        Ok(is_due)
    }
}

/// Which URLs a round visits.
struct Choice<'a> {
    again: &'a Again,
    view: &'a dyn CrawlView,
    settings: &'a Settings,
    round: Round,
    seeds: HashSet<UrlKey>,
}

impl<'a> Choice<'a> {
    fn new(
        again: &'a Again,
        view: &'a dyn CrawlView,
        settings: &'a Settings,
        round: Round,
    ) -> Result<Self, StoreError> {
        let seeds = view.seeds()?.iter().map(CanonicalUrl::key).collect();
        Ok(Choice { again, view, settings, round, seeds })
    }

    /// Calls `each` with the URLs that are chosen, part by part, as long as it wants more.
    fn each_part(&self, each: &mut dyn FnMut(Vec<UrlKey>) -> Result<bool, StoreError>) -> Result<(), StoreError> {
        let mut after = None;
        loop {
            let entries = self.view.scan(after, ENTRIES_AT_ONCE)?;
            let Some(last) = entries.last() else { return Ok(()) };
            after = Some(last.candidate.url.key());
            let mut chosen = Vec::new();
            for entry in &entries {
                if self.takes(entry)? {
                    chosen.push(entry.candidate.url.key());
                }
            }
            if !each(chosen)? {
                return Ok(());
            }
        }
    }

    fn takes(&self, entry: &Entry) -> Result<bool, StoreError> {
        let is_chosen = self.chooses(entry) || self.chooses_page_of(entry)?;
        Ok(is_chosen && self.admits(entry) && !is_passed_by(entry, self.view)?)
    }

    fn chooses(&self, entry: &Entry) -> bool {
        let last = entry.visit.as_ref().filter(|_| self.may_be_visited(entry));
        last.is_some_and(|last| self.again.matches(entry, last, self.round.began_at))
    }

    /// Whether this is a requisite of a page that is chosen.
    fn chooses_page_of(&self, entry: &Entry) -> Result<bool, StoreError> {
        let Some(page) = page_of(entry).filter(|_| self.may_be_visited(entry)) else { return Ok(false) };
        Ok(self.view.get(page)?.is_some_and(|page| self.chooses(&page) && self.admits(&page)))
    }

    fn may_be_visited(&self, entry: &Entry) -> bool {
        may_be_visited(entry, &self.round) && !is_left_to_browser(entry, self.settings)
    }

    /// Whether the patterns of the crawl admit a URL as they are now: otherwise its visit would end without a request.
    fn admits(&self, entry: &Entry) -> bool {
        self.settings.excluded_since(&entry.candidate, |key| self.seeds.contains(&key)).is_none()
    }
}

/// Whether a URL may be visited in this round: it was requested before it.
///
/// What stands between a requisite and its file, as a redirect, is not visited: the first redirect is, and leads where it leads now. A
/// server whose redirects always lead to new URLs would otherwise get more of them in each round, for each of those before.
pub(crate) fn may_be_visited(entry: &Entry, round: &Round) -> bool {
    let Entry { candidate, visit, .. } = entry;
    let was_asked_for = |visit: &Visit| visit.attempts > 0 || visit.content_at.is_some();
    let is_between = |visit: &Visit| {
        candidate.purpose == Purpose::Requisite && candidate.redirects > 0 && visit.outcome == Outcome::Redirect
    };
    candidate.purpose != Purpose::Robots
        && visit.as_ref().is_some_and(|visit| was_asked_for(visit) && visit.round < round.number && !is_between(visit))
}

/// Whether this is a requisite that the browser requested, in a crawl that renders pages: it does so again with the page. The crawl knows neither
/// the fields that the page's scripts send nor when an answer ends that they listen to.
pub(crate) fn is_left_to_browser(Entry { candidate, visit, .. }: &Entry, settings: &Settings) -> bool {
    candidate.purpose == Purpose::Requisite
        && settings.render.is_some()
        && visit.as_ref().is_some_and(|last| last.reason == LOADED_WITH_PAGE)
}

/// Whether a page is known only by a redirect that leads elsewhere each time, and last not to it; or by one further on from there.
///
/// A server whose redirects always lead to new URLs would otherwise get more requests in each round. A page that moved, even twice, is not
/// passed by, and neither is one to which the redirect led last.
pub(crate) fn is_passed_by(entry: &Entry, view: &dyn CrawlView) -> Result<bool, StoreError> {
    let (redirects, mut known) = (entry.candidate.redirects, entry.candidate.clone());
    if known.purpose != Purpose::Page {
        return Ok(false);
    }
    for _ in 0..redirects {
        let source = known.found_on.filter(|_| known.redirects > 0);
        let Some(source) = source.map(|source| view.get(source)).transpose()?.flatten() else { return Ok(false) };
        if leads_elsewhere(&source, known.url.as_str(), view)? {
            return Ok(true);
        }
        known = source.candidate;
    }
    Ok(false)
}

/// Whether a redirect led to another URL at each of its last visits, and last not to this one.
fn leads_elsewhere(source: &Entry, target: &str, view: &dyn CrawlView) -> Result<bool, StoreError> {
    let target_of = |visit: &Visit| visit.target.clone().filter(|_| visit.outcome == Outcome::Redirect);
    let Some(last) = source.visit.as_ref().filter(|last| last.past.visits > 0) else { return Ok(false) };
    let targets: Vec<String> = view.earlier(last.key)?.iter().chain([last]).filter_map(target_of).collect();
    Ok(targets.last().is_some_and(|last| last != target) && is_elsewhere_each_time(targets))
}

/// Whether these are the targets of a redirect that leads elsewhere each time, those of its last visits at the end.
fn is_elsewhere_each_time(targets: Vec<String>) -> bool {
    let are_as_many = |targets: &[String], count: usize| {
        let last = targets.iter().rev().take(count);
        last.collect::<BTreeSet<_>>().len() == count
    };
    let of_visits = are_as_many(&targets, ELSEWHERE_VISITS);
    let mut places = targets;
    places.dedup();
    of_visits || are_as_many(&places, ELSEWHERE_PLACES)
}

/// The page that a requisite was found on.
pub(crate) fn page_of(entry: &Entry) -> Option<UrlKey> {
    entry.candidate.found_on.filter(|_| entry.candidate.purpose == Purpose::Requisite)
}

/// The current round: it has URLs left, and no more are being chosen.
///
/// # Errors
/// The state cannot be read.
pub fn going_on(view: &dyn CrawlView) -> Result<Option<Notice>, StoreError> {
    let Totals { round, again, .. } = view.totals()?;
    let goes_on = again > 0 && !round.is_choosing;
    Ok(goes_on.then_some(Notice::RoundGoesOn { round: round.number, urls: again }))
}

/// The round that begins now, or the one that is being chosen.
pub(crate) fn next_round(now: Timestamp, last: &Round) -> Round {
    match last.is_choosing {
        true => last.clone(),
        false => Round { number: last.number.saturating_add(1), began_at: now, is_choosing: true },
    }
}

/// A round whose URLs are being chosen.
pub(crate) struct Beginning<'a> {
    store: &'a dyn Store,
    forgiveness: Forgiveness<'a>,
    pub(crate) round: Round,
    has_begun: bool,
    /// URLs that the round before left in the queue.
    left_before: u64,
}

impl<'a> Beginning<'a> {
    /// The next round, or the one that was being chosen when a process was killed.
    pub(crate) fn new(store: &'a dyn Store, settings: &'a Settings, now: Timestamp) -> Result<Self, StoreError> {
        let forgiveness = Forgiveness { settings, now };
        let Totals { round: last, again, .. } = store.totals()?;
        let has_begun = last.is_choosing;
        let left_before = if has_begun { 0 } else { again };
        let round = next_round(now, &last);
        Ok(Beginning { store, forgiveness, round, has_begun, left_before })
    }

    /// Puts URLs into the queue again. Their sites are tried again, also those that were given up.
    pub(crate) fn choose(&mut self, urls: Vec<UrlKey>) -> Result<(), StoreError> {
        if urls.is_empty() {
            return Ok(());
        }
        let sites: BTreeSet<SiteKey> = urls.iter().map(|key| key.site).collect();
        let mut batch = Batch { round: Some(self.round.clone()), again: urls, ..Batch::default() };
        for site in sites {
            let record = self.store.site(site)?.filter(|record| record.given_up.is_some());
            batch.sites.extend(record.and_then(|record| self.forgiveness.forgiven(record, Wanted::default())));
        }
        self.store.commit(&batch)?;
        self.has_begun = true;
        Ok(())
    }

    /// All are chosen; `None` if there are none.
    pub(crate) fn end(self) -> Result<Option<Notice>, StoreError> {
        if !self.has_begun {
            return Ok(None);
        }
        let round = Round { is_choosing: false, ..self.round };
        let number = round.number;
        self.store.commit(&Batch { round: Some(round), ..Batch::default() })?;
        let urls = self.store.totals()?.again.saturating_sub(self.left_before);
        Ok(Some(Notice::RoundBegun { round: number, urls }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_redirect_leads_elsewhere_each_time_where_it_comes_to_new_urls() {
        for (targets, is_so) in [
            ("", false),
            ("a", false),
            ("ab", false),
            ("abc", true),
            ("aaaabc", true),
            // Visited twice while it led to the same, as a daily one is sooner or later.
            ("abcdd", true),
            ("abcddd", true),
            ("aabbccdd", true),
            ("aabbcc", false),
            // Moved, and stays.
            ("aaabbb", false),
            ("aaabbbccc", false),
            // One of few.
            ("abababab", false),
            ("aabbaabb", false),
            ("abcb", false),
            ("abcbb", false),
        ] {
            let given = targets.chars().map(String::from).collect();
            assert_eq!(is_elsewhere_each_time(given), is_so, "{targets}");
        }
    }
}
