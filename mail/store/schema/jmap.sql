-- JMAP: states, identities, submissions, vacation replies, uploads and push.

-- Objects that were destroyed or hidden, for /changes.
CREATE TABLE tombstone (
  account_id INTEGER NOT NULL,           -- account of the object
  type TEXT NOT NULL,                    -- JMAP type: Email, Mailbox, Identity, ...
  modseq INTEGER NOT NULL,               -- mod-sequence at which it was destroyed or hidden
  object_id INTEGER NOT NULL,            -- id of the object
  thread_id INTEGER,                     -- thread of an email; null: another type
  created_modseq INTEGER NOT NULL,       -- mod-sequence of its creation
  at INTEGER NOT NULL,                   -- time, for purging
  PRIMARY KEY (account_id, type, modseq, object_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX tombstone_at ON tombstone (at);

CREATE TABLE type_state (
  account_id INTEGER NOT NULL,           -- the account
  type TEXT NOT NULL,                    -- JMAP type
  modseq INTEGER NOT NULL DEFAULT 1,     -- last change: the state of the type
  floor INTEGER NOT NULL DEFAULT 0,      -- tombstones before it are purged: cannotCalculateChanges
  PRIMARY KEY (account_id, type)
) STRICT, WITHOUT ROWID;

CREATE TABLE identity (
  id INTEGER PRIMARY KEY AUTOINCREMENT,  -- number of the identity
  account_id INTEGER NOT NULL,           -- account that it belongs to
  key TEXT NOT NULL,                     -- lookup key of its address
  email TEXT NOT NULL,                   -- address as written
  own INTEGER NOT NULL,                  -- 1: created for an address of the account and deleted with it
  name TEXT NOT NULL,                    -- display name
  reply_to TEXT,                         -- JSON list of {name, email}; null: none
  bcc TEXT,                              -- JSON list of {name, email}; null: none
  text_signature TEXT NOT NULL,          -- plain text signature
  html_signature TEXT NOT NULL,          -- HTML signature
  created_modseq INTEGER NOT NULL,       -- mod-sequence of creation
  modseq INTEGER NOT NULL                -- last change
) STRICT;
CREATE INDEX identity_account ON identity (account_id);

-- Messages sent by JMAP, purged 30 days after their end. Identity, email and thread may no longer exist.
CREATE TABLE email_submission (
  id INTEGER PRIMARY KEY AUTOINCREMENT,  -- number of the EmailSubmission
  account_id INTEGER NOT NULL,           -- account that sent it
  trace TEXT NOT NULL UNIQUE,            -- trace id in the queue and in the journal
  identity INTEGER NOT NULL,             -- identity it was sent as
  email INTEGER NOT NULL,                -- the message
  thread INTEGER NOT NULL,               -- thread of the message
  mail_from TEXT NOT NULL,               -- JSON {email, parameters}
  undo TEXT NOT NULL,                    -- undoStatus: pending, final, canceled
  send_at INTEGER NOT NULL,              -- sendAt
  ended_at INTEGER,                      -- time at which its last recipient left the queue; null: still queued
  created_modseq INTEGER NOT NULL,       -- mod-sequence of creation
  modseq INTEGER NOT NULL                -- last change
) STRICT;
CREATE INDEX email_submission_account ON email_submission (account_id, modseq);
CREATE INDEX email_submission_ended ON email_submission (ended_at) WHERE ended_at IS NOT NULL;

CREATE TABLE email_submission_recipient (
  submission INTEGER NOT NULL,           -- the EmailSubmission
  nth INTEGER NOT NULL,                  -- position in the envelope
  email TEXT NOT NULL,                   -- address as written
  key TEXT NOT NULL,                     -- lookup key of the address
  parameters TEXT,                       -- JSON of the RCPT parameters; null: none
  delivered TEXT NOT NULL,               -- queued, yes, no, unknown
  reply TEXT NOT NULL,                   -- smtpReply
  displayed TEXT NOT NULL DEFAULT 'unknown', -- unknown or yes (read receipt)
  PRIMARY KEY (submission, nth)
) STRICT, WITHOUT ROWID;

CREATE TABLE vacation (
  account_id INTEGER PRIMARY KEY,        -- the account
  enabled INTEGER NOT NULL,              -- 1: replies are sent
  from_at INTEGER,                       -- begin; null: at once
  to_at INTEGER,                         -- end; null: none
  subject TEXT,                          -- subject of the reply; null: default
  text_body TEXT,                        -- plain text of the reply; null: none
  html_body TEXT                         -- HTML of the reply; null: none
) STRICT;

-- Messages that arrived during a vacation and may get a reply.
CREATE TABLE vacation_job (
  id INTEGER PRIMARY KEY AUTOINCREMENT,  -- number of the job
  account_id INTEGER NOT NULL,           -- account on vacation
  email_id INTEGER NOT NULL,             -- message to reply to
  at INTEGER NOT NULL                    -- time of arrival
) STRICT;
CREATE INDEX vacation_job_account ON vacation_job (account_id);

CREATE TABLE vacation_reply (
  account_id INTEGER NOT NULL,           -- account on vacation
  key TEXT NOT NULL,                     -- lookup key of the sender that got a reply
  at INTEGER NOT NULL,                   -- time of the reply
  PRIMARY KEY (account_id, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX vacation_reply_at ON vacation_reply (at);

-- Uploaded octets for messages that a client is about to create (RFC 8620 6.1).
CREATE TABLE jmap_upload (
  id INTEGER PRIMARY KEY AUTOINCREMENT,  -- number of the upload
  account_id INTEGER NOT NULL,           -- account that it belongs to
  blob_id INTEGER NOT NULL,              -- the octets
  type TEXT NOT NULL,                    -- media type that the client named
  size INTEGER NOT NULL,                 -- octets
  expires_at INTEGER NOT NULL            -- time from which it is purged
) STRICT;
CREATE INDEX jmap_upload_account ON jmap_upload (account_id);
CREATE INDEX jmap_upload_blob ON jmap_upload (blob_id);
CREATE INDEX jmap_upload_expires ON jmap_upload (expires_at);

-- Push subscriptions of clients that are not connected (RFC 8620 7.2).
CREATE TABLE push_subscription (
  id INTEGER PRIMARY KEY AUTOINCREMENT,  -- number of the subscription
  credential TEXT NOT NULL,              -- credential that owns it; no other one sees it
  accounts TEXT NOT NULL,                -- JSON, JMAP account id to account number
  device TEXT NOT NULL,                  -- deviceClientId
  endpoint BLOB NOT NULL,                -- sealed JSON of url and keys: whoever has it can push to the device
  types TEXT NOT NULL,                   -- JSON list of types; JSON null: all
  code TEXT NOT NULL,                    -- verification code
  verified INTEGER NOT NULL DEFAULT 0,   -- 1: the client returned the code
  expires_at INTEGER NOT NULL,           -- time from which it is purged
  created_at INTEGER NOT NULL            -- time of creation
) STRICT;
CREATE INDEX push_subscription_credential ON push_subscription (credential);
