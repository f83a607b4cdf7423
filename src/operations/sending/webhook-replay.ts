import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { newestNotice, replayNotice, replayNotices, tellOfEmail } from '../../../mail/store/notice.ts';
import { testWebhook as testCommand } from '../../sending/webhook-commands.ts';
import type { Webhook } from '../../sending/webhook-queries.ts';
import { deliveryId, noticeOf } from '../../webhooks/delivery-id.ts';
import { newestEmail } from '../../webhooks/newest-query.ts';
import { attemptOf } from '../../webhooks/queries.ts';
import { Which } from '../mailboxes/shown.ts';
import { type Call, operation } from '../operation.ts';
import { notFound, refuse } from '../refusal.ts';
import { Id } from '../schemas.ts';
import { mailboxOf, webhookOf } from '../scope.ts';
import { targetOf, WhichHook } from './webhook-deliveries.ts';

/** Slices of one call; each is a commit with its audit row. */
const MOST_SLICES = 25;
const LOOK_EVERY_MS = 50;

export const replayWebhookDelivery = operation({
  name: 'replay_webhook_delivery',
  title: 'Tell a webhook again',
  toolset: 'email',
  reach: 'mailbox',
  action: 'manage',
  description:
    'Tells a webhook of one thing once more: deliveryId as the lists give it, or messageId for email.inbound of a stored message. What was told before gets a new delivery id; what was given up keeps its own.',
  hints: { openWorld: true },
  input: z.strictObject({
    ...WhichHook,
    deliveryId: z
      .string()
      .regex(/^whd_[1-9]\d{0,14}$/, 'looks like whd_12')
      .optional(),
    messageId: z
      .string()
      .regex(/^msg_[1-9]\d{0,15}$/, 'looks like msg_12')
      .optional(),
  }),
  output: z.object({ deliveryId: z.string() }),
  rest: { method: 'POST', path: '/api/email/mailboxes/:mailboxId/webhook/deliveries' },
  async run(call, { messageId, deliveryId: given, ...which }) {
    const hook = await webhookOf(call, which);
    onlyEnabled(hook);
    const notice = given === undefined ? undefined : noticeOf(given);
    if (notice !== undefined) {
      const done = await call.change(replayNotice, { listener: hook.id, id: notice }, targetOf(hook), { notice });
      return done.kind === 'missing' ? notFound('delivery') : { deliveryId: deliveryId(done.id) };
    }
    if (messageId === undefined || hook.account === null) {
      return refuse('invalid_arguments', 'Say what to tell again: deliveryId, or messageId for a mailbox.', {
        issues: [{ path: 'deliveryId', message: 'missing' }],
      });
    }
    return { deliveryId: deliveryId(await tellAgain(call, hook, hook.account, Number(messageId.slice(4)))) };
  },
});

export const replayWebhookDeliveries = operation({
  name: 'replay_webhook_deliveries',
  title: 'Tell a webhook all of a time again',
  toolset: 'email',
  reach: 'mailbox',
  action: 'manage',
  description:
    'Tells a webhook once more all that happened from since until before until (now) and that it was told or that was given up; what still waits is left as it is. Up to 10,000 in a call: where complete is false, call again with next as after. Reaches back 30 days.',
  hints: { openWorld: true },
  input: z.strictObject({
    ...WhichHook,
    since: z.iso.datetime({ offset: true }),
    until: z.iso.datetime({ offset: true }).optional(),
    after: z
      .string()
      .regex(/^whd_[1-9]\d{0,14}$/, 'looks like whd_12')
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
      upTo: await call.store.read(newestNotice, undefined),
    };
    let replayed = 0;
    let after: number | null = (given === undefined ? undefined : noticeOf(given)) ?? 0;
    for (let slice = 0; slice < MOST_SLICES && after !== null; slice++) {
      const detail = { since, ...(until !== undefined && { until }) };
      const done: Slice = await call.change(replayNotices, { ...range, after }, targetOf(hook), detail);
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
const waitSeconds = z.number().int().min(0).max(10).default(5).describe('How long to wait for its answer.');

export const testInboundWebhook = operation({
  name: 'test_inbound_webhook',
  title: 'Test a webhook',
  toolset: 'email',
  reach: 'mailbox',
  action: 'manage',
  description:
    'Sends email.inbound of the newest message of a mailbox to its webhook and says how it went; waiting: other deliveries are before it, or it takes longer than waitSeconds.',
  hints: { openWorld: true },
  input: z.strictObject({ ...Which, waitSeconds }),
  output: Tested,
  rest: { method: 'POST', path: '/api/email/mailboxes/:mailboxId/webhook/test' },
  async run(call, { waitSeconds: seconds, ...which }) {
    const { id, address } = await mailboxOf(call, which);
    const email = await call.store.read(newestEmail, { account: id });
    if (email === undefined) refuse('conflict', `${address} has no message yet: send one to it, then test again.`);
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
    'Sends webhook.test to a webhook of the organization and says how it went; waiting: other deliveries are before it, or it takes longer than waitSeconds. No mail is sent.',
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
  refuse(
    'conflict',
    'This webhook is switched off, as it failed for days: mend the receiver, then call enable_webhook.',
  );
}

async function tellAgain(call: Call, hook: Webhook, account: number, email: number): Promise<number> {
  const done = await call.change(tellOfEmail, { listener: hook.id, account, email }, targetOf(hook), { email });
  return done.kind === 'missing' ? notFound('message') : done.id;
}

/** Waits for the first attempt at a notice. */
async function wentHow({ store }: Call, notice: number, seconds: number): Promise<z.output<typeof Tested>> {
  const until = performance.now() + seconds * 1000;
  for (;;) {
    const row = await store.read(attemptOf, { notice });
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
