-- The last result of the doctor, and what owners were told about it.

CREATE TABLE health_report (
  id INTEGER PRIMARY KEY CHECK (id = 1), -- one row
  checked_at INTEGER NOT NULL,           -- time of the run
  checks TEXT NOT NULL                   -- JSON: name, status, why and fix of each check
) STRICT;

CREATE TABLE health_alarm (
  name TEXT PRIMARY KEY,                 -- name of a check that fails, or failed within the last day
  failed_since INTEGER,                  -- time of the first run in which it failed; NULL: it does not fail now
  notified_at INTEGER                    -- time of the last letter about it
) STRICT, WITHOUT ROWID;
