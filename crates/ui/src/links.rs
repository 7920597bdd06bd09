//! Links between the screens.

use maud::{Markup, html};
use printable::Printable;

use crate::query::with_fields;

/// A URL that leads to its story.
pub(crate) fn story(url: &str) -> Markup {
    html! { a.url href=(with_fields("/url", &[("u", url)])) { (Printable(url)) } }
}

/// A text in which URLs of the web lead to their stories.
pub(crate) fn told(text: &str) -> Markup {
    html! {
        @for word in text.split_inclusive([' ', '\n']) {
            @let bare = word.trim_end_matches([' ', '\n', ',', ';', ':', ')', '"']);
            @if bare.starts_with("http://") || bare.starts_with("https://") {
                (story(bare)) (word.get(bare.len()..).unwrap_or_default())
            } @else {
                (word)
            }
        }
    }
}

/// Hidden fields of a form.
pub(crate) fn hidden(name: &str, value: &str) -> Markup {
    html! { input type="hidden" name=(name) value=(value); }
}
