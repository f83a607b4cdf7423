-- Who is watched for a message that leaves: account/12, or the public id of a key; '' for nobody.
ALTER TABLE submission ADD COLUMN sent_by TEXT NOT NULL DEFAULT '';
CREATE INDEX submission_sent_by ON submission (sent_by) WHERE sent_by <> '';
ALTER TABLE departed ADD COLUMN sent_by TEXT NOT NULL DEFAULT '';

-- What a sender did lately: in stretches of ten minutes for an hour, and day by day for two weeks.
CREATE TABLE sender_use (
  sender TEXT NOT NULL,
  span INTEGER NOT NULL,                 -- 0 ten minutes, 1 a day
  begin INTEGER NOT NULL,                -- ms UTC
  recipients INTEGER NOT NULL DEFAULT 0, -- elsewhere
  strangers INTEGER NOT NULL DEFAULT 0,  -- of them those who were never written to before
  bounced INTEGER NOT NULL DEFAULT 0,    -- whose address does not exist
  complaints INTEGER NOT NULL DEFAULT 0,
  suppressed INTEGER NOT NULL DEFAULT 0, -- asked for, and left out
  PRIMARY KEY (sender, span, begin)
) STRICT, WITHOUT ROWID;
CREATE INDEX sender_use_begin ON sender_use (span, begin);

-- Senders that are paused, and those that were resumed a short time ago.
CREATE TABLE paused_sender (
  sender TEXT PRIMARY KEY,
  tenant INTEGER NOT NULL,
  account_id INTEGER,                    -- null: a program's
  paused_at INTEGER,                     -- null: resumed
  why TEXT NOT NULL,                     -- a sentence without its full stop
  figures TEXT NOT NULL,                 -- JSON object: what was counted, and the limits that it passed
  told_at INTEGER,                       -- when its owners were told of this pause
  eased_until INTEGER NOT NULL DEFAULT 0 -- its limits are wider until then
) STRICT, WITHOUT ROWID;
CREATE INDEX paused_sender_tenant ON paused_sender (tenant, sender) WHERE paused_at IS NOT NULL;
CREATE INDEX paused_sender_untold ON paused_sender (sender) WHERE paused_at IS NOT NULL AND told_at IS NULL;
