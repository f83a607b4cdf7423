-- What agents read that outsiders wrote, and what they sent: the gate decides by it.

-- Who is exposed: one row for all that a token and those that it made read, or that is read with a mailbox's password.
CREATE TABLE exposed (
  reader TEXT PRIMARY KEY,               -- public id of a token or of a mailbox
  tenant INTEGER NOT NULL,
  by_password INTEGER NOT NULL,
  since INTEGER NOT NULL,                -- of the first, with never a day without one from then on
  last_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX exposed_tenant ON exposed (tenant, last_at);
CREATE INDEX exposed_last ON exposed (last_at);

-- The newest of it, by which a decision is explained.
CREATE TABLE exposure (
  reader TEXT NOT NULL,
  email_id INTEGER NOT NULL,
  account_id INTEGER NOT NULL,
  credential TEXT NOT NULL,              -- which of the reader's it was
  author TEXT NOT NULL,                  -- address in From as it is compared, '' for none
  verdict TEXT NOT NULL,                 -- clear, suspicious, quarantined
  authentic INTEGER NOT NULL,            -- 1: the author's domain vouches for it
  at INTEGER NOT NULL,
  PRIMARY KEY (reader, email_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX exposure_at ON exposure (reader, at);
CREATE INDEX exposure_account ON exposure (account_id);

-- What agents sent, or asked to send, with what was decided: budgets count it, and explain_decision shows it.
CREATE TABLE agent_send (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  trace TEXT NOT NULL UNIQUE,
  tenant INTEGER NOT NULL,
  account_id INTEGER,
  reader TEXT NOT NULL,
  credential TEXT NOT NULL,
  outcome TEXT NOT NULL,                 -- taken, scheduled, held
  reasons TEXT NOT NULL,                 -- JSON, mail/delivery/agent/types.ts Reason[]
  exposure TEXT NOT NULL,                -- JSON, mail/store/exposure.ts ReadMail[]: the newest that had been read
  thread_id INTEGER,                     -- of what it answers
  weight INTEGER NOT NULL,               -- messages that it counts for
  fresh INTEGER NOT NULL,                -- recipients who were never written to before
  size INTEGER NOT NULL,
  at INTEGER NOT NULL
) STRICT;
CREATE INDEX agent_send_reader ON agent_send (reader, at);
CREATE INDEX agent_send_credential ON agent_send (credential, at);
CREATE INDEX agent_send_account ON agent_send (account_id, thread_id, at);
CREATE INDEX agent_send_at ON agent_send (at);
CREATE INDEX agent_send_tenant ON agent_send (tenant, at);

-- Messages that a mailbox of this box sent to one of this box: their author was logged in.
CREATE TABLE written_here (
  email_id INTEGER PRIMARY KEY,
  tenant INTEGER NOT NULL                -- of who wrote it
) STRICT;

-- Mail to them has really left, and was no automatic answer.
ALTER TABLE correspondent ADD COLUMN reached_at INTEGER;
UPDATE correspondent SET reached_at = since WHERE account_id > 0;
