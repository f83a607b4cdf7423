import { createHmac, timingSafeEqual } from 'node:crypto';

/** Stands for the whole message where a part could be named. */
export const WHOLE = 'message';

const GOOD_FOR_MS = 24 * 3_600_000;

export interface LinkMaker {
  baseUrl: string;
  /** Of the box, for this purpose only. */
  key: Uint8Array;
  /** ms UTC. */
  now: number;
}

/** Whom a link was made for, and how long it is good, ms. */
export interface LinkTerms {
  goodForMs: number;
  /** Public id of a token: the link ends with it. */
  by?: string;
}

/** A URL that opens one attachment for a day, or as long as is said, for whoever has it. */
export function attachmentUrl(
  { baseUrl, key, now }: LinkMaker,
  email: number,
  path: string,
  { goodForMs, by = '' }: LinkTerms = { goodForMs: GOOD_FOR_MS },
): string {
  const id = `att_${email}_${path}`;
  const expires = String(now + goodForMs);
  const whose = by === '' ? '' : `&by=${by}`;
  const signed = signature(key, { id, expires, by });
  return `${baseUrl}/api/email/attachments/${id}?expires=${expires}${whose}&signature=${signed}`;
}

/** The message and part that a link is good for now, and the token that it ends with; '' for none. */
export function readAttachmentLink(
  { key, now }: Pick<LinkMaker, 'key' | 'now'>,
  { signature: given, ...link }: Signed & { signature: string },
): { email: number; path: string; by: string } | undefined {
  const { id, expires, by } = link;
  const match = /^att_(\d{1,16})_([\d.]*|message)$/.exec(id);
  const right = Buffer.from(signature(key, link));
  const mine = Buffer.from(given);
  if (match === null || right.length !== mine.length || !timingSafeEqual(right, mine)) return undefined;
  return Number(expires) > now ? { email: Number(match[1]), path: match[2] ?? '', by } : undefined;
}

interface Signed {
  id: string;
  expires: string;
  by: string;
}

function signature(key: Uint8Array, { id, expires, by }: Signed): string {
  const said = by === '' ? `${id} ${expires}` : `${id} ${expires} ${by}`;
  return createHmac('sha256', key).update(said).digest('base64url');
}
