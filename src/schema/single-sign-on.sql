-- Sign-in by an OpenID provider: people who are linked to it, and sign-ins that are under way.

CREATE TABLE provider_identity (
  issuer TEXT NOT NULL,                  -- issuer of the ID token
  subject TEXT NOT NULL,                 -- sub of the ID token, which is never given to somebody else
  user_id INTEGER NOT NULL,              -- the person
  linked_at INTEGER NOT NULL,            -- time of the first sign-in, by the verified address
  last_used_at INTEGER NOT NULL,         -- time of the last sign-in
  PRIMARY KEY (issuer, subject)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX provider_identity_user ON provider_identity (user_id, issuer);

CREATE TABLE provider_sign_in (
  token_hash BLOB PRIMARY KEY,           -- SHA-256 of the cookie of the browser that began it
  issuer TEXT NOT NULL,                  -- issuer that it was sent to
  next TEXT NOT NULL,                    -- path after the sign-in
  expires_at INTEGER NOT NULL            -- time at which it expires
) STRICT, WITHOUT ROWID;
CREATE INDEX provider_sign_in_expires ON provider_sign_in (expires_at);

-- 1: the first factor was a provider. session.method has the last factor; 'provider' if it was the only one.
ALTER TABLE session ADD COLUMN by_provider INTEGER NOT NULL DEFAULT 0;
ALTER TABLE pending_sign_in ADD COLUMN by_provider INTEGER NOT NULL DEFAULT 0;
-- Sign-ins by a provider: 'off' (they do not open the organization), 'allowed', 'required' (for all but owners).
ALTER TABLE organization ADD COLUMN single_sign_on TEXT NOT NULL DEFAULT 'allowed';
