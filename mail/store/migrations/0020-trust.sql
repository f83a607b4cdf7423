-- What this box itself found out about a message from outside, and what its tenant wants done with it.

CREATE TABLE judged (
  email_id INTEGER PRIMARY KEY,          -- only of messages that came from outside
  trust TEXT NOT NULL,                   -- JSON, mail/policy/trust.ts Trust
  verdict TEXT NOT NULL,                 -- JSON, mail/policy/trust.ts Verdict: score and findings
  senders TEXT NOT NULL                  -- JSON, keys of its sender (mail/policy/sender-keys.ts): what is said of it later counts for them
) STRICT;

CREATE TABLE mail_policy (
  tenant INTEGER PRIMARY KEY,            -- a tenant without a row has what mail/policy/mail-policy.ts says
  dmarc TEXT NOT NULL,                   -- what a failed DMARC policy leads to: follow, junk or mark
  rejects INTEGER NOT NULL               -- 1: refused mail can be looked at for some days
) STRICT;

CREATE TABLE reject (
  email_id INTEGER PRIMARY KEY,          -- a message that was refused and can be looked at for some days
  account_id INTEGER NOT NULL,
  mailbox_id INTEGER NOT NULL,           -- where it was put; what a person moved elsewhere stays
  uid INTEGER NOT NULL,
  at INTEGER NOT NULL
) STRICT;
CREATE INDEX reject_account ON reject (account_id, at);
CREATE INDEX reject_at ON reject (at);

CREATE TABLE rejects_mailbox (
  account_id INTEGER PRIMARY KEY,
  mailbox_id INTEGER NOT NULL            -- ours: a mailbox of this name that a person made is never emptied
) STRICT;
