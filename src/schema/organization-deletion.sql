-- Time from which a deleted organization is purged; null: it is not deleted. Until then it is frozen, and can be restored.
ALTER TABLE organization ADD COLUMN purge_at INTEGER;
-- 1: it was frozen when it was deleted, and stays so when it is restored.
ALTER TABLE organization ADD COLUMN frozen_before INTEGER NOT NULL DEFAULT 0;
