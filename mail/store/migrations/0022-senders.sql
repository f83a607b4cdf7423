-- How mail of a sender fared in an account. All three numbers fade by half in 90 days, each time they are written.
CREATE TABLE sender (
  account_id INTEGER NOT NULL,           -- 0: over all accounts, where a row is a vote of an account
  key TEXT NOT NULL,                     -- a:address and d:domain that were vouched for, c:address that was only claimed,
                                         -- n:network
  seen REAL NOT NULL,                    -- delivered and not taken for junk
  junked REAL NOT NULL,                  -- taken for junk, by us or by the person
  kept REAL NOT NULL,                    -- taken out of Junk, answered or filed by the person
  at INTEGER NOT NULL,                   -- ms UTC, when they were written
  since INTEGER NOT NULL,                -- ms UTC, of the first
  day INTEGER NOT NULL,                  -- of `at`, in days since 1970
  PRIMARY KEY (account_id, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX sender_day ON sender (day);

-- Who was told to come again (greylisting): a network, who sends, and for whom, as a hash.
CREATE TABLE greylist (
  triplet INTEGER PRIMARY KEY,
  since INTEGER NOT NULL,                -- ms UTC, of the first try
  passed INTEGER NOT NULL,               -- 1: it came again in time
  expires_at INTEGER NOT NULL
) STRICT;
CREATE INDEX greylist_expires ON greylist (expires_at);
-- Networks from which somebody came again: they queue, so others from there need not wait.
CREATE TABLE greylist_network (
  network TEXT PRIMARY KEY,
  expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX greylist_network_expires ON greylist_network (expires_at);
