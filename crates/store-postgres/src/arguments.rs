//! A batch as the arguments of the function `commit`: columns as arrays, each URL once, in the order of the keys.

use std::collections::btree_map::Entry::{Occupied, Vacant};
use std::collections::{BTreeMap, BTreeSet};

use model::{Candidate, Distance, Outcome, RobotsAnswer, SiteRecord, Visit};
use postgres::types::ToSql;
use store::Batch;
use weburl::UrlKey;

use crate::numbers::{key, ordered, plain};
use crate::rows::{More, failure_word, purpose_word};
use crate::session::Parameters;
use crate::text::{joined, stored};

/// The arguments behind those that say who commits, in their order.
pub(crate) fn of(batch: &Batch) -> Parameters {
    let mut arguments = Columns::default();
    arguments.reopened(batch);
    arguments.round(batch);
    arguments.found(batch);
    arguments.touched(batch);
    arguments.visits(batch);
    arguments.attempts(batch);
    arguments.holders(batch);
    arguments.sites(batch);
    arguments.shapes(batch);
    arguments.robots(batch);
    arguments.seeds(batch);
    arguments.segments(batch);
    arguments.0
}

#[derive(Default)]
struct Columns(Parameters);

impl Columns {
    /// Adds the arguments made of a table's rows: one array for each column.
    fn column<R, T>(&mut self, rows: &[R], value: impl Fn(&R) -> T)
    where
        Vec<T>: ToSql + Sync + Send + 'static,
    {
        self.0.push(Box::new(rows.iter().map(value).collect::<Vec<T>>()));
    }

    fn keys<R>(&mut self, rows: &[R], of: impl Fn(&R) -> UrlKey) {
        self.column(rows, |row| key(of(row)).0);
        self.column(rows, |row| key(of(row)).1);
    }

    fn optional_keys<R>(&mut self, rows: &[R], of: impl Fn(&R) -> Option<UrlKey>) {
        self.column(rows, |row| of(row).map(|url| key(url).0));
        self.column(rows, |row| of(row).map(|url| key(url).1));
    }

    fn reopened(&mut self, batch: &Batch) {
        let keys: BTreeSet<_> = batch.reopened.iter().copied().collect();
        let rows: Vec<_> = keys.into_iter().collect();
        self.keys(&rows, |key| *key);
    }

    fn round(&mut self, batch: &Batch) {
        let round = batch.round.as_ref();
        self.0.push(Box::new(round.map(|round| i32::try_from(round.number).unwrap_or(i32::MAX))));
        self.0.push(Box::new(round.map(|round| plain(round.began_at.0))));
        self.0.push(Box::new(round.map(|round| round.is_choosing)));
        let keys: BTreeSet<_> = batch.again.iter().copied().collect();
        let rows: Vec<_> = keys.into_iter().collect();
        self.keys(&rows, |key| *key);
    }

    fn found(&mut self, batch: &Batch) {
        let rows = found(batch);
        self.keys(&rows, |row| row.key);
        self.column(&rows, |row| row.kind);
        self.column(&rows, |row| i64::from(row.candidate.depth));
        self.column(&rows, |row| i16::from(row.candidate.redirects));
        self.column(&rows, |row| purpose_word(row.candidate.purpose));
        self.column(&rows, |row| row.candidate.via.as_str());
        self.optional_keys(&rows, |row| row.candidate.found_on);
        self.column(&rows, |row| row.candidate.url.to_string());
    }

    fn touched(&mut self, batch: &Batch) {
        let rows: Vec<_> = touched(batch).into_iter().collect();
        self.keys(&rows, |(key, _)| *key);
        self.column(&rows, |(_, touched)| touched.links);
        self.column(&rows, |(_, touched)| distance(touched.shortest));
        self.column(&rows, |(_, touched)| distance(touched.longest));
    }

    fn visits(&mut self, batch: &Batch) {
        // Where there are several of a URL the last counts; of a settled one the first.
        let visited: BTreeMap<_, _> = batch.visits.iter().map(|visit| (visit.key, visit)).collect();
        let settled = batch.settled.iter().rev().map(|(_, visit)| (visit.key, visit));
        let settled: BTreeMap<_, _> = settled.collect();
        let visited = visited.into_values().map(|visit| (false, visit));
        let mut rows: Vec<(bool, &Visit)> = visited.chain(settled.into_values().map(|visit| (true, visit))).collect();
        rows.sort_by_key(|(_, visit)| visit.key);
        self.keys(&rows, |(_, visit)| visit.key);
        self.column(&rows, |(is_settled, _)| *is_settled);
        let rows: Vec<&Visit> = rows.into_iter().map(|(_, visit)| visit).collect();
        self.column(&rows, |visit| plain(visit.at.0));
        self.column(&rows, |visit| plain(visit.length));
        self.column(&rows, |visit| i64::from(visit.judged_at.depth));
        self.optional_keys(&rows, |visit| visit.duplicate_of);
        self.column(&rows, |visit| visit.out_degree.map(i64::from));
        self.column(&rows, |visit| visit.location.map(|location| i64::from(location.segment)));
        self.column(&rows, |visit| visit.location.map(|location| plain(location.offset)));
        self.column(&rows, |visit| visit.location.map(|location| plain(location.length)));
        self.column(&rows, |visit| visit.outcome.as_str());
        self.column(&rows, |visit| i32::from(visit.status));
        self.column(&rows, |visit| i16::from(visit.attempts));
        self.column(&rows, |visit| i16::from(visit.judged_at.redirects));
        self.column(&rows, |visit| text(visit.content_type.as_deref()));
        self.column(&rows, |visit| stored(&visit.reason).into_owned());
        self.column(&rows, |visit| text(visit.title.as_deref()));
        self.column(&rows, |visit| text(visit.target.as_deref()));
        self.column(&rows, |visit| visit.digest.map(|digest| digest.0.to_vec()));
        self.column(&rows, |visit| joined(&visit.outlinks));
        self.column(&rows, |visit| plain(visit.limits.bits()));
        self.column(&rows, |visit| visit.duplicate_kind.map(Outcome::as_str));
        self.column(&rows, |visit| i32::try_from(visit.round).unwrap_or(i32::MAX));
        self.column(&rows, |visit| visit.content_at.map(|at| plain(at.0)));
        self.column(&rows, |visit| text(More::of(visit).as_deref()));
    }

    fn attempts(&mut self, batch: &Batch) {
        let last: BTreeMap<_, _> = batch.attempts.iter().copied().collect();
        let rows: Vec<_> = last.into_iter().collect();
        self.keys(&rows, |(key, _)| *key);
        self.column(&rows, |(_, attempts)| i16::from(*attempts));
    }

    fn holders(&mut self, batch: &Batch) {
        let first: BTreeMap<_, _> = batch.holders.iter().rev().copied().collect();
        let rows: Vec<_> = first.into_iter().collect();
        self.column(&rows, |(content, _)| content.as_bytes().to_vec());
        self.keys(&rows, |(_, holder)| *holder);
    }

    fn sites(&mut self, batch: &Batch) {
        let last: BTreeMap<_, _> = batch.sites.iter().map(|record| (record.site.key(), record)).collect();
        let rows: Vec<&SiteRecord> = last.into_values().collect();
        self.column(&rows, |record| ordered(record.site.key().0));
        self.column(&rows, |record| plain(record.due_at.0));
        self.column(&rows, |record| i64::from(record.failures_in_a_row));
        self.column(&rows, |record| plain(record.response_time.as_secs()));
        self.column(&rows, |record| record.response_time.subsec_nanos().cast_signed());
        self.column(&rows, |record| plain(record.pages_fetched));
        self.column(&rows, |record| i64::from(record.sitemaps_read));
        self.column(&rows, |record| record.address);
        self.column(&rows, |record| record.given_up.as_ref().map(|failure| failure_word(failure.kind)));
        self.column(&rows, |record| text(record.given_up.as_ref().map(|failure| failure.detail.as_str())));
        self.column(&rows, |record| record.site.as_str().to_owned());
        self.column(&rows, |record| record.aside.as_ref().map(|aside| plain(aside.until.0)));
        self.column(&rows, |record| record.aside.as_ref().map(|aside| i64::from(aside.round)));
        self.column(&rows, |record| record.aside.as_ref().map(|aside| failure_word(aside.reason.kind)));
        self.column(&rows, |record| text(record.aside.as_ref().map(|aside| aside.reason.detail.as_str())));
        self.column(&rows, |record| record.misleads);
    }

    fn shapes(&mut self, batch: &Batch) {
        let of_sites = batch.sites.iter().map(|record| (ordered(record.site.key().0), &record.shapes));
        let counted =
            of_sites.flat_map(|(site, shapes)| shapes.iter().map(move |(shape, count)| ((site, *shape), *count)));
        let last: BTreeMap<_, _> = counted.collect();
        let rows: Vec<_> = last.into_iter().collect();
        self.column(&rows, |((site, _), _)| *site);
        self.column(&rows, |((_, shape), _)| plain(*shape));
        self.column(&rows, |(_, count)| i64::from(*count));
    }

    fn robots(&mut self, batch: &Batch) {
        let records = batch.sites.iter().filter_map(|record| Some((record.site.key(), record.robots.as_ref()?)));
        let last: BTreeMap<_, _> = records.collect();
        let rows: Vec<_> = last.into_iter().collect();
        self.column(&rows, |(site, _)| ordered(site.0));
        self.column(&rows, |(_, robots)| plain(robots.fetched_at.0));
        self.column(&rows, |(_, robots)| i64::from(robots.failed_tries));
        let answered = |answer: &RobotsAnswer| match answer {
            RobotsAnswer::Status { code, body } => Some((*code, body.to_vec())),
            RobotsAnswer::Failed(_) => None,
        };
        let failed = |answer: &RobotsAnswer| match answer {
            RobotsAnswer::Status { .. } => None,
            RobotsAnswer::Failed(failure) => Some((failure_word(failure.kind), stored(&failure.detail).into_owned())),
        };
        self.column(&rows, |(_, robots)| answered(&robots.answer).map(|(code, _)| i32::from(code)));
        self.column(&rows, |(_, robots)| failed(&robots.answer).map(|(kind, _)| kind));
        self.column(&rows, |(_, robots)| failed(&robots.answer).map(|(_, detail)| detail));
        self.column(&rows, |(_, robots)| answered(&robots.answer).map(|(_, body)| body));
        self.column(&rows, |(_, robots)| robots.is_cut);
    }

    fn seeds(&mut self, batch: &Batch) {
        let mut seen = BTreeSet::new();
        let rows: Vec<_> = batch.seeds.iter().filter(|seed| seen.insert(seed.key())).collect();
        self.column(&rows, ToString::to_string);
        self.keys(&rows, |seed| seed.key());
    }

    fn segments(&mut self, batch: &Batch) {
        let last: BTreeMap<_, _> = batch.segments.iter().map(|segment| (segment.serial, segment)).collect();
        let rows: Vec<_> = last.into_values().collect();
        self.column(&rows, |segment| i64::from(segment.serial));
        self.column(&rows, |segment| stored(&segment.name).into_owned());
        self.column(&rows, |segment| plain(segment.length));
    }
}

/// A way to a URL.
struct FoundPath<'a> {
    key: UrlKey,
    kind: &'static str,
    candidate: &'a Candidate,
}

/// The shortest way to each found URL, of each purpose; URLs to be settled, unless they are found too.
fn found(batch: &Batch) -> Vec<FoundPath<'_>> {
    let mut ways: BTreeMap<UrlKey, Vec<&Candidate>> = BTreeMap::new();
    for candidate in &batch.found {
        let ways = ways.entry(candidate.url.key()).or_default();
        match ways.iter_mut().find(|way| way.purpose == candidate.purpose) {
            Some(way) if candidate.distance() < way.distance() => *way = candidate,
            Some(_) => {}
            None => ways.push(candidate),
        }
    }
    let mut rows = Vec::new();
    for (key, ways) in &ways {
        let kinds = std::iter::once("first").chain(std::iter::repeat("other"));
        rows.extend(ways.iter().zip(kinds).map(|(candidate, kind)| FoundPath { key: *key, kind, candidate }));
    }
    let mut settled = BTreeSet::new();
    for (candidate, visit) in &batch.settled {
        if !ways.contains_key(&visit.key) && settled.insert(visit.key) {
            rows.push(FoundPath { key: visit.key, kind: "settled", candidate });
        }
    }
    // Stable: of the ways to a URL, the first stays first.
    rows.sort_by_key(|row| row.key);
    rows
}

/// What visits and judgements say of a URL in the queue.
struct Touched {
    links: Option<bool>,
    shortest: Distance,
    longest: Distance,
}

fn touched(batch: &Batch) -> BTreeMap<UrlKey, Touched> {
    let visits = batch.visits.iter().map(|visit| (visit.key, Some(!visit.outlinks.is_empty()), visit.judged_at));
    let judged = batch.judged_again.iter().map(|(key, judged_at)| (*key, None, *judged_at));
    let mut touched = BTreeMap::new();
    for (key, links, judged_at) in visits.chain(judged) {
        match touched.entry(key) {
            Vacant(entry) => {
                entry.insert(Touched { links, shortest: judged_at, longest: judged_at });
            }
            Occupied(mut entry) => {
                let touched: &mut Touched = entry.get_mut();
                touched.links = match (touched.links, links) {
                    (Some(before), Some(links)) => Some(before && links),
                    (before, links) => before.or(links),
                };
                touched.shortest = touched.shortest.min(judged_at);
                touched.longest = touched.longest.max(judged_at);
            }
        }
    }
    touched
}

/// As the function `distance` in the schema.
fn distance(distance: Distance) -> i64 {
    i64::from(distance.depth) * 256 + i64::from(distance.redirects)
}

fn text(text: Option<&str>) -> Option<String> {
    text.map(|text| stored(text).into_owned())
}
