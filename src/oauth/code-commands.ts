import { command, type Stamp, type Write } from '../../mail/store/engine/types.ts';
import { appendAudit } from '../audit/commands.ts';
import type { AuditEntry } from '../audit/row.ts';
import { publicId } from '../ids.ts';
import { insertToken } from '../tokens/commands.ts';
import { addSecrets, endToken, GRANT_IDLE_MS, type NewSecrets } from './grant-commands.ts';

/** RFC 6749 4.1.2 asks for ten minutes at most; a program that waits for the browser needs seconds. */
const CODE_LIFE_MS = 120_000;
/** Programs that one person can have let in at a time; the oldest makes room. */
const MOST_GRANTS = 100;

/** What a person allowed a client to do. */
export interface NewCode {
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
  /** The person's act, for the log. */
  entry: AuditEntry;
}

/** Notes a consent, under the code that the client will show for it. */
export const addCode = command('add-oauth-code', async (tx, input: NewCode, stamp): Promise<{ kind: 'allowed' }> => {
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
});

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
  spent_at: number | null;
  token_id: number | null;
};

export interface Exchange {
  hash: Uint8Array;
  client: string;
  /** Null: left out, as OAuth 2.1 does. */
  redirectUri: string | null;
  /** SHA-256 of the verifier, as the challenge is written. */
  challenge: string;
  secrets: NewSecrets;
  /** Of the token's row, which has no secret of its own: a value that nothing hashes to. */
  placeholder: Uint8Array;
  /** First characters of this box's access tokens. */
  shown: string;
  ip: string;
}

/**
 * Gives tokens for a code. Whoever presents a code uses it up; presented again, what it was exchanged for ends, as one
 * of the two is a thief. RFC 6749 4.1.2, 4.1.3; RFC 7636 4.6.
 */
export const exchangeCode = command(
  'exchange-oauth-code',
  async (
    tx,
    input: Exchange,
    stamp,
  ): Promise<{ kind: 'granted'; token: number; actions: string[] } | { kind: 'refused'; why: string }> => {
    const row = await tx.get<CodeRow>('SELECT * FROM oauth_code WHERE code_hash = ?', input.hash);
    if (row === undefined) return { kind: 'refused', why: 'the code is not one of this box, or too old' };
    if (row.spent_at !== null) {
      if (row.token_id !== null) await endToken(tx, row.token_id, 'its code was used twice', input.ip, stamp);
      return { kind: 'refused', why: 'the code was used before' };
    }
    await tx.run('UPDATE oauth_code SET spent_at = ? WHERE code_hash = ?', stamp.now, input.hash);
    const why = misfit(row, input, stamp.now);
    if (why !== undefined) return { kind: 'refused', why };
    const token = await grant(tx, row, input, stamp);
    await tx.run('UPDATE oauth_code SET token_id = ? WHERE code_hash = ?', token, input.hash);
    return { kind: 'granted', token, actions: row.actions.split(' ') };
  },
);

function misfit(row: CodeRow, input: Exchange, now: number): string | undefined {
  if (row.expires_at <= now) return 'the code is too old';
  if (row.client_id !== input.client) return 'the code was given to another client';
  if (input.redirectUri !== null && row.redirect_uri !== input.redirectUri) return 'the redirect_uri is another one';
  return row.challenge === input.challenge ? undefined : 'the code_verifier does not fit';
}

async function grant(tx: Write, row: CodeRow, input: Exchange, stamp: Stamp): Promise<number> {
  await makeRoom(tx, row.user_id, input.ip, stamp);
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

async function makeRoom(tx: Write, user: number, ip: string, stamp: Stamp): Promise<void> {
  const old = await tx.all<{ id: number }>(
    `SELECT id FROM token WHERE user_id = ? AND revoked_at IS NULL AND expires_at > ?
     ORDER BY id DESC LIMIT -1 OFFSET ?`,
    user,
    stamp.now,
    MOST_GRANTS - 1,
  );
  for (const { id } of old) await endToken(tx, id, 'newer ones took its place', ip, stamp);
}
