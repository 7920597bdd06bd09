//! URLs chosen by what their last visits brought: media type, size, date, limits, and title or reason.

use std::str::FromStr;

use model::{Limit, Timestamp, Visit, essence};
use settings::usage;

use crate::since::time;

/// What the last visit of a URL has to have. Where nothing is chosen, a URL needs no visit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VisitChoice {
    content_type: Option<TypeChoice>,
    /// A part of the title, or of the reason where there is no title, in small letters.
    said: Option<String>,
    /// The least and the most bytes of the answer.
    bytes: [Option<u64>; 2],
    /// The first and the last moment of the visit.
    visited: [Option<Timestamp>; 2],
    /// A limit that the visit reached.
    reached: Option<Limit>,
}

/// Which declared media types are chosen, in small letters.
#[derive(Clone, Debug, PartialEq, Eq)]
enum TypeChoice {
    /// Those that begin so: `image/`.
    Beginning(String),
    /// This one, whatever its parameters are.
    Exactly(String),
    /// None: the answer declared no type.
    Undeclared,
}

/// The word for answers that declared no media type, as the report has it.
pub const UNDECLARED: &str = "(none)";

/// The same as texts, as they are given. What is empty chooses nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct GivenChoice<'a> {
    /// The beginning of the media type; with a semicolon at its end the whole type; or [`UNDECLARED`].
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
    /// The word for a limit.
    pub reached: &'a str,
}

impl TypeChoice {
    fn of(text: &str) -> Option<Self> {
        let text = text.to_lowercase();
        match text.strip_suffix(';') {
            _ if text.is_empty() => None,
            _ if text == UNDECLARED => Some(TypeChoice::Undeclared),
            Some(whole) => Some(TypeChoice::Exactly(whole.to_owned())),
            None => Some(TypeChoice::Beginning(text)),
        }
    }

    fn chooses(&self, visit: &Visit) -> bool {
        let declared = visit.content_type.as_deref().unwrap_or_default();
        match self {
            TypeChoice::Beginning(beginning) => declared.to_lowercase().starts_with(beginning),
            TypeChoice::Exactly(whole) => visit.status > 0 && essence(declared) == *whole,
            TypeChoice::Undeclared => visit.status > 0 && essence(declared).is_empty(),
        }
    }
}

impl VisitChoice {
    /// What texts choose, as of a date.
    ///
    /// # Errors
    /// One of them is no number, no time or no limit.
    pub fn of(given: GivenChoice<'_>, now: Timestamp) -> anyhow::Result<Self> {
        let GivenChoice { content_type, title, bytes_min, bytes_max, since, until, reached } = given;
        let text = |text: &str| Some(text.to_lowercase()).filter(|text| !text.is_empty());
        let moment = |text: &str| if text.is_empty() { Ok(None) } else { time(text, now).map(Some) };
        Ok(VisitChoice {
            content_type: TypeChoice::of(content_type),
            said: text(title),
            bytes: [number("least size", bytes_min)?, number("greatest size", bytes_max)?],
            visited: [moment(since)?, moment(until)?],
            reached: limit(reached)?,
        })
    }

    /// Whether URLs are chosen by a limit. The report counts those of sitemaps and of what pages need to be shown, too.
    pub(crate) const fn is_by_limit(&self) -> bool {
        self.reached.is_some()
    }

    /// Whether a URL with this last visit is chosen.
    pub(crate) fn chooses(&self, visit: Option<&Visit>) -> bool {
        let VisitChoice { content_type, said, bytes: [least, most], visited: [since, until], reached } = self;
        if *self == VisitChoice::default() {
            return true;
        }
        let Some(visit) = visit else { return false };
        let says = |part: &String| visit.title.as_ref().unwrap_or(&visit.reason).to_lowercase().contains(part);
        let is_answered = visit.status > 0;
        let was_asked_for = visit.was_asked_for();
        content_type.as_ref().is_none_or(|choice| choice.chooses(visit))
            && said.as_ref().is_none_or(says)
            && least.is_none_or(|least| is_answered && visit.length >= least)
            && most.is_none_or(|most| is_answered && visit.length <= most)
            && since.is_none_or(|since| was_asked_for && visit.at >= since)
            && until.is_none_or(|until| was_asked_for && visit.at <= until)
            && reached.is_none_or(|limit| visit.limits.contains(limit))
    }
}

fn limit(word: &str) -> anyhow::Result<Option<Limit>> {
    if word.is_empty() {
        return Ok(None);
    }
    let limit = Limit::ALL.iter().find(|limit| limit.as_str() == word).copied();
    limit.map(Some).ok_or_else(|| usage(format!("the limit: `{word}` is no limit of visits")))
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
            limits: Limit::Title.into(),
            ..Visit::without_fetch(key, Outcome::Html, String::new(), at)
        };
        let failed =
            Visit { attempts: 1, ..Visit::without_fetch(key, Outcome::Timeout, "connect: timed out".to_owned(), at) };
        let none = GivenChoice::default();
        for (given, expect) in [
            (none, [true, true, true]),
            (GivenChoice { content_type: "text/html", ..none }, [true, false, false]),
            (GivenChoice { content_type: "text/plain", ..none }, [false, false, false]),
            (GivenChoice { content_type: "text/htm;", ..none }, [false, false, false]),
            (GivenChoice { content_type: "Text/HTML;", ..none }, [true, false, false]),
            (GivenChoice { content_type: UNDECLARED, ..none }, [false, false, false]),
            (GivenChoice { reached: "title", ..none }, [true, false, false]),
            (GivenChoice { reached: "links", ..none }, [false, false, false]),
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
    fn an_answer_without_a_type_is_chosen_by_a_word() {
        let key = CanonicalUrl::from_canonical("http://a.test/").expect("a URL").key();
        let visit = Visit::without_fetch(key, Outcome::Binary, String::new(), Timestamp(1));
        let of = |status, content_type: Option<&str>| {
            let content_type = content_type.map(str::to_owned);
            let visit = Visit { status, content_type, ..visit.clone() };
            choice(GivenChoice { content_type: UNDECLARED, ..GivenChoice::default() }).chooses(Some(&visit))
        };
        assert_eq!(
            [of(200, None), of(200, Some(" ; x")), of(200, Some("a/b")), of(0, None)],
            [true, true, false, false]
        );
    }

    #[test]
    fn what_is_no_number_and_no_time_is_named() {
        for (given, why) in [
            (GivenChoice { reached: "many", ..GivenChoice::default() }, "the limit: `many`"),
            (GivenChoice { bytes_min: "big", ..GivenChoice::default() }, "the least size: `big`"),
            (GivenChoice { bytes_max: "-1", ..GivenChoice::default() }, "the greatest size: `-1`"),
            (GivenChoice { until: "soon", ..GivenChoice::default() }, "`soon`: no date"),
        ] {
            let error = VisitChoice::of(given, Timestamp(0)).expect_err(why).to_string();
            assert!(error.contains(why), "{error}");
        }
    }
}
