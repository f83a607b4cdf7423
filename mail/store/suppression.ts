import { command, query, type Read, type Stamp, type Write } from './engine/types.ts';
import { note } from './journal.ts';

export type SuppressionReason = 'hard_bounce' | 'complaint' | 'manual' | 'unsubscribe';

export interface Suppression {
  /** The address as it is looked up. */
  key: string;
  /** The wish of the person before all others: who lifts it has to know of it. */
  reason: SuppressionReason;
  /** `reply`, `report`, `link`, or who asked. */
  source: string;
  /** What was said, in the words of the other side; '' for nothing. */
  said: string;
  /** The message that it was learnt from; '' for none. */
  trace: string;
  at: number;
}

/** Enhanced codes that say that an address does not exist, or never will. RFC 3463 3.2. */
const GONE = new Set(['5.1.1', '5.1.2', '5.1.3', '5.1.6', '5.1.10', '5.2.1']);

/** Whether a refusal for good says that the address itself is wrong, and not the message or the sender. */
export function meansGone(status: string): boolean {
  return GONE.has(status);
}

/**
 * Puts an address on a tenant's list, where the first reason stays; but a complaint goes before the others, so that who
 * lifts them knows of it. A wish by a link is written down apart (unsubscription.ts). With a trace the story of that
 * message says so. Answers whether anything changed.
 */
export async function suppress(
  tx: Write,
  input: {
    tenant: number;
    key: string;
    reason: Exclude<SuppressionReason, 'unsubscribe'>;
    source: string;
    said?: string;
    trace?: string;
    account?: number | null;
  },
  stamp: Stamp,
): Promise<boolean> {
  const { tenant, key, reason, source, said = '', trace = '', account = null } = input;
  const { changes } = await tx.run(
    `INSERT INTO suppression (tenant, key, reason, source, said, trace, at) VALUES (?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT (tenant, key) DO UPDATE SET reason = excluded.reason, source = excluded.source, said = excluded.said,
       trace = excluded.trace, at = excluded.at
     WHERE suppression.reason <> 'complaint' AND excluded.reason = 'complaint'`,
    tenant,
    key,
    reason,
    source,
    said,
    trace,
    stamp.now,
  );
  if (changes === 1 && trace !== '') await note(tx, trace, 'listed', account, { to: key, reason }, stamp, { tenant });
  return changes === 1;
}

export const addSuppression = command(
  'add-suppression',
  async (tx, input: { tenant: number; key: string; source: string }, stamp): Promise<{ kind: 'added' }> => {
    await suppress(tx, { ...input, reason: 'manual' }, stamp);
    return { kind: 'added' };
  },
);

/** Whatever the reason was, the person's own wish included. */
export const removeSuppression = command(
  'remove-suppression',
  async (tx, input: { tenant: number; key: string }): Promise<{ kind: 'removed' | 'missing' }> => {
    const { tenant, key } = input;
    const listed = await tx.run('DELETE FROM suppression WHERE tenant = ? AND key = ?', tenant, key);
    const wished = await tx.run('DELETE FROM unsubscription WHERE tenant = ? AND key = ?', tenant, key);
    return { kind: listed.changes + wished.changes > 0 ? 'removed' : 'missing' };
  },
);

type Row = { key: string; reason: SuppressionReason; source: string; said: string; trace: string; at: number };

/** Which of these a tenant's programs write to no more. */
export async function suppressed(rx: Read, tenant: number, keys: readonly string[]): Promise<Suppression[]> {
  return rx.all<Row>(
    `WITH asked (key) AS (SELECT value FROM json_each(?2))
     SELECT key, 'unsubscribe' AS reason, 'link' AS source, '' AS said, trace, at FROM unsubscription
       WHERE tenant = ?1 AND key IN (SELECT key FROM asked)
     UNION ALL SELECT key, reason, source, said, trace, at FROM suppression s
       WHERE tenant = ?1 AND key IN (SELECT key FROM asked)
       AND NOT EXISTS (SELECT 1 FROM unsubscription u WHERE u.tenant = s.tenant AND u.key = s.key)`,
    tenant,
    JSON.stringify(keys),
  );
}

/** {@link suppressed} of one address; at most one. */
export const suppressionOf = query('suppression-of', (rx, input: { tenant: number; key: string }) =>
  suppressed(rx, input.tenant, [input.key]),
);

/** In the order of addresses, from after `after`. With a reason it may look at the whole list: a scan. */
export const listSuppressions = query(
  'list-suppressions',
  (
    rx,
    input: { tenant: number; after: string; limit: number; reason?: SuppressionReason | undefined },
  ): Promise<Suppression[]> =>
    rx.all<Row>(
      `SELECT key, 'unsubscribe' AS reason, 'link' AS source, '' AS said, trace, at FROM unsubscription
         WHERE tenant = ?1 AND key > ?2 AND coalesce(?4, 'unsubscribe') = 'unsubscribe'
       UNION ALL SELECT key, reason, source, said, trace, at FROM suppression s WHERE tenant = ?1 AND key > ?2
         AND NOT EXISTS (SELECT 1 FROM unsubscription u WHERE u.tenant = s.tenant AND u.key = s.key)
         AND coalesce(?4, reason) = reason
       ORDER BY key LIMIT ?3`,
      input.tenant,
      input.after,
      input.limit,
      input.reason ?? null,
    ),
);
