-- Networks that are shut out for what they did, and for 30 days what they were shut out for: each time lasts longer.
CREATE TABLE ban (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  network TEXT NOT NULL UNIQUE,          -- an IPv4 address, or an IPv6 /64
  offence TEXT NOT NULL,                 -- logins, recipients, scans, loitering
  count INTEGER NOT NULL,                -- how many of them in a day
  times INTEGER NOT NULL,                -- how often it was shut out, this time included
  since INTEGER NOT NULL,
  until INTEGER NOT NULL
) STRICT;
CREATE INDEX ban_until ON ban (until);
