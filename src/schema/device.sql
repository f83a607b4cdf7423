-- Browsers that people signed in with, so that they get a letter about a new one.
CREATE TABLE device (
  id INTEGER PRIMARY KEY AUTOINCREMENT,  -- number of the device
  token_hash BLOB NOT NULL,              -- SHA-256 of the cookie that recognizes the browser
  user_id INTEGER NOT NULL,              -- person who signed in
  ip TEXT NOT NULL,                      -- address at the first sign-in
  agent TEXT NOT NULL,                   -- User-Agent at the first sign-in
  method TEXT NOT NULL,                  -- as in session.method, at the first sign-in
  created_at INTEGER NOT NULL,           -- time of the first sign-in
  last_used_at INTEGER NOT NULL,         -- time of the last sign-in
  noticed_at INTEGER,                    -- time from which no letter is due; null: one is
  UNIQUE (user_id, token_hash)
) STRICT;
CREATE INDEX device_due ON device (id) WHERE noticed_at IS NULL;
-- Time at which the person turned off letters about new devices; null: on.
ALTER TABLE user ADD COLUMN device_notices_disabled_at INTEGER;
