-- Format 1. Keys are two bigints, the site's first, in the order of the unsigned numbers (u64 with its highest bit flipped).
-- Other unsigned 64-bit numbers are bigints of the same bits. Times are microseconds since 1970. Text has U+0000 as U+FFFF 0.

CREATE TYPE purpose AS ENUM ('page', 'sitemap', 'robots');
CREATE TYPE via AS ENUM ('seed', 'link', 'redirect', 'sitemap');
CREATE TYPE outcome AS ENUM ('html', 'binary', 'duplicate', 'redirect', 'http_error', 'disallowed', 'domain_error', 'timeout',
    'connection_error', 'tls_error', 'render_error', 'too_large', 'excluded', 'trap', 'given_up');

-- Every URL known. Rows are inserted, and changed only where a shorter way is found: an insert of a known URL waits for whoever
-- changes its row.
CREATE TABLE url (
    site_key bigint, url_key bigint,
    depth bigint NOT NULL, found_on_site bigint, found_on_url bigint,
    purpose purpose NOT NULL, via via NOT NULL, redirects smallint NOT NULL,
    settled boolean NOT NULL,               -- judged without ever being queued
    url text NOT NULL,
    PRIMARY KEY (site_key, url_key));
CREATE INDEX url_of_sitemap ON url (site_key, url_key) WHERE purpose = 'sitemap';

-- The queues of the sites, in order.
CREATE TABLE queue (site_key bigint, rank bigint, url_key bigint, PRIMARY KEY (site_key, rank, url_key))
    WITH (autovacuum_vacuum_scale_factor = 0.05);

CREATE TABLE visit (
    site_key bigint, url_key bigint,
    fetched_at bigint NOT NULL, length bigint NOT NULL, judged_depth bigint NOT NULL,
    duplicate_of_site bigint, duplicate_of_url bigint, out_degree bigint,
    segment bigint, record_offset bigint, record_length bigint,
    outcome outcome NOT NULL, status integer NOT NULL, attempts smallint NOT NULL, judged_redirects smallint NOT NULL,
    content_type text, reason text NOT NULL, title text, target text, digest bytea,
    outlinks text,                          -- one a line; kept where a depth limit makes them matter
    PRIMARY KEY (site_key, url_key));
ALTER TABLE visit ALTER outlinks SET STORAGE EXTERNAL;

-- How often URLs were asked for, where it is not what their visit says.
CREATE TABLE attempt (site_key bigint, url_key bigint, attempts smallint NOT NULL, PRIMARY KEY (site_key, url_key));

CREATE TABLE site (
    site_key bigint PRIMARY KEY,
    due_at bigint NOT NULL, failures_in_a_row bigint NOT NULL, response_seconds bigint NOT NULL, response_nanos integer NOT NULL,
    pages_fetched bigint NOT NULL, sitemaps_read bigint NOT NULL,
    address inet, given_up text, given_up_detail text,
    site text NOT NULL, shapes bytea NOT NULL) WITH (fillfactor = 70);

-- What is known of the robots.txt of sites: a status and a body, or a failure.
CREATE TABLE robots (
    site_key bigint PRIMARY KEY,
    fetched_at bigint NOT NULL, failed_tries bigint NOT NULL,
    status integer, failure text, failure_detail text, body bytea);

CREATE TABLE holder (digest bytea PRIMARY KEY, site_key bigint NOT NULL, url_key bigint NOT NULL);

CREATE TABLE seed (number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, url text NOT NULL,
    site_key bigint NOT NULL, url_key bigint NOT NULL, UNIQUE (site_key, url_key));

CREATE TABLE segment (serial bigint PRIMARY KEY, name text NOT NULL, length bigint NOT NULL);

-- Who commits: the process that opened the store last, the number of its last commit, and what that found out, which is the
-- answer once more for who lost the connection before it came.
CREATE TABLE writer (
    writer bigint PRIMARY KEY, process uuid NOT NULL, number bigint NOT NULL,
    fresh_site bigint[] NOT NULL DEFAULT '{}', fresh_url bigint[] NOT NULL DEFAULT '{}') WITH (fillfactor = 50);
-- URLs of the last commit that turned out to be nearer than was thought, as they stood before it.
CREATE TABLE nearer (
    writer bigint, site_key bigint, url_key bigint,
    depth bigint NOT NULL, found_on_site bigint, found_on_url bigint,
    purpose purpose NOT NULL, via via NOT NULL, redirects smallint NOT NULL, url text NOT NULL,
    queued boolean NOT NULL, attempts smallint NOT NULL, outcome outcome, outlinks text,
    PRIMARY KEY (writer, site_key, url_key));

-- Several workers. What is owned is an address with all sites pinned to it, so that its owner alone decides when it is asked;
-- whoever takes it over raises the epoch, by which a commit of the owner before is refused.
CREATE TYPE worker_state AS ENUM ('alive', 'leaving', 'dead');    -- dead is final
CREATE TABLE worker (
    worker bigint PRIMARY KEY, lease_until timestamptz NOT NULL, state worker_state NOT NULL DEFAULT 'alive',
    name text NOT NULL) WITH (fillfactor = 50);
CREATE TABLE address (
    address inet PRIMARY KEY, owner bigint, epoch bigint NOT NULL,
    not_before timestamptz NOT NULL) WITH (fillfactor = 70);
CREATE INDEX address_of_owner ON address (owner);
CREATE INDEX site_of_address ON site (address);
CREATE TABLE bid (address inet, worker bigint, rtt_us bigint NOT NULL, PRIMARY KEY (address, worker));
-- Sites of a worker in whose queues others put something. One that is lost costs time, never a URL: the queue is read again.
CREATE TABLE hint (owner bigint, number bigint GENERATED ALWAYS AS IDENTITY, site_key bigint NOT NULL, PRIMARY KEY (owner, number));

-- What people look at.
CREATE VIEW page AS
    SELECT u.url, v.outcome, v.status, v.content_type, v.length, to_timestamp(v.fetched_at / 1e6) AS fetched_at,
        u.depth, u.via, v.title, nullif(v.reason, '') AS reason, f.url AS found_on, u.site_key, u.url_key
    FROM url u
    LEFT JOIN visit v ON v.site_key = u.site_key AND v.url_key = u.url_key
    LEFT JOIN url f ON f.site_key = u.found_on_site AND f.url_key = u.found_on_url
    WHERE u.purpose = 'page';
