-- Format 15. What a monitoring system wants to know of several workers.

ALTER TABLE worker ADD is_lost boolean NOT NULL DEFAULT false;   -- its lease ran out before it had left
ALTER TABLE writer ADD committed_at bigint;                     -- the time of its last commit
CREATE INDEX site_aside ON site (site_key) WHERE aside_until IS NOT NULL;
