//! Reading. Every answer is one statement, and so of one moment. A window begins at a key, which is the one behind that
//! asked for: so an index leads to it whether there is one or not.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use database::Address;
use model::{
    ContentDigest, Limit, LimitSet, Outcome, PayloadDigest, Position, Queued, Round, SiteRecord, Timestamp, Visit,
};
use store::{Dates, Entry, Segment, StoreError, Totals};
use weburl::{CanonicalUrl, SiteKey, UrlKey};

use crate::error::damaged;
use crate::migrations;
use crate::numbers;
use crate::numbers::{from_key, from_ordered, key, limit, ordered};
use crate::outcomes::spelled_out;
use crate::rows::{Columns, Waiting, outcome};
use crate::schema::Schema;
use crate::session::{Parameters, Role, Session};

const PENDING: &str =
    "SELECT u.url, u.depth, u.redirects, u.purpose::text, u.via::text, u.found_on_site, u.found_on_url,
        coalesce(a.attempts, v.attempts, 0::smallint), v.outcome::text, v.outlinks, u.again
    FROM (SELECT * FROM queue WHERE site_key = $1 AND (rank, url_key) >= ($2, $3) ORDER BY rank, url_key LIMIT $4) q
    JOIN url u ON u.site_key = q.site_key AND u.url_key = q.url_key
    LEFT JOIN visit v ON v.site_key = q.site_key AND v.url_key = q.url_key
    LEFT JOIN attempt a ON a.site_key = q.site_key AND a.url_key = q.url_key
    ORDER BY q.rank, q.url_key";

// From the first entry of one queue to the first of the next, without reading what lies between.
const SITES_WITH_PENDING: &str = "WITH RECURSIVE waiting AS (
        (SELECT site_key FROM queue WHERE site_key >= $1 ORDER BY site_key LIMIT 1)
        UNION ALL
        SELECT (SELECT q.site_key FROM queue q WHERE q.site_key > w.site_key ORDER BY q.site_key LIMIT 1)
        FROM waiting w WHERE w.site_key IS NOT NULL)
    SELECT site_key FROM waiting WHERE site_key IS NOT NULL LIMIT $2";

const WITH_QUEUE: &str =
    "SELECT k.site FROM unnest($1::bigint[]) AS k(site) WHERE EXISTS (SELECT FROM queue q WHERE q.site_key = k.site)";

/// The columns of a visit `v`, as [`Columns::visit`] reads them.
macro_rules! visit {
    () => {
        "v.fetched_at, v.length, v.judged_depth, v.judged_redirects, v.duplicate_of_site, v.duplicate_of_url, v.out_degree,
        v.segment, v.record_offset, v.record_length, v.outcome::text, v.status, v.attempts, v.content_type, v.reason, v.title,
        v.target, v.digest, v.outlinks, v.limits, v.duplicate_kind::text, v.round, v.content_at, v.more"
    };
}

const ROUNDS: &str = "SELECT round, min(fetched_at), max(fetched_at)
    FROM (SELECT round, fetched_at FROM visit UNION ALL SELECT round, fetched_at FROM earlier_visit) v GROUP BY round";
const EARLIER: &str = concat!("SELECT ", visit!(), " FROM earlier_visit v WHERE site_key = $1 AND url_key = $2");

const LAST_VISITS: &str = concat!(
    "SELECT v.site_key, v.url_key, ",
    visit!(),
    " FROM unnest($1::bigint[], $2::bigint[]) AS k(site, url) JOIN visit v ON v.site_key = k.site AND v.url_key = k.url"
);

/// The statement that reads entries: of each the URL `u`, its visit `v` and the attempts `a` at it.
macro_rules! entries_of {
    ($urls_and_visits:literal) => {
        concat!(
            "SELECT u.again, u.url, u.depth, u.redirects, u.purpose::text, u.via::text, u.found_on_site, u.found_on_url,
        coalesce(a.attempts, v.attempts, 0::smallint), v.url_key IS NOT NULL, ",
            visit!(),
            " FROM ",
            $urls_and_visits,
            " LEFT JOIN attempt a ON a.site_key = u.site_key AND a.url_key = u.url_key
            ORDER BY u.site_key, u.url_key"
        )
    };
}

const ENTRIES: &str = entries_of!(
    "(SELECT * FROM url WHERE (site_key, url_key) >= ($1, $2) ORDER BY site_key, url_key LIMIT $3) u
    LEFT JOIN visit v ON v.site_key = u.site_key AND v.url_key = u.url_key"
);

const UNRECORDED: &str = entries_of!(
    "(SELECT * FROM visit WHERE segment IS NULL AND (site_key, url_key) >= ($1, $2)
        ORDER BY site_key, url_key LIMIT $3) v
    JOIN url u ON u.site_key = v.site_key AND u.url_key = v.url_key"
);

/// The counters of the shapes of a site.
macro_rules! shapes {
    () => {
        "(SELECT array_agg(c.shape ORDER BY c.shape) FROM site_shapes c WHERE c.site_key = s.site_key),
        (SELECT array_agg(c.count ORDER BY c.shape) FROM site_shapes c WHERE c.site_key = s.site_key)"
    };
}

/// Sites with these counters of shapes, and with what is known of their robots.txt, as far as a condition holds for that.
macro_rules! sites_with {
    ($shapes: expr, $robots: literal) => {
        concat!(
            "SELECT s.site, s.due_at, s.failures_in_a_row, s.response_seconds, s.response_nanos, s.pages_fetched,
        s.sitemaps_read, s.address, s.given_up, s.given_up_detail, ",
            $shapes,
            ",
        s.aside_until, s.aside_round, s.aside_reason, s.aside_detail, s.misleads, s.asked_until,
        r.fetched_at, r.failed_tries, r.status, r.failure, r.failure_detail, r.body, r.is_cut, r.renewal
    FROM (SELECT * FROM site WHERE site_key >= $1 ORDER BY site_key LIMIT $2) s
    LEFT JOIN robots r ON r.site_key = s.site_key",
            $robots,
            " ORDER BY s.site_key"
        )
    };
}

const SITE: &str = sites_with!(shapes!(), "");
/// Without shapes.
const SITES: &str = sites_with!("NULL::bigint[], NULL::bigint[]", "");
/// A worker relies on what has a record that stays, or is its own: the record of another goes when that one is lost.
const SITE_OF_WORKER: &str = sites_with!(
    shapes!(),
    " AND (r.segment IS NULL OR EXISTS (SELECT FROM segment g
        WHERE g.serial = r.segment AND (g.is_sealed OR g.worker = $3)))"
);

// By its content, or else by its label (format 5).
const HOLDER: &str =
    "SELECT site_key, url_key FROM holder WHERE digest = ANY ($1) ORDER BY length(digest) DESC LIMIT 1";
const SEEDS: &str = "SELECT url FROM seed ORDER BY number";
const OPEN_SEGMENTS: &str = "SELECT serial FROM segment WHERE worker IS NOT NULL AND NOT is_sealed";
const HOLDS_CRAWL: &str = "SELECT to_regclass('meta') IS NOT NULL";
const CRAWL_ID: &str = "SELECT crawl_id FROM meta WHERE version = $1";
const HOLDS_SETUP: &str = "SELECT to_regclass('meta') IS NOT NULL AND to_regclass('crawl') IS NOT NULL";
/// Of any format.
const CRAWL_OF_WORKERS: &str = "SELECT crawl_id FROM meta WHERE EXISTS (SELECT FROM crawl)";
const SEGMENTS: &str = "SELECT serial, name, length FROM segment WHERE NOT is_lost ORDER BY serial";
const URLS_TAKEN_BACK: &str = "SELECT t.segment, t.site_key, t.url_key FROM taken_back t
    WHERE NOT EXISTS (SELECT FROM any_visit v
        WHERE v.site_key = t.site_key AND v.url_key = t.url_key AND v.segment = t.segment)";
const TAKEN_BACK: &str = "SELECT segment, record_offset FROM taken_back ORDER BY segment, record_offset";

// Lengths are summed up as they are, and the sum taken as the 64 bits it is of.
static TOTALS: LazyLock<String> = LazyLock::new(|| {
    spelled_out(
        "SELECT 'url', NULL, count(*), '0' FROM url
    UNION ALL SELECT 'queue', NULL, count(*), '0' FROM queue
    UNION ALL SELECT 'site', NULL, count(*), '0' FROM site
    UNION ALL SELECT 'visit', outcome::text, count(*), sum(length)::text FROM visit GROUP BY outcome
    UNION ALL SELECT u.purpose::text, v.outcome::text, count(*), sum(v.length)::text
        FROM url u JOIN visit v ON v.site_key = u.site_key AND v.url_key = u.url_key
        WHERE u.purpose NOT IN ('page', 'robots') GROUP BY u.purpose, v.outcome
    UNION ALL SELECT 'waiting', NULL, count(*), '0'
        FROM url u JOIN queue q ON q.site_key = u.site_key AND q.rank = 0 AND q.url_key = u.url_key WHERE u.purpose = 'requisite'
    UNION ALL SELECT 'limits', NULL, count(*), limits::text FROM visit WHERE limits <> 0 GROUP BY limits
    UNION ALL SELECT 'robots', NULL, count(*), '0' FROM robots WHERE is_cut
    UNION ALL SELECT 'again', NULL, count(*), '0' FROM url WHERE again
    UNION ALL SELECT CASE WHEN is_choosing THEN 'choosing' ELSE 'round' END, NULL, round, round_began_at::text FROM meta
    UNION ALL SELECT 'of round', NULL,
            count(*) FILTER (WHERE u.purpose = 'page' AND v.outcome::text IN (<fetched>)),
            coalesce(sum(v.length) FILTER (WHERE v.outcome::text <> 'not_modified'), 0)::text
        FROM meta m JOIN visit v ON m.round > 1 AND v.round > 1 AND v.round = m.round
        JOIN url u ON u.site_key = v.site_key AND u.url_key = v.url_key",
    )
});

/// What reads.
pub(crate) struct Reader {
    session: Session,
    address: Address,
    schema: Schema,
}

impl Reader {
    pub(crate) fn open(address: &Address, schema: &Schema) -> Result<Self, StoreError> {
        let (session, _) = Session::open(address, schema, Role::Read)?;
        Ok(Reader { session, address: address.clone(), schema: schema.clone() })
    }

    /// Reads on a connection of its own, and all in one transaction: what others commit from now on is not seen.
    pub(crate) fn of_this_moment(&self) -> Result<Self, StoreError> {
        let (address, schema) = (self.address.clone(), self.schema.clone());
        let (session, _) = Session::open(&address, &schema, Role::View)?;
        Ok(Reader { session, address, schema })
    }

    pub(crate) fn pending(
        &self,
        site: SiteKey,
        after: Option<Position>,
        max: usize,
    ) -> Result<Vec<Queued>, StoreError> {
        let (rank, url) = match after {
            None => (0, 0),
            Some(Position { rank, url: u64::MAX }) => (i64::from(rank) + 1, 0),
            Some(Position { rank, url }) => (i64::from(rank), url + 1),
        };
        let parameters: [Box<_>; 4] =
            [Box::new(ordered(site.0)), Box::new(rank), Box::new(ordered(url)), Box::new(limit(max))];
        let rows = self.session.query("reading a queue", PENDING, parameters.map(|number| number as _).into())?;
        let waiting = rows.iter().map(|row| Columns::of("queue", row).queued()).collect::<Result<Vec<_>, _>>()?;
        with_last_visits(&self.session, waiting)
    }

    pub(crate) fn earlier(&self, key: UrlKey) -> Result<Vec<Visit>, StoreError> {
        let (site, url) = numbers::key(key);
        let parameters = vec![Box::new(site) as _, Box::new(url) as _];
        let rows = self.session.query("reading earlier visits", EARLIER, parameters)?;
        let mut visits =
            rows.iter().map(|row| Columns::of("earlier_visit", row).visit(key)).collect::<Result<Vec<_>, _>>()?;
        visits.sort_by_key(Visit::order);
        Ok(visits)
    }

    pub(crate) fn rounds(&self) -> Result<BTreeMap<u32, Dates>, StoreError> {
        let rows = self.session.query("reading the dates of rounds", ROUNDS, Vec::new())?;
        let round = |row| {
            let mut columns = Columns::of("visit", row);
            let round = columns.narrow::<i32, _>()?;
            let (first, last) = (Timestamp(columns.plain()?), Timestamp(columns.plain()?));
            Ok((round, Dates { first, last }))
        };
        rows.iter().map(round).collect()
    }

    pub(crate) fn sites_with_pending(&self, after: Option<SiteKey>, max: usize) -> Result<Vec<SiteKey>, StoreError> {
        let Some(first) = following(after) else { return Ok(Vec::new()) };
        let parameters = vec![Box::new(ordered(first)) as _, Box::new(limit(max)) as _];
        let rows = self.session.query("reading the sites with a queue", SITES_WITH_PENDING, parameters)?;
        rows.iter().map(|row| Ok(SiteKey(from_ordered(Columns::of("queue", row).next()?)))).collect()
    }

    pub(crate) fn with_queue(&self, sites: &[SiteKey]) -> Result<BTreeSet<SiteKey>, StoreError> {
        let sites: Vec<i64> = sites.iter().map(|site| ordered(site.0)).collect();
        let rows = self.session.query("reading which sites have a queue", WITH_QUEUE, vec![Box::new(sites)])?;
        rows.iter().map(|row| Ok(SiteKey(from_ordered(Columns::of("queue", row).next()?)))).collect()
    }

    pub(crate) fn get(&self, key: UrlKey) -> Result<Option<Entry>, StoreError> {
        let entry = self.entries("looking up a URL", ENTRIES, key, 1)?.pop();
        Ok(entry.filter(|entry| entry.candidate.url.key() == key))
    }

    pub(crate) fn scan(&self, after: Option<UrlKey>, max: usize) -> Result<Vec<Entry>, StoreError> {
        behind(after).map_or(Ok(Vec::new()), |first| self.entries("reading the URLs", ENTRIES, first, max))
    }

    pub(crate) fn unrecorded(&self, after: Option<UrlKey>, max: usize) -> Result<Vec<Entry>, StoreError> {
        let doing = "reading the URLs without a record";
        behind(after).map_or(Ok(Vec::new()), |first| self.entries(doing, UNRECORDED, first, max))
    }

    fn entries(
        &self,
        doing: &'static str,
        statement: &'static str,
        first: UrlKey,
        max: usize,
    ) -> Result<Vec<Entry>, StoreError> {
        let (site, url) = key(first);
        let parameters = vec![Box::new(site) as _, Box::new(url) as _, Box::new(limit(max)) as _];
        let rows = self.session.query(doing, statement, parameters)?;
        let entry = |row| {
            let mut columns = Columns::of("url", row);
            let again = columns.next()?;
            columns.entry(again)
        };
        rows.iter().map(entry).collect()
    }

    pub(crate) fn site(&self, key: SiteKey) -> Result<Option<SiteRecord>, StoreError> {
        let site = self.sites_from("looking up a site", SITE, key.0, 1)?.pop();
        Ok(site.filter(|site| site.site.key() == key))
    }

    /// A site as a worker may rely on it.
    pub(crate) fn site_of(&self, worker: i64, key: SiteKey) -> Result<Option<SiteRecord>, StoreError> {
        let parameters: Parameters = vec![Box::new(ordered(key.0)), Box::new(limit(1)), Box::new(worker)];
        let rows = self.session.query("looking up a site", SITE_OF_WORKER, parameters)?;
        let site = rows.first().map(|row| Columns::of("site", row).site()).transpose()?;
        Ok(site.filter(|site| site.site.key() == key))
    }

    pub(crate) fn sites(&self, after: Option<SiteKey>, max: usize) -> Result<Vec<SiteRecord>, StoreError> {
        following(after).map_or(Ok(Vec::new()), |first| self.sites_from("reading the sites", SITES, first, max))
    }

    fn sites_from(
        &self,
        doing: &'static str,
        statement: &'static str,
        first: u64,
        max: usize,
    ) -> Result<Vec<SiteRecord>, StoreError> {
        let rows = self.session.query(doing, statement, vec![Box::new(ordered(first)), Box::new(limit(max))])?;
        rows.iter().map(|row| Columns::of("site", row).site()).collect()
    }

    pub(crate) fn holder(
        &self,
        content: ContentDigest,
        label: Option<PayloadDigest>,
    ) -> Result<Option<UrlKey>, StoreError> {
        let label = label.map(|label| label.0.to_vec());
        let digests = Vec::from_iter([content.as_bytes().to_vec()].into_iter().chain(label));
        let rows = self.session.query("looking up a content", HOLDER, vec![Box::new(digests)])?;
        let key = rows.first().map(|row| {
            let mut columns = Columns::of("holder", row);
            Ok(from_key(columns.next()?, columns.next()?))
        });
        key.transpose()
    }

    pub(crate) fn seeds(&self) -> Result<Vec<CanonicalUrl>, StoreError> {
        let rows = self.session.query("reading the seeds", SEEDS, Vec::new())?;
        rows.iter().map(|row| Columns::of("seed", row).url()).collect()
    }

    pub(crate) fn segments(&self) -> Result<Vec<Segment>, StoreError> {
        let rows = self.session.query("reading the segments", SEGMENTS, Vec::new())?;
        rows.iter().map(|row| Columns::of("segment", row).segment()).collect()
    }

    /// The records whose visits were taken back, by segment, in order.
    pub(crate) fn taken_back(&self) -> Result<BTreeMap<u32, Vec<u64>>, StoreError> {
        let rows = self.session.query("reading which visits were taken back", TAKEN_BACK, Vec::new())?;
        let mut taken_back: BTreeMap<u32, Vec<u64>> = BTreeMap::new();
        for row in &rows {
            let mut columns = Columns::of("taken_back", row);
            let segment = columns.narrow::<i64, _>()?;
            taken_back.entry(segment).or_default().push(columns.plain()?);
        }
        Ok(taken_back)
    }

    /// The URLs whose only records in a segment are of such visits.
    pub(crate) fn urls_taken_back(&self) -> Result<BTreeMap<u32, BTreeSet<UrlKey>>, StoreError> {
        let rows = self.session.query("reading which visits were taken back", URLS_TAKEN_BACK, Vec::new())?;
        let mut taken_back: BTreeMap<u32, BTreeSet<UrlKey>> = BTreeMap::new();
        for row in &rows {
            let mut columns = Columns::of("taken_back", row);
            let segment = columns.narrow::<i64, _>()?;
            taken_back.entry(segment).or_default().insert(from_key(columns.next()?, columns.next()?));
        }
        Ok(taken_back)
    }

    /// The serial numbers of segments that workers write, or have not sealed.
    pub(crate) fn open_segments(&self) -> Result<BTreeSet<u32>, StoreError> {
        let rows = self.session.query("reading the segments", OPEN_SEGMENTS, Vec::new())?;
        rows.iter().map(|row| Columns::of("segment", row).narrow::<i64, _>()).collect()
    }

    /// What tells the crawl from all others, if the schema holds one of this format.
    pub(crate) fn crawl_id(&self) -> Result<Option<String>, StoreError> {
        let doing = "looking for a crawl";
        let holds = self.session.query(doing, HOLDS_CRAWL, Vec::new())?;
        let holds = holds.first().map_or(Ok(false), |row| Columns::of("meta", row).next())?;
        if !holds {
            return Ok(None);
        }
        let rows = self.session.query(doing, CRAWL_ID, vec![Box::new(migrations::current())])?;
        rows.first().map(|row| Columns::of("meta", row).next()).transpose()
    }

    /// The same of a crawl that a server has set up for several workers, of any format.
    pub(crate) fn crawl_of_workers(&self) -> Result<Option<String>, StoreError> {
        let doing = "looking for a crawl by several workers";
        let holds = self.session.query(doing, HOLDS_SETUP, Vec::new())?;
        if !holds.first().map_or(Ok(false), |row| Columns::of("crawl", row).next())? {
            return Ok(None);
        }
        let rows = self.session.query(doing, CRAWL_OF_WORKERS, Vec::new())?;
        rows.first().map(|row| Columns::of("meta", row).next()).transpose()
    }

    pub(crate) fn totals(&self) -> Result<Totals, StoreError> {
        let mut totals = Totals { outcomes: BTreeMap::new(), ..Totals::default() };
        let (mut bytes_of_all, mut bytes_of_later_round) = (0_u64, 0);
        for row in self.session.query("counting", &TOTALS, Vec::new())? {
            let mut columns = Columns::of("visit", &row);
            let (what, word): (&str, Option<&str>) = (columns.next()?, columns.next()?);
            let count = u64::try_from(columns.next::<i64>()?).unwrap_or_default();
            let sum: i128 = columns.next::<&str>()?.parse().map_err(|error| damaged("visit", error))?;
            let outcome =
                word.map(|word| outcome(word).ok_or_else(|| damaged("visit", "unknown outcome"))).transpose()?;
            match (what, outcome) {
                ("url", _) => totals.urls = count,
                ("queue", _) => totals.pending = count,
                ("site", _) => totals.sites = count,
                ("limits", _) => count_limits(&mut totals, LimitSet::from_bits(low_bits(sum)), count),
                ("again", _) => totals.again = count,
                ("of round", _) => (totals.pages_of_round, bytes_of_later_round) = (count, low_bits(sum)),
                ("round" | "choosing", _) => {
                    let number = u32::try_from(count).unwrap_or(u32::MAX);
                    let is_choosing = what == "choosing";
                    totals.round = Round { number, began_at: Timestamp(low_bits(sum)), is_choosing };
                }
                ("robots", _) => count_limits(&mut totals, Limit::RobotsTxt.into(), count),
                ("waiting", _) => totals.requisites_pending = count,
                ("sitemap", Some(outcome)) => {
                    totals.sitemaps += count;
                    totals.bytes = totals.bytes.wrapping_sub(low_bits(sum));
                    uncount(&mut totals.outcomes, outcome, count);
                }
                ("requisite", Some(outcome)) => {
                    totals.requisites.insert(outcome, count);
                    uncount(&mut totals.outcomes, outcome, count);
                }
                (_, Some(outcome)) => {
                    totals.bytes = totals.bytes.wrapping_add(low_bits(sum));
                    if outcome != Outcome::NotModified {
                        bytes_of_all = bytes_of_all.wrapping_add(low_bits(sum));
                    }
                    totals.outcomes.insert(outcome, count);
                }
                (_, None) => {}
            }
        }
        // All visits are of the first round before another one begins.
        totals.bytes_of_round = if totals.round.number > 1 { bytes_of_later_round } else { bytes_of_all };
        Ok(totals)
    }
}

/// The entries of a queue, with the last visits of those that are to be visited again.
fn with_last_visits(session: &Session, waiting: Vec<Waiting>) -> Result<Vec<Queued>, StoreError> {
    let again = waiting.iter().filter(|waiting| waiting.is_again).map(|waiting| waiting.queued.candidate.url.key());
    let (sites, urls): (Vec<i64>, Vec<i64>) = again.map(numbers::key).unzip();
    let mut visits = BTreeMap::new();
    if !sites.is_empty() {
        let parameters: Parameters = vec![Box::new(sites), Box::new(urls)];
        for row in session.query("reading the visits of a queue", LAST_VISITS, parameters)? {
            let mut columns = Columns::of("visit", &row);
            let key = from_key(columns.next()?, columns.next()?);
            visits.insert(key, columns.visit(key)?);
        }
    }
    let with_visit = |Waiting { mut queued, is_again }: Waiting| {
        let visit = visits.remove(&queued.candidate.url.key()).filter(|_| is_again);
        queued.again = visit.map(Box::new);
        queued
    };
    Ok(waiting.into_iter().map(with_visit).collect())
}

fn count_limits(totals: &mut Totals, limits: LimitSet, visits: u64) {
    if visits > 0 {
        limits.iter().for_each(|limit| *totals.limits.entry(limit).or_default() += visits);
    }
}

/// Visits come before those of them that are of sitemaps and requisites.
fn uncount(outcomes: &mut BTreeMap<model::Outcome, u64>, outcome: model::Outcome, count: u64) {
    if let Some(all) = outcomes.get_mut(&outcome) {
        *all -= count;
        if *all == 0 {
            outcomes.remove(&outcome);
        }
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the low 64 bits are meant")]
fn low_bits(sum: i128) -> u64 {
    sum as u64
}

/// The first key that is behind this one; `None` behind the last.
fn behind(after: Option<UrlKey>) -> Option<UrlKey> {
    match after {
        None => Some(UrlKey { site: SiteKey(0), url: 0 }),
        Some(UrlKey { site, url: u64::MAX }) => {
            following(Some(site)).map(|site| UrlKey { site: SiteKey(site), url: 0 })
        }
        Some(UrlKey { site, url }) => Some(UrlKey { site, url: url + 1 }),
    }
}

/// The key of the first site that comes behind one; `None` if there can be none.
fn following(after: Option<SiteKey>) -> Option<u64> {
    after.map_or(Some(0), |site| site.0.checked_add(1))
}
