-- Numbers of the whole server by hour, for the charts of the operator.
CREATE TABLE server_hour (
  hour INTEGER NOT NULL,                 -- hours since 1970, UTC
  kind TEXT NOT NULL,                    -- what was counted: src/history/queries.ts
  n REAL NOT NULL,                       -- sum within the hour, or its maximum
  PRIMARY KEY (hour, kind)
) STRICT, WITHOUT ROWID;
