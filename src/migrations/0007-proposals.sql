-- What tokens under an agent policy asked for, and a person has to accept: nothing of it holds before.
CREATE TABLE proposal (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  organization_id INTEGER NOT NULL,
  token_id INTEGER NOT NULL,             -- who asked: it is done with its rights, if it still has them
  operation TEXT NOT NULL,
  target TEXT NOT NULL,                  -- what a policy is proposed for; '' for other operations
  actions TEXT NOT NULL,                 -- what the token might do then
  input BLOB NOT NULL,                   -- JSON of the arguments, sealed for (proposal, hex of digest); empty once decided
  digest BLOB NOT NULL,                  -- MAC over who asked for what: the same again is the same proposal
  state TEXT NOT NULL,                   -- 'pending', 'accepted', 'refused', 'replaced' by a newer one
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  decided_at INTEGER,
  decided_by TEXT,                       -- name of the person
  outcome TEXT                           -- of an accepted one: 'done' or the code of a refusal; null: it is not known
) STRICT;
CREATE INDEX proposal_organization ON proposal (organization_id, id);
CREATE INDEX proposal_pending ON proposal (organization_id, state) WHERE state = 'pending';
CREATE INDEX proposal_expires ON proposal (expires_at);
