//! URLs chosen by what their last visits brought: media type, size, date, and title or reason.

use std::str::FromStr;

use model::{Timestamp, Visit};
use settings::usage;

use crate::since::time;

/// What the last visit of a URL has to have. Where nothing is chosen, a URL needs no visit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VisitChoice {
    /// The beginning of the declared media type, in small letters: `image/`.
    content_type: Option<String>,
    /// A part of the title, or of the reason where there is no title, in small letters.
    said: Option<String>,
    /// The least and the most bytes of the answer.
    bytes: [Option<u64>; 2],
    /// The first and the last moment of the visit.
    visited: [Option<Timestamp>; 2],
}

/// The same as texts, as they are given. What is empty chooses nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct GivenChoice<'a> {
    /// The beginning of the media type.
    pub content_type: &'a str,
    /// A part of the title or reason.
    pub title: &'a str,
    /// The least bytes.
    pub bytes_min: &'a str,
    /// The most bytes.
    pub bytes_max: &'a str,
    /// A date, a time in UTC, or how long ago.
    pub since: &'a str,
    /// The same.
    pub until: &'a str,
}

impl VisitChoice {
    /// What texts choose, as of a date.
    ///
    /// # Errors
    /// One of them is no number or no time.
    pub fn of(given: GivenChoice<'_>, now: Timestamp) -> anyhow::Result<Self> {
        let GivenChoice { content_type, title, bytes_min, bytes_max, since, until } = given;
        let text = |text: &str| Some(text.to_lowercase()).filter(|text| !text.is_empty());
        let moment = |text: &str| if text.is_empty() { Ok(None) } else { time(text, now).map(Some) };
        Ok(VisitChoice {
            content_type: text(content_type),
            said: text(title),
            bytes: [number("least size", bytes_min)?, number("greatest size", bytes_max)?],
            visited: [moment(since)?, moment(until)?],
        })
    }

    /// Whether a URL with this last visit is chosen.
    pub(crate) fn chooses(&self, visit: Option<&Visit>) -> bool {
        let VisitChoice { content_type, said, bytes: [least, most], visited: [since, until] } = self;
        if *self == VisitChoice::default() {
            return true;
        }
        let Some(visit) = visit else { return false };
        let is_of_type = |beginning: &String| {
            visit.content_type.as_ref().is_some_and(|declared| declared.to_lowercase().starts_with(beginning))
        };
        let says = |part: &String| visit.title.as_ref().unwrap_or(&visit.reason).to_lowercase().contains(part);
        let is_answered = visit.status > 0;
        let was_asked_for = visit.was_asked_for();
        content_type.as_ref().is_none_or(is_of_type)
            && said.as_ref().is_none_or(says)
            && least.is_none_or(|least| is_answered && visit.length >= least)
            && most.is_none_or(|most| is_answered && visit.length <= most)
            && since.is_none_or(|since| was_asked_for && visit.at >= since)
            && until.is_none_or(|until| was_asked_for && visit.at <= until)
    }
}

fn number<T: FromStr>(name: &str, text: &str) -> anyhow::Result<Option<T>> {
    if text.is_empty() {
        return Ok(None);
    }
    text.parse().map(Some).map_err(|_| usage(format!("the {name}: `{text}` is no number of bytes")))
}

#[cfg(test)]
mod tests {
    use model::Outcome;
    use weburl::CanonicalUrl;

    use super::*;

    fn choice(given: GivenChoice<'_>) -> VisitChoice {
        VisitChoice::of(given, Timestamp::from_rfc3339("2026-11-25T12:00:00Z").expect("a time")).expect("a choice")
    }

    #[test]
    fn visits_are_chosen_by_what_they_brought() {
        let key = CanonicalUrl::from_canonical("http://a.test/").expect("a URL").key();
        let at = Timestamp::from_rfc3339("2026-11-24T12:00:00Z").expect("a time");
        let fetched = Visit {
            status: 200,
            attempts: 1,
            content_type: Some("Text/HTML; charset=utf-8".to_owned()),
            title: Some("Ferries to Ærø".to_owned()),
            length: 500,
            ..Visit::without_fetch(key, Outcome::Html, String::new(), at)
        };
        let failed =
            Visit { attempts: 1, ..Visit::without_fetch(key, Outcome::Timeout, "connect: timed out".to_owned(), at) };
        let none = GivenChoice::default();
        for (given, expect) in [
            (none, [true, true, true]),
            (GivenChoice { content_type: "text/html", ..none }, [true, false, false]),
            (GivenChoice { content_type: "text/plain", ..none }, [false, false, false]),
            (GivenChoice { content_type: "text/", title: "ÆRØ", ..none }, [true, false, false]),
            (GivenChoice { title: "timed", ..none }, [false, true, false]),
            (GivenChoice { bytes_min: "500", bytes_max: "500", ..none }, [true, false, false]),
            (GivenChoice { bytes_min: "501", ..none }, [false, false, false]),
            (GivenChoice { bytes_max: "499", ..none }, [false, false, false]),
            (GivenChoice { since: "2d", ..none }, [true, true, false]),
            (GivenChoice { since: "2h", ..none }, [false, false, false]),
            (GivenChoice { until: "2026-11-24T12:00:00Z", ..none }, [true, true, false]),
            (GivenChoice { until: "2026-11-24", ..none }, [false, false, false]),
        ] {
            let choice = choice(given);
            let chosen = [Some(&fetched), Some(&failed), None].map(|visit| choice.chooses(visit));
            assert_eq!(chosen, expect, "{given:?}");
        }
    }

    #[test]
    fn what_is_no_number_and_no_time_is_named() {
        for (given, why) in [
            (GivenChoice { bytes_min: "big", ..GivenChoice::default() }, "the least size: `big`"),
            (GivenChoice { bytes_max: "-1", ..GivenChoice::default() }, "the greatest size: `-1`"),
            (GivenChoice { until: "soon", ..GivenChoice::default() }, "`soon`: no date"),
        ] {
            let error = VisitChoice::of(given, Timestamp(0)).expect_err(why).to_string();
            assert!(error.contains(why), "{error}");
        }
    }
}
