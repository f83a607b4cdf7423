-- Readers of the tokens that were created before tainted content was recorded.
INSERT INTO derived_reader (credential, reader)
WITH RECURSIVE line (id, root) AS (
  SELECT id, id FROM token WHERE created_by NOT LIKE 'tok\_%' ESCAPE '\'
  UNION SELECT t.id, l.root FROM line l JOIN token t ON t.created_by = 'tok_' || l.id
)
SELECT 'tok_' || id, 'tok_' || root FROM line WHERE id <> root;
