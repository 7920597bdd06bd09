-- Format 16. A robots.txt is requested again with its validators.

ALTER TABLE robots ADD renewal text;                            -- JSON: the validators, and the record that they are of; null where there are none
