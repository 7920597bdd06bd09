//! What the rules say of a URL now: scope and patterns, traps, robots.txt.

use engine::Settings;
use frontier::RobotsState;
use serde::Serialize;
use weburl::CanonicalUrl;

use super::standing::SiteNow;

/// What one rule says.
#[derive(Debug, Serialize)]
pub(super) struct Rule {
    /// `scope`, `trap` or `robots`.
    pub(super) rule: &'static str,
    /// `null`: it cannot be told yet.
    pub(super) allows: Option<bool>,
    /// The line, pattern or limit that decides.
    pub(super) by: String,
}

/// What each rule says, in the order in which a crawl asks them.
pub(super) fn judge(url: &CanonicalUrl, is_seed: bool, standing: &SiteNow<'_>, settings: &Settings) -> Vec<Rule> {
    vec![scope(url, is_seed, settings), trap(url, standing, settings), robots(url, standing, settings)]
}

fn scope(url: &CanonicalUrl, is_seed: bool, settings: &Settings) -> Rule {
    let filter = &settings.filter;
    let verdict = if is_seed { filter.judge_seed(url) } else { filter.judge(url) };
    let included = filter.include.iter().find(|pattern| pattern.matches(url.as_str()));
    let by = match (&verdict, included) {
        (Err(rule), _) => rule.to_string(),
        (Ok(()), _) if is_seed => "a seed, or the redirect target of one".to_owned(),
        (Ok(()), Some(pattern)) => format!("scope {}, include {pattern}", filter.scope.kind()),
        (Ok(()), None) => format!("scope {}", filter.scope.kind()),
    };
    Rule { rule: "scope", allows: Some(verdict.is_ok()), by }
}

fn trap(url: &CanonicalUrl, standing: &SiteNow<'_>, settings: &Settings) -> Rule {
    let traps = &settings.site_rules.traps;
    let verdict = |allows, by| Rule { rule: "trap", allows: Some(allows), by };
    if let Some((_, broken)) = traps.broken_by(url) {
        return verdict(false, broken);
    }
    let count = |key| standing.record.shapes.iter().find(|(known, _)| *known == key).map_or(0, |(_, count)| *count);
    if let Some((group, count)) = standing.low_group(url) {
        let max = traps.low_yield_pages_max;
        return if count >= max {
            verdict(false, traps.reason_of_low_yield(&group))
        } else {
            verdict(true, format!("{group} seems to bring only more of itself: {count} of at most {max} pages so far"))
        };
    }
    let Some((shape, rule)) = traps.shape(url) else {
        return verdict(true, "not of a kind that is counted".to_owned());
    };
    let is_reached = |(shape, rule): &(u64, _)| traps.fetched_max(*rule).is_some_and(|max| count(*shape) >= max);
    if let Some((_, rule)) = traps.shapes(url).find(is_reached) {
        return verdict(false, traps.reason(rule));
    }
    let Some(max) = traps.fetched_max(rule) else { return verdict(true, "the rule is switched off".to_owned()) };
    match count(shape) {
        0 => verdict(true, format!("few URLs like it brought nothing new; {max} may")),
        count => verdict(true, format!("{count} URLs like it brought nothing new; {max} may")),
    }
}

fn robots(url: &CanonicalUrl, standing: &SiteNow<'_>, settings: &Settings) -> Rule {
    let verdict = |allows, by| Rule { rule: "robots", allows, by };
    let Some(matching) = settings.site_rules.matching else {
        return verdict(Some(true), "ignored: --robots ignore".to_owned());
    };
    match &standing.robots {
        RobotsState::Known { rules, .. } => {
            let decision = rules.decide(url.path_and_query(), matching);
            let by = decision.rule.map_or_else(|| decision.reason.to_string(), |line| line.to_string());
            verdict(Some(decision.allowed), by)
        }
        RobotsState::Unknown | RobotsState::InFlight { .. } | RobotsState::Stored { .. } => {
            verdict(None, format!("robots.txt: {}", standing.robots_answer()))
        }
    }
}
