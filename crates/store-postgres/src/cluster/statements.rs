//! What a worker says to the database. Times go in and out as seconds.

use std::sync::LazyLock;

use crate::outcomes::spelled_out;

pub(super) const IDENTITY: &str = "SELECT hashtextextended(gen_random_uuid()::text, 0), gen_random_uuid()::text";
// A worker that is there is this one: its answer was lost.
pub(super) const JOIN: &str = "WITH me AS (
        INSERT INTO worker AS w (worker, name, lease_until) VALUES ($1, $2, clock_timestamp() + $3::float8 * interval '1 second')
            ON CONFLICT (worker) DO UPDATE SET lease_until = excluded.lease_until WHERE w.state <> 'dead'
            RETURNING lease_until),
    its AS (INSERT INTO writer (writer, process, number) VALUES ($1, $4::text::uuid, 0) ON CONFLICT DO NOTHING)
    SELECT extract(epoch FROM lease_until)::float8 FROM me";
pub(super) const RENEW: &str = "UPDATE worker w SET lease_until = clock_timestamp() + $2::float8 * interval '1 second'
    FROM (SELECT lease_until FROM worker WHERE worker = $1 FOR UPDATE) before
    WHERE w.worker = $1 AND w.state <> 'dead'
    RETURNING w.state = 'leaving', extract(epoch FROM w.lease_until)::float8, before.lease_until < clock_timestamp()";
pub(super) const LEAVE: &str = "UPDATE worker SET state = 'leaving' WHERE worker = $1 AND state = 'alive'";
pub(super) const GONE: &str = "WITH dead AS (
        UPDATE worker SET state = 'dead', lease_until = clock_timestamp() WHERE worker = $1 RETURNING worker),
    bids AS (DELETE FROM bid USING dead WHERE bid.worker = dead.worker)
    DELETE FROM hint USING dead WHERE hint.owner = dead.worker";
// The statement may have waited for a database that was away, and the others could renew no lease either: it does nothing after the end
// of the lease under which it was sent.
pub(super) const REAP: &str = "WITH dead AS (
        UPDATE worker SET state = 'dead', is_lost = true
            WHERE state <> 'dead' AND lease_until < clock_timestamp() - $1::float8 * interval '1 second'
                AND clock_timestamp() < to_timestamp($2::float8) RETURNING worker),
    bids AS (DELETE FROM bid USING dead WHERE bid.worker = dead.worker),
    hints AS (DELETE FROM hint USING dead WHERE hint.owner = dead.worker)
    SELECT worker FROM dead";
// One that has a commit in flight is closed next time.
pub(super) const CLOSE: &str = "WITH dead AS (
        SELECT c.writer FROM writer c JOIN worker w ON w.worker = c.writer WHERE w.state = 'dead' FOR UPDATE OF c SKIP LOCKED),
    gone AS (DELETE FROM writer c USING dead WHERE c.writer = dead.writer RETURNING c.committed_at)
    UPDATE meta SET committed_at = g.last FROM (SELECT max(committed_at) AS last FROM gone) g WHERE g.last > coalesce(committed_at, 0)";
pub(super) const UNDO: &str = "SELECT undo($1)";
// With the hints that others gave to the owner while its visits were undone: nobody else would delete them.
pub(super) const FREE: &str = "WITH free AS (
        SELECT g.name, g.owner FROM politeness_group g JOIN worker w ON w.worker = g.owner
            WHERE w.state = 'dead' AND NOT EXISTS (SELECT FROM writer c WHERE c.writer = w.worker)
                AND NOT EXISTS (SELECT FROM segment s WHERE s.worker = w.worker AND NOT s.is_sealed AND NOT s.is_lost)
            ORDER BY g.name FOR UPDATE OF g SKIP LOCKED),
    hints AS (DELETE FROM hint h USING (SELECT DISTINCT owner FROM free) f WHERE h.owner = f.owner)
    UPDATE politeness_group g SET owner = NULL, ownerless_since = clock_timestamp() FROM free WHERE g.name = free.name";
pub(super) const MEMBERS: &str = "SELECT w.worker, w.name, w.state = 'leaving',
        (SELECT count(*) FROM politeness_group g WHERE g.owner = w.worker)
    FROM worker w WHERE w.state <> 'dead' AND w.lease_until > clock_timestamp() ORDER BY w.joined_at, w.worker";
pub(super) const OWNED: &str =
    "SELECT name, epoch, greatest(extract(epoch FROM not_before - clock_timestamp()), 0)::float8
    FROM politeness_group WHERE owner = $1 AND not_before > '-infinity'
    UNION ALL SELECT name, epoch, 0::float8 FROM politeness_group WHERE owner = $1 AND not_before = '-infinity'
    ORDER BY name";
pub(super) const OWNERLESS: &str = "SELECT g.name, greatest(extract(epoch FROM clock_timestamp() - g.ownerless_since), 0)::float8, b.worker, b.rtt_us
    FROM (SELECT name, ownerless_since FROM politeness_group WHERE owner IS NULL ORDER BY ownerless_since, name LIMIT $1) g
    LEFT JOIN (bid b JOIN worker w ON w.worker = b.worker AND w.state = 'alive' AND w.lease_until > clock_timestamp())
        ON b.politeness_group = g.name
    ORDER BY g.ownerless_since, g.name, b.rtt_us, b.worker";
pub(super) const OFFERS: &str = "SELECT g.name, 0::float8, b.worker, b.rtt_us
    FROM politeness_group g
    LEFT JOIN (bid b JOIN worker w ON w.worker = b.worker AND w.state = 'alive' AND w.lease_until > clock_timestamp())
        ON b.politeness_group = g.name
    WHERE g.owner = $1 ORDER BY g.name, b.rtt_us, b.worker";
// Workers first: a process that calls one of them dead waits, and then frees what it was given.
pub(super) const ASSIGN: &str = "WITH alive AS MATERIALIZED (
        SELECT worker FROM worker WHERE worker = ANY ($2) AND state = 'alive' AND lease_until > clock_timestamp()
            ORDER BY worker FOR SHARE),
    picked AS MATERIALIZED (
        SELECT g.name, a.worker FROM politeness_group g JOIN unnest($1::text[], $2::bigint[]) AS a(name, worker) ON g.name = a.name
            WHERE g.owner IS NULL AND a.worker IN (SELECT worker FROM alive) ORDER BY g.name FOR UPDATE OF g)
    UPDATE politeness_group g SET owner = p.worker, epoch = g.epoch + 1,
            not_before = CASE WHEN g.epoch = 0 THEN '-infinity' ELSE clock_timestamp() + $3::float8 * interval '1 second' END
        FROM picked p WHERE g.name = p.name
    RETURNING g.name";
pub(super) const HAND_OVER: &str = "WITH target AS (
        SELECT 1 FROM worker WHERE worker = $2 AND state = 'alive' AND lease_until > clock_timestamp() FOR SHARE)
    UPDATE politeness_group SET owner = $2, epoch = epoch + 1,
            not_before = clock_timestamp() + $4::float8 * interval '1 second'
        WHERE name = $3 AND owner = $1 AND epoch = $5 AND EXISTS (SELECT FROM target)
    RETURNING name";
pub(super) const GIVE_UP: &str = "UPDATE politeness_group SET owner = NULL, ownerless_since = clock_timestamp()
    WHERE name = $2 AND owner = $1 AND epoch = $3";
pub(super) const OWNS: &str = "SELECT FROM politeness_group WHERE name = $2 AND owner = $1 AND epoch = $3";
pub(super) const BID: &str = "INSERT INTO bid (politeness_group, worker, rtt_us)
        SELECT b.name, $1, b.rtt_us FROM unnest($2::text[], $3::bigint[]) AS b(name, rtt_us) ORDER BY b.name
    ON CONFLICT (politeness_group, worker) DO UPDATE SET rtt_us = excluded.rtt_us";
pub(super) const OPEN_FOR_BIDS: &str = "SELECT g.name, s.site FROM politeness_group g
    CROSS JOIN LATERAL (SELECT site FROM site WHERE politeness_group = g.name ORDER BY site_key LIMIT 1) s
    WHERE g.owner IS NULL AND NOT EXISTS (SELECT FROM bid b WHERE b.politeness_group = g.name AND b.worker = $1)
        AND (SELECT count(*) FROM bid b JOIN worker w ON w.worker = b.worker AND w.lease_until > clock_timestamp()
            WHERE b.politeness_group = g.name) < $2
    ORDER BY g.ownerless_since, g.name LIMIT $3";
pub(super) const NOT_BID_FOR: &str = "SELECT g.name, s.site FROM politeness_group g
    CROSS JOIN LATERAL (SELECT site FROM site WHERE politeness_group = g.name ORDER BY site_key LIMIT 1) s
    WHERE g.name > $2 AND NOT EXISTS (SELECT FROM bid b WHERE b.politeness_group = g.name AND b.worker = $1)
    ORDER BY g.name LIMIT $3";
// In the order of the groups and then of the sites, so that workers do not wait in a circle; answered as asked.
pub(super) const PLACE: &str = "SELECT p.politeness_group, p.owner FROM (
        SELECT * FROM unnest($1::bigint[], $2::text[], $3::text[]) WITH ORDINALITY AS s(site_key, site, name, n)
            ORDER BY s.name, s.site_key) s
    CROSS JOIN LATERAL place(s.site_key, s.site, s.name) p ORDER BY s.n";
pub(super) const MOVE: &str = "SELECT move($1, $2, $3, $4, $5)";
pub(super) const SITES: &str = "SELECT site_key, politeness_group FROM site WHERE politeness_group = ANY ($1::text[])";
pub(super) const UNPLACED: &str = "SELECT site FROM unplaced
    WHERE (site_key % $1 + $1) % $1 = $2 ORDER BY site_key LIMIT $3";
pub(super) const HINTS: &str = "WITH told AS (
        DELETE FROM hint WHERE owner = $1 AND number = ANY (ARRAY(
            SELECT number FROM hint WHERE owner = $1 ORDER BY number LIMIT $2)) RETURNING site_key, of_record)
    SELECT s.site_key, s.politeness_group, bool_or(t.of_record) FROM told t JOIN site s ON s.site_key = t.site_key
        WHERE s.politeness_group IS NOT NULL GROUP BY s.site_key, s.politeness_group";
pub(super) const WAITING: &str = "SELECT s.site_key, s.politeness_group
    FROM politeness_group g JOIN site s ON s.politeness_group = g.name
    WHERE g.owner = $1 AND EXISTS (SELECT FROM queue q WHERE q.site_key = s.site_key)";
pub(super) const NEWS: &str = "SELECT m.round, s.number, coalesce(u.depth, 0), s.url
    FROM meta m LEFT JOIN (seed s LEFT JOIN url u ON u.site_key = s.site_key AND u.url_key = s.url_key) ON s.number > $1
    ORDER BY s.number";
pub(super) const UNJUDGED: &str =
    "SELECT u.url FROM unjudged n JOIN url u ON u.site_key = n.site_key AND u.url_key = n.url_key
    ORDER BY n.site_key, n.url_key LIMIT $1";
pub(super) const JUDGED: &str = "WITH judged AS (
        DELETE FROM unjudged n USING unnest($1::bigint[], $2::bigint[]) AS k(site, url)
            WHERE n.site_key = k.site AND n.url_key = k.url)
    SELECT admit($3, $4)";
pub(super) const NEXT_SERIAL: &str = "SELECT nextval('segment_serial')";
// The worker first: a process that calls it dead waits, and then finds the segment sealed.
pub(super) const SEAL: &str = "WITH alive AS MATERIALIZED (
        SELECT worker FROM worker WHERE worker = $1 AND state <> 'dead' FOR SHARE)
    UPDATE segment s SET is_sealed = true FROM alive WHERE s.worker = alive.worker AND s.serial = $2 RETURNING s.serial";
pub(super) const UNSEALED_ROBOTS: &str =
    "SELECT r.site_key, r.segment FROM segment g JOIN robots r ON r.segment = g.serial
    WHERE g.worker = $1 AND NOT g.is_sealed AND NOT g.is_lost";
pub(super) const SEGMENTS: &str =
    "SELECT serial, name, length, worker, is_sealed FROM segment WHERE NOT is_lost ORDER BY serial";
pub(super) const NAMES_OF_SEGMENTS: &str = "SELECT name FROM segment WHERE NOT is_lost ORDER BY serial";
pub(super) const LOST_SEGMENTS: &str = "SELECT name FROM segment WHERE NOT is_sealed AND is_lost ORDER BY serial";
pub(super) const FORGET: &str = "DELETE FROM segment WHERE is_lost AND name = $1";
pub(super) const FOLLOWED: &str = "SELECT site_key, url_key FROM followed
    WHERE (site_key, url_key) > ($1, $2) AND (site_key % $4 + $4) % $4 = $5 ORDER BY site_key, url_key LIMIT $3";
/// All visits of URLs that have several: each URL gives a row at least.
pub(super) const VISITS_OF_SEVERAL: &str = "WITH k AS (
        SELECT DISTINCT site_key, url_key FROM earlier_visit WHERE (site_key, url_key) > ($1, $2)
            ORDER BY site_key, url_key LIMIT $3),
    v AS (SELECT v.site_key, v.url_key, v.fetched_at, v.outcome, v.status, v.target, v.digest, v.segment, v.more FROM visit v JOIN k USING (site_key, url_key)
        UNION ALL
        SELECT v.site_key, v.url_key, v.fetched_at, v.outcome, v.status, v.target, v.digest, v.segment, v.more FROM earlier_visit v JOIN k USING (site_key, url_key))
    SELECT v.site_key, v.url_key, v.fetched_at, v.outcome::text, v.status, v.target, v.digest, g.name FROM v LEFT JOIN segment g ON g.serial = v.segment
    ORDER BY v.site_key, v.url_key, visit_number(v.more), v.fetched_at";
/// Of visits that were taken back, the segments that have no other visit of the same URL: no row of it counts there.
pub(super) const TAKEN_BACK: &str =
    "SELECT g.name, t.site_key, t.url_key FROM taken_back t JOIN segment g ON g.serial = t.segment
    WHERE NOT EXISTS (SELECT FROM any_visit v
        WHERE v.site_key = t.site_key AND v.url_key = t.url_key AND v.segment = t.segment)";
pub(super) static IN_VAIN: LazyLock<String> = LazyLock::new(|| {
    spelled_out(
        "SELECT v.site_key, v.url_key
    FROM visit v JOIN url u ON u.site_key = v.site_key AND u.url_key = v.url_key
    WHERE v.segment IS NULL AND v.outcome NOT IN (<refused>) AND u.purpose = 'page'
        AND (v.site_key, v.url_key) > ($1, $2) AND (v.site_key % $4 + $4) % $4 = $5
    ORDER BY v.site_key, v.url_key LIMIT $3",
    )
});
