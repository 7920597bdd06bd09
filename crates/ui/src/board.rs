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
        }
    }
}

/// The chart, which has `said` as its label.
pub(crate) fn chart(said: &str) -> Markup {
    html! {
        figure #chart hidden {
            canvas width="720" height="160" role="img" aria-label="Pages a second" {}
            label {
                (said)
                input #moment type="range" min="0" value="0";
            }
            figcaption { output #at for="moment" {} }
        }
    }
}
