import { randomBytes } from 'node:crypto';
import { checkWebhookUrl } from '../../webhooks/url-check.ts';
import { noteShownSecret } from '../../agents/shown-secrets.ts';
import { secretRow, WEBHOOK_PURPOSE } from '../../webhooks/sign.ts';
import type { Call } from '../../core/operation.ts';
import { refuse } from '../../core/refusal.ts';
import { z } from 'zod';
import { countWebhookEvents } from '../../../mail/store/notification/webhook-event.ts';
import type { Webhook } from '../../webhooks/webhook-queries.ts';
import { isoOf, isoOrNull } from '../../core/schemas.ts';

const SECRET_BYTES = 32;

/** Normalizes the URL and checks that this server may call it. */
export async function goodUrl(call: Call, given: string): Promise<string> {
  const checked = await checkWebhookUrl(given, call.settings.allowPrivateNetworks, call.resolver);
  if (!('problem' in checked)) return checked.url;
  return refuse('invalid_arguments', `${checked.problem}.`, { issues: [{ path: 'url', message: checked.problem }] });
}

/**
 * Creates a signing secret in plain and sealed form; no agent's mail may carry it. `account` null: of the organization.
 */
export async function newSigningSecret(
  call: Call,
  account: number | null,
): Promise<{ signingSecret: string; secret: Uint8Array }> {
  const { secrets, tenant: organization } = call;
  const signingSecret = `whsec_${randomBytes(SECRET_BYTES).toString('base64')}`;
  await noteShownSecret(call, { kind: 'webhook_secret', text: signingSecret });
  const row = secretRow({ account, organization });
  return { signingSecret, secret: secrets.seal(WEBHOOK_PURPOSE, 'webhook', row, Buffer.from(signingSecret)) };
}

/** Health of a webhook of a mailbox or the organization. */
export const Health = z.object({
  enabled: z.boolean(),
  createdAt: z.string(),
  lastDeliveryAt: z.string().nullable(),
  lastStatus: z.number().nullable(),
  consecutiveFailures: z.number(),
  disabledAt: z.string().nullable(),
  waiting: z.number(),
  givenUp: z.number(),
});

export async function healthOf({ store }: Call, hook: Webhook): Promise<z.output<typeof Health>> {
  const { waiting, dead } = await store.read(countWebhookEvents, { listener: hook.id });
  return {
    enabled: hook.disabledAt === null,
    createdAt: isoOf(hook.createdAt),
    lastDeliveryAt: isoOrNull(hook.lastDeliveryAt),
    lastStatus: hook.lastStatus,
    consecutiveFailures: hook.failures,
    disabledAt: isoOrNull(hook.disabledAt),
    waiting,
    givenUp: dead,
  };
}
