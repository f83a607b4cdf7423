-- Certificates from an ACME authority (RFC 8555). Keys are sealed.

CREATE TABLE acme_account (
  directory TEXT PRIMARY KEY,            -- URL of the authority's directory
  private BLOB NOT NULL,                 -- PKCS#8 PEM of the account's key, sealed for the directory
  url TEXT,                              -- URL of the account; null: not registered yet
  created_at INTEGER NOT NULL            -- time of creation
) STRICT, WITHOUT ROWID;

CREATE TABLE tls_key (
  spki TEXT PRIMARY KEY,                 -- SHA-256 of its public key (SubjectPublicKeyInfo), hexadecimal: TLSA 3 1 1
  name TEXT NOT NULL,                    -- certificate that it is for: the host name, or a hosted domain
  algorithm TEXT NOT NULL,               -- 'ecdsa' or 'rsa'
  private BLOB NOT NULL,                 -- PKCS#8 PEM, sealed for spki
  state INTEGER NOT NULL,                -- 0 next, published in TLSA before it is used; 1 in use; 2 retired
  created_at INTEGER NOT NULL,           -- time of creation
  retired_at INTEGER                     -- time of replacement; its TLSA record stays for a day, then it is deleted
) STRICT, WITHOUT ROWID;
CREATE INDEX tls_key_name ON tls_key (name, algorithm, state);

CREATE TABLE certificate (
  name TEXT NOT NULL,                    -- the host name, or a hosted domain
  algorithm TEXT NOT NULL,               -- 'ecdsa' or 'rsa'
  names TEXT NOT NULL,                   -- JSON list of the DNS names in it
  chain TEXT NOT NULL,                   -- PEM of the certificate and its chain
  spki TEXT NOT NULL,                    -- its key in tls_key
  not_before INTEGER NOT NULL,           -- time from which it is valid
  not_after INTEGER NOT NULL,            -- time at which it expires
  issued_at INTEGER NOT NULL,            -- time of issuance, by the clock of this machine
  renew_at INTEGER NOT NULL,             -- time of its renewal
  window_at INTEGER NOT NULL,            -- time of the next query for its renewal window (RFC 9773)
  PRIMARY KEY (name, algorithm)
) STRICT, WITHOUT ROWID;

-- Orders that failed. A row is deleted when a certificate was issued.
CREATE TABLE certificate_failure (
  name TEXT NOT NULL,                    -- the host name, or a hosted domain
  algorithm TEXT NOT NULL,               -- 'ecdsa' or 'rsa'
  failures INTEGER NOT NULL,             -- failed orders in a row
  error TEXT NOT NULL,                   -- reason of the last failure
  since INTEGER NOT NULL,                -- time of the first failure
  retry_at INTEGER NOT NULL,             -- time of the next order
  warned INTEGER NOT NULL DEFAULT 0,     -- number of letters that the operator received about it
  PRIMARY KEY (name, algorithm)
) STRICT, WITHOUT ROWID;

-- DNS names that the authority could not verify; left out of orders until their next attempt.
CREATE TABLE certificate_name_failure (
  dns_name TEXT PRIMARY KEY,             -- the DNS name
  failures INTEGER NOT NULL,             -- failures in a row
  error TEXT NOT NULL,                   -- reason of the last failure
  retry_at INTEGER NOT NULL              -- time from which it is ordered again
) STRICT, WITHOUT ROWID;
