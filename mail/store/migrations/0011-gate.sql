-- Messages that wait as a whole, for their time or for a person. Where their recipients lead is decided when they go:
-- mailboxes and forwards come and leave meanwhile.
ALTER TABLE scheduled ADD COLUMN recipients TEXT NOT NULL DEFAULT '[]'; -- JSON list of addresses
UPDATE scheduled SET recipients = (
  SELECT json_group_array(address) FROM (
    SELECT value ->> 'to' AS address FROM json_each(here)
    UNION SELECT value ->> 'recipient' FROM json_each(elsewhere)
    UNION SELECT value -> 'row' ->> 'recipient' FROM json_each(onward)));
ALTER TABLE scheduled DROP COLUMN here;
ALTER TABLE scheduled DROP COLUMN elsewhere;
ALTER TABLE scheduled DROP COLUMN onward;
ALTER TABLE scheduled DROP COLUMN hold;
-- Why it waits for a person, whatever its time is.
ALTER TABLE scheduled ADD COLUMN held_because TEXT;
-- It could not be sent so often.
ALTER TABLE scheduled ADD COLUMN attempts INTEGER NOT NULL DEFAULT 0;
-- Account whose Sent mailbox gets a copy when it leaves.
ALTER TABLE scheduled ADD COLUMN copy_for INTEGER;
-- A program's: it goes to nobody who is suppressed when it leaves.
ALTER TABLE scheduled ADD COLUMN spares INTEGER NOT NULL DEFAULT 1;

-- What a credential sent already, so that the same request again sends nothing.
CREATE TABLE sent_before (
  credential TEXT NOT NULL,
  key TEXT NOT NULL,                     -- of the caller, or made from what is sent
  request BLOB NOT NULL,                 -- SHA-256 of what was asked
  trace TEXT NOT NULL,                   -- of the message
  guess INTEGER NOT NULL,                -- 1: nobody gave a key, it only looks the same
  expires_at INTEGER NOT NULL,
  PRIMARY KEY (credential, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX sent_before_expires ON sent_before (expires_at);
CREATE INDEX sent_before_trace ON sent_before (trace);

-- How much somebody sent lately, in stretches of ten minutes: at most 145 rows for a day.
CREATE TABLE budget_use (
  subject TEXT NOT NULL,                 -- account/12, tenant/3, the public id of a key
  stretch INTEGER NOT NULL,              -- begin, ms UTC
  messages INTEGER NOT NULL,             -- one a recipient
  new_recipients INTEGER NOT NULL,
  PRIMARY KEY (subject, stretch)
) STRICT, WITHOUT ROWID;
CREATE INDEX budget_use_stretch ON budget_use (stretch);
-- When the next message of a steady stream would be due (GCRA): the whole memory of a rate.
CREATE TABLE budget_rate (
  subject TEXT PRIMARY KEY,
  due_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
-- Whom a mailbox has written to.
CREATE TABLE correspondent (
  account_id INTEGER NOT NULL,
  key TEXT NOT NULL,                     -- address as it is looked up
  since INTEGER NOT NULL,
  PRIMARY KEY (account_id, key)
) STRICT, WITHOUT ROWID;

-- A message that waits is asked for by its trace id.
CREATE INDEX submission_trace ON submission (trace);
