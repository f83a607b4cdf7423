-- Copies that have left, so that a report about one finds its message for a while after its row of the queue has gone.
CREATE TABLE departed (
  id INTEGER PRIMARY KEY,                -- of the row of the queue, which is never used again
  trace TEXT NOT NULL,
  tenant INTEGER NOT NULL,
  account_id INTEGER,                    -- null: a program's, or the box itself
  sender TEXT NOT NULL,                  -- the real envelope sender
  recipient TEXT NOT NULL,
  at INTEGER NOT NULL,
  reports INTEGER NOT NULL DEFAULT 0,    -- taken so far
  seen TEXT NOT NULL DEFAULT ''          -- digests of them, space separated: the same one counts once
) STRICT;

-- What was said when an address was suppressed, in the words of the other side; '' for nothing.
ALTER TABLE suppression ADD COLUMN said TEXT NOT NULL DEFAULT '';
-- The message that it was learnt from; '' for none.
ALTER TABLE suppression ADD COLUMN trace TEXT NOT NULL DEFAULT '';
UPDATE suppression SET trace = source WHERE reason = 'hard_bounce';
