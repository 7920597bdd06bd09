-- Format 11. URLs are visited again, in rounds: the visits before the last one stay.

ALTER TYPE outcome ADD VALUE IF NOT EXISTS 'not_modified';
ALTER TABLE meta ADD round integer NOT NULL DEFAULT 1,
    ADD round_began_at bigint NOT NULL DEFAULT 0,
    ADD is_choosing boolean NOT NULL DEFAULT false;           -- the URLs of the round are being chosen
ALTER TABLE url ADD again boolean NOT NULL DEFAULT false;       -- it waits to be visited again
ALTER TABLE visit ADD round integer NOT NULL DEFAULT 1,
    ADD more text;                                              -- JSON: what few first visits have
CREATE INDEX visit_of_round ON visit (round) WHERE round > 1;
CREATE INDEX url_again ON url (site_key) WHERE again;
ALTER TABLE site ADD misleads boolean NOT NULL DEFAULT false;    -- it said that a page had not changed which had
-- Its outlinks are null.
CREATE TABLE earlier_visit (LIKE visit INCLUDING DEFAULTS);
ALTER TABLE earlier_visit ADD PRIMARY KEY (site_key, url_key, fetched_at);
ALTER TABLE nearer ADD again boolean NOT NULL DEFAULT false;
