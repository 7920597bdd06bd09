//! Whole crawls of made-up sites: generators end, and no page of a site that is as real ones are is lost.

use std::collections::BTreeMap;
use std::ops::Bound;

use foldhash::HashSet;
use model::{Outcome, Position, Queued, SiteRecord, Timestamp, Via};
use robots::RobotsTxt;
use weburl::{CanonicalRules, Site};

mod sites;

use self::sites::{
    articles, binary_tree, chapters, documentation, documents, forum, gallery, listing, newspaper, pager, stories,
    ternary_tree, tree, wide, wiki,
};
use super::*;
use crate::hashing::mixed;
use crate::{Features, Next, Novelty, Politeness, RobotsState, SiteRules, SiteState};

/// URLs read of the queue at once.
const QUEUE_WINDOW: usize = 64;

/// A page: where its links lead, and which text it has.
type Page = (Vec<String>, u64);

/// What came of a crawl.
#[derive(Debug, Default)]
struct Crawled {
    fetched: HashSet<String>,
    /// URLs that ended as a trap.
    trapped: Vec<String>,
    reason: String,
    /// It did not end.
    is_cut: bool,
}

/// A crawl of one site, as the engine does it.
struct Crawl<'a> {
    page: &'a dyn Fn(&str) -> Page,
    rules: SiteRules,
    site: SiteState,
    queue: BTreeMap<Position, Queued>,
    known: HashSet<u64>,
    yields: Yields,
    novelty: Novelty,
    crawled: Crawled,
}

fn url(path: &str) -> CanonicalUrl {
    CanonicalUrl::parse(&format!("http://a.test{path}"), &CanonicalRules::default()).expect("a path")
}

fn site_rules(traps: TrapRules) -> SiteRules {
    let politeness = Politeness::default();
    SiteRules { politeness, traps, matching: None, pages_per_site_max: None, sitemaps_per_site_max: 0 }
}

/// Crawls from `/`, but for no more than so many pages.
fn crawl(traps: &TrapRules, pages_max: usize, page: &dyn Fn(&str) -> Page) -> Crawled {
    crawl_on(SiteRecord::new(Site::from_text("http://a.test").expect("a site")), traps, pages_max, page)
}

fn crawl_on(record: SiteRecord, traps: &TrapRules, pages_max: usize, page: &dyn Fn(&str) -> Page) -> Crawled {
    let mut site = SiteState::new(record);
    site.set_robots(RobotsState::Known { rules: RobotsTxt::allow_all(), expires_at: Timestamp(u64::MAX) });
    let (rules, yields) = (site_rules(traps.clone()), Yields::new(traps));
    let (queue, known, crawled) = (BTreeMap::new(), HashSet::default(), Crawled::default());
    let novelty = Novelty::default();
    let mut crawl = Crawl { page, rules, site, queue, known, yields, novelty, crawled };
    crawl.find(Candidate::seed(url("/")));
    while !crawl.site.is_finished() {
        if crawl.crawled.fetched.len() >= pages_max {
            crawl.crawled.is_cut = true;
            break;
        }
        crawl.go_on();
    }
    crawl.crawled
}

impl Crawl<'_> {
    fn find(&mut self, candidate: Candidate) -> bool {
        let is_fresh = self.known.insert(candidate.url.key().url);
        if is_fresh {
            let queued = Queued::first(candidate);
            self.queue.insert(queued.candidate.position(), queued.clone());
            self.site.insert(queued, QUEUE_WINDOW);
        }
        is_fresh
    }

    fn go_on(&mut self) {
        self.site.begin_sweep(Timestamp::default(), &self.rules.politeness);
        if self.site.wants_load(QUEUE_WINDOW) {
            let after = self.site.loaded_to().map_or(Bound::Unbounded, Bound::Excluded);
            let mut behind = self.queue.range((after, Bound::Unbounded)).map(|(_, queued)| queued.clone());
            let read: Vec<Queued> = behind.by_ref().take(QUEUE_WINDOW).collect();
            let all = behind.next().is_none();
            self.site.loaded(read, all);
        }
        match self.site.next(&self.rules, Timestamp::default()) {
            Next::Fetch(queued) => self.fetch(&queued.candidate),
            Next::Settle(queued, settled) => {
                assert_eq!(settled.outcome, Outcome::Trap);
                self.crawled.trapped.push(queued.candidate.url.path_and_query().to_owned());
                self.crawled.reason = settled.reason;
                self.end(&queued.candidate);
            }
            _ => {}
        }
    }

    fn fetch(&mut self, candidate: &Candidate) {
        let path = candidate.url.path_and_query();
        assert!(self.crawled.fetched.insert(path.to_owned()), "{path} is fetched again");
        let (links, text) = (self.page)(path);
        let is_watched = self.crawled.fetched.len() > self.rules.traps.low_yield_window as usize / 2;
        let (novelty, traps) = (&mut self.novelty, &self.rules.traps);
        let shape = traps.shape(&candidate.url);
        let leads_on = shape.is_some() && links.iter().any(|link| traps.shape(&url(link)) == shape);
        let features = (is_watched || shape.is_some()).then(|| Features {
            leads_on,
            payload: payload(path, &links, text),
            ..features(text)
        });
        let shows = self.site.judge_novelty(candidate, shape, features, novelty, traps);
        let mut brought = Brought::nothing(&candidate.url, shows);
        let mut seen = HashSet::default();
        for link in links.iter().map(|link| url(link)).filter(|link| seen.insert(link.key())) {
            let (depth, found_on) = (candidate.depth + 1, Some(candidate.url.key()));
            let found = Candidate { depth, found_on, via: Via::Link, ..Candidate::seed(link.clone()) };
            let is_fresh = self.find(found);
            if is_fresh {
                brought.add(&candidate.url, &link);
            }
            if is_watched {
                self.yields.link(candidate, &link, is_fresh);
            }
        }
        if is_watched {
            for (group, turns_out) in self.yields.ended(candidate, &brought, &self.rules.traps) {
                self.site.heed_yield(group, turns_out);
            }
        }
        self.end(candidate);
    }

    fn end(&mut self, candidate: &Candidate) {
        self.queue.remove(&candidate.position());
        self.site.committed(candidate.url.key().url);
    }
}

/// A number that follows from some others, as if drawn.
fn drawn(of: &str, n: usize) -> u64 {
    url(&format!("/{n}{of}")).key().url
}

fn below(max: usize, of: &str, n: usize) -> usize {
    usize::try_from(drawn(of, n) % max as u64).expect("a small number")
}

/// A page with a text of its own.
fn page(path: &str, links: Vec<String>) -> Page {
    (links, drawn(path, 0))
}

/// The number in a path such as `/a/12`.
fn number(path: &str, before: &str) -> Option<usize> {
    path.strip_prefix(before)?.parse().ok()
}

/// What is in a text of that number. A page of few words has 0.
fn features(text: u64) -> Features {
    const PASSAGES: u32 = 20;
    if text == 0 {
        return Features { passages: vec![1, 2], passages_count: 2, words: Some(1), ..Features::default() };
    }
    let mut passages: Vec<u32> = (0..PASSAGES).map(|n| (text >> 32) as u32 ^ (text as u32).wrapping_add(n)).collect();
    passages.sort_unstable();
    let words = Some((mixed(text) >> 32) as u32);
    Features { passages, passages_count: PASSAGES, words, ..Features::default() }
}

/// The mark of a page with these links, which are relative to it, and this text. Pages of few words have numbers besides.
fn payload(path: &str, links: &[String], text: u64) -> Option<u32> {
    let relative = |link: &String| drawn(link.strip_prefix(path).unwrap_or(link), 0);
    (text > 0).then(|| (links.iter().fold(text, |mark, link| mixed(mark ^ relative(link))) >> 32) as u32)
}

/// So many links to ever new pages.
fn random(path: &str, directory: &str, links: usize) -> Vec<String> {
    (0..links).map(|n| format!("{directory}{}", drawn(path, n))).collect()
}

/// Links to the pages that all pages of the site link to, which lead nowhere else.
fn navigation() -> impl Iterator<Item = String> {
    (0..20).map(|n| format!("/about/{n}"))
}

fn is_navigation(path: &str) -> bool {
    path.starts_with("/about/")
}

#[test]
fn what_a_page_brings_is_counted_for_its_groups() {
    let paths =
        ["/", "/a/", "/a/x", "/a/b/x", "/a/b/y", "/a/b/c/d/e/x", "/a/b/c/d/f/", "/a?x=1", "/a?y=1&x=2", "/a?x=2&y"];
    for (page, found) in paths.iter().flat_map(|page| paths.map(|found| (url(page), url(found)))) {
        let mut brought = Brought::nothing(&page, Shows::default());
        brought.add(&page, &found);
        let expect: Vec<u32> = groups_of(&page).map(|group| u32::from(group.contains(&found))).collect();
        assert_eq!(brought.within[..expect.len()], expect, "{page} {found}");
        assert_eq!(brought.within[expect.len()..].iter().sum::<u32>(), 0);
    }
}

fn endless_random(path: &str) -> Page {
    page(path, random(path, "/r/", 5))
}

fn endless_wide(path: &str) -> Page {
    page(path, random(path, "/r/", 40))
}

fn endless_two(path: &str) -> Page {
    page(path, random(path, "/", 2))
}

fn endless_parameters(path: &str) -> Page {
    page(path, random(path, "/show?item=", 4))
}

fn endless_with_navigation_and_parent(path: &str) -> Page {
    if is_navigation(path) {
        return page(path, navigation().collect());
    }
    // The page knows where it was found, which a path without memory shows by its own end.
    let own = path.strip_prefix("/r/").unwrap_or_default();
    let parent = own.rsplit_once('.').map(|(parent, _)| format!("/r/{parent}"));
    let links = (0..4).map(|n| format!("/r/{own}.{n}"));
    page(path, links.chain(parent).chain(navigation()).collect())
}

fn endless_nested(path: &str) -> Page {
    nested(path, "/")
}

/// Directories in directories without end, with links to all that they lie in, up to the first.
fn nested(path: &str, first: &str) -> Page {
    const WORDS: [&str; 7] = ["red", "green", "blue", "large", "small", "new", "old"];
    let down = (0..4).map(|n| format!("{path}{}/", WORDS[below(7, path, n)]));
    let up = path.match_indices('/').map(|(at, _)| path[..=at].to_owned()).filter(|up| up.starts_with(first));
    page(path, down.chain(up).collect())
}

fn endless_nested_below(path: &str) -> Page {
    if path == "/" { page(path, vec!["/a/b/".to_owned()]) } else { nested(path, "/a/b/") }
}

/// A few pages below each other without end: their links are relative.
fn endless_mirror(path: &str) -> Page {
    const PAGES: [&str; 5] = ["about", "news", "team", "jobs", "faq"];
    let own = path.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
    (PAGES.map(|page| format!("{path}{page}/")).into(), drawn(own, 0))
}

fn endless_calendar(path: &str) -> Page {
    let day = number(path, "/day/").unwrap_or(1 << 40);
    (vec![format!("/day/{}", day - 1), format!("/day/{}", day + 1)], 7 << (day % 3))
}

/// A pager whose pages all say the same: each links to the pages at these distances from it.
fn endless_pager(path: &str, distances: &[i64]) -> Page {
    let n = number(path, "/page/").map_or(1 << 30, |n| i64::try_from(n).expect("a number"));
    (distances.iter().map(|distance| format!("/page/{}", n + distance)).collect(), 1)
}

#[test]
fn a_pager_whose_pages_link_to_several_of_the_next_ends() {
    for distances in [
        &[1, 2][..],
        &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10],
        &[10],
        &[1, 10],
        &[-1, 1, 2],
        &[-3, -2, -1, 1, 2, 3],
        &[1, 2, -(1 << 30)],
    ] {
        let crawled = crawl(&TrapRules::default(), 20_000, &|path| endless_pager(path, distances));
        let fetched = crawled.fetched.len();
        println!("{distances:?}: {fetched} fetched, {} trapped", crawled.trapped.len());
        assert!(!crawled.is_cut && fetched <= 6_500, "{distances:?}: {fetched} {}", crawled.reason);
        assert!(crawled.reason.starts_with("/page/ brings"), "{distances:?}: {}", crawled.reason);
    }
    // One with texts of its own ends as a story in chapters does.
    let traps = TrapRules { low_yield_pages_max: 400, low_yield_window: 100, ..TrapRules::default() };
    let crawled = crawl(&traps, 10_000, &|path| page(path, endless_pager(path, &[1, 2]).0));
    assert!(!crawled.is_cut && (4_000..4_600).contains(&crawled.fetched.len()), "{}", crawled.fetched.len());
}

#[test]
fn a_generator_ends() {
    let traps = TrapRules::default();
    for (page, name, of_group, more_max) in [
        (&endless_random as &dyn Fn(&str) -> Page, "random", "/r/", 0),
        (&endless_wide, "wide", "/r/", 2_500),
        (&endless_two, "two", "/", 0),
        (&endless_parameters, "parameters", "/show?item", 0),
        (&endless_with_navigation_and_parent, "navigation", "/r/", 1_500),
        (&endless_nested, "nested", "/*", 11_000),
        (&endless_nested_below, "nested below", "/a/b/*", 2_500),
        (&endless_calendar, "calendar", "/day/", 0),
        (&endless_mirror, "mirror", "/*", 0),
    ] {
        let crawled = crawl(&traps, 20_000, page);
        let (fetched, max) = (crawled.fetched.len(), 6_000 + more_max);
        println!("{name}: {fetched} fetched, {} trapped", crawled.trapped.len());
        assert!(!crawled.is_cut && !crawled.trapped.is_empty() && fetched <= max, "{name}: {fetched}");
        assert_eq!(crawled.reason, format!("{of_group} brings only more of itself: more than 4000 pages"), "{name}");
    }
}

#[test]
fn a_generator_that_neither_grows_nor_repeats_itself_ends_too() {
    let endless_chain = |path: &str| page(path, vec![format!("/n/{}", number(path, "/n/").unwrap_or(0) + 1)]);
    let traps = TrapRules { low_yield_pages_max: 400, low_yield_window: 100, ..TrapRules::default() };
    let crawled = crawl(&traps, 10_000, &endless_chain);
    assert!(!crawled.is_cut && (4_000..4_500).contains(&crawled.fetched.len()), "{}", crawled.fetched.len());
}

/// So many links to ever new pages, of which some lead on and the others nowhere.
fn endless_with_leaves(path: &str, links: usize, leading_on: usize) -> Page {
    let link = |n: usize| format!("/r/{}{}", drawn(path, n), if n < leading_on { "+" } else { "-" });
    page(path, if path.ends_with('-') { vec![] } else { (0..links).map(link).collect() })
}

#[test]
fn a_generator_with_leaves_ends_too() {
    for (links, leading_on) in [(4, 1), (10, 2), (40, 2), (20, 1), (100, 1), (300, 3)] {
        let crawled = crawl(&TrapRules::default(), 60_000, &|path| endless_with_leaves(path, links, leading_on));
        let fetched = crawled.fetched.len();
        println!("{leading_on} of {links}: {fetched} fetched, {} trapped", crawled.trapped.len());
        assert!(!crawled.is_cut && crawled.reason.starts_with("/r/ brings"), "{links}: {fetched} {}", crawled.reason);
    }
    // Where they all say the same, it is noticed sooner.
    let crawled = crawl(&TrapRules::default(), 20_000, &|path| (endless_with_leaves(path, 40, 2).0, 1));
    assert!(!crawled.is_cut && crawled.fetched.len() < 8_000, "{}", crawled.fetched.len());
}

/// The goods of a shop, in ever new orders and selections.
fn facets(path: &str) -> Page {
    let value = |name: &str, max, n| format!("{name}={}", below(max, &format!("{name}{path}"), n));
    let link = |n| format!("/shop?{}&{}&{}", value("color", 9, n), value("size", 30, n), value("page", 60, n));
    ((0..4).map(link).collect(), below(50, path, 7) as u64)
}

const GOODS: usize = 2_000;
const GOODS_A_LIST: usize = 40;

/// A shop whose goods differ in nothing but number and price, which are no text.
fn shop(path: &str) -> Page {
    let list = |n: usize| format!("/shop?view=list&category=0&start={n}");
    let Some(start) = number(path, "/shop?view=list&category=0&start=") else {
        return (if path == "/" { vec![list(0)] } else { Vec::new() }, 1);
    };
    let goods = (start..start + GOODS_A_LIST).map(|n| format!("/shop?view=goods&category={}&id={n}", n % 7));
    (goods.chain((start + GOODS_A_LIST < GOODS).then(|| list(start + GOODS_A_LIST))).collect(), 2)
}

#[test]
fn what_a_pattern_bounds_are_the_pages_that_bring_nothing_new() {
    let crawled = crawl(&TrapRules { low_yield_pages_max: 0, ..TrapRules::default() }, 20_000, &facets);
    let fetched = crawled.fetched.len();
    assert!(!crawled.is_cut && (1_000..1_400).contains(&fetched), "{fetched}");
    assert_eq!(crawled.reason, "more than 1000 queries of three or more parameters on one path that bring nothing new");
}

#[test]
fn goods_with_numbers_of_their_own_are_no_selections() {
    let crawled = crawl(&TrapRules::default(), 20_000, &shop);
    assert_eq!(
        (crawled.fetched.len(), crawled.trapped.len()),
        (1 + GOODS + GOODS / GOODS_A_LIST, 0),
        "{}",
        crawled.reason
    );
    // They are bounded too, as pages with one parameter are.
    let few = TrapRules { simple_queries_per_path_max: 500, ..TrapRules::default() };
    let crawled = crawl(&few, 20_000, &shop);
    assert_eq!(crawled.reason, "more than 500 queries on one path that bring nothing new");
    assert!((500..600).contains(&crawled.fetched.len()), "{}", crawled.fetched.len());
}

#[test]
fn the_rule_can_be_switched_off() {
    let traps = TrapRules { low_yield_pages_max: 0, ..TrapRules::default() };
    assert!(crawl(&traps, 9_000, &endless_random).is_cut);
}

#[test]
fn a_group_that_had_its_share_gets_no_other_after_a_restart() {
    let traps = TrapRules::default();
    let key = Group::Directory("/r/").key();
    let record =
        SiteRecord { shapes: vec![(key, 4_000)], ..SiteRecord::new(Site::from_text("http://a.test").unwrap()) };
    let crawled = crawl_on(record.clone(), &traps, 9_000, &endless_random);
    assert_eq!((crawled.fetched.len(), crawled.trapped.len()), (1, 5), "the seed alone");
    // The other is low from the start, and ends with the rest of its share.
    let crawled = crawl_on(SiteRecord { shapes: vec![(key, 3_000)], ..record }, &traps, 9_000, &endless_random);
    assert!(!crawled.is_cut && (1_000..3_500).contains(&crawled.fetched.len()), "{}", crawled.fetched.len());
}

/// A small site where three things lead on and on.
fn documentation_beside_traps(path: &str) -> Page {
    match path {
        _ if path.starts_with("/r/") => return endless_random(path),
        _ if path.starts_with("/day/") => return endless_calendar(path),
        _ if path.starts_with("/a/b/") => return nested(path, "/a/b/"),
        _ => {}
    }
    let (mut links, text) = documentation(path);
    if path == "/about/3" {
        links.extend(["/r/0", "/day/1000000", "/a/b/"].map(str::to_owned));
    }
    (links, text)
}

fn is_trap(path: &str) -> bool {
    ["/r/", "/day/", "/a/b/"].iter().any(|trap| path.starts_with(trap))
}

/// All pages that links lead to from `/`, but for those of traps.
fn all_pages(page: &dyn Fn(&str) -> Page) -> HashSet<String> {
    let mut all: HashSet<String> = ["/".to_owned()].into_iter().collect();
    let mut open = vec!["/".to_owned()];
    while let Some(path) = open.pop() {
        let links = page(&path).0.into_iter().filter(|link| !is_trap(link));
        open.extend(links.filter(|link| all.insert(link.clone())));
    }
    all
}

#[test]
fn no_page_of_a_real_site_is_lost() {
    let small = TrapRules { low_yield_pages_max: 100, low_yield_window: 40, ..TrapRules::default() };
    for (page, name, survives_small) in [
        (&documentation as &dyn Fn(&str) -> Page, "documentation", true),
        (&wiki, "wiki", true),
        (&forum, "forum", true),
        (&tree, "tree", true),
        (&wide, "wide", true),
        (&listing, "listing", true),
        (&gallery, "gallery", true),
        (&articles, "articles", true),
        (&newspaper, "newspaper", true),
        (&documents, "documents", false),
        (&binary_tree, "binary tree", true),
        (&ternary_tree, "ternary tree", true),
        (&pager, "pager", false),
        (&chapters, "chapters", false),
        (&stories, "stories", false),
    ] {
        let all = all_pages(page);
        for traps in [Some(TrapRules::default()), survives_small.then(|| small.clone())].into_iter().flatten() {
            let crawled = crawl(&traps, usize::MAX, page);
            println!("{name}: {} of {}", crawled.fetched.len(), all.len());
            assert_eq!(crawled.fetched.len(), all.len(), "{name}: {:?}", crawled.reason);
        }
    }
}

/// A site so large that hardly any two of the pages fetched so far lead to the same, though chance alone decides where they lead.
#[test]
fn the_first_pages_of_a_very_large_site_are_not_taken_for_a_generator() {
    const PAGES: usize = 400_000;
    let uniform = |path: &str| page(path, (0..10).map(|n| format!("/p/{}", below(PAGES, path, n))).collect());
    let crawled = crawl(&TrapRules::default(), 20_000, &uniform);
    assert!(crawled.is_cut && crawled.trapped.is_empty(), "{}", crawled.reason);
}

#[test]
fn a_real_site_beside_traps_loses_no_page_either() {
    let crawled = crawl(&TrapRules::default(), 40_000, &documentation_beside_traps);
    let all = all_pages(&documentation_beside_traps);
    println!("{} fetched, {} of them real", crawled.fetched.len(), all.len());
    assert!(!crawled.is_cut && all.is_subset(&crawled.fetched));
    assert!(!crawled.trapped.is_empty() && crawled.trapped.iter().all(|path| is_trap(path)));
}
