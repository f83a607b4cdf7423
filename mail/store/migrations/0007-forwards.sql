-- A forward that passes nothing on for now: its destination has not confirmed it yet, or its tenant is stopped.
ALTER TABLE forwarder ADD COLUMN pending INTEGER NOT NULL DEFAULT 0;
ALTER TABLE forwarder ADD COLUMN stopped INTEGER NOT NULL DEFAULT 0;
-- SHA-256 of what the link carries that confirms it, and until when; it stays when it was used.
ALTER TABLE forwarder ADD COLUMN confirm_hash BLOB;
ALTER TABLE forwarder ADD COLUMN confirm_until INTEGER;
CREATE INDEX forwarder_confirm ON forwarder (confirm_hash) WHERE confirm_hash IS NOT NULL;

-- Copies that went on from an address, by the day (UTC, days since 1970).
CREATE TABLE forward_count (
  day INTEGER NOT NULL,
  source TEXT NOT NULL,                  -- as looked up
  copies INTEGER NOT NULL,
  PRIMARY KEY (day, source)
) STRICT, WITHOUT ROWID;

-- What the ARC chain of a forwarded message was worth when it came: none, pass, fail; '' when no seal is put on it.
ALTER TABLE submission ADD COLUMN arc TEXT NOT NULL DEFAULT '';
