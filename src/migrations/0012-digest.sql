-- The daily letter to owners of agents, and what they answer to it.

CREATE TABLE digest (
  organization_id INTEGER NOT NULL,
  day INTEGER NOT NULL,                  -- src/digest/day.ts: one letter a day
  told_at INTEGER NOT NULL,
  PRIMARY KEY (organization_id, day)
) STRICT, WITHOUT ROWID;
CREATE INDEX digest_day ON digest (day);

CREATE TABLE digest_answer (
  organization_id INTEGER NOT NULL,      -- answers that stopped nothing: the box writes back once
  user_id INTEGER NOT NULL,
  day INTEGER NOT NULL,                  -- of the letter that was answered
  answered_at INTEGER NOT NULL,
  PRIMARY KEY (organization_id, user_id, day)
) STRICT, WITHOUT ROWID;
CREATE INDEX digest_answer_day ON digest_answer (day);

ALTER TABLE member ADD COLUMN daily_letter_off_at INTEGER; -- null: an owner gets it
