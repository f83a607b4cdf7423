-- The spam filter: word statistics, sender reputation, greylist, bans and rules.

-- Word statistics of an account from spam and good mail. One account never reads those of another.
CREATE TABLE word (
  account_id INTEGER NOT NULL,           -- the account
  hash INTEGER NOT NULL,                 -- 52 bits of the hash of a word
  junk REAL NOT NULL DEFAULT 0,          -- sum of the weights of spam with the word
  good REAL NOT NULL DEFAULT 0,          -- sum of the weights of good mail with the word
  PRIMARY KEY (account_id, hash)
) STRICT, WITHOUT ROWID;

CREATE TABLE word_corpus (
  account_id INTEGER PRIMARY KEY,        -- the account
  junk REAL NOT NULL DEFAULT 0,          -- sum of the weights of all trained spam, scaled as in `word`
  good REAL NOT NULL DEFAULT 0,          -- the same of good mail
  junk_samples INTEGER NOT NULL DEFAULT 0, -- number of spam samples; the weight of the next one grows with it
  good_samples INTEGER NOT NULL DEFAULT 0, -- number of good samples
  words INTEGER NOT NULL DEFAULT 0,      -- number of rows of `word`
  swept_to INTEGER NOT NULL DEFAULT 0,   -- hash that the removal of rare words has reached
  sweeps INTEGER NOT NULL DEFAULT 0,     -- complete removals since the last time below the limit
  sampled_until INTEGER NOT NULL         -- time up to which mail of the inbox was checked for samples
) STRICT;
CREATE INDEX word_corpus_sampled ON word_corpus (sampled_until);
CREATE INDEX word_corpus_words ON word_corpus (words);

-- Pending training samples. The last classification of a message counts.
CREATE TABLE training_sample (
  account_id INTEGER NOT NULL,           -- the account
  email_id INTEGER NOT NULL,             -- the message
  category TEXT NOT NULL,                -- 'junk', 'good', or 'kept': inferred good, since it stayed in the inbox
  PRIMARY KEY (account_id, email_id)
) STRICT, WITHOUT ROWID;

-- Trained samples, so that a correction reverts exactly what was trained.
CREATE TABLE trained_sample (
  email_id INTEGER PRIMARY KEY,          -- the message
  category TEXT NOT NULL,                -- as in training_sample
  weight REAL NOT NULL                   -- weight that it was trained with
) STRICT;

-- Reputation of a sender. The three figures halve in 90 days, computed at each write.
CREATE TABLE sender (
  account_id INTEGER NOT NULL,           -- account; 0: over all accounts, one vote for each
  key TEXT NOT NULL,                     -- a:address or d:domain authenticated, c:address unauthenticated, n:network
  seen REAL NOT NULL,                    -- delivered and not spam
  junked REAL NOT NULL,                  -- classified as spam by the filter or the person
  kept REAL NOT NULL,                    -- moved out of Junk, answered or filed by the person
  at INTEGER NOT NULL,                   -- time of the last write
  since INTEGER NOT NULL,                -- time of the first message
  day INTEGER NOT NULL,                  -- day of `at` since 1970
  PRIMARY KEY (account_id, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX sender_day ON sender (day);

-- Greylisted triplets that retried. Those that have not are in memory only.
CREATE TABLE greylist (
  triplet INTEGER PRIMARY KEY,           -- hash of network, sender and recipient
  network TEXT NOT NULL,                 -- network of the sender
  expires_at INTEGER NOT NULL            -- time from which the triplet counts as new
) STRICT;
CREATE INDEX greylist_network ON greylist (network);
CREATE INDEX greylist_expires ON greylist (expires_at);

-- Blocked networks. Rows stay for 30 days after the block, since each block of a network is longer than the last.
CREATE TABLE ban (
  id INTEGER PRIMARY KEY AUTOINCREMENT,  -- number of the ban
  network TEXT NOT NULL UNIQUE,          -- IPv4 address or IPv6 /64
  offence TEXT NOT NULL,                 -- logins, recipients, scans, loitering
  count INTEGER NOT NULL,                -- offences within a day
  times INTEGER NOT NULL,                -- number of bans, with this one
  since INTEGER NOT NULL,                -- begin
  until INTEGER NOT NULL                 -- end
) STRICT;
CREATE INDEX ban_until ON ban (until);

-- Allowed and blocked senders of a tenant or an account, and recipients of its outgoing mail.
CREATE TABLE sender_rule (
  id INTEGER PRIMARY KEY AUTOINCREMENT,  -- number of the rule
  tenant INTEGER NOT NULL,               -- organization that owns it
  account_id INTEGER,                    -- account that it applies to; null: all of the tenant
  outgoing INTEGER NOT NULL,             -- 1: matches recipients of outgoing mail
  kind TEXT NOT NULL,                    -- 'allow' or 'block'
  pattern TEXT NOT NULL,                 -- lookup key of an address, a domain, '*.domain' or a network
  note TEXT NOT NULL,                    -- note of its creator
  created_at INTEGER NOT NULL            -- time of creation
) STRICT;
CREATE UNIQUE INDEX sender_rule_pattern ON sender_rule (tenant, outgoing, pattern, ifnull(account_id, 0));
CREATE INDEX sender_rule_tenant ON sender_rule (tenant);
CREATE INDEX sender_rule_account ON sender_rule (account_id) WHERE account_id IS NOT NULL;
