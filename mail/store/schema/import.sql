-- Imports: mail that was moved in from files or from another server.

-- Emails that were imported. Their authors are unknown: agents treat them as mail from outside.
CREATE TABLE imported_email (
  email_id INTEGER PRIMARY KEY           -- the message, or a copy of one
) STRICT;

-- Contents that were imported into a mailbox, so that a second import adds nothing twice.
CREATE TABLE imported_content (
  mailbox_id INTEGER NOT NULL,           -- mailbox that it was imported into
  hash BLOB NOT NULL,                    -- first 16 octets of the SHA-256 of its octets
  nth INTEGER NOT NULL,                  -- number of this copy, from 1: a source may have a content more than once
  email_id INTEGER NOT NULL,             -- the message, which may be deleted
  pass INTEGER NOT NULL,                 -- last pass over a source that found this copy
  PRIMARY KEY (mailbox_id, hash, nth)
) STRICT, WITHOUT ROWID;

-- Accounts of other servers that are pulled by IMAP.
CREATE TABLE import_source (
  id INTEGER PRIMARY KEY AUTOINCREMENT,  -- number of the source
  account_id INTEGER NOT NULL,           -- account that it is pulled into
  key TEXT NOT NULL,                     -- user and host, in lower case
  UNIQUE (account_id, key)
) STRICT;

CREATE TABLE import_folder (
  id INTEGER PRIMARY KEY AUTOINCREMENT,  -- number of the folder
  source_id INTEGER NOT NULL,            -- source that has the folder
  name TEXT NOT NULL,                    -- name at the source
  uidvalidity TEXT NOT NULL,             -- UIDVALIDITY at the source; another one is another folder
  mailbox_id INTEGER NOT NULL,           -- mailbox that it is pulled into
  UNIQUE (source_id, name, uidvalidity)
) STRICT;

-- Messages of a source that were pulled: UIDs that are here are not fetched again.
CREATE TABLE import_uid (
  folder_id INTEGER NOT NULL,            -- folder of the source
  uid INTEGER NOT NULL,                  -- UID there
  hash BLOB NOT NULL,                    -- imported_content.hash
  nth INTEGER NOT NULL,                  -- imported_content.nth
  email_id INTEGER NOT NULL,             -- the message
  flags TEXT NOT NULL,                   -- flags at the source at the last pass, sorted
  PRIMARY KEY (folder_id, uid)
) STRICT, WITHOUT ROWID;
CREATE INDEX import_uid_hash ON import_uid (folder_id, hash);

CREATE TABLE import_job (
  id INTEGER PRIMARY KEY AUTOINCREMENT,  -- number of the job
  tenant INTEGER NOT NULL,               -- organization of the account
  account_id INTEGER NOT NULL,           -- account that it imports into
  kind TEXT NOT NULL,                    -- file or imap
  spec TEXT NOT NULL,                    -- JSON of the source, without secrets
  secret BLOB,                           -- sealed password or token; null: none, or the job ended
  state TEXT NOT NULL,                   -- waiting, running, done, failed or cancelled
  progress TEXT NOT NULL,                -- JSON of counts
  report TEXT NOT NULL,                  -- JSON: problems by name, and the proof
  by TEXT NOT NULL,                      -- public id of the actor
  created_at INTEGER NOT NULL,           -- time of creation
  ended_at INTEGER                       -- time of its end; null: not ended
) STRICT;
CREATE INDEX import_job_tenant ON import_job (tenant, id);
CREATE INDEX import_job_open ON import_job (id) WHERE ended_at IS NULL;
