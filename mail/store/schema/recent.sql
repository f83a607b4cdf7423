-- Messages that no IMAP session was notified of, and subscriptions of mailboxes that were deleted.

ALTER TABLE mailbox ADD COLUMN recent_from INTEGER NOT NULL DEFAULT 1; -- first UID with \Recent (RFC 3501 2.3.2)
UPDATE mailbox SET recent_from = uidnext;

-- IMAP DELETE keeps the subscription (RFC 3501 6.3.9): a mailbox that is created under this name again is subscribed.
CREATE TABLE former_subscription (
  account_id INTEGER NOT NULL,           -- account that subscribed
  name TEXT NOT NULL,                    -- full name of the deleted mailbox, UTF-8 NFC
  PRIMARY KEY (account_id, name)
) STRICT, WITHOUT ROWID;
