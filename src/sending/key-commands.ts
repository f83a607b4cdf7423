import { MAX_UNDONE, onRuleChange, type RuleUndoRequest, undoRules } from '../../mail/agents/undo/rule-changes.ts';
import { command, lookup } from '../../mail/store/engine/types.ts';

export interface NewApiKey {
  hash: Uint8Array;
  organization: number;
  project: number;
  name: string;
  shown: string;
  /** Allowed sender domains in A-labels; null: every verified one. */
  allowedDomains: readonly string[] | null;
  expiresAt: number | null;
  /** Identical messages within ten minutes are sent once. */
  guessesDuplicates: boolean;
}

/** Adds a key; `by` is the agent that creates it. */
export const addApiKey = command(
  'add-api-key',
  async (tx, key: NewApiKey & { by?: string | null }, stamp): Promise<{ kind: 'added'; id: number }> => {
    const { id } = await tx.run(
      `INSERT INTO api_key (key_hash, organization_id, project_id, name, display_prefix, allowed_domains, created_at, expires_at,
         detect_duplicates) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
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
    await onRuleChange(tx, about, { before: null, after: { id } }, stamp);
    return { kind: 'added', id };
  },
);

/** Revokes a key at once; its queued mail is still delivered. A revoked key keeps its time. */
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

/** Revokes a batch of the email API keys that an agent created; returns how many were active. */
export const undoApiKeys = command(
  'undo-api-keys',
  async (tx, input: RuleUndoRequest, stamp): Promise<{ revoked: number; more: boolean }> => {
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
    return { revoked, more: undone === MAX_UNDONE };
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

/** Lists all keys of an organization, revoked ones included. */
export const listApiKeys = lookup('list-api-keys', async (rx, input: { organization: number }): Promise<ApiKey[]> => {
  const rows = await rx.all<Omit<ApiKey, 'allowedDomains'> & { allowedDomains: string | null }>(
    `SELECT id, organization_id AS organization, project_id AS project, name, display_prefix AS shown,
       allowed_domains AS "allowedDomains", created_at AS "createdAt", expires_at AS "expiresAt",
       last_used_at AS "lastUsedAt", revoked_at AS "revokedAt"
     FROM api_key WHERE organization_id = ? ORDER BY id`,
    input.organization,
  );
  return rows.map(({ allowedDomains, ...row }) => ({
    ...row,
    allowedDomains: allowedDomains === null ? null : (JSON.parse(allowedDomains) as string[]),
  }));
});
