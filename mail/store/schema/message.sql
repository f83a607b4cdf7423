-- Messages: octets, index of the header, threading, and filter results.

CREATE TABLE blob (
  id INTEGER PRIMARY KEY AUTOINCREMENT,  -- number of the blob
  size INTEGER NOT NULL,                 -- octets
  file TEXT,                             -- random name under blobs/, for more than 64 KiB; null: inline
  data BLOB                              -- octets, up to 64 KiB; null: in the file
) STRICT;

CREATE TABLE email (
  id INTEGER PRIMARY KEY,                -- account_id * 2^32 + sequence: rows of an account are neighbors
  account_id INTEGER NOT NULL,           -- account that owns the message
  thread_id INTEGER NOT NULL,            -- thread that it belongs to
  blob_id INTEGER NOT NULL,              -- its octets
  trace TEXT NOT NULL,                   -- header lines of this recipient only, before the blob; one character an octet
  size INTEGER NOT NULL,                 -- octets of trace and blob: RFC822.SIZE
  received_at INTEGER NOT NULL,          -- INTERNALDATE
  sent_at INTEGER NOT NULL,              -- Date field; 0 when missing
  sent_day INTEGER NOT NULL,             -- calendar day of the Date field in its own zone, since 1970; -1 when missing
  attach INTEGER NOT NULL,               -- 1: has an attachment
  subj TEXT NOT NULL,                    -- base subject, RFC 5256 2.1
  from_k TEXT NOT NULL,                  -- SORT key of From, RFC 5256
  to_k TEXT NOT NULL,                    -- SORT key of To
  cc_k TEXT NOT NULL,                    -- SORT key of Cc
  from_d TEXT NOT NULL,                  -- SORT=DISPLAY key of From, RFC 5957
  to_d TEXT NOT NULL,                    -- SORT=DISPLAY key of To
  created_modseq INTEGER NOT NULL,       -- mod-sequence of creation
  modseq INTEGER NOT NULL,               -- last change
  visibility_modseq INTEGER,             -- when last made visible or hidden in JMAP; null: visible since created_modseq
  created_by TEXT,                       -- agent that created it here; null: a person or an outside sender
  redacted_from INTEGER             -- octets from here on are redacted for agents (link to a secret); null: none
) STRICT;
CREATE INDEX email_modseq ON email (account_id, modseq, created_modseq);
CREATE INDEX email_thread ON email (thread_id, received_at);
CREATE INDEX email_blob ON email (blob_id);
CREATE INDEX email_redacted ON email (id) WHERE redacted_from IS NOT NULL;

-- Rarely read columns of email, apart from it so that scans of email stay short.
CREATE TABLE email_meta (
  email_id INTEGER PRIMARY KEY,          -- the message
  header_length INTEGER NOT NULL,        -- octets of the header
  envelope TEXT NOT NULL,                -- IMAP ENVELOPE as sent on the wire
  bodystructure TEXT NOT NULL,           -- IMAP BODYSTRUCTURE as sent on the wire
  parts TEXT NOT NULL,                   -- JSON table of the MIME parts
  subject TEXT NOT NULL,                 -- decoded subject
  preview TEXT NOT NULL,                 -- begin of the text
  refs BLOB NOT NULL                     -- 64-bit hashes of its Message-ID and of those it replies to, for THREAD
) STRICT;

-- Threading: hashes of Message-IDs lead to the thread that contains them.
CREATE TABLE msgid (
  account_id INTEGER NOT NULL,           -- account of the thread
  h INTEGER NOT NULL,                    -- hash of the Message-ID
  subj_h INTEGER NOT NULL,               -- hash of the base subject: same References, new subject is a new thread
  thread_id INTEGER NOT NULL,            -- the thread
  PRIMARY KEY (account_id, h, subj_h)
) STRICT, WITHOUT ROWID;

-- Result of the filter for a message from outside.
CREATE TABLE filter_result (
  email_id INTEGER PRIMARY KEY,          -- the message
  trust TEXT NOT NULL,                   -- JSON: authentication results and flags
  verdict TEXT NOT NULL,                 -- JSON: score and findings
  senders TEXT NOT NULL                  -- JSON list of sender keys that later reports count for
) STRICT;

-- Filter settings of a tenant.
CREATE TABLE mail_policy (
  tenant INTEGER PRIMARY KEY,            -- the tenant; without a row it has the defaults
  dmarc TEXT NOT NULL,                   -- action on a DMARC failure: follow, junk or mark
  rejects INTEGER NOT NULL               -- 1: rejected mail is stored for review for some days
) STRICT;

-- Rejected messages that are stored for review.
CREATE TABLE reject (
  email_id INTEGER PRIMARY KEY,          -- the message
  account_id INTEGER NOT NULL,           -- recipient account
  mailbox_id INTEGER NOT NULL,   -- mailbox that it was stored in; not purged elsewhere
  uid INTEGER NOT NULL,                  -- UID there
  at INTEGER NOT NULL                    -- time of rejection
) STRICT;
CREATE INDEX reject_account ON reject (account_id, at);
CREATE INDEX reject_at ON reject (at);

CREATE TABLE rejects_mailbox (
  account_id INTEGER PRIMARY KEY,        -- the account
  mailbox_id INTEGER NOT NULL            -- mailbox created for rejects; one that a person created is never purged
) STRICT;

-- Messages of local origin: an account of this server sent them to another one, so their author was authenticated.
CREATE TABLE local_origin (
  email_id INTEGER PRIMARY KEY,          -- the message
  tenant INTEGER NOT NULL                -- organization of its author
) STRICT;

-- Messages quarantined from agents: they contain hidden content, or were rejected by the filter.
CREATE TABLE agent_quarantine (
  email_id INTEGER PRIMARY KEY,          -- the message
  requested_by TEXT NOT NULL,            -- actor that requested its release; '' for none
  reason TEXT NOT NULL,                  -- reason that the actor gave
  requested_at INTEGER,                  -- time of that request; null: none
  released_by TEXT NOT NULL,             -- person that released it; '' for none
  released_at INTEGER                    -- time of release; null: still quarantined
) STRICT;
