-- Who asked a tenant's programs for no more mail, by the link in a message. It stands beside the list of who is
-- suppressed for another reason: neither hides the other, and taking one back leaves the other.
CREATE TABLE unsubscription (
  tenant INTEGER NOT NULL,
  key TEXT NOT NULL,                     -- address as it is looked up
  trace TEXT NOT NULL,                   -- the message whose link it was
  at INTEGER NOT NULL,
  PRIMARY KEY (tenant, key)
) STRICT, WITHOUT ROWID;
INSERT INTO unsubscription (tenant, key, trace, at)
  SELECT tenant, key, trace, at FROM suppression WHERE reason = 'unsubscribe';
DELETE FROM suppression WHERE reason = 'unsubscribe';

-- What waits as a whole is listed page by page, of a tenant or of some of its accounts.
ALTER TABLE scheduled ADD COLUMN tenant INTEGER NOT NULL DEFAULT 0;
ALTER TABLE scheduled ADD COLUMN account_id INTEGER;
UPDATE scheduled SET (tenant, account_id) =
  (SELECT s.tenant, s.account_id FROM submission s WHERE s.id = scheduled.submission_id);
CREATE INDEX scheduled_tenant ON scheduled (tenant, submission_id);
CREATE INDEX scheduled_account ON scheduled (account_id, submission_id) WHERE account_id IS NOT NULL;

-- When a policy is fetched again, and how often that failed: those that cannot be had come behind all others, and later
-- each time.
ALTER TABLE sts_policy ADD COLUMN refresh_at INTEGER NOT NULL DEFAULT 0;
ALTER TABLE sts_policy ADD COLUMN failures INTEGER NOT NULL DEFAULT 0;
UPDATE sts_policy SET refresh_at = fetched_at + 86400000;
DROP INDEX sts_policy_fetched;
CREATE INDEX sts_policy_refresh ON sts_policy (refresh_at) WHERE failures = 0;
CREATE INDEX sts_policy_retry ON sts_policy (refresh_at) WHERE failures > 0;

-- What was asked about recipients of a message that waits: JSON list of {recipient, notify, orcpt}. RFC 3461
ALTER TABLE scheduled ADD COLUMN wishes TEXT NOT NULL DEFAULT '[]';

-- Whose the domains were that sign a message, when it was taken: JSON object of names and tenants. A domain that is
-- somebody else's by now signs nothing of it.
ALTER TABLE submission ADD COLUMN signers TEXT NOT NULL DEFAULT '{}';
UPDATE submission SET signers = (
  SELECT json_group_object(d.name, d.tenant) FROM domain d WHERE d.state = 1 AND d.tenant = submission.tenant
    AND instr(' ' || coalesce(nullif(submission.sign_as, ''), substr(submission.sender, instr(submission.sender, '@') + 1)) || ' ',
      ' ' || d.name || ' ') > 0);

-- Whom a mailbox wrote to went with its mailbox from here on; those of mailboxes that were removed before go now.
DELETE FROM correspondent WHERE account_id NOT IN (SELECT id FROM account);

-- When a listener is next to be told something: when the first in line is due, or one that was set aside. Null: nothing
-- waits. Looks go over those that are due, and never over all listeners.
ALTER TABLE listener ADD COLUMN due_at INTEGER;
UPDATE listener SET due_at = nullif(min(
  coalesce((SELECT next_at FROM notice WHERE listener_id = listener.id AND state = 0 ORDER BY id LIMIT 1), 9223372036854775807),
  coalesce((SELECT min(next_at) FROM notice WHERE listener_id = listener.id AND state = 1), 9223372036854775807)), 9223372036854775807);
CREATE INDEX listener_due ON listener (due_at) WHERE due_at IS NOT NULL AND off_at IS NULL;

-- It follows its notices, whoever writes them.
CREATE TRIGGER notice_added AFTER INSERT ON notice WHEN new.state < 2 BEGIN
  UPDATE listener SET due_at = nullif(min(
    coalesce((SELECT next_at FROM notice WHERE listener_id = listener.id AND state = 0 ORDER BY id LIMIT 1), 9223372036854775807),
    coalesce((SELECT min(next_at) FROM notice WHERE listener_id = listener.id AND state = 1), 9223372036854775807)), 9223372036854775807)
  WHERE id = new.listener_id;
END;
CREATE TRIGGER notice_moved AFTER UPDATE OF state, next_at ON notice BEGIN
  UPDATE listener SET due_at = nullif(min(
    coalesce((SELECT next_at FROM notice WHERE listener_id = listener.id AND state = 0 ORDER BY id LIMIT 1), 9223372036854775807),
    coalesce((SELECT min(next_at) FROM notice WHERE listener_id = listener.id AND state = 1), 9223372036854775807)), 9223372036854775807)
  WHERE id = new.listener_id;
END;
CREATE TRIGGER notice_left AFTER DELETE ON notice WHEN old.state < 2 BEGIN
  UPDATE listener SET due_at = nullif(min(
    coalesce((SELECT next_at FROM notice WHERE listener_id = listener.id AND state = 0 ORDER BY id LIMIT 1), 9223372036854775807),
    coalesce((SELECT min(next_at) FROM notice WHERE listener_id = listener.id AND state = 1), 9223372036854775807)), 9223372036854775807)
  WHERE id = old.listener_id;
END;
