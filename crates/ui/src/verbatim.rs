//! Longer texts of the web as they are.

use ask::page::Text;
use maud::{Markup, html};
use printable::Printable;

/// A text with its lines and tabs below a title. Nothing of it becomes markup. Of a text that is cut, the page says so.
pub(crate) fn verbatim(title: &str, Text { text, is_cut }: &Text) -> Markup {
    html! {
        section {
            h2 { (title) }
            div.scroll role="region" aria-label=(title) tabindex="0" {
                pre.story {
                    @for line in text.lines() {
                        @for (at, part) in line.split('\t').enumerate() {
                            @if at > 0 { "\t" }
                            (Printable(part))
                        }
                        "\n"
                    }
                }
            }
            @if *is_cut { p { "The first " (text.len()) " bytes in UTF-8; there is more." } }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_tabs_stay_and_nothing_is_markup() {
        let text = "<b>\r\n\ta\u{1b}[1mb\u{202e}";
        let shown = |is_cut| verbatim("T", &Text { text: text.to_owned(), is_cut }).into_string();
        let whole = shown(false);
        assert!(whole.contains("&lt;b&gt;\n\ta\\u{1b}[1mb\\u{202e}\n</pre>"), "{whole}");
        assert!(!whole.contains("The first"), "{whole}");
        let cut = shown(true);
        assert!(cut.contains(&format!("The first {} bytes in UTF-8; there is more.", text.len())), "{cut}");
    }
}
