-- Limits of sending: suppressed recipients, budgets, duplicates and anomalies.

-- Recipients that programs of a tenant may not send to.
CREATE TABLE suppression (
  tenant INTEGER NOT NULL,               -- organization that does not send
  key TEXT NOT NULL,                     -- lookup key of the recipient
  reason TEXT NOT NULL,                  -- hard_bounce, complaint, manual, unsubscribe
  source TEXT NOT NULL,                  -- trace id that caused it, or the actor that added it
  at INTEGER NOT NULL,                   -- time of suppression
  reply_text TEXT NOT NULL DEFAULT '',   -- reply of the remote; '' for none
  trace TEXT NOT NULL DEFAULT '',        -- message that caused it; '' for none
  PRIMARY KEY (tenant, key)
) STRICT, WITHOUT ROWID;

-- Recipients that unsubscribed by the link in a message. Separate from suppression: removing one leaves the other.
CREATE TABLE unsubscription (
  tenant INTEGER NOT NULL,               -- organization that does not send
  key TEXT NOT NULL,                     -- lookup key of the recipient
  trace TEXT NOT NULL,                   -- message with the link
  at INTEGER NOT NULL,                   -- time of the request
  PRIMARY KEY (tenant, key)
) STRICT, WITHOUT ROWID;

-- Idempotency keys of sent requests, so that a repeated request sends nothing.
CREATE TABLE idempotency (
  credential TEXT NOT NULL,              -- public id of the credential
  key TEXT NOT NULL,                     -- idempotency key of the caller, or a hash of the message
  request BLOB NOT NULL,                 -- SHA-256 of the request
  trace TEXT NOT NULL,                   -- trace id of the message
  by_content INTEGER NOT NULL,           -- 1: hash of the content, since the caller gave no key
  expires_at INTEGER NOT NULL,           -- time from which the request counts as new
  PRIMARY KEY (credential, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX idempotency_expires ON idempotency (expires_at);
CREATE INDEX idempotency_trace ON idempotency (trace);

-- Messages of the last day in intervals of ten minutes: at most 145 rows for a subject.
CREATE TABLE budget_use (
  subject TEXT NOT NULL,                 -- account/12, tenant/3 or the public id of a key
  interval_start INTEGER NOT NULL,       -- begin of the interval
  messages INTEGER NOT NULL,             -- messages, one for each recipient
  new_recipients INTEGER NOT NULL,       -- recipients that the subject never wrote to before
  PRIMARY KEY (subject, interval_start)
) STRICT, WITHOUT ROWID;
CREATE INDEX budget_use_interval ON budget_use (interval_start);

-- Rate limits by GCRA, whose only state is the due time.
CREATE TABLE budget_rate (
  subject TEXT PRIMARY KEY,              -- as in budget_use
  due_at INTEGER NOT NULL                -- time at which the next message of a steady stream is due
) STRICT, WITHOUT ROWID;

-- Recent messages of tenants with a sending limit; others have no rows.
CREATE TABLE sending_count (
  tenant INTEGER NOT NULL,               -- organization with the limit
  subject TEXT NOT NULL,                 -- '' counts a message; else the key of a recipient, at the first message to it
  at INTEGER NOT NULL,                   -- time
  nth INTEGER NOT NULL,                  -- distinguishes rows of the same millisecond
  PRIMARY KEY (tenant, subject, at, nth)
) STRICT, WITHOUT ROWID;
CREATE INDEX sending_count_at ON sending_count (tenant, at);

-- Addresses that an account has written to.
CREATE TABLE correspondent (
  account_id INTEGER NOT NULL,           -- the account
  key TEXT NOT NULL,                     -- lookup key of the address
  since INTEGER NOT NULL,                -- time of the first message to it
  contacted_at INTEGER,                  -- time of the first delivered message that was no automatic reply; null: never
  PRIMARY KEY (account_id, key)
) STRICT, WITHOUT ROWID;

-- Figures of a sender for the anomaly check: ten-minute intervals for an hour, days for two weeks.
CREATE TABLE sender_use (
  sender TEXT NOT NULL,                  -- submission.sent_by
  span INTEGER NOT NULL,                 -- 0 ten minutes, 1 a day
  begin INTEGER NOT NULL,                -- begin of the interval
  recipients INTEGER NOT NULL DEFAULT 0, -- outside recipients
  new_recipients INTEGER NOT NULL DEFAULT 0, -- recipients among them that the sender never wrote to before
  bounced INTEGER NOT NULL DEFAULT 0,    -- recipients that do not exist
  complaints INTEGER NOT NULL DEFAULT 0, -- complaints received
  suppressed INTEGER NOT NULL DEFAULT 0, -- recipients that were skipped as suppressed
  PRIMARY KEY (sender, span, begin)
) STRICT, WITHOUT ROWID;
CREATE INDEX sender_use_begin ON sender_use (span, begin);

-- Paused senders, and those resumed a short time ago.
CREATE TABLE paused_sender (
  sender TEXT PRIMARY KEY,               -- submission.sent_by
  tenant INTEGER NOT NULL,               -- organization that sends
  account_id INTEGER,                    -- account that sends; null: a program
  paused_at INTEGER,                     -- time of the pause; null: resumed
  reason TEXT NOT NULL,                  -- reason, a sentence without its full stop
  figures TEXT NOT NULL,                 -- JSON: counters and the limits that they exceeded
  notified_at INTEGER,                   -- time at which the owners were notified of this pause; null: not yet
  relaxed_until INTEGER NOT NULL DEFAULT 0 -- end of the raised limits after a resume
) STRICT, WITHOUT ROWID;
CREATE INDEX paused_sender_tenant ON paused_sender (tenant, sender) WHERE paused_at IS NOT NULL;
CREATE INDEX paused_sender_unnotified ON paused_sender (sender) WHERE paused_at IS NOT NULL AND notified_at IS NULL;
