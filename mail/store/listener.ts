import type { Stamp, Write } from './engine/types.ts';

/** What can be told outside of a tenant's mail that leaves, as the journal calls it. */
export const TOLD_OUTSIDE = [
  'submitted',
  'delivered',
  'deferred',
  'failed',
  'complained',
  'suppressed',
  'paused',
] as const;
export type ToldOutside = (typeof TOLD_OUTSIDE)[number];

/** Whom a listener hears of: what arrives for an account, or these events of its tenant's mail that leaves. */
export interface NewListener {
  tenant: number;
  account: number | null;
  events: readonly string[];
  /** Of one that was ended and comes back under its old id; left out: a new one. */
  id?: number;
}

/** Begins to tell somebody outside. An account has one listener at most; a second call answers the same. */
export async function listen(tx: Write, { tenant, account, events, id: old }: NewListener): Promise<number> {
  const there =
    account === null
      ? undefined
      : await tx.get<{ id: number }>('SELECT id FROM listener WHERE account_id = ?', account);
  if (there !== undefined) return there.id;
  const { id } = await tx.run(
    'INSERT INTO listener (id, tenant, account_id, events) VALUES (?, ?, ?, ?)',
    old ?? null,
    tenant,
    account,
    JSON.stringify(events),
  );
  return id;
}

/** Tells it no more. What waits is nobody's then: a slice goes now, the rest with its age. */
export async function unlisten(tx: Write, listener: number): Promise<void> {
  await tx.run('DELETE FROM listener WHERE id = ?', listener);
  await tx.run(
    'DELETE FROM notice WHERE id IN (SELECT id FROM notice WHERE listener_id = ? ORDER BY state, id LIMIT 400)',
    listener,
  );
}

export async function listenTo(tx: Write, listener: number, events: readonly string[]): Promise<void> {
  await tx.run('UPDATE listener SET events = ? WHERE id = ?', JSON.stringify(events), listener);
}

/** Stops telling it, or begins again with what has waited meanwhile. */
export async function turnListener(tx: Write, listener: number, on: boolean, stamp: Stamp): Promise<void> {
  await tx.run('UPDATE listener SET off_at = ? WHERE id = ?', on ? null : stamp.now, listener);
  if (!on) return;
  // The first in line is tried now, and not when its last failure had it tried again.
  await tx.run(
    `UPDATE notice SET next_at = ? WHERE id = (SELECT min(id) FROM notice WHERE listener_id = ? AND state = 0)
       AND next_at > ?`,
    stamp.now,
    listener,
    stamp.now,
  );
  wake(tx, null);
}

/** Has a listener told of a message that arrived. Part of the delivery's own commit. */
export async function noteArrival(
  tx: Write,
  arrived: { listener: number; account: number; email: number },
  stamp: Stamp,
): Promise<void> {
  await tx.run(
    `INSERT INTO notice (listener_id, event, account_id, email_id, trace, detail, at, next_at)
     VALUES (?, 'received', ?, ?, '', '{}', ?, ?)`,
    arrived.listener,
    arrived.account,
    arrived.email,
    stamp.now,
    stamp.now,
  );
}

/** Has a listener told of nothing, to see whether it can be told. Answers the notice. */
export async function noteTest(tx: Write, listener: number, stamp: Stamp): Promise<number> {
  const { id } = await tx.run(
    `INSERT INTO notice (listener_id, event, trace, detail, at, next_at) VALUES (?, 'test', '', '{}', ?, ?)`,
    listener,
    stamp.now,
    stamp.now,
  );
  wake(tx, null);
  return id;
}

export interface Happening {
  event: string;
  trace: string;
  account: number | null;
  /** Whose mail it is, when no account says it. */
  tenant: number | undefined;
  detail: Readonly<Record<string, unknown>>;
}

/**
 * Has those listeners told who hear of this, in the commit in which it happens. Costs one look into a small index while
 * nobody listens.
 */
export async function noteHappening(tx: Write, what: Happening, stamp: Stamp): Promise<void> {
  if (!(TOLD_OUTSIDE as readonly string[]).includes(what.event)) return;
  const anybody = await tx.get('SELECT 1 AS there FROM listener WHERE account_id IS NULL LIMIT 1');
  if (anybody === undefined) return;
  let told = await tell(tx, what, stamp);
  // Who is here has it with the commit that takes the message: no attempt will ever say so.
  for (const to of what.event === 'submitted' ? textsOf(what.detail['here']) : []) {
    told += await tell(tx, { ...what, event: 'delivered', detail: { to, status: '2.0.0' } }, stamp);
  }
  if (told > 0) wake(tx, what.account);
}

async function tell(tx: Write, { event, trace, account, tenant, detail }: Happening, stamp: Stamp): Promise<number> {
  const { changes } = await tx.run(
    `INSERT INTO notice (listener_id, event, account_id, trace, detail, at, next_at)
     SELECT l.id, ?, ?, ?, ?, ?, ? FROM listener l
     WHERE l.account_id IS NULL AND l.tenant = coalesce(?, (SELECT tenant FROM account WHERE id = ?))
       AND EXISTS (SELECT 1 FROM json_each(l.events) WHERE value = ?)`,
    event,
    account,
    trace,
    JSON.stringify(detail),
    stamp.now,
    stamp.now,
    tenant ?? null,
    account,
    event,
  );
  return changes;
}

/** Who tells listens for any account, and for none of its mailboxes. */
export function wake(tx: Write, account: number | null): void {
  tx.touched(account ?? 0, 0);
}

function textsOf(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((one): one is string => typeof one === 'string') : [];
}
