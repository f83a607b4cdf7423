-- DMARC results of mail from outside by day, for domains that ask for aggregate reports (RFC 9990).
CREATE TABLE dmarc_result (
  day INTEGER NOT NULL,                  -- days since 1970, UTC
  domain TEXT NOT NULL,                  -- domain whose DMARC record applied
  source TEXT NOT NULL,                  -- IP address of the client
  header_from TEXT NOT NULL,             -- domain in From
  envelope_from TEXT NOT NULL,           -- domain of the envelope sender; '' for the null reverse-path
  spf INTEGER NOT NULL,                  -- 1: passes and is aligned
  dkim INTEGER NOT NULL,                 -- 1: passes and is aligned
  disposition TEXT NOT NULL,             -- pass, none, quarantine or reject
  reason TEXT NOT NULL,                  -- reason for another disposition than the policy asks for; '' for none
  auth TEXT NOT NULL,                    -- JSON of the SPF and DKIM results; '' where there were too many
  messages INTEGER NOT NULL,             -- number of messages
  PRIMARY KEY (day, domain, source, header_from, envelope_from, spf, dkim, disposition, reason, auth)
) STRICT, WITHOUT ROWID;

-- Domains whose report about a day is finished.
CREATE TABLE sent_report (
  kind TEXT NOT NULL,                    -- dmarc or tls
  day INTEGER NOT NULL,                  -- days since 1970, UTC
  domain TEXT NOT NULL,                  -- domain that the report is about
  outcome TEXT NOT NULL,                 -- sent, or why it was not
  finished_at INTEGER NOT NULL,          -- time of the outcome
  PRIMARY KEY (kind, day, domain)
) STRICT, WITHOUT ROWID;
