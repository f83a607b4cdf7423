-- The indexes of changes have only what changed after it was stored: ids and UIDs grow with mod-sequences, so that the
-- others are found by them. Most messages change in few columns and once; a new one writes no page of an index here.
DROP INDEX email_modseq;
CREATE INDEX email_changed ON email (account_id, modseq, id) WHERE modseq <> created_modseq;

ALTER TABLE entry ADD COLUMN entered_modseq INTEGER NOT NULL DEFAULT 0; -- mod-sequence of its creation; 0: earlier than this column
DROP INDEX entry_modseq;
CREATE INDEX entry_changed ON entry (mailbox_id, modseq) WHERE modseq <> entered_modseq;
