-- Where JMAP clients that are not connected are told of changes. RFC 8620 7.2.
CREATE TABLE push_subscription (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  credential TEXT NOT NULL,              -- whose it is: nobody else sees it
  accounts TEXT NOT NULL,                -- JSON: ids as the client knows them, with their accounts
  device TEXT NOT NULL,                  -- deviceClientId
  endpoint BLOB NOT NULL,                -- JSON of url and keys, sealed: who has it can push to the device
  types TEXT NOT NULL,                   -- JSON; null: all
  code TEXT NOT NULL,                    -- verification code
  verified INTEGER NOT NULL DEFAULT 0,
  expires_at INTEGER NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX push_subscription_credential ON push_subscription (credential);
