-- Messages that carry a link to a secret page of this box: octets of the blob from here on are shown to no program.
ALTER TABLE email ADD COLUMN veiled_from INTEGER;
CREATE INDEX email_veiled ON email (id) WHERE veiled_from IS NOT NULL;
-- The token that set a forward; null: a person did. It passes on nothing that decides in a person's name.
ALTER TABLE forwarder ADD COLUMN set_by TEXT;
