-- Organizations, projects and people. An organization is a tenant of the mail engine: the same number. Times are in
-- milliseconds UTC. Secrets are SHA-256 hashes, or sealed (AES-256-GCM) where they must be readable again.

CREATE TABLE organization (
  id INTEGER PRIMARY KEY AUTOINCREMENT,  -- number of the organization; 1 is the operator's
  slug TEXT NOT NULL UNIQUE,             -- public id
  name TEXT NOT NULL,                    -- display name
  origin TEXT NOT NULL,            -- 'operator', 'claim' (created for a person), 'own' (created by an agent for itself)
  created_ip TEXT NOT NULL,              -- address of the creator
  created_at INTEGER NOT NULL,           -- time of creation
  claimed_at INTEGER,                    -- time at which a person set a password or joined; null: unclaimed
  frozen_at INTEGER,                     -- time at which the operator froze it; null: active
  confirm_forwards INTEGER NOT NULL DEFAULT 0, -- 1: new outside forwards need confirmation by the destination
  agents_stopped_at INTEGER              -- time at which a person stopped all agents; null: they work
) STRICT;

CREATE TABLE project (
  id INTEGER PRIMARY KEY AUTOINCREMENT,  -- number of the project
  organization_id INTEGER NOT NULL,      -- organization that owns it
  name TEXT NOT NULL,                    -- name of the project
  created_at INTEGER NOT NULL,           -- time of creation
  UNIQUE (organization_id, name)
) STRICT;

CREATE TABLE user (
  id INTEGER PRIMARY KEY AUTOINCREMENT,  -- number of the person
  email TEXT NOT NULL,                   -- address as written
  email_key TEXT NOT NULL,               -- address as compared: lower case, A-labels, no trailing dot
  display_name TEXT,                     -- name of the person; null: unknown
  password TEXT,                         -- argon2id PHC string; null: pending, never set one
  address_verified_at INTEGER,           -- time at which a mailed link was opened; null: unverified
  created_at INTEGER NOT NULL            -- time of creation
) STRICT;
-- Several pending owners may name an address; only one person signs in with it.
CREATE UNIQUE INDEX user_sign_in ON user (email_key) WHERE password IS NOT NULL;
CREATE INDEX user_email ON user (email_key);

CREATE TABLE member (
  organization_id INTEGER NOT NULL,      -- the organization
  user_id INTEGER NOT NULL,              -- the person
  role TEXT NOT NULL,                    -- 'owner', 'admin', 'member' (of the mailboxes in member_mailbox)
  created_at INTEGER NOT NULL,           -- time of joining
  digest_disabled_at INTEGER,            -- time at which an owner disabled the daily digest; null: enabled
  PRIMARY KEY (organization_id, user_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX member_user ON member (user_id);

CREATE TABLE member_mailbox (
  organization_id INTEGER NOT NULL,      -- the organization
  user_id INTEGER NOT NULL,              -- the person
  account_id INTEGER NOT NULL,           -- account that the person may use
  PRIMARY KEY (organization_id, user_id, account_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX member_mailbox_account ON member_mailbox (account_id);

-- Links that open once: claim, invitation, password reset, sign-in.
CREATE TABLE link (
  id INTEGER PRIMARY KEY AUTOINCREMENT,  -- number of the link
  purpose TEXT NOT NULL,                 -- 'claim', 'invite', 'reset', 'sign-in'
  token_hash BLOB NOT NULL UNIQUE,       -- SHA-256 of its token
  organization_id INTEGER,               -- organization of a claim or invitation
  user_id INTEGER,                       -- claim: the pending owner; reset, sign-in: the person
  email TEXT,                            -- invite: invited address
  role TEXT,                             -- invite: role to be given
  mailed INTEGER NOT NULL,               -- 1: mailed to the address, so that opening it verifies the address
  created_at INTEGER NOT NULL,           -- time of creation
  expires_at INTEGER NOT NULL,           -- time at which it expires
  used_at INTEGER                        -- time of use; null: unused
) STRICT;
CREATE INDEX link_organization ON link (organization_id);
CREATE INDEX link_expires ON link (expires_at);

-- Sessions of people in the portal.
CREATE TABLE session (
  id INTEGER PRIMARY KEY AUTOINCREMENT,  -- number of the session
  token_hash BLOB NOT NULL UNIQUE,       -- SHA-256 of the cookie
  user_id INTEGER NOT NULL,              -- the person
  ip TEXT NOT NULL,                      -- address at sign-in
  agent TEXT NOT NULL,                   -- User-Agent, so that the person recognizes the session
  created_at INTEGER NOT NULL,           -- time of sign-in
  last_used_at INTEGER NOT NULL,         -- time of the last request
  expires_at INTEGER NOT NULL            -- time at which it expires
) STRICT;
CREATE INDEX session_user ON session (user_id);
CREATE INDEX session_expires ON session (expires_at);

CREATE TABLE recovery_key (
  id INTEGER PRIMARY KEY AUTOINCREMENT,  -- number of the key
  organization_id INTEGER NOT NULL,      -- organization that it recovers
  label TEXT NOT NULL,                   -- name that its owner gave it
  public BLOB NOT NULL,                  -- 32 octets of an Ed25519 public key
  challenge BLOB,                        -- challenge while pending; null: activated
  challenge_expires_at INTEGER,          -- time at which the challenge expires
  attempts INTEGER NOT NULL DEFAULT 0,   -- failed answers
  created_at INTEGER NOT NULL,           -- time of creation
  activated_at INTEGER,                  -- time of activation; null: pending
  revoked_at INTEGER                     -- time of revocation; null: valid
) STRICT;
CREATE INDEX recovery_key_organization ON recovery_key (organization_id);

-- Recoveries: somebody proves ownership of an organization with an active key.
CREATE TABLE recovery (
  id INTEGER PRIMARY KEY AUTOINCREMENT,  -- number of the recovery
  recovery_key_id INTEGER NOT NULL,      -- key that is used
  challenge BLOB NOT NULL,               -- challenge to sign
  attempts INTEGER NOT NULL DEFAULT 0,   -- failed answers
  created_at INTEGER NOT NULL,           -- time of creation
  expires_at INTEGER NOT NULL,           -- time at which it expires
  used_at INTEGER                        -- time of success; null: open
) STRICT;

-- Appliance data of a domain of the engine.
CREATE TABLE domain_setup (
  domain_id INTEGER PRIMARY KEY,         -- the domain
  project_id INTEGER NOT NULL,           -- project that it belongs to
  managed INTEGER NOT NULL DEFAULT 0,    -- 1: its NS point here, so that records are published by this server
  checks TEXT,                           -- JSON results of the last check; null: never checked
  last_checked_at INTEGER,               -- time of the last check
  failing_since INTEGER                  -- time since which a verified domain fails its check; null: passes
) STRICT;
CREATE INDEX domain_setup_project ON domain_setup (project_id);

-- Appliance data of an account of the engine.
CREATE TABLE mailbox_setup (
  account_id INTEGER PRIMARY KEY,        -- the account
  project_id INTEGER NOT NULL,           -- project that it belongs to
  display_name TEXT                      -- name for From; null: none
) STRICT;
CREATE INDEX mailbox_setup_project ON mailbox_setup (project_id);
