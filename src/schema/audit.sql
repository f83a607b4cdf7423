-- The audit log, proposals of agents, and the daily digest to their owners.

CREATE TABLE audit (
  id INTEGER PRIMARY KEY AUTOINCREMENT,  -- number of the row
  organization_id INTEGER NOT NULL,      -- organization that it belongs to
  at INTEGER NOT NULL,                   -- time of the operation
  actor TEXT NOT NULL,                   -- public id of the token or user; 'operator', 'anonymous', 'mailstead'
  actor_name TEXT NOT NULL,              -- name of the actor at that time
  endpoint TEXT NOT NULL,                -- 'mcp', 'mcp-session', 'rest', 'portal', 'command-line', 'box'
  ip TEXT NOT NULL,                      -- address of the actor
  operation TEXT NOT NULL,               -- name of the operation
  target TEXT NOT NULL,                  -- public id or name of its object
  outcome TEXT NOT NULL,                 -- 'done', or the code of the refusal
  detail TEXT NOT NULL,                  -- JSON, no secrets
  previous BLOB NOT NULL,                -- hash of the previous row of the organization
  hash BLOB NOT NULL                     -- SHA-256 over previous and this row
) STRICT;
CREATE INDEX audit_organization ON audit (organization_id, id);

CREATE TABLE audit_notification (
  organization_id INTEGER PRIMARY KEY,   -- the organization
  audit_id INTEGER NOT NULL,             -- row whose hash was last mailed to the owners
  notified_at INTEGER NOT NULL           -- time of that mail
) STRICT;

-- Tool catalogue that was last published to agents.
CREATE TABLE catalogue (
  id INTEGER PRIMARY KEY CHECK (id = 1), -- single row
  tools TEXT NOT NULL,                   -- JSON, name of a tool to its digest
  changed_at INTEGER NOT NULL            -- time of the last change
) STRICT;

CREATE TABLE catalogue_change (
  organization_id INTEGER PRIMARY KEY,   -- organization whose owners are not notified yet
  change TEXT NOT NULL                   -- JSON: names that were added, removed and changed
) STRICT;

-- Operations that tokens under an agent policy requested and that a person has to accept.
CREATE TABLE proposal (
  id INTEGER PRIMARY KEY AUTOINCREMENT,  -- number of the proposal
  organization_id INTEGER NOT NULL,      -- organization that decides
  token_id INTEGER NOT NULL,             -- token that requested it; it runs with that token's current rights
  operation TEXT NOT NULL,               -- name of the operation
  target TEXT NOT NULL,                  -- object of a proposed policy; '' for other operations
  actions TEXT NOT NULL,                 -- actions that the token would have
  input BLOB NOT NULL,                -- JSON of the arguments, sealed for (proposal, hex of digest); empty once decided
  digest BLOB NOT NULL,                  -- MAC over token and arguments, which detects repeats
  state TEXT NOT NULL,                   -- 'pending', 'accepted', 'refused', 'replaced' by a newer one
  created_at INTEGER NOT NULL,           -- time of the request
  expires_at INTEGER NOT NULL,           -- time at which it expires
  decided_at INTEGER,                    -- time of the decision; null: pending
  decided_by TEXT,                       -- name of the person that decided
  outcome TEXT,                          -- of an accepted one: 'done' or the code of a refusal; null: unknown
  notified_at INTEGER                    -- time at which the owners were notified; null: not yet
) STRICT;
CREATE INDEX proposal_organization ON proposal (organization_id, id);
CREATE INDEX proposal_pending ON proposal (organization_id, state) WHERE state = 'pending';
CREATE INDEX proposal_expires ON proposal (expires_at);
CREATE INDEX proposal_unnotified ON proposal (organization_id) WHERE state = 'pending' AND notified_at IS NULL;
CREATE INDEX proposal_notified ON proposal (organization_id, notified_at) WHERE notified_at IS NOT NULL;

-- Daily digests that were sent to owners of agents.
CREATE TABLE digest (
  organization_id INTEGER NOT NULL,      -- the organization
  day INTEGER NOT NULL,                  -- day of the digest; one a day
  notified_at INTEGER NOT NULL,          -- time at which it was sent
  PRIMARY KEY (organization_id, day)
) STRICT, WITHOUT ROWID;
CREATE INDEX digest_day ON digest (day);

-- Replies to a daily digest that changed nothing: the server answers each once.
CREATE TABLE digest_reply (
  organization_id INTEGER NOT NULL,      -- the organization
  user_id INTEGER NOT NULL,              -- owner that replied
  day INTEGER NOT NULL,                  -- day of the digest
  replied_at INTEGER NOT NULL,           -- time of the answer
  PRIMARY KEY (organization_id, user_id, day)
) STRICT, WITHOUT ROWID;
CREATE INDEX digest_reply_day ON digest_reply (day);
