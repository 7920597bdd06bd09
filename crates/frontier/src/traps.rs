//! Traps: URLs that a server generates without end. Each rule bounds them, and names itself in the outcome.
//!
//! There are three kinds of rules. By its form alone, a URL can be too deep or repeat itself. Many URLs share a *shape*: a calendar's pages,
//! the facets of a shop, the same page under ever new session ids. The number of pages of a shape that repeat others is limited
//! ([`crate::novelty`]). Facets combine a few values in many ways. So a URL with a value that its path has not had yet counts as one with few
//! parameters: an article by its id. The third rule needs no pattern: it judges where the pages lead ([`crate::yields`]). No rule that counts
//! refuses what the site itself lists in a sitemap.

use model::Limit;
use weburl::CanonicalUrl;

use crate::yields::Group;

/// The settings of the trap rules. Zero switches a rule off.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrapRules {
    /// Segments of a path.
    pub path_depth_max: usize,
    /// How often a run of segments may repeat, as in `/a/b/a/b/a/b`.
    pub repeated_segments_max: usize,
    /// URLs fetched of a path with three or more parameters (facets, filters, sort orders) that repeat others and have no new value.
    pub queries_per_path_max: u32,
    /// The same of a path with one or two parameters, or with a new value of one.
    pub simple_queries_per_path_max: u32,
    /// URLs fetched that differ only in their dates and repeat others.
    pub calendar_pages_max: u32,
    /// URLs fetched that differ only in what looks like a session id and repeat others.
    pub session_pages_max: u32,
    /// URLs of a group that brings only more of itself, counted from when the rule notices it.
    pub low_yield_pages_max: u32,
    /// Pages of a group in one judgement; two to eight times as many for a tree of directories.
    pub low_yield_window: u32,
}

impl Default for TrapRules {
    fn default() -> Self {
        TrapRules {
            path_depth_max: 25,
            repeated_segments_max: 3,
            queries_per_path_max: 1_000,
            simple_queries_per_path_max: 100_000,
            calendar_pages_max: 1_000,
            session_pages_max: 50,
            low_yield_pages_max: 4_000,
            low_yield_window: 1_000,
        }
    }
}

/// Which rule a shape falls under.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShapeRule {
    /// URLs that differ only in their dates.
    Calendar,
    /// URLs that differ only in what looks like a session id.
    Session,
    /// A path with three or more parameters.
    Queries,
    /// A path with one or two parameters.
    SimpleQueries,
}

impl ShapeRule {
    /// The rule among the limits of a crawl.
    #[must_use]
    pub const fn limit(self) -> Limit {
        match self {
            ShapeRule::Calendar => Limit::Calendar,
            ShapeRule::Session => Limit::Session,
            ShapeRule::Queries => Limit::Queries,
            ShapeRule::SimpleQueries => Limit::SimpleQueries,
        }
    }

    /// The hash of a shape.
    fn shape_of(self, text: &str) -> u64 {
        weburl::SiteKey::of(&format!("{self:?} {text}")).0
    }
}

/// Names of parameters that carry dates.
const DATE_PARAMETERS: [&str; 5] = ["year", "month", "day", "date", "week"];

/// From how many characters on a value of letters and digits looks like a session id, and one of digits alone under the name of one.
const SESSION_BYTES_MIN: usize = 16;
/// The same for letters and digits under the name of a session id.
const NAMED_SESSION_BYTES_MIN: usize = 8;

impl TrapRules {
    /// The rule that a URL breaks by its form, and the reason in words.
    #[must_use]
    pub fn broken_by(&self, url: &CanonicalUrl) -> Option<(Limit, String)> {
        let segments: Vec<&str> = url.path().split('/').filter(|segment| !segment.is_empty()).collect();
        if self.path_depth_max > 0 && segments.len() > self.path_depth_max {
            return Some((Limit::PathDepth, format!("path deeper than {} segments", self.path_depth_max)));
        }
        let max = self.repeated_segments_max;
        if max > 0 && repeats(&segments) > max {
            return Some((Limit::RepeatedSegments, format!("segments of the path repeat more than {max} times")));
        }
        None
    }

    /// The shape of a URL, as a hash, and the rule that counts it. `None`: no rule counts it.
    #[must_use]
    pub fn shape(&self, url: &CanonicalUrl) -> Option<(u64, ShapeRule)> {
        let query = url.query().unwrap_or_default();
        let parameters: Vec<(&str, &str)> = query
            .split('&')
            .filter(|pair| !pair.is_empty())
            .map(|pair| pair.split_once('=').unwrap_or((pair, "")))
            .collect();
        let mut shape = Shape { text: String::with_capacity(url.path_and_query().len()), ..Shape::default() };
        for segment in url.path().split('/') {
            shape.path_segment(segment);
        }
        for (name, value) in &parameters {
            shape.parameter(name, value);
        }
        let rule = if shape.session {
            ShapeRule::Session
        } else if shape.is_calendar() {
            ShapeRule::Calendar
        } else {
            match parameters.len() {
                0 => return None,
                1 | 2 => ShapeRule::SimpleQueries,
                _ => ShapeRule::Queries,
            }
        };
        let shape = match rule {
            // Facets: whatever the parameters, it is the same page of lists.
            ShapeRule::Queries | ShapeRule::SimpleQueries => rule.shape_of(url.path()),
            ShapeRule::Calendar | ShapeRule::Session => rule.shape_of(&shape.text),
        };
        Some((shape, rule))
    }

    /// True if a rule counts pages like this one whose limit is soon reached: what they say is read for that alone.
    #[must_use]
    pub fn counts_few(&self, url: &CanonicalUrl) -> bool {
        let rule = self.shape(url).map(|(_, rule)| rule).filter(|rule| *rule != ShapeRule::SimpleQueries);
        rule.is_some_and(|rule| self.fetched_max(rule).is_some())
    }

    /// These rules without those that count pages.
    #[must_use]
    pub fn without_counts(&self) -> Self {
        TrapRules {
            queries_per_path_max: 0,
            simple_queries_per_path_max: 0,
            calendar_pages_max: 0,
            session_pages_max: 0,
            low_yield_pages_max: 0,
            ..self.clone()
        }
    }

    /// The shapes whose counts may refuse a URL, with their rules: its own first.
    pub fn shapes(&self, url: &CanonicalUrl) -> impl Iterator<Item = (u64, ShapeRule)> {
        let own = self.shape(url);
        let has_simple = own.is_some_and(|(_, rule)| rule == ShapeRule::Queries);
        own.into_iter().chain(has_simple.then(|| (self.simple_shape(url), ShapeRule::SimpleQueries)))
    }

    /// The shape that a URL of many parameters would have with one or two.
    #[must_use]
    pub fn simple_shape(&self, url: &CanonicalUrl) -> u64 {
        ShapeRule::SimpleQueries.shape_of(url.path())
    }

    /// The largest number of URLs of one shape that repeat others; `None` if the rule is switched off.
    #[must_use]
    pub fn fetched_max(&self, rule: ShapeRule) -> Option<u32> {
        let max = match rule {
            ShapeRule::Calendar => self.calendar_pages_max,
            ShapeRule::Session => self.session_pages_max,
            ShapeRule::Queries => self.queries_per_path_max,
            ShapeRule::SimpleQueries => self.simple_queries_per_path_max,
        };
        (max > 0).then_some(max)
    }

    /// The reason for URLs of a group that brings only more of itself, once it has reached its limit.
    #[must_use]
    pub fn reason_of_low_yield(&self, group: &Group<'_>) -> String {
        format!("{group} brings only more of itself: more than {} pages", self.low_yield_pages_max)
    }

    /// The reason for URLs of a shape that has reached its limit.
    #[must_use]
    pub fn reason(&self, rule: ShapeRule) -> String {
        let max = self.fetched_max(rule).unwrap_or_default();
        match rule {
            ShapeRule::Calendar => {
                format!("more than {max} pages that bring nothing new and differ only in their dates")
            }
            ShapeRule::Session => {
                format!("more than {max} pages that bring nothing new and differ only in a session id")
            }
            ShapeRule::Queries => {
                format!("more than {max} queries of three or more parameters on one path that bring nothing new")
            }
            ShapeRule::SimpleQueries => format!("more than {max} queries on one path that bring nothing new"),
        }
    }
}

/// How often, at most, a run of segments follows on itself: 1 where nothing repeats. Of a path within the limit of
/// depth the cost is small; of a longer one only the last segments are looked at.
fn repeats(segments: &[&str]) -> usize {
    const LOOKED_AT_MAX: usize = 64;
    let segments = &segments[segments.len().saturating_sub(LOOKED_AT_MAX)..];
    let mut most = usize::from(!segments.is_empty());
    for run in 1..=segments.len() / 2 {
        let mut equal = 0;
        for at in run..segments.len() {
            equal = if segments[at] == segments[at - run] { equal + 1 } else { 0 };
            most = most.max(equal / run + 1);
        }
    }
    most
}

/// What is left of a URL when dates and session ids are taken out.
#[derive(Default)]
struct Shape {
    text: String,
    session: bool,
    has_year: bool,
    date_parts: usize,
}

impl Shape {
    fn path_segment(&mut self, segment: &str) {
        self.text.push('/');
        if let Some(parts) = date_parts(segment, self.has_year) {
            self.has_year = true;
            self.date_parts += parts;
            self.text.push_str("{date}");
        } else if let Some((name, _)) = segment.split_once(";jsessionid=") {
            self.session = true;
            self.text.push_str(name);
        } else {
            self.text.push_str(segment);
        }
    }

    fn parameter(&mut self, name: &str, value: &str) {
        self.text.push('&');
        self.text.push_str(name);
        let lower = name.to_ascii_lowercase();
        let numbers = value.split('-').filter(|part| part.len() <= 4 && is_number(part)).count();
        if DATE_PARAMETERS.contains(&lower.as_str()) && numbers > 0 {
            self.has_year |= lower == "year" || numbers > 1;
            self.date_parts += numbers;
        } else if looks_like_session_id(value) || weburl::is_session_id(name) && may_be_session_id(value) {
            self.session = true;
        } else {
            self.text.push('=');
            self.text.push_str(value);
        }
    }

    /// A year alone is too often just a number: there must be a month too.
    fn is_calendar(&self) -> bool {
        self.has_year && self.date_parts > 1
    }
}

/// How many numbers a segment such as `2026-11-21` or `20261121` is made of; `None` if it is no part of a date. A month or
/// a day counts only behind a year, in this segment or in one before.
fn date_parts(segment: &str, after_year: bool) -> Option<usize> {
    if segment.len() == 8 && is_number(segment) && is_year(&segment[..4]) && is_small(&segment[4..6], 12) {
        return is_small(&segment[6..], 31).then_some(3);
    }
    let mut has_year = after_year;
    let mut parts = 0;
    for part in segment.split('-') {
        if is_year(part) {
            has_year = true;
        } else if !(has_year && is_small(part, 31)) {
            return None;
        }
        parts += 1;
    }
    Some(parts)
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// A year that a calendar begins with. Where it leads from there does not matter: it has had its share by then.
fn is_year(text: &str) -> bool {
    text.len() == 4 && text.parse::<u32>().is_ok_and(|year| (1900..2200).contains(&year))
}

fn is_small(text: &str, max: u32) -> bool {
    text.len() <= 2 && is_number(text) && text.parse::<u32>().is_ok_and(|number| (1..=max).contains(&number))
}

fn looks_like_session_id(value: &str) -> bool {
    value.len() >= SESSION_BYTES_MIN
        && value.bytes().all(|byte| byte.is_ascii_alphanumeric())
        && value.bytes().any(|byte| byte.is_ascii_digit())
        && value.bytes().any(|byte| byte.is_ascii_alphabetic())
}

/// Under the name of a session id. The stations and talks of a site may be numbered under such a name too.
fn may_be_session_id(value: &str) -> bool {
    let has = |is: fn(&u8) -> bool| value.bytes().any(|byte| is(&byte));
    let is_mixed = has(u8::is_ascii_digit) && has(u8::is_ascii_alphabetic);
    value.len() >= if is_mixed { NAMED_SESSION_BYTES_MIN } else { SESSION_BYTES_MIN } && has(u8::is_ascii_digit)
}

#[cfg(test)]
mod tests {
    use weburl::CanonicalRules;

    use super::*;

    fn url(path: &str) -> CanonicalUrl {
        CanonicalUrl::parse(&format!("http://a.test{path}"), &CanonicalRules::default()).expect(path)
    }

    #[test]
    fn a_path_can_be_too_deep_or_repeat_itself() {
        for (path, expect) in [
            ("/", false),
            ("/a/b/c", false),
            ("/a/a/a", false),
            ("/a/a/a/a", true),
            ("/x/a/b/a/b/a/b/a/b", true),
            ("/a/b/a/c/a/d/a", false),
            ("/2026/11/11/11", false),
            (&"/x1/y2/z3/w4/v5".repeat(6), true),
            (&(0..26).map(|n| format!("/{n}")).collect::<String>(), true),
            (&(0..25).map(|n| format!("/{n}")).collect::<String>(), false),
        ] {
            assert_eq!(TrapRules::default().broken_by(&url(path)).is_some(), expect, "{path}");
        }
    }

    #[test]
    fn urls_of_one_shape_are_counted_together() {
        use ShapeRule::{Calendar, Queries, Session, SimpleQueries};
        for (a, b, rule) in [
            ("/cal/2026/11/", "/cal/2199/01/", Some(Calendar)),
            ("/cal?month=11&year=2026", "/cal?month=1&year=3000", Some(Calendar)),
            ("/cal?date=2026-11-21", "/cal?date=2027-01-02", Some(Calendar)),
            ("/events/2026-11-21", "/events/2030-01-01", Some(Calendar)),
            ("/events/20261121", "/events/20300101", Some(Calendar)),
            ("/p/2026", "/p/1234", None),
            ("/p/202611", "/p/10001231", None),
            ("/p;jsessionid=1", "/p;jsessionid=2", Some(Session)),
            ("/p?sid=8f14e45f", "/p?sid=c9f0-f895", Some(Session)),
            ("/p?CFID=8141592653589793", "/p?CFID=2718281828459045", Some(Session)),
            ("/p?sid=10001", "/p?sid=10002", Some(SimpleQueries)),
            ("/p?sid=talk-2", "/p?session_id=opening-keynote", Some(SimpleQueries)),
            ("/p?x=8f14e45fceea167a", "/p?x=c9f0f895fb98ab91", Some(Session)),
            ("/shop?a=1&b=2&c=3", "/shop?c=1&d=7&e=3", Some(Queries)),
            ("/topic?id=1", "/topic?id=2&start=20", Some(SimpleQueries)),
            ("/plain/a", "/plain/b", None),
        ] {
            let rules = TrapRules::default();
            let (shape_a, shape_b) = (rules.shape(&url(a)), rules.shape(&url(b)));
            assert_eq!(shape_a.map(|(_, rule)| rule), rule, "{a}");
            assert_eq!(shape_a, shape_b, "{a} {b}");
        }
    }

    #[test]
    fn different_shapes_are_counted_apart() {
        for (a, b) in
            [("/a?id=1", "/b?id=1"), ("/cal/2026/1/", "/other/2026/1/"), ("/p?sid=8f14e45f&x=1", "/p?sid=8f14e45f&x=2")]
        {
            let rules = TrapRules::default();
            assert_ne!(rules.shape(&url(a)), rules.shape(&url(b)), "{a} {b}");
        }
    }
}
