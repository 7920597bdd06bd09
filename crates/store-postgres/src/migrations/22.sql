-- Format 22. Until when a site asked to be left alone: a new run asks a site in trouble after that. Before, the end of its wait was 0 where it had
-- asked for the wait.

ALTER TABLE site ADD asked_until bigint NOT NULL DEFAULT 0;     -- 0 where it never did
UPDATE site SET asked_until = due_at WHERE aside_until = 0;
