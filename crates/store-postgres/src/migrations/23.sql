-- Format 23. What workers that are gone leave behind: the time of the last commit, and the counts of sites that have other owners.

ALTER TABLE meta ADD committed_at bigint;                       -- the last commit of writers that are gone
ALTER TABLE hint ADD of_record boolean NOT NULL DEFAULT false;  -- the record of the site has changed, not its queue alone
