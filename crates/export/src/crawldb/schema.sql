-- The schema of the course's crawldb, in the current schema; keys follow when the tables are filled.

CREATE TABLE page_type (code varchar(20) NOT NULL);
CREATE TABLE data_type (code varchar(20) NOT NULL);

CREATE TABLE site (
    id              serial NOT NULL,
    domain          varchar(500) NOT NULL,
    robots_content  text,
    sitemap_content text
);

CREATE TABLE page (
    id                serial NOT NULL,
    site_id           integer,
    page_type_code    varchar(20),
    url               varchar(3000),
    html_content      text,
    http_status_code  integer,
    accessed_time     timestamp,
    html_content_hash text
);

CREATE TABLE page_data (
    id             serial NOT NULL,
    page_id        integer,
    data_type_code varchar(20),
    data           bytea
);

CREATE TABLE image (
    id            serial NOT NULL,
    page_id       integer,
    filename      varchar(255),
    content_type  varchar(50),
    data          bytea,
    accessed_time timestamp
);

CREATE TABLE link (from_page integer NOT NULL, to_page integer NOT NULL);

CREATE TEMPORARY TABLE page_key (key bytea NOT NULL, id integer NOT NULL) ON COMMIT DROP;
CREATE TEMPORARY TABLE found_link (from_key bytea NOT NULL, to_key bytea NOT NULL) ON COMMIT DROP;
CREATE TEMPORARY TABLE fetched_image (
    key bytea NOT NULL, content_type text, data bytea, accessed_time timestamp
) ON COMMIT DROP;
CREATE TEMPORARY TABLE found_image (
    place bigint NOT NULL, page_key bytea NOT NULL, key bytea, filename text, content_type text, data bytea
) ON COMMIT DROP;
