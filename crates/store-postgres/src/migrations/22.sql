-- Format 22. Until when a site in trouble asked to be left alone: a new run may ask it after that.

ALTER TABLE site ADD aside_asked_until bigint;                  -- 0 where it did not ask; null where the site is not aside
UPDATE site SET aside_asked_until = 0 WHERE aside_until IS NOT NULL;
