import { MOST_UNDONE, noteRuleChange, type RulesToUndo, undoRules } from '../../mail/store/agent-rule-change.ts';
import { command, query } from '../../mail/store/engine/types.ts';

export interface NewApiKey {
  hash: Uint8Array;
  organization: number;
  project: number;
  name: string;
  shown: string;
  /** Domain names in A-labels; null: every verified one. */
  allowedDomains: readonly string[] | null;
  expiresAt: number | null;
  /** What it sends twice within ten minutes goes out once. */
  guessesDuplicates: boolean;
}

/** Adds a key; `by` is the agent that does it. */
export const addApiKey = command(
  'add-api-key',
  async (tx, key: NewApiKey & { by?: string | null }, stamp): Promise<{ kind: 'added'; id: number }> => {
    const { id } = await tx.run(
      `INSERT INTO api_key (key_hash, organization_id, project_id, name, shown, allowed_domains, created_at, expires_at,
         guesses_duplicates) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      key.hash,
      key.organization,
      key.project,
      key.name,
      key.shown,
      key.allowedDomains === null ? null : JSON.stringify(key.allowedDomains),
      stamp.now,
      key.expiresAt,
      Number(key.guessesDuplicates),
    );
    const about = { tenant: key.organization, by: key.by, what: 'api-key' } as const;
    await noteRuleChange(tx, about, { before: null, after: { id } }, stamp);
    return { kind: 'added', id };
  },
);

/** Ends a key at once; what it had queued goes on. A key that is revoked already keeps its time. */
export const revokeApiKey = command(
  'revoke-api-key',
  async (
    tx,
    input: { id: number; organization: number },
    stamp,
  ): Promise<{ kind: 'revoked'; at: number } | { kind: 'missing' }> => {
    const row = await tx.get<{ revoked_at: number }>(
      `UPDATE api_key SET revoked_at = coalesce(revoked_at, ?) WHERE id = ? AND organization_id = ? RETURNING revoked_at`,
      stamp.now,
      input.id,
      input.organization,
    );
    return row === undefined ? { kind: 'missing' } : { kind: 'revoked', at: row.revoked_at };
  },
);

/** Revokes a slice of the email API keys that an agent made; answers how many still held. */
export const undoApiKeys = command(
  'undo-api-keys',
  async (tx, input: RulesToUndo, stamp): Promise<{ revoked: number; more: boolean }> => {
    let revoked = 0;
    const { undone } = await undoRules<{ id: number }>(tx, input, 'api-key', async ({ after }) => {
      const { changes } = await tx.run(
        'UPDATE api_key SET revoked_at = ? WHERE id = ? AND organization_id = ? AND revoked_at IS NULL',
        stamp.now,
        after?.id ?? 0,
        input.tenant,
      );
      revoked += changes;
      return true;
    });
    return { revoked, more: undone === MOST_UNDONE };
  },
);

export interface ApiKey {
  id: number;
  organization: number;
  project: number;
  name: string;
  shown: string;
  allowedDomains: string[] | null;
  createdAt: number;
  expiresAt: number | null;
  lastUsedAt: number | null;
  revokedAt: number | null;
}

type Columns = {
  id: number;
  organization_id: number;
  project_id: number;
  name: string;
  shown: string;
  allowed_domains: string | null;
  created_at: number;
  expires_at: number | null;
  last_used_at: number | null;
  revoked_at: number | null;
};

/** Every key of an organization, also those that were revoked. */
export const listApiKeys = query('list-api-keys', async (rx, input: { organization: number }): Promise<ApiKey[]> => {
  const rows = await rx.all<Columns>('SELECT * FROM api_key WHERE organization_id = ? ORDER BY id', input.organization);
  return rows.map((row) => ({
    id: row.id,
    organization: row.organization_id,
    project: row.project_id,
    name: row.name,
    shown: row.shown,
    allowedDomains: row.allowed_domains === null ? null : (JSON.parse(row.allowed_domains) as string[]),
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    lastUsedAt: row.last_used_at,
    revokedAt: row.revoked_at,
  }));
});
