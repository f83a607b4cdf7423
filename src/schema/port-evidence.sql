-- What is known about port 25: the last connection from outside, and the mail server that the operator named.
CREATE TABLE port_evidence (
  name TEXT PRIMARY KEY,                 -- incoming or peer
  value TEXT NOT NULL,                   -- address of the client; name of the mail server
  at INTEGER NOT NULL                    -- time of the last connection, to the hour; time at which it was named
) STRICT, WITHOUT ROWID;
