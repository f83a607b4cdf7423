import type { NarrowLimits } from '../../mail/delivery/agent/types.ts';
import { query } from '../../mail/store/engine/types.ts';
import { publicId } from '../ids.ts';
import type { World } from '../operations/world.ts';
import { secretHash } from '../tokens/token.ts';

/** Who sends: an email API key that holds, of an organization that is not frozen. */
export interface Sender {
  organization: number;
  /** Public id. */
  credential: string;
  /** The same where an agent sends; left out: a program or a person. */
  agent?: string;
  /** Of a narrowed token. */
  limits?: NarrowLimits | null;
  /** Domain names in A-labels; null: every verified one of the organization. */
  allowedDomains: readonly string[] | null;
  /** Sends as this mailbox and from its addresses only; null: as a program. */
  account: number | null;
  /** The mailbox whose messages it may hand on; left out: it reads none. */
  reads?: number;
  /** What it sends twice within ten minutes goes out once. */
  guesses: boolean;
}

const findKey = query(
  'find-key',
  (
    rx,
    input: { hash: Uint8Array },
  ): Promise<
    | {
        id: number;
        organization_id: number;
        allowed_domains: string | null;
        expires_at: number | null;
        guesses_duplicates: number;
      }
    | undefined
  > =>
    rx.get(
      `SELECT k.id, k.organization_id, k.allowed_domains, k.expires_at, k.guesses_duplicates FROM api_key k
       JOIN organization o ON o.id = k.organization_id
       WHERE k.key_hash = ? AND k.revoked_at IS NULL AND o.frozen_at IS NULL`,
      input.hash,
    ),
);

/** Reads `Authorization: Bearer <prefix>_ek_...`. A sentence when it does not hold. */
export async function authenticateKey(
  { store, settings, clock, lastUsed }: World,
  header: string | readonly string[] | undefined,
): Promise<Sender | { why: string }> {
  const secret = typeof header === 'string' ? /^Bearer +(\S+) *$/i.exec(header)?.[1] : undefined;
  if (secret === undefined) return { why: 'send an email API key as "Authorization: Bearer <key>"' };
  const start = `${settings.tokenPrefix}_ek_`;
  if (!secret.startsWith(start) || !/^[0-9a-f]{48}$/.test(secret.slice(start.length))) {
    return { why: 'this is no email API key: make one with create_email_api_key' };
  }
  const row = await store.read(findKey, { hash: secretHash(secret) });
  if (row === undefined || (row.expires_at !== null && row.expires_at <= clock())) {
    return { why: 'the key is unknown, expired or revoked' };
  }
  lastUsed.key(row.id, clock());
  return {
    organization: row.organization_id,
    credential: publicId('apiKey', row.id),
    allowedDomains: row.allowed_domains === null ? null : (JSON.parse(row.allowed_domains) as string[]),
    account: null,
    guesses: row.guesses_duplicates === 1,
  };
}
