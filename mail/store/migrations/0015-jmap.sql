-- JMAP: when messages were shown and hidden, what was destroyed, threads of a mailbox, and states of what has no rows of
-- its own to ask.

-- Null: shown since created_modseq. Else when it was last shown or hidden: by \Deleted, by leaving its last mailbox.
ALTER TABLE email ADD COLUMN shown_modseq INTEGER;

-- Threads with a shown message in this mailbox, and those of them that have an unread one (RFC 8621 2). Null: never
-- counted, in mailboxes that were there before; counted at first use.
ALTER TABLE mailbox ADD COLUMN threads INTEGER;
ALTER TABLE mailbox ADD COLUMN threads_unread INTEGER;
-- Last change of j_total, j_unread, threads or threads_unread.
ALTER TABLE mailbox ADD COLUMN counts_modseq INTEGER NOT NULL DEFAULT 0;
ALTER TABLE mailbox ADD COLUMN sort_order INTEGER NOT NULL DEFAULT 0;

CREATE TABLE tombstone (
  account_id INTEGER NOT NULL,           -- what was destroyed and has no row any more to say so
  type TEXT NOT NULL,                    -- Email, Mailbox, Identity, ...
  modseq INTEGER NOT NULL,               -- when it was hidden or destroyed
  object_id INTEGER NOT NULL,
  thread_id INTEGER,                     -- of an email
  created_modseq INTEGER NOT NULL,
  at INTEGER NOT NULL,
  PRIMARY KEY (account_id, type, modseq, object_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX tombstone_at ON tombstone (at);

CREATE TABLE type_state (
  account_id INTEGER NOT NULL,           -- state of a JMAP type: its last change, and since when changes are known
  type TEXT NOT NULL,
  modseq INTEGER NOT NULL DEFAULT 1,
  floor INTEGER NOT NULL DEFAULT 0,      -- tombstones before this one are gone: cannotCalculateChanges
  PRIMARY KEY (account_id, type)
) STRICT, WITHOUT ROWID;
