-- A webhook is whom a listener of the engine stands for: of one mailbox, or of an organization.
ALTER TABLE webhook RENAME TO webhook_before;
CREATE TABLE webhook (
  listener_id INTEGER PRIMARY KEY,
  organization_id INTEGER NOT NULL,
  account_id INTEGER UNIQUE,             -- null: of the organization
  project_id INTEGER,                    -- only what this project sends
  url TEXT NOT NULL,
  secret BLOB NOT NULL,                  -- sealed for (webhook, account), or (webhook, `organization/<id>`)
  created_at INTEGER NOT NULL,
  last_delivery_at INTEGER,
  last_status INTEGER,
  failures INTEGER NOT NULL DEFAULT 0,   -- one after another
  failing_since INTEGER,
  disabled_at INTEGER,                   -- after days of failures
  told_dead_at INTEGER                   -- the owner knows that something was given up
) STRICT;
CREATE INDEX webhook_organization ON webhook (organization_id, listener_id);
INSERT INTO webhook (listener_id, organization_id, account_id, url, secret, created_at, last_delivery_at, last_status, failures)
  SELECT l.id, w.organization_id, w.account_id, w.url, w.secret, w.created_at, w.last_delivery_at, w.last_status, w.failures
  FROM webhook_before w JOIN listener l ON l.account_id = w.account_id;
DROP TABLE webhook_before;

ALTER TABLE webhook_delivery RENAME TO webhook_delivery_before;
DROP INDEX webhook_delivery_account;
CREATE TABLE webhook_delivery (
  id INTEGER PRIMARY KEY AUTOINCREMENT,  -- one attempt
  listener_id INTEGER NOT NULL,
  account_id INTEGER,                    -- of the webhook of a mailbox
  notice_id INTEGER NOT NULL,            -- the id that the receiver saw; the same for every attempt
  event TEXT NOT NULL,                   -- as the journal calls it
  email_id INTEGER,
  trace TEXT NOT NULL,
  at INTEGER NOT NULL,
  url TEXT NOT NULL,
  outcome TEXT NOT NULL,                 -- told, later, dead
  status INTEGER,                        -- HTTP; null: no answer
  problem TEXT,                          -- why there was none, or why it does not count
  request TEXT NOT NULL,                 -- how it begins, without what strangers wrote
  response TEXT NOT NULL,                -- how the answer begins
  duration_ms INTEGER NOT NULL
) STRICT;
CREATE INDEX webhook_delivery_listener ON webhook_delivery (listener_id, id);
CREATE INDEX webhook_delivery_email ON webhook_delivery (email_id) WHERE email_id IS NOT NULL;
CREATE INDEX webhook_delivery_notice ON webhook_delivery (notice_id);
INSERT INTO webhook_delivery
  SELECT d.id, w.listener_id, d.account_id, d.arrival_id, 'received', d.email_id, '', d.at, d.url,
    CASE WHEN d.problem IS NULL THEN 'told' ELSE 'later' END, d.status, d.problem, '', d.response, d.duration_ms
  FROM webhook_delivery_before d JOIN webhook w ON w.account_id = d.account_id;
DROP TABLE webhook_delivery_before;
