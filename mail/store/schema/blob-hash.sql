-- SHA-256 of the octets of a blob, computed when they were accepted; null: stored before hashes were.
ALTER TABLE blob ADD COLUMN sha256 BLOB;

-- Position of the slow check of stored messages. One row.
CREATE TABLE scrub (
  id INTEGER PRIMARY KEY CHECK (id = 1), -- 1
  after_blob INTEGER NOT NULL,           -- last blob that this round checked
  began_at INTEGER NOT NULL,             -- begin of this round
  ended_at INTEGER                       -- end of the last whole round; null: none yet
) STRICT;

-- Blobs that were found damaged: missing, cut off, or with another hash than when they were accepted.
CREATE TABLE damaged_blob (
  blob_id INTEGER PRIMARY KEY,           -- the blob
  problem TEXT NOT NULL,                 -- missing, short, changed or unreadable
  found_at INTEGER NOT NULL              -- time of the first finding
) STRICT;
