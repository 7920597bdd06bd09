//! What a page says of a table that is being sorted.

use maud::{Markup, html};
use printable::counted;
use service::sortings::SoFar;

/// How far a table is, where it will be. The script reads this part of the page `link` again until the table is there.
pub(crate) fn looking(SoFar { looked_at, found }: SoFar, noun: &str, link: &str) -> Markup {
    html! {
        div #awaited data-reread=(link) {
            p.note role="status" {
                strong { "Sorting: " }
                (counted(looked_at, noun)) " looked at so far, " (found) " of them chosen. "
                a href=(link) { "Look again" }
            }
        }
    }
}

/// Says that a table has to wait for others.
pub(crate) fn busy() -> Markup {
    html! {
        p.note role="status" {
            strong { "Not sorted: " } "as many tables as may be are being sorted. Try again when one is done."
        }
    }
}
