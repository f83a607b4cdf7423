import { createHmac } from 'node:crypto';

/** The purpose under which signing secrets are sealed; the row is (webhook, {@link secretRow}). */
export const WEBHOOK_PURPOSE = 'webhook secret';

/** A secret is of a mailbox, or of an organization: no other can use it. */
export function secretRow({ account, organization }: { account: number | null; organization: number }): string {
  return account === null ? `organization/${organization}` : String(account);
}

/**
 * The headers by which a receiver knows the sender. `X-Service-Signature` is HMAC-SHA256 over the octets of the body,
 * keyed with the secret as it was shown; the three others are Standard Webhooks', which add an id and a time.
 */
export function signedHeaders(
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
