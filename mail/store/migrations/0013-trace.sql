-- Whose line of a story it is: each organization is told its own part, and nobody is told a line without one.
ALTER TABLE journal ADD COLUMN tenant INTEGER;
UPDATE journal SET tenant = (SELECT tenant FROM account WHERE account.id = journal.account_id) WHERE account_id IS NOT NULL;

-- What a message can be found by beside its trace id.
CREATE TABLE journal_key (
  id INTEGER PRIMARY KEY,                -- grows with time: the oldest go first, like those of the journal
  tenant INTEGER NOT NULL,
  key INTEGER NOT NULL,                  -- 48 bits of a hash: of its Message-ID, an address, the id of an email
  at INTEGER NOT NULL,
  account_id INTEGER,                    -- null: of no mailbox, but of the organization
  trace TEXT NOT NULL
) STRICT;
-- Up to which line of the journal there are keys.
CREATE TABLE journal_indexed (
  only INTEGER PRIMARY KEY CHECK (only = 1),
  line INTEGER NOT NULL
) STRICT;
CREATE INDEX journal_key_found ON journal_key (tenant, key, at);
