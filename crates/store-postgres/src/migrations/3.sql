-- Format 3. The limits and trap rules that kept something out of the crawl: a bit for each, by its code.
ALTER TABLE visit ADD limits bigint NOT NULL DEFAULT 0;
CREATE INDEX visit_with_limits ON visit (limits) WHERE limits <> 0;
-- A body that is not all there was.
ALTER TABLE robots ADD is_cut boolean NOT NULL DEFAULT false;
CREATE INDEX robots_cut ON robots (site_key) WHERE is_cut;
