import type { Read, Stamp, Write } from '../engine/types.ts';
import { recordJournalEvent } from '../journal/journal.ts';

/** A recipient that unsubscribed from a tenant's programs, and the message with the link. */
export interface Unsubscription {
  tenant: number;
  /** Lookup key of the address. */
  key: string;
  trace: string;
}

/** Reports whether the recipient unsubscribed, regardless of other suppressions. */
export async function isUnsubscribed(rx: Read, { tenant, key }: Omit<Unsubscription, 'trace'>): Promise<boolean> {
  const row = await rx.get('SELECT 1 AS there FROM unsubscription WHERE tenant = ? AND key = ?', tenant, key);
  return row !== undefined;
}

/** Records an unsubscription, also for a suppressed address. Returns whether it is new. */
export async function addUnsubscription(tx: Write, wish: Unsubscription, stamp: Stamp): Promise<boolean> {
  const { tenant, key, trace } = wish;
  const { changes } = await tx.run(
    'INSERT INTO unsubscription (tenant, key, trace, at) VALUES (?, ?, ?, ?) ON CONFLICT (tenant, key) DO NOTHING',
    tenant,
    key,
    trace,
    stamp.now,
  );
  if (changes === 1)
    await recordJournalEvent(tx, trace, 'listed', null, { to: key, reason: 'unsubscribe' }, stamp, { tenant });
  return changes === 1;
}

/** Removes an unsubscription; other suppressions stay. Returns whether there was one. */
export async function removeUnsubscription(
  tx: Write,
  { tenant, key, trace }: Unsubscription,
  stamp: Stamp,
): Promise<boolean> {
  const { changes } = await tx.run('DELETE FROM unsubscription WHERE tenant = ? AND key = ?', tenant, key);
  if (changes === 1) await recordJournalEvent(tx, trace, 'resubscribed', null, { to: key }, stamp, { tenant });
  return changes === 1;
}
