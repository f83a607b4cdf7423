-- Tokens, API keys and OAuth.

CREATE TABLE token (
  id INTEGER PRIMARY KEY AUTOINCREMENT,  -- number of the token
  token_hash BLOB NOT NULL UNIQUE,       -- SHA-256 of the token
  organization_id INTEGER NOT NULL,      -- organization that it acts for
  name TEXT NOT NULL,                    -- name that its creator gave it
  display_prefix TEXT NOT NULL,          -- first characters, by which people recognize it
  actions TEXT NOT NULL,                 -- space separated: read manage deploy logs restart rollback send mail_read
  project_id INTEGER,                    -- limit to a project; null: none
  service_id INTEGER,                    -- limit to a service; null: none
  mailboxes TEXT,                        -- limit to accounts, JSON list of ids; null: none
  owner INTEGER NOT NULL,                -- 1: from create_own_organization or a recovery
  created_by TEXT NOT NULL,              -- public id of the user or token, or 'bootstrap', 'operator'
  created_at INTEGER NOT NULL,           -- time of creation
  expires_at INTEGER,                    -- time at which it expires; null: never
  last_used_at INTEGER,                  -- time of the last use; null: unused
  revoked_at INTEGER,                    -- time of revocation; null: valid
  mode TEXT NOT NULL DEFAULT 'normal',   -- mode of the agent: normal, draft_only, reply_only, read_only, frozen
  client_id TEXT,                        -- OAuth: client; null: the token is its own secret
  user_id INTEGER,                      -- OAuth: person that consented and whose rights are the upper limit; null: none
  parent_id INTEGER,                     -- token that it was derived from and ends with; null: none
  narrow TEXT                            -- JSON of the limits of a derived token; null: none
) STRICT;
CREATE INDEX token_organization ON token (organization_id);
CREATE INDEX token_client ON token (client_id) WHERE client_id IS NOT NULL;
CREATE INDEX token_user ON token (user_id) WHERE user_id IS NOT NULL;
CREATE INDEX token_parent ON token (parent_id) WHERE parent_id IS NOT NULL;

-- Signed Mcp-Session-Ids that were ended or bound; others have no row.
CREATE TABLE mcp_session (
  nonce BLOB PRIMARY KEY,                -- nonce of the session id
  token_id INTEGER,                      -- token of an anonymous session that created an organization; null: none
  ended_at INTEGER,                      -- time of its end; null: open
  expires_at INTEGER NOT NULL            -- time at which it expires
) STRICT, WITHOUT ROWID;
CREATE INDEX mcp_session_expires ON mcp_session (expires_at);

CREATE TABLE api_key (
  id INTEGER PRIMARY KEY AUTOINCREMENT,  -- number of the key
  key_hash BLOB NOT NULL UNIQUE,         -- SHA-256 of the key
  organization_id INTEGER NOT NULL,      -- organization that it sends for
  project_id INTEGER NOT NULL,           -- project that it sends for
  name TEXT NOT NULL,                    -- name that its creator gave it
  display_prefix TEXT NOT NULL,          -- first characters, by which people recognize it
  allowed_domains TEXT,                  -- JSON list of domains in A-labels; null: every verified one
  created_at INTEGER NOT NULL,           -- time of creation
  expires_at INTEGER,                    -- time at which it expires; null: never
  last_used_at INTEGER,                  -- time of the last use; null: unused
  revoked_at INTEGER,                    -- time of revocation; null: valid
  detect_duplicates INTEGER NOT NULL DEFAULT 0 -- 1: the same message within ten minutes is sent once
) STRICT;
CREATE INDEX api_key_organization ON api_key (organization_id);

-- OAuth: a grant is a row of `token`, so that limits, policies and revocation are the same; its short-lived secrets are
-- in oauth_secret.
CREATE TABLE oauth_client (
  id TEXT PRIMARY KEY,                   -- client_id of a registered client (RFC 7591), not of metadata documents
  name TEXT NOT NULL,                    -- client_name
  redirect_uris TEXT NOT NULL,           -- JSON list
  created_at INTEGER NOT NULL,           -- time of registration
  used_at INTEGER                        -- time of the first consent; clients without one are purged within a day
) STRICT, WITHOUT ROWID;
CREATE INDEX oauth_client_created ON oauth_client (created_at);

CREATE TABLE oauth_code (
  code_hash BLOB PRIMARY KEY,            -- SHA-256 of the authorization code
  organization_id INTEGER NOT NULL,      -- organization that was chosen
  user_id INTEGER NOT NULL,              -- person that consented
  client_id TEXT NOT NULL,               -- the client
  client_name TEXT NOT NULL,             -- name of the client at consent
  redirect_uri TEXT NOT NULL,            -- redirect URI of the request
  challenge TEXT NOT NULL,               -- PKCE code challenge, S256
  actions TEXT NOT NULL,                 -- as in token
  mailboxes TEXT,                        -- as in token
  created_at INTEGER NOT NULL,           -- time of consent
  expires_at INTEGER NOT NULL,           -- time at which it expires
  redeemed_at INTEGER,                   -- time of exchange; null: unused
  token_id INTEGER                       -- token that it was exchanged for; null: none
) STRICT, WITHOUT ROWID;
CREATE INDEX oauth_code_expires ON oauth_code (expires_at);

CREATE TABLE oauth_secret (
  secret_hash BLOB PRIMARY KEY,          -- SHA-256 of the secret
  token_id INTEGER NOT NULL,             -- the grant
  kind TEXT NOT NULL,                    -- 'access' or 'refresh'
  created_at INTEGER NOT NULL,           -- time of issue
  expires_at INTEGER NOT NULL,           -- time at which it expires
  redeemed_at INTEGER                    -- time at which a refresh token was exchanged; null: unused
) STRICT, WITHOUT ROWID;
CREATE INDEX oauth_secret_token ON oauth_secret (token_id, kind, created_at);
CREATE INDEX oauth_secret_expires ON oauth_secret (expires_at);

-- Hits of rate limits that survive a restart.
CREATE TABLE rate_limit_hit (
  counter TEXT NOT NULL,                 -- name of the limit: 'bootstrap-ip', 'bootstrap-email', ...
  subject TEXT NOT NULL,                 -- address or network, hashed where it identifies a person
  at INTEGER NOT NULL,                   -- time
  nth INTEGER NOT NULL,                  -- distinguishes hits of the same millisecond
  PRIMARY KEY (counter, subject, at, nth)
) STRICT, WITHOUT ROWID;
CREATE INDEX rate_limit_hit_at ON rate_limit_hit (at);
