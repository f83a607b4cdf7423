-- DNS providers that domains are connected to, and the records that this server wrote there. Times are in milliseconds UTC.

CREATE TABLE dns_provider (
  domain_id INTEGER PRIMARY KEY,         -- the domain
  provider TEXT NOT NULL,                -- kind of the provider, such as cloudflare
  zone TEXT NOT NULL,                    -- zone at the provider that holds the domain
  ref TEXT NOT NULL,                     -- random id that the sealed credentials are bound to
  sealed BLOB NOT NULL,                  -- credentials as JSON, sealed (AES-256-GCM)
  connected_at INTEGER NOT NULL,         -- time of the connection
  published_at INTEGER,                  -- time of the last publication; null: never published
  tried_at INTEGER,                      -- time of the last access; null: none since the connection
  error TEXT                             -- why the last access failed; null: it did not
) STRICT;

-- Nothing else is ever changed or removed at the provider.
CREATE TABLE dns_written (
  domain_id INTEGER NOT NULL,            -- the domain
  type TEXT NOT NULL,                    -- type of the record
  name TEXT NOT NULL,                    -- full name in lower case
  value TEXT NOT NULL,                   -- value
  before TEXT,                           -- JSON of the record of others that it replaced (SPF); null: none
  written_at INTEGER NOT NULL,           -- time just before it was written
  PRIMARY KEY (domain_id, type, name, value)
) STRICT, WITHOUT ROWID;
