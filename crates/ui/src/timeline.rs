//! How a URL was found, its visits, and what was changed from outside, on a line of time.

use maud::{Markup, html};
use printable::{Printable, counted};
use weburl::CanonicalUrl;

use crate::links;
use crate::page::of_visit;

/// Visits on the timeline, the last ones; the others are counted.
pub(crate) const VISITS_SHOWN: usize = 50;

/// What is on the line.
pub(crate) struct Timeline {
    pub(crate) found: Option<Found>,
    /// Visits before those that are shown.
    pub(crate) left_out: u64,
    /// The oldest first.
    pub(crate) visits: Vec<Event>,
    /// What was changed from outside, in words.
    pub(crate) changes: Vec<String>,
}

/// How a URL came to be known.
pub(crate) struct Found {
    pub(crate) depth: Option<u32>,
    pub(crate) via: String,
    /// The URL on which it was found.
    pub(crate) on: Option<String>,
}

/// A visit.
pub(crate) struct Event {
    /// When, as a date.
    pub(crate) at: String,
    pub(crate) round: u32,
    pub(crate) outcome: String,
    pub(crate) status: Option<u16>,
    /// How it differs from the visit before.
    pub(crate) change: Option<String>,
}

impl Timeline {
    /// The line of a URL, the oldest first.
    pub(crate) fn of(&self, url: &CanonicalUrl) -> Markup {
        html! {
            section {
                h2 { "Timeline" }
                ol.timeline {
                    @if let Some(Found { depth, via, on }) = &self.found {
                        li {
                            "Found " @if let Some(depth) = depth { "at depth " (depth) " " } "by " (Printable(via))
                            @if let Some(from) = on { " on " (links::story(from)) }
                        }
                    }
                    @if self.left_out > 0 { li { (counted(self.left_out, "visit")) " before" } }
                    @for visit in &self.visits { (event(url, visit)) }
                    @for change in &self.changes { li { "Steered: " (Printable(change)) } }
                }
            }
        }
    }
}

fn event(url: &CanonicalUrl, Event { at, round, outcome, status, change }: &Event) -> Markup {
    html! {
        li {
            a.date href=(of_visit(url, at)) { (Printable(at)) }
            " " @if let Some(change) = change { (Printable(change)) ": " } (Printable(outcome)) @if let Some(status) = status { " " (status) } ", round " (round)
        }
    }
}
