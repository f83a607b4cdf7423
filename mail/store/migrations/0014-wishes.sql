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
