-- Format 14. A crawl is steered: its settings in force are those of its set-up, as changed since.

CREATE TABLE change (
    number bigint PRIMARY KEY,
    at bigint NOT NULL,
    change text NOT NULL);                                      -- JSON
ALTER TABLE crawl
    ADD changes bigint NOT NULL DEFAULT 0,                      -- the number of the last change
    ADD in_force text;                                          -- the settings after it; null before the first one
UPDATE crawl SET in_force = E'paused = true\n' || settings, changes = 1 WHERE is_paused;
ALTER TABLE crawl DROP is_paused;
ALTER TABLE worker ADD changes bigint NOT NULL DEFAULT 0;       -- the last change that it goes by
