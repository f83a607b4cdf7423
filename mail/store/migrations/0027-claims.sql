-- Agents and people in one mailbox. An agent is a credential, by the public id that the appliance gives it.

ALTER TABLE email ADD COLUMN made_by TEXT;     -- the agent that wrote it here; null: a person, a stranger, or from before
ALTER TABLE scheduled ADD COLUMN made_by TEXT; -- the agent that sent it

CREATE TABLE claim (
  account_id INTEGER NOT NULL,           -- one agent at a time works on a conversation
  thread_id INTEGER NOT NULL,
  email_id INTEGER NOT NULL,             -- carries the keywords by which people see it
  holder TEXT NOT NULL,
  keyword TEXT NOT NULL,                 -- the one that names the holder
  claimed_at INTEGER NOT NULL,
  until INTEGER NOT NULL,
  PRIMARY KEY (account_id, thread_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX claim_until ON claim (until);
CREATE INDEX claim_holder ON claim (holder, account_id);

CREATE TABLE agent_change (
  account_id INTEGER NOT NULL,           -- what an agent did to a message, so that it can be undone
  seq INTEGER NOT NULL,                  -- grows within the account
  who TEXT NOT NULL,
  at INTEGER NOT NULL,
  email_id INTEGER NOT NULL,
  flags_before INTEGER,                  -- entry.flags without \Deleted; null with flags_after: they stayed
  flags_after INTEGER,
  kw_before TEXT,                        -- entry.kw, of the same moments as the flags
  kw_after TEXT,
  places_before TEXT,                    -- JSON list of mailboxes; null: it stayed where it was
  places_after TEXT,
  PRIMARY KEY (account_id, seq)
) STRICT, WITHOUT ROWID;
CREATE INDEX agent_change_email ON agent_change (account_id, email_id, seq);
CREATE INDEX agent_change_at ON agent_change (at);

CREATE TABLE agent_rule_change (
  id INTEGER PRIMARY KEY AUTOINCREMENT,  -- the same for rules of a tenant
  tenant INTEGER NOT NULL,
  who TEXT NOT NULL,
  at INTEGER NOT NULL,
  what TEXT NOT NULL,                    -- 'sender-rule', 'forwarder'
  before TEXT,                           -- JSON of the row; null: there was none
  after TEXT                             -- null: it was removed
) STRICT;
CREATE INDEX agent_rule_change_tenant ON agent_rule_change (tenant, id);
CREATE INDEX agent_rule_change_at ON agent_rule_change (at);

CREATE TABLE narrow_use (
  subject TEXT PRIMARY KEY,              -- a narrowed credential that may send so many times
  sent INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
