-- What the mail engine remembers. Times are milliseconds UTC. An `account` is what the interface calls a mailbox;
-- a `mailbox` is an IMAP mailbox of an account. Ids are never used twice (AUTOINCREMENT), so nothing that outlived
-- its owner can be read by the next one.

CREATE TABLE setting (
  name TEXT PRIMARY KEY,                 -- 'database-id', 'key-check', ...
  value BLOB NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE domain (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  tenant INTEGER NOT NULL,               -- the appliance's organization, a number to the engine
  name TEXT NOT NULL,                    -- A-labels, lower case
  state INTEGER NOT NULL DEFAULT 0,      -- 0 unverified, 1 verified
  created_at INTEGER NOT NULL,
  verified_at INTEGER
) STRICT;
CREATE INDEX domain_name ON domain (name);
-- Many may claim a domain, one has proved it.
CREATE UNIQUE INDEX domain_verified ON domain (name) WHERE state = 1;

CREATE TABLE dkim_key (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  domain_id INTEGER NOT NULL,
  selector TEXT NOT NULL,
  algorithm TEXT NOT NULL,               -- 'rsa-sha256' or 'ed25519-sha256'
  private BLOB NOT NULL,                 -- PKCS#8 PEM, sealed for (domain_id, selector)
  public TEXT NOT NULL,                  -- the TXT value to publish
  state INTEGER NOT NULL DEFAULT 1,      -- 1 signs, 0 published only
  created_at INTEGER NOT NULL,
  UNIQUE (domain_id, selector)
) STRICT;

CREATE TABLE account (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  tenant INTEGER NOT NULL,
  address TEXT NOT NULL,                 -- its own address as written, e.g. Anna@example.org
  state INTEGER NOT NULL DEFAULT 1,      -- 1 active, 0 frozen
  modseq INTEGER NOT NULL DEFAULT 1,     -- last given out: IMAP MODSEQ, JMAP state and webhook cursor are this one counter
  email_seq INTEGER NOT NULL DEFAULT 0,
  thread_seq INTEGER NOT NULL DEFAULT 0,
  uidvalidity_last INTEGER NOT NULL DEFAULT 0, -- max(now in s, last + 1) at each CREATE; never lower, never again
  used_bytes INTEGER NOT NULL DEFAULT 0,
  used_count INTEGER NOT NULL DEFAULT 0,
  quota_bytes INTEGER,                   -- null: no limit
  quota_count INTEGER,
  salt BLOB NOT NULL,                    -- one salt and count for all credentials: a SCRAM proof is tried against each
  iterations INTEGER NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;

CREATE TABLE address (
  key TEXT PRIMARY KEY,                  -- local part in lower case @ domain in A-labels
  domain_id INTEGER NOT NULL,
  account_id INTEGER,                    -- where mail for it goes
  kind TEXT NOT NULL,                    -- 'mailbox' or 'alias'
  created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX address_account ON address (account_id);
CREATE INDEX address_domain ON address (domain_id);

CREATE TABLE credential (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  ref TEXT NOT NULL UNIQUE,              -- random public id; the sealed password is bound to it
  account_id INTEGER NOT NULL,
  kind TEXT NOT NULL,                    -- 'mailbox' (the account's own password) or 'app'
  name TEXT NOT NULL,
  scopes TEXT NOT NULL,                  -- space separated: imap smtp jmap
  stored_key BLOB NOT NULL,              -- SCRAM-SHA-256 verifier, RFC 5803
  server_key BLOB NOT NULL,
  sealed BLOB,                           -- the password itself where it must be revealed again
  created_at INTEGER NOT NULL,
  expires_at INTEGER,
  last_used_at INTEGER
) STRICT;
CREATE INDEX credential_account ON credential (account_id);

CREATE TABLE keyword (
  account_id INTEGER NOT NULL,
  slot INTEGER NOT NULL,                 -- bit 5 to 30 of entry.flags
  name TEXT NOT NULL,                    -- first spelling, kept for IMAP
  lname TEXT NOT NULL,                   -- lower case
  PRIMARY KEY (account_id, slot),
  UNIQUE (account_id, lname)
) STRICT, WITHOUT ROWID;

CREATE TABLE mailbox (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  account_id INTEGER NOT NULL,
  parent_id INTEGER NOT NULL DEFAULT 0,  -- one level a row, so renaming a subtree is one row
  name TEXT NOT NULL,                    -- UTF-8 NFC, never modified UTF-7
  role TEXT,                             -- inbox drafts sent junk trash archive
  subscribed INTEGER NOT NULL DEFAULT 1,
  uidvalidity INTEGER NOT NULL,
  uidnext INTEGER NOT NULL DEFAULT 1,
  highestmodseq INTEGER NOT NULL DEFAULT 1,
  total INTEGER NOT NULL DEFAULT 0,      -- IMAP's view: \Deleted messages count
  unseen INTEGER NOT NULL DEFAULT 0,
  deleted INTEGER NOT NULL DEFAULT 0,
  bytes INTEGER NOT NULL DEFAULT 0,
  j_total INTEGER NOT NULL DEFAULT 0,    -- JMAP's view: without \Deleted; unread is neither $seen nor $draft
  j_unread INTEGER NOT NULL DEFAULT 0,
  created_modseq INTEGER NOT NULL,
  modseq INTEGER NOT NULL,               -- last change of anything but the counters
  vanished_floor INTEGER NOT NULL DEFAULT 0, -- expunges before this mod-sequence are no longer known one by one
  gone_at INTEGER,                       -- deleted: nobody sees it, its messages leave in slices
  UNIQUE (account_id, parent_id, name)
) STRICT;
CREATE UNIQUE INDEX mailbox_role ON mailbox (account_id, role) WHERE role IS NOT NULL;
CREATE INDEX mailbox_gone ON mailbox (gone_at) WHERE gone_at IS NOT NULL;

CREATE TABLE blob (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  size INTEGER NOT NULL,
  file TEXT,                             -- random name under blobs/, for more than 64 KiB
  data BLOB                              -- the octets themselves, up to 64 KiB
) STRICT;

CREATE TABLE email (
  id INTEGER PRIMARY KEY,                -- account_id * 2^32 + sequence: the rows of an account lie together
  account_id INTEGER NOT NULL,
  thread_id INTEGER NOT NULL,
  blob_id INTEGER NOT NULL,
  trace TEXT NOT NULL,                   -- header lines of this recipient's own, before the blob; one character an octet
  size INTEGER NOT NULL,                 -- octets of trace and blob: RFC822.SIZE
  received_at INTEGER NOT NULL,
  sent_at INTEGER NOT NULL,              -- Date field; 0 when missing
  sent_day INTEGER NOT NULL,             -- its own calendar day since 1970 whatever the zone; -1 when missing
  attach INTEGER NOT NULL,
  subj TEXT NOT NULL,                    -- base subject, RFC 5256 2.1
  from_k TEXT NOT NULL,
  to_k TEXT NOT NULL,
  cc_k TEXT NOT NULL,
  from_d TEXT NOT NULL,                  -- SORT=DISPLAY keys, RFC 5957
  to_d TEXT NOT NULL,
  created_modseq INTEGER NOT NULL,
  modseq INTEGER NOT NULL
) STRICT;
CREATE INDEX email_modseq ON email (account_id, modseq, created_modseq);
CREATE INDEX email_thread ON email (thread_id, received_at);
CREATE INDEX email_blob ON email (blob_id);

CREATE TABLE email_meta (
  email_id INTEGER PRIMARY KEY,          -- apart from email: cold, and read for one shown message at a time
  header_length INTEGER NOT NULL,
  envelope TEXT NOT NULL,                -- wire-ready IMAP
  bodystructure TEXT NOT NULL,
  parts TEXT NOT NULL,                   -- JSON part table, mail/message/index-types.ts
  subject TEXT NOT NULL,                 -- decoded
  preview TEXT NOT NULL,
  refs BLOB NOT NULL                     -- 64-bit hashes: own Message-ID, then what it answers; THREAD without a parse
) STRICT;

CREATE TABLE entry (
  mailbox_id INTEGER NOT NULL,           -- one message in one mailbox: an IMAP message, a JMAP mailboxId
  uid INTEGER NOT NULL,
  email_id INTEGER NOT NULL,
  flags INTEGER NOT NULL,                -- 1 \Seen 2 \Answered 4 \Flagged 8 \Draft 16 \Deleted, bits 5 to 30 keyword slots
  kw TEXT,                               -- keywords beyond the slots, space separated
  modseq INTEGER NOT NULL,
  received_at INTEGER NOT NULL,
  thread_id INTEGER NOT NULL,
  size INTEGER NOT NULL,
  save_at INTEGER NOT NULL,
  PRIMARY KEY (mailbox_id, uid)
) STRICT, WITHOUT ROWID;
CREATE INDEX entry_modseq ON entry (mailbox_id, modseq);
CREATE INDEX entry_email ON entry (email_id);
CREATE INDEX entry_date ON entry (mailbox_id, received_at, email_id, thread_id, flags);

CREATE TABLE expunged (
  mailbox_id INTEGER NOT NULL,           -- what left a mailbox: stale sessions may still fetch it, people may undo it
  uid INTEGER NOT NULL,
  email_id INTEGER NOT NULL,
  flags INTEGER NOT NULL,
  kw TEXT,
  received_at INTEGER NOT NULL,
  modseq INTEGER NOT NULL,
  at INTEGER NOT NULL,
  PRIMARY KEY (mailbox_id, uid)
) STRICT, WITHOUT ROWID;
CREATE INDEX expunged_modseq ON expunged (mailbox_id, modseq);
CREATE INDEX expunged_email ON expunged (email_id);
CREATE INDEX expunged_at ON expunged (at);

CREATE TABLE vanished (
  mailbox_id INTEGER NOT NULL,           -- what expunged rows become when their message goes: runs of UIDs
  modseq INTEGER NOT NULL,
  uid_lo INTEGER NOT NULL,
  uid_hi INTEGER NOT NULL,
  PRIMARY KEY (mailbox_id, modseq, uid_lo)
) STRICT, WITHOUT ROWID;

CREATE TABLE msgid (
  account_id INTEGER NOT NULL,           -- threading: a hash of a Message-ID leads to the thread that names it
  h INTEGER NOT NULL,
  subj_h INTEGER NOT NULL,               -- of the base subject: the same References under a new subject is a new thread
  thread_id INTEGER NOT NULL,
  PRIMARY KEY (account_id, h, subj_h)
) STRICT, WITHOUT ROWID;

CREATE TABLE submission (
  id INTEGER PRIMARY KEY AUTOINCREMENT,  -- one message that leaves, for all its recipients
  trace TEXT NOT NULL,                   -- the id under which logs and journal know it
  tenant INTEGER NOT NULL,
  account_id INTEGER,                    -- null: the box itself
  blob_id INTEGER NOT NULL,
  sender TEXT NOT NULL,                  -- envelope sender, '' is the null reverse-path
  smtputf8 INTEGER NOT NULL,
  eight_bit INTEGER NOT NULL,
  ret TEXT NOT NULL,                     -- DSN: FULL, HDRS or ''
  envid TEXT NOT NULL,
  sign_as TEXT NOT NULL,                 -- domains whose keys sign it, space separated; '': the envelope sender's, else the box's
  size INTEGER NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX submission_blob ON submission (blob_id);

CREATE TABLE queue (
  id INTEGER PRIMARY KEY AUTOINCREMENT,  -- one recipient that has not got it yet; the row goes when it has, or never will
  submission_id INTEGER NOT NULL,
  recipient TEXT NOT NULL,
  domain TEXT NOT NULL,                  -- destination, A-labels
  state INTEGER NOT NULL,                -- 0 due at next_at, 1 held
  held_because TEXT,
  next_at INTEGER NOT NULL,
  attempts INTEGER NOT NULL DEFAULT 0,
  notify TEXT NOT NULL,                  -- DSN
  orcpt TEXT NOT NULL,
  delay_told INTEGER NOT NULL DEFAULT 0,
  last_at INTEGER,
  last_status TEXT,                      -- enhanced status code of the last attempt
  last_text TEXT,
  created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX queue_due ON queue (next_at) WHERE state = 0;
CREATE INDEX queue_submission ON queue (submission_id);

CREATE TABLE attempt (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  queue_id INTEGER NOT NULL,
  at INTEGER NOT NULL,                   -- recorded before dialling, so that a crash cannot hammer the remote
  ended_at INTEGER,
  outcome TEXT,                          -- delivered, deferred, failed; null while it runs or when the process died in it
  host TEXT,
  ip TEXT,
  code INTEGER,
  status TEXT,
  text TEXT,
  tls TEXT
) STRICT;
CREATE INDEX attempt_queue ON attempt (queue_id);
CREATE INDEX attempt_at ON attempt (at);

CREATE TABLE journal (
  id INTEGER PRIMARY KEY,                 -- what happened to a message, by its trace id, from RCPT to delivery or bounce
  at INTEGER NOT NULL,
  trace TEXT NOT NULL,
  event TEXT NOT NULL,                   -- received, submitted, delivered, deferred, failed, bounced, held, released, cancelled
  account_id INTEGER,
  detail TEXT NOT NULL                   -- JSON
) STRICT;
CREATE INDEX journal_trace ON journal (trace);
