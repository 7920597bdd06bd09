-- Format 8. Sites in trouble are tried again after ever longer waits.

ALTER TABLE site
    ADD aside_until bigint,                                     -- null where the site is not aside
    ADD aside_round bigint,                                     -- which of its waits this is
    ADD aside_reason text, ADD aside_detail text;               -- what failed last
