-- Format 10. The counters of shapes of URLs, for the trap rules, have rows of their own: few of them change with a visit.

CREATE TABLE site_shapes (
    site_key bigint, shape bigint,                              -- the hash of the shape
    count bigint NOT NULL,
    PRIMARY KEY (site_key, shape)) WITH (fillfactor = 70);
-- They were pairs of 8 and 4 bytes.
INSERT INTO site_shapes
    SELECT s.site_key, ('x' || encode(substring(s.shapes FROM n * 12 + 1 FOR 8), 'hex'))::bit(64)::bigint,
        ('x' || encode(substring(s.shapes FROM n * 12 + 9 FOR 4), 'hex'))::bit(32)::bigint
    FROM site s CROSS JOIN LATERAL generate_series(0, length(s.shapes) / 12 - 1) AS n
    ON CONFLICT DO NOTHING;
ALTER TABLE site DROP shapes;
