-- Format 7. What is known of a robots.txt is worth as much as the segment that has its record.

ALTER TABLE robots ADD segment bigint;                          -- of a worker; null where it was not one of several, or recorded nothing
CREATE INDEX robots_of_segment ON robots (segment) WHERE segment IS NOT NULL;
