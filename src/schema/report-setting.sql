-- What follows from reports about hosted domains.

-- DMARC policy that the record of a domain is to publish. A domain without a row: none.
CREATE TABLE own_dmarc_policy (
  domain_id INTEGER PRIMARY KEY,         -- the domain
  policy TEXT NOT NULL,                  -- none, quarantine or reject
  changed_at INTEGER NOT NULL            -- time of the last change
) STRICT;

-- Domains whose MTA-STS policy is not enforced without a person, although reports have no failures.
CREATE TABLE sts_walk_off (
  domain_id INTEGER PRIMARY KEY,         -- the domain
  since INTEGER NOT NULL                 -- time of the change
) STRICT;

-- Failing sources that owners were notified of.
CREATE TABLE report_alarm (
  domain_id INTEGER NOT NULL,            -- the domain
  source TEXT NOT NULL,                  -- IP address
  notified_at INTEGER NOT NULL,          -- time of the notice
  PRIMARY KEY (domain_id, source)
) STRICT, WITHOUT ROWID;
CREATE INDEX report_alarm_notified ON report_alarm (notified_at);
