//! What a change brings besides the known URLs that it concerns: new URLs, and the end of a run whose budget is spent.

use std::collections::HashSet;
use std::time::Duration;

use engine::Settings;
use model::Outcome;
use printable::counted;
use settings::options::Options;
use settings::plan::Plan;
use settings::units::{Span, human_bytes};
use store::{CrawlView, Entry, Totals};
use weburl::CanonicalUrl;

use super::queue::REMOVED;
use super::{Change, seeds_of};

/// Excluded seeds that are named.
const EXCLUDED_TOLD_MAX: usize = 5;

/// Who takes a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Taker {
    /// The run that goes on.
    Run,
    /// The next run.
    NextRun,
    /// The server of a crawl by several workers. It keeps the secrets of seeds, and puts those into the queue that rules had excluded when
    /// they were found.
    Server,
}

/// What becomes of seeds.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Seeds {
    /// URLs that come into the queue: those that the crawl does not know yet, as a rule.
    pub(super) added: u64,
    /// Those that it has as seeds.
    given: u64,
    /// Those in the queue: not visited yet, or to be visited again.
    waiting: u64,
    /// Those that it has visited, or that were refused, and that do not wait.
    found: u64,
    /// Those that its rules, or somebody, excluded before.
    kept_out: u64,
    /// Those that its rules exclude, and the rules.
    excluded: Vec<(CanonicalUrl, String)>,
}

impl Seeds {
    /// Judges seeds as the taker does.
    ///
    /// # Errors
    /// One is no URL, or the state cannot be read.
    pub(super) fn judged(
        texts: &[String],
        options: &Options,
        view: &dyn CrawlView,
        taker: Taker,
    ) -> anyhow::Result<Self> {
        let mut plan = Plan::new(options)?;
        let seeds = match taker {
            Taker::Server => plan.take_seeds(texts)?,
            Taker::Run | Taker::NextRun => seeds_of(options, texts)?,
        };
        let seeds: HashSet<CanonicalUrl> = seeds.into_iter().collect();
        let before: HashSet<CanonicalUrl> = view.seeds()?.into_iter().collect();
        let mut filter = plan.settings.filter;
        for seed in before.iter().chain(&seeds) {
            filter.scope.add_seed(seed);
        }
        let mut judged = Seeds::default();
        for seed in seeds {
            let known = view.get(seed.key())?;
            match (known, filter.judge_seed(&seed)) {
                (Some(known), _) if is_excluded(&known) && (taker != Taker::Server || was_removed(&known)) => {
                    judged.kept_out += 1;
                }
                _ if before.contains(&seed) => judged.given += 1,
                (Some(known), _) if known.visit.is_none() || known.again => judged.waiting += 1,
                (Some(known), Ok(())) if taker == Taker::Server && is_excluded(&known) => judged.added += 1,
                (Some(_), _) => judged.found += 1,
                (None, Ok(())) => judged.added += 1,
                (None, Err(rule)) => judged.excluded.push((seed, rule.to_string())),
            }
        }
        judged.excluded.sort();
        Ok(judged)
    }

    fn notes(self) -> Vec<String> {
        let are = |urls: u64| format!("{} {}", counted(urls, "URL"), if urls == 1 { "is" } else { "are" });
        let more = self.excluded.len().saturating_sub(EXCLUDED_TOLD_MAX) as u64;
        let mut notes = Vec::new();
        if self.given > 0 {
            notes.push(format!("{} given as seeds already", are(self.given)));
        }
        if self.waiting > 0 {
            notes.push(format!("{} in the queue already", are(self.waiting)));
        }
        if self.found > 0 {
            notes.push(format!("{} known already, and not visited again", are(self.found)));
        }
        if self.kept_out > 0 {
            let stay = if self.kept_out == 1 { "stays so" } else { "stay so" };
            notes.push(format!("{} excluded already, and {stay}: `retry excluded` looks again", are(self.kept_out)));
        }
        let excluded = self.excluded.iter().take(EXCLUDED_TOLD_MAX);
        notes.extend(excluded.map(|(url, rule)| format!("{url} is excluded: {rule}")));
        if more > 0 {
            notes.push(format!("{more} more are excluded"));
        }
        notes
    }
}

/// Whether rules, or somebody, kept a URL out.
fn is_excluded(known: &Entry) -> bool {
    known.visit.as_ref().is_some_and(|visit| visit.outcome == Outcome::Excluded)
}

/// Whether somebody took a URL out of the queue.
fn was_removed(known: &Entry) -> bool {
    known.visit.as_ref().is_some_and(|visit| visit.reason.starts_with(REMOVED))
}

/// What somebody should know of a change, in sentences: what becomes of seeds, and what of a budget is spent. The time is that of the run, or of
/// the round of workers, if it is known.
///
/// # Errors
/// The change cannot be used, or the state cannot be read.
pub fn foreseen(
    change: &Change,
    options: &Options,
    view: &dyn CrawlView,
    (taker, lasts): (Taker, Option<Duration>),
) -> anyhow::Result<Vec<String>> {
    Ok(match change {
        Change::Seeds(texts) => Seeds::judged(texts, options, view, taker)?.notes(),
        Change::Set(_) | Change::Unset(_) => {
            let before = Plan::new(options)?;
            match change.plan(&before.options)? {
                Some(after) => budgets(&before.settings, &after.settings, &view.totals()?, (taker, lasts)),
                None => Vec::new(),
            }
        }
        _ => Vec::new(),
    })
}

/// What the budgets that change leave to a crawl.
fn budgets(
    before: &Settings,
    after: &Settings,
    totals: &Totals,
    (taker, lasts): (Taker, Option<Duration>),
) -> Vec<String> {
    let pages = |pages: u64| counted(pages, "page");
    let end = match (taker, after.requisites) {
        (Taker::Run, false) => "the run ends at once",
        (Taker::Run, true) => "the run ends when it has what these pages need",
        (Taker::NextRun, _) => "a run that goes on with this round ends at once",
        (Taker::Server, _) => "the workers begin no further visit until it is larger, or another round begins",
    };
    let of_round = |flag: &str, max: u64, spent: u64, amount: &dyn Fn(u64) -> String| {
        let left = match max.checked_sub(spent).filter(|left| *left > 0) {
            Some(left) => format!("{} more may be", amount(left)),
            None => end.to_owned(),
        };
        format!("{} of this round fetched so far: {left} ({flag})", amount(spent))
    };
    let mut notes = Vec::new();
    if let Some(max) = after.pages_max.filter(|_| before.pages_max != after.pages_max) {
        notes.push(of_round("--max-pages", max, totals.pages_in_round(), &pages));
    }
    if let Some(max) = after.bytes_max.filter(|_| before.bytes_max != after.bytes_max) {
        notes.push(of_round("--max-bytes", max, totals.bytes_of_round, &human_bytes));
    }
    if let Some(max) = after.time_max.filter(|_| before.time_max != after.time_max) {
        notes.push(match (taker, lasts) {
            (_, Some(lasts)) => {
                let of = if taker == Taker::Server { "the round" } else { "the run" };
                let left = match max.checked_sub(lasts).filter(|left| !left.is_zero()) {
                    Some(left) => format!("{} more", Span(whole_seconds(left))),
                    None => end.to_owned(),
                };
                format!("{of} has lasted {} so far: {left} (--max-time)", Span(whole_seconds(lasts)))
            }
            (Taker::Run | Taker::NextRun, None) => {
                format!("a run ends {} after its begin: one that is older, at once (--max-time)", Span(max))
            }
            (Taker::Server, None) => {
                format!("the workers begin no visit later than {} after the begin of the round (--max-time)", Span(max))
            }
        });
    }
    let of_site = |settings: &Settings| settings.site_rules.pages_per_site_max;
    if let Some(max) = of_site(after).filter(|_| of_site(before) != of_site(after)) {
        notes.push(format!("a site with {} or more gets no further new ones (--max-pages-per-site)", pages(max)));
    }
    notes
}

/// Without the part of a second, where there is more.
fn whole_seconds(time: Duration) -> Duration {
    if time.as_secs() > 0 { Duration::from_secs(time.as_secs()) } else { time }
}

#[cfg(test)]
mod tests {
    use model::{Candidate, Round, Timestamp, Visit};
    use store::{Batch, MemoryStore, Store};
    use weburl::CanonicalRules;

    use super::*;
    use crate::steer::Counting;

    fn url(text: &str) -> CanonicalUrl {
        CanonicalUrl::parse(text, &CanonicalRules::default()).expect("a URL")
    }

    /// A crawl with three pages of ten bytes each, and one URL that waits.
    fn crawled() -> MemoryStore {
        let store = MemoryStore::new();
        let urls: Vec<_> = (0..4).map(|n| url(&format!("http://a.test/{n}"))).collect();
        let found = urls.iter().cloned().map(Candidate::seed).collect();
        store.commit(&Batch { found, seeds: vec![urls[0].clone()], ..Batch::default() }).expect("a commit");
        let visit = |url: &CanonicalUrl| Visit {
            length: 10,
            ..Visit::without_fetch(url.key(), Outcome::Html, String::new(), Timestamp(1))
        };
        store.commit(&Batch { visits: urls[..3].iter().map(visit).collect(), ..Batch::default() }).expect("a commit");
        store
    }

    #[test]
    fn seeds_that_are_new_are_counted_and_the_others_told() {
        let options = Options { exclude: vec!["*.pdf".to_owned()], ..Options::default() };
        let seeds = |urls: &[&str]| Change::Seeds(urls.iter().map(ToString::to_string).collect());
        let store = crawled();
        for (urls, said, notes) in [
            (&["http://new.test/"][..], "it would add 1 URL to the queue", vec![]),
            (
                &["http://new.test/", "http://a.test/new", "http://new.test/", "http://a.test/0", "http://a.test/1"],
                "it would add 2 URLs to the queue",
                vec!["1 URL is given as seeds already", "1 URL is known already, and not visited again"],
            ),
            (&["http://a.test/3"], "it would concern 0 URLs in the queue", vec!["1 URL is in the queue already"]),
            (
                &["http://new.test/a.pdf"],
                "it would concern 0 URLs in the queue",
                vec!["http://new.test/a.pdf is excluded: exclude *.pdf"],
            ),
        ] {
            let change = seeds(urls);
            let counting = Counting::of(&change, &options, &store, Taker::Run).expect("a change");
            assert!(counting.is_complete(), "no known URL is affected");
            assert_eq!(counting.affected().to_string(), said, "{urls:?}");
            assert_eq!(foreseen(&change, &options, &store, (Taker::Run, None)).expect("a change"), notes, "{urls:?}");
        }
        // In a second round, a URL that has a visit is in the queue again.
        let round = Some(Round { number: 2, began_at: Timestamp(2), is_choosing: false });
        store
            .commit(&Batch { round, again: vec![url("http://a.test/2").key()], ..Batch::default() })
            .expect("a commit");
        let told = foreseen(&seeds(&["http://a.test/1", "http://a.test/2"]), &options, &store, (Taker::Run, None));
        assert_eq!(
            told.expect("a change"),
            ["1 URL is in the queue already", "1 URL is known already, and not visited again"]
        );
        let many = (0..8).map(|n| format!("http://a.test/{n}.pdf")).collect();
        let told = foreseen(&Change::Seeds(many), &options, &store, (Taker::Run, None)).expect("a change");
        assert_eq!((told.len(), told.last().map(String::as_str)), (6, Some("3 more are excluded")));
    }

    #[test]
    fn a_server_takes_seeds_with_secrets_and_those_that_were_excluded() {
        let (store, options) = (crawled(), Options { exclude: vec!["*.pdf".to_owned()], ..Options::default() });
        let [found, kept_out] = ["http://b.test/", "http://b.test/a.pdf"].map(url);
        let settled = |url: &CanonicalUrl| {
            let visit = Visit::without_fetch(url.key(), Outcome::Excluded, "out of scope".to_owned(), Timestamp(1));
            (Candidate::seed(url.clone()), visit)
        };
        let settled = [&found, &kept_out].map(settled).into();
        store.commit(&Batch { settled, ..Batch::default() }).expect("a commit");
        let known = Change::Seeds([&found, &kept_out].map(ToString::to_string).into());
        let secret = Change::Seeds(vec!["http://me:secret@new.test/".to_owned()]);
        let added = |change: &Change, taker| {
            Counting::of(change, &options, &store, taker).map(|counting| counting.affected().added)
        };
        assert_eq!(added(&known, Taker::Server).expect("a change"), 1);
        assert_eq!(added(&known, Taker::Run).expect("a change"), 0, "a run leaves them as they are");
        assert_eq!(
            foreseen(&known, &options, &store, (Taker::Run, None)).expect("a change"),
            ["2 URLs are excluded already, and stay so: `retry excluded` looks again"]
        );
        assert_eq!(added(&secret, Taker::Server).expect("a change"), 1);
        assert!(added(&secret, Taker::Run).expect_err("a secret").is::<settings::Usage>());
        assert_eq!(foreseen(&secret, &options, &store, (Taker::Server, None)).expect("a change"), [""; 0]);
    }

    #[test]
    fn a_budget_that_is_spent_ends_the_run() {
        let store = crawled();
        let options = Options { max_pages: Some(100), ..Options::default() };
        let set = |lines: &str| Change::Set(lines.to_owned());
        let (running, next, server) = (Taker::Run, Taker::NextRun, Taker::Server);
        for (change, taker, notes) in [
            (
                set("max-pages = 2\n"),
                running,
                &["3 pages of this round fetched so far: the run ends at once (--max-pages)"][..],
            ),
            (
                set("max-pages = 3\n"),
                running,
                &["3 pages of this round fetched so far: the run ends at once (--max-pages)"],
            ),
            (
                set("max-pages = 3\n"),
                next,
                &[
                    "3 pages of this round fetched so far: a run that goes on with this round ends at once (--max-pages)",
                ],
            ),
            (
                set("max-pages = 4\n"),
                running,
                &["3 pages of this round fetched so far: 1 page more may be (--max-pages)"],
            ),
            (
                set("max-bytes = \"30\"\n"),
                running,
                &["30 B of this round fetched so far: the run ends at once (--max-bytes)"],
            ),
            (
                set("max-bytes = \"1kB\"\n"),
                running,
                &["30 B of this round fetched so far: 970 B more may be (--max-bytes)"],
            ),
            (
                set("max-time = \"1h\"\nmax-pages-per-site = 1\n"),
                running,
                &[
                    "a run ends 1h after its begin: one that is older, at once (--max-time)",
                    "a site with 1 page or more gets no further new ones (--max-pages-per-site)",
                ],
            ),
            (
                set("max-pages = 3\nmax-time = \"1h\"\n"),
                server,
                &[
                    "3 pages of this round fetched so far: the workers begin no further visit until it is larger, or another round begins \
                     (--max-pages)",
                    "the workers begin no visit later than 1h after the begin of the round (--max-time)",
                ],
            ),
            // What is in force already, and what is no budget.
            (set("max-pages = 100\n"), running, &[]),
            (set("delay = \"5s\"\n"), running, &[]),
            (Change::Unset(vec!["max-pages".to_owned()]), running, &[]),
            (Change::Pause, running, &[]),
        ] {
            let told = foreseen(&change, &options, &store, (taker, None)).expect("a change");
            assert_eq!(told, notes, "{change}");
        }
        for (max, lasts, taker, expect) in [
            ("1h", 59, running, "the run has lasted 59s so far: 59m 1s more (--max-time)"),
            ("1s", 4, running, "the run has lasted 4s so far: the run ends at once (--max-time)"),
            ("4s", 4, running, "the run has lasted 4s so far: the run ends at once (--max-time)"),
            (
                "1m",
                90,
                server,
                "the round has lasted 1m 30s so far: the workers begin no further visit until it is larger, or another round begins \
                 (--max-time)",
            ),
        ] {
            let change = set(&format!("max-time = \"{max}\"\n"));
            let lasts = Some(Duration::from_secs(lasts));
            assert_eq!(foreseen(&change, &options, &store, (taker, lasts)).expect("a change"), [expect], "{max}");
        }
    }
}
