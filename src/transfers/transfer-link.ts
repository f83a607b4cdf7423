import { createHmac, timingSafeEqual } from 'node:crypto';
import { networkOf } from '../../mail/guard/network.ts';
import type { SecretBox } from '../../mail/store/blob/secrets.ts';

/** Lifetime of a link. */
export const TRANSFER_LINK_MS = 24 * 3600_000;

/** Permission to upload one import, or to download one export. */
export interface TransferTicket {
  kind: 'import' | 'export';
  /** Row of the import, or id of the export. */
  id: string;
  organization: number;
  /** Public id of the credential that created it. */
  credential: string;
  /** ms UTC. */
  expires: number;
  /** Network (guard/network.ts) that it is only valid from; left out: any. */
  network?: string;
}

/** Creates a signed ticket, so that no state is stored. */
export function signTransferTicket(secrets: SecretBox, ticket: TransferTicket): string {
  const payload = Buffer.from(JSON.stringify(ticket)).toString('base64url');
  return `${payload}.${signature(secrets, payload)}`;
}

/** Verifies a ticket; undefined if its signature or network is wrong, it is of another kind, or it has expired. */
export function readTransferTicket(
  secrets: SecretBox,
  kind: TransferTicket['kind'],
  text: string,
  { now, ip }: { now: number; ip: string },
): TransferTicket | undefined {
  const [payload = '', given = ''] = text.split('.', 2);
  const mine = Buffer.from(signature(secrets, payload));
  const theirs = Buffer.from(given);
  if (mine.length !== theirs.length || !timingSafeEqual(mine, theirs)) return undefined;
  const ticket = JSON.parse(Buffer.from(payload, 'base64url').toString()) as TransferTicket;
  if (ticket.network !== undefined && ticket.network !== networkOf(ip)) return undefined;
  return ticket.kind === kind && ticket.expires > now ? ticket : undefined;
}

function signature(secrets: SecretBox, payload: string): string {
  return createHmac('sha256', secrets.subkey('transfer links')).update(payload).digest('base64url');
}
