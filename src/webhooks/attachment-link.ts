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

/** A URL that opens one attachment for a day, or as long as is said, for whoever has it. */
export function attachmentUrl(
  { baseUrl, key, now }: LinkMaker,
  email: number,
  path: string,
  goodForMs = GOOD_FOR_MS,
): string {
  const id = `att_${email}_${path}`;
  const expires = String(now + goodForMs);
  return `${baseUrl}/api/email/attachments/${id}?expires=${expires}&signature=${signature(key, id, expires)}`;
}

/** The message and part that a link is good for now. */
export function readAttachmentLink(
  { key, now }: Pick<LinkMaker, 'key' | 'now'>,
  { id, expires, signature: given }: { id: string; expires: string; signature: string },
): { email: number; path: string } | undefined {
  const match = /^att_(\d{1,16})_([\d.]*|message)$/.exec(id);
  const right = Buffer.from(signature(key, id, expires));
  const mine = Buffer.from(given);
  if (match === null || right.length !== mine.length || !timingSafeEqual(right, mine)) return undefined;
  return Number(expires) > now ? { email: Number(match[1]), path: match[2] ?? '' } : undefined;
}

function signature(key: Uint8Array, id: string, expires: string): string {
  return createHmac('sha256', key).update(`${id} ${expires}`).digest('base64url');
}
