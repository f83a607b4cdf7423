-- Agents: policies, claims, undo, approvals and budgets. An agent is a credential, by the public id that the appliance
-- gives it.

-- Rules of owners for agents, as JSON.
CREATE TABLE agent_policy (
  id INTEGER PRIMARY KEY AUTOINCREMENT,  -- number of the policy
  tenant INTEGER NOT NULL,               -- organization that owns it
  name TEXT NOT NULL,                    -- name of the policy
  preset TEXT NOT NULL,                  -- preset that it was created from
  rules TEXT NOT NULL,                   -- JSON of the rules
  created_at INTEGER NOT NULL,           -- time of creation
  changed_at INTEGER NOT NULL,           -- time of the last change
  UNIQUE (tenant, name)
) STRICT;

-- Accounts under a policy: their own password counts as an agent, too.
CREATE TABLE agent_policy_account (
  account_id INTEGER PRIMARY KEY,        -- the account
  policy_id INTEGER NOT NULL             -- its policy
) STRICT;
CREATE INDEX agent_policy_account_policy ON agent_policy_account (policy_id);

CREATE TABLE agent_policy_credential (
  credential TEXT PRIMARY KEY,           -- public id of a token
  policy_id INTEGER NOT NULL             -- its policy
) STRICT, WITHOUT ROWID;
CREATE INDEX agent_policy_credential_policy ON agent_policy_credential (policy_id);

-- Claims: one agent at a time works on a thread.
CREATE TABLE claim (
  account_id INTEGER NOT NULL,           -- account of the thread
  thread_id INTEGER NOT NULL,            -- the thread
  email_id INTEGER NOT NULL,             -- message with the keywords that show the claim to people
  holder TEXT NOT NULL,                  -- agent that holds the claim
  keyword TEXT NOT NULL,                 -- keyword that names the holder
  claimed_at INTEGER NOT NULL,           -- time of the claim
  until INTEGER NOT NULL,                -- time at which it expires
  PRIMARY KEY (account_id, thread_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX claim_until ON claim (until);
CREATE INDEX claim_holder ON claim (holder, account_id);

-- Changes that an agent made to messages, for undo.
CREATE TABLE agent_change (
  account_id INTEGER NOT NULL,           -- account of the message
  seq INTEGER NOT NULL,                  -- number of the change within the account
  actor TEXT NOT NULL,                   -- agent that made it
  at INTEGER NOT NULL,                   -- time of the change
  email_id INTEGER NOT NULL,             -- the message
  flags_before INTEGER,                  -- entry.flags before, without \Deleted; null with flags_after: unchanged
  flags_after INTEGER,                   -- entry.flags after
  kw_before TEXT,                        -- entry.kw before
  kw_after TEXT,                         -- entry.kw after
  mailboxes_before TEXT,                 -- JSON list of mailboxes before; null: not moved
  mailboxes_after TEXT,                  -- JSON list of mailboxes after
  PRIMARY KEY (account_id, seq)
) STRICT, WITHOUT ROWID;
CREATE INDEX agent_change_email ON agent_change (account_id, email_id, seq);
CREATE INDEX agent_change_at ON agent_change (at);

-- Changes that an agent made to rules of a tenant, for undo.
CREATE TABLE agent_rule_change (
  id INTEGER PRIMARY KEY AUTOINCREMENT,  -- number of the change
  tenant INTEGER NOT NULL,               -- organization of the rule
  actor TEXT NOT NULL,                   -- agent that made it
  at INTEGER NOT NULL,                   -- time of the change
  kind TEXT NOT NULL,                    -- 'sender-rule' or 'forwarder'
  before TEXT,                           -- JSON of the row before; null: created
  after TEXT                             -- JSON of the row after; null: deleted
) STRICT;
CREATE INDEX agent_rule_change_tenant ON agent_rule_change (tenant, id);
CREATE INDEX agent_rule_change_at ON agent_rule_change (at);

CREATE TABLE narrow_token_use (
  subject TEXT PRIMARY KEY,              -- credential that may send a fixed number of messages
  sent INTEGER NOT NULL                  -- number of messages sent
) STRICT, WITHOUT ROWID;

-- Mail of agents that needs approval; purged some weeks after the decision. The approval is bound to octets and
-- envelope: a change of either voids it.
CREATE TABLE approval (
  id INTEGER PRIMARY KEY,                -- id of the submission, which is removed before this row
  tenant INTEGER NOT NULL,               -- organization that decides
  account_id INTEGER,                    -- account that sends; null: none
  trace TEXT NOT NULL,                   -- trace id of the message
  credential TEXT NOT NULL,              -- public id of the token, or of the mailbox whose password was used
  sender TEXT NOT NULL,                  -- envelope sender
  recipients TEXT NOT NULL,              -- JSON list: the whole envelope
  subject TEXT NOT NULL,                 -- subject of the message
  reasons TEXT NOT NULL,                 -- JSON list of {code, text, recipients}
  sha256 TEXT NOT NULL,                  -- SHA-256 of the octets, hex
  seal TEXT NOT NULL,                    -- MAC of octets and envelope, hex
  send_at INTEGER,                       -- earliest time of sending; null: at once
  email_id INTEGER,                      -- copy in the mailbox; null: none
  state TEXT NOT NULL,                   -- pending, approved, denied, expired, withdrawn
  created_at INTEGER NOT NULL,           -- time of the request
  expires_at INTEGER NOT NULL,           -- time at which it expires
  decided_at INTEGER,                    -- time of the decision; null: pending
  decided_by TEXT,                       -- person that decided
  notified_at INTEGER                    -- time at which the owners were notified; null: not yet
) STRICT;
CREATE INDEX approval_tenant ON approval (tenant, id);
CREATE INDEX approval_account ON approval (account_id, id);
CREATE INDEX approval_pending ON approval (expires_at) WHERE state = 'pending';
CREATE INDEX approval_pending_tenant ON approval (tenant, id) WHERE state = 'pending';
CREATE INDEX approval_decided ON approval (decided_at) WHERE decided_at IS NOT NULL;
CREATE INDEX approval_email ON approval (email_id) WHERE email_id IS NOT NULL;
CREATE INDEX approval_unnotified ON approval (tenant) WHERE state = 'pending' AND notified_at IS NULL;

-- Mailboxes in which people decide with their mail program, created at first use.
CREATE TABLE approval_mailbox (
  account_id INTEGER PRIMARY KEY,        -- the account
  waiting INTEGER NOT NULL,              -- mailbox with messages that await approval
  approved INTEGER NOT NULL              -- mailbox: a message that a person moves here is sent
) STRICT;

-- Messages that agents sent or requested to send, with the decision, for budgets and explain_decision.
CREATE TABLE agent_send (
  id INTEGER PRIMARY KEY AUTOINCREMENT,  -- number of the row
  trace TEXT NOT NULL UNIQUE,            -- trace id of the message
  tenant INTEGER NOT NULL,               -- organization of the agent
  account_id INTEGER,                    -- account that sends; null: none
  reader TEXT NOT NULL,                  -- reader whose taint applies, as in tainted_reader
  credential TEXT NOT NULL,              -- credential that sent it
  outcome TEXT NOT NULL,                 -- taken (accepted), scheduled, held
  reasons TEXT NOT NULL,                 -- JSON list of {code, text, recipients}
  untrusted_reads TEXT NOT NULL,         -- JSON list: newest untrusted mail read before
  thread_id INTEGER,                     -- thread that it replies to; null: none
  weight INTEGER NOT NULL,               -- number of messages that it counts for
  new_recipients INTEGER NOT NULL,       -- recipients that the account never wrote to before
  size INTEGER NOT NULL,                 -- octets
  at INTEGER NOT NULL                    -- time of the request
) STRICT;
CREATE INDEX agent_send_reader ON agent_send (reader, at);
CREATE INDEX agent_send_credential ON agent_send (credential, at);
CREATE INDEX agent_send_account ON agent_send (account_id, thread_id, at);
CREATE INDEX agent_send_at ON agent_send (at);
CREATE INDEX agent_send_tenant ON agent_send (tenant, at);

-- Stopped agents whose queued mail is being held, from the newest back, a slice in each commit. Older mail does not
-- leave until the row is deleted.
CREATE TABLE agent_hold (
  id INTEGER PRIMARY KEY AUTOINCREMENT,  -- number of the row
  tenant INTEGER NOT NULL,               -- organization of the agent
  credential TEXT,                       -- as in agent_send; null: all agents of the tenant
  at INTEGER NOT NULL,                   -- time of the last agent_send that was processed
  send INTEGER NOT NULL                  -- its id
) STRICT;
