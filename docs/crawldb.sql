-- Statistics of a crawl in the schema crawldb, as reports on crawls show them (docs/exports.md).
-- Each query stands behind a line that begins with `-- name:`. Run all:  psql -d DATABASE -f docs/crawldb.sql

-- name: pages_per_site
SELECT site.domain, count(*) AS pages
FROM crawldb.page JOIN crawldb.site ON site.id = page.site_id
GROUP BY site.domain ORDER BY pages DESC, site.domain;

-- name: pages_per_type
SELECT page_type_code, count(*) AS pages
FROM crawldb.page GROUP BY page_type_code ORDER BY pages DESC, page_type_code;

-- name: error_pages
SELECT CASE WHEN page_type_code = 'DISALLOWED' THEN 'not allowed'
            WHEN page_type_code IN ('HTTP_ERROR', 'DOMAIN_ERROR', 'TIMEOUT', 'CONNECTION_ERROR', 'TLS_ERROR',
                                    'WEBDRIVER_ERROR', 'TOO_LARGE', 'GIVEN_UP') THEN 'retrieval error'
            ELSE 'other' END AS kind,
       count(*) AS pages
FROM crawldb.page GROUP BY kind ORDER BY kind;

-- name: retrieval_errors_per_site
SELECT site.domain, count(*) AS pages
FROM crawldb.page JOIN crawldb.site ON site.id = page.site_id
WHERE page_type_code IN ('HTTP_ERROR', 'DOMAIN_ERROR', 'TIMEOUT', 'CONNECTION_ERROR', 'TLS_ERROR',
                         'WEBDRIVER_ERROR', 'TOO_LARGE', 'GIVEN_UP')
GROUP BY site.domain ORDER BY pages DESC, site.domain;

-- name: disallowed_per_site
SELECT site.domain, count(*) AS pages
FROM crawldb.page JOIN crawldb.site ON site.id = page.site_id
WHERE page_type_code = 'DISALLOWED'
GROUP BY site.domain ORDER BY pages DESC, site.domain;

-- name: documents_per_type
SELECT data_type.code, count(page_data.id) AS documents
FROM crawldb.data_type LEFT JOIN crawldb.page_data ON page_data.data_type_code = data_type.code
GROUP BY data_type.code ORDER BY documents DESC, data_type.code;

-- name: images
WITH html AS (SELECT count(*) AS pages FROM crawldb.page WHERE page_type_code = 'HTML'),
     per_page AS (SELECT page_id, count(*) AS images FROM crawldb.image GROUP BY page_id)
SELECT (SELECT count(*) FROM crawldb.image) AS images,
       (SELECT count(*) FROM crawldb.image)::float8 / nullif(html.pages, 0) AS per_html_page,
       (SELECT coalesce(max(images), 0) FROM per_page) AS most_on_one_page
FROM html;

-- name: links
WITH html AS (SELECT count(*) AS pages FROM crawldb.page WHERE page_type_code = 'HTML'),
     from_page AS (SELECT from_page, count(*) AS links FROM crawldb.link GROUP BY from_page),
     to_page AS (SELECT to_page, count(*) AS links FROM crawldb.link GROUP BY to_page)
SELECT (SELECT count(*) FROM crawldb.link) AS links,
       (SELECT count(*) FROM crawldb.link)::float8 / nullif(html.pages, 0) AS per_html_page,
       (SELECT coalesce(max(links), 0) FROM from_page) AS most_from_one_page,
       (SELECT coalesce(max(links), 0) FROM to_page) AS most_to_one_page
FROM html;

-- The next one compares the sites that a crawl began at, which are to be named here, with all.
-- name: overview
WITH chosen AS (
    SELECT page.*, site.domain IN ('first-seed.example', 'second-seed.example') AS is_seed
    FROM crawldb.page JOIN crawldb.site ON site.id = page.site_id
), document AS (
    SELECT data_type_code AS code, is_seed FROM crawldb.page_data JOIN chosen ON chosen.id = page_data.page_id
), shown AS (
    SELECT is_seed FROM crawldb.image JOIN chosen ON chosen.id = image.page_id
), measured AS (
    SELECT 1 AS place, 'sites' AS measured,
           count(DISTINCT site_id) FILTER (WHERE is_seed)::float8 AS seeds, count(DISTINCT site_id)::float8 AS everything
    FROM chosen
    UNION ALL SELECT 2, 'web pages', count(*) FILTER (WHERE is_seed), count(*) FROM chosen
    UNION ALL SELECT 3, 'HTML pages', count(*) FILTER (WHERE is_seed), count(*) FROM chosen WHERE page_type_code = 'HTML'
    UNION ALL SELECT 4, 'duplicates', count(*) FILTER (WHERE is_seed), count(*)
              FROM chosen WHERE page_type_code = 'DUPLICATE'
    UNION ALL SELECT 5, 'binary files', count(*) FILTER (WHERE is_seed), count(*)
              FROM chosen WHERE page_type_code = 'BINARY'
    UNION ALL SELECT 6, code || ' documents', count(document.code) FILTER (WHERE is_seed), count(document.code)
              FROM (VALUES ('PDF'), ('DOC'), ('DOCX'), ('PPT'), ('PPTX')) AS named (code) LEFT JOIN document USING (code)
              GROUP BY code
    UNION ALL SELECT 7, 'images', count(*) FILTER (WHERE is_seed), count(*) FROM shown
    UNION ALL SELECT 8, 'images per HTML page',
              (SELECT count(*) FROM shown WHERE is_seed)::float8 / nullif(count(*) FILTER (WHERE is_seed), 0),
              (SELECT count(*) FROM shown)::float8 / nullif(count(*), 0)
              FROM chosen WHERE page_type_code = 'HTML'
)
SELECT measured, seeds, everything FROM measured ORDER BY place, measured;
