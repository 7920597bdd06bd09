//! What speaks for showing a page in a browser.

use std::collections::HashMap;

use extract::Scripting;
use model::Shown;
use weburl::{CanonicalUrl, SiteKey};

/// A page with less text than this has not much to show, and text is a gain from here on.
pub(crate) const TEXT_CHARS_MIN: u64 = 200;
/// Pages of a pattern that are shown to see what that brings.
const SAMPLES_PER_PATTERN: u32 = 3;
/// Pages of a site that are shown for that, whatever their patterns.
const SAMPLES_PER_SITE: u32 = 50;
/// Patterns that are remembered; all are forgotten when there are more.
const PATTERNS_MAX: usize = 100_000;

/// What speaks for showing a page in a browser.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Evidence {
    /// All pages are.
    Asked,
    /// Its URL has a hash route.
    Route,
    EmptyRoot,
    OnlyScripts,
    LittleText,
    Sample,
    /// Others of its pattern showed more.
    Others,
}

impl Evidence {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Evidence::Asked => "asked for",
            Evidence::Route => "a hash route",
            Evidence::EmptyRoot => "the empty root of an application",
            Evidence::OnlyScripts => "nothing but scripts",
            Evidence::LittleText => "scripts and little text",
            Evidence::Sample => "a sample of pages like it",
            Evidence::Others => "pages like it showed more",
        }
    }

    /// Whether there is nothing to a page but what its scripts will show.
    pub(super) fn is_application(self) -> bool {
        matches!(self, Evidence::EmptyRoot | Evidence::OnlyScripts)
    }

    /// What a page says of itself.
    pub(super) fn of(scripting: Scripting, shown: Shown) -> Option<Self> {
        match shown.text_chars {
            _ if !scripting.is_active => None,
            _ if scripting.has_empty_root => Some(Evidence::EmptyRoot),
            0 => Some(Evidence::OnlyScripts),
            chars if chars < TEXT_CHARS_MIN => Some(Evidence::LittleText),
            _ => None,
        }
    }
}

/// What was seen of pages that have parts for scripts to fill, by the pattern of their URLs.
#[derive(Default)]
pub(super) struct Samples {
    patterns: HashMap<String, Pattern>,
    of_site: HashMap<SiteKey, u32>,
}

#[derive(Default)]
struct Pattern {
    samples: u32,
    has_gained: bool,
}

impl Samples {
    /// What pages of the pattern of a URL say of another one.
    pub(super) fn evidence(&mut self, scripting: Scripting, url: &CanonicalUrl) -> Option<Evidence> {
        if !(scripting.is_active && scripting.has_parts_to_fill) {
            return None;
        }
        if self.patterns.len() >= PATTERNS_MAX {
            *self = Samples::default();
        }
        let pattern = self.patterns.entry(pattern(url)).or_default();
        if pattern.has_gained {
            return Some(Evidence::Others);
        }
        let of_site = self.of_site.entry(url.site().key()).or_default();
        if pattern.samples >= SAMPLES_PER_PATTERN || *of_site >= SAMPLES_PER_SITE {
            return None;
        }
        pattern.samples += 1;
        *of_site += 1;
        Some(Evidence::Sample)
    }

    /// Takes note of what a sample showed only in the browser.
    pub(super) fn learn(&mut self, url: &CanonicalUrl, gained: Option<Shown>) {
        let has_gained = gained.is_some_and(|gained| gained.links > 0 || gained.text_chars >= TEXT_CHARS_MIN);
        self.patterns.entry(pattern(url)).or_default().has_gained |= has_gained;
    }
}

/// What a URL has in common with those of pages made the same way: its site, its directories, those with digits in their
/// names taken for one, and the ending of its last name.
fn pattern(url: &CanonicalUrl) -> String {
    let mut pattern = url.site().to_string();
    let path = url.path_and_query();
    let (path, query) = path.split_once('?').map_or((path, None), |(path, query)| (path, Some(query)));
    let mut names = path.split('/').skip(1).peekable();
    while let Some(name) = names.next() {
        pattern.push('/');
        if names.peek().is_some() {
            pattern.push_str(if name.contains(|c: char| c.is_ascii_digit()) { "*" } else { name });
        } else if !name.is_empty() {
            pattern.push('*');
            pattern.push_str(url.path_extension().unwrap_or_default());
        }
    }
    for field in query.unwrap_or_default().split('&').filter(|field| !field.is_empty()) {
        pattern.push('?');
        pattern.push_str(field.split('=').next().unwrap_or_default());
    }
    pattern
}

#[cfg(test)]
mod tests {
    use weburl::CanonicalRules;

    use super::*;

    fn url(text: &str) -> CanonicalUrl {
        CanonicalUrl::parse(text, &CanonicalRules::default()).unwrap()
    }

    #[test]
    fn scripts_without_content_are_evidence() {
        let check = |html: &str, expect| {
            let page = extract::html::extract(html.as_bytes(), None, &extract::Limits::default());
            let shown = Shown { links: 0, text_chars: page.text.chars().count() as u64 };
            assert_eq!(Evidence::of(page.scripting, shown), expect, "{html}");
        };
        let long = "Words that are there without any script. ".repeat(10);
        check("<p>short", None);
        check("<script src=/app.js></script>", Some(Evidence::OnlyScripts));
        check("<p>Loading</p><script>x()</script>", Some(Evidence::LittleText));
        check("<iframe srcdoc='<a href=/x>x</a>'></iframe>", Some(Evidence::OnlyScripts));
        check("<p onclick=\"location='/x'\">go</p>", Some(Evidence::LittleText));
        check(&format!("<script src=/doctools.js></script><p>{long}"), None);
        check(
            &format!("<DIV id=\"app\"></DIV><noscript>{long}</noscript><script></script><p>{long}"),
            Some(Evidence::EmptyRoot),
        );
    }

    #[test]
    fn patterns_are_of_pages_made_the_same_way() {
        for (of, expect) in [
            ("http://a.test/", "http://a.test/"),
            ("http://a.test/about", "http://a.test/*"),
            ("http://a.test/blog/2026/hello", "http://a.test/blog/*/*"),
            ("http://a.test/shop/", "http://a.test/shop/"),
            ("http://a.test/x/page7.html?id=3&lang=en", "http://a.test/x/*html?id?lang"),
        ] {
            assert_eq!(pattern(&url(of)), expect);
        }
    }

    #[test]
    fn a_pattern_is_sampled_and_shown_if_that_gains() {
        let parts = Scripting { is_active: true, has_parts_to_fill: true, has_empty_root: false };
        let mut samples = Samples::default();
        let page = |n: u32, dir: &str| url(&format!("http://a.test/{dir}/p{n}"));
        assert_eq!(samples.evidence(Scripting { is_active: true, ..Scripting::default() }, &page(0, "a")), None);
        for n in 0..3 {
            assert_eq!(samples.evidence(parts, &page(n, "a")), Some(Evidence::Sample));
            samples.learn(&page(n, "a"), Some(Shown { links: 0, text_chars: TEXT_CHARS_MIN - 1 }));
        }
        assert_eq!(samples.evidence(parts, &page(3, "a")), None);
        assert_eq!(samples.evidence(parts, &page(0, "b")), Some(Evidence::Sample));
        samples.learn(&page(0, "b"), None);
        samples.learn(&page(0, "b"), Some(Shown { links: 1, text_chars: 0 }));
        assert_eq!(samples.evidence(parts, &page(1, "b")), Some(Evidence::Others));
        let dirs: Vec<String> = (0..100).map(|n| format!("dir{}", ["x", "y"][n % 2].repeat(n))).collect();
        let of_site = dirs.iter().filter(|dir| samples.evidence(parts, &page(0, dir)).is_some()).count();
        assert_eq!(of_site as u32, SAMPLES_PER_SITE - 4);
    }
}
