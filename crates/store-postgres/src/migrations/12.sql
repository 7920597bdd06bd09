-- Format 12. What a commit found out is not kept in the database any more: the process that commits works it out (`store::apply`).

DROP TABLE nearer;
ALTER TABLE writer DROP fresh_site, DROP fresh_url;
