-- Recipients that were internal when an agent's message was accepted: JSON {keys, outside}; null: none, or a person released it.
ALTER TABLE scheduled ADD COLUMN internal TEXT;
