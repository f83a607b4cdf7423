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

-- Who came again when told to (greylisting): a network, who sends, and for whom, as a hash. Who has only been told stands
-- in memory.
CREATE TABLE greylist (
  triplet INTEGER PRIMARY KEY,
  network TEXT NOT NULL,
  expires_at INTEGER NOT NULL            -- ms UTC
) STRICT;
CREATE INDEX greylist_network ON greylist (network);
CREATE INDEX greylist_expires ON greylist (expires_at);
