-- What happened to a tenant's mail in each hour, made of the journal slice by slice: its lines lie in the order in which
-- they happened, whosever they are, so counting them for one tenant would read those of all.
CREATE TABLE journal_count (
  tenant INTEGER NOT NULL,
  hour INTEGER NOT NULL,                 -- since 1970, UTC
  account INTEGER NOT NULL,              -- 0: of no mailbox, but of the tenant; may be gone
  domain TEXT NOT NULL,                  -- of the mailbox, else of the sender or the forward; '' when nothing says it
  kind TEXT NOT NULL,                    -- received, junk, refused, sent, delivered, deferred, bounced, complained, suppressed
  n INTEGER NOT NULL,
  PRIMARY KEY (tenant, hour, account, domain, kind)
) STRICT, WITHOUT ROWID;
CREATE INDEX journal_count_hour ON journal_count (hour);

-- Of lines that have their keys already, nothing will count them: the same as in journal-count.ts.
INSERT INTO journal_count (tenant, hour, account, domain, kind, n)
SELECT tenant, hour, account, lower(substr(whose, instr(whose, '@') + 1)), kind, count(*) FROM (
  SELECT j.tenant, j.at / 3600000 AS hour, coalesce(j.account_id, 0) AS account,
    CASE j.event WHEN 'received' THEN iif(j.detail ->> 'folder' = 'junk', 'junk', 'received')
      WHEN 'submitted' THEN 'sent' WHEN 'failed' THEN 'bounced' ELSE j.event END AS kind,
    coalesce((SELECT address FROM account a WHERE a.id = j.account_id),
      (SELECT coalesce(f.detail ->> 'source', f.detail ->> 'as', f.detail ->> 'from')
       FROM (SELECT id, tenant, account_id, detail FROM journal WHERE j.account_id IS NULL AND trace = j.trace ORDER BY id LIMIT 20) f
       WHERE f.tenant = j.tenant AND f.account_id IS NULL AND f.detail ->> 'from' IS NOT NULL
       ORDER BY f.id LIMIT 1), '') AS whose
  FROM journal j
  WHERE j.id <= (SELECT line FROM journal_indexed) AND j.tenant IS NOT NULL
    AND j.event IN ('received', 'refused', 'submitted', 'delivered', 'deferred', 'failed', 'complained', 'suppressed')
    AND NOT (j.event = 'submitted' AND j.detail ->> 'from' = '')
)
WHERE true
GROUP BY 1, 2, 3, 4, 5;
