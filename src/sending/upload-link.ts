import { createHmac, timingSafeEqual } from 'node:crypto';

/** Permission to upload one specific file. */
export interface UploadGrant {
  organization: number;
  /** Public id of the credential that may send it. */
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

/** Lifetime of an upload link. */
export const UPLOAD_LINK_MS = 3_600_000;

/** Creates a signed ticket, so that no state is stored; `key` is the box's key for this purpose. */
export function signUploadTicket(key: Uint8Array, grant: UploadGrant): string {
  const payload = Buffer.from(JSON.stringify(grant)).toString('base64url');
  return `${payload}.${signature(key, payload)}`;
}

/** Verifies a ticket; undefined if the signature is invalid or it has expired. */
export function readUploadTicket(key: Uint8Array, ticket: string, now: number): UploadGrant | undefined {
  const [payload = '', given = ''] = ticket.split('.', 2);
  const mine = Buffer.from(signature(key, payload));
  const theirs = Buffer.from(given);
  if (mine.length !== theirs.length || !timingSafeEqual(mine, theirs)) return undefined;
  const grant = JSON.parse(Buffer.from(payload, 'base64url').toString()) as UploadGrant;
  return grant.expires > now ? grant : undefined;
}

function signature(key: Uint8Array, payload: string): string {
  return createHmac('sha256', key).update(payload).digest('base64url');
}
