import type { NarrowLimits } from '../../mail/agents/gate/types.ts';
import { lookup } from '../../mail/store/engine/types.ts';
import { publicId } from '../core/ids.ts';
import type { AppContext } from '../core/app-context.ts';
import { secretHash } from '../core/token.ts';

/** Authenticated sender: a valid email API key or token of an organization that is not frozen. */
export interface ApiSender {
  organization: number;
  /** Public id. */
  credential: string;
  /** Public id of the agent; undefined for a program or a person. */
  agent?: string;
  /** Limits of a narrowed token. */
  limits?: NarrowLimits | null;
  /** Allowed sender domains in A-labels; null: every verified domain of the organization. */
  allowedDomains: readonly string[] | null;
  /** Mailbox to send as, from its addresses only; null: a program without a mailbox. */
  account: number | null;
  /** Mailbox whose messages it may attach and forward; undefined: none. */
  reads?: number;
  /** Identical messages within ten minutes are sent once. */
  detectsDuplicates: boolean;
}

const findKey = lookup(
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
        detect_duplicates: number;
      }
    | undefined
  > =>
    rx.get(
      `SELECT k.id, k.organization_id, k.allowed_domains, k.expires_at, k.detect_duplicates FROM api_key k
       JOIN organization o ON o.id = k.organization_id
       WHERE k.key_hash = ? AND k.revoked_at IS NULL AND o.frozen_at IS NULL`,
      input.hash,
    ),
);

/** Authenticates `Authorization: Bearer <prefix>_ek_...`; `why` is the reason for a failure. */
export async function authenticateKey(
  { store, settings, clock, lastUsed }: AppContext,
  header: string | readonly string[] | undefined,
): Promise<ApiSender | { why: string }> {
  const secret = typeof header === 'string' ? /^Bearer +(\S+) *$/i.exec(header)?.[1] : undefined;
  if (secret === undefined) return { why: 'send an email API key as "Authorization: Bearer <key>"' };
  const start = `${settings.tokenPrefix}_ek_`;
  if (!secret.startsWith(start) || !/^[0-9a-f]{48}$/.test(secret.slice(start.length))) {
    return { why: 'this is not an email API key: create one with create_email_api_key' };
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
    detectsDuplicates: row.detect_duplicates === 1,
  };
}
