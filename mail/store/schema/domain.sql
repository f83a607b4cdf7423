-- Domains, their DKIM keys, MTA-STS policies and TLS results of other domains.

CREATE TABLE domain (
  id INTEGER PRIMARY KEY AUTOINCREMENT,  -- number of the claim
  tenant INTEGER NOT NULL,               -- organization that claims the domain
  name TEXT NOT NULL,                    -- A-labels, lower case
  state INTEGER NOT NULL DEFAULT 0,      -- 0 unverified, 1 verified
  created_at INTEGER NOT NULL,           -- time of the claim
  verified_at INTEGER,                   -- time of verification; null: unverified
  paused_at INTEGER                      -- sending is paused since, as its records are wrong; it still receives
) STRICT;
CREATE INDEX domain_name ON domain (name);
-- Several tenants may claim a domain, but only one can be verified.
CREATE UNIQUE INDEX domain_verified ON domain (name) WHERE state = 1;

CREATE TABLE dkim_key (
  id INTEGER PRIMARY KEY AUTOINCREMENT,  -- number of the key
  domain_id INTEGER NOT NULL,            -- domain that it signs for
  selector TEXT NOT NULL,                -- DKIM selector
  algorithm TEXT NOT NULL,               -- 'rsa-sha256' or 'ed25519-sha256'
  private BLOB NOT NULL,                 -- PKCS#8 PEM, sealed for (domain_id, selector)
  public TEXT NOT NULL,                  -- TXT value to publish
  state INTEGER NOT NULL DEFAULT 1,      -- 0 published, not yet seen in DNS; 1 signs; 2 retired
  created_at INTEGER NOT NULL,           -- time of creation
  retired_at INTEGER,                    -- time of replacement; it stays published for mail in transit, then is deleted
  UNIQUE (domain_id, selector)
) STRICT;

-- MTA-STS policies (RFC 8461). A policy applies until it expires, even if an attacker blocks the next fetch.
CREATE TABLE sts_policy (
  domain TEXT PRIMARY KEY,               -- domain with the policy, A-labels
  id TEXT NOT NULL,                      -- id of the TXT record that it was fetched for
  mode TEXT NOT NULL,                    -- enforce, testing or none
  mx TEXT NOT NULL,                      -- JSON list of MX patterns
  strings TEXT NOT NULL,                 -- JSON list of its lines, for TLS reports
  fetched_at INTEGER NOT NULL,           -- time of the last successful fetch
  expires_at INTEGER NOT NULL,           -- time from which it no longer applies
  used_at INTEGER NOT NULL,              -- last use, to within a day; unused policies are not refreshed
  refresh_at INTEGER NOT NULL DEFAULT 0, -- time of the next fetch
  failures INTEGER NOT NULL DEFAULT 0    -- failed fetches in a row; the next one is later each time
) STRICT, WITHOUT ROWID;
CREATE INDEX sts_policy_refresh ON sts_policy (refresh_at) WHERE failures = 0;
CREATE INDEX sts_policy_expires ON sts_policy (expires_at);
CREATE INDEX sts_policy_retry ON sts_policy (refresh_at) WHERE failures > 0;

-- Results of outgoing TLS connections by day, in the terms of TLS-RPT (RFC 8460).
CREATE TABLE tls_result (
  day INTEGER NOT NULL,                  -- days since 1970, UTC
  domain TEXT NOT NULL,                  -- domain that publishes the policy
  policy_type TEXT NOT NULL,             -- tlsa, sts or no-policy-found
  policy TEXT NOT NULL,                  -- JSON list of the policy's strings
  result TEXT NOT NULL,                  -- 'success', or the failure type
  mx TEXT NOT NULL,                      -- MX host; '' when none was reached or there are too many
  ip TEXT NOT NULL,                      -- address of the MX host
  own_ip TEXT NOT NULL,                  -- local address of the connection
  sessions INTEGER NOT NULL,             -- number of connections
  PRIMARY KEY (day, domain, policy_type, policy, result, mx, ip, own_ip)
) STRICT, WITHOUT ROWID;
