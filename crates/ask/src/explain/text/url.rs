//! The story of a URL for people.

use std::fmt::{self, Write as _};

use crate::explain::{LinkText, LinkedAs, Past, Rule, Step, UrlStory};
use dataset::rows::{FRONTIER, Row};
use model::{Limit, Outcome};
use printable::{Printable, counted};

use super::At;
use super::why::words;

/// The width of the labels, in characters.
const LABEL_WIDTH: usize = 13;

/// Steps of a way shown at its beginning and at its end; what lies between is counted.
const STEPS_SHOWN: usize = 10;

/// Visits shown, the last ones; the others are counted.
const VISITS_SHOWN: usize = 10;

/// Texts of links shown; the rest is counted.
const TEXTS_SHOWN: usize = 20;

/// The story of a URL of a crawl at this place, a label and a value a line. Writing to a string cannot fail.
pub(super) fn of(story: &UrlStory, at: At<'_>) -> String {
    Told { story, at }.to_text()
}

/// What the text shows.
struct Told<'a> {
    story: &'a UrlStory,
    at: At<'a>,
}

impl Told<'_> {
    fn to_text(&self) -> String {
        let mut out = String::new();
        let Told { story, .. } = self;
        let Some(url) = &story.url else {
            line(&mut out, "url", Printable(&story.given));
            line(&mut out, "not crawled", Printable(story.not_crawlable.as_deref().unwrap_or_default()));
            return out;
        };
        line(&mut out, "url", Printable(url));
        if *url != story.given {
            line(&mut out, "given as", Printable(&story.given));
        }
        match &story.row {
            Some(row) => self.tell(&mut out, row),
            None => {
                line(&mut out, "outcome", "unknown: not found so far");
                self.tell_why(&mut out, "because");
            }
        }
        self.tell_links(&mut out);
        out.push_str("\nRules now\n");
        for Rule { rule, allows, by } in &story.rules {
            let word = match allows {
                Some(true) => "allows",
                Some(false) => "refuses",
                None => "unknown",
            };
            let _ = writeln!(out, "  {rule:<8}{word:<9}{}", Printable(by));
        }
        out
    }

    fn tell(&self, out: &mut String, row: &Row) {
        let story = self.story;
        line(out, "outcome", row.outcome);
        self.tell_why(out, "waits");
        optional(out, "reason", row.reason.as_deref());
        let reached = Limit::ALL.iter().filter(|limit| story.limits.contains(&limit.as_str()));
        for (at, limit) in reached.enumerate() {
            let label = if at == 0 { "left out" } else { "" };
            line(out, label, format_args!("by the limit {limit}: {}", limit.meaning()));
        }
        if row.purpose == Some("sitemap") {
            line(out, "purpose", "a sitemap, read for its URLs");
        }
        if let (Some("requisite"), Some(page)) = (row.purpose, &row.found_on) {
            line(out, "purpose", format_args!("to show {}", Printable(page)));
        }
        if let Some(target) = &story.target {
            let label = if row.outcome == Outcome::Redirect.as_str() { "redirects to" } else { "canonical" };
            let outcome = target.outcome.unwrap_or("not in the crawl");
            line(out, label, format_args!("{} ({outcome})", Printable(&target.url)));
        }
        optional(out, "duplicate of", row.duplicate_of.as_deref());
        if let Some(status) = row.status {
            line(out, "status", status);
        }
        optional(out, "type", row.content_type.as_deref());
        if let Some(length) = row.length {
            line(out, "size", counted(length, "byte"));
        }
        optional(out, "digest", row.digest.as_deref());
        optional(out, "title", row.title.as_deref());
        if let Some(at) = &story.at {
            let label = match (story.attempts, row.status) {
                (0, _) => "judged",
                (_, None) => "last tried",
                (_, Some(_)) => "fetched",
            };
            line(out, label, at);
        }
        let left_out = story.visits.len().saturating_sub(VISITS_SHOWN);
        for (at, Past { at: when, round, outcome, status, change }) in story.visits.iter().skip(left_out).enumerate() {
            let status = status.map(|status| format!(" {status}")).unwrap_or_default();
            let change = change.map(|change| format!("{change}: ")).unwrap_or_default();
            line(
                out,
                if at == 0 { "visits" } else { "" },
                format_args!("{when} {change}{outcome}{status}, round {round}"),
            );
        }
        if left_out > 0 {
            line(out, "", format_args!("and {} before", counted(left_out as u64, "visit")));
        }
        if story.attempts > 1 || (story.attempts > 0 && row.outcome == FRONTIER) {
            line(out, "requests", story.attempts);
        }
        if let Some(record) = &story.record {
            let path = record.path.display();
            line(out, "stored", format_args!("{path} at {}, {}", record.offset, counted(record.length, "byte")));
            line(out, "", format_args!("argiope inspect warc {path}:{}", record.offset));
        } else if story.record_is_missing {
            line(out, "stored", "no: the archive has lost it");
        }
        if story.content_is_missing {
            line(out, "", "but the answer whose content it repeats is lost");
        }
        if story.record_is_missing || story.content_is_missing {
            line(out, "", format_args!("{}   asks for it again", self.at.again()));
            if let Some(dir) = self.at.dir() {
                line(out, "", format_args!("argiope check {}   names all that is lost", dir.display()));
            }
        }
        self.tell_way(out);
    }

    /// Why it waits, and what was changed; the label for the first line, none for the others.
    fn tell_why(&self, out: &mut String, label: &str) {
        let why: Vec<String> = self.story.why.iter().map(|why| words(why, self.at)).collect();
        for (label, lines) in [(label, &why), ("steered", &self.story.changes)] {
            for (at, text) in lines.iter().enumerate() {
                line(out, if at == 0 { label } else { "" }, Printable(text));
            }
        }
        if self.story.changes_earlier > 0 {
            line(out, "", format_args!("and {} before", counted(self.story.changes_earlier, "change")));
        }
    }

    fn tell_links(&self, out: &mut String) {
        let LinkedAs { count, texts } = &self.story.linked_as;
        if texts.is_empty() {
            return;
        }
        out.push_str("\nLinked as\n");
        for LinkText { text, source } in texts.iter().take(TEXTS_SHOWN) {
            let _ = writeln!(out, "  \"{}\" on {}", Printable(text), Printable(source));
        }
        let hidden = count.saturating_sub(TEXTS_SHOWN as u64);
        if hidden > 0 {
            let _ = writeln!(out, "  … {hidden} more");
        }
    }

    fn tell_way(&self, out: &mut String) {
        out.push_str("\nFound\n");
        let hidden = self.story.found.len().saturating_sub(2 * STEPS_SHOWN);
        for (at, Step { url, via, depth }) in self.story.found.iter().enumerate() {
            if hidden > 0 && at == STEPS_SHOWN {
                let _ = writeln!(out, "  … {hidden} more");
            }
            if hidden == 0 || !(STEPS_SHOWN..STEPS_SHOWN + hidden).contains(&at) {
                let depth = depth.map_or_else(String::new, |depth| format!("depth {depth}"));
                let _ = writeln!(out, "  {depth:<9} {via:<12}{}", Printable(url));
            }
        }
    }
}

/// A label and its value.
pub(super) fn line(out: &mut String, label: &str, value: impl fmt::Display) {
    let _ = writeln!(out, "{label:<LABEL_WIDTH$} {value}");
}

fn optional(out: &mut String, label: &str, value: Option<&str>) {
    if let Some(value) = value {
        line(out, label, Printable(value));
    }
}
