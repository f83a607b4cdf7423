-- Forwards from an address to another one.

CREATE TABLE forwarder (
  id INTEGER PRIMARY KEY AUTOINCREMENT,  -- number of the forward
  organization_id INTEGER NOT NULL,      -- organization that owns it, the same number as a tenant
  domain_id INTEGER NOT NULL,            -- domain of the source
  source TEXT NOT NULL,                  -- source address as written
  source_key TEXT NOT NULL,              -- lookup key of the source
  destination TEXT NOT NULL,             -- destination address as written
  destination_key TEXT NOT NULL,         -- lookup key of the destination
  keep_local INTEGER NOT NULL,           -- 1: the account receives a copy
  created_at INTEGER NOT NULL,           -- time of creation
  pending INTEGER NOT NULL DEFAULT 0,    -- 1: awaits confirmation by the destination
  stopped INTEGER NOT NULL DEFAULT 0,    -- 1: its organization is frozen
  confirm_hash BLOB,              -- SHA-256 of the token in the confirmation link, stored after use; null: not required
  confirm_until INTEGER,                 -- time at which the link expires
  set_by TEXT,                         -- token that created it: codes and reset links are not forwarded; null: a person
  UNIQUE (organization_id, source_key, destination_key)
) STRICT;
CREATE INDEX forwarder_source ON forwarder (source_key);
CREATE INDEX forwarder_domain ON forwarder (domain_id);
CREATE INDEX forwarder_confirm ON forwarder (confirm_hash) WHERE confirm_hash IS NOT NULL;

CREATE TABLE forward_count (
  day INTEGER NOT NULL,                  -- days since 1970, UTC
  source TEXT NOT NULL,                  -- lookup key of the source
  copies INTEGER NOT NULL,               -- number of copies forwarded
  PRIMARY KEY (day, source)
) STRICT, WITHOUT ROWID;
