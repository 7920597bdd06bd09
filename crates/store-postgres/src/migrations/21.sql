-- Format 21. Records whose visits were undone, in segments that were not lost: the visits repeated what is lost. Datasets leave their rows out.

CREATE TABLE taken_back (segment bigint, record_offset bigint, site_key bigint, url_key bigint,
    PRIMARY KEY (segment, record_offset, site_key, url_key));
