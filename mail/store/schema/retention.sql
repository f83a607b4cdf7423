-- Retention: how long deleted mail is kept, what is deleted by age, and accounts of which nothing is purged.

-- Names of mailboxes that were deleted, so that their messages can be restored to their place.
CREATE TABLE deleted_mailbox (
  mailbox_id INTEGER PRIMARY KEY,        -- the mailbox
  path TEXT NOT NULL                     -- its full name when it was deleted
) STRICT;

-- Settings of a tenant; without a row it has the defaults.
CREATE TABLE retention_setting (
  tenant INTEGER PRIMARY KEY,            -- the tenant
  deleted_days INTEGER NOT NULL,         -- days for which deleted messages can be restored
  trash_days INTEGER,                    -- age at which messages in the trash are deleted; null: never
  junk_days INTEGER                      -- age at which messages in Junk are deleted; null: never
) STRICT;

-- Rules for other folders.
CREATE TABLE retention_rule (
  tenant INTEGER NOT NULL,               -- the tenant
  folder TEXT NOT NULL,                  -- full name of the folder, in all mailboxes of the tenant
  days INTEGER NOT NULL,                 -- age at which its messages are deleted
  PRIMARY KEY (tenant, folder)
) STRICT, WITHOUT ROWID;

-- Accounts under legal hold: nothing of them is purged.
CREATE TABLE legal_hold (
  account_id INTEGER PRIMARY KEY,        -- the account
  tenant INTEGER NOT NULL,               -- its tenant
  reason TEXT NOT NULL,                  -- reason in words
  held_by TEXT NOT NULL,                 -- public id of the person who placed it
  held_at INTEGER NOT NULL               -- time of that
) STRICT;
CREATE INDEX legal_hold_tenant ON legal_hold (tenant);
