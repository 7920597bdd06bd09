-- Format 5. Contents are told apart by the BLAKE3 hash of the body without content coding, and its length (40 bytes). What was recorded before is
-- found by the SHA-1 of the payload (20 bytes) as before; both are digests of holders.

ALTER TABLE visit ADD duplicate_kind outcome;                   -- what a duplicate is besides: html or binary
-- A visit that is undone holds nothing any more; its row says the label of the payload only.
CREATE INDEX holder_of_url ON holder (site_key, url_key);
