-- Visible messages of each long thread by mailbox, so that a message that joins it reads no others. A thread has rows for
-- all its mailboxes or none: they are counted when a message joins it, and deleted by any other change of the thread.
CREATE TABLE thread_total (
  thread_id INTEGER NOT NULL,            -- the thread
  mailbox_id INTEGER NOT NULL,           -- a mailbox with visible messages of it
  shown INTEGER NOT NULL,                -- its visible messages there: without \Deleted
  unread INTEGER NOT NULL,               -- those with neither \Seen nor \Draft
  PRIMARY KEY (thread_id, mailbox_id)
) STRICT, WITHOUT ROWID;
