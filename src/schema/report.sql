-- Reports of other servers about hosted domains: DMARC (RFC 7489, RFC 9990) and SMTP TLS (RFC 8460).

-- Messages to a report address that were accepted and are not read yet.
CREATE TABLE report_inbox (
  id INTEGER PRIMARY KEY AUTOINCREMENT,  -- number of the message
  domain_id INTEGER NOT NULL,            -- domain of the address
  trace TEXT NOT NULL,                   -- trace id under which it was accepted
  received_at INTEGER NOT NULL,          -- time of acceptance
  verified TEXT NOT NULL,                -- domain whose DKIM signature passed; '' for none
  parts TEXT NOT NULL,                   -- its part table
  octets BLOB NOT NULL,                  -- the message
  attempts INTEGER NOT NULL DEFAULT 0,   -- times that reading it failed for a reason of this server
  due_at INTEGER NOT NULL,               -- time from which it is read
  UNIQUE (domain_id, trace)
) STRICT;
CREATE INDEX report_inbox_due ON report_inbox (due_at);

-- Reports that were read, each once.
CREATE TABLE received_report (
  id INTEGER PRIMARY KEY AUTOINCREMENT,  -- number of the report
  domain_id INTEGER NOT NULL,            -- domain that it is about
  kind TEXT NOT NULL,                    -- 'dmarc', 'tls', 'failure' (ruf, only counted) or 'unreadable'
  organization TEXT NOT NULL,            -- reporter, as it names itself
  report_id TEXT NOT NULL,               -- id that the reporter gave it; the trace id if it has none
  verified TEXT NOT NULL,                -- domain whose DKIM signature passed; '' for none
  begin_at INTEGER NOT NULL,             -- begin of the time that it is about
  end_at INTEGER NOT NULL,               -- end of that time
  received_at INTEGER NOT NULL,          -- time of acceptance
  policy TEXT NOT NULL,                  -- DMARC policy that the reporter found; '' for other kinds
  count INTEGER NOT NULL,                -- messages or sessions
  failed INTEGER NOT NULL,               -- those that failed
  problem TEXT NOT NULL,                 -- reason that it could not be read; '' for none
  UNIQUE (domain_id, kind, organization, report_id, verified)
) STRICT;
CREATE INDEX received_report_begin ON received_report (domain_id, begin_at);
CREATE INDEX received_report_received ON received_report (received_at);

CREATE TABLE dmarc_sum (
  domain_id INTEGER NOT NULL,            -- domain that the reports are about
  day INTEGER NOT NULL,                  -- days since 1970, UTC, of the begin of the reports
  trusted INTEGER NOT NULL,              -- 1: the reports were signed (DKIM)
  source TEXT NOT NULL,                  -- IP address; '' where there were too many
  header_from TEXT NOT NULL,             -- domain in From
  spf INTEGER NOT NULL,                  -- 1: passes and is aligned
  dkim INTEGER NOT NULL,                 -- 1: passes and is aligned
  disposition TEXT NOT NULL,             -- none, quarantine or reject
  override TEXT NOT NULL,                -- reason for another disposition than the policy asks for; '' for none
  spf_domain TEXT NOT NULL,              -- domain of SPF; '' if unknown
  dkim_domain TEXT NOT NULL,             -- domain of a signature; '' if there was none
  messages INTEGER NOT NULL,             -- number of messages
  PRIMARY KEY (domain_id, day, trusted, source, header_from, spf, dkim, disposition, override, spf_domain, dkim_domain)
) STRICT, WITHOUT ROWID;
CREATE INDEX dmarc_sum_day ON dmarc_sum (day);

CREATE TABLE tls_sum (
  domain_id INTEGER NOT NULL,            -- domain that the reports are about
  day INTEGER NOT NULL,                  -- days since 1970, UTC, of the begin of the reports
  trusted INTEGER NOT NULL,              -- 1: the reports were signed (DKIM)
  policy_type TEXT NOT NULL,             -- tlsa, sts or no-policy-found
  result TEXT NOT NULL,                  -- 'success', or the failure type
  mx TEXT NOT NULL,                      -- MX host; '' if unknown
  source TEXT NOT NULL,                  -- address of the sending server; '' if unknown
  sessions INTEGER NOT NULL,             -- number of sessions
  PRIMARY KEY (domain_id, day, trusted, policy_type, result, mx, source)
) STRICT, WITHOUT ROWID;
CREATE INDEX tls_sum_day ON tls_sum (day);
