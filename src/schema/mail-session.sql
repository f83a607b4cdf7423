-- Sessions of web mail: a browser that signed in with a password of a mailbox.
CREATE TABLE mail_session (
  id INTEGER PRIMARY KEY AUTOINCREMENT,  -- number of the session
  token_hash BLOB NOT NULL UNIQUE,       -- SHA-256 of the cookie
  account_id INTEGER NOT NULL,           -- account that is open
  credential_id INTEGER NOT NULL,        -- password it signed in with; its end is the session's end
  ip TEXT NOT NULL,                      -- address at sign-in
  agent TEXT NOT NULL,                   -- User-Agent, so that the person recognizes the session
  created_at INTEGER NOT NULL,           -- time of sign-in
  last_used_at INTEGER NOT NULL,         -- time of the last request, rounded
  expires_at INTEGER NOT NULL            -- time at which it expires
) STRICT;
CREATE INDEX mail_session_account ON mail_session (account_id);
CREATE INDEX mail_session_expires ON mail_session (expires_at);
