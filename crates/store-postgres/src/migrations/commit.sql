-- The functions of a commit, created again whenever the tables are brought up to date.
--
-- A commit is two calls in one transaction. `begin_commit` looks up and locks what a batch touches, and inserts the URLs that it found.
-- The client works out what becomes of them (`store::apply`). `end_commit` writes that. Every step of both is a statement, and so sees what
-- others committed while the step before waited for them: with all steps as parts of one statement, a shorter path to a URL that another
-- worker inserts at the same time would be lost. Steps lock in this order, each in the order of the keys, so that workers never wait in a
-- circle: politeness groups, originals (of duplicates, by workers), new URLs, known URLs, holders, sites, seeds.

DROP FUNCTION IF EXISTS commit;
DROP FUNCTION IF EXISTS begin_commit;
DROP FUNCTION IF EXISTS end_commit;

-- Begins a commit. The first row has lists of keys only: the new URLs, and visits to be left out. Then comes a row for each known URL
-- that the batch may change. No row: the commit with this number is done.
--
--   me      0 is the process that has the store to itself
--   fence_  politeness groups whose sites are visited, and the epochs of their ownership
--   f_  URLs found, each once a purpose, by the shortest path: 'first' are inserted or relax, 'other' relax only (another purpose
--       than the first), 'settled' are inserted only
--   t_  all other URLs of the batch
--   v_  visits that repeat the content of another, or may be the first with theirs
CREATE FUNCTION begin_commit(
    me bigint, my_process text, commit_number bigint, fence_group text[], fence_epoch bigint[],
    f_site bigint[], f_url bigint[], f_kind text[], f_depth bigint[], f_redirects smallint[], f_purpose text[], f_via text[],
    f_on_site bigint[], f_on_url bigint[], f_text text[],
    t_site bigint[], t_url bigint[],
    v_site bigint[], v_url bigint[], v_duplicate_site bigint[], v_duplicate_url bigint[], v_content_at bigint[], v_outcome text[],
    has_holders boolean)
RETURNS TABLE (
    new_site bigint[], new_url bigint[], orphan_site bigint[], orphan_url bigint[],
    is_queued boolean, is_again boolean, attempts_since smallint,
    url text, depth bigint, redirects smallint, purpose text, via text, on_site bigint, on_url bigint,
    attempts smallint, is_visited boolean,
    fetched_at bigint, length bigint, judged_depth bigint, judged_redirects smallint, duplicate_of_site bigint, duplicate_of_url bigint,
    out_degree bigint, segment bigint, record_offset bigint, record_length bigint, outcome text, status integer,
    visit_attempts smallint, content_type text, reason text, title text, target text, digest bytea, outlinks text, limits bigint,
    duplicate_kind text, round integer, content_at bigint, more text)
LANGUAGE plpgsql
-- Whatever the statistics say of tables that have just been empty: look up each key of a batch by the index.
SET plan_cache_mode = force_generic_plan SET jit = off
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
AS $$
#variable_conflict use_column
DECLARE
    last bigint;
    held bigint; missing bigint; inserted bigint;
    is_missing boolean[];
    n_site bigint[] := '{}'; n_url bigint[] := '{}';              -- inserted
    i_site bigint[]; i_url bigint[];
    k_site bigint[]; k_url bigint[];                              -- found by a shorter path
    o_site bigint[]; o_url bigint[];                              -- visits whose original was undone
BEGIN
    SELECT w.number INTO last FROM writer w WHERE w.writer = me AND w.process = my_process::uuid FOR UPDATE;
    IF last = commit_number THEN
        RETURN;
    ELSIF last IS NULL AND me <> 0 THEN
        RAISE EXCEPTION 'this worker is called dead' USING ERRCODE = 'AR003';
    ELSIF last IS DISTINCT FROM commit_number - 1 THEN
        RAISE EXCEPTION 'another process has opened the store meanwhile' USING ERRCODE = 'AR001';
    END IF;
    IF cardinality(fence_group) > 0 THEN
        -- A worker that takes one of them over waits for this commit, or this commit for it, and then finds another epoch.
        PERFORM FROM politeness_group g JOIN unnest(fence_group, fence_epoch) AS f(name, epoch)
            ON g.name = f.name AND g.epoch = f.epoch AND g.owner = me
            ORDER BY g.name FOR SHARE OF g;
        GET DIAGNOSTICS held = ROW_COUNT;
        IF held < cardinality(fence_group) THEN
            RAISE EXCEPTION 'a politeness group has another owner by now' USING ERRCODE = 'AR002';
        END IF;
    END IF;
    -- A duplicate, and a page that is as it was, refer to the record of another visit: if that was undone meanwhile they are left out,
    -- and their URLs stay queued.
    IF me <> 0 AND (has_holders OR array_remove(v_duplicate_url, NULL) <> '{}' OR array_remove(v_content_at, NULL) <> '{}') THEN
        PERFORM pg_advisory_xact_lock_shared(originals());
        SELECT array_agg(v.site), array_agg(v.url) INTO o_site, o_url
            FROM unnest(v_site, v_url, v_duplicate_site, v_duplicate_url, v_content_at, v_outcome)
                AS v(site, url, duplicate_site, duplicate_url, content_at, outcome)
            WHERE CASE WHEN v.duplicate_url IS NULL THEN v.content_at IS NOT NULL AND v.outcome IN (<of its own URL>)
                    ELSE (v.duplicate_site, v.duplicate_url) NOT IN (SELECT * FROM unnest(v_site, v_url)) END
                AND NOT has_content(v.site, v.url, v.duplicate_site, v.duplicate_url, v.content_at, NULL);
    END IF;

    -- New URLs. Once more if another worker inserted one of them between the look-up and the insert.
    LOOP
        SELECT array_agg(u.url_key IS NULL AND f.kind <> 'other' ORDER BY f.n),
            count(*) FILTER (WHERE u.url_key IS NULL AND f.kind <> 'other'),
            array_agg(f.site) FILTER (WHERE f.kind <> 'settled'
                AND may_change(f.purpose, f.depth, f.redirects, u.purpose::text, u.depth, u.redirects)),
            array_agg(f.url) FILTER (WHERE f.kind <> 'settled'
                AND may_change(f.purpose, f.depth, f.redirects, u.purpose::text, u.depth, u.redirects))
            INTO is_missing, missing, k_site, k_url
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
            RETURNING site_key, url_key)
        SELECT count(*), coalesce(array_agg(a.site_key), '{}'), coalesce(array_agg(a.url_key), '{}')
            INTO inserted, i_site, i_url FROM added a;
        n_site := n_site || i_site;
        n_url := n_url || i_url;
        EXIT WHEN inserted = missing;
    END LOOP;

    -- Known URLs: from here on no other worker changes them.
    SELECT array_agg(k.site), array_agg(k.url) INTO k_site, k_url FROM (
        SELECT * FROM unnest(t_site, t_url) UNION SELECT * FROM unnest(k_site, k_url)
        EXCEPT SELECT * FROM unnest(n_site, n_url)) AS k(site, url);
    PERFORM FROM url u JOIN unnest(k_site, k_url) AS k(site, url) ON u.site_key = k.site AND u.url_key = k.url
        ORDER BY u.site_key, u.url_key FOR NO KEY UPDATE OF u;

    new_site := n_site;
    new_url := n_url;
    orphan_site := o_site;
    orphan_url := o_url;
    RETURN NEXT;
    RETURN QUERY SELECT NULL::bigint[], NULL::bigint[], NULL::bigint[], NULL::bigint[],
            q.url_key IS NOT NULL, u.again, a.attempts,
            u.url, u.depth, u.redirects, u.purpose::text, u.via::text, u.found_on_site, u.found_on_url,
            coalesce(a.attempts, v.attempts, 0::smallint), v.url_key IS NOT NULL,
            v.fetched_at, v.length, v.judged_depth, v.judged_redirects, v.duplicate_of_site, v.duplicate_of_url, v.out_degree,
            v.segment, v.record_offset, v.record_length, v.outcome::text, v.status, v.attempts, v.content_type, v.reason, v.title,
            v.target, v.digest, v.outlinks, v.limits, v.duplicate_kind::text, v.round, v.content_at, v.more
        FROM unnest(k_site, k_url) AS k(site, url)
        JOIN url u ON u.site_key = k.site AND u.url_key = k.url
        LEFT JOIN queue q ON q.site_key = u.site_key AND q.rank = rank_of(u.purpose, u.depth) AND q.url_key = u.url_key
        LEFT JOIN visit v ON v.site_key = u.site_key AND v.url_key = u.url_key
        LEFT JOIN attempt a ON a.site_key = u.site_key AND a.url_key = u.url_key;
END $$;

-- Ends a commit: writes what the client has worked out, in the same transaction.
--
--   seeds_known  the number of the last seed by which a worker has judged what is settled
--   n_  the round that begins or goes on with choosing its URLs; null where none does
--   u_  known URLs whose record changes; `reopened` ones lose their visit
--   d_  places in the queue that URLs leave; q_ those that they enter
--   e_  last visits that become earlier ones; v_ visits that become the last of their URL
--   x_  last visits since which something is said of the page
--   a_  attempts that are not those of the last visit; null where they are by now
--   k_  what else is to be done for a URL: 'fresh' (found), 'back' (in the queue again), 'nearer' (known by a shorter path), 'root' (a seed
--       that has come to be one without a depth), 'settled'
--   o_  sites of which this worker has left out visits: it has counted them
--   h_  contents and their holders; s_ sites, with what a worker's commit adds to their counts (it may have been undone what the worker has
--       counted before); c_ counters of shapes; r_ robots.txt; b_ seeds; g_ segments; w_spent what workers spend of the budgets,
--       by segment and round
CREATE FUNCTION end_commit(
    me bigint, commit_number bigint, seeds_known bigint,
    n_round integer, n_began_at bigint, n_is_choosing boolean,
    u_site bigint[], u_url bigint[], u_depth bigint[], u_redirects smallint[], u_purpose text[], u_via text[], u_on_site bigint[], u_on_url bigint[],
    u_again boolean[], u_reopened boolean[],
    d_site bigint[], d_rank bigint[], d_url bigint[],
    q_site bigint[], q_rank bigint[], q_url bigint[],
    e_site bigint[], e_url bigint[], e_fetched_at bigint[],
    v_site bigint[], v_url bigint[], v_fetched_at bigint[], v_length bigint[], v_judged_depth bigint[],
    v_duplicate_site bigint[], v_duplicate_url bigint[], v_out_degree bigint[], v_segment bigint[], v_offset bigint[],
    v_record_length bigint[], v_outcome text[], v_status integer[], v_attempts smallint[], v_judged_redirects smallint[],
    v_content_type text[], v_reason text[], v_title text[], v_target text[], v_digest bytea[], v_outlinks text[], v_limits bigint[],
    v_duplicate_kind text[], v_round integer[], v_content_at bigint[], v_more text[],
    x_site bigint[], x_url bigint[], x_more text[],
    a_site bigint[], a_url bigint[], a_attempts smallint[],
    k_site bigint[], k_url bigint[], k_kind text[],
    o_site bigint[],
    h_digest bytea[], h_site bigint[], h_url bigint[],
    s_site bigint[], s_due_at bigint[], s_failures bigint[], s_response_seconds bigint[], s_response_nanos integer[],
    s_pages_counted bigint[], s_sitemaps_counted bigint[], s_address inet[], s_given_up text[], s_given_up_detail text[], s_text text[],
    s_aside_until bigint[], s_aside_round bigint[], s_aside_reason text[], s_aside_detail text[], s_misleads boolean[],
    s_asked_until bigint[],
    c_site bigint[], c_shape bigint[], c_count bigint[],
    r_site bigint[], r_fetched_at bigint[], r_failed_tries bigint[], r_status integer[], r_failure text[],
    r_failure_detail text[], r_body bytea[], r_is_cut boolean[], r_renewal text[],
    b_text text[], b_site bigint[], b_url bigint[],
    g_serial bigint[], g_name text[], g_length bigint[],
    w_spent bigint[])
RETURNS TABLE (late_site bigint[], late_url bigint[], first_site bigint[], first_url bigint[]) LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan SET jit = off
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
AS $$
#variable_conflict use_column
DECLARE
    held bigint;
    l_site bigint[]; l_url bigint[]; f_site bigint[]; f_url bigint[];  -- not the first with their payload, and who was
BEGIN
    IF n_round IS NOT NULL THEN
        UPDATE meta SET round = n_round, round_began_at = n_began_at, is_choosing = n_is_choosing;
    END IF;
    IF cardinality(u_site) > 0 THEN
        UPDATE url u SET depth = n.depth, redirects = n.redirects, purpose = n.purpose::purpose, via = n.via::via, found_on_site = n.on_site, found_on_url = n.on_url,
                again = n.again, settled = u.settled AND NOT n.reopened
            FROM unnest(u_site, u_url, u_depth, u_redirects, u_purpose, u_via, u_on_site, u_on_url, u_again, u_reopened)
                AS n(site, url, depth, redirects, purpose, via, on_site, on_url, again, reopened)
            WHERE u.site_key = n.site AND u.url_key = n.url;
        DELETE FROM visit v USING unnest(u_site, u_url, u_reopened) AS n(site, url, reopened)
            WHERE n.reopened AND v.site_key = n.site AND v.url_key = n.url;
    END IF;
    DELETE FROM queue q USING unnest(d_site, d_rank, d_url) AS d(site, rank, url)
        WHERE q.site_key = d.site AND q.rank = d.rank AND q.url_key = d.url;
    INSERT INTO queue SELECT * FROM unnest(q_site, q_rank, q_url);

    IF cardinality(e_site) > 0 THEN
        DELETE FROM earlier_visit v USING unnest(e_site, e_url, e_fetched_at) AS e(site, url, fetched_at)
            WHERE v.site_key = e.site AND v.url_key = e.url AND v.fetched_at = e.fetched_at;
        INSERT INTO earlier_visit (site_key, url_key, fetched_at, length, judged_depth, duplicate_of_site, duplicate_of_url, out_degree,
                segment, record_offset, record_length, outcome, status, attempts, judged_redirects,
                content_type, reason, title, target, digest, outlinks, limits, duplicate_kind, round, content_at, more)
            SELECT v.site_key, v.url_key, v.fetched_at, v.length, v.judged_depth, v.duplicate_of_site, v.duplicate_of_url, v.out_degree,
                v.segment, v.record_offset, v.record_length, v.outcome, v.status, v.attempts, v.judged_redirects,
                v.content_type, v.reason, v.title, v.target, v.digest, NULL, v.limits, v.duplicate_kind, v.round, v.content_at, v.more
            FROM unnest(e_site, e_url, e_fetched_at) AS e(site, url, fetched_at)
                JOIN visit v ON v.site_key = e.site AND v.url_key = e.url AND v.fetched_at = e.fetched_at;
    END IF;
    INSERT INTO visit (site_key, url_key, fetched_at, length, judged_depth, duplicate_of_site, duplicate_of_url, out_degree,
            segment, record_offset, record_length, outcome, status, attempts, judged_redirects,
            content_type, reason, title, target, digest, outlinks, limits, duplicate_kind, round, content_at, more)
        SELECT v.site, v.url, v.fetched_at, v.length, v.judged_depth, v.duplicate_site, v.duplicate_url, v.out_degree,
            v.segment, v.record_offset, v.record_length, v.outcome::outcome, v.status, v.attempts, v.judged_redirects,
            v.content_type, v.reason, v.title, v.target, v.digest, v.outlinks, v.limits, v.duplicate_kind::outcome, v.round, v.content_at, v.more
        FROM unnest(v_site, v_url, v_fetched_at, v_length, v_judged_depth, v_duplicate_site, v_duplicate_url,
                v_out_degree, v_segment, v_offset, v_record_length, v_outcome, v_status, v_attempts, v_judged_redirects,
                v_content_type, v_reason, v_title, v_target, v_digest, v_outlinks, v_limits, v_duplicate_kind, v_round, v_content_at, v_more)
            AS v(site, url, fetched_at, length, judged_depth, duplicate_site, duplicate_url,
                out_degree, segment, record_offset, record_length, outcome, status, attempts, judged_redirects,
                content_type, reason, title, target, digest, outlinks, limits, duplicate_kind, round, content_at, more)
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
    IF cardinality(x_site) > 0 THEN
        UPDATE visit v SET more = x.more FROM unnest(x_site, x_url, x_more) AS x(site, url, more)
            WHERE v.site_key = x.site AND v.url_key = x.url;
    END IF;
    IF cardinality(a_site) > 0 THEN
        DELETE FROM attempt a USING unnest(a_site, a_url) AS k(site, url) WHERE a.site_key = k.site AND a.url_key = k.url;
        INSERT INTO attempt SELECT * FROM unnest(a_site, a_url, a_attempts) AS k(site, url, attempts) WHERE k.attempts IS NOT NULL;
    END IF;

    -- The links of these pages were not followed when they were visited; they are now.
    IF 'nearer' = ANY (k_kind) THEN
        INSERT INTO followed
            SELECT u.site_key, u.url_key FROM unnest(k_site, k_url, k_kind) AS k(site, url, kind)
                JOIN url u ON u.site_key = k.site AND u.url_key = k.url
                JOIN visit v ON v.site_key = k.site AND v.url_key = k.url
                JOIN crawl c ON u.depth < c.bottom AND v.judged_depth >= c.bottom
                WHERE k.kind = 'nearer'
            ON CONFLICT DO NOTHING;
    END IF;

    INSERT INTO holder SELECT * FROM unnest(h_digest, h_site, h_url) ON CONFLICT DO NOTHING;
    GET DIAGNOSTICS held = ROW_COUNT;
    -- Another worker had some of the contents first, and this one could not know: a duplicate, as if it had. What this commit has as a
    -- duplicate of it is one of that other too. Not so if they were sent in different codings: records of this commit may refer to the
    -- payload of this one, and that is not the other's. Then each stays what it is.
    IF me <> 0 AND held < cardinality(h_digest) THEN
        SELECT array_agg(h.site), array_agg(h.url), array_agg(o.site_key), array_agg(o.url_key)
            INTO l_site, l_url, f_site, f_url
            FROM unnest(h_digest, h_site, h_url) AS h(digest, site, url) JOIN holder o ON o.digest = h.digest
                JOIN visit late ON late.site_key = h.site AND late.url_key = h.url
                JOIN visit first ON first.site_key = o.site_key AND first.url_key = o.url_key
            WHERE (o.site_key, o.url_key) <> (h.site, h.url) AND late.digest = first.digest AND late.length = first.length;
        UPDATE visit v SET duplicate_kind = v.outcome, outcome = 'duplicate', duplicate_of_site = l.f_site, duplicate_of_url = l.f_url
            FROM unnest(l_site, l_url, f_site, f_url) AS l(site, url, f_site, f_url)
            WHERE v.site_key = l.site AND v.url_key = l.url;
        UPDATE visit v SET duplicate_of_site = l.f_site, duplicate_of_url = l.f_url
            FROM unnest(l_site, l_url, f_site, f_url) AS l(site, url, f_site, f_url)
            WHERE v.duplicate_of_site = l.site AND v.duplicate_of_url = l.url;
    END IF;
    INSERT INTO site AS s (site_key, due_at, failures_in_a_row, response_seconds, response_nanos, pages_fetched, sitemaps_read,
            address, given_up, given_up_detail, site, aside_until, aside_round, aside_reason, aside_detail, misleads,
            asked_until)
        SELECT * FROM unnest(s_site, s_due_at, s_failures, s_response_seconds, s_response_nanos, s_pages_counted, s_sitemaps_counted,
            s_address, s_given_up, s_given_up_detail, s_text, s_aside_until, s_aside_round, s_aside_reason, s_aside_detail, s_misleads,
            s_asked_until)
        ON CONFLICT (site_key) DO UPDATE SET
            due_at = excluded.due_at, failures_in_a_row = excluded.failures_in_a_row,
            response_seconds = excluded.response_seconds, response_nanos = excluded.response_nanos,
            pages_fetched = excluded.pages_fetched + CASE WHEN me = 0 THEN 0 ELSE s.pages_fetched END,
            sitemaps_read = excluded.sitemaps_read + CASE WHEN me = 0 THEN 0 ELSE s.sitemaps_read END, address = excluded.address,
            given_up = excluded.given_up, given_up_detail = excluded.given_up_detail, site = excluded.site,
            aside_until = excluded.aside_until, aside_round = excluded.aside_round,
            aside_reason = excluded.aside_reason, aside_detail = excluded.aside_detail, misleads = excluded.misleads,
            asked_until = excluded.asked_until;
    IF cardinality(c_site) > 0 THEN
        INSERT INTO site_shapes (site_key, shape, count) SELECT * FROM unnest(c_site, c_shape, c_count)
            ON CONFLICT (site_key, shape) DO UPDATE SET count = excluded.count;
    END IF;
    IF cardinality(r_site) > 0 THEN
        -- The records are in a segment that grew. Segments are sealed in their order: what is in one before is lost only with the last.
        INSERT INTO robots (site_key, fetched_at, failed_tries, status, failure, failure_detail, body, is_cut, renewal, segment)
            SELECT r.*, CASE WHEN me <> 0 THEN (SELECT max(g.serial) FROM unnest(g_serial) AS g(serial)) END
            FROM unnest(r_site, r_fetched_at, r_failed_tries, r_status, r_failure, r_failure_detail, r_body, r_is_cut, r_renewal) AS r
            ON CONFLICT (site_key) DO UPDATE SET fetched_at = excluded.fetched_at,
                failed_tries = excluded.failed_tries, status = excluded.status, failure = excluded.failure, failure_detail = excluded.failure_detail,
                body = excluded.body, is_cut = excluded.is_cut, renewal = excluded.renewal, segment = excluded.segment;
    END IF;
    -- Seeds widen the scope. A writer that adds one and then looks for what was excluded (admit) has waited for a writer that excludes at the
    -- moment; and a writer that excludes something after that learns here of the seed.
    IF cardinality(b_site) > 0 THEN
        -- Their order is that in which they were given, not that of keys: one worker at a time.
        LOCK TABLE seed IN SHARE ROW EXCLUSIVE MODE;
    ELSIF me <> 0 AND 'settled' = ANY (k_kind) THEN
        LOCK TABLE seed IN ROW EXCLUSIVE MODE;
    END IF;
    IF me <> 0 AND 'settled' = ANY (k_kind) AND EXISTS (SELECT FROM seed s WHERE s.number > seeds_known) THEN
        INSERT INTO unjudged SELECT k.site, k.url FROM unnest(k_site, k_url, k_kind) AS k(site, url, kind) WHERE k.kind = 'settled'
            ON CONFLICT DO NOTHING;
    END IF;
    IF cardinality(b_site) > 0 THEN
        INSERT INTO seed (url, site_key, url_key)
            SELECT b.text, b.site, b.url FROM unnest(b_text, b_site, b_url) WITH ORDINALITY AS b(text, site, url, n)
            WHERE NOT EXISTS (SELECT FROM seed s WHERE s.site_key = b.site AND s.url_key = b.url) ORDER BY b.n;
        -- A seed with a depth of its own has come to be one without: workers learn of it again. Without workers seeds keep their order.
        IF me <> 0 AND 'root' = ANY (k_kind) THEN
            UPDATE seed s SET number = DEFAULT FROM unnest(k_site, k_url, k_kind) AS k(site, url, kind)
                WHERE k.kind = 'root' AND s.site_key = k.site AND s.url_key = k.url;
        END IF;
    END IF;
    IF cardinality(g_serial) > 0 THEN
        INSERT INTO segment (serial, name, length, worker)
            SELECT g.serial, g.name, g.length, nullif(me, 0) FROM unnest(g_serial, g_name, g_length) AS g(serial, name, length)
            ON CONFLICT (serial) DO UPDATE SET name = excluded.name, length = excluded.length;
    END IF;
    IF cardinality(w_spent) > 0 THEN
        -- Four numbers a row: a function has 100 arguments at most.
        INSERT INTO spent AS s (segment, round, pages, bytes)
            SELECT w_spent[n], w_spent[n + 1], w_spent[n + 2], w_spent[n + 3] FROM generate_series(1, cardinality(w_spent), 4) AS n
            ON CONFLICT (segment, round) DO UPDATE SET pages = s.pages + excluded.pages, bytes = s.bytes + excluded.bytes;
    END IF;
    IF me <> 0 THEN
        INSERT INTO hint (owner, site_key, of_record)
            SELECT g.owner, s.site_key, k.is_back AND g.owner <> me AND k.site = ANY (s_site)
            FROM (SELECT k.site, bool_or(k.kind = 'back') AS is_back FROM unnest(k_site, k_kind) AS k(site, kind)
                WHERE k.kind IN ('fresh', 'nearer', 'back') GROUP BY k.site) k
            JOIN site s ON s.site_key = k.site JOIN politeness_group g ON g.name = s.politeness_group
            WHERE g.owner <> me OR k.is_back AND g.owner IS NOT NULL
            UNION SELECT me, o.site, true FROM unnest(o_site) AS o(site);
        INSERT INTO unplaced (site_key, site)
            SELECT DISTINCT ON (u.site_key) u.site_key, substring(u.url FROM '^[a-z]+://[^/]+')
            FROM unnest(k_site, k_url, k_kind) AS k(site, url, kind)
                JOIN url u ON u.site_key = k.site AND u.url_key = k.url
            WHERE k.kind IN ('fresh', 'back')
                AND NOT EXISTS (SELECT FROM site s WHERE s.site_key = k.site AND s.politeness_group IS NOT NULL)
            ORDER BY u.site_key
            ON CONFLICT DO NOTHING;
    END IF;
    UPDATE writer w SET number = commit_number, committed_at = (extract(epoch FROM clock_timestamp()) * 1e6)::bigint WHERE w.writer = me;
    RETURN QUERY SELECT l_site, l_url, f_site, f_url;
END $$;
