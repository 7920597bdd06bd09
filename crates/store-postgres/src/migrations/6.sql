-- Format 6. Secrets of a crawl by several workers, and the sites of its seeds, which may learn them.

CREATE TABLE secret (
    name text PRIMARY KEY,                                      -- a site that a seed names; '' is for the settings' secrets
    number bigint NOT NULL,                                     -- in the order of commits
    value text);                                                -- of a site: user and password, if its seed has them
COMMENT ON TABLE secret IS 'for the role of the crawl alone: request fields and passwords';
-- Roles that may read all tables of the schema by default (docs/deployment.md) may not read this one.
DO $$
DECLARE other text;
BEGIN
    FOR other IN
        SELECT DISTINCT CASE WHEN a.grantee = 0 THEN 'PUBLIC' ELSE a.grantee::regrole::text END
        FROM pg_class c CROSS JOIN LATERAL aclexplode(c.relacl) a
        WHERE c.oid = 'secret'::regclass AND a.grantee <> c.relowner
    LOOP
        EXECUTE 'REVOKE ALL ON secret FROM ' || other;
    END LOOP;
END $$;
ALTER TABLE crawl ADD secrets bigint NOT NULL DEFAULT 1;        -- the last number of a secret
-- What seeds redirect to is among the seeds too.
INSERT INTO secret (name, number)
    SELECT DISTINCT substring(u.url FROM '^[a-z]+://[^/]+'), 1
    FROM seed s JOIN url u ON u.site_key = s.site_key AND u.url_key = s.url_key WHERE u.via = 'seed';
