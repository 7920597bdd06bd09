//! What a batch does to the URLs it touches. This is the only place of that rule: a store looks up what [`apply`] asks for, and writes
//! what it returns.

use std::collections::hash_map::Entry::{Occupied, Vacant};
use std::collections::{BTreeMap, BTreeSet};

use foldhash::HashMap;
use model::{Announcement, Candidate, Distance, LimitSet, Outcome, Past, Position, Purpose, Queued, Timestamp, Visit};
use weburl::UrlKey;

use crate::{Batch, Committed, Moved, Relaxed, StoreError};

/// A URL as a store keeps it, but for its visits.
#[derive(Clone, Debug, PartialEq)]
pub struct UrlRecord {
    /// The URL and how it was found.
    pub candidate: Candidate,
    /// How often it was asked for so far.
    pub attempts: u8,
    /// It stands in the queue of its site.
    pub queued: bool,
    /// It stands there to be visited again.
    pub again: bool,
    /// What counts of its last visit.
    pub visit: Option<VisitSummary>,
}

/// The part of a visit on which commits and totals depend.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VisitSummary {
    /// The outcome.
    pub outcome: Outcome,
    /// Bytes of the payload.
    pub length: u64,
    /// The visit has outlinks.
    pub has_outlinks: bool,
    /// The limits that it reached.
    pub limits: LimitSet,
    /// The round of the crawl.
    pub round: u32,
}

/// How a URL stands: what the queue and the totals depend on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Standing {
    /// What the URL is asked for.
    pub purpose: Purpose,
    /// Its distance from the nearest seed.
    pub distance: Distance,
    /// Its place in the queue of its site, if it stands there.
    pub position: Position,
    /// As [`UrlRecord::queued`].
    pub queued: bool,
    /// As [`UrlRecord::again`].
    pub again: bool,
    /// As [`UrlRecord::visit`].
    pub visit: Option<VisitSummary>,
}

/// What a store knows before a batch.
pub trait Known {
    /// The record of a URL, if it is known.
    ///
    /// # Errors
    /// The store cannot be read.
    fn url(&self, key: UrlKey) -> Result<Option<UrlRecord>, StoreError>;

    /// The last visit, with its outlinks, of a URL whose record has this summary of it.
    ///
    /// # Errors
    /// The store cannot be read, or the visit is missing.
    fn visit(&self, key: UrlKey, summary: VisitSummary) -> Result<Visit, StoreError>;

    /// True where a URL is known. A store that can tell this without its record answers here.
    ///
    /// # Errors
    /// The store cannot be read.
    fn has(&self, key: UrlKey) -> Result<bool, StoreError> {
        Ok(self.url(key)?.is_some())
    }

    /// For each found URL, true if it [may change](may_change) what is known. A store that can tell this without a record answers here:
    /// most links change nothing.
    fn may_change(&self, found: &[Candidate]) -> Vec<bool> {
        vec![true; found.len()]
    }
}

/// What a store writes for the URLs of a batch.
#[derive(Debug, Default)]
pub struct Writes<'b> {
    /// The records that change, in key order. A record that loses its visit loses its outlinks too.
    pub urls: Vec<Change>,
    /// The visits that become the last of their URL.
    pub visits: BTreeMap<UrlKey, &'b Visit>,
    /// The visits that these follow, without outlinks. A store keeps them by URL and time.
    pub earlier: Vec<Visit>,
    /// Last visits that no other follows, but of which something changed: a change was announced since, or their record was moved. They
    /// take the place of the same visits, outlinks aside.
    pub amended: Vec<Visit>,
    /// Earlier visits whose record was moved. They may be unknown. None of them is in `earlier`.
    pub moved: Vec<Moved>,
    /// URLs whose present content is lost. They hold none any more: what others have of it is the first. That comes before [`Batch::holders`].
    pub lost: BTreeSet<UrlKey>,
}

/// A record before and after a batch.
#[derive(Clone, Debug)]
pub struct Change {
    /// The URL.
    pub key: UrlKey,
    /// How it stood; `None` if it was unknown.
    pub before: Option<Standing>,
    /// Its record from now on.
    pub now: UrlRecord,
}

impl Change {
    /// True if the URL loses its visit.
    #[must_use]
    pub fn is_reopened(&self) -> bool {
        self.before.is_some_and(|before| before.visit.is_some()) && self.now.visit.is_none()
    }

    /// By how many the requisites in queues become more.
    fn more_requisites(&self) -> i64 {
        let waits = |url: Standing| i64::from(url.queued && url.purpose == Purpose::Requisite);
        waits(self.now.standing(self.key)) - self.before.map_or(0, waits)
    }
}

impl VisitSummary {
    /// That of a visit.
    #[must_use]
    pub fn of(visit: &Visit) -> Self {
        let Visit { outcome, length, limits, round, .. } = *visit;
        VisitSummary { outcome, length, has_outlinks: !visit.outlinks.is_empty(), limits, round }
    }
}

impl Standing {
    /// True where the URL waits for its first visit.
    #[must_use]
    pub fn is_in_queue(&self) -> bool {
        self.queued && self.visit.is_none()
    }
}

impl UrlRecord {
    /// How the URL stands, its key being known already.
    #[must_use]
    pub fn standing(&self, key: UrlKey) -> Standing {
        let (purpose, distance) = (self.candidate.purpose, self.candidate.distance());
        let position = Position::of(purpose, distance.depth, key.url);
        Standing { purpose, distance, position, queued: self.queued, again: self.again, visit: self.visit }
    }

    /// A URL that was unknown: queued, unless it is settled by a visit.
    fn fresh(candidate: &Candidate, visit: Option<&Visit>) -> Self {
        let visit = visit.map(VisitSummary::of);
        UrlRecord { candidate: candidate.clone(), attempts: 0, queued: visit.is_none(), again: false, visit }
    }

    /// True if finding this candidate changes it.
    fn is_changed_by(&self, candidate: &Candidate, pages_are_few: bool) -> bool {
        let waits = self.queued && self.visit.is_none();
        let is_kept_out = !self.queued && self.visit.is_some_and(|visit| visit.outcome == Outcome::Excluded);
        takes_place(candidate, &self.candidate, pages_are_few, waits, is_kept_out)
    }

    /// Puts it into the queue as if it had never been requested. In a later round the URL keeps its visit, and is visited again.
    fn reopen(&mut self) {
        self.again = self.visit.is_some_and(|visit| visit.round > 1);
        self.visit.take_if(|_| !self.again);
        (self.attempts, self.queued) = (0, true);
    }

    /// True if a shorter path makes its links count again. Nothing that a requisite needs depends on how far away it is.
    fn has_links_to_judge(&self) -> bool {
        self.candidate.purpose != Purpose::Requisite && self.visit.is_some_and(|visit| visit.has_outlinks)
    }
}

/// True if finding `candidate` may change a URL that is known for this purpose, so far away: its path is shorter; or it takes the
/// place of a requisite that is a page or a sitemap as well, or of a page that is a requisite as well and that a rule, or the number of pages, keeps
/// out. The depths of pages and sitemaps have different meanings, so neither relaxes the other.
#[must_use]
pub fn may_change(candidate: &Candidate, purpose: Purpose, distance: Distance) -> bool {
    match (candidate.purpose, purpose) {
        (Purpose::Page | Purpose::Sitemap, Purpose::Requisite) | (Purpose::Requisite, Purpose::Page) => true,
        (found, known) => found == known && candidate.distance() < distance,
    }
}

/// True if a candidate takes the place of the one by which a URL is known, which waits for its first visit, or is kept out by a rule.
fn takes_place(candidate: &Candidate, known: &Candidate, pages_are_few: bool, waits: bool, is_kept_out: bool) -> bool {
    may_change(candidate, known.purpose, known.distance())
        && match (candidate.purpose, known.purpose) {
            (Purpose::Requisite, Purpose::Page) => is_kept_out || pages_are_few && candidate.is_file_of_page() && waits,
            (Purpose::Page, Purpose::Requisite) => !(pages_are_few && known.is_file_of_page()),
            _ => true,
        }
}

/// The order in which candidates for one URL count.
fn is_later(candidate: &Candidate) -> bool {
    candidate.purpose != Purpose::Requisite
}

/// By which of these candidates a URL becomes known that was unknown. `None` without any.
#[must_use]
pub fn way_to_new<'c>(candidates: &[&'c Candidate], pages_are_few: bool) -> Option<&'c Candidate> {
    let (later, first): (Vec<&Candidate>, Vec<&Candidate>) =
        candidates.iter().partition(|candidate| is_later(candidate));
    let nearest = |known, candidate| {
        if takes_place(candidate, known, pages_are_few, true, false) { candidate } else { known }
    };
    first.into_iter().chain(later).reduce(nearest)
}

/// The found URLs that count, in the order in which they do: a page or a sitemap takes the place of a requisite, in whatever order they are
/// found. So a batch that is applied again finds what it left. After a requisite has taken the place of a page, a page counts that is no nearer.
fn news<'b>(found: &'b [Candidate], known: &impl Known) -> Vec<&'b Candidate> {
    let may_change = known.may_change(found);
    let requisites = found.iter().zip(&may_change).filter(|(candidate, may)| **may && !is_later(candidate));
    let requisites: BTreeSet<UrlKey> = requisites.map(|(candidate, _)| candidate.url.key()).collect();
    let counts = |candidate: &Candidate, may: bool| may || requisites.contains(&candidate.url.key());
    let news = found.iter().zip(may_change).filter(|(candidate, may)| counts(candidate, *may));
    let mut news: Vec<&Candidate> = news.map(|(candidate, _)| candidate).collect();
    news.sort_by_key(|candidate| is_later(candidate));
    news
}

/// What a batch does to URLs that stand as `known` says: what is to be written, and what the commit found out. [`Store::commit`](crate::Store::commit)
/// states the rule. The parts of a batch are applied in this order: moved, reopened, again, visits, attempts, kept, judged again, found, settled, announced.
///
/// # Errors
/// What is known cannot be read.
pub fn apply<'b>(batch: &'b Batch, known: &impl Known) -> Result<(Writes<'b>, Committed), StoreError> {
    let committed = Committed::default();
    let mut state = State {
        known,
        pages_are_few: batch.pages_are_few,
        urls: HashMap::default(),
        visits: BTreeMap::new(),
        followed: BTreeMap::new(),
        amended: BTreeMap::new(),
        moved: BTreeMap::new(),
        lost: BTreeSet::new(),
        committed,
    };
    for moved in &batch.moved {
        state.move_record(*moved)?;
    }
    for key in &batch.reopened {
        state.reopen(*key)?;
    }
    for key in &batch.again {
        state.visit_again(*key)?;
    }
    for visit in &batch.visits {
        state.visit(visit)?;
    }
    for (key, purpose, attempts) in &batch.attempts {
        if let Some(url) = state.touch(*key)?.filter(|url| url.now.candidate.purpose == *purpose) {
            url.now.attempts = *attempts;
            url.changed = true;
        }
    }
    for (key, purpose) in &batch.kept {
        state.keep(*key, *purpose)?;
    }
    for (key, judged_at) in &batch.judged_again {
        // One that waits for a visit does so whatever becomes of the links of the visit before.
        if state.touch(*key)?.is_some_and(|url| url.now.visit.is_some() && !url.now.again) {
            state.leave_queue(*key, *judged_at)?;
        }
    }
    for candidate in news(&batch.found, known) {
        state.find(candidate)?;
    }
    for (candidate, visit) in &batch.settled {
        state.settle(candidate, visit)?;
    }
    // Those that this batch visits, whether it is applied for the first time or again.
    let visited = batch.visits.iter().chain(batch.settled.iter().map(|(_, visit)| visit)).map(|visit| visit.key);
    let visited: BTreeSet<UrlKey> = if batch.announced.is_empty() { BTreeSet::new() } else { visited.collect() };
    for announcement in batch.announced.iter().filter(|announcement| !visited.contains(&announcement.key)) {
        state.announce(announcement)?;
    }
    Ok(state.finish())
}

/// Whether the content of a visit was recorded at this time: by the visit itself, or by one before.
fn has_content_of(visit: &Visit, at: Timestamp) -> bool {
    match visit.content_at {
        // In an earlier archive.
        Some(content_at) if visit.content_url.is_some() => visit.at == at || content_at == at,
        Some(content_at) if visit.duplicate_of.is_none() => content_at == at,
        _ => visit.at == at,
    }
}

/// The URLs that a batch touches, while its parts are applied.
struct State<'k, 'b, K> {
    known: &'k K,
    /// As [`Batch::pages_are_few`].
    pages_are_few: bool,
    urls: HashMap<UrlKey, Touched>,
    visits: BTreeMap<UrlKey, &'b Visit>,
    /// The visits before the batch of the URLs that it visits.
    followed: BTreeMap<UrlKey, Visit>,
    /// Visits that were the last before the batch, of which something changed.
    amended: BTreeMap<UrlKey, Visit>,
    /// Earlier visits whose record was moved.
    moved: BTreeMap<(UrlKey, Timestamp), Moved>,
    /// As [`Writes::lost`].
    lost: BTreeSet<UrlKey>,
    committed: Committed,
}

struct Touched {
    before: Option<Standing>,
    now: UrlRecord,
    changed: bool,
}

impl Touched {
    fn known(key: UrlKey, now: UrlRecord) -> Self {
        Touched { before: Some(now.standing(key)), now, changed: false }
    }

    fn fresh(candidate: &Candidate, visit: Option<&Visit>) -> Self {
        Touched { before: None, now: UrlRecord::fresh(candidate, visit), changed: true }
    }
}

impl<'b, K: Known> State<'_, 'b, K> {
    /// A URL, if it is known.
    fn touch(&mut self, key: UrlKey) -> Result<Option<&mut Touched>, StoreError> {
        Ok(match self.urls.entry(key) {
            Occupied(touched) => Some(touched.into_mut()),
            Vacant(place) => self.known.url(key)?.map(|now| place.insert(Touched::known(key, now))),
        })
    }

    /// The last visit before the batch, as the batch amends it.
    fn last(&self, key: UrlKey, summary: VisitSummary) -> Result<Visit, StoreError> {
        self.amended.get(&key).map_or_else(|| self.known.visit(key, summary), |visit| Ok(visit.clone()))
    }

    fn move_record(&mut self, moved: Moved) -> Result<(), StoreError> {
        let Some(summary) = self.touch(moved.key)?.and_then(|url| url.now.visit) else { return Ok(()) };
        let mut last = self.last(moved.key, summary)?;
        let is_last = last.at == moved.at;
        if !is_last {
            self.moved.insert((moved.key, moved.at), moved);
        }
        // Whichever of its visits recorded it.
        let is_of_content = has_content_of(&last, moved.at);
        if is_of_content {
            let is_lost = moved.location.is_none();
            last.past.not_modified = if is_lost { Past::LOST } else { last.past.unchanged() };
            if is_lost {
                self.lost.insert(moved.key);
            }
        }
        if is_last {
            last.location = moved.location;
        }
        if is_last || is_of_content {
            self.amended.insert(moved.key, last);
        }
        Ok(())
    }

    fn reopen(&mut self, key: UrlKey) -> Result<(), StoreError> {
        let is_over = |url: &UrlRecord| !url.queued && url.visit.is_some_and(|visit| !visit.outcome.is_final());
        if let Some(url) = self.touch(key)?.filter(|url| is_over(&url.now)) {
            url.now.reopen();
            url.changed = true;
        }
        Ok(())
    }

    fn visit_again(&mut self, key: UrlKey) -> Result<(), StoreError> {
        let is_left = |url: &UrlRecord| !url.queued && url.visit.is_some();
        if let Some(url) = self.touch(key)?.filter(|url| is_left(&url.now)) {
            (url.now.attempts, url.now.queued, url.now.again, url.changed) = (0, true, true, true);
        }
        Ok(())
    }

    fn keep(&mut self, key: UrlKey, purpose: Purpose) -> Result<(), StoreError> {
        let Some(url) = self.touch(key)?.filter(|url| url.now.again) else { return Ok(()) };
        if url.now.candidate.purpose != purpose {
            return self.stay(key);
        }
        (url.now.again, url.changed) = (false, true);
        let Some(last) = url.now.visit else { return Ok(()) };
        let judged_at = self.last(key, last)?.judged_at;
        self.leave_queue(key, judged_at)
    }

    fn visit(&mut self, visit: &'b Visit) -> Result<(), StoreError> {
        let key = visit.key;
        let Some(url) = self.touch(key)? else { return Ok(()) };
        if !url.now.candidate.is_purpose_of(visit) {
            return self.stay(key);
        }
        let before = url.now.visit.replace(VisitSummary::of(visit));
        (url.now.attempts, url.now.again, url.changed) = (visit.attempts, false, true);
        let is_first = self.visits.insert(key, visit).is_none();
        if let Some(before) = before.filter(|_| is_first) {
            self.followed.insert(key, self.last(key, before)?);
        }
        self.leave_queue(key, visit.judged_at)
    }

    /// A URL was found for another purpose while this one came to its end: it stays in the queue.
    fn stay(&mut self, key: UrlKey) -> Result<(), StoreError> {
        if let Some(url) = self.touch(key)?.filter(|url| url.now.queued) {
            let (was, record) = (url.now.candidate.position(), url.now.clone());
            let queued = Some(self.queued(key, record)?);
            self.committed.relaxed.push(Relaxed { key, was, queued });
        }
        Ok(())
    }

    /// Takes a visited URL out of the queue, unless its links were judged from further away than it is.
    fn leave_queue(&mut self, key: UrlKey, judged_at: Distance) -> Result<(), StoreError> {
        let Some(url) = self.touch(key)?.filter(|url| url.now.queued) else { return Ok(()) };
        let is_nearer = url.now.candidate.purpose != Purpose::Requisite && url.now.candidate.distance() < judged_at;
        if is_nearer && url.now.has_links_to_judge() {
            let (was, record) = (url.now.candidate.position(), url.now.clone());
            let queued = Some(self.queued(key, record)?);
            self.committed.relaxed.push(Relaxed { key, was, queued });
        } else {
            (url.now.queued, url.changed) = (false, true);
        }
        if is_nearer {
            self.committed.outrun.push(key);
        }
        Ok(())
    }

    fn find(&mut self, candidate: &Candidate) -> Result<(), StoreError> {
        let key = candidate.url.key();
        let url = match self.urls.entry(key) {
            Occupied(touched) => touched.into_mut(),
            Vacant(place) => match self.known.url(key)? {
                Some(now) => place.insert(Touched::known(key, now)),
                None => {
                    place.insert(Touched::fresh(candidate, None));
                    self.committed.fresh.push(candidate.clone());
                    return Ok(());
                }
            },
        };
        if !url.now.is_changed_by(candidate, self.pages_are_few) {
            return Ok(());
        }
        let was = url.now.candidate.position();
        if candidate.purpose != url.now.candidate.purpose && url.now.visit.is_some() {
            url.now.reopen();
            if url.now.visit.is_none() {
                self.visits.remove(&key);
                self.followed.remove(&key);
            }
        }
        url.now.candidate = candidate.clone();
        url.now.queued = url.now.again || url.now.visit.is_none() || url.now.has_links_to_judge();
        url.changed = true;
        let queued = url.now.queued.then(|| url.now.clone());
        let queued = queued.map(|record| self.queued(key, record)).transpose()?;
        self.committed.relaxed.push(Relaxed { key, was, queued });
        Ok(())
    }

    fn settle(&mut self, candidate: &Candidate, visit: &'b Visit) -> Result<(), StoreError> {
        if !self.urls.contains_key(&visit.key) && !self.known.has(visit.key)? {
            self.urls.insert(visit.key, Touched::fresh(candidate, Some(visit)));
            self.visits.insert(visit.key, visit);
        }
        Ok(())
    }

    fn announce(&mut self, Announcement { key, by, at }: &Announcement) -> Result<(), StoreError> {
        let Some(summary) = self.touch(*key)?.and_then(|url| url.now.visit) else { return Ok(()) };
        let mut visit = self.last(*key, summary)?;
        if *at > visit.at && visit.announced.take_in(*by, *at) {
            self.amended.insert(*key, visit);
        }
        Ok(())
    }

    /// The entry of a URL in the queue.
    fn queued(&self, key: UrlKey, record: UrlRecord) -> Result<Queued, StoreError> {
        let queued = Queued { attempts: record.attempts, ..Queued::first(record.candidate) };
        let Some(summary) = record.visit else { return Ok(queued) };
        let visit = match self.visits.get(&key) {
            Some(visit) => (*visit).clone(),
            None => self.last(key, summary)?,
        };
        Ok(queued.after(visit, record.again))
    }

    fn finish(mut self) -> (Writes<'b>, Committed) {
        // What another visit follows, or what the batch took away, is no last visit any more.
        let (urls, visits) = (&self.urls, &self.visits);
        let is_left = |key: &UrlKey| urls.get(key).is_some_and(|url| url.now.visit.is_some());
        self.amended.retain(|key, _| is_left(key) && !visits.contains_key(key));
        let changed = self.urls.into_iter().filter(|(_, url)| url.changed);
        let mut urls: Vec<_> = changed.map(|(key, Touched { before, now, .. })| Change { key, before, now }).collect();
        urls.sort_unstable_by_key(|change| change.key);
        self.committed.more_requisites = urls.iter().map(Change::more_requisites).sum();
        // A visit of the same time is the same, committed once more.
        self.followed.retain(|key, before| self.visits.get(key).is_some_and(|visit| visit.at != before.at));
        let earlier = self.followed.into_values().map(|visit| Visit { outlinks: Vec::new(), ..visit }).collect();
        let (amended, moved) = (self.amended.into_values().collect(), self.moved.into_values().collect());
        (Writes { urls, visits: self.visits, earlier, amended, moved, lost: self.lost }, self.committed)
    }
}
