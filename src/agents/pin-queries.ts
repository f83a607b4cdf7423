import { query } from '../../mail/store/engine/types.ts';

/** The tools that were there at the last start, as JSON; undefined: this is the first one. */
export const notedCatalogue = query('noted-catalogue', async (rx): Promise<string | undefined> => {
  const row = await rx.get<{ tools: string }>('SELECT tools FROM catalogue WHERE id = 1');
  return row?.tools;
});

/** Organizations whose owners are to be told that the tools changed. */
export const catalogueNews = query(
  'catalogue-news',
  async (rx, { limit }: { limit: number }): Promise<{ organization: number; change: string }[]> => {
    const rows = await rx.all<{ organization_id: number; change: string }>(
      'SELECT organization_id, change FROM catalogue_news ORDER BY organization_id LIMIT ?',
      limit,
    );
    return rows.map((row) => ({ organization: row.organization_id, change: row.change }));
  },
);

/** How the audit log of an organization ends now. */
export interface AuditHead {
  organization: number;
  name: string;
  audit: number;
  hash: Uint8Array;
  /** Rows of tokens since the owners were told last, as far as a hundred. */
  acts: number;
}

/**
 * May scan. Logs to which tokens added since their owners were told last, for those who were told nothing since `before`
 * and have no token any more: others get it with their daily letter. What was told at a time to come was told by a clock
 * that was ahead of this one; where no owner has proved an address nobody can be told.
 */
export const auditHeads = query(
  'audit-heads',
  async (rx, { before, limit, now }: { before: number; limit: number; now: number }): Promise<AuditHead[]> => {
    const rows = await rx.all<{ organization: number; name: string; audit: number; hash: Uint8Array; acts: number }>(
      `WITH due AS (
         SELECT o.id, o.name, coalesce(t.audit_id, 0) AS told FROM organization o
         LEFT JOIN audit_told t ON t.organization_id = o.id
         WHERE o.claimed_at IS NOT NULL AND o.frozen_at IS NULL
           AND coalesce(t.told_at, o.claimed_at) NOT BETWEEN ?1 + 1 AND ?3
           AND EXISTS (SELECT 1 FROM member m JOIN user u ON u.id = m.user_id
             WHERE m.organization_id = o.id AND m.role = 'owner' AND u.address_proven_at IS NOT NULL)
           AND NOT EXISTS (SELECT 1 FROM token k WHERE k.organization_id = o.id AND k.revoked_at IS NULL
             AND (k.expires_at IS NULL OR k.expires_at > ?3))),
       acted AS (
         SELECT due.*, (SELECT count(*) FROM (SELECT 1 FROM audit a
           WHERE a.organization_id = due.id AND a.id > due.told AND a.actor LIKE 'tok\\_%' ESCAPE '\\' LIMIT 100)) AS acts
         FROM due)
       SELECT c.id AS organization, c.name, h.id AS audit, h.hash, c.acts FROM acted c
       JOIN audit h ON h.id = (SELECT max(id) FROM audit WHERE organization_id = c.id)
       WHERE c.acts > 0 ORDER BY c.id LIMIT ?2`,
      before,
      limit,
      now,
    );
    return rows;
  },
);
