import { z } from 'zod';
import { publicId } from '../../core/ids.ts';
import { addWebhook, changeWebhook, dropWebhook } from '../../webhooks/webhook-commands.ts';
import { MAX_WEBHOOKS } from '../../webhooks/webhook-row-commands.ts';
import { listWebhooks, type Webhook } from '../../webhooks/webhook-queries.ts';
import { EVENT_TYPES, eventsOf, typeOf } from '../../webhooks/event-types.ts';
import { everyMailbox } from '../affected-mailboxes.ts';
import { agentOf } from '../../core/caller.ts';
import { type Call, operation } from '../../core/operation.ts';
import { notFound, refuse } from '../../core/refusal.ts';
import { Id, Line, SECRET_NOTICE, OfProject } from '../../core/schemas.ts';
import { allowedProjects, projectOf, webhookOf } from '../scope.ts';
import { Health, healthOf, goodUrl, newSigningSecret } from './webhook-input.ts';

const Events = z.array(z.enum(EVENT_TYPES)).min(1).max(EVENT_TYPES.length).describe('Default: all');

const Shown = z.object({
  id: z.string(),
  url: z.string(),
  events: z.array(z.string()),
  projectId: z.string().nullable(),
  ...Health.shape,
});

export const createWebhook = operation({
  name: 'create_webhook',
  title: 'Create a webhook for sent mail',
  toolset: 'email',
  reach: 'project',
  action: 'manage',
  secret: true,
  description:
    'Notifies a URL, with signature, about mail sent by this organization (queued, delivered, deferred, bounced, complained, suppressed). Shows the signing secret once. https only, unless the operator allows the host.',
  hints: { openWorld: true },
  rule: everyMailbox,
  outgoingTexts: (_call, { url }) => [url],
  input: z.strictObject({
    url: Line(1, 2_000).describe('https URL'),
    events: Events.optional(),
    projectId: OfProject,
  }),
  output: z.object({ webhook: Shown, signingSecret: z.string(), secretNotice: z.string() }),
  rest: { method: 'POST', path: '/api/email/webhooks', status: 201 },
  async run(call, { url: given, events: types = EVENT_TYPES, projectId }) {
    const project = await limitOf(call, projectId);
    const url = await goodUrl(call, given);
    const { signingSecret, secret } = await newSigningSecret(call, null);
    const row = { organization: call.tenant, project, events: eventsOf(types), url, secret, by: agentOf(call.caller) };
    const done = await call.change(addWebhook, row, new URL(url).host, { events: types });
    if (done.kind === 'full') {
      return refuse(
        'conflict',
        `Limit reached: an organization has at most ${MAX_WEBHOOKS} webhooks. Remove one first.`,
      );
    }
    const webhook = await shown(call, {
      id: done.id,
      account: null,
      project,
      url,
      events: row.events,
      createdAt: call.clock(),
      lastDeliveryAt: null,
      lastStatus: null,
      failures: 0,
      disabledAt: null,
    });
    return { webhook, signingSecret, secretNotice: SECRET_NOTICE };
  },
});

/** Returns the project that the webhook is limited to; null: all. A limited token creates none with a wider scope. */
async function limitOf(call: Call, projectId: string | undefined): Promise<number | null> {
  if (projectId === undefined && call.caller.project === null) return null;
  return (await projectOf(call, projectId)).id;
}

export const listOrganizationWebhooks = operation({
  name: 'list_webhooks',
  title: 'List webhooks for sent mail',
  toolset: 'email',
  reach: 'project',
  action: 'read',
  description:
    'Lists the webhooks for sent mail with their health and number of pending and failed events (counted up to 1,000), never secrets. Those of mailboxes: get_email_inbound_webhook. Changes nothing.',
  hints: { readOnly: true, idempotent: true },
  input: z.strictObject({}),
  output: z.object({ webhooks: z.array(Shown) }),
  rest: { method: 'GET', path: '/api/email/webhooks' },
  async run(call) {
    const allowed = await allowedProjects(call);
    const all = await call.store.read(listWebhooks, { organization: call.tenant });
    const mine = all.filter(({ project }) => allowed === null || (project !== null && allowed.includes(project)));
    return { webhooks: await Promise.all(mine.map((hook) => shown(call, hook))) };
  },
});

export const updateWebhook = operation({
  name: 'update_webhook',
  title: 'Update a webhook for sent mail',
  toolset: 'email',
  reach: 'project',
  action: 'manage',
  secret: true,
  description:
    'Changes the URL or events of a webhook of the organization, or its secret with rotateSecret: the new one is shown once and signs from the next request on. Enables a disabled webhook.',
  hints: { openWorld: true },
  rule: everyMailbox,
  outgoingTexts: (_call, { url = '' }) => [url],
  input: z.strictObject({
    webhookId: Id('webhook'),
    url: Line(1, 2_000).describe('https URL').optional(),
    events: Events.optional(),
    rotateSecret: z.boolean().default(false).describe('Create a new secret'),
  }),
  output: z.object({
    webhookId: z.string(),
    signingSecret: z.string().nullable(),
    secretNotice: z.string().nullable(),
  }),
  rest: { method: 'PUT', path: '/api/email/webhooks/:webhookId' },
  async run(call, { webhookId, url: given, events, rotateSecret }) {
    const { id } = await webhookOf(call, { webhookId });
    const url = given === undefined ? undefined : await goodUrl(call, given);
    const made = rotateSecret ? await newSigningSecret(call, null) : undefined;
    const change = {
      organization: call.tenant,
      by: agentOf(call.caller),
      listener: id,
      ...(url !== undefined && { url }),
      ...(events !== undefined && { events: eventsOf(events) }),
      ...(made !== undefined && { secret: made.secret }),
    };
    const done = await call.change(changeWebhook, change, webhookId, { rotated: rotateSecret });
    if (done.kind === 'missing') return notFound('webhook');
    const secretNotice = made === undefined ? null : SECRET_NOTICE;
    return { webhookId, signingSecret: made?.signingSecret ?? null, secretNotice };
  },
});

export const removeOrganizationWebhook = operation({
  name: 'remove_webhook',
  title: 'Remove a webhook for sent mail',
  toolset: 'email',
  reach: 'project',
  action: 'manage',
  description:
    'Removes a webhook of the organization with its secret, history and pending deliveries. A request in flight may still arrive.',
  hints: { destructive: true },
  rule: everyMailbox,
  input: z.strictObject({ webhookId: Id('webhook') }),
  output: z.object({ removed: z.boolean() }),
  rest: { method: 'DELETE', path: '/api/email/webhooks/:webhookId' },
  async run(call, { webhookId }) {
    const { id } = await webhookOf(call, { webhookId });
    const input = { organization: call.tenant, listener: id, by: agentOf(call.caller) };
    const done = await call.change(dropWebhook, input, webhookId);
    return { removed: done.kind === 'removed' };
  },
});

async function shown(call: Call, hook: Webhook): Promise<z.output<typeof Shown>> {
  return {
    id: publicId('webhook', hook.id),
    url: hook.url,
    events: hook.events.map(typeOf),
    projectId: hook.project === null ? null : publicId('project', hook.project),
    ...(await healthOf(call, hook)),
  };
}
