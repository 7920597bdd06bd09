-- Format 11. URLs are visited again, in rounds: the visits before the last one stay.

ALTER TYPE outcome ADD VALUE IF NOT EXISTS 'not_modified';
ALTER TABLE meta ADD round integer NOT NULL DEFAULT 1,
    ADD round_began_at bigint NOT NULL DEFAULT 0,
    ADD is_choosing boolean NOT NULL DEFAULT false;           -- the URLs of the round are being chosen
ALTER TABLE url ADD again boolean NOT NULL DEFAULT false;       -- it waits to be visited again
ALTER TABLE visit ADD round integer NOT NULL DEFAULT 1,
    ADD content_at bigint,                                      -- the visit that recorded the payload, where this one did not
    ADD more text;                                              -- JSON: validators, and what the visits before came to
CREATE INDEX visit_of_round ON visit (round) WHERE round > 1;
CREATE INDEX url_again ON url (site_key) WHERE again;
ALTER TABLE site ADD misleads boolean NOT NULL DEFAULT false;    -- it said that a page had not changed which had
-- Its outlinks are null.
CREATE TABLE earlier_visit (LIKE visit INCLUDING DEFAULTS);
ALTER TABLE earlier_visit ADD PRIMARY KEY (site_key, url_key, fetched_at);
CREATE INDEX earlier_visit_of_segment ON earlier_visit (segment, site_key, url_key);
CREATE INDEX earlier_visit_of_original ON earlier_visit (duplicate_of_site, duplicate_of_url) WHERE duplicate_of_url IS NOT NULL;
-- All visits, by what they have to do with each other.
CREATE VIEW any_visit AS
    SELECT site_key, url_key, fetched_at, outcome, segment, duplicate_of_site, duplicate_of_url, content_at FROM visit
    UNION ALL
    SELECT site_key, url_key, fetched_at, outcome, segment, duplicate_of_site, duplicate_of_url, content_at FROM earlier_visit;
ALTER TABLE nearer ADD again boolean NOT NULL DEFAULT false;
