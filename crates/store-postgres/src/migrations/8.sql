-- Format 8. Sites in trouble are tried again after ever longer waits, and an earlier copy of a robots.txt is kept where later tries fail.

ALTER TABLE site
    ADD aside_since bigint,                                     -- null where the site is not aside
    ADD aside_round bigint,                                     -- waits so far
    ADD aside_reason text, ADD aside_detail text;               -- what failed last
-- When it was asked for last.
ALTER TABLE robots ADD tried_at bigint;
UPDATE robots SET tried_at = fetched_at;
ALTER TABLE robots ALTER tried_at SET NOT NULL;
