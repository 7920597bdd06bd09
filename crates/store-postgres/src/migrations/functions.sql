-- The functions of the schema, made anew whenever its tables are brought up to date.

DROP FUNCTION IF EXISTS commit;
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
DROP FUNCTION IF EXISTS distance;

-- The order of nearness as one number, and the place in the queue.
CREATE FUNCTION distance(depth bigint, redirects smallint) RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN depth * 256 + redirects;
CREATE FUNCTION rank_of(purpose purpose, depth bigint) RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE WHEN purpose = 'sitemap' THEN 0 ELSE least(depth + 1, 4294967295) END;

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

-- Applies a batch: one call is one transaction. Every step is a statement, and so sees what others committed while the step
-- before waited for them: with all steps as parts of one statement, a shorter way to a URL that another worker inserts at the
-- same time would be lost. Steps lock in this order, each in the order of the keys, so that workers never wait in a circle:
-- politeness groups, originals (of duplicates, by workers), new URLs, known URLs, holders, sites, seeds.
--
--   me      0 is the process that has the store to itself
--   fence_  politeness groups whose sites are visited, and the epochs of their ownership
--   seeds_known  the number of the last seed by which a worker has judged what is settled
--   b_  URLs whose outcome is taken back: they are back in the queue
--   n_  the round that begins or goes on with choosing its URLs; null where none does
--   w_  URLs to be visited again
--   f_  URLs found, each once a purpose, by the shortest way: 'first' are inserted or relax, 'other' relax only (another purpose
--       than the first), 'settled' are inserted only
--   t_  URLs visited or judged again: whether all their visits of this batch have links (null: there is none), and the
--       shortest and longest distance from which links were judged
--   c_  counters of shapes
--   v_  visits: of known URLs, or of URLs to be settled
CREATE FUNCTION commit(
    me bigint, my_process text, commit_number bigint, fence_group text[], fence_epoch bigint[], seeds_known bigint,
    b_site bigint[], b_url bigint[],
    n_round integer, n_began_at bigint, n_is_choosing boolean, w_site bigint[], w_url bigint[],
    f_site bigint[], f_url bigint[], f_kind text[], f_depth bigint[], f_redirects smallint[], f_purpose text[], f_via text[],
    f_on_site bigint[], f_on_url bigint[], f_text text[],
    t_site bigint[], t_url bigint[], t_links boolean[], t_shortest bigint[], t_longest bigint[],
    v_site bigint[], v_url bigint[], v_settled boolean[], v_fetched_at bigint[], v_length bigint[], v_judged_depth bigint[],
    v_duplicate_site bigint[], v_duplicate_url bigint[], v_out_degree bigint[], v_segment bigint[], v_offset bigint[],
    v_record_length bigint[], v_outcome text[], v_status integer[], v_attempts smallint[], v_judged_redirects smallint[],
    v_content_type text[], v_reason text[], v_title text[], v_target text[], v_digest bytea[], v_outlinks text[], v_limits bigint[],
    v_duplicate_kind text[], v_round integer[], v_content_at bigint[], v_more text[],
    a_site bigint[], a_url bigint[], a_attempts smallint[],
    h_digest bytea[], h_site bigint[], h_url bigint[],
    s_site bigint[], s_due_at bigint[], s_failures bigint[], s_response_seconds bigint[], s_response_nanos integer[],
    s_pages bigint[], s_sitemaps bigint[], s_address inet[], s_given_up text[], s_given_up_detail text[], s_text text[],
    s_aside_until bigint[], s_aside_round bigint[], s_aside_reason text[], s_aside_detail text[], s_misleads boolean[],
    c_site bigint[], c_shape bigint[], c_count bigint[],
    r_site bigint[], r_fetched_at bigint[], r_failed_tries bigint[], r_status integer[], r_failure text[],
    r_failure_detail text[], r_body bytea[], r_is_cut boolean[],
    e_text text[], e_site bigint[], e_url bigint[],
    g_serial bigint[], g_name text[], g_length bigint[])
RETURNS TABLE (
    fresh_site bigint[], fresh_url bigint[], has_nearer boolean,
    late_site bigint[], late_url bigint[], first_site bigint[], first_url bigint[]) LANGUAGE plpgsql
-- Whatever the statistics say of tables that have just been empty: look up each key of a batch by the index.
SET plan_cache_mode = force_generic_plan SET jit = off
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
AS $$
#variable_conflict use_column
DECLARE
    last bigint;
    new_site bigint[] := '{}'; new_url bigint[] := '{}';          -- found and inserted
    settled_site bigint[] := '{}'; settled_url bigint[] := '{}';  -- settled and inserted
    is_missing boolean[]; is_nearer boolean[];
    missing bigint; near bigint; inserted bigint; held bigint;
    i_site bigint[]; i_url bigint[]; j_site bigint[]; j_url bigint[];
    orphan_site bigint[]; orphan_url bigint[];                    -- duplicates whose original was undone
    l_site bigint[]; l_url bigint[]; o_site bigint[]; o_url bigint[];  -- not the first with their payload, and who was
    back_site bigint[] := '{}'; back_url bigint[] := '{}';        -- back in the queue
    any_nearer boolean := false;
BEGIN
    SELECT w.number INTO last FROM writer w WHERE w.writer = me AND w.process = my_process::uuid FOR UPDATE;
    IF last = commit_number THEN
        SELECT array_agg(v.site_key), array_agg(v.url_key), array_agg(v.duplicate_of_site), array_agg(v.duplicate_of_url)
            INTO l_site, l_url, o_site, o_url
            FROM unnest(h_site, h_url) AS h(site, url) JOIN visit v ON v.site_key = h.site AND v.url_key = h.url
            WHERE v.duplicate_of_url IS NOT NULL;
        RETURN QUERY SELECT w.fresh_site, w.fresh_url, EXISTS (SELECT FROM nearer n WHERE n.writer = me),
                l_site, l_url, o_site, o_url
            FROM writer w WHERE w.writer = me;
        RETURN;
    ELSIF last IS NULL AND me <> 0 THEN
        RAISE EXCEPTION 'this worker was declared dead' USING ERRCODE = 'AR003';
    ELSIF last IS DISTINCT FROM commit_number - 1 THEN
        RAISE EXCEPTION 'another process has opened the store meanwhile' USING ERRCODE = 'AR001';
    END IF;
    IF cardinality(fence_group) > 0 THEN
        -- Whoever takes one of them over waits for this commit, or this commit for him, and then finds another epoch.
        PERFORM FROM politeness_group g JOIN unnest(fence_group, fence_epoch) AS f(name, epoch)
            ON g.name = f.name AND g.epoch = f.epoch AND g.owner = me
            ORDER BY g.name FOR SHARE OF g;
        GET DIAGNOSTICS held = ROW_COUNT;
        IF held < cardinality(fence_group) THEN
            RAISE EXCEPTION 'a politeness group now has another owner' USING ERRCODE = 'AR002';
        END IF;
    END IF;
    -- A duplicate, and a page that is as it was, refer to the record of another visit: if that was undone meanwhile they are left out,
    -- and their URLs stay queued.
    IF me <> 0 AND (array_remove(v_duplicate_url, NULL) <> '{}' OR array_remove(v_content_at, NULL) <> '{}' OR cardinality(h_digest) > 0) THEN
        PERFORM pg_advisory_xact_lock_shared(originals());
        SELECT array_agg(v.site), array_agg(v.url) INTO orphan_site, orphan_url
            FROM unnest(v_site, v_url, v_duplicate_site, v_duplicate_url, v_content_at, v_outcome)
                AS v(site, url, duplicate_site, duplicate_url, content_at, outcome)
            WHERE CASE WHEN v.duplicate_url IS NULL THEN v.content_at IS NOT NULL AND v.outcome IN ('html', 'binary', 'not_modified')
                    ELSE (v.duplicate_site, v.duplicate_url) NOT IN (SELECT * FROM unnest(v_site, v_url)) END
                AND NOT has_content(v.site, v.url, v.duplicate_site, v.duplicate_url, v.content_at, NULL);
    END IF;
    DELETE FROM nearer n WHERE n.writer = me;

    -- New URLs. Once more if another worker inserted one of them between the look-up and the insert.
    LOOP
        SELECT array_agg(u.url_key IS NULL AND f.kind <> 'other' ORDER BY f.n),
            array_agg(coalesce(f.kind <> 'settled' AND u.purpose::text = f.purpose
                AND distance(f.depth, f.redirects) < distance(u.depth, u.redirects), false) ORDER BY f.n),
            count(*) FILTER (WHERE u.url_key IS NULL AND f.kind <> 'other'),
            count(*) FILTER (WHERE f.kind <> 'settled' AND u.purpose::text = f.purpose
                AND distance(f.depth, f.redirects) < distance(u.depth, u.redirects))
            INTO is_missing, is_nearer, missing, near
            FROM unnest(f_site, f_url, f_kind, f_purpose, f_depth, f_redirects)
                WITH ORDINALITY AS f(site, url, kind, purpose, depth, redirects, n)
            LEFT JOIN url u ON u.site_key = f.site AND u.url_key = f.url;
        EXIT WHEN missing = 0;
        WITH added AS (
            INSERT INTO url (site_key, url_key, depth, found_on_site, found_on_url, purpose, via, redirects, settled, url)
            SELECT f.site, f.url, f.depth, f.on_site, f.on_url, f.purpose::purpose, f.via::via, f.redirects,
                f.kind = 'settled', f.text
            FROM unnest(is_missing, f_site, f_url, f_kind, f_depth, f_redirects, f_purpose, f_via, f_on_site, f_on_url, f_text)
                AS f(is_missing, site, url, kind, depth, redirects, purpose, via, on_site, on_url, text)
            WHERE f.is_missing
            ON CONFLICT DO NOTHING
            RETURNING site_key, url_key, settled, rank_of(purpose, depth) AS rank),
        queued AS (INSERT INTO queue SELECT a.site_key, a.rank, a.url_key FROM added a WHERE NOT a.settled)
        SELECT count(*),
            coalesce(array_agg(a.site_key) FILTER (WHERE NOT a.settled), '{}'),
            coalesce(array_agg(a.url_key) FILTER (WHERE NOT a.settled), '{}'),
            coalesce(array_agg(a.site_key) FILTER (WHERE a.settled), '{}'),
            coalesce(array_agg(a.url_key) FILTER (WHERE a.settled), '{}')
            INTO inserted, i_site, i_url, j_site, j_url FROM added a;
        new_site := new_site || i_site;
        new_url := new_url || i_url;
        settled_site := settled_site || j_site;
        settled_url := settled_url || j_url;
        EXIT WHEN inserted = missing;
    END LOOP;

    -- Known URLs: nobody relaxes one while it is visited, or the other way round.
    PERFORM FROM url u JOIN (
            SELECT t.site, t.url FROM unnest(t_site, t_url) AS t(site, url)
            UNION
            SELECT b.site, b.url FROM unnest(b_site, b_url) AS b(site, url)
            UNION
            SELECT w.site, w.url FROM unnest(w_site, w_url) AS w(site, url)
            UNION
            SELECT f.site, f.url FROM unnest(is_nearer, f_site, f_url) AS f(is_nearer, site, url) WHERE near > 0 AND f.is_nearer
        ) k ON u.site_key = k.site AND u.url_key = k.url
        ORDER BY u.site_key, u.url_key FOR NO KEY UPDATE OF u;

    IF n_round IS NOT NULL THEN
        UPDATE meta SET round = n_round, round_began_at = n_began_at, is_choosing = n_is_choosing;
    END IF;

    -- Outcomes are taken back: failures and refusals (Outcome::may_be_reopened), unless the URL is in the queue anyway.
    IF cardinality(b_site) > 0 THEN
        WITH gone AS (
            DELETE FROM visit v USING unnest(b_site, b_url) AS b(site, url), url u
                WHERE v.site_key = b.site AND v.url_key = b.url AND u.site_key = b.site AND u.url_key = b.url
                    AND v.round = 1 AND v.outcome NOT IN ('html', 'binary', 'duplicate', 'redirect', 'not_modified')
                    AND NOT EXISTS (SELECT FROM queue q
                        WHERE q.site_key = u.site_key AND q.rank = rank_of(u.purpose, u.depth) AND q.url_key = u.url_key)
                RETURNING v.site_key, v.url_key, rank_of(u.purpose, u.depth) AS rank),
        unsettled AS (
            UPDATE url u SET settled = false FROM gone g
                WHERE u.site_key = g.site_key AND u.url_key = g.url_key AND u.settled),
        not_attempted AS (
            DELETE FROM attempt a USING gone g WHERE a.site_key = g.site_key AND a.url_key = g.url_key),
        queued AS (INSERT INTO queue SELECT g.site_key, g.rank, g.url_key FROM gone g)
        SELECT coalesce(array_agg(g.site_key), '{}'), coalesce(array_agg(g.url_key), '{}') INTO back_site, back_url FROM gone g;
    END IF;

    -- URLs to be visited again, unless they are in the queue anyway; and those whose outcome is taken back in a later round.
    IF cardinality(w_site) > 0 OR cardinality(b_site) > 0 THEN
        WITH chosen AS (
            UPDATE url u SET again = true
                FROM (SELECT w.site, w.url, false AS is_taken_back FROM unnest(w_site, w_url) AS w(site, url)
                    UNION SELECT b.site, b.url, true FROM unnest(b_site, b_url) AS b(site, url)) k, visit v
                WHERE u.site_key = k.site AND u.url_key = k.url AND v.site_key = k.site AND v.url_key = k.url
                    AND (NOT k.is_taken_back OR v.round > 1
                        AND v.outcome NOT IN ('html', 'binary', 'duplicate', 'redirect', 'not_modified'))
                    AND NOT EXISTS (SELECT FROM queue q
                        WHERE q.site_key = u.site_key AND q.rank = rank_of(u.purpose, u.depth) AND q.url_key = u.url_key)
                RETURNING u.site_key, u.url_key, rank_of(u.purpose, u.depth) AS rank),
        attempts AS (
            INSERT INTO attempt SELECT DISTINCT c.site_key, c.url_key, 0::smallint FROM chosen c
                ON CONFLICT (site_key, url_key) DO UPDATE SET attempts = 0),
        queued AS (INSERT INTO queue SELECT c.site_key, c.rank, c.url_key FROM chosen c ON CONFLICT DO NOTHING)
        SELECT back_site || coalesce(array_agg(c.site_key), '{}'), back_url || coalesce(array_agg(c.url_key), '{}')
            INTO back_site, back_url FROM chosen c;
    END IF;

    -- What is to be told of them, as it stands now.
    INSERT INTO nearer
        SELECT me, u.site_key, u.url_key, u.depth, u.found_on_site, u.found_on_url, u.purpose, u.via, u.redirects, u.url,
            q.url_key IS NOT NULL, coalesce(a.attempts, v.attempts, 0), v.outcome, v.outlinks, u.again
        FROM (
            SELECT t.site, t.url, t.longest AS longest, NULL::text AS purpose, NULL::bigint AS found
                FROM unnest(t_site, t_url, t_longest) AS t(site, url, longest)
            UNION ALL
            SELECT f.site, f.url, NULL, f.purpose, distance(f.depth, f.redirects)
                FROM unnest(is_nearer, f_site, f_url, f_purpose, f_depth, f_redirects)
                    AS f(is_nearer, site, url, purpose, depth, redirects)
                WHERE near > 0 AND f.is_nearer
        ) k
        JOIN url u ON u.site_key = k.site AND u.url_key = k.url
            AND (distance(u.depth, u.redirects) < k.longest
                OR k.purpose = u.purpose::text AND k.found < distance(u.depth, u.redirects))
        LEFT JOIN queue q ON q.site_key = u.site_key AND q.rank = rank_of(u.purpose, u.depth) AND q.url_key = u.url_key
        LEFT JOIN visit v ON v.site_key = u.site_key AND v.url_key = u.url_key
        LEFT JOIN attempt a ON a.site_key = u.site_key AND a.url_key = u.url_key
        WHERE (u.site_key, u.url_key) NOT IN (SELECT * FROM unnest(new_site || settled_site, new_url || settled_url))
        ON CONFLICT DO NOTHING;
    any_nearer := FOUND;

    -- The visits that these follow are kept, and the URLs wait no more.
    INSERT INTO earlier_visit (site_key, url_key, fetched_at, length, judged_depth, duplicate_of_site, duplicate_of_url, out_degree,
            segment, record_offset, record_length, outcome, status, attempts, judged_redirects,
            content_type, reason, title, target, digest, outlinks, limits, duplicate_kind, round, content_at, more)
        SELECT v.site_key, v.url_key, v.fetched_at, v.length, v.judged_depth, v.duplicate_of_site, v.duplicate_of_url, v.out_degree,
            v.segment, v.record_offset, v.record_length, v.outcome, v.status, v.attempts, v.judged_redirects,
            v.content_type, v.reason, v.title, v.target, v.digest, NULL, v.limits, v.duplicate_kind, v.round, v.content_at, v.more
        FROM unnest(v_site, v_url, v_settled, v_fetched_at) AS n(site, url, settled, fetched_at)
            JOIN visit v ON v.site_key = n.site AND v.url_key = n.url
        WHERE NOT n.settled AND v.fetched_at <> n.fetched_at
            AND (orphan_url IS NULL OR (n.site, n.url) NOT IN (SELECT * FROM unnest(orphan_site, orphan_url)))
        ON CONFLICT DO NOTHING;
    UPDATE url u SET again = false FROM unnest(v_site, v_url, v_settled) AS n(site, url, settled)
        WHERE u.site_key = n.site AND u.url_key = n.url AND u.again AND NOT n.settled
            AND (orphan_url IS NULL OR (n.site, n.url) NOT IN (SELECT * FROM unnest(orphan_site, orphan_url)));

    -- Visits, of URLs that were known or are settled now.
    INSERT INTO visit (site_key, url_key, fetched_at, length, judged_depth, duplicate_of_site, duplicate_of_url, out_degree,
            segment, record_offset, record_length, outcome, status, attempts, judged_redirects,
            content_type, reason, title, target, digest, outlinks, limits, duplicate_kind, round, content_at, more)
        SELECT v.site, v.url, v.fetched_at, v.length, v.judged_depth, v.duplicate_site, v.duplicate_url, v.out_degree,
            v.segment, v.record_offset, v.record_length, v.outcome::outcome, v.status, v.attempts, v.judged_redirects,
            v.content_type, v.reason, v.title, v.target, v.digest, v.outlinks, v.limits, v.duplicate_kind::outcome, v.round, v.content_at, v.more
        FROM unnest(v_site, v_url, v_settled, v_fetched_at, v_length, v_judged_depth, v_duplicate_site, v_duplicate_url,
                v_out_degree, v_segment, v_offset, v_record_length, v_outcome, v_status, v_attempts, v_judged_redirects,
                v_content_type, v_reason, v_title, v_target, v_digest, v_outlinks, v_limits, v_duplicate_kind, v_round, v_content_at, v_more)
            AS v(site, url, settled, fetched_at, length, judged_depth, duplicate_site, duplicate_url,
                out_degree, segment, record_offset, record_length, outcome, status, attempts, judged_redirects,
                content_type, reason, title, target, digest, outlinks, limits, duplicate_kind, round, content_at, more)
        WHERE CASE WHEN v.settled THEN (v.site, v.url) IN (SELECT * FROM unnest(settled_site, settled_url))
            ELSE (v.site, v.url) NOT IN (SELECT * FROM unnest(new_site || settled_site, new_url || settled_url))
                AND EXISTS (SELECT FROM url u WHERE u.site_key = v.site AND u.url_key = v.url) END
            AND (orphan_url IS NULL OR (v.site, v.url) NOT IN (SELECT * FROM unnest(orphan_site, orphan_url)))
        ON CONFLICT (site_key, url_key) DO UPDATE SET
            fetched_at = excluded.fetched_at, length = excluded.length, judged_depth = excluded.judged_depth,
            duplicate_of_site = excluded.duplicate_of_site, duplicate_of_url = excluded.duplicate_of_url,
            out_degree = excluded.out_degree, segment = excluded.segment, record_offset = excluded.record_offset,
            record_length = excluded.record_length, outcome = excluded.outcome, status = excluded.status,
            attempts = excluded.attempts, judged_redirects = excluded.judged_redirects,
            content_type = excluded.content_type, reason = excluded.reason, title = excluded.title, target = excluded.target,
            digest = excluded.digest, outlinks = excluded.outlinks, limits = excluded.limits,
            duplicate_kind = excluded.duplicate_kind, round = excluded.round,
            content_at = excluded.content_at, more = excluded.more;

    -- Attempts.
    DELETE FROM attempt a USING unnest(v_site, v_url, v_settled) AS v(site, url, settled)
        WHERE a.site_key = v.site AND a.url_key = v.url AND NOT v.settled;
    IF cardinality(a_site) > 0 THEN
        INSERT INTO attempt
            SELECT a.site, a.url, a.attempts FROM unnest(a_site, a_url, a_attempts) AS a(site, url, attempts)
            WHERE (a.site, a.url) NOT IN (SELECT * FROM unnest(new_site || settled_site, new_url || settled_url))
                AND EXISTS (SELECT FROM url u WHERE u.site_key = a.site AND u.url_key = a.url)
            ON CONFLICT (site_key, url_key) DO UPDATE SET attempts = excluded.attempts;
    END IF;
    IF cardinality(settled_site) > 0 THEN
        INSERT INTO attempt
            SELECT v.site, v.url, 0 FROM unnest(v_site, v_url, v_settled, v_attempts) AS v(site, url, settled, attempts)
            WHERE v.settled AND v.attempts <> 0 AND (v.site, v.url) IN (SELECT * FROM unnest(settled_site, settled_url));
    END IF;

    -- What was visited or judged again leaves the queue, unless its links must be judged from nearer, or it waits to be visited again.
    DELETE FROM queue q USING unnest(t_site, t_url, t_links, t_shortest) AS t(site, url, links, shortest), url u
        WHERE u.site_key = t.site AND u.url_key = t.url AND NOT u.again
            AND q.site_key = t.site AND q.rank = rank_of(u.purpose, u.depth) AND q.url_key = t.url
            AND (distance(u.depth, u.redirects) >= t.shortest OR NOT coalesce(t.links,
                (SELECT v.outlinks IS NOT NULL FROM visit v WHERE v.site_key = t.site AND v.url_key = t.url), false))
            AND (t.site, t.url) NOT IN (SELECT * FROM unnest(new_site, new_url))
            AND (orphan_url IS NULL OR (t.site, t.url) NOT IN (SELECT * FROM unnest(orphan_site, orphan_url)));

    IF near > 0 THEN
        DELETE FROM queue q
            USING unnest(is_nearer, f_site, f_url, f_purpose, f_depth, f_redirects)
                AS f(is_nearer, site, url, purpose, depth, redirects), url u
            WHERE f.is_nearer AND u.site_key = f.site AND u.url_key = f.url AND u.purpose::text = f.purpose
                AND distance(f.depth, f.redirects) < distance(u.depth, u.redirects)
                AND q.site_key = u.site_key AND q.rank = rank_of(u.purpose, u.depth) AND q.url_key = u.url_key;
        WITH relaxed AS (
            UPDATE url u SET depth = f.depth, redirects = f.redirects, via = f.via::via, found_on_site = f.on_site,
                    found_on_url = f.on_url
                FROM unnest(is_nearer, f_site, f_url, f_purpose, f_depth, f_redirects, f_via, f_on_site, f_on_url)
                    AS f(is_nearer, site, url, purpose, depth, redirects, via, on_site, on_url)
                WHERE f.is_nearer AND u.site_key = f.site AND u.url_key = f.url AND u.purpose::text = f.purpose
                    AND distance(f.depth, f.redirects) < distance(u.depth, u.redirects)
                RETURNING u.site_key, u.url_key, rank_of(u.purpose, u.depth) AS rank, u.again)
        INSERT INTO queue SELECT r.site_key, r.rank, r.url_key FROM relaxed r
            WHERE r.again OR NOT EXISTS (SELECT FROM visit v
                WHERE v.site_key = r.site_key AND v.url_key = r.url_key AND v.outlinks IS NULL);
    END IF;

    -- The links of these pages were not followed when they were visited; they are now.
    IF any_nearer THEN
        INSERT INTO followed
            SELECT u.site_key, u.url_key FROM nearer n
                JOIN url u ON u.site_key = n.site_key AND u.url_key = n.url_key
                JOIN visit v ON v.site_key = n.site_key AND v.url_key = n.url_key
                JOIN crawl c ON u.depth < c.bottom AND v.judged_depth >= c.bottom
                WHERE n.writer = me
            ON CONFLICT DO NOTHING;
    END IF;

    INSERT INTO holder SELECT * FROM unnest(h_digest, h_site, h_url) ON CONFLICT DO NOTHING;
    GET DIAGNOSTICS held = ROW_COUNT;
    -- Another worker had some of the contents first, and this one could not know: a duplicate, as if it had. What this commit has as a
    -- duplicate of it is one of that other too. Not so if they were sent in different codings: records of this commit may refer to the
    -- payload of this one, and that is not the other's. Then each stays what it is.
    IF me <> 0 AND held < cardinality(h_digest) THEN
        SELECT array_agg(h.site), array_agg(h.url), array_agg(o.site_key), array_agg(o.url_key)
            INTO l_site, l_url, o_site, o_url
            FROM unnest(h_digest, h_site, h_url) AS h(digest, site, url) JOIN holder o ON o.digest = h.digest
                JOIN visit late ON late.site_key = h.site AND late.url_key = h.url
                JOIN visit first ON first.site_key = o.site_key AND first.url_key = o.url_key
            WHERE (o.site_key, o.url_key) <> (h.site, h.url) AND late.digest = first.digest AND late.length = first.length;
        UPDATE visit v SET duplicate_kind = v.outcome, outcome = 'duplicate', duplicate_of_site = l.o_site, duplicate_of_url = l.o_url
            FROM unnest(l_site, l_url, o_site, o_url) AS l(site, url, o_site, o_url)
            WHERE v.site_key = l.site AND v.url_key = l.url;
        UPDATE visit v SET duplicate_of_site = l.o_site, duplicate_of_url = l.o_url
            FROM unnest(l_site, l_url, o_site, o_url) AS l(site, url, o_site, o_url)
            WHERE v.duplicate_of_site = l.site AND v.duplicate_of_url = l.url;
    END IF;
    INSERT INTO site (site_key, due_at, failures_in_a_row, response_seconds, response_nanos, pages_fetched, sitemaps_read,
            address, given_up, given_up_detail, site, aside_until, aside_round, aside_reason, aside_detail, misleads)
        SELECT * FROM unnest(s_site, s_due_at, s_failures, s_response_seconds, s_response_nanos, s_pages, s_sitemaps,
            s_address, s_given_up, s_given_up_detail, s_text, s_aside_until, s_aside_round, s_aside_reason, s_aside_detail, s_misleads)
        ON CONFLICT (site_key) DO UPDATE SET
            due_at = excluded.due_at, failures_in_a_row = excluded.failures_in_a_row,
            response_seconds = excluded.response_seconds, response_nanos = excluded.response_nanos,
            pages_fetched = excluded.pages_fetched, sitemaps_read = excluded.sitemaps_read, address = excluded.address,
            given_up = excluded.given_up, given_up_detail = excluded.given_up_detail, site = excluded.site,
            aside_until = excluded.aside_until, aside_round = excluded.aside_round,
            aside_reason = excluded.aside_reason, aside_detail = excluded.aside_detail, misleads = excluded.misleads;
    IF cardinality(c_site) > 0 THEN
        INSERT INTO site_shapes (site_key, shape, count) SELECT * FROM unnest(c_site, c_shape, c_count)
            ON CONFLICT (site_key, shape) DO UPDATE SET count = excluded.count;
    END IF;
    IF cardinality(r_site) > 0 THEN
        -- The records are in a segment that grew. Segments are sealed in their order: what is in one before is lost only with the last.
        INSERT INTO robots (site_key, fetched_at, failed_tries, status, failure, failure_detail, body, is_cut, segment)
            SELECT r.*, CASE WHEN me <> 0 THEN (SELECT max(g.serial) FROM unnest(g_serial) AS g(serial)) END
            FROM unnest(r_site, r_fetched_at, r_failed_tries, r_status, r_failure, r_failure_detail, r_body, r_is_cut) AS r
            ON CONFLICT (site_key) DO UPDATE SET fetched_at = excluded.fetched_at,
                failed_tries = excluded.failed_tries, status = excluded.status, failure = excluded.failure, failure_detail = excluded.failure_detail,
                body = excluded.body, is_cut = excluded.is_cut, segment = excluded.segment;
    END IF;
    -- Seeds widen the scope. Whoever adds one and then looks for what was excluded (admit) has waited for who excludes something at the
    -- moment; and whoever excludes something behind him learns here of the seed.
    IF cardinality(e_site) > 0 THEN
        -- Their order is that in which they were given, not that of keys: one worker at a time.
        LOCK TABLE seed IN SHARE ROW EXCLUSIVE MODE;
    ELSIF me <> 0 AND cardinality(settled_url) > 0 THEN
        LOCK TABLE seed IN ROW EXCLUSIVE MODE;
    END IF;
    IF me <> 0 AND cardinality(settled_url) > 0 AND EXISTS (SELECT FROM seed s WHERE s.number > seeds_known) THEN
        INSERT INTO unjudged SELECT * FROM unnest(settled_site, settled_url) ON CONFLICT DO NOTHING;
    END IF;
    IF cardinality(e_site) > 0 THEN
        INSERT INTO seed (url, site_key, url_key)
            SELECT e.text, e.site, e.url FROM unnest(e_text, e_site, e_url) WITH ORDINALITY AS e(text, site, url, n)
            WHERE NOT EXISTS (SELECT FROM seed s WHERE s.site_key = e.site AND s.url_key = e.url) ORDER BY e.n;
        -- A seed with a depth of its own has come to be one without: workers learn of it again. Without workers seeds keep their order.
        IF me <> 0 AND any_nearer THEN
            UPDATE seed s SET number = DEFAULT
                FROM nearer n JOIN url u ON u.site_key = n.site_key AND u.url_key = n.url_key
                WHERE n.writer = me AND n.depth > 0 AND u.depth = 0 AND s.site_key = n.site_key AND s.url_key = n.url_key;
        END IF;
    END IF;
    IF cardinality(g_serial) > 0 THEN
        INSERT INTO segment (serial, name, length, worker)
            SELECT g.serial, g.name, g.length, nullif(me, 0) FROM unnest(g_serial, g_name, g_length) AS g(serial, name, length)
            ON CONFLICT (serial) DO UPDATE SET name = excluded.name, length = excluded.length;
    END IF;
    IF me <> 0 THEN
        INSERT INTO hint (owner, site_key)
            SELECT DISTINCT g.owner, s.site_key
            FROM (SELECT unnest(new_site) UNION ALL SELECT x.site_key FROM nearer x WHERE any_nearer AND x.writer = me) AS n(site)
            JOIN site s ON s.site_key = n.site JOIN politeness_group g ON g.name = s.politeness_group WHERE g.owner <> me
            UNION SELECT me, o.site FROM unnest(orphan_site) AS o(site)
            UNION SELECT g.owner, s.site_key FROM unnest(back_site) AS b(site)
                JOIN site s ON s.site_key = b.site JOIN politeness_group g ON g.name = s.politeness_group WHERE g.owner IS NOT NULL;
        INSERT INTO unplaced (site_key, site)
            SELECT DISTINCT ON (u.site_key) u.site_key, substring(u.url FROM '^[a-z]+://[^/]+')
            FROM unnest(new_site || back_site, new_url || back_url) AS n(site, url)
                JOIN url u ON u.site_key = n.site AND u.url_key = n.url
            WHERE NOT EXISTS (SELECT FROM site s WHERE s.site_key = n.site AND s.politeness_group IS NOT NULL)
            ORDER BY u.site_key
            ON CONFLICT DO NOTHING;
    END IF;
    UPDATE writer w SET number = commit_number, fresh_site = new_site, fresh_url = new_url WHERE w.writer = me;
    RETURN QUERY SELECT new_site, new_url, any_nearer, l_site, l_url, o_site, o_url;
END $$;

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
    -- Whoever has the group learns of its new site.
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
-- What was found on them stays known. What is known of a robots.txt whose record is lost does not. One call is one transaction, about
-- so many visits. True: call it again.
--
-- Why nothing is undone that is still being written, and nothing twice:
--   1. A worker is called dead (final), in a transaction of its own.
--   2. Its row of `writer` is deleted. A commit locks that row first of all and holds it to its end: so one in flight is either over
--      before the row is gone, and what it wrote is seen here, or finds no row, and writes nothing. The same goes for the mark that a
--      segment is sealed, which locks the row of `worker`.
--   3. Only then its segments are looked at here; nobody adds to them any more. The row of the segment is locked, so one undoes it at a time.
--   4. Only when none of its segments is left to undo its politeness groups are free: who takes them over finds the queues complete.
-- Whoever is killed on the way leaves a worker that is dead, and rows that say how far this came: any worker goes on, at any step.
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
                    AND v.outcome IN ('html', 'binary', 'duplicate', 'not_modified')) d
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
            RETURNING v.site_key, v.url_key, v.outcome, v.round),
    gone_before AS (
        DELETE FROM earlier_visit v USING unnest(x_site, x_url, x_at) AS k(site, url, fetched_at)
            WHERE v.site_key = k.site AND v.url_key = k.url AND v.fetched_at = k.fetched_at
            RETURNING v.site_key, v.url_key, v.outcome, v.round),
    undone AS (SELECT * FROM gone UNION ALL SELECT * FROM gone_before),
    queued AS (
        INSERT INTO queue SELECT u.site_key, rank_of(u.purpose, u.depth), u.url_key
            FROM gone n JOIN url u ON u.site_key = n.site_key AND u.url_key = n.url_key
            ON CONFLICT DO NOTHING),
    no_holder AS (
        DELETE FROM holder h USING undone n
            WHERE h.site_key = n.site_key AND h.url_key = n.url_key),
    counted AS (
        SELECT n.site_key,
                count(*) FILTER (WHERE u.purpose = 'page' AND n.round = 1 AND n.outcome IN ('html', 'binary', 'duplicate')) AS pages,
                count(*) FILTER (WHERE u.purpose = 'sitemap' AND n.round = 1) AS sitemaps
            FROM undone n JOIN url u ON u.site_key = n.site_key AND u.url_key = n.url_key GROUP BY n.site_key),
    locked AS (
        SELECT s.site_key, c.pages, c.sitemaps, s.politeness_group
            FROM site s JOIN counted c ON c.site_key = s.site_key ORDER BY s.site_key FOR NO KEY UPDATE OF s),
    corrected AS (
        UPDATE site s SET pages_fetched = greatest(s.pages_fetched - l.pages, 0),
                sitemaps_read = greatest(s.sitemaps_read - l.sitemaps, 0)
            FROM locked l WHERE s.site_key = l.site_key)
    INSERT INTO hint (owner, site_key)
        SELECT g.owner, l.site_key FROM locked l JOIN politeness_group g ON g.name = l.politeness_group
            JOIN worker w ON w.worker = g.owner AND w.state <> 'dead';

    -- Where there were visits before, the last of them is the last again.
    WITH last AS (
        DELETE FROM earlier_visit e USING (SELECT DISTINCT * FROM unnest(x_site, x_url)) AS k(site, url)
            WHERE e.site_key = k.site AND e.url_key = k.url
                AND NOT EXISTS (SELECT FROM visit v WHERE v.site_key = k.site AND v.url_key = k.url)
                AND NOT EXISTS (SELECT FROM earlier_visit l
                    WHERE l.site_key = k.site AND l.url_key = k.url AND l.fetched_at > e.fetched_at)
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

-- Forgets the crawl and gives the schema the id of another. False if the crawl is not the one meant. Whoever calls it has the schema to
-- itself. Tables stay, so that the rights of others on them do.
CREATE FUNCTION forget(my_crawl text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE tables text;
BEGIN
    UPDATE meta SET crawl_id = gen_random_uuid()::text, round = DEFAULT, round_began_at = DEFAULT, is_choosing = DEFAULT
        WHERE crawl_id = my_crawl;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    SELECT string_agg(format('%I', c.relname), ', ') INTO tables FROM pg_class c
        WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind = 'r' AND c.relname <> 'meta';
    EXECUTE 'TRUNCATE ' || tables || ' RESTART IDENTITY';
    PERFORM setval('segment_serial', 0, false);
    RETURN true;
END $$;
