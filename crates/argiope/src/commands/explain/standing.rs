//! How a site stands now: by its record, its robots.txt and the crawl's politeness.

use std::time::Duration;

use engine::Settings;
use frontier::RobotsState;
use frontier::yields::{Group, Share, groups_of};
use model::{SiteRecord, Timestamp};
use robots::{Matching, Reason};
use weburl::{CanonicalUrl, Site};

use printable::counted;
use settings::units::Span;

/// A site as the crawl would find it if it went on now.
pub(super) struct SiteNow<'a> {
    pub(super) record: SiteRecord,
    pub(super) robots: RobotsState,
    settings: &'a Settings,
    now: Timestamp,
}

/// A wait, and the rule that makes it that long.
pub(super) struct Delay {
    pub(super) wait: Duration,
    pub(super) why: String,
}

impl<'a> SiteNow<'a> {
    /// A site by its record; one without a record has not had a turn yet.
    pub(super) fn new(site: &Site, record: Option<SiteRecord>, settings: &'a Settings, now: Timestamp) -> Self {
        let record = record.unwrap_or_else(|| SiteRecord::new(site.clone()));
        let robots = engine::robots_state(record.robots.as_ref(), settings);
        SiteNow { record, robots, settings, now }
    }

    /// How long the site asks to wait between visits.
    pub(super) fn crawl_delay(&self) -> Option<Duration> {
        match (&self.robots, self.settings.site_rules.matching) {
            (RobotsState::Known { rules, .. }, Some(_)) => rules.crawl_delay(),
            _ => None,
        }
    }

    /// The delay between visits, and why it is that long.
    pub(super) fn delay(&self) -> Delay {
        let politeness = &self.settings.site_rules.politeness;
        let response_time = self.record.response_time;
        let site = self.record.site.key();
        let wait = politeness.delay_after(site, self.crawl_delay(), response_time);
        let asked = self.crawl_delay().unwrap_or_default();
        let why = if wait <= politeness.delay_of(site) {
            if politeness.delay_for.contains_key(&site) { "--delay-for" } else { "--delay" }.to_owned()
        } else if asked == wait {
            "Crawl-delay in robots.txt".to_owned()
        } else if asked > politeness.crawl_delay_max && wait == politeness.crawl_delay_max {
            format!("Crawl-delay {} in robots.txt, cut to --max-crawl-delay", shown(asked))
        } else {
            format!("--delay-factor {} times the last response time {}", politeness.delay_factor, shown(response_time))
        };
        Delay { wait, why }
    }

    /// What came of asking for robots.txt, in words.
    pub(super) fn robots_answer(&self) -> String {
        let answer = self.record.robots.as_ref().map(|robots| robots.answer.to_string());
        answer.unwrap_or_else(|| "not requested yet".to_owned())
    }

    /// What the answer means, in words.
    pub(super) fn robots_meaning(&self) -> Option<String> {
        let RobotsState::Known { rules, .. } = &self.robots else { return None };
        Some(match rules.decide("/", Matching::default()).reason {
            Reason::NoRobotsTxt => "there is none: all is allowed".to_owned(),
            Reason::Undefined(_) => "all is disallowed meanwhile".to_owned(),
            _ => format!("{} for us", counted(rules.rule_count() as u64, "rule")),
        })
    }

    /// Why the site is slow or stopped, with `queue` URLs left to visit. Nothing where there is no reason.
    pub(super) fn reasons(&self, queue: u64) -> Vec<String> {
        if let Some(failure) = &self.record.given_up {
            return vec![format!("the site is given up: {}", failure.detail)];
        }
        if queue == 0 {
            return vec!["nothing is left to do here".to_owned()];
        }
        if let Some(spent) = self.spent_budget() {
            return vec![spent];
        }
        if self.settings.held_sites.contains(&self.record.site.key()) {
            let site = &self.record.site;
            return vec![format!("the site is on hold: `argiope steer DIR release {site}` lets it go on (hold)")];
        }
        if self.settings.paused {
            return vec!["the crawl is paused: `argiope steer DIR resume` lets it go on".to_owned()];
        }
        let mut reasons: Vec<String> = self.robots_reason().into_iter().chain(self.failures_reason()).collect();
        if self.record.due_at > self.now {
            let wait = shown(self.record.due_at.since(self.now));
            reasons.push(format!("not due before {}, in {wait}", self.record.due_at));
        }
        let Delay { wait, why } = self.delay();
        if !wait.is_zero() {
            let whole = wait.saturating_mul(u32::try_from(queue).unwrap_or(u32::MAX));
            reasons.push(format!(
                "one visit every {} ({why}): {} take {} at least",
                shown(wait),
                counted(queue, "URL"),
                shown(whole)
            ));
        }
        reasons
    }

    fn robots_reason(&self) -> Option<String> {
        self.settings.site_rules.matching?;
        let has_failed = self.record.robots.as_ref().is_some_and(|robots| robots.failed_tries > 0);
        match &self.robots {
            RobotsState::Known { expires_at, .. } if *expires_at <= self.now => {
                Some("robots.txt has expired and is requested again first".to_owned())
            }
            RobotsState::Known { .. } => None,
            RobotsState::Unknown | RobotsState::InFlight { .. } | RobotsState::Stored { .. } if has_failed => {
                Some(format!("robots.txt could not be fetched yet ({})", self.robots_answer()))
            }
            RobotsState::Unknown | RobotsState::InFlight { .. } | RobotsState::Stored { .. } => {
                Some("robots.txt is requested first".to_owned())
            }
        }
    }

    /// The group of a URL that seems to bring only more of itself, if there is one, and how many of it were fetched since that was noticed.
    pub(super) fn low_group<'u>(&self, url: &'u CanonicalUrl) -> Option<(Group<'u>, u32)> {
        let is_on = self.settings.site_rules.traps.low_yield_pages_max > 0;
        groups_of(url).filter(|_| is_on).find_map(|group| {
            let (_, count) = self.record.shapes.iter().find(|(key, _)| *key == group.key())?;
            Some((group, Share::of(*count).fetched)).filter(|(_, fetched)| *fetched > 0)
        })
    }

    /// Why the site gets nothing more, if its budget is spent.
    pub(super) fn spent_budget(&self) -> Option<String> {
        let max = self.settings.site_rules.pages_per_site_max?;
        let fetched = self.record.pages_fetched;
        (fetched >= max).then(|| {
            format!(
                "its budget is spent: {fetched} pages fetched; a larger --max-pages-per-site than {max} lets it go on"
            )
        })
    }

    fn failures_reason(&self) -> Option<String> {
        if let Some(aside) = &self.record.aside {
            let left = self.settings.site_rules.politeness.rounds_before_giving_up();
            return Some(format!(
                "the site is in trouble ({}): this is wait {} of {left}, and its URLs stay open",
                aside.reason.detail, aside.round
            ));
        }
        let max = self.settings.site_rules.politeness.failures_in_a_row_max;
        let failures = self.record.failures_in_a_row;
        (failures > 0).then(|| format!("{failures} failures in a row make it wait longer; at {max} it is put aside"))
    }
}

/// A duration for people: no finer than milliseconds, and seconds where it is long.
pub(super) fn shown(duration: Duration) -> String {
    if !duration.is_zero() && duration < Duration::from_millis(1) {
        return "less than 1ms".to_owned();
    }
    let millis = u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
    let rounded = if millis >= 10_000 { millis / 1000 * 1000 } else { millis };
    Span(Duration::from_millis(rounded)).to_string()
}
