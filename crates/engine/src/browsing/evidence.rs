//! What speaks for showing a page in a browser.

use std::collections::HashMap;

use extract::Scripting;
use extract::parts::Parts;
use model::Shown;
use weburl::{CanonicalUrl, SiteKey};

/// A page with less text than this has not much to show, and text is a gain from here on.
pub(crate) const TEXT_CHARS_MIN: u64 = 200;
/// Pages of a pattern that are shown to see what that brings.
const SAMPLES_PER_PATTERN: u32 = 3;
/// Samples of a site that had a mark and gained nothing: from then on it promises nothing.
const FRUITLESS_MAX: u32 = 3;
/// Pages of a site that are shown although none of their marks promises anything, each of another pattern: a mark does not tell all.
const UNPROMISING_SAMPLES_PER_SITE: u32 = 3;
/// Pages of a site that are shown to see what that brings.
const SAMPLES_PER_SITE: u32 = 50;
/// Patterns, and marks of sites, that are remembered; all are forgotten when there are more. A mark takes some 20 bytes.
const PATTERNS_MAX: usize = 100_000;
const MARKS_MAX: usize = 1_000_000;

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

/// What was seen of pages that have parts for scripts to fill: by the patterns of their URLs, and by the marks of what they have.
///
/// Patterns tell pages apart whose scripts do different things. Marks tell that pages with different patterns are made with one template, of which
/// enough was seen, and that a page has something of its own.
#[derive(Default)]
pub(super) struct Samples {
    patterns: HashMap<String, Pattern>,
    sites: HashMap<SiteKey, Site>,
    marks: usize,
}

#[derive(Default)]
struct Pattern {
    samples: u32,
    /// The marks that all samples had which gained.
    gained: Option<Box<[u64]>>,
}

#[derive(Default)]
struct Site {
    samples: u32,
    unpromising_samples: u32,
    /// How many samples had a mark and gained nothing.
    fruitless: HashMap<u64, u32>,
}

impl Site {
    fn promises(&self, mark: u64) -> bool {
        self.fruitless.get(&mark).is_none_or(|fruitless| *fruitless < FRUITLESS_MAX)
    }

    fn has_promise(&self, marks: &[u64]) -> bool {
        marks.iter().any(|mark| self.promises(*mark))
    }
}

impl Samples {
    /// What other pages of its site say of a page.
    pub(super) fn evidence(&mut self, scripting: Scripting, parts: &Parts, url: &CanonicalUrl) -> Option<Evidence> {
        if !(scripting.is_active && parts.are_to_fill) {
            return None;
        }
        if self.patterns.len() >= PATTERNS_MAX || self.marks >= MARKS_MAX {
            *self = Samples::default();
        }
        let pattern = self.patterns.entry(pattern(url)).or_default();
        let site = self.sites.entry(url.site().key()).or_default();
        let has_promise = site.has_promise(&parts.marks);
        // If marks do not tell why pages of the pattern gained, any page of it may.
        if pattern.gained.as_ref().is_some_and(|gained| has_promise || !site.has_promise(gained)) {
            return Some(Evidence::Others);
        }
        if site.samples >= SAMPLES_PER_SITE {
            return None;
        }
        if has_promise {
            let is_new = parts.marks.iter().any(|mark| !site.fruitless.contains_key(mark));
            if pattern.samples >= SAMPLES_PER_PATTERN && !is_new {
                return None;
            }
        } else {
            if pattern.samples > 0 || site.unpromising_samples >= UNPROMISING_SAMPLES_PER_SITE {
                return None;
            }
            site.unpromising_samples += 1;
        }
        pattern.samples += 1;
        site.samples += 1;
        let known = site.fruitless.len();
        parts.marks.iter().for_each(|mark| _ = site.fruitless.entry(*mark).or_default());
        self.marks += site.fruitless.len() - known;
        Some(Evidence::Sample)
    }

    /// Takes note of what a sample showed only in the browser; `None` if it was not shown, which tells nothing.
    pub(super) fn learn(&mut self, url: &CanonicalUrl, parts: &Parts, gained: Option<Shown>) {
        let Some(gained) = gained else { return };
        if gained.links > 0 || gained.text_chars >= TEXT_CHARS_MIN {
            let before = &mut self.patterns.entry(pattern(url)).or_default().gained;
            let is_common = |mark: &u64| before.as_ref().is_none_or(|before| before.contains(mark));
            *before = Some(parts.marks.iter().copied().filter(is_common).collect());
        } else if let Some(site) = self.sites.get_mut(&url.site().key()) {
            for mark in &parts.marks {
                site.fruitless.entry(*mark).and_modify(|fruitless| *fruitless += 1);
            }
        }
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

    const ACTIVE: Scripting = Scripting { is_active: true, has_empty_root: false };
    const NOTHING: Option<Shown> = Some(Shown { links: 0, text_chars: TEXT_CHARS_MIN - 1 });
    const LINK: Option<Shown> = Some(Shown { links: 1, text_chars: 0 });

    fn page(dir: &str, n: u32) -> CanonicalUrl {
        url(&format!("http://a.test/{dir}/p{n}"))
    }

    /// Parts with these marks.
    fn parts(marks: &[u64]) -> Parts {
        Parts { are_to_fill: true, marks: marks.into() }
    }

    /// What is decided about a page, and learnt if it is shown.
    fn see(samples: &mut Samples, dir: &str, n: u32, marks: &[u64], gained: Option<Shown>) -> Option<Evidence> {
        let evidence = samples.evidence(ACTIVE, &parts(marks), &page(dir, n));
        if evidence == Some(Evidence::Sample) {
            samples.learn(&page(dir, n), &parts(marks), gained);
        }
        evidence
    }

    #[test]
    fn a_pattern_is_sampled_and_shown_if_that_gains() {
        let mut samples = Samples::default();
        assert_eq!(samples.evidence(ACTIVE, &Parts::default(), &page("a", 0)), None);
        assert_eq!(samples.evidence(Scripting::default(), &parts(&[1]), &page("a", 0)), None);
        for n in 0..3 {
            assert_eq!(see(&mut samples, "a", n, &[1], NOTHING), Some(Evidence::Sample));
        }
        assert_eq!(see(&mut samples, "a", 3, &[1], NOTHING), None);
        assert_eq!(see(&mut samples, "b", 0, &[2], LINK), Some(Evidence::Sample));
        for n in 1..9 {
            assert_eq!(see(&mut samples, "b", n, &[2], LINK), Some(Evidence::Others));
        }
    }

    #[test]
    fn what_was_not_shown_tells_nothing() {
        let mut samples = Samples::default();
        for n in 0..3 {
            assert_eq!(see(&mut samples, "a", n, &[1], None), Some(Evidence::Sample));
        }
        assert_eq!(see(&mut samples, "a", 3, &[1], None), None, "the pattern had its samples");
        assert_eq!(see(&mut samples, "b", 0, &[1], NOTHING), Some(Evidence::Sample));
        assert_eq!(
            see(&mut samples, "b", 1, &[1], NOTHING),
            Some(Evidence::Sample),
            "the mark still promises something"
        );
    }

    #[test]
    fn a_site_of_one_template_is_sampled_as_a_whole() {
        let mut samples = Samples::default();
        let dirs: Vec<String> = (0..100).map(|n| ["x", "y"][n % 2].repeat(n + 1)).collect();
        let seen = |samples: &mut Samples, n| {
            dirs.iter().filter(|dir| see(samples, dir, n, &[1, 2], NOTHING).is_some()).count()
        };
        let most = FRUITLESS_MAX + UNPROMISING_SAMPLES_PER_SITE;
        assert_eq!((seen(&mut samples, 0), seen(&mut samples, 1)), (most as usize, 0));
        let other = url("http://b.test/a/p1");
        assert_eq!(samples.evidence(ACTIVE, &parts(&[1, 2]), &other), Some(Evidence::Sample), "of another site");
    }

    #[test]
    fn a_page_with_something_of_its_own_is_a_sample() {
        let mut samples = Samples::default();
        let seen = (0..20).filter(|n| see(&mut samples, "a", *n, &[1, 2], NOTHING).is_some()).count();
        assert_eq!(seen, 3);
        assert_eq!(
            see(&mut samples, "a", 20, &[1, 2, 3], LINK),
            Some(Evidence::Sample),
            "although its pattern had three"
        );
        assert_eq!(see(&mut samples, "a", 21, &[1, 2, 3], LINK), Some(Evidence::Others));
        assert_eq!(see(&mut samples, "a", 22, &[1, 2], NOTHING), None, "it lacks what gained");
        let varied = (100..300).filter(|n| see(&mut samples, "b", *n, &[1, u64::from(*n)], NOTHING).is_some()).count();
        assert_eq!(varied as u32, SAMPLES_PER_SITE - 4);
    }

    #[test]
    fn a_gain_without_a_mark_of_its_own_is_one_of_the_pattern() {
        let mut samples = Samples::default();
        assert_eq!(see(&mut samples, "a", 0, &[1], LINK), Some(Evidence::Sample));
        for n in 0..3 {
            assert_eq!(see(&mut samples, "b", n, &[1], NOTHING), Some(Evidence::Sample));
        }
        assert_eq!(see(&mut samples, "b", 3, &[1], NOTHING), None);
        assert_eq!(see(&mut samples, "a", 1, &[1], LINK), Some(Evidence::Others));
        assert_eq!(see(&mut samples, "c", 0, &[1], LINK), Some(Evidence::Sample), "one of each pattern, a few times");
        assert_eq!(see(&mut samples, "c", 1, &[1], LINK), Some(Evidence::Others));
    }

    #[test]
    fn samples_that_gain_for_different_reasons_leave_none() {
        let mut samples = Samples::default();
        // Both are chosen before anything is known.
        for marks in [[1, 2], [1, 3]] {
            assert_eq!(samples.evidence(ACTIVE, &parts(&marks), &page("a", 0)), Some(Evidence::Sample));
        }
        for marks in [[1, 2], [1, 3]] {
            samples.learn(&page("a", 0), &parts(&marks), LINK);
        }
        for n in 0..3 {
            assert_eq!(see(&mut samples, "b", n, &[1], NOTHING), Some(Evidence::Sample));
        }
        assert_eq!(see(&mut samples, "a", 1, &[1], LINK), Some(Evidence::Others));
    }

    #[test]
    fn what_is_remembered_is_limited() {
        let mut samples = Samples::default();
        let marks: Vec<u64> = (0..MARKS_MAX as u64).collect();
        assert_eq!(see(&mut samples, "a", 0, &marks, NOTHING), Some(Evidence::Sample));
        assert_eq!(see(&mut samples, "a", 1, &[1], NOTHING), Some(Evidence::Sample));
        assert_eq!(samples.marks, 1);
    }
}
