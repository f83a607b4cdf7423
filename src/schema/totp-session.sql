-- An enrollment belongs to the session that began it.
ALTER TABLE totp ADD COLUMN session_id INTEGER; -- only this session is shown the key, and may finish
