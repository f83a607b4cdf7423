import { z } from 'zod';
import { announceAgain } from '../../../mail/store/arrival.ts';
import { publicId } from '../../ids.ts';
import { type DeliveryLine, listWebhookAttempts, webhookTarget } from '../../webhooks/commands.ts';
import { newestEmail } from '../../webhooks/newest-query.ts';
import { Which } from '../mailboxes/shown.ts';
import { type Call, operation } from '../operation.ts';
import { notFound, refuse } from '../refusal.ts';
import { isoOf, nextCursor } from '../schemas.ts';
import { mailboxOf } from '../scope.ts';

const Delivery = z.object({
  attemptId: z.string(),
  deliveryId: z.string(),
  messageId: z.string(),
  at: z.string(),
  url: z.string(),
  httpStatus: z.number().nullable(),
  problem: z.string().nullable(),
  response: z.string(),
  durationMs: z.number(),
});

export const listWebhookDeliveries = operation({
  name: 'list_webhook_deliveries',
  title: 'List webhook deliveries',
  toolset: 'email',
  reach: 'mailbox',
  action: 'read',
  untrusted: true,
  description:
    'Lists the attempts to tell the webhook of a mailbox, newest first, with status and how the answer begins, which the receiver wrote. Changes nothing.',
  hints: { readOnly: true, idempotent: true, openWorld: true },
  input: z.strictObject({
    ...Which,
    cursor: z
      .string()
      .regex(/^\d{1,15}$/)
      .optional(),
    limit: z.number().int().min(1).max(100).default(25),
  }),
  output: z.object({ deliveries: z.array(Delivery), nextCursor }),
  rest: { method: 'GET', path: '/api/email/mailboxes/:mailboxId/webhook/deliveries' },
  async run(call, { cursor, limit, ...which }) {
    const { id } = await mailboxOf(call, which);
    const before = cursor === undefined ? Number.MAX_SAFE_INTEGER : Number(cursor);
    const rows = await call.store.read(listWebhookAttempts, { account: id, before, limit: limit + 1 });
    const last = rows.length > limit ? rows[limit - 1] : undefined;
    return { deliveries: rows.slice(0, limit).map(shown), nextCursor: last === undefined ? null : String(last.id) };
  },
});

function shown(row: DeliveryLine): z.output<typeof Delivery> {
  return {
    attemptId: `wha_${row.id}`,
    deliveryId: `whd_${row.arrival}`,
    messageId: `msg_${row.email}`,
    at: isoOf(row.at),
    url: row.url,
    httpStatus: row.status,
    problem: row.problem,
    response: row.response,
    durationMs: row.durationMs,
  };
}

export const replayWebhookDelivery = operation({
  name: 'replay_webhook_delivery',
  title: 'Tell a webhook again',
  toolset: 'email',
  reach: 'mailbox',
  action: 'manage',
  description:
    'Sends email.inbound of one stored message of a mailbox to its webhook once more, under a new delivery id; messageId as list_webhook_deliveries gives it.',
  hints: { openWorld: true },
  input: z.strictObject({ ...Which, messageId: z.string().regex(/^msg_[1-9]\d{0,15}$/, 'looks like msg_12') }),
  output: z.object({ deliveryId: z.string() }),
  rest: { method: 'POST', path: '/api/email/mailboxes/:mailboxId/webhook/deliveries' },
  async run(call, { messageId, ...which }) {
    const { id } = await mailboxOf(call, which);
    return again(call, id, Number(messageId.slice(4)));
  },
});

export const testInboundWebhook = operation({
  name: 'test_inbound_webhook',
  title: 'Test a webhook',
  toolset: 'email',
  reach: 'mailbox',
  action: 'manage',
  description:
    'Sends email.inbound of the newest message of a mailbox to its webhook; list_webhook_deliveries then says how it went.',
  hints: { openWorld: true },
  input: z.strictObject(Which),
  output: z.object({ deliveryId: z.string() }),
  rest: { method: 'POST', path: '/api/email/mailboxes/:mailboxId/webhook/test' },
  async run(call, which) {
    const { id, address } = await mailboxOf(call, which);
    const email = await call.store.read(newestEmail, { account: id });
    if (email === undefined) refuse('conflict', `${address} has no message yet: send one to it, then test again.`);
    return again(call, id, email);
  },
});

async function again(call: Call, account: number, email: number): Promise<{ deliveryId: string }> {
  if ((await call.store.read(webhookTarget, { account })) === undefined) {
    refuse('conflict', 'This mailbox has no webhook: set one with set_email_inbound_webhook.', { resource: 'webhook' });
  }
  const done = await call.change(announceAgain, { account, email }, publicId('mailbox', account), { email });
  return done.kind === 'missing' ? notFound('message') : { deliveryId: `whd_${done.id}` };
}
