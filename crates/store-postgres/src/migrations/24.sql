-- Format 24. What a crawl by several workers has spent of its budgets, counted as visits are committed.

CREATE TABLE spent (
    segment bigint, round integer,                              -- the visits of a round whose records are in a segment
    pages bigint NOT NULL, bytes bigint NOT NULL,
    PRIMARY KEY (segment, round)) WITH (fillfactor = 50);
INSERT INTO spent
    SELECT v.segment, v.round, count(*) FILTER (WHERE u.purpose = 'page' AND v.outcome::text IN ('html', 'binary', 'duplicate', 'not_modified')),
        coalesce(sum(v.length) FILTER (WHERE v.outcome::text <> 'not_modified'), 0)
    FROM meta m JOIN crawl c ON true JOIN visit v ON v.round = m.round JOIN url u ON u.site_key = v.site_key AND u.url_key = v.url_key
    WHERE v.segment IS NOT NULL GROUP BY v.segment, v.round;
ALTER TABLE crawl ADD began_at timestamptz NOT NULL DEFAULT clock_timestamp();
