-- Snoozed messages: hidden from the inbox of web mail until a time, with the keyword $snoozed, which mail programs show.
CREATE TABLE snooze (
  email_id INTEGER PRIMARY KEY,          -- the message
  account_id INTEGER NOT NULL,           -- account that owns it
  until INTEGER NOT NULL,                -- time of the next step
  step INTEGER NOT NULL                  -- next: 0 becomes visible; 1 becomes visible, unread and new; 2 is no longer new
) STRICT;
CREATE INDEX snooze_until ON snooze (until);
CREATE INDEX snooze_account ON snooze (account_id, until);
