import { command, lookup, type Stamp, type Write } from '../../mail/store/engine/types.ts';
import { appendAudit } from '../audit/commands.ts';
import type { AuditEntry } from '../core/audit-row.ts';
import { publicId } from '../core/ids.ts';
import { revokeTokens, findToken } from '../tokens/commands.ts';

/** Lifetime of an access token. */
export const ACCESS_LIFE_MS = 3_600_000;
/** A grant unused for this long expires. */
export const GRANT_IDLE_MS = 30 * 24 * 3_600_000;
/** Stored per grant: valid access tokens, and used refresh tokens. */
const MAX_ACCESS_TOKENS = 5;
const MAX_SPENT_TOKENS = 50;

/** Hashes of the tokens issued to a client. */
export interface GrantSecrets {
  access: Uint8Array;
  refresh: Uint8Array;
}

/** Stores the next pair of tokens and deletes the oldest beyond the limits. */
export async function addSecrets(tx: Write, token: number, secrets: GrantSecrets, { now }: Stamp): Promise<void> {
  const add = `INSERT INTO oauth_secret (secret_hash, token_id, kind, created_at, expires_at) VALUES (?, ?, ?, ?, ?)`;
  await trim(tx, token, 'access', MAX_ACCESS_TOKENS - 1);
  await trim(tx, token, 'refresh', MAX_SPENT_TOKENS);
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

/** Revokes a grant automatically, with an audit entry. */
export async function endGrantToken(tx: Write, token: number, reason: string, ip: string, stamp: Stamp): Promise<void> {
  const row = await tx.get<{ organization_id: number; name: string }>(
    'SELECT organization_id, name FROM token WHERE id = ? AND revoked_at IS NULL',
    token,
  );
  if (row === undefined) return;
  await revokeTokens(tx, token, stamp);
  const who = { actor: 'mailstead', actorName: '', way: 'box' as const, ip };
  const what = { operation: 'disconnect_app', target: publicId('token', token), detail: { name: row.name, reason } };
  await appendAudit(tx, { organization: row.organization_id, ...who, ...what }, 'done', stamp);
}

type SecretRow = {
  token_id: number;
  kind: string;
  expires_at: number;
  redeemed_at: number | null;
  client_id: string | null;
  organization_id: number;
  revoked_at: number | null;
};

function secretOf(tx: Write, hash: Uint8Array): Promise<SecretRow | undefined> {
  return tx.get<SecretRow>(
    `SELECT s.token_id, s.kind, s.expires_at, s.redeemed_at, t.client_id, t.organization_id, t.revoked_at
     FROM oauth_secret s JOIN token t ON t.id = s.token_id WHERE s.secret_hash = ?`,
    hash,
  );
}

/**
 * Exchanges a refresh token for a new pair, once. A second use means theft and revokes the grant. RFC 6749 6,
 * RFC 9700 4.14.2.
 */
export const refreshGrant = command(
  'refresh-oauth-grant',
  async (
    tx,
    input: { hash: Uint8Array; client: string; secrets: GrantSecrets; ip: string },
    stamp,
  ): Promise<{ kind: 'granted'; token: number; actions: string[] } | { kind: 'refused'; why: string }> => {
    const row = await secretOf(tx, input.hash);
    if (row?.kind !== 'refresh') return { kind: 'refused', why: 'the refresh token is unknown' };
    if (row.client_id !== input.client) return { kind: 'refused', why: 'the refresh token belongs to another client' };
    if (row.redeemed_at !== null) {
      await endGrantToken(tx, row.token_id, 'refresh token used twice', input.ip, stamp);
      return { kind: 'refused', why: 'the refresh token was already used; request consent again' };
    }
    const token = await findToken.run(tx, { id: row.token_id });
    if (token === undefined || row.expires_at <= stamp.now) {
      return { kind: 'refused', why: 'the refresh token is expired or revoked' };
    }
    await tx.run('UPDATE oauth_secret SET redeemed_at = ? WHERE secret_hash = ?', stamp.now, input.hash);
    await tx.run('UPDATE token SET expires_at = ? WHERE id = ?', stamp.now + GRANT_IDLE_MS, row.token_id);
    await addSecrets(tx, row.token_id, input.secrets, stamp);
    return { kind: 'granted', token: row.token_id, actions: token.actions };
  },
);

/**
 * Revokes a grant: by the holder of one of its tokens (RFC 7009; `client`, if given, must match), or by the person who
 * granted it.
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
      await endGrantToken(tx, row.token_id, 'revoked by the program', input.ip, stamp);
      return { kind: 'ended' };
    }
    const row = await tx.get<{ organization_id: number }>(
      'SELECT organization_id FROM token WHERE id = ? AND user_id = ? AND revoked_at IS NULL',
      input.token,
      input.user,
    );
    if (row === undefined) return { kind: 'missing' };
    await revokeTokens(tx, input.token, stamp);
    await appendAudit(tx, { ...input.entry, organization: row.organization_id }, 'done', stamp);
    return { kind: 'ended' };
  },
);

/** A program with access, granted by a person. */
export interface OAuthGrant {
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

/** A person's active grants in all organizations. */
export const listGrants = lookup(
  'list-oauth-grants',
  async (rx, input: { user: number; now: number }): Promise<OAuthGrant[]> => {
    const rows = await rx.all<
      Omit<OAuthGrant, 'actions' | 'mailboxes'> & { actions: string; mailboxes: string | null }
    >(
      `SELECT t.id AS token, t.name, t.client_id AS client, t.organization_id AS organization,
         o.name AS "organizationName", t.actions, t.mailboxes, t.created_at AS "createdAt",
         t.last_used_at AS "lastUsedAt", t.expires_at AS "expiresAt"
       FROM token t JOIN organization o ON o.id = t.organization_id
       WHERE t.user_id = ? AND t.revoked_at IS NULL AND t.expires_at > ? ORDER BY t.id`,
      input.user,
      input.now,
    );
    return rows.map(({ actions, mailboxes, ...row }) => ({
      ...row,
      actions: actions.split(' '),
      mailboxes: mailboxes === null ? null : (JSON.parse(mailboxes) as number[]),
    }));
  },
);

const DAY = 86_400_000;
const SLICE = 100;

/**
 * Deletes expired codes and tokens, and clients without a grant after one day, or 90 days after the last one. Returns true
 * if more remain.
 */
export const purgeOAuth = command('purge-oauth', async (tx, _input: undefined, { now }): Promise<boolean> => {
  const deleted = [
    await tx.run(
      'DELETE FROM oauth_code WHERE code_hash IN (SELECT code_hash FROM oauth_code WHERE expires_at <= ? LIMIT ?)',
      // Kept for a day after expiry, to detect late use of a stolen code.
      now - DAY,
      SLICE,
    ),
    await tx.run(
      `DELETE FROM oauth_secret WHERE secret_hash IN
         (SELECT secret_hash FROM oauth_secret WHERE expires_at <= ? LIMIT ?)`,
      now,
      SLICE,
    ),
    await tx.run(
      `DELETE FROM oauth_client WHERE id IN (SELECT c.id FROM oauth_client c
         WHERE c.created_at <= ?1 AND (c.used_at IS NULL OR (c.used_at <= ?2 AND NOT EXISTS
           (SELECT 1 FROM token t WHERE t.client_id = c.id AND t.revoked_at IS NULL AND t.expires_at > ?3))) LIMIT ?4)`,
      now - DAY,
      now - 90 * DAY,
      now,
      SLICE,
    ),
  ];
  return deleted.some(({ changes }) => changes === SLICE);
});
