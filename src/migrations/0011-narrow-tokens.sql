-- A token that another one made for one purpose: it may less, and ends with the one that it is from.
ALTER TABLE token ADD COLUMN parent_id INTEGER;
ALTER TABLE token ADD COLUMN narrow TEXT;        -- JSON of its limits, mail/delivery/agent/types.ts; null: none of these
CREATE INDEX token_parent ON token (parent_id) WHERE parent_id IS NOT NULL;
