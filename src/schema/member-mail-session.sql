-- Session of the portal that opened web mail: its end is the end of both. Null: a password of the mailbox opened it.
ALTER TABLE mail_session ADD COLUMN session_id INTEGER;
CREATE INDEX mail_session_session ON mail_session (session_id) WHERE session_id IS NOT NULL;
