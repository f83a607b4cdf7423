-- IMAP mailboxes that an account shares with others of its organization (RFC 4314). Rows stay while one of the accounts is
-- frozen or deleted and have no effect then.
CREATE TABLE mailbox_acl (
  mailbox_id INTEGER NOT NULL,           -- the shared mailbox
  account_id INTEGER NOT NULL,           -- account that may use it
  rights TEXT NOT NULL,                  -- letters of RFC 4314, each once
  subscribed INTEGER NOT NULL DEFAULT 0, -- 1: the account is subscribed to it
  created_at INTEGER NOT NULL,           -- time of the first grant
  PRIMARY KEY (mailbox_id, account_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX mailbox_acl_account ON mailbox_acl (account_id);
