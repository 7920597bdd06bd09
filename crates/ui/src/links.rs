//! Links between the screens.

use maud::{Markup, html};
use printable::Printable;
use weburl::CanonicalUrl;

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

/// Where else a URL is found: the live web, and the list of its site's URLs.
pub(crate) fn elsewhere(url: &CanonicalUrl) -> Markup {
    html! {
        p.actions {
            a href=(url.as_str()) rel="noreferrer noopener" target="_blank" { "Open in the live web" }
            " · "
            a href=(with_fields("/urls", &[("site", &url.site().to_string())])) { "URLs of its site" }
        }
    }
}

/// The URL that a page is about.
pub(crate) fn headed(url: &CanonicalUrl) -> Markup {
    html! { p { (story(url.as_str())) } }
}

/// The sites in trouble, if there are any: how many, and some of them with when each may be asked again, and why it is in trouble.
pub(crate) fn in_trouble<'a>(sites: u64, named: impl ExactSizeIterator<Item = (&'a str, String, &'a str)>) -> Markup {
    let more = sites.saturating_sub(named.len() as u64);
    html! {
        @if sites > 0 {
            section {
                h2 { "Sites in trouble " span.count { (sites) } }
                ul {
                    @for (site, due, reason) in named { li { (story(site)) " not before " (due) ": " (Printable(reason)) } }
                }
                @if more > 0 { p { "… " (more) " more: " a href=(with_fields("/sites", &[("sort", "state")])) { "sites by state" } "." } }
            }
        }
    }
}

/// The sites on hold, if there are any.
pub(crate) fn on_hold(sites: &[String]) -> Markup {
    html! {
        @if !sites.is_empty() {
            section { h2 { "On hold" } ul { @for site in sites { li { (story(site)) } } } }
        }
    }
}

/// Links shown in each direction; the others are counted.
const LINKS_SHOWN: usize = 200;

/// The links of a page in one direction.
#[derive(Default)]
pub(crate) struct Links {
    count: usize,
    /// The other end, and the text.
    shown: Vec<(String, Option<String>)>,
}

impl Links {
    /// Takes in a link by its other end and its text.
    pub(crate) fn add(&mut self, end: &str, text: Option<&str>) {
        self.count += 1;
        if self.shown.len() < LINKS_SHOWN {
            self.shown.push((end.to_owned(), text.map(str::to_owned)));
        }
    }

    /// The links below a title.
    pub(crate) fn list(&self, title: &str) -> Markup {
        html! {
            section {
                h2 { (title) " " span.count { (self.count) } }
                ul.links {
                    @for (url, text) in &self.shown {
                        li { (story(url)) @if let Some(text) = text { " “" (Printable(text)) "”" } }
                    }
                }
                @if self.count > self.shown.len() { p { "… " (self.count - self.shown.len()) " more" } }
            }
        }
    }
}

/// Hidden fields of a form.
pub(crate) fn hidden(name: &str, value: &str) -> Markup {
    html! { input type="hidden" name=(name) value=(value); }
}
