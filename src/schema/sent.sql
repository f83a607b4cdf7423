-- Mail sent by programs and agents, templates, uploads and webhooks.

-- Messages that were sent by the API or by agents. Their delivery is in the journal of the engine, by the trace id.
CREATE TABLE sent_email (
  id INTEGER PRIMARY KEY AUTOINCREMENT,  -- number of the message
  organization_id INTEGER NOT NULL,      -- organization that sent it
  credential TEXT NOT NULL,              -- public id of the key or token
  trace TEXT NOT NULL UNIQUE,            -- trace id
  message_id TEXT NOT NULL,              -- Message-ID with angle brackets
  sender TEXT NOT NULL,                  -- From address
  recipients TEXT NOT NULL,              -- JSON list of {address, state}: queued, suppressed
  subject TEXT NOT NULL,                 -- subject
  tags TEXT NOT NULL,                    -- JSON object
  created_at INTEGER NOT NULL,           -- time of acceptance
  scheduled_at INTEGER,                  -- requested time of sending; null: at once
  cancelled_at INTEGER,                  -- time of cancellation; null: not cancelled
  sha256 TEXT NOT NULL DEFAULT '',       -- SHA-256 of the octets, hex
  metadata TEXT NOT NULL DEFAULT '{}',   -- JSON object of the sender
  hold_reason TEXT,                      -- reason for a hold at acceptance; null: not held
  outbox_id INTEGER,                     -- submission of the engine while it was scheduled or held; null: sent at once
  reasons TEXT NOT NULL DEFAULT '[]'     -- JSON list of sentences: all reasons for a hold at acceptance
) STRICT;
CREATE INDEX sent_email_organization ON sent_email (organization_id, id);
CREATE INDEX sent_email_created ON sent_email (created_at);

CREATE TABLE template (
  id INTEGER PRIMARY KEY AUTOINCREMENT,  -- number of the template
  organization_id INTEGER NOT NULL,      -- organization that owns it
  name TEXT NOT NULL,                    -- name of the template
  version INTEGER NOT NULL,              -- number of the newest version
  created_at INTEGER NOT NULL,           -- time of creation
  UNIQUE (organization_id, name)
) STRICT;

CREATE TABLE template_version (
  template_id INTEGER NOT NULL,          -- the template
  version INTEGER NOT NULL,              -- number of the version
  subject TEXT NOT NULL,                 -- subject with placeholders
  text TEXT,                             -- plain text with placeholders; null: none
  html TEXT,                             -- HTML with placeholders; null: none
  created_by TEXT NOT NULL,              -- public id of the actor
  created_at INTEGER NOT NULL,           -- time of creation
  PRIMARY KEY (template_id, version)
) STRICT, WITHOUT ROWID;

-- Uploaded files for messages to be written. A file belongs to the credential that uploaded it.
CREATE TABLE upload (
  id INTEGER PRIMARY KEY AUTOINCREMENT,  -- number of the upload
  organization_id INTEGER NOT NULL,      -- organization of the credential
  credential TEXT NOT NULL,              -- public id of the credential
  name TEXT NOT NULL,                    -- name that the credential chose
  blob_id INTEGER NOT NULL,              -- the octets
  size INTEGER NOT NULL,                 -- octets
  expires_at INTEGER NOT NULL,           -- time from which it is purged
  filename TEXT NOT NULL DEFAULT '',     -- file name of the attachment
  content_type TEXT NOT NULL DEFAULT '', -- media type of the attachment
  UNIQUE (credential, name)
) STRICT;
CREATE INDEX upload_expires ON upload (expires_at);
CREATE INDEX upload_blob ON upload (blob_id);

-- Webhooks: a listener of the engine, and the URL that receives its events.
CREATE TABLE webhook (
  listener_id INTEGER PRIMARY KEY,       -- listener of the engine
  organization_id INTEGER NOT NULL,      -- organization that owns it
  account_id INTEGER UNIQUE,             -- account that it listens to; null: the organization
  project_id INTEGER,                    -- limit to mail sent by a project; null: none
  url TEXT NOT NULL,                     -- URL of the receiver
  secret BLOB NOT NULL,                  -- sealed for (webhook, account), or (webhook, `organization/<id>`)
  created_at INTEGER NOT NULL,           -- time of creation
  last_delivery_at INTEGER,              -- time of the last attempt; null: none
  last_status INTEGER,                   -- HTTP status of the last attempt; null: no response
  failures INTEGER NOT NULL DEFAULT 0,   -- failures in a row
  failing_since INTEGER,                 -- time of the first of them; null: works
  disabled_at INTEGER,                   -- time of disabling after days of failures; null: enabled
  dead_notified_at INTEGER               -- time at which the owners were notified of given-up events; null: not yet
) STRICT;
CREATE INDEX webhook_organization ON webhook (organization_id, listener_id);

-- Attempts to deliver an event.
CREATE TABLE webhook_delivery (
  id INTEGER PRIMARY KEY AUTOINCREMENT,  -- number of the attempt
  listener_id INTEGER NOT NULL,          -- the listener
  account_id INTEGER,                    -- account of a mailbox webhook; null: of the organization
  event_id INTEGER NOT NULL,             -- id of the event, the same for every attempt
  event TEXT NOT NULL,                   -- journal event
  email_id INTEGER,                      -- message that arrived; null: outgoing mail
  trace TEXT NOT NULL,                   -- trace id of an outgoing message; '' for an incoming one
  at INTEGER NOT NULL,                   -- time of the attempt
  url TEXT NOT NULL,                     -- URL at that time
  outcome TEXT NOT NULL,                 -- told (delivered), later (will retry), dead (given up)
  status INTEGER,                        -- HTTP status; null: no response
  problem TEXT,                          -- why there was no response, or why it does not count; null: none
  request TEXT NOT NULL,                 -- start of the request, without text of outside senders
  response TEXT NOT NULL,                -- start of the response
  duration_ms INTEGER NOT NULL           -- duration in milliseconds
) STRICT;
CREATE INDEX webhook_delivery_listener ON webhook_delivery (listener_id, id);
CREATE INDEX webhook_delivery_email ON webhook_delivery (email_id) WHERE email_id IS NOT NULL;
CREATE INDEX webhook_delivery_event ON webhook_delivery (event_id);
