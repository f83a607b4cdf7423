-- What a message is, read once from its octets. One row for all copies, and in the order of arrival: rows that are
-- sorted by account are inserted into the middle of their table, where each costs four pages instead of one.

ALTER TABLE email_meta RENAME TO email_meta_v1;

CREATE TABLE message_index (
  blob_id INTEGER PRIMARY KEY,           -- octets of the message
  header_length INTEGER NOT NULL,        -- octets of the header
  envelope TEXT NOT NULL,                -- IMAP ENVELOPE as sent on the wire
  bodystructure TEXT NOT NULL,           -- IMAP BODYSTRUCTURE as sent on the wire
  parts TEXT NOT NULL,                   -- JSON table of the MIME parts
  subject TEXT NOT NULL,                 -- decoded subject
  preview TEXT NOT NULL,                 -- begin of the text
  refs BLOB NOT NULL                     -- 64-bit hashes of its Message-ID and of those it replies to, for THREAD
) STRICT;

-- The index of an email. Emails that were stored before this table have their own row. A LEFT JOIN to this view would
-- read all emails, so such a statement joins the tables.
CREATE VIEW email_meta AS
  SELECT e.id AS email_id, ifnull(i.header_length, v.header_length) AS header_length,
    ifnull(i.envelope, v.envelope) AS envelope, ifnull(i.bodystructure, v.bodystructure) AS bodystructure,
    ifnull(i.parts, v.parts) AS parts, ifnull(i.subject, v.subject) AS subject,
    ifnull(i.preview, v.preview) AS preview, ifnull(i.refs, v.refs) AS refs
  FROM email e LEFT JOIN message_index i ON i.blob_id = e.blob_id
    LEFT JOIN email_meta_v1 v ON i.blob_id IS NULL AND v.email_id = e.id;
