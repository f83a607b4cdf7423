-- Flags of ranges of messages that were stored by one row a range; the rows of the messages get them soon after.
CREATE TABLE flag_range (
  account_id INTEGER NOT NULL,           -- account of the mailbox
  modseq INTEGER NOT NULL,               -- mod-sequence of the change: the order in which an account's rows are applied
  first_uid INTEGER NOT NULL,            -- first UID of the range; rises while the range is applied
  last_uid INTEGER NOT NULL,             -- last UID of the range
  mailbox_id INTEGER NOT NULL,           -- the mailbox
  bits INTEGER NOT NULL,                 -- bits of entry.flags that change
  value INTEGER NOT NULL,                -- their new value
  whole INTEGER NOT NULL,                -- 1: it replaced an opposite change, so that it changes every message of the range
  PRIMARY KEY (account_id, modseq, first_uid)
) STRICT, WITHOUT ROWID;
