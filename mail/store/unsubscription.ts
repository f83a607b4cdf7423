import type { Read, Stamp, Write } from './engine/types.ts';
import { note } from './journal.ts';

/** Who takes no more mail of a tenant's programs, and the message whose link says so. */
export interface Unsubscription {
  tenant: number;
  /** The address as it is looked up. */
  key: string;
  trace: string;
}

/** Whether the person asked for no more mail, whatever else stands against the address. */
export async function isUnsubscribed(rx: Read, { tenant, key }: Omit<Unsubscription, 'trace'>): Promise<boolean> {
  const row = await rx.get('SELECT 1 AS there FROM unsubscription WHERE tenant = ? AND key = ?', tenant, key);
  return row !== undefined;
}

/** Writes the wish down, also for an address that is suppressed already. Answers whether it is new. */
export async function addUnsubscription(tx: Write, wish: Unsubscription, stamp: Stamp): Promise<boolean> {
  const { tenant, key, trace } = wish;
  const { changes } = await tx.run(
    'INSERT INTO unsubscription (tenant, key, trace, at) VALUES (?, ?, ?, ?) ON CONFLICT (tenant, key) DO NOTHING',
    tenant,
    key,
    trace,
    stamp.now,
  );
  if (changes === 1) await note(tx, trace, 'listed', null, { to: key, reason: 'unsubscribe' }, stamp, { tenant });
  return changes === 1;
}

/** The person takes the wish back; what is suppressed for another reason stays so. Answers whether there was one. */
export async function withdraw(tx: Write, { tenant, key, trace }: Unsubscription, stamp: Stamp): Promise<boolean> {
  const { changes } = await tx.run('DELETE FROM unsubscription WHERE tenant = ? AND key = ?', tenant, key);
  if (changes === 1) await note(tx, trace, 'resubscribed', null, { to: key }, stamp, { tenant });
  return changes === 1;
}
