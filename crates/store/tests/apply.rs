//! The rule of what a batch does to URLs, event by event, and what holds for any batches.

#![expect(clippy::expect_used, reason = "a test: what fails is to stop it")]

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use model::{Candidate, Distance, Outcome, Purpose, Timestamp, Via, Visit};
use proptest::prelude::*;
use store::{
    Batch, Committed, CrawlView, Known, MemoryStore, Relaxed, Store, StoreError, UrlRecord, VisitSummary, apply,
    way_to_new,
};
use testkit::any_batches;
use testkit::batches::content;
use weburl::{CanonicalRules, CanonicalUrl, UrlKey};

/// One URL as it stands.
struct One(Option<(UrlRecord, Option<Visit>)>);

impl Known for One {
    fn url(&self, _key: UrlKey) -> Result<Option<UrlRecord>, StoreError> {
        Ok(self.0.as_ref().map(|(record, _)| record.clone()))
    }

    fn visit(&self, _key: UrlKey, _summary: VisitSummary) -> Result<Visit, StoreError> {
        Ok(self.0.as_ref().and_then(|(_, visit)| visit.clone()).expect("only a visited URL is asked for its visit"))
    }
}

fn page(depth: u32) -> Candidate {
    let url = CanonicalUrl::parse("http://a.test/", &CanonicalRules::default()).expect("a URL");
    Candidate { depth, via: Via::Link, ..Candidate::seed(url) }
}

fn visit(outcome: Outcome, links: usize, at: u64, judged_at: u32) -> Visit {
    let visit = Visit::without_fetch(page(0).url.key(), outcome, String::new(), Timestamp(at));
    let outlinks = vec!["http://a.test/x".to_owned(); links];
    Visit { outlinks, attempts: 2, judged_at: Distance { depth: judged_at, redirects: 0 }, ..visit }
}

/// A URL at depth 5.
fn standing(queued: bool, again: bool, visit: Option<Visit>) -> One {
    let summary = visit.as_ref().map(VisitSummary::of);
    One(Some((UrlRecord { candidate: page(5), attempts: 1, queued, again, visit: summary }, visit)))
}

fn as_requisite(depth: u32) -> Candidate {
    Candidate { purpose: Purpose::Requisite, ..page(depth) }
}

fn visit_of_requisite(at: u64) -> Visit {
    Visit { judged_at: Distance::OF_REQUISITE, ..visit(Outcome::Binary, 0, at, 0) }
}

/// What a page at depth 5 needs.
fn requisite(queued: bool, visit: Option<Visit>) -> One {
    let One(Some((record, visit))) = standing(queued, false, visit) else { return One(None) };
    One(Some((UrlRecord { candidate: as_requisite(5), ..record }, visit)))
}

fn states() -> Vec<(&'static str, One)> {
    let with_links = || Some(visit(Outcome::Html, 1, 1, 5));
    let without = || Some(visit(Outcome::Html, 0, 1, 5));
    let failed = |round| Some(Visit { round, ..visit(Outcome::Timeout, 0, 1, 5) });
    vec![
        ("unknown", One(None)),
        ("waits", standing(true, false, None)),
        ("visited, links", standing(false, false, with_links())),
        ("visited", standing(false, false, without())),
        ("failed", standing(false, false, failed(1))),
        ("failed, round 2", standing(false, false, failed(2))),
        ("links to judge", standing(true, false, with_links())),
        ("waits again", standing(true, true, without())),
        ("excluded", standing(false, false, Some(visit(Outcome::Excluded, 0, 1, 5)))),
        ("requisite", requisite(true, None)),
        ("requisite, had", requisite(false, Some(visit_of_requisite(1)))),
    ]
}

fn events() -> Vec<(&'static str, Batch)> {
    let key = page(0).url.key();
    let found = |depth| Batch { found: vec![page(depth)], ..Batch::default() };
    let visited =
        |links, judged_at| Batch { visits: vec![visit(Outcome::Html, links, 2, judged_at)], ..Batch::default() };
    let judged = |depth| Batch { judged_again: vec![(key, Distance { depth, redirects: 0 })], ..Batch::default() };
    let few = |candidate| Batch { found: vec![candidate], pages_are_few: true, ..Batch::default() };
    let sitemap = Candidate { purpose: Purpose::Sitemap, ..page(0) };
    let excluded = vec![(page(3), visit(Outcome::Excluded, 0, 2, 0))];
    vec![
        ("found at 3", found(3)),
        ("found at 5", found(5)),
        ("found as requisite, few pages", few(as_requisite(3))),
        ("found in a frame, few pages", few(Candidate { via: Via::Frame, ..as_requisite(3) })),
        ("found at 3, few pages", few(page(3))),
        ("found as requisite", Batch { found: vec![as_requisite(3)], ..Batch::default() }),
        ("visited as requisite", Batch { visits: vec![visit_of_requisite(2)], ..Batch::default() }),
        ("found as sitemap", Batch { found: vec![sitemap], ..Batch::default() }),
        ("settled", Batch { settled: excluded, ..Batch::default() }),
        ("visited from 5", visited(0, 5)),
        ("visited from 5, links", visited(1, 5)),
        ("visited from 9", visited(0, 9)),
        ("visited from 9, links", visited(1, 9)),
        ("judged from 5", judged(5)),
        ("judged from 9", judged(9)),
        ("attempts 7", Batch { attempts: vec![(key, Purpose::Page, 7)], ..Batch::default() }),
        ("attempts 7 as requisite", Batch { attempts: vec![(key, Purpose::Requisite, 7)], ..Batch::default() }),
        ("reopened", Batch { reopened: vec![key], ..Batch::default() }),
        ("again", Batch { again: vec![key], ..Batch::default() }),
        ("kept", Batch { kept: vec![(key, Purpose::Page)], ..Batch::default() }),
        ("kept as requisite", Batch { kept: vec![(key, Purpose::Requisite)], ..Batch::default() }),
    ]
}

/// What an event does: the record written, with `q`ueue and `a`gain, depth, attempts and visit; then what the commit reports.
fn cell(event: &Batch, state: &One) -> String {
    let (writes, committed) = apply(event, state).expect("all is known");
    let mut text = String::new();
    for change in &writes.urls {
        let UrlRecord { candidate, attempts, queued, again, visit } = &change.now;
        assert_eq!(change.before.is_some(), state.0.is_some());
        let place = [(*queued, 'q'), (*again, 'a')].into_iter().filter(|(is, _)| *is).map(|(_, mark)| mark);
        let purpose = if candidate.purpose == Purpose::Requisite { "r" } else { "" };
        let _ = write!(text, "{}{purpose}{} x{attempts}", place.collect::<String>(), candidate.depth);
        if let Some(visit) = visit {
            let _ = write!(text, " {}{}", visit.outcome, if visit.has_outlinks { "+" } else { "" });
        }
    }
    let Committed { fresh, relaxed, duplicates, outrun, more_requisites: _ } = committed;
    assert!(fresh.len() <= 1 && relaxed.len() <= 1 && duplicates.is_empty());
    for (is, mark) in [
        (!fresh.is_empty(), " fresh"),
        (!outrun.is_empty(), " outrun"),
        (!writes.visits.is_empty(), " V"),
        (!writes.earlier.is_empty(), " E"),
    ] {
        text.push_str(if is { mark } else { "" });
    }
    for Relaxed { was, queued, .. } in relaxed {
        let queued = queued.map(|queued| {
            let links = queued.visited.map_or(String::new(), |visited| format!(" judge {}", visited.outlinks.len()));
            format!("{}{links}{}", queued.candidate.depth, if queued.again.is_some() { " again" } else { "" })
        });
        let was = was.rank.checked_sub(1).map_or("r".to_owned(), |depth| depth.to_string());
        let _ = write!(text, " {was}>{}", queued.unwrap_or_else(|| "out".to_owned()));
    }
    text
}

/// Where an event does nothing to a URL there is no line.
const TABLE: &str = "
found at 3
    unknown          q3 x0 fresh
    waits            q3 x1 5>3
    visited, links   q3 x1 html+ 5>3 judge 1
    visited          3 x1 html 5>out
    failed           3 x1 timeout 5>out
    failed, round 2  3 x1 timeout 5>out
    links to judge   q3 x1 html+ 5>3 judge 1
    waits again      qa3 x1 html 5>3 again
    excluded         3 x1 excluded 5>out
    requisite        q3 x1 r>3
    requisite, had   q3 x0 r>3
found at 5
    unknown          q5 x0 fresh
    requisite        q5 x1 r>5
    requisite, had   q5 x0 r>5
found as requisite, few pages
    unknown          qr3 x0 fresh
    waits            qr3 x1 5>3
    excluded         qr3 x0 5>3
    requisite        qr3 x1 r>3
    requisite, had   r3 x1 binary r>out
found in a frame, few pages
    unknown          qr3 x0 fresh
    excluded         qr3 x0 5>3
    requisite        qr3 x1 r>3
    requisite, had   r3 x1 binary r>out
found at 3, few pages
    unknown          q3 x0 fresh
    waits            q3 x1 5>3
    visited, links   q3 x1 html+ 5>3 judge 1
    visited          3 x1 html 5>out
    failed           3 x1 timeout 5>out
    failed, round 2  3 x1 timeout 5>out
    links to judge   q3 x1 html+ 5>3 judge 1
    waits again      qa3 x1 html 5>3 again
    excluded         3 x1 excluded 5>out
found as requisite
    unknown          qr3 x0 fresh
    excluded         qr3 x0 5>3
    requisite        qr3 x1 r>3
    requisite, had   r3 x1 binary r>out
visited as requisite
    waits            5>5
    links to judge   5>5 judge 1
    waits again      5>5 again
    requisite        r5 x2 binary V
    requisite, had   r5 x2 binary V E
found as sitemap
    unknown          q0 x0 fresh
    requisite        q0 x1 r>0
    requisite, had   q0 x0 r>0
settled
    unknown          3 x0 excluded V
visited from 5
    waits            5 x2 html V
    visited, links   5 x2 html V E
    visited          5 x2 html V E
    failed           5 x2 html V E
    failed, round 2  5 x2 html V E
    links to judge   5 x2 html V E
    waits again      5 x2 html V E
    excluded         5 x2 html V E
    requisite        r>5
visited from 5, links
    waits            5 x2 html+ V
    visited, links   5 x2 html+ V E
    visited          5 x2 html+ V E
    failed           5 x2 html+ V E
    failed, round 2  5 x2 html+ V E
    links to judge   5 x2 html+ V E
    waits again      5 x2 html+ V E
    excluded         5 x2 html+ V E
    requisite        r>5
visited from 9
    waits            5 x2 html outrun V
    visited, links   5 x2 html V E
    visited          5 x2 html V E
    failed           5 x2 html V E
    failed, round 2  5 x2 html V E
    links to judge   5 x2 html outrun V E
    waits again      5 x2 html outrun V E
    excluded         5 x2 html V E
    requisite        r>5
visited from 9, links
    waits            q5 x2 html+ outrun V 5>5 judge 1
    visited, links   5 x2 html+ V E
    visited          5 x2 html+ V E
    failed           5 x2 html+ V E
    failed, round 2  5 x2 html+ V E
    links to judge   q5 x2 html+ outrun V E 5>5 judge 1
    waits again      q5 x2 html+ outrun V E 5>5 judge 1
    excluded         5 x2 html+ V E
    requisite        r>5
judged from 5
    links to judge   5 x1 html+
judged from 9
    links to judge   outrun 5>5 judge 1
attempts 7
    waits            q5 x7
    visited, links   5 x7 html+
    visited          5 x7 html
    failed           5 x7 timeout
    failed, round 2  5 x7 timeout
    links to judge   q5 x7 html+
    waits again      qa5 x7 html
    excluded         5 x7 excluded
attempts 7 as requisite
    requisite        qr5 x7
    requisite, had   r5 x7 binary
reopened
    failed           q5 x0
    failed, round 2  qa5 x0 timeout
    excluded         q5 x0
again
    visited, links   qa5 x0 html+
    visited          qa5 x0 html
    failed           qa5 x0 timeout
    failed, round 2  qa5 x0 timeout
    excluded         qa5 x0 excluded
    requisite, had   qar5 x0 binary
kept
    waits again      5 x1 html
kept as requisite
    waits again      5>5 again";

#[test]
fn each_event_does_to_each_url_what_the_table_says() {
    let mut table = String::new();
    for (name, event) in events() {
        let _ = write!(table, "\n{name}");
        for (state, known) in states() {
            let cell = cell(&event, &known);
            if !cell.is_empty() {
                let _ = write!(table, "\n    {state:<16} {}", cell.trim());
            }
        }
    }
    assert_eq!(table, TABLE, "{table}");
}

/// The batch as a crawl would commit it: it visits what waits and judges links that wait, each URL once, from where it was last known to be or
/// further away; what leaves the queue does not come back in the same batch; it finds or settles beside that what it likes.
fn sensible(batch: Batch, store: &MemoryStore) -> Batch {
    let entries = store.scan(None, usize::MAX).expect("entries");
    let sites: BTreeSet<_> = entries.iter().map(|entry| entry.candidate.url.key().site).collect();
    let queues = sites.into_iter().flat_map(|site| store.pending(site, None, usize::MAX).expect("a queue"));
    let mut waiting: BTreeMap<_, _> = queues.map(|queued| (queued.candidate.url.key(), queued)).collect();
    let known: BTreeSet<_> = entries.iter().map(|entry| entry.candidate.url.key()).collect();
    let mut visits = batch.visits;
    visits.retain_mut(|visit| {
        let queued = waiting.remove(&visit.key).filter(|queued| queued.visited.is_none());
        let distance = queued.as_ref().map(|queued| queued.candidate.distance());
        let is_requisite = queued.as_ref().is_some_and(|queued| queued.candidate.purpose == Purpose::Requisite);
        let judged_at = visit.judged_at.max(distance.unwrap_or_default());
        visit.judged_at = if is_requisite { Distance::OF_REQUISITE } else { judged_at };
        // What a rule keeps out is not read.
        visit.outlinks.retain(|_| visit.outcome != Outcome::Excluded);
        queued.is_some()
    });
    let mut judged_again = batch.judged_again;
    judged_again.retain_mut(|(key, judged_at)| {
        let queued = waiting.remove(key).filter(|queued| queued.visited.is_some());
        *judged_at = queued.as_ref().map_or(*judged_at, |queued| (*judged_at).max(queued.candidate.distance()));
        queued.is_some()
    });
    let mut kept = batch.kept;
    kept.retain_mut(|(key, purpose)| {
        let queued = waiting.remove(key).filter(|queued| queued.again.is_some());
        *purpose = queued.as_ref().map_or(*purpose, |queued| queued.candidate.purpose);
        queued.is_some()
    });
    let mut attempts = batch.attempts;
    attempts.retain_mut(|(key, purpose, _)| {
        let queued = waiting.remove(key);
        *purpose = queued.as_ref().map_or(*purpose, |queued| queued.candidate.purpose);
        queued.is_some()
    });
    let visited: BTreeSet<_> = visits.iter().map(|visit| visit.key).collect();
    let judged: BTreeSet<_> = judged_again.iter().map(|(key, _)| *key).collect();
    let leaving: BTreeSet<_> = kept.iter().map(|(key, _)| key).chain(&visited).chain(&judged).copied().collect();
    let is_left = |key: &UrlKey| known.contains(key) && !leaving.contains(key);
    let reopened = batch.reopened.into_iter().filter(is_left).collect();
    let again = batch.again.into_iter().filter(is_left).collect();
    Batch { visits, judged_again, kept, attempts, reopened, again, ..batch }
}

/// The shortest way to each URL of a batch, as a link.
fn pages(found: Vec<Candidate>) -> Vec<Candidate> {
    found.into_iter().map(|candidate| Candidate { purpose: Purpose::Page, ..candidate }).collect()
}

fn commit_all(store: &MemoryStore, batches: impl IntoIterator<Item = Batch>) -> BTreeSet<UrlKey> {
    let commit = |batch| store.commit(&batch).expect("commit").fresh;
    batches.into_iter().flat_map(commit).map(|candidate| candidate.url.key()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_batch_applied_again_changes_nothing(batches in prop::collection::vec(any_batches::batch(), 1..12)) {
        let store = MemoryStore::new();
        for batch in batches {
            let batch = sensible(batch, &store);
            store.commit(&batch).expect("commit");
            let after = content(&store);
            let committed = store.commit(&batch).expect("commit");
            prop_assert_eq!(content(&store), after);
            prop_assert_eq!(committed.fresh, vec![]);
        }
    }

    #[test]
    fn what_was_found_does_not_depend_on_the_order(
        found in prop::collection::vec(any_batches::batch(), 1..6), seed in any::<u64>(),
    ) {
        let mut found: Vec<Candidate> = found.into_iter().flat_map(|batch| batch.found).collect();
        found.iter_mut().filter(|found| found.purpose == Purpose::Sitemap).for_each(|found| found.purpose = Purpose::Page);
        let batch = |found: &[Candidate]| Batch { found: found.to_vec(), ..Batch::default() };
        let (at_once, one_by_one) = (MemoryStore::new(), MemoryStore::new());
        let fresh = commit_all(&at_once, [batch(&found)]);
        let mut shuffled = found;
        // A rotation and a reversal are any order of any two.
        let by = usize::try_from(seed).unwrap_or_default() % shuffled.len().max(1);
        shuffled.rotate_left(by);
        if seed % 2 == 0 { shuffled.reverse(); }
        prop_assert_eq!(commit_all(&one_by_one, shuffled.chunks(1).map(batch)), fresh);
        prop_assert_eq!(content(&one_by_one), content(&at_once));
    }

    #[test]
    fn an_unknown_url_is_known_by_the_way_that_counts_most(batch in any_batches::batch()) {
        let store = MemoryStore::new();
        let batch = Batch { found: batch.found, pages_are_few: batch.pages_are_few, ..Batch::default() };
        store.commit(&batch).expect("commit");
        let mut of_urls: std::collections::BTreeMap<UrlKey, Vec<&Candidate>> = Default::default();
        batch.found.iter().for_each(|found| of_urls.entry(found.url.key()).or_default().push(found));
        for (key, found) in of_urls {
            let entry = store.get(key).expect("get").expect("known");
            prop_assert_eq!(Some(&entry.candidate), way_to_new(&found, batch.pages_are_few));
            let has = |purpose| found.iter().any(|found| found.purpose == purpose);
            prop_assert!(has(Purpose::Requisite) || entry.candidate.purpose != Purpose::Requisite);
            let is_only_requisite = !has(Purpose::Page) && !has(Purpose::Sitemap);
            prop_assert!(is_only_requisite || batch.pages_are_few || entry.candidate.purpose != Purpose::Requisite);
        }
    }

    #[test]
    fn no_shorter_way_is_lost_whether_it_is_found_before_during_or_after_a_visit(
        first in any_batches::batch(), later in any_batches::batch(), visits in any_batches::batch(), at in 0..3_usize,
    ) {
        let new_store = || {
            let store = MemoryStore::new();
            commit_all(&store, [Batch { found: pages(first.found.clone()), ..Batch::default() }]);
            store
        };
        // Judged from where the URLs were known to be when they were taken from the queue.
        let visits = sensible(Batch { visits: visits.visits, ..Batch::default() }, &new_store());
        let known: BTreeSet<_> = first.found.iter().map(|candidate| candidate.url.key()).collect();
        let later: Vec<_> = pages(later.found).into_iter().filter(|found| known.contains(&found.url.key())).collect();
        let found = Batch { found: later.clone(), ..Batch::default() };
        let batches = match at {
            0 => vec![found, visits.clone()],
            1 => vec![Batch { found: later, ..visits.clone() }],
            _ => vec![visits.clone(), found],
        };
        let store = new_store();
        commit_all(&store, batches);
        for visit in &visits.visits {
            let entry = store.get(visit.key).expect("get").expect("known");
            let is_nearer = entry.candidate.distance() < visit.judged_at;
            let queue = store.pending(visit.key.site, None, usize::MAX).expect("a queue");
            let is_judged_again = queue.iter().any(|queued| queued.candidate.url.key() == visit.key);
            prop_assert_eq!(is_judged_again, is_nearer && !visit.outlinks.is_empty());
        }
    }
}
