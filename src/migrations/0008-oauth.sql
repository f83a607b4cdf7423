-- OAuth: programs that a person let in. What one was allowed is a row of `token` as any other, so that limits, policies
-- and revoking are one thing for both; only its secrets are short-lived and stand beside it.

ALTER TABLE token ADD COLUMN client_id TEXT;   -- OAuth: of which program; null: a token that is its own secret
ALTER TABLE token ADD COLUMN user_id INTEGER;  -- OAuth: who let it in; it never may more than this person may
CREATE INDEX token_client ON token (client_id) WHERE client_id IS NOT NULL;
CREATE INDEX token_user ON token (user_id) WHERE user_id IS NOT NULL;

CREATE TABLE oauth_client (
  id TEXT PRIMARY KEY,                   -- registered by itself (RFC 7591); one with a metadata document has no row
  name TEXT NOT NULL,                    -- what it calls itself
  redirect_uris TEXT NOT NULL,           -- JSON list
  created_at INTEGER NOT NULL,
  used_at INTEGER                        -- a person let it in; the others vanish within a day
) STRICT, WITHOUT ROWID;
CREATE INDEX oauth_client_created ON oauth_client (created_at);

CREATE TABLE oauth_code (
  code_hash BLOB PRIMARY KEY,
  organization_id INTEGER NOT NULL,
  user_id INTEGER NOT NULL,
  client_id TEXT NOT NULL,
  client_name TEXT NOT NULL,
  redirect_uri TEXT NOT NULL,
  challenge TEXT NOT NULL,               -- PKCE, S256
  actions TEXT NOT NULL,                 -- as in token
  mailboxes TEXT,                        -- as in token
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  spent_at INTEGER,
  token_id INTEGER                       -- what it was exchanged for
) STRICT, WITHOUT ROWID;
CREATE INDEX oauth_code_expires ON oauth_code (expires_at);

CREATE TABLE oauth_secret (
  secret_hash BLOB PRIMARY KEY,
  token_id INTEGER NOT NULL,
  kind TEXT NOT NULL,                    -- 'access', 'refresh'
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  spent_at INTEGER                       -- of a refresh token: exchanged for the next one
) STRICT, WITHOUT ROWID;
CREATE INDEX oauth_secret_token ON oauth_secret (token_id, kind, created_at);
CREATE INDEX oauth_secret_expires ON oauth_secret (expires_at);
