-- Accounts, their addresses and their passwords. An account is what the interface calls a mailbox.
-- Every time in this database is in milliseconds UTC. AUTOINCREMENT means that an id is never used twice, so that data
-- which outlives its owner cannot be read by the next one.

CREATE TABLE setting (
  name TEXT PRIMARY KEY,                 -- name of the value, e.g. 'database-id' or 'key-check'
  value BLOB NOT NULL                    -- value, in the format that its reader defines
) STRICT, WITHOUT ROWID;

CREATE TABLE account (
  id INTEGER PRIMARY KEY AUTOINCREMENT,  -- number of the account
  tenant INTEGER NOT NULL,               -- organization that owns the account
  address TEXT NOT NULL,                 -- primary address as written, e.g. Anna@example.org
  state INTEGER NOT NULL DEFAULT 1,      -- 1 active, 0 frozen
  modseq INTEGER NOT NULL DEFAULT 1,     -- last IMAP MODSEQ; also the JMAP state and the webhook cursor
  email_seq INTEGER NOT NULL DEFAULT 0,  -- sequence number of the newest email
  thread_seq INTEGER NOT NULL DEFAULT 0, -- sequence number of the newest thread
  uidvalidity_last INTEGER NOT NULL DEFAULT 0, -- last UIDVALIDITY: max(now in s, last + 1) at CREATE, never reused
  used_bytes INTEGER NOT NULL DEFAULT 0, -- octets of all messages
  used_count INTEGER NOT NULL DEFAULT 0, -- number of messages
  quota_bytes INTEGER,                   -- limit of used_bytes; null: none
  quota_count INTEGER,                   -- limit of used_count; null: none
  salt BLOB NOT NULL,                    -- SCRAM salt of all credentials, so that one proof is tried against each
  iterations INTEGER NOT NULL,           -- SCRAM iteration count of all credentials
  created_at INTEGER NOT NULL            -- time of creation
) STRICT;

-- An address belongs to a domain claim. A tenant that has not verified a domain must not block the one that verifies it
-- later; mail and logins use the verified claim.
CREATE TABLE address (
  key TEXT NOT NULL,                     -- lookup key: local part in lower case @ domain in A-labels
  domain_id INTEGER NOT NULL,            -- domain claim that the address belongs to
  account_id INTEGER,                    -- account that receives its mail
  kind TEXT NOT NULL,                    -- 'mailbox' (primary) or 'alias'
  created_at INTEGER NOT NULL,           -- time of creation
  PRIMARY KEY (key, domain_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX address_account ON address (account_id);
CREATE INDEX address_domain ON address (domain_id);

CREATE TABLE credential (
  id INTEGER PRIMARY KEY AUTOINCREMENT,  -- number of the credential
  ref TEXT NOT NULL UNIQUE,              -- random public id; the sealed password is bound to it
  account_id INTEGER NOT NULL,           -- account that it logs in to
  kind TEXT NOT NULL,                    -- 'mailbox' (the password of the account) or 'app'
  name TEXT NOT NULL,                    -- name that its owner gave it
  scopes TEXT NOT NULL,                  -- allowed protocols, space separated: imap smtp jmap
  stored_key BLOB NOT NULL,              -- SCRAM-SHA-256 StoredKey, RFC 5803
  server_key BLOB NOT NULL,              -- SCRAM-SHA-256 ServerKey, RFC 5803
  sealed BLOB,                           -- encrypted password, where it must be shown again; null: not stored
  created_at INTEGER NOT NULL,           -- time of creation
  expires_at INTEGER,                    -- time from which it is refused; null: never
  last_used_at INTEGER                   -- time of the last login; null: never used
) STRICT;
CREATE INDEX credential_account ON credential (account_id);

-- Aliases: additional addresses for one or more accounts of the tenant, unlimited, until a time, or for a number of
-- messages.
CREATE TABLE alias (
  id INTEGER PRIMARY KEY AUTOINCREMENT,  -- number of the alias
  tenant INTEGER NOT NULL,               -- organization that owns it
  domain_id INTEGER NOT NULL,            -- domain claim that it belongs to
  key TEXT NOT NULL,                     -- lookup key of the address; '*' stands for any text
  wildcard INTEGER NOT NULL,             -- 1: the key has a '*'
  head TEXT NOT NULL,                    -- local part before the '*', or the whole local part
  tail TEXT NOT NULL,                    -- local part after the '*'
  note TEXT NOT NULL,                    -- purpose, in the words of its creator; '' for none
  expires_at INTEGER,                    -- time from which it rejects mail; null: never
  max_messages INTEGER,                  -- limit of `used`; null: none
  used INTEGER NOT NULL DEFAULT 0,       -- number of messages that it has accepted
  used_at INTEGER,                       -- time of the last one; null: none
  first_from TEXT NOT NULL DEFAULT '',   -- domain of the first envelope sender; '' before the first message
  created_at INTEGER NOT NULL,           -- time of creation
  UNIQUE (key, domain_id)
) STRICT;
CREATE INDEX alias_tenant ON alias (tenant);
CREATE INDEX alias_domain ON alias (domain_id, wildcard);

CREATE TABLE alias_account (
  alias_id INTEGER NOT NULL,             -- the alias
  account_id INTEGER NOT NULL,           -- account that receives its mail
  PRIMARY KEY (alias_id, account_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX alias_account_of ON alias_account (account_id);

-- Addresses that an account may send as: its own, and every alias without '*' that delivers to it.
CREATE VIEW own_address AS
  SELECT key, domain_id, account_id, kind FROM address
  UNION ALL
  SELECT a.key, a.domain_id, t.account_id, 'alias' FROM alias a JOIN alias_account t ON t.alias_id = a.id WHERE a.wildcard = 0;
