//! What sitemaps and feeds say of changes: the dates of their entries. They speak for pages of their own site only.

use std::time::Duration;

use extract::sitemap::{Entry, Kind};
use model::{Announcement, Announcer, Timestamp, Visit};
use weburl::{CanonicalUrl, SiteKey};

const DAY: Duration = Duration::from_secs(86_400);
/// A date may be published so long after the change that it tells.
const PUBLISHED_WITHIN: Duration = Duration::from_secs(2 * 86_400);
const MONTHS: [&str; 12] = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

/// What a list of this kind says of the page of an entry.
pub(crate) fn announcement(site: SiteKey, kind: Kind, entry: &Entry, page: &CanonicalUrl) -> Option<Announcement> {
    let key = page.key();
    let by = match kind {
        Kind::Rss | Kind::Atom => Announcer::Feed,
        Kind::UrlSet => Announcer::Sitemap,
        Kind::Index | Kind::Text | Kind::Unknown => return None,
    };
    let at = read_date(entry.lastmod.as_deref()?)?;
    (key.site == site).then_some(Announcement { key, by, at })
}

/// What a list says at its visit that it cannot have said at the visit before: that may have been known to the visits of the pages
/// since. Nothing at its first visit: no page has been visited since. Dates in the future say nothing, but a day that has begun does.
pub(crate) fn news(announced: Vec<Announcement>, last: Option<&Visit>, at: Timestamp) -> Vec<Announcement> {
    let Some(last) = last else { return Vec::new() };
    let read_at = if last.outcome.is_fetched() { last.at } else { last.content_at.unwrap_or_default() };
    let is_news =
        |announcement: &Announcement| announcement.at + PUBLISHED_WITHIN > read_at && announcement.at <= at + DAY;
    let news = announced.into_iter().filter(is_news);
    news.map(|announcement| Announcement { at: announcement.at.min(at), ..announcement }).collect()
}

/// A date as sitemaps (W3C) and feeds (RFC 3339, RFC 822) write it. One without a time is the end of its day.
fn read_date(text: &str) -> Option<Timestamp> {
    let text = text.trim();
    match text.split_once(['T', 't', ' ']) {
        None => Some(Timestamp::from_rfc3339(text)? + DAY),
        Some((date, time)) if date.bytes().filter(|byte| *byte == b'-').count() == 2 => in_utc(date, time),
        Some(_) => read_rfc822(text),
    }
}

/// `[Wed, ]02 Oct 2002 13:00[:00] GMT`.
fn read_rfc822(text: &str) -> Option<Timestamp> {
    let text = text.split_once(',').map_or(text, |(_, text)| text);
    let mut words = text.split_ascii_whitespace();
    let (day, month, year) = (words.next()?, words.next()?.to_ascii_lowercase(), words.next()?);
    let month = 1 + MONTHS.iter().position(|name| month.starts_with(name))?;
    let (time, zone) = (words.next()?, words.next().unwrap_or("GMT"));
    in_utc(&format!("{year}-{month:02}-{day:0>2}"), &format!("{time}{zone}"))
}

/// A date, and a time with its zone behind it. A zone with a name that is not UTC's counts as UTC: some hours do not matter here.
fn in_utc(date: &str, time: &str) -> Option<Timestamp> {
    let end = time.find(|letter: char| !letter.is_ascii_digit() && letter != ':' && letter != '.');
    let (time, zone) = time.split_at(end.unwrap_or(time.len()));
    let seconds = if time.matches(':').count() == 1 { ":00" } else { "" };
    let local = Timestamp::from_rfc3339(&format!("{date}T{time}{seconds}Z"))?;
    let zone = zone.trim_start();
    let Some(offset) = zone.strip_prefix(['+', '-']) else { return Some(local) };
    let digits: String = offset.chars().filter(char::is_ascii_digit).collect();
    let (hours, minutes): (u64, u64) = (digits.get(..2)?.parse().ok()?, digits.get(2..4).unwrap_or("0").parse().ok()?);
    let ahead = Duration::from_secs(3_600 * hours.min(24) + 60 * minutes.min(59));
    let ahead = u64::try_from(ahead.as_micros()).ok()?;
    Some(Timestamp(if zone.starts_with('-') { local.0.saturating_add(ahead) } else { local.0.saturating_sub(ahead) }))
}

#[cfg(test)]
mod tests {
    use model::Outcome;
    use weburl::{CanonicalRules, UrlKey};

    use super::*;

    #[test]
    fn dates_are_read_in_the_forms_that_lists_use() {
        for (text, expect) in [
            ("2026-11-21", Some("2026-11-22T00:00:00.000Z")),
            ("2026-11-21T08:30Z", Some("2026-11-21T08:30:00.000Z")),
            (" 2026-11-21T08:30:10.5Z ", Some("2026-11-21T08:30:10.500Z")),
            ("2026-11-21T08:30:10+02:00", Some("2026-11-21T06:30:10.000Z")),
            ("2026-11-21T22:30:10-0330", Some("2026-11-22T02:00:10.000Z")),
            ("2026-11-21 08:30:10", Some("2026-11-21T08:30:10.000Z")),
            ("Sat, 21 Nov 2026 08:30:10 GMT", Some("2026-11-21T08:30:10.000Z")),
            ("1 November 2026 08:30 +0100", Some("2026-11-01T07:30:00.000Z")),
            ("Sat, 21 Nov 2026 08:30:10 EST", Some("2026-11-21T08:30:10.000Z")),
            ("2026-13-01", None),
            ("2026", None),
            ("yesterday", None),
            ("Sat, 21 Foo 2026 08:30:10 GMT", None),
            ("2026-11-21T", None),
            ("2026-11-21T08:30:10+é", None),
            ("", None),
        ] {
            assert_eq!(read_date(text).map(Timestamp::to_rfc3339).as_deref(), expect, "{text}");
        }
    }

    #[test]
    fn a_list_speaks_for_its_own_site_by_dates() {
        let url = |text: &str| CanonicalUrl::parse(text, &CanonicalRules::default()).expect("a URL");
        let (here, there) = (url("http://a.test/1"), url("http://b.test/1"));
        let entry = |lastmod: &str| Entry { loc: String::new(), lastmod: Some(lastmod.to_owned()) };
        let by = |kind, lastmod: &str, page: &CanonicalUrl| {
            announcement(here.key().site, kind, &entry(lastmod), page).map(|said| said.by)
        };
        assert_eq!(by(Kind::UrlSet, "2026-11-21", &here), Some(Announcer::Sitemap));
        assert_eq!(by(Kind::Atom, "2026-11-21T00:00:00Z", &here), Some(Announcer::Feed));
        assert_eq!(by(Kind::Rss, "soon", &here), None);
        assert_eq!(by(Kind::Index, "2026-11-21", &here), None);
        assert_eq!(by(Kind::UrlSet, "2026-11-21", &there), None);
    }

    #[test]
    fn only_what_is_new_is_taken_in() {
        let day = |day: u32| Timestamp::from_rfc3339(&format!("2026-11-{day:02}")).expect("a date");
        let key = UrlKey { site: SiteKey(1), url: 1 };
        let said = |at: u32| Announcement { key, by: Announcer::Sitemap, at: day(at) };
        let last =
            |outcome, content_at| Visit { content_at, ..Visit::without_fetch(key, outcome, String::new(), day(10)) };
        let of = |last: &Visit| -> Vec<Timestamp> {
            news([1, 9, 12, 20, 21, 25].map(said).to_vec(), Some(last), day(20)).iter().map(|said| said.at).collect()
        };
        assert_eq!(news(vec![said(12)], None, day(20)), []);
        assert_eq!(of(&last(Outcome::Binary, None)), [9, 12, 20, 20].map(day));
        // It was not read then: all may be new.
        assert_eq!(of(&last(Outcome::Timeout, None)), [1, 9, 12, 20, 20].map(day));
        assert_eq!(of(&last(Outcome::Timeout, Some(day(13)))), [12, 20, 20].map(day));
    }
}
