-- What a file is that was put here for a message: said when its place was asked for.
ALTER TABLE upload ADD COLUMN filename TEXT NOT NULL DEFAULT '';
ALTER TABLE upload ADD COLUMN content_type TEXT NOT NULL DEFAULT '';

-- All reasons why a message waited for a person when it was taken: JSON list of sentences.
ALTER TABLE sent_email ADD COLUMN reasons TEXT NOT NULL DEFAULT '[]';
UPDATE sent_email SET reasons = json_array(held_because) WHERE held_because IS NOT NULL;
