//! Changes of a state in memory, and their texts.

use model::{Candidate, Outcome};
use store::{Batch, MemoryStore, Store};
use weburl::CanonicalUrl;

use super::difference::of_texts;
use super::*;

fn url(path: &str) -> CanonicalUrl {
    CanonicalUrl::from_canonical(&format!("http://a.test/{path}")).expect("a URL")
}

/// A change of a page.
pub(super) fn change_of(change: Change, url: &str, at: Timestamp) -> Changed {
    Changed {
        id: format!("{url}-1"),
        change,
        url: url.to_owned(),
        at,
        before_at: None,
        status: Some(200),
        target: None,
        probable: false,
        title: None,
        title_before: None,
        difference: None,
    }
}

/// What a visit found: outcome, status, and what its content begins with.
type Said = (Outcome, u16, u8);

/// A visit of a round, which begins at its number in seconds.
fn visit(path: &str, round: u32, (outcome, status, content): Said) -> Visit {
    let (digest, length) = match outcome.is_fetched() {
        true => (Some(model::PayloadDigest([content; 20])), 7),
        false => (None, 0),
    };
    let at = Timestamp(u64::from(round) * 1_000_000 + 1);
    let mut visit = Visit {
        status,
        digest,
        length,
        round,
        attempts: 1,
        ..Visit::without_fetch(url(path).key(), outcome, String::new(), at)
    };
    visit.past.visits = round - 1;
    visit.content_at = (!outcome.is_fetched() && content > 0).then_some(Timestamp(1));
    visit
}

/// From a time on, asked after the third round.
fn of_time(from: u64) -> Since {
    Since::Time { from: Timestamp(from), now: Timestamp(4_000_000) }
}

/// A store with these visits of each page, a round each.
fn store(pages: &[(&str, &[Said])]) -> MemoryStore {
    let store = MemoryStore::new();
    for (path, visits) in pages {
        let first = u32::try_from(4 - visits.len()).expect("few visits");
        store.commit(&Batch { found: vec![Candidate::seed(url(path))], ..Batch::default() }).expect("a commit");
        for (round, said) in (first..).zip(*visits) {
            let mut visit = visit(path, round, *said);
            visit.past.visits = round - first;
            let again = vec![visit.key];
            store.commit(&Batch { again, ..Batch::default() }).expect("a commit");
            store.commit(&Batch { visits: vec![visit], ..Batch::default() }).expect("a commit");
        }
    }
    let round = Round { number: 3, began_at: Timestamp(3_000_000), is_choosing: false };
    store.commit(&Batch { round: Some(round), ..Batch::default() }).expect("a commit");
    store
}

#[test]
fn pages_are_compared_with_what_was_there_before() {
    let page = |content| (Outcome::Html, 200, content);
    let (same, gone, late) = ((Outcome::NotModified, 304, 1), (Outcome::HttpError, 404, 1), (Outcome::Timeout, 0, 1));
    let moved = (Outcome::Redirect, 301, 1);
    let never = (Outcome::HttpError, 404, 0);
    let pages: &[(&str, &[Said])] = &[
        ("new", &[page(9)]),
        ("never", &[never]),
        ("never-reached", &[(Outcome::Timeout, 0, 0)]),
        ("never-here", &[(Outcome::Redirect, 301, 0)]),
        ("same", &[page(1), same, same]),
        ("changed", &[page(1), same, page(2)]),
        ("changed-before", &[page(1), page(2), (Outcome::NotModified, 304, 2)]),
        ("changed-behind-failure", &[page(1), late, page(2)]),
        ("same-behind-failure", &[page(1), late, page(1)]),
        ("late", &[page(1), page(1), late]),
        ("gone", &[page(1), same, gone]),
        ("gone-before", &[page(1), gone, gone]),
        ("back", &[page(1), gone, page(1)]),
        ("moved", &[page(1), page(1), moved]),
        ("moved-then-gone", &[page(1), moved, (Outcome::HttpError, 410, 1)]),
        ("gone-then-moved", &[page(1), gone, moved]),
        ("never-here-then-gone", &[(Outcome::Redirect, 301, 0), never]),
        ("duplicate", &[page(1), page(1), (Outcome::Duplicate, 200, 3)]),
    ];
    let store = store(pages);
    let ask = |since| {
        let question = Question { since, through: None, sites: Vec::new(), pages: None };
        let mut told = BTreeMap::new();
        let counts = changes(&store, &question, &mut |changed: Changed| {
            let path = changed.url.rsplit('/').next().expect("a path").to_owned();
            told.insert(path, changed.change.as_str());
            Ok(())
        });
        (told.into_iter().collect::<Vec<_>>(), counts.expect("an answer"))
    };
    let round = last_round(&store).expect("a round").expect("a later round");
    let (told, counts) = ask(Since::Round(round.number));
    let expect = [
        ("back", "back"),
        ("changed", "changed"),
        ("changed-behind-failure", "changed"),
        ("duplicate", "changed"),
        ("gone", "gone"),
        ("gone-then-moved", "moved"),
        ("moved", "moved"),
        ("moved-then-gone", "gone"),
        ("never-here-then-gone", "gone"),
        ("new", "new"),
    ];
    assert_eq!(told, expect.map(|(path, change)| (path.to_owned(), change)));
    assert_eq!((counts[&Change::Failed], counts[&Change::Unchanged]), (3, 4));
    assert_eq!(ask(of_time(round.began_at.0)), (told, counts), "dates say the same");
    // Since the beginning all that is there is new.
    let (told, _) = ask(of_time(0));
    assert_eq!(told.iter().filter(|(_, change)| *change == "new").count(), 9);
    let elsewhere = Question { since: Since::Round(3), through: None, sites: vec![SiteKey(7)], pages: None };
    assert!(changes(&store, &elsewhere, &mut |_| panic!("of another site")).expect("an answer").is_empty());
}

#[test]
fn each_round_is_told_by_itself() {
    let page = |content| (Outcome::Html, 200, content);
    let store = store(&[("a", &[page(1), page(2), page(2)]), ("b", &[page(1), page(1), page(2)]), ("c", &[page(1)])]);
    for (round, expect) in [
        (2, Counts::from([(Change::Changed, 1), (Change::Unchanged, 1)])),
        (3, Counts::from([(Change::New, 1), (Change::Changed, 1), (Change::Unchanged, 1)])),
    ] {
        let question = Question { since: Since::Round(round), through: Some(round), sites: Vec::new(), pages: None };
        let mut ids = Vec::new();
        let counts = changes(&store, &question, &mut |changed| {
            ids.push(changed.id);
            Ok(())
        });
        let counts = counts.expect("an answer");
        assert_eq!(counts, expect, "{round}");
        let date = format!("-{:x}", round * 1_000_000 + 1);
        assert!(ids.iter().all(|id| id.ends_with(&date)), "{date}: {ids:?}");
    }
    assert_eq!(sentence(&Counts::from([(Change::Gone, 1), (Change::New, 2)])), "3 URLs visited: 2 new, 1 gone");
    assert_eq!(sentence(&Counts::new()), "0 URLs visited");
    let totals = |number, pending, is_choosing| Totals {
        pending,
        round: Round { number, began_at: Timestamp(1), is_choosing },
        ..Totals::default()
    };
    for (totals, ended) in [
        (totals(1, 5, false), 0),
        (totals(1, 0, false), 1),
        (totals(3, 0, false), 3),
        (totals(3, 2, false), 2),
        (totals(3, 0, true), 2),
    ] {
        assert_eq!(last_ended_round(&totals), ended, "{totals:?}");
    }
}

#[test]
fn another_visit_has_another_id_also_where_it_has_the_same_number() {
    let page = |content| (Outcome::Html, 200, content);
    let store = store(&[("page", &[page(1), page(2)])]);
    let entry = store.get(url("page").key()).expect("a state").expect("it is known");
    let last = entry.visit.clone().expect("it was visited");
    // A crawl that goes on from a backup makes the third visit of a page once more.
    let other = Visit { at: last.at + std::time::Duration::from_secs(1), ..last.clone() };
    let [id, same, another] = [&last, &last, &other].map(|now| Changed::new(&entry, Change::Changed, None, now).id);
    assert_eq!(id, same);
    assert_ne!(id, another);
}

#[test]
fn a_clock_that_was_set_back_makes_no_page_new() {
    let store = store(&[]);
    store.commit(&Batch { found: vec![Candidate::seed(url("page"))], ..Batch::default() }).expect("a commit");
    // A year ahead in the first round, right since then.
    let page = (Outcome::Html, 200, 1);
    let dates = [(page, 9_000_000), ((Outcome::NotModified, 304, 1), 2_000_001), ((Outcome::Html, 200, 2), 3_000_001)];
    for (number, (said, at)) in (0..).zip(dates) {
        let mut visit = Visit { at: Timestamp(at), ..visit("page", number + 1, said) };
        visit.past.visits = number;
        store.commit(&Batch { again: vec![visit.key], ..Batch::default() }).expect("a commit");
        store.commit(&Batch { visits: vec![visit], ..Batch::default() }).expect("a commit");
    }
    let ask = |since| {
        let question = Question { since, through: None, sites: Vec::new(), pages: None };
        let counts = changes(&store, &question, &mut |_| Ok(())).expect("an answer");
        counts.into_keys().collect::<Vec<_>>()
    };
    for (since, expect) in [
        (Since::Round(3), vec![Change::Changed]),
        (Since::Round(2), vec![Change::Changed]),
        (Since::Round(4), vec![]),
        // The first visit was made before the second, so before the second's date.
        (of_time(3_000_000), vec![Change::Changed]),
        (of_time(2_500_000), vec![Change::Changed]),
        (of_time(5_000_000), vec![]),
        (of_time(1_000_000), vec![Change::New]),
    ] {
        assert_eq!(ask(since), expect, "{since:?}");
    }
}

#[test]
fn changes_of_a_round_with_a_clock_that_was_set_back_are_not_lost() {
    let store = store(&[]);
    let pages = ["page", "other"];
    store
        .commit(&Batch { found: pages.map(|path| Candidate::seed(url(path))).into(), ..Batch::default() })
        .expect("a commit");
    // The second round was made at 2.0, but the clock said 0.5. It found a page.
    let page = |content| (Outcome::Html, 200, content);
    for (path, number, content, at) in
        [("page", 0, 1, 1_000_000), ("other", 0, 3, 1_100_000), ("page", 1, 2, 500_000), ("found", 0, 9, 600_000)]
    {
        let round = if at < 1_000_000 { 2 } else { 1 };
        let mut visit = Visit { at: Timestamp(at), ..visit(path, round, page(content)) };
        visit.past.visits = number;
        let found = vec![Candidate::seed(url(path))];
        store.commit(&Batch { found, again: vec![visit.key], ..Batch::default() }).expect("a commit");
        store.commit(&Batch { visits: vec![visit], ..Batch::default() }).expect("a commit");
    }
    let check = |from, expect: &[(Change, u64)]| {
        let question = Question { since: of_time(from), through: None, sites: Vec::new(), pages: None };
        let counts = changes(&store, &question, &mut |_| Ok(())).expect("an answer");
        assert_eq!(counts, expect.iter().copied().collect(), "{from}");
    };
    // Between the rounds, by the right time, and by the wrong one.
    check(1_500_000, &[(Change::Changed, 1), (Change::New, 1)]);
    check(700_000, &[(Change::New, 3)]);
    // The third round is the next whose clock was right: the second was before it.
    let mut third = Visit { at: Timestamp(3_000_000), ..visit("other", 3, page(4)) };
    third.past.visits = 1;
    store.commit(&Batch { again: vec![third.key], ..Batch::default() }).expect("a commit");
    store.commit(&Batch { visits: vec![third], ..Batch::default() }).expect("a commit");
    check(1_500_000, &[(Change::Changed, 2), (Change::New, 1)]);
    check(3_000_001, &[]);
}

#[test]
fn a_new_page_with_the_content_of_one_that_is_gone_is_its_new_place() {
    let page = |content| (Outcome::Html, 200, content);
    let gone = (Outcome::HttpError, 404, 1);
    let copy = |content| (Outcome::Duplicate, 200, content);
    let store = store(&[
        ("renamed", &[page(1), gone]),
        ("renamed-to", &[copy(1)]),
        ("renamed-to-as-well", &[page(1)]),
        ("rewritten-and-gone", &[page(2), page(3), gone]),
        ("has-its-first-content", &[copy(2)]),
        ("there", &[page(4), page(4)]),
        ("copy-of-there", &[copy(4)]),
        ("moved", &[page(5), (Outcome::Redirect, 301, 5)]),
        ("target", &[page(5)]),
    ]);
    let last = store.get(url("moved").key()).expect("a state").and_then(|entry| entry.visit).expect("a visit");
    let visit = Visit { target: Some(url("target").to_string()), ..last };
    store.commit(&Batch { visits: vec![visit], ..Batch::default() }).expect("a commit");
    let mut told = BTreeMap::new();
    let question = Question { since: Since::Round(3), through: None, sites: Vec::new(), pages: None };
    let counts = changes(&store, &question, &mut |changed| {
        let Changed { change, url, target, probable, .. } = changed;
        told.insert(url, (change, target, probable));
        Ok(())
    });
    let counts = counts.expect("an answer");
    assert_eq!(counts, Counts::from([(Change::New, 3), (Change::Gone, 1), (Change::Moved, 2), (Change::Unchanged, 1)]));
    let (_, place, is_probable) = told.remove(url("renamed").as_str()).expect("a move");
    let place = place.expect("a place");
    // Two pages have its content: one of them is its new place, the other is new.
    assert!(is_probable && place.starts_with(url("renamed-to").as_str()), "{place}");
    assert!(!told.contains_key(&place) && told.len() == 5, "{told:?}");
    let moved = (Change::Moved, Some(url("target").to_string()), false);
    assert_eq!(told.get(url("moved").as_str()), Some(&moved));
}

#[test]
fn a_page_that_moved_is_where_its_redirects_end() {
    let page = |content| (Outcome::Html, 200, content);
    let there = |path: &str| url(path).to_string();
    /// A page, its redirects in the last round (each leads to the next), and the target that the change names.
    struct Case<'c> {
        page: &'c str,
        way: Vec<String>,
        target: Option<&'c str>,
        counts: Counts,
    }
    let moved = |new: u64| {
        let counts = [(Change::New, new), (Change::Moved, 1)];
        counts.into_iter().filter(|(_, count)| *count > 0).collect::<Counts>()
    };
    let long: Vec<String> = (0..30).map(|n| format!("long-{n}")).collect();
    let last = "long-20";
    let ways = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    for Case { page: from, way, target, counts } in [
        Case { page: "page", way: ways(&["page", "end"]), target: Some("end"), counts: moved(0) },
        Case { page: "page", way: ways(&["page", "a", "end"]), target: Some("end"), counts: moved(0) },
        Case { page: "page", way: ways(&["page", "a", "b", "c", "end"]), target: Some("end"), counts: moved(0) },
        // In a circle: where it would come back.
        Case { page: "page", way: ways(&["page", "a", "b", "a"]), target: Some("b"), counts: moved(0) },
        Case { page: "page", way: ways(&["page", "a", "page"]), target: Some("a"), counts: moved(0) },
        // A target that nobody asked for.
        Case { page: "page", way: ways(&["page", "a", "unknown"]), target: Some("unknown"), counts: moved(0) },
        // No target.
        Case { page: "page", way: ways(&["page"]), target: None, counts: moved(0) },
        // Too long to be followed to its end, which stays new.
        Case { page: "long-0", way: [long, ways(&["end"])].concat(), target: Some(last), counts: moved(1) },
    ] {
        let redirect = (Outcome::Redirect, 301, 0);
        let ends = way.last().is_some_and(|last| last == "end");
        let redirects: Vec<&String> = way[..(way.len() - 1).max(1)].iter().collect();
        let known: &[Said] = &[page(1), redirect];
        let mut pages: Vec<(&str, &[Said])> = vec![(from, known)];
        let (found, end) = ([redirect], [page(1)]);
        pages.extend(redirects.iter().filter(|name| **name != from).map(|name| (name.as_str(), &found[..])));
        pages.extend(ends.then_some(("end", &end[..])));
        let store = store(&pages);
        for (at, name) in redirects.iter().enumerate() {
            let last = store.get(url(name).key()).expect("a state").and_then(|entry| entry.visit).expect("a visit");
            let visit = Visit { target: way.get(at + 1).map(|next| there(next)), ..last };
            store.commit(&Batch { visits: vec![visit], ..Batch::default() }).expect("a commit");
        }
        let mut told = Vec::new();
        let question = Question { since: Since::Round(3), through: None, sites: Vec::new(), pages: None };
        let counted = changes(&store, &question, &mut |changed| {
            told.extend((changed.change == Change::Moved).then_some((changed.url, changed.target)));
            Ok(())
        });
        assert_eq!(told, [(there(from), target.map(there))], "{way:?}");
        assert_eq!(counted.expect("an answer"), counts, "{way:?}");
    }
}

#[test]
fn a_redirect_that_leads_to_nothing_is_a_page_that_is_gone() {
    let page = (Outcome::Html, 200, 1);
    let redirect = |content| (Outcome::Redirect, 301, content);
    let gone = |content| (Outcome::HttpError, 404, content);
    let store = store(&[
        ("old", &[page, redirect(1)]),
        ("new-and-dead", &[gone(0)]),
        ("near", &[page, redirect(1)]),
        ("on-the-way", &[redirect(0)]),
        ("gone-itself", &[page, gone(1)]),
        ("gone-before", &[gone(1), redirect(1)]),
        ("failing", &[page, redirect(1)]),
        ("in-trouble", &[(Outcome::HttpError, 500, 0)]),
    ]);
    for (from, to) in [
        ("old", "new-and-dead"),
        ("near", "on-the-way"),
        ("on-the-way", "gone-itself"),
        ("gone-before", "new-and-dead"),
        ("failing", "in-trouble"),
    ] {
        let last = store.get(url(from).key()).expect("a state").and_then(|entry| entry.visit).expect("a visit");
        let visit = Visit { target: Some(url(to).to_string()), ..last };
        store.commit(&Batch { visits: vec![visit], ..Batch::default() }).expect("a commit");
    }
    let mut told = BTreeMap::new();
    let question = Question { since: Since::Round(3), through: None, sites: Vec::new(), pages: None };
    let counts = changes(&store, &question, &mut |changed| {
        told.insert(changed.url, (changed.change, changed.target));
        Ok(())
    });
    let at = |path: &str| url(path).to_string();
    let expect = [
        (at("old"), (Change::Gone, None)),
        (at("near"), (Change::Gone, None)),
        (at("gone-itself"), (Change::Gone, None)),
        (at("failing"), (Change::Moved, Some(at("in-trouble")))),
    ];
    assert_eq!(told, BTreeMap::from(expect));
    let counts_expected = [(Change::Gone, 3), (Change::Moved, 1), (Change::Failed, 2), (Change::Unchanged, 1)];
    assert_eq!(counts.expect("an answer"), Counts::from(counts_expected));
}

#[test]
fn what_is_different_is_told_by_blocks() {
    let before = "# Title\n\nThe first paragraph.\n\nThe second.\n\n- a\n- b";
    let now = "# Title\n\nThe second.\n\n- a\n- c\n\nThe last.";
    let added = |text: &str| Block::Added(text.to_owned());
    let removed = |text: &str| Block::Removed(text.to_owned());
    let expect = [removed("The first paragraph."), removed("- a\n- b"), added("- a\n- c"), added("The last.")];
    assert_eq!(of_texts(before, now), expect);
    assert_eq!(of_texts(before, before), []);
    assert_eq!(of_texts("", "new"), [added("new")]);
    assert_eq!(of_texts("old", "\n"), [removed("old")]);
}

#[test]
fn a_feed_has_the_newest_changes_first_and_no_character_that_xml_forbids() {
    const NO_CHARS: &str = "\u{0}\u{1}\u{b}\u{7f}\u{9b}\u{fffe}\u{ffff}";
    let store = store(&[]);
    let changed = |n: u64| Changed {
        title: Some(format!("<{n}>{NO_CHARS}")),
        title_before: Some(format!("old{NO_CHARS}")),
        difference: Some(Difference {
            text: vec![Block::Added(format!("{NO_CHARS}new & \"better\" \u{1f577}"))],
            links_added: vec!["http://b.test/".to_owned()],
            links_removed: Vec::new(),
        }),
        ..change_of(Change::Changed, &format!("http://a.test/{n}?a&b"), Timestamp(n * 1_000_000))
    };
    let mut feed = Feed::default();
    (0..FEED_ENTRIES_MAX as u64 + 2).for_each(|n| feed.add(changed(n)));
    assert_eq!(feed.left_out(), 2);
    let mut written = Vec::new();
    let id = store::CrawlView::crawl_id(&store).expect("an id");
    feed.write(&id, &format!("changes{NO_CHARS}"), Timestamp(9), &mut written).expect("written");
    let text = String::from_utf8(written).expect("UTF-8");
    assert_eq!(text.matches("<entry>").count(), FEED_ENTRIES_MAX);
    let first = text.find("http://a.test/1001?a&amp;b").expect("the newest");
    assert!(first < text.find("http://a.test/1000?a&amp;b").expect("the one before"));
    assert!(text.contains("<title>changed: &lt;1001&gt;</title>"), "{}", &text[..800]);
    assert!(text.contains("+ new &amp; &quot;better&quot; \u{1f577}\n") && text.contains("+ link http://b.test/"));
    assert!(text.contains("<updated>1970-01-01T00:16:41.000Z</updated>"));
    assert!(!text.contains("http://a.test/1?a&amp;b") && !text.contains(|c: char| NO_CHARS.contains(c)));
    let mut reader = quick_xml::Reader::from_str(&text);
    while !matches!(reader.read_event().expect("well-formed"), quick_xml::events::Event::Eof) {}
}
