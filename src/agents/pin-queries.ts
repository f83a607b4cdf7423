import { lookup } from '../../mail/store/engine/types.ts';

/** Tools at the last start, as JSON; undefined at the first start. */
export const notedCatalogue = lookup('recorded-catalogue', async (rx): Promise<string | undefined> => {
  const row = await rx.get<{ tools: string }>('SELECT tools FROM catalogue WHERE id = 1');
  return row?.tools;
});

/** Organizations whose owners are to be notified of changed tools. */
export const catalogueNews = lookup(
  'catalogue-news',
  async (
    rx,
    { after, limit }: { after: number; limit: number },
  ): Promise<{ organization: number; change: string }[]> => {
    const rows = await rx.all<{ organization_id: number; change: string }>(
      'SELECT organization_id, change FROM catalogue_change WHERE organization_id > ? ORDER BY organization_id LIMIT ?',
      after,
      limit,
    );
    return rows.map((row) => ({ organization: row.organization_id, change: row.change }));
  },
);

/** Last row of an organization's audit log. */
export interface AuditHead {
  organization: number;
  name: string;
  audit: number;
  hash: Uint8Array;
  /** Audit rows by tokens since the last notice, at most 100. */
  acts: number;
}

/**
 * May scan. Audit logs with new rows by tokens, for owners without a notice since `before` and without a token now: others get
 * the hash with the daily digest. Notice times in the future come from a wrong clock and are ignored. Owners need a verified
 * address.
 */
export const auditHeads = lookup(
  'audit-heads',
  async (rx, input: { before: number; after: number; limit: number; now: number }): Promise<AuditHead[]> => {
    const rows = await rx.all<{ organization: number; name: string; audit: number; hash: Uint8Array; acts: number }>(
      `WITH due AS (
         SELECT o.id, o.name, coalesce(t.audit_id, 0) AS notified FROM organization o
         LEFT JOIN audit_notification t ON t.organization_id = o.id
         WHERE o.id > ?4 AND o.claimed_at IS NOT NULL AND o.frozen_at IS NULL
           AND coalesce(t.notified_at, o.claimed_at) NOT BETWEEN ?1 + 1 AND ?3
           AND EXISTS (SELECT 1 FROM member m JOIN user u ON u.id = m.user_id
             WHERE m.organization_id = o.id AND m.role = 'owner' AND u.address_verified_at IS NOT NULL)
           AND NOT EXISTS (SELECT 1 FROM token k WHERE k.organization_id = o.id AND k.revoked_at IS NULL
             AND (k.expires_at IS NULL OR k.expires_at > ?3))),
       acted AS (
         SELECT due.*, (SELECT count(*) FROM (SELECT 1 FROM audit a
           WHERE a.organization_id = due.id AND a.id > due.notified AND a.actor LIKE 'tok\\_%' ESCAPE '\\' LIMIT 100)) AS acts
         FROM due)
       SELECT c.id AS organization, c.name, h.id AS audit, h.hash, c.acts FROM acted c
       JOIN audit h ON h.id = (SELECT max(id) FROM audit WHERE organization_id = c.id)
       WHERE c.acts > 0 ORDER BY c.id LIMIT ?2`,
      input.before,
      input.limit,
      input.now,
      input.after,
    );
    return rows;
  },
);
