-- Mail of agents that a person has to let go, and for some weeks what was decided. Bound to its octets and its envelope:
-- whatever of them changes afterwards makes it void.
CREATE TABLE approval (
  id INTEGER PRIMARY KEY,                -- its submission, which goes before this row does
  tenant INTEGER NOT NULL,
  account_id INTEGER,                    -- null: no mailbox sends it
  trace TEXT NOT NULL,
  credential TEXT NOT NULL,              -- who asks: public id of a token, or of the mailbox whose password it is
  sender TEXT NOT NULL,                  -- envelope sender
  recipients TEXT NOT NULL,              -- JSON list: the whole envelope
  subject TEXT NOT NULL,
  reasons TEXT NOT NULL,                 -- JSON list of {code, text, recipients}
  sha256 TEXT NOT NULL,                  -- of the octets, hex
  seal TEXT NOT NULL,                    -- of octets and envelope together, hex
  send_at INTEGER,                       -- it leaves not before; null: at once
  email_id INTEGER,                      -- the message as it lies in the mailbox; null: nowhere
  state TEXT NOT NULL,                   -- pending, approved, denied, expired, withdrawn
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  decided_at INTEGER,
  decided_by TEXT,
  told_at INTEGER                        -- when the owners were written to
) STRICT;
CREATE INDEX approval_tenant ON approval (tenant, id);
CREATE INDEX approval_account ON approval (account_id, id);
CREATE INDEX approval_pending ON approval (expires_at) WHERE state = 'pending';
CREATE INDEX approval_waits ON approval (tenant, id) WHERE state = 'pending';
CREATE INDEX approval_decided ON approval (decided_at) WHERE decided_at IS NOT NULL;
CREATE INDEX approval_email ON approval (email_id) WHERE email_id IS NOT NULL;
CREATE INDEX approval_untold ON approval (tenant) WHERE state = 'pending' AND told_at IS NULL;

-- The two mailboxes in which people decide with their mail program, made when an account first needs them.
CREATE TABLE approval_mailbox (
  account_id INTEGER PRIMARY KEY,
  waiting INTEGER NOT NULL,              -- what awaits approval lies here
  approved INTEGER NOT NULL              -- what a person moves here is sent
) STRICT;
