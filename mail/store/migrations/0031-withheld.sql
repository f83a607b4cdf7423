-- Messages that programs are not shown, since they hold more than a person sees of them, or were refused: whether
-- somebody asked to show one, and what a person decided.
CREATE TABLE withheld (
  email_id INTEGER PRIMARY KEY,          -- the rows of an account lie together
  asked_by TEXT NOT NULL,                -- who asks, as the appliance names them; '' for nobody
  reason TEXT NOT NULL,                  -- why, in their words
  asked_at INTEGER,
  released_by TEXT NOT NULL,             -- the person
  released_at INTEGER                    -- null: programs are not shown it
) STRICT;
