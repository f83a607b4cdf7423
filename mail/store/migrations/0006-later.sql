-- Messages that wait for their time as a whole: recipients here get nothing early either.
CREATE TABLE scheduled (
  submission_id INTEGER PRIMARY KEY,     -- holds the octets and who sends
  due_at INTEGER NOT NULL,
  here TEXT NOT NULL,                    -- JSON list of deliveries on this box
  elsewhere TEXT NOT NULL,               -- JSON list of queue rows
  onward TEXT NOT NULL,                  -- JSON list of copies that go on
  hold TEXT                              -- why rows for elsewhere will be held then
) STRICT;
CREATE INDEX scheduled_due ON scheduled (due_at);

-- Recipients to whom a tenant's programs send no more: they do not exist, complained, or asked for it.
CREATE TABLE suppression (
  tenant INTEGER NOT NULL,
  key TEXT NOT NULL,                     -- address as it is looked up
  reason TEXT NOT NULL,                  -- hard_bounce, complaint, manual, unsubscribe
  source TEXT NOT NULL,                  -- what it was learnt from: a trace id, or who asked
  at INTEGER NOT NULL,
  PRIMARY KEY (tenant, key)
) STRICT, WITHOUT ROWID;

-- Somebody outside is told of what arrives for an account: rows are written in the commit that delivers.
ALTER TABLE account ADD COLUMN announce INTEGER NOT NULL DEFAULT 0;
CREATE INDEX account_announce ON account (id) WHERE announce = 1;
CREATE TABLE arrival (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  account_id INTEGER NOT NULL,
  email_id INTEGER NOT NULL,
  at INTEGER NOT NULL,
  attempts INTEGER NOT NULL DEFAULT 0,
  next_at INTEGER NOT NULL,
  dead_at INTEGER                        -- given up; it can be asked for again
) STRICT;
CREATE INDEX arrival_account ON arrival (account_id, id) WHERE dead_at IS NULL;
CREATE INDEX arrival_email ON arrival (email_id);

-- Header lines that a message gets only on this way out; one character an octet. They stand before its octets.
ALTER TABLE submission ADD COLUMN prefix TEXT NOT NULL DEFAULT '';
-- Who gets the message after all when this recipient never does: the mailbox that keeps no copy of what it forwards.
ALTER TABLE queue ADD COLUMN fallback_account INTEGER;

-- Mail for an address that goes on to another one.
CREATE TABLE forwarder (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  organization_id INTEGER NOT NULL,      -- tenant
  domain_id INTEGER NOT NULL,            -- of the source
  source TEXT NOT NULL,                  -- as written
  source_key TEXT NOT NULL,              -- as looked up
  destination TEXT NOT NULL,
  destination_key TEXT NOT NULL,
  keep_local INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  UNIQUE (organization_id, source_key, destination_key)
) STRICT;
CREATE INDEX forwarder_source ON forwarder (source_key);
CREATE INDEX forwarder_domain ON forwarder (domain_id);
