//! What sitemaps and feeds said of a page between its visits, and the dates of its contents; and which of them are believed.

use std::borrow::Borrow;
use std::time::{Duration, UNIX_EPOCH};

use model::{Announced, Announcer, Change, Timestamp, Visit, can_be_compared};

use crate::common_changes::Visited;
use crate::dates;
use crate::revisit::{Prior, Seen};
use crate::signals::{Dating, Interval, Signals};

/// All announcers.
pub const ANNOUNCERS: [Announcer; 2] = [Announcer::Sitemap, Announcer::Feed];

/// The time from one visit of a page to the next, and how old the page was when each announcer said that it had changed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Told {
    /// When the second of them was, in seconds since 1970.
    at: f64,
    seconds: f64,
    has_changed: bool,
    said_after: SaidAfter,
    dating: Option<Dating>,
}

/// In the order of [`ANNOUNCERS`].
type SaidAfter = [Option<f64>; 2];

/// What the visits of a page tell.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct History {
    /// From visit to visit.
    pub told: Vec<Told>,
    /// What was said since the last one.
    pub since: SaidAfter,
    /// How many seconds before the first of these visits the page had changed last, by its date.
    pub first_ago: Option<f64>,
}

impl History {
    /// That of visits in their order. One that failed, or sent no request, tells nothing: the next one covers the time since the one before
    /// it.
    #[must_use]
    pub fn of(visits: &[Visit]) -> History {
        let mut history = History::default();
        let mut before: Option<&Visit> = None;
        for visit in visits {
            if !can_be_compared(visit) {
                history.since = first_of(history.since, said_after(before, visit.announced));
                continue;
            }
            let change = before.map(|before| (Change::between(Some(before), visit), visit.at.since(before.at)));
            match change {
                // The clock was set back in between: how much time passed is unknown.
                Some((_, Duration::ZERO)) => {}
                None => history.first_ago = modified_ago(visit),
                Some((change, time)) => history.told.push(Told {
                    at: seconds_of(visit.at),
                    seconds: time.as_secs_f64(),
                    has_changed: change != Change::Unchanged,
                    said_after: history.since,
                    dating: before.and_then(|before| dating(before, visit)),
                }),
            }
            before = Some(visit);
            history.since = said_after(before, visit.announced);
        }
        history
    }

    /// Visits that were compared with the one before, and those of them that found a change.
    #[must_use]
    pub fn compared(&self) -> (u64, u64) {
        (self.told.len() as u64, self.told.iter().filter(|told| told.has_changed).count() as u64)
    }

    /// The times between visits, with what those say that are believed.
    #[must_use]
    pub fn by(&self, believed: &[Announcer]) -> Vec<Interval> {
        let interval = |told: &Told| Interval {
            seconds: told.seconds,
            said_after: first(told.said_after, believed),
            has_changed: told.has_changed,
            dating: None,
        };
        self.told.iter().map(interval).collect()
    }

    /// The same with the dates of the contents.
    fn dated(&self, believed: &[Announcer]) -> Vec<Interval> {
        let dating = self.told.iter().map(|told| told.dating);
        self.by(believed).into_iter().zip(dating).map(|(interval, dating)| Interval { dating, ..interval }).collect()
    }

    /// The visits that were compared with the one before.
    #[must_use]
    pub fn visited(&self) -> Vec<Visited> {
        let visited =
            |told: &Told| Visited { before: told.at - told.seconds, at: told.at, has_changed: told.has_changed };
        self.told.iter().map(visited).collect()
    }

    /// How old the page was when one that is believed said that it had changed since its last visit.
    #[must_use]
    pub fn said_by(&self, believed: &[Announcer]) -> Option<f64> {
        first(self.since, believed)
    }
}

/// A date in seconds since 1970.
#[must_use]
pub fn seconds_of(at: Timestamp) -> f64 {
    at.since(Timestamp::default()).as_secs_f64()
}

/// How many seconds before a visit the page had changed last, by its date.
fn modified_ago(visit: &Visit) -> Option<f64> {
    let date = httpdate::parse_http_date(visit.validators.last_modified.as_deref()?).ok()?;
    let at = visit.at.since(Timestamp::default());
    Some(at.checked_sub(date.duration_since(UNIX_EPOCH).ok()?)?.as_secs_f64())
}

fn dating(before: &Visit, visit: &Visit) -> Option<Dating> {
    let is_new = before.validators.last_modified.as_ref()? != visit.validators.last_modified.as_ref()?;
    Some(Dating { ago: modified_ago(visit)?, is_new })
}

fn said_after(last: Option<&Visit>, announced: Announced) -> SaidAfter {
    ANNOUNCERS.map(|by| Some(announced.by(by)?.since(last?.at).as_secs_f64()))
}

fn first_of(one: SaidAfter, other: SaidAfter) -> SaidAfter {
    std::array::from_fn(|by| one[by].into_iter().chain(other[by]).reduce(f64::min))
}

fn first(said_after: SaidAfter, believed: &[Announcer]) -> Option<f64> {
    let of_believed = ANNOUNCERS.into_iter().zip(said_after).filter(|(by, _)| believed.contains(by));
    of_believed.filter_map(|(_, after)| after).reduce(f64::min)
}

/// Who is believed at a site, and how right they are together.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trust {
    /// Those whose signals tell changes.
    pub believed: Vec<Announcer>,
    /// How right their signals are.
    pub signals: Signals,
    /// Whether the dates of contents say when pages changed.
    pub dates: bool,
}

impl Trust {
    /// Learns it from pages of the site.
    #[must_use]
    pub fn learn(prior: &Prior, pages: &[impl Borrow<History>]) -> Trust {
        let learn = |believed: &[Announcer]| {
            let pages: Vec<Vec<Interval>> = pages.iter().map(|page| page.borrow().by(believed)).collect();
            Signals::learn(prior, &pages)
        };
        let speak = |by: &Announcer| pages.iter().any(|page| !page.borrow().by(&[*by]).iter().all(Interval::is_silent));
        let alone: Vec<(Announcer, Signals)> = ANNOUNCERS
            .into_iter()
            .filter(speak)
            .map(|by| (by, learn(&[by])))
            .filter(|(_, signals)| signals.tell())
            .collect();
        let believed: Vec<Announcer> = alone.iter().map(|(by, _)| *by).collect();
        let signals = match &alone[..] {
            [] => Signals::default(),
            [(_, signals)] => *signals,
            _ => learn(&believed),
        };
        let dated: Vec<Vec<Interval>> = pages.iter().map(|page| page.borrow().dated(&[])).collect();
        let dates = dates::are_right(dated.iter().map(Vec::as_slice));
        if signals.tell() { Trust { believed, signals, dates } } else { Trust { dates, ..Trust::default() } }
    }

    /// The evidence of the visits of a page.
    #[must_use]
    pub fn seen(&self, history: &History) -> Seen {
        let page = history.dated(&self.believed);
        if !self.dates || !dates::count_of(&page) {
            return self.signals.seen(&history.by(&self.believed));
        }
        let mut seen = self.signals.seen(&page);
        history.first_ago.into_iter().for_each(|ago| dates::see_first(&mut seen, ago));
        seen
    }

    /// Whether those who are believed ever said anything of a page: no site speaks of all its pages.
    #[must_use]
    pub fn is_told(&self, history: &History) -> bool {
        let said = history.said_by(&self.believed).is_some();
        said || !history.by(&self.believed).iter().all(Interval::is_silent)
    }
}

#[cfg(test)]
mod tests {
    use model::{Outcome, PayloadDigest};
    use weburl::{SiteKey, UrlKey};

    use super::*;

    const DAY: u64 = 86_400;

    fn visit(day: u64, content: u8, sitemap: Option<u64>, feed: Option<u64>) -> Visit {
        let at = |day: u64| Timestamp(day * DAY * 1_000_000);
        let outcome = if content == 0 { Outcome::Timeout } else { Outcome::Html };
        let past = model::Past { visits: u32::try_from(day).expect("a small number"), ..Default::default() };
        Visit {
            digest: (content > 0).then_some(PayloadDigest([content; 20])),
            announced: Announced { sitemap: sitemap.map(at), feed: feed.map(at) },
            past,
            ..Visit::without_fetch(UrlKey { site: SiteKey(1), url: 1 }, outcome, String::new(), at(day))
        }
    }

    #[test]
    fn a_history_has_what_was_said_between_visits() {
        let days = |days: f64| days * DAY as f64;
        let history = History::of(&[
            visit(1, 1, Some(3), None),
            visit(4, 0, None, Some(5)),
            visit(6, 2, None, None),
            visit(9, 2, Some(12), Some(11)),
        ]);
        let told = |at: f64, seconds: f64, has_changed, said_after| Told {
            at: days(at),
            seconds,
            has_changed,
            said_after,
            dating: None,
        };
        let since_first = [Some(days(2.0)), Some(days(4.0))];
        assert_eq!(history.told, [told(6.0, days(5.0), true, since_first), told(9.0, days(3.0), false, [None; 2])]);
        assert_eq!(history.said_by(&ANNOUNCERS), Some(days(2.0)));
        assert_eq!(history.said_by(&[Announcer::Sitemap]), Some(days(3.0)));
        assert_eq!(history.said_by(&[]), None);
        let said: Vec<_> = history.by(&[Announcer::Feed]).iter().map(|interval| interval.said_after).collect();
        assert_eq!(said, [Some(days(4.0)), None]);
        let visited = |before, at, has_changed| Visited { before: days(before), at: days(at), has_changed };
        assert_eq!(history.visited(), [visited(1.0, 6.0, true), visited(6.0, 9.0, false)]);
        assert_eq!(History::of(&[]), History::default());
    }

    #[test]
    fn a_page_has_not_changed_where_nothing_was_known_of_it() {
        let ended = |day, outcome| Visit { outcome, ..visit(day, 0, None, None) };
        for outcome in [Outcome::Excluded, Outcome::Disallowed, Outcome::Timeout, Outcome::ConnectionError] {
            let first = History::of(&[ended(1, outcome), visit(3, 1, None, None)]);
            assert_eq!(first.compared(), (0, 0), "{outcome}");
            let later = [ended(1, outcome), visit(3, 1, None, None), ended(4, outcome), visit(6, 2, None, None)];
            assert_eq!(History::of(&later).compared(), (1, 1), "{outcome}");
        }
    }

    #[test]
    fn only_those_are_believed_that_tell_changes() {
        // Pages change at every third visit. The sitemap says so, and the feed speaks at every second.
        let page = |page: u64| {
            let visit = |n: u64| {
                let changes_next = (n + page) % 3 == 2;
                let said = |is: bool| is.then_some(10 * n + 5);
                visit(
                    10 * n,
                    u8::try_from((n + page) / 3 % 200 + 1).expect("small"),
                    said(changes_next),
                    said((n * 7 + page) % 4 < 2),
                )
            };
            History::of(&(1..25).map(visit).collect::<Vec<_>>())
        };
        let pages: Vec<History> = (0..40).map(page).collect();
        let trust = Trust::learn(&Prior::default(), &pages);
        assert_eq!(trust.believed, [Announcer::Sitemap]);
        assert!(trust.signals.recall > 0.9, "{trust:?}");
        assert_eq!(Trust::learn(&Prior::default(), &pages[..3]), Trust::default());
    }

    #[test]
    fn dates_of_contents_count_where_they_are_right() {
        let date = |day: u64| httpdate::fmt_http_date(UNIX_EPOCH + Duration::from_secs(day * DAY));
        let dated = |visit: Visit, day: u64| {
            let validators = model::Validators { last_modified: Some(date(day)), ..Default::default() };
            Visit { validators, ..visit }
        };
        // A third of the visits find a change, which was four days before.
        let pages = |date_of: &dyn Fn(u64, u64) -> u64| -> Vec<History> {
            let page = |page: u64| {
                let (mut content, mut changed) = (1, 0);
                let visits = (1..10).map(|n| {
                    if (n + page).is_multiple_of(3) {
                        (content, changed) = (content + 1, 10 * n - 4);
                    }
                    dated(visit(10 * n, content, None, None), date_of(10 * n, changed))
                });
                History::of(&visits.collect::<Vec<_>>())
            };
            (0..12).map(page).collect()
        };
        let honest = Trust::learn(&Prior::default(), &pages(&|_, changed| changed));
        assert!(honest.dates && honest.believed.is_empty(), "{honest:?}");
        let lying: [&dyn Fn(u64, u64) -> u64; 2] = [&|now, _| now, &|_, _| 3];
        for lie in lying {
            assert_eq!(Trust::learn(&Prior::default(), &pages(lie)), Trust::default());
        }
        // One visit of another page of the site tells that it does not change every few days.
        let seen_once = History::of(&[dated(visit(1_000, 1, None, None), 10)]);
        let days = |trust: &Trust| {
            crate::revisit::Belief::new(&Prior::default(), &trust.seen(&seen_once)).interval() / DAY as f64
        };
        assert!(days(&honest) > 100.0 && days(&honest) > 10.0 * days(&Trust::default()), "{}", days(&honest));
        // What is no date, or later than the visit, says nothing.
        let ahead = History::of(&[dated(visit(5, 1, None, None), 6)]);
        assert_eq!(ahead.first_ago, None);
    }
}
