//! The numbers of a crawl and their chart, which the script keeps up to date.

use maud::{Markup, html};

use crate::base::base;

/// A number: its label, its name in the samples, its value.
pub(crate) type Number = (String, &'static str, String);

/// The numbers. The script follows a crawl that runs, and waits for one that may begin.
pub(crate) fn board(is_running: bool, numbers: &[Number]) -> Markup {
    html! {
        p #stale.note role="status" hidden { "The interface does not answer any more. These numbers are old." }
        dl #numbers.numbers data-running=[is_running.then_some("")] data-base=[base()] {
            @for (label, name, value) in numbers {
                div { dt { (label) } dd data-live=(name) { (value) } }
            }
            div hidden { dt { "pages a second" } dd data-live="rate" {} }
            div hidden { dt { "for the queue, at the rate of the last minutes" } dd data-live="ends" {} }
        }
    }
}

/// What a line of the chart shows: its name in the script, and what that is.
type Line = (&'static str, &'static str);

/// The line that every crawl has.
const OF_PAGES: Line = ("rate", "Pages a second");
/// Another that every crawl has.
const OF_TROUBLE: Line = ("sites_aside", "Sites in trouble");
/// The lines of a crawl with a history.
pub(crate) const OF_CRAWL: [Line; 4] =
    [OF_PAGES, ("in_flight", "Fetches under way"), ("sites_waiting", "Sites in the queue"), OF_TROUBLE];
/// The lines of a crawl by several workers.
pub(crate) const OF_WORKERS: [Line; 3] = [OF_PAGES, ("workers", "Workers"), OF_TROUBLE];

/// The chart, which has `said` as its label. All lines have the same time.
pub(crate) fn chart(said: &str, lines: &[Line]) -> Markup {
    html! {
        figure #chart hidden {
            @for (name, shows) in lines {
                div.series hidden[*name != OF_PAGES.0] {
                    p.count { (shows) }
                    canvas width="720" height="160" role="img" data-series=(name) data-shows=(shows) aria-label=(shows) {}
                }
            }
            label {
                (said)
                input #moment type="range" min="0" value="0";
            }
            figcaption { output #at for="moment" {} }
        }
    }
}
