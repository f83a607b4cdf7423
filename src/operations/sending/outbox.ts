import { z } from 'zod';
import { listWaiting, type Waiting } from '../../../mail/delivery/outbox.ts';
import { publicId, rowId } from '../../ids.ts';
import { withdrawWaiting } from '../../sending/sent-commands.ts';
import { type Call, operation } from '../operation.ts';
import { notFound } from '../refusal.ts';
import { Id, isoOf, nextCursor, Page } from '../schemas.ts';
import { allowedAccounts } from '../scope.ts';

const Item = z.object({
  outboxId: z.string(),
  state: z.enum(['scheduled', 'pending']),
  from: z.string(),
  recipients: z.array(z.string()),
  reasons: z.array(z.string()),
  sendAt: z.string(),
  createdAt: z.string(),
});

export const listOutbox = operation({
  name: 'list_outbox',
  title: 'List mail that waits as a whole',
  toolset: 'mail',
  reach: 'mailbox',
  action: 'read',
  description:
    'Lists email that has not left at all: scheduled for its time, or pending until a person lets it go, with the reasons. Changes nothing.',
  hints: { readOnly: true, idempotent: true },
  input: z.strictObject(Page),
  output: z.object({ items: z.array(Item), nextCursor }),
  rest: { method: 'GET', path: '/api/email/outbox' },
  async run(call, { cursor = '0', limit }) {
    const after = Number(cursor.replace(/^out_/, '')) || 0;
    const mine = await waitingFor(call, after, limit + 1);
    const page = mine.slice(0, limit);
    const next = mine.length > limit ? String(page.at(-1)?.id ?? 0) : null;
    return { items: page.map(shown), nextCursor: next };
  },
});

export const withdrawOutboxItem = operation({
  name: 'withdraw_outbox_item',
  title: 'Withdraw mail that waits',
  toolset: 'mail',
  reach: 'mailbox',
  action: 'send',
  description: 'Takes back an email that waits in the outbox; nobody gets it.',
  hints: { destructive: true },
  input: z.strictObject({ outboxId: Id('outbox') }),
  output: z.object({ withdrawn: z.literal(true) }),
  rest: { method: 'DELETE', path: '/api/email/outbox/:outboxId' },
  async run(call, { outboxId }) {
    const id = rowId('outbox', outboxId) ?? 0;
    const [item] = await waitingFor(call, id - 1, 1);
    if (item?.id !== id) return notFound('outbox item');
    const done = await call.change(withdrawWaiting, { trace: item.trace }, outboxId);
    return done.kind === 'gone' ? notFound('outbox item') : { withdrawn: true as const };
  },
});

/** What of the caller's organization waits, within its limits. */
async function waitingFor(call: Call, after: number, limit: number): Promise<Waiting[]> {
  const accounts = await allowedAccounts(call);
  return call.store.read(listWaiting, { tenant: call.tenant, accounts, after, limit });
}

function shown(item: Waiting): z.output<typeof Item> {
  return {
    outboxId: publicId('outbox', item.id),
    state: item.heldBecause === null ? 'scheduled' : 'pending',
    from: item.sender,
    recipients: item.recipients,
    reasons: item.heldBecause === null ? [] : [item.heldBecause],
    sendAt: isoOf(item.dueAt),
    createdAt: isoOf(item.createdAt),
  };
}
