-- Records that this server wrote at a DNS provider and that disappeared or were changed there. Times are in milliseconds UTC.

CREATE TABLE dns_drift (
  domain_id INTEGER PRIMARY KEY,         -- the domain
  records TEXT NOT NULL,                 -- JSON list of the records
  since INTEGER NOT NULL,                -- time at which they were missed first
  notified TEXT                          -- the list that the owners were notified of; null: none
) STRICT;
