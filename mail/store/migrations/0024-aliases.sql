-- Addresses beside those of mailboxes: each leads to some mailboxes of its tenant, for ever, until a time, or for a number
-- of messages.
CREATE TABLE alias (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  tenant INTEGER NOT NULL,
  domain_id INTEGER NOT NULL,
  key TEXT NOT NULL,                     -- as an address is looked up; a '*' stands for any text
  wild INTEGER NOT NULL,                 -- 1: there is a '*'
  head TEXT NOT NULL,                    -- of the local part, what stands before the '*', or all of it
  tail TEXT NOT NULL,                    -- what stands behind it
  note TEXT NOT NULL,                    -- what it is for, in the words of who made it; '' for nothing
  expires_at INTEGER,                    -- null: never
  most INTEGER,                          -- messages that it takes; null: any number
  used INTEGER NOT NULL DEFAULT 0,       -- messages that it took
  used_at INTEGER,
  first_from TEXT NOT NULL DEFAULT '',   -- domain of the first envelope sender; '' while there was none
  created_at INTEGER NOT NULL,
  UNIQUE (key, domain_id)
) STRICT;
CREATE INDEX alias_tenant ON alias (tenant);
CREATE INDEX alias_domain ON alias (domain_id, wild);

CREATE TABLE alias_account (
  alias_id INTEGER NOT NULL,
  account_id INTEGER NOT NULL,
  PRIMARY KEY (alias_id, account_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX alias_account_of ON alias_account (account_id);

-- What an account may write as: its own address, and every alias without a '*' that leads to it.
CREATE VIEW own_address AS
  SELECT key, domain_id, account_id, kind FROM address
  UNION ALL
  SELECT a.key, a.domain_id, t.account_id, 'alias' FROM alias a JOIN alias_account t ON t.alias_id = a.id WHERE a.wild = 0;

-- Who may write to a mailbox or a tenant, and to whom they may.
CREATE TABLE sender_rule (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  tenant INTEGER NOT NULL,
  account_id INTEGER,                    -- null: all of the tenant
  outward INTEGER NOT NULL,              -- 1: about recipients of mail that leaves
  kind TEXT NOT NULL,                    -- 'allow' or 'block'
  pattern TEXT NOT NULL,                 -- an address as it is looked up, a domain, '*.domain', or a network
  note TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX sender_rule_pattern ON sender_rule (tenant, outward, pattern, ifnull(account_id, 0));
CREATE INDEX sender_rule_tenant ON sender_rule (tenant);
CREATE INDEX sender_rule_account ON sender_rule (account_id) WHERE account_id IS NOT NULL;
