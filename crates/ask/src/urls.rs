//! The URLs of a crawl, by site, state or pattern, in pages of bounded size.

use std::collections::BTreeSet;
use std::str::FromStr;

use dataset::originals::Originals;
use model::{Candidate, Outcome, Purpose, Timestamp, Visit};
use store::{CrawlView, Entry, StoreError};
use weburl::{CanonicalUrl, Pattern, SiteKey, UrlKey};

pub use export::kvs::KeyPart;

pub use crate::visit_choice::{GivenChoice, UNDECLARED, VisitChoice};

/// URLs that an answer looks at, at most, or as many as it may have, where somebody waits for a page: so it comes in time, whatever is asked.
pub const LOOKED_AT_MAX: usize = 5_000;
/// URLs read from the state at once, at most. The first read takes no more than a page has.
const ENTRIES_AT_ONCE: usize = 2_048;

/// Why nothing is chosen of sites that seeds lie on.
pub const NO_SEED: &str = "no seed of the crawl lies there";
/// The word for the states of URLs that were requested without success.
pub const FAILED: &str = "failed";

/// What becomes or became of a URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum State {
    /// It waits in the queue for its first visit.
    Waiting,
    /// It has this outcome.
    Ended(Outcome),
}

impl State {
    fn of(entry: &Entry) -> Self {
        entry.visit.as_ref().map_or(State::Waiting, |visit| State::Ended(visit.outcome))
    }

    /// The states that a word stands for: one, or with [`FAILED`] those of all URLs that were requested without success.
    ///
    /// # Errors
    /// There is no such word.
    pub fn named(word: &str) -> Result<BTreeSet<Self>, String> {
        match word {
            FAILED => {
                Ok(Outcome::ALL.iter().copied().filter(|outcome| outcome.is_failure()).map(State::Ended).collect())
            }
            word => Ok(BTreeSet::from([word.parse()?])),
        }
    }

    /// All states in their order.
    fn all() -> impl Iterator<Item = State> + Clone {
        std::iter::once(State::Waiting).chain(Outcome::ALL.iter().copied().map(State::Ended))
    }

    /// The outcome of the last visit; `None` before the first.
    const fn outcome(self) -> Option<Outcome> {
        match self {
            State::Waiting => None,
            State::Ended(outcome) => Some(outcome),
        }
    }

    /// The word for it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            State::Waiting => "waiting",
            State::Ended(outcome) => outcome.as_str(),
        }
    }
}

impl FromStr for State {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let all = State::all();
        let words = || all.clone().map(State::as_str).chain([FAILED]).collect::<Vec<_>>().join(", ");
        let state = all.clone().find(|state| state.as_str() == text);
        state.ok_or_else(|| format!("`{text}` is no state of a URL; possible are {}", words()))
    }
}

/// The URLs that are asked for.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    /// Only of these sites; of all if there are none.
    pub sites: BTreeSet<SiteKey>,
    /// Only in these states; in all if there are none.
    pub states: BTreeSet<State>,
    /// Only those that match one of these patterns; all without patterns.
    pub patterns: Vec<Pattern>,
    /// Only those whose last answer had this status.
    pub status: Option<u16>,
    /// Only those so many links from a seed.
    pub depth: Option<u32>,
    /// Only those with such a key in the dataset, or in the table `crawl` of a key-value store ([`export::kvs`]).
    pub key: Option<KeyPart>,
    /// Only those whose last visit was so.
    pub visit: VisitChoice,
    /// Neither sitemaps nor requisites, which totals do not count by outcome either; but with those that reached a limit that is chosen.
    pub only_counted: bool,
    /// As the report counts: pages only, each as it is now ([`Originals::now`]); and excluded ones only if their state is chosen.
    pub as_reported: bool,
}

/// A URL, and what became of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// The URL.
    pub url: CanonicalUrl,
    /// Links from a seed.
    pub depth: u32,
    /// What becomes or became of it.
    pub state: State,
    /// Its last visit, without the links of the page.
    pub visit: Option<Visit>,
}

impl From<Entry> for Listed {
    fn from(entry: Entry) -> Self {
        let state = State::of(&entry);
        let Candidate { url, depth, .. } = entry.candidate;
        // A page may have thousands of links, and a sorted table holds thousands of pages.
        let visit = entry.visit.map(|visit| Visit { outlinks: Vec::new(), ..visit });
        Listed { url, depth, state, visit }
    }
}

impl Listed {
    /// The HTTP status, if there was an answer.
    #[must_use]
    pub fn status(&self) -> Option<u16> {
        self.answered().map(|visit| visit.status)
    }

    /// The media type that the answer declares.
    #[must_use]
    pub fn content_type(&self) -> Option<&str> {
        self.visit.as_ref()?.content_type.as_deref()
    }

    /// The bytes of the answer.
    #[must_use]
    pub fn length(&self) -> Option<u64> {
        self.answered().map(|visit| visit.length)
    }

    /// When it was visited last, if it was asked for.
    #[must_use]
    pub fn visited(&self) -> Option<Timestamp> {
        self.visit.as_ref().filter(|visit| visit.was_asked_for()).map(|visit| visit.at)
    }

    /// The title of the page.
    #[must_use]
    pub fn title(&self) -> Option<&str> {
        self.visit.as_ref()?.title.as_deref()
    }

    /// The reason of what became of it, if that says more than the outcome.
    #[must_use]
    pub fn reason(&self) -> Option<&str> {
        self.visit.as_ref().map(|visit| visit.reason.as_str()).filter(|reason| !reason.is_empty())
    }

    /// The title, or the reason.
    #[must_use]
    pub fn said(&self) -> Option<&str> {
        self.title().or_else(|| self.reason())
    }

    fn answered(&self) -> Option<&Visit> {
        self.visit.as_ref().filter(|visit| visit.status > 0)
    }
}

/// A page of the answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Page {
    /// The URLs, in the order of their keys.
    pub urls: Vec<Listed>,
    /// The URL after which the next page begins; `None` after the last page.
    pub next: Option<CanonicalUrl>,
    /// URLs that were looked at for it.
    pub looked_at: usize,
}

impl Selection {
    /// The same of those of its sites that a seed lies on; `None` if none does.
    ///
    /// # Errors
    /// The state cannot be read.
    pub fn of_seed_sites(self, view: &dyn CrawlView) -> Result<Option<Self>, StoreError> {
        let seeds = view.seeds()?.into_iter().map(|seed| seed.key().site);
        let sites: BTreeSet<SiteKey> = seeds.filter(|site| self.is_of_sites(*site)).collect();
        // No sites would stand for all.
        Ok((!sites.is_empty()).then_some(Selection { sites, ..self }))
    }

    /// The first `max` URLs of the selection after a URL. A page has fewer URLs, or none, if [`Page::next`] comes first: an answer looks at
    /// [`LOOKED_AT_MAX`] URLs, or `max`. A store with an index by state reads only URLs in the states of the selection.
    ///
    /// # Errors
    /// The state cannot be read.
    pub fn page(&self, view: &dyn CrawlView, after: Option<UrlKey>, max: usize) -> Result<Page, StoreError> {
        let mut page = Page::default();
        let states = self.states_read(view)?;
        let mut originals = self.as_reported.then(|| Originals::new(view)).transpose()?;
        if let Some(key) = self.key.as_ref().and_then(KeyPart::as_url_key)
            && let Some(entry) = view.get(key)?
        {
            // The only one; nothing else has to be looked at.
            if after.is_none_or(|after| after < key) && self.is_of_sites(key.site) {
                page.looked_at = 1;
                page.urls.extend(self.listed(originals.as_mut(), entry)?);
            }
            return Ok(page);
        }
        let (mut last, mut at_once) = (after, max.clamp(1, ENTRIES_AT_ONCE));
        loop {
            let Some(from) = self.next_from(last) else { return Ok(page) };
            let entries = entries(view, &states, from, at_once)?;
            at_once = (2 * at_once).min(ENTRIES_AT_ONCE);
            let Some(end) = entries.last() else { return Ok(page) };
            last = Some(end.candidate.url.key());
            for entry in entries {
                let key = entry.candidate.url.key();
                if !self.is_of_sites(key.site) {
                    // The next site is looked up by its key.
                    last = Some(key);
                    break;
                }
                page.looked_at += 1;
                let url = entry.candidate.url.clone();
                page.urls.extend(self.listed(originals.as_mut(), entry)?);
                if page.urls.len() >= max || page.looked_at >= max.max(LOOKED_AT_MAX) {
                    page.next = Some(url);
                    return Ok(page);
                }
            }
        }
    }

    /// The same in the order of states: those that wait, then outcome by outcome, each in key order. `None` from a store without an index by
    /// state. If the URL `after` gets another state meanwhile, the next page begins there.
    ///
    /// # Errors
    /// The state cannot be read.
    pub fn page_by_state(
        &self,
        view: &dyn CrawlView,
        after: Option<UrlKey>,
        max: usize,
    ) -> Result<Option<Page>, StoreError> {
        if view.in_state(None, None, 1)?.is_none() {
            return Ok(None);
        }
        let from = match after.map(|key| view.get(key)).transpose()?.flatten() {
            Some(entry) if self.as_reported => Some(State::of(&Originals::new(view)?.now(entry)?)),
            entry => entry.as_ref().map(State::of),
        };
        let mut page = Page::default();
        let is_chosen = |state: &State| self.states.is_empty() || self.states.contains(state);
        for state in State::all().filter(is_chosen).filter(|state| from.is_none_or(|from| *state >= from)) {
            let of_state = Selection { states: [state].into(), ..self.clone() };
            let after = after.filter(|_| from == Some(state));
            let mut part = of_state.page(view, after, max.saturating_sub(page.urls.len()).max(1))?;
            page.urls.append(&mut part.urls);
            page.looked_at += part.looked_at;
            if part.next.is_some() {
                page.next = part.next;
                break;
            }
        }
        Ok(Some(page))
    }

    /// The states by their last visits in which URLs of the selection may be; all if there are none. In later rounds, an earlier visit may
    /// describe a page whose last visit does not.
    fn states_read(&self, view: &dyn CrawlView) -> Result<BTreeSet<State>, StoreError> {
        let mut states = self.states.clone();
        if self.as_reported && !states.is_empty() && view.totals()?.round.number > 1 {
            let may_hide = |outcome: &&Outcome| !outcome.is_page();
            states.extend(Outcome::ALL.iter().filter(may_hide).copied().map(State::Ended));
            // A duplicate whose original has another content by now counts as a page or document.
            let has_content = |state: &State| matches!(state, State::Ended(outcome) if outcome.has_content());
            if self.states.iter().any(has_content) {
                states.insert(State::Ended(Outcome::Duplicate));
            }
        }
        Ok(states)
    }

    /// Where to read on behind a key: there, or at the next site of the selection. `None`: there is no more. `Some(None)` is the beginning.
    #[expect(clippy::option_option, reason = "the end, and the beginning")]
    fn next_from(&self, last: Option<UrlKey>) -> Option<Option<UrlKey>> {
        if self.sites.is_empty() || last.is_some_and(|last| self.sites.contains(&last.site)) {
            return Some(last);
        }
        let next = match last {
            None => self.sites.first(),
            Some(last) => self.sites.range(last.site..).next(),
        };
        // Behind the largest key before the site.
        next.map(|site| site.0.checked_sub(1).map(|before| UrlKey { site: SiteKey(before), url: u64::MAX }))
    }

    fn is_of_sites(&self, site: SiteKey) -> bool {
        self.sites.is_empty() || self.sites.contains(&site)
    }

    fn listed(&self, originals: Option<&mut Originals<'_>>, entry: Entry) -> Result<Option<Listed>, StoreError> {
        let entry = match originals {
            Some(originals) => originals.now(entry)?,
            None => entry,
        };
        let state = State::of(&entry);
        let url = &entry.candidate.url;
        let purpose = entry.candidate.purpose;
        let is_counted = !matches!(purpose, Purpose::Sitemap | Purpose::Requisite);
        let is_excluded = state == State::Ended(Outcome::Excluded) && !self.states.contains(&state);
        let is_by_limit = self.visit.is_by_limit();
        let is_chosen = (is_counted || !self.only_counted || is_by_limit)
            && (!self.as_reported || is_by_limit || purpose == Purpose::Page && !is_excluded)
            && (self.states.is_empty() || self.states.contains(&state))
            && self.status.is_none_or(|status| entry.visit.as_ref().is_some_and(|visit| visit.status == status))
            && self.visit.chooses(entry.visit.as_ref())
            && self.depth.is_none_or(|depth| entry.candidate.depth == depth)
            && self.key.as_ref().is_none_or(|key| key.is_of(url))
            && (self.patterns.is_empty() || self.patterns.iter().any(|pattern| pattern.matches(url.as_str())));
        Ok(is_chosen.then(|| Listed::from(entry)))
    }
}

/// URLs in key order; only those in these states, where the store can find them.
fn entries(
    view: &dyn CrawlView,
    states: &BTreeSet<State>,
    after: Option<UrlKey>,
    max: usize,
) -> Result<Vec<Entry>, StoreError> {
    if states.is_empty() {
        return view.scan(after, max);
    }
    let mut entries = Vec::new();
    for state in states {
        let Some(found) = view.in_state(state.outcome(), after, max)? else { return view.scan(after, max) };
        entries.extend(found);
    }
    entries.sort_by_key(|entry| entry.candidate.url.key());
    entries.truncate(max);
    Ok(entries)
}

#[cfg(test)]
mod tests {
    use model::{Past, PayloadDigest, Round, Timestamp};
    use store::{Batch, MemoryStore, Store};
    use weburl::CanonicalRules;

    use super::*;

    fn url(text: &str) -> CanonicalUrl {
        CanonicalUrl::parse(text, &CanonicalRules::default()).expect("a URL")
    }

    /// Three sites with four URLs each, of which the first two were visited.
    fn store() -> MemoryStore {
        let store = MemoryStore::new();
        let (mut found, mut visited) = (Batch::default(), Batch::default());
        for site in ["http://a.test", "http://b.test", "https://a.test"] {
            for n in 0..4 {
                found.found.push(Candidate::seed(url(&format!("{site}/{n}"))));
            }
            for (n, outcome) in [(0, Outcome::Html), (1, Outcome::HttpError)] {
                let key = url(&format!("{site}/{n}")).key();
                visited.visits.push(Visit::without_fetch(key, outcome, String::new(), Timestamp(1)));
            }
        }
        for batch in [found, visited] {
            store.commit(&batch).expect("committed");
        }
        store
    }

    /// All URLs of a selection, in pages of so many, as text in alphabetical order.
    fn all(selection: &Selection, max: usize) -> Vec<String> {
        let (store, mut found, mut after) = (store(), Vec::new(), None);
        loop {
            let page = selection.page(&store, after, max).expect("read");
            assert!(page.urls.len() <= max);
            found.extend(page.urls.iter().map(|listed| listed.url.to_string()));
            match page.next {
                Some(next) => after = Some(next.key()),
                None => break,
            }
        }
        found.sort();
        found
    }

    fn check(selection: &Selection, expect: &[&str]) {
        for max in [1, 3, 100] {
            assert_eq!(all(selection, max), expect, "{selection:?} {max}");
        }
    }

    #[test]
    fn a_listed_url_keeps_no_links_of_its_page() {
        let url = url("http://a.test/");
        let visit = Visit::without_fetch(url.key(), Outcome::Html, String::new(), Timestamp(1));
        let visit = Visit { outlinks: vec!["http://a.test/1".to_owned()], title: Some("a".to_owned()), ..visit };
        let listed =
            Listed::from(Entry { candidate: Candidate::seed(url), attempts: 1, visit: Some(visit), again: false });
        assert_eq!(listed.title(), Some("a"));
        assert_eq!(listed.visit.map(|visit| visit.outlinks), Some(Vec::new()));
    }

    #[test]
    fn urls_are_chosen_by_site_state_and_pattern() {
        let sites = |sites: &[&str]| Selection {
            sites: sites.iter().map(|site| SiteKey::of(site)).collect(),
            ..Selection::default()
        };
        assert_eq!(all(&Selection::default(), 5).len(), 12);
        check(
            &sites(&["http://b.test"]),
            &["http://b.test/0", "http://b.test/1", "http://b.test/2", "http://b.test/3"],
        );
        check(&sites(&["http://none.test"]), &[]);
        let both = sites(&["http://a.test", "https://a.test", "http://none.test"]);
        let waiting = Selection { states: [State::Waiting].into(), ..both.clone() };
        check(&waiting, &["http://a.test/2", "http://a.test/3", "https://a.test/2", "https://a.test/3"]);
        let patterns = vec![Pattern::new("http://*/1").expect("a pattern"), Pattern::new("*b.test/3").expect("one")];
        check(
            &Selection { patterns: patterns.clone(), ..Selection::default() },
            &["http://a.test/1", "http://b.test/1", "http://b.test/3"],
        );
        let states = ["http_error", "html"].map(|word| word.parse().expect("a state")).into();
        check(&Selection { states, patterns, ..both }, &["http://a.test/1"]);
    }

    #[test]
    fn only_sites_of_seeds_are_left() {
        let (store, seed) = (store(), url("http://b.test/2"));
        store.commit(&Batch { seeds: vec![seed], ..Batch::default() }).expect("committed");
        let selection = Selection::default().of_seed_sites(&store).expect("read").expect("a seed");
        let page = selection.page(&store, None, 100).expect("read");
        assert!(page.urls.len() == 4 && page.urls.iter().all(|listed| listed.url.as_str().contains("//b.test/")));
        let other = Selection { sites: [SiteKey::of("http://a.test")].into(), ..Selection::default() };
        assert!(other.of_seed_sites(&store).expect("read").is_none(), "no seed lies there");
    }

    #[test]
    fn urls_are_chosen_by_depth_and_by_what_failed() {
        let failed = Selection { states: State::named(FAILED).expect("states"), ..Selection::default() };
        check(&failed, &["http://a.test/1", "http://b.test/1", "https://a.test/1"]);
        check(&Selection { depth: Some(1), ..Selection::default() }, &[]);
        assert_eq!(all(&Selection { depth: Some(0), ..Selection::default() }, 5).len(), 12);
        check(&Selection { status: Some(404), ..Selection::default() }, &[]);
    }

    #[test]
    fn urls_are_chosen_by_their_keys() {
        let key = export::kvs::key_of(&url("http://b.test/3"));
        for part in [&key[..], &key[..8]] {
            let of_key = Selection { key: Some(part.parse().expect("a key")), ..Selection::default() };
            check(&of_key, &["http://b.test/3"]);
        }
        // The key of the dataset leads to its URL at once.
        let key = url("http://b.test/3").key().to_string();
        for (part, looked_at) in [(&key[..], 1), (&key[..20], 12)] {
            let of_key = Selection { key: Some(part.parse().expect("a key")), ..Selection::default() };
            check(&of_key, &["http://b.test/3"]);
            assert_eq!(of_key.page(&store(), None, 5).expect("read").looked_at, looked_at);
        }
        let other = Selection { key: Some("00000000".parse().expect("a key")), ..Selection::default() };
        check(&other, &[]);
    }

    #[test]
    fn urls_come_in_the_order_of_their_states() {
        let store = store();
        for (selection, count) in [
            (Selection::default(), 12),
            (Selection { states: State::named(FAILED).expect("states"), ..Selection::default() }, 3),
        ] {
            for max in [1, 3, 5, 100] {
                let (mut found, mut after) = (Vec::new(), None);
                loop {
                    let page = selection.page_by_state(&store, after, max).expect("read").expect("an index");
                    assert!(page.urls.len() <= max);
                    found.extend(page.urls.iter().map(|listed| (listed.state, listed.url.key())));
                    match page.next {
                        Some(next) => after = Some(next.key()),
                        None => break,
                    }
                }
                assert_eq!(found.len(), count, "{max}");
                assert!(found.is_sorted(), "{max}: {found:?}");
            }
        }
    }

    #[test]
    fn urls_are_chosen_as_the_report_counts_them() {
        let store = store();
        let key = url("http://a.test/0").key();
        let round = Round { number: 2, ..Round::default() };
        store.commit(&Batch { round: Some(round), again: vec![key], ..Batch::default() }).expect("committed");
        let past = Past { visits: 1, ..Past::default() };
        let failed =
            Visit { round: 2, past, ..Visit::without_fetch(key, Outcome::Timeout, String::new(), Timestamp(2)) };
        let excluded = url("http://b.test/2").key();
        let excluded = Visit::without_fetch(excluded, Outcome::Excluded, String::new(), Timestamp(2));
        store.commit(&Batch { visits: vec![failed, excluded], ..Batch::default() }).expect("committed");
        let found = |word: &str, as_reported| {
            let states = if word.is_empty() { BTreeSet::new() } else { State::named(word).expect("states") };
            let selection = Selection { states, as_reported, ..Selection::default() };
            let page = selection.page(&store, None, 100).expect("read");
            page.urls.iter().map(|listed| listed.url.to_string()).collect::<BTreeSet<_>>()
        };
        // The page is still there: a timeout says nothing of it.
        let page = "http://a.test/0";
        assert!(found("html", true).contains(page) && !found("html", false).contains(page));
        assert!(found("timeout", false).contains(page) && !found("timeout", true).contains(page));
        assert_eq!((found("", false).len(), found("", true).len()), (12, 11), "without the excluded one");
        assert_eq!(found("excluded", true).len(), 1);
    }

    #[test]
    fn a_duplicate_whose_original_has_changed_is_listed_as_the_page_that_the_report_counts() {
        let store = store();
        let [original, copy] = ["http://a.test/2", "http://b.test/2"].map(|page| url(page).key());
        let page = |label: u8, number: u32| Visit {
            status: 200,
            digest: Some(PayloadDigest([label; 20])),
            past: Past { visits: number, ..Past::default() },
            round: number + 1,
            ..Visit::without_fetch(original, Outcome::Html, String::new(), Timestamp(3))
        };
        let mut repeated = Visit { key: copy, content_at: Some(Timestamp(3)), ..page(1, 0) };
        repeated.repeat(original);
        store.commit(&Batch { visits: vec![page(1, 0), repeated], ..Batch::default() }).expect("committed");
        let found = |word: &str, as_reported| {
            let selection =
                Selection { states: State::named(word).expect("states"), as_reported, ..Selection::default() };
            let page = selection.page(&store, None, 100).expect("read");
            let by_state = selection.page_by_state(&store, None, 100).expect("read").expect("an index");
            assert_eq!(by_state.urls, page.urls, "{word}");
            page.urls.iter().filter(|listed| listed.url.key() == copy).count()
        };
        let check = |as_reported, expect: [usize; 2]| {
            assert_eq!(["html", "duplicate"].map(|word| found(word, as_reported)), expect, "{as_reported}");
        };
        check(true, [0, 1]);
        let round = Round { number: 2, ..Round::default() };
        store.commit(&Batch { round: Some(round), again: vec![original], ..Batch::default() }).expect("committed");
        store.commit(&Batch { visits: vec![page(2, 1)], ..Batch::default() }).expect("committed");
        check(true, [1, 0]);
        check(false, [0, 1]);
    }

    #[test]
    fn of_a_rare_state_only_its_urls_are_looked_at() {
        let failed = Selection { states: State::named(FAILED).expect("states"), ..Selection::default() };
        let page = failed.page(&store(), None, 100).expect("read");
        assert_eq!((page.urls.len(), page.looked_at, page.next), (3, 3, None));
        let all = Selection { status: Some(404), ..Selection::default() };
        assert_eq!(all.page(&store(), None, 100).expect("read").looked_at, 12);
    }

    #[test]
    fn a_word_that_is_no_state_is_refused_with_those_that_are() {
        let error = "html5".parse::<State>().expect_err("no state");
        assert!(error.starts_with("`html5` is no state of a URL; possible are waiting, html, "), "{error}");
    }
}
