-- The functions of the schema, created again whenever its tables are brought up to date.

DROP FUNCTION IF EXISTS place;
DROP FUNCTION IF EXISTS move;
DROP FUNCTION IF EXISTS undo;
DROP FUNCTION IF EXISTS originals;
DROP FUNCTION IF EXISTS has_content;
DROP FUNCTION IF EXISTS sites_of;
DROP FUNCTION IF EXISTS admit;
DROP FUNCTION IF EXISTS set_up;
DROP FUNCTION IF EXISTS forget;
DROP FUNCTION IF EXISTS rank_of;
DROP FUNCTION IF EXISTS may_change;
DROP FUNCTION IF EXISTS distance;
DROP FUNCTION IF EXISTS visit_number;

-- The order of nearness as one number, and the place in the queue.
CREATE FUNCTION distance(depth bigint, redirects smallint) RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN depth * 256 + redirects;
-- Whether finding a URL may change one that is known (`store::may_change`).
CREATE FUNCTION may_change(
    found text, found_depth bigint, found_redirects smallint, known text, known_depth bigint, known_redirects smallint)
RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE WHEN found = known THEN distance(found_depth, found_redirects) < distance(known_depth, known_redirects)
        ELSE (found, known) IN (('page', 'requisite'), ('sitemap', 'requisite'), ('requisite', 'page')) END;
CREATE FUNCTION rank_of(purpose purpose, depth bigint) RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE WHEN purpose NOT IN ('page', 'robots') THEN 0 ELSE least(depth + 1, 4294967295) END;

-- How many visits of its URL come before a visit, by its column `more`.
CREATE FUNCTION visit_number(more text) RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN coalesce((more::json #>> '{past,visits}')::bigint, 0);

-- The lock under which duplicates and the undoing of their originals keep out of each other's way.
CREATE FUNCTION originals() RETURNS bigint LANGUAGE sql STABLE PARALLEL SAFE
    RETURN hashtextextended('argiope originals ' || current_schema(), 0);

-- Whether the content of a visit that repeats another is there: the one that it repeats is of the same URL, or of the one that it is a
-- duplicate of. It is known by its date; without that, any visit of the original will do. What is in a lost segment is not there.
CREATE FUNCTION has_content(
    my_site bigint, my_url bigint, original_site bigint, original_url bigint, my_content_at bigint, lost bigint)
RETURNS boolean LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT EXISTS (SELECT FROM (VALUES (my_site, my_url), (original_site, original_url)) AS k(site, url)
        JOIN any_visit v ON v.site_key = k.site AND v.url_key = k.url
        WHERE v.segment IS DISTINCT FROM lost AND (v.fetched_at = my_content_at
            OR my_content_at IS NULL AND v.content_at IS NULL AND (k.site, k.url) = (original_site, original_url)))
$$;

-- Pins a site to a politeness group unless it is pinned already. Says to which it is pinned, and who owns that, if anybody.
CREATE FUNCTION place(my_site bigint, my_text text, my_group text)
RETURNS TABLE (politeness_group text, owner bigint) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE pinned text;
BEGIN
    INSERT INTO site AS s (site_key, due_at, failures_in_a_row, response_seconds, response_nanos, pages_fetched, sitemaps_read,
            politeness_group, site)
        VALUES (my_site, 0, 0, 0, 0, 0, 0, my_group, my_text)
        ON CONFLICT (site_key) DO UPDATE SET politeness_group = excluded.politeness_group WHERE s.politeness_group IS NULL;
    SELECT s.politeness_group INTO pinned FROM site s WHERE s.site_key = my_site;
    INSERT INTO politeness_group (name) VALUES (pinned) ON CONFLICT DO NOTHING;
    DELETE FROM unplaced u WHERE u.site_key = my_site;
    -- The owner of the group learns of its new site.
    INSERT INTO hint (owner, site_key) SELECT g.owner, my_site FROM politeness_group g WHERE g.name = pinned AND g.owner IS NOT NULL;
    RETURN QUERY SELECT g.name, g.owner FROM politeness_group g WHERE g.name = pinned;
END $$;

-- Pins a site to another group, if this worker still owns the one to which it is pinned. Says whether it did. Before, nothing of the site
-- is under way, and the time at which it may be asked next has come: its next owner need not wait.
CREATE FUNCTION move(me bigint, my_site bigint, my_group text, my_epoch bigint, other_group text) RETURNS boolean
LANGUAGE plpgsql AS $$
#variable_conflict use_column
BEGIN
    PERFORM FROM politeness_group g WHERE g.name = my_group AND g.owner = me AND g.epoch = my_epoch FOR SHARE;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    INSERT INTO politeness_group (name) VALUES (other_group) ON CONFLICT DO NOTHING;
    UPDATE site s SET politeness_group = other_group WHERE s.site_key = my_site AND s.politeness_group = my_group;
    -- Else this very call was made before, and its answer lost.
    IF FOUND THEN
        INSERT INTO hint (owner, site_key)
            SELECT g.owner, my_site FROM politeness_group g WHERE g.name = other_group AND g.owner IS NOT NULL;
    END IF;
    RETURN true;
END $$;

-- Undoes visits whose records are lost: those in a segment that its worker had not sealed when it was called dead, and those that repeat
-- the content of one of them, wherever their records are, since those refer to the lost ones. Where a URL loses its last visit, the one
-- before is the last again, and the URL is in the queue to be visited again; where it loses all, as if it had never been asked for.
-- What was found on them stays known. What is known of a robots.txt whose record is lost does not. Records of undone visits that stay in other
-- segments are noted in `taken_back`: datasets have rows of them. One call is one transaction, about
-- so many visits. True: call it again.
--
-- Why nothing is undone that is still being written, and nothing twice:
--   1. A worker is called dead (final), in a transaction of its own.
--   2. Its row of `writer` is deleted. A commit locks that row first of all and holds it to its end: so one in flight is either over
--      before the row is gone, and what it wrote is seen here, or finds no row, and writes nothing. The same goes for the mark that a
--      segment is sealed, which locks the row of `worker`.
--   3. Only then its segments are looked at here; nobody adds to them any more. The row of the segment is locked, so one undoes it at a time.
--   4. Only when none of its segments is left to undo its politeness groups are free: who takes them over finds the queues complete.
-- A process that is killed on the way leaves a worker that is dead, and rows that say how far this came: any worker goes on, at any step.
--
-- Sites that the worker had handed over before have other owners, who commit meanwhile: both lock the rows of the URLs in their
-- order. A duplicate may be committed of a visit that is being undone: it holds the lock `originals` shared, this alone. So its
-- commit comes before, and it is found here; or behind, and it finds no original any more.
CREATE FUNCTION undo(visits_max bigint) RETURNS boolean LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan SET jit = off
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
AS $$
#variable_conflict use_column
DECLARE
    lost bigint;
    o_site bigint[]; o_url bigint[]; o_at bigint[];               -- visits in the segment
    d_site bigint[]; d_url bigint[]; d_at bigint[];               -- visits that repeat them
    x_site bigint[]; x_url bigint[]; x_at bigint[];               -- those to be undone now
    has_all boolean;
BEGIN
    SELECT s.serial INTO lost FROM segment s JOIN worker w ON w.worker = s.worker
        WHERE NOT s.is_sealed AND NOT s.is_lost AND w.state = 'dead'
            AND NOT EXISTS (SELECT FROM writer c WHERE c.writer = s.worker)
        ORDER BY s.serial LIMIT 1 FOR UPDATE OF s SKIP LOCKED;
    IF lost IS NULL THEN
        RETURN false;
    END IF;
    PERFORM pg_advisory_xact_lock(originals());
    SELECT coalesce(array_agg(v.site_key), '{}'), coalesce(array_agg(v.url_key), '{}'), coalesce(array_agg(v.fetched_at), '{}')
        INTO o_site, o_url, o_at FROM (
            (SELECT site_key, url_key, fetched_at FROM visit WHERE segment = lost ORDER BY site_key, url_key LIMIT visits_max)
            UNION ALL
            (SELECT site_key, url_key, fetched_at FROM earlier_visit WHERE segment = lost ORDER BY site_key, url_key LIMIT visits_max)) v;
    SELECT coalesce(array_agg(v.site_key), '{}'), coalesce(array_agg(v.url_key), '{}'), coalesce(array_agg(v.fetched_at), '{}')
        INTO d_site, d_url, d_at FROM (
            SELECT d.site_key, d.url_key, d.fetched_at
            FROM (SELECT DISTINCT * FROM unnest(o_site, o_url)) AS o(site, url) CROSS JOIN LATERAL (
                SELECT v.* FROM any_visit v WHERE v.duplicate_of_site = o.site AND v.duplicate_of_url = o.url
                UNION ALL
                SELECT v.* FROM any_visit v WHERE v.site_key = o.site AND v.url_key = o.url AND v.content_at IS NOT NULL
                    AND v.outcome IN (<fetched>)) d
            WHERE NOT has_content(d.site_key, d.url_key, d.duplicate_of_site, d.duplicate_of_url, d.content_at, lost)
            LIMIT visits_max) v;
    -- Where there may be more that repeat them the visits in the segment are left for now: each is there as long as one that repeats it.
    has_all := cardinality(d_url) < visits_max;
    SELECT coalesce(array_agg(k.site), '{}'), coalesce(array_agg(k.url), '{}'), coalesce(array_agg(k.fetched_at), '{}')
        INTO x_site, x_url, x_at FROM (
            SELECT * FROM unnest(o_site, o_url, o_at) WHERE has_all UNION SELECT * FROM unnest(d_site, d_url, d_at)
        ) k(site, url, fetched_at);

    PERFORM FROM url u JOIN (SELECT DISTINCT * FROM unnest(x_site, x_url)) AS k(site, url) ON u.site_key = k.site AND u.url_key = k.url
        ORDER BY u.site_key, u.url_key FOR NO KEY UPDATE OF u;
    -- A visit is known by its date: one that another has followed meanwhile is among the earlier ones now.
    WITH gone AS (
        DELETE FROM visit v USING unnest(x_site, x_url, x_at) AS k(site, url, fetched_at)
            WHERE v.site_key = k.site AND v.url_key = k.url AND v.fetched_at = k.fetched_at
            RETURNING v.site_key, v.url_key, v.outcome, v.more, v.segment, v.record_offset),
    gone_before AS (
        DELETE FROM earlier_visit v USING unnest(x_site, x_url, x_at) AS k(site, url, fetched_at)
            WHERE v.site_key = k.site AND v.url_key = k.url AND v.fetched_at = k.fetched_at
            RETURNING v.site_key, v.url_key, v.outcome, v.more, v.segment, v.record_offset),
    undone AS (SELECT * FROM gone UNION ALL SELECT * FROM gone_before),
    queued AS (
        INSERT INTO queue SELECT u.site_key, rank_of(u.purpose, u.depth), u.url_key
            FROM gone n JOIN url u ON u.site_key = n.site_key AND u.url_key = n.url_key
            ON CONFLICT DO NOTHING),
    noted AS (
        INSERT INTO taken_back SELECT n.segment, n.record_offset, n.site_key, n.url_key
            FROM undone n WHERE n.segment <> lost ON CONFLICT DO NOTHING),
    no_holder AS (
        DELETE FROM holder h USING undone n
            WHERE h.site_key = n.site_key AND h.url_key = n.url_key),
    -- What a commit counts (`counted` in arguments.rs).
    counted AS (
        SELECT n.site_key,
                count(*) FILTER (WHERE u.purpose = 'page' AND visit_number(n.more) = 0 AND n.outcome IN (<page>)) AS pages,
                count(*) FILTER (WHERE u.purpose = 'sitemap' AND visit_number(n.more) = 0) AS sitemaps
            FROM undone n JOIN url u ON u.site_key = n.site_key AND u.url_key = n.url_key GROUP BY n.site_key),
    locked AS (
        SELECT s.site_key, c.pages, c.sitemaps, s.politeness_group
            FROM site s JOIN counted c ON c.site_key = s.site_key ORDER BY s.site_key FOR NO KEY UPDATE OF s),
    corrected AS (
        UPDATE site s SET pages_fetched = greatest(s.pages_fetched - l.pages, 0),
                sitemaps_read = greatest(s.sitemaps_read - l.sitemaps, 0)
            FROM locked l WHERE s.site_key = l.site_key)
    -- Who owns such a site by now counts on from what it has read.
    INSERT INTO hint (owner, site_key, of_record)
        SELECT g.owner, l.site_key, l.pages > 0 OR l.sitemaps > 0 FROM locked l JOIN politeness_group g ON g.name = l.politeness_group
            JOIN worker w ON w.worker = g.owner AND w.state <> 'dead';

    -- Where there were visits before, the last of them is the last again.
    WITH last AS (
        DELETE FROM earlier_visit e USING (SELECT DISTINCT * FROM unnest(x_site, x_url)) AS k(site, url)
            WHERE e.site_key = k.site AND e.url_key = k.url
                AND NOT EXISTS (SELECT FROM visit v WHERE v.site_key = k.site AND v.url_key = k.url)
                AND NOT EXISTS (SELECT FROM earlier_visit l
                    WHERE l.site_key = k.site AND l.url_key = k.url AND (visit_number(l.more), l.fetched_at) > (visit_number(e.more), e.fetched_at))
            RETURNING e.*),
    waiting AS (
        UPDATE url u SET again = true FROM last l WHERE u.site_key = l.site_key AND u.url_key = l.url_key),
    not_attempted AS (
        INSERT INTO attempt SELECT l.site_key, l.url_key, 0::smallint FROM last l
            ON CONFLICT (site_key, url_key) DO UPDATE SET attempts = 0)
    INSERT INTO visit (site_key, url_key, fetched_at, length, judged_depth, duplicate_of_site, duplicate_of_url, out_degree,
            segment, record_offset, record_length, outcome, status, attempts, judged_redirects,
            content_type, reason, title, target, digest, outlinks, limits, duplicate_kind, round, content_at, more)
        SELECT v.site_key, v.url_key, v.fetched_at, v.length, v.judged_depth, v.duplicate_of_site, v.duplicate_of_url, v.out_degree,
            v.segment, v.record_offset, v.record_length, v.outcome, v.status, v.attempts, v.judged_redirects,
            v.content_type, v.reason, v.title, v.target, v.digest, NULL, v.limits, v.duplicate_kind, v.round, v.content_at, v.more
        FROM last v;
    UPDATE url u SET again = false FROM unnest(x_site, x_url) AS k(site, url)
        WHERE u.site_key = k.site AND u.url_key = k.url AND u.again
            AND NOT EXISTS (SELECT FROM visit v WHERE v.site_key = k.site AND v.url_key = k.url);

    UPDATE segment s SET is_lost = true
        WHERE s.serial = lost AND NOT EXISTS (SELECT FROM any_visit v WHERE v.segment = lost);
    IF FOUND THEN
        -- Their sites are asked for it again, and the answers recorded.
        DELETE FROM robots r WHERE r.segment = lost;
        DELETE FROM taken_back t WHERE t.segment = lost;
        -- Undone visits in other segments stay counted: they were paid for.
        DELETE FROM spent s WHERE s.segment = lost;
    END IF;
    RETURN true;
END $$;

-- Sites by their keys and of hosts, whose names are backwards; where `below` is true, of what lies below such a host too.
CREATE FUNCTION sites_of(sites bigint[], hosts text[], below boolean[]) RETURNS SETOF bigint LANGUAGE sql STABLE
BEGIN ATOMIC
    SELECT unnest(sites)
    UNION SELECT s.site_key FROM unnest(hosts, below) AS h(name, below) CROSS JOIN LATERAL (
        SELECT t.site_key, host_backwards(t.site) COLLATE "C" AS host FROM site t
            WHERE host_backwards(t.site) COLLATE "C" >= h.name AND host_backwards(t.site) COLLATE "C" < h.name || '/'
        UNION ALL SELECT t.site_key, host_backwards(t.site) COLLATE "C" FROM unplaced t) s
    WHERE s.host = h.name OR h.below AND starts_with(s.host, h.name || '.');
END;

-- Puts URLs into the queue that were settled as excluded, those of other keys not. Says how many.
CREATE FUNCTION admit(my_site bigint[], my_url bigint[]) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE admitted bigint;
BEGIN
    -- As in a commit: in the order of the keys, and from here on nobody relaxes them.
    PERFORM FROM url u JOIN unnest(my_site, my_url) AS k(site, url) ON u.site_key = k.site AND u.url_key = k.url
        WHERE u.settled ORDER BY u.site_key, u.url_key FOR NO KEY UPDATE OF u;
    WITH gone AS (
        DELETE FROM visit v USING unnest(my_site, my_url) AS k(site, url), url u
            WHERE v.site_key = k.site AND v.url_key = k.url AND v.outcome = 'excluded'
                AND u.site_key = k.site AND u.url_key = k.url AND u.settled
            RETURNING v.site_key, v.url_key),
    open AS (
        UPDATE url u SET settled = false FROM gone g WHERE u.site_key = g.site_key AND u.url_key = g.url_key
            RETURNING u.site_key, rank_of(u.purpose, u.depth) AS rank, u.url_key, u.url),
    queued AS (INSERT INTO queue SELECT o.site_key, o.rank, o.url_key FROM open o ON CONFLICT DO NOTHING),
    hinted AS (
        INSERT INTO hint (owner, site_key) SELECT DISTINCT g.owner, s.site_key FROM open o
            JOIN site s ON s.site_key = o.site_key JOIN politeness_group g ON g.name = s.politeness_group
            WHERE g.owner IS NOT NULL),
    unplaced AS (
        INSERT INTO unplaced (site_key, site)
            SELECT DISTINCT ON (o.site_key) o.site_key, substring(o.url FROM '^[a-z]+://[^/]+') FROM open o
            WHERE NOT EXISTS (SELECT FROM site s WHERE s.site_key = o.site_key AND s.politeness_group IS NOT NULL)
            ORDER BY o.site_key
            ON CONFLICT DO NOTHING)
    SELECT count(*) INTO admitted FROM open;
    RETURN admitted;
END $$;

-- Sets the crawl up for several workers, unless that was done before. What a server of an earlier format could not say is said then.
-- Sites that a single process left with a queue are given to workers. They are found as when a crawl begins: from the first entry of one
-- queue to the first of the next.
CREATE FUNCTION set_up(my_settings text, my_archive text, my_lease float8, my_placement text, my_bottom bigint) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE is_new boolean;
BEGIN
    INSERT INTO crawl (settings, archive, lease_seconds, placement, bottom)
        VALUES (my_settings, my_archive, my_lease, my_placement, my_bottom) ON CONFLICT DO NOTHING;
    is_new := FOUND;
    UPDATE crawl SET lease_seconds = my_lease, placement = my_placement, bottom = my_bottom WHERE bottom IS NULL;
    IF is_new OR FOUND THEN
        INSERT INTO followed
            SELECT u.site_key, u.url_key FROM visit v JOIN url u ON u.site_key = v.site_key AND u.url_key = v.url_key
                WHERE v.judged_depth >= my_bottom AND u.depth < my_bottom
            ON CONFLICT DO NOTHING;
    END IF;
    IF is_new THEN
        INSERT INTO unplaced (site_key, site)
            WITH RECURSIVE waiting AS (
                (SELECT site_key, url_key FROM queue ORDER BY site_key LIMIT 1)
                UNION ALL
                SELECT next.site_key, next.url_key FROM waiting w CROSS JOIN LATERAL (
                    SELECT q.site_key, q.url_key FROM queue q WHERE q.site_key > w.site_key ORDER BY q.site_key LIMIT 1) next)
            SELECT w.site_key, substring(u.url FROM '^[a-z]+://[^/]+')
                FROM waiting w JOIN url u ON u.site_key = w.site_key AND u.url_key = w.url_key
                WHERE NOT EXISTS (SELECT FROM site s WHERE s.site_key = w.site_key AND s.politeness_group IS NOT NULL)
            ON CONFLICT DO NOTHING;
    END IF;
END $$;

-- Forgets the crawl and gives the schema the id of another. False if the crawl is not the one meant. The caller has the schema to
-- itself. Tables stay, so that the rights of others on them do.
CREATE FUNCTION forget(my_crawl text, other_crawl text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE tables text;
BEGIN
    UPDATE meta SET crawl_id = other_crawl, round = DEFAULT, round_began_at = DEFAULT, is_choosing = DEFAULT, committed_at = DEFAULT
        WHERE crawl_id = my_crawl;
    IF NOT FOUND THEN
        -- Where it has the other id, this very call was made before, and its answer lost.
        RETURN EXISTS (SELECT FROM meta WHERE crawl_id = other_crawl);
    END IF;
    SELECT string_agg(format('%I', c.relname), ', ') INTO tables FROM pg_class c
        WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind = 'r' AND c.relname <> 'meta';
    EXECUTE 'TRUNCATE ' || tables || ' RESTART IDENTITY';
    PERFORM setval('segment_serial', 0, false);
    RETURN true;
END $$;
