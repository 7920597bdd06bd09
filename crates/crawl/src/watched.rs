//! The settings of a watched crawl: what its limits leave to a round.

use std::time::Duration;

use engine::Settings;
use store::Totals;

/// A round of a watch.
#[derive(Clone, Debug)]
pub(crate) struct Watched {
    /// The totals when it began.
    pub(crate) before: Totals,
    /// The shortest time between two requests.
    pub(crate) pace: Duration,
}

impl Watched {
    /// The settings of a crawl as they are in the round.
    pub(crate) fn settings(&self, settings: &Settings) -> Settings {
        Settings { pace: self.pace, ..in_round(settings, &self.before) }
    }
}

/// The settings of a round of a watch, where the crawl has these totals.
///
/// A site in trouble has its turn in a later round; others do not wait for it. `--max-pages` and `--max-bytes` limit the whole crawl, since
/// each round would go beyond them by as much as they allow. What a watch requests of known pages is limited by its budget.
pub(crate) fn in_round(settings: &Settings, totals: &Totals) -> Settings {
    let mut settings = Settings { patience: Duration::ZERO, ..settings.clone() };
    let (pages, bytes) = (totals.fetched(), totals.bytes);
    // The first round is the crawl so far. It also counts the bytes of sitemaps.
    let bytes = if totals.round.number > 1 { bytes } else { bytes.max(totals.bytes_of_round) };
    let is_spent =
        settings.pages_max.is_some_and(|max| pages >= max) || settings.bytes_max.is_some_and(|max| bytes >= max);
    if is_spent {
        settings.site_rules.pages_per_site_max = Some(0);
        settings.pages_max = None;
    } else if let Some(max) = settings.pages_max {
        // Known pages take nothing from new ones.
        settings.pages_max = Some(totals.pages_in_round() + totals.again + (max - pages));
    }
    settings
}

#[cfg(test)]
mod tests {
    use model::{Outcome, Round};
    use settings::options::Options;
    use settings::plan::Plan;

    use super::*;

    #[test]
    fn limits_of_a_crawl_leave_no_more_to_each_round() {
        let plan = Plan::new(&Options::default()).expect("a plan");
        let crawl = |number, pages| Totals {
            outcomes: [(Outcome::Html, pages), (Outcome::HttpError, 7)].into(),
            bytes: 10 * pages,
            bytes_of_round: if number > 1 { 3 } else { 10 * pages + 5 },
            pages_of_round: if number > 1 { 2 } else { 0 },
            again: if number > 1 { 4 } else { 0 },
            round: Round { number, ..Round::default() },
            ..Totals::default()
        };
        // The limits in pages and bytes, the totals, and what a round may: pages in all, new ones of a site.
        for (limits, totals, expect) in [
            ((None, None), crawl(1, 10), (None, None)),
            ((Some(10), None), crawl(1, 10), (None, Some(0))),
            ((Some(10), None), crawl(2, 11), (None, Some(0))),
            ((Some(10), None), crawl(1, 6), (Some(10), None)),
            ((Some(10), None), crawl(2, 6), (Some(2 + 4 + 4), None)),
            ((None, Some(105)), crawl(1, 10), (None, Some(0))),
            ((None, Some(106)), crawl(1, 10), (None, None)),
            ((Some(20), Some(100)), crawl(3, 10), (None, Some(0))),
        ] {
            let given = Settings { pages_max: limits.0, bytes_max: limits.1, ..plan.settings.clone() };
            let round = in_round(&given, &totals);
            assert_eq!((round.pages_max, round.site_rules.pages_per_site_max), expect, "{limits:?} {totals:?}");
            assert_eq!((round.bytes_max, round.patience), (limits.1, Duration::ZERO));
        }
    }
}
