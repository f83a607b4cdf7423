-- Keywords that were made as labels, which stay when no message has them. Those that messages have are labels as well.
CREATE TABLE label (
  account_id INTEGER NOT NULL,
  name TEXT NOT NULL,                    -- a keyword in lower case
  created_at INTEGER NOT NULL,
  PRIMARY KEY (account_id, name)
) STRICT, WITHOUT ROWID;
