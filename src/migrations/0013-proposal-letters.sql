-- When the owners were written to about a proposal that waits.
ALTER TABLE proposal ADD COLUMN told_at INTEGER;
CREATE INDEX proposal_untold ON proposal (organization_id) WHERE state = 'pending' AND told_at IS NULL;
CREATE INDEX proposal_told ON proposal (organization_id, told_at) WHERE told_at IS NOT NULL;
