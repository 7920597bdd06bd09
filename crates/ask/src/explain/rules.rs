//! What the rules say of a URL now: scope and patterns, traps, robots.txt.

use std::path::Path;

use frontier::yields::groups_of;
use frontier::{Counts, RobotsState};
use model::{Candidate, Purpose, Queued, Via};
use printable::counted;
use serde::Serialize;
use weburl::CanonicalUrl;

use super::waiting::SiteNow;

/// What one rule says.
#[derive(Debug, Serialize)]
pub struct Rule {
    /// `scope`, `trap`, `robots`, or `exclude` of patterns that cannot be told.
    pub rule: &'static str,
    /// `null`: it cannot be told yet.
    pub allows: Option<bool>,
    /// The line, pattern or limit that decides.
    pub by: String,
}

/// What each rule says, in the order in which a crawl asks them.
pub(super) fn judge(url: &CanonicalUrl, is_seed: bool, known: Option<&Candidate>, site: &SiteNow<'_>) -> Vec<Rule> {
    vec![scope(url, is_seed, known, site), trap(url, known, site), robots(url, site)]
}

fn scope(url: &CanonicalUrl, is_seed: bool, known: Option<&Candidate>, site: &SiteNow<'_>) -> Rule {
    let filter = &site.settings.filter;
    let is_requisite = is_requisite(known);
    let verdict = if is_seed || is_requisite { filter.judge_seed(url) } else { filter.judge(url) };
    let included = filter.include.iter().find(|pattern| pattern.matches(url.as_str()));
    let by = match (&verdict, included) {
        (Err(rule), _) => rule.to_string(),
        (Ok(()), _) if is_seed => "a seed, or the redirect target of one".to_owned(),
        (Ok(()), _) if is_requisite => "what a page needs, wherever it lies".to_owned(),
        (Ok(()), Some(pattern)) => format!("scope {}, include {pattern}", filter.scope.kind()),
        (Ok(()), None) => format!("scope {}", filter.scope.kind()),
    };
    Rule { rule: "scope", allows: Some(verdict.is_ok()), by }
}

/// The sentence about a file of exclude patterns that was not read.
pub(super) fn unread(path: &Path) -> Rule {
    let by = format!(
        "exclude-file: the patterns of {} are not kept with the crawl; `argiope crawl` with --exclude-file keeps them",
        path.display()
    );
    Rule { rule: "exclude", allows: None, by }
}

fn is_requisite(known: Option<&Candidate>) -> bool {
    known.is_some_and(|known| known.purpose == Purpose::Requisite)
}

fn trap(url: &CanonicalUrl, known: Option<&Candidate>, site: &SiteNow<'_>) -> Rule {
    let traps = &site.settings.site_rules.traps;
    let verdict = |allows, by| Rule { rule: "trap", allows: Some(allows), by };
    if let Some((_, broken)) = traps.broken_by(url) {
        return verdict(false, broken);
    }
    if is_requisite(known) {
        return verdict(true, "not counted: what a page needs".to_owned());
    }
    let found = || Candidate { via: Via::Link, ..Candidate::seed(url.clone()) };
    let waiting = Queued::first(known.cloned().unwrap_or_else(found));
    let Counts { group, shape } = match site.state.judge_traps(&waiting, traps) {
        Err(settled) => return verdict(false, settled.reason),
        Ok(counts) => counts,
    };
    let named = group.and_then(|(key, share)| Some((groups_of(url).find(|group| group.key() == key)?, share)));
    if let Some((group, share)) = named {
        let (max, before) = (traps.low_yield_pages_max, share.fetched.saturating_sub(1));
        return verdict(
            true,
            format!("{group} seems to bring only more of itself: {before} of at most {max} pages so far"),
        );
    }
    let Some((_, rule)) = traps.shape(url) else {
        return verdict(true, "not of a kind that is counted".to_owned());
    };
    let Some(max) = traps.fetched_max(rule) else { return verdict(true, "the rule is switched off".to_owned()) };
    match shape.map_or(0, |(shape, _)| site.state.shape_count(shape)) {
        0 => verdict(true, format!("few URLs like it brought nothing new; {max} may")),
        count => verdict(true, format!("{} like it brought nothing new; {max} may", counted(count.into(), "URL"))),
    }
}

fn robots(url: &CanonicalUrl, site: &SiteNow<'_>) -> Rule {
    let verdict = |allows, by| Rule { rule: "robots", allows, by };
    let Some(matching) = site.settings.site_rules.matching else {
        return verdict(Some(true), "ignored: --robots ignore".to_owned());
    };
    match site.robots() {
        RobotsState::Known { rules, .. } => {
            let decision = rules.decide(url.path_and_query(), matching);
            let by = decision.rule.map_or_else(|| decision.reason.to_string(), |line| line.to_string());
            verdict(Some(decision.allowed), by)
        }
        RobotsState::Unknown | RobotsState::InFlight { .. } | RobotsState::Stored { .. } => {
            let answer = site.robots_answer().unwrap_or_else(|| "not requested yet".to_owned());
            verdict(None, format!("robots.txt: {answer}"))
        }
    }
}
