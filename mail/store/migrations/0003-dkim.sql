-- A key that was replaced stays published for mail that is still on its way; then it goes.
-- dkim_key.state: 1 signs, 0 published and waits to be seen, 2 signs no more.
ALTER TABLE dkim_key ADD COLUMN retired_at INTEGER;
