import { z } from 'zod';
import { deadNotices, type Notice } from '../../../mail/store/notice.ts';
import { publicId } from '../../ids.ts';
import { noteOutsidersText } from '../../reading/exposure.ts';
import { firstFitting, pageRoom } from '../../untrusted/room.ts';
import { remoteWords } from '../../untrusted/untrusted.ts';
import { deliveryId } from '../../webhooks/delivery-id.ts';
import { typeOf } from '../../webhooks/event-types.ts';
import { type DeliveryLine, listWebhookAttempts } from '../../webhooks/queries.ts';
import { Which } from '../mailboxes/shown.ts';
import { operation } from '../operation.ts';
import { Id, isoOf, nextCursor } from '../schemas.ts';
import { webhookOf } from '../scope.ts';

export const WhichHook = { ...Which, webhookId: Id('webhook').optional() };

const Pages = {
  cursor: z
    .string()
    .regex(/^\d{1,15}$/, 'is not one that this list gave')
    .optional(),
  limit: z.number().int().min(1).max(100).default(25),
};

const Delivery = z.object({
  attemptId: z.string(),
  deliveryId: z.string(),
  type: z.string(),
  messageId: z.string().nullable(),
  at: z.string(),
  url: z.string(),
  outcome: z.enum(['told', 'later', 'dead']),
  httpStatus: z.number().nullable(),
  problem: z.string().nullable(),
  request: z.string(),
  durationMs: z.number(),
  untrusted: z.object({ response: z.string() }),
});

export const listWebhookDeliveries = operation({
  name: 'list_webhook_deliveries',
  title: 'List webhook deliveries',
  toolset: 'email',
  reach: 'mailbox',
  action: 'read',
  untrusted: true,
  description:
    'Lists the attempts to tell the webhook of a mailbox, or one of the organization by webhookId, newest first: the last 500 of 30 days. outcome later is tried again, dead was given up. response is how the answer begins, in the words of the receiver, or of the mail if it repeats them. Changes nothing.',
  hints: { readOnly: true, idempotent: true, openWorld: true },
  input: z.strictObject({ ...WhichHook, ...Pages }),
  output: z.object({ deliveries: z.array(Delivery), nextCursor }),
  rest: { method: 'GET', path: '/api/email/mailboxes/:mailboxId/webhook/deliveries' },
  async run(call, { cursor, limit, ...which }) {
    const { id } = await webhookOf(call, which);
    const rows = await call.store.read(listWebhookAttempts, {
      listener: id,
      before: beforeOf(cursor),
      limit: limit + 1,
    });
    const deliveries = firstFitting(rows.slice(0, limit).map(shown), pageRoom(limit));
    const page = rows.slice(0, deliveries.length);
    // Many receivers answer with what they were told.
    if (page.some(({ response }) => response !== '')) await noteOutsidersText(call);
    return { deliveries, nextCursor: cursorOf(rows, page.length) };
  },
});

const GivenUp = z.object({
  deliveryId: z.string(),
  type: z.string(),
  messageId: z.string().nullable(),
  trace: z.string().nullable(),
  at: z.string(),
  givenUpAt: z.string(),
  attempts: z.number(),
});

export const listDeadWebhookDeliveries = operation({
  name: 'list_dead_webhook_deliveries',
  title: 'List what a webhook was not told in the end',
  toolset: 'email',
  reach: 'mailbox',
  action: 'read',
  description:
    'Lists what the webhook of a mailbox, or one of the organization by webhookId, was not told although it was tried for 32 hours, newest first. It is kept for 30 days; replay_webhook_delivery sends one again, replay_webhook_deliveries all of a time. Changes nothing.',
  hints: { readOnly: true, idempotent: true },
  input: z.strictObject({ ...WhichHook, ...Pages }),
  output: z.object({ deliveries: z.array(GivenUp), nextCursor }),
  rest: { method: 'GET', path: '/api/email/mailboxes/:mailboxId/webhook/dead' },
  async run(call, { cursor, limit, ...which }) {
    const { id } = await webhookOf(call, which);
    const rows = await call.store.read(deadNotices, { listener: id, before: beforeOf(cursor), limit: limit + 1 });
    return { deliveries: rows.slice(0, limit).map(givenUp), nextCursor: cursorOf(rows, limit) };
  },
});

function beforeOf(cursor: string | undefined): number {
  return cursor === undefined ? Number.MAX_SAFE_INTEGER : Number(cursor);
}

function cursorOf(rows: readonly { id: number }[], limit: number): string | null {
  const last = rows.length > limit ? rows[limit - 1] : undefined;
  return last === undefined ? null : String(last.id);
}

function shown(row: DeliveryLine): z.output<typeof Delivery> {
  return {
    attemptId: `wha_${row.id}`,
    deliveryId: deliveryId(row.notice),
    type: typeOf(row.event),
    messageId: messageId(row.email),
    at: isoOf(row.at),
    url: row.url,
    outcome: row.outcome === 'told' || row.outcome === 'dead' ? row.outcome : 'later',
    httpStatus: row.status,
    problem: row.problem,
    request: row.request,
    durationMs: row.durationMs,
    untrusted: { response: remoteWords(row.response) },
  };
}

function givenUp(notice: Notice & { diedAt: number }): z.output<typeof GivenUp> {
  return {
    deliveryId: deliveryId(notice.id),
    type: typeOf(notice.event),
    messageId: messageId(notice.email),
    trace: notice.trace === '' ? null : notice.trace,
    at: isoOf(notice.at),
    givenUpAt: isoOf(notice.diedAt),
    attempts: notice.attempts,
  };
}

function messageId(email: number | null): string | null {
  return email === null ? null : `msg_${email}`;
}

/** What a webhook is known by in the audit log. */
export function targetOf({ id, account }: { id: number; account: number | null }): string {
  return account === null ? publicId('webhook', id) : publicId('mailbox', account);
}
