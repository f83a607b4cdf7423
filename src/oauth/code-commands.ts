import { command, type Stamp, type Write } from '../../mail/store/engine/types.ts';
import { appendAudit } from '../audit/commands.ts';
import type { AuditEntry } from '../core/audit-row.ts';
import { publicId } from '../core/ids.ts';
import { insertToken } from '../tokens/commands.ts';
import { addSecrets, endGrantToken, GRANT_IDLE_MS, type GrantSecrets } from './grant-commands.ts';

/** RFC 6749 4.1.2 recommends at most 10 minutes; clients need seconds. */
const CODE_LIFE_MS = 120_000;
/** Active grants per person; the oldest is revoked. */
const MAX_GRANTS = 100;

/** A consent that awaits the exchange of its code. */
export interface ConsentCode {
  hash: Uint8Array;
  organization: number;
  user: number;
  client: string;
  clientName: string;
  redirectUri: string;
  /** PKCE, S256. */
  challenge: string;
  actions: readonly string[];
  mailboxes: readonly number[] | null;
  /** Audit entry of the consent. */
  entry: AuditEntry;
}

/** Stores a consent under its authorization code. */
export const addCode = command(
  'add-oauth-code',
  async (tx, input: ConsentCode, stamp): Promise<{ kind: 'allowed' }> => {
    await tx.run(
      `INSERT INTO oauth_code (code_hash, organization_id, user_id, client_id, client_name, redirect_uri, challenge,
       actions, mailboxes, created_at, expires_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      input.hash,
      input.organization,
      input.user,
      input.client,
      input.clientName,
      input.redirectUri,
      input.challenge,
      input.actions.join(' '),
      input.mailboxes === null ? null : JSON.stringify(input.mailboxes),
      stamp.now,
      stamp.now + CODE_LIFE_MS,
    );
    await tx.run('UPDATE oauth_client SET used_at = ? WHERE id = ?', stamp.now, input.client);
    await appendAudit(tx, input.entry, 'done', stamp);
    return { kind: 'allowed' };
  },
);

type CodeRow = {
  organization_id: number;
  user_id: number;
  client_id: string;
  client_name: string;
  redirect_uri: string;
  challenge: string;
  actions: string;
  mailboxes: string | null;
  expires_at: number;
  redeemed_at: number | null;
  token_id: number | null;
};

export interface CodeExchange {
  hash: Uint8Array;
  client: string;
  /** Null if omitted, as in OAuth 2.1. */
  redirectUri: string | null;
  /** SHA-256 of the verifier, base64url, like the challenge. */
  challenge: string;
  secrets: GrantSecrets;
  /** Random value for the hash column of the token row, which has no secret of its own. */
  placeholder: Uint8Array;
  /** Visible prefix of access tokens. */
  shown: string;
  ip: string;
}

/**
 * Exchanges a code for tokens, once. A second use revokes the tokens: the code was stolen. RFC 6749 4.1.2, 4.1.3;
 * RFC 7636 4.6.
 */
export const exchangeCode = command(
  'exchange-oauth-code',
  async (
    tx,
    input: CodeExchange,
    stamp,
  ): Promise<{ kind: 'granted'; token: number; actions: string[] } | { kind: 'refused'; why: string }> => {
    const row = await tx.get<CodeRow>('SELECT * FROM oauth_code WHERE code_hash = ?', input.hash);
    if (row === undefined) return { kind: 'refused', why: 'the code is unknown or expired' };
    if (row.redeemed_at !== null) {
      if (row.token_id !== null)
        await endGrantToken(tx, row.token_id, 'authorization code used twice', input.ip, stamp);
      return { kind: 'refused', why: 'the code was already used' };
    }
    await tx.run('UPDATE oauth_code SET redeemed_at = ? WHERE code_hash = ?', stamp.now, input.hash);
    const why = mismatch(row, input, stamp.now);
    if (why !== undefined) return { kind: 'refused', why };
    const token = await grant(tx, row, input, stamp);
    await tx.run('UPDATE oauth_code SET token_id = ? WHERE code_hash = ?', token, input.hash);
    return { kind: 'granted', token, actions: row.actions.split(' ') };
  },
);

function mismatch(row: CodeRow, input: CodeExchange, now: number): string | undefined {
  if (row.expires_at <= now) return 'the code has expired';
  if (row.client_id !== input.client) return 'the code was issued to another client';
  if (input.redirectUri !== null && row.redirect_uri !== input.redirectUri) return 'the redirect_uri differs';
  return row.challenge === input.challenge ? undefined : 'the code_verifier does not match';
}

async function grant(tx: Write, row: CodeRow, input: CodeExchange, stamp: Stamp): Promise<number> {
  await revokeOldGrants(tx, row.user_id, input.ip, stamp);
  const actions = row.actions.split(' ');
  const token = await insertToken(
    tx,
    {
      hash: input.placeholder,
      organization: row.organization_id,
      name: row.client_name,
      shown: input.shown,
      actions,
      project: null,
      service: null,
      mailboxes: row.mailboxes === null ? null : (JSON.parse(row.mailboxes) as number[]),
      owner: false,
      createdBy: publicId('user', row.user_id),
      expiresAt: stamp.now + GRANT_IDLE_MS,
    },
    stamp,
  );
  await tx.run('UPDATE token SET client_id = ?, user_id = ? WHERE id = ?', row.client_id, row.user_id, token);
  await addSecrets(tx, token, input.secrets, stamp);
  const entry = {
    organization: row.organization_id,
    actor: publicId('user', row.user_id),
    actorName: '',
    way: 'rest' as const,
    ip: input.ip,
    operation: 'connect_app',
    target: publicId('token', token),
    detail: { client: row.client_id, name: row.client_name, actions },
  };
  await appendAudit(tx, entry, 'done', stamp);
  return token;
}

async function revokeOldGrants(tx: Write, user: number, ip: string, stamp: Stamp): Promise<void> {
  const old = await tx.all<{ id: number }>(
    `SELECT id FROM token WHERE user_id = ? AND revoked_at IS NULL AND expires_at > ?
     ORDER BY id DESC LIMIT -1 OFFSET ?`,
    user,
    stamp.now,
    MAX_GRANTS - 1,
  );
  for (const { id } of old) await endGrantToken(tx, id, 'replaced by newer grants', ip, stamp);
}
