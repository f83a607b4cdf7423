-- Content that a tainted agent wrote. Whoever reads it is tainted: its taint does not age.
CREATE TABLE tainted_content (
  content TEXT PRIMARY KEY,              -- 'email/<id>', 'trace/<trace id>' of mail on its way, 'words/<tenant>/<kind>'
  tenant INTEGER NOT NULL,               -- organization that owns it
  at INTEGER NOT NULL                    -- time of writing; 0: unknown
) STRICT, WITHOUT ROWID;
CREATE INDEX tainted_content_tenant ON tainted_content (tenant);

-- Readers of tokens that other tokens created: they share one taint.
CREATE TABLE derived_reader (
  credential TEXT PRIMARY KEY,           -- public id of the created token
  reader TEXT NOT NULL                   -- as in tainted_reader
) STRICT, WITHOUT ROWID;
