-- Passkeys of people, and challenges that a browser answers with one.

CREATE TABLE passkey (
  id INTEGER PRIMARY KEY AUTOINCREMENT,  -- number of the passkey
  user_id INTEGER NOT NULL,              -- the person
  credential_id BLOB NOT NULL UNIQUE,    -- id that the authenticator gave it
  public_key BLOB NOT NULL,              -- SubjectPublicKeyInfo, DER
  counter INTEGER NOT NULL,              -- signature counter; 0 forever for passkeys that are synchronized
  name TEXT NOT NULL,                    -- name that the person gave it
  created_at INTEGER NOT NULL,           -- time of registration
  last_used_at INTEGER                   -- time of the last sign-in; null: none
) STRICT;
CREATE INDEX passkey_user ON passkey (user_id);

CREATE TABLE passkey_challenge (
  token_hash BLOB PRIMARY KEY,           -- SHA-256 of the cookie of the browser that it was given to
  purpose TEXT NOT NULL,                 -- 'sign-in', 'register'
  challenge BLOB NOT NULL,               -- 32 random octets
  expires_at INTEGER NOT NULL            -- time at which it expires
) STRICT, WITHOUT ROWID;
CREATE INDEX passkey_challenge_expires ON passkey_challenge (expires_at);
