import { z } from 'zod';
import { publicId } from '../../core/ids.ts';
import { changeWebhook, removeWebhook, setWebhook } from '../../webhooks/webhook-commands.ts';
import { findWebhook } from '../../webhooks/webhook-queries.ts';
import { everyMailbox, oneMailbox } from '../affected-mailboxes.ts';
import { agentOf } from '../../core/caller.ts';
import { operation } from '../../core/operation.ts';
import { notFound } from '../../core/refusal.ts';
import { Id, isoOf, Line, SECRET_NOTICE } from '../../core/schemas.ts';
import { mailboxOf, webhookOf } from '../scope.ts';
import { webhookAuditTarget } from './webhook-deliveries.ts';
import { Health, healthOf, goodUrl, newSigningSecret } from './webhook-input.ts';
import { MailboxArguments } from '../mailboxes/shown.ts';

const Mailbox = { mailboxId: MailboxArguments.mailboxId, address: MailboxArguments.address };

export const setInboundWebhook = operation({
  name: 'set_email_inbound_webhook',
  title: 'Set the inbound webhook of a mailbox',
  toolset: 'email',
  reach: 'mailbox',
  action: 'manage',
  secret: true,
  description:
    'Sets the URL that is notified of mail arriving in a mailbox and returns a new signing secret once; a second call replaces both and revokes the old secret. https only, unless the operator allows the host.',
  hints: { openWorld: true },
  rule: oneMailbox,
  outgoingTexts: (_call, { url }) => [url],
  input: z.strictObject({ ...Mailbox, url: Line(1, 2_000).describe('https URL') }),
  output: z.object({
    webhook: z.object({ mailboxId: z.string(), url: z.string(), createdAt: z.string(), enabled: z.boolean() }),
    signingSecret: z.string(),
    rotated: z.boolean(),
    secretNotice: z.string(),
  }),
  rest: { method: 'PUT', path: '/api/email/mailboxes/:mailboxId/webhook' },
  async run(call, { url: given, ...which }) {
    const mailbox = await mailboxOf(call, which);
    const url = await goodUrl(call, given);
    const mailboxId = publicId('mailbox', mailbox.id);
    const { signingSecret, secret } = await newSigningSecret(call, mailbox.id);
    const row = { account: mailbox.id, organization: call.tenant, url, secret, by: agentOf(call.caller) };
    const done = await call.change(setWebhook, row, mailboxId, { host: new URL(url).host });
    if (done.kind === 'missing') return notFound('mailbox');
    return {
      webhook: { mailboxId, url, createdAt: isoOf(done.createdAt), enabled: true },
      signingSecret,
      rotated: done.kind === 'rotated',
      secretNotice: SECRET_NOTICE,
    };
  },
});

export const getInboundWebhook = operation({
  name: 'get_email_inbound_webhook',
  title: 'Get the inbound webhook of a mailbox',
  toolset: 'email',
  reach: 'mailbox',
  action: 'read',
  description:
    'Returns the inbound webhook of a mailbox, its last delivery, and how many are waiting or failed (counted up to 1,000), never its secret. Changes nothing.',
  hints: { readOnly: true, idempotent: true },
  input: z.strictObject(Mailbox),
  output: z.object({
    webhook: z.object({ mailboxId: z.string(), url: z.string(), ...Health.shape }).nullable(),
  }),
  rest: { method: 'GET', path: '/api/email/mailboxes/:mailboxId/webhook' },
  async run(call, which) {
    const mailbox = await mailboxOf(call, which);
    const hook = await call.store.read(findWebhook, { account: mailbox.id });
    if (hook === undefined) return { webhook: null };
    const mailboxId = publicId('mailbox', mailbox.id);
    return { webhook: { mailboxId, url: hook.url, ...(await healthOf(call, hook)) } };
  },
});

export const removeInboundWebhook = operation({
  name: 'remove_email_inbound_webhook',
  title: 'Remove the inbound webhook of a mailbox',
  toolset: 'email',
  reach: 'mailbox',
  action: 'manage',
  description:
    'Removes the inbound webhook of a mailbox with its secret, history and pending deliveries; mail still arrives in the mailbox.',
  hints: { destructive: true, idempotent: true },
  rule: oneMailbox,
  input: z.strictObject(Mailbox),
  output: z.object({ removed: z.boolean() }),
  rest: { method: 'DELETE', path: '/api/email/mailboxes/:mailboxId/webhook' },
  async run(call, which) {
    const mailbox = await mailboxOf(call, which);
    const input = { account: mailbox.id, organization: call.tenant, by: agentOf(call.caller) };
    const done = await call.change(removeWebhook, input, publicId('mailbox', mailbox.id));
    return { removed: done.kind === 'removed' };
  },
});

export const enableWebhook = operation({
  name: 'enable_webhook',
  title: 'Enable a webhook',
  toolset: 'email',
  reach: 'mailbox',
  action: 'manage',
  description:
    'Enables a webhook that was disabled after five days of failures, of a mailbox, or of the organization by webhookId, and sends pending deliveries, oldest first. Retries a failing one now.',
  hints: { idempotent: true, openWorld: true },
  rule: async (call, which) => {
    const { account } = await webhookOf(call, which);
    return account === null ? everyMailbox(call) : [account];
  },
  input: z.strictObject({ ...Mailbox, webhookId: Id('webhook').optional() }),
  output: z.object({ enabled: z.literal(true), wasDisabled: z.boolean() }),
  rest: { method: 'POST', path: '/api/email/webhooks/enable' },
  async run(call, which) {
    const hook = await webhookOf(call, which);
    const done = await call.change(
      changeWebhook,
      { organization: call.tenant, listener: hook.id },
      webhookAuditTarget(hook),
    );
    if (done.kind === 'missing') return notFound('webhook');
    return { enabled: true as const, wasDisabled: done.wasDisabled };
  },
});
