-- How agents may work: each token by itself, and all of an organization at once.
ALTER TABLE token ADD COLUMN mode TEXT NOT NULL DEFAULT 'normal'; -- mail/delivery/agent/types.ts AGENT_MODES
ALTER TABLE organization ADD COLUMN agents_stopped_at INTEGER;    -- a person stopped all of them: null, they work
