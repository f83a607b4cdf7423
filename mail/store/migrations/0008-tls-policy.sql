-- The sender asked for TLS all the way: REQUIRETLS, RFC 8689.
ALTER TABLE submission ADD COLUMN require_tls INTEGER NOT NULL DEFAULT 0;
-- How the connection of the last attempt was protected.
ALTER TABLE queue ADD COLUMN last_tls TEXT;

-- MTA-STS policies of other domains: what was once fetched counts until it expires, whoever is in the way now.
CREATE TABLE sts_policy (
  domain TEXT PRIMARY KEY,               -- A-labels
  id TEXT NOT NULL,                      -- of the TXT record that it was fetched for
  mode TEXT NOT NULL,                    -- enforce, testing, none
  mx TEXT NOT NULL,                      -- JSON list of patterns
  strings TEXT NOT NULL,                 -- JSON list of its lines, for reports
  fetched_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  used_at INTEGER NOT NULL               -- to within a day: what nobody writes to is not kept fresh
) STRICT, WITHOUT ROWID;
CREATE INDEX sts_policy_fetched ON sts_policy (fetched_at);
CREATE INDEX sts_policy_expires ON sts_policy (expires_at);

-- How connections to other domains went, by day, in the words of TLS-RPT (RFC 8460).
CREATE TABLE tls_result (
  day INTEGER NOT NULL,                  -- days since 1970, UTC
  domain TEXT NOT NULL,                  -- whose policy it is
  policy_type TEXT NOT NULL,             -- tlsa, sts, no-policy-found
  policy TEXT NOT NULL,                  -- JSON list of its strings
  result TEXT NOT NULL,                  -- success, or what failed
  mx TEXT NOT NULL,                      -- '' when no server was reached, or there are too many to tell apart
  ip TEXT NOT NULL,
  own_ip TEXT NOT NULL,                  -- where the connection was made from
  sessions INTEGER NOT NULL,
  PRIMARY KEY (day, domain, policy_type, policy, result, mx, ip, own_ip)
) STRICT, WITHOUT ROWID;
