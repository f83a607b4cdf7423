-- The outgoing queue: submissions, one row for each recipient, attempts and routes.

-- One outgoing message for all its recipients.
CREATE TABLE submission (
  id INTEGER PRIMARY KEY AUTOINCREMENT,  -- number of the submission
  trace TEXT NOT NULL,                   -- trace id in logs and journal
  tenant INTEGER NOT NULL,               -- organization that sends
  account_id INTEGER,                    -- account that sends; null: the server itself
  blob_id INTEGER NOT NULL,              -- its octets
  sender TEXT NOT NULL,                  -- envelope sender; '' is the null reverse-path
  smtputf8 INTEGER NOT NULL,             -- 1: needs SMTPUTF8 (RFC 6531)
  eight_bit INTEGER NOT NULL,            -- 1: needs 8BITMIME (RFC 6152)
  ret TEXT NOT NULL,                     -- DSN RET: FULL, HDRS or ''
  envid TEXT NOT NULL,                   -- DSN ENVID
  sign_as TEXT NOT NULL,               -- signing domains, space separated; '': the envelope sender's, else the server's
  size INTEGER NOT NULL,                 -- octets
  created_at INTEGER NOT NULL,           -- time of acceptance
  prefix TEXT NOT NULL DEFAULT '',      -- header lines of this submission only, before the blob; one character an octet
  arc TEXT NOT NULL DEFAULT '',          -- ARC result of a forwarded message: none, pass, fail; '': add no seal
  require_tls INTEGER NOT NULL DEFAULT 0, -- 1: REQUIRETLS (RFC 8689)
  signers TEXT NOT NULL DEFAULT '{}', -- JSON, domain to tenant at acceptance; a domain that changed owner does not sign
  sent_by TEXT NOT NULL DEFAULT ''    -- subject of the anomaly check: account/12 or the public id of a key; '' for none
) STRICT;
CREATE INDEX submission_blob ON submission (blob_id);
CREATE INDEX submission_trace ON submission (trace);
CREATE INDEX submission_sent_by ON submission (sent_by) WHERE sent_by <> '';

-- One recipient that is not delivered yet. The row is deleted with the final result.
CREATE TABLE queue (
  id INTEGER PRIMARY KEY AUTOINCREMENT,  -- number of the row
  submission_id INTEGER NOT NULL,        -- the message
  recipient TEXT NOT NULL,               -- envelope recipient
  domain TEXT NOT NULL,                  -- destination, A-labels
  state INTEGER NOT NULL,                -- 0 due at next_at, 1 held
  hold_reason TEXT,                      -- reason for the hold; null: not held
  next_at INTEGER NOT NULL,              -- time of the next attempt
  attempts INTEGER NOT NULL DEFAULT 0,   -- number of attempts
  notify TEXT NOT NULL,                  -- DSN NOTIFY
  orcpt TEXT NOT NULL,                   -- DSN ORCPT
  dsn_sent INTEGER NOT NULL DEFAULT 0,   -- 0 no DSN, 1 delay DSN sent, 2 final DSN sent
  last_at INTEGER,                       -- time of the last attempt
  last_status TEXT,                      -- enhanced status code of the last attempt
  last_text TEXT,                        -- reply text of the last attempt
  created_at INTEGER NOT NULL,           -- time of creation
  fallback_account INTEGER,           -- account that gets the message if delivery of a forward without local copy fails
  last_tls TEXT,                         -- protection of the last attempt's connection
  lane_id INTEGER NOT NULL DEFAULT 0,    -- row of queue_lane
  route INTEGER                      -- null: by the routes; 0 direct, -1 the server's smarthost, else an outbound_route
) STRICT;
CREATE INDEX queue_lane_rows ON queue (lane_id, state, next_at);
CREATE INDEX queue_submission ON queue (submission_id);

-- Rows of one sender for one destination. The worker reads lanes, not rows: its cost does not depend on the length of
-- the queue, and many rows of one sender do not delay the few of another.
CREATE TABLE queue_lane (
  id INTEGER PRIMARY KEY AUTOINCREMENT,  -- number of the lane
  owner INTEGER NOT NULL,                -- sender for fair scheduling: the account, or minus the tenant without one
  tenant INTEGER NOT NULL,               -- organization that sends
  domain TEXT NOT NULL,                  -- destination, A-labels
  next_at INTEGER,                       -- time at which its first row is due; null: all are held
  UNIQUE (owner, domain)
) STRICT;
CREATE INDEX queue_lane_owner ON queue_lane (owner, next_at);
CREATE INDEX queue_lane_next ON queue_lane (next_at);

-- Triggers set next_at of a lane to the earliest of its rows, whichever command writes them.
CREATE TRIGGER queue_added AFTER INSERT ON queue WHEN new.state = 0 BEGIN
  UPDATE queue_lane SET next_at = new.next_at WHERE id = new.lane_id AND (next_at IS NULL OR next_at > new.next_at);
END;
CREATE TRIGGER queue_rescheduled AFTER UPDATE OF state, next_at ON queue BEGIN
  UPDATE queue_lane SET next_at = (SELECT min(next_at) FROM queue WHERE lane_id = new.lane_id AND state = 0)
  WHERE id = new.lane_id;
END;
CREATE TRIGGER queue_deleted AFTER DELETE ON queue BEGIN
  UPDATE queue_lane SET next_at = (SELECT min(next_at) FROM queue WHERE lane_id = old.lane_id AND state = 0)
  WHERE id = old.lane_id;
  DELETE FROM queue_lane WHERE id = old.lane_id AND NOT EXISTS (SELECT 1 FROM queue WHERE lane_id = old.lane_id);
END;

CREATE TABLE attempt (
  id INTEGER PRIMARY KEY AUTOINCREMENT,  -- number of the attempt
  queue_id INTEGER NOT NULL,             -- row of the queue
  at INTEGER NOT NULL,                 -- begin, recorded before connecting so that a crash loop cannot flood the remote
  ended_at INTEGER,                      -- end; null: running, or the process died
  outcome TEXT,                          -- delivered, deferred, failed; null: running, or the process died
  host TEXT,                             -- remote host
  ip TEXT,                               -- remote address
  code INTEGER,                          -- SMTP reply code
  status TEXT,                           -- enhanced status code
  text TEXT,                             -- reply text
  tls TEXT                               -- protection of the connection
) STRICT;
CREATE INDEX attempt_queue ON attempt (queue_id);
CREATE INDEX attempt_at ON attempt (at);

-- Messages that await their time or approval as a whole. Recipients are resolved when the message leaves, since
-- accounts and forwards change meanwhile.
CREATE TABLE scheduled (
  submission_id INTEGER PRIMARY KEY,     -- the message and its sender
  due_at INTEGER NOT NULL,               -- time at which it leaves
  recipients TEXT NOT NULL DEFAULT '[]', -- JSON list of addresses
  hold_reason TEXT,                      -- reason for the hold, whatever due_at is; null: not held
  attempts INTEGER NOT NULL DEFAULT 0,   -- number of failed attempts to queue it
  copy_for INTEGER,                      -- account whose Sent mailbox gets a copy when it leaves
  skip_suppressed INTEGER NOT NULL DEFAULT 1, -- 1: API mail, skips recipients that are suppressed when it leaves
  tenant INTEGER NOT NULL DEFAULT 0,     -- organization that sends
  account_id INTEGER,                    -- account that sends; null: none
  dsn_parameters TEXT NOT NULL DEFAULT '[]', -- JSON list of {recipient, notify, orcpt}: DSN parameters, RFC 3461
  created_by TEXT                        -- agent that sent it; null: a person or a program
) STRICT;
CREATE INDEX scheduled_due ON scheduled (due_at);
CREATE INDEX scheduled_tenant ON scheduled (tenant, submission_id);
CREATE INDEX scheduled_account ON scheduled (account_id, submission_id) WHERE account_id IS NOT NULL;

-- Copies that were relayed, so that a later report finds its message after the queue row is deleted.
CREATE TABLE sent_copy (
  id INTEGER PRIMARY KEY,                -- id of the row of the queue, never reused
  trace TEXT NOT NULL,                   -- trace id of the message
  tenant INTEGER NOT NULL,               -- organization that sent it
  account_id INTEGER,                    -- account that sent it; null: a program, or the server itself
  sender TEXT NOT NULL,                  -- original envelope sender
  recipient TEXT NOT NULL,               -- envelope recipient
  at INTEGER NOT NULL,                   -- time of delivery to the remote
  reports INTEGER NOT NULL DEFAULT 0,    -- number of reports accepted for it
  seen TEXT NOT NULL DEFAULT '',         -- digests of those reports, space separated: a repeated one does not count
  sent_by TEXT NOT NULL DEFAULT ''       -- copy of submission.sent_by
) STRICT;

-- Routes other than the MX hosts of the destination.
CREATE TABLE outbound_route (
  id INTEGER PRIMARY KEY AUTOINCREMENT,  -- number of the route
  ref TEXT NOT NULL UNIQUE,              -- random id; the sealed password is bound to it
  tenant INTEGER NOT NULL,               -- organization that uses it
  receiver TEXT NOT NULL,                -- destination domain, A-labels; '': all
  sender TEXT NOT NULL,                  -- domain of the envelope sender; '': all. At most one of the two is set
  use TEXT NOT NULL,                     -- always, failover, never (direct only: no host)
  host TEXT NOT NULL,                    -- relay host
  port INTEGER NOT NULL,                 -- port of the relay host
  tls TEXT NOT NULL,                     -- implicit or starttls
  certificate TEXT NOT NULL,             -- verified or any
  username TEXT NOT NULL,                -- SMTP AUTH user
  password BLOB,                         -- sealed SMTP AUTH password; null: no login
  created_at INTEGER NOT NULL,           -- time of creation
  UNIQUE (tenant, receiver, sender)
) STRICT;
