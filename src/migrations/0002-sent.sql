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

CREATE TABLE webhook_delivery (
  id INTEGER PRIMARY KEY AUTOINCREMENT,  -- one attempt
  account_id INTEGER NOT NULL,
  arrival_id INTEGER NOT NULL,           -- the id that the receiver saw; the same for every attempt
  email_id INTEGER NOT NULL,
  at INTEGER NOT NULL,
  url TEXT NOT NULL,
  status INTEGER,                        -- HTTP; null: no answer
  problem TEXT,                          -- why there was none, or why it does not count
  response TEXT NOT NULL,                -- how the answer begins
  duration_ms INTEGER NOT NULL
) STRICT;
CREATE INDEX webhook_delivery_account ON webhook_delivery (account_id, id);
