-- Domains and hosts that took mail from here, other than automatic mail: only reports of their organizations move a policy.
CREATE TABLE delivery_peer (
  name TEXT PRIMARY KEY,                 -- domain of a recipient, or host, with its labels reversed: com.example.mx
  day INTEGER NOT NULL                   -- last such day, in days since 1970, UTC
) STRICT, WITHOUT ROWID;
CREATE INDEX delivery_peer_day ON delivery_peer (day);
