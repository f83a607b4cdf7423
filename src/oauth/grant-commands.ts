import { command, query, type Stamp, type Write } from '../../mail/store/engine/types.ts';
import { appendAudit } from '../audit/commands.ts';
import type { AuditEntry } from '../audit/row.ts';
import { publicId } from '../ids.ts';
import { endTokens, findToken } from '../tokens/commands.ts';

/** How long an access token is good. */
export const ACCESS_LIFE_MS = 3_600_000;
/** A program that asks for nothing for so long has to ask its person again. */
export const GRANT_IDLE_MS = 30 * 24 * 3_600_000;
/** Kept of one program: access tokens that are good, and refresh tokens that were used. */
const MOST_ACCESS = 5;
const MOST_SPENT = 50;

/** Hashes of what a client is given. */
export interface NewSecrets {
  access: Uint8Array;
  refresh: Uint8Array;
}

/** Gives a client its next pair, and forgets of the earlier ones what is too much. */
export async function addSecrets(tx: Write, token: number, secrets: NewSecrets, { now }: Stamp): Promise<void> {
  const add = `INSERT INTO oauth_secret (secret_hash, token_id, kind, created_at, expires_at) VALUES (?, ?, ?, ?, ?)`;
  await trim(tx, token, 'access', MOST_ACCESS - 1);
  await trim(tx, token, 'refresh', MOST_SPENT);
  await tx.run(add, secrets.access, token, 'access', now, now + ACCESS_LIFE_MS);
  await tx.run(add, secrets.refresh, token, 'refresh', now, now + GRANT_IDLE_MS);
}

async function trim(tx: Write, token: number, kind: 'access' | 'refresh', keep: number): Promise<void> {
  await tx.run(
    `DELETE FROM oauth_secret WHERE secret_hash IN (SELECT secret_hash FROM oauth_secret
       WHERE token_id = ? AND kind = ? ORDER BY created_at DESC LIMIT -1 OFFSET ?)`,
    token,
    kind,
    keep,
  );
}

/** Ends what a program was allowed, on nobody's word but the facts'. */
export async function endToken(tx: Write, token: number, reason: string, ip: string, stamp: Stamp): Promise<void> {
  const row = await tx.get<{ organization_id: number; name: string }>(
    'SELECT organization_id, name FROM token WHERE id = ? AND revoked_at IS NULL',
    token,
  );
  if (row === undefined) return;
  await endTokens(tx, token, stamp);
  const who = { actor: 'mailstead', actorName: '', way: 'box' as const, ip };
  const what = { operation: 'disconnect_app', target: publicId('token', token), detail: { name: row.name, reason } };
  await appendAudit(tx, { organization: row.organization_id, ...who, ...what }, 'done', stamp);
}

type SecretRow = {
  token_id: number;
  kind: string;
  expires_at: number;
  spent_at: number | null;
  client_id: string | null;
  organization_id: number;
  revoked_at: number | null;
};

function secretOf(tx: Write, hash: Uint8Array): Promise<SecretRow | undefined> {
  return tx.get<SecretRow>(
    `SELECT s.token_id, s.kind, s.expires_at, s.spent_at, t.client_id, t.organization_id, t.revoked_at
     FROM oauth_secret s JOIN token t ON t.id = s.token_id WHERE s.secret_hash = ?`,
    hash,
  );
}

/**
 * Gives a new pair for a refresh token, once. One that was used before has two holders, of whom one is a thief: all that
 * came of the consent ends. RFC 6749 6, RFC 9700 4.14.2.
 */
export const refreshGrant = command(
  'refresh-oauth-grant',
  async (
    tx,
    input: { hash: Uint8Array; client: string; secrets: NewSecrets; ip: string },
    stamp,
  ): Promise<{ kind: 'granted'; token: number; actions: string[] } | { kind: 'refused'; why: string }> => {
    const row = await secretOf(tx, input.hash);
    if (row?.kind !== 'refresh') return { kind: 'refused', why: 'the refresh token is not one of this box' };
    if (row.client_id !== input.client) return { kind: 'refused', why: 'the refresh token is of another client' };
    if (row.spent_at !== null) {
      await endToken(tx, row.token_id, 'a refresh token was used twice', input.ip, stamp);
      return { kind: 'refused', why: 'the refresh token was used before; the person has to be asked again' };
    }
    const token = await findToken.run(tx, { id: row.token_id });
    if (token === undefined || row.expires_at <= stamp.now) {
      return { kind: 'refused', why: 'the refresh token is expired or revoked' };
    }
    await tx.run('UPDATE oauth_secret SET spent_at = ? WHERE secret_hash = ?', stamp.now, input.hash);
    await tx.run('UPDATE token SET expires_at = ? WHERE id = ?', stamp.now + GRANT_IDLE_MS, row.token_id);
    await addSecrets(tx, row.token_id, input.secrets, stamp);
    return { kind: 'granted', token: row.token_id, actions: token.actions };
  },
);

/**
 * Ends what a program was allowed: on the word of who holds one of its secrets (RFC 7009; `client`, when it is named,
 * must be its own), or of the person who let it in.
 */
export const endGrant = command(
  'end-oauth-grant',
  async (
    tx,
    input:
      | { hash: Uint8Array; client: string | null; ip: string }
      | { token: number; user: number; entry: Omit<AuditEntry, 'organization'> },
    stamp,
  ): Promise<{ kind: 'ended' | 'missing' }> => {
    if ('hash' in input) {
      const row = await secretOf(tx, input.hash);
      if (row === undefined || row.revoked_at !== null) return { kind: 'missing' };
      if (input.client !== null && input.client !== row.client_id) return { kind: 'missing' };
      await endToken(tx, row.token_id, 'the program gave it back', input.ip, stamp);
      return { kind: 'ended' };
    }
    const row = await tx.get<{ organization_id: number }>(
      'SELECT organization_id FROM token WHERE id = ? AND user_id = ? AND revoked_at IS NULL',
      input.token,
      input.user,
    );
    if (row === undefined) return { kind: 'missing' };
    await endTokens(tx, input.token, stamp);
    await appendAudit(tx, { ...input.entry, organization: row.organization_id }, 'done', stamp);
    return { kind: 'ended' };
  },
);

/** A program that a person let in. */
export interface Grant {
  token: number;
  name: string;
  client: string;
  organization: number;
  organizationName: string;
  actions: string[];
  mailboxes: number[] | null;
  createdAt: number;
  lastUsedAt: number | null;
  expiresAt: number;
}

/** The programs that a person let in and that still may come in, in all organizations. */
export const listGrants = query(
  'list-oauth-grants',
  async (rx, input: { user: number; now: number }): Promise<Grant[]> => {
    const rows = await rx.all<{
      id: number;
      name: string;
      client_id: string;
      organization_id: number;
      organization_name: string;
      actions: string;
      mailboxes: string | null;
      created_at: number;
      last_used_at: number | null;
      expires_at: number;
    }>(
      `SELECT t.id, t.name, t.client_id, t.organization_id, o.name AS organization_name, t.actions, t.mailboxes,
         t.created_at, t.last_used_at, t.expires_at
       FROM token t JOIN organization o ON o.id = t.organization_id
       WHERE t.user_id = ? AND t.revoked_at IS NULL AND t.expires_at > ? ORDER BY t.id`,
      input.user,
      input.now,
    );
    return rows.map((row) => ({
      token: row.id,
      name: row.name,
      client: row.client_id,
      organization: row.organization_id,
      organizationName: row.organization_name,
      actions: row.actions.split(' '),
      mailboxes: row.mailboxes === null ? null : (JSON.parse(row.mailboxes) as number[]),
      createdAt: row.created_at,
      lastUsedAt: row.last_used_at,
      expiresAt: row.expires_at,
    }));
  },
);
