-- Format 17. What pages need to be shown. A value that is new in its transaction may not be named in it, so conditions name the others.

ALTER TYPE purpose ADD VALUE IF NOT EXISTS 'requisite';
DROP INDEX IF EXISTS url_of_sitemap;
CREATE INDEX IF NOT EXISTS url_of_no_page ON url (site_key, url_key) WHERE purpose NOT IN ('page', 'robots');
