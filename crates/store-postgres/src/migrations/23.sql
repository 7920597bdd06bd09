-- Format 23. The counts of sites are those of the visits that are there, whoever owns the sites.

ALTER TABLE hint ADD of_record boolean NOT NULL DEFAULT false;  -- the record of the site has changed, not its queue alone
