//! Links between the screens.

use std::collections::HashSet;

use maud::{Markup, html};
use printable::{Printable, counted};
use weburl::{CanonicalUrl, UrlKey};

use crate::query::{Fields, with_fields};

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

/// The sites on hold, if there are any: each with when a change of the journal put it on hold.
pub(crate) fn on_hold(sites: &[(&str, Option<&str>)]) -> Markup {
    html! {
        @if !sites.is_empty() {
            section {
                h2 { "On hold" }
                ul {
                    @for (site, since) in sites {
                        li {
                            (story(site))
                            @match since {
                                Some(at) => { ", held by a change at " time datetime=(at) { (at) } }
                                None => { ", held by the settings" }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// How many sites are in each state; all others of `sites` are active.
pub(crate) fn sites_by_state(sites: u64, others: &[(&str, u64)]) -> Markup {
    let active = sites.saturating_sub(others.iter().map(|(_, count)| count).sum());
    html! {
        section {
            h2 { "Sites by state" }
            table {
                thead { tr { th { "State" } th.number { "Sites" } } }
                tbody {
                    @for (state, count) in [("active", active)].iter().chain(others) {
                        tr { td { (state) } td.number { (count) } }
                    }
                }
            }
            p { a href=(with_fields("/sites", &[("sort", "state")])) { "Sites by state" } "." }
        }
    }
}

/// Links of a page shown at once in each direction.
const LINKS_SHOWN: usize = 200;

/// A direction of links.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// From the page to others.
    From,
    /// From others to the page.
    To,
}

impl Way {
    /// Its field of a request, which has how many links come before those that are shown.
    fn field(self) -> &'static str {
        match self {
            Way::From => "from",
            Way::To => "to",
        }
    }

    /// How many others there are at the other ends, in words.
    fn of_others(self, others: usize) -> String {
        match self {
            Way::From => format!("to {}", counted(others as u64, "other URL")),
            Way::To => format!("from {}", counted(others as u64, "other page")),
        }
    }

    fn title(self) -> &'static str {
        match self {
            Way::From => "Links from the page",
            Way::To => "Links to the page",
        }
    }
}

/// The links of a page in one direction, as many as are shown at once.
pub(crate) struct Links {
    way: Way,
    /// So many come before.
    behind: usize,
    count: usize,
    /// The other end, and the text.
    shown: Vec<(String, Option<String>)>,
    /// The other ends, as the report counts them: each once, and without redirects.
    ends: HashSet<UrlKey>,
}

/// The word for a link that a redirect makes.
const REDIRECT: &str = "redirect";

impl Links {
    /// None so far, of those that a request asks for.
    pub(crate) fn of(way: Way, fields: &Fields) -> Self {
        Links { way, behind: fields.behind(way.field()), count: 0, shown: Vec::new(), ends: HashSet::new() }
    }

    /// Takes in a link by its other end, its text and its kind.
    pub(crate) fn add(&mut self, end: &str, text: Option<&str>, kind: &str) {
        if self.count >= self.behind && self.shown.len() < LINKS_SHOWN {
            self.shown.push((end.to_owned(), text.map(str::to_owned)));
        }
        self.count += 1;
        self.ends.extend(CanonicalUrl::from_canonical(end).filter(|_| kind != REDIRECT).map(|end| end.key()));
    }

    /// How many others there are at the other ends of the links of a page.
    fn others(&self, page: &str) -> usize {
        let own = CanonicalUrl::from_canonical(page).map(|page| page.key());
        self.ends.iter().filter(|end| Some(**end) != own).count()
    }

    /// The links of the page `url`.
    pub(crate) fn list(&self, url: &str) -> Markup {
        let Links { way, behind, count, shown, .. } = self;
        let others = self.others(url);
        let end = behind + shown.len();
        let link = |behind: usize| {
            let link = with_fields("/url", &[("u", url), (way.field(), &behind.to_string())]);
            format!("{link}#links-{}", way.field())
        };
        html! {
            section id=(format!("links-{}", way.field())) {
                h2 { (way.title()) " " span.count { (count) } }
                @if others != *count { p.count { (way.of_others(others)) } }
                @if shown.len() < *count && !shown.is_empty() { p.count { (behind + 1) " to " (end) } }
                ul.links {
                    @for (url, text) in shown {
                        li { (story(url)) @if let Some(text) = text { " “" (Printable(text)) "”" } }
                    }
                }
                (before_and_more(*behind, end, *count, link))
            }
        }
    }
}

/// Leads to the links before those that are shown, from `behind` to `end`, and to more of them.
fn before_and_more(behind: usize, end: usize, count: usize, link: impl Fn(usize) -> String) -> Markup {
    html! {
        @if behind > 0 || end < count {
            p.actions {
                @if behind > 0 { a rel="prev" href=(link(behind.saturating_sub(LINKS_SHOWN))) { "Links before" } " " }
                @if end < count { a rel="next" href=(link(end)) { "More links" } }
            }
        }
    }
}

/// A list of links between two domains, as many as are shown at once.
pub(crate) struct Between<'a> {
    /// The field of a request that has how many links come before those that are shown. The list has its name on the page.
    pub(crate) field: &'static str,
    /// The pages of which the domains are.
    pub(crate) pages: [&'a str; 2],
    /// So many come before.
    pub(crate) behind: usize,
}

impl Between<'_> {
    /// The part of these links that is shown: both ends of each.
    pub(crate) fn list<E>(&self, edges: &[E], ends: impl Fn(&E) -> [&str; 2]) -> Markup {
        let Between { field, pages: [one, other], behind } = self;
        let shown = edges.iter().skip(*behind).take(LINKS_SHOWN);
        let end = behind.saturating_add(shown.len());
        let link = |behind: usize| {
            let fields = [("one", *one), ("other", *other), (*field, &behind.to_string())];
            format!("{}#links-{field}", with_fields("/graph/overlap", &fields))
        };
        html! {
            div id=(format!("links-{field}")) {
                @if shown.len() < edges.len() && shown.len() > 0 { p.count { (behind + 1) " to " (end) } }
                ul.links {
                    @for [source, target] in shown.map(ends) { li { (story(source)) " → " (story(target)) } }
                }
                (before_and_more(*behind, end, edges.len(), link))
            }
        }
    }
}

/// How much more a page shows when somebody asks for more.
const MORE_TIMES: usize = 10;

/// So many rows are shown of all: leads to the same page with more of them, up to the most that it can have.
pub(crate) fn more(path: &str, fields: &[(&str, &str)], shown: usize, all: u64, max: usize) -> Markup {
    let next = shown.max(1).saturating_mul(MORE_TIMES).min(max).to_string();
    let fields: Vec<(&str, &str)> = fields.iter().copied().chain([("limit", next.as_str())]).collect();
    html! {
        @if all > shown as u64 {
            p {
                (all - shown as u64) " more. "
                @if shown < max { a rel="next" href=(with_fields(path, &fields)) { "Show " (next) } } @else { "The page has the first " (max) "." }
            }
        }
    }
}

/// Hidden fields of a form.
pub(crate) fn hidden(name: &str, value: &str) -> Markup {
    html! { input type="hidden" name=(name) value=(value); }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_rows_are_a_link_away_up_to_the_most() {
        let shown = |shown, all| more("/search", &[("q", "a b")], shown, all, 1_000).into_string();
        assert_eq!(shown(7, 7), "");
        let link =
            |next| format!("<p>23 more. <a rel=\"next\" href=\"/search?q=a+b&amp;limit={next}\">Show {next}</a></p>");
        assert_eq!((shown(20, 43), shown(500, 523)), (link(200), link(1_000)));
        assert_eq!(shown(1_000, 1_023), "<p>23 more. The page has the first 1000.</p>");
    }

    #[test]
    fn all_links_between_two_domains_are_reached() {
        let edges: Vec<(String, String)> =
            (0..=2 * LINKS_SHOWN).map(|n| (format!("http://a.test/{n}"), format!("http://b.test/{n}"))).collect();
        let (mut behind, mut seen) = (0, 0);
        loop {
            let between = Between { field: "forth", pages: ["http://a.test/", "http://b.test/?x=1&y"], behind };
            let list = between.list(&edges, |(source, target)| [source, target]).into_string();
            seen += list.matches(" → ").count();
            assert_eq!(list.contains("rel=\"prev\""), behind > 0, "{list}");
            let Some((_, next)) = list.split_once("rel=\"next\" href=\"/graph/overlap?") else { break };
            let next = next.split('"').next().expect("an address").replace("&amp;", "&");
            let fields = Fields::parse(next.strip_suffix("#links-forth").expect("the place on the page"));
            assert_eq!((fields.get("one"), fields.get("other")), ("http://a.test/", "http://b.test/?x=1&y"));
            behind = fields.get("forth").parse().expect("a number");
        }
        assert_eq!(seen, edges.len());
    }

    #[test]
    fn the_others_are_counted_as_the_report_counts_them() {
        let mut links = Links::of(Way::To, &Fields::default());
        for (end, kind) in [("1", "anchor"), ("1", "canonical"), ("2", REDIRECT), ("", "anchor"), ("3", "anchor")] {
            links.add(&format!("http://a.test/{end}"), None, kind);
        }
        let list = links.list("http://a.test/").into_string();
        assert!(
            list.contains("<span class=\"count\">5</span></h2><p class=\"count\">from 2 other pages</p>"),
            "{list}"
        );
    }

    #[test]
    fn all_links_of_a_page_are_reached() {
        const LINKS: usize = 2 * LINKS_SHOWN + 1;
        let (mut seen, mut fields) = (Vec::new(), String::new());
        loop {
            let mut links = Links::of(Way::From, &Fields::parse(&fields));
            (0..LINKS).for_each(|n| links.add(&format!("http://a.test/{n}"), None, "anchor"));
            seen.extend(links.shown.iter().map(|(url, _)| url.clone()));
            let list = links.list("http://a.test/?x=1&y");
            let shown = list.into_string();
            assert!(shown.contains(&format!("Links from the page <span class=\"count\">{LINKS}</span>")), "{shown}");
            assert_eq!(shown.contains("rel=\"prev\""), !fields.is_empty(), "{shown}");
            let Some((_, next)) = shown.split_once("rel=\"next\" href=\"/url?") else { break };
            let next = next.split('"').next().expect("an address").replace("&amp;", "&");
            fields = next.strip_suffix("#links-from").expect("the place on the page").to_owned();
            assert!(fields.starts_with("u=http%3A%2F%2Fa.test%2F%3Fx%3D1%26y&from="), "{fields}");
        }
        assert_eq!(seen, (0..LINKS).map(|n| format!("http://a.test/{n}")).collect::<Vec<_>>());
        let mut beyond = Links::of(Way::To, &Fields::parse("to=99"));
        beyond.add("http://a.test/", None, "anchor");
        let shown = beyond.list("http://a.test/").into_string();
        assert!(shown.contains("Links before") && !shown.contains("More links"), "{shown}");
    }
}
