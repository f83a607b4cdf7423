import { randomBytes } from 'node:crypto';
import { judgeWebhookUrl } from '../../sending/webhook-url.ts';
import { noteShownSecret } from '../../sending/shown-secrets.ts';
import { secretRow, WEBHOOK_PURPOSE } from '../../webhooks/sign.ts';
import type { Call } from '../operation.ts';
import { refuse } from '../refusal.ts';

const SECRET_BYTES = 32;

/** The URL in its one form, if this box may call it on somebody's behalf. */
export async function goodUrl(call: Call, given: string): Promise<string> {
  const judged = await judgeWebhookUrl(given, call.settings.allowPrivateNetworks, call.resolver);
  if (!('problem' in judged)) return judged.url;
  return refuse('invalid_arguments', `${judged.problem}.`, { issues: [{ path: 'url', message: judged.problem }] });
}

/** A signing secret, as it is shown and as it is kept; no agent's mail carries it. `account` null: of the organization. */
export async function newSecret(
  call: Call,
  account: number | null,
): Promise<{ signingSecret: string; secret: Uint8Array }> {
  const { secrets, tenant: organization } = call;
  const signingSecret = `whsec_${randomBytes(SECRET_BYTES).toString('base64')}`;
  await noteShownSecret(call, { kind: 'webhook_secret', text: signingSecret });
  const row = secretRow({ account, organization });
  return { signingSecret, secret: secrets.seal(WEBHOOK_PURPOSE, 'webhook', row, Buffer.from(signingSecret)) };
}
