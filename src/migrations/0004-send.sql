-- The answer to a request, so that the same request again gets the same answer.
ALTER TABLE sent_email ADD COLUMN sha256 TEXT NOT NULL DEFAULT '';
ALTER TABLE sent_email ADD COLUMN metadata TEXT NOT NULL DEFAULT '{}'; -- JSON object, the sender's own
ALTER TABLE sent_email ADD COLUMN held_because TEXT;                   -- when it was taken
ALTER TABLE sent_email ADD COLUMN outbox_id INTEGER;                   -- of the engine's submission, while it waited then
CREATE INDEX sent_email_created ON sent_email (created_at);

-- The engine keeps what was sent before: every door asks it.
INSERT INTO sent_before (credential, key, request, trace, guess, expires_at)
  SELECT i.credential, 'key ' || i.key, i.request, s.trace, 0, i.created_at + 86400000
  FROM idempotency i JOIN sent_email s ON s.id = i.sent_id WHERE true ON CONFLICT DO NOTHING;
DROP TABLE idempotency;

-- A key may ask that what it sends twice within ten minutes goes out once.
ALTER TABLE api_key ADD COLUMN guesses_duplicates INTEGER NOT NULL DEFAULT 0;

CREATE TABLE template (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  organization_id INTEGER NOT NULL,
  name TEXT NOT NULL,
  version INTEGER NOT NULL,              -- the newest
  created_at INTEGER NOT NULL,
  UNIQUE (organization_id, name)
) STRICT;

CREATE TABLE template_version (
  template_id INTEGER NOT NULL,
  version INTEGER NOT NULL,
  subject TEXT NOT NULL,
  text TEXT,
  html TEXT,
  created_by TEXT NOT NULL,              -- public id
  created_at INTEGER NOT NULL,
  PRIMARY KEY (template_id, version)
) STRICT, WITHOUT ROWID;

-- Files for messages that are still to be written; each belongs to the credential that put it there.
CREATE TABLE upload (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  organization_id INTEGER NOT NULL,
  credential TEXT NOT NULL,              -- public id
  name TEXT NOT NULL,                    -- which the credential chose
  blob_id INTEGER NOT NULL,
  size INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  UNIQUE (credential, name)
) STRICT;
CREATE INDEX upload_expires ON upload (expires_at);
CREATE INDEX upload_blob ON upload (blob_id);
