import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { publicId } from '../../ids.ts';
import { findWebhook, removeWebhook, setWebhook } from '../../sending/webhook-commands.ts';
import { judgeWebhookUrl } from '../../sending/webhook-url.ts';
import { WEBHOOK_PURPOSE } from '../../webhooks/sign.ts';
import { operation } from '../operation.ts';
import { notFound, refuse } from '../refusal.ts';
import { Id, isoOf, isoOrNull, Line, SECRET_NOTICE } from '../schemas.ts';
import { mailboxOf } from '../scope.ts';

const SECRET_BYTES = 32;

const Mailbox = { mailboxId: Id('mailbox').optional(), address: Line(1, 320).optional() };

export const setInboundWebhook = operation({
  name: 'set_email_inbound_webhook',
  title: 'Set the inbound webhook of a mailbox',
  toolset: 'email',
  reach: 'mailbox',
  action: 'manage',
  secret: true,
  description:
    'Sets the URL that is told of mail arriving in a mailbox and returns a new signing secret once; a second call replaces both, and the old secret holds no more. https only, unless the operator allows the place.',
  hints: { openWorld: true },
  input: z.strictObject({ ...Mailbox, url: Line(1, 2_000) }),
  output: z.object({
    webhook: z.object({ mailboxId: z.string(), url: z.string(), createdAt: z.string(), enabled: z.boolean() }),
    signingSecret: z.string(),
    rotated: z.boolean(),
    secretNotice: z.string(),
  }),
  rest: { method: 'PUT', path: '/api/email/mailboxes/:mailboxId/webhook' },
  async run(call, { url: given, ...which }) {
    const mailbox = await mailboxOf(call, which);
    const judged = await judgeWebhookUrl(given, call.settings.allowPrivateNetworks, call.resolver);
    if ('problem' in judged) {
      return refuse('invalid_arguments', `${judged.problem}.`, { issues: [{ path: 'url', message: judged.problem }] });
    }
    const { url } = judged;
    const mailboxId = publicId('mailbox', mailbox.id);
    const signingSecret = `whsec_${randomBytes(SECRET_BYTES).toString('base64')}`;
    const secret = call.secrets.seal(WEBHOOK_PURPOSE, 'webhook', mailbox.id, Buffer.from(signingSecret));
    const row = { account: mailbox.id, organization: call.tenant, url, secret };
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
    'Shows the inbound webhook of a mailbox and how its last delivery went, never its secret. Changes nothing.',
  hints: { readOnly: true, idempotent: true },
  input: z.strictObject(Mailbox),
  output: z.object({
    webhook: z
      .object({
        mailboxId: z.string(),
        url: z.string(),
        enabled: z.boolean(),
        createdAt: z.string(),
        lastDeliveryAt: z.string().nullable(),
        lastStatus: z.number().nullable(),
        consecutiveFailures: z.number(),
      })
      .nullable(),
  }),
  rest: { method: 'GET', path: '/api/email/mailboxes/:mailboxId/webhook' },
  async run(call, which) {
    const mailbox = await mailboxOf(call, which);
    const hook = await call.store.read(findWebhook, { account: mailbox.id });
    if (hook === undefined) return { webhook: null };
    return {
      webhook: {
        mailboxId: publicId('mailbox', mailbox.id),
        url: hook.url,
        enabled: hook.enabled,
        createdAt: isoOf(hook.createdAt),
        lastDeliveryAt: isoOrNull(hook.lastDeliveryAt),
        lastStatus: hook.lastStatus,
        consecutiveFailures: hook.failures,
      },
    };
  },
});

export const removeInboundWebhook = operation({
  name: 'remove_email_inbound_webhook',
  title: 'Remove the inbound webhook of a mailbox',
  toolset: 'email',
  reach: 'mailbox',
  action: 'manage',
  description: 'Removes the inbound webhook of a mailbox and its secret; mail still lands in the mailbox.',
  hints: { destructive: true, idempotent: true },
  input: z.strictObject(Mailbox),
  output: z.object({ removed: z.boolean() }),
  rest: { method: 'DELETE', path: '/api/email/mailboxes/:mailboxId/webhook' },
  async run(call, which) {
    const mailbox = await mailboxOf(call, which);
    const input = { account: mailbox.id, organization: call.tenant };
    const done = await call.change(removeWebhook, input, publicId('mailbox', mailbox.id));
    return { removed: done.kind === 'removed' };
  },
});
