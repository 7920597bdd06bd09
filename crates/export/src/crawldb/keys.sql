-- Keys and what they refer to, over tables that are filled.

INSERT INTO data_type SELECT DISTINCT data_type_code FROM page_data
    WHERE data_type_code NOT IN (SELECT code FROM data_type) ORDER BY 1;

ALTER TABLE page_type ADD PRIMARY KEY (code);
ALTER TABLE data_type ADD PRIMARY KEY (code);
ALTER TABLE site ADD PRIMARY KEY (id), ADD UNIQUE (domain);
ALTER TABLE page ADD PRIMARY KEY (id), ADD UNIQUE (url),
    ADD FOREIGN KEY (site_id) REFERENCES site, ADD FOREIGN KEY (page_type_code) REFERENCES page_type;
ALTER TABLE page_data ADD PRIMARY KEY (id),
    ADD FOREIGN KEY (page_id) REFERENCES page, ADD FOREIGN KEY (data_type_code) REFERENCES data_type;
ALTER TABLE image ADD PRIMARY KEY (id), ADD FOREIGN KEY (page_id) REFERENCES page;
ALTER TABLE link ADD PRIMARY KEY (from_page, to_page),
    ADD FOREIGN KEY (from_page) REFERENCES page, ADD FOREIGN KEY (to_page) REFERENCES page;

CREATE INDEX ON page (site_id);
CREATE INDEX ON page (page_type_code);
CREATE INDEX ON page (html_content_hash);
CREATE INDEX ON page_data (page_id);
CREATE INDEX ON image (page_id);
CREATE INDEX ON link (to_page);

SELECT setval(pg_get_serial_sequence('site', 'id'), (SELECT coalesce(max(id), 0) + 1 FROM site), false);
SELECT setval(pg_get_serial_sequence('page', 'id'), (SELECT coalesce(max(id), 0) + 1 FROM page), false);
SELECT setval(pg_get_serial_sequence('page_data', 'id'), (SELECT coalesce(max(id), 0) + 1 FROM page_data), false);
SELECT setval(pg_get_serial_sequence('image', 'id'), (SELECT coalesce(max(id), 0) + 1 FROM image), false);

ANALYZE site;
ANALYZE page;
ANALYZE page_data;
ANALYZE image;
ANALYZE link;
