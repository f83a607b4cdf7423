-- Which octets of mail agents were handed, by their number: what an agent sends is compared with those that are as many.
CREATE TABLE handed_out (
  tenant INTEGER NOT NULL,
  size INTEGER NOT NULL,                 -- octets of a part without its transfer encoding, or of the whole message
  reader TEXT NOT NULL,                  -- public id of a token or of a mailbox, as in exposed
  email_id INTEGER NOT NULL,
  by_password INTEGER NOT NULL,
  at INTEGER NOT NULL,                   -- the last time
  PRIMARY KEY (tenant, size, reader, email_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX handed_out_reader ON handed_out (reader, at);
CREATE INDEX handed_out_at ON handed_out (at);
