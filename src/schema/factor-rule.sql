-- People of the organization who must sign in with a second factor: 'none', 'owners', 'admins' (and owners), 'everybody'.
ALTER TABLE organization ADD COLUMN second_factor TEXT NOT NULL DEFAULT 'none';
