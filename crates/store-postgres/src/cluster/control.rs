//! What a server that clients talk to asks of the database. It keeps nothing itself, so there may be several, at any time.

mod of_page;
mod statements;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use coordination::{GroupName, Member, Placed, WorkerId};
use database::Address;
use model::{Candidate, ContentDigest, Outcome, PayloadDigest, SiteRecord, Timestamp};
use postgres::Row;
use store::{Batch, Committed, CrawlView, Layer, Store, StoreError, Totals};
use weburl::{CanonicalUrl, Site, SiteKey, UrlKey};

use super::{duration, keys};
use crate::PostgresView;
use crate::commit::Writer;
use crate::error::damaged;
use crate::numbers::{from_ordered, key, limit, ordered};
use crate::read::Reader;
use crate::rows::{Columns, outcome};
use crate::schema::Schema;
use crate::session::{Parameters, Role, Session};

pub use of_page::SegmentPlace;

/// URLs or sites looked at in one piece.
const WINDOW: usize = 1_000;

/// How a crawl is set up: what the first server says for all servers and workers.
#[derive(Clone, Debug, PartialEq)]
pub struct Setup {
    /// The settings, a `crawl.toml`.
    pub settings: String,
    /// Where the archive is, a URL.
    pub archive: String,
    /// How long a lease of a worker lasts.
    pub lease: Duration,
    /// By what politeness groups are given to workers, in one word.
    pub placement: String,
    /// The depth from which no link is followed.
    pub bottom: u32,
}

/// What all servers and workers of a crawl share.
#[derive(Clone, Debug, PartialEq)]
pub struct Shared {
    /// The settings, a `crawl.toml`.
    pub settings: String,
    /// Where the archive is, a URL.
    pub archive: String,
    /// How long a lease of a worker lasts. Not known of a crawl of an earlier format before it is set up again.
    pub lease: Option<Duration>,
    /// By what politeness groups are given to workers; known as the lease is.
    pub placement: Option<String>,
}

/// Some of the sites of a crawl.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reach {
    /// All of them.
    pub all: bool,
    /// These.
    pub sites: Vec<SiteKey>,
    /// Those of hosts, and, where that is true, of all hosts below it.
    pub hosts: Vec<(String, bool)>,
}

/// What became of the URLs of some sites.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcomes {
    /// URLs that wait.
    pub waiting: u64,
    /// All others.
    pub outcomes: BTreeMap<Outcome, u64>,
}

/// A site of a worker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Domain {
    /// The site.
    pub site: Site,
    /// URLs that wait.
    pub waiting: u64,
    /// URLs fetched with success.
    pub fetched: u64,
    /// How it stands.
    pub state: SiteStanding,
    /// No visit before this time.
    pub due_at: Timestamp,
    /// The last failure of a site in trouble, or given up.
    pub trouble: Option<String>,
}

/// How a site stands, in the order in which somebody may have to do something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SiteStanding {
    /// Nothing is asked of it until somebody releases it.
    Hold,
    /// It is in trouble, and left alone for a while.
    Aside,
    /// It is given up.
    GivenUp,
    /// None of these.
    Active,
}

/// The states of sites, by their numbers in statements.
const STATES: [SiteStanding; 4] =
    [SiteStanding::Hold, SiteStanding::Aside, SiteStanding::GivenUp, SiteStanding::Active];

impl SiteStanding {
    /// The word for it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            SiteStanding::Hold => "hold",
            SiteStanding::Aside => "aside",
            SiteStanding::GivenUp => "given_up",
            SiteStanding::Active => "active",
        }
    }
}

/// The sites that are asked for of a worker.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SitesAsked {
    /// From behind the one of this name.
    pub after: String,
    /// At most so many.
    pub max: usize,
    /// By state and name, not by name alone.
    pub by_state: bool,
    /// Those on hold.
    pub held: Vec<SiteKey>,
}

/// A site in trouble.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InTrouble {
    /// The site.
    pub site: String,
    /// When it may be asked again.
    pub due_at: Timestamp,
    /// The last failure.
    pub reason: String,
}

/// Some values of many, in order.
#[derive(Debug)]
pub struct Window<T> {
    /// The values.
    pub values: Vec<T>,
    /// Behind what the next ones come; none where these are the last.
    pub next: Option<SiteKey>,
}

/// How much there is of what only a crawl by several workers has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Politeness groups that nobody owns.
    pub groups_without_owner: u64,
    /// Sites with a queue that are in no group.
    pub sites_without_group: u64,
    /// Segments that are final.
    pub segments_sealed: u64,
    /// Segments that are being written.
    pub segments_open: u64,
    /// Bytes of segments that are not final.
    pub unsealed_bytes: u64,
    /// Sites in trouble, which get no requests for a while.
    pub sites_aside: u64,
    /// Workers whose leases ran out before they had left.
    pub leases_lost: u64,
    /// When the last commit was made; none while nobody has committed.
    pub committed_at: Option<Timestamp>,
}

/// A server's way to the state.
pub struct Control {
    address: Address,
    schema: Schema,
    /// None after a failure, until the next commit makes another.
    writer: Mutex<Option<Writer>>,
    session: Session,
    /// Beside the session, so that counting all URLs keeps nobody waiting.
    view: PostgresView,
    pulse: Session,
}

impl Control {
    /// Opens the state. A single process that has it open ([`crate::PostgresStore`]) keeps servers out, and they keep it out.
    ///
    /// # Errors
    /// As [`crate::PostgresStore::open`].
    pub fn open(address: &Address, schema: &Schema) -> Result<Self, StoreError> {
        let (writer, crawl_id) = writer(address, schema)?;
        let (session, _) = Session::open(address, schema, Role::Read)?;
        Ok(Control {
            address: address.clone(),
            schema: schema.clone(),
            writer: Mutex::new(Some(writer)),
            session,
            view: PostgresView { reader: Reader::open(address, schema)?, crawl_id },
            pulse: Session::open_impatient(address, schema)?,
        })
    }

    /// Asks the database whether it answers, on a connection that waits for nothing else. What is asked otherwise waits for a minute for a
    /// database that is away, and for ever for one that is silent.
    ///
    /// # Errors
    /// It is away. A database that is silent keeps this waiting too.
    pub fn beat(&self) -> Result<(), StoreError> {
        self.pulse.query("asking whether the database answers", statements::BEAT, Vec::new())?;
        Ok(())
    }

    /// What tells this crawl from all others.
    #[must_use]
    pub fn crawl_id(&self) -> &str {
        &self.view.crawl_id
    }

    /// What is shared; nothing before the first server has set the crawl up.
    ///
    /// # Errors
    /// The store failed.
    pub fn shared(&self) -> Result<Option<Shared>, StoreError> {
        let rows = self.session.query("reading the settings of the crawl", statements::SHARED, Vec::new())?;
        rows.first().map(shared).transpose()
    }

    /// Sets the crawl up, unless that was done before, and gives what is shared from now on. Sites that a single process left with a
    /// queue are given to workers.
    ///
    /// # Errors
    /// The store failed.
    pub fn set_up(&self, setup: &Setup) -> Result<Shared, StoreError> {
        let Setup { settings, archive, lease, placement, bottom } = setup.clone();
        let parameters: Parameters = vec![
            Box::new(settings),
            Box::new(archive),
            Box::new(lease.as_secs_f64()),
            Box::new(placement),
            Box::new(i64::from(bottom)),
        ];
        self.session.query("setting the crawl up", statements::SET_UP, parameters)?;
        self.shared()?.ok_or_else(|| damaged("crawl", "it cannot be written to"))
    }

    /// Makes URLs seeds and puts them into the queue, nearer if they were there by a longer way.
    ///
    /// # Errors
    /// The store failed. Nothing was written, or all of it; adding them again is right in both cases.
    pub fn add(&self, seeds: &[Candidate]) -> Result<Committed, StoreError> {
        self.commit(&Batch {
            found: seeds.to_vec(),
            seeds: seeds.iter().map(|seed| seed.url.clone()).collect(),
            ..Batch::default()
        })
    }

    /// Puts URLs into the queue that are no seeds, such as sitemaps; nearer if they were there by a longer way.
    ///
    /// # Errors
    /// As [`Control::add`].
    pub fn find(&self, found: Vec<Candidate>) -> Result<Committed, StoreError> {
        self.commit(&Batch { found, ..Batch::default() })
    }

    fn committed(&self, batch: &Batch) -> Result<Committed, StoreError> {
        let mut slot = self.writer();
        let mut current = match slot.take() {
            Some(writer) => writer,
            None => writer(&self.address, &self.schema)?.0,
        };
        let committed = current.commit(&[], 0, batch)?;
        *slot = Some(current);
        Ok(committed)
    }

    /// Tells the owners of these sites that the queues there have changed.
    ///
    /// # Errors
    /// The store failed.
    pub fn hint(&self, sites: &BTreeSet<SiteKey>) -> Result<(), StoreError> {
        let sites: Vec<i64> = sites.iter().map(|site| ordered(site.0)).collect();
        self.session.query("telling workers of changed queues", statements::HINT, vec![Box::new(sites)])?;
        Ok(())
    }

    /// How many of these URLs are seeds.
    ///
    /// # Errors
    /// The store failed.
    pub fn count_seeds(&self, urls: &[UrlKey]) -> Result<u64, StoreError> {
        let rows = self.session.query("looking up seeds", statements::COUNT_SEEDS, keys(urls))?;
        rows.first().map_or(Ok(0), |row| count(&mut Columns::of("seed", row)))
    }

    /// Whether there is a seed at depth 0.
    ///
    /// # Errors
    /// The store failed.
    pub fn has_whole_seed(&self) -> Result<bool, StoreError> {
        let rows = self.session.query("looking up seeds", statements::HAS_WHOLE_SEED, Vec::new())?;
        rows.first().map_or(Ok(false), |row| Columns::of("seed", row).next())
    }

    /// Sites of a reach, behind `after`, whose robots.txt is known and of which no sitemap has been read; a window of them in order.
    ///
    /// # Errors
    /// The store failed.
    pub fn without_sitemap(&self, reach: &Reach, after: Option<SiteKey>) -> Result<Window<SiteRecord>, StoreError> {
        let behind: Parameters =
            vec![Box::new(after.map_or(i64::MIN, |site| ordered(site.0))), Box::new(limit(WINDOW))];
        let doing = "looking for sites without a sitemap";
        let rows = if reach.all {
            self.session.query(doing, statements::NO_SITEMAP_AT_ALL, behind)?
        } else {
            self.session.query(doing, statements::NO_SITEMAP, parameters(reach).into_iter().chain(behind).collect())?
        };
        let mut window = Window { values: Vec::new(), next: None };
        for row in &rows {
            let site = SiteKey(from_ordered(Columns::of("site", row).next()?));
            window.values.extend(self.view.site(site)?);
            window.next = Some(site).filter(|_| rows.len() == WINDOW);
        }
        Ok(window)
    }

    /// Puts those URLs into the queue that were settled as excluded and belong to the crawl after all: `judge` says of which that is
    /// so, `seeds` are some of them in any case. Looks at what was settled on `hosts` ([`Reach::hosts`]), in pieces. Says how many
    /// they were.
    ///
    /// # Errors
    /// The store failed; what was put there before stays.
    pub fn admit(
        &self,
        hosts: &[(String, bool)],
        seeds: &[UrlKey],
        judge: impl Fn(&CanonicalUrl) -> bool,
    ) -> Result<u64, StoreError> {
        let mut admitted = 0;
        for seeds in seeds.chunks(WINDOW) {
            admitted += self.admit_all(seeds)?;
        }
        for (host, below) in hosts {
            let mut after: Option<CanonicalUrl> = None;
            loop {
                let settled = self.settled(host, *below, after.as_ref())?;
                let wanted: Vec<UrlKey> = settled.iter().filter(|url| judge(url)).map(CanonicalUrl::key).collect();
                admitted += self.admit_all(&wanted)?;
                if settled.len() < WINDOW {
                    break;
                }
                after = settled.into_iter().next_back();
            }
        }
        Ok(admitted)
    }

    fn admit_all(&self, urls: &[UrlKey]) -> Result<u64, StoreError> {
        if urls.is_empty() {
            return Ok(0);
        }
        let rows = self.session.query("admitting URLs", statements::ADMIT, keys(urls))?;
        rows.first().map_or(Ok(0), |row| count(&mut Columns::of("url", row)))
    }

    /// A window of the URLs that were settled on a host and, where wanted, below it; then some of other hosts may be among them.
    fn settled(&self, host: &str, below: bool, after: Option<&CanonicalUrl>) -> Result<Vec<CanonicalUrl>, StoreError> {
        let (site, url) = after.map_or((i64::MIN, i64::MIN), |after| key(after.key()));
        let from = backwards(after.map_or(host, CanonicalUrl::host));
        // What comes behind the host, or behind the dot: hosts below it begin with the host and a dot, backwards.
        let end = format!("{}{}", backwards(host), if below { '/' } else { '\u{1}' });
        let parameters: Parameters =
            vec![Box::new(from), Box::new(site), Box::new(url), Box::new(end), Box::new(limit(WINDOW))];
        let rows = self.session.query("looking for excluded URLs", statements::SETTLED, parameters)?;
        rows.iter().map(|row| Columns::of("url", row).url()).collect()
    }

    /// Whether anything is left to do of these sites: whether one has a queue, and may have more pages than so many, its budget. The queue of
    /// a site whose budget is spent waits for a larger one, but for URLs to be visited again that come first, and for requisites.
    ///
    /// # Errors
    /// The store failed.
    pub fn is_waiting(&self, reach: &Reach, pages_per_site_max: Option<u64>) -> Result<bool, StoreError> {
        let mut parameters = parameters(reach);
        parameters.push(Box::new(reach.all));
        parameters.push(Box::new(budget(pages_per_site_max)));
        let rows = self.session.query("looking for URLs that wait", statements::IS_WAITING, parameters)?;
        rows.first().map_or(Ok(false), |row| Columns::of("queue", row).next())
    }

    /// Sites with a queue whose budget of so many pages is spent.
    ///
    /// # Errors
    /// The store failed.
    pub fn sites_spent(&self, pages_per_site_max: u64) -> Result<u64, StoreError> {
        let parameters: Parameters = vec![Box::new(budget(Some(pages_per_site_max)))];
        let rows = self.session.query("counting sites whose budget is spent", statements::SITES_SPENT, parameters)?;
        rows.first().map_or(Ok(0), |row| count(&mut Columns::of("site", row)))
    }

    /// What became of the URLs of these sites.
    ///
    /// # Errors
    /// The store failed.
    pub fn outcomes(&self, reach: &Reach) -> Result<Outcomes, StoreError> {
        if reach.all {
            let Totals { pending, outcomes, .. } = self.view.totals()?;
            return Ok(Outcomes { waiting: pending, outcomes });
        }
        let mut outcomes = Outcomes::default();
        for row in self.session.query("counting", statements::OUTCOMES, parameters(reach))? {
            let mut columns = Columns::of("visit", &row);
            let word: Option<&str> = columns.next()?;
            let count = count(&mut columns)?;
            match word {
                None => outcomes.waiting = count,
                Some(word) => {
                    let outcome = outcome(word).ok_or_else(|| damaged("visit", "unknown outcome"))?;
                    outcomes.outcomes.insert(outcome, count);
                }
            }
        }
        Ok(outcomes)
    }

    /// The workers that are alive, those that leave among them.
    ///
    /// # Errors
    /// The store failed.
    pub fn members(&self) -> Result<Vec<Member>, StoreError> {
        super::members(&self.session)
    }

    /// How many sites these workers own.
    ///
    /// # Errors
    /// The store failed.
    pub fn sites_owned(&self, workers: &[Member]) -> Result<BTreeMap<WorkerId, u64>, StoreError> {
        let workers: Vec<i64> = workers.iter().map(|worker| worker.id.0).collect();
        let rows =
            self.session.query("counting the sites of workers", statements::SITES_OWNED, vec![Box::new(workers)])?;
        let owned = rows.iter().map(|row| {
            let mut columns = Columns::of("politeness_group", row);
            Ok((WorkerId(columns.next()?), count(&mut columns)?))
        });
        owned.collect()
    }

    /// How long the leases of the workers that are alive have left.
    ///
    /// # Errors
    /// The store failed.
    pub fn leases_left(&self) -> Result<BTreeMap<WorkerId, Duration>, StoreError> {
        let rows = self.session.query("reading the leases", statements::LEASES_LEFT, Vec::new())?;
        let left = rows.iter().map(|row| {
            let mut columns = Columns::of("worker", row);
            Ok((WorkerId(columns.next()?), duration(&mut columns)?))
        });
        left.collect()
    }

    /// The politeness groups without an owner, and for how long they have none: the longest first, at most `max`.
    ///
    /// # Errors
    /// The store failed.
    pub fn unowned(&self, max: usize) -> Result<Vec<(GroupName, Duration)>, StoreError> {
        let rows = self.session.query(
            "reading the groups without an owner",
            statements::UNOWNED,
            vec![Box::new(limit(max))],
        )?;
        let unowned = rows.iter().map(|row| {
            let mut columns = Columns::of("politeness_group", row);
            Ok((GroupName(columns.next()?), duration(&mut columns)?))
        });
        unowned.collect()
    }

    /// Who can answer questions about pages: the names of the workers that are alive, and those of the segments that workers left which
    /// are gone.
    ///
    /// # Errors
    /// The store failed.
    pub fn answering(&self) -> Result<(Vec<String>, Vec<String>), StoreError> {
        let (mut workers, mut segments) = (Vec::new(), Vec::new());
        for row in self.session.query("looking for those who can answer", statements::ANSWERING, Vec::new())? {
            let mut columns = Columns::of("segment", &row);
            let is_worker = columns.next()?;
            if is_worker { &mut workers } else { &mut segments }.push(columns.text()?);
        }
        Ok((workers, segments))
    }

    /// How many URLs of a site wait, at most so many.
    ///
    /// # Errors
    /// The store failed.
    pub fn waiting_on(&self, site: SiteKey, max: usize) -> Result<usize, StoreError> {
        let parameters: Parameters = vec![Box::new(ordered(site.0)), Box::new(limit(max))];
        let rows = self.session.query("counting URLs that wait", statements::WAITING_ON, parameters)?;
        let waiting = rows.first().map_or(Ok(0), |row| count(&mut Columns::of("queue", row)))?;
        Ok(usize::try_from(waiting).unwrap_or(max))
    }

    /// The sites in trouble that may be asked first, at most `max`.
    ///
    /// # Errors
    /// The store failed.
    pub fn in_trouble(&self, max: usize) -> Result<Vec<InTrouble>, StoreError> {
        let parameters: Parameters = vec![Box::new(limit(max))];
        let rows = self.session.query("reading the sites in trouble", statements::IN_TROUBLE, parameters)?;
        let read = |row: &Row| {
            let mut columns = Columns::of("site", row);
            Ok(InTrouble {
                site: columns.text()?,
                due_at: Timestamp(columns.plain()?),
                reason: columns.optional_text()?.unwrap_or_default(),
            })
        };
        rows.iter().map(read).collect()
    }

    /// The sites of a worker.
    ///
    /// # Errors
    /// The store failed.
    pub fn domains(&self, worker: WorkerId, asked: &SitesAsked) -> Result<Vec<Domain>, StoreError> {
        let held: Vec<i64> = asked.held.iter().map(|site| ordered(site.0)).collect();
        let parameters: Parameters = vec![
            Box::new(worker.0),
            Box::new(asked.after.clone()),
            Box::new(limit(asked.max)),
            Box::new(asked.by_state),
            Box::new(held),
        ];
        let rows = self.session.query("reading the sites of a worker", &statements::DOMAINS, parameters)?;
        rows.iter().map(domain).collect()
    }

    /// Has a worker hand over what it owns.
    ///
    /// # Errors
    /// The store failed.
    pub fn drain(&self, worker: WorkerId) -> Result<(), StoreError> {
        self.session.query("draining a worker", super::statements::LEAVE, vec![Box::new(worker.0)])?;
        Ok(())
    }

    /// Where a site is, if it is in a politeness group.
    ///
    /// # Errors
    /// The store failed.
    pub fn placed(&self, site: SiteKey) -> Result<Option<Placed>, StoreError> {
        let rows = self.session.query("looking up a site", statements::PLACED, vec![Box::new(ordered(site.0))])?;
        let placed = rows.first().map(|row| {
            let mut columns = Columns::of("politeness_group", row);
            Ok(Placed { group: GroupName(columns.next()?), owner: columns.next::<Option<i64>>()?.map(WorkerId) })
        });
        placed.transpose()
    }

    /// How much there is of what only a crawl by several workers has.
    ///
    /// # Errors
    /// The store failed.
    pub fn counts(&self) -> Result<Counts, StoreError> {
        let rows = self.session.query("counting", statements::COUNTS, Vec::new())?;
        let row = rows.first().ok_or_else(|| damaged("segment", "nothing can be counted"))?;
        let mut columns = Columns::of("segment", row);
        Ok(Counts {
            groups_without_owner: count(&mut columns)?,
            sites_without_group: count(&mut columns)?,
            segments_sealed: count(&mut columns)?,
            segments_open: count(&mut columns)?,
            unsealed_bytes: count(&mut columns)?,
            sites_aside: count(&mut columns)?,
            leases_lost: count(&mut columns)?,
            committed_at: columns.next::<Option<i64>>()?.map(|at| Timestamp(at.cast_unsigned())),
        })
    }

    /// Forgets the crawl of this id: its settings, queue, outcomes and seeds. The schema is that of another crawl then, which is not set up
    /// yet. False if it holds another crawl. The archive is not touched.
    ///
    /// # Errors
    /// Servers or workers of the crawl are running; the store failed.
    pub fn forget(address: &Address, schema: &Schema, crawl_id: &str) -> Result<bool, StoreError> {
        let (session, _) = Session::open(address, schema, Role::Commit)?;
        let doing = "forgetting the crawl";
        let rows = session.query(doing, statements::NEW_CRAWL, Vec::new())?;
        let row = rows.first().ok_or_else(|| damaged("meta", "no crawl id"))?;
        let other: String = Columns::of("meta", row).next()?;
        let rows = session.query(doing, statements::FORGET, vec![Box::new(crawl_id.to_owned()), Box::new(other)])?;
        rows.first().map_or(Ok(false), |row| Columns::of("meta", row).next())
    }

    pub(super) fn session(&self) -> &Session {
        &self.session
    }

    fn writer(&self) -> MutexGuard<'_, Option<Writer>> {
        self.writer.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Layer for Control {
    fn below(&self) -> &dyn CrawlView {
        &self.view
    }
}

/// Commits of a server: seeds, and rounds. It has no visits.
impl Store for Control {
    fn commit(&self, batch: &Batch) -> Result<Committed, StoreError> {
        self.committed(batch)
    }

    fn sites_with_pending(&self, after: Option<SiteKey>, max: usize) -> Result<Vec<SiteKey>, StoreError> {
        self.view.reader.sites_with_pending(after, max)
    }

    fn holder(&self, content: ContentDigest, label: Option<PayloadDigest>) -> Result<Option<UrlKey>, StoreError> {
        self.view.reader.holder(content, label)
    }

    fn view(&self) -> Result<Box<dyn CrawlView>, StoreError> {
        PostgresView::of_this_moment(&self.view.reader, &self.view.crawl_id)
    }
}

/// What commits under an identity of its own, which is no worker's.
fn writer(address: &Address, schema: &Schema) -> Result<(Writer, String), StoreError> {
    let (session, crawl_id) = Session::open(address, schema, Role::Work)?;
    let rows = session.query("opening the store", statements::WRITER, Vec::new())?;
    let row = rows.first().ok_or_else(|| damaged("writer", "it cannot be written to"))?;
    let mut columns = Columns::of("writer", row);
    let (id, process) = (columns.next()?, columns.next()?);
    Ok((Writer::new(session, id, process, 0), crawl_id.unwrap_or_default()))
}

/// A budget of pages, as the database compares it.
fn budget(pages_max: Option<u64>) -> Option<i64> {
    pages_max.map(|max| i64::try_from(max).unwrap_or(i64::MAX))
}

fn shared(row: &Row) -> Result<Shared, StoreError> {
    let mut columns = Columns::of("crawl", row);
    let (settings, archive) = (columns.next()?, columns.next()?);
    let lease = columns.next::<Option<f64>>()?.map(Duration::try_from_secs_f64);
    let lease = lease.transpose().map_err(|error| damaged("crawl", error))?;
    Ok(Shared { settings, archive, lease, placement: columns.next()? })
}

fn domain(row: &Row) -> Result<Domain, StoreError> {
    let mut columns = Columns::of("site", row);
    let text: &str = columns.next()?;
    let site = Site::from_text(text).ok_or_else(|| damaged("site", format!("{text} is no site")))?;
    let (waiting, fetched) = (count(&mut columns)?, count(&mut columns)?);
    let state = usize::try_from(columns.next::<i32>()?).ok().and_then(|state| STATES.get(state).copied());
    Ok(Domain {
        site,
        waiting,
        fetched,
        state: state.ok_or_else(|| damaged("site", "unknown state"))?,
        due_at: Timestamp(columns.plain()?),
        trouble: columns.optional_text()?,
    })
}

fn count(columns: &mut Columns<'_>) -> Result<u64, StoreError> {
    Ok(u64::try_from(columns.next::<i64>()?).unwrap_or_default())
}

fn parameters(reach: &Reach) -> Parameters {
    let sites: Vec<i64> = reach.sites.iter().map(|site| ordered(site.0)).collect();
    let (hosts, below): (Vec<String>, Vec<bool>) =
        reach.hosts.iter().map(|(host, below)| (backwards(host), *below)).unzip();
    vec![Box::new(sites), Box::new(hosts), Box::new(below)]
}

/// A host as the schema's `host_backwards` has it.
fn backwards(host: &str) -> String {
    host.chars().rev().collect()
}
