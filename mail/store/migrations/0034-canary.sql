-- Honeytokens that people laid out: who opens one, sends it or writes to it looked for what no task asked for.
CREATE TABLE canary (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  tenant INTEGER NOT NULL,
  account_id INTEGER NOT NULL,
  label TEXT NOT NULL,                   -- what its people call it
  email_id INTEGER,                      -- the message that is one; null: there is none, or none any more
  address_key TEXT,                      -- an address of its own; null: it has none
  domain_id INTEGER,
  digest BLOB,                           -- of its honeytoken, as in shown_secret: nothing here says what it is; null: none
  length INTEGER,
  print INTEGER,
  made_by TEXT NOT NULL,                 -- the person, as the appliance names them
  made_at INTEGER NOT NULL
) STRICT;
CREATE INDEX canary_account ON canary (account_id);
CREATE INDEX canary_tenant ON canary (tenant);
CREATE INDEX canary_email ON canary (email_id) WHERE email_id IS NOT NULL;
CREATE UNIQUE INDEX canary_address ON canary (address_key) WHERE address_key IS NOT NULL;

-- Who went to one, once each, until a person has looked at it.
CREATE TABLE canary_trip (
  canary_id INTEGER NOT NULL,
  credential TEXT NOT NULL,              -- public id of a token, or of the mailbox whose password it was; '': nobody knows
  at INTEGER NOT NULL,
  door TEXT NOT NULL,
  what TEXT NOT NULL,                    -- opened, shown, sent, written-to
  detail TEXT NOT NULL,                  -- JSON: recipients, or who wrote
  told_at INTEGER,                       -- its owners were: null, they are to be
  settled_at INTEGER,
  PRIMARY KEY (canary_id, credential)
) STRICT, WITHOUT ROWID;
CREATE INDEX canary_trip_untold ON canary_trip (at) WHERE told_at IS NULL;
CREATE INDEX canary_trip_open ON canary_trip (credential) WHERE settled_at IS NULL;
