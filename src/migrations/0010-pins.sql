-- Evidence for owners: which tools their agents were shown, and how the audit log ended day by day.

CREATE TABLE catalogue (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  tools TEXT NOT NULL,                   -- JSON: the digest of each tool by its name
  changed_at INTEGER NOT NULL
) STRICT;

CREATE TABLE catalogue_news (
  organization_id INTEGER PRIMARY KEY,   -- whose owners are still to be told
  change TEXT NOT NULL                   -- JSON: the names that came, went and changed
) STRICT;

CREATE TABLE audit_told (
  organization_id INTEGER PRIMARY KEY,
  audit_id INTEGER NOT NULL,             -- the row whose hash the owners were mailed last
  told_at INTEGER NOT NULL
) STRICT;
