import { z } from 'zod';
import {
  listOutbox as listItems,
  type OutboxItem,
  outboxItem,
  OUTBOX_STATES,
} from '../../../mail/delivery/outbox-items.ts';
import { plainAddress } from '../../../mail/message/plain-address.ts';
import { approveUrl } from '../../approvals/url.ts';
import { publicId, rowId } from '../../ids.ts';
import { noteOutsidersText } from '../../reading/exposure.ts';
import { withdrawWaiting } from '../../sending/sent-commands.ts';
import { visibleLine } from '../../untrusted/invisible.ts';
import { type Few, fewOf, firstFitting, pageRoom } from '../../untrusted/room.ts';
import { type Call, operation } from '../operation.ts';
import { notFound, refuse } from '../refusal.ts';
import { Id, isoOf, isoOrNull, nextCursor, Page } from '../schemas.ts';
import { allowedAccounts } from '../scope.ts';

/** Recipients that are shown. One message goes to 50 at most, but from a mail program. */
const IN_LIST: Few = { most: 50, chars: 2_000 };
const ALONE: Few = { most: 1_000, chars: 30_000 };
const MOST_REASON = 500;
const MOST_SUBJECT = 300;

const Item = z.object({
  outboxId: z.string(),
  state: z.enum(OUTBOX_STATES),
  from: z.string(),
  recipients: z.array(z.string()).describe('the whole envelope'),
  moreRecipients: z.number().optional().describe('too many to be shown; get_outbox_item shows more'),
  reasons: z.array(z.string()),
  approveUrl: z.string().nullable().describe('page for a person'),
  sendAt: z.string().nullable(),
  createdAt: z.string(),
  expiresAt: z.string().nullable(),
  decidedAt: z.string().nullable(),
  decidedBy: z.string().nullable(),
  untrusted: z.object({ subject: z.string().nullable() }),
});

const Whole = Item.omit({ moreRecipients: true }).extend({
  askedBy: z.string().nullable().describe('token or mailbox'),
  sha256: z.string().nullable().describe('of the octets that leave'),
  reasonCodes: z.array(z.string()),
});

export const listOutbox = operation({
  name: 'list_outbox',
  title: 'List mail that waits as a whole',
  toolset: 'mail',
  reach: 'mailbox',
  action: 'read',
  untrusted: true,
  description:
    'Lists email that waits for its time or for a person, and for 30 days what was decided about it; newest first. Only people decide, on the page at approveUrl. Changes nothing.',
  hints: { readOnly: true, idempotent: true },
  input: z.strictObject({ state: z.enum(OUTBOX_STATES).optional(), ...Page }),
  output: z.object({ items: z.array(Item), nextCursor }),
  rest: { method: 'GET', path: '/api/email/outbox' },
  async run(call, { cursor, limit, state = null }) {
    const before = cursor === undefined ? null : Number(cursor.replace(/^out_/, ''));
    const asked = { tenant: call.tenant, accounts: await allowedAccounts(call), state, before, limit: limit + 1 };
    const items = await call.store.read(listItems, { ...asked, now: call.clock() });
    const page = firstFitting(
      items.slice(0, limit).map((item) => shown(call, item, IN_LIST)),
      pageRoom(limit),
    );
    const last = items.length > page.length ? items[page.length - 1] : undefined;
    await noteSubjects(call, items.slice(0, page.length));
    return {
      items: page,
      nextCursor: last === undefined ? null : String(last.id),
    };
  },
});

export const getOutboxItem = operation({
  name: 'get_outbox_item',
  title: 'See what became of mail that waits',
  toolset: 'mail',
  reach: 'mailbox',
  action: 'read',
  untrusted: true,
  description:
    'Shows one email of the outbox: its state, why it waits, until when a person can let it go, and who decided. Changes nothing.',
  hints: { readOnly: true, idempotent: true },
  input: z.strictObject({ outboxId: Id('outbox') }),
  output: Whole,
  rest: { method: 'GET', path: '/api/email/outbox/:outboxId' },
  async run(call, { outboxId }) {
    const item = await itemFor(call, outboxId);
    await noteSubjects(call, [item]);
    const { credential = null, sha256 = null, reasons = [] } = item.approval ?? {};
    const { moreRecipients: more, reasons: why, ...whole } = shown(call, item, ALONE);
    const told = more === undefined ? why : [...why, `It goes to ${more} more, who are not shown here`];
    return { ...whole, reasons: told, askedBy: credential, sha256, reasonCodes: reasons.map(({ code }) => code) };
  },
});

export const withdrawOutboxItem = operation({
  name: 'withdraw_outbox_item',
  title: 'Withdraw mail that waits',
  toolset: 'mail',
  reach: 'mailbox',
  action: 'send',
  description: 'Takes back an email that waits in the outbox, for its time or for a person; nobody gets it.',
  hints: { destructive: true },
  input: z.strictObject({ outboxId: Id('outbox') }),
  output: z.object({ withdrawn: z.literal(true) }),
  rest: { method: 'DELETE', path: '/api/email/outbox/:outboxId' },
  async run(call, { outboxId }) {
    const { trace } = await itemFor(call, outboxId);
    const by = call.caller.actorName === '' ? call.caller.actor : call.caller.actorName;
    const done = await call.change(withdrawWaiting, { trace, by }, outboxId);
    if (done.kind === 'gone') refuse('conflict', 'It waits no more: get_outbox_item says what became of it.');
    return { withdrawn: true as const };
  },
});

/** An item of the caller's organization and within its limits. */
async function itemFor(call: Call, outboxId: string): Promise<OutboxItem> {
  const accounts = await allowedAccounts(call);
  const item = await call.store.read(outboxItem, { id: rowId('outbox', outboxId) ?? 0, now: call.clock() });
  const mine = accounts === null || (item?.account != null && accounts.includes(item.account));
  return item?.tenant === call.tenant && mine ? item : notFound('outbox item');
}

/** The subject of an answer is that of whom it answers; whoever wrote it has read that already. */
async function noteSubjects(call: Call, items: readonly OutboxItem[]): Promise<void> {
  const foreign = items.some(({ approval }) => approval !== null && approval.credential !== call.caller.actor);
  if (foreign) await noteOutsidersText(call);
}

function shown(call: Call, item: OutboxItem, room: Few): z.output<typeof Item> {
  const { approval, heldBecause } = item;
  const held = heldBecause === null ? [] : [heldBecause];
  const recipients = fewOf(item.recipients.map(plainAddress), room, ({ length }) => length);
  const more = item.recipients.length - recipients.length;
  const reasons = approval?.reasons.map(({ text }) => text) ?? held;
  return {
    outboxId: publicId('outbox', item.id),
    state: item.state,
    from: item.sender,
    recipients,
    ...(more > 0 && { moreRecipients: more }),
    reasons: reasons.map((reason) => visibleLine(reason, MOST_REASON)),
    approveUrl: item.state === 'pending' && approval !== null ? approveUrl(call, call.tenant, item.id) : null,
    sendAt: isoOrNull(item.dueAt),
    createdAt: isoOf(item.createdAt),
    expiresAt: isoOrNull(approval?.expiresAt ?? null),
    decidedAt: isoOrNull(approval?.decidedAt ?? null),
    decidedBy: approval?.decidedBy ?? null,
    untrusted: { subject: approval === null ? null : visibleLine(approval.subject, MOST_SUBJECT) },
  };
}
