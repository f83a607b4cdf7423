-- Octets that a JMAP client brought, for messages that it is about to write. RFC 8620 6.1.
CREATE TABLE jmap_upload (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  account_id INTEGER NOT NULL,
  blob_id INTEGER NOT NULL,
  type TEXT NOT NULL,                    -- media type as the client said
  size INTEGER NOT NULL,
  expires_at INTEGER NOT NULL
) STRICT;
CREATE INDEX jmap_upload_account ON jmap_upload (account_id);
CREATE INDEX jmap_upload_blob ON jmap_upload (blob_id);
CREATE INDEX jmap_upload_expires ON jmap_upload (expires_at);
