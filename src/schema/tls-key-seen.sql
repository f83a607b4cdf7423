-- From when the TLSA record of a next key is published, by looks at the DNS (RFC 7671 8.1).

ALTER TABLE tls_key ADD COLUMN seen_at INTEGER;   -- time from which every look found its TLSA record; null: the last one did not
ALTER TABLE tls_key ADD COLUMN seen_ttl INTEGER;  -- largest TTL of the TLSA records in these looks, ms
