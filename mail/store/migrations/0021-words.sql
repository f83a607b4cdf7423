-- What each account learned from mail that it moved to Junk and from mail that it keeps. Nothing of one account is ever
-- read for another.

CREATE TABLE word (
  account_id INTEGER NOT NULL,
  hash INTEGER NOT NULL,                 -- 52 bits of a word, mail/policy/words
  junk REAL NOT NULL DEFAULT 0,          -- sums of the weights of the messages that had it
  good REAL NOT NULL DEFAULT 0,
  PRIMARY KEY (account_id, hash)
) STRICT, WITHOUT ROWID;

CREATE TABLE word_memory (
  account_id INTEGER PRIMARY KEY,
  junk REAL NOT NULL DEFAULT 0,          -- sums of the weights of all messages learned, in the measure of `word`
  good REAL NOT NULL DEFAULT 0,
  junk_lessons INTEGER NOT NULL DEFAULT 0, -- messages learned: the weight of the next one grows with them
  good_lessons INTEGER NOT NULL DEFAULT 0,
  words INTEGER NOT NULL DEFAULT 0,      -- rows of `word`
  swept_to INTEGER NOT NULL DEFAULT 0,   -- where the sweep of rare words is
  sweeps INTEGER NOT NULL DEFAULT 0,     -- whole ones since there was room
  kept_until INTEGER NOT NULL            -- mail of the inbox that came before was looked at, whether it was kept
) STRICT;
CREATE INDEX word_memory_kept ON word_memory (kept_until);
CREATE INDEX word_memory_words ON word_memory (words);

CREATE TABLE lesson (
  account_id INTEGER NOT NULL,           -- waits to be learned; the last word about a message is the one that counts
  email_id INTEGER NOT NULL,
  says TEXT NOT NULL,                    -- 'junk', 'good', or 'kept': nobody said so
  PRIMARY KEY (account_id, email_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE learned (
  email_id INTEGER PRIMARY KEY,          -- so that a change of mind takes back exactly what was learned
  says TEXT NOT NULL,
  weight REAL NOT NULL
) STRICT;
