-- Somebody outside who is told: of what arrives for an account, or of what becomes of a tenant's own mail.
CREATE TABLE listener (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  tenant INTEGER NOT NULL,
  account_id INTEGER UNIQUE,             -- of what arrives for it; null: of the tenant's mail that leaves
  events TEXT NOT NULL,                  -- JSON list of what it is told of, as the journal calls it
  off_at INTEGER                         -- told nothing since; what happens meanwhile waits
) STRICT;
CREATE INDEX listener_tenant ON listener (tenant) WHERE account_id IS NULL;

-- What a listener is told, written in the commit in which it happened.
CREATE TABLE notice (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  listener_id INTEGER NOT NULL,
  event TEXT NOT NULL,                   -- as the journal calls it
  account_id INTEGER,                    -- whose mail it is about
  email_id INTEGER,                      -- what arrived
  trace TEXT NOT NULL,                   -- of what leaves; '' for what arrived
  detail TEXT NOT NULL,                  -- JSON, of the journal's line
  at INTEGER NOT NULL,                   -- when it happened
  copy_of INTEGER,                       -- the notice that it repeats on request
  attempts INTEGER NOT NULL DEFAULT 0,
  next_at INTEGER NOT NULL,
  state INTEGER NOT NULL DEFAULT 0       -- 0 in line, 1 set aside so that the others go on, 2 told, 3 given up
) STRICT;
CREATE INDEX notice_state ON notice (listener_id, state, id);
CREATE INDEX notice_aside ON notice (listener_id, next_at) WHERE state = 1;
CREATE INDEX notice_email ON notice (email_id) WHERE email_id IS NOT NULL;

-- Receivers know notices by their id: it goes on where arrivals ended.
INSERT INTO sqlite_sequence (name, seq) SELECT 'notice', seq FROM sqlite_sequence WHERE name = 'arrival';
INSERT INTO listener (tenant, account_id, events) SELECT tenant, id, '["received"]' FROM account WHERE announce = 1;
INSERT INTO notice (id, listener_id, event, account_id, email_id, trace, detail, at, attempts, next_at, state)
  SELECT a.id, l.id, 'received', a.account_id, a.email_id, '', '{}', a.at, a.attempts, a.next_at,
    CASE WHEN a.dead_at IS NOT NULL THEN 3 WHEN a.attempts < 4 THEN 0 ELSE 1 END
  FROM arrival a JOIN listener l ON l.account_id = a.account_id;
DROP TABLE arrival;
DROP INDEX account_announce;
ALTER TABLE account DROP COLUMN announce;
