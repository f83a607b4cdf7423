-- Messages that have labels, which are few of all: counting them looks at no others. `~31`: \Seen, \Answered, \Flagged,
-- \Draft and \Deleted are no labels.
CREATE INDEX entry_labelled ON entry (mailbox_id, flags, kw, email_id) WHERE flags & ~31 <> 0 OR kw IS NOT NULL;
