-- Forwards to elsewhere wait until the destination has opened a link that was mailed to it.
ALTER TABLE organization ADD COLUMN confirm_forwards INTEGER NOT NULL DEFAULT 0;

CREATE TABLE forward_confirmation (
  forwarder_id INTEGER PRIMARY KEY,      -- the newest link of a pending forward
  token_hash BLOB NOT NULL UNIQUE,
  expires_at INTEGER NOT NULL
) STRICT;

UPDATE forwarder SET stopped = 1 WHERE organization_id IN (SELECT id FROM organization WHERE frozen_at IS NOT NULL);
