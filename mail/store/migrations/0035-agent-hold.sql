-- Agents that were stopped, and how far what they sent is held: from the newest backwards, a slice in each commit. Nothing
-- from before that place leaves until the row is gone.
CREATE TABLE agent_hold (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  tenant INTEGER NOT NULL,
  credential TEXT,                       -- as in agent_send; null: of all agents of the tenant
  at INTEGER NOT NULL,                   -- of the last agent_send that was looked at
  send INTEGER NOT NULL                  -- its id
) STRICT;
