-- Second factors of people, and sign-ins that wait for one.

CREATE TABLE totp (
  user_id INTEGER PRIMARY KEY,           -- the person
  secret BLOB NOT NULL,                  -- shared secret of RFC 6238, sealed
  last_step INTEGER NOT NULL,            -- time step of the last accepted code; it and earlier ones are refused
  created_at INTEGER NOT NULL,           -- time of enrollment
  confirmed_at INTEGER                   -- time of the first right code; null: enrollment is not finished
) STRICT;

CREATE TABLE recovery_code (
  code_hash BLOB PRIMARY KEY,            -- SHA-256 of the code
  user_id INTEGER NOT NULL,              -- the person
  created_at INTEGER NOT NULL,           -- time of creation
  used_at INTEGER                        -- time of use; null: unused
) STRICT, WITHOUT ROWID;
CREATE INDEX recovery_code_user ON recovery_code (user_id);

-- People who passed the first factor. Their cookie is not that of a session, and opens no page but the second step.
CREATE TABLE pending_sign_in (
  token_hash BLOB PRIMARY KEY,           -- SHA-256 of the cookie
  user_id INTEGER NOT NULL,              -- the person
  next TEXT NOT NULL,                    -- path after the sign-in
  attempts INTEGER NOT NULL,             -- codes that were tried
  created_at INTEGER NOT NULL,           -- time of the first factor
  expires_at INTEGER NOT NULL            -- time at which it expires
) STRICT, WITHOUT ROWID;
CREATE INDEX pending_sign_in_user ON pending_sign_in (user_id);
CREATE INDEX pending_sign_in_expires ON pending_sign_in (expires_at);

-- 'password', 'link' (one-time link), 'claim' (first password), 'totp', 'recovery', 'passkey', 'sso'
ALTER TABLE session ADD COLUMN method TEXT NOT NULL DEFAULT 'password';
