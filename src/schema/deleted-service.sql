-- Deleted services that can be restored until they are purged. Their revisions stay in service_revision.

CREATE TABLE deleted_service (
  id INTEGER PRIMARY KEY,                -- number that the service had, never used by another
  organization_id INTEGER NOT NULL,      -- organization that owns it
  project_id INTEGER NOT NULL,           -- project that it belongs to
  name TEXT NOT NULL,                    -- name of the service; free for a new one
  control TEXT NOT NULL,                 -- as in service
  revision INTEGER NOT NULL,             -- number of the current revision
  created_at INTEGER NOT NULL,           -- time of creation
  attachments TEXT NOT NULL,             -- JSON list of {account, alias}: mailboxes that it was attached to
  deleted_at INTEGER NOT NULL,           -- time of deletion
  purge_at INTEGER NOT NULL,             -- time at which it is purged
  deleted_by TEXT NOT NULL               -- public id of the actor
) STRICT;
CREATE INDEX deleted_service_organization ON deleted_service (organization_id);
CREATE INDEX deleted_service_purge ON deleted_service (purge_at);
