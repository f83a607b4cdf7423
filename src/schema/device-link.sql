-- Links that set up one device: the first use creates an app password for it.

CREATE TABLE device_link (
  token_hash BLOB PRIMARY KEY,           -- SHA-256 of its token
  account_id INTEGER NOT NULL,           -- the mailbox
  address TEXT NOT NULL,                 -- address that the device uses
  name TEXT NOT NULL,                    -- name of the device, which becomes that of the app password
  created_by TEXT NOT NULL,              -- public id of the person
  expires_at INTEGER NOT NULL,           -- time at which it expires
  used_at INTEGER                        -- time of use; null: unused
) STRICT, WITHOUT ROWID;
CREATE INDEX device_link_account ON device_link (account_id);
CREATE INDEX device_link_expires ON device_link (expires_at);
