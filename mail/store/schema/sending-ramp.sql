-- Progress of the sending ramp: receivers that do not know the addresses of this server yet get little mail at first.

CREATE TABLE sending_ramp (
  organization TEXT PRIMARY KEY,         -- registrable domain of the receiving mail servers
  level INTEGER NOT NULL,                -- doubles the limit
  level_at INTEGER NOT NULL,             -- time of the last change of the level
  hour INTEGER NOT NULL,                 -- hour that sent counts, in hours since 1970
  sent INTEGER NOT NULL,                 -- recipients of that hour
  objected_at INTEGER NOT NULL           -- last time at which the receiver objected; 0: never
) STRICT, WITHOUT ROWID;

-- One row: this server sent mail before it had a ramp, so its addresses are known.
CREATE TABLE sending_ramp_off (
  id INTEGER PRIMARY KEY CHECK (id = 1)  -- one row at most
) STRICT;
INSERT INTO sending_ramp_off (id) SELECT 1 WHERE EXISTS (SELECT 1 FROM journal);
