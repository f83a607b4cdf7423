import type { Stamp, Write } from '../engine/types.ts';

/** Journal events of outgoing mail that webhooks can subscribe to. */
export const NOTIFIABLE_EVENTS = [
  'submitted',
  'delivered',
  'deferred',
  'failed',
  'complained',
  'suppressed',
  'paused',
] as const;
export type NotifiableEvent = (typeof NOTIFIABLE_EVENTS)[number];

/** Subject of a listener: incoming mail of an account, or these events of a tenant's outgoing mail. */
export interface NewListener {
  tenant: number;
  account: number | null;
  events: readonly string[];
  /** Id of a deleted listener that is restored; undefined: a new one. */
  id?: number;
}

/** Adds a listener. An account has at most one; a second call returns the same. */
export async function addListener(tx: Write, { tenant, account, events, id: old }: NewListener): Promise<number> {
  const there =
    account === null
      ? undefined
      : await tx.get<{ id: number }>('SELECT id FROM listener WHERE account_id = ?', account);
  if (there !== undefined) return there.id;
  const row = [tenant, account, JSON.stringify(events)];
  // PostgreSQL numbers no row whose number is given as null.
  const { id } = await (old === undefined
    ? tx.run('INSERT INTO listener (tenant, account_id, events) VALUES (?, ?, ?)', ...row)
    : tx.run('INSERT INTO listener (id, tenant, account_id, events) VALUES (?, ?, ?, ?)', old, ...row));
  return id;
}

/** Deletes a listener with a slice of its events; the rest expires. */
export async function removeListener(tx: Write, listener: number): Promise<void> {
  await tx.run('DELETE FROM listener WHERE id = ?', listener);
  await tx.run(
    'DELETE FROM webhook_event WHERE id IN (SELECT id FROM webhook_event WHERE listener_id = ? ORDER BY state, id LIMIT 400)',
    listener,
  );
}

export async function setListenerEvents(tx: Write, listener: number, events: readonly string[]): Promise<void> {
  await tx.run('UPDATE listener SET events = ? WHERE id = ?', JSON.stringify(events), listener);
}

/** Disables a listener, or enables it with the events that accumulated. */
export async function setListenerEnabled(tx: Write, listener: number, on: boolean, stamp: Stamp): Promise<void> {
  await tx.run('UPDATE listener SET off_at = ? WHERE id = ?', on ? null : stamp.now, listener);
  if (!on) return;
  // The first event is due now rather than at its retry time.
  await tx.run(
    `UPDATE webhook_event SET next_at = ? WHERE id = (SELECT min(id) FROM webhook_event WHERE listener_id = ? AND state = 0)
       AND next_at > ?`,
    stamp.now,
    listener,
    stamp.now,
  );
  wakeListeners(tx, null);
}

/** Queues an event for a received message. Part of the delivery's commit. */
export async function queueArrivalEvent(
  tx: Write,
  arrived: { listener: number; account: number; email: number },
  stamp: Stamp,
): Promise<void> {
  await tx.run(
    `INSERT INTO webhook_event (listener_id, event, account_id, email_id, trace, detail, at, next_at)
     VALUES (?, 'received', ?, ?, '', '{}', ?, ?)`,
    arrived.listener,
    arrived.account,
    arrived.email,
    stamp.now,
    stamp.now,
  );
}

/** Queues a test event. Returns its id. */
export async function queueTestEvent(tx: Write, listener: number, stamp: Stamp): Promise<number> {
  const { id } = await tx.run(
    `INSERT INTO webhook_event (listener_id, event, trace, detail, at, next_at) VALUES (?, 'test', '', '{}', ?, ?)`,
    listener,
    stamp.now,
    stamp.now,
  );
  wakeListeners(tx, null);
  return id;
}

export interface ListenerEvent {
  event: string;
  trace: string;
  account: number | null;
  /** The tenant, if no account is given. */
  tenant: number | undefined;
  detail: Readonly<Record<string, unknown>>;
}

/**
 * Queues an event for the subscribed listeners, in the commit in which it happens. Without listeners it costs one
 * lookup in a small index.
 */
export async function queueListenerEvents(tx: Write, what: ListenerEvent, stamp: Stamp): Promise<void> {
  if (!(NOTIFIABLE_EVENTS as readonly string[]).includes(what.event)) return;
  const anybody = await tx.get('SELECT 1 AS there FROM listener WHERE account_id IS NULL LIMIT 1');
  if (anybody === undefined) return;
  let count = await insertEvents(tx, what, stamp);
  // Local recipients have the message with this commit, so no delivery attempt will report it.
  for (const to of what.event === 'submitted' ? textsOf(what.detail['here']) : []) {
    count += await insertEvents(tx, { ...what, event: 'delivered', detail: { to, status: '2.0.0' } }, stamp);
  }
  if (count > 0) wakeListeners(tx, what.account);
}

async function insertEvents(
  tx: Write,
  { event, trace, account, tenant, detail }: ListenerEvent,
  stamp: Stamp,
): Promise<number> {
  const { changes } = await tx.run(
    `INSERT INTO webhook_event (listener_id, event, account_id, trace, detail, at, next_at)
     SELECT l.id, ?, ?, ?, ?, ?, ? FROM listener l
     WHERE l.account_id IS NULL AND l.tenant = coalesce(?, (SELECT tenant FROM account WHERE id = ?))
       AND EXISTS (SELECT 1 FROM json_each(l.events, '$') WHERE value = ?)`,
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

/** Wakes the webhook dispatcher, which watches all accounts but no mailbox. */
export function wakeListeners(tx: Write, account: number | null): void {
  tx.touched(account ?? 0, 0);
}

function textsOf(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((one): one is string => typeof one === 'string') : [];
}
