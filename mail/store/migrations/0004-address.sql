-- An address is one of its domain's claim: what a tenant that proved nothing put on a name must not stand in the way of
-- whoever proves the name. The proved claim is the one that mail and logins find.
CREATE TABLE address_of_claim (
  key TEXT NOT NULL,                     -- local part in lower case @ domain in A-labels
  domain_id INTEGER NOT NULL,
  account_id INTEGER,                    -- where mail for it goes
  kind TEXT NOT NULL,                    -- 'mailbox' or 'alias'
  created_at INTEGER NOT NULL,
  PRIMARY KEY (key, domain_id)
) STRICT, WITHOUT ROWID;
INSERT INTO address_of_claim SELECT key, domain_id, account_id, kind, created_at FROM address;
DROP TABLE address;
ALTER TABLE address_of_claim RENAME TO address;
CREATE INDEX address_account ON address (account_id);
CREATE INDEX address_domain ON address (domain_id);
