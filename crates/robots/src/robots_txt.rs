//! The rules of one site, ready to be asked.

use std::sync::Arc;
use std::time::Duration;

use crate::decision::{Decision, Matching, Reason, Undefined};
use crate::group_reader::{self, OurPart};
use crate::normal_form::NormalPath;
use crate::steps::{Steps, StepsExceeded};

/// What one site's robots.txt says to one product token. Cheap to clone.
///
/// Only the group that is for us is kept, each rule once: its pattern, and some 15 bytes.
#[derive(Debug, Clone)]
pub struct RobotsTxt {
    source: Source,
}

/// What an [`Arc`] has before its content.
const REFERENCE_COUNTS_BYTES: usize = 2 * size_of::<usize>();

#[derive(Debug, Clone)]
enum Source {
    File(Arc<OurPart>),
    /// There is no file.
    None,
    /// It is not known whether there is one.
    Undefined(Undefined),
}

impl RobotsTxt {
    /// Reads the body of a robots.txt for the crawler named `product_token`, in any case.
    ///
    /// `product_token` is the crawler's name without version; from the first `/` or white space on
    /// it is ignored. Any bytes are accepted: lines that are no records say nothing, so an HTML page
    /// gives no rules. At most [`ROBOTS_BYTES_MAX`](crate::ROBOTS_BYTES_MAX) are read.
    ///
    /// - Groups (RFC 9309 §2.2.1): all groups that name us are one; `*` counts only if none does.
    ///   A user-agent line names us by the whole token: `argiope-images` is somebody else,
    ///   `argiope/2.0` is us. Lines other than Allow and Disallow do not end the list of agents.
    /// - Rules without a pattern (`Disallow:`) match nothing.
    /// - `Crawl-delay` is for the agents named right above it; of several the longest counts. It is a number of seconds, or has a unit.
    /// - A forgotten colon and common misspellings of the field names are understood, as by Google.
    ///
    /// [`unread`](crate::unread()) tells the lines for us that could not be read.
    #[must_use]
    pub fn parse(body: &[u8], product_token: &str) -> Self {
        let part = group_reader::read(body, product_token);
        Self { source: Source::File(Arc::new(part)) }
    }

    /// The rules of a site without robots.txt (RFC 9309 §2.3.1.3).
    #[must_use]
    pub fn allow_all() -> Self {
        Self { source: Source::None }
    }

    /// The rules of a site whose robots.txt could not be fetched (RFC 9309 §2.3.1.4).
    #[must_use]
    pub fn disallow_all(reason: Undefined) -> Self {
        Self { source: Source::Undefined(reason) }
    }

    /// Whether a URL of the site may be fetched, and which line says so.
    ///
    /// `path_and_query` is the URL behind its authority, without fragment, percent-encoded or not;
    /// it is compared in the normal form of RFC 9309 §2.2.2. Matching is case-sensitive. The time is
    /// linear in the path and otherwise bounded, whatever the file: a decision that would take more than
    /// [`DECISION_STEPS_MAX`](crate::DECISION_STEPS_MAX) steps is a refusal, [`Reason::TooManySteps`].
    #[must_use]
    pub fn decide(&self, path_and_query: &str, matching: Matching) -> Decision {
        self.decide_within(&mut Steps::new(), path_and_query, matching)
    }

    fn decide_within(&self, steps: &mut Steps, path_and_query: &str, matching: Matching) -> Decision {
        let without_rule = |allowed, reason| Decision { allowed, reason, rule: None };
        if path_and_query == "/robots.txt" {
            return without_rule(true, Reason::RobotsTxtItself);
        }
        match &self.source {
            Source::None => without_rule(true, Reason::NoRobotsTxt),
            Source::Undefined(cause) => without_rule(false, Reason::Undefined(*cause)),
            Source::File(part) => match part.group.rules.decide(&NormalPath::new(path_and_query), matching, steps) {
                Ok(None) => without_rule(true, Reason::NoRuleMatches),
                Ok(Some((allowed, line))) => Decision { allowed, reason: Reason::Rule, rule: Some(line) },
                Err(StepsExceeded) => without_rule(false, Reason::TooManySteps),
            },
        }
    }

    /// The Crawl-delay of our group, fractions of a second included, at most
    /// [`CRAWL_DELAY_MAX`](crate::CRAWL_DELAY_MAX). That of `*` does not count if a group names us.
    #[must_use]
    pub fn crawl_delay(&self) -> Option<Duration> {
        self.part()?.group.crawl_delay
    }

    /// How many Allow and Disallow lines are for us.
    #[must_use]
    pub fn rule_count(&self) -> usize {
        self.part().map_or(0, |part| part.group.rules.lines())
    }

    /// The values of the Sitemap lines, wherever they stand in the file, absolute or relative as
    /// they were written. At most [`SITEMAPS_MAX`](crate::SITEMAPS_MAX).
    #[must_use]
    pub fn sitemaps(&self) -> &[String] {
        self.part().map_or(&[], |part| &part.sitemaps)
    }

    /// How much of the heap these rules hold, in bytes, shared by all clones. For caches with a bound.
    #[must_use]
    pub fn heap_bytes(&self) -> usize {
        self.part().map_or(0, |part| {
            let sitemaps: usize = part.sitemaps.iter().map(|url| size_of::<String>() + url.capacity()).sum();
            REFERENCE_COUNTS_BYTES + size_of::<OurPart>() + part.group.rules.heap_bytes() + sitemaps
        })
    }

    fn part(&self) -> Option<&OurPart> {
        match &self.source {
            Source::File(part) => Some(part),
            Source::None | Source::Undefined(_) => None,
        }
    }
}
