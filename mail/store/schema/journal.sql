-- The journal: events of every message from RCPT to delivery or bounce, its index and its hourly counts.

CREATE TABLE journal (
  id INTEGER PRIMARY KEY,                -- number of the line
  at INTEGER NOT NULL,                   -- time of the event
  trace TEXT NOT NULL,                   -- trace id of the message
  event TEXT NOT NULL,                   -- received, submitted, delivered, deferred, failed, held, ...
  account_id INTEGER,                    -- account that the event concerns; null: none
  detail TEXT NOT NULL,                  -- JSON, fields of the event
  tenant INTEGER                         -- organization that may see the line; null: nobody
) STRICT;
CREATE INDEX journal_trace ON journal (trace);

-- Keys other than the trace id by which a message is found.
CREATE TABLE journal_key (
  id INTEGER PRIMARY KEY,                -- grows with time: the oldest are purged first, as in the journal
  tenant INTEGER NOT NULL,               -- organization that may see the message
  key INTEGER NOT NULL,                  -- 48 bits of a hash of its Message-ID, an address, or the id of an email
  at INTEGER NOT NULL,                   -- time of the event
  account_id INTEGER,                    -- account of the message; null: of the organization
  trace TEXT NOT NULL                    -- trace id of the message
) STRICT;
CREATE INDEX journal_key_lookup ON journal_key (tenant, key, at);

CREATE TABLE journal_indexed (
  only INTEGER PRIMARY KEY CHECK (only = 1), -- single row
  line INTEGER NOT NULL                  -- last line of the journal with keys and counts
) STRICT;

-- Events by hour, counted from the journal in slices: lines of all tenants are mixed there, so that counting for one
-- tenant would read those of all.
CREATE TABLE journal_count (
  tenant INTEGER NOT NULL,               -- organization
  hour INTEGER NOT NULL,                 -- hours since 1970, UTC
  account INTEGER NOT NULL,              -- account, which may be deleted; 0: of the tenant only
  domain TEXT NOT NULL,                  -- domain of the account, else of the sender or the forward; '' when unknown
  kind TEXT NOT NULL,                    -- name of the counter
  n INTEGER NOT NULL,                    -- number of events
  PRIMARY KEY (tenant, hour, account, domain, kind)
) STRICT, WITHOUT ROWID;
CREATE INDEX journal_count_hour ON journal_count (hour);
