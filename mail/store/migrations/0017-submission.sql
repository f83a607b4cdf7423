-- JMAP: in whose name an account writes, what became of what it sent, and what it answers while its person is away.

CREATE TABLE identity (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  account_id INTEGER NOT NULL,
  key TEXT NOT NULL,                     -- its address as it is looked up
  email TEXT NOT NULL,                   -- as written
  own INTEGER NOT NULL,                  -- 1: made for an address of the account, and gone with it
  name TEXT NOT NULL,
  reply_to TEXT,                         -- JSON list of {name, email}
  bcc TEXT,
  text_signature TEXT NOT NULL,
  html_signature TEXT NOT NULL,
  created_modseq INTEGER NOT NULL,
  modseq INTEGER NOT NULL
) STRICT;
CREATE INDEX identity_account ON identity (account_id);

CREATE TABLE email_submission (
  id INTEGER PRIMARY KEY AUTOINCREMENT,  -- what an account sent by JMAP; forgotten 30 days after its end
  account_id INTEGER NOT NULL,
  trace TEXT NOT NULL UNIQUE,            -- of the message, in the queue and in the journal
  identity INTEGER NOT NULL,             -- these three may be gone, and nobody else is given their ids
  email INTEGER NOT NULL,
  thread INTEGER NOT NULL,
  mail_from TEXT NOT NULL,               -- JSON {email, parameters}
  undo TEXT NOT NULL,                    -- pending, final, canceled
  send_at INTEGER NOT NULL,
  ended_at INTEGER,                      -- nothing of it is in the queue since then
  created_modseq INTEGER NOT NULL,
  modseq INTEGER NOT NULL
) STRICT;
CREATE INDEX email_submission_account ON email_submission (account_id, modseq);
CREATE INDEX email_submission_ended ON email_submission (ended_at) WHERE ended_at IS NOT NULL;

CREATE TABLE email_submission_recipient (
  submission INTEGER NOT NULL,
  nth INTEGER NOT NULL,
  email TEXT NOT NULL,                   -- as named
  key TEXT NOT NULL,                     -- as it is looked up
  parameters TEXT,                       -- JSON
  delivered TEXT NOT NULL,               -- queued, yes, no, unknown
  reply TEXT NOT NULL,
  displayed TEXT NOT NULL DEFAULT 'unknown',
  PRIMARY KEY (submission, nth)
) STRICT, WITHOUT ROWID;

CREATE TABLE vacation (
  account_id INTEGER PRIMARY KEY,
  enabled INTEGER NOT NULL,
  from_at INTEGER,
  to_at INTEGER,
  subject TEXT,
  text_body TEXT,
  html_body TEXT
) STRICT;

CREATE TABLE vacation_job (
  id INTEGER PRIMARY KEY AUTOINCREMENT,  -- a message that came while its person is away and may get an answer
  account_id INTEGER NOT NULL,
  email_id INTEGER NOT NULL,
  at INTEGER NOT NULL
) STRICT;
CREATE INDEX vacation_job_account ON vacation_job (account_id);

CREATE TABLE vacation_answered (
  account_id INTEGER NOT NULL,
  key TEXT NOT NULL,                     -- who got an answer, as it is looked up
  at INTEGER NOT NULL,
  PRIMARY KEY (account_id, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX vacation_answered_at ON vacation_answered (at);
