import { createHmac } from 'node:crypto';

/** Encryption purpose of signing secrets; the row is (webhook, {@link secretRow}). */
export const WEBHOOK_PURPOSE = 'webhook secret';

/** Binds an encrypted secret to its mailbox or organization. */
export function secretRow({ account, organization }: { account: number | null; organization: number }): string {
  return account === null ? `organization/${organization}` : String(account);
}

/**
 * The signature headers. `X-Service-Signature` is HMAC-SHA256 over the body, keyed with the secret as shown to the user;
 * the three others follow Standard Webhooks, with an id and a timestamp.
 */
export function webhookSignatureHeaders(
  secret: string,
  body: Uint8Array,
  { id, at }: { id: string; /** ms UTC */ at: number },
): Record<string, string> {
  const timestamp = String(Math.floor(at / 1000));
  const plain = createHmac('sha256', secret).update(body).digest('hex');
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
  const standard = createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest('base64');
  return {
    'x-service-signature': `sha256=${plain}`,
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': `v1,${standard}`,
  };
}
