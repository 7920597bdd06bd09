//! A worker that crawls a web which exists in a function only: what it does to the state is what a real one does.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use coordination::{GroupName, News, Owned, Worker};
use database::Address;
use frontier::Filter;
use model::{Candidate, Distance, Outcome, Queued, Timestamp, Via, Visit};
use service::access::Proof;
use service::joining::{Joining, ask};
use settings::options::Options;
use settings::plan::Plan;
use store::Batch;
use store_postgres::cluster::{Control, PostgresWorker};
use weburl::{CanonicalRules, CanonicalUrl};

/// A page: what it links to, or what it redirects to.
pub enum Page {
    Links(Vec<String>),
    Redirect(String),
}

/// What is at each URL.
pub type Web = fn(&str) -> Page;

const LEASE: Duration = Duration::from_secs(600);
/// Between two looks at the state where there was nothing to do.
const LOOK_AFTER: Duration = Duration::from_millis(10);
/// URLs taken from a queue in one piece.
const TAKEN_MAX: usize = 20;

/// A running worker, gone with the test.
pub struct Pretended {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct Shared {
    stop: AtomicBool,
    is_gone: AtomicBool,
    asked: Mutex<BTreeMap<String, usize>>,
}

impl Pretended {
    /// Joins by way of a server, as real ones do.
    pub fn join(server: &str, name: &str, web: Web) -> Self {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        let joining = runtime.block_on(ask(server, &Proof::default())).expect("it answers");
        let shared = Arc::new(Shared::default());
        let working = Working::new(&joining, name, web, shared.clone());
        Pretended { shared, thread: Some(std::thread::spawn(move || working.run())) }
    }

    /// How often each URL was asked for.
    pub fn asked(&self) -> BTreeMap<String, usize> {
        self.shared.asked.lock().expect("nobody panicked").clone()
    }

    /// How many URLs were asked for, each once.
    pub fn asked_once(&self) -> usize {
        let asked = self.asked();
        assert!(asked.values().all(|times| *times == 1), "{asked:?}");
        asked.len()
    }

    /// It has handed everything over, and ended.
    pub fn is_gone(&self) -> bool {
        self.shared.is_gone.load(SeqCst)
    }
}

impl Drop for Pretended {
    fn drop(&mut self) {
        self.shared.stop.store(true, SeqCst);
        let ended = self.thread.take().map(JoinHandle::join);
        assert!(std::thread::panicking() || ended.is_none_or(|ended| ended.is_ok()), "the worker failed");
    }
}

struct Working {
    worker: PostgresWorker,
    control: Control,
    plan: Plan,
    web: Web,
    shared: Arc<Shared>,
}

impl Working {
    fn new(joining: &Joining, name: &str, web: Web, shared: Arc<Shared>) -> Self {
        let options: Options = toml::from_str(&joining.settings).expect("settings");
        let (address, schema) = (Address::parse(&joining.store).expect("a database"), &joining.store_schema);
        let schema = schema.parse().expect("a schema");
        let worker = PostgresWorker::join(&address, &schema, name, LEASE).expect("joined");
        let control = Control::open(&address, &schema).expect("opened");
        Working { worker, control, plan: Plan::new(&options).expect("a plan"), web, shared }
    }

    fn run(self) {
        while !self.shared.stop.load(SeqCst) {
            if self.worker.renew().expect("renewed").is_leaving {
                self.worker.gone().expect("gone");
                self.shared.is_gone.store(true, SeqCst);
                return;
            }
            if self.is_paused() || self.work() == 0 {
                std::thread::sleep(LOOK_AFTER);
            }
        }
        self.worker.gone().expect("gone");
    }

    /// Goes by the last change.
    fn is_paused(&self) -> bool {
        let in_force = self.control.in_force(None).expect("read").expect("set up");
        self.worker.goes_by(in_force.changes).expect("told");
        toml::from_str::<Options>(&in_force.settings).expect("settings").paused == Some(true)
    }

    /// Crawls a little of everything that is its own. Says how many URLs that were.
    fn work(&self) -> usize {
        for site in self.worker.unplaced((0, 1), TAKEN_MAX).expect("unplaced") {
            let group = GroupName::of_site(&site);
            self.worker.place(&[(site, group)]).expect("placed");
        }
        let free = self.worker.ownerless(TAKEN_MAX).expect("ownerless");
        let wanted: Vec<_> = free.into_iter().map(|free| (free.group, self.worker.id())).collect();
        self.worker.assign(&wanted, Duration::ZERO).expect("assigned");
        self.worker.hints(TAKEN_MAX).expect("hints");
        // Seeds are known before anything is taken that may have come with them.
        let mut filter = self.plan.settings.filter.clone();
        let unjudged = self.worker.unjudged(TAKEN_MAX).expect("excluded URLs");
        let News { seeds, last: number, .. } = self.worker.news(0).expect("news");
        for seed in seeds {
            filter.scope.add_seed(&seed.url);
        }
        let keys = |urls: &[CanonicalUrl]| urls.iter().map(CanonicalUrl::key).collect::<Vec<_>>();
        let belong: Vec<_> = unjudged.iter().filter(|url| filter.judge(url).is_ok()).cloned().collect();
        self.worker.judged(&keys(&unjudged), &keys(&belong)).expect("judged");
        self.worker.owned().expect("owned").iter().map(|owned| self.crawl(owned, &filter, number)).sum()
    }

    fn crawl(&self, owned: &Owned, filter: &Filter, seeds: i64) -> usize {
        let fence = [(owned.group.clone(), owned.epoch)];
        let mut count = 0;
        for (site, _) in self.worker.sites(std::slice::from_ref(&owned.group)).expect("sites") {
            for queued in self.worker.pending(site, None, TAKEN_MAX).expect("pending") {
                self.worker.commit(&fence, seeds, &self.batch(&queued, filter)).expect("committed");
                count += 1;
            }
        }
        count
    }

    fn batch(&self, queued: &Queued, filter: &Filter) -> Batch {
        let Candidate { url, depth, .. } = &queued.candidate;
        let mut batch = Batch::default();
        let (links, is_redirect) = match &queued.visited {
            Some(visited) => {
                batch.judged_again.push((url.key(), queued.candidate.distance()));
                (visited.outlinks.clone(), visited.outcome == Outcome::Redirect)
            }
            None => {
                *self.shared.asked.lock().expect("nobody panicked").entry(url.to_string()).or_default() += 1;
                let (links, is_redirect) = match (self.web)(url.as_str()) {
                    Page::Links(links) => (links, false),
                    Page::Redirect(target) => (vec![target], true),
                };
                let outcome = if is_redirect { Outcome::Redirect } else { Outcome::Html };
                let visit = Visit::without_fetch(url.key(), outcome, String::new(), Timestamp(1_000_000));
                let target = if is_redirect { links.first().cloned() } else { None };
                let judged_at = queued.candidate.distance();
                batch.visits.push(Visit { judged_at, status: 200, target, outlinks: links.clone(), ..visit });
                (links, is_redirect)
            }
        };
        for link in links {
            let target = CanonicalUrl::parse(&link, &CanonicalRules::default()).expect("a URL");
            let (depth, via) = if is_redirect { (*depth, Via::Redirect) } else { (*depth + 1, Via::Link) };
            if self.plan.settings.depth_max.is_some_and(|max| depth > max) {
                continue;
            }
            let found_on = Some(url.key());
            let Distance { redirects, .. } = queued.candidate.distance();
            let redirects = if is_redirect { redirects + 1 } else { 0 };
            let candidate = Candidate { depth, via, found_on, redirects, ..Candidate::seed(target.clone()) };
            match filter.judge(&target) {
                _ if is_redirect && queued.candidate.via == Via::Seed => {
                    batch.seeds.push(target);
                    batch.found.push(candidate);
                }
                Ok(()) => batch.found.push(candidate),
                Err(rule) => {
                    let visit =
                        Visit::without_fetch(target.key(), Outcome::Excluded, rule.to_string(), Timestamp(1_000_000));
                    batch.settled.push((candidate, visit));
                }
            }
        }
        batch
    }
}
