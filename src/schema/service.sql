-- Services that are deployed with access to mailboxes.

CREATE TABLE service (
  id INTEGER PRIMARY KEY AUTOINCREMENT,  -- number of the service
  organization_id INTEGER NOT NULL,      -- organization that owns it
  project_id INTEGER NOT NULL,           -- project that it belongs to
  name TEXT NOT NULL,                    -- name of the service
  control TEXT NOT NULL DEFAULT '{"kind":"none"}', -- JSON; set by the operator at the command line, never by a token
  revision INTEGER NOT NULL DEFAULT 0,   -- number of the current revision; 0: never deployed
  created_at INTEGER NOT NULL,           -- time of creation
  UNIQUE (project_id, name)
) STRICT;
CREATE INDEX service_organization ON service (organization_id);

CREATE TABLE service_revision (
  service_id INTEGER NOT NULL,           -- the service
  number INTEGER NOT NULL,               -- number of the revision
  env BLOB NOT NULL,                     -- JSON object, sealed for (service_revision, `<service>/<number>`)
  spec TEXT NOT NULL,                    -- free JSON
  state TEXT NOT NULL,                   -- 'running', 'superseded', 'failed'
  detail TEXT NOT NULL,                  -- answer of the control
  created_by TEXT NOT NULL,              -- public id of the actor
  created_at INTEGER NOT NULL,           -- time of deployment
  PRIMARY KEY (service_id, number)
) STRICT, WITHOUT ROWID;

CREATE TABLE service_mailbox (
  service_id INTEGER NOT NULL,           -- the service
  account_id INTEGER NOT NULL,           -- account that it may use
  alias TEXT NOT NULL DEFAULT '',        -- prefix of its variables: EMAIL_<ALIAS>_..., '' for EMAIL_...
  created_at INTEGER NOT NULL,           -- time of binding
  PRIMARY KEY (service_id, account_id),
  UNIQUE (service_id, alias)
) STRICT, WITHOUT ROWID;
CREATE INDEX service_mailbox_account ON service_mailbox (account_id);
