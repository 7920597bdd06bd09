//! Longer texts of the web as they are.

use maud::{Markup, html};
use printable::Printable;

/// Bytes of a text that are shown.
pub(crate) const SHOWN_BYTES_MAX: usize = 256 << 10;

/// A text with its lines and tabs below a title. Nothing of it becomes markup. A longer text ends at [`SHOWN_BYTES_MAX`], and the page says so.
pub(crate) fn verbatim(title: &str, text: &str) -> Markup {
    let shown = &text[..text.floor_char_boundary(SHOWN_BYTES_MAX)];
    html! {
        section {
            h2 { (title) }
            div.scroll role="region" aria-label=(title) tabindex="0" {
                pre.story {
                    @for line in shown.lines() {
                        @for (at, part) in line.split('\t').enumerate() {
                            @if at > 0 { "\t" }
                            (Printable(part))
                        }
                        "\n"
                    }
                }
            }
            @if shown.len() < text.len() {
                p { "The first " (shown.len()) " of " (text.len()) " bytes in UTF-8." }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_tabs_stay_and_nothing_is_markup() {
        let shown = verbatim("T", "<b>\r\n\ta\u{1b}[1mb\u{202e}").into_string();
        assert!(shown.contains("&lt;b&gt;\n\ta\\u{1b}[1mb\\u{202e}\n</pre>"), "{shown}");
        assert!(!shown.contains("The first"), "{shown}");
    }

    #[test]
    fn what_is_too_long_is_cut_between_characters() {
        let shown = verbatim("T", &"ä".repeat(SHOWN_BYTES_MAX)).into_string();
        assert_eq!(shown.matches('ä').count(), SHOWN_BYTES_MAX / 2);
        assert!(shown.contains(&format!("The first {SHOWN_BYTES_MAX} of {} bytes", 2 * SHOWN_BYTES_MAX)), "{shown}");
        let odd = verbatim("T", &format!("a{}", "ä".repeat(SHOWN_BYTES_MAX))).into_string();
        assert!(odd.contains(&format!("The first {} of", SHOWN_BYTES_MAX - 1)), "{odd}");
    }
}
