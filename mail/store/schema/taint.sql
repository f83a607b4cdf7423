-- Taint: untrusted and secret content that agents have read. The outgoing gate decides by it.

-- Tainted readers: one row for a token with its derived tokens, or for a mailbox password.
CREATE TABLE tainted_reader (
  reader TEXT PRIMARY KEY,               -- public id of a token or of a mailbox
  tenant INTEGER NOT NULL,               -- organization of the reader
  by_password INTEGER NOT NULL,          -- 1: reads with the password of a mailbox
  since INTEGER NOT NULL,                -- begin of the taint, without a day's break since
  last_at INTEGER NOT NULL               -- time of the last untrusted message read
) STRICT, WITHOUT ROWID;
CREATE INDEX tainted_reader_tenant ON tainted_reader (tenant, last_at);
CREATE INDEX tainted_reader_last ON tainted_reader (last_at);

-- The newest untrusted messages that a reader opened, which explain a decision.
CREATE TABLE untrusted_read (
  reader TEXT NOT NULL,                  -- as in tainted_reader
  email_id INTEGER NOT NULL,             -- message that was read
  account_id INTEGER NOT NULL,           -- account of the message
  credential TEXT NOT NULL,              -- credential that read it
  author TEXT NOT NULL,                  -- lookup key of the From address; '' for none
  verdict TEXT NOT NULL,                 -- clear, suspicious, quarantined
  authentic INTEGER NOT NULL,            -- 1: the domain of the author authenticates it
  at INTEGER NOT NULL,                   -- time of reading
  PRIMARY KEY (reader, email_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX untrusted_read_at ON untrusted_read (reader, at);
CREATE INDEX untrusted_read_account ON untrusted_read (account_id);

-- Content that agents downloaded, by its size: outgoing mail is compared with content of the same size.
CREATE TABLE downloaded_content (
  tenant INTEGER NOT NULL,               -- organization of the reader
  size INTEGER NOT NULL,                 -- octets of a decoded part, or of the whole message
  reader TEXT NOT NULL,                  -- as in tainted_reader
  email_id INTEGER NOT NULL,             -- message with the content
  by_password INTEGER NOT NULL,          -- 1: read with the password of a mailbox
  at INTEGER NOT NULL,                   -- time of the last download
  PRIMARY KEY (tenant, size, reader, email_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX downloaded_content_reader ON downloaded_content (reader, at);
CREATE INDEX downloaded_content_at ON downloaded_content (at);

-- Fingerprints of secrets that agents read: outgoing mail is searched for them, and no row reveals a secret.
CREATE TABLE shown_secret (
  tenant INTEGER NOT NULL,               -- organization of the reader
  digest BLOB NOT NULL,                  -- HMAC-SHA256 of its letters and digits
  kind TEXT NOT NULL,                    -- kind of secret, e.g. an API key of a vendor
  length INTEGER NOT NULL,               -- number of letters and digits
  print INTEGER NOT NULL,                -- masked 32-bit fingerprint that the search uses
  expires_at INTEGER NOT NULL,           -- time from which it is purged
  PRIMARY KEY (tenant, digest)
) STRICT, WITHOUT ROWID;
CREATE INDEX shown_secret_expires ON shown_secret (expires_at);

-- Canaries (honeytokens): no task requires an agent to open one, send it or write to it.
CREATE TABLE canary (
  id INTEGER PRIMARY KEY AUTOINCREMENT,  -- number of the canary
  tenant INTEGER NOT NULL,               -- organization that owns it
  account_id INTEGER NOT NULL,           -- account that holds it
  label TEXT NOT NULL,                   -- name that its owner gave it
  email_id INTEGER,                      -- planted message; null: none, or deleted
  address_key TEXT,                      -- lookup key of its address; null: none
  domain_id INTEGER,                     -- domain of that address; null: none
  digest BLOB,                           -- digest of its token, as in shown_secret; null: none
  length INTEGER,                        -- as in shown_secret
  print INTEGER,                         -- as in shown_secret
  created_by TEXT NOT NULL,              -- person that created it
  created_at INTEGER NOT NULL,           -- time of creation
  blob_id INTEGER                     -- octets of its message, which also finds copies; never reused; null: it had none
) STRICT;
CREATE INDEX canary_account ON canary (account_id);
CREATE INDEX canary_tenant ON canary (tenant);
CREATE INDEX canary_email ON canary (email_id) WHERE email_id IS NOT NULL;
CREATE UNIQUE INDEX canary_address ON canary (address_key) WHERE address_key IS NOT NULL;
CREATE INDEX canary_blob ON canary (blob_id) WHERE blob_id IS NOT NULL;

-- Agents that tripped a canary, once each until a person reviews it.
CREATE TABLE canary_trip (
  canary_id INTEGER NOT NULL,            -- the canary
  credential TEXT NOT NULL,              -- public id of a token, or of the mailbox whose password was used; '': unknown
  at INTEGER NOT NULL,                   -- time
  protocol TEXT NOT NULL,                -- protocol: imap, jmap, mcp, ...
  action TEXT NOT NULL,                  -- opened, shown, sent, written-to
  detail TEXT NOT NULL,                  -- JSON: recipients, or the sender
  notified_at INTEGER,                   -- time at which the owners were notified; null: not yet
  reviewed_at INTEGER,                   -- time of the review; null: open
  PRIMARY KEY (canary_id, credential)
) STRICT, WITHOUT ROWID;
CREATE INDEX canary_trip_unnotified ON canary_trip (at) WHERE notified_at IS NULL;
CREATE INDEX canary_trip_open ON canary_trip (credential) WHERE reviewed_at IS NULL;
