-- Mailboxes (IMAP) of an account and the messages in them.

CREATE TABLE mailbox (
  id INTEGER PRIMARY KEY AUTOINCREMENT,  -- number of the mailbox
  account_id INTEGER NOT NULL,           -- account that it belongs to
  parent_id INTEGER NOT NULL DEFAULT 0,  -- mailbox above it, 0 at the top; renaming a subtree is one row
  name TEXT NOT NULL,                    -- UTF-8 NFC, never modified UTF-7
  role TEXT,                             -- inbox drafts sent junk trash archive; null: none
  subscribed INTEGER NOT NULL DEFAULT 1, -- 1: subscribed (IMAP SUBSCRIBE)
  uidvalidity INTEGER NOT NULL,          -- IMAP UIDVALIDITY
  uidnext INTEGER NOT NULL DEFAULT 1,    -- IMAP UIDNEXT
  highestmodseq INTEGER NOT NULL DEFAULT 1, -- IMAP HIGHESTMODSEQ
  total INTEGER NOT NULL DEFAULT 0,      -- messages as IMAP counts them, with \Deleted
  unseen INTEGER NOT NULL DEFAULT 0,     -- messages without \Seen
  deleted INTEGER NOT NULL DEFAULT 0,    -- messages with \Deleted
  bytes INTEGER NOT NULL DEFAULT 0,      -- octets of all messages
  j_total INTEGER NOT NULL DEFAULT 0,    -- messages as JMAP counts them, without \Deleted
  j_unread INTEGER NOT NULL DEFAULT 0,   -- JMAP unread: neither $seen nor $draft
  created_modseq INTEGER NOT NULL,       -- mod-sequence of creation
  modseq INTEGER NOT NULL,               -- last change of anything but the counters
  vanished_floor INTEGER NOT NULL DEFAULT 0, -- expunges before this mod-sequence are no longer listed one by one
  deleted_at INTEGER,                    -- time of deletion: it is hidden, its messages are removed in slices
  threads INTEGER,                       -- threads with a visible message here (RFC 8621 2); null: not counted yet
  threads_unread INTEGER,                -- threads among them with an unread message; null: not counted yet
  counts_modseq INTEGER NOT NULL DEFAULT 0, -- last change of j_total, j_unread, threads or threads_unread
  sort_order INTEGER NOT NULL DEFAULT 0, -- JMAP sortOrder
  UNIQUE (account_id, parent_id, name)
) STRICT;
CREATE UNIQUE INDEX mailbox_role ON mailbox (account_id, role) WHERE role IS NOT NULL;
CREATE INDEX mailbox_deleted ON mailbox (deleted_at) WHERE deleted_at IS NOT NULL;

-- One message in one mailbox: an IMAP message, a JMAP mailboxId.
CREATE TABLE entry (
  mailbox_id INTEGER NOT NULL,           -- the mailbox
  uid INTEGER NOT NULL,                  -- IMAP UID
  email_id INTEGER NOT NULL,             -- the message
  flags INTEGER NOT NULL,             -- 1 \Seen 2 \Answered 4 \Flagged 8 \Draft 16 \Deleted, bits 5 to 30 keyword slots
  kw TEXT,                               -- keywords without a slot, space separated; null: none
  modseq INTEGER NOT NULL,               -- last change of this row
  received_at INTEGER NOT NULL,          -- copy of email.received_at
  thread_id INTEGER NOT NULL,            -- copy of email.thread_id
  size INTEGER NOT NULL,                 -- copy of email.size
  save_at INTEGER NOT NULL,              -- IMAP SAVEDATE (RFC 8514)
  PRIMARY KEY (mailbox_id, uid)
) STRICT, WITHOUT ROWID;
CREATE INDEX entry_modseq ON entry (mailbox_id, modseq);
CREATE INDEX entry_email ON entry (email_id);
CREATE INDEX entry_date ON entry (mailbox_id, received_at, email_id, thread_id, flags);
-- Few messages have labels, so that counting labels reads no others. `~31` masks the five system flags.
CREATE INDEX entry_labelled ON entry (mailbox_id, flags, kw, email_id) WHERE flags & ~31 <> 0 OR kw IS NOT NULL;

-- Messages that left a mailbox: stale sessions may still fetch them, and a person may restore them.
CREATE TABLE expunged (
  mailbox_id INTEGER NOT NULL,           -- mailbox that it left
  uid INTEGER NOT NULL,                  -- UID that it had there
  email_id INTEGER NOT NULL,             -- the message
  flags INTEGER NOT NULL,                -- entry.flags at that time
  kw TEXT,                               -- entry.kw at that time
  received_at INTEGER NOT NULL,          -- copy of email.received_at
  modseq INTEGER NOT NULL,               -- mod-sequence of the expunge
  at INTEGER NOT NULL,                   -- time of the expunge
  PRIMARY KEY (mailbox_id, uid)
) STRICT, WITHOUT ROWID;
CREATE INDEX expunged_modseq ON expunged (mailbox_id, modseq);
CREATE INDEX expunged_email ON expunged (email_id);
CREATE INDEX expunged_at ON expunged (at);

-- Ranges of UIDs that replace expunged rows once their message is gone (QRESYNC).
CREATE TABLE vanished (
  mailbox_id INTEGER NOT NULL,           -- the mailbox
  modseq INTEGER NOT NULL,               -- mod-sequence of the expunge
  uid_lo INTEGER NOT NULL,               -- first UID of the range
  uid_hi INTEGER NOT NULL,               -- last UID of the range
  PRIMARY KEY (mailbox_id, modseq, uid_lo)
) STRICT, WITHOUT ROWID;

CREATE TABLE keyword (
  account_id INTEGER NOT NULL,           -- account that uses the keyword
  slot INTEGER NOT NULL,                 -- bit of entry.flags, 5 to 30
  name TEXT NOT NULL,                    -- first spelling, kept for IMAP
  lname TEXT NOT NULL,                   -- the same in lower case
  PRIMARY KEY (account_id, slot),
  UNIQUE (account_id, lname)
) STRICT, WITHOUT ROWID;

-- Keywords that were created as labels and stay when no message has them. Keywords in use are labels as well.
CREATE TABLE label (
  account_id INTEGER NOT NULL,           -- account that has the label
  name TEXT NOT NULL,                    -- keyword in lower case
  created_at INTEGER NOT NULL,           -- time of creation
  PRIMARY KEY (account_id, name)
) STRICT, WITHOUT ROWID;
