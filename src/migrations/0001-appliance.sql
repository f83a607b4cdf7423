-- What the appliance remembers beside the mail engine's tables. Times are milliseconds UTC. An `organization` is the
-- engine's tenant: the same number. Ids are never used twice (AUTOINCREMENT). Secrets are SHA-256 hashes, or sealed
-- (AES-256-GCM, mail/store/secrets.ts) where they must be readable again.

CREATE TABLE organization (
  id INTEGER PRIMARY KEY AUTOINCREMENT,  -- 1 is the operator's
  slug TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL,
  origin TEXT NOT NULL,                  -- 'operator', 'claim' (made for a human owner), 'own' (an agent's own)
  created_ip TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  claimed_at INTEGER,                    -- a human owner set a password or joined
  frozen_at INTEGER                      -- by the operator: nothing of it works
) STRICT;

CREATE TABLE project (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  organization_id INTEGER NOT NULL,
  name TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  UNIQUE (organization_id, name)
) STRICT;

CREATE TABLE user (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  email TEXT NOT NULL,                   -- as written
  email_key TEXT NOT NULL,               -- as compared: lower case, A-labels, no dot at the end
  display_name TEXT,
  password TEXT,                         -- argon2id, PHC string; null: pending, has never set one
  address_proven_at INTEGER,             -- opened a link that was mailed to the address
  created_at INTEGER NOT NULL
) STRICT;
-- Any number of pending owners may name an address; one person signs in with it.
CREATE UNIQUE INDEX user_sign_in ON user (email_key) WHERE password IS NOT NULL;
CREATE INDEX user_email ON user (email_key);

CREATE TABLE member (
  organization_id INTEGER NOT NULL,
  user_id INTEGER NOT NULL,
  role TEXT NOT NULL,                    -- 'owner', 'admin', 'member' (of the mailboxes in member_mailbox)
  created_at INTEGER NOT NULL,
  PRIMARY KEY (organization_id, user_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX member_user ON member (user_id);

CREATE TABLE member_mailbox (
  organization_id INTEGER NOT NULL,
  user_id INTEGER NOT NULL,
  account_id INTEGER NOT NULL,
  PRIMARY KEY (organization_id, user_id, account_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX member_mailbox_account ON member_mailbox (account_id);

CREATE TABLE link (
  id INTEGER PRIMARY KEY AUTOINCREMENT,  -- something that opens once: a claim, an invitation, a new password, a sign-in
  purpose TEXT NOT NULL,                 -- 'claim', 'invite', 'reset', 'sign-in'
  token_hash BLOB NOT NULL UNIQUE,
  organization_id INTEGER,
  user_id INTEGER,                       -- claim: the pending owner; reset, sign-in: whose
  email TEXT,                            -- invite: to whom
  role TEXT,                             -- invite: as what
  mailed INTEGER NOT NULL,               -- 1: it went to the address, so opening it proves the address
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  used_at INTEGER
) STRICT;
CREATE INDEX link_organization ON link (organization_id);
CREATE INDEX link_expires ON link (expires_at);

CREATE TABLE session (
  id INTEGER PRIMARY KEY AUTOINCREMENT,  -- a person signed in at the portal
  token_hash BLOB NOT NULL UNIQUE,
  user_id INTEGER NOT NULL,
  ip TEXT NOT NULL,
  agent TEXT NOT NULL,                   -- User-Agent, so that a person knows it again
  created_at INTEGER NOT NULL,
  last_used_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL
) STRICT;
CREATE INDEX session_user ON session (user_id);
CREATE INDEX session_expires ON session (expires_at);

CREATE TABLE token (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  token_hash BLOB NOT NULL UNIQUE,
  organization_id INTEGER NOT NULL,
  name TEXT NOT NULL,
  shown TEXT NOT NULL,                   -- its first characters, by which people know it again
  actions TEXT NOT NULL,                 -- space separated: read manage deploy logs restart rollback send mail_read
  project_id INTEGER,                    -- limits; null: none
  service_id INTEGER,
  mailboxes TEXT,                        -- JSON list of account ids
  owner INTEGER NOT NULL,                -- 1: of create_own_organization or of a recovery
  created_by TEXT NOT NULL,              -- public id of the user or token, or 'bootstrap', 'operator'
  created_at INTEGER NOT NULL,
  expires_at INTEGER,
  last_used_at INTEGER,
  revoked_at INTEGER
) STRICT;
CREATE INDEX token_organization ON token (organization_id);

CREATE TABLE mcp_session (
  nonce BLOB PRIMARY KEY,                -- of a signed Mcp-Session-Id; only those that were ended or bound have a row
  token_id INTEGER,                      -- an anonymous one that made an organization speaks for this token
  ended_at INTEGER,
  expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX mcp_session_expires ON mcp_session (expires_at);

CREATE TABLE recovery_key (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  organization_id INTEGER NOT NULL,
  label TEXT NOT NULL,
  public BLOB NOT NULL,                  -- the 32 octets of an Ed25519 key
  challenge BLOB,                        -- while pending
  challenge_expires_at INTEGER,
  attempts INTEGER NOT NULL DEFAULT 0,
  created_at INTEGER NOT NULL,
  activated_at INTEGER,
  revoked_at INTEGER
) STRICT;
CREATE INDEX recovery_key_organization ON recovery_key (organization_id);

CREATE TABLE recovery (
  id INTEGER PRIMARY KEY AUTOINCREMENT,  -- somebody proves with an active key that an organization is theirs
  recovery_key_id INTEGER NOT NULL,
  challenge BLOB NOT NULL,
  attempts INTEGER NOT NULL DEFAULT 0,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  used_at INTEGER
) STRICT;

CREATE TABLE hit (
  counter TEXT NOT NULL,                 -- what is counted: 'bootstrap-ip', 'bootstrap-email', ...
  subject TEXT NOT NULL,                 -- of whom: an address or network, hashed where it is a person's
  at INTEGER NOT NULL,
  nth INTEGER NOT NULL,                  -- several in one millisecond
  PRIMARY KEY (counter, subject, at, nth)
) STRICT, WITHOUT ROWID;
CREATE INDEX hit_at ON hit (at);

CREATE TABLE domain_setup (
  domain_id INTEGER PRIMARY KEY,         -- what the appliance knows of an engine's domain
  project_id INTEGER NOT NULL,
  managed INTEGER NOT NULL DEFAULT 0,    -- its NS point here: records appear and vanish by themselves
  checks TEXT,                           -- JSON, of the last check
  last_checked_at INTEGER,
  failing_since INTEGER                  -- verified once, fails the re-check since
) STRICT;
CREATE INDEX domain_setup_project ON domain_setup (project_id);

CREATE TABLE mailbox_setup (
  account_id INTEGER PRIMARY KEY,        -- what the appliance knows of an engine's account
  project_id INTEGER NOT NULL,
  display_name TEXT
) STRICT;
CREATE INDEX mailbox_setup_project ON mailbox_setup (project_id);

CREATE TABLE service (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  organization_id INTEGER NOT NULL,
  project_id INTEGER NOT NULL,
  name TEXT NOT NULL,
  control TEXT NOT NULL DEFAULT '{"kind":"none"}', -- JSON; given by the operator at the command line, never by a token
  revision INTEGER NOT NULL DEFAULT 0,   -- number of the current one; 0: nothing was deployed
  created_at INTEGER NOT NULL,
  UNIQUE (project_id, name)
) STRICT;
CREATE INDEX service_organization ON service (organization_id);

CREATE TABLE service_revision (
  service_id INTEGER NOT NULL,
  number INTEGER NOT NULL,
  env BLOB NOT NULL,                     -- JSON object, sealed for (service_revision, `<service>/<number>`)
  spec TEXT NOT NULL,                    -- free JSON
  state TEXT NOT NULL,                   -- 'running', 'superseded', 'failed'
  detail TEXT NOT NULL,                  -- what its control said
  created_by TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (service_id, number)
) STRICT, WITHOUT ROWID;

CREATE TABLE service_mailbox (
  service_id INTEGER NOT NULL,
  account_id INTEGER NOT NULL,
  alias TEXT NOT NULL DEFAULT '',        -- EMAIL_<ALIAS>_..., '' for EMAIL_...
  created_at INTEGER NOT NULL,
  PRIMARY KEY (service_id, account_id),
  UNIQUE (service_id, alias)
) STRICT, WITHOUT ROWID;
CREATE INDEX service_mailbox_account ON service_mailbox (account_id);

CREATE TABLE api_key (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  key_hash BLOB NOT NULL UNIQUE,
  organization_id INTEGER NOT NULL,
  project_id INTEGER NOT NULL,
  name TEXT NOT NULL,
  shown TEXT NOT NULL,
  allowed_domains TEXT,                  -- JSON list of names in A-labels; null: every verified one
  created_at INTEGER NOT NULL,
  expires_at INTEGER,
  last_used_at INTEGER,
  revoked_at INTEGER
) STRICT;
CREATE INDEX api_key_organization ON api_key (organization_id);

CREATE TABLE webhook (
  account_id INTEGER PRIMARY KEY,
  organization_id INTEGER NOT NULL,
  url TEXT NOT NULL,
  secret BLOB NOT NULL,                  -- sealed for (webhook, account)
  enabled INTEGER NOT NULL DEFAULT 1,
  created_at INTEGER NOT NULL,
  last_delivery_at INTEGER,
  last_status INTEGER,
  failures INTEGER NOT NULL DEFAULT 0    -- one after another
) STRICT;

CREATE TABLE audit (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  organization_id INTEGER NOT NULL,
  at INTEGER NOT NULL,
  actor TEXT NOT NULL,                   -- public id of the token or user; 'operator', 'anonymous', 'mailstead'
  actor_name TEXT NOT NULL,
  way TEXT NOT NULL,                     -- 'mcp', 'mcp-session', 'rest', 'portal', 'command-line', 'box'
  ip TEXT NOT NULL,
  operation TEXT NOT NULL,
  target TEXT NOT NULL,                  -- public id or name of what it was done to
  outcome TEXT NOT NULL,                 -- 'done', or the code of the refusal
  detail TEXT NOT NULL,                  -- JSON, no secrets
  previous BLOB NOT NULL,                -- hash of the organization's row before
  hash BLOB NOT NULL                     -- SHA-256 over previous and this row
) STRICT;
CREATE INDEX audit_organization ON audit (organization_id, id);
