//! A commit as the arguments of the functions `begin_commit` and `end_commit`: columns as arrays with their names, each URL once, in the
//! order of the keys.

use std::collections::{BTreeMap, BTreeSet};

use model::{ArchiveLocation, Candidate, Outcome, Purpose, RobotsAnswer, SiteRecord, Timestamp, Visit};
use postgres::types::ToSql;
use store::{Batch, Change, Writes, way_to_new};
use weburl::{SiteKey, UrlKey};

use crate::known::Applied;
use crate::numbers::{key, ordered, plain};
use crate::rows::{More, failure_word, purpose_word, renewal_text};
use crate::session::Parameters;
use crate::text::{joined, stored};

/// Who commits, and the number of the commit.
#[derive(Default)]
pub(crate) struct Who {
    pub(crate) id: i64,
    /// The opening of the store, a UUID.
    pub(crate) process: String,
    pub(crate) number: i64,
}

impl Who {
    /// It has the store to itself.
    fn is_alone(&self) -> bool {
        self.id == 0
    }
}

/// The counts of a site.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Counted {
    pages: i64,
    sitemaps: i64,
}

/// Pages, and payload bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Spending {
    pages: i64,
    bytes: i64,
}

/// What visits add to the counts of their sites: pages fetched and sitemaps requested, each by its first visit. The schema's function `undo`
/// takes away what is lost of them.
fn counted(Applied { writes, before, .. }: &Applied<'_>) -> BTreeMap<SiteKey, Counted> {
    let mut counts: BTreeMap<SiteKey, Counted> = BTreeMap::new();
    for visit in writes.visits.values().filter(|visit| visit.past.visits == 0) {
        let of_site = counts.entry(visit.key.site).or_default();
        match before.purpose(visit.key) {
            Some(Purpose::Page) => of_site.pages += i64::from(visit.outcome.is_fetched()),
            Some(Purpose::Sitemap) => of_site.sitemaps += i64::from(visit.attempts > 0),
            _ => {}
        }
    }
    counts
}

/// What visits spend of the budgets of the crawl, by the segment of their record and their round.
fn spent(Applied { writes, before, .. }: &Applied<'_>) -> BTreeMap<(u32, u32), Spending> {
    let changed: BTreeMap<UrlKey, Purpose> =
        writes.urls.iter().map(|change| (change.key, change.now.candidate.purpose)).collect();
    let mut spent: BTreeMap<(u32, u32), Spending> = BTreeMap::new();
    for visit in writes.visits.values() {
        let Some(location) = visit.location else { continue };
        let purpose = changed.get(&visit.key).copied().or_else(|| before.purpose(visit.key));
        let is_page = purpose == Some(Purpose::Page) && visit.outcome.is_fetched();
        let of_segment = spent.entry((location.segment, visit.round)).or_default();
        of_segment.pages += i64::from(is_page);
        of_segment.bytes += if visit.outcome == Outcome::NotModified { 0 } else { plain(visit.length) };
    }
    spent
}

/// Named arguments.
#[derive(Default)]
pub(crate) struct Arguments {
    names: Vec<String>,
    pub(crate) values: Parameters,
}

/// Those of `begin_commit`: all URLs of the batch.
pub(crate) fn beginning(who: &Who, fence: &[(String, i64)], batch: &Batch) -> Arguments {
    let mut arguments = Arguments::default();
    arguments.value("me", who.id);
    arguments.value("my_process", who.process.clone());
    arguments.value("commit_number", who.number);
    arguments.column("fence_group", fence, |(group, _)| group.clone());
    arguments.column("fence_epoch", fence, |(_, epoch)| *epoch);
    arguments.found(batch);
    arguments.keys("t", &touched(batch), |key| *key);
    arguments.repeated(batch);
    arguments.value("has_holders", !batch.holders.is_empty());
    arguments
}

/// Those of `end_commit`: what is written.
pub(crate) fn ending(who: &Who, seeds_known: i64, batch: &Batch, applied: &Applied<'_>) -> Arguments {
    let mut arguments = Arguments::default();
    arguments.value("me", who.id);
    arguments.value("commit_number", who.number);
    arguments.value("seeds_known", seeds_known);
    arguments.round(batch);
    arguments.urls(&applied.writes.urls);
    arguments.queue(&applied.writes.urls);
    arguments.visits(&applied.writes);
    arguments.amended(&applied.writes);
    arguments.attempts(applied);
    arguments.consequences(batch, applied);
    arguments.holders(batch);
    arguments.sites(who, batch, applied);
    arguments.shapes(batch);
    arguments.robots(batch);
    arguments.seeds(batch);
    arguments.segments(batch);
    arguments.spent(who, applied);
    arguments
}

/// Where the records of moved visits lie from now on: the arguments of a statement over `unnest($1, …)`.
pub(crate) fn places(batch: &Batch) -> Parameters {
    let last: BTreeMap<_, _> = batch.moved.iter().map(|moved| ((moved.key, moved.at), moved.location)).collect();
    let rows: Vec<_> = last.into_iter().collect();
    let mut arguments = Arguments::default();
    arguments.keys("p", &rows, |((url, _), _)| *url);
    arguments.column("p_fetched_at", &rows, |((_, at), _)| plain(at.0));
    arguments.column("p_segment", &rows, |(_, location)| location.map(|location| i64::from(location.segment)));
    arguments.column("p_offset", &rows, |(_, location)| location.map(|location| plain(location.offset)));
    arguments.column("p_record_length", &rows, |(_, location)| location.map(|location| plain(location.length)));
    arguments.values
}

/// The rest of moved visits that become earlier ones: the arguments of a statement over `unnest($1, …)`.
pub(crate) fn followed(batch: &Batch, writes: &Writes<'_>) -> Parameters {
    let moved: BTreeSet<UrlKey> = batch.moved.iter().map(|moved| moved.key).collect();
    let rows: Vec<&Visit> = writes.earlier.iter().filter(|visit| moved.contains(&visit.key)).collect();
    let mut arguments = Arguments::default();
    arguments.keys("p", &rows, |visit| visit.key);
    arguments.column("p_fetched_at", &rows, |visit| plain(visit.at.0));
    arguments.column("p_more", &rows, |visit| text(More::of(visit).as_deref()));
    arguments.values
}

/// Who recorded contents that are lost, and when, if that is known: the arguments of a statement over `unnest($1, …)`.
pub(crate) fn contents(lost: &[(UrlKey, Option<Timestamp>)]) -> Parameters {
    let mut arguments = Arguments::default();
    arguments.keys("l", lost, |(url, _)| *url);
    arguments.column("l_content_at", lost, |(_, at)| at.map(|at| plain(at.0)));
    arguments.values
}

/// Records of URLs: the arguments of a statement over `unnest($1, …)`.
pub(crate) fn records(records: &[(UrlKey, ArchiveLocation)]) -> Parameters {
    let mut arguments = Arguments::default();
    arguments.keys("t", records, |(url, _)| *url);
    arguments.column("t_segment", records, |(_, at)| i64::from(at.segment));
    arguments.column("t_record_offset", records, |(_, at)| plain(at.offset));
    arguments.values
}

impl Arguments {
    /// For a call in PostgreSQL's named notation.
    pub(crate) fn names(&self) -> String {
        let named: Vec<String> = self.names.iter().zip(1..).map(|(name, n)| format!("{name} => ${n}")).collect();
        named.join(", ")
    }

    fn value<T: ToSql + Sync + Send + 'static>(&mut self, name: &str, value: T) {
        self.names.push(name.to_owned());
        self.values.push(Box::new(value));
    }

    /// Adds the argument made of a column of a table's rows.
    fn column<R, T>(&mut self, name: &str, rows: &[R], value: impl Fn(&R) -> T)
    where
        Vec<T>: ToSql + Sync + Send + 'static,
    {
        self.value(name, rows.iter().map(value).collect::<Vec<T>>());
    }

    /// The key of each row, as two columns.
    fn keys<R>(&mut self, table: &str, rows: &[R], of: impl Fn(&R) -> UrlKey) {
        self.column(&format!("{table}_site"), rows, |row| key(of(row)).0);
        self.column(&format!("{table}_url"), rows, |row| key(of(row)).1);
    }

    fn optional_keys<R>(&mut self, table: &str, rows: &[R], of: impl Fn(&R) -> Option<UrlKey>) {
        self.column(&format!("{table}_site"), rows, |row| of(row).map(|url| key(url).0));
        self.column(&format!("{table}_url"), rows, |row| of(row).map(|url| key(url).1));
    }

    fn found(&mut self, batch: &Batch) {
        let rows = found(batch);
        self.keys("f", &rows, |row| row.key);
        self.column("f_kind", &rows, |row| row.kind);
        self.column("f_depth", &rows, |row| i64::from(row.candidate.depth));
        self.column("f_redirects", &rows, |row| i16::from(row.candidate.redirects));
        self.column("f_purpose", &rows, |row| purpose_word(row.candidate.purpose));
        self.column("f_via", &rows, |row| row.candidate.via.as_str());
        self.optional_keys("f_on", &rows, |row| row.candidate.found_on);
        self.column("f_text", &rows, |row| row.candidate.url.to_string());
    }

    fn repeated(&mut self, batch: &Batch) {
        let visits: BTreeMap<_, _> = batch.visits.iter().map(|visit| (visit.key, visit)).collect();
        let rows: Vec<&Visit> = visits.into_values().collect();
        self.keys("v", &rows, |visit| visit.key);
        self.optional_keys("v_duplicate", &rows, |visit| visit.duplicate_of);
        self.column("v_content_at", &rows, |visit| visit.content_at.map(|at| plain(at.0)));
        self.column("v_outcome", &rows, |visit| visit.outcome.as_str());
    }

    fn round(&mut self, batch: &Batch) {
        let round = batch.round.as_ref();
        self.value("n_round", round.map(|round| i32::try_from(round.number).unwrap_or(i32::MAX)));
        self.value("n_began_at", round.map(|round| plain(round.began_at.0)));
        self.value("n_is_choosing", round.map(|round| round.is_choosing));
    }

    fn urls(&mut self, changes: &[Change]) {
        let is_changed = |change: &&Change| {
            change.before.is_some_and(|before| {
                let candidate = &change.now.candidate;
                before.distance != candidate.distance()
                    || before.purpose != candidate.purpose
                    || before.again != change.now.again
            }) || change.is_reopened()
        };
        let rows: Vec<&Change> = changes.iter().filter(is_changed).collect();
        self.keys("u", &rows, |change| change.key);
        self.column("u_depth", &rows, |change| i64::from(change.now.candidate.depth));
        self.column("u_redirects", &rows, |change| i16::from(change.now.candidate.redirects));
        self.column("u_purpose", &rows, |change| purpose_word(change.now.candidate.purpose));
        self.column("u_via", &rows, |change| change.now.candidate.via.as_str());
        self.optional_keys("u_on", &rows, |change| change.now.candidate.found_on);
        self.column("u_again", &rows, |change| change.now.again);
        self.column("u_reopened", &rows, |change| change.is_reopened());
    }

    fn queue(&mut self, changes: &[Change]) {
        let before = |change: &Change| change.before.filter(|before| before.queued).map(|before| before.position);
        let now = |change: &Change| change.now.queued.then(|| change.now.candidate.position());
        let moved = changes.iter().filter(|change| before(change) != now(change));
        let (mut left, mut entered) = (Vec::new(), Vec::new());
        for change in moved {
            left.extend(before(change).map(|position| (change.key, position)));
            entered.extend(now(change).map(|position| (change.key, position)));
        }
        for (table, rows) in [("d", left), ("q", entered)] {
            self.keys(table, &rows, |(key, _)| *key);
            self.column(&format!("{table}_rank"), &rows, |(_, position)| i64::from(position.rank));
        }
    }

    fn visits(&mut self, writes: &Writes<'_>) {
        self.keys("e", &writes.earlier, |visit| visit.key);
        self.column("e_fetched_at", &writes.earlier, |visit| plain(visit.at.0));
        let rows: Vec<&Visit> = writes.visits.values().copied().collect();
        self.keys("v", &rows, |visit| visit.key);
        self.column("v_fetched_at", &rows, |visit| plain(visit.at.0));
        self.column("v_length", &rows, |visit| plain(visit.length));
        self.column("v_judged_depth", &rows, |visit| i64::from(visit.judged_at.depth));
        self.optional_keys("v_duplicate", &rows, |visit| visit.duplicate_of);
        self.column("v_out_degree", &rows, |visit| visit.out_degree.map(i64::from));
        self.column("v_segment", &rows, |visit| visit.location.map(|location| i64::from(location.segment)));
        self.column("v_offset", &rows, |visit| visit.location.map(|location| plain(location.offset)));
        self.column("v_record_length", &rows, |visit| visit.location.map(|location| plain(location.length)));
        self.column("v_outcome", &rows, |visit| visit.outcome.as_str());
        self.column("v_status", &rows, |visit| i32::from(visit.status));
        self.column("v_attempts", &rows, |visit| i16::from(visit.attempts));
        self.column("v_judged_redirects", &rows, |visit| i16::from(visit.judged_at.redirects));
        self.column("v_content_type", &rows, |visit| text(visit.content_type.as_deref()));
        self.column("v_reason", &rows, |visit| stored(&visit.reason).into_owned());
        self.column("v_title", &rows, |visit| text(visit.title.as_deref()));
        self.column("v_target", &rows, |visit| text(visit.target.as_deref()));
        self.column("v_digest", &rows, |visit| visit.digest.map(|digest| digest.0.to_vec()));
        self.column("v_outlinks", &rows, |visit| joined(&visit.outlinks));
        self.column("v_limits", &rows, |visit| plain(visit.limits.bits()));
        self.column("v_duplicate_kind", &rows, |visit| visit.duplicate_kind.map(Outcome::as_str));
        self.column("v_round", &rows, |visit| i32::try_from(visit.round).unwrap_or(i32::MAX));
        self.column("v_content_at", &rows, |visit| visit.content_at.map(|at| plain(at.0)));
        self.column("v_more", &rows, |visit| text(More::of(visit).as_deref()));
    }

    /// The rest of the visits that a batch amends; [`places`] has the places of their records.
    fn amended(&mut self, writes: &Writes<'_>) {
        self.keys("x", &writes.amended, |visit| visit.key);
        self.column("x_more", &writes.amended, |visit| text(More::of(visit).as_deref()));
    }

    fn attempts(&mut self, Applied { writes, before, .. }: &Applied<'_>) {
        let row = |change: &Change| {
            let (otherwise, has_row) = before.attempts(change.key, &change.now, &writes.visits);
            let attempts = Some(change.now.attempts).filter(|attempts| *attempts != otherwise);
            (attempts.is_some() || has_row).then_some((change.key, attempts))
        };
        let rows: Vec<_> = writes.urls.iter().filter_map(row).collect();
        self.keys("a", &rows, |(key, _)| *key);
        self.column("a_attempts", &rows, |(_, attempts)| attempts.map(i16::from));
    }

    fn consequences(&mut self, batch: &Batch, Applied { writes, committed, before }: &Applied<'_>) {
        let mut rows: Vec<(UrlKey, &'static str)> = Vec::new();
        rows.extend(committed.fresh.iter().map(|candidate| (candidate.url.key(), "fresh")));
        let nearer = committed.relaxed.iter().map(|relaxed| &relaxed.key).chain(&committed.outrun);
        rows.extend(nearer.map(|key| (*key, "nearer")));
        for change in &writes.urls {
            let Some(before) = change.before else {
                rows.extend(change.now.visit.map(|_| (change.key, "settled")));
                continue;
            };
            if !before.queued && change.now.queued && (change.now.again || change.is_reopened()) {
                rows.push((change.key, "back"));
            }
            if before.distance.depth > 0 && change.now.candidate.depth == 0 {
                rows.push((change.key, "root"));
            }
        }
        rows.sort_unstable();
        rows.dedup();
        self.keys("k", &rows, |(key, _)| *key);
        self.column("k_kind", &rows, |(_, kind)| *kind);
        // Orphans, and those of URLs that are known for another purpose by now.
        let visited = batch.visits.iter().map(|visit| visit.key).filter(|url| !writes.visits.contains_key(url));
        let left_out: BTreeSet<SiteKey> = visited.chain(before.orphans.iter().copied()).map(|url| url.site).collect();
        self.column("o_site", &left_out.into_iter().collect::<Vec<_>>(), |site| ordered(site.0));
    }

    fn holders(&mut self, batch: &Batch) {
        let first: BTreeMap<_, _> = batch.holders.iter().rev().copied().collect();
        let rows: Vec<_> = first.into_iter().collect();
        self.column("h_digest", &rows, |(content, _)| content.as_bytes().to_vec());
        self.keys("h", &rows, |(_, holder)| *holder);
    }

    fn sites(&mut self, who: &Who, batch: &Batch, applied: &Applied<'_>) {
        let added = if who.is_alone() { BTreeMap::new() } else { counted(applied) };
        // What a worker has counted may have been undone, and another may write the record meanwhile.
        let counts = |record: &SiteRecord| match who.is_alone() {
            true => Counted { pages: plain(record.pages_fetched), sitemaps: i64::from(record.sitemaps_read) },
            false => added.get(&record.site.key()).copied().unwrap_or_default(),
        };
        let last: BTreeMap<_, _> = batch.sites.iter().map(|record| (record.site.key(), record)).collect();
        let rows: Vec<&SiteRecord> = last.into_values().collect();
        self.column("s_site", &rows, |record| ordered(record.site.key().0));
        self.column("s_due_at", &rows, |record| plain(record.due_at.0));
        self.column("s_failures", &rows, |record| i64::from(record.failures_in_a_row));
        self.column("s_response_seconds", &rows, |record| plain(record.response_time.as_secs()));
        self.column("s_response_nanos", &rows, |record| record.response_time.subsec_nanos().cast_signed());
        self.column("s_pages_counted", &rows, |record| counts(record).pages);
        self.column("s_sitemaps_counted", &rows, |record| counts(record).sitemaps);
        self.column("s_address", &rows, |record| record.address);
        self.column("s_given_up", &rows, |record| record.given_up.as_ref().map(|failure| failure_word(failure.kind)));
        self.column("s_given_up_detail", &rows, |record| {
            text(record.given_up.as_ref().map(|failure| failure.detail.as_str()))
        });
        self.column("s_text", &rows, |record| record.site.as_str().to_owned());
        self.column("s_aside_until", &rows, |record| record.aside.as_ref().map(|aside| plain(aside.until.0)));
        self.column("s_aside_round", &rows, |record| record.aside.as_ref().map(|aside| i64::from(aside.round)));
        self.column("s_aside_reason", &rows, |record| {
            record.aside.as_ref().map(|aside| failure_word(aside.reason.kind))
        });
        self.column("s_aside_detail", &rows, |record| {
            text(record.aside.as_ref().map(|aside| aside.reason.detail.as_str()))
        });
        self.column("s_misleads", &rows, |record| record.misleads);
        self.column("s_asked_until", &rows, |record| plain(record.asked_until.0));
    }

    fn shapes(&mut self, batch: &Batch) {
        let of_sites = batch.sites.iter().map(|record| (ordered(record.site.key().0), &record.shapes));
        let counted =
            of_sites.flat_map(|(site, shapes)| shapes.iter().map(move |(shape, count)| ((site, *shape), *count)));
        let last: BTreeMap<_, _> = counted.collect();
        let rows: Vec<_> = last.into_iter().collect();
        self.column("c_site", &rows, |((site, _), _)| *site);
        self.column("c_shape", &rows, |((_, shape), _)| plain(*shape));
        self.column("c_count", &rows, |(_, count)| i64::from(*count));
    }

    fn robots(&mut self, batch: &Batch) {
        let records = batch.sites.iter().filter_map(|record| Some((record.site.key(), record.robots.as_ref()?)));
        let last: BTreeMap<_, _> = records.collect();
        let rows: Vec<_> = last.into_iter().collect();
        self.column("r_site", &rows, |(site, _)| ordered(site.0));
        self.column("r_fetched_at", &rows, |(_, robots)| plain(robots.fetched_at.0));
        self.column("r_failed_tries", &rows, |(_, robots)| i64::from(robots.failed_tries));
        let answered = |answer: &RobotsAnswer| match answer {
            RobotsAnswer::Status { code, body } => Some((*code, body.to_vec())),
            RobotsAnswer::Failed(_) => None,
        };
        let failed = |answer: &RobotsAnswer| match answer {
            RobotsAnswer::Status { .. } => None,
            RobotsAnswer::Failed(failure) => Some((failure_word(failure.kind), stored(&failure.detail).into_owned())),
        };
        self.column("r_status", &rows, |(_, robots)| answered(&robots.answer).map(|(code, _)| i32::from(code)));
        self.column("r_failure", &rows, |(_, robots)| failed(&robots.answer).map(|(kind, _)| kind));
        self.column("r_failure_detail", &rows, |(_, robots)| failed(&robots.answer).map(|(_, detail)| detail));
        self.column("r_body", &rows, |(_, robots)| answered(&robots.answer).map(|(_, body)| body));
        self.column("r_is_cut", &rows, |(_, robots)| robots.is_cut);
        self.column("r_renewal", &rows, |(_, robots)| renewal_text(robots));
    }

    fn seeds(&mut self, batch: &Batch) {
        let mut seen = BTreeSet::new();
        let rows: Vec<_> = batch.seeds.iter().filter(|seed| seen.insert(seed.key())).collect();
        self.column("b_text", &rows, ToString::to_string);
        self.keys("b", &rows, |seed| seed.key());
    }

    fn segments(&mut self, batch: &Batch) {
        let last: BTreeMap<_, _> = batch.segments.iter().map(|segment| (segment.serial, segment)).collect();
        let rows: Vec<_> = last.into_values().collect();
        self.column("g_serial", &rows, |segment| i64::from(segment.serial));
        self.column("g_name", &rows, |segment| stored(&segment.name).into_owned());
        self.column("g_length", &rows, |segment| plain(segment.length));
    }

    /// One process counts for itself.
    fn spent(&mut self, who: &Who, applied: &Applied<'_>) {
        let spent = if who.is_alone() { BTreeMap::new() } else { spent(applied) };
        let rows = spent.into_iter().flat_map(|((segment, round), Spending { pages, bytes })| {
            [i64::from(segment), i64::from(round), pages, bytes]
        });
        self.value("w_spent", rows.collect::<Vec<i64>>());
    }
}

/// A path to a URL.
struct FoundPath<'a> {
    key: UrlKey,
    kind: &'static str,
    candidate: &'a Candidate,
}

/// The shortest path to each found URL, of each purpose; URLs to be settled, unless they are found too.
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
    for (key, ways) in &mut ways {
        let first = way_to_new(ways, batch.pages_are_few);
        ways.sort_by_key(|way| first.is_none_or(|first| first.purpose != way.purpose));
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

/// The URLs of a batch that are not found by it.
fn touched(batch: &Batch) -> Vec<UrlKey> {
    let visits = batch.visits.iter().map(|visit| visit.key);
    let attempts = batch.attempts.iter().map(|(key, ..)| *key);
    let announced = batch.announced.iter().map(|announcement| announcement.key);
    let judged = batch.judged_again.iter().map(|(key, _)| *key);
    let moved = batch.moved.iter().map(|moved| moved.key);
    let others = batch.reopened.iter().chain(&batch.again).chain(batch.kept.iter().map(|(key, _)| key)).copied();
    let keys: BTreeSet<UrlKey> =
        others.chain(visits).chain(attempts).chain(judged).chain(announced).chain(moved).collect();
    keys.into_iter().collect()
}

fn text(text: Option<&str>) -> Option<String> {
    text.map(|text| stored(text).into_owned())
}
