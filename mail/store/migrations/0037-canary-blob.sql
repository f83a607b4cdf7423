-- The octets of the message of a canary: whoever is shown a message is looked up by them, however many canaries there are
-- and however many copies of a message somebody made.
ALTER TABLE canary ADD COLUMN blob_id INTEGER; -- never used again when it is gone; null: it has had no message
UPDATE canary SET blob_id = (SELECT blob_id FROM email WHERE id = canary.email_id) WHERE email_id IS NOT NULL;
CREATE INDEX canary_blob ON canary (blob_id) WHERE blob_id IS NOT NULL;
