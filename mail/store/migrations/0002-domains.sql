-- Sending of a domain can be paused while its records are wrong for days; it goes on receiving.
ALTER TABLE domain ADD COLUMN paused_at INTEGER;
