import { command, lookup, query, type Read, type Stamp, type Write } from '../engine/types.ts';
import { recordJournalEvent } from '../journal/journal.ts';

export type SuppressionReason = 'hard_bounce' | 'complaint' | 'manual' | 'unsubscribe';

export interface Suppression {
  /** Lookup key of the address. */
  key: string;
  /** Reason; `unsubscribe` takes precedence, since whoever removes it must know. */
  reason: SuppressionReason;
  /** `reply`, `report`, `link`, or the requesting actor. */
  source: string;
  /** Text of the remote server; '' for none. */
  said: string;
  /** Trace id of the message that caused it; '' for none. */
  trace: string;
  at: number;
}

/** Enhanced codes of nonexistent addresses. RFC 3463 3.2. */
const GONE = new Set(['5.1.1', '5.1.2', '5.1.3', '5.1.6', '5.1.10', '5.2.1']);

/** Reports whether a permanent failure concerns the address rather than the message or the sender. */
export function isUnknownRecipient(status: string): boolean {
  return GONE.has(status);
}

/**
 * Suppresses an address for a tenant. The first reason stays, but a complaint replaces others, so that whoever removes
 * it knows. Unsubscriptions are separate (unsubscription.ts). With a trace, the message's journal records it. Returns
 * whether anything changed.
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
    `INSERT INTO suppression (tenant, key, reason, source, reply_text, trace, at) VALUES (?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT (tenant, key) DO UPDATE SET reason = excluded.reason, source = excluded.source, reply_text = excluded.reply_text,
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
  if (changes === 1 && trace !== '')
    await recordJournalEvent(tx, trace, 'listed', account, { to: key, reason }, stamp, { tenant });
  return changes === 1;
}

export const addSuppression = command(
  'add-suppression',
  async (tx, input: { tenant: number; key: string; source: string }, stamp): Promise<{ kind: 'added' }> => {
    await suppress(tx, { ...input, reason: 'manual' }, stamp);
    return { kind: 'added' };
  },
);

/** Removes a suppression with any reason, including an unsubscription. */
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

/** Those of the addresses that are suppressed for a tenant. */
export async function suppressed(rx: Read, tenant: number, keys: readonly string[]): Promise<Suppression[]> {
  return rx.all<Row>(
    `WITH asked (key) AS (SELECT value FROM json_each(?2, '$'))
     SELECT key, 'unsubscribe' AS reason, 'link' AS source, '' AS said, trace, at FROM unsubscription
       WHERE tenant = ?1 AND key IN (SELECT key FROM asked)
     UNION ALL SELECT key, reason, source, reply_text AS said, trace, at FROM suppression s
       WHERE tenant = ?1 AND key IN (SELECT key FROM asked)
       AND NOT EXISTS (SELECT 1 FROM unsubscription u WHERE u.tenant = s.tenant AND u.key = s.key)`,
    tenant,
    JSON.stringify(keys),
  );
}

/** {@link suppressed} for one address; at most one. */
export const suppressionOf = query('suppression-of', (rx, input: { tenant: number; key: string }) =>
  suppressed(rx, input.tenant, [input.key]),
);

/** Suppressions by address after `after`. A reason may require a scan of the whole list. */
export const listSuppressions = lookup(
  'list-suppressions',
  (
    rx,
    input: { tenant: number; after: string; limit: number; reason?: SuppressionReason | undefined },
  ): Promise<Suppression[]> =>
    rx.all<Row>(
      `SELECT key, 'unsubscribe' AS reason, 'link' AS source, '' AS said, trace, at FROM unsubscription
         WHERE tenant = ?1 AND key > ?2 AND coalesce(?4, 'unsubscribe') = 'unsubscribe'
       UNION ALL SELECT key, reason, source, reply_text AS said, trace, at FROM suppression s WHERE tenant = ?1 AND key > ?2
         AND NOT EXISTS (SELECT 1 FROM unsubscription u WHERE u.tenant = s.tenant AND u.key = s.key)
         AND coalesce(?4, reason) = reason
       ORDER BY key LIMIT ?3`,
      input.tenant,
      input.after,
      input.limit,
      input.reason ?? null,
    ),
);
