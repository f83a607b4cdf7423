-- What owners decided about agents, and where it holds. The rules are JSON that the engine reads in delivery/agent/policy.ts.
CREATE TABLE agent_policy (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  tenant INTEGER NOT NULL,
  name TEXT NOT NULL,
  preset TEXT NOT NULL,                  -- what it began as
  rules TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  changed_at INTEGER NOT NULL,
  UNIQUE (tenant, name)
) STRICT;

-- An account with one: its own password is an agent's too.
CREATE TABLE agent_policy_account (
  account_id INTEGER PRIMARY KEY,
  policy_id INTEGER NOT NULL
) STRICT;
CREATE INDEX agent_policy_account_policy ON agent_policy_account (policy_id);

CREATE TABLE agent_policy_credential (
  credential TEXT PRIMARY KEY,           -- public id of a token
  policy_id INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX agent_policy_credential_policy ON agent_policy_credential (policy_id);
