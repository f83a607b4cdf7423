import { createHmac, timingSafeEqual } from 'node:crypto';

/** The part name of the whole message. */
export const WHOLE = 'message';

const DEFAULT_LIFETIME_MS = 24 * 3_600_000;

export interface AttachmentLinkContext {
  baseUrl: string;
  /** The box's key for attachment links. */
  key: Uint8Array;
  /** ms UTC. */
  now: number;
}

/** Lifetime of a link in ms, and the token it depends on. */
export interface AttachmentLinkTerms {
  lifetimeMs: number;
  /** Public id of a token: the link becomes invalid with it. */
  by?: string;
  /** Network (guard/network.ts) that it is only valid from; left out: any. */
  network?: string;
}

/** A bearer URL of one attachment, valid for a day by default. */
export function attachmentUrl(
  { baseUrl, key, now }: AttachmentLinkContext,
  email: number,
  path: string,
  { lifetimeMs, by = '', network = '' }: AttachmentLinkTerms = { lifetimeMs: DEFAULT_LIFETIME_MS },
): string {
  const id = `att_${email}_${path}`;
  const expires = String(now + lifetimeMs);
  const tokenParameter = by === '' ? '' : `&by=${by}`;
  const boundParameter = network === '' ? '' : '&bound=1';
  const signed = signature(key, { id, expires, by, network });
  return `${baseUrl}/api/email/attachments/${id}?expires=${expires}${tokenParameter}${boundParameter}&signature=${signed}`;
}

/** The message and part of a valid link, and the token it depends on; '' for none. Undefined when invalid or expired. */
export function readAttachmentLink(
  { key, now }: Pick<AttachmentLinkContext, 'key' | 'now'>,
  { signature: given, ...link }: SignedLink & { signature: string },
): { email: number; path: string; by: string } | undefined {
  const { id, expires, by } = link;
  const match = /^att_(\d{1,16})_([\d.]*|message)$/.exec(id);
  const right = Buffer.from(signature(key, link));
  const mine = Buffer.from(given);
  if (match === null || right.length !== mine.length || !timingSafeEqual(right, mine)) return undefined;
  return Number(expires) > now ? { email: Number(match[1]), path: match[2] ?? '', by } : undefined;
}

interface SignedLink {
  id: string;
  expires: string;
  by: string;
  /** Left out or '': it is valid from any network. */
  network?: string;
}

/** Signs each field in its own place: joined, one field could be presented as part of another. */
function signature(key: Uint8Array, { id, expires, by, network = '' }: SignedLink): string {
  const payload = JSON.stringify([id, expires, by, network]);
  return createHmac('sha256', key).update(payload).digest('base64url');
}
