import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import {
  newestWebhookEvent,
  replayWebhookEvent,
  replayWebhookEvents,
  queueEmailEvent,
} from '../../../mail/store/notification/webhook-event.ts';
import { testWebhook as testCommand } from '../../webhooks/webhook-commands.ts';
import type { Webhook } from '../../webhooks/webhook-queries.ts';
import { deliveryId, noticeOf } from '../../webhooks/delivery-id.ts';
import { newestEmail, lastWebhookAttempt } from '../../webhooks/queries.ts';
import { MailboxArguments } from '../mailboxes/shown.ts';
import { type Call, operation } from '../../core/operation.ts';
import { publicId } from '../../core/ids.ts';
import { accountIn, rowIn } from '../../core/message-ids.ts';
import { notFound, refuse } from '../../core/refusal.ts';
import { MessageForm, namedMailbox } from '../reading/mailbox-arguments.ts';
import { Id, Time } from '../../core/schemas.ts';
import { mailboxOf, webhookOf } from '../scope.ts';
import { webhookAuditTarget, WebhookArguments } from './webhook-deliveries.ts';

/** Maximum slices per call; each is a commit with its audit row. */
const MAX_SLICES = 25;
const LOOK_EVERY_MS = 50;

export const replayWebhookDelivery = operation({
  name: 'replay_webhook_delivery',
  title: 'Resend a webhook delivery',
  toolset: 'email',
  reach: 'mailbox',
  action: 'manage',
  description:
    'Sends one webhook delivery again: by deliveryId as listed, or by messageId for email.inbound of a stored message. A delivered one gets a new delivery id, a failed one keeps its own.',
  hints: { openWorld: true },
  input: z.strictObject({
    ...WebhookArguments,
    deliveryId: z
      .string()
      .regex(/^whd_[1-9]\d{0,14}$/, 'must look like whd_12')
      .describe('Delivery id')
      .optional(),
    messageId: MessageForm.describe('Or a message id').optional(),
  }),
  output: z.object({ deliveryId: z.string() }),
  rest: { method: 'POST', path: '/api/email/mailboxes/:mailboxId/webhook/deliveries' },
  async run(call, { messageId, deliveryId: given, ...which }) {
    const hook = await webhookOf(call, await withMailboxOf(call, which, messageId));
    onlyEnabled(hook);
    const notice = given === undefined ? undefined : noticeOf(given);
    if (notice !== undefined) {
      const done = await call.change(replayWebhookEvent, { listener: hook.id, id: notice }, webhookAuditTarget(hook), {
        notice,
      });
      return done.kind === 'missing' ? notFound('delivery') : { deliveryId: deliveryId(done.id) };
    }
    if (messageId === undefined || hook.account === null) {
      return refuse('invalid_arguments', 'Give deliveryId, or messageId with a mailbox.', {
        issues: [{ path: 'deliveryId', message: 'missing' }],
      });
    }
    const email = rowIn('email', hook.account, messageId) ?? notFound('message');
    return { deliveryId: deliveryId(await tellAgain(call, hook, hook.account, email)) };
  },
});

/** Adds the mailbox that a message id names, if nothing else names a webhook. */
async function withMailboxOf(call: Call, which: WebhookName, messageId: string | undefined): Promise<WebhookName> {
  const named = Object.values(which).some((value) => value !== undefined);
  if (named || messageId === undefined || accountIn(messageId) === undefined) return which;
  return { mailboxId: publicId('mailbox', (await namedMailbox(call, undefined, messageId)).id) };
}

type WebhookName = Parameters<typeof webhookOf>[1];

export const replayWebhookDeliveries = operation({
  name: 'replay_webhook_deliveries',
  title: 'Resend webhook deliveries',
  toolset: 'email',
  reach: 'mailbox',
  action: 'manage',
  description:
    'Sends again all delivered or failed deliveries of a webhook between since and until; pending ones are left alone. Up to 10,000 in a call: if complete is false, call again with next as after. Reaches back 30 days.',
  hints: { openWorld: true },
  input: z.strictObject({
    ...WebhookArguments,
    since: Time('Start'),
    until: Time('End; default: now').optional(),
    after: z
      .string()
      .regex(/^whd_[1-9]\d{0,14}$/, 'must look like whd_12')
      .describe('next of the previous call')
      .optional(),
  }),
  output: z.object({ replayed: z.number(), complete: z.boolean(), next: z.string().nullable() }),
  rest: { method: 'POST', path: '/api/email/mailboxes/:mailboxId/webhook/replay' },
  async run(call, { since, until, after: given, ...which }) {
    const hook = await webhookOf(call, which);
    onlyEnabled(hook);
    const range = {
      listener: hook.id,
      since: Date.parse(since),
      until: until === undefined ? call.clock() + 1 : Date.parse(until),
      upTo: await call.store.read(newestWebhookEvent, undefined),
    };
    let replayed = 0;
    let after: number | null = (given === undefined ? undefined : noticeOf(given)) ?? 0;
    for (let slice = 0; slice < MAX_SLICES && after !== null; slice++) {
      const detail = { since, ...(until !== undefined && { until }) };
      const done: Slice = await call.change(replayWebhookEvents, { ...range, after }, webhookAuditTarget(hook), detail);
      replayed += done.count;
      after = done.after;
    }
    return { replayed, complete: after === null, next: after === null ? null : deliveryId(after) };
  },
});

type Slice = { count: number; after: number | null };

const Tested = z.object({
  deliveryId: z.string(),
  status: z.enum(['told', 'failed', 'waiting']),
  httpStatus: z.number().nullable(),
  problem: z.string().nullable(),
  durationMs: z.number().nullable(),
});
const waitSeconds = z.number().int().min(0).max(10).default(5).describe('Waits this long for the result');

export const testInboundWebhook = operation({
  name: 'test_inbound_webhook',
  title: 'Test the inbound webhook',
  toolset: 'email',
  reach: 'mailbox',
  action: 'manage',
  description:
    'Sends email.inbound for the newest message of a mailbox to its webhook and returns the result; waiting: other deliveries go first, or it takes longer than waitSeconds.',
  hints: { openWorld: true },
  input: z.strictObject({ ...MailboxArguments, waitSeconds }),
  output: Tested,
  rest: { method: 'POST', path: '/api/email/mailboxes/:mailboxId/webhook/test' },
  async run(call, { waitSeconds: seconds, ...which }) {
    const { id, address } = await mailboxOf(call, which);
    const email = await call.store.read(newestEmail, { account: id });
    if (email === undefined) refuse('conflict', `${address} has no messages: send one to it, then test again.`);
    const hook = await webhookOf(call, which);
    onlyEnabled(hook);
    return wentHow(call, await tellAgain(call, hook, id, email), seconds);
  },
});

export const testWebhook = operation({
  name: 'test_webhook',
  title: 'Test a webhook for sent mail',
  toolset: 'email',
  reach: 'project',
  action: 'manage',
  description:
    'Sends webhook.test to a webhook of the organization and returns the result; waiting: other deliveries go first, or it takes longer than waitSeconds. Sends no mail.',
  hints: { openWorld: true },
  input: z.strictObject({ webhookId: Id('webhook'), waitSeconds }),
  output: Tested,
  rest: { method: 'POST', path: '/api/email/webhooks/:webhookId/test' },
  async run(call, { webhookId, waitSeconds: seconds }) {
    const hook = await webhookOf(call, { webhookId });
    onlyEnabled(hook);
    const done = await call.change(testCommand, { organization: call.tenant, listener: hook.id }, webhookId);
    return done.kind === 'missing' ? notFound('webhook') : wentHow(call, done.id, seconds);
  },
});

function onlyEnabled({ disabledAt }: Webhook): void {
  if (disabledAt === null) return;
  refuse('conflict', 'This webhook was disabled after days of failures: fix the receiver, then call enable_webhook.');
}

async function tellAgain(call: Call, hook: Webhook, account: number, email: number): Promise<number> {
  const done = await call.change(queueEmailEvent, { listener: hook.id, account, email }, webhookAuditTarget(hook), {
    email,
  });
  return done.kind === 'missing' ? notFound('message') : done.id;
}

/** Waits for the first delivery attempt. */
async function wentHow({ store }: Call, notice: number, seconds: number): Promise<z.output<typeof Tested>> {
  const until = performance.now() + seconds * 1000;
  for (;;) {
    const row = await store.read(lastWebhookAttempt, { notice });
    if (row !== undefined) {
      const { outcome, status: httpStatus, problem, durationMs } = row;
      const status = outcome === 'told' ? 'told' : 'failed';
      return { deliveryId: deliveryId(notice), status, httpStatus, problem, durationMs };
    }
    if (performance.now() >= until) {
      return { deliveryId: deliveryId(notice), status: 'waiting', httpStatus: null, problem: null, durationMs: null };
    }
    await sleep(LOOK_EVERY_MS);
  }
}
