import type { NarrowLimits } from '../../mail/delivery/agent/types.ts';
import { dropClaims } from '../../mail/store/claim-commands.ts';
import { command, query, type Stamp, type Write } from '../../mail/store/engine/types.ts';

export interface NewToken {
  hash: Uint8Array;
  organization: number;
  name: string;
  shown: string;
  actions: readonly string[];
  project: number | null;
  service: number | null;
  mailboxes: readonly number[] | null;
  owner: boolean;
  createdBy: string;
  expiresAt: number | null;
  /** Of one that another one narrowed. */
  narrow?: { parent: number; limits: NarrowLimits };
}

export async function insertToken(tx: Write, token: NewToken, stamp: Stamp): Promise<number> {
  const { id } = await tx.run(
    `INSERT INTO token (token_hash, organization_id, name, shown, actions, project_id, service_id, mailboxes, owner,
       created_by, created_at, expires_at, parent_id, narrow) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    token.hash,
    token.organization,
    token.name,
    token.shown,
    token.actions.join(' '),
    token.project,
    token.service,
    token.mailboxes === null ? null : JSON.stringify(token.mailboxes),
    Number(token.owner),
    token.createdBy,
    stamp.now,
    token.expiresAt,
    token.narrow?.parent ?? null,
    token.narrow === undefined ? null : JSON.stringify(token.narrow.limits),
  );
  return id;
}

export const addToken = command('add-token', insertToken);

/** Ends a token at once, with those that are narrowed from it; what they had accepted goes on. */
export const revokeToken = command(
  'revoke-token',
  async (tx, input: { id: number; organization: number }, stamp): Promise<{ kind: 'revoked' | 'missing' }> => {
    const ended = await tx.all<{ id: number }>(
      `WITH RECURSIVE ended (id) AS (SELECT id FROM token WHERE id = ?2 AND organization_id = ?3
         UNION SELECT t.id FROM token t JOIN ended e ON t.parent_id = e.id)
       UPDATE token SET revoked_at = coalesce(revoked_at, ?1) WHERE id IN (SELECT id FROM ended) RETURNING id`,
      stamp.now,
      input.id,
      input.organization,
    );
    for (const { id } of ended) await dropClaims(tx, `tok_${id}`, stamp);
    return { kind: ended.length > 0 ? 'revoked' : 'missing' };
  },
);

/** Notes when tokens and email API keys were last used; written in bulk every half minute. */
export const stampSecrets = command(
  'stamp-secrets',
  async (
    tx,
    input: { tokens: readonly (readonly [number, number])[]; keys: readonly (readonly [number, number])[] },
  ): Promise<void> => {
    for (const [id, at] of input.tokens) await tx.run('UPDATE token SET last_used_at = ? WHERE id = ?', at, id);
    for (const [id, at] of input.keys) await tx.run('UPDATE api_key SET last_used_at = ? WHERE id = ?', at, id);
  },
);

export interface TokenRow {
  id: number;
  organization: number;
  name: string;
  shown: string;
  actions: string[];
  project: number | null;
  service: number | null;
  mailboxes: number[] | null;
  owner: boolean;
  createdBy: string;
  createdAt: number;
  expiresAt: number | null;
  lastUsedAt: number | null;
  revokedAt: number | null;
  /** The token that it is narrowed from. */
  parent: number | null;
  narrow: NarrowLimits | null;
}

type Columns = {
  id: number;
  organization_id: number;
  name: string;
  shown: string;
  actions: string;
  project_id: number | null;
  service_id: number | null;
  mailboxes: string | null;
  owner: number;
  created_by: string;
  created_at: number;
  expires_at: number | null;
  last_used_at: number | null;
  revoked_at: number | null;
  parent_id: number | null;
  narrow: string | null;
};

/** A token that holds, of an organization that is not frozen; found by its hash or, for a session, by its row. */
export const findToken = query(
  'find-token',
  async (rx, input: { hash: Uint8Array } | { id: number }): Promise<TokenRow | undefined> => {
    const row =
      'hash' in input
        ? await rx.get<Columns & { frozen_at: number | null }>(
            `SELECT t.*, o.frozen_at FROM token t JOIN organization o ON o.id = t.organization_id WHERE t.token_hash = ?`,
            input.hash,
          )
        : await rx.get<Columns & { frozen_at: number | null }>(
            `SELECT t.*, o.frozen_at FROM token t JOIN organization o ON o.id = t.organization_id WHERE t.id = ?`,
            input.id,
          );
    return row === undefined || row.frozen_at !== null || row.revoked_at !== null ? undefined : tokenOf(row);
  },
);

/** Every token of an organization, also those that were revoked. */
export const listTokens = query('list-tokens', async (rx, input: { organization: number }): Promise<TokenRow[]> => {
  const rows = await rx.all<Columns>('SELECT * FROM token WHERE organization_id = ? ORDER BY id', input.organization);
  return rows.map(tokenOf);
});

function tokenOf(row: Columns): TokenRow {
  return {
    id: row.id,
    organization: row.organization_id,
    name: row.name,
    shown: row.shown,
    actions: row.actions.split(' '),
    project: row.project_id,
    service: row.service_id,
    mailboxes: row.mailboxes === null ? null : (JSON.parse(row.mailboxes) as number[]),
    owner: row.owner === 1,
    createdBy: row.created_by,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    lastUsedAt: row.last_used_at,
    revokedAt: row.revoked_at,
    parent: row.parent_id,
    narrow: row.narrow === null ? null : (JSON.parse(row.narrow) as NarrowLimits),
  };
}
