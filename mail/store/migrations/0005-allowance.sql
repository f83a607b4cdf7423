-- What tenants whose sending is limited have sent lately; nothing is counted for the others.
CREATE TABLE sending_count (
  tenant INTEGER NOT NULL,
  subject TEXT NOT NULL,                 -- '' a message; else a recipient's key, when it was first written to
  at INTEGER NOT NULL,
  nth INTEGER NOT NULL,                  -- several in one millisecond
  PRIMARY KEY (tenant, subject, at, nth)
) STRICT, WITHOUT ROWID;
CREATE INDEX sending_count_at ON sending_count (tenant, at);
