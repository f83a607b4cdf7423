-- IMAP METADATA (RFC 5464), and the IMAP settings of an account.

CREATE TABLE annotation (
  mailbox_id INTEGER NOT NULL,           -- the mailbox; 0: the account as a whole
  account_id INTEGER NOT NULL,           -- account that reads it as /private/; for /shared/ the owner of the mailbox
  name TEXT NOT NULL,                    -- entry in lower case, e.g. /private/comment
  value BLOB NOT NULL,                   -- octets as the client sent them
  PRIMARY KEY (mailbox_id, account_id, name)
) STRICT, WITHOUT ROWID;
CREATE INDEX annotation_account ON annotation (account_id);

CREATE TABLE imap_setting (
  account_id INTEGER PRIMARY KEY,        -- the account
  hidden_capabilities TEXT NOT NULL      -- capabilities that its sessions do not list, space separated
) STRICT;
