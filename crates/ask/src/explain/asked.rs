//! What is asked why a URL or a site waits: the state of a crawl with its settings, its changes and its scheduler.

use crawl::steer::Retried;
use crawl::{Change, Changed, LiveView};
use engine::clock::Clock;
use engine::{Prospect, Settings, Spent, State};
use model::{Purpose, Timestamp, Visit};
use settings::plan;
use store::{CrawlView, StoreError};
use weburl::{CanonicalUrl, Site};

use crate::urls::LOOKED_AT_MAX;

/// Changes of the whole crawl that an explanation of a site or URL lists, the last ones; and of those that name it.
const OF_ALL_TOLD_MAX: u64 = 10;
const OF_ONE_TOLD_MAX: u64 = 100;

/// How much of a large site an explanation looks at. What is beyond is not counted, and the explanation says so.
#[derive(Clone, Copy, Debug)]
pub(super) struct Looks {
    /// URLs of a site whose outcomes are counted.
    pub(super) urls_max: usize,
    /// How far into a site's queue a URL's place is looked for, in URLs.
    pub(super) queued_max: usize,
    /// Records of sites among which those of a host at unusual ports are looked for.
    pub(super) sites_max: usize,
}

impl Looks {
    pub(super) const LONG: Self = Looks { urls_max: 200_000, queued_max: 100_000, sites_max: usize::MAX };
    pub(super) const SHORT: Self =
        Looks { urls_max: LOOKED_AT_MAX, queued_max: LOOKED_AT_MAX, sites_max: LOOKED_AT_MAX };
}

/// Who crawls.
#[derive(Clone, Copy)]
pub(super) enum Run<'a> {
    /// A process that answers.
    Live(&'a LiveView),
    /// Nobody now.
    Nobody,
    /// Several workers, of which so many are alive; `None` if that is not known.
    Workers(Option<u64>),
}

/// A crawl that is asked.
pub struct Asked<'a> {
    pub(super) view: &'a dyn CrawlView,
    pub(super) settings: Settings,
    pub(super) run: Run<'a>,
    pub(super) now: Timestamp,
    pub(super) looks: Looks,
    /// What was changed from outside, the oldest first.
    changes: Vec<Changed>,
    /// The seeds that count, where not all are read.
    seeds: Option<Vec<CanonicalUrl>>,
    /// What workers have spent of the budgets of the crawl, where that is counted already.
    spent: Option<Spent>,
}

impl<'a> Asked<'a> {
    pub(super) fn new(view: &'a dyn CrawlView, settings: Settings, run: Run<'a>, changes: Vec<Changed>) -> Self {
        Asked { view, settings, run, now: Clock::start().date(), looks: Looks::LONG, changes, seeds: None, spent: None }
    }

    /// A crawl by workers, of which so many are alive, as its server sees it. What workers know and do not commit is not in it: requests under
    /// way, and visits to an address. Of the seeds those count that are given. It looks at no more than [`LOOKED_AT_MAX`] URLs of a queue.
    #[must_use]
    pub fn of_workers(
        view: &'a dyn CrawlView,
        settings: Settings,
        alive: u64,
        changes: Vec<Changed>,
        seeds: Vec<CanonicalUrl>,
        spent: Spent,
    ) -> Self {
        let asked = Asked::new(view, settings, Run::Workers(Some(alive)), changes);
        Asked { looks: Looks::SHORT, seeds: Some(seeds), spent: Some(spent), ..asked }
    }

    /// What the scheduler of the run says of a site; or that of a run which would go on now. `None` if a crawl is running that cannot be asked.
    pub(super) fn prospect(&self, site: &Site) -> anyhow::Result<Option<Prospect>> {
        let (settings, view, key) = (self.settings.clone(), self.view, site.key());
        let state = match self.run {
            Run::Live(live) => return live.prospect(key),
            Run::Nobody => State::resumed(settings, view, key, self.now)?,
            Run::Workers(_) => State::shared(settings, view, (self.seeds()?, self.spent()?), (key, self.now))?,
        };
        Ok(Some(state.prospect(self.now, key)))
    }

    /// What workers have spent of the budgets of the crawl.
    pub(super) fn spent(&self) -> Result<Spent, StoreError> {
        if let Some(spent) = self.spent {
            return Ok(spent);
        }
        if !self.settings.has_budget() {
            return Ok(Spent::default());
        }
        let totals = self.view.totals()?;
        let began_at = if totals.round.number > 1 { totals.round.began_at } else { self.now };
        Ok(Spent {
            round: totals.round.number,
            pages: totals.pages_in_round(),
            bytes: totals.bytes_of_round,
            lasts: self.now.since(began_at),
        })
    }

    /// The seeds that count.
    pub(super) fn seeds(&self) -> Result<Vec<CanonicalUrl>, StoreError> {
        self.seeds.clone().map_or_else(|| self.view.seeds(), Ok)
    }

    /// The changes from outside that concern a site, or a URL of it with these visits, the oldest first. Of those that are about the whole
    /// crawl the last ones.
    #[must_use]
    pub fn changes_of(&self, site: &Site, url: Option<(&CanonicalUrl, &[Visit])>) -> Told<'_> {
        let (mut changes, mut earlier, mut of_all, mut of_one) = (Vec::new(), 0, 0, 0);
        for changed in self.changes.iter().rev() {
            let (count, max) = match concern(changed, site, url) {
                Concern::None => continue,
                Concern::All => (&mut of_all, OF_ALL_TOLD_MAX),
                Concern::One => (&mut of_one, OF_ONE_TOLD_MAX),
            };
            *count += 1;
            match *count > max {
                true => earlier += 1,
                false => changes.push(changed),
            }
        }
        changes.reverse();
        Told { changes, earlier }
    }
}

/// Changes from outside that are told.
pub struct Told<'a> {
    /// The oldest first.
    pub changes: Vec<&'a Changed>,
    /// How many others there were.
    pub earlier: u64,
}

impl Told<'_> {
    /// Each in words, with its date.
    pub(super) fn in_words(&self) -> Vec<String> {
        self.changes.iter().map(|Changed { at, change, .. }| format!("{change}, {at}")).collect()
    }
}

/// What a change is about, as far as a site or a URL is concerned.
enum Concern {
    /// Something else.
    None,
    /// All of the crawl.
    All,
    /// The site or the URL among few.
    One,
}

fn concern(changed: &Changed, site: &Site, url: Option<(&CanonicalUrl, &[Visit])>) -> Concern {
    let of_url = |is_concerned: &dyn Fn(&CanonicalUrl, &[Visit]) -> bool| match url {
        None => Concern::All,
        Some((url, visits)) if is_concerned(url, visits) => Concern::One,
        Some(_) => Concern::None,
    };
    let of_site = |is_named: bool| if is_named { Concern::One } else { Concern::None };
    match &changed.change {
        Change::Exclude(patterns) | Change::Include(patterns) | Change::Remove(patterns) => of_url(&|url, _| {
            let mut patterns = patterns.iter().filter_map(|text| plan::pattern("", text).ok());
            patterns.any(|pattern| pattern.matches(url.as_str()))
        }),
        Change::Retry(words) => of_url(&|url, visits| {
            let before = visits.iter().rev().find(|visit| visit.at.to_rfc3339() <= changed.at);
            let outcome = before.map(|visit| visit.outcome);
            Retried::read(words).is_ok_and(|retried| retried.names(url.as_str(), Purpose::Page, outcome))
        }),
        Change::Hold(sites) | Change::Release(sites) => of_site(sites.iter().any(|named| named.names(site))),
        Change::DelayFor(delays) => of_site(delays.iter().any(|delay| delay.site.names(site))),
        Change::Seeds(seeds) => of_site(url.is_some_and(|(url, _)| seeds.iter().any(|seed| seed == url.as_str()))),
        Change::Pause | Change::Resume | Change::Stop | Change::Set(_) | Change::Unset(_) => Concern::All,
    }
}

#[cfg(test)]
mod tests {
    use model::Outcome;
    use settings::options::Options;
    use settings::plan::Plan;
    use store::MemoryStore;

    use super::*;

    #[test]
    fn what_concerns_a_url_is_told_however_much_was_changed_of_all_since() {
        let (store, url) = (MemoryStore::new(), CanonicalUrl::from_canonical("http://a.test/p/15").expect("a URL"));
        let words = |words: &str| words.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let mut changes = vec![
            Change::Exclude(words("*/p/15*")),
            Change::Exclude(words("*/other/*")),
            Change::Retry(words("timeout")),
            Change::Retry(words("*p*")),
            Change::Retry(words("excluded")),
        ];
        changes.extend((0..6).flat_map(|_| [Change::Pause, Change::Resume]));
        let at = |n: usize| Timestamp(n as u64 * 1_000_000);
        let dated = |(n, change)| Changed { at: at(n).to_rfc3339(), change, order: None, replaced: None };
        let changes = changes.into_iter().enumerate().map(dated).collect();
        let settings = Plan::new(&Options::default()).expect("a plan").settings;
        let asked = Asked::of_workers(&store, settings, 1, changes, Vec::new(), Spent::default());
        let told = |url: Option<(&CanonicalUrl, &[Visit])>| {
            let told = asked.changes_of(&Site::from_text("http://a.test").expect("a site"), url);
            let words = told.changes.iter().map(|changed| changed.change.to_string());
            (words.filter(|words| !["pause", "resume"].contains(&&**words)).collect::<Vec<_>>(), told.earlier)
        };
        let visit = |outcome| [Visit::without_fetch(url.key(), outcome, String::new(), at(1))];
        for (visits, expect) in [
            (&[][..], &["exclude */p/15*"][..]),
            (&visit(Outcome::Html), &["exclude */p/15*"]),
            (&visit(Outcome::Excluded), &["exclude */p/15*", "retry *p*", "retry excluded"]),
            (&visit(Outcome::Timeout), &["exclude */p/15*", "retry timeout", "retry *p*"]),
        ] {
            assert_eq!(told(Some((&url, visits))), (expect.iter().map(ToString::to_string).collect(), 2), "{visits:?}");
        }
        assert_eq!(told(None), (Vec::new(), 7), "a site has the last ones");
    }
}
