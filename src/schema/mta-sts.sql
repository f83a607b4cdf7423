-- MTA-STS policies that this server publishes for its own domains (RFC 8461). A domain without a row has none.

CREATE TABLE own_sts_policy (
  domain_id INTEGER PRIMARY KEY,         -- the domain
  mode TEXT NOT NULL,                    -- none, testing or enforce
  changed_at INTEGER NOT NULL            -- time of the last change, of which the id of its TXT record is made
) STRICT;
