-- Format 2. What several workers own are politeness groups: the addresses on which sites are, or sites by themselves.

-- Nothing has used these.
DROP TABLE worker, address, bid, hint;
DROP INDEX site_of_address;

CREATE TABLE worker (
    worker bigint PRIMARY KEY, lease_until timestamptz NOT NULL, state worker_state NOT NULL DEFAULT 'alive',
    joined_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    name text NOT NULL) WITH (fillfactor = 50);                 -- host:port where others reach it

-- Whoever owns a group decides alone when its sites are asked. Each change of the owner raises the epoch, by which a commit of
-- the owner before is refused; nobody asks before not_before.
CREATE TABLE politeness_group (
    name text PRIMARY KEY, owner bigint, epoch bigint NOT NULL DEFAULT 0,
    ownerless_since timestamptz NOT NULL DEFAULT clock_timestamp(),
    not_before timestamptz NOT NULL DEFAULT '-infinity') WITH (fillfactor = 70);
CREATE INDEX politeness_group_of_owner ON politeness_group (owner);
CREATE INDEX politeness_group_without_owner ON politeness_group (ownerless_since) WHERE owner IS NULL;
ALTER TABLE site ADD politeness_group text;
CREATE INDEX site_of_politeness_group ON site (politeness_group);
-- Sites with a queue that are in no group yet: any worker may look up where they are.
CREATE TABLE unplaced (site_key bigint PRIMARY KEY, site text NOT NULL);

-- URLs that were excluded by who did not know all seeds then: they are to be judged again.
CREATE TABLE unjudged (site_key bigint, url_key bigint, PRIMARY KEY (site_key, url_key));

-- How far groups are from workers.
CREATE TABLE bid (
    politeness_group text, worker bigint, rtt_us bigint NOT NULL, PRIMARY KEY (politeness_group, worker));
CREATE INDEX bid_of_worker ON bid (worker);
-- Sites of a worker in whose queues others put something. One that is lost costs time, never a URL: the queue is read again.
CREATE TABLE hint (owner bigint, number bigint GENERATED ALWAYS AS IDENTITY, site_key bigint NOT NULL, PRIMARY KEY (owner, number));

-- Segments that workers write. One that is not sealed when its worker is called dead is lost: its visits are undone, and then its
-- row says that what lies of it on shared storage is to be removed.
ALTER TABLE segment ADD worker bigint, ADD is_sealed boolean NOT NULL DEFAULT false, ADD is_lost boolean NOT NULL DEFAULT false;
CREATE INDEX segment_not_sealed ON segment (worker) WHERE NOT is_sealed;
CREATE SEQUENCE segment_serial AS integer MINVALUE 0;
SELECT setval('segment_serial', (SELECT coalesce(max(serial) + 1, 0) FROM segment), false);
CREATE INDEX visit_of_segment ON visit (segment, site_key, url_key);
CREATE INDEX visit_of_original ON visit (duplicate_of_site, duplicate_of_url) WHERE duplicate_of_url IS NOT NULL;

-- What all workers of the crawl share; at most one row.
CREATE TABLE crawl (
    is_the_row boolean PRIMARY KEY DEFAULT true CHECK (is_the_row),
    settings text NOT NULL,                                     -- a crawl.toml
    archive text NOT NULL,                                      -- a URL
    is_paused boolean NOT NULL DEFAULT false);

CREATE FUNCTION host_backwards(url text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN reverse(substring(url FROM '^[a-z]+://(\[[^]]*\]|[^/:]+)'));
CREATE INDEX site_of_host ON site ((host_backwards(site) COLLATE "C"));
CREATE INDEX settled_of_host ON url ((host_backwards(url) COLLATE "C"), site_key, url_key) WHERE settled;
