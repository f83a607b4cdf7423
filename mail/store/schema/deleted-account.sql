-- Deleted accounts that can be restored until they are purged. account.state: 0 frozen, 1 active, 2 being purged, 3 deleted.

CREATE TABLE deleted_account (
  account_id INTEGER PRIMARY KEY,        -- the account, in state 3
  tenant INTEGER NOT NULL,               -- organization that owns it
  key TEXT NOT NULL,                     -- lookup key of its address
  kept TEXT NOT NULL,                    -- JSON of the rows that were removed with it and come back when it is restored
  deleted_at INTEGER NOT NULL,           -- time of deletion
  purge_at INTEGER NOT NULL,             -- time at which it is purged
  deleted_by TEXT NOT NULL               -- public id of the actor
) STRICT;
CREATE INDEX deleted_account_tenant ON deleted_account (tenant);
CREATE INDEX deleted_account_purge ON deleted_account (purge_at);

-- Addresses of deleted accounts, with the aliases that led only to them. Mail for them is rejected, whatever catch-all
-- there is.
CREATE TABLE deleted_address (
  key TEXT NOT NULL,                     -- lookup key
  account_id INTEGER NOT NULL,           -- the deleted account
  tenant INTEGER NOT NULL,               -- organization that owns it
  PRIMARY KEY (key, account_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX deleted_address_account ON deleted_address (account_id);
