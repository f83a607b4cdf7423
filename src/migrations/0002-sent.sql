-- What programs sent: POST /api/email/send, and what agents send. How it went is in the engine's journal, by its trace.
CREATE TABLE sent_email (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  organization_id INTEGER NOT NULL,
  credential TEXT NOT NULL,              -- public id of the key or token that sent it
  trace TEXT NOT NULL UNIQUE,
  message_id TEXT NOT NULL,              -- Message-ID, with angle brackets
  sender TEXT NOT NULL,
  recipients TEXT NOT NULL,              -- JSON list of {address, state}: queued, suppressed
  subject TEXT NOT NULL,
  tags TEXT NOT NULL,                    -- JSON object
  created_at INTEGER NOT NULL,
  scheduled_at INTEGER,
  cancelled_at INTEGER
) STRICT;
CREATE INDEX sent_email_organization ON sent_email (organization_id, id);

CREATE TABLE idempotency (
  credential TEXT NOT NULL,
  key TEXT NOT NULL,
  request BLOB NOT NULL,                 -- SHA-256 of what was asked
  sent_id INTEGER NOT NULL,
  created_at INTEGER NOT NULL,           -- good for 24 hours
  PRIMARY KEY (credential, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX idempotency_created ON idempotency (created_at);
