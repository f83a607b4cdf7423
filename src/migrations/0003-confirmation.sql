-- New forwards to elsewhere wait until the destination has opened a link that was mailed to it.
ALTER TABLE organization ADD COLUMN confirm_forwards INTEGER NOT NULL DEFAULT 0;

UPDATE forwarder SET stopped = 1 WHERE organization_id IN (SELECT id FROM organization WHERE frozen_at IS NOT NULL);
