//! The story of a host: each of its sites, and why it is slow or stopped.

use std::collections::BTreeMap;

use dataset::rows::FRONTIER;
use frontier::{DelayRule, RobotsState};
use model::{Failure, RobotsAnswer, SiteRecord, Timestamp};
use robots::{Matching, Reason, Unread, UnreadLine};
use serde::Serialize;
use store::CrawlView;
use weburl::{CanonicalUrl, Site, SiteKey};

use super::asked::Asked;
use super::queued;
use super::survey::{NearLimit, Survey};
use super::waiting::{SiteNow, Why};
use crate::target::{Host, Target};

/// Site records read at once: each may hold a large robots.txt.
const SITES_AT_ONCE: usize = 100;

/// URLs at the head of the queue that are named.
const NEXT_SHOWN: usize = 3;

/// Everything there is to say of a host.
#[derive(Debug, Serialize)]
pub struct HostStory {
    /// As it was asked for.
    pub given: String,
    /// Its name.
    pub host: String,
    /// Its sites.
    pub sites: Vec<SiteStory>,
    /// Only so many sites of the crawl were looked at for those of the host at other ports than the usual ones; `null` if all were.
    pub sites_looked_at: Option<usize>,
    /// Where no site is known: what would become of one.
    pub why: Vec<Why>,
}

/// Everything there is to say of a site.
#[derive(Debug, Serialize)]
pub struct SiteStory {
    /// Scheme, host and port.
    pub site: String,
    /// The address it is pinned to.
    pub address: Option<String>,
    /// Its robots.txt.
    pub robots: RobotsStory,
    /// No visit before this time.
    pub due_at: Option<String>,
    /// Seconds between visits.
    pub delay_s: f64,
    /// The rule that makes it that long.
    pub delay_rule: DelayRule,
    /// Seconds between visits to the address.
    pub ip_delay_s: f64,
    /// Seconds that the last answer took.
    pub response_time_s: f64,
    /// Failures in a row.
    pub failures_in_a_row: u32,
    /// Why the site is given up.
    pub given_up: Option<String>,
    /// Pages fetched.
    pub pages_fetched: u64,
    /// `--max-pages-per-site`.
    pub pages_max: Option<u64>,
    /// Sitemaps read.
    pub sitemaps_read: u32,
    /// URLs by outcome.
    pub outcomes: BTreeMap<&'static str, u64>,
    /// There are more URLs than were counted.
    pub counted_in_part: bool,
    /// URLs looked at for the counts, the first by their keys.
    pub counted: usize,
    /// The head of the queue.
    pub next: Vec<String>,
    /// Kinds of URLs of which a trap rule lets no more, or soon no more, be fetched.
    pub near_limits: Vec<NearLimit>,
    /// Why it is slow or stopped.
    pub why: Vec<Why>,
    /// What was changed from outside, with its date.
    pub changes: Vec<String>,
    /// How many changes are left out, earlier ones.
    pub changes_earlier: u64,
}

/// What is known of a site's robots.txt.
#[derive(Debug, Serialize)]
pub struct RobotsStory {
    /// What came of asking for it; `null` if it was not requested yet.
    pub answer: Option<String>,
    /// When the answer came.
    pub asked_at: Option<String>,
    /// When it is to be asked for again.
    pub expires_at: Option<String>,
    /// It is longer than the part that is read.
    pub is_cut: bool,
    /// How often in a row it could not be had.
    pub failed_tries: u32,
    /// What that means; `null` while the file could not be had.
    pub meaning: Option<RobotsMeaning>,
    /// Allow and Disallow lines for us; `null` while the file could not be had.
    pub rules: Option<usize>,
    /// Crawl-delay.
    pub crawl_delay_s: Option<f64>,
    /// Sitemaps that it names.
    pub sitemaps: usize,
    /// Lines for us that could not be read, the first of them.
    pub unread: Vec<UnreadStory>,
    /// How many more there are.
    pub unread_more: usize,
    /// `--robots ignore`.
    pub ignored: bool,
}

/// A line of robots.txt that could not be read.
#[derive(Debug, Serialize)]
pub struct UnreadStory {
    /// Counted from 1.
    pub line_number: u32,
    /// The line.
    pub line: String,
    /// Why, in words.
    pub reason: String,
}

/// What the answer to a request for robots.txt means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RobotsMeaning {
    /// There is none: all is allowed.
    AllAllowed,
    /// All is disallowed meanwhile.
    AllDisallowed,
    /// It has rules.
    Rules,
}

impl HostStory {
    /// The story of a host, a site or the site of a URL, as given by a user; `None` if the text names none.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn named(asked: &Asked<'_>, given: &str) -> anyhow::Result<Option<Self>> {
        let host = Target::parse(given, &asked.settings.canonical).into_host();
        host.map(|host| HostStory::of(asked, given, &host)).transpose()
    }

    /// The story of a host.
    ///
    /// # Errors
    /// The store cannot be read.
    pub(super) fn of(asked: &Asked<'_>, given: &str, host: &Host) -> anyhow::Result<Self> {
        let (found, sites_looked_at) = sites_of(asked.view, host, asked.looks.sites_max)?;
        let mut sites = Vec::new();
        for (site, record) in found {
            sites.push(SiteStory::of(asked, &site, record)?);
        }
        let why = if sites.is_empty() { unknown(asked, host) } else { Vec::new() };
        Ok(HostStory { given: given.to_owned(), host: host.name.clone(), sites, sites_looked_at, why })
    }
}

/// Sites of a host in the order of their text, with their records if they had a turn.
type Found = BTreeMap<Site, Option<SiteRecord>>;

/// The known sites of a host: those that had a turn, and those that wait for their first. Those at other ports than the usual ones are looked
/// for among `sites_max` records; how many that were, if there are more.
fn sites_of(store: &dyn CrawlView, host: &Host, sites_max: usize) -> anyhow::Result<(Found, Option<usize>)> {
    let mut found = Found::new();
    for site in host.usual_sites() {
        let record = store.site(site.key())?;
        if record.is_some() || Survey::has_urls(store, site.key())? {
            found.insert(site, record);
        }
    }
    if host.has_port() {
        return Ok((found, None));
    }
    let (mut after, mut looked_at): (Option<SiteKey>, usize) = (None, 0);
    loop {
        let records = store.sites(after, SITES_AT_ONCE)?;
        let Some(last) = records.last() else { return Ok((found, None)) };
        if looked_at >= sites_max {
            return Ok((found, Some(looked_at)));
        }
        after = Some(last.site.key());
        looked_at += records.len();
        for record in records.into_iter().filter(|record| host.includes(&record.site)) {
            // With its shapes.
            let record = store.site(record.site.key())?.unwrap_or(record);
            found.insert(record.site.clone(), Some(record));
        }
    }
}

fn unknown(asked: &Asked<'_>, host: &Host) -> Vec<Why> {
    let mut why = vec![Why::UnknownHost];
    for site in host.usual_sites() {
        let Some(root) = CanonicalUrl::from_canonical(&format!("{site}/")) else { continue };
        let excluded_by = asked.settings.filter.judge(&root).err().map(|rule| rule.to_string());
        why.push(Why::Root { url: root.to_string(), excluded_by });
    }
    why
}

impl SiteStory {
    fn of(asked: &Asked<'_>, site: &Site, record: Option<SiteRecord>) -> anyhow::Result<Self> {
        let settings = &asked.settings;
        let now = SiteNow::new(asked, site, record)?;
        let survey = Survey::of(asked.view, &now.record, &settings.site_rules.traps, asked.looks.urls_max)?;
        let why = now.why(survey.outcomes.get(FRONTIER).copied().unwrap_or(0), survey.in_part);
        let next = queued::head(asked, site.key(), &now.behind(), NEXT_SHOWN)?;
        let told = asked.changes_of(site, None);
        let (wait, rule) = now.delay();
        let robots = RobotsStory::of(&now);
        let record = now.record;
        Ok(SiteStory {
            site: site.to_string(),
            address: record.address.map(|address| address.to_string()),
            robots,
            due_at: (record.due_at.0 > 0).then(|| record.due_at.to_rfc3339()),
            delay_s: wait.as_secs_f64(),
            delay_rule: rule,
            ip_delay_s: settings.site_rules.politeness.ip_delay.as_secs_f64(),
            response_time_s: record.response_time.as_secs_f64(),
            failures_in_a_row: record.failures_in_a_row,
            given_up: record.given_up.map(|Failure { detail, .. }| detail),
            pages_fetched: record.pages_fetched,
            pages_max: settings.site_rules.pages_per_site_max,
            sitemaps_read: record.sitemaps_read,
            outcomes: survey.outcomes,
            counted_in_part: survey.in_part,
            counted: survey.seen,
            next,
            near_limits: survey.near_limits,
            why,
            changes: told.in_words(),
            changes_earlier: told.earlier,
        })
    }
}

impl RobotsStory {
    fn of(site: &SiteNow<'_>) -> Self {
        let record = site.record.robots.as_ref();
        let (rules, expires_at) = match site.robots() {
            RobotsState::Known { rules, expires_at, .. } => {
                (Some(rules), (*expires_at < Timestamp::MAX).then(|| expires_at.to_rfc3339()))
            }
            RobotsState::Unknown | RobotsState::InFlight { .. } | RobotsState::Stored { .. } => (None, None),
        };
        let has_file =
            record.is_some_and(|record| matches!(record.answer, RobotsAnswer::Status { code: 200..=299, .. }));
        let Unread { lines, more } = engine::robots_unread(record, &site.settings.product_token);
        let unread = lines.into_iter().map(|UnreadLine { line_number, text, why }| UnreadStory {
            line_number,
            line: text,
            reason: why.to_string(),
        });
        RobotsStory {
            answer: site.robots_answer(),
            // `crawl --retry` writes the epoch where robots.txt must be asked for again.
            asked_at: record
                .filter(|record| record.fetched_at > Timestamp::default())
                .map(|record| record.fetched_at.to_rfc3339()),
            expires_at,
            is_cut: record.is_some_and(|record| record.is_cut),
            failed_tries: record.map_or(0, |record| record.failed_tries),
            meaning: rules.map(|rules| match rules.decide("/", Matching::default()).reason {
                Reason::NoRobotsTxt => RobotsMeaning::AllAllowed,
                Reason::Undefined(_) => RobotsMeaning::AllDisallowed,
                _ => RobotsMeaning::Rules,
            }),
            rules: rules.filter(|_| has_file).map(robots::RobotsTxt::rule_count),
            crawl_delay_s: rules.and_then(robots::RobotsTxt::crawl_delay).map(|delay| delay.as_secs_f64()),
            sitemaps: rules.map_or(0, |rules| rules.sitemaps().len()),
            unread: unread.collect(),
            unread_more: more,
            ignored: site.settings.site_rules.matching.is_none(),
        }
    }
}
