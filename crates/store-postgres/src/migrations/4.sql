-- Format 4. What workers must agree on, and what the graph of visited pages needs beside the datasets.

-- Null in a crawl of an earlier format, until the next server starts.
ALTER TABLE crawl
    ADD lease_seconds float8,                                   -- how long a lease of a worker lasts
    ADD placement text,                                         -- by what politeness groups are given to workers
    ADD bottom bigint;                                          -- the depth from which no link is followed

-- Pages that were visited at the bottom and are nearer to a seed by now: their links count, though their rows in the dataset say that
-- they are at the bottom.
CREATE TABLE followed (site_key bigint, url_key bigint, PRIMARY KEY (site_key, url_key));

-- URLs that were asked for in vain and have no record in the archive, so that no segment of the dataset tells of them.
CREATE INDEX visit_in_vain ON visit (site_key, url_key)
    WHERE segment IS NULL AND outcome NOT IN ('excluded', 'disallowed', 'trap');
