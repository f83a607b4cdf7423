import { z } from 'zod';
import { agentSendOf } from '../../../mail/agents/gate/send-log.ts';
import {
  listOutbox as listItems,
  type OutboxItem,
  findOutboxItem,
  OUTBOX_STATES,
} from '../../../mail/delivery/outbox-items.ts';
import { plainAddress } from '../../../mail/message/plain-address.ts';
import { approveUrl } from '../../approvals/url.ts';
import { publicId, rowId } from '../../core/ids.ts';
import { recordUntrustedText } from '../../reading/read-record.ts';
import { withdrawWaiting } from '../../sending/sent-commands.ts';
import { visibleLine } from '../../untrusted/invisible.ts';
import { type ItemLimit, takeWithin, firstFitting, pageBudget } from '../../untrusted/result-budget.ts';
import { type Call, operation } from '../../core/operation.ts';
import { notFound, refuse } from '../../core/refusal.ts';
import { Id, isoOf, isoOrNull, nextCursor, Page } from '../../core/schemas.ts';
import { unlessOwnMail } from '../queue/own-mail.ts';
import { allowedAccounts } from '../scope.ts';

/** Recipients shown. Mail of tools has at most 50, mail of a mail program may have more. */
const IN_LIST: ItemLimit = { most: 50, chars: 2_000 };
const ALONE: ItemLimit = { most: 1_000, chars: 30_000 };
const MAX_REASON = 500;
const MAX_SUBJECT = 300;

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
  title: 'List the outbox',
  toolset: 'mail',
  reach: 'mailbox',
  action: 'read',
  orAction: 'send',
  untrusted: true,
  description:
    'Lists email that is scheduled or awaits approval, and for 30 days the decisions; newest first. Only people decide, at approveUrl. Changes nothing.',
  hints: { readOnly: true, idempotent: true },
  input: z.strictObject({ state: z.enum(OUTBOX_STATES).describe('Only this state').optional(), ...Page }),
  output: z.object({ items: z.array(Item), nextCursor }),
  rest: { method: 'GET', path: '/api/email/outbox' },
  async run(call, { cursor, limit, state = null }) {
    const before = cursor === undefined ? null : Number(cursor.replace(/^out_/, ''));
    const request = { tenant: call.tenant, accounts: await allowedAccounts(call), state, before, limit: limit + 1 };
    const items = await call.store.read(listItems, { ...request, now: call.clock() });
    const page = firstFitting(
      items.slice(0, limit).map((item) => shown(call, item, IN_LIST)),
      pageBudget(limit),
    );
    const last = items.length > page.length ? items[page.length - 1] : undefined;
    const own = await Promise.all(page.map((_one, i) => isVisible(call, items[i])));
    await noteSubjects(
      call,
      items.slice(0, page.length).filter((_one, i) => own[i]),
    );
    return {
      items: page.filter((_one, i) => own[i]),
      nextCursor: last === undefined ? null : String(last.id),
    };
  },
});

export const getOutboxItem = operation({
  name: 'get_outbox_item',
  title: 'Get an outbox item',
  toolset: 'mail',
  reach: 'mailbox',
  action: 'read',
  orAction: 'send',
  untrusted: true,
  description:
    'Returns one email of the outbox: state, why it is held, approval deadline, and who decided. Changes nothing.',
  hints: { readOnly: true, idempotent: true },
  input: z.strictObject({ outboxId: Id('outbox') }),
  output: Whole,
  rest: { method: 'GET', path: '/api/email/outbox/:outboxId' },
  async run(call, { outboxId }) {
    const item = await itemFor(call, outboxId);
    await noteSubjects(call, [item]);
    const { credential = null, sha256 = null, reasons = [] } = item.approval ?? {};
    const { moreRecipients: more, reasons: why, ...whole } = shown(call, item, ALONE);
    const reasonTexts = more === undefined ? why : [...why, `${more} more recipients are not shown`];
    return {
      ...whole,
      reasons: reasonTexts,
      askedBy: credential,
      sha256,
      reasonCodes: reasons.map(({ code }) => code),
    };
  },
});

export const withdrawOutboxItem = operation({
  name: 'withdraw_outbox_item',
  title: 'Withdraw an outbox item',
  toolset: 'mail',
  reach: 'mailbox',
  action: 'send',
  description: 'Withdraws an email that is scheduled or awaits approval; nobody gets it.',
  hints: { destructive: true },
  rule: async (call, { outboxId }) => unlessOwnMail(call, await itemFor(call, outboxId)),
  input: z.strictObject({ outboxId: Id('outbox') }),
  output: z.object({ withdrawn: z.literal(true) }),
  rest: { method: 'DELETE', path: '/api/email/outbox/:outboxId' },
  async run(call, { outboxId }) {
    const { trace } = await itemFor(call, outboxId);
    const by = call.caller.actorName === '' ? call.caller.actor : call.caller.actorName;
    const done = await call.change(withdrawWaiting, { trace, by }, outboxId);
    if (done.kind === 'gone') refuse('conflict', 'Already sent or cancelled: see get_outbox_item.');
    return { withdrawn: true as const };
  },
});

/** Finds an item of the caller's organization, within its limits. */
async function itemFor(call: Call, outboxId: string): Promise<OutboxItem> {
  const accounts = await allowedAccounts(call);
  const item = await call.store.read(findOutboxItem, { id: rowId('outbox', outboxId) ?? 0, now: call.clock() });
  const mine = accounts === null || (item?.account != null && accounts.includes(item.account));
  const found = item?.tenant === call.tenant && mine && (await isVisible(call, item));
  return found ? item : notFound('outbox item');
}

/** Tests if a token without the action `read` sent the item itself. */
async function isVisible({ caller, store, tenant }: Call, item: OutboxItem | undefined): Promise<boolean> {
  if (item === undefined || caller.actions.has('read')) return item !== undefined;
  const { approval, trace } = item;
  const sentBy = approval?.credential ?? (await store.read(agentSendOf, { tenant, trace }))?.credential;
  return sentBy === caller.actor;
}

/**
 * Returns the subject. That of a reply was written by the original author; an agent that replied has read it already.
 */
async function noteSubjects(call: Call, items: readonly OutboxItem[]): Promise<void> {
  const foreign = items.some(({ approval }) => approval !== null && approval.credential !== call.caller.actor);
  if (foreign) await recordUntrustedText(call);
}

function shown(call: Call, item: OutboxItem, room: ItemLimit): z.output<typeof Item> {
  const { approval, heldBecause } = item;
  const held = heldBecause === null ? [] : [heldBecause];
  const recipients = takeWithin(item.recipients.map(plainAddress), room, ({ length }) => length);
  const more = item.recipients.length - recipients.length;
  const reasons = approval?.reasons.map(({ text }) => text) ?? held;
  return {
    outboxId: publicId('outbox', item.id),
    state: item.state,
    from: item.sender,
    recipients,
    ...(more > 0 && { moreRecipients: more }),
    reasons: reasons.map((reason) => visibleLine(reason, MAX_REASON)),
    approveUrl: item.state === 'pending' && approval !== null ? approveUrl(call, call.tenant, item.id) : null,
    sendAt: isoOrNull(item.dueAt),
    createdAt: isoOf(item.createdAt),
    expiresAt: isoOrNull(approval?.expiresAt ?? null),
    decidedAt: isoOrNull(approval?.decidedAt ?? null),
    decidedBy: approval?.decidedBy ?? null,
    untrusted: { subject: approval === null ? null : visibleLine(approval.subject, MAX_SUBJECT) },
  };
}
