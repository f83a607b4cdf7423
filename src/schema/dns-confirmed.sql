-- Records that were to be written when a publication was cut are not lost: they are written by the next one.
ALTER TABLE dns_written ADD COLUMN confirmed INTEGER NOT NULL DEFAULT 1; -- 0: the provider has not accepted it yet
