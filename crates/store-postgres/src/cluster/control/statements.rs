//! What a server says to the database.

use std::sync::LazyLock;

use crate::outcomes::spelled_out;

pub(super) const WRITER: &str = "INSERT INTO writer (writer, process, number)
        VALUES (hashtextextended(gen_random_uuid()::text, 0), gen_random_uuid(), 0)
    RETURNING writer, process::text";
pub(super) const SHARED: &str = "SELECT settings, archive, lease_seconds, placement FROM crawl";
pub(super) const SET_UP: &str = "SELECT set_up($1, $2, $3, $4, $5)";
pub(super) const NEW_CRAWL: &str = "SELECT gen_random_uuid()::text";
pub(super) const FORGET: &str = "SELECT forget($1, $2)";
pub(super) const BEAT: &str = "SELECT 1";
pub(super) const COUNT_SEEDS: &str = "SELECT count(*) FROM unnest($1::bigint[], $2::bigint[]) AS k(site, url)
    JOIN seed s ON s.site_key = k.site AND s.url_key = k.url";
pub(super) const HINT: &str = "INSERT INTO hint (owner, site_key)
    SELECT g.owner, s.site_key FROM site s JOIN politeness_group g ON g.name = s.politeness_group
        JOIN worker w ON w.worker = g.owner AND w.state <> 'dead' WHERE s.site_key = ANY ($1)";
pub(super) const ADMIT: &str = "SELECT admit($1, $2)";
// In the order of the index, so that a window costs what it tells.
pub(super) const SETTLED: &str = r#"SELECT url FROM url
    WHERE settled AND (host_backwards(url) COLLATE "C", site_key, url_key) > ($1, $2, $3) AND host_backwards(url) COLLATE "C" < $4
    ORDER BY host_backwards(url) COLLATE "C", site_key, url_key LIMIT $5"#;
// One statement, and so of one moment: a link from the last URL of one site to the first of another is seen on this side or that.
// Of a site whose budget is spent, the first of the queue counts if it was visited before, and what has to be shown with pages.
pub(super) const IS_WAITING: &str = "SELECT CASE WHEN $4 AND $5::bigint IS NULL THEN EXISTS (SELECT FROM queue) ELSE EXISTS (
        SELECT FROM (SELECT site_key FROM site WHERE $4 UNION ALL SELECT site_key FROM unplaced WHERE $4 UNION ALL SELECT k FROM sites_of($1, $2, $3) AS k WHERE NOT $4) s
            WHERE EXISTS (SELECT FROM queue q WHERE q.site_key = s.site_key)
            AND ($5::bigint IS NULL
                OR NOT EXISTS (SELECT FROM site t WHERE t.site_key = s.site_key AND t.pages_fetched >= $5)
                OR EXISTS (SELECT FROM (SELECT * FROM queue q WHERE q.site_key = s.site_key ORDER BY q.rank, q.url_key LIMIT 1) f
                    JOIN visit v ON v.site_key = f.site_key AND v.url_key = f.url_key)
                OR EXISTS (SELECT FROM queue q JOIN url u ON u.site_key = q.site_key AND u.url_key = q.url_key
                    WHERE q.site_key = s.site_key AND q.rank = 0 AND u.purpose = 'requisite'))) END";
pub(super) const SITES_SPENT: &str = "SELECT count(*) FROM site s
    WHERE s.pages_fetched >= $1 AND EXISTS (SELECT FROM queue q WHERE q.site_key = s.site_key)";
pub(super) const OUTCOMES: &str = "WITH reach AS MATERIALIZED (SELECT * FROM sites_of($1, $2, $3) AS s(site_key))
    SELECT NULL, count(*) FROM reach r JOIN queue q ON q.site_key = r.site_key
    UNION ALL SELECT o.outcome::text, sum(o.visits)::bigint FROM (
        SELECT v.outcome, count(*) AS visits FROM reach r JOIN visit v ON v.site_key = r.site_key GROUP BY v.outcome
        UNION ALL SELECT v.outcome, -count(*) FROM reach r JOIN url u ON u.site_key = r.site_key AND u.purpose NOT IN ('page', 'robots')
            JOIN visit v ON v.site_key = u.site_key AND v.url_key = u.url_key GROUP BY v.outcome) o
        GROUP BY o.outcome HAVING sum(o.visits) > 0";
pub(super) const LEASES_LEFT: &str =
    "SELECT worker, greatest(extract(epoch FROM lease_until - clock_timestamp()), 0)::float8
    FROM worker WHERE state <> 'dead' AND lease_until > clock_timestamp()";
pub(super) const UNOWNED: &str =
    "SELECT name, greatest(extract(epoch FROM clock_timestamp() - ownerless_since), 0)::float8
    FROM politeness_group WHERE owner IS NULL ORDER BY ownerless_since, name LIMIT $1";
pub(super) const SITES_OWNED: &str = "SELECT g.owner, count(*) FROM politeness_group g
    JOIN site s ON s.politeness_group = g.name WHERE g.owner = ANY ($1) GROUP BY g.owner";
// Sites of a worker by their states, as numbers (`STATES`), and names; or, without $4, by name alone. Where $2, the last of the page before, has
// another state by now, the next page begins there.
pub(super) static DOMAINS: LazyLock<String> = LazyLock::new(|| {
    spelled_out(
        r#"WITH owned AS MATERIALIZED (
        SELECT s.site, s.site_key, s.due_at, coalesce(s.given_up_detail, s.aside_detail) AS trouble,
            CASE WHEN s.site_key = ANY ($5) THEN 0 WHEN s.given_up IS NOT NULL THEN 2 WHEN s.aside_until IS NOT NULL AND EXISTS (SELECT FROM queue q WHERE q.site_key = s.site_key) THEN 1 ELSE 3 END AS state
        FROM politeness_group g JOIN site s ON s.politeness_group = g.name WHERE g.owner = $1),
    placed AS (SELECT o.*, CASE WHEN $4 THEN o.state ELSE 0 END AS place FROM owned o)
    SELECT s.site, (SELECT count(*) FROM queue q WHERE q.site_key = s.site_key),
        (SELECT count(*) FROM visit v WHERE v.site_key = s.site_key AND v.outcome IN (<fetched>))
            - (SELECT count(*) FROM url u JOIN visit v ON v.site_key = u.site_key AND v.url_key = u.url_key
                WHERE u.site_key = s.site_key AND u.purpose NOT IN ('page', 'robots') AND v.outcome IN (<fetched>))
        , s.state, s.due_at, s.trouble
    FROM (SELECT * FROM placed WHERE (place, site COLLATE "C") > (coalesce((SELECT place FROM placed WHERE site = $2), 0), $2)
        ORDER BY place, site COLLATE "C" LIMIT $3) s
    ORDER BY s.place, s.site COLLATE "C""#,
    )
});
// A site without URLs that wait is not asked again, and so its trouble never ends.
pub(super) const IN_TROUBLE: &str = "SELECT site, due_at, aside_detail FROM site s
    WHERE aside_until IS NOT NULL AND EXISTS (SELECT FROM queue q WHERE q.site_key = s.site_key)
    ORDER BY due_at, site_key LIMIT $1";
// Of a long queue no more than so many are counted.
pub(super) const WAITING_ON: &str = "SELECT count(*) FROM (SELECT FROM queue WHERE site_key = $1 LIMIT $2) q";
pub(super) const PLACED: &str = "SELECT s.politeness_group, g.owner FROM site s
    LEFT JOIN politeness_group g ON g.name = s.politeness_group WHERE s.site_key = $1 AND s.politeness_group IS NOT NULL";
pub(super) const COUNTS: &str = "SELECT (SELECT count(*) FROM politeness_group WHERE owner IS NULL),
    (SELECT count(*) FROM unplaced),
    (SELECT count(*) FROM segment WHERE is_sealed), (SELECT count(*) FROM segment WHERE NOT is_sealed),
    (SELECT coalesce(sum(length), 0)::bigint FROM segment WHERE NOT is_sealed AND NOT is_lost),
    (SELECT count(*) FROM site s WHERE aside_until IS NOT NULL AND EXISTS (SELECT FROM queue q WHERE q.site_key = s.site_key)),
    (SELECT count(*) FROM worker WHERE is_lost),
    (SELECT max(committed_at) FROM (SELECT committed_at FROM writer UNION ALL SELECT committed_at FROM meta) c)";
// One statement, and so of one moment: the name or the segments of a worker that goes are still there.
pub(super) const ANSWERING: &str = "WITH alive AS MATERIALIZED (
        SELECT worker, name FROM worker WHERE state <> 'dead' AND lease_until > statement_timestamp())
    SELECT true, name FROM alive
    UNION ALL SELECT false, name FROM segment s WHERE is_sealed AND NOT EXISTS (SELECT FROM alive a WHERE a.worker = s.worker)
    ORDER BY 1, 2";
pub(super) const SEGMENT_AT: &str = "SELECT s.is_sealed OR s.worker IS NULL,
        (SELECT w.name FROM worker w
            WHERE w.worker = s.worker AND w.state <> 'dead' AND w.lease_until > statement_timestamp())
    FROM segment s WHERE s.serial = $1 AND NOT s.is_lost";
pub(super) const REPEATING: &str = "SELECT DISTINCT site_key, url_key FROM any_visit
    WHERE duplicate_of_site = $1 AND duplicate_of_url = $2 ORDER BY site_key, url_key LIMIT $3";
pub(super) const HAS_WHOLE_SEED: &str = "SELECT EXISTS (SELECT FROM seed s JOIN url u ON u.site_key = s.site_key AND u.url_key = s.url_key WHERE u.depth = 0)";
// Whose robots.txt is known, and of which no sitemap has been read.
pub(super) const NO_SITEMAP: &str = "SELECT t.site_key FROM site t JOIN robots r ON r.site_key = t.site_key
    WHERE t.site_key IN (SELECT * FROM sites_of($1, $2, $3)) AND t.sitemaps_read = 0 AND r.failed_tries = 0 AND t.site_key > $4
    ORDER BY t.site_key LIMIT $5";
pub(super) const NO_SITEMAP_AT_ALL: &str = "SELECT t.site_key FROM site t JOIN robots r ON r.site_key = t.site_key
    WHERE t.sitemaps_read = 0 AND r.failed_tries = 0 AND t.site_key > $1 ORDER BY t.site_key LIMIT $2";
