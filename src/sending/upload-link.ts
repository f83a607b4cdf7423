import { createHmac, timingSafeEqual } from 'node:crypto';

/** A place for one file: whose it is, and what the file has to be. */
export interface UploadPlace {
  organization: number;
  /** Public id of who may send it. */
  credential: string;
  name: string;
  filename: string;
  contentType: string;
  size: number;
  /** Hex. */
  sha256: string;
  /** ms UTC. */
  expires: number;
}

/** How long a link is good to put a file there. */
export const LINK_MS = 3_600_000;

/** What the link says is signed, so nothing of it has to be kept; the key is the box's, for this purpose only. */
export function uploadTicket(key: Uint8Array, place: UploadPlace): string {
  const said = Buffer.from(JSON.stringify(place)).toString('base64url');
  return `${said}.${signature(key, said)}`;
}

/** The place that a link is good for now; undefined: it is not of this box, or too old. */
export function readTicket(key: Uint8Array, ticket: string, now: number): UploadPlace | undefined {
  const [said = '', given = ''] = ticket.split('.', 2);
  const mine = Buffer.from(signature(key, said));
  const theirs = Buffer.from(given);
  if (mine.length !== theirs.length || !timingSafeEqual(mine, theirs)) return undefined;
  const place = JSON.parse(Buffer.from(said, 'base64url').toString()) as UploadPlace;
  return place.expires > now ? place : undefined;
}

function signature(key: Uint8Array, said: string): string {
  return createHmac('sha256', key).update(said).digest('base64url');
}
