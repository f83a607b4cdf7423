-- Secrets that agents were shown, as they are known again in what leaves: nothing here says what they are.
CREATE TABLE shown_secret (
  tenant INTEGER NOT NULL,
  digest BLOB NOT NULL,                  -- HMAC-SHA256 of its letters and digits
  kind TEXT NOT NULL,                    -- mail/delivery/agent/secrets/formats.ts
  length INTEGER NOT NULL,               -- of what is sought
  print INTEGER NOT NULL,                -- 32 bits by which it is looked for, masked
  expires_at INTEGER NOT NULL,
  PRIMARY KEY (tenant, digest)
) STRICT, WITHOUT ROWID;
CREATE INDEX shown_secret_expires ON shown_secret (expires_at);
