import { textKey } from '../../mail/message/address.ts';
import { command, query, type Stamp, type Write } from '../../mail/store/engine/types.ts';
import {
  addUnsubscription,
  isUnsubscribed,
  type Unsubscription,
  removeUnsubscription,
} from '../../mail/store/notification/unsubscription.ts';
import { appendAudit } from '../audit/commands.ts';
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { SecretBox } from '../../mail/store/blob/secrets.ts';

type Outcome = { kind: 'changed' | 'same' | 'missing' };
type Request = Subscription & { ip: string };

/** Finds the organization and whether the recipient has unsubscribed; `missing`: the organization was deleted. */
export const unsubscribed = query(
  'unsubscribed',
  async (
    rx,
    subscription: Subscription,
  ): Promise<{ kind: 'found'; organization: string; unsubscribed: boolean } | { kind: 'missing' }> => {
    const row = await rx.get<{ name: string }>('SELECT name FROM organization WHERE id = ?', subscription.organization);
    if (row === undefined) return { kind: 'missing' };
    return {
      kind: 'found',
      organization: row.name,
      unsubscribed: await isUnsubscribed(rx, unsubscriptionOf(subscription)),
    };
  },
);

/** Unsubscribes a recipient from all API mail of an organization, from this commit on. Idempotent. */
export const recordUnsubscribe = command('unsubscribe', async (tx, request: Request, stamp): Promise<Outcome> => {
  if ((await unsubscribed.run(tx, request)).kind === 'missing') return { kind: 'missing' };
  const done = await addUnsubscription(tx, unsubscriptionOf(request), stamp);
  if (done) await audit(tx, request, 'unsubscribe', stamp);
  return { kind: done ? 'changed' : 'same' };
});

/** Reverts an unsubscription; a suppression for another reason stays. */
export const resubscribe = command('resubscribe', async (tx, request: Request, stamp): Promise<Outcome> => {
  const done = await removeUnsubscription(tx, unsubscriptionOf(request), stamp);
  if (done) await audit(tx, request, 'resubscribe', stamp);
  return { kind: done ? 'changed' : 'same' };
});

function unsubscriptionOf({ organization, recipient, trace }: Subscription): Unsubscription {
  return { tenant: organization, key: textKey(recipient), trace };
}

async function audit(
  tx: Write,
  { organization, recipient, ip, trace }: Request,
  operation: 'unsubscribe' | 'resubscribe',
  stamp: Stamp,
): Promise<void> {
  const who = { actor: 'anonymous', actorName: 'recipient, by the unsubscribe link', way: 'portal', ip } as const;
  const what = { organization, operation, target: textKey(recipient), detail: { message: trace } };
  await appendAudit(tx, { ...who, ...what }, 'done', stamp);
}

/** The organization, the recipient, and the message with the link. */
export interface Subscription {
  organization: number;
  /** Recipient address, as in the message. */
  recipient: string;
  /** Trace id of the message; its timeline shows the unsubscription. */
  trace: string;
}

const MAX_TOKEN_CHARACTERS = 1000;

/** The box's key for unsubscribe links. */
export function unsubscribeKey(secrets: SecretBox): Buffer {
  return secrets.subkey('unsubscribe links');
}

/**
 * The URL by which one recipient unsubscribes from the API mail of an organization. Never expires, because old messages are
 * found years later. A message with it must have exactly one recipient.
 */
export function unsubscribeLink(baseUrl: string, key: Buffer, subscription: Subscription): string {
  const { organization, recipient, trace } = subscription;
  const facts = Buffer.from(JSON.stringify([organization, recipient, trace])).toString('base64url');
  return `${baseUrl}/unsubscribe/${facts}.${mac(key, facts)}`;
}

/** The header fields for one-click unsubscription. Both must be DKIM-signed. RFC 2369 3.2, RFC 8058 3.1. */
export function unsubscribeFields(link: string): [name: string, value: string][] {
  return [
    ['List-Unsubscribe', `<${link}>`],
    ['List-Unsubscribe-Post', 'List-Unsubscribe=One-Click'],
  ];
}

/** Decodes a link; undefined for one that this box did not create. */
export function readUnsubscribe(key: Buffer, token: string): Subscription | undefined {
  const [, facts, given] = token.length > MAX_TOKEN_CHARACTERS ? [] : (/^([\w-]+)\.([\w-]{22})$/.exec(token) ?? []);
  if (facts === undefined || given === undefined) return undefined;
  if (!timingSafeEqual(Buffer.from(mac(key, facts)), Buffer.from(given))) return undefined;
  const [organization, recipient, trace] = JSON.parse(Buffer.from(facts, 'base64url').toString()) as [
    number,
    string,
    string,
  ];
  return { organization, recipient, trace };
}

/** MAC of 128 bits. */
function mac(key: Buffer, facts: string): string {
  return createHmac('sha256', key).update(`unsubscribe ${facts}`).digest().subarray(0, 16).toString('base64url');
}
